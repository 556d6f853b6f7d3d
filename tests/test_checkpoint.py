"""Checkpoints: signed notes, the key that signs them, the witness file that keeps them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from recordari.audit.checkpoint import (
    Checkpoint,
    KeyFileError,
    NoteError,
    SigningKey,
    Witness,
    due,
    open_note,
    origin_of,
    read_checkpoint,
    read_public,
    read_vkey,
    signers,
    vkey,
)
from recordari.audit.merkle import leaf_hash
from recordari.memory import Memory, NotFoundError
from recordari.trust.signing import _without

pytestmark = pytest.mark.usefixtures("sharing")  # see conftest.py

NAMESPACE = "matter-17"
KEY = SigningKey.from_seed(bytes(range(32)))


def test_the_published_example_note_verifies() -> None:
    name, public = read_vkey("PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW")
    text = (
        "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
    )  # fmt: skip
    signature = "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="
    note = f"{text}\n— PeterNeumann {signature}\n"
    assert open_note(note, name, public) == text
    assert vkey(name, public) == "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
    with pytest.raises(NoteError, match="altered"):
        open_note(note.replace("answer", "question"), name, public)


def test_a_checkpoint_reads_back_from_its_note_with_the_public_key_alone() -> None:
    note = KEY.checkpoint("默认 1", 17, leaf_hash(b"x"))
    origin = origin_of("默认 1")
    name, public = read_vkey(vkey(origin, KEY.public))
    assert read_checkpoint(note, name, public) == Checkpoint(origin, 17, leaf_hash(b"x"))
    assert note.splitlines()[:2] == ["recordari/%E9%BB%98%E8%AE%A4%201", "17"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda note: note.replace("\n17\n", "\n18\n"),
        lambda note: note.replace("matter-17", "matter-18"),
        lambda note: note.replace("— ", "- "),
        lambda note: note.rstrip("\n"),
        lambda note: note[: note.rindex(" ") + 1] + "AAAA\n",
        lambda note: note[: note.rindex(" ") + 1] + "???\n",
        lambda note: "",
    ],
)
def test_a_spoilt_note_is_refused(spoil: Callable[[str], str]) -> None:
    note = KEY.checkpoint(NAMESPACE, 17, leaf_hash(b"x"))
    assert read_checkpoint(note, origin_of(NAMESPACE), KEY.public).size == 17
    with pytest.raises(NoteError):
        read_checkpoint(spoil(note), origin_of(NAMESPACE), KEY.public)


@pytest.mark.parametrize("text", ["a\n", "a\n01\nAAAA\n", "a\n1\n???\n", "a\n1\nAAAA\n", "\n1\nAAAA\n"])
def test_a_signed_text_that_states_no_head_is_no_checkpoint(text: str) -> None:
    with pytest.raises(NoteError):
        read_checkpoint(KEY.sign(text, "a"), "a", KEY.public)


@pytest.mark.parametrize(
    "line", ["", "a+b", "a+00000000+AAAA", "a+00000000+?", vkey("a", KEY.public).replace("a+", "b+", 1)]
)
def test_a_verifier_line_whose_parts_do_not_fit_is_refused(line: str) -> None:
    with pytest.raises(NoteError):
        read_vkey(line)


@pytest.mark.parametrize(
    ("text", "name"), [("no newline", "a"), ("a\tb\n", "a"), ("a\n", ""), ("a\n", "a b"), ("a\n", "a+b")]
)
def test_what_the_note_format_forbids_is_not_signed(text: str, name: str) -> None:
    with pytest.raises(NoteError):
        KEY.sign(text, name)


def test_a_key_is_made_on_first_use_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "ledger.pem"
    first = SigningKey.open(path)
    assert SigningKey.open(path).public == first.public
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(path.parent) == ["ledger.pem"]


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.pem"
    SigningKey.open(path)
    path.chmod(0o640)
    with pytest.raises(KeyFileError, match="chmod 600"):
        SigningKey.open(path)


def test_a_file_that_holds_no_ed25519_key_is_refused(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    path = tmp_path / "ledger.pem"
    path.touch(0o600)
    with pytest.raises(KeyFileError, match="no private key"):
        SigningKey.open(path)
    other = ec.generate_private_key(ec.SECP256R1())
    path.write_bytes(
        other.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    with pytest.raises(KeyFileError, match="another kind"):
        SigningKey.open(path)


def test_a_witness_file_keeps_every_note_in_order(tmp_path: Path) -> None:
    witness = Witness(tmp_path / "outside" / "witness.txt")
    assert witness.notes() == ()
    notes = [KEY.checkpoint(NAMESPACE, size, leaf_hash(b"x")) for size in (1, 2, 3)]
    for note in notes:
        witness.add(note)
    assert list(witness.notes()) == notes


def test_a_checkpoint_is_due_after_so_many_records() -> None:
    assert due(256, 0)
    assert not due(255, 0)
    assert due(20, 10, every=10)


def test_a_note_names_the_records_that_its_signer_did_not_write() -> None:
    note = KEY.checkpoint(NAMESPACE, 17, leaf_hash(b"x"), unseen=((3, 5), (9, 10)))
    assert note.splitlines()[3:5] == ["unseen 3 5", "unseen 9 10"]
    assert read_checkpoint(note, origin_of(NAMESPACE), KEY.public).unseen == ((3, 5), (9, 10))
    plain = KEY.checkpoint(NAMESPACE, 17, leaf_hash(b"x"))
    assert read_checkpoint(plain, origin_of(NAMESPACE), KEY.public).unseen == ()
    with pytest.raises(NoteError, match="altered"):
        read_checkpoint(note.replace("unseen 3 5\n", ""), origin_of(NAMESPACE), KEY.public)


@pytest.mark.parametrize(
    ("seen", "left"),
    [
        ([], ((5, 100),)),
        ([range(5, 100)], ()),
        ([range(200)], ()),
        ([range(10, 12)], ((5, 10), (12, 100))),
        ([range(12, 100), range(5, 10)], ((10, 12),)),
        ([range(each, each + 1) for each in range(5, 99, 2)], ((6, 100),)),  # many gaps count as one stretch
    ],
)
def test_what_a_signer_has_not_seen_is_what_is_left_over(seen: list[range], left: tuple[tuple[int, int], ...]) -> None:
    assert _without(5, 100, seen) == left


def test_a_public_key_is_read_from_its_line_or_from_pem_and_nothing_else() -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    line = vkey("recordari/a", KEY.public)
    pem = Ed25519PublicKey.from_public_bytes(KEY.public).public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    assert read_public(line + "\n") == ("recordari/a", KEY.public)
    assert read_public(pem.decode()) == (None, KEY.public)
    for wrong in ("", "recordari/a", pem.decode().replace("MCow", "AAAA")):
        with pytest.raises(NoteError):
            read_public(wrong)


def test_a_note_tells_which_key_it_needs_and_a_wrong_key_is_told_so() -> None:
    note = KEY.checkpoint(NAMESPACE, 17, leaf_hash(b"x"))
    (named,) = signers(note)
    assert vkey(origin_of(NAMESPACE), KEY.public).startswith(f"{named}+")
    other = SigningKey.from_seed(b"x" * 32)
    with pytest.raises(NoteError, match=f"but by {named}".replace("+", r"\+")):
        read_checkpoint(note, origin_of(NAMESPACE), other.public)
    assert signers("no note") == ()


def test_the_public_half_of_a_key_that_others_can_read_can_still_be_used(tmp_path: Path) -> None:
    path = tmp_path / "ledger.pem"
    public = SigningKey.open(path).public
    assert SigningKey.read(path)[1] == ""
    path.chmod(0o644)
    key, remark = SigningKey.read(path)
    assert key.public == public
    assert "can be read by others (mode 0644)" in remark


def test_without_a_key_nothing_is_signed_and_the_error_says_how_to_have_one(tmp_path: Path) -> None:
    place = tmp_path / "m.db"
    with (
        Memory.open("sqlite://", ner=False) as memory,
        pytest.raises(NotFoundError, match="RECORDARI_SIGNING_KEY names"),
    ):
        memory.checkpoint()
    with Memory.open(place, ner=False) as memory:
        memory.observe("I live in Leeds.", said_at="2026-03-18T10:00:00Z")
        assert memory.checkpoint()
    with Memory.open(place, ner=False, read_only=True) as memory, pytest.raises(NotFoundError, match="read only"):
        memory.checkpoint()
