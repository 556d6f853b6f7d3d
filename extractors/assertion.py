"""ConText for two languages: finds cues, computes what each governs, and says how a mention or a span was meant."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from ..model import Assertion, Cue, CueKind, Mention, Modality, Part, Scan, Span, Speaker
from .cues import CompiledCues, Family
from .repairs import align, holds
from .scopes import REACH, Layout, Masked, mask, mentions_in, reach
from .text import Normalized, normalize

# Which way of saying wins when several govern one mention: a request put as a question ("can you make it 6 pm?")
# is a request; a condition or a quotation takes the force from everything inside it.
_MODALITIES: tuple[tuple[CueKind, Modality], ...] = (
    ("quotation", "quoted"), ("joke", "joke"), ("hypothesis", "hypothetical"), ("request", "request"),
    ("question", "question"), ("wish", "desired"), ("hedge", "hedged"),
)  # fmt: skip
_COUNTED = frozenset(kind for kind, _ in _MODALITIES) | {"negation", "third_party", "past", "plan", "repair"}
_WHOLE = 0.5  # a span is governed when at least half of it lies in the scope


class _Found(NamedTuple):
    """A cue in masked offsets, before its scope is known."""

    family: Family
    start: int
    end: int
    scope: tuple[int, int] | None = None
    who: str | None = None
    reparandum: tuple[int, int] | None = None
    repair: tuple[int, int] | None = None
    kind: CueKind = "negation"
    exact: tuple[int, int] | None = None  # normalised offsets of a cue that may lie inside a mention


def find_cues(
    text: Normalized | str,
    mentions: Sequence[Mention],
    parts: Sequence[Part],
    compiled: CompiledCues,
    lang: Literal["zh", "en"] | None = None,
    speaker: Speaker = "user",
) -> tuple[Cue, ...]:
    """All cues of one turn in the order of the text, with what they cover.

    Files of every language are tried on every text, so that "budget 改成 8万" works; ``lang`` is accepted for callers
    that know it and changes nothing.
    """
    del lang
    normalized = normalize(text) if isinstance(text, str) else text
    masked = mask(normalized, mentions, parts)
    layout = Layout(masked.text)
    found = _pruned(_matches(masked, layout, compiled, speaker))
    if not found:
        return ()
    answers = _starts(found, {"correction", "rejection", "confirmation"})
    found = [_with_repair(cue, answers, masked, layout) for cue in found]
    around = _Around(found)
    cues = [_finished(cue, around, masked, layout, mentions) for cue in found]
    return tuple(sorted(_merged(cues), key=_order))


def _order(cue: Cue) -> tuple[int, int, str, str]:
    return cue.start, cue.end, cue.kind, cue.rule


def _merged(cues: list[Cue]) -> list[Cue]:
    """One cue a kind and place: 不接受 denies what follows and precedes. A repair is no correction as well."""
    kept: dict[tuple[int, int, str], Cue] = {}
    for cue in sorted(cues, key=_order):
        place = (cue.start, cue.end, cue.kind)
        first = kept.get(place)
        if first is not None and first.scope is not None and cue.scope is not None and cue.reparandum is None:
            cue = first.model_copy(
                update={
                    "covers": tuple(sorted({*first.covers, *cue.covers})),
                    "scope": (min(first.scope[0], cue.scope[0]), max(first.scope[1], cue.scope[1])),
                }
            )
        kept[place] = cue
    repaired = {at for cue in kept.values() if cue.kind == "repair" for at in range(cue.start, cue.end)}
    return [
        cue
        for cue in kept.values()
        if cue.kind != "correction" or not any(at in repaired for at in range(cue.start, cue.end))
    ]


def _matches(masked: Masked, layout: Layout, compiled: CompiledCues, speaker: str) -> list[_Found]:
    found: list[_Found] = []
    for unit in compiled.possible(masked.text, masked.normalized.text):
        family = unit.family
        if family.speakers is not None and speaker not in family.speakers:
            continue
        text = masked.normalized.text if family.in_mentions else masked.text
        for whole, spans in unit.hits(text):
            start, end = spans.get("cue", whole)
            if start == end or not family.neighbours_allow(text, start, end):
                continue
            exact = (start, end) if family.in_mentions else None
            if family.in_mentions:
                start, end = masked.inside(start, end)
                spans = {name: masked.inside(*span) for name, span in spans.items()}
            if not layout.stands(start, end, family.at) or _is_pseudo(family, masked, start, end):
                continue
            who = _original(masked, spans["who"]) if "who" in spans else family.who
            found.append(
                _Found(
                    family, start, end, spans.get("scope"), who, spans.get("reparandum"), spans.get("repair"),
                    family.category, exact,
                )
            )  # fmt: skip
    return found


def _is_pseudo(family: Family, masked: Masked, start: int, end: int) -> bool:
    """A pseudo-cue may reach into a mention: the bound of "until June 2" holds the second half of "not until"."""
    return family.is_pseudo(masked.normalized.text, masked.places[start], masked.places[end])


def _original(masked: Masked, span: tuple[int, int]) -> str:
    low, high = masked.original(*span)
    return masked.normalized.original[low:high].strip()


def _pruned(found: list[_Found]) -> list[_Found]:
    """A cue inside the words of a longer one does not count: 是不是 asks and negates nothing, "no wait" neither."""
    kept: list[_Found] = []
    open_wide: list[_Found] = []  # swallowing cues that reach over the current place
    for cue in sorted(found, key=lambda cue: (cue.start, -cue.end, cue.family.rule, cue.kind)):
        open_wide = [other for other in open_wide if other.end > cue.start]
        inside = any(cue.end <= o.end and o.end - o.start > cue.end - cue.start for o in open_wide)
        if not inside or cue.reparandum is not None:
            kept.append(cue)
        if cue.family.swallows and cue.scope is None and not inside:
            open_wide.append(cue)
    return kept


def _starts(found: list[_Found], kinds: Collection[str]) -> list[tuple[int, int]]:
    return sorted((cue.start, cue.end) for cue in found if cue.kind in kinds)


class _Around:
    """The cues of a turn by place, so that each looks only at its neighbours."""

    def __init__(self, found: list[_Found]) -> None:
        self._found = found
        self._stops: dict[frozenset[str], list[int]] = {}
        self._repairs = sorted(
            (cue.start, cue.reparandum, cue.repair) for cue in found if cue.repair is not None and cue.reparandum
        )

    def stops(self, kinds: frozenset[str]) -> list[int]:
        """Where cues of these kinds begin, in order."""
        if not kinds:
            return []
        if kinds not in self._stops:
            self._stops[kinds] = [start for start, _ in _starts(self._found, kinds)]
        return self._stops[kinds]

    def cut(self, cue: _Found, low: int, high: int) -> int:
        """In 不是A是B the 不是 denies A alone; a negation outside the repair ("别从A改成B") keeps its reach."""
        first = bisect_left(self._repairs, (cue.start - REACH,))
        for start, reparandum, repair in self._repairs[first:]:
            if start > cue.start:
                break
            if max(reparandum[0] + 1, cue.end, low) <= repair[0] < high:
                high = repair[0]
        return high


def _with_repair(cue: _Found, answers: list[tuple[int, int]], masked: Masked, layout: Layout) -> _Found:
    """Give a repair its two spans; with nothing before it in this turn it corrects what was said earlier."""
    if cue.kind != "repair" or cue.reparandum is not None:
        return cue
    near = answers[bisect_left(answers, (cue.start - REACH,)) : bisect_left(answers, (cue.start,))]
    reparandum, repair = align(masked, layout, cue.start, cue.end, near)
    if cue.repair is not None:
        repair = cue.repair
    if reparandum is None:
        return cue._replace(kind="correction", reparandum=None, repair=None)
    return cue._replace(reparandum=reparandum, repair=repair)


def _finished(cue: _Found, around: _Around, masked: Masked, layout: Layout, mentions: Sequence[Mention]) -> Cue:
    family = cue.family
    low, high = cue.scope or reach(family, cue.start, cue.end, layout, around.stops(family.until_cues))
    if cue.kind == "negation":
        high = around.cut(cue, low, high)
    own = range(cue.start, cue.end) if cue.scope is None and not family.in_mentions else range(0)
    places = [at for at in mentions_in(masked, low, high) if at not in own]
    if family.spill and not places and low > 0:
        low, high = layout.sentence(low - 1)[0], high
        places = [at for at in mentions_in(masked, low, high) if at not in own]
    if cue.kind == "quotation" and cue.scope is not None and len(masked.text[low:high].strip(" \"'.,")) == 1:
        # Quotation marks around nothing but a value set it off ("alias 'ann@example.com'"); they quote nobody.
        places = []
    covers = _targets(cue, places, masked, mentions)
    if cue.kind == "repair":
        covers = tuple(sorted({*holds(masked, cue.reparandum), *holds(masked, cue.repair)}))
    start, end = masked.normalized.span(*cue.exact) if cue.exact else masked.original(cue.start, cue.end)
    return Cue(
        kind=cue.kind, start=start, end=end, text=masked.normalized.original[start:end], rule=family.rule,
        covers=covers, scope=masked.original(low, high), who=cue.who,
        reparandum=masked.original(*cue.reparandum) if cue.reparandum else None,
        repair=masked.original(*cue.repair) if cue.repair else None,
    )  # fmt: skip


def _targets(cue: _Found, places: list[int], masked: Masked, mentions: Sequence[Mention]) -> tuple[int, ...]:
    family = cue.family
    nearest = sorted(places, key=lambda at: (at - cue.end if at >= cue.end else cue.start - at, at))
    chosen: list[int] = []
    for at in nearest:
        fits = [n for n in masked.held.get(at, ()) if family.kinds is None or mentions[n].kind in family.kinds]
        if not fits:
            continue
        if family.max_targets is not None and len(chosen) >= family.max_targets:
            break
        chosen.extend(fits)
    return tuple(sorted(chosen))


def assertion_of(scan: Scan, target: int | Span) -> Assertion:
    """How a mention (by index) or a span of the text (for facts without a value) was said.

    A mention taken back in the same utterance counts as negated ("三万，哦不，两万八": 三万), or as past when the
    sentence tells a change from it ("从18万改成14万": 18万 was true).
    """
    counted = [(n, cue) for n, cue in enumerate(scan.cues) if cue.kind in _COUNTED and _governs(cue, scan, target)]
    kinds = {cue.kind for _, cue in counted if cue.kind != "repair"}
    negations = [cue for _, cue in counted if cue.kind == "negation"]
    taken_back = [cue for _, cue in counted if cue.kind == "repair"]
    replaced = [cue for cue in taken_back if _is_change(cue, scan)]
    negated = bool(negations) or len(taken_back) > len(replaced)
    modality: Modality = next((name for kind, name in _MODALITIES if kind in kinds), "asserted")
    past = "past" in kinds or bool(replaced)
    reporters = [cue.who or cue.text for _, cue in counted if cue.kind == "third_party"]
    return Assertion(
        polarity="negated" if negated else "affirmed",
        modality=modality,
        time="past" if past else "future" if "plan" in kinds else "current",
        reported_by=reporters[-1] if reporters else None,
        cues=tuple(n for n, _ in counted),
    )


def _governs(cue: Cue, scan: Scan, target: int | Span) -> bool:
    if isinstance(target, int):
        if cue.kind == "repair":
            return _within(scan.mentions[target].span, cue.reparandum)
        return target in cue.covers
    if cue.kind == "repair":
        return _within(target, cue.reparandum)
    holding = {"negation", "hypothesis", "hedge", "wish", "third_party"}
    if cue.kind in holding and target.start <= cue.start and cue.end <= target.end:
        return True
    low, high = cue.scope or (cue.start, cue.end)
    shared = min(target.end, high) - max(target.start, low)
    return shared > 0 and shared >= _WHOLE * (target.end - target.start)


def _within(span: Span, outer: tuple[int, int] | None) -> bool:
    return outer is not None and outer[0] <= span.start and span.end <= outer[1]


def _is_change(repair: Cue, scan: Scan) -> bool:
    """True when the sentence tells a change from the one side to the other: 从A改成B, moved from A to B."""
    if repair.reparandum is None or repair.repair is None or repair.repair[0] < repair.reparandum[0]:
        return False
    old, new = repair.reparandum, repair.repair
    return any(
        cue.kind == "change"
        and cue.scope is not None
        and cue.scope[0] <= new[0] < cue.scope[1]
        and (cue.start >= old[1] or cue.end <= repair.start)
        for cue in scan.cues
    )


def replaced_by(scan: Scan, index: int) -> tuple[int, ...]:
    """The mentions that replace this one within the utterance: 14万 for 18万 in 从18万改成14万."""
    span = scan.mentions[index].span
    return tuple(
        n
        for cue in scan.cues
        if cue.kind == "repair" and cue.repair is not None and _within(span, cue.reparandum)
        for n in cue.covers
        if _within(scan.mentions[n].span, cue.repair)
    )


def replaces(scan: Scan, index: int) -> tuple[int, ...]:
    """The mentions that this one replaces within the utterance: 18万 for 14万 in 从18万改成14万."""
    return tuple(n for n in range(len(scan.mentions)) if index in replaced_by(scan, n))
