"""Values dated by their clause: "last year it was 500k" is history, "the rent is 7,000 from July" begins then."""

from __future__ import annotations

from datetime import datetime

from ..extractors.time.periods import step
from ..model import Candidate
from ..values import TimeValue
from .book import Book
from .view import Place, Segment, View

_SEVERAL = 2
_DATED = frozenset({"money", "percent", "quantity", "number"})
_LONG = frozenset(
    {"month", "quarter", "year"}
)  # what holds in such a time is a fact about it, no mere moment of saying


def dated(seen: View, book: Book, found: list[Candidate]) -> list[Candidate]:
    """The candidates, those that a time of their clause dates with their validity, and without dates of their own."""
    taken: set[int] = set()
    out: list[Candidate] = []
    found, periods = _by_period(seen, book, found)
    for candidate in found:
        period = next((periods[index] for index in candidate.mentions if index in periods), None)
        if period is not None:
            taken.add(period.index)
            out.append(_in_period(seen, candidate, period))
            continue
        when = _time_of(seen, book, candidate) if _may_be_dated(candidate) else None
        if when is not None:
            taken.add(when.index)
            out.append(_valid(seen, book, candidate, when))
            continue
        if candidate.kind in _DATED and candidate.slot is not None:
            taken.update(_in_the_name(seen, book, candidate))
        out.append(candidate)
    return [c for c in out if c.kind != "time" or taken.isdisjoint(c.mentions)]


def _may_be_dated(candidate: Candidate) -> bool:
    return candidate.kind in _DATED and candidate.act in {"state", "change", "propose"}


def _by_period(seen: View, book: Book, found: list[Candidate]) -> tuple[list[Candidate], dict[int, Place]]:
    """Values of one kind of which each has a period of its own: "$3,000 last year and $3,500 this year".

    Returns the candidates, those that shared a label with the slot of the one that named it, and the period of each
    value by its mention. They stand in turn in the sentence, and no period twice.
    """
    by_mention = {index: c for c in found if _may_be_dated(c) for index in c.mentions[:1]}
    if len(by_mention) < _SEVERAL:
        return found, {}
    periods: dict[int, Place] = {}
    filled: dict[int, Candidate] = {}
    for sentence in sorted({segment.sentence for segment in seen.segments}):
        places = [p for p in seen.within(*seen.sentence_span(sentence)) if p.wall or p.index in by_mention]
        pairs = _in_turn(places)
        values = [by_mention.get(value.index) for value, _ in pairs]
        first = next((c for c in values if c is not None and c.slot is not None), None)
        if all(_later(seen, when) for _, when in pairs):
            continue  # "Q2 budget: $41,000; Q3 budget: $52,000": what is planned is known already
        if first is None or any(c is None or c.act not in {"state", "propose"} for c in values):
            continue
        before = None
        for (value, when), candidate in zip(pairs, values, strict=True):
            assert candidate is not None
            periods[value.index] = when
            between = seen.low[before.end : value.start].strip(" ,;") if before is not None else "first"
            before = when if when.start > value.start else None
            shared = candidate.slot is None or candidate.qualifier is None or not between
            if shared or book.lex.said["listed"].fullmatch(between):
                update = {"slot": first.slot, "qualifier": first.qualifier, "entity": first.entity, "form": "full"}
                filled[id(candidate)] = candidate.model_copy(update=update)
    return [filled.get(id(c), c) for c in found], periods


def _later(seen: View, when: Place) -> bool:
    moment = when.mention.value
    begin = _at(seen, moment.start) if isinstance(moment, TimeValue) else None
    return begin is not None and begin > seen.turn.said_at


def _in_turn(places: list[Place]) -> list[tuple[Place, Place]]:
    """Each value with its period, when values of one kind and different periods stand in turn; else nothing."""
    if len(places) < 2 * _SEVERAL or len(places) % 2:
        return []
    times_first = places[0].kind == "time"
    whens, values = (places[0::2], places[1::2]) if times_first else (places[1::2], places[0::2])
    if len({value.kind for value in values}) > 1 or values[0].kind not in _DATED:
        return []
    said = [when.mention.value for when in whens]
    grains = {when.grain for when in said if isinstance(when, TimeValue) and when.type in {"date", "interval"}}
    spans = {(when.start, when.end) for when in said if isinstance(when, TimeValue)}
    if len(grains) != 1 or not grains <= _LONG or len(spans) != len(whens) or any(p.kind != "time" for p in whens):
        return []
    return list(zip(values, whens, strict=True))


def _in_period(seen: View, candidate: Candidate, when: Place) -> Candidate:
    """The candidate with its period as the stretch in which it holds."""
    moment, now = when.mention.value, seen.turn.said_at
    assert isinstance(moment, TimeValue)
    begin, end = _at(seen, moment.start), _at(seen, moment.end)
    update: dict[str, object] = {"mentions": (*candidate.mentions, when.index)}
    time = "current"
    if end is not None and end <= now:
        time, update["valid_from"], update["valid_to"] = "past", begin, end
    elif begin is not None and begin > now:
        time, update["valid_from"], update["valid_to"] = "future", begin, end
    return candidate.model_copy(update=update | {"assertion": candidate.assertion.model_copy(update={"time": time})})


def _in_the_name(seen: View, book: Book, candidate: Candidate) -> list[int]:
    """Mentions of times that only tell which figure is meant: "we set the Q2 travel budget at $3,000", "the budget for
    2027 at". When the figure holds is not said."""
    value = _value_of(seen, candidate)
    if value is None:
        return []
    segment = seen.segment_at(value.start)
    return [
        place.index
        for place in seen.within(segment.start, value.start)
        if isinstance(place.mention.value, TimeValue) and place.mention.value.grain in _LONG
        and _part_of_name(seen, book, place, value)
    ]  # fmt: skip


def _part_of_name(seen: View, book: Book, place: Place, value: Place) -> bool:
    said, low = book.lex.said, seen.low
    before, time = low[seen.segment_at(place.start).start : place.start], low[place.start : place.end]
    gap = low[place.end : value.start].rstrip()
    if said["period_planned"].search(before) or said["period_planned"].match(time):
        return said["period_set"].fullmatch(gap.strip()) is not None
    leads = said["period_lead"].search(before) or said["period_lead"].match(time)
    named = leads is not None and said["period_noun"].fullmatch(gap) is not None
    return named and said["period_clause"].search(gap) is None


def _value_of(seen: View, candidate: Candidate) -> Place | None:
    return next((p for p in seen.places if p.index in candidate.mentions and p.mention.start == candidate.start), None)


def _time_of(seen: View, book: Book, candidate: Candidate) -> Place | None:
    """The time that says when the value holds: at the head of its clause, or right behind it as where it begins."""
    value = _value_of(seen, candidate)
    if value is None:
        return None
    segment = seen.segment_at(value.start)
    low = segment.start
    earlier = seen.segments[segment.index - 1] if segment.index else segment
    if earlier.index != segment.index and earlier.sentence == segment.sentence and earlier.end - earlier.start < 40:
        low = earlier.start  # "Starting in July, the rent is …"
    after = seen.segments[segment.index + 1] if segment.index + 1 < len(seen.segments) else segment
    high = after.end if after.sentence == segment.sentence else segment.end  # 利率是3.5%，直到年底
    for place in seen.within(low, high):
        if place.kind != "time" or place.now or not isinstance(place.mention.value, TimeValue):
            continue
        if place.end <= value.start and _heads(seen, book, place, value, candidate):
            return place
        if place.start >= value.end and (_begins(seen, book, segment, place, value) or _ends(seen, book, place, value)):
            return place
    return None


def _heads(seen: View, book: Book, place: Place, value: Place, candidate: Candidate) -> bool:
    segment = seen.segment_at(place.start)
    opening = seen.low[segment.start : place.start].strip()
    before = book.lex.peel(seen.text[segment.start : place.start]).text
    opens = not before or book.lex.said["opener"].fullmatch(opening)
    between = book.lex.said["copula_alone"].fullmatch(seen.low[place.end : value.start].strip()) is not None
    labelled = between and candidate.slot is not None and value.start < segment.end  # 预算去年是50万
    if not opens and not labelled and before not in (candidate.assertion.reported_by or ""):
        return False
    if any(p.wall for p in seen.within(place.end, value.start)):
        return False
    gap = seen.low[place.end : value.start].rstrip()
    own = value.start < segment.end
    if not own and seen.low[place.end : segment.end].strip(" 起开始"):
        return False  # the clause before says more than when
    if not book.lex.peel(gap).text and not between:
        return False  # "on May 1 $500": a payment, its day is no validity
    moment = place.mention.value
    assert isinstance(moment, TimeValue)
    begins = _open(moment) or gap.startswith(("起", "开始")) or _since(seen, book, place)
    told = begins or candidate.act == "change"
    told = told or any(book.lex.said[way].search(gap) for way in ("states_then", "decides"))
    holds = moment.grain in _LONG or begins or _until(seen, book, place)
    return told and (holds or candidate.act == "change")


def _begins(seen: View, book: Book, segment: Segment, place: Place, value: Place) -> bool:
    moment = place.mention.value
    assert isinstance(moment, TimeValue)
    # 月租金9000元，从7月起: a clause that says nothing but since when
    gap, rest = seen.low[value.end : place.start], seen.low[place.end : seen.segment_at(place.start).end]
    said = gap.strip() if place.start < segment.end else gap.strip(" ,")
    opens = book.lex.said["begins_at"].fullmatch(said) is not None or (_open(moment) and not said)
    return opens and not rest.strip(" .!了吧")


def _ends(seen: View, book: Book, place: Place, value: Place) -> bool:
    """True for "3% until March": the time behind the value says how long it holds."""
    between, rest = seen.low[value.end : place.start], seen.low[place.end : seen.segment_at(place.start).end]
    lead = between.strip(" ,，")
    stands = not lead or book.lex.said["until_lead"].fullmatch(lead) is not None
    return stands and _until(seen, book, place) and not rest.strip(" .!了吧为止")


def _until(seen: View, book: Book, place: Place) -> bool:
    """True for a time up to which something holds: until March, 到3月底 (by March is a deadline, and none)."""
    if book.lex.said["until_said"].search(seen.low[place.start : place.end]) is not None:
        return True
    segment = seen.segment_at(place.start)
    lead = book.lex.said["until_lead"].search(seen.low[segment.start : place.start])
    return lead is not None and book.lex.said["becomes"].search(seen.low[segment.start : segment.end]) is None


def _names(seen: View, book: Book, place: Place) -> bool:
    """True for "May 2017 gross margin was 31%": its time is part of the name of a figure, true whenever asked."""
    segment = seen.segment_at(place.start)
    rest, opening = seen.low[place.end : segment.end], seen.low[segment.start : place.start].strip()
    return rest.startswith(" ") and not book.lex.said["then"].match(rest) and not opening


def _since(seen: View, book: Book, place: Place) -> bool:
    """True for "as of June 1": what follows begins then and has no end."""
    opening = seen.low[seen.segment_at(place.start).start : place.start].strip()
    return book.lex.said["since"].search(opening) is not None


def _open(moment: TimeValue) -> bool:
    return (moment.edtf or "").endswith("/..")


def _valid(seen: View, book: Book, candidate: Candidate, when: Place) -> Candidate:
    """The candidate with the stretch in which it holds; one that holds now begins when it is said."""
    moment = when.mention.value
    assert isinstance(moment, TimeValue)
    after = seen.low[when.end : seen.segment_at(when.start).end]
    open_end = _open(moment) or after.startswith(("起", "开始")) or _since(seen, book, when)
    begin, end = _at(seen, moment.start), None if open_end else _at(seen, moment.end)
    now = seen.turn.said_at
    update: dict[str, object] = {"mentions": (*candidate.mentions, when.index)}
    if end is not None and end <= now and _names(seen, book, when):
        return candidate.model_copy(
            update=update | {"assertion": candidate.assertion.model_copy(update={"time": "past"})}
        )
    if _until(seen, book, when):
        return candidate.model_copy(update=update | _held_until(seen, book, candidate, when))
    if begin is not None and begin > now:
        update["valid_from"] = begin
        if candidate.act != "change" and moment.grain in _LONG:
            update["valid_to"] = end
        update["assertion"] = candidate.assertion.model_copy(update={"time": "future"})
    elif open_end or book.lex.said["decides"].search(
        seen.low[when.end : seen.norm.inside(candidate.start, candidate.end)[0]].rstrip()
    ):
        # Decided or begun then, and true since.
        update["assertion"] = candidate.assertion.model_copy(update={"time": "current"})
    elif begin is not None and end is not None and end <= now and candidate.act != "change":
        update |= {"valid_from": begin, "valid_to": end}
        update["assertion"] = candidate.assertion.model_copy(update={"time": "past"})
    return candidate.model_copy(update=update)


def _held_until(seen: View, book: Book, candidate: Candidate, when: Place) -> dict[str, object]:
    """The end of a validity: "it was 3% until March" is over, "it is 3% until March" is true till then."""
    moment, now = when.mention.value, seen.turn.said_at
    assert isinstance(moment, TimeValue)
    end = _at(seen, moment.end)
    segment = seen.segment_at(candidate.start)
    over = book.lex.said["was_so"].search(seen.low[segment.start : segment.end]) is not None
    if not over and (end is None or end > now):
        return {} if end is None else {"valid_to": end}
    read = [_at(seen, iso) for iso in (moment.end, *(reading.end for reading in moment.readings))]
    past = [at for at in read if at is not None and at <= now]
    if not past:
        return {}
    # Since when is not said; it held at least through the last such unit of time.
    ended = max(past)
    began = step(ended, moment.grain or "day", -1)
    held = candidate.assertion.model_copy(update={"time": "past"})
    return {"valid_from": began, "valid_to": ended, "assertion": held}


def _at(seen: View, iso: str | None) -> datetime | None:
    if not iso or iso.startswith("."):
        return None
    try:
        read = datetime.fromisoformat(iso)
    except ValueError:
        return None
    return read if read.tzinfo is not None else read.replace(tzinfo=seen.turn.said_at.tzinfo)
