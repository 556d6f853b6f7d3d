"""Full text: short Chinese words, English words, ranking inside one tenant and entity, and real deletion."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordari.memory import Memory
from recordari.model import Decision, MemoryItem, Outcome, Turn
from recordari.rules.ruleset import Ruleset
from recordari.store.engine import Store
from recordari.store.search import Hit, index, newest, search, terms, unindex
from recordari.store.writing import Writing
from recordari.values import TextValue

NOW = datetime(2026, 3, 18, 10, tzinfo=UTC)


def keep(store: Store, *sentences: str, namespace: str = "a", entity: str = "client") -> None:
    with store.writing(namespace) as tx:
        for sentence in sentences:
            ordinal = tx.next_ordinal("c")
            at = NOW + timedelta(minutes=ordinal)
            turn = Turn(
                turn_id=f"t{ordinal}",
                text=sentence,
                said_at=at,
                received_at=at,
                entity=entity,
                ordinal=ordinal,
                conversation="c",
            )
            item = MemoryItem(
                id=f"{namespace}-{ordinal}",
                entity=entity,
                slot="note",
                value=TextValue(text=sentence),
                asserted_by="user",
                valid_from=at,
                said_at=at,
                recorded_at=at,
                sentence=sentence,
                turn_id=turn.turn_id,
            )
            decision = Decision(
                turn_id=turn.turn_id, turn=ordinal, ordinal=0, action="ADD", reason="stated", rule="p@1"
            )
            tx.write_turn(turn)
            tx.write_outcomes(turn, [Outcome(decision=decision, written=(item,))])


def found(store: Store, question: str, *, namespace: str = "a", entity: str | None = None) -> list[str]:
    with store.reading(namespace) as tx:
        return [hit.item.sentence for hit in tx.search(question, entity=entity)]


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    with Store.open(place) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("税", "增值税率为13%。"),
        ("预算", "营销预算为8万元。"),
        ("算", "营销预算为8万元。"),
        ("budget", "The IT Budget is 90,000 USD."),
        ("90000", "The IT Budget is 90,000 USD."),
        ("ＢＵＤＧＥＴ", "The IT Budget is 90,000 USD."),
        ("A股", "他买A股。"),
        ("O’Brien", "O’Brien is the witness."),
        ("𠮷", "𠮷野家"),
        ("营销预算是多少", "营销预算为8万元。"),
    ],
)
def test_a_word_of_the_sentence_finds_it(store: Store, question: str, sentence: str) -> None:
    keep(store, sentence, "Tea at four.")
    assert found(store, question) == [sentence]


@pytest.mark.parametrize("question", ["", "。，!", "利率", "bud", "9000", "deadline"])
def test_what_no_sentence_says_finds_nothing(store: Store, question: str) -> None:
    keep(store, "营销预算为8万元。", "The IT Budget is 90,000 USD.")
    assert found(store, question) == []


def test_a_word_outweighs_its_scattered_characters(store: Store) -> None:
    keep(store, "打算预先付款。", "研发预算为5万元。")
    assert found(store, "预算")[0] == "研发预算为5万元。"


def test_a_rare_word_outweighs_a_common_one(store: Store) -> None:
    keep(store, "The budget is 5.", "The budget is 6.", "The retainer is 7.", "The budget is 8.")
    assert found(store, "budget retainer")[0] == "The retainer is 7."


def test_of_equal_sentences_the_latest_comes_first(store: Store) -> None:
    keep(store, "Tea, please.", "Tea, please.")
    with store.reading("a") as tx:
        assert [hit.item.id for hit in tx.search("tea")] == ["a-1", "a-0"]


def test_other_tenants_and_entities_neither_show_nor_count(store: Store) -> None:
    keep(store, "The budget is 5.", "The retainer is 7.")
    with store.reading("a") as tx:
        alone: tuple[Hit, ...] = tx.search("budget", entity="client")
    keep(store, *["The budget is 9."] * 20, namespace="b")
    keep(store, *["The budget is 9."] * 20, entity="other")
    with store.reading("a") as tx:
        assert tx.search("budget", entity="client") == alone
    assert found(store, "budget", namespace="c") == []
    assert len(found(store, "budget", entity="other")) == 10


def test_many_superseded_items_do_not_hide_a_current_one(store: Store) -> None:
    keep(store, "The very long budget of the whole group is 1.", *["The budget is 5."] * 5)
    with store.writing("a") as tx:
        turn = tx.turn("t1")
        assert turn is not None
        for number in range(1, 6):
            item = tx.item(f"a-{number}")
            assert item is not None
            tx.write_items(turn, [item.model_copy(update={"version": 2, "status": "superseded"})], decision=0)
    with store.reading("a") as tx:
        hits = tx.search("budget", limit=2)
    assert [hit.item.sentence for hit in hits] == ["The very long budget of the whole group is 1."]


def test_superseded_items_are_found_only_in_history(store: Store) -> None:
    keep(store, "The budget is 5.")
    with store.writing("a") as tx:
        turn = Turn(turn_id="x", text="…", said_at=NOW, received_at=NOW, entity="client", ordinal=1, conversation="c")
        item = tx.item("a-0")
        assert item is not None
        gone = item.model_copy(update={"version": 2, "status": "superseded", "superseded_at": NOW, "valid_to": NOW})
        tx.write_turn(turn)
        tx.write_items(turn, [gone])
    assert found(store, "budget") == []
    with store.reading("a") as tx:
        assert [hit.item.version for hit in tx.search("budget", history=True)] == [2]


def test_a_new_wording_is_found_and_the_old_one_no_more(store: Store) -> None:
    keep(store, "Mr Li drinks rooibos.")
    with store.writing("a") as tx:
        turn, item = tx.turn("t0"), tx.item("a-0")
        assert turn is not None
        assert item is not None
        worded = item.model_copy(update={"version": 2, "sentence": "Mr Li likes oolong.", "value": TextValue(text="x")})
        tx.write_wording(turn, worded)
        assert tx.receipt("t0").items == (item,)
        assert len(tx.decisions_touching("a-0")) == 1
    assert found(store, "oolong") == ["Mr Li likes oolong."]
    assert found(store, "green") == []
    assert found(store, "li") == ["Mr Li likes oolong."]


def test_what_is_taken_out_is_found_no_more(store: Store) -> None:
    keep(store, "The budget is 5.", "The budget is 6.")
    with store.writing("a") as tx:
        unindex(tx.connection, "a", "client", numbered(tx, "a-0"))
    assert found(store, "budget") == ["The budget is 6."]


def numbered(tx: Writing, item_id: str) -> list[tuple[int, MemoryItem]]:
    """The versions of an item under its number."""
    return [(tx.ordinals((item_id,))[item_id], each) for each in tx.versions(item_id)]


def test_an_item_that_was_indexed_in_other_words_is_taken_out_as_well(store: Store) -> None:
    keep(store, "The budget is 5.", "The budget is 6.")
    with store.writing("a") as tx:
        (first,) = numbered(tx, "a-0")
        number, item = first
        unindex(tx.connection, "a", "client", [first])
        other = item.model_copy(update={"sentence": "Left by a release that wrote zebra."})
        index(lambda insert, rows: insert.run(tx.connection, rows), "a", [(number, other)])
    assert found(store, "zebra") == ["The budget is 5."]
    with store.writing("a") as tx:
        unindex(tx.connection, "a", "client", [(number, item)])
        left = tx.connection.exec_driver_sql("SELECT term, ordinal FROM search_terms ORDER BY ordinal, term").all()
        texts = tx.connection.exec_driver_sql("SELECT ordinal FROM search_texts").all()
    assert found(store, "zebra") == []
    assert found(store, "budget") == ["The budget is 6."]
    assert {each for _, each in left} == {each for (each,) in texts} == {2}


def test_what_is_taken_out_leaves_no_words_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Store.open(path) as store:
        keep(store, "Xylophone lessons.")
        with store.writing("a") as tx:
            unindex(tx.connection, "a", "client", numbered(tx, "a-0"))
            for table in ("items", "turns"):
                tx.connection.exec_driver_sql(f"UPDATE {table} SET body = '{{}}'")
            tx.connection.exec_driver_sql("UPDATE turns SET text = NULL")
        with store._engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    assert b"xylophone" not in path.read_bytes().lower()


def test_the_words_that_matched_are_named(store: Store) -> None:
    keep(store, "营销预算为8万元。")
    with store.reading("a") as tx:
        (hit,) = tx.search("预算 deadline")
        assert set(hit.words) == {"预算", "预", "算"}
        assert hit.score > 0


def test_chinese_is_indexed_by_characters_and_pairs() -> None:
    assert terms("预算表 Budget 3,000") == ["预", "算", "表", "预算", "算表", "budget", "3000"]


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=40))
def test_each_chinese_character_is_a_term_once(text: str) -> None:
    characters = [term for term in terms(text) if len(term) == 1 and "\u4e00" <= term <= "\u9fff"]
    folded = unicodedata.normalize("NFKC", text).casefold()
    assert len(characters) == sum("\u4e00" <= char <= "\u9fff" for char in folded)


def test_what_is_not_kept_takes_no_place(store: Store) -> None:
    keep(store, *["The budget is 5."] * 5, "Of old the budget was 4.")
    with store.reading("a") as tx:
        found = search(tx.connection, "a", "budget", limit=2, keep=lambda item: item.sentence.startswith("Of old"))
    assert [hit.item.sentence for hit in found] == ["Of old the budget was 4."]


def test_what_is_restricted_takes_no_place_and_no_more_is_read_for_it(
    place: str, ruleset: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []

    def counted(*given: Any, **named: Any) -> Any:
        read.append(len(given[2]))
        return newest(*given, **named)

    monkeypatch.setattr("recordari.store.search.newest", counted)
    with Memory.open(place, ruleset=ruleset, ner=False) as memory:
        for number, label in enumerate(("legal", "travel", "audit", "training", "cleaning", "catering")):
            said, talk = f"The {label} budget is $5,000.", "a" if number < 4 else "b"
            memory.observe(said, said_at=NOW + timedelta(minutes=number), conversation=talk)
        memory.restrict("conversation", "b", ground="gdpr-18", actor="dpo")
        with memory.store.reading(memory.namespace) as tx:
            found = tx.search("budget", limit=2)
        assert [hit.item.qualifier for hit in found] == ["training", "audit"]
        assert sum(read) == 4
