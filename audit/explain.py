"""Why something is remembered, and why something is not: a decision told step by step, for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ..model import FEATURES, Decision, MemoryItem, Turn, utc
from .reasons import reason

Tongue = Literal["en", "zh"]
# These features hold for every plain statement; in a text they would bury the ones that decided.
_PLAIN = {
    "attribution": "own", "authority": "none", "confidence": "high", "form": "full", "gate": "none",
    "modality": "asserted", "polarity": "affirmed", "time": "current", "unusual": "no", "approval": "no",
    "value": "ok", "wording": "other", "hedge": "ignore", "identity": "none",
}  # fmt: skip

_WORDS: Mapping[str, tuple[str, str]] = {
    "said": ("What was said", "原话"),
    "erased": ("the words have been erased", "原文已被删除"),
    "answers": ("What it answers", "所回应的建议"),
    "doubt": ("Not to be relied on", "不可采信"),
    "altered": (
        "what memory holds is not what the log recorded; run `recordari audit verify`",
        "存储内容与日志记录不符；请运行 `recordari audit verify`",
    ),
    "seen": ("What the rules saw", "规则看到的内容"),
    "cues": ("Words that changed how it counts", "改变其含义的词"),
    "captured": ("What it was taken for", "被理解为"),
    "bound": ("How it joins what is known", "与已知信息的关系"),
    "judged": ("What policy looked at", "策略依据"),
    "verdict": ("Verdict", "结论"),
    "item": ("What is in memory", "记忆内容"),
    "ground": ("Made with", "所用版本"),
    "characters": ("characters", "字符"),
    "rule": ("rule", "规则"),
    "target": ("known item", "已知条目"),
    "rested": ("rested on", "依据条目"),
    "from": ("computed from", "由此计算"),
    "flags": ("flags", "标记"),
    "ask": ("to ask", "待询问"),
    "record": ("record", "记录"),
    "not_remembered": ("Not remembered", "未被记住"),
    "remembered": ("Remembered", "已记住"),
    "whole": ("the whole turn", "整句话"),
    "nothing": ("no rule saw anything in these characters", "没有规则在这些字符中看到任何内容"),
    "no_decision": ("no decision about this turn is in the log", "日志中没有关于这句话的决定"),
}

_BINDING: Mapping[str, tuple[str, str]] = {
    "named": ("its slot and label were named", "明确说出了所属事项"),
    "matched": ("the old value that was said is the known one", "所说的旧值与已知值一致"),
    "recent": ("it continues what was said just before", "承接刚才所说的内容"),
    "suggested": ("it answers the agent's proposal", "回应助手的建议"),
    "ambiguous": ("more than one known thing fits", "有多个已知事项符合"),
    "none": ("nothing known fits", "没有已知事项符合"),
}
_RELATION: Mapping[str, tuple[str, str]] = {
    "none": ("nothing is known in its place", "该处尚无已知值"),
    "equal": ("the known value is the same", "与已知值相同"),
    "narrower": ("it says the known value more exactly", "比已知值更精确"),
    "broader": ("it is vaguer than the known value", "比已知值更宽泛"),
    "differs": ("it differs from the known value", "与已知值不同"),
    "older": ("it is older than the known value", "早于已知值"),
}


class Titled(Protocol):
    """What an explanation needs of a rule file."""

    @property
    def rationale(self) -> str:
        """Why the rule exists."""

    @property
    def title(self) -> TitleText:
        """Its name in both languages."""


class TitleText(Protocol):
    """A name in both languages."""

    @property
    def en(self) -> str:
        """English."""

    @property
    def zh(self) -> str:
        """Chinese."""


RuleLookup = Callable[[str], Titled | None]
ItemLookup = Callable[[str], MemoryItem | None]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an explanation."""

    name: str
    title: str
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """An explanation: its subject and its steps in the order in which they happened."""

    subject: str
    steps: tuple[Step, ...]

    def step(self, name: str) -> Step | None:
        """The first step of that name."""
        return next((step for step in self.steps if step.name == name), None)

    def lines(self) -> list[str]:
        """The explanation as text, one indented line a detail."""
        lines = [self.subject]
        for step in self.steps:
            lines.append(f"  {step.title}")
            lines += [f"    {detail}" for detail in step.details]
        return lines


@dataclass(frozen=True, slots=True)
class Logged:
    """A decision at its place in the log, and the turn it is about (None when its text was erased).

    ``answers`` are the turns whose suggestions it accepts or refuses; ``altered``: the log recorded something else.
    """

    decision: Decision
    turn: Turn | None = None
    seq: int | None = None
    answers: tuple[Turn, ...] = ()
    altered: bool = False


def explain(
    logged: Sequence[Logged],
    *,
    rule: RuleLookup,
    item: ItemLookup = lambda _: None,
    language: Tongue = "en",
) -> tuple[Explanation, ...]:
    """One explanation a decision: for all decisions about an item, oldest first, the item's whole story."""
    teller = _Teller(rule, item, language)
    return tuple(teller.tell(each) for each in logged)


def why_not(
    turn: Turn | None,
    logged: Sequence[Logged],
    *,
    rule: RuleLookup,
    span: tuple[int, int] | None = None,
    language: Tongue = "en",
) -> Explanation:
    """Why a turn, or the characters ``span`` of it, did not become memory; what did become memory is named, too."""
    teller = _Teller(rule, lambda _: None, language)
    chosen = [
        each
        for each in logged
        if span is None
        or each.decision.start == each.decision.end
        or (each.decision.start < span[1] and span[0] < each.decision.end)
    ]
    refused = [each for each in chosen if each.decision.action in ("IGNORE", "HOLD")]
    kept = [each for each in chosen if each.decision.action not in ("IGNORE", "HOLD")]
    steps = [teller.said(turn)]
    steps += [teller.doubt(each) for each in chosen if each.altered][:1]
    steps += [teller.refusal(each) for each in refused]
    steps += [teller.kept(each) for each in kept]
    if not chosen:
        missing = teller.word("nothing" if logged else "no_decision")
        steps.append(Step("not_remembered", teller.word("not_remembered"), (missing,)))
    name = turn.turn_id if turn else next((each.decision.turn_id for each in logged), "?")
    return Explanation(name, tuple(steps))


class _Teller:
    """Finds the words for the steps of one language."""

    def __init__(self, rule: RuleLookup, item: ItemLookup, language: Tongue) -> None:
        self.rule = rule
        self.item = item
        self.language = language
        self.column = 1 if language == "zh" else 0

    def word(self, name: str) -> str:
        """A label."""
        return _WORDS[name][self.column]

    def titled(self, ref: str) -> str:
        """``id@version`` with the rule's title behind it when it is at hand."""
        found = self.rule(ref)
        if found is None:
            return ref
        return f"{ref} ({found.title.zh if self.language == 'zh' else found.title.en})"

    def step(self, name: str, details: list[str]) -> Step:
        """A step under its label."""
        return Step(name, self.word(name), tuple(details))

    def tell(self, logged: Logged) -> Explanation:
        """All steps of one decision."""
        decision = logged.decision
        steps = [
            self.doubt(logged),
            self.answers(logged),
            self.said(logged.turn, decision.start, decision.end),
            self.seen(logged),
            self.cues(logged),
            self.captured(decision),
            self.bound(decision),
            self.judged(decision),
            self.verdict(decision),
            self.remembered(decision),
            self.ground(logged),
        ]
        subject = " ".join(
            part
            for part in (decision.action, decision.slot, _bracketed(decision.qualifier), decision.canonical)
            if part
        )
        return Explanation(subject, tuple(step for step in steps if step.details))

    def said(self, turn: Turn | None, start: int = 0, end: int = 0) -> Step:
        """The words, the decided ones between angle quotes."""
        if turn is None:
            return self.step("said", [self.word("erased")])
        text = turn.text
        if end > start:
            text = f"{text[:start]}«{text[start:end]}»{text[end:]}"
        who = turn.speaker if turn.author is None else f"{turn.speaker} {turn.author}"
        return self.step("said", [f"{who}, {utc(turn.said_at)}, {turn.turn_id}: {text}"])

    def answers(self, logged: Logged) -> Step:
        """The suggestions that were answered, in the words in which they were made."""
        told = [detail for turn in logged.answers for detail in self.said(turn).details]
        return self.step("answers", told)

    def doubt(self, logged: Logged) -> Step:
        """A warning where what memory holds is not what was recorded."""
        return self.step("doubt", [self.word("altered")] if logged.altered else [])

    def span(self, turn: Turn | None, start: int, end: int) -> str:
        """Characters and, while they exist, the words."""
        words = f": {turn.text[start:end]}" if turn is not None else ""
        return f"{self.word('characters')} {start}-{end}{words}"

    def seen(self, logged: Logged) -> Step:
        """The spans that the capture used."""
        decision = logged.decision
        spans = decision.evidence or (((decision.start, decision.end),) if decision.end > decision.start else ())
        hints = [f"hint {hint}" for hint in decision.hints]
        return self.step("seen", [self.span(logged.turn, start, end) for start, end in spans] + hints)

    def cues(self, logged: Logged) -> Step:
        """The words that changed how the value counts, each with the rule that knows it."""
        details = []
        for cue in logged.decision.cues:
            kind, _, rest = cue.partition(":")
            ref, _, place = rest.rpartition(":")
            start, _, end = place.partition("-")
            if start.isdigit() and end.isdigit():
                where = self.span(logged.turn, int(start), int(end))
                details.append(f"{kind}, {where}, {self.word('rule')} {self.titled(ref)}")
            else:  # written by another version: shown as it stands
                details.append(cue)
        return self.step("cues", details)

    def captured(self, decision: Decision) -> Step:
        """The slot, label, entity and value, and the rule that took them."""
        if decision.capture is None and decision.slot is None:
            return self.step("captured", [])
        value = f"{decision.kind}: {decision.canonical}" if decision.canonical else decision.kind
        parts = [decision.entity, f"{decision.slot or '?'}{_bracketed(decision.qualifier)}", value]
        if decision.polarity == "negated":
            parts.append("negated")
        details = [" · ".join(part for part in parts if part)]
        if decision.capture is not None:
            details.append(f"{self.word('rule')} {self.titled(decision.capture)}")
        return self.step("captured", details)

    def known(self, name: str) -> str:
        """An item id with what it says."""
        item = self.item(name)
        return name if item is None else f"{name} ({item.slot}{_bracketed(item.qualifier)} {item.canonical})"

    def bound(self, decision: Decision) -> Step:
        """How it was joined to what was known."""
        details = []
        for feature, words in (("binding", _BINDING), ("relation", _RELATION)):
            value = decision.features.get(feature)
            if value is not None:
                details.append(f"{feature} {value}: {words[value][self.column] if value in words else '?'}")
        if decision.target is not None:
            details.append(f"{self.word('target')} {self.known(decision.target)}")
        for label, names in (("rested", decision.rested_on), ("from", decision.derived_from)):
            if names:
                details.append(f"{self.word(label)} {', '.join(map(self.known, names))}")
        return self.step("bound", details)

    def judged(self, decision: Decision) -> Step:
        """The features that are not those of any plain statement, then the rule."""
        features = decision.features
        order = [*(name for name in FEATURES if name in features), *sorted(set(features) - set(FEATURES))]
        telling = [f"{name}={features[name]}" for name in order if _PLAIN.get(name) != features[name]]
        details = [", ".join(telling)] if telling else []
        return self.step("judged", [*details, f"{self.word('rule')} {self.titled(decision.rule)}"])

    def verdict(self, decision: Decision) -> Step:
        """Action, code and the code in plain words."""
        text = reason(decision.action, decision.reason).text(self.language)
        details = [f"{decision.action} {decision.reason}: {text}"]
        if decision.flags:
            details.append(f"{self.word('flags')}: {', '.join(decision.flags)}")
        if decision.question:
            details.append(f"{self.word('ask')}: {decision.question}")
        return self.step("verdict", details)

    def remembered(self, decision: Decision) -> Step:
        """The item as it stands now."""
        if decision.item is None:
            return self.step("item", [])
        item = self.item(decision.item)
        if item is None:
            return self.step("item", [decision.item])
        since = utc(item.valid_from) if item.valid_from else ""
        until = utc(item.valid_to) if item.valid_to else ""
        details = [f"{item.id} v{item.version}, {item.status}, {since}..{until}"]
        return self.step("item", [*details, item.sentence] if item.sentence else details)

    def ground(self, logged: Logged) -> Step:
        """Digests and the place in the log."""
        decision = logged.decision
        parts = [f"ruleset {decision.ruleset[:16]}", f"runtime {decision.runtime[:16]}", f"engine {decision.engine}"]
        details = [", ".join(part for part in parts if not part.endswith(" "))]
        if logged.seq is not None:
            details.append(f"{self.word('record')} {logged.seq}")
        return self.step("ground", [detail for detail in details if detail])

    def refusal(self, logged: Logged) -> Step:
        """Why one span, or the whole turn, was refused."""
        decision = logged.decision
        whole = decision.end <= decision.start
        where = self.word("whole") if whole else self.span(logged.turn, decision.start, decision.end)
        value = f" = {decision.canonical}" if decision.canonical else ""
        answered = [f"{self.word('answers')}: {told}" for told in self.answers(logged).details]
        details = [f"{where}{value}", *answered, *self.verdict(decision).details, *self.cues(logged).details]
        return self.step("not_remembered", [*details, f"{self.word('rule')} {self.titled(decision.rule)}"])

    def kept(self, logged: Logged) -> Step:
        """What did become memory."""
        decision = logged.decision
        where = self.span(logged.turn, decision.start, decision.end)
        value = f"{decision.slot}{_bracketed(decision.qualifier)} = {decision.canonical}"
        return self.step("remembered", [f"{where} → {value}", *self.verdict(decision).details])


def _bracketed(qualifier: str) -> str:
    return f"[{qualifier}]" if qualifier else ""
