"""Reader: what can be asked of a stored memory. Nothing here decides, and nothing here writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from .intake import moment_of
from .model import Decision, MemoryItem, Receipt
from .rules.ruleset import Ruleset
from .settings import Settings
from .store.engine import Store

if TYPE_CHECKING:
    from .audit.explain import Explanation, Tongue
    from .audit.verify import Report
    from .recall.context import Context, Counter, Trial
    from .recall.rank import Hit, Nearby, Recalled, Reranker
    from .recall.readback import ReadBack
    from .recall.relations import Related
    from .recall.trace import Tracer
    from .recall.transcript import TurnHit
    from .recall.vectors import Embedder
    from .recall.window import Look, Window, Windows
    from .store.derived import Compared, Difference
    from .store.reading import Reading
    from .store.traces import Counted, Hits, Trace, Unit


class NotFoundError(LookupError):
    """Nothing stored has this id; says what was looked for and where ids come from."""

    def __init__(self, what: str, id_: str) -> None:
        ids = "recordari items --json" if what == "item" else "the receipts of recordari observe"
        super().__init__(f"no {what} {id_!r}. Ids stand in the output of {ids}")


class NoKeyError(NotFoundError):
    """There is no key to sign with; the message says how to have one."""

    def __init__(self, store: Store) -> None:
        told = "RECORDARI_SIGNING_KEY names the file of one, which is made if it is not there"
        if store.read_only:
            told = "it was opened to be read only. Open it for writing"
        LookupError.__init__(self, f"{store.place}: nothing can be signed without a signing key: {told}")


class NotInstalledError(NotFoundError):
    """What was asked for needs a part that is not installed; the message says how to have it."""

    def __init__(self, message: str) -> None:
        LookupError.__init__(self, message)


class Reader:
    """The items of one namespace, their history, and the decisions behind them."""

    def __init__(self, store: Store, ruleset: Ruleset, namespace: str, settings: Settings) -> None:
        self.store = store
        self.ruleset = ruleset
        self.namespace = namespace
        self.settings = settings
        if settings.window_url:  # what is erased goes from there, too
            store.copies = (self._windows,)

    # ------------------------------------------------------------ what is remembered
    def items(
        self,
        *,
        entity: str | None = None,
        slot: str | None = None,
        as_of: str | datetime | None = None,
        known_at: str | datetime | None = None,
        history: bool = False,
        principal: str | None = None,
    ) -> tuple[MemoryItem, ...]:
        """What is remembered; ``as_of``: true in the world then (default: now), ``known_at``: known to us then."""
        then, known = moment_of(as_of, "as_of"), moment_of(known_at, "known_at")
        with self.store.reading(self.namespace) as tx:
            found = tx.items(
                entity=entity, slot=slot, as_of=then, known_at=known, history=history, principal=principal
            )  # fmt: skip
            if then is not None or known is not None or not found:
                # What waits for a person was not true then: it is nobody's answer to what was.
                waits = history or then is None
                return found if waits else tuple(item for item in found if item.status != "held")
            # Now, but never before the last of it was told: a clock that is slow makes nothing unsaid.
            present = max(datetime.now(UTC), *(item.recorded_at for item in found))
            return tx.items(entity=entity, slot=slot, as_of=present, history=history, principal=principal)

    def history(self, item_id: str) -> tuple[MemoryItem, ...]:
        """Everything that ever stood where the item stands, oldest first."""
        item = self.item(item_id)
        with self.store.reading(self.namespace) as tx:
            return tx.place_history(item.entity, item.slot, item.qualifier)

    @overload
    def recall(self, question: str, *, transcript: Literal[True], **asked: Any) -> tuple[Hit | TurnHit, ...]: ...

    @overload
    def recall(self, question: str, **asked: Any) -> tuple[Hit, ...]: ...

    def recall(self, question: str, **asked: Any) -> tuple[Hit | TurnHit, ...]:
        """Items that answer a question, best first; one Chinese character is enough. Takes what ``answer`` takes; with
        ``transcript=True`` turns that bear on it stand behind the items, their ``source`` being ``transcript``."""
        answer = self.answer(question, **asked)
        return (*answer.hits, *answer.turns)

    def answer(
        self,
        question: str,
        *,
        entity: str | None = None,
        slots: Iterable[str] | None = None,
        without: Iterable[str] = (),
        history: bool = False,
        at: str | datetime | None = None,
        as_of: str | datetime | None = None,
        known_at: str | datetime | None = None,
        top: int = 10,
        transcript: bool = False,
        rerank: Reranker | None = None,
        traced: bool = True,
    ) -> Recalled:
        """The same with its account: how the question was read, each term of each score, what filters took out.

        ``at`` is when it is asked (default: the present), ``as_of`` when it must have been true, ``known_at`` when we
        must have known it; ``without`` are classes of personal data that must not be shown; ``transcript`` adds the
        turns that bear on it. A trace is left where the settings ask for it, unless ``traced`` is false. QuestionError:
        the question names a time that cannot be read.
        """
        from .recall.question import QuestionError, book_of, understand
        from .recall.rank import Filters, recall
        from .recall.relation_questions import with_relations
        from .recall.transcript import with_turns
        from .store.lookup import newest

        if len(question) > (most := self.settings.max_turn_chars):  # it is read like a turn, and costs as much
            told = f"the question has {len(question):,} characters, more than {most:,}. Ask in fewer words"
            raise QuestionError(told)
        given, then, top = moment_of(at, "at"), moment_of(as_of, "as_of"), max(top, 0)
        with self.store.reading(self.namespace) as tx:
            erased = self._erased(tx) if traced else None
            # A clock that is slow makes nothing unsaid.
            last = None if given is not None else newest(tx.connection, tx.namespace)
            now = given if given is not None else max(filter(None, (datetime.now(UTC), last)))
            asked = understand(question, now, self.ruleset)
            if then is not None:
                asked = replace(asked, as_of=then)
            if (known := moment_of(known_at, "known_at")) is not None:
                asked = replace(asked, known_at=known)
            only = None if slots is None else frozenset(slots)
            filters = Filters(entity, only, frozenset(without), history)
            book = book_of(self.ruleset)
            found = recall(tx, asked, book, filters, top, nearby=self._nearby, rerank=rerank)
            found = with_relations(tx, found, book, filters, top)
            if transcript:
                found = with_turns(tx, found, book, filters, top, self.embedder)
        if traced:
            self._trace(found, erased=erased)
        return found

    def related(
        self,
        name: str,
        *,
        hops: int = 1,
        relation: str | None = None,
        entity: str | None = None,
        as_of: str | datetime | None = None,
        known_at: str | datetime | None = None,
    ) -> tuple[Related, ...]:
        """Whom and what a name is joined to within one to three steps, the nearest and surest first, with their paths.

        ``relation`` keeps to one relation, ``entity`` to what conversations with this principal gave; ``as_of``: true
        in the world then (default: now), ``known_at``: known to us then. QuestionError: no such relation.
        """
        from .recall.relations import Wanted, book_of, related
        from .store.lookup import newest

        then, known = moment_of(as_of, "as_of"), moment_of(known_at, "known_at")
        with self.store.reading(self.namespace) as tx:
            # A clock that is slow makes nothing unsaid.
            last = newest(tx.connection, tx.namespace) if then is None and known is None else None
            at = then or known or max(filter(None, (datetime.now(UTC), last)))
            only = None if relation is None else frozenset({relation})
            return related(tx, book_of(self.ruleset), name, Wanted(only, None, hops, entity), at, known)

    def read_back(
        self,
        *,
        entity: str | None = None,
        at: str | datetime | None = None,
        items: Iterable[MemoryItem] | None = None,
    ) -> list[ReadBack]:
        """Ask for all that is live, or ``items``, by the template questions of its slot: see ``recall.readback``."""
        from .recall.question import book_of
        from .recall.readback import LOOKED_AT, read_back

        def indexed(item: MemoryItem) -> bool:
            with self.store.reading(self.namespace) as tx:
                found = tx.search(item.sentence or item.canonical, entity=item.entity, limit=1000, history=True)
            return any(hit.item.id == item.id for hit in found)

        known = self.items(entity=entity, as_of=at) if items is None else items
        live = [each for each in known if each.status in {"current", "scheduled"}]
        ask = partial(self.answer, at=at, top=LOOKED_AT, traced=False)
        return read_back(live, book_of(self.ruleset), lambda question, about: ask(question, entity=about), indexed)

    def _read_after(self, receipt: Receipt) -> Receipt:
        """The receipt of a write with what the read-back test misses; as it is where the test is off."""
        if not self.settings.readback or receipt.repeated or not receipt.items:
            return receipt
        with self.store.reading(self.namespace) as tx:
            written = [item for item in map(tx.item, dict.fromkeys(each.id for each in receipt.items)) if item]
        at = max(max(item.recorded_at, item.said_at) for item in receipt.items)
        missed = [each for each in self.read_back(items=written, at=at) if not each.found]
        return receipt.model_copy(update={"unread": tuple(f"{each.question}: {each.why}" for each in missed)})

    def window(
        self,
        conversation: str,
        *,
        turns: int | None = None,
        minutes: float | None = None,
        at: str | datetime | None = None,
    ) -> Window:
        """The last turns of a conversation (default: ten) or those of the last minutes before ``at`` (default: now),
        what still holds of those before them, and what holds for it alone: always as of the last commit."""
        with self.store.reading(self.namespace) as tx:
            return self._look(conversation, turns=turns, minutes=minutes, at=at).window(tx)

    def _look(
        self,
        conversation: str,
        *,
        turns: int | None = None,
        minutes: float | None = None,
        at: str | datetime | None = None,
    ) -> Look:
        from .recall.question import book_of
        from .recall.window import Look

        return Look(self._windows, conversation, book_of(self.ruleset), turns, minutes, moment_of(at, "at"))

    @cached_property
    def embedder(self) -> Embedder | None:
        """What makes vectors of items and questions; None where none is installed. One of your own may be assigned."""
        from .recall.vectors import installed

        return installed() if self.settings.embedder != "none" else None

    @property
    def _nearby(self) -> Nearby | None:
        from .recall.vectors import Vectors

        none = self.embedder is None and self.settings.embedder == "none"
        return None if none else Vectors(self.embedder)

    @cached_property
    def _windows(self) -> Windows:
        from .recall.question import book_of
        from .recall.shelves import InValkey
        from .recall.window import Windows

        if not self.settings.window_url:
            return Windows()
        hours = book_of(self.ruleset).number("window_hours", 24)
        return Windows(InValkey.at(self.settings.window_url, int(hours * 3600)))

    def _context(
        self,
        question: str,
        trial: Trial,
        *,
        budget: int,
        turn: str | None,
        count: Counter | None,
        asked: dict[str, Any],
    ) -> Context:
        from .recall.context import assemble, contradicted_by, count_tokens
        from .recall.question import book_of
        from .store.lookup import deciders

        conversation = asked.pop("window", None)
        erased = None
        if self.settings.trace:
            with self.store.reading(self.namespace) as tx:
                erased = self._erased(tx)
        answer = self.answer(question, **asked, traced=False)
        # A window is of the present: it says nothing of what was true or known at another time.
        present = answer.asked.as_of is None and answer.asked.known_at is None
        with self.store.reading(self.namespace) as tx:
            decided = deciders(tx.connection, tx.namespace, [hit.item.id for hit in answer.hits])
            look = self._look(conversation, at=asked.get("at")) if conversation is not None and present else None
            window = look.window(tx) if look is not None else None
            summed = [tx.item(each.item) for each in window.summary] if window is not None else []
        shown = [*(hit.item for hit in answer.hits), *(each for each in summed if each is not None)]
        against = contradicted_by(turn if turn is not None else question, shown, answer.asked.now, trial)
        context = assemble(
            answer, book_of(self.ruleset), budget, contradicted=against, decisions=decided,
            count=count or count_tokens, window=window,
        )  # fmt: skip
        self._trace(answer, context, erased)
        return context

    # ------------------------------------------------------------ what was asked, and how it was answered
    def traces(
        self,
        *,
        number: int | None = None,
        item: str | None = None,
        empty: bool = False,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        last: int = 20,
    ) -> tuple[Trace, ...]:
        """Traces of questions, the newest first: one by its ``number``, those that an ``item`` (or a turn) answered,
        those that found nothing (``empty``), those written ``since`` a time and before ``until``. What is restricted
        shows none.

        NotFoundError: there is no such item. QuestionError: ``number`` or ``last`` is not from 1 to 2**63 - 1.
        """
        from .recall.question import QuestionError
        from .recall.trace import shown
        from .store.traces import LARGEST

        for name, given in (("number", number), ("last", last)):
            if given is not None and not 1 <= given <= LARGEST:
                raise QuestionError(f"{name} {given}: traces are counted from 1 to {LARGEST}. Give one of those")
        period = (moment_of(since, "since"), moment_of(until, "until"))
        with self.store.reading(self.namespace) as tx:
            target = None if item is None else tx.item_id(item) or item
            if target is not None and tx.item(target) is None and tx.turn(target) is None:
                raise NotFoundError("item", str(item))
            return shown(tx, number=number, target=target, empty=empty, period=period, last=last)

    def trace_hits(self, *, top: int = 20) -> tuple[Hits, ...]:
        """The items and turns that were answers most often, by the traces that are kept and may be shown."""
        from .recall.trace import hidden
        from .store.traces import hits

        with self.store.reading(self.namespace) as tx:
            return tuple(hits(tx.connection, tx.namespace, top, hidden=hidden(tx)))

    def trace_counts(
        self, *, since: str | datetime | None = None, until: str | datetime | None = None
    ) -> tuple[int, int]:  # fmt: skip
        """How many traces are kept, and how many of them are of questions that found nothing; of all that may be shown,
        or of those written ``since`` a time and before ``until``."""
        every = self.trace_periods(since=since, until=until)
        return (every[0].traced, every[0].empty) if every else (0, 0)

    def trace_periods(
        self, by: Unit | None = None, *, since: str | datetime | None = None, until: str | datetime | None = None
    ) -> tuple[Counted, ...]:
        """The same ``by`` day or month (UTC), the oldest first, without those that have none; None: all in one."""
        from .recall.trace import hidden
        from .store.traces import counts

        period = (moment_of(since, "since"), moment_of(until, "until"))
        with self.store.reading(self.namespace) as tx:
            return tuple(counts(tx.connection, tx.namespace, by=by, period=period, hidden=hidden(tx)))

    def _trace(self, answer: Recalled, context: Context | None = None, erased: int | None = None) -> None:
        if self.settings.trace:
            self._tracer.keep(answer, context, erased)

    def _erased(self, tx: Reading) -> int | None:
        """What a trace must know of the erasures before its question."""
        from .recall.trace import last_erasure

        return last_erasure(tx) if self.settings.trace else None

    @cached_property
    def _tracer(self) -> Tracer:
        from .recall.trace import Tracer

        return Tracer(self.store, self.namespace, self.settings.trace)

    def turn_ids(self) -> tuple[str, ...]:
        """Ids of all turns, by conversation and place in it."""
        with self.store.reading(self.namespace) as tx:
            return tuple(turn.turn_id for turn in tx.turns())

    def review(self, *, entity: str | None = None) -> tuple[tuple[MemoryItem, Decision], ...]:
        """What waits for a person, oldest first, each with the decision that wrote it: what is held, and what a release
        wrote that was rolled back (flag ``withdrawn_release``), or a rule that was stopped (``rolled_back_rule``)."""
        from .releases.acts import flagged

        with self.store.reading(self.namespace) as tx:
            held = [item for item in tx.items(entity=entity, history=True) if item.status == "held"]
            left = {item: flag for item, _, flag in flagged(tx) if entity in (None, item.entity)}
            waits = (*held, *left)
            decided = {item.id: d for item in waits for d in tx.decisions_touching(item.id) if d.item == item.id}
            for item, flag in left.items():
                if (wrote := decided.get(item.id)) is not None:
                    decided[item.id] = wrote.model_copy(update={"flags": (*wrote.flags, flag)})
            return tuple((item, decided[item.id]) for item in waits if item.id in decided)

    # ------------------------------------------------------------ accounting for it
    def explain(self, item_id: str, *, language: Tongue = "en") -> tuple[Explanation, ...]:
        """Every decision about an item, from the characters of the sentence to the rule that decided."""
        from .trust.proof import explain_item

        return explain_item(self.store, self.namespace, self.ruleset, self.item(item_id).id, language)

    def why_not(self, turn_id: str, *, language: Tongue = "en") -> Explanation:
        """Why nothing, or not more, was remembered from a turn."""
        from .trust.proof import explain_turn

        found = explain_turn(self.store, self.namespace, self.ruleset, turn_id, language)
        if found is None:
            raise NotFoundError("turn", turn_id)
        return found

    def check_index(self, tell: Callable[[Difference], None] = lambda each: None) -> tuple[Compared, ...]:
        """Whether what is made from items and turns agrees with them: full text, the transcript's index, the graph of
        names, traces; for each how many were compared and how many differ, each of which ``tell`` is given."""
        from .rules.edges import edges
        from .store.derived import check

        told = [file.slot for _, file in sorted(self.ruleset.slots.items()) if file.relation is not None]
        slots = [*told, *(f"reported.{name}" for name in told)]
        with self.store.reading(self.namespace) as tx:
            return tuple(check(tx.connection, tx.namespace, edges(self.ruleset), slots, tell))

    def verify(
        self, *, public_key: str | None = None, witness: Path | None = None, actors: Path | None = None
    ) -> Report:
        """Hash every record again; hold root, checkpoints, witness, private values and what is stored against it.

        ``public_key`` is a verifier line, PEM, or a file of either (default: the key beside the store, if any);
        ``witness`` a file of signed notes, ``actors`` a list of actors from outside. Nothing is made or changed.
        """
        from .releases.checking import deviations
        from .trust.actors import read_actors
        from .trust.proof import verify_log
        from .trust.signing import trust_for

        trust = trust_for(self.store, self.namespace, self.settings, public_key, witness)
        keys = None if actors is None else [each.key for each in read_actors(actors)]
        return verify_log(self.store, self.namespace, trust, self.ruleset, keys, released=deviations)

    def item(self, given: str) -> MemoryItem:
        """The newest version of an item by its id, or by the beginning of it that tables show."""
        with self.store.reading(self.namespace) as tx:
            item = tx.item(tx.item_id(given) or given)
        if item is None:
            raise NotFoundError("item", given)
        return item
