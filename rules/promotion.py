"""The gates of a promotion: what a release must have shown, from a file, and what of it is still missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from ..rulefile import Model
from .release import BUCKETS

SHIPPED = Path(__file__).with_name("promotion.yaml")


class GateFileError(ValueError):
    """A file of gates that cannot be used; says where and why."""


class Gate(Model):
    """What is asked before one step."""

    lint: bool = Field(False, description="No lint error in the set.")
    lock: bool = Field(False, description="A lock that lies beside the rules fits them.")
    tests: bool = Field(False, description="No inline test of the set fails.")
    decisions: int = Field(0, ge=0, description="Decisions compared in the shadow.")
    disagreement: int | None = Field(None, ge=0, le=BUCKETS, description="Of ten thousand, how many may differ.")
    second_actor: bool = Field(False, description="Who promotes is not who published.")


class Gates(Model):
    """The gates of all steps."""

    shadow: Gate = Gate()
    canary: Gate = Gate()
    stable: Gate = Gate()
    first: Gate = Gate()


@dataclass(frozen=True, slots=True)
class Shown:
    """What a release has shown. ``checks`` are those of its publication; None for one that was not made."""

    checks: Mapping[str, int | None]
    decisions: int
    disagreements: int
    same_actor: bool


def read_gates(path: Path | None = None) -> Gates:
    """The gates of a file, by default the shipped one; GateFileError with the place of what is wrong."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    file = path if path is not None else SHIPPED
    try:
        return Gates.model_validate(YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8")) or {})
    except (YAMLError, UnicodeDecodeError) as wrong:
        mark = getattr(wrong, "problem_mark", None)
        place = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark else f"{file}:1:1"
        raise GateFileError(f"{place}: {getattr(wrong, 'problem', wrong)}. Correct the YAML") from None
    except ValidationError as wrong:
        first = wrong.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        said = f"{file}:1:1: {where}: {first['msg']}. The shipped promotion.yaml shows what may stand there"
        raise GateFileError(said) from None


def missing(gate: Gate, shown: Shown) -> Iterator[str]:
    """What a gate asks and the release has not shown, in words."""
    for name, asked, told in (
        ("lint", gate.lint, "lint errors"),
        ("lock", gate.lock, "rules that the lock does not know so"),
        ("tests", gate.tests, "inline tests that fail"),
    ):
        found = shown.checks.get(name)
        if asked and found is None:
            yield f"{name} was not checked when the set was published"
        elif asked and found:
            yield f"{found} {told}"
    if shown.decisions < gate.decisions:
        yield f"{shown.decisions} decisions were compared in the shadow, {gate.decisions} are asked"
    if gate.disagreement is not None and shown.disagreements * BUCKETS > gate.disagreement * shown.decisions:
        yield (
            f"{shown.disagreements} of {shown.decisions} decisions came out otherwise, "
            f"{gate.disagreement} of {BUCKETS} may"
        )
    if gate.second_actor and shown.same_actor:
        yield "who published it cannot promote it: a second person is asked"


def gate_fields(gate: Gate) -> dict[str, Any]:
    """A gate as it stands in the record of a promotion."""
    return gate.model_dump(exclude_none=True)
