"""The read-back test: whether the question that a user would ask finds what was written, and why when it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..model import MemoryItem
from .question import QuestionBook, QuestionError
from .rank import Recalled

Answer = Callable[[str, str], Recalled]  # a question, and the entity it is about
Indexed = Callable[[MemoryItem], bool]  # whether full text finds an item by its own sentence
TOP = 3
LOOKED_AT = 50  # hits among which an item that is outranked is still looked for


@dataclass(frozen=True, slots=True)
class ReadBack:
    """One question about one item; ``place`` is the item's place in the answer, None when it is not in it."""

    item: MemoryItem
    question: str
    place: int | None
    why: str = ""  # outranked by …, filtered: …, not indexed, not found, or unreadable: …
    superseded: tuple[str, ...] = ()  # items in the answer that no longer hold

    @property
    def found(self) -> bool:
        """Whether it stands among the first three places."""
        return self.place is not None and self.place <= TOP


def questions_of(item: MemoryItem, book: QuestionBook) -> list[str]:
    """The template questions of an item's slot in its language, each with its label."""
    slot = book.ruleset.slots.get(item.slot.removeprefix("reported."))
    if slot is None:
        return []
    templates = slot.asked_as.zh if item.language == "zh" else slot.asked_as.en
    if not item.qualifier:
        return list(templates)
    label = book.ruleset.label(item.qualifier, item.language)
    form = book.say.get(f"ask.{item.language}", "{qualifier} {question}")
    return [form.format(qualifier=label, question=template) for template in templates]


def read_back(items: Iterable[MemoryItem], book: QuestionBook, answer: Answer, indexed: Indexed) -> list[ReadBack]:
    """Ask for every item by every template question. Values side by side at one place share its place in the answer:
    who asks what somebody likes is answered by all of it."""
    return [_asked(item, question, answer, indexed) for item in items for question in questions_of(item, book)]


def _asked(item: MemoryItem, question: str, ask: Answer, indexed: Indexed) -> ReadBack:
    try:
        answer = ask(question, item.entity)
    except QuestionError as unreadable:  # a label may look like a time: it is told, and the write stands
        return ReadBack(item, question, None, f"unreadable: {unreadable}")
    order: dict[tuple[str, str, str], int] = {}
    here: int | None = None
    before: list[str] = []
    for hit in answer.hits:
        place = order.setdefault(hit.item.place, len(order) + 1)
        if hit.item.id == item.id:
            here = place
            break
        before.append(f"{hit.item.slot} {hit.item.qualifier}".strip())
    old = tuple(hit.item.id for hit in answer.hits if hit.item.status not in {"current", "scheduled"})
    if here is not None and here <= TOP:
        return ReadBack(item, question, here, superseded=old)
    if here is not None:
        return ReadBack(item, question, here, f"outranked by {'; '.join(dict.fromkeys(before))}", old)
    if not indexed(item):
        return ReadBack(item, question, None, "not indexed: `recordari audit reindex` builds the index again", old)
    if answer.left_out:
        return ReadBack(item, question, None, f"filtered: {', '.join(sorted(answer.left_out))}", old)
    return ReadBack(item, question, None, "not found: no route proposes it", old)
