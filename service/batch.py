"""The JSONL commands: extract, rehearse and observe, as docs/formats.md describes them."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..intake import Incoming, IntakeError, check_text, fault, read_request, read_turn
from ..model import Cue, Decision, MemoryItem, Mention, Receipt, Scan
from ..store.errors import StoreError
from .streams import Lines, each, emit, opened

if TYPE_CHECKING:
    from ..memory import Memory

Engine = Literal["durable", "reference"] | None
LONGEST_ID = 200  # characters; an id becomes the name of a conversation
GROUP = 256  # turns in one commit of `observe`: a crash repeats half a second's work, and one fsync is shared by many


# ---------------------------------------------------------------- shapes
def mention_fields(mention: Mention) -> dict[str, Any]:
    """A mention as `extract` prints it: kind first, value complete with its null fields."""
    return {
        "kind": mention.kind, "start": mention.start, "end": mention.end, "text": mention.text,
        "value": mention.value.model_dump(mode="json"), "canonical": mention.canonical, "rule": mention.rule,
    }  # fmt: skip


def cue_fields(cue: Cue) -> dict[str, Any]:
    """A cue as `extract` prints it."""
    fields: dict[str, Any] = {
        "kind": cue.kind, "start": cue.start, "end": cue.end, "text": cue.text, "rule": cue.rule,
        "covers": list(cue.covers),
    }  # fmt: skip
    if cue.reparandum is not None and cue.repair is not None:
        fields |= {"reparandum": list(cue.reparandum), "repair": list(cue.repair)}
    return fields


def scan_fields(id_: str, scan: Scan) -> dict[str, Any]:
    """One line of `extract`."""
    return {
        "id": id_,
        "mentions": [mention_fields(one) for one in scan.mentions],
        "cues": [cue_fields(one) for one in scan.cues],
    }


def decision_fields(decision: Decision) -> dict[str, Any]:
    """A decision as `rehearse` prints it."""
    return {
        "turn": decision.turn, "action": decision.action, "reason": decision.reason, "rule": decision.rule,
        "item": decision.item, "slot": decision.slot, "canonical": decision.canonical, "flags": list(decision.flags),
    }  # fmt: skip


def item_fields(item: MemoryItem) -> dict[str, Any]:
    """An item as `rehearse` and `items --json` print it."""
    return {
        "id": item.id, "entity": item.entity, "type": item.type, "slot": item.slot, "qualifier": item.qualifier,
        "kind": item.kind, "value": item.value.model_dump(mode="json"), "canonical": item.canonical,
        "polarity": item.polarity, "asserted_by": item.asserted_by, "status": item.status,
        "valid_from": item.valid_from.isoformat() if item.valid_from else None,
        "valid_to": item.valid_to.isoformat() if item.valid_to else None,
        "sentence": item.sentence, "surface": item.surface,
        "source": {"turn": item.turn, "start": item.start, "end": item.end},
    }  # fmt: skip


# ---------------------------------------------------------------- extract
def extract_lines(path: str, folders: Sequence[Path], *, packs: bool, ner: bool) -> int:
    """Texts in, mentions and cues out."""
    from ..extractors.scan import scan
    from ..rules.load import load
    from ..settings import Settings

    extraction = load(folders, packs=packs).extraction
    limit = Settings().max_turn_chars

    def one(data: Any, lines: Lines) -> None:
        try:
            request = read_request(data, limit)
            found = scan(
                request.text, extraction, said_at=request.moment(), lang=request.lang, timezone=request.timezone,
                locale=request.locale, ner=ner,
            )  # fmt: skip
        except IntakeError as error:
            lines.report(lines.number, str(error))
        except Exception as error:  # one line that trips a fault of ours must not cost the others
            lines.report(lines.number, fault(error))
        else:
            emit(scan_fields(request.id, found))

    return 1 if each(path, one).bad else 0


# ---------------------------------------------------------------- rehearse
def rehearse_lines(path: str, folders: Sequence[Path], *, packs: bool, ner: bool, engine: Engine) -> int:
    """Dialogues in, decisions and items out."""
    from ..memory import Memory
    from ..settings import Settings

    limit = Settings().max_turn_chars
    memory = Memory.rehearsal(rules=folders, packs=packs, ner=ner, engine=engine)

    def one(data: Any, lines: Lines) -> None:
        try:
            id_, turns = dialogue(data, limit)
        except IntakeError as error:
            lines.report(lines.number, str(error))
            return
        try:
            decisions, items = memory.rehearse(turns)
        except Exception as error:  # one dialogue that trips a fault of ours must not cost the others
            lines.report(lines.number, fault(error))
            return
        emit(
            {
                "id": id_,
                "decisions": [decision_fields(decision) for decision in decisions],
                "items": [item_fields(item) for item in items],
            }
        )

    return 1 if each(path, one).bad else 0


def dialogue(data: Any, limit: int) -> tuple[str, list[Incoming]]:
    """The id and the turns of one `rehearse` line; every bad turn is named in the error."""
    if not isinstance(data, dict) or not isinstance(data.get("turns"), list) or not isinstance(data.get("id"), str):
        raise IntakeError('a dialogue is {"id": text, "turns": [turn, …]}')
    if extra := sorted(set(data) - {"id", "turns"}):
        raise IntakeError(f"unknown field {extra[0]!r}. Remove it or check its spelling")
    turns: list[Incoming] = []
    wrong: list[str] = []
    try:
        check_text(data["id"], LONGEST_ID)
    except ValueError as error:
        wrong.append(f"id: {error}")
    for index, turn in enumerate(data["turns"]):
        try:
            turns.append(read_turn(turn, limit))
        except IntakeError as error:
            wrong.append(f"turns.{index}: {error}")
    if wrong:
        raise IntakeError("; ".join(wrong))
    return data["id"], turns


# ---------------------------------------------------------------- observe
def observe_lines(path: str, memory: Memory) -> int:
    """Remember a dialogue; a receipt line is printed for each turn after the commit that holds it."""
    with opened(path) as (stream, name):
        lines = Lines(name)
        with _shown(path if stream is not sys.stdin.buffer else None) as advance:
            for group in _groups(_incoming(lines, stream, memory.settings.max_turn_chars)):
                for number, receipt in _taken(memory, group, lines):
                    fields: dict[str, Any] = {
                        "line": number, "turn_id": receipt.turn_id, "repeated": receipt.repeated,
                        "decisions": [decision_fields(decision) for decision in receipt.decisions],
                    }  # fmt: skip
                    if memory.settings.readback:
                        fields["unread"] = list(receipt.unread)
                    emit(fields)
                sys.stdout.flush()
                advance(len(group))
                if len(group) == GROUP and not gc.get_freeze_count():
                    # What is compiled by now stays. Looking through it again and again for garbage would halt turns for
                    # a tenth of a second, and more often while a release is made ready.
                    gc.collect()
                    gc.freeze()
        return 1 if lines.bad else 0


@contextmanager
def _shown(path: str | None) -> Iterator[Callable[[int], object]]:
    """A progress bar for people, over the lines of a file when it is one; nobody else pays for loading it."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*Progress.get_default_columns(), *columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("observe", total=None if path is None else _count(path))
        yield lambda done: bar.advance(task, done)


def _taken(memory: Memory, group: list[tuple[int, Incoming]], lines: Lines) -> Iterator[tuple[int, Receipt]]:
    """The receipts of a group. Where a turn trips a fault of ours nothing of the group was kept: each goes alone."""
    told: list[tuple[int, str]] = []
    try:
        receipts = memory.observe_group(group, lambda number, message: told.append((number, message)))
    except StoreError:
        raise
    except Exception as error:
        if len(group) == 1:
            lines.report(group[0][0], fault(error))
            return
        for one in group:
            yield from _taken(memory, [one], lines)
        return
    for number, message in told:
        lines.report(number, message)
    yield from receipts


def _count(path: str) -> int:
    with Path(path).open("rb") as stream:
        return sum(1 for line in stream if line.strip())


def _incoming(lines: Lines, stream: Any, limit: int) -> Iterator[tuple[int, Incoming]]:
    """(line number, turn) of each good turn; a line may be one turn or a `rehearse` dialogue."""
    for data in lines.read(stream):
        if isinstance(data, dict) and "turns" in data:
            try:
                id_, turns = dialogue(data, limit)
            except IntakeError as error:
                lines.report(lines.number, str(error))
                continue
            # A dialogue without conversation names is one conversation, named by its id.
            for turn in turns:
                plain = turn.conversation == "default"
                yield lines.number, turn.model_copy(update={"conversation": id_}) if plain else turn
        else:
            try:
                yield lines.number, read_turn(data, limit)
            except IntakeError as error:
                lines.report(lines.number, str(error))


def _groups(turns: Iterator[tuple[int, Incoming]]) -> Iterator[list[tuple[int, Incoming]]]:
    group: list[tuple[int, Incoming]] = []
    for turn in turns:
        group.append(turn)
        if len(group) == GROUP:
            yield group
            group = []
    if group:
        yield group
