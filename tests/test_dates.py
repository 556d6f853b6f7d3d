"""Dates in both languages, through the shipped rule files: what is found, what is not, and against which moment."""

from __future__ import annotations

from datetime import datetime

import pytest
from shipped import shipped

from recordari.extractors.scan import scan
from recordari.model import Scan
from recordari.values import TimeValue

WEDNESDAY = "2026-03-18T10:00:00+08:00"
EXTRACTION = shipped().extraction


def found(text: str, now: str | None = WEDNESDAY, locale: str | None = None) -> Scan:
    said = datetime.fromisoformat(now) if now else None
    return scan(text, EXTRACTION, said_at=said, locale=locale)


def times(text: str, now: str | None = WEDNESDAY, locale: str | None = None) -> list[str]:
    return [m.canonical for m in found(text, now, locale).mentions if m.kind == "time"]


def value(text: str, now: str | None = WEDNESDAY) -> TimeValue:
    (mention,) = [m for m in found(text, now).mentions if m.kind == "time"]
    assert isinstance(mention.value, TimeValue)
    return mention.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-06-30", "2026-06-30"),
        ("30/06/2026", "2026-06-30"),
        ("2026/6/30", "2026-06-30"),
        ("2026.06.30", "2026-06-30"),
        ("23-Oct-2016", "2016-10-23"),
        ("June 12, 2026", "2026-06-12"),
        ("12 June 2026", "2026-06-12"),
        ("the 6th day of April 1999", "1999-04-06"),
        ("March 12,1999", "1999-03-12"),
        ("Wed Oct 26 15:50:06 2016", "2016-10-26T15:50:06"),
        ("Sep-2012", "2012-09"),
        ("二〇二六年六月三十日", "2026-06-30"),
        ("2026年6月30号", "2026-06-30"),
        ("26年3月", "2026-03"),
        ("21年10月", "2021-10"),
        ("民国113年5月1日", "2024-05-01"),
        ("农历二〇二六年八月十五", "2026-09-25"),
        ("两千零四年八月", "2004-08"),
    ],
)
def test_an_absolute_date_is_read_in_every_order_and_needs_no_moment_of_saying(text: str, expected: str) -> None:
    assert times(text, now=None) == [expected]
    assert times(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("大后天", "2026-03-21"),
        ("两天前", "2026-03-16"),
        ("一个月后", "2026-04-18"),
        ("5分钟前", "2026-03-18T09:55"),
        ("yesterday", "2026-03-17"),
        ("in 3 weeks", "2026-04-08"),
        ("within 10 days", "../2026-03-28"),
        ("前年六月18号", "2024-06-18"),
        ("last week", "2026-03-09/2026-03-15"),
        ("下周三", "2026-03-25"),
        ("next Tuesday", "2026-03-24"),
        ("this Friday", "2026-03-20"),
        ("Friday", "2026-03-20"),
        ("Wednesday", "2026-03-25"),
        ("下下个月五号", "2026-05-05"),
        ("本月底", "2026-03-31"),
        ("end of Q3", "2026-09-30"),
        ("H1 2026", "2026-01-01/2026-06-30"),
        ("last quarter", "2025-10-01/2025-12-31"),
        ("上季度", "2025-10-01/2025-12-31"),
        ("the last Monday of March", "2026-03-30"),
        ("two weeks after Easter", "2026-04-19"),
        ("四月的第二个星期三", "2026-04-08"),
        ("后天", "2026-03-20"),
    ],
)
def test_a_relative_date_counts_from_the_moment_of_saying(text: str, expected: str) -> None:
    assert times(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("明天", "said_at+P1D"),
        ("next week", "said_at+P1W"),
        ("today", "said_at"),
        ("last quarter", "said_at-P3M"),
        ("本月底", "本月底"),
        ("the end of next month", "the end of next month"),
        ("We sat down", None),
    ],
)
def test_without_a_moment_of_saying_relative_words_stay_symbolic(text: str, expected: str | None) -> None:
    assert times(text, now=None) == ([expected] if expected else [])


def test_without_a_moment_of_saying_a_weekday_keeps_its_name_and_a_day_its_open_year() -> None:
    assert times("on Friday", now=None) == ["friday"]
    assert times("6月30日", now=None) == ["XXXX-06-30"]
    assert times("两天前", now=None) == ["said_at-P2D"]
    assert times("within 3 weeks", now=None) == ["<=said_at+P3W"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("下午三点半", "T15:30"),
        ("13点", "T13:00"),
        ("at 16:47", "T16:47"),
        ("3 pm", "T15:00"),
        ("half past seven", "T07:30"),
        ("Friday 16:47", "2026-03-20T16:47"),
        ("明天下午三点半", "2026-03-19T15:30"),
        ("今晚八点", "2026-03-18T20:00"),
        ("5月17日 19:20", "2026-05-17T19:20"),
        ("the first Tuesday of October at 5pm", "2026-10-06T17:00"),
        ("明晚12点", "2026-03-20T00:00"),
        ("today at 3", "2026-03-18T15:00"),
    ],
)
def test_a_clock_time_stands_alone_or_joins_its_day(text: str, expected: str) -> None:
    assert times(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from 4 May to 2 July 2017", "2017-05-04/2017-07-02"),
        ("8月12号下午5点~8月13号上午3点", "2026-08-12T17:00/2026-08-13T03:00"),
        ("Tuesday to Thursday next week", "2026-03-24/2026-03-26"),
        ("July 13-15", "2026-07-13/2026-07-15"),
        ("2016年7月10日至7月21日", "2016-07-10/2016-07-21"),
        ("3-4 pm", "T15:00/T16:00"),
        ("11am to 1pm on Friday", "2026-03-20T11:00/2026-03-20T13:00"),
        ("下午1点10分到3点", "T13:10/T15:00"),
        ("from December 2025 to March", "2025-12/2026-03"),
        ("from 5pm for forty minutes", "2026-03-18T17:00/2026-03-18T17:40"),
    ],
)
def test_the_ends_of_a_range_complete_each_other(text: str, expected: str) -> None:
    assert times(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected", "bound"),
    [
        ("by June 12", "../2026-06-12", "<="),
        ("不晚于7月31日", "../2026-07-31", "<="),
        ("4月30日前", "../2026-04-30", "<="),
        ("before June 12", "../2026-06-11", "<"),
        ("since May 1, 2020", "2020-05-01/..", ">="),
        ("from 1 May 2026 onwards", "2026-05-01/..", ">="),
        ("after June 12", "2026-06-13/..", ">"),
        ("自2020年5月26日起", "2020-05-26/..", ">="),
        ("on or before March 31", "../2026-03-31", "<="),
        ("before 2018", "../2017", "<"),
    ],
)
def test_a_bound_is_an_open_interval_and_says_whether_its_day_belongs_to_it(
    text: str, expected: str, bound: str
) -> None:
    got = value(text)
    assert (got.canonical, got.bound, got.type) == (expected, bound, "interval")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("within 30 days of the Effective Date", "<=effective_date+P30D"),
        ("T+2", "T+2bd"),
        ("no later than six Business Days after Closing", "<=closing+6bd"),
        ("10 days after signing", "signing_date+P10D"),
        ("自合同签订之日起三个工作日内", "<=signing_date+3bd"),
        ("收到通知之日起9个工作日内", "<=notice_date+9bd"),
        ("开售前7天", "launch-P7D"),
        ("到期前30日", "expiry-P30D"),
        ("within 60 days of the Outside Date", "<=Outside Date+P60D"),
        ("at least thirty (30) days before the expiration", "<=expiry-P30D"),
        ("货物验收合格后10日内", "<=acceptance+P10D"),
        ("T-1日", "T-1bd"),
    ],
)
def test_a_time_counted_from_an_event_stays_symbolic(text: str, expected: str) -> None:
    assert times(text) == [expected]


def test_thirty_one_april_is_refused_and_the_refusal_keeps_its_span() -> None:
    scanned = found("The rent is due on 31 April and the deposit on 30 April.")
    assert [m.canonical for m in scanned.mentions if m.kind == "time"] == ["2026-04-30"]
    (refused,) = scanned.refused
    assert "31 April" in refused.text
    assert refused.kind == "time"


@pytest.mark.parametrize("text", ["2024-02-30", "11月31日", "2月30号", "31st June", "2026-04-31"])
def test_a_day_that_no_calendar_has_is_refused(text: str) -> None:
    scanned = found(text)
    assert [m for m in scanned.mentions if m.kind == "time"] == []
    assert [r.kind for r in scanned.refused] == ["time"]


def test_a_leap_day_is_read_where_a_year_has_one() -> None:
    assert times("February 29, 2024") == ["2024-02-29"]
    assert times("2月29日") == ["2028-02-29"]


def test_day_and_month_follow_the_locale_and_the_other_order_is_a_reading() -> None:
    assert times("03/04/2026") == ["2026-03-04"]
    assert times("03/04/2026", locale="en-GB") == ["2026-04-03"]
    assert ("2026-04-03", "2026-04-04") in [(r.start, r.end) for r in value("03/04/2026").readings]


def test_a_yearless_day_is_the_coming_one_unless_it_has_only_just_passed() -> None:
    assert times("May 1") == ["2026-05-01"]
    assert times("3月5号") == ["2026-03-05"]
    assert times("10月1日", now="2026-03-18T10:00:00+08:00") == ["2026-10-01"]
    assert times("二月二十七", now="2025-12-20T10:00:00+08:00") == ["2026-02-27"]
    assert ("2025-05-01", "2025-05-02") in [(r.start, r.end) for r in value("May 1").readings]


def test_a_weekday_said_on_that_day_is_next_weeks_and_today_is_a_reading() -> None:
    got = value("Wednesday")
    assert got.canonical == "2026-03-25"
    assert ("2026-03-18", "2026-03-19") in [(r.start, r.end) for r in got.readings]


def test_the_year_turns_where_it_should() -> None:
    assert times("下个月", now="2025-12-20T10:00:00+08:00") == ["2026-01"]
    assert times("next month", now="2025-12-20T10:00:00+08:00") == ["2026-01"]
    assert times("一个月后", now="2024-01-31T10:00:00+08:00") == ["2024-02-29"]
    assert times("next quarter", now="2025-11-01T10:00:00+08:00") == ["2026-01-01/2026-03-31"]
    assert times("明年3月1日", now="2025-12-31T23:00:00+08:00") == ["2026-03-01"]


def test_the_day_is_the_one_in_the_zone_of_saying() -> None:
    late = "2026-03-18T23:30:00-08:00"
    assert times("tomorrow", now=late) == ["2026-03-19"]
    said = datetime.fromisoformat(late)
    moved = scan("tomorrow", EXTRACTION, said_at=said, timezone="Asia/Shanghai")
    assert [m.canonical for m in moved.mentions] == ["2026-03-20"]


def test_traditional_script_reads_as_simplified_and_the_span_is_the_original() -> None:
    scanned = found("後天簽約，農曆八月十五前交付。")
    assert [(m.text, m.canonical) for m in scanned.mentions if m.kind == "time"] == [
        ("後天", "2026-03-20"),
        ("農曆八月十五前", "../2026-09-25"),
    ]


@pytest.mark.parametrize(
    ("text", "part", "said"),
    [
        ("the year is 2027 not", None, None),
        ("on the third.", "day_of_month", "3"),
    ],
)
def test_a_fragment_that_is_no_mention_comes_out_as_a_part(text: str, part: str | None, said: str | None) -> None:
    parts = [(p.type, p.value) for p in found(text).parts]
    assert part is None or (part, said) in parts


@pytest.mark.parametrize(
    ("text", "expected"),
    [("le 12 juin 2026", "2026-06-12"), ("12 de marzo de 2026", "2026-03-12"), ("15. März 2026", "2026-03-15")],
)
def test_a_formal_date_in_another_language_is_read_by_dateparser_once_it_is_classified(
    text: str, expected: str
) -> None:
    assert times(text) == [expected]


@pytest.mark.parametrize("text", ["juin est un mois", "12 de marzo", "le 45 juin"])
def test_an_incomplete_date_in_another_language_is_left_alone(text: str) -> None:
    assert times(text) == []
