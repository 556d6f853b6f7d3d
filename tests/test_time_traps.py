"""Words, numbers and codes that look like dates or times and are none."""

from __future__ import annotations

from datetime import datetime

import pytest
from shipped import shipped

from recordari.extractors.scan import scan

EXTRACTION = shipped().extraction
NOW = datetime.fromisoformat("2026-03-18T10:00:00+08:00")


def times(text: str) -> list[str]:
    return [m.canonical for m in scan(text, EXTRACTION, said_at=NOW).mentions if m.kind == "time"]


@pytest.mark.parametrize(
    "text",
    [
        "We may proceed",
        "May I ask a question",
        "They march past the gate",
        "She sat in the sun",
        "back in a second",
        "on second thoughts",
        "the second floor",
        "PID ON RECORD",
        "version v2.4.6",
        "Version 1.10.3",
        "clause 9(2) of the deed",
        "page 12",
        "12 Main Street, Suite 5",
        "the score was 3:2",
        "a 16:9 screen and a 4:3 aspect ratio",
        "call 555-0142",
        "IP 192.168.255.255",
        "ISBN 978-3-16",
        "Batch 11 was sent",
        "there are 10 people in the room",
        "room 1530 is free",
        "a dozen of them",
        "Pay ABC 2000",
        "4.5 percent",
        "good morning",
        "the ruby tuesday diner",
        "I have 2 of them",
        "at least",
        "from one to another",
    ],
)
def test_english_words_and_numbers_that_are_no_times(text: str) -> None:
    assert times(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "门店在五一路",
        "周天乐是我的同事",
        "周一鸣来了",
        "此事务必早办",
        "最早也要等通知",
        "编号2024年第15号",
        "移动4/5G套餐",
        "一分钱一分货",
        "那部电影一点都不好看",
        "我有三点建议",
        "便宜一点",
        "零点五",
        "升高10点五度",
        "加七点八",
        "他是19级的学生",
        "3号楼5号线",
        "中山路15号",
        "那是他的队伍",
        "五角大楼宣布了计划",
        "前台在左边",
        "以后再说",
        "外面下大雪",
        "八月桂花遍地开的歌",
        "二十一",
        "三款产品",
    ],
)
def test_chinese_words_and_numbers_that_are_no_times(text: str) -> None:
    assert times(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("May 2016 net margin was 42 percent", ["2016-05"]),
        ("Parcel 12 was posted on 21-Oct-2014.", ["2014-10-21"]),
        ("the June 2018 gross profit", ["2018-06"]),
        ("$45,000 due 31 March 2026", ["2026-03-31"]),
        ("30000元，4月1日付", ["2026-04-01"]),
        ("I let unit 9 from 4 May to 2 July 2017", ["2017-05-04/2017-07-02"]),
        ("Thursday at 2 pm for 50 minutes", ["2026-03-19T14:00", "PT50M"]),
        ("first invoice 12, second invoice on May 3", ["2026-05-03"]),
        ("文三路90号，6月30日交房", ["2026-06-30"]),
    ],
)
def test_a_number_beside_a_date_is_not_drawn_into_it(text: str, expected: list[str]) -> None:
    got = times(text)
    assert got == expected or (len(expected) == 2 and got[:1] == ["2026-03-19T14:00/2026-03-19T14:50"])


def test_a_long_run_of_weekdays_stays_quick_and_finds_something() -> None:
    assert times("周一到" * 60 + "周五")


def test_digits_without_end_are_no_date() -> None:
    assert times("20260318" * 40) == []
