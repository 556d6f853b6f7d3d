"""What `recordari rules …` does: lint, lock and schema of rule files."""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path


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
    from ..rules.load import write_lock

    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "no such folder", str(folder))
    problems = write_lock(folder)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def schema(kind: str) -> int:
    """Print the JSON Schema of a kind of rule file."""
    from ..rules.schema import KINDS, json_schema

    if kind not in KINDS:
        print(f"unknown kind {kind!r}. One of: {', '.join(sorted(KINDS))}", file=sys.stderr)
        return 2
    print(json.dumps(json_schema(kind), ensure_ascii=False, indent=2))
    return 0
