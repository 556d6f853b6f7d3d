"""Memory: dialogue in, decided, worded, stored memory out. The one pipeline, to be read top to bottom."""

from __future__ import annotations

import hashlib
import hmac
import weakref
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from .audit.ledger import Ledger
from .audit.record import decision_entry, derived_salts, random_salts, turn_digest
from .audit.runtime import runtime_digest, runtime_facts
from .editing import EDITS, Does, check_edit, check_read
from .extractors.names.models import installed
from .extractors.scan import language_of, scan_all
from .intake import Incoming, IntakeError, moment_of, read_turn, received
from .keeping import Keeping
from .llm_polish.template import render
from .llm_polish.wording import from_event, readable
from .model import Bound, Decision, Edit, Known, MemoryItem, Outcome, Receipt, Scan, Turn
from .reader import NoKeyError
from .reader import NotFoundError as NotFoundError
from .reader import NotInstalledError as NotInstalledError
from .releases.serving import Serving
from .rules.anchors import counted_out, event_name
from .rules.capture import Captured, Heard, capture
from .rules.decide import decide, suggested
from .rules.edges import edges
from .rules.engine import Preference, RuleEngine, engine_for
from .rules.load import load
from .rules.ruleset import Ruleset
from .settings import Settings
from .store.codec import proposal_digest
from .store.engine import Store
from .store.errors import StoreError, TurnConflict
from .store.items import as_of, reconcile
from .store.vectors import EMBED
from .values import TimeValue

if TYPE_CHECKING:
    from .audit.replay import Replayed
    from .erasure.forgetting import Forgotten
    from .polishing import Summarised
    from .recall.context import Context, Counter
    from .recall.vectors import Embedded
    from .store.writing import Writing
    from .trust.actors import Acting
    from .trust.signing import Signer

REHEARSAL_SECRET = hashlib.sha256(b"recordari rehearsal").digest()  # output must not depend on the machine
LAST_TURNS = 12  # turns of talk handed to bind; how many of them count is said by the rules
Numbered = tuple[int, Incoming]
Told = Callable[[int, str], None]


class Memory(Keeping):
    """The memory of one namespace: what was said to it, what it decided, and why. What it is asked: see Reader."""

    def __init__(
        self,
        store: Store,
        ruleset: Ruleset,
        *,
        namespace: str = "default",
        ner: bool = True,
        engine: Preference | None = None,
        settings: Settings | None = None,
        signer: Signer | None = None,
        rehearsing: bool = False,
    ) -> None:
        super().__init__(store, ruleset, namespace, settings if settings is not None else Settings())
        self.engine: RuleEngine = engine_for(ruleset, engine)
        self._models = installed() if ner else ()
        self.runtime = runtime_digest(self._models)
        self.signer = signer
        self._ner = ner
        self._rehearsing = rehearsing
        # By a weak name: a memory that is dropped is gone at once, and not when the collector finds the circle.
        self.serving = Serving(weakref.proxy(self), ner=ner, follows=not rehearsing)
        self._ledger = Ledger(derived_salts(REHEARSAL_SECRET) if rehearsing else random_salts)
        self._kept = False  # the rule set and the runtime are in the store
        self._written: list[range] = []  # records of the log that wait for their commit

    @classmethod
    def open(
        cls,
        store: str | Path = "recordari.db",
        *,
        rules: str | Path | Sequence[str | Path] = (),
        packs: bool = True,
        namespace: str = "default",
        ruleset: Ruleset | None = None,
        ner: bool = True,
        engine: Preference | None = None,
        settings: Settings | None = None,
        read_only: bool = False,
        create: bool = True,
    ) -> Self:
        """Open a memory in a file or database; ``rules`` are folders layered over the shipped packs.

        ``read_only`` makes nothing, not even a signing key; without ``create`` there must be a memory already.
        Raises RuleError with every problem of the rule files, StoreError when the store cannot be used.
        """
        from .trust.signing import signer_for

        folders = [rules] if isinstance(rules, str | Path) else list(rules)
        loaded = ruleset if ruleset is not None else load([Path(folder) for folder in folders], packs=packs)
        settings = settings if settings is not None else Settings()
        opened = Store.open(store, read_only=read_only, create=create)
        try:
            signer = signer_for(opened, settings)
            memory = cls(opened, loaded, namespace=namespace, ner=ner, engine=engine, settings=settings, signer=signer)
            if not read_only:
                opened.scrub()  # an erasure that was interrupted after its commit
                memory.catch_up()
            return memory
        except BaseException:
            opened.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            self.close()
        except (OSError, StoreError) as hindered:
            if error is None:
                raise
            error.add_note(f"the log could not be signed on close: {hindered}")  # the next to close it signs

    def close(self) -> None:
        """Sign what was written since the last checkpoint and let go of the store."""
        try:
            if self.signer is not None:
                self.signer.close(self.store, self.namespace)
        finally:
            if self.settings.trace:
                self._tracer.close()
            self.store.close()

    # ------------------------------------------------------------ writing
    def observe(self, text: str, *, said_at: str | datetime, **fields: Any) -> Receipt:
        """Take one turn: ``speaker``, ``entity``, ``conversation``, ``turn_id`` … as in ``intake.Incoming``.

        Returns after the commit. Raises IntakeError for a turn that cannot be taken; nothing is changed then.
        """
        at = said_at.isoformat() if isinstance(said_at, datetime) else said_at
        return self.take(read_turn({"text": text, "at": at, **fields}, self.settings.max_turn_chars))

    def take(self, incoming: Incoming) -> Receipt:
        """Take one turn that has been checked."""
        version, (heard,) = self.serving.version, self.hear([incoming])
        self._written.clear()
        with self.store.writing(self.namespace) as tx:
            if self.serving.refresh(tx) != version:
                (heard,) = self.hear([incoming])
            receipt = self._write(tx, incoming, heard)
        self._committed()
        return self._read_after(receipt)

    def observe_group(self, group: Iterable[Numbered], told: Told | None = None) -> list[tuple[int, Receipt]]:
        """Take several turns in one commit; a turn that cannot be taken is told by its number, the others stand."""
        numbered = list(group)
        turns = [incoming for _, incoming in numbered]
        version, heard = self.serving.version, self.hear(turns)
        receipts: list[tuple[int, Receipt]] = []
        self._written.clear()
        with self.store.group(self.namespace):
            with self.store.reading(self.namespace) as now:
                if self.serving.refresh(now) != version:
                    heard = self.hear(turns)
            for (number, incoming), each in zip(numbered, heard, strict=True):
                try:
                    with self.store.writing(self.namespace) as tx:
                        receipts.append((number, self._write(tx, incoming, each)))
                except (IntakeError, TurnConflict) as error:
                    if told is None:
                        raise
                    told(number, str(error))
        self._committed()
        return [(number, self._read_after(receipt)) for number, receipt in receipts]

    def hear(self, turns: Sequence[Incoming]) -> list[Heard]:
        """Before any lock, from turns and rules alone; step by step, since what a step needs stays in the caches."""
        heard: list[Heard] = []
        for ruleset, run in groupby(turns, lambda turn: self.serving.by(self.namespace, turn.entity)[0].ruleset):
            some = list(run)
            scans = scan_all(some, ruleset.extraction, ner=self._ner)
            heard += [Heard(scan, capture(turn, scan, ruleset)) for turn, scan in zip(some, scans, strict=True)]
        return heard

    def scan(self, said: Incoming | Turn) -> Scan:
        """What the extractors find in a turn."""
        ruleset = self.serving.by(self.namespace, said.entity)[0].ruleset
        return scan_all([said], ruleset.extraction, ner=self._ner)[0]

    def decide(
        self, turn: Turn, found: Scan, known: Known, secret: bytes, captured: Captured | None = None
    ) -> tuple[tuple[Outcome, ...], Known]:
        """The decisions about a turn: capture, bind, judge, reconcile, from its arguments and the rules alone."""

        def new_id(turn: Turn, bound: Bound) -> str:
            candidate = bound.candidate
            place = [turn.turn_id, candidate.rule, candidate.start, candidate.end, bound.slot, bound.qualifier]
            if bound.as_said is not None:  # several values of one place may follow one event
                place.append(bound.as_said)
            return hmac.digest(secret, "\x1f".join(map(str, place)).encode(), "sha256").hex()[:32]

        return decide(
            turn, found, known, self.ruleset, self.engine, reconcile, self.word, new_id, self.runtime, captured
        )  # fmt: skip

    def word(self, bound: Bound, turn: Turn) -> str:
        """The template sentence of a candidate, in the language it was said in."""
        if bound.value is None or bound.slot is None:
            return ""
        slot = self.ruleset.slots.get(bound.slot.removeprefix("reported."))
        # What nobody said anew stays in the language in which it was said first.
        language = language_of(turn.text) if bound.as_said is None else bound.candidate.language
        value = readable(bound.value, language, turn.text[bound.candidate.start : bound.candidate.end])
        if isinstance(bound.value, TimeValue) and counted_out(bound):
            event = event_name(bound, self.ruleset) or self.ruleset.label(bound.value.anchor or "", language)
            value = from_event(bound.value, language, event)
        if slot is None:
            return value
        said = turn.said_at.date().isoformat()
        template = slot.say.zh if language == "zh" else slot.say.en
        label = self.ruleset.label(bound.qualifier, language, turn.text)
        return render(template, {"entity": bound.entity, "qualifier": label, "value": value, "said_at": said})

    # ------------------------------------------------------------ people in the loop
    def correct(
        self, item_id: str, value: str, *, actor: str, seen_version: int, since: str | datetime | None = None,
        at: datetime | None = None,
    ) -> Receipt:  # fmt: skip
        """A person puts another value in an item's place: it never was true, or no longer ``since`` then.

        ``value`` is read as it would be in talk. Stale when the item changed after ``seen_version``; EditError when no
        value of its kind can be read. ``at`` is when the person does it, by default now.
        """
        return self._edit(item_id, "correct", value, actor, seen_version, moment_of(since, "since"), at)

    def confirm(
        self, item_id: str, *, actor: str, seen_version: int, note: str = "", at: datetime | None = None
    ) -> Receipt:
        """A person says that an item is right; ``note`` is kept with the decision."""
        return self._edit(item_id, "confirm", note, actor, seen_version, None, at)

    def reject(
        self, item_id: str, *, actor: str, seen_version: int, note: str = "", at: datetime | None = None
    ) -> Receipt:
        """A person takes an item back, or refuses one that is held."""
        return self._edit(item_id, "reject", note, actor, seen_version, None, at)

    def approve(
        self, item_id: str, *, actor: str, seen_version: int, note: str = "", at: datetime | None = None
    ) -> Receipt:
        """A person lets a held item in; it takes the place of what contradicts it."""
        return self._edit(item_id, "approve", note, actor, seen_version, None, at)

    def _edit(
        self, item_id: str, does: Does, text: str, actor: str, seen: int, since: datetime | None, at: datetime | None
    ) -> Receipt:
        from .trust.actors import acting

        moment = at if at is not None else datetime.now(UTC)
        item = self.item(item_id)
        check_edit(does, item, text, actor)
        act = acting(self.store, self.namespace, self.settings, actor)
        words = text.strip() or does  # an empty text is one that was erased
        checked = read_turn({"text": words, "at": moment.isoformat(), "author": actor}, self.settings.max_turn_chars)
        self._written.clear()
        with self.store.writing(self.namespace) as tx:
            self.serving.refresh(tx)
            item = tx.expect_version(item.id, seen)
            said = tx.turn(item.turn_id)
            if said is None:
                raise NotFoundError("turn", item.turn_id)
            edit = Edit(
                does=does, turn_id=item.turn_id, start=item.start, end=item.end, slot=item.slot,
                qualifier=item.qualifier, seen_version=seen, since=since,
            )  # fmt: skip
            here = checked.model_copy(update={"conversation": EDITS, "entity": said.entity, "lang": item.language})
            turn = self._turn(tx, here).model_copy(update={"speaker": "person", "edit": edit})
            receipt = self._remember(tx, turn, Heard(self.scan(here)), act)
            check_read(receipt.decisions[0], item, text)
        self._committed()
        return receipt

    def _write(self, tx: Writing, incoming: Incoming, heard: Heard) -> Receipt:
        """Inside the write lock: a turn that is known already gets its old receipt, a new one is remembered."""
        turn = self._turn(tx, incoming)
        return tx.receipt_of(turn) or self._remember(tx, turn, heard)

    def _remember(self, tx: Writing, turn: Turn, heard: Heard, act: Acting | None = None) -> Receipt:
        """What is known, the decisions, and everything they change, in one transaction; ``act`` signs an edit."""
        now = max(turn.said_at, turn.received_at)
        known = tx.known(turn.entity, turn.conversation, last_turns=LAST_TURNS, at=now)
        decided = self.serving.decide(self.namespace, turn, heard.scan, known, tx.secret, heard.captured)
        outcomes, after = decided.outcomes, decided.after
        if not self._kept:
            tx.keep_ruleset(self.ruleset.digest, self.ruleset.sources)
            tx.keep_runtime(self.runtime, runtime_facts(self._models))
        tx.write_turn(turn)
        opened, answered = suggested(turn, known, after)
        # What was said is proved by the first record of the turn; the others name the turn.
        beside: dict[str, Any] = {"said": turn_digest(turn)}
        if opened or answered:
            given = (("proposals", opened), ("answers", answered))
            beside |= {name: [proposal_digest(each) for each in some] for name, some in given if some}
        does = turn.edit.does if turn.edit is not None else None
        entries = [
            decision_entry(outcome.decision, outcome.written, None if at else beside, does=does)
            for at, outcome in enumerate(outcomes)
        ]
        if act is not None:
            entries = list(act.entries(tx.log, self.namespace, entries))
        entries += decided.phantoms
        # When it was recorded is envelope, not content: rehearsals take the turn's own time, to be reproducible.
        recorded_at = turn.received_at if self._rehearsing else datetime.now(UTC)
        rows = self._ledger.append(tx.log, self.namespace, entries, recorded_at=recorded_at)
        seqs = [row.seq for row in rows if row.act is None]
        tx.write_outcomes(turn, outcomes, seqs=seqs, edge_of=edges(self.ruleset))
        if opened or answered:
            tx.write_proposals(opened, answered=answered, turn=turn)
        if self.settings.llm_url and not self._rehearsing:
            from .polishing import enqueue

            enqueue(tx, turn, outcomes)
        written = {item.id: item for outcome in outcomes for item in outcome.written}
        if not self._rehearsing and self.embedder is not None:
            tx.leave(EMBED, (item for item in written.values() if item.version == 1), turn.received_at)
        self._written.append(range(rows[0].seq, rows[-1].seq + 1))
        decisions = tuple(outcome.decision for outcome in outcomes)
        return Receipt(turn_id=turn.turn_id, decisions=decisions, items=tuple(written.values()))

    def _turn(self, tx: Writing, incoming: Incoming) -> Turn:
        """The turn with its place in the conversation."""
        ordinal = tx.next_ordinal(incoming.conversation)
        turn_id = incoming.turn_id or f"{incoming.conversation}:{ordinal}"
        if incoming.turn_id is not None and (stored := tx.turn(incoming.turn_id)) is not None:
            ordinal = stored.ordinal
        return Turn(
            turn_id=turn_id, text=incoming.text, speaker=incoming.speaker, said_at=incoming.at,
            received_at=received(incoming, tx.last_received(incoming.conversation)), entity=incoming.entity,
            author=incoming.author, conversation=incoming.conversation, ordinal=ordinal, lang=incoming.lang,
            timezone=incoming.timezone, locale=incoming.locale, document=incoming.document,
        )  # fmt: skip

    def _committed(self) -> None:
        self._kept = True
        if self.signer is not None:
            self.signer.after_commit(self.store, self.namespace, self._written)

    # ------------------------------------------------------------ rehearsing
    @classmethod
    def rehearsal(
        cls,
        rules: Sequence[str | Path] = (),
        *,
        packs: bool = True,
        ner: bool = True,
        engine: Preference | None = None,
        ruleset: Ruleset | None = None,
    ) -> Self:
        """A memory in a throw-away store: the same pipeline, with a fixed secret so that its output is the same."""
        loaded = ruleset if ruleset is not None else load([Path(folder) for folder in rules], packs=packs)
        store = Store.open("sqlite://", secret=REHEARSAL_SECRET)
        return cls(store, loaded, ner=ner, engine=engine, rehearsing=True)

    def rehearse(self, turns: Sequence[Incoming]) -> tuple[tuple[Decision, ...], tuple[MemoryItem, ...]]:
        """Decisions and items of a dialogue, in a throw-away store of its own; this memory is not touched."""
        store = Store.open("sqlite://", secret=REHEARSAL_SECRET)
        with Memory(
            store, self.ruleset, ner=self._ner, engine=self._preference(), settings=self.settings, rehearsing=True
        ) as one:  # fmt: skip
            receipts = [receipt for _, receipt in one.observe_group(list(enumerate(turns)))]
            with store.reading(one.namespace) as tx:
                stored = [tx.turn(receipt.turn_id) for receipt in receipts]
            last = max((max(turn.said_at, turn.received_at) for turn in stored if turn), default=None)
            decisions = tuple(decision for receipt in receipts for decision in receipt.decisions)
            return decisions, one.items(as_of=last, history=True)

    def trial(self, turns: Sequence[Turn], known: Known) -> tuple[tuple[Decision, ...], tuple[MemoryItem, ...]]:
        """Decide turns that begin with what is ``known``, storing nothing: what the inline tests of rules run on."""
        items = {item.id: item for item in (*known.items, *known.history)}
        decisions: list[Decision] = []
        for turn in turns:
            outcomes, known = self.decide(turn, self.scan(turn), known, REHEARSAL_SECRET)
            decisions += [outcome.decision for outcome in outcomes]
            items |= {item.id: item for outcome in outcomes for item in outcome.written}
        last = max((max(turn.said_at, turn.received_at) for turn in turns), default=None)
        found = tuple(items.values())
        return tuple(decisions), as_of(found, last) if last is not None else found

    def beside(self, ruleset: Ruleset) -> Memory:
        """Another rule set over the same store, to decide with and nothing else."""
        return Memory(
            self.store, ruleset, namespace=self.namespace, ner=self._ner, engine="reference", settings=self.settings,
            rehearsing=True,
        )  # fmt: skip

    def _preference(self) -> Preference:
        return "durable" if self.engine.name.startswith("durable") else "reference"

    def context(
        self, question: str, *, budget: int = 2000, turn: str | None = None, count: Counter | None = None, **asked: Any
    ) -> Context:
        """What stands before a model that is to answer: quoted sentences within ``budget`` tokens, the best last. What
        ``turn`` (default: the question) contradicts is left out and named; ``window``: a conversation, whose summary
        and what holds for it alone stand above; further arguments as of ``answer``."""
        return self._context(question, self.trial, budget=budget, turn=turn, count=count, asked=asked)

    # ------------------------------------------------------------ keeping it: what is done to the store as a whole
    def embed(self, *, limit: int | None = None, anew: bool = False) -> Embedded:
        """Embed what waits for a vector, at most ``limit`` items; ``anew``: all vectors go first, those of another
        model too. NotInstalledError when no embedder is installed."""
        from .recall.vectors import EVERY, NOT_INSTALLED, embed_waiting

        if self.embedder is None:
            raise NotInstalledError(NOT_INSTALLED)
        if anew:
            with self.store.writing(self.namespace) as tx:
                tx.unembed()
        most = EVERY if limit is None else limit
        return embed_waiting(
            self.store, self.namespace, self.embedder, now=lambda: datetime.now(UTC), holder="recordari", limit=most
        )  # fmt: skip

    def embed_turns(self, *, limit: int | None = None) -> Embedded:
        """Give vectors to what was said, at most ``limit`` turns, for recall with ``transcript=True``.
        NotInstalledError when no embedder is installed."""
        from .recall.transcript import embed_turns
        from .recall.vectors import NOT_INSTALLED

        if self.embedder is None:
            raise NotInstalledError(NOT_INSTALLED)
        return embed_turns(self.store, self.namespace, self.embedder, limit=limit)

    def checkpoint(self) -> str:
        """Sign the present root; returns the note. Raises NoKeyError (a NotFoundError) when there is no signing key."""
        if self.signer is None:
            raise NoKeyError(self.store)
        return self.signer.sign(self.store, self.namespace)

    def replay(self) -> tuple[Replayed, Replayed]:
        """Decide everything again: from stored features (policy), and from stored text (extraction)."""
        from .trust.proof import replay_log

        with Store.open("sqlite://", secret=REHEARSAL_SECRET) as store:
            fresh: dict[str, Memory] = {}

            def remember(tx: Writing, turn: Turn, ruleset: Ruleset) -> tuple[Decision, ...]:
                one = fresh.get(ruleset.digest) or Memory(
                    store, ruleset, ner=self._ner, settings=self.settings, rehearsing=True
                )
                fresh[ruleset.digest] = one
                one._kept = True  # what is thrown away needs no rule set beside it
                return one._remember(tx, turn, Heard(one.scan(turn))).decisions

            return replay_log(self.store, self.namespace, self.ruleset, self.runtime, store, remember)

    # ------------------------------------------------------------ letting go of it
    def forget(
        self, *, at: datetime, limit: int = 1000, actor: str | None = None, dry_run: bool = False
    ) -> Forgotten:  # fmt: skip
        """Archive what has ended or is over a budget ``at`` a time, and delete what was archived long enough, at most
        ``limit`` items; pins, holds and restrictions keep it. ErasureError for a time that has not come yet."""
        from .erasure.forgetting import forget

        return forget(
            self._house(), self.ruleset, self._take_all, at=at, limit=limit, actor=actor, dry_run=dry_run
        )  # fmt: skip

    def _take_all(self, turns: Callable[[Writing], Iterable[Turn]], act: Acting | None) -> None:
        """Take the turns of a forgetting, in one transaction."""
        from .erasure.forgetting import check_ended

        self._written.clear()
        with self.store.writing(self.namespace) as tx:
            self.serving.refresh(tx)
            check_ended([self._remember(tx, turn, Heard(self.scan(turn)), act) for turn in turns(tx)])
        self._committed()

    def polish(self, *, limit: int = 100) -> list[tuple[str, str, str]]:
        """Let the configured LLM reword waiting sentences: (item, outcome, sentence that stands)."""
        from .polishing import polish_waiting

        return polish_waiting(self._house(), self.ruleset, limit=limit, ner=self._ner, holder="recordari")

    def summarise(self, conversation: str, **window: Any) -> Summarised:
        """Let the LLM word the summary of a ``window``, whose arguments it takes; the guard keeps the templates."""
        from .polishing import summarise

        return summarise(self._house(), self.ruleset, conversation, self._look(conversation, **window), ner=self._ner)
