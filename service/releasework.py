"""What the release commands do: find the rules, check them, take the step, and say what is in force."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .options import FOUND, UNREADABLE, WRONG_USE
from .streams import emit

if TYPE_CHECKING:
    from ..erasure.erasing import House
    from ..releases.releasing import Done
    from ..rules.ruleset import Ruleset

Tests = Literal["all", "own", "none"]
LOCK_CHECKS = frozenset({"changed-silently", "version-lowered", "deleted", "lock-behind"})


@contextmanager
def _house(store: str | None, namespace: str | None, *, read_only: bool = False) -> Iterator[House]:
    """The memory that the options and the settings name, opened without any rules."""
    from ..erasure.erasing import House
    from ..settings import Settings
    from ..store.engine import Store
    from ..trust.signing import signer_for

    settings = Settings()
    name = namespace or settings.namespace
    with Store.open(store or settings.store, read_only=read_only) as opened:
        house = House(opened, name, settings, signer_for(opened, settings))
        yield house
        if house.signer is not None:
            house.signer.close(opened, name)


def _taken(step: Callable[[], Done], as_json: bool) -> int:
    """Take a step and say what is in force since; 1 where what was found forbids it, 2 where it makes no sense."""
    from ..releases.releasing import GateShut, ReleaseError, Unfit, short

    try:
        done = step()
    except Unfit as wrong:
        print(wrong, file=sys.stderr)
        for misfit in wrong.misfits:
            if as_json:
                emit({"item": misfit.item.id, "version": misfit.item.version, "slot": misfit.item.slot,
                      "why": misfit.why, "proposal": misfit.proposal()})  # fmt: skip
            else:
                print(f"  {misfit.proposal()}")
        return FOUND
    except GateShut as wrong:
        print(wrong, file=sys.stderr)
        return FOUND
    except ReleaseError as wrong:
        print(wrong, file=sys.stderr)
        return WRONG_USE
    if as_json:
        emit({"record": done.seq, **done.after.fields(), **done.told})
        return 0
    now = done.after
    print(f"record {done.seq}: stable {short(now.stable)}, candidate {_candidate(now.fields())}")
    if review := done.told.get("review"):
        print(f"{len(review)} items were written by what is withdrawn; they wait in `recordari review`:")
        for item in review:
            print(f"  {item}")
    return 0


def _candidate(fields: dict[str, Any]) -> str:
    from ..releases.releasing import short

    if fields.get("candidate") is None:
        return "none"
    share = f" {fields['threshold'] / 100:g} %" if fields.get("stage") == "canary" else ""
    return f"{short(fields['candidate'])} ({fields['stage']}{share})"


def publish(
    name: str, store: str | None, namespace: str | None, actor: str, why: str, *, packs: bool, tests: Tests,
    as_json: bool,
) -> int:  # fmt: skip
    """Check a rule set and make it the candidate."""
    from ..releases.releasing import Deed
    from ..releases.releasing import publish as step
    from .rulesources import UnknownRules, ruleset_of

    try:
        ruleset = ruleset_of(name, store, packs=packs)
    except UnknownRules as wrong:
        print(wrong, file=sys.stderr)
        return WRONG_USE
    checks = checked(ruleset, name, packs=packs, tests=tests)
    with _house(store, namespace) as house:
        return _taken(lambda: step(house, Deed(actor, why), ruleset, checks), as_json)


def checked(ruleset: Ruleset, name: str, *, packs: bool, tests: Tests) -> dict[str, int | None]:
    """What is wrong with a set: lint errors, rules that a lock beside them does not know so, inline tests that fail."""
    from ..memory import Memory
    from ..rules.inline_tests import check
    from ..rules.lint import lint, lint_folders
    from .ruletrial import of_folders

    folders = [Path(part) for part in name.split("+")]
    there = all(folder.exists() for folder in folders)
    problems = lint_folders(folders, packs=packs)[1] if there else lint(ruleset)
    errors = [each for each in problems if each.severity == "error"]
    locked = sum(each.check in LOCK_CHECKS for each in errors)
    for each in errors:
        print(each, file=sys.stderr)
    failed: int | None = None
    if tests != "none":
        inside = of_folders(ruleset, folders) if there else ruleset.files
        chosen = frozenset(inside) if tests == "own" else None
        report = check(ruleset, Memory.rehearsal(ruleset=ruleset, ner=False).trial, rules=chosen)
        failed = len(report.failures)
        for failure in report.failures:
            print(failure.problem, file=sys.stderr)
    return {"lint": len(errors) - locked, "lock": locked, "tests": failed}


def promote(
    to: Literal["shadow", "canary", "stable"], share: int | None, candidate: str | None, gates: Path | None,
    store: str | None, namespace: str | None, actor: str, why: str, *, as_json: bool,
) -> int:  # fmt: skip
    """Take the candidate on."""
    from ..releases.releasing import Deed
    from ..releases.releasing import promote as step
    from ..rules.promotion import GateFileError, read_gates

    try:
        asked = read_gates(gates)
    except GateFileError as wrong:
        print(wrong, file=sys.stderr)
        return UNREADABLE
    with _house(store, namespace) as house:
        return _taken(lambda: step(house, Deed(actor, why), to, asked, share=share, candidate=candidate), as_json)


def override(rule: str, store: str | None, namespace: str | None, actor: str, why: str, *, as_json: bool) -> int:
    """Stop a rule."""
    from ..releases.releasing import Deed
    from ..releases.releasing import override as step

    with _house(store, namespace) as house:
        status = _taken(lambda: step(house, Deed(actor, why), rule), as_json)
    if status == 0 and not as_json:
        print(f"what rests on it: recordari audit resting {rule}")
    return status


def rollback(digest: str, store: str | None, namespace: str | None, actor: str, why: str, *, as_json: bool) -> int:
    """Go back to an earlier set."""
    from ..releases.releasing import Deed
    from ..releases.releasing import rollback as step

    with _house(store, namespace) as house:
        return _taken(lambda: step(house, Deed(actor, why), digest), as_json)


def status(store: str | None, namespace: str | None, samples: int, *, as_json: bool) -> int:
    """Print what is in force and how it came about."""
    from ..releases.releasing import short
    from ..releases.releasing import status as told

    with _house(store, namespace, read_only=True) as house:
        found = told(house, samples=samples)
    if as_json:
        emit(found)
        return 0
    print(f"stable {short(found.get('stable'))}, candidate {_candidate(found)}")
    shadow = found["shadow"]
    if shadow["decisions"]:
        print(f"shadow: {shadow['disagreements']} of {shadow['decisions']} decisions came out otherwise")
    for each in shadow["by"]:
        print(f"  {each['count']:>5} {each['what']}  {each['slot']}  {each['rule']}")
    for each in shadow["samples"]:
        print(f"  record {each['seq']}: {each['text']}")
        for side in ("before", "after"):
            one = each.get(side)
            shown = f"{one['action']} {one['reason']} ({one['rule']})" if one else each.get("fault", "nothing")
            print(f"      {side}: {shown}")
    for each in found["history"]:
        now = each["releases"]
        print(f"record {each['seq']} {each['at']} {each['kind']} by {each['who']}: {each['why']}")
        print(f"      stable {short(now.get('stable'))}, candidate {_candidate(now)}")
    if found["review"]:
        print(f"{len(found['review'])} items of withdrawn releases and stopped rules wait in `recordari review`")
    return 0
