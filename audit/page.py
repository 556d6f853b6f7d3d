"""The report of an export as one HTML page: charts in it, tables to filter, no network, Chinese and English."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from .charts import bars, days
from .record import DECISIONS

TEMPLATE = Path(__file__).with_name("page.html")


class Figures:
    """Counts over all decisions, gathered as they are read; the charts show these, not only the rows of the page."""

    def __init__(self) -> None:
        self.by_day: dict[str, Counter[str]] = {}
        self.rules: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.holds: Counter[str] = Counter()
        self.corrections: dict[str, Counter[str]] = {}

    def add(self, decision: Mapping[str, Any]) -> None:
        """One decision."""
        day, kind, reason = str(decision["at"])[:10], str(decision["kind"]), str(decision["reason"])
        self.by_day.setdefault(day, Counter())[kind] += 1
        self.rules[str(decision["rule"])] += 1
        self.reasons[f"{decision['action']} {reason}"] += 1
        if decision["action"] == "IGNORE":
            self.refusals[reason] += 1
        if decision["action"] == "HOLD":
            self.holds[reason] += 1
        if kind == "correct" or reason.startswith("correction"):
            self.corrections.setdefault(day, Counter())["correct"] += 1

    def charts(self, outcomes: Mapping[str, int]) -> str:
        """The charts; ``outcomes`` of holds."""
        shown = (
            ("Decisions per day", "每日决定", days(self.by_day, DECISIONS)),
            ("Per rule", "按规则", bars(self.rules)),
            ("Per reason", "按理由", bars(self.reasons)),
            ("Refusals", "拒绝", bars(self.refusals)),
            ("Holds by reason", "暂缓的理由", bars(self.holds)),
            ("Holds by outcome", "暂缓的结果", bars(outcomes)),
            ("Corrections per day", "每日更正", days(self.corrections, ("correct",))),
        )
        return "".join(f"<div>{_both('h3', en, zh)}{chart}</div>" for en, zh, chart in shown)


def page(
    data: Mapping[str, Any], charts: str, facts: Iterable[tuple[str, str, str]], notes: Iterable[tuple[str, str]]
) -> str:
    """The page; ``facts`` are (English, Chinese, value) lines for its head, ``notes`` what a reader must know."""
    rows = "".join(
        f'<dt><span class="en">{en}</span><span class="zh">{zh}</span></dt><dd>{escape(value)}</dd>'
        for en, zh, value in facts
    )
    head = f"<dl>{rows}</dl>" + "".join(_both("p", escape(en), escape(zh)) for en, zh in notes)
    # "<" must not end the script element, whatever somebody said.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    template = TEMPLATE.read_text(encoding="utf-8")
    before, between, after = _split(template, "{{CHARTS}}", "{{DATA}}")
    filled = before.replace("{{TITLE}}", escape(str(data["namespace"]))).replace("{{HEAD}}", head)
    return f"{filled}{charts}{between}{text}{after}"


def _split(template: str, first: str, second: str) -> tuple[str, str, str]:
    before, _, rest = template.partition(first)
    between, _, after = rest.partition(second)
    return before, between, after


def _both(tag: str, en: str, zh: str) -> str:
    return f'<{tag}><span class="en">{en}</span><span class="zh">{zh}</span></{tag}>'
