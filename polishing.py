"""The outbox worker that lets an LLM reword sentences after the commit, each checked by the guard."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from .audit.ledger import Ledger
from .audit.record import Entry
from .extractors.scan import language_of, scan
from .llm_polish.guard import Key, parsed
from .llm_polish.rewrite import Endpoint, polish
from .model import MemoryItem, Outcome, Turn
from .rules.capture import capture
from .rules.ruleset import Ruleset
from .settings import Settings, SettingsError

if TYPE_CHECKING:
    from .store.engine import Store
    from .store.writing import Writing
    from .trust.signing import Signer

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
    store: Store, namespace: str, ruleset: Ruleset, settings: Settings, *, limit: int, ner: bool, holder: str,
    signer: Signer | None = None,
) -> list[tuple[str, str, str]]:  # fmt: skip
    """Reword waiting sentences one by one: (item, outcome, sentence that stands).

    The endpoint is asked outside any transaction; each answer and its verdict are a record of the log. SettingsError
    when no endpoint is set.
    """
    with store.reading(namespace) as tx:
        before = tx.log.size(namespace)
    done = _reworded(store, namespace, ruleset, settings, limit, ner, holder)
    if signer is not None and done:
        with store.reading(namespace) as tx:
            grown = range(before, tx.log.size(namespace))
        # Each outcome is one record; when the log grew by more, others wrote too and nobody knows which is whose.
        signer.saw(namespace, [grown] if len(grown) == len(done) else [])
    return done


def _reworded(
    store: Store, namespace: str, ruleset: Ruleset, settings: Settings, limit: int, ner: bool, holder: str
) -> list[tuple[str, str, str]]:
    if not settings.llm_url:
        raise SettingsError("RECORDARI_LLM_URL: no endpoint is set. Give the base URL of an OpenAI-compatible server")
    endpoint = Endpoint(
        settings.llm_url, settings.llm_model, settings.llm_key.get_secret_value(), settings.llm_timeout
    )  # fmt: skip
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
            Ledger().append(tx.log, namespace, [Entry(kind, result.content, result.private)], recorded_at=now)
            if result.accepted:
                _reword(tx, turn, item, result.sentence)
            if result.content["outcome"] == "failed" and work.attempts < TRIES:
                tx.outbox.failed(work, str(result.content["why"]), again_at=now + AGAIN)
            else:
                tx.outbox.done(work)
        outcomes.append((item.id, str(result.content["why"] or result.content["outcome"]), result.sentence))
    return outcomes


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
