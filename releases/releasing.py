"""Releases of whole rule sets: publish, promote, stop a rule, roll back; each a record of the log by a known actor.

The log alone says what is in force: the last of these records has the whole of it, and no table could say otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from ..audit.ledger import Ledger
from ..audit.record import Entry, Record, read_record
from ..audit.story import cue_rules
from ..erasure.erasing import House
from ..rulefile import RuleError
from ..rules.compare import compare
from ..rules.load import build, digest_of
from ..rules.promotion import Gates, Shown, gate_fields, missing
from ..rules.release import (
    BUCKETS,
    KINDS,
    InForce,
    Stage,
    Step,
    stables,
    stage_began,
    withdrawn,
    withdrawn_since,
)
from ..rules.ruleset import Ruleset
from ..rules.slotchange import Misfit, misfits
from ..trust.actors import Acting, acting
from .acts import acts_of, flagged, steps_of
from .proving import check
from .serving import PHANTOM

if TYPE_CHECKING:
    from ..store.log import Log
    from ..store.reading import Reading
    from ..store.writing import Writing

SHORTEST = 6  # characters of a digest that may stand for it


class ReleaseError(ValueError):
    """A step that cannot be taken; says why, and what can."""


class Unfit(ReleaseError):
    """Stored items do not fit the slots of a release; nothing was published."""

    def __init__(self, found: Sequence[Misfit]) -> None:
        self.misfits = tuple(found)
        super().__init__(
            f"{len(found)} stored items do not fit the slots of this release. Settle them first, as proposed"
        )


class GateShut(ReleaseError):
    """A promotion that has not shown what its gate asks."""


@dataclass(frozen=True, slots=True)
class Deed:
    """Who takes a step, and why."""

    actor: str
    why: str

    def check(self) -> None:
        """ReleaseError without a name or a reason."""
        if not self.actor.strip() or not self.why.strip():
            raise ReleaseError("a release needs an actor and a reason. Say who does it (--actor) and why (--why)")


@dataclass(frozen=True, slots=True)
class Done:
    """A step that was taken: its record, and what is in force since."""

    seq: int
    after: InForce
    told: Mapping[str, Any]


# ---------------------------------------------------------------- what the log says
def _last_ruleset(log: Log, namespace: str) -> str | None:
    """The set that the last decision of a namespace was taken with."""
    acts = set(log.acts())
    for seq in range(log.size(namespace) - 1, -1, -1):
        if seq not in acts:
            return str(read_record(next(iter(log.read(namespace, seq, seq + 1))).record).content["ruleset"])
    return None


def in_force(log: Log, namespace: str) -> InForce:
    """What is in force now. Before the first release that is the set of the last decision, if there was one."""
    steps = steps_of(log)
    return steps[-1].after if steps else InForce(_last_ruleset(log, namespace))


def seen_in_shadow(log: Log, namespace: str, steps: Sequence[Step]) -> tuple[int, list[Record]]:
    """How many decisions the candidate took beside the stable set while it was in the shadow, and where they parted.

    The shadow begins anew with a new candidate, or when one of its rules is stopped; a canary keeps what was seen.
    """
    now = steps[-1].after if steps else InForce()
    last = len(steps) - 1
    while last >= 0 and steps[last].after.candidate == now.candidate and steps[last].after.stage != "shadow":
        last -= 1
    if now.candidate is None or last < 0 or steps[last].after.candidate != now.candidate:
        return 0, []
    first = stage_began(steps[: last + 1])
    stop = steps[last + 1].seq if last + 1 < len(steps) else log.size(namespace)
    acts = [seq for seq in log.acts() if first < seq < stop]
    phantoms = [
        record
        for record, _ in acts_of(log, PHANTOM)
        if first < record.seq < stop and record.content["candidate"] == now.candidate
    ]
    return stop - first - 1 - len(acts), phantoms


# ---------------------------------------------------------------- taking a step
@contextmanager
def _writing(house: House, deed: Deed) -> Iterator[tuple[Writing, Acting | None]]:
    """The write lock and who acts; both are had before anything is decided."""
    deed.check()
    act = acting(house.store, house.namespace, house.settings, deed.actor)
    with house.store.writing(house.namespace) as tx:
        yield tx, act


def _note(
    house: House, tx: Writing, act: Acting | None, kind: str, deed: Deed, after: InForce, told: Mapping[str, Any]
) -> Done:  # fmt: skip
    content = {"releases": after.fields(), "why": deed.why.strip(), **told}
    entry = Entry(kind, content, {} if act is not None else {"actor": deed.actor})
    entries = [entry] if act is None else list(act.entries(tx.log, house.namespace, [entry]))
    rows = Ledger().append(tx.log, house.namespace, entries, recorded_at=datetime.now(UTC))
    if house.signer is not None:
        house.signer.saw(house.namespace, [range(rows[0].seq, rows[-1].seq + 1)])
    return Done(rows[-1].seq, after, told)


def publish(house: House, deed: Deed, ruleset: Ruleset, checks: Mapping[str, int | None]) -> Done:
    """Make a set the candidate of a namespace; nothing decides by it yet.

    ``checks``: what was found of ``lint``, ``lock`` and ``tests``, numbers of faults, None for what was not looked at.
    RuleError for a set that cannot decide, Unfit when stored items do not fit its slots.
    """
    check(ruleset)
    with _writing(house, deed) as (tx, act):
        now = in_force(tx.log, house.namespace)
        if now.stage in ("shadow", "canary"):
            raise ReleaseError(f"{short(now.candidate)} is in {now.stage}. Promote it, or roll back to the stable set")
        if ruleset.digest == now.stable:
            raise ReleaseError(f"{short(ruleset.digest)} is the stable set already. Nothing was published")
        told: dict[str, Any] = {"digest": ruleset.digest, "checks": dict(checks)}
        before = _stored(tx, now.stable) if now.stable is not None else None
        if before is not None:
            changes = compare(before, ruleset)
            told["changes"] = {what: len(changes.of(what)) for what in ("added", "removed", "changed")}
            if unfit := list(misfits(before, ruleset, tx.items())):
                raise Unfit(unfit)
        tx.keep_ruleset(ruleset.digest, ruleset.sources)
        after = InForce(now.stable, ruleset.digest, "published", 0, ruleset.digest)
        return _note(house, tx, act, "rule_publish", deed, after, told)


def promote(
    house: House, deed: Deed, to: Literal["shadow", "canary", "stable"], gates: Gates, *, share: int | None = None,
    candidate: str | None = None,
) -> Done:  # fmt: skip
    """Take the candidate one step on: into the shadow, to ``share`` of ten thousand entities, or to all.

    ``candidate`` is the beginning of the digest that was looked at: another may have been published meanwhile.
    GateShut with everything that its gate asks and it has not shown.
    """
    with _writing(house, deed) as (tx, act):
        steps = steps_of(tx.log)
        now = in_force(tx.log, house.namespace)
        if now.candidate is None:
            raise ReleaseError("there is no candidate. `recordari rules publish` makes one")
        if candidate is not None and (len(candidate) < SHORTEST or not now.candidate.startswith(candidate)):
            raise ReleaseError(f"the candidate is {short(now.candidate)}, not {candidate}. Look at it first")
        threshold = _next_share(now, to, share)
        compared, phantoms = seen_in_shadow(tx.log, house.namespace, steps)
        parted = len({(each.content["turn_id"], each.content["number"]) for each in phantoms})
        name: Literal["shadow", "canary", "stable", "first"] = to if now.stable is not None else "first"
        published = _published(tx.log, now)
        shown = Shown(
            published[0].content["checks"] if published else {}, compared, parted,
            published is not None and _same_actor(published, act, deed.actor),
        )  # fmt: skip
        gate = getattr(gates, name)
        if lacking := list(missing(gate, shown)):
            raise GateShut(f"{short(now.candidate)} does not go to {to}: {'; '.join(lacking)}")
        stage: Stage | None = None if to == "stable" else to
        after = InForce(now.candidate) if stage is None else replace(now, stage=stage, threshold=threshold)
        told = {"to": to, "gate": gate_fields(gate), "seen": {"decisions": compared, "disagreements": parted}}
        return _note(house, tx, act, "rule_promote", deed, after, told)


def _next_share(now: InForce, to: str, share: int | None) -> int:
    """The threshold of the next step; ReleaseError for a step back, or one that says nothing."""
    if now.stable is None and to != "stable":
        raise ReleaseError("nothing has been decided here: there is nothing to compare with. Promote it to stable")
    if to != "canary":
        if share is not None:
            raise ReleaseError("a share goes with `--to canary`")
        if to == "shadow" and now.stage != "published":
            raise ReleaseError(f"{short(now.candidate)} is in {now.stage} already")
        return 0
    if share is None or not 0 < share <= BUCKETS:
        raise ReleaseError("which share of the entities? Give --percent, above 0 and up to 100")
    if now.stage == "canary" and share <= now.threshold:
        raise ReleaseError(
            f"{now.threshold / 100:g} % are in the canary already, and nobody is taken out again. Give a larger share, "
            "or roll back"
        )
    return share


def override(house: House, deed: Deed, rule: str) -> Done:
    """Stop one rule at once, in the stable set and in the candidate: sets without it take their places.

    ReleaseError when no set has the rule, or cannot do without it.
    """
    with _writing(house, deed) as (tx, act):
        now = in_force(tx.log, house.namespace)
        changed: dict[str, str] = {}
        for digest in now.digests():
            found = _stored(tx, digest)
            if rule not in found.files:
                continue
            if found.files[rule].kind == "slot":  # its items would stand where nothing is known of them
                raise ReleaseError(f"{rule} is a slot and may have items. Stop the captures that fill it")
            if found.files[rule].kind == "policy":  # a turn that no row decides cannot be taken at all
                raise ReleaseError(f"{rule} is a decision table. Publish a set in which it decides otherwise")
            try:
                sources = {name: text for name, text in found.sources.items() if name != rule}
                without = build(sources, digest_of(sources))
                check(without)
            except RuleError as wrong:
                told = str(wrong.problems[0])
                raise ReleaseError(f"{rule} cannot be stopped alone, others need it: {told}") from None
            tx.keep_ruleset(without.digest, without.sources)
            changed[digest] = without.digest
        if not changed:
            raise ReleaseError(f"no rule {rule!r} is in force. Ids stand in the rule files and in `recordari explain`")
        after = replace(
            now, stable=changed.get(now.stable or "", now.stable),
            candidate=changed.get(now.candidate or "", now.candidate),
        )  # fmt: skip
        if after.candidate == after.stable:  # the rule was all that they differed in
            after = InForce(after.stable)
        stopped = {"rule": rule, "sets": changed, "review": written_by(tx, rule)}
        return _note(house, tx, act, "rule_override", deed, after, stopped)


def rollback(house: House, deed: Deed, digest: str) -> Done:
    """Make an earlier stable set (or the present one, to be rid of a candidate) decide for all again.

    What the withdrawn sets have written stays as it is; the record names it, and it waits for review.
    """
    with _writing(house, deed) as (tx, act):
        steps = steps_of(tx.log)
        found = [each for each in stables(steps) if each.startswith(digest)] if len(digest) >= SHORTEST else []
        if len(found) != 1:
            known = ", ".join(short(each) for each in stables(steps)) or "none"
            raise ReleaseError(f"{digest!r} names no set that was stable here. Known: {known}")
        if steps[-1].after == InForce(found[0]):
            raise ReleaseError(f"{short(found[0])} decides for all already")
        _stored(tx, found[0])
        gone = withdrawn(steps, found[0])
        left = written_under(tx, gone, withdrawn_since(steps, found[0]))
        told = {"digest": found[0], "withdrawn": list(gone), "review": left}
        return _note(house, tx, act, "rule_rollback", deed, InForce(found[0]), told)


def _stored(tx: Reading, digest: str) -> Ruleset:
    sources = tx.ruleset(digest)
    if sources is None:
        raise ReleaseError(f"the rule set {short(digest)} is not stored. Publish its folder")
    return build(sources, digest)


def _published(log: Log, now: InForce) -> tuple[Record, Mapping[str, Any]] | None:
    """The record that published the candidate."""
    found = [each for each in acts_of(log, "rule_publish") if each[0].content["digest"] == now.salt]
    return found[-1] if found else None


def _same_actor(published: tuple[Record, Mapping[str, Any]], act: Acting | None, name: str) -> bool:
    record, content = published
    if record.signed is not None and act is not None:
        return record.signed.key == act.actor.key
    return str(content.get("actor", name)) == name


def short(digest: str | None) -> str:
    """A digest as people read it."""
    return digest[:12] if digest is not None else "none"


# ---------------------------------------------------------------- what was done, and what is to be looked at
def written_under(tx: Reading, digests: Sequence[str], since: int = 0) -> list[str]:
    """Ids of the items of which a decision with one of these sets wrote a version, in the order of the log."""
    return _written(tx, since, digests, lambda content: content.get("ruleset") in digests)


def written_by(tx: Reading, rule: str) -> list[str]:
    """Ids of the items of which a decision wrote a version that a rule, or a part of it, captured, decided or cued."""

    def rested(content: Mapping[str, Any]) -> bool:
        refs = (content.get("capture"), content.get("rule"), *cue_rules(content.get("cues") or ()))
        names = (str(ref).partition("@")[0] for ref in refs)
        return any(name == rule or name.startswith(f"{rule}.") for name in names)

    return _written(tx, 0, [rule], rested)


def _written(
    tx: Reading, since: int, signs: Sequence[str], concerns: Callable[[Mapping[str, Any]], bool]
) -> list[str]:  # fmt: skip
    """Items written by the decisions that ``concerns`` picks; only records with one of the ``signs`` are read."""
    found: dict[str, None] = {}
    for row in tx.log.read(tx.namespace, since) if signs else ():
        if '"written"' in row.record and any(sign in row.record for sign in signs):
            content = read_record(row.record).content
            if concerns(content):
                found |= dict.fromkeys(str(each).rpartition("/")[0] for each in content.get("written", ()))
    return list(found)


def status(house: House, *, samples: int = 5) -> dict[str, Any]:
    """What is in force, how the candidate did in the shadow, what was done, what waits for review; JSON-ready."""
    with house.store.reading(house.namespace) as tx:
        steps = steps_of(tx.log)
        now = in_force(tx.log, house.namespace)
        compared, phantoms = seen_in_shadow(tx.log, house.namespace, steps)
        history = [
            {
                "seq": record.seq, "at": record.recorded_at, "kind": record.kind, "who": _who(record, content),
                "why": content["why"], "releases": content["releases"],
            }
            for record, content in acts_of(tx.log, *KINDS)
        ]  # fmt: skip
        by = Counter(_place(record.content) for record in phantoms)
        return {
            "namespace": house.namespace, **InForce().fields(), **now.fields(), "shadow": {
                "decisions": compared,
                "disagreements": len({(one.content["turn_id"], one.content["number"]) for one in phantoms}),
                "by": [
                    {"slot": slot, "rule": rule, "what": what, "count": count}
                    for (slot, rule, what), count in sorted(by.items(), key=lambda each: (-each[1], each[0]))
                ],
                "samples": [_sample(tx, record) for record in phantoms[-samples:]] if samples else [],
            },
            "history": history,
            "review": [
                {"item": item.id, "version": item.version, "record": seq, "flag": flag}
                for item, seq, flag in flagged(tx)
            ],
        }  # fmt: skip


def _place(content: Mapping[str, Any]) -> tuple[str, str, str]:
    side = content.get("after") or content.get("before") or {}
    rule = str(side.get("capture") or side.get("rule") or "none").partition("@")[0]
    return str(side.get("slot") or "none"), rule, str(content["what"])


def _sample(tx: Reading, record: Record) -> dict[str, Any]:
    """One difference with the words it is about, unless they were erased."""
    turn = tx.turn(str(record.content["turn_id"]))
    fields = {name: value for name, value in record.content.items() if name not in ("candidate", "stable")}
    return {"seq": record.seq, "text": turn.text if turn is not None else "", **fields}


def _who(record: Record, content: Mapping[str, Any]) -> str:
    return record.signed.key[:8] if record.signed is not None else str(content.get("actor", ""))
