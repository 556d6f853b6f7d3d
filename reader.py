"""Reader: what can be asked of a stored memory. Nothing here decides, and nothing here writes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from .intake import moment_of
from .model import Decision, MemoryItem
from .rules.ruleset import Ruleset
from .settings import Settings
from .store.engine import Store

if TYPE_CHECKING:
    from .audit.explain import Explanation, Tongue
    from .audit.verify import Report


class NotFoundError(LookupError):
    """Nothing stored has this id; says what was looked for and where ids come from."""

    def __init__(self, what: str, id_: str) -> None:
        ids = "recordari items --json" if what == "item" else "the receipts of recordari observe"
        super().__init__(f"no {what} {id_!r}. Ids stand in the output of {ids}")


class Reader:
    """The items of one namespace, their history, and the decisions behind them."""

    def __init__(self, store: Store, ruleset: Ruleset, namespace: str, settings: Settings) -> None:
        self.store = store
        self.ruleset = ruleset
        self.namespace = namespace
        self.settings = settings

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

    def recall(self, query: str, *, entity: str | None = None, top: int = 10) -> tuple[tuple[float, MemoryItem], ...]:
        """Items true now or later whose words match the query, best first; one Chinese character is enough."""
        with self.store.reading(self.namespace) as tx:
            return tuple(
                (hit.score, hit.item) for hit in tx.search(query, entity=entity, limit=top, at=datetime.now(UTC))
            )

    def turn_ids(self) -> tuple[str, ...]:
        """Ids of all turns, by conversation and place in it."""
        with self.store.reading(self.namespace) as tx:
            return tuple(turn.turn_id for turn in tx.turns())

    def review(self, *, entity: str | None = None) -> tuple[tuple[MemoryItem, Decision], ...]:
        """What waits for a person, oldest first, each with the decision that wrote it: what is held, and what a release
        wrote that was rolled back (flag ``withdrawn_release``)."""
        from .released import WITHDRAWN, flagged

        with self.store.reading(self.namespace) as tx:
            held = [item for item in tx.items(entity=entity, history=True) if item.status == "held"]
            left = [item for item, _ in flagged(tx) if entity in (None, item.entity)]
            waits = (*held, *left)
            decided = {item.id: d for item in waits for d in tx.decisions_touching(item.id) if d.item == item.id}
            for item in left:
                if (wrote := decided.get(item.id)) is not None:
                    decided[item.id] = wrote.model_copy(update={"flags": (*wrote.flags, WITHDRAWN)})
            return tuple((item, decided[item.id]) for item in waits if item.id in decided)

    # ------------------------------------------------------------ accounting for it
    def explain(self, item_id: str, *, language: Tongue = "en") -> tuple[Explanation, ...]:
        """Every decision about an item, from the characters of the sentence to the rule that decided."""
        from .proof import explain_item

        return explain_item(self.store, self.namespace, self.ruleset, self.item(item_id).id, language)

    def why_not(self, turn_id: str, *, language: Tongue = "en") -> Explanation:
        """Why nothing, or not more, was remembered from a turn."""
        from .proof import explain_turn

        found = explain_turn(self.store, self.namespace, self.ruleset, turn_id, language)
        if found is None:
            raise NotFoundError("turn", turn_id)
        return found

    def verify(
        self, *, public_key: str | None = None, witness: Path | None = None, actors: Path | None = None
    ) -> Report:
        """Hash every record again; hold root, checkpoints, witness, private values and what is stored against it.

        ``public_key`` is a verifier line, PEM, or a file of either (default: the key beside the store, if any);
        ``witness`` a file of signed notes, ``actors`` a list of actors from outside. Nothing is made or changed.
        """
        from .actors import read_actors
        from .proof import verify_log
        from .signing import trust_for

        trust = trust_for(self.store, self.namespace, self.settings, public_key, witness)
        keys = None if actors is None else [each.key for each in read_actors(actors)]
        return verify_log(self.store, self.namespace, trust, self.ruleset, keys)

    def item(self, given: str) -> MemoryItem:
        """The newest version of an item by its id, or by the beginning of it that tables show."""
        with self.store.reading(self.namespace) as tx:
            item = tx.item(tx.item_id(given) or given)
        if item is None:
            raise NotFoundError("item", given)
        return item
