"""The rule sets that a running process decides with: picked at the write lock, as the log says, without a restart.

A set is read from the store, compiled beside the one in use and only then exchanged. One that is announced
(published) is compiled in the background; one that cannot be used leaves the old one in force, and says so again and
again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from ..audit.record import Entry, read_record
from ..extractors.scan import scan, with_cues_of
from ..model import Known, Outcome, Scan, Turn
from ..rules.backtest import Side
from ..rules.capture import Captured
from ..rules.engine import ReferenceEngine, RuleEngine, engine_for
from ..rules.release import NOBODY, InForce, Pick
from ..rules.ruleset import Ruleset
from ..rules.shadow import Shadow
from ..store.reading import Reading

PHANTOM = "phantom"
"""Kind of the record that says how a set in the shadow would have decided; nothing follows from it."""
KEPT = 4  # compiled sets: stable, candidate, and those that a rollback may call back
MOST_ENGINES = 40  # durable-rules never gives back all of a table; after so many new ones plain Python judges
WARM = 40  # sentences that a set decides before it is used
EPOCH = datetime(2026, 1, 5, tzinfo=UTC)  # when they are said
REPEAT = 60.0  # seconds between two warnings about a set that cannot be used, and between two tries to use it
log = logging.getLogger("recordari.releases")


class Deciding(Protocol):
    """What decides with one rule set."""

    ruleset: Ruleset
    engine: RuleEngine

    def decide(
        self, turn: Turn, found: Scan, known: Known, secret: bytes, captured: Captured | None = None
    ) -> tuple[tuple[Outcome, ...], Known]:
        """The decisions about a turn."""
        ...


@dataclass(frozen=True)
class Decided:
    """What was decided about a turn, what is known afterwards, and the records of a shadow beside it."""

    outcomes: tuple[Outcome, ...]
    after: Known
    phantoms: tuple[Entry, ...] = ()


class Serving:
    """The sets in force in one namespace, as this process knows them."""

    def __init__(self, own: Deciding, make: Callable[[Ruleset], Deciding], *, ner: bool, follows: bool = True) -> None:
        self.own = own
        self._make = make
        self._ner = ner
        self._follows = follows  # False: a rehearsal, which decides with what it was given
        self._seen: int | None = None  # the last act of the log that was looked at
        self._state = InForce()
        self._compiled: OrderedDict[str, Deciding] = OrderedDict({own.ruleset.digest: own})
        self._coming: dict[str, threading.Thread] = {}
        self._faults: dict[str, str] = {}
        self._warned = -REPEAT
        self._engines = 0
        self._shadow: Shadow | None = None
        self._secret = b""  # of the namespace; what a shadow decides gets ids like everything else
        self.version = 0  # moves with every exchange: what was scanned under another is scanned again

    # ------------------------------------------------------------ who decides
    def by(self, namespace: str, entity: str) -> tuple[Deciding, Pick | None]:
        """What decides for an entity, and why; what was given when no release is in force."""
        pick = self._state.pick(namespace, entity)
        found = self._compiled.get(pick.digest) if pick is not None else None
        return (found, pick) if found is not None else (self.own, None)

    def decide(self, namespace: str, turn: Turn, found: Scan, known: Known, secret: bytes) -> Decided:
        """Decide a turn with the set in force for its entity, and beside it with one that is in the shadow."""
        one, pick = self.by(namespace, turn.entity)
        if self._shadow is not None and turn.edit is None and turn.endings is None:
            self._secret = secret
            outcomes, after, parted = self._shadow.decide(turn, found, known)
            return Decided(outcomes, after, tuple(Entry(PHANTOM, each) for each in parted))
        outcomes, after = one.decide(turn, found, known, secret)
        if pick is not None and pick.bucket is not None:
            chosen = {"bucket": pick.bucket, "threshold": pick.threshold}
            outcomes = tuple(
                each.model_copy(update={"decision": each.decision.model_copy(update=chosen)}) for each in outcomes
            )
        return Decided(outcomes, after)

    # ------------------------------------------------------------ what is in force
    def refresh(self, tx: Reading) -> int:
        """At the write lock: follow the log; the ``version`` that decides from now on."""
        if not self._follows:
            return self.version
        last = tx.log.latest("rule_")
        if last == self._seen and not self._due():
            return self.version
        state = InForce()
        if last is not None:
            state = InForce.read(read_record(tx.log.records_of([last])[0].record).content)
        self._seen = last
        if state.stage == "published" and state.candidate is not None:
            self._announce(tx, state.candidate)
        needed = (*state.deciding(), *_only(state.shadow))
        if [digest for digest in needed if not self._ready(tx, digest)]:
            self._warn()
            return self.version
        self._faults.clear()
        if state != self._state:
            self._take(state)
        return self.version

    def _due(self) -> bool:
        """True when a set that could not be used is to be tried again."""
        return bool(self._faults) and time.monotonic() - self._warned >= REPEAT

    def _take(self, state: InForce) -> None:
        """Exchange what decides; nothing before this changed it."""
        self._state = state
        self.version += 1
        for one in self._compiled.values():  # no engine goes on watching for a shadow that has ended
            if self._shadow is not None and one.engine is self._shadow.watching:
                one.engine = self._shadow.watching.before
        self._shadow = None
        if state.stable is not None and state.shadow is not None:
            stable, candidate = self._compiled[state.stable], self._compiled[state.shadow]
            self._shadow = Shadow(self._side(stable), self._side(candidate), stable.engine)
            if self._shadow.watching is not None:
                stable.engine = self._shadow.watching
        if state.stable is not None and state.stable != self.own.ruleset.digest:
            log.info("release %s decides here, not the rules that were given", state.stable[:12])
        self._drop(state)

    def _drop(self, state: InForce) -> None:
        """Keep the sets in force, the one that was given, and those used last."""
        needed = {*state.digests(), self.own.ruleset.digest}
        for digest in state.digests():
            if digest in self._compiled:
                self._compiled.move_to_end(digest)
        for digest in list(self._compiled):
            if len(self._compiled) <= KEPT:
                return
            if digest not in needed:
                del self._compiled[digest]

    # ------------------------------------------------------------ having them at hand
    def _announce(self, tx: Reading, digest: str) -> None:
        """Compile a set that will be needed, beside the work that goes on."""
        self._coming = {name: thread for name, thread in self._coming.items() if thread.is_alive()}
        if digest in self._compiled or digest in self._coming:
            return
        sources = tx.ruleset(digest)
        if sources is None:
            return  # told when it is to decide
        thread = threading.Thread(
            target=self._compile_ahead, args=(digest, sources), daemon=True, name="recordari-release"
        )
        self._coming[digest] = thread
        thread.start()

    def _ready(self, tx: Reading, digest: str) -> bool:
        """True once a set can decide; what is being compiled is waited for."""
        thread = self._coming.pop(digest, None)
        if thread is not None:
            thread.join()
        if digest in self._compiled:
            return True
        sources = tx.ruleset(digest)
        if sources is None:
            self._faults[digest] = "it is not stored"
            return False
        self._compile(digest, sources)
        return digest in self._compiled

    def _compile_ahead(self, digest: str, sources: Mapping[str, str]) -> None:
        """The same in the background; its fault is told now, while there is time to publish another."""
        self._compile(digest, sources)
        if digest in self._faults:
            log.error("release %s is published and cannot be used (%s)", digest[:12], self._faults[digest])

    def _compile(self, digest: str, sources: Mapping[str, str]) -> None:
        """A set ready to decide, or the fault that keeps it from it."""
        try:
            ruleset = Ruleset.from_sources(sources, digest)
            if ruleset.digest != digest:
                raise ValueError("its sources have another digest")
            one = self._make(ruleset)
            one.engine = self._engine(ruleset)
            self._warm(one)
        except Exception as broken:  # whatever it is, the set in use is sound
            self._faults[digest] = str(broken).splitlines()[0] if str(broken) else type(broken).__name__
        else:
            self._compiled[digest] = one

    def _warm(self, one: Deciding) -> None:
        """Decide what the rules' own tests say, to no effect: much is compiled on first use, and that is now."""
        said = [file.tests[0].say for file in one.ruleset.captures if file.tests]
        side = self._side(one)
        for number, text in enumerate(said[:: max(1, len(said) // WARM)]):
            turn = Turn(
                turn_id=f"warm:{number}", text=text, speaker="user", said_at=EPOCH, received_at=EPOCH, entity=NOBODY,
                conversation="warm", ordinal=number,
            )  # fmt: skip
            side.decide(turn, side.read(turn), Known(), None)

    def _engine(self, ruleset: Ruleset) -> RuleEngine:
        judge: RuleEngine = getattr(self.own.engine, "before", self.own.engine)  # not one that watches for a shadow
        if ruleset.table == self.own.ruleset.table:
            return judge
        if isinstance(judge, ReferenceEngine) or self._engines >= MOST_ENGINES:
            if self._engines == MOST_ENGINES:
                log.warning("plain Python judges from now on: start this process anew to use durable-rules again")
            return engine_for(ruleset, "reference")
        self._engines += 1
        return engine_for(ruleset)

    def _warn(self) -> None:
        """Loud, and again every minute."""
        self._warned = time.monotonic()
        for digest, fault in sorted(self._faults.items()):
            kept = self._state.stable or self.own.ruleset.digest
            log.error("release %s cannot be used (%s): %s stays in force", digest[:12], fault, kept[:12])

    def _side(self, one: Deciding) -> Side:
        extraction = one.ruleset.extraction

        def read(turn: Turn) -> Scan:
            return scan(
                turn.text, extraction, said_at=turn.said_at, lang=turn.lang, timezone=turn.timezone,
                locale=turn.locale, speaker=turn.speaker, ner=self._ner,
            )  # fmt: skip

        def decide(turn: Turn, found: Scan, known: Known, captured: Captured | None) -> tuple[Any, Known]:
            return one.decide(turn, found, known, self._secret, captured)

        def recue(turn: Turn, found: Scan) -> Scan:
            return with_cues_of(extraction, found, turn.text, turn.speaker)

        return Side(one.ruleset, read, recue, decide)


def _only(digest: str | None) -> tuple[str, ...]:
    return () if digest is None else (digest,)
