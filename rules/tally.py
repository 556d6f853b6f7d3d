"""What a back-test came to: counts by slot and by rule, labels mended and broken, and every difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from .backtest import Difference, Rehearsed, place_of
from .compare import Comparison, comparison_fields, comparison_lines

COUNTS = ("identical", "added", "removed", "changed", "mended", "broken")


@dataclass
class Tally:
    """The sum of what dialogues came to, in the order in which they are added."""

    comparison: Comparison
    corpus: str
    dialogues: int = 0
    turns: int = 0
    total: Counter[str] = field(default_factory=Counter)
    following: int = 0
    labelled: int = 0
    right_before: int = 0
    right_after: int = 0
    by_slot: dict[str, Counter[str]] = field(default_factory=dict)
    by_rule: dict[str, Counter[str]] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)

    def add(self, one: Rehearsed) -> None:
        """Take in one dialogue."""
        self.dialogues += 1
        self.turns += one.turns
        self.labelled += one.labelled
        self.right_before += one.right_before
        self.right_after += one.right_after
        for (slot, rule), number in one.identical.items():
            self.total["identical"] += number
            self._count([slot], [rule], "identical", number)
        for each in one.differences:
            self.following += each.follows
            places = [place_of(decision) for decision in (each.before, each.after) if decision is not None]
            for what in filter(None, (each.what, mark_of(each))):
                self.total[what] += 1
                # What moved from one slot to another has changed in both.
                self._count({slot for slot, _ in places}, {rule for _, rule in places}, what)
        self.differences += one.differences

    def _count(self, slots: Iterable[str], rules: Iterable[str], what: str, number: int = 1) -> None:
        for slot in slots:
            self.by_slot.setdefault(slot, Counter())[what] += number
        for rule in rules:
            self.by_rule.setdefault(rule, Counter())[what] += number

    def fields(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "from": self.comparison.before, "to": self.comparison.after, "corpus": self.corpus,
            "rules_changed": comparison_fields(self.comparison)["changes"],
            "dialogues": self.dialogues, "turns": self.turns,
            "decisions": {name: self.total[name] for name in COUNTS} | {"following": self.following},
            "labels": {
                "labelled": self.labelled, "right_before": self.right_before, "right_after": self.right_after,
            },
            "slots": [{"slot": name} | counts for name, counts in _listed(self.by_slot)],
            "rules": [{"rule": name} | counts for name, counts in _listed(self.by_rule)],
            "differences": [asdict(each) | {"mark": mark_of(each)} for each in self.differences],
        }  # fmt: skip


def _listed(table: Mapping[str, Counter[str]]) -> Iterator[tuple[str, dict[str, int]]]:
    """Rows by how much differs, then by name."""
    differ = {name: sum(counts[what] for what in COUNTS[1:4]) for name, counts in table.items()}
    for name in sorted(table, key=lambda name: (-differ[name], name)):
        yield name, {what: table[name][what] for what in COUNTS}


def mark_of(one: Difference) -> str | None:
    """``mended`` or ``broken`` by the labels; None where both are right, both wrong, or nobody has said."""
    if one.right_before is None or one.right_after is None or one.right_before == one.right_after:
        return None
    return "mended" if one.right_after else "broken"


def rehearsed_fields(one: Rehearsed) -> dict[str, Any]:
    """One dialogue as JSON data, to be kept between runs."""
    data = asdict(one)
    return data | {"identical": [[*place, number] for place, number in one.identical.items()]}


def read_rehearsed(data: Mapping[str, Any]) -> Rehearsed:
    """What ``rehearsed_fields`` gave; KeyError or TypeError for anything else."""
    given = {each.name: data[each.name] for each in fields(Rehearsed)}
    given["identical"] = {(slot, rule): number for slot, rule, number in data["identical"]}
    given["differences"] = [
        Difference(**{**each, "fields": tuple(each["fields"])}) for each in data["differences"]
    ]  # fmt: skip
    return Rehearsed(**given)


# ---------------------------------------------------------------- for people
def tally_lines(tally: Tally, examples: int) -> Iterator[str]:
    """Rules that changed, totals, a table by slot and one by rule, and some differences in words."""
    yield from comparison_lines(tally.comparison)
    yield ""
    yield f"{tally.dialogues} dialogues, {tally.turns} turns, corpus {tally.corpus[:12]}"
    said = ", ".join(f"{tally.total[name]} {name}" for name in COUNTS[:4])
    yield f"decisions: {said}" + (f"; {tally.following} after memories had parted" if tally.following else "")
    if tally.labelled:
        yield (
            f"labels: {tally.labelled}, right {tally.right_before} -> {tally.right_after}; "
            f"of the differences {tally.total['mended']} mended, {tally.total['broken']} broken"
        )
    for title, table in (("slot", tally.by_slot), ("rule", tally.by_rule)):
        yield ""
        yield from _table(title, [row for row in _listed(table) if sum(row[1][what] for what in COUNTS[1:4])])
    if tally.differences:
        yield ""
    for each in tally.differences[:examples]:
        yield from difference_lines(each)
    if len(tally.differences) > examples:
        yield f"{len(tally.differences) - examples} more: --examples, --json or --html shows them"


def _table(title: str, rows: Iterable[tuple[str, Mapping[str, int]]]) -> Iterator[str]:
    listed = list(rows)
    width = max([len(title), *(len(name) for name, _ in listed)])
    yield f"{title:<{width}}  " + "  ".join(f"{name:>9}" for name in COUNTS)
    for name, counts in listed:
        yield f"{name:<{width}}  " + "  ".join(f"{counts[what]:>9}" for what in COUNTS)


def difference_lines(one: Difference) -> Iterator[str]:
    """One difference: where, what was said, and the decision of either side."""
    mark = f", {mark_of(one)}" if mark_of(one) else ""
    yield f"{one.what}{', follows' if one.follows else ''}{mark}: {one.dialogue}, turn {one.turn}: {one.text!r}"
    for sign, decision, right in (("-", one.before, one.right_before), ("+", one.after, one.right_after)):
        if decision is not None:
            label = "" if right is None else " [right]" if right else " [wrong]"
            yield f"  {sign} {decision_line(decision)}{label}"


def decision_line(decision: Mapping[str, Any]) -> str:
    """A decision in one line: what is done where, why, by which rules."""
    place = decision["slot"] or "no slot"
    label = f"[{decision['qualifier']}]" if decision["qualifier"] else ""
    denied = " (negated)" if decision["polarity"] == "negated" else ""
    replaces = f", was {decision['replaces']}" if decision["replaces"] else ""
    rules = " ".join(dict.fromkeys(filter(None, (decision["capture"], decision["rule"]))))
    return (
        f"{decision['action']} {decision['reason']}: {place}{label} {decision['canonical'] or 'no value'}{denied}"
        f"{replaces} ({rules})"
    )
