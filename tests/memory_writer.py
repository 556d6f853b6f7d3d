"""A process that corrects one budget per client: ``memory_writer.py PLACE TURNS CLIENTS NUMBER OF``."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta

from recordari.memory import Memory


def main(place: str, turns: int, clients: int, number: int, of: int) -> None:
    with Memory.open(place, ner=False) as memory:
        for count in range(turns):
            said = datetime(2026, 3, 18, tzinfo=UTC) + timedelta(seconds=count * of + number)
            memory.observe(
                f"营销预算改成{1000 + count * of + number}元",
                said_at=said,
                entity=f"client-{count % clients}",
                conversation=f"talk-{number}-{count % clients}",
                turn_id=f"{number}-{count}",
            )


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:6]))
