"""Lets an LLM reword sentences after the commit, and the summary of a window when asked; all checked by the guard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from .audit.ledger import Ledger
from .audit.record import Entry
from .extractors.scan import language_of, scan
from .extractors.segment import sentences
from .llm_polish.guard import Key, parsed
from .llm_polish.paragraph import Stated
from .llm_polish.rewrite import Endpoint, Polished, condense, polish
from .model import MemoryItem, Outcome, Turn
from .rules.capture import capture
from .rules.ruleset import Ruleset
from .settings import Settings, SettingsError

if TYPE_CHECKING:
    from .erasure.erasing import House
    from .store.engine import Store
    from .store.reading import Reading
    from .store.talk import Told
    from .store.writing import Writing

WORK = "polish"
FUNCTION_WORDS = "polish.function_words"
LEASE = timedelta(minutes=2)
AGAIN = timedelta(minutes=1)
TRIES = 5  # an endpoint that failed so often for one sentence will not word it; the template stands


def enqueue(tx: Writing, turn: Turn, outcomes: Sequence[Outcome]) -> None:
    """Leave the wording of every new item for later."""
    for outcome in outcomes:
        for item in outcome.written:
            if item.version == 1 and item.sentence:
                tx.outbox.put(WORK, item.id, item.version, {"turn": item.turn_id}, not_before=turn.received_at)


def polish_waiting(
    house: House, ruleset: Ruleset, *, limit: int, ner: bool, holder: str
) -> list[tuple[str, str, str]]:  # fmt: skip
    """Reword waiting sentences one by one: (item, outcome, sentence that stands).

    The endpoint is asked outside any transaction; each answer and its verdict are a record of the log. SettingsError
    when no endpoint is set.
    """
    store, namespace = house.store, house.namespace
    with store.reading(namespace) as tx:
        before = tx.log.size(namespace)
    done = _reworded(store, namespace, ruleset, house.settings, limit, ner, holder)
    if house.signer is not None and done:
        with store.reading(namespace) as tx:
            grown = range(before, tx.log.size(namespace))
        # Each outcome is one record; when the log grew by more, others wrote too and nobody knows which is whose.
        house.signer.saw(namespace, [grown] if len(grown) == len(done) else [])
    return done


def _reworded(
    store: Store, namespace: str, ruleset: Ruleset, settings: Settings, limit: int, ner: bool, holder: str
) -> list[tuple[str, str, str]]:
    endpoint = _endpoint(settings)
    outcomes: list[tuple[str, str, str]] = []
    while len(outcomes) < limit:
        with store.writing(namespace) as tx:
            taken = tx.outbox.take(WORK, now=datetime.now(UTC), lease=LEASE, holder=holder, limit=1)
        if not taken:
            break
        (work,) = taken
        with store.reading(namespace) as reading:
            item = reading.item(work.item_id)
            turn = reading.turn(str(work.payload["turn"]))
            restricted = item is not None and any(each.covers(item) for each in reading.restrictions)
        if restricted:  # stored and not used: its words are sent nowhere before the restriction is lifted
            with store.writing(namespace) as tx:
                tx.outbox.failed(work, "restricted", again_at=datetime.now(UTC) + AGAIN)
            continue
        if item is None or turn is None or not turn.text:
            with store.writing(namespace) as tx:
                tx.outbox.done(work)
            continue
        result = polish(
            item.sentence,
            turn.text,
            language=language_of(item.sentence),
            endpoint=endpoint,
            parse=lambda sentence, turn=turn: _parse(sentence, turn, ruleset, ner),  # type: ignore[misc]
            function_words=_function_words(ruleset),
            keep=(item.entity, item.qualifier),
            item=item.id,
        )
        now = datetime.now(UTC)
        with store.writing(namespace) as tx:
            kind = "rewrite" if result.accepted else "rewrite_refused"
            if tx.item(item.id) is None or any(each.covers(item) for each in tx.restrictions):
                # Erased or restricted while the endpoint was asked. An erasure cannot take these words any more, so
                # none are kept.
                kind, result = "rewrite_refused", _wordless(result)
            Ledger().append(tx.log, namespace, [Entry(kind, result.content, result.private)], recorded_at=now)
            if result.accepted:
                _reword(tx, turn, item, result.sentence)
            if result.content["outcome"] == "failed" and work.attempts < TRIES:
                tx.outbox.failed(work, str(result.content["why"]), again_at=now + AGAIN)
            else:
                tx.outbox.done(work)
        outcomes.append((item.id, str(result.content["why"] or result.content["outcome"]), result.sentence))
    return outcomes


def _endpoint(settings: Settings) -> Endpoint:
    if not settings.llm_url:
        raise SettingsError("RECORDARI_LLM_URL: no endpoint is set. Give the base URL of an OpenAI-compatible server")
    return Endpoint(
        settings.llm_url, settings.llm_model, settings.llm_key.get_secret_value(), settings.llm_timeout
    )  # fmt: skip


def _wordless(result: Polished) -> Polished:
    """The same call without a word of what was asked and answered; what came back does not stand."""
    return replace(result, content={**result.content, "outcome": "refused", "why": "changed"}, private={})


# ---------------------------------------------------------------- the summary of a window
@dataclass(frozen=True, slots=True)
class Summarised:
    """What became of a summary: worded (``accepted``), not (``refused``, ``failed``, and why), worded before and as it
    was (``kept``), or nothing to sum up. ``text`` is the one that stands, ``record`` where the call is in the log."""

    outcome: Literal["accepted", "refused", "failed", "kept", "nothing"]
    text: str = ""
    why: str | None = None
    record: int | None = None


Lines = Callable[["Reading"], tuple[Sequence["Told"], str]]
"""The sentences of a summary as they stand, and how an LLM worded just these (empty where none did)."""


def summarise(house: House, ruleset: Ruleset, conversation: str, lines: Lines, *, ner: bool) -> Summarised:
    """Let the configured LLM put the sentences of a window's summary into one paragraph.

    The endpoint is asked outside any transaction; the answer and its verdict are a record of the log, which names the
    item versions, and the words lie beside it until any of these items is erased. SettingsError when no endpoint is
    set.
    """
    endpoint = _endpoint(house.settings)
    with house.store.reading(house.namespace) as reading:
        told, worded = lines(reading)
    if worded or not told:
        return Summarised("kept", worded) if worded else Summarised("nothing")
    template = " ".join(each.sentence for each in told)
    said = Turn(
        turn_id="summary", text=template, said_at=_EPOCH, received_at=_EPOCH, entity="", conversation=conversation
    )
    result = condense(
        [Stated(each.sentence, each.entity, each.slot) for each in told],
        language=language_of(template),
        endpoint=endpoint,
        parse=lambda sentence: _parse(sentence, said, ruleset, ner),
        split=lambda text: [text[each.start : each.end] for each in sentences(text)],
        function_words=_function_words(ruleset),
        about={"conversation": conversation, "items": [each.key for each in told]},
    )
    with house.store.writing(house.namespace) as tx:
        if not all(_stands(tx, each) for each in told):
            result = _wordless(result)
        kind = "summary" if result.accepted else "summary_refused"
        entry = Entry(kind, result.content, result.private)
        (row,) = Ledger().append(tx.log, house.namespace, [entry], recorded_at=datetime.now(UTC))
    if house.signer is not None:
        house.signer.after_commit(house.store, house.namespace, [range(row.seq, row.seq + 1)])
    with house.store.reading(house.namespace) as reading:
        told, worded = lines(reading)
    text = worded or " ".join(each.sentence for each in told)
    return Summarised(result.content["outcome"], text, result.content["why"], row.seq)


# Both the sentences and the paragraph are read as said at this time, so that words like "tomorrow" compare.
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


def _stands(tx: Writing, told: Told) -> bool:
    """True for a sentence whose item is as it was, and may be answered."""
    item = tx.item(told.item)
    return item is not None and item.version == told.version and not any(each.covers(item) for each in tx.restrictions)


def _function_words(ruleset: Ruleset) -> tuple[str, ...]:
    """Words that a rewriting may add in either language; a set without these vocabularies allows none."""
    names = [f"{FUNCTION_WORDS}.{language}" for language in ("zh", "en")]
    return tuple(word for name in names if name in ruleset.files for word in ruleset.words(name))


def _reword(tx: Writing, turn: Turn, item: MemoryItem, sentence: str) -> None:
    """A version that differs in its sentence alone."""
    current = tx.item(item.id)
    if current is not None and current.version == item.version:
        tx.write_items(turn, [item.model_copy(update={"version": item.version + 1, "sentence": sentence})])


def _parse(sentence: str, turn: Turn, ruleset: Ruleset, ner: bool) -> frozenset[Key]:
    """What the very scan and capture of the pipeline find in a sentence."""
    found = scan(
        sentence, ruleset.extraction, said_at=turn.said_at, timezone=turn.timezone, locale=turn.locale, ner=ner
    )  # fmt: skip
    said = turn.model_copy(update={"text": sentence, "speaker": "user", "lang": None})
    return parsed(found, capture(said, found, ruleset).candidates)
