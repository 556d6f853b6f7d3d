"""Erasing: what goes is gone from every byte of the store, what stays is proved as before, and nothing is half done."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from recordari.audit.ledger import Ledger
from recordari.erasure.erasing import ErasureError, OnHold
from recordari.llm_polish.rewrite import Polished
from recordari.memory import Memory, NotFoundError
from recordari.rules.ruleset import Ruleset
from recordari.service.forgery import superuser
from recordari.settings import Settings
from recordari.store.errors import Stale
from recordari.trust.actors import ActorError, add_actor

GROUND = "gdpr-17-1-b"
ACTOR = "ines"
CLIENT = "郝思嘉"
SAID = (
    ("user", "我们的营销预算是83万元。"),
    ("user", "龙舌兰那边天气真好。"),
    ("assistant", "把营销预算改成97万元，可以吗？"),
    ("user", "可以"),
    ("assistant", "明天要不要再打个电话？"),
    ("user", "我的电话是13712348765。"),
    ("user", "我的电话是13712348765，邮箱是 haosijia@example.com"),
    ("user", "不对，电话是13998761234"),
)


def talk(
    memory: Memory, *, conversation: str = "c", entity: str = CLIENT, said: tuple[tuple[str, str], ...] = SAID
) -> None:
    for minute, (speaker, text) in enumerate(said):
        at = f"2026-03-18T10:{minute:02d}:00+08:00"
        more = {"conversation": conversation, "entity": entity, "turn_id": f"{conversation}-{minute}"}
        memory.observe(text, said_at=at, speaker=speaker, **more)


def found_in(folder: Path, *words: str) -> list[tuple[str, str]]:
    """Which words stand in which files, in UTF-8 or UTF-16."""
    kept = [(path.name, path.read_bytes()) for path in sorted(folder.rglob("*")) if path.is_file()]
    codes = ("utf-8", "utf-16-le", "utf-16-be")
    return [(name, word) for word in words for name, data in kept if any(word.encode(code) in data for code in codes)]


def item_in(memory: Memory, slot: str, value: str) -> str:
    return next(each.id for each in memory.items(history=True) if each.slot == slot and value in each.canonical)


def verified(memory: Memory) -> None:
    report = memory.verify()
    assert report.ok, report.lines()


# ---------------------------------------------------------------- what goes
def test_an_erased_item_is_gone_and_the_ledger_says_by_whom_and_why(memory: Memory) -> None:
    talk(memory)
    old, new = item_in(memory, "phone", "13712348765"), item_in(memory, "phone", "13998761234")
    done = memory.erase(old, ground=GROUND, actor=ACTOR)
    assert done.items == (old,)
    assert set(done.turns) == {"c-5", "c-6", "c-7"}  # where it was said, said again and taken back
    with pytest.raises(NotFoundError):
        memory.item(old)
    assert memory.item(new).canonical == "+8613998761234"
    assert "13712348765" not in str(memory.recall("13712348765"))
    report = memory.verify()
    assert report.ok, report.lines()
    assert {(each.by, each.ground) for each in report.erased} == {(done.record, GROUND)}


def test_what_was_said_beside_an_erased_item_stays(memory: Memory) -> None:
    talk(memory)
    memory.erase(item_in(memory, "phone", "13712348765"), ground=GROUND, actor=ACTOR)
    assert {each.slot for each in memory.items()} == {"budget", "email", "phone"}
    assert memory.recall("预算")
    assert [each.qualifier for each in memory.items(slot="budget")] == ["marketing"]


def test_erasing_an_entity_leaves_no_word_of_it(memory: Memory) -> None:
    talk(memory)
    talk(memory, conversation="d", entity="白瑞德", said=(("user", "我的电话是13512349876。"),))
    memory.erase(entity=CLIENT, ground=GROUND, actor=ACTOR)
    assert {each.entity for each in memory.items(history=True)} == {"白瑞德"}
    assert memory.recall("预算") == ()
    verified(memory)
    told = "\n".join(str(memory.why_not(f"c-{number}").lines()) for number in range(len(SAID)))
    assert not any(word in told for word in ("13712348765", "97", "龙舌兰", CLIENT))


def test_erasing_a_field_of_an_entity_leaves_its_other_fields(memory: Memory) -> None:
    talk(memory)
    memory.erase(entity=CLIENT, slot="phone", ground=GROUND, actor=ACTOR)
    assert {each.slot for each in memory.items(history=True)} == {"budget", "email"}
    verified(memory)


def test_erasing_a_conversation_leaves_the_others(memory: Memory) -> None:
    talk(memory)
    talk(memory, conversation="d", said=(("user", "我的邮箱是 hao@example.org"),))
    memory.erase(conversation="c", ground=GROUND, actor=ACTOR)
    assert [each.canonical for each in memory.items(history=True)] == ["hao@example.org"]
    verified(memory)


def test_a_suggestion_and_its_answer_go_with_the_item_that_came_of_them(memory: Memory) -> None:
    talk(memory)
    done = memory.erase(item_in(memory, "budget", "970000"), ground=GROUND, actor=ACTOR)
    assert {"c-2", "c-3"} <= set(done.turns)
    assert [each.canonical for each in memory.items(slot="budget", history=True)] == ["830000 CNY"]
    verified(memory)


def test_an_item_that_a_person_corrected_goes_with_the_correction(memory: Memory) -> None:
    talk(memory)
    before = memory.items(slot="budget")[0]
    memory.correct(before.id, "61万元", actor=ACTOR, seen_version=before.version)
    memory.erase(entity=CLIENT, slot="budget", ground=GROUND, actor=ACTOR)
    assert memory.items(slot="budget", history=True) == ()
    verified(memory)


# ---------------------------------------------------------------- every byte
def test_no_erased_word_is_left_in_any_file_of_the_store(tmp_path: Path, ruleset: Ruleset) -> None:
    words = (CLIENT, "13712348765", "haosijia", "龙舌兰", "83万", "97万", "970000 CNY", "830000 CNY")
    folder = tmp_path / "store"
    folder.mkdir()
    with Memory.open(folder / "m.db", ruleset=ruleset, ner=False) as memory:
        talk(memory)
        talk(memory, conversation="d", entity="白瑞德", said=(("user", "我的电话是13512349876。"),))
        assert {word for _, word in found_in(folder, *words)} == set(words)
        memory.erase(entity=CLIENT, ground=GROUND, actor=ACTOR)
        assert found_in(folder, *words) == []  # the file, its write-ahead log and what lies beside them
        assert {word for _, word in found_in(folder, "13512349876", "白瑞德")} == {"13512349876", "白瑞德"}
        verified(memory)
    assert found_in(folder, *words) == []


def test_a_reader_that_keeps_old_pages_alive_is_told_and_they_go_with_the_next_writer(
    tmp_path: Path, ruleset: Ruleset
) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    with Memory.open(folder / "m.db", ruleset=ruleset, ner=False) as memory:
        talk(memory)
        with Memory.open(folder / "m.db", ruleset=ruleset, ner=False, read_only=True) as other:
            with other.store.reading(other.namespace) as tx:
                assert tx.turn("c-5") is not None  # its snapshot stands
                done = memory.erase(entity=CLIENT, ground=GROUND, actor=ACTOR)
                assert not done.scrubbed
            assert found_in(folder, "龙舌兰")
    with Memory.open(folder / "m.db", ruleset=ruleset, ner=False):
        assert found_in(folder, "龙舌兰") == []


# ---------------------------------------------------------------- once, twice, not at all
def test_a_dry_run_says_what_would_go_and_changes_nothing(memory: Memory) -> None:
    talk(memory)
    before = memory.items(history=True)
    would = memory.erase(entity=CLIENT, ground=GROUND, actor=ACTOR, dry_run=True)
    assert would.record is None
    assert would.counts["items"] == len(before)
    assert memory.items(history=True) == before
    done = memory.erase(entity=CLIENT, ground=GROUND, actor=ACTOR)
    assert done.counts == would.counts


def test_erasing_twice_is_harmless(memory: Memory) -> None:
    talk(memory)
    memory.erase(entity=CLIENT, ground=GROUND, actor=ACTOR)
    size = memory.verify().size
    again = memory.erase(entity=CLIENT, ground=GROUND, actor=ACTOR)
    assert again.nothing
    assert again.record is None
    assert memory.verify().size == size


def test_an_erased_turn_that_is_sent_again_does_not_come_back(memory: Memory) -> None:
    talk(memory)
    memory.erase(entity=CLIENT, ground=GROUND, actor=ACTOR)
    talk(memory)
    assert memory.items(history=True) == ()
    verified(memory)


def test_after_an_erasure_new_things_are_remembered_as_before(memory: Memory) -> None:
    talk(memory)
    memory.erase(entity=CLIENT, ground=GROUND, actor=ACTOR)
    memory.observe("我的电话是13612340987。", said_at="2026-03-19T10:00:00+08:00", entity=CLIENT, conversation="e")
    assert [each.canonical for each in memory.items()] == ["+8613612340987"]
    memory.erase(entity=CLIENT, ground=GROUND, actor=ACTOR)
    assert memory.items(history=True) == ()
    verified(memory)


@pytest.mark.parametrize(
    "named",
    [{}, {"entity": "x", "conversation": "c"}, {"slot": "phone"}, {"entity": "x", "qualifier": "home"}],
)
def test_what_is_to_be_erased_must_be_clear(memory: Memory, named: dict[str, str]) -> None:
    talk(memory)
    with pytest.raises(ErasureError):
        memory.erase(**named, ground=GROUND, actor=ACTOR)  # type: ignore[arg-type]


def test_nothing_is_erased_without_a_ground(memory: Memory) -> None:
    talk(memory)
    with pytest.raises(ErasureError, match="ground"):
        memory.erase(entity=CLIENT, ground=" ", actor=ACTOR)
    assert memory.items()


# ---------------------------------------------------------------- holds
@pytest.mark.parametrize("on", ["item", "entity", "conversation"])
def test_a_hold_forbids_erasing_until_it_is_lifted(memory: Memory, on: str) -> None:
    talk(memory)
    old = item_in(memory, "phone", "13712348765")
    number = memory.hold(on, {"item": old, "entity": CLIENT, "conversation": "c"}[on], ground="case 7", actor=ACTOR)  # type: ignore[arg-type]
    for named in ({"entity": CLIENT}, {"conversation": "c"}, {"entity": CLIENT, "slot": "phone"}):
        with pytest.raises(OnHold, match=f"{number} .*case 7"):
            memory.erase(**named, ground=GROUND, actor=ACTOR)  # type: ignore[arg-type]
    with pytest.raises(OnHold):
        memory.erase(old, ground=GROUND, actor=ACTOR)
    assert memory.item(old)
    memory.release("hold_legal", number, ground="case closed", actor=ACTOR)
    memory.erase(old, ground=GROUND, actor=ACTOR)
    verified(memory)


def test_a_hold_on_something_else_forbids_nothing(memory: Memory) -> None:
    talk(memory)
    talk(memory, conversation="d", entity="白瑞德", said=(("user", "我的电话是13512349876。"),))
    memory.hold("entity", "白瑞德", ground="case 7", actor=ACTOR)
    memory.erase(entity=CLIENT, ground=GROUND, actor=ACTOR)
    assert {each.entity for each in memory.items(history=True)} == {"白瑞德"}


def test_a_hold_keeps_the_words_in_which_somebody_said_what_it_is_on(memory: Memory) -> None:
    talk(memory, said=(("user", "预算5万元，房租3000元"), ("user", "订金500元")))
    talk(memory, conversation="d", said=(("user", "预算是5万元"),))
    talk(memory, conversation="e", said=(("user", "白瑞德的电话是13512349876吗？"),))  # asked, and not remembered
    number = memory.hold("item", item_in(memory, "budget", "50000"), ground="case 7", actor=ACTOR)
    entity = memory.hold("entity", "白瑞德", ground="case 8", actor=ACTOR)
    rent, deposit = item_in(memory, "amount", "3000"), item_in(memory, "amount", "500 ")
    with pytest.raises(OnHold, match=f"{number} .*case 7"):
        memory.erase(rent, ground=GROUND, actor=ACTOR)
    with pytest.raises(OnHold, match=f"{number} .*case 7"):
        memory.erase(conversation="d", ground=GROUND, actor=ACTOR)
    with pytest.raises(OnHold, match=f"{entity} .*case 8"):
        memory.erase(conversation="e", ground=GROUND, actor=ACTOR)
    memory.erase(deposit, ground=GROUND, actor=ACTOR)  # nobody said the budget with it
    for each in (number, entity):
        memory.release("hold_legal", each, ground="case closed", actor=ACTOR)
    memory.erase(rent, ground=GROUND, actor=ACTOR)
    memory.erase(conversation="d", ground=GROUND, actor=ACTOR)
    memory.erase(conversation="e", ground=GROUND, actor=ACTOR)
    verified(memory)


def test_a_hold_that_is_not_there_cannot_be_lifted(memory: Memory) -> None:
    talk(memory)
    number = memory.hold("conversation", "c", ground="case 7", actor=ACTOR)
    with pytest.raises(ErasureError, match="in force"):
        memory.release("restrict", number, ground="over", actor=ACTOR)
    memory.release("hold_legal", number, ground="over", actor=ACTOR)
    with pytest.raises(ErasureError, match="in force"):
        memory.release("hold_legal", number, ground="over", actor=ACTOR)


# ---------------------------------------------------------------- restrictions
def test_what_is_restricted_stays_and_is_neither_answered_nor_used(memory: Memory) -> None:
    talk(memory)
    number = memory.restrict("entity", CLIENT, ground="gdpr-18-1-a", actor=ACTOR)
    assert memory.items() == ()
    assert memory.recall("预算") == ()
    said = memory.observe("预算再加两万", said_at="2026-03-18T11:00:00+08:00", conversation="c", entity=CLIENT)
    assert not said.items  # nothing is known to add to
    verified(memory)
    memory.release("restrict", number, ground="accuracy confirmed", actor=ACTOR)
    assert {each.slot for each in memory.items()} == {"budget", "email", "phone"}
    verified(memory)


def test_a_restriction_of_one_item_hides_that_item_alone(memory: Memory) -> None:
    talk(memory)
    memory.restrict("item", memory.items(slot="email")[0].id, ground="gdpr-18-1-a", actor=ACTOR)
    assert {each.slot for each in memory.items()} == {"budget", "phone"}
    assert memory.recall("haosijia") == ()
    assert not [hit for hit in memory.recall("邮箱是多少？", entity=CLIENT) if "haosijia" in str(hit)]


def test_another_process_forgets_what_was_erased_and_what_is_restricted(place: str, ruleset: Ruleset) -> None:
    if place == "sqlite://":
        pytest.skip("a memory database has one store")
    with Memory.open(place, ruleset=ruleset, ner=False) as one, Memory.open(place, ruleset=ruleset, ner=False) as other:
        talk(one)
        more = {"conversation": "c", "entity": CLIENT}
        other.observe("今天下雨。", said_at="2026-03-18T10:30:00+08:00", **more)  # it knows now what one wrote
        one.restrict("entity", CLIENT, ground="gdpr-18-1-a", actor=ACTOR)
        assert not other.observe("预算再加两万", said_at="2026-03-18T11:00:00+08:00", **more).items
        one.erase(entity=CLIENT, ground=GROUND, actor=ACTOR)
        assert not other.observe("预算再加三万", said_at="2026-03-18T11:01:00+08:00", **more).items
        verified(other)


def test_a_restricted_item_is_not_edited(memory: Memory) -> None:
    talk(memory)
    email = memory.items(slot="email")[0]
    memory.restrict("item", email.id, ground="gdpr-18-1-a", actor=ACTOR)
    with pytest.raises(Stale, match="restricted"):
        memory.correct(email.id, "hao@example.org", actor=ACTOR, seen_version=email.version)


# ---------------------------------------------------------------- who answers for it
def test_where_actors_are_listed_an_erasure_bears_a_signature(tmp_path: Path, ruleset: Ruleset) -> None:
    path = tmp_path / "m.db"
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        talk(memory)
        add_actor(tmp_path / "actors.yaml", "ines", "data protection", tmp_path / "actor-ines.key")
        with pytest.raises(ActorError):
            memory.erase(entity=CLIENT, ground=GROUND, actor="nobody")
        assert memory.items()
        number = memory.hold("conversation", "c", ground="case 7", actor="ines")
        memory.release("hold_legal", number, ground="closed", actor="ines")
        memory.erase(entity=CLIENT, ground=GROUND, actor="ines")
        report = memory.verify()
        assert report.ok, report.lines()
        assert report.counts["signatures of actors"] == 4  # the list itself, hold, release, erasure


def test_where_actors_are_listed_an_unsigned_erasure_is_a_finding(tmp_path: Path, ruleset: Ruleset) -> None:
    with Memory.open(tmp_path / "m.db", ruleset=ruleset, ner=False) as memory:
        talk(memory)
        add_actor(tmp_path / "actors.yaml", "ines", "data protection", tmp_path / "actor-ines.key")
        memory.hold("conversation", "d", ground="case 7", actor="ines")
        with memory.store.writing(memory.namespace) as tx:
            now = datetime.now(UTC)
            Ledger().erase(tx.log, memory.namespace, {0: ["qualifier"]}, ground=GROUND, actor="x", recorded_at=now)
        assert "actor" in {finding.code for finding in memory.verify().findings}


# ---------------------------------------------------------------- what hides behind an erasure
def spoilt(tmp_path: Path, ruleset: Ruleset, *statements: str) -> list[str]:
    """What the verifier says after one item was erased and somebody used the occasion."""
    path = tmp_path / "m.db"
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        talk(memory)
        memory.erase(item_in(memory, "phone", "13712348765"), ground=GROUND, actor=ACTOR)
    with superuser(path) as database:
        for statement in statements:
            assert database.execute(statement).rowcount > 0
        database.commit()
    with Memory.open(path, ruleset=ruleset, ner=False, read_only=True) as memory:
        return [f"{finding.code} {finding.message}" for finding in memory.verify().findings]


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("DELETE FROM items WHERE slot = 'phone'", "versions were counted"),
        ("UPDATE items SET body = replace(body, '8761234', '8761235') WHERE slot = 'phone'", "not as it was written"),
        ("UPDATE turns SET text = CAST('x' AS BLOB) WHERE turn_id = 'c-5'", "still has it"),
        ("UPDATE turns SET text = NULL WHERE turn_id = 'c-0'", "no decision erased"),
    ],
)  # fmt: skip
def test_what_is_changed_under_cover_of_an_erasure_is_found(
    tmp_path: Path, ruleset: Ruleset, statement: str, told: str
) -> None:
    findings = spoilt(tmp_path, ruleset, statement)
    assert any(told in each for each in findings), findings


# ---------------------------------------------------------------- what lies elsewhere
def test_what_an_llm_was_asked_and_answered_goes_with_the_item(tmp_path: Path, ruleset: Ruleset) -> None:
    script = Path(__file__).with_name("polish_server.py")
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        folder = tmp_path / "store"
        folder.mkdir()
        settings = Settings(llm_url=url, llm_model="good")
        with Memory.open(folder / "m.db", ruleset=ruleset, ner=False, settings=settings) as memory:
            at = "2026-03-18T10:00:00+08:00"
            memory.observe("The marketing budget of Acme is $80,000.", said_at=at, entity="matter-3")
            memory.observe("The phone number is +1 415 555 0134.", said_at=at, entity="matter-3", conversation="d")
            assert memory.polish(limit=1)
            assert found_in(folder, "has a marketing budget")
            memory.erase(memory.items(slot="budget")[0].id, ground=GROUND, actor=ACTOR)
            assert found_in(folder, "has a marketing budget", "$80,000.", "80000 USD") == []
            verified(memory)
            assert [work for work, *_ in memory.polish()] == [memory.items()[0].id]  # the rest still waits
        server.terminate()


def test_postgresql_keeps_erased_words_in_its_write_ahead_log_alone(
    new_postgresql: Callable[[], str], ruleset: Ruleset
) -> None:
    place = new_postgresql()
    with Memory.open(place, ruleset=ruleset, ner=False) as memory:
        talk(memory)
        with memory.store.reading(memory.namespace) as tx:
            folder = Path(str(tx.connection.exec_driver_sql("SHOW data_directory").scalar()))
            own = tx.connection.exec_driver_sql("SELECT oid FROM pg_database WHERE datname = current_database()")
            base = folder / "base" / str(own.scalar())  # other tests' databases say the same words
            tx.connection.exec_driver_sql("ANALYZE")  # as the server does by itself after a while
            kept = tx.connection.exec_driver_sql(
                "SELECT count(*) FROM pg_stats WHERE most_common_vals::text LIKE %s", (f"%{CLIENT}%",)
            )
            assert kept.scalar()
        with memory.store.reading(memory.namespace) as tx:
            tx.connection.exec_driver_sql("CHECKPOINT")
        assert found_in(base, CLIENT)
        memory.erase(entity=CLIENT, ground=GROUND, actor=ACTOR)
        assert [name for name, _ in found_in(base, CLIENT, "haosijia", "龙舌兰", "970000 CNY")] == []
        verified(memory)


def test_what_is_restricted_is_sent_to_no_llm_and_what_is_so_meanwhile_is_not_reworded(
    tmp_path: Path, ruleset: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    meanwhile: list[Callable[[], object]] = []

    def asked(sentence: str, *more: Any, item: str, **others: Any) -> Polished:
        sent.append(item)
        for act in meanwhile:
            act()
        content = {"item": item, "outcome": "accepted", "why": None}
        return Polished(f"In words: {sentence}", content, {"answer": sentence, "template": sentence})

    monkeypatch.setattr("recordari.polishing.polish", asked)
    settings = Settings(llm_url="http://127.0.0.1:9", llm_model="none")
    with Memory.open(tmp_path / "m.db", ruleset=ruleset, ner=False, settings=settings) as memory:
        at = "2026-03-18T10:00:00+08:00"
        for number, said in enumerate(
            ("The audit budget is $80,000.", "The storage fee is $741.", "The rent is $900.")
        ):
            memory.observe(said, said_at=at, entity="matter-3", conversation=f"c-{number}")
        one, two, three = (item.id for item in memory.items())
        memory.restrict("item", one, ground="gdpr-18-1-a", actor=ACTOR)
        assert [(item, why) for item, why, _ in memory.polish(limit=1)] == [(two, "accepted")]
        meanwhile.append(lambda: memory.restrict("item", three, ground="gdpr-18-1-a", actor=ACTOR))
        assert [(item, why) for item, why, _ in memory.polish()] == [(three, "changed")]
        assert sent == [two, three]
        with memory.store.reading(memory.namespace) as tx:
            restricted = [each.seq for each in tx.restrictions]
        for number in restricted:
            memory.release("restrict", number, ground="settled", actor=ACTOR)
        told = {item.id: item.sentence.startswith("In words: ") for item in memory.items()}
        assert told == {one: False, two: True, three: False}
        with memory.store.reading(memory.namespace) as tx:
            assert tx.outbox.waits("polish")  # the first one, once a minute has gone
