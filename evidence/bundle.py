"""Exports a ledger as a folder that an auditor checks and reads without Recordari: records, proofs, page, verifier."""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from ..audit import check_bundle
from ..audit.checkpoint import SigningKey, origin_of, vkey
from ..audit.csvfile import write_csv
from ..audit.merkle import Frontier, inclusion_path, node_hash
from ..audit.page import Figures, page
from ..audit.record import Private, canonical, item_fields, read_record
from ..audit.story import REWRITES, Story
from ..model import dump, utc
from ..reader import Reader
from ..rules.parsed import SOURCES, Read, parse
from ..store.errors import Damaged
from ..store.inspection import Inspection
from ..trust.signing import places

FORMAT = 1
MOST = 20_000  # decisions on the page, the latest; the files have all
ITEM_COLUMNS = (
    "id", "version", "entity", "slot", "qualifier", "value", "polarity", "status", "asserted_by", "valid_from",
    "valid_to", "known_from", "known_until", "sentence", "turn",
)  # fmt: skip
DECISION_COLUMNS = (
    "seq", "at", "kind", "action", "reason", "why_en", "why_zh", "rule", "capture", "entity", "slot", "qualifier",
    "value", "item", "target", "turn", "start", "end", "author", "signed", "question", "ruleset", "runtime",
)  # fmt: skip
TURN_COLUMNS = (
    "turn_id", "conversation", "ordinal", "entity", "speaker", "author", "said_at", "received_at", "text",
)  # fmt: skip
README = """This folder is an export of the ledger {namespace} of Recordari: {size} records.

  report.html       open it in a browser: what is remembered, why, why not, who changed what (English, 中文)
  check_bundle.py   checks everything here without Recordari:
                    python check_bundle.py . --public-key "LINE THAT THE HOUSE GAVE YOU" --witness FILE
  csv/              the same tables for a spreadsheet
  records.jsonl     the records, the values beside them, and the proof of each

本文件夹是 Recordari 账本 {namespace} 的导出，共 {size} 条记录。用浏览器打开 report.html 阅读；
用 check_bundle.py 校验（只需 Python；校验签名另需 cryptography）。
"""


@dataclass(slots=True)
class Gathered:
    """What is kept in memory while the log is read once."""

    figures: Figures = field(default_factory=Figures)
    decisions: list[dict[str, Any]] = field(default_factory=list)
    turns: dict[str, dict[str, Any]] = field(default_factory=dict)
    received: dict[str, str] = field(default_factory=dict)  # turn → when it was received
    acts: list[dict[str, Any]] = field(default_factory=list)
    wordings: list[dict[str, Any]] = field(default_factory=list)
    rulesets: Counter[str] = field(default_factory=Counter)
    runtimes: Counter[str] = field(default_factory=Counter)
    refs: set[tuple[str, str]] = field(default_factory=set)  # (rule set, rule) to be shown on the page
    rules_of: dict[str, set[str]] = field(default_factory=dict)  # item → rules it rests on
    holds: list[dict[str, Any]] = field(default_factory=list)

    def take(self, decision: dict[str, Any]) -> None:
        """One decision: counted, kept while it is among the latest, its rules remembered."""
        self.figures.add(decision)
        self.decisions.append(decision)
        if len(self.decisions) > MOST + 1000:
            del self.decisions[:1000]
        self.rulesets[decision["ruleset"]] += 1
        self.runtimes[decision["runtime"]] += 1
        for ref in filter(None, (decision["rule"], decision["capture"])):
            self.refs.add((decision["ruleset"], ref))
            for item in decision["written"]:
                self.rules_of.setdefault(item, set()).add(ref)


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
    _page(folder, memory.namespace, size, root, made_at, gathered, items, texts)
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
                gathered.acts.append(told)
            else:
                _line(decisions, told)
                gathered.take(told)
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
            row = {
                "id": item.id, "version": item.version, "entity": item.entity, "slot": item.slot,
                "qualifier": item.qualifier, "value": item.canonical, "polarity": item.polarity,
                "status": item.status, "asserted_by": item.asserted_by,
                "valid_from": utc(item.valid_from) if item.valid_from else None,
                "valid_to": utc(item.valid_to) if item.valid_to else None, "known_from": known, "known_until": None,
                "sentence": item.sentence, "turn": item.turn_id, "start": item.start, "end": item.end,
                "rules": sorted({item.rule, *gathered.rules_of.get(item.id, ())} - {""}),
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
    for digest in sorted(set(gathered.rulesets) - {""}):
        sources = tx.ruleset(digest) or {}
        reads = [Read(SOURCES, f"{name}.yaml", text) for name, text in sorted(sources.items())]
        with (folder / "rulesets" / f"{digest}.jsonl").open("w", encoding="utf-8", newline="\n") as file:
            for read, parsed in parse(reads, trusting=True):
                if parsed.data is None:
                    continue
                data = {name: parsed.data[name] for name in sorted(parsed.data)}
                content = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
                fields = {"id": data["id"], "version": data["version"], "digest": parsed.digest, "content": content}
                _line(file, {**fields, "source": read.text})
    for digest in sorted(set(gathered.runtimes) - {""}):
        text = canonical(tx.runtime(digest) or {})
        (folder / "runtimes" / f"{digest}.json").write_text(text, encoding="utf-8", newline="\n")


def _rule_texts(tx: Inspection, gathered: Gathered) -> dict[str, str]:
    """``digest rule@version`` → the text of the file in the version of that day, for the page."""
    texts: dict[str, str] = {}
    for digest in sorted(set(gathered.rulesets) - {""}):
        sources = tx.ruleset(digest) or {}
        for ref in sorted(ref for of, ref in gathered.refs if of == digest):
            name = ref.partition("@")[0]
            while name and name not in sources:
                name = name.rpartition(".")[0]
            if name:
                texts[f"{digest} {ref}"] = sources[name]
    return texts


# ---------------------------------------------------------------- for people
def _page(
    folder: Path, namespace: str, size: int, root: bytes, made_at: str, gathered: Gathered,
    items: list[dict[str, Any]], texts: Mapping[str, str],
) -> None:  # fmt: skip
    """The page and the tables."""
    decisions = list(reversed(gathered.decisions[-MOST:]))
    used = {each["turn"] for each in decisions} | {each["turn"] for each in items}
    data = {
        "namespace": namespace, "items": items[-MOST:], "decisions": decisions, "holds": gathered.holds,
        "turns": {name: turn for name, turn in gathered.turns.items() if name in used},
        "wordings": list(reversed(gathered.wordings)), "acts": list(reversed(gathered.acts)), "rules": texts,
    }  # fmt: skip
    facts = (
        ("records", "记录", str(size)), ("root of the log", "根哈希", root.hex()), ("exported", "导出时间", made_at),
        ("item versions", "条目版本", str(len(items))), ("turns", "轮次", str(len(gathered.turns))),
    )  # fmt: skip
    notes = [
        "This page proves nothing by itself: check_bundle.py does. 本页本身不构成证明：请用 check_bundle.py 校验。"
    ]
    total = sum(gathered.figures.reasons.values())
    if total > MOST:
        notes.append(f"The latest {MOST} of {total} decisions are on this page; csv/ has all of them.")
    charts = gathered.figures.charts(Counter(each["outcome"] for each in gathered.holds))
    (folder / "report.html").write_text(page(data, charts, facts, notes), encoding="utf-8", newline="\n")
    tables: tuple[tuple[str, tuple[str, ...], Iterable[Mapping[str, Any]]], ...] = (
        ("items", ITEM_COLUMNS, items),
        ("decisions", DECISION_COLUMNS, _lines(folder / "decisions.jsonl")),
        ("turns", TURN_COLUMNS, gathered.turns.values()),
        ("holds", ("seq", "at", "item", "entity", "slot", "value", "reason", "question", "outcome", "who",
                   "signed", "decided_at", "decided_by"), gathered.holds),
        ("wordings", ("seq", "at", "item", "outcome", "why", "template", "answer", "model"), gathered.wordings),
        ("acts", ("seq", "at", "kind", "who", "content"), gathered.acts),
    )  # fmt: skip
    for name, columns, rows in tables:
        write_csv(folder / "csv" / f"{name}.csv", columns, ([row.get(column) for column in columns] for row in rows))


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            yield json.loads(line)
