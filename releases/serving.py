"""The rule sets that a running process decides with: picked at the write lock, as the log says, without a restart.

A set is read from the store, made ready beside the one in use and only then exchanged. One that is announced
(published) is made ready in the background; one that cannot be used leaves the old one in force, and says so again and
again.
"""

from __future__ import annotations

import gc
import logging
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from ..audit.record import Entry, read_record
from ..extractors.scan import scan, with_cues_of
from ..model import Known, Outcome, Scan, Turn
from ..rules.backtest import Side
from ..rules.capture import Captured
from ..rules.engine import ReferenceEngine, RuleEngine, engine_for
from ..rules.load import following
from ..rules.release import NOBODY, InForce, Pick
from ..rules.ruleset import Ruleset
from ..rules.shadow import Shadow
from ..store.reading import Reading
from .proving import NoChild, built, prove, told

PHANTOM = "phantom"
"""Kind of the record that says how a set in the shadow would have decided; nothing follows from it."""
KEPT = 4  # compiled sets: stable, candidate, and those that a rollback may call back
WARM = 40  # sentences that a set decides before it is used
EPOCH = datetime(2026, 1, 5, tzinfo=UTC)  # when they are said
REPEAT = 60.0  # seconds between two warnings about a set that cannot be used, and between two tries to use it
SWITCH = 0.0005  # seconds that a turn waits for the interpreter while a set is made ready; 0.005 by default
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

    def beside(self, ruleset: Ruleset) -> Deciding:
        """The same with another rule set."""
        ...


@dataclass(frozen=True)
class Decided:
    """What was decided about a turn, what is known afterwards, and the records of a shadow beside it."""

    outcomes: tuple[Outcome, ...]
    after: Known
    phantoms: tuple[Entry, ...] = ()


class Serving:
    """The sets in force in one namespace, as this process knows them."""

    def __init__(self, own: Deciding, *, ner: bool, follows: bool = True) -> None:
        self.own = own
        self._ner = ner
        self._follows = follows  # False: a rehearsal, which decides with what it was given
        self._seen: int | None = None  # the last act of the log that was looked at
        self._state = InForce()
        self._ready: OrderedDict[str, Deciding] = OrderedDict({own.ruleset.digest: own})
        self._coming: dict[str, Making] = {}
        self._faults: dict[str, str] = {}
        self._warned = -REPEAT
        self._shadow: Shadow | None = None
        self._blind: str | None = None  # a set in the shadow that cannot be used: every turn is a difference
        self._secret = b""  # of the namespace; what a shadow decides gets ids like everything else
        self.version = 0  # moves with every exchange: what was scanned under another is scanned again

    # ------------------------------------------------------------ who decides
    def by(self, namespace: str, entity: str) -> tuple[Deciding, Pick | None]:
        """What decides for an entity, and why; what was given when no release is in force."""
        pick = self._state.pick(namespace, entity)
        found = self._ready.get(pick.digest) if pick is not None else None
        return (found, pick) if found is not None else (self.own, None)

    def decide(
        self, namespace: str, turn: Turn, found: Scan, known: Known, secret: bytes, captured: Captured | None = None
    ) -> Decided:
        """Decide a turn with the set in force for its entity, and beside it with one that is in the shadow."""
        one, pick = self.by(namespace, turn.entity)
        if self._shadow is not None and turn.edit is None and turn.endings is None:
            self._secret = secret
            outcomes, after, parted = self._shadow.decide(turn, found, known, captured)
            return Decided(outcomes, after, tuple(Entry(PHANTOM, each) for each in parted))
        outcomes, after = one.decide(turn, found, known, secret, captured)
        if self._blind is not None and turn.edit is None and turn.endings is None:
            return Decided(outcomes, after, (Entry(PHANTOM, unseen(turn, self._blind, one.ruleset.digest)),))
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
        self._faults.clear()
        if state.stage == "published" and state.candidate is not None:
            self._announce(tx, state.candidate)
        missing = [digest for digest in state.deciding() if not self._at_hand(tx, digest)]
        sighted = state.shadow is None or self._at_hand(tx, state.shadow)
        if self._faults:
            self._warn()
        if not missing and (state, None if sighted else state.shadow) != (self._state, self._blind):
            self._take(state, sighted)
        self._seen = last
        return self.version

    def _due(self) -> bool:
        """True when a set that could not be used is to be told and tried again."""
        failed = self._faults or any(making.fault for making in self._coming.values())
        return bool(failed) and time.monotonic() - self._warned >= REPEAT

    def _take(self, state: InForce, sighted: bool) -> None:
        """Exchange what decides; all that can fail is done before anything is changed."""
        shadow = None
        judges = {digest: _plain(one.engine) for digest, one in self._ready.items()}
        if state.stable is not None and state.shadow is not None and sighted:
            stable, candidate = self._ready[state.stable], self._ready[state.shadow]
            try:
                shadow = Shadow(self._side(stable), self._side(candidate), judges[state.stable])
            except Exception as broken:  # what only looks on must not keep anything from being remembered
                self._faults[state.shadow], sighted = told(broken), False
                self._warn()
            else:
                if shadow.watching is not None:
                    judges[state.stable] = shadow.watching
        for digest, judge in judges.items():  # no engine goes on watching for a shadow that has ended
            self._ready[digest].engine = judge
        if state.stable not in (None, self.own.ruleset.digest, self._state.stable):
            self._say_overruled(state)
        self._shadow, self._blind = shadow, None if sighted else state.shadow
        self._state = state
        self.version += 1
        self._drop(state)

    def _say_overruled(self, state: InForce) -> None:
        """Once a change: the rules that this process was given are not those that decide."""
        own = [path for path in self.own.ruleset.paths.values() if not path.startswith("packs/")]
        log.log(
            logging.WARNING if own else logging.INFO,  # nobody named the shipped packs
            "release %s decides here, not the rules that this process was given (%s). To let them decide: recordari "
            "rules publish, then promote. What is in force: recordari rules status",
            str(state.stable)[:12], f"{own[0]} and {len(own) - 1} more files" if own else "the shipped packs",
        )  # fmt: skip

    def _drop(self, state: InForce) -> None:
        """Keep the sets in force, the one that was given, and those used last."""
        needed = {*state.digests(), self.own.ruleset.digest}
        for digest in state.digests():
            if digest in self._ready:
                self._ready.move_to_end(digest)
        for digest in list(self._ready):
            if len(self._ready) <= KEPT:
                return
            if digest not in needed:
                del self._ready[digest]

    # ------------------------------------------------------------ having them at hand
    def _announce(self, tx: Reading, digest: str) -> None:
        """Make a set ready that will be needed, beside the work that goes on; of one that failed, tell and try again.

        What was announced before and is no candidate any more is forgotten.
        """
        making = self._coming.get(digest)
        self._coming = {digest: making} if making is not None and not making.fault else {}
        if digest in self._ready or self._coming:
            return
        if making is not None:
            self._warned = time.monotonic()
        sources = tx.ruleset(digest)
        if sources is None:
            return  # told when it is to decide
        self._coming[digest] = self._making(digest, sources)
        self._coming[digest].start()

    def _at_hand(self, tx: Reading, digest: str) -> bool:
        """True once a set can decide; what is being made ready is waited for."""
        if digest in self._ready:
            return True
        making = self._coming.pop(digest, None)
        if making is None or making.failed():
            sources = tx.ruleset(digest)
            if sources is None:
                self._faults[digest] = "it is not stored"
                return False
            making = self._making(digest, sources)
            making.run()
        if making.one is None:
            self._faults[digest] = making.fault
            return False
        self._ready[digest] = making.one
        return True

    def _making(self, digest: str, sources: Mapping[str, str]) -> Making:
        """What makes a set ready, from the one here that is most like it."""
        near = max((one.ruleset for one in self._ready.values()), key=lambda each: _alike(each, sources))
        return Making(digest, lambda: self._made(digest, sources, near))

    def _made(self, digest: str, sources: Mapping[str, str], near: Ruleset) -> Deciding:
        """A set ready to decide: proved elsewhere, then made here from what it shares with another."""
        try:
            prove(digest, sources)
            ruleset = following(near, sources, digest)
        except NoChild as missing:
            log.warning(
                "release %s is proved inside this process, and turns wait for it: no other could be started (%s)",
                digest[:12], missing,
            )  # fmt: skip
            ruleset = built(digest, sources)
        one = self.own.beside(ruleset)
        given = _plain(self.own.engine)
        one.engine = engine_for(ruleset, "reference" if isinstance(given, ReferenceEngine) else None)
        self._warm(one)
        return one

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


class Making(threading.Thread):
    """A set that is made ready, in the background or at once; then the ``one`` that decides, or the ``fault``."""

    def __init__(self, digest: str, make: Callable[[], Deciding]) -> None:
        super().__init__(daemon=True, name="recordari-release")
        self._digest = digest
        self._make = make
        self.one: Deciding | None = None
        self.fault = ""

    def run(self) -> None:
        """Make it; in the background its fault is told now, while there is time to publish another."""
        try:
            with _turns_first():
                self.one = self._make()
                if gc.get_freeze_count():  # a process that keeps its collector from what stays does so with this, too
                    gc.collect()
                    gc.freeze()
        except Exception as broken:  # whatever it is, the set in use is sound
            self.fault = told(broken)
            if self.ident is not None:
                log.error("release %s is published and cannot be used (%s)", self._digest[:12], self.fault)

    def failed(self) -> bool:
        """Wait for it; True when it cannot be used."""
        self.join()
        return self.one is None


_interval = threading.Lock()
_at_work = 0
_usual = 0.0


@contextmanager
def _turns_first() -> Iterator[None]:
    """A turn gives the interpreter away dozens of times (each statement of the database); what works beside it hands it
    back at once instead of after 5 ms."""
    global _at_work, _usual
    with _interval:
        if _at_work == 0:
            _usual = sys.getswitchinterval()
            sys.setswitchinterval(min(SWITCH, _usual))
        _at_work += 1
    try:
        yield
    finally:
        with _interval:
            _at_work -= 1
            if _at_work == 0:
                sys.setswitchinterval(_usual)


def unseen(turn: Turn, candidate: str, stable: str) -> dict[str, Any]:
    """The difference that a turn is which nobody could compare: a promotion must not take it for agreement."""
    return {
        "candidate": candidate, "stable": stable, "turn_id": turn.turn_id, "turn": turn.ordinal, "number": 0,
        "what": "failed", "fields": [], "fault": "Unusable",
    }  # fmt: skip


def _plain(engine: RuleEngine) -> RuleEngine:
    """The engine itself, not one that watches for a shadow."""
    before: RuleEngine = getattr(engine, "before", engine)
    return before


def _alike(ruleset: Ruleset, sources: Mapping[str, str]) -> int:
    """How many rules a set shares with these texts."""
    return sum(sources.get(name) == text for name, text in ruleset.sources.items())
