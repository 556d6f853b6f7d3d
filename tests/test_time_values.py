"""Durations, recurrences and the laws of the calendar arithmetic."""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shipped import shipped

from recordari.extractors.scan import scan
from recordari.extractors.time.fields import whole
from recordari.extractors.time.holidays import dates_of
from recordari.extractors.time.lengths import Impossible, Length, Unit
from recordari.extractors.time.periods import add_months, business_days, floor, move, step, unit_at
from recordari.model import Mention
from recordari.values import TimeValue, read_value

EXTRACTION = shipped().extraction
NOW = datetime.fromisoformat("2026-03-18T10:00:00+08:00")
MOMENTS = st.datetimes(datetime(1950, 1, 1), datetime(2100, 12, 31))  # noqa: DTZ001 - wall times
UNITS: tuple[Unit, ...] = ("second", "minute", "hour", "day", "week", "month", "quarter", "half", "year", "decade")


def mentions(text: str) -> list[Mention]:
    return [m for m in scan(text, EXTRACTION, said_at=NOW).mentions if m.kind == "time"]


def times(text: str) -> list[str]:
    return [m.canonical for m in mentions(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("为期60日", "P60D"),
        ("18 months", "P18M"),
        ("two years", "P2Y"),
        ("12个月", "P12M"),
        ("5年", "P5Y"),
        ("90 minutes", "PT90M"),
        ("4-6个工作日", "P4BD..P6BD"),
        ("4-6 business days", "P4BD..P6BD"),
        ("Net 30", "<=invoice_date+P30D"),
        ("两年半", "P2Y6M"),
        ("一个半小时", "PT1H30M"),
        ("two and a half years", "P2Y6M"),
        ("half an hour", "PT30M"),
        ("半年", "P6M"),
        ("sixty (60) days", "P60D"),
        ("2 weeks and 3 days", "P17D"),
        ("at least 30 days", ">=P30D"),
        ("不超过三个月", "<=P3M"),
        ("about two hours", "~PT2H"),
        ("2.5 hours", "PT2H30M"),
    ],
)
def test_a_duration_keeps_its_units(text: str, expected: str) -> None:
    assert times(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("每月15号", "FREQ=MONTHLY;BYMONTHDAY=15"),
        ("every Monday", "FREQ=WEEKLY;BYDAY=MO"),
        ("on the 1st of every month", "FREQ=MONTHLY;BYMONTHDAY=1"),
        ("每周三", "FREQ=WEEKLY;BYDAY=WE"),
        ("every two weeks", "FREQ=WEEKLY;INTERVAL=2"),
        ("每天晚上8点", "FREQ=DAILY;BYHOUR=20;BYMINUTE=0"),
        ("每季度", "FREQ=MONTHLY;INTERVAL=3"),
        ("每月底", "FREQ=MONTHLY;BYMONTHDAY=-1"),
        ("每个工作日", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("every other Friday", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR"),
    ],
)
def test_a_recurrence_is_an_rrule(text: str, expected: str) -> None:
    assert times(text) == [f"RRULE:{expected}"]


@pytest.mark.parametrize("text", ["一天到晚", "三分天下", "每况愈下", "in no time", "every one of them"])
def test_manners_of_speaking_are_neither_durations_nor_recurrences(text: str) -> None:
    assert times(text) == []


@pytest.mark.parametrize(
    ("rule", "year", "first"),
    [
        ("fixed 12-25", 2026, "2026-12-25"),
        ("nth 11 thu 4", 2026, "2026-11-26"),
        ("nth 5 mon -1", 2026, "2026-05-25"),
        ("before 05-25 mon", 2026, "2026-05-18"),
        ("easter -2", 2026, "2026-04-03"),
        ("orthodox 0", 2026, "2026-04-12"),
        ("lunar 8-15", 2026, "2026-09-25"),
        ("lunar 1-1 shift -1", 2026, "2026-02-16"),
        ("term 清明", 2026, "2026-04-05"),
        ("hebrew 7-10", 2026, "2026-09-21"),
        ("every 4 2000 nth 11 mon 1 shift 1", 2024, "2024-11-05"),
    ],
)
def test_a_holiday_rule_gives_its_day(rule: str, year: int, first: str) -> None:
    assert dates_of(rule, year)[0][0].isoformat() == first


def test_a_holiday_that_a_year_lacks_gives_none_and_one_it_has_twice_gives_two() -> None:
    assert dates_of("every 4 2000 nth 11 mon 1 shift 1", 2025) == ()
    assert dates_of("list 2026-11-08", 2030) == ()
    assert len(dates_of("islamic 9-1", 2030)) == 2


def test_an_unreadable_holiday_rule_is_an_error() -> None:
    with pytest.raises(ValueError, match="unreadable"):
        dates_of("", 2026)


@pytest.mark.parametrize(
    ("text", "number"),
    [("十", 10), ("二十七", 27), ("廿三", 23), ("初五", 5), ("二〇二六", 2026), ("15", 15), ("三十一", 31)],
)
def test_a_chinese_day_or_year_is_read_in_every_writing(text: str, number: int) -> None:
    assert whole(text) == number


@pytest.mark.parametrize("text", ["十十", "百", "天", "二十x"])
def test_what_is_no_numeral_is_no_number(text: str) -> None:
    assert whole(text) is None


@given(MOMENTS, st.integers(-600, 600))
def test_months_there_and_back_lose_at_most_the_days_a_month_lacks(moment: datetime, months: int) -> None:
    back = add_months(add_months(moment, months), -months)
    assert timedelta(0) <= moment - back <= timedelta(days=3)


@given(MOMENTS, st.sampled_from(UNITS), st.integers(-50, 50))
def test_units_tile_the_calendar(moment: datetime, unit: Unit, n: int) -> None:
    here, after = unit_at(moment, unit, n), unit_at(moment, unit, n + 1)
    assert here.end == after.start
    assert floor(here.start, unit) == here.start
    assert step(here.start, unit, 1) == here.end


@given(MOMENTS, st.integers(1, 60))
def test_business_days_never_end_on_a_weekend(moment: datetime, n: int) -> None:
    assert business_days(moment, n).weekday() < 5
    assert business_days(moment, -n).weekday() < 5


@given(st.sampled_from(("hour", "day", "week", "month", "year")), st.integers(1, 200), MOMENTS)
def test_a_length_and_its_quarters_move_a_moment_alike(unit: Unit, n: int, moment: datetime) -> None:
    whole_length = Length(((unit, Fraction(n)),))
    twice = Length(((unit, Fraction(n, 2)), (unit, Fraction(n, 2))))
    assert move(moment, whole_length, 1) == move(moment, twice, 1)
    assert whole_length.iso() == twice.iso()


def test_a_moment_beyond_the_calendar_is_impossible() -> None:
    with pytest.raises(Impossible):
        step(datetime(9990, 1, 1), "century", 5)  # noqa: DTZ001 - a wall time


@given(st.dates(datetime(1980, 1, 1).date(), datetime(2080, 12, 31).date()))  # noqa: DTZ001 - days
def test_a_written_date_reads_back_to_itself_in_both_languages(day: object) -> None:
    text = str(day)
    year, month, date = (int(part) for part in text.split("-"))
    for said in (text, f"{year}年{month}月{date}日", f"{date}/{month:02}/{year}" if date > 12 else text):
        assert times(said) == [text]


@given(st.sampled_from(["明天下午三点", "from 4 May to 2 July 2017", "every Monday", "within 30 days of Closing", "P"]))
def test_a_value_survives_its_own_json(text: str) -> None:
    for mention in mentions(text):
        assert isinstance(mention.value, TimeValue)
        again = read_value("time", mention.value.model_dump(mode="json"))
        assert again == mention.value
        assert again.canonical == mention.canonical
