"""A back-test as one HTML page: nothing is loaded from elsewhere, all that was said is escaped, in both languages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from ..rules.backtest import Difference
from ..rules.compare import FieldChange, RuleChange, shown
from ..rules.tally import COUNTS, Tally, mark_of

MOST = 2000  # differences on a page; JSON has them all
FIELDS_SHOWN = 40  # lines of one changed rule

WORDS = {
    "title": ("Back-test of a rule change", "规则变更回测"),
    "from": ("from", "旧规则集"),
    "to": ("to", "新规则集"),
    "corpus": ("corpus", "语料"),
    "dialogues": ("dialogues", "对话"),
    "turns": ("turns", "轮次"),
    "identical": ("identical", "相同"),
    "added": ("added", "新增"),
    "removed": ("removed", "减少"),
    "changed": ("changed", "改变"),
    "mended": ("mended", "改对"),
    "broken": ("broken", "改错"),
    "decisions": ("Decisions", "决定"),
    "labels": ("Labels: right before and after", "标注：改前与改后正确数"),
    "rules_changed": ("Rules that differ", "有差异的规则"),
    "by_slot": ("By slot", "按槽位"),
    "by_rule": ("By rule", "按规则"),
    "slot": ("slot", "槽位"),
    "rule": ("rule", "规则"),
    "differences": ("Differences", "差异"),
    "follows": ("after memories had parted", "记忆分歧之后"),
    "before": ("before", "改前"),
    "after": ("after", "改后"),
    "none": ("nothing", "无"),
    "turn": ("turn", "第几轮"),
    "same_rules": ("rules the same", "条规则相同"),
    "more": ("more differences stand in the JSON output", "条差异见 JSON 输出"),
    "right": ("right", "正确"),
    "wrong": ("wrong", "错误"),
}

STYLE = """
:root{color-scheme:light dark;--line:#8885;--add:#1a7f37;--del:#b42318;--chg:#9a6700;--dim:#777}
body{font:15px/1.5 system-ui,"Noto Sans CJK SC","PingFang SC","Microsoft YaHei",sans-serif;margin:2rem auto;
max-width:72rem;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}
code,.d{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.9em;overflow-wrap:anywhere}
table{border-collapse:collapse}td,th{padding:.2rem .7rem;border-bottom:1px solid var(--line);text-align:right}
td:first-child,th:first-child{text-align:left}
article{border:1px solid var(--line);border-radius:6px;padding:.6rem .9rem;margin:.6rem 0}
article header{color:var(--dim);font-size:.85em}article p{margin:.3rem 0}
.added{color:var(--add)}.removed,.broken{color:var(--del)}.changed{color:var(--chg)}.mended{color:var(--add)}
mark{background:#ffd54f66;color:inherit;border-radius:3px}
ul{padding-left:1.2rem}.dim{color:var(--dim)}
#zh:checked~main .en,#en:checked~main .zh{display:none}
#f-added:checked~section article:not(.is-added),#f-removed:checked~section article:not(.is-removed),
#f-changed:checked~section article:not(.is-changed),#f-broken:checked~section article:not(.is-broken),
#f-mended:checked~section article:not(.is-mended){display:none}
label{margin-right:.8rem}
"""


def page(tally: Tally, language: str = "en") -> str:
    """The whole page; ``language`` is the one it opens in, the reader can switch."""
    body = "\n".join(_body(tally))
    checked = {name: " checked" if name == language else "" for name in ("en", "zh")}
    return (
        f'<!DOCTYPE html>\n<html lang="{escape(language)}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(WORDS['title'][language == 'zh'])}</title><style>{STYLE}</style></head><body>\n"
        f'<input type="radio" name="language" id="en"{checked["en"]}><label for="en" lang="en">English</label>'
        f'<input type="radio" name="language" id="zh"{checked["zh"]}><label for="zh" lang="zh">中文</label>\n'
        f"<main>\n{body}\n</main></body></html>\n"
    )


def _say(word: str) -> str:
    """A word of the page in both languages; the page hides one."""
    en, zh = WORDS[word]
    return f'<span class="en" lang="en">{escape(en)}</span><span class="zh" lang="zh">{escape(zh)}</span>'


def _body(tally: Tally) -> Iterator[str]:
    found = tally.comparison
    yield f"<h1>{_say('title')}</h1>"
    yield (
        f"<p>{_say('from')} <code>{found.before[:16]}</code> {_say('to')} <code>{found.after[:16]}</code>, "
        f"{_say('corpus')} <code>{tally.corpus[:16]}</code><br>"
        f"{tally.dialogues} {_say('dialogues')}, {tally.turns} {_say('turns')}</p>"
    )
    yield f"<h2>{_say('decisions')}</h2><p>"
    yield ", ".join(f'<span class="{name}">{tally.total[name]} {_say(name)}</span>' for name in COUNTS[:4])
    yield f" ({tally.following} {_say('follows')})</p>"
    if tally.labelled:
        yield (
            f"<p>{_say('labels')}: {tally.right_before} / {tally.labelled} → {tally.right_after} / {tally.labelled}; "
            f'<span class="mended">{tally.total["mended"]} {_say("mended")}</span>, '
            f'<span class="broken">{tally.total["broken"]} {_say("broken")}</span></p>'
        )
    yield f"<h2>{_say('rules_changed')}</h2><ul>"
    yield from map(_rule, found.changes)
    yield f'</ul><p class="dim">{found.same} {_say("same_rules")}</p>'
    fields = tally.fields()
    yield f"<h2>{_say('by_slot')}</h2>" + _table("slot", fields["slots"])
    yield f"<h2>{_say('by_rule')}</h2>" + _table("rule", fields["rules"])
    yield f"<h2>{_say('differences')}</h2>"
    yield '<input type="radio" name="only" id="f-all" checked><label for="f-all">*</label>'
    for name in ("added", "removed", "changed", "mended", "broken"):
        yield f'<input type="radio" name="only" id="f-{name}"><label for="f-{name}">{_say(name)}</label>'
    yield "<section>"
    yield from map(_difference, tally.differences[:MOST])
    yield "</section>"
    if len(tally.differences) > MOST:
        yield f"<p>{len(tally.differences) - MOST} {_say('more')}</p>"


def _rule(change: RuleChange) -> str:
    name = escape(" → ".join(filter(None, (change.before, change.after))))
    lines = [line for each in change.fields if each.path != "version" for line in _field(each)]
    more = f'<li class="dim">+{len(lines) - FIELDS_SHOWN}</li>' if len(lines) > FIELDS_SHOWN else ""
    inner = f"<ul>{''.join(lines[:FIELDS_SHOWN])}{more}</ul>" if lines else ""
    return f'<li><span class="{change.what}">{_say(change.what)}</span> <code>{name}</code> {change.kind}{inner}</li>'


def _field(change: FieldChange) -> Iterator[str]:
    path = f"<code>{escape(change.path)}</code>"
    for sign, css, values in (("−", "removed", change.before), ("+", "added", change.after)):
        for value in values:
            yield f'<li>{path}: <span class="d {css}">{sign} {escape(shown(value))}</span></li>'


def _table(first: str, rows: Iterable[Mapping[str, Any]]) -> str:
    head = "".join(f"<th>{_say(name)}</th>" for name in (first, *COUNTS))
    body = "".join(
        f"<tr><td><code>{escape(row[first])}</code></td>"
        + "".join(f"<td>{row[name]}</td>" for name in COUNTS)
        + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _difference(one: Difference) -> str:
    mark = mark_of(one)
    told = [f'<span class="{one.what}">{_say(one.what)}</span>']
    told += [f'<span class="{mark}">{_say(mark)}</span>'] if mark else []
    told += [_say("follows")] if one.follows else []
    place = (one.after or one.before or {}).get("start", 0), (one.after or one.before or {}).get("end", 0)
    text = one.text
    marked = f"{escape(text[: place[0]])}<mark>{escape(text[place[0] : place[1]])}</mark>{escape(text[place[1] :])}"
    sides = (("before", one.before, one.right_before), ("after", one.after, one.right_after))
    decisions = "".join(
        f'<p>{_say(name)}: <span class="d">{_decision(said, one)}</span>{_right(right)}</p>'
        for name, said, right in sides
    )
    css = f"is-{one.what}" + (f" is-{mark}" if mark else "")
    return (
        f'<article class="{css}"><header>{" · ".join(told)} · <code>{escape(one.dialogue)}</code> · {_say("turn")} '
        f"{one.turn}</header><p>{marked}</p>{decisions}</article>"
    )


def _right(right: bool | None) -> str:
    if right is None:
        return ""
    return (
        f' <span class="mended">✓ {_say("right")}</span>'
        if right
        else f' <span class="broken">✗ {_say("wrong")}</span>'
    )


def _decision(said: Mapping[str, Any] | None, one: Difference) -> str:
    if said is None:
        return _say("none")
    label = f"[{said['qualifier']}]" if said["qualifier"] else ""
    told = {
        "action": said["action"], "reason": said["reason"], "slot": f"{said['slot'] or ''}{label}",
        "canonical": said["canonical"] or "", "polarity": "negated" if said["polarity"] == "negated" else "",
        "entity": said["entity"] or "", "replaces": f"← {said['replaces']}" if said["replaces"] else "",
        "sentence": f"“{said['sentence']}”" if said["sentence"] else "", "question": said["question"] or "",
        "flags": " ".join(said["flags"]), "rules": f"({said['capture'] or ''} {said['rule']})",
    }  # fmt: skip
    changed = {*one.fields} | ({"slot"} if "qualifier" in one.fields else set())
    return " ".join(
        f"<b>{escape(text)}</b>" if name in changed else escape(text) for name, text in told.items() if text
    )
