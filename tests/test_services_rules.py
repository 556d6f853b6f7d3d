"""A user's folder for bookings: days, clocks, places and parties are corrected apart, requests are instructions."""

from __future__ import annotations

from pathlib import Path

import pytest
from shipped import shipped

from recordari.intake import read_turn
from recordari.memory import Memory
from recordari.rules.check import check
from recordari.rules.lint import lint
from recordari.rules.load import load
from recordari.rules.ruleset import Ruleset

pytestmark = pytest.mark.usefixtures("sharing")  # see conftest.py

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "services-rules"


@pytest.fixture(scope="module")
def layered() -> Ruleset:
    return load([FOLDER])


@pytest.fixture(scope="module")
def memory(layered: Ruleset) -> Memory:
    return Memory.rehearsal(ruleset=layered)


def current(memory: Memory, *said: str) -> dict[str, str]:
    """Slot and label → canonical value after the turns; those of the agent begin with "A: "."""
    turns = []
    for minute, text in enumerate(said):
        speaker = "assistant" if text.startswith("A: ") else "user"
        fields = {"text": text.removeprefix("A: "), "speaker": speaker, "at": f"2026-03-18T10:{minute:02d}:00+00:00"}
        turns.append(read_turn(fields, 1000))
    _, items = memory.rehearse(turns)
    return {f"{i.slot}[{i.qualifier}]": i.canonical for i in items if i.status == "current"}


def test_the_folder_lints_clean(layered: Ruleset) -> None:
    mine = [problem for problem in lint(layered) if FOLDER.name in str(problem.file)]
    assert mine == []


def test_the_inline_tests_of_the_folder_pass(layered: Ruleset, memory: Memory) -> None:
    for name in sorted(path.stem for path in FOLDER.glob("*.yaml")):
        report = check(layered, memory.trial, rule=name)
        assert report.problems == [], name


DIALOGUES = {
    "a day alone keeps the clock": (
        ["I need an appointment on March 24 at 4 pm.", "A: The appointment is on March 24 at 4 pm, right?",
         "No, make it the 26th."],
        {"booking.day[start]": "2026-03-26", "booking.time[start]": "T16:00"},
    ),
    "a clock alone keeps the day": (
        ["A table for March 24 at 19:30, please.", "Could you change it to 20:15?"],
        {"booking.day[start]": "2026-03-24", "booking.time[start]": "T20:15"},
    ),
    "both in one turn": (
        ["Visit on March 24 at 9 am, please.", "No change it to March 25 at 10 am."],
        {"booking.day[start]": "2026-03-25", "booking.time[start]": "T10:00"},
    ),
    "the end of a stay is a day of its own": (
        ["We check in on March 24.", "And we check out on March 28.", "Sorry, check-out on March 29."],
        {"booking.day[start]": "2026-03-24", "booking.day[end]": "2026-03-29"},
    ),
    "the agent's question says which end": (
        ["I pick up the car on March 24.", "A: When do you drop it off?", "On March 27."],
        {"booking.day[start]": "2026-03-24", "booking.day[end]": "2026-03-27"},
    ),
    "a stretch of days has two ends": (
        ["I need the car from March 24 to March 27."],
        {"booking.day[start]": "2026-03-24", "booking.day[end]": "2026-03-27"},
    ),
    "could we make it is a request": (
        ["I would like a room on March 24.", "Could we make it March 25?"],
        {"booking.day[start]": "2026-03-25"},
    ),
    "a wish is an instruction": (
        ["I would like a room on March 24.", "Actually, I'd love to come on March 25."],
        {"booking.day[start]": "2026-03-25"},
    ),
    "another destination": (
        ["I need a cab to Oldbrook Station.", "No, I am going to Vine Street Theatre."],
        {"booking.place[destination]": "Vine Street Theatre"},
    ),
    "origin and destination stand side by side": (
        ["A bus from Oldbrook to Harrowgate, please."],
        {"booking.place[destination]": "Harrowgate", "booking.place[origin]": "Oldbrook"},
    ),
    "the party grows": (
        ["A table for 2 people on March 24.", "Sorry, for 4 people."],
        {"booking.people[]": "4 people", "booking.day[start]": "2026-03-24"},
    ),
    "a question changes nothing": (
        ["A table for March 24, please.", "Is March 25 a holiday?"],
        {"booking.day[start]": "2026-03-24"},
    ),
    "how about answers what could not be booked": (
        ["A table for March 24 at 19:30, please.", "A: That is taken. Another time?", "How about 20:15?"],
        {"booking.day[start]": "2026-03-24", "booking.time[start]": "T20:15"},
    ),
    "a question about a day is none about the booking": (
        ["A table for March 24, please.", "Is it warm on March 25?"],
        {"booking.day[start]": "2026-03-24"},
    ),
    "is it available at another time": (
        ["A table for March 24 at 19:30, please.", "A: That is taken.", "Is it available at 18:30?"],
        {"booking.time[start]": "T18:30"},
    ),
    "whether it is available is no booking": (["Is it available at 18:30?"], {}),
    "another town": (
        ["I need a dentist in Dublin.", "A: There is one in Dublin.", "Try to find another one in Boston."],
        {"booking.area[]": "Boston"},
    ),
    "a house of somebody's name owns no time": (
        ["A table at Mario's for March 24 at 19:30, please.", "No, make it 20:15."],
        {"booking.time[start]": "T20:15"},
    ),
    "the end of a trip behind and": (
        ["I fly to Boston on March 24 and return on March 27."],
        {"booking.day[start]": "2026-03-24", "booking.day[end]": "2026-03-27"},
    ),
    "by a clock is no day": (
        ["I want to leave on March 24 and arrive by 19:00."],
        {"booking.day[start]": "2026-03-24"},
    ),
    "an agent's suggestion changes nothing": (
        ["A table for March 24, please.", "A: I can offer March 25."],
        {"booking.day[start]": "2026-03-24"},
    ),
    "中文改日期": (
        ["我要订3月24日下午4点的房间。", "不对，改成3月25日。"],
        {"booking.day[start]": "2026-03-25", "booking.time[start]": "T16:00"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DIALOGUES)
def test_after_a_booking_the_right_values_are_current(name: str, memory: Memory) -> None:
    said, wanted = DIALOGUES[name]
    found = current(memory, *said)
    assert {key: value for key, value in found.items() if key in wanted} == wanted
    assert wanted or not found
    if any(text.startswith("A: ") for text in said):
        assert "event[appointment]" not in found


def test_without_the_folder_could_we_only_asks() -> None:
    plain = Memory.rehearsal(ruleset=shipped())
    found = current(plain, "The notice period is 30 days.", "Could we change it to 45 days?")
    assert list(found.values()) == ["P30D"]
