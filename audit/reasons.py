"""Plain words for every reason code, read from ``reasons.yaml``; also the page of the documentation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

FILE = Path(__file__).with_name("reasons.yaml")

_INTRO = """# Reason codes

Every decision carries one reason code. The list is closed: a policy row with any other code does not load. The same
code under two actions is two reasons. This page is made from `audit/reasons.yaml`; `recordari explain` and
`recordari why-not` answer in the same words. A reserved code belongs to the list, but no shipped rule gives it yet; a
policy row of your own may.
"""
_ACTIONS = {
    "IGNORE": "nothing is remembered",
    "CONFIRM": "known already; the evidence grows",
    "ADD": "something new is remembered",
    "SUPERSEDE": "a new value takes the place of a known one, which is kept as history",
    "RETRACT": "a known value ends or is taken back",
    "HOLD": "waits for a person",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """What a code means, in both languages, and a sentence that gets it."""

    action: str
    code: str
    en: str
    zh: str
    example: str
    reserved: bool = False  # part of the closed list, but nothing that is shipped gives it

    def text(self, language: Literal["en", "zh"]) -> str:
        """The meaning in one of the languages."""
        return self.zh if language == "zh" else self.en


RESERVED = " (reserved)"


@cache
def reasons() -> Mapping[tuple[str, str], Reason]:
    """All reasons by (action, code), in the order of the file."""
    from ruamel.yaml import YAML  # 40 ms; only explanations need it

    content = YAML(typ="safe", pure=True).load(FILE.read_text(encoding="utf-8"))
    return {
        (action, code): Reason(action, code, **words)
        for action, codes in content.items()
        for code, words in codes.items()
    }


def reason(action: str, code: str) -> Reason:
    """The reason of a decision; a code of another version is explained as unknown, never a crash."""
    unknown = f"The code {code} is not known to this version."
    return reasons().get((action, code)) or Reason(action, code, unknown, f"此版本不认识代码 {code}。", "")


def page() -> str:
    """The documentation page ``docs/reason-codes.md``."""
    lines = [_INTRO]
    for action, meaning in _ACTIONS.items():
        lines += [f"## {action}: {meaning}\n", "| Code | Meaning | 含义 | Example |", "|---|---|---|---|"]
        lines += [
            f"| `{each.code}`{RESERVED if each.reserved else ''} | {each.en} | {each.zh} | {each.example} |"
            for each in reasons().values()
            if each.action == action
        ]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"
