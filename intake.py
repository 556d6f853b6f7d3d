"""What arrives: turns as callers and JSONL lines give them, checked before anything else sees them."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
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
LONGEST = 200  # characters of a name or an id
EXAMPLE = "Write e.g. 2026-03-18T10:00:00+08:00"
DATED = re.compile(r"\s*\d{4}-")
DAY = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?")
LOCALE = re.compile(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*")
MARKS = (b"\xff\xfe", b"\xfe\xff")  # how UTF-16 begins


class IntakeError(ValueError):
    """A turn that cannot be taken; says what is wrong and how to put it right."""


def fault(error: Exception) -> str:
    """A mistake of Recordari's own, told with the innermost place, so that it can be reported."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}:{last.lineno}"
    return f"internal error in {place}: {type(error).__name__}: {error}. Please report it with this line"


def check_moment(given: Any) -> Any:
    """Times are written out: a bare number would be taken for seconds since 1970, which nobody meant."""
    if given is not None and not isinstance(given, str | datetime):
        raise ValueError(f"a time is text, not {type(given).__name__}. {EXAMPLE}")
    if isinstance(given, str) and not DATED.match(given):
        raise ValueError(f"not an ISO 8601 time. {EXAMPLE}")
    return given


def check_zone(name: str | None) -> str | None:
    """The name itself, or an error when there is no such time zone."""
    if name is not None:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError(f"unknown time zone {name!r}. Use an IANA name such as Asia/Shanghai") from None
    return name


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


def check_locale(tag: str | None) -> str | None:
    """The tag itself, or an error when it has not the shape of one."""
    if tag is not None and not LOCALE.fullmatch(tag):
        raise ValueError(f"{tag[:40]!r} is no locale. Use a BCP 47 tag such as zh-CN or en-GB")
    return tag


def _is_day(given: str) -> bool:
    """Whether this is a day of the calendar, perhaps with a time."""
    if not DAY.fullmatch(given):
        return False
    try:
        datetime.fromisoformat(given)
    except ValueError:
        return False
    return True


class Incoming(BaseModel):
    """One turn as given: ``at`` (also accepted as ``said_at``) with an offset, who, what, and where it belongs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    at: AwareDatetime = Field(description="When it was said or written, with a UTC offset.")
    speaker: Speaker = "user"
    received_at: AwareDatetime | None = None
    entity: str = Field("user", min_length=1, max_length=LONGEST)
    author: str | None = Field(None, max_length=LONGEST)
    conversation: str = Field("default", min_length=1, max_length=LONGEST)
    turn_id: str | None = Field(None, min_length=1, max_length=LONGEST)
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

    @property
    def said_at(self) -> datetime:
        """``at``, by the name that a turn has for it."""
        return self.at

    @field_validator("entity", "author", "conversation", "turn_id")
    @classmethod
    def _clean(cls, name: str | None) -> str | None:
        if name is not None:
            check_text(name, LONGEST)
        return name

    @field_validator("at", "received_at", mode="before")
    @classmethod
    def _written_out(cls, given: Any) -> Any:
        return check_moment(given)

    @field_validator("at", "received_at")
    @classmethod
    def _plausible(cls, moment: datetime | None) -> datetime | None:
        if moment is not None and not EARLIEST <= moment < LATEST:
            raise ValueError("the time lies outside 1900-2199. Check the year")
        return moment

    @field_validator("timezone")
    @classmethod
    def _zone(cls, name: str | None) -> str | None:
        return check_zone(name)

    @field_validator("locale")
    @classmethod
    def _tag(cls, tag: str | None) -> str | None:
        return check_locale(tag)

    @field_validator("document")
    @classmethod
    def _dated(cls, document: Document | None) -> Document | None:
        if document is not None and document.date is not None and not _is_day(document.date):
            raise ValueError(f"date: {document.date[:40]!r} is no ISO 8601 date. Write e.g. 2026-03-18")
        return document


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

    @field_validator("said_at", mode="before")
    @classmethod
    def _written_out(cls, given: Any) -> Any:
        return check_moment(given)

    @field_validator("timezone")
    @classmethod
    def _zone(cls, name: str | None) -> str | None:
        return check_zone(name)

    @field_validator("locale")
    @classmethod
    def _tag(cls, tag: str | None) -> str | None:
        return check_locale(tag)

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
            message = f"the time has no UTC offset. {EXAMPLE}"
        elif one["type"].startswith("datetime_"):
            reason = one.get("ctx", {}).get("error", "it cannot be read")
            message = f"no such time: {reason}. {EXAMPLE}"
        elif one["type"] == "string_unicode":
            message = "lone surrogate. The text was decoded wrongly; send valid UTF-8"
        elif one["type"] == "missing":
            message = "required field is missing. Add it"
        lines.append(f"{place}: {message}")
    return "; ".join(lines)


def read_request(data: Any, limit: int) -> ExtractRequest:
    """An ExtractRequest from plain data; raises IntakeError with every problem of it."""
    if not isinstance(data, dict):
        raise IntakeError(f"a request is a JSON object. Got {type(data).__name__}")
    try:
        request = ExtractRequest.model_validate(data)
    except ValidationError as error:
        raise IntakeError(told(error)) from None
    if len(request.text) > limit:
        raise IntakeError(f"text: {len(request.text):,} characters, more than {limit:,}. Split the text")
    return request


def read_turn(data: Any, limit: int) -> Incoming:
    """An Incoming from plain data; raises IntakeError with every problem of the turn."""
    if not isinstance(data, dict):
        raise IntakeError(f"a turn is a JSON object. Got {type(data).__name__}")
    try:
        turn = Incoming.model_validate(data)
        check_text(turn.text, limit)
    except ValidationError as error:
        raise IntakeError(told(error)) from None
    except ValueError as error:
        raise IntakeError(f"text: {error}") from None
    return turn


def received(turn: Incoming, last: datetime | None) -> datetime:
    """When the turn counts as learnt: as given, but neither before it was said nor before what this conversation
    had received by then; else an answer about what was known at a time would hold what nobody could know yet."""
    return max(moment for moment in (turn.received_at, turn.at, last) if moment is not None)


def moment_of(given: str | datetime | None, name: str) -> datetime | None:
    """A time with an offset, or a clear error."""
    if given is None:
        return None
    try:
        moment = datetime.fromisoformat(given) if isinstance(given, str) else given
    except ValueError:
        raise IntakeError(f"{name}: {given!r} is no ISO 8601 time. {EXAMPLE}") from None
    if moment.tzinfo is None:
        raise IntakeError(f"{name}: {given!r} has no UTC offset. {EXAMPLE}")
    try:
        moment.astimezone(UTC)
    except OverflowError:
        raise IntakeError(f"{name}: {given!r} lies beyond the calendar. {EXAMPLE}") from None
    return moment


def read_lines(stream: Iterator[bytes]) -> Iterator[tuple[int, Any | None, str]]:
    """(line number, parsed JSON or None, error) for each non-empty line of a UTF-8 JSONL stream.

    A bad line never stops the others. Byte order marks, which joined files carry in the middle too, are dropped.
    """
    for number, raw in enumerate(stream, 1):
        if number == 1 and raw.startswith(MARKS) and b"\x00" in raw:
            # Cut at line feeds, UTF-16 is no text any more: one message instead of one a line.
            yield number, None, "1: the file is UTF-16. Convert it to UTF-8"
            return
        data, error = _parsed(raw)
        if error or data is not _NOTHING:
            yield number, None if error else data, error


_NOTHING = object()


def _parsed(raw: bytes) -> tuple[Any, str]:
    """What a line holds, and ``column: what is wrong`` when it cannot be read; columns count characters."""
    try:
        line = raw.decode("utf-8").removeprefix("\ufeff").rstrip()
    except UnicodeDecodeError as error:
        column = len(raw[: error.start].decode("utf-8")) + 1
        return None, f"{column}: not UTF-8. Convert the file to UTF-8"
    if not line:
        return _NOTHING, ""
    try:
        return json.loads(line, object_pairs_hook=_once, parse_constant=_no_number), ""
    except json.JSONDecodeError as error:
        return None, f"{error.colno}: not JSON: {error.msg}. One JSON object a line"
    except RecursionError:
        return None, "1: nested too deeply. A turn is a flat object"
    except ValueError as error:
        return None, f"1: {error}" if isinstance(error, IntakeError) else "1: a number with too many digits. Shorten it"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; of two values under one name nobody knows which was meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise IntakeError(f"field {twice!r} given twice. Keep one")
    return found


def _no_number(name: str) -> Any:
    raise IntakeError(f"not JSON: {name} is no number. Write null or a number")
