"""What a verification says: findings, what was erased on which ground, what was counted, what was not checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

Wrong = Callable[[int, str, str], None]
"""Notes a finding: number of the record (-1: the log as a whole), code, message."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing that is wrong, and where; ``seq`` is -1 when it concerns the log as a whole."""

    seq: int
    code: str
    message: str

    def __str__(self) -> str:
        place = f"record {self.seq}" if self.seq >= 0 else "log"
        return f"{place}: {self.message} [{self.code}]"


@dataclass(frozen=True, slots=True)
class Erased:
    """A personal value that is gone, and the decision that let it go."""

    seq: int
    name: str
    by: int
    ground: str

    def __str__(self) -> str:
        return f"record {self.seq}: {self.name} was erased by decision {self.by} on ground {self.ground}"


@dataclass(frozen=True, slots=True)
class Report:
    """What verification found. ``counts`` says how much was checked, ``remarks`` what could not be, ``signed``
    how many records, from the first on, a checkpoint with a good signature covers, ``grounds`` which rule sets and
    runtimes decisions name, each with the first that does."""

    namespace: str
    size: int
    root: bytes
    findings: tuple[Finding, ...] = ()
    erased: tuple[Erased, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    signed: int = 0
    grounds: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """True when nothing is wrong."""
        return not self.findings

    @property
    def unsigned(self) -> str:
        """Which records no checkpoint covers, as ``41..44``; empty when all are covered."""
        return stretch(self.signed, self.size)

    def fields(self) -> dict[str, Any]:
        """The report for programs."""
        return {
            "ok": self.ok, "namespace": self.namespace, "size": self.size, "root": self.root.hex(),
            "signed": self.signed, "findings": [asdict(each) for each in self.findings],
            "erased": [asdict(each) for each in self.erased], "remarks": list(self.remarks),
            "counts": dict(self.counts), "lines": self.lines(),
        }  # fmt: skip

    def lines(self) -> list[str]:
        """The report for people."""
        head = f"log {self.namespace}: {self.size} records, root {self.root.hex()}"
        counted = ", ".join(f"{number} {name}" for name, number in sorted(self.counts.items()))
        verdict = "verified" if self.ok else f"{len(self.findings)} findings"
        if self.unsigned:
            covered = f"{self.signed} of {self.size} records are signed"
            verdict += f"; {covered}, records {self.unsigned} are not covered by any checkpoint"
        return [
            head,
            f"checked: {counted or 'nothing'}",
            *map(str, self.erased),
            *(f"remark: {remark}" for remark in self.remarks),
            *(f"wrong: {finding}" for finding in self.findings),
            verdict,
        ]


def stretch(first: int, stop: int) -> str:
    """Numbers of records as an auditor writes them: ``41..44``."""
    if stop <= first:
        return ""
    return f"{first}" if stop == first + 1 else f"{first}..{stop - 1}"


def joined(parts: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stretches that touch as one, in order."""
    found: list[tuple[int, int]] = []
    for first, stop in sorted(parts):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(stop, found[-1][1]))
        else:
            found.append((first, stop))
    return found
