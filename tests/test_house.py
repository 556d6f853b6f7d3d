"""The house itself: packages, names, module sizes, lock files, documentation in step with the code."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
OUTSIDE = {"tests", "benchmarks", "docs", "examples", "build", "dist", "out"}


def tracked(*suffixes: str) -> list[Path]:
    """Files of the tree, the virtual environment and build products left out."""
    return sorted(
        path
        for path in ROOT.rglob("*")
        if path.is_file()
        and path.suffix in suffixes
        and not any(part.startswith(".") or part.endswith(".egg-info") for part in path.relative_to(ROOT).parts)
        and path.relative_to(ROOT).parts[0] not in {"build", "dist", "out"}
    )


def modules() -> list[Path]:
    return [path for path in tracked(".py") if path.relative_to(ROOT).parts[0] not in OUTSIDE]


def test_every_package_of_the_tree_is_listed_for_the_wheel() -> None:
    listed = set(PROJECT["tool"]["setuptools"]["packages"])
    found = {
        ".".join(("recordari", *path.parent.relative_to(ROOT).parts))
        for path in modules()
        if path.name == "__init__.py"
    }
    assert listed == found


def test_no_root_module_is_named_like_one_of_the_standard_library() -> None:
    names = {path.stem for path in ROOT.glob("*.py")} - {"__init__"}
    assert not names & sys.stdlib_module_names


def test_no_module_is_longer_than_500_lines_and_none_has_an_empty_name() -> None:
    # The verifier that goes into every export is one file, so that an auditor can read all of it: it may be longer.
    modules = [path for path in tracked(".py") if path.name != "check_bundle.py"]
    long = [path.name for path in modules if path.read_text(encoding="utf-8").count("\n") > 500]
    assert long == []
    assert not {path.stem for path in tracked(".py")} & {"utils", "util", "helpers", "common", "misc", "manager"}


def test_every_module_says_in_its_first_line_what_it_is_for() -> None:
    silent = [str(p) for p in modules() if not ast.get_docstring(ast.parse(p.read_text(encoding="utf-8")))]
    assert silent == []


def test_no_module_is_loaded_twice_under_two_names() -> None:
    code = (
        "import sys, pkgutil, importlib, recordari\n"
        "names = [m.name for m in pkgutil.walk_packages(recordari.__path__, 'recordari.')\n"
        "         if m.name.split('.')[1] not in ('tests', 'benchmarks') and 'versions' not in m.name"
        " and not m.name.endswith('migrations.env')]\n"
        "for name in names: importlib.import_module(name)\n"
        "files = [m.__file__ for m in list(sys.modules.values()) if getattr(m, '__file__', None)"
        " and m.__name__.startswith('recordari')]\n"
        "twice = {f for f in files if files.count(f) > 1}\n"
        "bare = [n for n in sys.modules if n in ('model', 'values', 'rulefile', 'memory', 'extractors', 'store')]\n"
        "assert len(names) > 30, names\n"
        "assert not twice and not bare, (twice, bare)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT / "tests", check=False)
    assert done.returncode == 0, done.stderr


def test_the_lock_files_pin_every_package_with_hashes_and_name_no_index() -> None:
    locks = sorted(path.name for path in ROOT.glob("requirements*.lock"))
    assert len(locks) == 5
    for name in locks:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "://" not in text
        assert not re.search(r"^--(?!hash)", text, re.MULTILINE)
        entries = re.findall(r"^([A-Za-z0-9][^\n]*)\n", text, re.MULTILINE)
        assert entries
        for entry in entries:
            assert "==" in entry, entry
            assert entry.rstrip().endswith("\\"), f"{entry} has no hash"


def test_direct_dependencies_are_all_locked() -> None:
    locked = (ROOT / "requirements.lock").read_text(encoding="utf-8").lower().replace("_", "-").replace(".", "-")
    for dependency in PROJECT["project"]["dependencies"]:
        name = re.split(r"[<>=;\[ ]", dependency)[0].lower().replace("_", "-").replace(".", "-")
        assert re.search(rf"^{re.escape(name)}==", locked, re.MULTILINE), name


def test_the_public_names_are_exactly_these() -> None:
    import recordari

    assert sorted(recordari.__all__) == [
        "Decision", "IntakeError", "Memory", "MemoryItem", "NotFoundError", "Receipt", "RuleError", "StoreError",
    ]  # fmt: skip
    for name in recordari.__all__:
        assert getattr(recordari, name) is not None


def test_the_page_of_commands_is_what_the_command_line_says_of_itself() -> None:
    from recordari.service.helppage import page

    assert (ROOT / "docs" / "commands.md").read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("page", ["README.md", "README.zh.md"])
def test_links_of_the_readme_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


def test_no_file_names_a_machine_path_or_an_index() -> None:
    pattern = re.compile(r"(?<![\w.])/(?:work|root|home)/|index-url|find-links")
    here = Path(__file__)
    for path in tracked(".py", ".md", ".yaml", ".toml", ".lock", ".jsonl"):
        if path != here:
            assert not pattern.search(path.read_text(encoding="utf-8")), path
