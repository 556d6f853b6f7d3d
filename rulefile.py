"""What every rule file has in common: its header, its inline tests, and errors that carry file, line and column."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo

Status = Literal["draft", "active", "retired"]
Language = Literal["zh", "en", "any"]
Severity = Literal["error", "warning"]


# Validation context of data that have passed before under the same code: what is costly is not tried again.
CHECKED = "checked"


def passed_before(info: ValidationInfo) -> bool:
    """True when these very data have been validated by this very code before."""
    return info.context == CHECKED


class Model(BaseModel):
    """Base of every model read from a rule file: unknown keys are errors, text is no number, nothing changes later."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, str_strip_whitespace=False)


class Title(Model):
    """The rule's name for people, in both languages."""

    en: str = Field(description="In English.")
    zh: str = Field(description="In Chinese.")


class Effective(Model):
    """The days on which a rule counts; open ends are left out."""

    since: date | None = Field(None, alias="from", strict=False, description="First day.")
    until: date | None = Field(None, strict=False, description="Last day.")


class InlineTest(Model):
    """One sentence and what the rule makes of it. Each kind reads the keys it knows (see docs/rules.md)."""

    say: str = Field(description="The sentence.")
    now: str | None = Field(None, description="Time of saying, ISO 8601; default 2026-03-18T10:00:00+08:00.")
    speaker: Literal["user", "assistant", "tool", "document"] = Field("user", description="Who says it.")
    after: list[str] = Field(default_factory=list, description="Earlier turns of the same speaker, oldest first.")
    known: dict[str, str] = Field(default_factory=dict, description="slot or slot[qualifier] → canonical value.")
    expect: str | list[str] | None = Field(None, description='Canonical value(s) found, or "none".')
    covers: str | list[str] | None = Field(None, description='Canonical values a cue covers, or "none".')
    remembers: dict[str, str] | Literal["none"] | None = Field(None, description="Fields of the item that is current.")
    does: str | None = Field(None, description="Action of the decision.")
    reason: str | None = Field(None, description="Reason code of the decision.")
    gives: dict[str, Any] | None = Field(None, description="For policy: features given and the verdict expected.")
    because: str | None = Field(None, description="Why, for the reader.")
    todo: str | None = Field(None, description="Known gap: what it should give; fails once it does.")


class Change(Model):
    """One line of a rule's history."""

    version: int = Field(description="The version that the line is about.")
    note: str = Field(description="What changed and why.")


class RuleFile(Model):
    """Header of every rule file."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$", description="Dotted, never reused.")
    version: int = Field(ge=1, description="Raised with every change; of several versions the highest counts.")
    kind: str = Field(description="Which of the kinds of rule file this is.")
    status: Status = Field("active", description="draft: not counted yet; retired: taken out.")
    title: Title = Field(description="The rule's name for people.")
    owner: str = Field(description="Team or person who answers for the rule.")
    rationale: str = Field("", description="Why the rule exists, in one sentence.")
    references: list[str] = Field(default_factory=list, description="Laws, standards or tickets behind it.")
    effective: Effective | None = Field(None, description="Days on which it counts; none: always.")
    related: list[str] = Field(default_factory=list, description="Ids of rules to read with it.")
    accepts: dict[str, str] = Field(
        default_factory=dict, description="Lint checks that do not count here: id of the check → why it is meant so."
    )
    tests: list[InlineTest] = Field(default_factory=list, description="Sentences and what becomes of them.")
    changelog: list[Change] = Field(default_factory=list, description="What each version changed.")

    @property
    def ref(self) -> str:
        """``id@version``, the way decisions name a rule."""
        return f"{self.id}@{self.version}"

    def counts_on(self, day: date) -> bool:
        """True when the rule counts on this day (the day a turn was said, never today)."""
        if self.effective is None:
            return True
        since, until = self.effective.since, self.effective.until
        return (since is None or since <= day) and (until is None or day <= until)


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing wrong with a rule file, at its place (lines and columns from 1).

    ``check`` is the id under which docs/rule-checks.md explains it; a warning is no reason to refuse the file.
    """

    file: str
    line: int
    column: int
    message: str
    way_out: str = ""
    check: str = ""
    severity: Severity = "error"

    def __str__(self) -> str:
        opened = "warning: " if self.severity == "warning" else ""
        end = f". {self.way_out}" if self.way_out else ""
        named = f" [{self.check}]" if self.check else ""
        return f"{self.file}:{self.line}:{self.column}: {opened}{self.message}{end}{named}"


class Refused(ValueError):
    """What a model refuses in a field, with the id of the check that explains it."""

    def __init__(self, message: str, check: str) -> None:
        self.check = check
        super().__init__(message)


class RuleError(ValueError):
    """A rule set that cannot be used; carries every problem found, not only the first."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = sorted(problems)
        super().__init__("\n".join(map(str, self.problems)))
