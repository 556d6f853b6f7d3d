"""English times, kind by kind: each with what looks like it and is something else."""

from __future__ import annotations

from datetime import datetime

import pytest
from shipped import shipped

from recordari.extractors.scan import scan
from recordari.values import TimeValue

EXTRACTION = shipped().extraction
WEDNESDAY = "2026-03-18T10:00:00+08:00"


def values(text: str, now: str | None = WEDNESDAY) -> list[TimeValue]:
    said = datetime.fromisoformat(now) if now else None
    found = scan(text, EXTRACTION, said_at=said).mentions
    return [m.value for m in found if isinstance(m.value, TimeValue)]


def times(text: str, now: str | None = WEDNESDAY) -> list[str]:
    return [value.canonical for value in values(text, now)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The audit runs from week 12 to week 14", "2026-03-16/2026-04-05"),
        ("the third week of November 2026", "2026-11-16/2026-11-22"),
        ("the last week of September 2026", "2026-09-21/2026-09-27"),
        ("the month after the next", "2026-05"),
        ("the last business day of May", "2026-05-29"),
        ("the 2nd business day of next month", "2026-04-02"),
        ("three Fridays from now", "2026-04-03"),
        ("two Fridays ago", "2026-03-06"),
        ("last week's Sunday", "2026-03-15"),
        ("the first Tuesday after Easter", "2026-04-07"),
        ("the day after Thanksgiving", "2026-11-27"),
        ("Thanksgiving three years ago", "2023-11-23"),
        ("now + 40 minutes", "2026-03-18T10:40"),
        ("in three weeks' time", "2026-04-08"),
        ("the previous eleven quarters", "2023-04-01/2025-12-31"),
        ("between 4 and 22 this month", "2026-03-04/2026-03-22"),
        ("from 10/22 to 11/1", "2026-10-22/2026-11-01"),
        ("blocked for the day", "2026-03-18"),
        ("the 19th century", "1800/1899"),
        ("the past 2.5 years", "2023-09-18/2026-03-17"),
        ("the last two weeks of July", "2026-07-20/2026-08-02"),
        ("last 3 days of the year", "2026-12-29/2026-12-31"),
        ("Thanksgiving week", "2026-11-23/2026-11-29"),
        ("2027 Christmas", "2027-12-25"),
    ],
)
def test_periods_are_counted_named_and_numbered(text: str, expected: str) -> None:
    assert times(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "week 3 of the course",
        "partner of the year",
        "mix 1/2 to 3/4 of a cup",
        "chapters 3 to 5",
        "the 19th hole",
        "She won by 3 to 2",
        "quarters for the crew",
    ],
)
def test_other_weeks_quarters_and_fractions_are_no_periods(text: str) -> None:
    assert times(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Set an alarm for ten forty five", "T10:45"),
        ("The drill ran between 0630-0815", "T06:30/T08:15"),
        ("quarter to midnight", "T23:45"),
        ("book it for evening 7", "T19:00"),
        ("on the 27 at 2 pm", "2026-03-27T14:00"),
        ("on the 27 from 2pm to 4pm", "2026-03-27T14:00/2026-03-27T16:00"),
        ("between 3 and 8am next Monday", "2026-03-23T03:00/2026-03-23T08:00"),
        ("from 3:00 to 4:00 tomorrow", "2026-03-19T15:00/2026-03-19T16:00"),
        ("from 2 pm until tomorrow at 4", "2026-03-18T14:00/2026-03-19T16:00"),
        ("at 7:30 PM on Fri, Sep 18", "2026-09-18T19:30"),
        ("I'll be out from 5 to 7", "T17:00/T19:00"),
        ("Call me before lunch", "../T12:00"),
        ("send it by EOD", "../T24:00"),
        ("tomorrow lunch", "2026-03-19T12:00/2026-03-19T14:00"),
        ("Friday at 4", "2026-03-20T16:00"),
        ("Friday at 04:00", "2026-03-20T04:00"),
        ("Friday at 9", "2026-03-20T09:00"),
        ("6pm Pacific time", "T18:00"),
    ],
)
def test_clocks_are_read_as_spoken_and_joined_to_their_day(text: str, expected: str) -> None:
    assert times(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The dinner is on Friday at 7", ["2026-03-20T07:00"]),
        ("Lunch from twelve thirty to two", ["T12:30/T14:00"]),
        ("Breakfast is included", []),
        ("ten to one odds", []),
        ("it rose from 5 to 7", []),
        ("for two twenty dollar bills", []),
        ("an after school program", []),
    ],
)
def test_a_meal_and_a_score_are_no_part_of_the_clock(text: str, expected: list[str]) -> None:
    assert times(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fridays at 9am we sync", "RRULE:FREQ=WEEKLY;BYDAY=FR;BYHOUR=9;BYMINUTE=0"),
        ("I'm off Tuesday afternoons", "RRULE:FREQ=WEEKLY;BYDAY=TU"),
        ("I'm out mornings", "RRULE:FREQ=DAILY"),
        ("I train in the mornings", "RRULE:FREQ=DAILY"),
        ("every 2nd Tuesday", "RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=TU"),
        ("at 8 every day", "RRULE:FREQ=DAILY;BYHOUR=8;BYMINUTE=0"),
    ],
)
def test_a_plural_repeats(text: str, expected: str) -> None:
    assert times(text) == [expected]


@pytest.mark.parametrize("text", ["two mornings", "Good mornings start with coffee"])
def test_counted_mornings_repeat_nothing(text: str) -> None:
    assert all("RRULE" not in said for said in times(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("born on 9 May seventeen hundred thirty three", "1733-05-09"),
        ("in one thousand eight hundred and forty eight", "1848"),
        ("12 August 88 AD", "0088-08-12"),
        ("10 May 2569 BE", "2026-05-10"),
        ("August 97", "1997-08"),
        ("Jan'24", "2024-01"),
        ("10 31 1974", "1974-10-31"),
        ("clear everything on march seven", "2027-03-07"),
    ],
)
def test_years_and_days_are_read_as_written_or_spoken(text: str, expected: str) -> None:
    assert expected in {*times(text), *(r.start for v in values(text) for r in v.readings)} or times(text) == [expected]


@pytest.mark.parametrize(
    "text", ["2020", "2012-1400", "I may one day agree", "I may two of them", "seventeen hundred men"]
)
def test_a_bare_number_is_no_year(text: str) -> None:
    assert not any(said[:1] in "12" for said in times(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fiscal year 2026", "fiscal_year_2026"),
        ("FY2024/25", "fiscal_year_2025"),
        ("the third quarter of fiscal 2024", "fiscal_year_2024_q3"),
        ("Q1 FY27", "fiscal_year_2027_q1"),
        ("by FY27", "<=fiscal_year_2027"),
        ("next fiscal year", "fiscal_year+P1Y"),
        ("CY18", "2018"),
    ],
)
def test_a_fiscal_year_stays_symbolic_while_its_start_is_unknown(text: str, expected: str) -> None:
    assert times(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on the third anniversary of the Effective Date", "effective_date+P3Y"),
        ("the 5th business day after closing", "closing+5bd"),
        ("until the Effective Date", "<=effective_date"),
        ("upon expiration of the Term", "expiry"),
        ("prior to the Closing Date", "<closing"),
        ("three weeks before the wedding", "wedding-P3W"),
        ("two days after surgery", "surgery+P2D"),
        ("net 45 days", "<=invoice_date+P45D"),
        ("within five Business Days following receipt of the notice", "<=notice_date+5bd"),
        ("at least 30 days prior to the Expiration Date", "<=expiry-P30D"),
        ("T+2", "T+2bd"),
    ],
)
def test_a_time_counted_from_an_event_keeps_the_event(text: str, expected: str) -> None:
    assert times(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "a notice on the door",
        "T-shirt size 2",
        "closing time",
        "after the party we slept",
        "net income rose",
        "upon request",
    ],
)
def test_an_event_alone_is_no_time(text: str) -> None:
    assert times(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tax day 2012", "2012-04-17"),
        ("Boss's Day 2021", "2021-10-15"),
        ("super tuesday 2016", "2016-03-01"),
        ("Eid al-Fitr 2018", "2018-06-15"),
        ("Eid al-Adha 2024", "2024-06-16"),
        ("next MLK day", "2027-01-18"),
        ("New Year's Eve", "2026-12-31"),
        ("winter solstice 2026", "2026-12-22"),
    ],
)
def test_moving_and_observed_holidays_fall_on_their_day(text: str, expected: str) -> None:
    assert times(text) == [expected]


def test_a_feast_whose_days_are_not_published_has_no_day() -> None:
    assert times("Diwali", "2035-03-18T10:00:00") == []


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("within 10 days", "2026-03-18", "2026-03-29"),
        ("within 2 weeks after 1 April 2026", "2026-04-01", "2026-04-16"),
        ("by 3 pm", "2026-03-18T15:00:00", "2026-03-18T15:00:00"),
        ("by 1 April 2026", None, "2026-04-02"),
    ],
)
def test_a_limit_shows_where_it_begins_and_ends(text: str, start: str | None, end: str) -> None:
    (value,) = values(text)
    assert (value.start, value.end, value.bound) == (start, end, "<=")
    assert value.canonical.startswith("../")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met on Friday", "2026-03-13"),
        ("I bought it on May 24", "2025-05-24"),
        ("We met before May 31", "../2025-05-30"),
        ("Let's meet on Friday", "2026-03-20"),
        ("The hearing was moved to Friday", "2026-03-20"),
        ("The fee must be paid by May 24", "../2026-05-24"),
        ("We met. See you Friday", "2026-03-20"),
    ],
)
def test_what_is_told_lies_behind_and_what_is_arranged_ahead(text: str, expected: str) -> None:
    assert times(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Oslo now.", True),
        ("We are closed at the moment", True),
        ("now we can start", False),
        ("every now and then", False),
        ("At this time of year it rains", False),
    ],
)
def test_now_is_a_time_only_where_it_says_when(text: str, expected: bool) -> None:
    assert bool(times(text)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("five pm on Sunday", "sundayT17:00"),
        ("one pm on May 3", "XXXX-05-03T13:00"),
        ("tomorrow at 3 pm", "said_at+P1D"),
    ],
)
def test_without_a_moment_of_saying_the_half_of_the_day_is_kept(text: str, expected: str) -> None:
    assert times(text, None) == [expected]


@pytest.mark.parametrize("text", ["31 April 2026", "February 30, 2027", "29 February 2027", "week 60 of 2026"])
def test_a_day_or_week_that_no_calendar_has_is_refused(text: str) -> None:
    assert times(text) == []


def test_at_most_three_other_readings_are_kept() -> None:
    for text in ("at 3", "Friday", "24 May", "03/04", "a year from now", "before 5 on Monday", "last week"):
        assert all(len(value.readings) <= 3 for value in values(text)), text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We pay on May 3 and 10", ["2026-05-03", "2026-05-10"]),
        ("Calls on May 3 and May 10", ["2026-05-03", "2026-05-10"]),
        ("Hearings on the 10th and 20th of September", ["2026-09-10", "2026-09-20"]),
        ("either May 4 or 6", ["2026-05-04", "2026-05-06"]),
        ("tomorrow at 9am and 11am", ["2026-03-19T09:00", "2026-03-19T11:00"]),
        ("next week on Monday or Thursday", ["2026-03-23", "2026-03-26"]),
    ],
)
def test_times_of_a_list_complete_each_other(text: str, expected: list[str]) -> None:
    assert times(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("between May 3 and 10", ["2026-05-03/2026-05-10"]),
        ("from the 3rd and the 9th of May", ["2026-05-03/2026-05-09"]),
        ("On May 3 and 10 guests came", ["2026-05-03"]),
        ("May 3 and 4 pieces", ["2026-05-03"]),
    ],
)
def test_a_stretch_or_a_count_behind_a_day_is_no_list_of_days(text: str, expected: list[str]) -> None:
    assert times(text) == expected


def test_a_year_that_a_figure_is_planned_for_is_a_year() -> None:
    assert times("The budget for 2027 is fixed") == ["2027"]
    assert times("Our 2027 marketing budget is fixed") == ["2027"]
    assert times("We have a budget for 2000 people") == []
    assert times("The plan for 2000 square feet is ready") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("revenue in 2Q25", "2025-04-01/2025-06-30"),
        ("guidance for 1H26", "2026-01-01/2026-06-30"),
        ("the second-to-last Friday of June", "2026-06-19"),
        ("the first Monday of every month", "RRULE:FREQ=MONTHLY;BYDAY=1MO"),
        ("the second business day of each month", "RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=2"),
        ("30 days' notice", "P30D"),
        ("EOD Friday", "2026-03-20T17:00/2026-03-21T00:00"),
        ("10am London time", "T10:00"),
    ],
)
def test_quarters_rhythms_and_closes_of_the_day(text: str, expected: str) -> None:
    assert times(text) == [expected]


@pytest.mark.parametrize("text", ["build 2Q256", "at 1h26 of the film", "a second business"])
def test_codes_and_words_alike_are_no_quarters_and_closes(text: str) -> None:
    assert not [t for t in times(text) if t.startswith(("2025", "2026-01", "RRULE")) or "T17" in t]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a 90-day period", "P90D"),
        ("meet at 1430 hours", "T14:30"),
        ("wheels up 0615 hours", "T06:15"),
        ("mid-2027", "2027-05-01/2027-08-31"),
        ("in 2026-W14", "2026-03-30/2026-04-05"),
        ("The hearing is Friday week.", "2026-03-27"),
    ],
)
def test_hyphens_and_terse_forms(text: str, expected: str) -> None:
    assert times(text) == [expected]


@pytest.mark.parametrize("text", ["in her early thirties", "a Monday week-long retreat is 30D"])
def test_an_age_is_no_decade_and_a_long_week_no_date(text: str) -> None:
    assert not [t for t in times(text) if t.startswith(("19", "2026-03-3"))]


def test_many_hours_are_a_length() -> None:
    assert times("2000 hours of work") == ["PT2000H"]
