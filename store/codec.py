"""Turns, items, decisions and proposals as JSON text and back, typed values included."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import datetime
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, from_json

from ..model import Candidate, Decision, MemoryItem, Proposal, Turn, utc
from ..values import Value, read_value
from .tables import column, stamp

KIND = "kind"
"""Beside the fields of a value stands its kind: no value has a field of that name (a test proves it)."""


def _written(model: BaseModel, exclude: set[str] | None = None) -> str:
    """Compact JSON of a noun. Half a surrogate pair is no UTF-8 and must become an escape."""
    try:
        return model.model_dump_json(exclude_none=True, exclude=exclude)
    except PydanticSerializationError:
        fields = model.model_dump(exclude_none=True, exclude=exclude)
        return json.dumps(fields, default=_plain, separators=(",", ":"))


def _plain(other: Any) -> Any:
    """What JSON lacks, the way pydantic writes it."""
    return other.isoformat() if isinstance(other, datetime) else str(other)


def _fields(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", exclude_none=True)


def _value(value: Value) -> dict[str, Any]:
    return {KIND: value.kind, **_fields(value)}


def _read_value(fields: dict[str, Any]) -> Value:
    return read_value(fields[KIND], {name: each for name, each in fields.items() if name != KIND})


def turn_body(turn: Turn) -> str:
    """The fields of a turn without its text, which is kept (and erased) apart."""
    return _written(turn, {"text"})


def read_turn(body: str, text: bytes | None) -> Turn:
    """A turn again; an erased text is empty."""
    kept = text.decode("utf-8", "surrogatepass") if text is not None else ""
    return Turn.model_validate({**json.loads(body), "text": kept})


def text_bytes(text: str) -> bytes:
    """Text as stored: exactly what came, even half a surrogate pair."""
    return text.encode("utf-8", "surrogatepass")


def content_digest(turn: Turn, secret: bytes) -> str:
    """What makes two turns of one id the same; keyed, so that a short text cannot be guessed from it."""
    content = [
        turn.text,
        turn.speaker,
        utc(turn.said_at),
        turn.entity,
        turn.author,
        turn.conversation,
        turn.lang,
        turn.timezone,
        turn.locale,
        turn.document.model_dump(mode="json") if turn.document is not None else None,
    ]
    return hmac.digest(secret, json.dumps(content).encode(), "sha256").hex()


def item_body(item: MemoryItem) -> str:
    """An item version with its typed value."""
    return f'{{"{KIND}":"{item.kind}",{_written(item)[1:]}'


def item_columns(item: MemoryItem) -> dict[str, Any]:
    """What the columns beside an item's body repeat of it, to be asked for."""
    return {
        "item_id": item.id,
        "version": item.version,
        "entity": column(item.entity),
        "slot": item.slot,
        "qualifier": column(item.qualifier),
        "kind": item.kind,
        "status": item.status,
        "valid_from": stamp(item.valid_from) if item.valid_from is not None else None,
        "valid_to": stamp(item.valid_to) if item.valid_to is not None else None,
        "superseded_at": stamp(item.superseded_at) if item.superseded_at is not None else None,
    }


def read_item(body: str) -> MemoryItem:
    """An item version again."""
    try:
        fields = from_json(body)
    except ValueError:  # half a surrogate pair, which only the slower one reads; or a damaged row, which it tells of
        fields = json.loads(body)
    fields["value"] = read_value(fields.pop(KIND), fields["value"])
    return MemoryItem.model_validate(fields)


def decision_body(decision: Decision) -> str:
    """A decision."""
    return _written(decision)


def read_decision(body: str) -> Decision:
    """A decision again."""
    return Decision.model_validate_json(body)


def proposal_body(proposal: Proposal) -> str:
    """A proposal with the typed values of its candidate."""
    fields = _fields(proposal)
    candidate = proposal.candidate
    for name, value in (("value", candidate.value), ("old", candidate.old)):
        if value is not None:
            fields["candidate"][name] = _value(value)
    if candidate.adjustment is not None and candidate.adjustment.by is not None:
        fields["candidate"]["adjustment"]["by"] = _value(candidate.adjustment.by)
    return json.dumps(fields, ensure_ascii=True, separators=(",", ":"))


def proposal_digest(proposal: Proposal | str) -> str:
    """SHA-256 of a proposal as stored: what the log commits to."""
    body = proposal if isinstance(proposal, str) else proposal_body(proposal)
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()


def read_proposal(body: str) -> Proposal:
    """A proposal again."""
    fields = json.loads(body)
    candidate = fields.pop("candidate")
    for name in ("value", "old"):
        if candidate.get(name) is not None:
            candidate[name] = _read_value(candidate[name])
    adjustment = candidate.get("adjustment")
    if adjustment is not None and adjustment.get("by") is not None:
        adjustment["by"] = _read_value(adjustment["by"])
    return Proposal.model_validate({**fields, "candidate": Candidate.model_validate(candidate)})
