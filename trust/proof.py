"""What auditors ask of a stored memory: explain, why not, verify, replay; each read straight from the store."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..audit.explain import Explanation, Logged, Tongue, explain, why_not
from ..audit.record import Private, Record, canonical, read_record
from ..audit.replay import Difference, Erasures, Replayed, replay_extraction, replay_policy
from ..audit.verify import Finding, Report, verify
from ..model import Decision, Turn, Verdict
from ..rules.engine import RuleEngine, engine_for
from ..rules.load import build, digest_of
from ..rules.ruleset import Ruleset
from ..store.engine import Store
from ..store.inspection import Inspection
from ..store.reading import Reading
from .following import Follower, Remember
from .signing import Trust

# ---------------------------------------------------------------- explaining
ANSWERS = frozenset({"confirmed_suggestion", "suggestion_rejected"})


def _logged(tx: Reading, decision: Decision) -> Logged:
    """A decision with its turn, its record, and what it answers."""
    seqs = tx.decision_seqs(decision.turn_id)
    seq = seqs[decision.ordinal] if decision.ordinal < len(seqs) else None
    accepts = decision.features.get("binding") == "suggested" or decision.reason in ANSWERS
    answers = _answered(tx, decision) if accepts else ()
    altered = seq is None or _altered(tx, decision, seq)
    return Logged(decision, tx.turn(decision.turn_id), seq, answers, altered)


def _answered(tx: Reading, decision: Decision) -> tuple[Turn, ...]:
    """The turns that made the suggestion which a decision accepts or refuses."""
    made = tx.answered_by(decision.turn_id)
    meant = [each for each in made if each.candidate.slot == decision.slot] or made
    ids = dict.fromkeys(each.turn_id for each in meant)
    return tuple(turn for turn in map(tx.turn, ids) if turn is not None)


def _altered(tx: Reading, decision: Decision, seq: int) -> bool:
    """Whether the log recorded another decision than memory holds; what was erased there is not compared."""
    for row in tx.log.read(tx.namespace, seq, seq + 1):
        private = {name: Private(each.value, each.salt) for name, each in row.private.items()}
        try:
            record = read_record(row.record)
            gone = set(record.hashes) - set(private)
            return record.decision(private).model_dump(exclude=gone) != decision.model_dump(exclude=gone)
        except (ValueError, TypeError, KeyError):
            return True
    return True


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
def verify_log(
    store: Store, namespace: str, trust: Trust, ruleset: Ruleset, actors: Sequence[str] | None = None,
    *, released: Callable[[Reading], Iterable[Finding]],
) -> Report:  # fmt: skip
    """The verification of a namespace with everything at hand; ``released`` holds decisions against the releases."""
    found: list[Finding] = []
    with store.inspecting(namespace) as tx:
        report = verify(
            tx.log,
            namespace,
            witness=trust.witness.notes() if trust.witness is not None else None,
            public_key=trust.public,
            stored=tx,
            actors=actors,
        )
        checks: tuple[tuple[str, Callable[[], Iterable[Finding]]], ...] = (
            ("rule sets and runtimes", lambda: _grounds(tx, report.grounds, ruleset)),
            ("the search index", lambda: _index(tx)),
            ("releases", lambda: released(tx)),
        )
        for what, check in checks:
            try:
                found += check()
            except Exception as broken:  # rows of a kind that nobody writes
                found.append(Finding(-1, "damaged", f"{what} cannot be checked: {type(broken).__name__}: {broken}"))
    found += [Finding(-1, "file", f"the database file: {each}") for each in store.check()]
    findings = tuple(sorted((*report.findings, *found)))
    return replace(report, findings=findings, remarks=(*trust.remarks, *report.remarks))


def _grounds(tx: Inspection, named: Mapping[str, Mapping[str, int]], ruleset: Ruleset) -> Iterator[Finding]:
    """Rule sets and runtimes against the digests that decisions name them by."""
    kept = {"ruleset": tx.rulesets_kept(), "runtime": tx.runtimes_kept()}

    def set_digest(digest: str) -> str:
        sources = tx.ruleset(digest) or {}
        if digest == ruleset.digest and sources == ruleset.sources:
            return digest  # the set in use: nothing has to be parsed
        return digest_of(sources)

    def runtime_digest(digest: str) -> str:
        return hashlib.sha256(canonical(tx.runtime(digest)).encode()).hexdigest()

    checks: dict[str, Callable[[str], str]] = {"ruleset": set_digest, "runtime": runtime_digest}
    for name, digests in named.items():
        for digest, seq in sorted(digests.items()):
            if digest not in kept[name]:
                yield Finding(seq, name, f"{name} {digest[:12]}, which this decision names, is not stored")
        for digest in kept[name]:
            try:
                fits = checks[name](digest) == digest
            except (TypeError, ValueError, AttributeError, LookupError):
                fits = False
            if not fits:
                yield Finding(-1, name, f"{name} {digest[:12]} is stored with another content than its digest says")


def _index(tx: Inspection) -> Iterator[Finding]:
    """The search index against the items; it proves nothing, but what it lacks is not found."""
    if wrong := tx.misindexed():
        told = f"the search index of {tx.namespace!r} differs from memory at {wrong} items"
        yield Finding(-1, "search", f"{told}: build it again with `recordari audit reindex`")


def replay_log(
    store: Store, namespace: str, ruleset: Ruleset, runtime: str, again: Store, remember: Remember
) -> tuple[Replayed, Replayed]:
    """Both layers of replay over a whole log; ``remember`` decides a turn in ``again``, a store to throw away."""
    sets: dict[str, Ruleset | None] = {ruleset.digest: ruleset}
    judges: dict[str, RuleEngine] = {}
    with store.reading(namespace) as tx:

        def ruleset_of(digest: str) -> Ruleset | None:
            if digest not in sets:
                sources = tx.ruleset(digest)
                sets[digest] = None if sources is None else build(sources, digest)
            return sets[digest]

        def judge_for(digest: str) -> Callable[[Mapping[str, str]], Verdict] | None:
            found = ruleset_of(digest)
            if found is None:
                return None
            if digest not in judges:
                judges[digest] = engine_for(found)
            return judges[digest].judge

        damaged: list[Difference] = []
        policy = replay_policy(_readable(tx, damaged), judge_for, runtime=runtime)
        told = tuple(damaged)
        erased = _readable(tx, damaged, tx.log.acts("erase"))
        extraction = replay_extraction(
            _readable(tx, damaged), tx.turn, Follower(tx, again, remember, ruleset_of), runtime=runtime,
            erasures=Erasures.of(erased),
        )  # fmt: skip
    return policy, replace(extraction, differences=(*told, *extraction.differences))


def _readable(
    tx: Reading, damaged: list[Difference], seqs: Sequence[int] | None = None
) -> Iterator[tuple[Record, Mapping[str, Private]]]:
    """The records (or those at ``seqs``) that can be read; the others are differences, for a log that cannot be read
    proves nothing."""
    for row in tx.log.read(tx.namespace) if seqs is None else tx.log.records_of(seqs):
        private = {name: Private(each.value, each.salt) for name, each in row.private.items()}
        try:
            record = read_record(row.record)
            if record.decides:
                record.decision(private)
        except (ValueError, TypeError, KeyError) as wrong:
            told = str(wrong).splitlines()[0]
            damaged.append(Difference(row.seq, "record", "a decision", f"not readable: {told}", "differs"))
            continue
        yield record, private
