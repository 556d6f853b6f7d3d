"""What people read of an export: the page, further pages where there is more than one can hold, and tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from ..audit.csvfile import write_csv
from ..audit.page import Figures, page
from .questions import rules_of

MOST = 20_000  # rows of a kind on one page, the latest on the first; further pages have the others
ITEM_COLUMNS = (
    "id", "version", "entity", "slot", "qualifier", "value", "polarity", "status", "asserted_by", "valid_from",
    "valid_to", "known_from", "known_until", "record", "recorded", "sentence", "turn",
)  # fmt: skip
DECISION_COLUMNS = (
    "seq", "at", "kind", "action", "reason", "why_en", "why_zh", "rule", "capture", "cues", "entity", "slot",
    "qualifier", "value", "polarity", "earlier_value", "item", "target", "turn", "start", "end", "author", "signed",
    "question", "ruleset", "runtime",
)  # fmt: skip
TURN_COLUMNS = (
    "turn_id", "conversation", "ordinal", "entity", "speaker", "author", "said_at", "received_at", "text",
)  # fmt: skip
HOLD_COLUMNS = (
    "seq", "at", "item", "entity", "slot", "qualifier", "value", "reason", "question", "outcome", "who", "signed",
    "decided_at", "decided_by",
)  # fmt: skip
WORDING_COLUMNS = (
    "seq", "at", "item", "items", "conversation", "outcome", "why", "template", "answer", "model",
)  # fmt: skip
SET_COLUMNS = (
    "digest", "decisions", "first", "last", "first_at", "last_at", "published", "promoted", "rolled_back",
)  # fmt: skip


@dataclass(slots=True)
class Gathered:
    """What is kept in memory while the log is read once."""

    figures: Figures = field(default_factory=Figures)
    decisions: list[dict[str, Any]] = field(default_factory=list)  # the latest
    decided: int = 0  # how many there are
    turns: dict[str, dict[str, Any]] = field(default_factory=dict)
    received: dict[str, str] = field(default_factory=dict)  # turn → when it was received
    acts: list[dict[str, Any]] = field(default_factory=list)
    wordings: list[dict[str, Any]] = field(default_factory=list)
    sets: dict[str, dict[str, Any]] = field(default_factory=dict)  # digest of a rule set → what became of it
    runtimes: set[str] = field(default_factory=set)
    refs: set[tuple[str, str]] = field(default_factory=set)  # (rule set, rule) to be shown on the page
    rules_of: dict[str, set[str]] = field(default_factory=dict)  # item → rules it rests on
    sets_of: dict[str, set[str]] = field(default_factory=dict)  # item → rule sets that decided about it
    wrote: dict[str, tuple[int, str]] = field(default_factory=dict)  # item version → record, when
    holds: list[dict[str, Any]] = field(default_factory=list)

    def take(self, decision: dict[str, Any], versions: Iterable[str]) -> None:
        """One decision: counted, kept while it is among the latest, its rules and the versions it wrote remembered."""
        self.figures.add(decision)
        self.decisions.append(decision)
        self.decided += 1
        if len(self.decisions) > MOST + 1000:
            del self.decisions[:1000]
        digest = decision["ruleset"]
        if digest:
            used = self._set(digest)
            used["decisions"] += 1
            used.setdefault("first", decision["seq"])
            used.setdefault("first_at", decision["at"])
            used.update(last=decision["seq"], last_at=decision["at"])
        if decision["runtime"]:
            self.runtimes.add(decision["runtime"])
        for version in versions:
            self.wrote[version] = (decision["seq"], decision["at"])
        named = rules_of(decision)
        self.refs.update((digest, ref) for ref in named)
        for item in decision["written"]:
            self.rules_of.setdefault(item, set()).update(named)
            self.sets_of.setdefault(item, set()).add(digest)

    def take_act(self, act: dict[str, Any]) -> None:
        """A record that decides about no turn; what it does to rule sets is remembered with them."""
        self.acts.append(act)
        content = json.loads(act["content"])
        told = {"record": act["seq"], "at": act["at"], "who": act["who"], "why": content.get("why")}
        if act["kind"] == "rule_publish":
            self._set(content["digest"]).setdefault("published", told)
        elif act["kind"] in {"rule_promote", "rule_override"}:
            stable = (content.get("releases") or {}).get("stable")
            if stable and content.get("to", "stable") == "stable":
                self._set(stable).setdefault("promoted", told)
        elif act["kind"] == "rule_rollback":
            for digest in content.get("withdrawn", ()):
                self._set(digest)["rolled_back"] = told

    def _set(self, digest: str) -> dict[str, Any]:
        return self.sets.setdefault(digest, {"digest": digest, "decisions": 0})


def write_pages(
    folder: Path, head: Mapping[str, Any], gathered: Gathered, items: list[dict[str, Any]], texts: Mapping[str, str]
) -> None:
    """The page, the further pages and the tables. ``head``: namespace, size, root, made_at; ``texts``: rule set and
    rule → text of that day."""
    house = _House(folder, head, gathered, items, texts)
    further = [*house.earlier_decisions(), *house.earlier_items(items)]
    charts = gathered.figures.charts(Counter(each["outcome"] for each in gathered.holds))
    facts = (
        ("records", "记录", str(head["size"])), ("root of the log", "根哈希", head["root"].hex()),
        ("exported", "导出时间", head["made_at"]), ("item versions", "条目版本", str(len(items))),
        ("turns", "轮次", str(len(gathered.turns))),
    )  # fmt: skip
    notes = [
        (
            "This page proves nothing by itself: check_bundle.py does. Times in tables are UTC.",
            "本页本身不构成证明：请用 check_bundle.py 校验。表格中的时间为 UTC。",
        )
    ]
    rest = {"decisions": gathered.decided, "holds": len(gathered.holds), "wordings": len(gathered.wordings),
            "acts": len(gathered.acts), "items": len(items)}  # fmt: skip
    if further or max(rest.values()) > MOST:
        cut = ", ".join(f"{name} {number}" for name, number in rest.items() if number > MOST)
        notes.append(
            (
                f"Not everything is on this page, only the latest {MOST} of each ({cut}). pages/ has the decisions and "
                "items before them, linked where they belong; csv/ has all.",
                f"本页并非全部：每类只有最近 {MOST} 条（{cut}）。更早的决定和条目在 pages/，相应处有链接；"
                "csv/ 中是全部。",
            )
        )
    data = {
        "items": items[-MOST:], "decisions": list(reversed(gathered.decisions[-MOST:])),
        "holds": gathered.holds[:MOST], "wordings": gathered.wordings[: -MOST - 1 : -1],
        "acts": gathered.acts[: -MOST - 1 : -1], "sets": list(gathered.sets.values()), "pages": further,
        "made_at": head["made_at"],
    }  # fmt: skip
    house.write("report.html", data, charts, facts, notes)
    _tables(folder, gathered, items)


def values_of(items: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Item → its value, which no version of it changes; what is denied has a mark before it."""
    return {each["id"]: ("¬ " if each["polarity"] == "negated" else "") + each["value"] for each in items}


class _House:
    """What all pages of one export share."""

    def __init__(
        self, folder: Path, head: Mapping[str, Any], gathered: Gathered, items: Iterable[Mapping[str, Any]],
        texts: Mapping[str, str],
    ) -> None:  # fmt: skip
        self.folder, self.head, self.gathered, self.texts = folder, head, gathered, texts
        self.values = values_of(items)
        self.erasures = [each for each in gathered.acts if each["kind"] == "erase"]

    def write(
        self,
        name: str,
        data: dict[str, Any],
        charts: str,
        facts: Iterable[tuple[str, str, str]],
        notes: Iterable[tuple[str, str]],
    ) -> None:
        """One page, with the turns and the rule texts that its rows name."""
        decisions, items = data.get("decisions", ()), data.get("items", ())
        named = {each["turn"] for each in decisions} | {each["turn"] for each in items}
        rules: dict[str, int] = {}
        texts: list[str] = []
        numbers: dict[str, int] = {}
        for each in decisions:
            for ref in rules_of(each):
                key = f"{each['ruleset']} {ref}"
                text = self.texts.get(key)
                if text is not None and key not in rules:  # one file serves many rules, and many rule sets
                    number = numbers.setdefault(text, len(texts))
                    if number == len(texts):
                        texts.append(text)
                    rules[key] = number
        turns = {name: self.gathered.turns[name] for name in sorted(named) if name in self.gathered.turns}
        whole = {
            "namespace": self.head["namespace"], **data, "turns": turns, "rules": rules, "texts": texts,
            "decisions": [{**each, "earlier": self.values.get(each["target"])} for each in decisions],
            "erasures": self.erasures,
        }  # fmt: skip
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(page(whole, charts, facts, notes), encoding="utf-8", newline="\n")

    def earlier_decisions(self) -> list[dict[str, Any]]:
        """Pages of the decisions that are too old for the first one, oldest first."""
        rows = islice(_lines(self.folder / "decisions.jsonl"), max(self.gathered.decided - MOST, 0))
        found: list[dict[str, Any]] = []
        while chunk := list(islice(rows, MOST)):
            told = {"what": "decisions", "first": chunk[0]["seq"], "last": chunk[-1]["seq"]}
            told.update({"from": chunk[0]["at"][:10], "to": chunk[-1]["at"][:10]})
            found.append(self._further(told, chunk[::-1]))
        return found

    def earlier_items(self, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The same for versions of items."""
        found: list[dict[str, Any]] = []
        rows = iter(items[:-MOST])
        while chunk := list(islice(rows, MOST)):
            told = {"what": "items", "first": chunk[0]["record"], "last": chunk[-1]["record"]}
            told.update({"from": chunk[0]["known_from"][:10], "to": chunk[-1]["known_from"][:10]})
            found.append(self._further(told, chunk))
        return found

    def _further(self, told: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
        name = f"pages/{told['what']}-{told['first']}.html"
        span = f"{told['first']} - {told['last']} ({told['from']} - {told['to']})"
        facts = ((f"{told['what']} of the records", "记录", span),)
        notes = (("A part of report.html in the folder above.", "上一级文件夹中 report.html 的一部分。"),)
        self.write(name, {told["what"]: rows, "part": True}, "", facts, notes)
        return {**told, "name": name}


def _tables(folder: Path, gathered: Gathered, items: list[dict[str, Any]]) -> None:
    """Everything again for a spreadsheet."""
    values = values_of(items)

    def flat(decision: Mapping[str, Any]) -> dict[str, Any]:
        return {**decision, "cues": " ".join(decision["cues"]), "earlier_value": values.get(decision["target"])}

    def told(used: Mapping[str, Any]) -> dict[str, Any]:
        steps = {name: used[name] for name in ("published", "promoted", "rolled_back") if name in used}
        names = ("record", "at", "who", "why")
        return {**used, **{name: " ".join(str(step[each]) for each in names) for name, step in steps.items()}}

    tables: tuple[tuple[str, tuple[str, ...], Iterable[Mapping[str, Any]]], ...] = (
        ("items", ITEM_COLUMNS, items),
        ("decisions", DECISION_COLUMNS, map(flat, _lines(folder / "decisions.jsonl"))),
        ("turns", TURN_COLUMNS, gathered.turns.values()),
        ("holds", HOLD_COLUMNS, gathered.holds),
        ("wordings", WORDING_COLUMNS, ({**each, "items": " ".join(each["items"] or ())} for each in gathered.wordings)),
        ("acts", ("seq", "at", "kind", "who", "content"), gathered.acts),
        ("rulesets", SET_COLUMNS, map(told, gathered.sets.values())),
    )
    for name, columns, rows in tables:
        write_csv(folder / "csv" / f"{name}.csv", columns, ([row.get(column) for column in columns] for row in rows))


def _lines(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            yield json.loads(line)
