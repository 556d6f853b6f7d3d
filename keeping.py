"""What stays and what goes: erasing, holds, restrictions, pins, sweeps of what has been kept long enough."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .reader import Reader

if TYPE_CHECKING:
    from .erasure.erasing import Erased, House
    from .erasure.sweeping import Swept
    from .store.standing import Mark, On
    from .trust.signing import Signer


class Keeping(Reader):
    """A stored memory of which things can be destroyed, kept from being destroyed, and hidden."""

    signer: Signer | None = None

    def erase(
        self, *items: str, entity: str | None = None, slot: str | None = None, qualifier: str | None = None,
        conversation: str | None = None, ground: str, actor: str, dry_run: bool = False, at: datetime | None = None,
    ) -> Erased:  # fmt: skip
        """Destroy items, all about an entity (with ``slot``: one field of it) or a conversation; ``dry_run`` only says
        what would go. ErasureError without ground and actor, OnHold when a legal hold forbids it."""
        from .erasure.erasing import Target, erase, preview

        target = Target(items, entity, slot, qualifier, conversation)
        return preview(self._house(), target) if dry_run else erase(
            self._house(), target, ground=ground, actor=actor, now=at
        )  # fmt: skip

    def certificate(self, record: int) -> dict[str, Any]:
        """What proves an erasure to others, by the number of its record: ids, no values; ErasureError for another."""
        from .erasure.certificates import certificate

        return certificate(self._house(), record)

    def reapply(self, certificates: Iterable[str], *, actor: str, public_key: str | None = None) -> list[Erased]:
        """After a restore: erase again what certificates (JSON) name. CertificateError when one does not prove itself
        under the key of the log, and then nothing is erased."""
        from .erasure.certificates import keys_of, read_certificate, reapply

        keys = keys_of(self._house(), public_key)
        proven = [read_certificate(each, self.namespace, keys) for each in certificates]
        return reapply(self._house(), proven, actor=actor)

    def hold(self, on: On, target: str, *, ground: str, actor: str) -> int:
        """Keep an item, an entity or a conversation from being erased or swept; the number to release it by."""
        return self._mark("hold_legal", on, target, ground, actor)

    def restrict(self, on: On, target: str, *, ground: str, actor: str) -> int:
        """Keep what is stored about it from being answered and used (GDPR 18); the number to release it by."""
        return self._mark("restrict", on, target, ground, actor)

    def release(self, kind: Mark, number: int, *, ground: str, actor: str) -> int:
        """End a hold (``hold_legal``), a restriction (``restrict``) or a pin by its number."""
        from .erasure.erasing import lift

        return lift(self._house(), kind, number, ground=ground, actor=actor)

    def pin(self, item: str, *, actor: str, ground: str = "pinned") -> int:
        """Keep an item from being forgotten, though not from being erased or swept; the number of the record."""
        return self._mark("pin", "item", item, ground, actor)

    def unpin(self, item: str, *, actor: str, ground: str = "unpinned") -> int:
        """Let an item be forgotten again; the number of the record. ErasureError when it is not pinned."""
        from .erasure.erasing import ErasureError
        from .store.standing import in_force

        named = self.item(item).id
        with self.store.reading(self.namespace) as tx:
            pins = [each.seq for each in in_force(tx.log, "pin") if each.target == named]
        if not pins:
            raise ErasureError(f"item {named!r} is not pinned")
        return [self.release("pin", each, ground=ground, actor=actor) for each in pins][-1]

    def sweep(
        self, *, at: datetime, limit: int = 1000, actor: str | None = None, dry_run: bool = False
    ) -> list[Swept]:  # fmt: skip
        """Erase what has been kept as long as its retention class says, at most ``limit`` things of each class."""
        from .erasure.sweeping import sweep

        return sweep(self._house(), self.ruleset, at=at, limit=limit, actor=actor, dry_run=dry_run)

    def reindex(self) -> int:
        """Build the search indexes again from what is remembered and was said; returns how many items there are."""
        from .rules.edges import edges

        with self.store.writing(self.namespace) as tx:
            return tx.reindex(edges(self.ruleset))

    def catch_up(self) -> None:
        """Fill the indexes that a newer version has brought, once, before anything is asked of them."""
        from .store.outbox import REINDEX

        with self.store.reading(self.namespace) as tx:
            due = tx.outbox.waits(REINDEX)
        if due:
            self.reindex()

    def _mark(self, kind: Mark, on: On, target: str, ground: str, actor: str) -> int:
        from .erasure.erasing import mark

        return mark(self._house(), kind, on, target, ground=ground, actor=actor)

    def _house(self) -> House:
        from .erasure.erasing import House

        return House(self.store, self.namespace, self.settings, self.signer)
