"""The helper that runs commands for other tests: a forked command is like the installed script in all that they ask."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from commands import recordari, untraced

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
TURN = json.dumps({"text": "我们的预算是8万元。", "at": "2026-05-01T10:00:00+08:00", "entity": "client-17"})
# Caches filled before the fork in modules that look at variables or folders: functions of the package's own files.
KEPT = {"recordari.rules.cache._package", "recordari.rules.cache.code_version"}
LOOKS = re.compile(r"environ|getenv|Settings\(|cachefolder|\bhome\(|cwd\(|expanduser|gettempdir|locale\.")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("commands") / "m.db"
    assert recordari("observe", "--store", str(path), "--no-ner", stdin=TURN).returncode == 0
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",), ("items",), ("items", "--json"), ("recall", "预算"), ("explain", "ffff"), ("nonsense",), (),
        ("audit", "verify", "--replay"), ("rules", "lint", "no-such-folder"), ("recall", "\udc80"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_forked_command_ends_and_prints_as_the_script_does(arguments: tuple[str, ...], store: Path) -> None:
    forked, real = (
        recordari(*arguments, cwd=store.parent, real=real, RECORDARI_STORE=str(store), COLUMNS="90")
        for real in (False, True)
    )
    assert (forked.returncode, forked.stdout, forked.stderr) == (real.returncode, real.stdout, real.stderr)


def test_two_commands_see_nothing_of_each_others_variables_folders_and_streams(store: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / ".env").write_text(f"RECORDARI_STORE={tmp_path / name / 'own.db'}\n", encoding="utf-8")
        done = recordari("observe", "--no-ner", cwd=tmp_path / name, stdin=TURN.replace("8万", f"{len(name)}0万"))
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
    (tmp_path / "two" / ".env").unlink()
    assert (tmp_path / "one" / "own.db").exists()
    assert (tmp_path / "two" / "own.db").exists()
    named = recordari("items", cwd=tmp_path, RECORDARI_STORE=str(store), RECORDARI_NAMESPACE="nobody")
    assert (named.returncode, "no namespace 'nobody'" in named.stderr) == (2, True)
    assert "80000 CNY" in recordari("items", cwd=tmp_path, RECORDARI_STORE=str(store)).stdout
    missing = recordari("items", cwd=tmp_path / "two")
    assert (missing.returncode, f"{tmp_path / 'two' / 'recordari.db'}: no such file" in missing.stderr) == (3, True)
    narrow, wide = (recordari("--help", COLUMNS=columns).stdout for columns in ("60", "110"))
    assert max(map(len, narrow.splitlines())) <= 60 < max(map(len, wide.splitlines()))
    for name in ("a", "b"):
        cache = tmp_path / name / "cache"
        recordari("rules", "lint", "--no-packs", str(EXAMPLES / "insurance-rules"), RECORDARI_CACHE=str(cache))
        assert cache.is_dir()


def test_what_counts_at_the_start_of_an_interpreter_gets_one(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit('a fresh interpreter')\n", encoding="utf-8")
    assert recordari("--help").returncode == 0
    started = recordari("--help", PYTHONPATH=str(tmp_path))
    assert "a fresh interpreter" in started.stderr


def test_what_the_forked_process_keeps_depends_on_no_variable() -> None:
    """Who puts a cache into a module that looks at variables says above that it keeps none, or keeps it empty here."""
    program = (
        "import gc, sys, zygote; from functools import _lru_cache_wrapper as Kept; zygote.warm(); "
        "print(*{f'{k.__module__} {k.__qualname__} {sys.modules[k.__module__].__file__}' for k in gc.get_objects() "
        "if isinstance(k, Kept) and k.__module__.startswith('recordari') and k.cache_info().currsize}, sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True,
        env={**untraced(), "PYTHONPATH": str(Path(__file__).parent)},
    )  # fmt: skip
    filled = [line.split(" ", 2) for line in done.stdout.splitlines()]
    assert len(filled) > 10
    looking = {f"{module}.{name}" for module, name, file in filled if LOOKS.search(Path(file).read_text("utf-8"))}
    assert looking == KEPT
