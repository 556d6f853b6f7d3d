# Two commands set Recordari up: `make demo` shows it at work, `make test` proves it. Both build .venv when it is missing.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
COMPILE := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --python-version 3.11 pyproject.toml
export PYTHONUTF8 := 1

.PHONY: help demo test lint bench accuracy docs lock clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/.base: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Recordari needs Python 3.11 or newer; set PYTHON=…" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $@

$(BIN)/.dev: requirements-dev.lock $(BIN)/.base
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.lock
	@touch $@

demo: $(BIN)/.base ## three dialogues become memory, with refusals, history and proof
	$(BIN)/recordari demo

test: $(BIN)/.dev ## the whole test suite with coverage
	$(BIN)/python -m pytest -c tests/pytest.ini tests -n 2 --dist loadgroup --cov --cov-config=pyproject.toml --cov-report=term --cov-fail-under=90

lint: $(BIN)/.dev ## ruff, mypy --strict, import floors, rule files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@# The root is the package, whatever the clone's folder is called: mypy sees it under its name through a link.
	mkdir -p $(VENV)/typed && ln -sfn ../.. $(VENV)/typed/recordari
	MYPYPATH=$(VENV)/typed $(BIN)/python -m mypy -p recordari
	$(BIN)/lint-imports
	$(BIN)/recordari rules lint
	$(BIN)/recordari rules test

bench: $(BIN)/.dev ## speed, memory and start-up, as tables and a plot in docs/
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/extraction.py

accuracy: $(BIN)/.dev ## score extraction and rehearsal over a folder of cases: make accuracy CASES=folder
	$(BIN)/python benchmarks/accuracy.py $(CASES)

docs: $(BIN)/.dev ## remake the pages that are made from the code
	$(BIN)/python -m recordari.service.helppage > docs/commands.md
	$(BIN)/python -m recordari.service.described
	$(BIN)/python -m recordari.service.kindpage en > docs/rule-kinds.md
	$(BIN)/python -m recordari.service.kindpage zh > docs/rule-kinds.zh.md
	$(BIN)/python -m recordari.service.checkpage en > docs/rule-checks.md
	$(BIN)/python -m recordari.service.checkpage zh > docs/rule-checks.zh.md

lock: $(BIN)/.dev ## refresh the hashed lock files
	$(COMPILE) -o requirements.lock
	$(COMPILE) --extra postgres --group dev -o requirements-dev.lock
	$(COMPILE) --extra ner-en --extra ner-zh -o requirements-ner.lock
	$(COMPILE) --extra valkey -o requirements-valkey.lock
	$(COMPILE) --extra vectors -o requirements-vectors.lock

clean: ## remove what the targets made
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
