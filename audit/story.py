"""Records in readable form: what was decided about which words, by whom, what became of what was held."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .reasons import reason
from .record import Beside, Record
from .signatures import Listed, listed_by

REWRITES = ("rewrite", "rewrite_refused", "summary", "summary_refused")
TurnFields = Callable[[str], Mapping[str, Any]]
"""The fields of a turn by its id; none when it is not there."""


def cue_rules(cues: Iterable[str]) -> list[str]:
    """The rules of cues, which stand in a decision as ``change:cue.zh.change@1:2-4``."""
    return [each.split(":")[1] for each in cues if each.count(":") > 1]


class Story:
    """Reads the records of a log in order, and remembers who is an actor and what is held."""

    def __init__(self, turn_of: TurnFields) -> None:
        self._turn_of = turn_of
        self.listed: Listed | None = None
        self.holds: dict[str, dict[str, Any]] = {}  # item → its hold, and who decided it how

    def read(self, record: Record, private: Mapping[str, Beside]) -> dict[str, Any]:
        """One record."""
        if record.kind == "actors":
            self.listed = listed_by(record, private)
        if record.decides:
            return self._decision(record, private)
        if record.kind in REWRITES:
            return self._wording(record, private)
        return self._act(record, private)

    def _decision(self, record: Record, private: Mapping[str, Beside]) -> dict[str, Any]:
        content = record.with_private({name: each for name, each in private.items() if name != "written"})
        turn = self._turn_of(str(content["turn_id"])) if record.by_person else {}
        action, code = str(content["action"]), str(content["reason"])
        why = reason(action, code)
        fields = {
            "seq": record.seq, "at": record.recorded_at, "kind": record.kind, "action": action, "reason": code,
            "why_en": why.en, "why_zh": why.zh, "rule": content["rule"], "capture": content.get("capture"),
            "entity": content.get("entity"), "slot": content.get("slot"), "qualifier": content.get("qualifier", ""),
            "value": content.get("canonical"), "polarity": content.get("polarity"), "item": content.get("item"),
            "target": content.get("target"), "rested_on": content.get("rested_on", []),
            "written": sorted({str(key).rpartition("/")[0] for key in record.content.get("written", ())}),
            "turn": content["turn_id"], "start": content["start"], "end": content["end"],
            "cues": content.get("cues", []), "features": content.get("features", {}),
            "flags": content.get("flags", []), "question": content.get("question"), "by_person": record.by_person,
            "author": turn.get("author"), "signed": self._signer(record), "ruleset": content.get("ruleset", ""),
            "runtime": content.get("runtime", ""),
        }  # fmt: skip
        self._follow(fields)
        return fields

    def _follow(self, decision: Mapping[str, Any]) -> None:
        """Follow what is held until somebody decides it."""
        item = decision["item"]
        if decision["action"] == "HOLD" and item is not None:
            kept = ("seq", "at", "entity", "slot", "qualifier", "value", "polarity", "reason", "question", "turn")
            self.holds[item] = {"item": item, **{name: decision[name] for name in kept}, "outcome": "waiting"}
            return
        for held in {item, decision["target"], *decision["written"]} - {None}:
            hold = self.holds.get(str(held))
            if hold is not None and hold["outcome"] == "waiting" and decision["action"] != "IGNORE":
                who = decision["author"] or decision["rule"]
                hold.update(
                    outcome=decision["kind"], who=who, signed=decision["signed"], decided_at=decision["at"],
                    decided_by=decision["seq"],
                )  # fmt: skip

    def _wording(self, record: Record, private: Mapping[str, Beside]) -> dict[str, Any]:
        content = record.with_private(private)
        names = ("item", "items", "conversation", "outcome", "why", "template", "answer", "model", "detail")
        head = {"seq": record.seq, "at": record.recorded_at, "kind": record.kind}
        return {**head, **{name: content.get(name) for name in names}}

    def _act(self, record: Record, private: Mapping[str, Beside]) -> dict[str, Any]:
        content = record.with_private(private)
        who = self._signer(record) or content.pop("actor", None)
        text = json.dumps(content, ensure_ascii=False, sort_keys=True)
        return {"seq": record.seq, "at": record.recorded_at, "kind": record.kind, "who": who, "content": text}

    def _signer(self, record: Record) -> str | None:
        """Who signed, as the list of actors before it has it, with the beginning of the key."""
        if record.signed is None:
            return None
        key = record.signed.key
        name = self.listed.names.get(key, "?") if self.listed is not None else "?"
        return f"{name} ({key[:8]})"
