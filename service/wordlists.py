"""Word lists as CSV, for people with a spreadsheet: a vocabulary goes out and comes back as it was.

Columns: ``part`` (words, labels or patterns), ``word``, ``means`` (the value of a word, the concept of a label, the
pattern of a name), ``type`` (text, number or switch, for values). The file begins with a byte order mark, so that a
spreadsheet reads it as UTF-8. A cell that a spreadsheet would take for a formula begins with an apostrophe.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..rulefile import Problem, RuleError
from .authoring import TEMPLATES, next_version
from .described import first_line

COLUMNS = ("part", "word", "means", "type")
PARTS = ("words", "labels", "patterns")
_FORMULA = ("=", "+", "-", "@", "'", "\t")
_TOP = re.compile(r"^([a-z_]+):", re.MULTILINE)


def export(data: dict[str, Any]) -> str:
    """The words of a vocabulary (plain data of its file) as CSV."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for part in PARTS:
        for word, means, kind in _rows(part, data.get(part)):
            writer.writerow([part, _safe(word), _safe(means), kind])
    return "\ufeff" + out.getvalue()


def _rows(part: str, node: Any) -> Iterator[tuple[str, str, str]]:
    if isinstance(node, list):
        yield from ((str(word), "", "") for word in node)
    elif isinstance(node, dict) and part == "labels":
        yield from ((str(word), str(concept), "") for concept, words in node.items() for word in words)
    elif isinstance(node, dict):
        for word, value in node.items():
            kind = "switch" if isinstance(value, bool) else "number" if isinstance(value, int) else "text"
            yield str(word), str(value).lower() if kind == "switch" else str(value), kind


def _safe(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _plain(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell


def read(path: Path) -> dict[str, Any]:
    """The parts of a vocabulary that a CSV file describes; RuleError tells all that is wrong with it."""
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise _refused(path, line, "the file is not UTF-8", "Save it as “CSV UTF-8”, not as plain CSV.") from None
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    problems: list[Problem] = []
    found: dict[str, Any] = {}
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    header = [cell.strip().lower() for cell in next(reader, [])]
    if not {"part", "word"} <= set(header):
        raise _refused(path, 1, f"the columns are {', '.join(header) or 'missing'}", f"Name them {', '.join(COLUMNS)}.")
    for row in reader:
        if any(cell.strip() for cell in row):
            cells = dict(zip(header, row, strict=False))
            wrong = _enter(found, cells)
            if wrong:
                problems.append(Problem(str(path), reader.line_num, 1, *wrong, "wrong-value"))
    if problems:
        raise RuleError(problems)
    if not found:
        raise _refused(path, 1, "the file names no word", "One word stands in each row.")
    return found


def _enter(found: dict[str, Any], cells: dict[str, str]) -> tuple[str, str] | None:
    """Enter one row; what is wrong with it and the way out, or None."""
    part, word, means, kind = (cells.get(column, "") for column in COLUMNS)
    part, kind, word, means = part.strip(), kind.strip(), _plain(word), _plain(means)
    if part not in PARTS:
        return f"unknown part {part!r}", f"One of: {', '.join(PARTS)}."
    if not word:
        return "the word is empty", "Write it, or remove the row."
    if part == "labels":
        if not means:
            return f"the label {word!r} means nothing", "Write its concept in the column `means`."
        found.setdefault("labels", {}).setdefault(means, []).append(word)
        return None
    valued = part == "patterns" or bool(kind)
    held = found.setdefault(part, {} if valued else [])
    if isinstance(held, dict) != valued:
        return f"{word!r} has {'a' if valued else 'no'} value and others have {'none' if valued else 'one'}", (
            "Either all words have a value with its type, or none has."
        )  # fmt: skip
    if isinstance(held, list):
        held.append(word)
        return None
    if word in held:
        return f"{word!r} stands twice", "Keep one of them."
    if kind == "number":
        if not re.fullmatch(r"[-+]?[0-9]{1,18}", means):
            return f"{means!r} is no whole number", "Write digits, or type `text`."
        held[word] = int(means)
    elif kind == "switch":
        if means.lower() not in ("true", "false"):
            return f"{means!r} is neither true nor false", "Write one of them, or type `text`."
        held[word] = means.lower() == "true"
    elif kind in ("text", ""):
        held[word] = means
    else:
        return f"unknown type {kind!r}", "One of: text, number, switch."
    return None


def put(parts: dict[str, Any], path: Path) -> str:
    """The text of a vocabulary file with these parts in the place of its own; a new file when there is none.

    A file that changes gets the next version and a line in its changelog.
    """
    if not path.exists():
        text = (TEMPLATES / "vocabulary.yaml").read_text(encoding="utf-8").replace("{id}", path.stem)
        text = f"{first_line('vocabulary', path.parent)}\n{text}"
        return _replaced(text, parts)
    from ..rules.yamltext import YamlText

    text = path.read_text(encoding="utf-8-sig")
    source = YamlText(text, str(path))
    if source.problems or not isinstance(source.data, dict):
        raise RuleError(source.problems)
    if source.data.get("kind") != "vocabulary":
        line, column = source.place(("kind",))
        raise RuleError([Problem(str(path), line, column, "this is no vocabulary", "Name one.", "wrong-value")])
    if {part: source.data[part] for part in PARTS if source.data.get(part)} == parts:
        return text
    return _replaced(next_version(text, "Words from a spreadsheet."), parts)


def _replaced(text: str, parts: dict[str, Any]) -> str:
    """The text with the blocks of these parts, each where the first of the old ones stood."""
    starts = [*(hit.start() for hit in _TOP.finditer(text)), len(text)]
    blocks = [text[: starts[0]], *(text[a:b] for a, b in pairwise(starts))]
    new = "".join(_block(part, parts[part]) for part in PARTS if part in parts)
    out: list[str] = []
    for block in blocks:
        name = block.partition(":")[0]
        if name in PARTS:
            out.append(new)
            new = ""
        else:
            out.append(block if block.endswith("\n") or not block else f"{block}\n")
    return "".join(out) + new


def _block(part: str, node: Any) -> str:
    """One part as YAML: a word a line."""
    if isinstance(node, list):
        return f"{part}:\n" + "".join(f"  - {_scalar(word)}\n" for word in node)
    if part == "labels":
        rows = (f"  {_scalar(name)}: [{', '.join(map(_scalar, words))}]\n" for name, words in node.items())
        return f"{part}:\n" + "".join(rows)
    rows = (f"  {_scalar(word)}: {_scalar(value)}\n" for word, value in node.items())
    return f"{part}:\n" + "".join(rows)


def _scalar(value: Any) -> str:
    """A scalar that YAML 1.1 and 1.2 read as what it is: plain where it is a word, else in quotes."""
    if isinstance(value, bool | int):
        return json.dumps(value)
    plain = re.fullmatch(r"[A-Za-z\u3400-\u9fff][A-Za-z\u3400-\u9fff]*(?: [A-Za-z\u3400-\u9fff]+)*", value)
    spoken = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
    return value if plain and value.lower() not in spoken else json.dumps(value, ensure_ascii=False)


def _refused(path: Path, line: int, message: str, way_out: str) -> RuleError:
    return RuleError([Problem(str(path), line, 1, message, way_out, "wrong-value")])
