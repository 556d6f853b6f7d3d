"""What arrives: turns as callers and JSONL lines give them, checked before anything else sees them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from .model import Document, Speaker

# Tab, line feed and carriage return are text; the other controls are what broken exports and terminals leave behind,
# and a NUL cannot be stored by every database.
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
SURROGATE = re.compile(r"[\ud800-\udfff]")
EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)


class IntakeError(ValueError):
    """A turn that cannot be taken; says what is wrong and how to put it right."""


def check_text(text: str, limit: int) -> str:
    """The text itself, or an error that names the offending character and its offset."""
    if not text.strip():
        raise ValueError("the text is empty. Leave the turn out")
    if len(text) > limit:
        raise ValueError(f"the text has {len(text):,} characters, more than {limit:,}. Split it into several turns")
    if found := SURROGATE.search(text):
        raise ValueError(f"lone surrogate at character {found.start()}. The text was decoded wrongly; send valid UTF-8")
    if found := CONTROL.search(text):
        name = f"U+{ord(found[0]):04X}"
        raise ValueError(f"control character {name} at character {found.start()}. Remove it before sending")
    return text


class Incoming(BaseModel):
    """One turn as given: ``at`` (also accepted as ``said_at``) with an offset, who, what, and where it belongs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    at: AwareDatetime = Field(description="When it was said or written, with a UTC offset.")
    speaker: Speaker = "user"
    received_at: AwareDatetime | None = None
    entity: str = Field("user", min_length=1, max_length=200)
    author: str | None = Field(None, max_length=200)
    conversation: str = Field("default", min_length=1, max_length=200)
    turn_id: str | None = Field(None, min_length=1, max_length=200)
    lang: Literal["zh", "en"] | None = None
    timezone: str | None = None
    locale: str | None = None
    document: Document | None = None

    @model_validator(mode="before")
    @classmethod
    def _said_at(cls, data: Any) -> Any:
        if isinstance(data, dict) and "said_at" in data:
            if "at" in data:
                raise ValueError("give `at` or `said_at`, not both")
            data = {**data, "at": data["said_at"]}
            del data["said_at"]
        return data

    @field_validator("entity", "author", "conversation", "turn_id")
    @classmethod
    def _clean(cls, name: str | None) -> str | None:
        if name is not None:
            check_text(name, 200)
        return name

    @field_validator("at", "received_at")
    @classmethod
    def _plausible(cls, moment: datetime | None) -> datetime | None:
        if moment is not None and not EARLIEST <= moment < LATEST:
            raise ValueError("the time lies outside 1900-2199. Check the year")
        return moment

    @field_validator("timezone")
    @classmethod
    def _zone(cls, name: str | None) -> str | None:
        if name is not None:
            try:
                ZoneInfo(name)
            except (ZoneInfoNotFoundError, ValueError, OSError):
                raise ValueError(f"unknown time zone {name!r}. Use an IANA name such as Asia/Shanghai") from None
        return name


class ExtractRequest(BaseModel):
    """One line of ``recordari extract``: a text and, when known, when and where it was said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    text: str
    lang: Literal["zh", "en"] | None = None
    said_at: datetime | None = None
    timezone: str | None = None
    locale: str | None = None
    context: list[str] | None = None

    def moment(self) -> datetime | None:
        """``said_at`` with a zone: its own, else ``timezone``, else UTC (extraction only needs wall time)."""
        if self.said_at is None or self.said_at.tzinfo is not None:
            return self.said_at
        return self.said_at.replace(tzinfo=ZoneInfo(self.timezone) if self.timezone else UTC)


def told(error: ValidationError) -> str:
    """A pydantic error in one line: where, what, and for unknown fields which ones exist."""
    lines = []
    for one in error.errors(include_url=False):
        place = ".".join(str(part) for part in one["loc"]) or "turn"
        message = one["msg"].removeprefix("Value error, ")
        if one["type"] == "extra_forbidden":
            message = "unknown field. Remove it or check its spelling"
        elif one["type"] == "timezone_aware":
            message = "the time has no UTC offset. Write e.g. 2026-03-18T10:00:00+08:00"
        elif one["type"] == "missing":
            message = "required field is missing"
        lines.append(f"{place}: {message}")
    return "; ".join(lines)


def read_turn(data: Any, limit: int) -> Incoming:
    """An Incoming from plain data; raises IntakeError with every problem of the turn."""
    if not isinstance(data, dict):
        raise IntakeError("a turn is a JSON object. Got " + type(data).__name__)
    try:
        turn = Incoming.model_validate(data)
        check_text(turn.text, limit)
    except ValidationError as error:
        raise IntakeError(told(error)) from None
    except ValueError as error:
        raise IntakeError(f"text: {error}") from None
    return turn


def received(turn: Incoming, last: datetime | None) -> datetime:
    """When the turn counts as learnt: as given, else the later of its own time and the last one received."""
    if turn.received_at is not None:
        return turn.received_at
    return turn.at if last is None else max(turn.at, last)


def read_lines(stream: Iterator[bytes]) -> Iterator[tuple[int, Any | None, str]]:
    """(line number, parsed JSON or None, error) for each non-empty line of a UTF-8 JSONL stream.

    A bad line never stops the others. A byte order mark at the start is dropped.
    """
    for number, raw in enumerate(stream, 1):
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        try:
            line = raw.decode("utf-8").strip()
        except UnicodeDecodeError as error:
            yield number, None, f"{error.start + 1}: not UTF-8. Convert the file to UTF-8"
            continue
        if not line:
            continue
        try:
            yield number, json.loads(line), ""
        except json.JSONDecodeError as error:
            yield number, None, f"{error.colno}: not JSON: {error.msg}. One JSON object a line"
        except RecursionError:
            yield number, None, "1: nested too deeply. A turn is a flat object"
