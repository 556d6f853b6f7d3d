"""Exports a ledger as a folder that an auditor checks and reads without Recordari: records, proofs, page, verifier."""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from ..audit import check_bundle
from ..audit.checkpoint import SigningKey, origin_of, vkey
from ..audit.merkle import Frontier, inclusion_path, node_hash
from ..audit.record import Private, canonical, item_fields, read_record
from ..audit.story import REWRITES, Story
from ..model import dump, utc
from ..reader import Reader
from ..rules.parsed import SOURCES, Read, parse
from ..store.errors import Damaged
from ..store.inspection import Inspection
from ..trust.signing import places
from .pages import Gathered, write_pages

FORMAT = 1
README = """This folder is an export of the ledger {namespace} of Recordari: {size} records.

  report.html       open it in a browser: what is remembered, why, why not, who changed what (English, 中文)
  check_bundle.py   checks everything here without Recordari:
                    python3 check_bundle.py . --public-key "LINE THAT THE HOUSE GAVE YOU" --witness FILE --actors FILE
  pages/            earlier decisions and items, when report.html cannot hold all; it links them
  csv/              all tables for a spreadsheet
  records.jsonl     the records, the values beside them, and the proof of each

本文件夹是 Recordari 账本 {namespace} 的导出，共 {size} 条记录。用浏览器打开 report.html 阅读；
用 check_bundle.py 校验（只需 Python；校验签名另需 cryptography）。
"""


def export(memory: Reader, folder: Path, *, proofs: bool = True, now: datetime | None = None) -> dict[str, Any]:
    """Write the bundle of a namespace into a new or empty folder; returns the manifest.

    The manifest is signed when the key of the log is at hand. Takes memory in proportion to the log for proofs and
    the page. FileExistsError when the folder has something in it, Damaged when an item cannot be read.
    """
    check_empty(folder)
    made_at = utc(now if now is not None else datetime.now(UTC))
    folder.mkdir(parents=True, exist_ok=True)
    with memory.store.inspecting(memory.namespace) as tx:
        size, nodes = tx.log.frontier(memory.namespace)
        root = Frontier(size, tuple(nodes)).root()
        gathered = Gathered()
        _records(tx, folder, gathered, proofs=proofs)
        items = _items(tx, folder, gathered)
        _grounds(tx, folder, gathered)
        notes = "".join(tx.log.checkpoints(memory.namespace))
        (folder / "checkpoints.txt").write_text(notes, encoding="utf-8", newline="\n")
        texts = _rule_texts(tx, gathered)
    key = _key(memory)
    origin = origin_of(memory.namespace)
    lines = "" if key is None else vkey(origin, key.public) + "\n"
    (folder / "keys.txt").write_text(lines, encoding="utf-8", newline="\n")
    head = {"namespace": memory.namespace, "size": size, "root": root, "made_at": made_at}
    write_pages(folder, head, gathered, items, texts)
    shutil.copyfile(check_bundle.__file__, folder / "check_bundle.py")
    readme = README.format(namespace=memory.namespace, size=size)
    (folder / "README.txt").write_text(readme, encoding="utf-8", newline="\n")
    manifest = {
        "bundle": FORMAT, "files": _files(folder), "made_at": made_at, "namespace": memory.namespace,
        "origin": origin, "root": root.hex(), "size": size,
    }  # fmt: skip
    text = canonical(manifest)
    (folder / "manifest.json").write_text(text, encoding="utf-8", newline="\n")
    if key is not None:
        digest = hashlib.sha256(text.encode()).hexdigest()
        note = key.sign(f"{origin}/export\n{digest}\n", origin)
        (folder / "manifest.note").write_text(note, encoding="utf-8", newline="\n")
    return manifest


def check_empty(folder: Path) -> None:
    """FileExistsError when there is something in the folder."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(errno.EEXIST, "there is something already: name a new folder", str(folder))


def _key(memory: Reader) -> SigningKey | None:
    """The key of the log, when it lies there and nobody else can read it; none is made."""
    path, _ = places(memory.store, memory.settings)
    if path is None or not path.exists():
        return None
    key, wide = SigningKey.read(path)
    return None if wide else key


def _files(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        found[path.relative_to(folder).as_posix()] = {"bytes": path.stat().st_size, "sha256": digest}
    return found


def _line(file: IO[str], fields: Mapping[str, Any]) -> None:
    """One JSON line; half a surrogate pair is escaped, all else stands as it is."""
    text = json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    try:
        file.write(text + "\n")
    except UnicodeEncodeError:
        file.write(json.dumps(fields, sort_keys=True, separators=(",", ":")) + "\n")


# ---------------------------------------------------------------- reading
def _records(tx: Inspection, folder: Path, gathered: Gathered, *, proofs: bool) -> None:
    """All records with values and proofs, the turns that they commit to, and the decisions in readable form."""
    paths = all_proofs([row.leaf for row in tx.log.read(tx.namespace)]) if proofs else None
    with ExitStack() as files:
        names = ("records.jsonl", "turns.jsonl", "decisions.jsonl")
        records, turns, decisions = (
            files.enter_context((folder / name).open("w", encoding="utf-8", newline="\n")) for name in names
        )
        story = Story(lambda turn_id: gathered.turns.get(turn_id, {}))
        for row in tx.log.read(tx.namespace):
            private = {name: Private(each.value, each.salt) for name, each in row.private.items()}
            line: dict[str, Any] = {
                "record": row.record,
                "private": {name: [each.value, each.salt] for name, each in private.items()},
            }
            if paths is not None:
                line["proof"] = [base64.b64encode(each).decode() for each in next(paths)]
            _line(records, line)
            record = read_record(row.record)
            if record.decides and record.content["ordinal"] == 0:
                _turn(tx, turns, str(record.content["turn_id"]), gathered)
            told = story.read(record, private)
            if record.kind in REWRITES:
                gathered.wordings.append(told)
            elif not record.decides:
                gathered.take_act(told)
            else:
                _line(decisions, told)
                gathered.take(told, map(str, record.content.get("written", ())))
    gathered.holds = sorted(story.holds.values(), key=lambda each: -each["seq"])


def all_proofs(leaves: list[bytes]) -> Iterator[tuple[bytes, ...]]:
    """The inclusion proofs of all leaves, in order; every inner node is hashed once."""
    nodes: dict[tuple[int, int], bytes] = {}

    def root(low: int, high: int) -> bytes:
        if high - low == 1:
            return leaves[low]
        found = nodes.get((low, high))
        if found is None:
            middle = low + (1 << ((high - low - 1).bit_length() - 1))
            found = nodes[(low, high)] = node_hash(root(low, middle), root(middle, high))
        return found

    for index in range(len(leaves)):
        yield inclusion_path(root, index, len(leaves))


def _turn(tx: Inspection, turns: IO[str], turn_id: str, gathered: Gathered) -> None:
    turn = tx.turn(turn_id)
    if turn is None:
        return
    erased = not turn.text
    fields = dump(turn)
    _line(turns, {"turn": fields, "erased": erased})
    gathered.received[turn_id] = utc(turn.received_at)
    gathered.turns[turn_id] = {**fields, "erased": erased}


def _items(tx: Inspection, folder: Path, gathered: Gathered) -> list[dict[str, Any]]:
    """All item versions, in the order of writing; those of the page, with the days on which they were known."""
    shown: list[dict[str, Any]] = []
    latest: dict[str, dict[str, Any]] = {}
    with (folder / "items.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for kept in tx.items_kept():
            if kept.item is None:
                raise Damaged(tx.place, f"item {kept.item_id} cannot be read", "`recordari audit verify` says more")
            item = kept.item
            _line(file, {"item": item_fields(item), "row": kept.row})
            known = gathered.received.get(kept.written_by, "")
            # a version that only rewords another was written by none
            seq, at = gathered.wrote.get(f"{item.id}/{item.version}", (None, None))
            row = {
                "id": item.id, "version": item.version, "entity": item.entity, "slot": item.slot,
                "qualifier": item.qualifier, "value": item.canonical, "polarity": item.polarity,
                "status": item.status, "asserted_by": item.asserted_by,
                "valid_from": utc(item.valid_from) if item.valid_from else None,
                "valid_to": utc(item.valid_to) if item.valid_to else None, "known_from": known, "known_until": None,
                "record": seq, "recorded": at, "sentence": item.sentence, "turn": item.turn_id, "start": item.start,
                "end": item.end, "rules": sorted({item.rule, *gathered.rules_of.get(item.id, ())} - {""}),
                "sets": sorted(each[:12] for each in gathered.sets_of.get(item.id, ())),
            }  # fmt: skip
            if item.id in latest:
                latest[item.id]["known_until"] = known
            latest[item.id] = row
            shown.append(row)
    return shown


# ---------------------------------------------------------------- what decisions name
def _grounds(tx: Inspection, folder: Path, gathered: Gathered) -> None:
    """Rule sets, rule by rule as they are digested, and runtimes."""
    (folder / "rulesets").mkdir()
    (folder / "runtimes").mkdir()
    for digest in sorted(gathered.sets):
        sources = tx.ruleset(digest)
        if sources is None and not gathered.sets[digest]["decisions"]:
            continue  # published elsewhere: nothing here rests on it
        sources = sources or {}
        reads = [Read(SOURCES, f"{name}.yaml", text) for name, text in sorted(sources.items())]
        with (folder / "rulesets" / f"{digest}.jsonl").open("w", encoding="utf-8", newline="\n") as file:
            for read, parsed in parse(reads, trusting=True):
                if parsed.data is None:
                    continue
                data = {name: parsed.data[name] for name in sorted(parsed.data)}
                content = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
                fields = {"id": data["id"], "version": data["version"], "digest": parsed.digest, "content": content}
                _line(file, {**fields, "source": read.text})
    for digest in sorted(gathered.runtimes):
        text = canonical(tx.runtime(digest) or {})
        (folder / "runtimes" / f"{digest}.json").write_text(text, encoding="utf-8", newline="\n")


def _rule_texts(tx: Inspection, gathered: Gathered) -> dict[str, str]:
    """``digest rule@version`` → the text of the file in the version of that day, for the page."""
    texts: dict[str, str] = {}
    for digest in sorted(gathered.sets):
        sources = tx.ruleset(digest) or {}
        for ref in sorted(ref for of, ref in gathered.refs if of == digest):
            name = ref.partition("@")[0]
            while name and name not in sources:
                name = name.rpartition(".")[0]
            if name:
                texts[f"{digest} {ref}"] = sources[name]
    return texts
