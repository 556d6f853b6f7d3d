"""Bar charts as plain SVG: they stand in a page without any library, print sharply and read aloud as a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from html import escape

WIDTH, ROW, LABEL = 640, 22, 250  # pixels: the chart, a bar with its gap, the room for names
MOST = 20  # bars; the rest is summed up
MOST_COLUMNS = 90
ZH = {
    "add": "新增", "supersede": "更新", "confirm": "确认", "retract": "撤回", "expire": "到期", "hold": "暂缓",
    "ignore": "不记", "approve": "批准", "correct": "更正", "reject": "否决", "waiting": "等待中",
}  # fmt: skip
COLOURS = {
    "add": "#2f7d4f", "supersede": "#b7791f", "confirm": "#5b9a76", "retract": "#b03a2e", "expire": "#8c6d62",
    "hold": "#7d3c98", "ignore": "#9aa5b1", "approve": "#1f618d", "correct": "#d35400", "reject": "#943126",
}  # fmt: skip


def bars(counts: Mapping[str, int]) -> str:
    """One bar a name, the longest first."""
    ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    if len(ranked) > MOST:
        ranked = [*ranked[: MOST - 1], (f"+{len(ranked) - MOST + 1}", sum(each for _, each in ranked[MOST - 1 :]))]
    most = max((number for _, number in ranked), default=1)
    parts: list[str] = []
    for place, (name, number) in enumerate(ranked):
        y = place * ROW
        length = max(1, round((WIDTH - LABEL - 60) * number / most))
        colour = COLOURS.get(name, "#34618f")
        parts.append(
            f'<text x="{LABEL - 8}" y="{y + 15}" text-anchor="end">{escape(_named(name))}</text>'
            f'<rect x="{LABEL}" y="{y + 3}" width="{length}" height="{ROW - 6}" fill="{colour}"/>'
            f'<text x="{LABEL + length + 6}" y="{y + 15}">{number}</text>'
        )
    return _svg(parts, max(len(ranked), 1) * ROW + 4)


def days(counts: Mapping[str, Mapping[str, int]], kinds: Sequence[str]) -> str:
    """One column a day (a month, when they span more than ninety days), divided by kind; oldest left, none left out."""
    counts = _without_gaps(counts)
    most = max((sum(each.values()) for each in counts.values()), default=1)
    height, step = 180, min(40.0, (WIDTH - 40) / max(len(counts), 1))
    parts: list[str] = []
    for place, (day, by_kind) in enumerate(sorted(counts.items())):
        x, y = 30 + place * step, float(height)
        for kind in kinds:
            part = height * by_kind.get(kind, 0) / most
            if part:
                y -= part
                title = f"<title>{escape(day)}: {by_kind[kind]} {escape(kind)}</title>"
                parts.append(
                    f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(step - 2, 1):.1f}" height="{part:.1f}" '
                    f'fill="{COLOURS.get(kind, "#34618f")}">{title}</rect>'
                )
        if place % max(1, round(60 / step)) == 0:
            near = x > WIDTH - 60  # the name of a column at the right edge ends below it
            x, anchor = (x + step - 2, ' text-anchor="end"') if near else (x, "")
            parts.append(f'<text x="{x:.1f}" y="{height + 16}" font-size="10"{anchor}>{escape(day)}</text>')
    parts.append(f'<text x="0" y="10" font-size="10">{most}</text>')
    legend = [kind for kind in kinds if any(each.get(kind) for each in counts.values())]
    for place, kind in enumerate(legend):
        x, y = 30 + place % 6 * 100, height + 30 + place // 6 * 16
        parts.append(f'<rect x="{x}" y="{y}" width="10" height="10" fill="{COLOURS.get(kind, "#34618f")}"/>')
        parts.append(f'<text x="{x + 14}" y="{y + 9}" font-size="11">{escape(_named(kind))}</text>')
    return _svg(parts, height + 48 + len(legend) // 6 * 16)


def _named(kind: str) -> str:
    """A kind in both languages; other names as they stand."""
    return f"{kind} {ZH[kind]}" if kind in ZH else kind


def _without_gaps(counts: Mapping[str, Mapping[str, int]]) -> Mapping[str, Mapping[str, int]]:
    """Every day from the first to the last, or every month, at most ninety of them."""
    if not counts:
        return counts
    first, last = date.fromisoformat(min(counts)), date.fromisoformat(max(counts))
    span = (last - first).days + 1
    if span <= MOST_COLUMNS:
        days = (str(first + timedelta(each)) for each in range(span))
        return {day: counts.get(day, {}) for day in days}
    end = last.year * 12 + last.month
    begin = max(first.year * 12 + first.month, end - MOST_COLUMNS + 1)
    months: dict[str, dict[str, int]] = {
        f"{(each - 1) // 12:04}-{(each - 1) % 12 + 1:02}": {} for each in range(begin, end + 1)
    }
    for day, by_kind in counts.items():
        month = months.get(day[:7], {})  # of none that is shown: lost
        for kind, number in by_kind.items():
            month[kind] = month.get(kind, 0) + number
    return months


def _svg(parts: Sequence[str], height: int) -> str:
    style = 'font-family="system-ui, sans-serif" font-size="12" fill="#222"'
    return f'<svg role="img" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" {style}>{"".join(parts)}</svg>'
