"""docs/rule-checks.md and its Chinese twin, made from the lint checks: `python -m recordari.service.checkpage en`."""

from __future__ import annotations

import sys
from importlib.resources import files

from ..rules.checks.base import LintCheck
from ..rules.lint import CHECKS

SEVERITY = {"en": {"error": "error", "warning": "warning"}, "zh": {"error": "错误", "warning": "警告"}}
WORDS = {
    "en": ("## Lint checks", "check", "severity", "what a file should be like", "Bad", "Good"),
    "zh": ("## 检查项", "检查", "程度", "文件应当怎样", "不好", "好"),
}


def page(language: str) -> str:
    """The whole page in ``en`` or ``zh``."""
    title, check, severity, what, bad, good = WORDS[language]
    head = (files(__package__) / f"checkpage.{language}.md").read_text(encoding="utf-8")
    lines = [head, title, "", f"| {check} | {severity} | {what} |", "|---|---|---|"]
    for each in CHECKS:
        said = SEVERITY[language][each.severity]
        lines.append(f"| [`{each.id}`](#{each.id}) | {said} | {sentence(each, language)} |")
    lines.append("")
    for each in CHECKS:
        lines += [f"### {each.id}", "", sentence(each, language), ""]
        for word, example in ((bad, each.bad), (good, each.good)):
            lines += [f"{word}:", "", "```yaml", example.rstrip(), "```", ""]
    return "\n".join(lines)


def sentence(check: LintCheck, language: str) -> str:
    """What a check asks for, in one sentence."""
    if language == "zh":
        return check.zh
    return " ".join((check.__doc__ or "").split()).replace("``", "`")


if __name__ == "__main__":
    sys.stdout.buffer.write(page(sys.argv[1]).encode("utf-8"))
