"""Adapters of other libraries: what one returns for a text, as mentions (kind, start, end, value).

Each is imported when it is asked, so that any may be missing.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache
from importlib import import_module
from itertools import groupby
from typing import Any

Mention = dict[str, Any]
Request = dict[str, Any]
# For texts whose source gives no time of speech: nothing relative is scored there. Naive, as the libraries want it.
UNSAID = datetime.fromisoformat("2020-01-01")


@cache
def quiet(module: str) -> Any:
    """A library, imported once without its greetings."""
    from contextlib import redirect_stderr, redirect_stdout
    from io import StringIO

    with redirect_stdout(StringIO()), redirect_stderr(StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module(module)


def said(request: Request) -> datetime:
    """The time that relative words count from."""
    return datetime.fromisoformat(request["said_at"]) if request.get("said_at") else UNSAID


def day_first(request: Request) -> bool:
    return request.get("locale") == "en-GB"


def mention(kind: str, start: int, end: int, value: dict[str, Any]) -> Mention:
    return {"kind": kind, "start": start, "end": end, "value": value, "canonical": ""}


def moment(at: datetime, grain: str) -> dict[str, Any]:
    """A point as fine as its grain; of a week, a month or a year the whole is a second reading."""
    if grain in ("second", "minute"):
        return {"type": "instant", "start": at.isoformat(), "grain": grain}
    day = at.replace(hour=0, minute=0, second=0, microsecond=0)
    value: dict[str, Any] = {"type": "date", "start": day.date().isoformat(), "grain": "day"}
    if grain == "day":
        return value
    first = {"week": day - timedelta(days=day.weekday()), "month": day.replace(day=1)}.get(grain) or day.replace(
        month=1, day=1
    )
    after = {"week": first + timedelta(7), "month": (first + timedelta(31)).replace(day=1)}.get(grain) or first.replace(
        year=first.year + 1
    )
    return value | {"readings": [{"start": first.date().isoformat(), "end": after.date().isoformat()}]}


def located(text: str, parts: Iterator[str]) -> Iterator[tuple[int, int]]:
    """Places of pieces that stand in the text in this order."""
    at = 0
    for piece in parts:
        found = text.find(piece, at)
        begin = found if found >= 0 else max(0, text.find(piece))
        at = begin + len(piece)
        yield begin, at


# ---------------------------------------------------------------- time
def dateparser(request: Request) -> Iterator[Mention]:
    """search_dates; where it finds nothing, the whole text as one date (`parse`)."""
    from dateparser.date import DateDataParser
    from dateparser.search import search_dates

    text, settings = request["text"], {"RELATIVE_BASE": said(request), "RETURN_TIME_AS_PERIOD": True}
    if day_first(request):
        settings["DATE_ORDER"] = "DMY"
    parser = DateDataParser(languages=[request["lang"]], settings=settings)
    found = search_dates(text, languages=[request["lang"]], settings=settings | {"RETURN_TIME_SPAN": True}) or []
    ends = {name: at for name, at in found if name.endswith((" (start)", " (end)"))}
    points = [(name, at) for name, at in found if name not in ends]
    if not points:
        whole = parser.get_date_data(text)
        points = [(text, whole.date_obj)] if whole.date_obj else []
    for (name, at), (begin, end) in zip(points, located(text, (p[0] for p in points)), strict=True):
        at = at.replace(tzinfo=None)
        period = parser.get_date_data(name).period
        value = moment(at, "minute" if period == "time" else period or "day")
        if first := ends.get(f"{name} (start)"):
            last = ends[f"{name} (end)"] + timedelta(1)
            value = {"type": "interval", "start": f"{first:%Y-%m-%d}", "end": f"{last:%Y-%m-%d}"}
        yield mention("time", begin, end, value)


RULES = {"D": "DAILY", "W": "WEEKLY", "M": "MONTHLY", "Y": "YEARLY", "TH": "HOURLY", "TM": "MINUTELY", "TS": "SECONDLY"}
WEEK = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def rule_of(timex: str) -> str | None:
    """The TIMEX of a set as an RRULE."""
    clock = re.search(r"T(\d\d)(?::(\d\d))?$", timex)
    tail = f";BYHOUR={int(clock[1])};BYMINUTE={int(clock[2] or 0)}" if clock else ""
    if m := re.match(r"XXXX-WXX-(\d|WE)", timex):
        return "FREQ=WEEKLY;BYDAY=" + ("SA,SU" if m[1] == "WE" else WEEK[int(m[1]) - 1]) + tail
    if m := re.match(r"P(T?)(\d+)([DWMYHS])", timex):
        return f"FREQ={RULES[m[1] + m[3]]};INTERVAL={m[2]}" + tail
    for shape, freq in (("XXXX-XX-XX", "DAILY"), ("XXXX-XX", "MONTHLY"), ("XXXX", "YEARLY"), ("T", "DAILY")):
        if timex.startswith(shape):
            return f"FREQ={freq}" + tail
    return None


def recognizers_time(request: Request) -> Iterator[Mention]:
    """The last of the resolutions (the coming one) is the reading, the others are further readings."""
    from recognizers_date_time import recognize_datetime

    base, culture = said(request), "zh-cn" if request["lang"] == "zh" else "en-gb" if day_first(request) else "en-us"

    def iso(x: str | None) -> str | None:  # a time alone is given the day of the reference
        return f"{base:%Y-%m-%d}T{x}" if x and re.match(r"\d\d:", x) else x.replace(" ", "T") if x else None

    for found in recognize_datetime(request["text"], culture, reference=base):
        readings, value = [], {}
        for v in reversed((found.resolution or {}).get("values") or []):
            timex, kind = v.get("timex") or "", v["type"]
            if kind == "set":
                value = {"type": "recurrence", "rrule": rule_of(timex)}
            elif kind == "duration":
                value = {"type": "duration", "duration": timex}
            elif "value" in v and v["value"] != "not resolved":
                grain = {"date": "day"}.get(kind, "minute")
                readings.append({"type": "instant", "start": iso(v["value"]), "end": None, "grain": grain})
            elif "start" in v or "end" in v:
                readings.append({"type": "interval", "start": iso(v.get("start")), "end": iso(v.get("end"))})
        if readings:
            value = readings[0] | {"readings": readings[1:]}
        yield mention("time", found.start, found.end + 1, value)


def jionlp_time(request: Request) -> Iterator[Mention]:
    jio, base = quiet("jionlp"), said(request)
    fields = {k: getattr(base, k) for k in ("year", "month", "day", "hour", "minute", "second")}

    def iso(x: str, end: bool = False) -> str | None:
        if "inf" in x:
            return None
        at = datetime.fromisoformat(x)
        return (at + timedelta(seconds=1) if end and at.second == 59 else at).isoformat()

    def length(d: dict[str, float]) -> str:
        said_in = {"year": "Y", "month": "M", "day": "D", "hour": "H", "minute": "M", "second": "S", "workday": "BD"}
        parts = [f"{n:g}{said_in[k]}" for k, n in d.items()]
        clock = [f"{n:g}{said_in[k]}" for k, n in d.items() if k in ("hour", "minute", "second")]
        days = [p for p in parts if p not in clock]
        return "P" + "".join(days) + ("T" + "".join(clock) if clock else "")

    for found in jio.ner.extract_time(request["text"], time_base=fields):
        got = found["detail"]["time"]
        if found["type"] == "time_delta":
            value = {"type": "duration", "duration": length(got[0] if isinstance(got, list) else got)}
        elif found["type"] == "time_period":
            unit, n = next(iter(got["delta"].items()))
            rule = f"FREQ={ {'day': 'DAI'}.get(unit, unit.upper()) }LY;INTERVAL={n:g}"
            if point := got.get("point"):
                first, last = (datetime.fromisoformat(x) for x in point["time"][:2])
                if last - first < timedelta(hours=23):
                    rule += f";BYHOUR={first.hour};BYMINUTE={first.minute}"
            value = {"type": "recurrence", "rrule": rule}
        else:
            value = {"type": "interval", "start": iso(got[0]), "end": iso(got[1], True)}
        yield mention("time", *found["offset"], value)


def parsedatetime(request: Request) -> Iterator[Mention]:
    import parsedatetime as pdt

    constants = pdt.Constants(localeID="en_AU" if day_first(request) else "en_US", usePyICU=False)
    calendar = pdt.Calendar(constants, version=pdt.VERSION_CONTEXT_STYLE)
    for at, context, begin, end, _ in calendar.nlp(request["text"], said(request)) or ():
        coarse = ("day", "week", "month", "year")
        grain = next((g for g in coarse if context.accuracy & getattr(context, f"ACU_{g.upper()}")), "day")
        yield mention("time", begin, end, moment(at, "minute" if context.hasTime else grain))


def datefinder(request: Request) -> Iterator[Mention]:
    from datefinder import find_dates

    order = "DMY" if day_first(request) else "MDY"
    options = {"source": True, "index": True, "base_date": said(request), "first": "day" if order == "DMY" else "month"}
    for at, _, (begin, end) in find_dates(request["text"], **options):
        clock = at.hour or at.minute
        yield mention("time", begin, end, moment(at.replace(tzinfo=None), "minute" if clock else "day"))


def ctparse(request: Request) -> Iterator[Mention]:
    """One time a text, the best of its parses."""
    from ctparse import ctparse as parse

    found = parse(request["text"], ts=said(request), timeout=2)
    if not found or not found.resolution:
        return
    got = found.resolution
    if hasattr(got, "unit"):
        unit = {"nights": "D", "days": "D", "weeks": "W", "months": "M", "hours": "H", "minutes": "M"}[got.unit.value]
        value = {
            "type": "duration",
            "duration": f"P{'T' if got.unit.value in ('hours', 'minutes') else ''}{got.value}{unit}",
        }
    else:
        first, last = (x.dt if x and x.hasDate else None for x in (got.start, got.end))
        last = last + timedelta(minutes=1) if last and last.minute == 59 else last
        value = {"type": "interval", "start": first and first.isoformat(), "end": last and last.isoformat()}
    yield mention("time", got.mstart, got.mend or len(request["text"]), value)


def timelength(request: Request) -> Iterator[Mention]:
    """One duration a text, the sum of its parts."""
    from timelength import TimeLength

    found = TimeLength(request["text"]).result
    units = {"years": "Y", "months": "M", "weeks": "W", "days": "D", "hours": "H", "minutes": "M", "seconds": "S"}
    parts = [(f"{n:g}{units[s.plural]}", s.plural) for n, s in found.valid if s.plural in units]
    clock = "".join(p for p, unit in parts if unit in ("hours", "minutes", "seconds"))
    days = "".join(p for p, unit in parts if unit not in ("hours", "minutes", "seconds"))
    if found.success and parts:
        value = {"type": "duration", "duration": f"P{days}" + (f"T{clock}" if clock else "")}
        yield mention("time", 0, len(request["text"]), value)


# ---------------------------------------------------------------- money, numbers
# What price-parser and JioNLP call a currency → ISO 4217; a sign that several share stays open.
SIGNS = """
EUR € euro 欧元 | GBP £ ￡ GBp 英镑 | CZK Kč | PLN zł Zł | RUB руб. руб Р р. ₽ 卢布
UAH грн. грн hrn ₴ | IDR Rp | IRR تومان | RON LEI lei | VND ₫ đ | HUF Ft | TRY TL ₺
ILS ₪ nis | CAD C$ CAD$ CAN$ 加元 | BGN лв лв. | INR ₹ Rs Rs. ₨ | MYR RM
TWD NT$ 新台币 | AUD A$ AU$ 澳元 | AED Dh | CNY 元 yuan 人民币 | USD US$ 美元 | JPY 日元
HKD 港元 | CHF chf SFr 瑞士法郎 | BRL R$ | MXN MX$ | LAK ₭ | GEL lari ლარი ლ | THB 泰铢 ฿
KRW 韩元 원 | PHP ₱ | KES KSh KShs | BDT ৳ | CRC ₡
"""
CURRENCIES = {sign: line.split()[0] for line in re.split(r"[|\n]", SIGNS) for sign in line.split()[1:]}


def currency(name: str | None) -> str | None:
    return CURRENCIES.get(name or "") or (name if name and re.fullmatch("[A-Z]{3}", name) else None)


def recognizers_number(request: Request) -> Iterator[Mention]:
    """Currencies, other units, percentages, ordinals and numbers."""
    import recognizers_number as n
    import recognizers_number_with_unit as u

    text, culture = request["text"], "zh-cn" if request["lang"] == "zh" else "en-us"
    models = {
        "money": (u.recognize_currency,),
        "quantity": (u.recognize_dimension, u.recognize_age, u.recognize_temperature),
        "percent": (n.recognize_percentage,),
        "number": (n.recognize_number, n.recognize_ordinal),
    }
    for kind, model in ((k, m) for k, ms in models.items() if k in request["kinds"] for m in ms):
        for found in model(text, culture):
            got = found.resolution or {}
            if got.get("value") is not None:
                value = {"amount": str(got["value"]).rstrip("%"), "currency": got.get("isoCurrency")}
                yield mention(kind, found.start, found.end + 1, value)


def jionlp_money(request: Request) -> Iterator[Mention]:
    for found in quiet("jionlp").ner.extract_money(request["text"], with_parsing=True):
        got = found["detail"]
        low, high = got["num"] if isinstance(got["num"], list) else [got["num"]] * 2
        value = {"amount": low} if low == high else {"min": low, "max": high}
        if got["definition"] in ("blur+", "blur-"):
            value |= {"bound": ">=" if got["definition"] == "blur+" else "<="}
        yield mention("money", *found["offset"], value | {"currency": currency(got["case"])})


def price_parser(request: Request) -> Iterator[Mention]:
    """One price a text."""
    from price_parser import Price

    got = Price.fromstring(request["text"])
    if got.amount is not None:
        begin = max(0, request["text"].find(got.amount_text or ""))
        value = {"amount": str(got.amount), "currency": currency(got.currency)}
        yield mention("money", begin, begin + len(got.amount_text or request["text"]), value)


def quantulum3(request: Request) -> Iterator[Mention]:
    from quantulum3 import parser

    for q in parser.parse(request["text"]):
        unit = q.unit.name
        kind = {"currency": "money", "dimensionless": "number"}.get(q.unit.entity.name, "quantity")
        kind = "percent" if "percent" in unit else kind
        low, high = (q.value - q.uncertainty, q.value + q.uncertainty) if q.uncertainty else (q.value, q.value)
        value = {"amount": q.value} if low == high else {"min": low, "max": high}
        code = getattr(q.unit, "currency_code", None)
        yield mention(kind, *q.span, value | {"currency": code})


def cn2an(request: Request) -> Iterator[Mention]:
    """Every run of numerals."""
    from cn2an import cn2an as read

    for m in re.finditer(r"负?[\d.零〇一二两三四五六七八九十百千万亿点]+", request["text"]):
        try:
            value = {"amount": str(read(m[0], "smart"))}
        except ValueError:
            continue
        yield mention("percent" if request["text"][: m.start()].endswith("百分之") else "number", *m.span(), value)


# ---------------------------------------------------------------- contacts, addresses
def phonenumbers(request: Request) -> Iterator[Mention]:
    from phonenumbers import PhoneNumberFormat, PhoneNumberMatcher, format_number

    region = "CN" if request["lang"] == "zh" else "GB" if day_first(request) else "US"
    for found in PhoneNumberMatcher(request["text"], region):
        value = {
            "e164": format_number(found.number, PhoneNumberFormat.E164),
            "national": format_number(found.number, PhoneNumberFormat.NATIONAL),
        }
        yield mention("phone", found.start, found.end, value)


def recognizers_sequence(request: Request) -> Iterator[Mention]:
    import recognizers_sequence as s

    kinds = {
        s.recognize_phone_number: ("phone", "national"),
        s.recognize_email: ("email", "address"),
        s.recognize_url: ("url", "url"),
        s.recognize_ip_address: ("identifier", "value"),
        s.recognize_guid: ("identifier", "value"),
        s.recognize_mention: ("identifier", "value"),
        s.recognize_hashtag: ("identifier", "value"),
    }
    for model, (kind, field) in kinds.items():
        for found in model(request["text"], "zh-cn" if request["lang"] == "zh" else "en-us"):
            yield mention(kind, found.start, found.end + 1, {field: found.resolution["value"]})


def jionlp_contact(request: Request) -> Iterator[Mention]:
    jio = quiet("jionlp")
    kinds = {
        jio.extract_phone_number: ("phone", "national"),
        jio.extract_email: ("email", "address"),
        jio.extract_url: ("url", "url"),
        jio.extract_ip_address: ("identifier", "value"),
    }
    for extract, (kind, field) in kinds.items():
        for found in extract(request["text"], detail=True):
            yield mention(kind, *found["offset"], {field: found["text"]})


def us_field(label: str) -> str | None:
    for start, field in (
        ("AddressNumber", "number"), ("StreetName", "road"), ("PlaceName", "city"), ("StateName", "province"),
        ("ZipCode", "postcode"), ("CountryName", "country"), ("Occupancy", "unit"), ("Subaddress", "building"),
        ("BuildingName", "building"),
    ):  # fmt: skip
        if label.startswith(start):
            return field
    return None


def usaddress(request: Request) -> Iterator[Mention]:
    """`tag`, and the labelled words where it meets one label twice."""
    import usaddress as us

    try:
        words = [(part, label) for label, part in us.tag(request["text"])[0].items()]
    except us.RepeatedLabelError as error:
        words = [(part.strip(" ,;"), label) for part, label in error.parsed_string]
    value: dict[str, str] = {}
    for field, parts in groupby(words, key=lambda w: us_field(w[1])):
        if field:
            value.setdefault(field, " ".join(p for p, _ in parts))
    yield mention("address", 0, len(request["text"]), value)


def pyap(request: Request) -> Iterator[Mention]:
    import pyap as library

    country = {"multi:gb": "GB", "multi:ca": "CA"}.get(request["row_lang"], "US")
    for found in library.parse(request["text"], country=country):
        got = found.as_dict()
        road = " ".join(got[k] for k in ("street_name", "street_type", "post_direction") if got.get(k))
        value = {
            "number": got["street_number"],
            "road": road or got.get("route_id"),
            "building": got["building_id"],
            "unit": got["occupancy"],
            "city": got["city"],
            "province": got["region1"],
            "postcode": got["postal_code"],
        }
        yield mention("address", got["match_start"], got["match_end"], value)


def jionlp_address(request: Request) -> Iterator[Mention]:
    got = quiet("jionlp").parse_location(request["text"], town_village=True)
    value = {"province": got["province"], "city": got["city"], "district": got["county"], "town": got.get("town")}
    yield mention("address", 0, len(request["text"]), value)


def cpca(request: Request) -> Iterator[Mention]:
    import cpca as library

    names = {"province": "省", "city": "市", "district": "区"}
    for got in library.transform_text_with_addrs(request["text"]).to_dict("records"):
        value = {field: got[name] for field, name in names.items()}
        yield mention("address", 0, len(request["text"]), value)
