"""Signed checkpoints (C2SP notes): who held the key says how long the log was and what its root was."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:  # cryptography takes 50 ms to import; only signing and verifying need it
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

# A checkpoint every 256 decisions bounds what a cut tail can hide; signing one takes less than a millisecond.
EVERY = 256
ED25519 = b"\x01"  # signature type byte of the note format
UNSEEN = "unseen"  # extension line of a checkpoint: records from the first number to before the second
_DASH = "— "
_SIGNED = re.compile(r"(?P<text>(?:[^\n]*\n)*?)\n(?P<signatures>(?:— \S+ \S+\n)+)")


class NoteError(ValueError):
    """A note that is malformed, signed by nobody we know, or not by the key it names."""


class KeyFileError(OSError):
    """A signing key that cannot be used as it lies there; says how to put it right."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The head of a log: its origin, its size and its RFC 6962 root.

    ``unseen``: the records (first, end) that the signer had not written itself; an extension line each.
    """

    origin: str
    size: int
    root: bytes
    unseen: tuple[tuple[int, int], ...] = ()

    def text(self) -> str:
        """The note text that is signed."""
        lines = (self.origin, str(self.size), base64.b64encode(self.root).decode())
        return "".join(f"{line}\n" for line in (*lines, *(f"{UNSEEN} {a} {b}" for a, b in self.unseen)))


def origin_of(namespace: str, log: str = "recordari") -> str:
    """The unique name of a namespace's log: no spaces and no plus, as the note format demands."""
    return f"{quote(log, safe='.-_')}/{quote(namespace, safe='.-_')}"


def key_id(name: str, public: bytes) -> bytes:
    """The four bytes by which a signature line names its key."""
    return hashlib.sha256(name.encode() + b"\n" + ED25519 + public).digest()[:4]


def vkey(name: str, public: bytes) -> str:
    """The public key as one line that can be printed in a letter: ``name+id+key``."""
    return f"{name}+{key_id(name, public).hex()}+{base64.b64encode(ED25519 + public).decode()}"


def read_vkey(line: str) -> tuple[str, bytes]:
    """Name and public key from a verifier line; NoteError when its parts do not belong together."""
    parts = line.strip().split("+", 2)  # base64 may hold a plus, a name may not
    if len(parts) != 3:
        raise NoteError("a verifier key has the form name+id+key")
    name, number, coded = parts
    try:
        raw = base64.b64decode(coded, validate=True)
    except ValueError as wrong:
        raise NoteError("the key part of a verifier key is base64") from wrong
    if len(raw) != 33 or raw[:1] != ED25519:
        raise NoteError("only Ed25519 verifier keys are supported")
    if key_id(name, raw[1:]).hex() != number:
        raise NoteError(f"the id {number} does not belong to this name and key")
    return name, raw[1:]


def read_public(text: str) -> tuple[str | None, bytes]:
    """Name and key out of a verifier line or a PEM public key (which has no name); NoteError when it is neither."""
    if "-----BEGIN PUBLIC KEY-----" not in text:
        return read_vkey(text)
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = serialization.load_pem_public_key(text.encode())
    except ValueError as wrong:
        raise NoteError("not a public key in PEM form") from wrong
    if not isinstance(key, Ed25519PublicKey):
        raise NoteError("only Ed25519 public keys are supported")
    return None, key.public_bytes_raw()


class SigningKey:
    """The private key of a store.

    It protects against everybody who can write to the database but not read this file. Who has both can sign a
    rewritten log; only notes that already lie elsewhere (a witness) show that.
    """

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private

    @classmethod
    def from_seed(cls, seed: bytes) -> SigningKey:
        """The key of a 32-byte seed: for rehearsals and tests, never for a real log."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return cls(Ed25519PrivateKey.from_private_bytes(seed))

    @classmethod
    def open(cls, path: Path) -> SigningKey:
        """The key in ``path``, to sign with; made on first use, readable by its owner only."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        if not path.exists():
            _create(path, Ed25519PrivateKey.generate())
        key, wide = cls.read(path)
        if wide:
            raise KeyFileError(f"{wide}; chmod 600 it, or make a new key")
        return key

    @classmethod
    def read(cls, path: Path) -> tuple[SigningKey, str]:
        """The key in an existing file, for its public half, and what is wrong with the rights of the file."""
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        mode = stat.S_IMODE(path.stat().st_mode)
        wide = f"{path} can be read by others (mode {mode:04o})" if os.name == "posix" and mode & 0o077 else ""
        try:
            key = serialization.load_pem_private_key(path.read_bytes(), password=None)
        except ValueError as wrong:
            raise KeyFileError(f"{path} holds no private key in PEM form") from wrong
        if not isinstance(key, Ed25519PrivateKey):
            raise KeyFileError(f"{path} holds a key of another kind; Ed25519 is needed")
        return cls(key), wide

    @property
    def public(self) -> bytes:
        """The 32 bytes that verify; give them (``vkey``) to whoever audits."""
        return self._private.public_key().public_bytes_raw()

    def raw_signature(self, data: bytes) -> str:
        """The Ed25519 signature of some bytes, in base64."""
        return base64.b64encode(self._private.sign(data)).decode()

    def sign(self, text: str, name: str) -> str:
        """The signed note of ``text`` (which ends in a newline) under ``name``."""
        if not text.endswith("\n") or any(char < " " and char != "\n" for char in text):
            raise NoteError("the text of a note ends in a newline and has no other control characters")
        if not name or re.search(r"[\s+]", name):
            raise NoteError(f"{name!r} cannot name a key: no spaces, no plus")
        signature = key_id(name, self.public) + self._private.sign(text.encode())
        return f"{text}\n{_DASH}{name} {base64.b64encode(signature).decode()}\n"

    def checkpoint(
        self, namespace: str, size: int, root: bytes, log: str = "recordari", *,
        unseen: tuple[tuple[int, int], ...] = (),
    ) -> str:  # fmt: skip
        """The signed checkpoint of a namespace's log; ``unseen``: records that the signer did not write itself."""
        origin = origin_of(namespace, log)
        return self.sign(Checkpoint(origin, size, root, unseen).text(), origin)


def both(one: str, other: str) -> str:
    """Two signed notes of the same text as one note with both signatures."""
    text, separator, signature = one.rpartition(f"\n\n{_DASH}")
    if other.rpartition(f"\n\n{_DASH}")[0] != text:
        raise NoteError("two notes with different texts cannot be joined")
    return f"{text}{separator}{signature}{_DASH}{other.rpartition(_DASH)[2]}"


def _create(path: Path, key: Ed25519PrivateKey) -> None:
    """Write a new key file so that it exists either whole or not at all, and never with wider rights."""
    from cryptography.hazmat.primitives import serialization

    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}.new")
    handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):  # another process was first: its key counts
            os.link(draft, path)
    finally:
        draft.unlink()


def open_note(note: str, name: str, public: bytes) -> str:
    """The text of a note signed by this key; NoteError unless a signature of exactly this key verifies."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    text, separator, tail = note.rpartition(f"\n\n{_DASH}")
    if not separator or not note.endswith("\n"):
        raise NoteError("not a signed note: a text, an empty line and signature lines are needed")
    text += "\n"
    wanted = key_id(name, public)
    for line in (_DASH + tail).splitlines():
        signer, _, coded = line.removeprefix(_DASH).partition(" ")
        try:
            raw = base64.b64decode(coded, validate=True)
        except ValueError as wrong:
            raise NoteError(f"the signature of {signer!r} is not base64") from wrong
        if signer != name or raw[:4] != wanted:
            continue  # the format demands that signatures of unknown keys are ignored
        try:
            Ed25519PublicKey.from_public_bytes(public).verify(raw[4:], text.encode())
        except InvalidSignature as wrong:
            raise NoteError(f"the signature of {name} is wrong: the note was altered") from wrong
        return text
    named = ", ".join(signers(note)) or "nobody"
    raise NoteError(f"the note is not signed by {name} with the key given ({name}+{wanted.hex()}) but by {named}")


def read_text(text: str) -> Checkpoint:
    """The checkpoint that a note text states; NoteError when it states none."""
    lines = text.split("\n")
    if len(lines) < 4 or not lines[0] or not re.fullmatch(r"0|[1-9][0-9]{0,18}", lines[1]):
        raise NoteError("not a checkpoint: origin, size and root are needed, a line each")
    try:
        root = base64.b64decode(lines[2], validate=True)
    except ValueError as wrong:
        raise NoteError("the root of a checkpoint is base64") from wrong
    if len(root) != 32:
        raise NoteError(f"the root of a checkpoint has 32 bytes, not {len(root)}")
    parts = (re.fullmatch(rf"{UNSEEN} (\d{{1,19}}) (\d{{1,19}})", line) for line in lines[3:])
    unseen = tuple((int(part[1]), int(part[2])) for part in parts if part)
    return Checkpoint(lines[0], int(lines[1]), root, unseen)


def read_checkpoint(note: str, origin: str, public: bytes) -> Checkpoint:
    """The checkpoint of a note, its signature verified; the log's origin is the name of its key."""
    checkpoint = read_text(open_note(note, origin, public))
    if checkpoint.origin != origin:
        raise NoteError(f"a checkpoint of {checkpoint.origin}, not of {origin}")
    return checkpoint


def unverified(note: str) -> Checkpoint:
    """What a note states, its signature unread: to sort notes by log, never to believe them."""
    text, separator, _ = note.rpartition(f"\n\n{_DASH}")
    if not separator:
        raise NoteError("not a signed note: a text, an empty line and signature lines are needed")
    return read_text(text + "\n")


def signers(note: str) -> tuple[str, ...]:
    """The keys that a note names, as ``name+id``: which public key an auditor has to ask for."""
    found: list[str] = []
    for line in note.splitlines():
        signer, _, coded = line.removeprefix(_DASH).partition(" ")
        if line.startswith(_DASH) and coded:
            with contextlib.suppress(ValueError):
                found.append(f"{signer}+{base64.b64decode(coded, validate=True)[:4].hex()}")
    return tuple(found)


def due(size: int, last: int, every: int = EVERY) -> bool:
    """True when so many records were appended since the last checkpoint that a new one should be made."""
    return size - last >= every


class Witness:
    """A file outside the database into which every checkpoint is copied, one note after another.

    Put it where the database's administrator cannot rewrite it: another disk, another account, a mailbox. Without
    it, cutting off the end of the log or rewriting all of it with the key in hand leaves no trace.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, note: str) -> None:
        """Append a note and wait until it is on the disk."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(note)
            file.flush()
            os.fsync(file.fileno())

    def notes(self) -> tuple[str, ...]:
        """All notes, oldest first; one cut off by a crash comes out as it stands, and will not verify."""
        if not self.path.exists():
            return ()
        return split_notes(self.path.read_text(encoding="utf-8", errors="replace"))


def split_notes(text: str) -> tuple[str, ...]:
    """The notes of a witness file."""
    notes: list[str] = []
    end = 0
    for match in _SIGNED.finditer(text):
        notes.append(match.group(0))
        end = match.end()
    if text[end:].strip():
        notes.append(text[end:])
    return tuple(notes)


def of_origin(notes: Iterable[str], origin: str) -> tuple[str, ...]:
    """Those notes that speak of this log, and those that cannot be read at all (the verifier names them)."""
    kept: list[str] = []
    for note in notes:
        try:
            if unverified(note).origin != origin:
                continue
        except NoteError:
            pass
        kept.append(note)
    return tuple(kept)
