"""YAML text → plain data (YAML 1.2, strictly) and, for messages, the line and column of any path in it.

The parser of ruamel.yaml builds the node tree; scalars are resolved here by the YAML 1.2 core schema alone, so that a
date stays the text that was written and nothing depends on the resolver of a library version. Tags and merge keys are
refused: a rule file must read the same to a person and to the machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ..rulefile import Problem

Path = Sequence[str | int]

_NULL = re.compile(r"(?:~|null|Null|NULL|)\Z")
_BOOL = re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")
# More than 18 digits are an account or card number, not a quantity: they stay text.
_INT = re.compile(r"(?:[-+]?[0-9]{1,18}|0o[0-7]{1,18}|0x[0-9a-fA-F]{1,15})\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]{1,18}(?:\.[0-9]*|(?=[eE])))(?:[eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = re.compile(r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z")
# Tags that the library gives a scalar without being told; they do not count here.
_IMPLICIT = frozenset({"null", "bool", "int", "float", "str", "timestamp", "value", "merge"})
# Deeper than any rule file needs; the recursive parser would otherwise end in a RecursionError.
DEEPEST = 40
# An alias is written out where it is used; this ends the ones that would fill the memory.
MOST_NODES = 200_000


class YamlText:
    """One rule file: its plain data when it parses, its problems when it does not, and places of paths."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self._nodes = 0
        self._root = self._compose(text)
        self.data: Any = None if self._root is None else self._plain(self._root, 0)
        if self._root is not None and not isinstance(self._root, MappingNode) and not self.problems:
            self._complain(self._root, "a rule file is a mapping of keys to values", _mapping_way_out(text))

    def place(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Line and column (from 1) of the value at ``path``, or of its key; as far down as the path exists."""
        node: Node | None = self._root
        if node is None:
            return (1, 1)
        mark = node.start_mark
        for index, step in enumerate(path):
            found = _child(node, step)
            if found is None:
                if isinstance(node, ScalarNode):
                    break
                continue  # a step that is no key here names a type inside a union
            label, node = found
            last = index == len(path) - 1
            mark = label.start_mark if key and last and label is not None else node.start_mark
        return (mark.line + 1, mark.column + 1)

    def last(self, text: str) -> tuple[int, int] | None:
        """Line and column of the last scalar that is exactly this text: where a message about the whole file points."""
        stack = [self._root] if self._root is not None else []
        found: Node | None = None
        while stack:
            node = stack.pop()
            if isinstance(node, ScalarNode):
                if node.value == text and (found is None or node.start_mark.index > found.start_mark.index):
                    found = node
            elif isinstance(node, SequenceNode):
                stack.extend(node.value)
            else:
                stack.extend(part for pair in node.value for part in pair)
        return (found.start_mark.line + 1, found.start_mark.column + 1) if found is not None else None

    def _complain(self, node: Node, message: str, way_out: str = "") -> None:
        mark = node.start_mark
        self.problems.append(Problem(self.file, mark.line + 1, mark.column + 1, message, way_out, "not-yaml"))

    def _compose(self, text: str) -> Node | None:
        if not text.strip():
            self.problems.append(
                Problem(self.file, 1, 1, "the file is empty", "Write a rule or remove the file.", "not-yaml")
            )
            return None
        try:
            root: Node | None = YAML(typ="safe", pure=True).compose(text)
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
            said = error.problem or error.context or "cannot be read as YAML"
            if wide := _WIDE_COLON.search(text):  # a key that is none is noticed only lines later
                line, column = text.count("\n", 0, wide.end()) + 1, wide.end() - text.rfind("\n", 0, wide.end()) - 1
            self.problems.append(
                Problem(self.file, line, column, f"not YAML: {said}", _way_out(said, text, line), "not-yaml")
            )
            return None
        except YAMLError as error:  # the reader: a control character
            position = getattr(error, "position", 0) or 0
            line = text.count("\n", 0, position) + 1
            column = position - (text.rfind("\n", 0, position) + 1) + 1
            said = "a control character that YAML does not allow"
            self.problems.append(Problem(self.file, line, column, said, "Remove the invisible character.", "not-yaml"))
            return None
        except RecursionError:
            self.problems.append(Problem(self.file, 1, 1, "nested too deeply", "Flatten the file.", "not-yaml"))
            return None
        if root is None:
            self.problems.append(
                Problem(self.file, 1, 1, "the file holds only comments", "Write a rule in it.", "not-yaml")
            )
        return root

    def _plain(self, node: Node, depth: int) -> Any:
        if depth > DEEPEST:
            self._complain(node, f"nested more than {DEEPEST} deep", "Flatten the file.")
            return None
        self._nodes += 1
        if self._nodes > MOST_NODES:
            if self._nodes == MOST_NODES + 1:
                self._complain(node, f"more than {MOST_NODES} values", "Aliases of aliases grow fast: write them out.")
            return None
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        if isinstance(node, SequenceNode):
            self._tagless(node, "seq")
            return [self._plain(child, depth + 1) for child in node.value]
        if not isinstance(node, MappingNode):
            raise TypeError(type(node).__name__)  # there is no fourth kind of node
        self._tagless(node, "map")
        return dict(self._pairs(node, depth))

    def _pairs(self, node: MappingNode, depth: int) -> Iterator[tuple[str, Any]]:
        seen: dict[str, int] = {}
        for label, child in node.value:
            if not isinstance(label, ScalarNode):
                self._complain(label, "a key must be plain text", "Put it in quotes.")
                continue
            name = str(label.value)
            if name in seen:
                where = f"the first stands in line {seen[name]}"
                self._complain(label, f"the key {name!r} stands twice; {where}", "Keep one of them.")
                continue
            seen[name] = label.start_mark.line + 1
            if name == "<<" and label.style is None:
                self._complain(label, "merge keys are not part of YAML 1.2", "Write the fields out.")
                continue
            yield name, self._plain(child, depth + 1)

    def _tagless(self, node: Node, usual: str) -> None:
        tag = str(node.tag)
        if tag != f"tag:yaml.org,2002:{usual}":
            self._complain(node, f"the tag {tag!r} is not allowed", "Leave the tag out.")

    def _scalar(self, node: ScalarNode) -> Any:
        text = str(node.value)
        if node.style is not None:  # quoted or a block: text as it stands
            if str(node.tag) != "tag:yaml.org,2002:str":
                self._tagless(node, "str")
            return text
        if str(node.tag).removeprefix("tag:yaml.org,2002:") not in _IMPLICIT:
            self._complain(node, f"the tag {node.tag!s} is not allowed", "Leave the tag out.")
            return None
        if _NULL.match(text):
            return None
        if _BOOL.match(text):
            return text[0] in "tT"
        if _INT.match(text):
            return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
        if _FLOAT.match(text):
            return self._finite(node, float(text))
        if _NOT_FINITE.match(text):
            return self._finite(node, float("inf"))
        return text

    def _finite(self, node: ScalarNode, number: float) -> float | None:
        if number in (float("inf"), float("-inf")):
            self._complain(node, f"{node.value} is no finite number", "Write a number, or put it in quotes.")
            return None
        return number


def _child(node: Node, step: str | int) -> tuple[Node | None, Node] | None:
    if isinstance(node, MappingNode):
        for label, child in node.value:
            if str(label.value) == str(step):
                return label, child
    if isinstance(node, SequenceNode) and isinstance(step, int) and 0 <= step < len(node.value):
        return None, node.value[step]
    return None


_FULL_WIDTH = {
    "：": ":", "，": ",", "［": "[", "］": "]", "【": "[", "】": "]", "｛": "{", "｝": "}", "＃": "#", "－": "-",
    "“": '"', "”": '"', "＂": '"', "‘": "'", "’": "'", "\u3000": "a space", "\xa0": "a space",
}  # fmt: skip


_WIDE_COLON = re.compile(r"^ *(?:- *)?[a-z_]{2,40} *：", re.MULTILINE)


def _full_width(row: str) -> str:
    """A way out for the first sign that an input method for Chinese writes in place of one of YAML."""
    sign = next((char for char in row if char in _FULL_WIDTH), None)
    if sign is None:
        return ""
    half = _FULL_WIDTH[sign]
    return f"{sign!r} is no sign of YAML: write {half if len(half) > 1 else repr(half)} of the keyboard for English."


def _mapping_way_out(text: str) -> str:
    row = next((row for row in text.split("\n") if row.strip() and not row.startswith("#")), "")
    return _full_width(row) or "Begin with `id: …`."


def _way_out(said: str, text: str, line: int) -> str:
    lines = text.split("\n")
    row = lines[line - 1] if line <= len(lines) else ""
    before = lines[line - 2] if line > 1 else ""
    code = row.partition("#")[0] if "'" not in row and '"' not in row else row
    if "\\t" in said or "\t" in row[: len(row) - len(row.lstrip())]:
        return "Indent with spaces, not with tabs."
    if full_width := _full_width(code) or ("expected" in said and _full_width(before)):
        return full_width
    if "mapping values are not allowed" in said:
        return "Put text that holds ': ' in quotes."
    if "cannot start any token" in said:
        return "Put text that begins with this character in quotes."
    if "but found another document" in said or "single document" in said:
        return "One file holds one rule: split it at `---`."
    return "Check indentation, quotes and brackets just before this place."
