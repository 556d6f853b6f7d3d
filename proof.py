"""What auditors ask of a stored memory: explain, why not, verify, replay, sign; each read straight from the store."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from .audit.checkpoint import SigningKey, Witness, due
from .audit.explain import Explanation, Logged, Tongue, explain, why_not
from .audit.ledger import Ledger
from .audit.replay import Replayed, replay_extraction, replay_policy
from .audit.verify import Finding, Report, verify
from .model import Decision, MemoryItem, Turn, Verdict
from .rules.engine import RuleEngine, engine_for
from .rules.ruleset import Ruleset
from .settings import Settings
from .store.engine import Store
from .store.reading import Reading

SIGN_AFTER = 60.0  # seconds; a checkpoint bounds what a rewrite could change unseen


class Signer:
    """Signs the root every 256 records, every minute and on close, and copies each note outside the database."""

    def __init__(self, key: SigningKey, witness: Witness | None) -> None:
        self.key = key
        self.witness = witness
        self._signed: dict[str, int] = {}
        self._at: dict[str, float] = {}

    def sign(self, store: Store, namespace: str) -> str:
        """Sign the present root; returns the note."""
        with store.writing(namespace) as tx:
            size, root = Ledger().root(tx.log, namespace)
            note = self.key.checkpoint(namespace, size, root)
            tx.log.add_checkpoint(namespace, size, note)
        if self.witness is not None:
            self.witness.add(note)
        self._signed[namespace] = size
        self._at[namespace] = time.monotonic()
        return note

    def after_commit(self, store: Store, namespace: str, size: int) -> None:
        """Sign the log, of ``size`` records now, when that is due: it grew by so much, or a minute has passed."""
        if namespace not in self._signed:
            self._signed[namespace] = last_signed(store, namespace)
            self._at[namespace] = time.monotonic()
        late = time.monotonic() - self._at[namespace] >= SIGN_AFTER
        if due(size, self._signed[namespace]) or (late and size > self._signed[namespace]):
            self.sign(store, namespace)

    def close(self, store: Store, namespace: str) -> None:
        """Sign what has been written since the last note."""
        if not store.read_only and namespace in self._signed and _size(store, namespace) > self._signed[namespace]:
            self.sign(store, namespace)


def _size(store: Store, namespace: str) -> int:
    with store.reading(namespace) as tx:
        return tx.log.frontier(namespace)[0]


def last_signed(store: Store, namespace: str) -> int:
    """Size of the log at its last checkpoint."""
    from .audit.checkpoint import unverified

    with store.reading(namespace) as tx:
        notes = tx.log.checkpoints(namespace)
    return unverified(notes[-1]).size if notes else 0


def signer_for(store: Store, settings: Settings) -> Signer | None:
    """The signer that the settings describe; beside an SQLite file by default, none for a memory database.

    A key beside the database protects against accidents and those who cannot read it, no more: see docs/ledger.md.
    """
    key, witness = settings.signing_key, settings.witness
    if key is None and (store.backend != "sqlite" or not Path(store.place).is_file()):
        return None
    beside = Path(store.place)
    key = key if key is not None else beside.with_name(beside.name + ".key")
    if witness is None and store.backend == "sqlite" and beside.is_file():
        witness = beside.with_name(beside.name + ".checkpoints")
    if store.read_only and not os.access(key, os.R_OK):
        return None
    return Signer(SigningKey.open(key), Witness(witness) if witness is not None else None)


# ---------------------------------------------------------------- explaining
def _logged(tx: Reading, decision: Decision) -> Logged:
    seqs = tx.decision_seqs(decision.turn_id)
    seq = seqs[decision.ordinal] if decision.ordinal < len(seqs) else None
    return Logged(decision, tx.turn(decision.turn_id), seq)


def explain_item(
    store: Store, namespace: str, ruleset: Ruleset, item_id: str, language: Tongue
) -> tuple[Explanation, ...]:
    """The story of an item, oldest decision first; empty when the item is unknown."""
    with store.reading(namespace) as tx:
        if tx.item(item_id) is None:
            return ()
        logged = [_logged(tx, decision) for decision in tx.decisions_touching(item_id)]
        return explain(logged, rule=ruleset.rule, item=tx.item, language=language)


def explain_turn(store: Store, namespace: str, ruleset: Ruleset, turn_id: str, language: Tongue) -> Explanation | None:
    """What became of everything in a turn; None when the turn is unknown."""
    with store.reading(namespace) as tx:
        turn = tx.turn(turn_id)
        if turn is None:
            return None
        logged = [_logged(tx, decision) for decision in tx.decisions(turn_id)]
        return why_not(turn, logged, rule=ruleset.rule, language=language)


# ---------------------------------------------------------------- proving
def verify_log(store: Store, namespace: str, signer: Signer | None) -> Report:
    """The verification of a namespace with everything at hand."""
    with store.reading(namespace) as tx:

        def versions() -> Iterator[MemoryItem]:
            for item in tx.items(history=True):
                yield from tx.versions(item.id)

        report = verify(
            tx.log,
            namespace,
            witness=signer.witness.notes() if signer and signer.witness else None,
            public_key=signer.key.public if signer else None,
            items=versions,
        )
        misfiled = tuple(Finding(-1, "column", f"item {each} stand beside it changed") for each in tx.misfiled())
    return replace(report, findings=tuple(sorted((*report.findings, *misfiled))))


def replay_log(
    store: Store, namespace: str, ruleset: Ruleset, runtime: str, again: Callable[[Turn, Ruleset], Sequence[Decision]]
) -> tuple[Replayed, Replayed]:
    """Both layers of replay over a whole log; ``again`` decides a turn in a fresh state that remembers those before."""
    sets: dict[str, Ruleset | None] = {ruleset.digest: ruleset}
    judges: dict[str, RuleEngine] = {}
    with store.reading(namespace) as tx:

        def ruleset_of(digest: str) -> Ruleset | None:
            if digest not in sets:
                sources = tx.ruleset(digest)
                sets[digest] = None if sources is None else Ruleset.from_sources(sources, digest)
            return sets[digest]

        def judge_for(digest: str) -> Callable[[Mapping[str, str]], Verdict] | None:
            found = ruleset_of(digest)
            if found is None:
                return None
            if digest not in judges:
                judges[digest] = engine_for(found)
            return judges[digest].judge

        def turn_of(turn_id: str) -> Turn | None:
            turn = tx.turn(turn_id)
            return turn if turn is not None and turn.text else None

        def decide(turn: Turn, digest: str) -> Sequence[Decision]:
            found = ruleset_of(digest)
            if found is None:
                raise LookupError(f"rule set {digest[:12]} is not stored")
            return again(turn, found)

        ledger = Ledger()
        policy = replay_policy(ledger.records(tx.log, namespace), judge_for, runtime=runtime)
        extraction = replay_extraction(ledger.records(tx.log, namespace), turn_of, decide, runtime=runtime)
    return policy, extraction
