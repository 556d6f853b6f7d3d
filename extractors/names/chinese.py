"""Chinese people and organisations: names beside a label or title, bodies with a legal form."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...model import Hint
from ..parsing.chart import Edge
from ..recognizer import Lookup
from ..segment import tokens
from ..words import alternatives, lazy
from .found import outside_each_other

VOCABULARIES = (
    "words.surname.zh", "words.person.label.zh", "words.person.title.zh", "words.person.follow.zh",
    "words.person.not.zh",
    "words.person.possessed.zh",
    "words.organization.zh", "words.organization.generic.zh", "words.organization.after.zh",
    "words.organization.left.zh", "patterns.names.zh",
)  # fmt: skip
_HAN = r"[\u4e00-\u9fff]"
_MARK = lazy(r"$|[^\u4e00-\u9fff·]")
_AT_NAME = lazy(rf"@({_HAN}{{2,3}})(?=[:@/ ,]|$)")  # a handle that is a personal name
_FOREIGN = lazy(rf"{_HAN}{{1,8}}(?:·{_HAN}{{1,8}}){{1,3}}")
_ALL_HAN = lazy(rf"{_HAN}+")
_LONGEST_BODY = 24
_LONGEST_PERSON = 4
_NAMED_REACH = 12
_BODY_RUN = re.compile(r"[\u4e00-\u9fffA-Za-z0-9()&·]*\Z")


class ChineseNames:
    """Finds people and organisations in normalised Chinese text."""

    def __init__(self, lookup: Lookup) -> None:
        names, labels = lookup("words.surname.zh"), lookup("words.person.label.zh")
        bodies, left = lookup("words.organization.zh"), lookup("words.organization.left.zh")
        self.person_rule, self.body_rule = labels.ref, bodies.ref
        self._single = frozenset(names.labels["single"])
        self._compound = frozenset(names.labels["compound"])
        self._before = alternatives(labels.labels["before"])
        self._longer = alternatives(labels.labels["longer"])
        self._serving = lazy(f"(?:{alternatives(labels.labels['serving']).pattern})$")
        self._particle = frozenset(labels.labels["particle"])
        self._self = frozenset(labels.labels["self"])
        self._label = alternatives([*labels.labels["self"], *labels.labels["label"]])
        self._link = lazy(f"(?:{alternatives(labels.labels['link']).pattern}| ){{0,3}}")
        self._title = alternatives(lookup("words.person.title.zh").entries())
        self._follow = alternatives(
            [*lookup("words.person.follow.zh").entries(), *lookup("words.person.title.zh").entries()]
        )
        self._not = alternatives(lookup("words.person.not.zh").entries())
        possessed = lookup("words.person.possessed.zh")
        owned = alternatives(possessed.entries())
        self._possessed = lazy(f"(?:{possessed.patterns['possessive']})(?:{owned.pattern})")
        self._form = alternatives(bodies.labels["form"])
        self._trade = alternatives(bodies.labels["trade"])
        self._after = alternatives(lookup("words.organization.after.zh").entries())
        self._generic = frozenset(lookup("words.organization.generic.zh").entries())
        forms = lookup("patterns.names.zh")
        form = forms.patterns
        self._least = {str(k): int(v) for k, v in forms.words.items()} if isinstance(forms.words, dict) else {}
        self._called, self._needs_stem = lazy(form["called"]), lazy(form["needs_stem"])
        self._nickname = lazy(rf"(?:{form['nickname']}){_HAN}{{1,2}}")
        self._branch = lazy(rf"(?!{form['branch.not']}){_HAN}{{0,8}}?(?:{form['branch']})")
        self._named, self._clause_end = lazy(rf"(?:{form['named']})$"), lazy(r"$|[\s,。;!?]")
        self._joined, self._counted = lazy(form["joined"]), lazy(rf"^{_HAN}?(?:{form['counted']})$")
        self._left = alternatives(left.labels["left"])
        self._protected = alternatives(left.labels["protected"])

    def find(self, text: str, hints: tuple[Hint, ...] = ()) -> Iterator[Edge]:
        """Organisations first, then people outside them."""
        found = [("organization", a, b, self.body_rule) for a, b in self._bodies(text)]
        found += [
            ("person", a, b, self.person_rule)
            for a, b in (*self._labelled(text), *self._titled(text), *self._possessing(text))
        ]
        found += [("organization", h.start, h.end, self.body_rule) for h in hints if self._confirms_body(text, h)]
        found += [("person", h.start, h.end, self.person_rule) for h in hints if self._confirms(text, h)]
        return outside_each_other(text, found)

    # ------------------------------------------------------------------ people
    def _labelled(self, text: str) -> Iterator[tuple[int, int]]:
        for hit in _AT_NAME.finditer(text):
            if self._surname(text, hit.start(1)) and not self._not.match(text, hit.start(1)):
                yield hit.span(1)
        at = 0
        while (label := self._label.search(text, at)) is not None:
            hit, at = label, label.end()
            if self._serving.search(text, 0, hit.start()):
                continue  # 帮我叫一辆车
            link = self._link.match(text, hit.end())
            for start in dict.fromkeys((link.end() if link else hit.end(), hit.end())):
                called = self._called.search(text, hit.end(), start) is not None
                end = self._name_end(text, start, own=hit.group() in self._self, called=called)
                if end:
                    yield start, end
                    at = end
                    break

    def _name_end(self, text: str, start: int, *, own: bool, called: bool = False) -> int:
        """The end of the personal name at ``start``; 0 when none. ``own`` takes any form, ``called`` also 周日新."""
        foreign = _FOREIGN.match(text, start)
        if foreign:
            last = text.rfind("·", start, foreign.end()) + 2
            return next((at for at in range(last, foreign.end()) if self._ends(text, at)), foreign.end())
        sure = self._surname(text, start)
        certain = called or (own and sure)
        if (self._ordinary(text, start) and not certain) or self._label.match(text, start):
            return 0
        if not sure and not own:
            nickname = self._nickname.match(text, start)
            sizes: tuple[int, ...] = (2, 3) if nickname else ()
        elif sure:
            sizes = (sure + 2, sure + 1)
        else:
            sizes = (3, 2, 4)
        for size in sizes:
            end = start + size
            if size > 2 and text[end - 1 : end] in self._particle and self._ends(text, end - 1):
                continue  # 换成陶珂了
            if re.fullmatch(rf"{_HAN}{{{size}}}", text[start:end]) and self._ends(text, end):
                if not sure and self._form.search(text, start, end):
                    return 0
                return end
        return self._by_tokens(text, start, sure) if sure else 0

    def _by_tokens(self, text: str, start: int, surname: int) -> int:
        """Ask the segmenter where the name ends: 我叫赵新民哈哈 → 赵新民."""
        window = re.match(rf"{_HAN}{{2,8}}", text[start:])
        if not window:
            return 0
        end = 0
        for token in tokens(window.group(), "zh"):
            if end and end > surname:
                break
            end = token.end
        return start + end if surname < end <= surname + 2 else 0

    def _ordinary(self, text: str, start: int) -> bool:
        """True when an ordinary word begins here (周三) or runs over this place (对|方律师)."""
        if self._not.match(text, start):
            return True
        across = self._not.match(text, start - 1) if start else None
        return across is not None and across.end() > start

    def _surname(self, text: str, start: int) -> int:
        if text[start : start + 2] in self._compound:
            return 2
        return 1 if text[start : start + 1] in self._single else 0

    def _ends(self, text: str, at: int) -> bool:
        return _MARK.match(text, at) is not None or self._follow.match(text, at) is not None

    def _titled(self, text: str) -> Iterator[tuple[int, int]]:
        """A surname with up to two characters before a title: 李律师, 秋分女士. The title is part of what is said."""
        for hit in self._title.finditer(text):
            if self._longer.match(text, hit.end()):
                continue
            for size in (4, 3, 2, 1):
                start = hit.start() - size
                if start < 0 or not re.fullmatch(rf"{_HAN}+", text[start : hit.start()]):
                    continue
                surname = self._surname(text, start)
                if not surname or not surname <= size <= surname + 2 or self._ordinary(text, start):
                    continue
                if start == 0 or _MARK.match(text, start - 1) or self._opens(text, start):
                    yield start, hit.end()
                    break

    def _opens(self, text: str, start: int) -> bool:
        """True when a left word or a label ends exactly where a name would begin."""
        before = text[max(0, start - 6) : start]
        return any(m.end() == len(before) for p in (self._left, self._label, self._before) for m in p.finditer(before))

    def _possessing(self, text: str) -> Iterator[tuple[int, int]]:
        """A name at the start of a clause that owns a contact: 沈三|的邮箱."""
        for hit in self._possessed.finditer(text):
            for size in (3, 2):
                start = hit.start() - size
                if start >= 0 and self._surname(text, start) and not self._not.match(text, start) and (
                    start == 0 or _MARK.match(text, start - 1) or self._opens(text, start)
                ):  # fmt: skip
                    yield start, hit.start()
                    break

    def _confirms(self, text: str, hint: Hint) -> bool:
        """A model's person counts when it has a surname, enough characters, at most four, and is no ordinary word."""
        least = self._least.get(f"hint.least.{hint.model}", self._least["hint.least"])
        return (
            hint.label == "person" and least <= hint.end - hint.start <= _LONGEST_PERSON
            and self._surname(text, hint.start) > 0 and not self._not.match(text, hint.start)
        )  # fmt: skip

    def _confirms_body(self, text: str, hint: Hint) -> bool:
        """A model's organisation counts when it is long enough for a name of its own and written in Han characters."""
        size = hint.end - hint.start
        if hint.label != "organization" or not self._least["hint.body.least"] <= size <= _LONGEST_BODY:
            return False
        return _ALL_HAN.fullmatch(text, hint.start, hint.end) is not None and hint.text not in self._generic

    # ------------------------------------------------------------------ organisations
    def _bodies(self, text: str) -> Iterator[tuple[int, int]]:
        last = 0
        for hit in self._form.finditer(text):
            end = hit.end()
            follow = self._form.match(text, end)
            if follow or self._branch.match(text, end):  # 银行上海|分行: the last form ends the name
                continue
            start = self._left_end(text, hit.start(), last)
            while start < hit.start() and self._joined.match(text, start):
                start += 1
            if self._is_name(text[start : hit.start()], hit.group()):
                yield start, end
                last = end
        for hit in self._trade.finditer(text):
            ends = self._clause_end.match(text, hit.end()) is not None
            if hit.end() <= last or not (ends or self._after.match(text, hit.end())):
                continue
            start = self._left_end(text, hit.start(), last)
            if ends and not self._named.search(text, max(0, start - _NAMED_REACH), start):
                continue
            if (
                start < hit.start()
                and self._is_name(text[start : hit.start()], hit.group())
                and hit.start() - start <= 8
            ):
                yield start, hit.end()
                last = hit.end()

    def _is_name(self, stem: str, form: str) -> bool:
        stem = stem.strip("()（）")
        if not stem or stem in self._generic or (len(stem) < 2 and self._needs_stem.fullmatch(form)):
            return False
        return self._counted.match(stem) is None

    def _left_end(self, text: str, end: int, floor: int) -> int:
        run = _BODY_RUN.search(text, max(floor, end - _LONGEST_BODY), end)
        start = run.start() if run else end
        window = text[start:end]
        kept = [hit.span() for hit in self._protected.finditer(window)]
        cut = 0
        for hit in self._left.finditer(window):
            if not any(a < hit.end() and hit.start() < b for a, b in kept):
                cut = hit.end()
        cut = max(cut, window.rfind("(") + 1 if window.count("(") > window.count(")") else 0)
        while cut < len(window) and window[cut] in ")(& ":
            cut += 1
        return start + cut
