"""What `recordari rules …` does: lint, test, lock and schema of rule files."""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Sequence
from pathlib import Path

PACKS = Path(__file__).resolve().parent.parent / "rules" / "packs"


def lint(folders: Sequence[Path], *, packs: bool) -> int:
    """Print everything wrong with the rule files."""
    from ..rules.check import lint as check
    from ..rules.load import LOCK, check_lock, load

    ruleset = load(folders, packs=packs)
    problems = check(ruleset)
    if packs:
        problems += check_lock(PACKS)
    for folder in folders:
        if (folder / LOCK).is_file():  # rules of one's own need no lock; a lock that is there must be right
            problems += check_lock(folder)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(ruleset.files)} rules, {len(problems)} problems, digest {ruleset.digest[:12]}")
    return 1 if problems else 0


def test(folders: Sequence[Path], *, packs: bool, rule: str | None) -> int:
    """Run the inline tests; a failed one is printed with its place."""
    from ..memory import Memory
    from ..rules.check import check
    from ..rules.load import load

    ruleset = load(folders, packs=packs)
    if rule is not None and rule not in ruleset.files:
        print(f"no rule {rule!r}. Ids stand in the rule files and in `recordari explain`", file=sys.stderr)
        return 2
    report = check(ruleset, Memory.rehearsal(ruleset=ruleset).trial, rule=rule)
    for problem in report.problems:
        print(problem, file=sys.stderr)
    print(f"{report.passed} passed, {len(report.problems)} failed, {report.todo} known gaps")
    return 1 if report.problems else 0


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
