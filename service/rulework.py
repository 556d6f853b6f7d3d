"""What `recordari rules …` does: lint, lock and schema of rule files."""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Literal


def lint(folders: Sequence[Path], *, packs: bool, on: date | None, as_json: bool, strict: bool) -> int:
    """Print everything wrong with the rule files; 1 when there is an error, or a warning under ``strict``."""
    from ..rules.lint import lint_folders

    ruleset, problems = lint_folders(folders, packs=packs, on=on)
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    if as_json:
        rows = [asdict(problem) for problem in problems]
        summary = {"rules": len(ruleset.files), "errors": errors, "warnings": warnings, "digest": ruleset.digest}
        print(json.dumps({"problems": rows, **summary}, ensure_ascii=False, indent=1))
    else:
        for problem in problems:
            print(problem, file=sys.stderr)
        found = f"{errors} errors, {warnings} warnings" if warnings else f"{errors} problems"
        print(f"{len(ruleset.files)} rules, {found}, digest {ruleset.digest[:12]}")
    return 1 if errors or (strict and warnings) else 0


def lock(folder: Path) -> int:
    """Write rules.lock.json of a folder."""
    from ..rules.lock import write_lock

    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "no such folder", str(folder))
    problems = write_lock(folder)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def schema(kind: str | None, folder: Path | None, language: Literal["en", "zh"]) -> int:
    """Print the JSON Schema of a kind of rule file, or write those of all kinds."""
    from ..rules.schema import KINDS
    from .described import text, write_all

    if folder is not None:
        for path in write_all(folder, language):
            print(path)
    elif kind is None or kind not in KINDS:
        said = f"unknown kind {kind!r}" if kind else "name a kind, or a folder with --all"
        print(f"{said}. One of: {', '.join(sorted(KINDS))}", file=sys.stderr)
        return 2
    if kind in KINDS:
        print(text(str(kind), language), end="")
    return 0


def scaffold(kind: str, name: str, folder: Path, slot: str | None) -> int:
    """Write a new rule file."""
    from .authoring import AuthoringError, new

    try:
        print(new(kind, name, folder, slot))
    except AuthoringError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def begin(folder: Path) -> int:
    """Write a folder of rules of one's own."""
    from .authoring import AuthoringError, init

    try:
        for path in init(folder):
            print(path)
    except AuthoringError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def export_words(name: str, out: Path, folders: Sequence[Path], *, packs: bool) -> int:
    """Write a vocabulary as CSV."""
    from ..rules.load import load
    from ..rules.yamltext import YamlText
    from .wordlists import export

    ruleset = load(folders, packs=packs)
    if name not in ruleset.vocabularies:
        print(f"no vocabulary {name!r}. {ruleset.nearest(name, 'vocabulary')}", file=sys.stderr)
        return 2
    text = export(YamlText(ruleset.sources[name], name).data)
    if str(out) == "-":
        sys.stdout.write(text.replace("\r\n", "\n"))
    else:
        out.write_bytes(text.encode("utf-8"))
        print(out)
    return 0


def import_words(table: Path, file: Path) -> int:
    """Put the words of a CSV file into a vocabulary file."""
    from .wordlists import put, read

    text = put(read(table), file)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    print(file)
    return 0
