"""What `recordari rules test` and `rules try` do: the inline tests with their coverage, and one turn laid open."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .options import FOUND, WRONG_USE

if TYPE_CHECKING:
    from ..rules.ruleset import Ruleset


def test(
    folders: Sequence[Path], *, packs: bool, rule: str | None, own: bool, coverage: bool, as_json: bool
) -> int:  # fmt: skip
    """Run the inline tests; a failed one is printed with its place and with what happened instead."""
    from ..memory import Memory
    from ..rules.coverage import Coverage, coverage_fields, coverage_lines
    from ..rules.inline_tests import check
    from ..rules.load import load

    ruleset = load(folders, packs=packs)
    if rule is not None and rule not in ruleset.files:
        print(f"no rule {rule!r}. Ids stand in the rule files and in `recordari explain`", file=sys.stderr)
        return WRONG_USE
    if own and not folders:
        print("--own needs a folder: it leaves the tests of the shipped packs out", file=sys.stderr)
        return WRONG_USE
    chosen = frozenset(of_folders(ruleset, folders)) if own else None
    gathered = Coverage(ruleset)
    report = check(
        ruleset, Memory.rehearsal(ruleset=ruleset, ner=False).trial, rule=rule, rules=chosen,
        watch=gathered.watch if coverage else None,
    )  # fmt: skip
    named = [rule] if rule is not None else sorted(chosen) if chosen is not None else None
    covered = list(gathered.rules(named)) if coverage else []
    if as_json:
        data = {
            "passed": report.passed, "failed": len(report.failures), "todo": report.todo,
            "failures": [failure.fields() for failure in report.failures],
        }  # fmt: skip
        print(json.dumps(data | ({"coverage": coverage_fields(covered)} if coverage else {}), ensure_ascii=False))
        return FOUND if report.failures else 0
    for failure in report.failures:
        print(failure.problem, file=sys.stderr)
        for line in failure.trace:
            print(f"    {line}", file=sys.stderr)
    for line in coverage_lines(covered):
        print(line)
    print(f"{report.passed} passed, {len(report.failures)} failed, {report.todo} known gaps")
    return FOUND if report.failures else 0


def of_folders(ruleset: Ruleset, folders: Sequence[Path]) -> list[str]:
    """The ids of the rules that lie in these folders."""
    inside = [str(folder).rstrip("/") for folder in folders]
    return [
        name
        for name, path in ruleset.paths.items()
        if any(path == folder or path.startswith(f"{folder}/") for folder in inside)
    ]


def try_out(
    say: str, folders: Sequence[Path], *, packs: bool, ner: bool, after: Sequence[str], at: str | None, speaker: str,
    as_json: bool,
) -> int:  # fmt: skip
    """Print what a rule set makes of one turn, and what nearly happened."""
    from ..extractors.scan import scan
    from ..intake import check_text, moment_of
    from ..memory import Memory
    from ..model import Scan, Turn
    from ..rulefile import InlineTest
    from ..rules.given import turns_of
    from ..rules.load import load
    from ..rules.trying import try_turns, tryout_fields, tryout_lines
    from ..settings import Settings

    if at is not None:
        moment_of(at, "--at")
    given = {"say": say, "now": at, "after": [_words(each) for each in after], "speaker": speaker}
    turns = turns_of(InlineTest.model_validate(given))
    whose = [_speaker(each) or speaker for each in after]
    turns = tuple(
        turn.model_copy(update={"speaker": whose[index]}) if index < len(whose) else turn
        for index, turn in enumerate(turns)
    )
    for turn in turns:
        try:
            check_text(turn.text, Settings().max_turn_chars)
        except ValueError as error:
            print(f"{turn.text!r}: {error}", file=sys.stderr)
            return WRONG_USE
    ruleset = load(folders, packs=packs)

    def read(turn: Turn) -> Scan:
        return scan(turn.text, ruleset.extraction, said_at=turn.said_at, speaker=turn.speaker, ner=ner)

    tried = try_turns(turns, ruleset, Memory.rehearsal(ruleset=ruleset, ner=ner).trial, read)
    if as_json:
        print(json.dumps(tryout_fields(tried), ensure_ascii=False))
        return 0
    for line in tryout_lines(tried):
        print(line)
    return 0


def _speaker(given: str) -> str | None:
    """Who said an earlier turn that begins with ``assistant:`` or another speaker; None when it names nobody."""
    who = given.partition(":")[0]
    return who if who in ("user", "assistant", "tool", "document") else None


def _words(given: str) -> str:
    return given.partition(":")[2].strip() if _speaker(given) else given
