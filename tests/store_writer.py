"""A process that writes turns to a store: ``store_writer.py PLACE TURNS CLIENTS NUMBER``. Each adds one to a budget."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from recordari.audit.ledger import Ledger
from recordari.audit.record import decision_entry
from recordari.model import Bound, Candidate, Decision, Outcome, SlotTraits, Turn, Verdict
from recordari.store.engine import Store
from recordari.store.items import reconcile
from recordari.values import MoneyValue


def main(place: str, turns: int, clients: int, number: int) -> None:
    store, ledger, slot = Store.open(place, busy_timeout=120), Ledger(), SlotTraits(slot="budget")
    for count in range(turns):
        entity = f"client-{count % clients}"
        with store.writing("ns") as tx:
            # Time moves with the place in the shared conversation: what comes later was said later.
            ordinal = tx.next_ordinal(entity)
            at = datetime(2026, 3, 18, tzinfo=UTC) + timedelta(minutes=ordinal)
            turn = Turn(
                turn_id=f"{number}-{count}",
                text="再加一元",
                said_at=at,
                received_at=at,
                entity=entity,
                conversation=entity,
                ordinal=ordinal,
            )
            known = tx.known(entity, entity, at=at)
            live = known.live()
            assert len(live) <= 1, live
            before = int(live[0].canonical.split()[0]) if live else 0
            value = MoneyValue(amount=Decimal(before + 1), currency="CNY")
            bound = Bound(
                candidate=Candidate(act="change", start=0, end=4, rule="budget@1", language="zh"),
                slot="budget",
                entity=entity,
                value=value,
                target=live[0].id if live else None,
            )
            verdict = Verdict(action="SUPERSEDE" if live else "ADD", reason="adjusted", rule="p@1")
            written, _ = reconcile(known, bound, verdict, turn, f"i{number}-{count}", f"{before + 1}", slot)
            decision = Decision(
                turn_id=turn.turn_id,
                turn=ordinal,
                ordinal=0,
                action=verdict.action,
                reason=verdict.reason,
                rule=verdict.rule,
                slot="budget",
                kind="money",
                item=written[-1].id,
            )
            tx.write_turn(turn)
            rows = ledger.append(tx.log, "ns", [decision_entry(decision, written)], recorded_at=at)
            tx.write_outcomes(turn, [Outcome(decision=decision, written=written)], seqs=[rows[0].seq])
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))
