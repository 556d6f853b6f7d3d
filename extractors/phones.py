"""Telephone numbers: the shapes of a rule file, the words that announce them, and digits dictated as words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from ..values import PhoneValue
from .parsing.chart import Edge
from .recognizer import Lookup, Setting
from .text import Normalized
from .words import alternatives, joined, lazy

_EDGE_BEFORE = r"(?<![A-Za-z0-9_$€£¥%#])(?<![0-9][./=*+:\-])(?<![A-Za-z][./=*])(?<![(+])(?<!\))(?<![\s\d]-)(?<!^-)"
_EDGE_AFTER = r"(?![0-9A-Za-z_%@°])(?![./=*+:\-]\d|,\d{3}(?![\d\-]))"
_TRIGGER = lazy(r"\d[\d .()\-]{1,30}\d")
_NATIONAL = 8
_LABEL_REACH = 24
_FAR_REACH = 48  # with a colon before the digits: "phone number of the office in Rome: …"
_CLAUSE = lazy(r"[。;!?\n]|,(?!\d)")
_ANY_DIGIT = re.compile(r"\d")
_PHONE_LABELS = ("phone", "call")


class Shape(NamedTuple):
    """A way to write a telephone number; ``sure``: it needs no phone word before it."""

    name: str
    pattern: re.Pattern[str]
    regions: tuple[str, ...]
    sure: bool


class Phones:
    """Finds telephone numbers in normalised text."""

    def __init__(self, lookup: Lookup) -> None:
        words, bridge, shapes = lookup("words.contact"), lookup("words.bridge"), lookup("patterns.phone")
        self.rule = words.ref
        concepts = {word.lower(): str(concept) for word, concept in words.entries().items()}
        self._extension = _any_of(words.labels["extension"])
        self._concept = {word: concept for word, concept in concepts.items() if concept != "extension"}
        self._labels = alternatives(self._concept)
        self._bridge = lazy(f"(?: |{alternatives(bridge.labels['bridge']).pattern})*$", re.IGNORECASE)
        self._measure = lazy(f" ?(?:{alternatives(bridge.labels['measure']).pattern})", re.IGNORECASE)
        self._digits = {
            str(word): int(value) for word, value in shapes.words.items()
        } if isinstance(shapes.words, dict) else {}  # fmt: skip
        # Told before any shape is tried: too few digits in the whole text, or too few where no word announces them.
        least = {name: count for name, count in self._digits.items() if not name.endswith("longest")}
        self._fewest = min(least.values(), default=0)
        self._fewest_alone = min((n for name, n in least.items() if not name.endswith("after_label")), default=0)
        self._announced = lazy(_any_of(self._concept) or r"(?!)", re.IGNORECASE)
        unsure = shapes.labels["unsure"]
        self._shapes = tuple(
            Shape(
                name,
                lazy(rf"{_EDGE_BEFORE}({source})(?:\s?(?:{self._extension})\s?\d{{1,6}})?{_EDGE_AFTER}", re.IGNORECASE),
                (name.rpartition(".")[2],) if "." in name else (),
                name not in unsure,
            )
            for name, source in shapes.patterns.items()
        )
        self._whole = tuple(
            (name.rpartition(".")[2], lazy(shapes.patterns[name])) for name in shapes.labels["whole"]
        )  # fmt: skip
        self._split = lazy(rf"\s?(?:{self._extension})\s?(?=\d+$)", re.IGNORECASE)
        self._spoken = _Spoken(lookup)

    def find(self, text: Normalized, setting: Setting, taken: list[tuple[int, int]]) -> Iterator[Edge]:
        """The telephone numbers outside what is taken; their characters are taken as well."""
        yield from self._dictated(text, setting, taken)
        flat = text.text
        if not _ANY_DIGIT.search(flat) or not _TRIGGER.search(flat):
            return
        digits = len(_ANY_DIGIT.findall(flat))
        if digits < self._fewest or (digits < self._fewest_alone and not self._announced.search(flat)):
            return
        for shape in self._shapes:
            for hit in shape.pattern.finditer(flat):
                start, end = hit.span()
                if not self._counts(flat, shape, hit, taken):
                    continue
                taken.append((start, end))
                value = self.value(hit.group(), shape.regions, setting, _inner(hit))
                yield Edge("phone", start, end, value, self.rule, weight=1, kind="phone")

    def _counts(self, flat: str, shape: Shape, hit: re.Match[str], taken: list[tuple[int, int]]) -> bool:
        start, end = hit.span()
        raw = hit.group(1)
        digits = sum(c.isdigit() for c in raw) - max(0, len(_inner(hit)) - 1)
        limit = self._digits
        if not self._fewest <= digits <= limit["longest"] or any(start < b and a < end for a, b in taken):
            return False
        label = self._label(flat, start)
        if label in _PHONE_LABELS:
            least = limit.get(f"{shape.name}.after_label", limit["after_label"])
        else:
            least = limit.get(f"{shape.name}.least", limit["least"])
        if digits < least:
            return False
        if label == "other" or (label not in _PHONE_LABELS and not shape.sure) or self._measure.match(flat, end):
            return False
        before = flat[start - 1 : start]
        if before == "," and flat[start - 2 : start - 1].isdigit() and not any(b == start - 1 for _, b in taken):
            return False  # 1,13800002345 is no list of telephone numbers
        if before == "-" and start > 1 and flat[start - 2].isalpha() and flat[start - 2].isascii() and "(" not in raw:
            return False  # OFFICE-1(718)555-0164, but no code A-13800002345
        return raw.count("(") >= raw.count(")") or "US" in shape.regions

    def _label(self, flat: str, at: int) -> str:
        """The concept of the nearest word that says what the digits are: same clause, only bridges between."""
        reach = _FAR_REACH if flat[:at].rstrip().endswith(":") else _LABEL_REACH
        window = flat[max(0, at - reach) : at]
        last = None
        for mark in _CLAUSE.finditer(window):
            last = mark
        if last is not None:
            window = window[last.end() :]
        for hit in reversed(list(self._labels.finditer(window))):
            if self._bridge.match(window, hit.end()):
                return self._concept[hit.group().lower()]
            if reach == _FAR_REACH and not _ANY_DIGIT.search(window, hit.end()):
                return self._concept[hit.group().lower()]
        return ""

    def _dictated(self, text: Normalized, setting: Setting, taken: list[tuple[int, int]]) -> Iterator[Edge]:
        for start, end, digits in self._spoken.runs(text):
            label = self._label(text.text, start)
            whole = any(pattern.fullmatch(digits) for _, pattern in self._whole)
            least = self._digits["spoken.least"]
            if not whole and not (label in _PHONE_LABELS and least <= len(digits) <= self._digits["longest"]):
                continue
            if label != "other" and not any(start < b and a < end for a, b in taken):
                taken.append((start, end))
                yield Edge("phone", start, end, self.value(digits, (), setting), self.rule, weight=1, kind="phone")

    def value(self, raw: str, first: tuple[str, ...], setting: Setting, inner: str = "") -> PhoneValue:
        """The typed number: E.164 when a country accepts it as possible, and the national digits as dialled."""
        main, _, extension = self._split.sub("|", raw.replace(inner, "|") if inner else raw).partition("|")
        extension = extension or inner.lstrip("-")
        tail = f" x{extension}" if extension else ""
        plain = re.sub(r"[^\d+]", "", main)
        abroad = plain.startswith(("+", "00"))
        regions = tuple(_regions(first, setting))
        for region, pattern in self._whole:
            if region in (first or regions) and pattern.fullmatch(
                plain
            ):  # alone, 179… would be read as a carrier's prefix
                e164, _ = _e164(f"+{_calling_code(region)}{plain}", regions)
                return PhoneValue(e164=e164, national=plain + tail)
        e164, country = _e164("+" + plain.lstrip("+0") if abroad else plain, regions)
        digits = plain.lstrip("+")
        if abroad and country:
            digits = digits.lstrip("0")[len(country) :]
        return PhoneValue(e164=e164, national=digits + tail)


def _inner(hit: re.Match[str]) -> str:
    """The extension that the shape itself holds: 010-55550101|-8012."""
    return (hit.groupdict().get("extension") or "") if hit.re.groupindex else ""


class _Spoken:
    """Runs of digits said as words or characters, with the digits they mean."""

    def __init__(self, lookup: Lookup) -> None:
        words = lookup("words.phone.digits")
        listed = words.words if isinstance(words.words, dict) else {}
        self._digit = {word: str(value) for word, value in listed.items()}
        self._times = {
            word: times for name, times in (("twice", 2), ("thrice", 3)) for word in words.labels.get(name, ())
        }  # fmt: skip
        chars = "".join(word for word in self._digit if len(word) == 1 and not word.isascii())
        unit = "".join(words.labels["unit"])
        said = _any_of([word for word in self._digit if word.isascii()])
        times = _any_of(self._times) or r"(?!)"
        self._run = lazy(
            rf"[{chars}0-9](?:[ -]?[{chars}0-9]){{6,15}}(?![{chars}0-9{unit}])"
            rf"|(?<![A-Za-z])(?:(?:(?:{times}) )?(?:{said})[ -]){{6,15}}(?:{said})(?![A-Za-z])"
        )
        self._token = lazy(rf"({times})|{said}|[{chars}0-9]")
        self._any = lazy(rf"[{chars}]{{3}}|(?:(?:{said})[ -]){{2}}")

    def runs(self, text: Normalized) -> Iterator[tuple[int, int, str]]:
        """Start, end and digits of each run that holds a digit said as a word."""
        if not self._any.search(text.lower):
            return
        for hit in self._run.finditer(text.lower):
            if hit.group().isascii() and _ANY_DIGIT.search(hit.group()):
                continue
            digits, times = "", 1
            for token in self._token.finditer(hit.group()):
                if token.group(1):
                    times = self._times[token.group(1)]
                    continue
                digits += self._digit.get(token.group(), token.group()) * times
                times = 1
            yield hit.start(), hit.end(), digits


def _any_of(words: Iterable[str]) -> str:
    return joined(sorted(words, key=lambda w: (-len(w), w)), lambda _: ("", ""))


def _regions(first: tuple[str, ...], setting: Setting) -> Iterator[str]:
    """Where to look a number up: the locale's country, its shape's, then the language's."""
    seen = set()
    locale = (setting.locale or "").replace("_", "-").split("-")
    of_locale = locale[-1].upper() if len(locale) > 1 and len(locale[-1]) == 2 else ""
    for region in (of_locale, *first, *(("CN", "US") if setting.lang == "zh" else ("US", "GB", "CN"))):
        if region and region not in seen:
            seen.add(region)
            yield region


@lru_cache(maxsize=64)
def of_country(value: PhoneValue, like: str) -> PhoneValue | None:
    """The number as one of the country of another ("+4420…"); None when it is none there, or belongs there already."""
    import phonenumbers

    try:
        code = phonenumbers.parse(like, None).country_code or 0
        own = phonenumbers.parse(value.e164 or value.national, None).country_code if value.e164 else None
        number = phonenumbers.parse(value.national, phonenumbers.region_code_for_country_code(code))
    except phonenumbers.NumberParseException:
        return None
    if own == code or number.country_code != code or not phonenumbers.is_valid_number(number):
        return None
    return value.model_copy(update={"e164": phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)})


def _calling_code(region: str) -> int:
    import phonenumbers

    return phonenumbers.country_code_for_region(region)


@lru_cache(maxsize=4096)
def _e164(plain: str, regions: tuple[str, ...]) -> tuple[str | None, str]:
    """(E.164 form or None, country code): the first country where it is valid, else the first where it is possible."""
    import phonenumbers

    possible: tuple[str | None, str] = (None, "")
    for region in (None,) if plain.startswith("+") else regions:
        try:
            number = phonenumbers.parse(plain, region)
        except phonenumbers.NumberParseException:
            continue
        form = (phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164), str(number.country_code))
        if phonenumbers.is_valid_number(number):
            return form
        reason = phonenumbers.is_possible_number_with_reason(number)
        # Further countries count only when the number is valid there, and a short number has no country.
        likely = region is None or (region == regions[0] and len(str(number.national_number)) >= _NATIONAL)
        if likely and reason == phonenumbers.ValidationResult.IS_POSSIBLE:
            possible = form
    return possible
