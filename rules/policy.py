"""Policy files: decision tables over the features of a candidate, and the one ordered table they make together.

Order: files with a higher ``priority`` first, then by id, then the rows of a file as they stand; the first row that
matches gives the verdict. The order depends on what the files say and never on where they lie, so one digest has one
meaning. Packs state a priority below 100; a file that states none counts 100 and so comes before them.

A verdict names its row: ``policy.core.hedged_hold@5`` when the row has an id, ``policy.core.row12@5`` when it has
none (rows count from 1). The version makes a row number stable: moving rows without a new version fails the lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema, field_validator, model_validator

from ..model import FEATURES, REASONS, Action, Verdict
from ..rulefile import Model, RuleFile

# What a plain, complete, unremarkable statement looks like: inline tests name only what differs from it.
PLAIN: dict[str, str] = {
    "slot": "budget", "kind": "money", "act": "state", "form": "full", "polarity": "affirmed", "modality": "asserted",
    "time": "current", "source": "user", "attribution": "own", "authority": "none", "relation": "none",
    "wording": "other", "identity": "none", "binding": "named", "value": "ok", "confidence": "high", "gate": "none",
    "hedge": "ignore", "approval": "no", "unusual": "no", "keeps": "memory",
}  # fmt: skip
LONGEST_VALUE = 64


def _feature_schema(values: tuple[str, ...]) -> dict[str, Any]:
    one: dict[str, Any] = {"enum": list(values)} if values else {"type": "string"}
    return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1, "uniqueItems": True}]}


# What an editor may offer inside ``when``; the validators below are what counts.
WHEN_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {name: _feature_schema(values) for name, values in FEATURES.items()},
    "additionalProperties": False,
}


class Row(Model):
    """One row: when all named features have one of the named values, this verdict."""

    id: str | None = Field(None, pattern=r"^[a-z][a-z0-9_]*$", description="Name of the row; default row<number>.")
    when: Annotated[dict[str, list[str]], WithJsonSchema(WHEN_SCHEMA)] = Field(
        description="feature → value or list of values; empty: always."
    )
    do: Action = Field(description="Action of the verdict.")
    reason: Annotated[str, WithJsonSchema({"enum": sorted({code for codes in REASONS.values() for code in codes})})] = (
        Field(description="Reason code; it must belong to the action.")
    )
    because: str | None = Field(None, description="Why, for the reader.")

    @field_validator("when", mode="before")
    @classmethod
    def _lists(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {name: [given] if isinstance(given, str) else given for name, given in value.items()}

    @field_validator("when")
    @classmethod
    def _closed_list(cls, value: dict[str, list[str]]) -> dict[str, list[str]]:
        for name, given in value.items():
            complaint = wrong_feature(name, given)
            if complaint:
                raise ValueError(complaint)
        return value

    @model_validator(mode="after")
    def _reason_fits(self) -> Row:
        if self.reason not in REASONS[self.do]:
            raise ValueError(f"{self.reason!r} is no reason for {self.do}; one of {', '.join(REASONS[self.do])}")
        return self


class PolicyFile(RuleFile):
    """A decision table, or a part of one."""

    kind: Literal["policy"] = Field(description="policy")
    priority: int = Field(100, ge=0, le=1000, description="Higher comes first; packs stay below 100.")
    rows: list[Row] = Field(min_length=1, description="First match wins.")

    @model_validator(mode="after")
    def _rows_named_once(self) -> PolicyFile:
        names = [self.row_name(index) for index in range(len(self.rows))]
        for name in sorted(set(names)):
            if names.count(name) > 1:
                raise ValueError(f"two rows are called {name.rpartition('.')[2].partition('@')[0]!r}")
        return self

    def row_name(self, index: int) -> str:
        """How a verdict names the row at ``index`` (from 0)."""
        return f"{self.id}.{self.rows[index].id or f'row{index + 1}'}@{self.version}"


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of the whole table: allowed values by feature (in sorted order) and the verdict."""

    when: tuple[tuple[str, tuple[str, ...]], ...]
    verdict: Verdict
    file: str
    index: int

    def matches(self, features: Mapping[str, str]) -> bool:
        """True when every named feature has one of its values."""
        return all(features.get(name) in values for name, values in self.when)

    @property
    def always(self) -> bool:
        """True for a catch-all."""
        return not self.when

    def witness(self) -> dict[str, str]:
        """Features that this row matches: a plain statement but for what the row asks."""
        return PLAIN | {name: values[0] for name, values in self.when}


def wrong_feature(name: str, values: Iterable[Any]) -> str | None:
    """What is wrong with a condition, or None."""
    if name not in FEATURES:
        return f"unknown feature {name!r}; one of {', '.join(FEATURES)}"
    listed = list(values)
    if not listed:
        return f"feature {name!r} lists no value"
    for value in listed:
        if not isinstance(value, str) or not value.isascii() or not value or len(value) > LONGEST_VALUE:
            return f"feature {name!r}: {value!r} is no short ASCII string"
        if FEATURES[name] and value not in FEATURES[name]:
            return f"feature {name!r} is never {value!r}; one of {', '.join(FEATURES[name])}"
    if len(set(listed)) != len(listed):
        return f"feature {name!r} lists a value twice"
    return None


def table_of(files: Iterable[PolicyFile]) -> tuple[TableRow, ...]:
    """All rows in the order in which they are tried."""
    rows: list[TableRow] = []
    for file in sorted(files, key=lambda file: (-file.priority, file.id)):
        for index, row in enumerate(file.rows):
            when = tuple((name, tuple(sorted(values))) for name, values in sorted(row.when.items()))
            verdict = Verdict(action=row.do, reason=row.reason, rule=file.row_name(index))
            rows.append(TableRow(when, verdict, file.id, index))
    return tuple(rows)


def never_reached(table: tuple[TableRow, ...]) -> list[tuple[TableRow, TableRow]]:
    """Rows that an earlier row wholly hides, each with the row that hides it."""
    hidden: list[tuple[TableRow, TableRow]] = []
    for place, row in enumerate(table):
        asked = dict(row.when)
        for earlier in table[:place]:
            if all(set(asked.get(name) or FEATURES[name] or ("\0",)) <= set(values) for name, values in earlier.when):
                hidden.append((row, earlier))
                break
    return hidden


def checked(features: Mapping[str, str]) -> Mapping[str, str]:
    """The features unchanged when both engines may see them; ValueError for anything but the closed vocabulary."""
    for name, value in features.items():
        allowed = _ALLOWED.get(name)
        if allowed is None or (allowed and value not in allowed):
            raise ValueError(wrong_feature(name, [value]) or f"feature {name!r} cannot be judged")
        if not allowed and (not isinstance(value, str) or not value.isascii() or not 0 < len(value) <= LONGEST_VALUE):
            raise ValueError(wrong_feature(name, [value]) or f"feature {name!r} cannot be judged")
    return features


_ALLOWED = {name: frozenset(values) for name, values in FEATURES.items()}


class NoVerdict(LookupError):
    """No row matches: the table has no catch-all."""

    def __init__(self, features: Mapping[str, str]) -> None:
        shown = ", ".join(f"{name}={features[name]}" for name in sorted(features))
        super().__init__(f"no policy row matches {shown}. End the last policy file with a row `when: {{}}`.")
