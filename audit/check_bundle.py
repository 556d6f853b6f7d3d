#!/usr/bin/env python3
"""Checks an export of a Recordari ledger without Recordari: `python3 check_bundle.py FOLDER --public-key LINE`.

One file, standard library only (Python 3.9 or newer). Signatures need the package `cryptography`; without it they are
not checked, and the last line says so. What is checked: docs/ledger.md, "What `verify` checks".

Exit status: 0 nothing is wrong, 1 something is, 2 wrong use, 3 the folder cannot be read.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FORMAT = 1
LARGEST = 2**53 - 1
DASH = "\u2014 "
DECISIONS = {
    "ignore", "add", "supersede", "confirm", "retract", "hold", "expire", "approve", "correct", "reject", "decision",
}  # fmt: skip
FORMER = {"erasure": "erase", "polish": "rewrite"}
REWORDED = {"sentence", "version"}
Note = tuple[str, str, int, bytes, list[tuple[str, bytes, bytes]]]  # what, text, size, root, (name, id, signature)


class Unreadable(Exception):
    """The folder is no bundle, or cannot be read."""


class Wrong(Exception):
    """One thing that is wrong."""


class Misuse(Exception):
    """The verifier was asked for something that cannot be."""


# ---------------------------------------------------------------- canonical JSON
def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names stand there once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Wrong("a name stands twice in one object")
    return found


def refused(text: str) -> Any:
    """Told by the parser: a number that no record may hold."""
    raise Wrong(f"the number {text} has no place in a record")


def whole(text: str) -> int:
    """Told by the parser: an integer."""
    number = int(text)
    return number if -LARGEST <= number <= LARGEST else refused(text)


def canonical(value: Any) -> str:
    """The canonical text of a value."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def read_canonical(text: str) -> Any:
    """What a canonical text holds; Wrong when it is another writing, or holds what no record may."""
    try:
        value = json.loads(
            text, object_pairs_hook=once, parse_float=refused, parse_constant=refused, parse_int=whole
        )  # fmt: skip
    except ValueError as wrong:
        raise Wrong(f"not JSON: {wrong}") from None
    if canonical(value) != text:
        raise Wrong("the record is not in canonical form")
    return value


# ---------------------------------------------------------------- the tree (RFC 6962)
EMPTY = hashlib.sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    """Hash of one record."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash of an inner node."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Tree:
    """The roots of the full subtrees of a tree that grows by one leaf at a time."""

    def __init__(self) -> None:
        self.size = 0
        self.nodes: list[bytes] = []

    def append(self, leaf: bytes) -> None:
        rest = self.size
        while rest & 1:
            leaf = node_hash(self.nodes.pop(), leaf)
            rest >>= 1
        self.nodes.append(leaf)
        self.size += 1

    def root(self) -> bytes:
        if not self.nodes:
            return EMPTY
        root = self.nodes[-1]
        for node in reversed(self.nodes[:-1]):
            root = node_hash(node, root)
        return root


def root_from(leaf: bytes, index: int, size: int, path: list[bytes]) -> bytes | None:
    """The root that an audit path leads to; None when it cannot belong to such a tree."""
    if not 0 <= index < size:
        return None
    place, last, node = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return None
        if place & 1 or place == last:
            node = node_hash(sibling, node)
            while not place & 1 and place:
                place >>= 1
                last >>= 1
        else:
            node = node_hash(node, sibling)
        place >>= 1
        last >>= 1
    return node if last == 0 else None


# ---------------------------------------------------------------- notes and keys
try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    CRYPTOGRAPHY = True
except ImportError:
    CRYPTOGRAPHY = False


def signed_by(public: bytes, signature: bytes, data: bytes) -> bool:
    """Whether this key made this signature."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def key_id(name: str, public: bytes) -> bytes:
    """The four bytes by which a signature names its key."""
    return hashlib.sha256(name.encode() + b"\n\x01" + public).digest()[:4]


def read_key(line: str) -> tuple[str, bytes]:
    """Name and public key of a verifier line ``name+id+key``."""
    parts = line.strip().split("+", 2)
    raw = decoded(parts[2]) if len(parts) == 3 else b""
    if len(raw) != 33 or raw[:1] != b"\x01" or key_id(parts[0], raw[1:]).hex() != parts[1]:
        raise Misuse(f"no verifier key: {line.strip()[:80]}")
    return parts[0], raw[1:]


def decoded(text: str) -> bytes:
    """Base64; nothing when it is none."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def split_notes(text: str) -> list[str]:
    """The notes of a file, one after another."""
    return re.findall(rf"(?:[^\n]+\n)+\n(?:{DASH}\S+ \S+\n)+", text)


def read_note(note: str) -> tuple[str, str, int, bytes, list[tuple[str, bytes, bytes]]]:
    """Text, origin, size, root and signatures (name, id, signature) of a note."""
    text, _, tail = note.partition(f"\n\n{DASH}")
    lines = (text + "\n").split("\n")
    signatures: list[tuple[str, bytes, bytes]] = []
    for line in (DASH + tail).splitlines():
        name, _, coded = line[len(DASH) :].partition(" ")
        raw = decoded(coded)
        signatures.append((name, raw[:4], raw[4:]))
    if len(lines) < 4 or not lines[1].isdigit() or len(decoded(lines[2])) != 32:
        raise Wrong("a note states no checkpoint")
    return text + "\n", lines[0], int(lines[1]), decoded(lines[2]), signatures


# ---------------------------------------------------------------- the check
class Check:
    """One run over one bundle."""

    def __init__(
        self, folder: str, public_key: str | None, witness: Path | None, listed: set[str] | None = None
    ) -> None:
        self.folder, self.public_key, self.witness = Path(folder), public_key, witness
        self.listed = listed  # names of keys on a list of actors from outside
        self.strangers: dict[str, int] = {}  # those that signed and are not on it → first record
        self.findings: list[str] = []
        self.remarks: list[str] = []
        self.erased: list[str] = []
        self.counts: Counter[str] = Counter()
        self.missing: dict[tuple[int, str], str] = {}  # (record, field) → hash
        self.taken: dict[str, int] = {}  # item version → the record that erased it
        self.unnamed = False  # an erasure of the first days named no item versions
        self.erasures: dict[tuple[int, str], tuple[int, str]] = {}  # (record, field) → record, ground
        self.said: dict[str, tuple[int, str | None]] = {}  # turn → record, hash
        self.promised: dict[str, tuple[int, str | None]] = {}  # item version → record, hash
        self.answers: dict[str, set[str | None]] = {}  # item → accepted sentences
        self.roots: dict[int, bytes] = {0: EMPTY}
        self.named: dict[str, dict[str, int]] = {"ruleset": {}, "runtime": {}}
        self.actors: dict[str, bytes] | None = None
        self.changes: list[tuple[int, bytes, bytes]] = []
        self.signed = 0
        self.notes: list[Note] = []
        self.tree = Tree()

    def wrong(self, place: str, message: str) -> None:
        self.findings.append(f"{place}: {message}")

    def lines(self, name: str) -> Iterator[tuple[int, Any]]:
        path = self.folder / name
        if not path.exists():
            self.wrong(name, "the file is missing")
            return
        with path.open(encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield number, json.loads(line)
                except ValueError as wrong:
                    self.wrong(f"{name}:{number}", f"not JSON: {wrong}")

    def run(self) -> None:
        try:
            self.manifest = json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))
            self.namespace, self.size = self.manifest["namespace"], self.manifest["size"]
            if self.manifest["bundle"] != FORMAT:
                raise Unreadable(f"bundle format {self.manifest['bundle']} is unknown here; this file reads {FORMAT}")
        except (OSError, ValueError, KeyError, TypeError) as wrong:
            raise Unreadable(f"{self.folder}: no bundle ({wrong}). Give the folder that `audit export` made") from None
        self.origin = self.manifest["origin"]
        steps = (
            self.files, self.read_notes, self.records, self.heads, self.turns, self.items, self.grounds, self.gone
        )  # fmt: skip
        for step in steps:
            try:
                step()
            except (
                ArithmeticError,
                AttributeError,
                LookupError,
                RecursionError,
                TypeError,
                ValueError,
                Wrong,
            ) as wrong:
                # a file of another form than ours: a finding, and the other parts are checked
                self.wrong(step.__name__, f"cannot be checked to the end: {type(wrong).__name__}: {wrong}")
        if self.actors is not None and self.listed is None:
            self.remarks.append("no list of actors was given: their keys are those that the log itself names")
        for key, seq in sorted(self.strangers.items(), key=lambda each: each[1]):
            self.remarks.append(
                f"key {key} signed from record {seq} on and is not on the list of actors that was given"
            )

    def files(self) -> None:
        """Every file is the one of the manifest, and none stands beside them."""
        named = self.manifest["files"]
        for name, wanted in sorted(named.items()):
            path = self.folder / name
            if not path.is_file():
                self.wrong(name, "the file is missing")
                continue
            whole_file = hashlib.sha256()
            with path.open("rb") as file:
                for block in iter(lambda: file.read(1 << 20), b""):
                    whole_file.update(block)
            if whole_file.hexdigest() != wanted["sha256"]:
                self.wrong(name, "the file is not the one of the manifest")
        self.counts["files"] = len(named)
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            ours = name in named or name in {"manifest.json", "manifest.note"} or "__pycache__" in name
            if path.is_file() and not ours:
                self.remarks.append(f"{name} is no part of the bundle")

    def read_notes(self) -> None:
        for what, path in (("checkpoint", self.folder / "checkpoints.txt"), ("witness note", self.witness)):
            if path is None:
                self.remarks.append("no witness file was given: a cut tail or a log rewritten with the key cannot show")
                continue
            for number, note in enumerate(split_notes(path.read_text(encoding="utf-8", errors="replace"))):
                try:
                    text, origin, size, root, signatures = read_note(note)
                except Wrong as wrong:
                    self.wrong(f"{what} {number}", str(wrong))
                    continue
                if origin == self.origin:
                    self.notes.append((f"{what} {number}", text, size, root, signatures))
        if not self.notes:
            self.remarks.append("there is no checkpoint: nothing in this log is signed, all of it could be made up")

    def records(self) -> None:
        tree, root = self.tree, bytes.fromhex(self.manifest["root"])
        sizes = {note[2] for note in self.notes}
        before: tuple[str, int] | None = None
        backwards: list[int] = []
        clock = ""
        for _, line in self.lines("records.jsonl"):
            seq, text, private = tree.size, line.get("record", ""), line.get("private", {})
            place = f"record {seq}"
            leaf = leaf_hash(text.encode("utf-8", "surrogatepass"))
            tree.append(leaf)
            if tree.size in sizes:
                self.roots[tree.size] = tree.root()
            if "proof" in line:
                path = [decoded(each) for each in line["proof"]]
                if root_from(leaf, seq, self.size, path) != root:
                    self.wrong(place, "its proof does not lead to the root")
                self.counts["proofs"] += 1
            try:
                record = read_canonical(text)
                if record["format"] != FORMAT:
                    raise Wrong(f"record format {record['format']} is unknown here")
                if record["seq"] != seq or record["namespace"] != self.namespace:
                    self.wrong(place, f"it says of itself that it is {record['namespace']!r} {record['seq']}")
                kind = FORMER.get(record["kind"], record["kind"])
                self.counts["records"] += 1
                self.counts[f"of kind {kind}"] += 1
                if record["recorded_at"] < clock:
                    backwards.append(seq)
                clock = max(clock, record["recorded_at"])
                values = self.private(place, seq, record["private"], private)
                content = record["content"]
                if kind in DECISIONS:
                    turn, ordinal = content["turn_id"], content["ordinal"]
                    if ordinal and before != (turn, ordinal - 1):
                        self.wrong(place, "it does not follow the decision before it")
                    before = (turn, ordinal)
                    self.decision(seq, content, record["private"], values)
                else:
                    before = None
                    self.act(seq, kind, content, values)
                self.signature(place, kind, record, content)
            except Wrong as wrong:
                self.wrong(place, str(wrong))
            except (KeyError, TypeError, ValueError, AttributeError) as wrong:
                self.wrong(place, f"it has not the form of its kind: {wrong!r}")
        if tree.size != self.size or tree.root() != root:
            self.wrong("records.jsonl", f"{tree.size} records, the manifest states {self.size} and another root")
        if backwards:
            some = ", ".join(map(str, backwards[:8])) + (" ..." if len(backwards) > 8 else "")
            self.remarks.append(
                f"the clock went backwards: {len(backwards)} records are dated before one that stands in front of them "
                f"({some}); their order is proved, their dates are not: ask why"
            )

    def private(self, place: str, seq: int, hashes: Any, private: Any) -> dict[str, Any]:
        """The values beside a record that fit their hashes."""
        good: dict[str, Any] = {}
        for name in private:
            if name not in hashes:
                self.wrong(place, f"a value {name} lies beside it that it does not know")
        for name, committed in hashes.items():
            if name not in private:
                self.missing[seq, name] = committed
                continue
            value, salt = private[name]
            data = f"recordari/field/{FORMAT}/{name}\n".encode() + bytes.fromhex(salt) + value.encode()
            if len(salt) != 64 or hashlib.sha256(data).hexdigest() != committed:
                self.wrong(place, f"the value of {name} is not the one it commits to")
            else:
                good[name] = json.loads(value)
                self.counts["personal values"] += 1
        return good

    def decision(self, seq: int, content: Any, hashes: Any, values: Any) -> None:
        for name, digests in self.named.items():
            if content.get(name):
                digests.setdefault(content[name], seq)
        if content["ordinal"] == 0 and "said" in hashes:
            self.said[content["turn_id"]] = (seq, values.get("said"))
        for key in content.get("written", ()):
            self.promised[key] = (seq, None)
        for version in values.get("written", ()):
            key = f"{version['id']}/{version['version']}"
            self.promised[key] = (seq, digest_of(version))

    def act(self, seq: int, kind: str, content: Any, values: Any) -> None:
        if kind == "erase":
            if not content["ground"].strip():
                self.wrong(f"record {seq}", "personal values were erased and no ground is named")
            self.unnamed |= "versions" not in content
            for number, names in content["fields"]:
                for name in names:
                    self.erasures.setdefault((number, name), (seq, content["ground"]))
            for _, item, version in content.get("versions", ()):
                self.taken[f"{item}/{version}"] = seq
            for version in values.get("keeps", ()):  # vouched for here, since the decision's own value went
                self.promised[f"{version['id']}/{version['version']}"] = (seq, digest_of(version))
        elif kind == "rewrite" and content.get("outcome") == "accepted":
            self.answers.setdefault(content["item"], set()).add(values.get("answer"))
        elif kind == "key":
            self.changes.append((seq, decoded(content["before"]), decoded(content["after"])))

    def signature(self, place: str, kind: str, record: Any, content: Any) -> None:
        told: dict[str, bytes] | None = None
        if kind == "actors":
            told = {}
            for each in content["actors"]:
                half = decoded(each["public"])
                if hashlib.sha256(b"recordari/actor/1\n" + half).hexdigest()[:32] != each["key"]:
                    raise Wrong("a key of an actor has another name than its own")
                told[each["key"]] = half
        signed = record.get("signed")
        person = content.get("features", {}).get("source") == "person" or kind in {"hold_legal", "pin", "restrict"}
        person = person or (kind == "erase" and content.get("scope") not in {"forget", "retention"})
        if signed:
            public: bytes | None = {**(told or {}), **(self.actors or {})}.get(signed["key"])
            rest = {name: value for name, value in record.items() if name != "signed"}
            data = f"recordari/record/{FORMAT}\n{canonical(rest)}".encode()
            if public is None:
                self.wrong(place, f"signed with {signed['key']}, which is no actor's of the list before it")
            elif not CRYPTOGRAPHY:
                self.counts["signatures not checked"] += 1
            elif not signed_by(public, decoded(signed["signature"]), data):
                self.wrong(place, "the signature of the actor is wrong")
            else:
                self.counts["signatures of actors"] += 1
                if self.listed is not None and signed["key"] not in self.listed:
                    self.strangers.setdefault(signed["key"], record["seq"])
        elif person and self.actors is not None:
            self.wrong(place, "a person did this and nobody signed it, though actors are listed")
        elif person:
            self.counts["acts of people, unsigned"] += 1
        if told is not None and self.actors is not None and (not signed or signed["key"] not in self.actors):
            self.remarks.append(f"{place}: the list of actors was changed by one who was on no list before")
        self.actors = told if told is not None else self.actors

    def heads(self) -> None:
        """Checkpoints and copies against the roots, and by which keys they are signed."""
        fitting: list[Note] = []
        for note in self.notes:
            what, _, size, root, _ = note
            if size > self.tree.size:
                self.wrong(what, f"the log had {size} records; {self.tree.size} are left")
            elif self.roots.get(size) != root:
                self.wrong(what, f"the first {size} records are not those it signs")
            else:
                fitting.append(note)
        given = self.public_key
        if given is None:
            path = self.folder / "keys.txt"
            listed = path.read_text(encoding="utf-8").split() if path.exists() else []
            if not listed:
                self.remarks.append("no public key was given and none is in the bundle: signatures are not checked")
                return
            self.remarks.append("no public key was given: the one in the bundle is used, which proves little")
            given = listed[-1]
        name, public = read_key(given)
        if name != self.origin:
            raise Misuse(f"the public key is of {name}, this log is signed by {self.origin}")
        if not CRYPTOGRAPHY:
            self.remarks.append("signatures are NOT checked: install the package `cryptography`")
            return
        keys = {public}
        for _, old, new in reversed(self.changes):
            if new in keys:
                keys.add(old)
        for seq, old, new in self.changes:
            if old in keys and any(size > seq and self.by(note, {old}) for note in fitting for size in [note[2]]):
                keys.add(new)
        until = {old: seq + 1 for seq, old, _ in self.changes}
        for note in self.notes:
            signers = self.by(note, keys)
            if not signers:
                self.wrong(note[0], "it is not signed by the key given, nor by one that the log names")
            elif all(note[2] > until.get(key, note[2]) for key in signers):
                self.wrong(note[0], "it is signed with a key that had been replaced before")
            else:
                self.counts["signed checkpoints"] += 1
                if note in fitting:
                    self.signed = max(self.signed, note[2])
        path = self.folder / "manifest.note"
        if not path.exists():
            if self.public_key is None:
                self.remarks.append("the manifest is not signed: who made this bundle had no key")
            else:  # the house has a key: without it anybody can write a page and tables that look like these
                self.wrong("manifest.note", "it is missing: nobody vouches for report.html, pages/ and csv/")
            return
        text, _, tail = path.read_text(encoding="utf-8").partition(f"\n\n{DASH}")
        coded = tail.strip().rpartition(" ")[2]
        digest = hashlib.sha256((self.folder / "manifest.json").read_bytes()).hexdigest()
        good = any(signed_by(key, decoded(coded)[4:], (text + "\n").encode()) for key in keys)
        if not good or text != f"{self.origin}/export\n{digest}":
            self.wrong("manifest.note", "the manifest is not the one that was signed")
        else:
            self.counts["signed manifest"] = 1

    def by(self, note: Note, keys: set[bytes]) -> list[bytes]:
        """Those of the keys that signed a note."""
        _, text, _, _, signatures = note
        return [
            key
            for key in keys
            for name, number, signature in signatures
            if name == self.origin and number == key_id(name, key) and signed_by(key, signature, text.encode())
        ]

    def turns(self) -> None:
        seen: set[str] = set()
        for number, line in self.lines("turns.jsonl"):
            turn_id = line["turn"]["turn_id"]
            seen.add(turn_id)
            self.counts["turns"] += 1
            seq, digest = self.said.get(turn_id, (None, None))
            if seq is None:
                self.wrong(f"turns.jsonl:{number}", f"no record is about turn {turn_id}")
            elif digest is None or line["erased"]:
                if (digest is None) != line["erased"]:
                    self.wrong(f"record {seq}", f"the words of turn {turn_id} and their hash are not both erased")
            elif digest_of(line["turn"]) != digest:
                self.wrong(f"record {seq}", f"turn {turn_id} is not as it was when it was decided")
        for turn_id in sorted(set(self.said) - seen):
            self.wrong(f"record {self.said[turn_id][0]}", f"turn {turn_id} is not in the bundle")

    def items(self) -> None:
        seen: set[str] = set()
        last: dict[str, str] = {}
        for number, line in self.lines("items.jsonl"):
            item = line["item"]
            key = f"{item['id']}/{item['version']}"
            seen.add(key)
            self.counts["item versions"] += 1
            place = f"items.jsonl:{number}"
            plain = {name: value for name, value in item.items() if name not in REWORDED}
            if key in self.taken:
                self.wrong(place, f"item {key} was erased by decision {self.taken[key]}, but is still there")
            if key in self.promised:
                seq, digest = self.promised[key]
                if digest is not None and digest_of(item) != digest:
                    self.wrong(f"record {seq}", f"item {key} is not as this decision wrote it")
            elif item["id"] in last:
                answers = self.answers.get(item["id"], set())
                if item["sentence"] not in answers and None not in answers:
                    self.wrong(place, f"item {key} is worded as neither a decision nor an accepted rewriting says")
                if digest_of(plain) != last[item["id"]]:
                    self.wrong(place, f"item {key} differs from the version before in more than its sentence")
            else:
                self.wrong(place, f"no decision wrote item {key}")
            last[item["id"]] = digest_of(plain)
        for key in sorted(set(self.promised) - seen):
            seq, digest = self.promised[key]
            if digest is not None or not (key in self.taken or self.unnamed):
                self.wrong(f"record {seq}", f"item {key}, which this decision wrote, is not in the bundle")

    def grounds(self) -> None:
        """Rule sets and runtimes under the digests that decisions name."""
        for digest, seq in sorted(self.named["ruleset"].items()):
            name = f"rulesets/{digest}.jsonl"
            listed: list[list[Any]] = []
            for number, rule in self.lines(name):
                if hashlib.sha256(rule["content"].encode()).hexdigest() != rule["digest"]:
                    self.wrong(f"{name}:{number}", "the rule has not the content that its digest says")
                listed.append([rule["id"], rule["version"], rule["digest"]])
            if hashlib.sha256(json.dumps(sorted(listed), separators=(",", ":")).encode()).hexdigest() != digest:
                self.wrong(name, f"it is not the rule set that record {seq} names")
            self.counts["rule sets"] += 1
        for digest, seq in sorted(self.named["runtime"].items()):
            path = self.folder / "runtimes" / f"{digest}.json"
            text = path.read_text(encoding="utf-8") if path.exists() else ""
            if hashlib.sha256(text.encode()).hexdigest() != digest:
                self.wrong(f"runtimes/{digest}.json", f"it is not the runtime that record {seq} names")
            self.counts["runtimes"] += 1

    def gone(self) -> None:
        for (seq, name), _ in sorted(self.missing.items()):
            decided = self.erasures.get((seq, name))
            if decided is None or decided[0] < seq:
                self.wrong(f"record {seq}", f"the value of {name} is gone and no decision erased it")
            else:
                self.erased.append(f"record {seq}: {name} was erased by decision {decided[0]} on ground {decided[1]}")
        for (seq, name), (by, _) in sorted(self.erasures.items()):
            if seq < by and (seq, name) not in self.missing:
                self.wrong(f"record {seq}", f"decision {by} erased {name}, but its value is still there")

    def verdict(self) -> str:
        number = len(self.findings)
        done = "verified" if not number else f"{number} finding{'s' if number > 1 else ''}"
        if not CRYPTOGRAPHY:
            return f"{done}; signatures were NOT checked (install `cryptography`)"
        if self.signed < self.size:
            return f"{done}; {self.signed} of {self.size} records are signed"
        return done


def listed_keys(path: Path) -> set[str]:
    """The names of the keys on a list of actors: lines ``key: BASE64`` of actors.yaml."""
    halves = map(
        decoded, re.findall(r"^[\s-]*key:\s*[\"']?([A-Za-z0-9+/]{43}=)", path.read_text(encoding="utf-8"), re.M)
    )
    found = {hashlib.sha256(b"recordari/actor/1\n" + half).hexdigest()[:32] for half in halves if half}
    if not found:
        raise Misuse(f"{path}: no list of actors")
    return found


def digest_of(value: Any) -> str:
    """SHA-256 of the canonical text of a value."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()


def main(arguments: list[str] | None = None) -> int:
    """The command line; its exit status."""
    parser = argparse.ArgumentParser(description="Check an export of a Recordari ledger.")
    parser.add_argument("folder", nargs="?", default=str(Path(__file__).resolve().parent), help="folder of the bundle")
    parser.add_argument("--public-key", help="verifier line of the log's key, or a file that holds it; ask the house")
    parser.add_argument("--witness", help="file of signed notes that was kept elsewhere")
    parser.add_argument("--actors", help="list of actors (actors.yaml) that you were given elsewhere")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    try:
        key = options.public_key
        if key is not None and "+" not in key:
            key = Path(key).read_text(encoding="utf-8")
        witness = Path(options.witness) if options.witness else None
        if witness is not None and not witness.is_file():
            raise Unreadable(f"{witness}: no such witness file")
        listed = listed_keys(Path(options.actors)) if options.actors else None
        check = Check(options.folder, key, witness, listed)
        check.run()
    except (Unreadable, OSError, UnicodeDecodeError) as wrong:
        print(wrong, file=sys.stderr)
        return 3
    except Misuse as wrong:
        print(wrong, file=sys.stderr)
        return 2
    if options.json:
        fields = {
            "ok": not check.findings, "namespace": check.namespace, "size": check.size, "root": check.manifest["root"],
            "signed": check.signed, "counts": dict(sorted(check.counts.items())), "findings": check.findings,
            "remarks": check.remarks, "erased": check.erased,
        }  # fmt: skip
        print(json.dumps(fields, ensure_ascii=False))
    else:
        print(f"log {check.namespace}: {check.size} records, root {check.manifest['root']}")
        print("checked: " + ", ".join(f"{number} {name}" for name, number in sorted(check.counts.items())))
        for line in check.erased:
            print(line)
        for line in check.remarks:
            print(f"remark: {line}")
        for line in check.findings:
            print(f"wrong: {line}")
        print(check.verdict())
    return 1 if check.findings else 0


if __name__ == "__main__":
    sys.exit(main())
