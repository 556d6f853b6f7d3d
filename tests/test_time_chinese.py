"""Chinese times: what is found and worth what, and the sayings, names and codes that are no times."""

from __future__ import annotations

from datetime import datetime

import pytest
from shipped import shipped

from recordari.extractors.scan import scan
from recordari.extractors.time.workdays import Unpublished, Workdays
from recordari.model import Scan
from recordari.values import TimeValue

EXTRACTION = shipped().extraction
WEDNESDAY = "2026-03-18T10:00:00+08:00"
SUNDAY = "2026-03-22T10:00:00+08:00"


def found(text: str, now: str | None = WEDNESDAY, locale: str | None = None) -> Scan:
    return scan(text, EXTRACTION, said_at=datetime.fromisoformat(now) if now else None, lang="zh", locale=locale)


def times(text: str, now: str | None = WEDNESDAY, locale: str | None = None) -> list[str]:
    return [m.canonical for m in found(text, now, locale).mentions if m.kind == "time"]


def value(text: str, now: str | None = WEDNESDAY) -> TimeValue:
    (mention,) = [m for m in found(text, now).mentions if m.kind == "time"]
    assert isinstance(mention.value, TimeValue)
    return mention.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("下周三", "2026-03-25"),
        ("这周三", "2026-03-18"),
        ("上周日", "2026-03-15"),
        ("下下周一", "2026-03-30"),
        ("大上周五", "2026-03-06"),
        ("再下周", "2026-03-30/2026-04-05"),
    ],
)
def test_weeks_begin_on_monday_so_on_a_sunday_next_week_begins_tomorrow(text: str, expected: str) -> None:
    assert times(text, SUNDAY) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "下周二下午三点",
        "下周二下午三点都有空",
        "我下周二下午三点要去法院",
        "下周二下午三点开庭，别迟到",
        "约在下周二下午三点见面",
        "下周二的下午三点也行",
        "下周二下午3点不方便",
        "下周二下午三点没问题",
    ],
)
def test_a_clock_after_a_day_keeps_its_hour_whatever_follows(text: str) -> None:
    assert times(text, SUNDAY) == ["2026-03-24T15:00"]


@pytest.mark.parametrize("text", ["他有三点意见", "这三点都同意", "晚上一点都不冷", "下午三点意见已转达"])
def test_points_of_a_list_are_no_hours(text: str) -> None:
    assert not any("T03" in t or "T15" in t or "T01" in t for t in times(text))


@pytest.mark.parametrize(
    ("text", "now", "expected"),
    [
        ("4月26日", "2026-06-14T09:00:00+08:00", "2026-04-26"),
        ("正月初八", "2026-05-01T09:00:00+08:00", "2026-02-24"),
        ("1月9日", "2026-12-20T09:00:00+08:00", "2027-01-09"),
        ("12月29日", "2026-01-02T09:00:00+08:00", "2025-12-29"),
        ("4月26日前", "2026-06-14T09:00:00+08:00", "../2027-04-26"),
        ("元旦", "2026-02-12T09:00:00+08:00", "2027-01-01"),
        ("清明节", "2026-04-08T09:00:00+08:00", "2026-04-05"),
    ],
)
def test_a_yearless_date_is_this_years_but_a_limit_and_a_named_day_lie_ahead(
    text: str, now: str, expected: str
) -> None:
    assert times(text, now) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我周五去了法院", "2026-03-13"),
        ("周一已经付了定金", "2026-03-16"),
        ("他周六没来", "2026-03-14"),
        ("周三我们开了会", "2026-03-11"),
        ("周五要去法院", "2026-03-20"),
        ("我买了周五的票", "2026-03-20"),
        ("周五见了面再定", "2026-03-20"),
        ("约了周五见面", "2026-03-20"),
    ],
)
def test_a_weekday_of_which_something_is_told_is_the_last_one(text: str, expected: str) -> None:
    assert times(text) == [expected]


def test_the_other_year_stays_a_reading() -> None:
    got = value("4月26日", "2026-06-14T09:00:00+08:00")
    assert ("2027-04-26", "2027-04-27") in [(r.start, r.end) for r in got.readings]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("年底", "2026-12-01/2026-12-31"),
        ("明年年底前", "../2027-12-31"),
        ("本月底", "2026-03-31"),
        ("一季度末", "2026-03-31"),
        ("前三季度", "2026-01-01/2026-09-30"),
        ("去年前两个季度", "2025-01-01/2025-06-30"),
        ("2026年上半年", "2026-01-01/2026-06-30"),
        ("下半年", "2026-07-01/2026-12-31"),
        ("下半周", "2026-03-19/2026-03-22"),
        ("今年第四十天", "2026-02-09"),
        ("去年本月十日", "2025-03-10"),
        ("去年的今天", "2025-03-18"),
        ("年内", "../2026"),
        ("明后天", "2026-03-19/2026-03-20"),
        ("今明两天", "2026-03-18/2026-03-19"),
        ("三四天后", "~2026-03-21/2026-03-22"),
        ("前几天", "~2026-03-15/2026-03-17"),
        ("9月10号、11号、12号", "2026-09-10/2026-09-12"),
    ],
)
def test_parts_and_runs_of_a_year(text: str, expected: str) -> None:
    assert times(text) == [expected]


def test_a_day_in_a_list_falls_into_the_month_of_its_neighbour() -> None:
    assert times("9月10号和20号各付一半") == ["2026-09-10", "2026-09-20"]
    assert times("2027年3月和5月各开一次会") == ["2027-03", "2027-05"]
    assert times("下周一、周四面谈") == ["2026-03-23", "2026-03-26"]


def test_neighbours_without_a_word_of_a_list_keep_apart() -> None:
    assert times("9月10号付款，20号有空") == ["2026-09-10", "2026-03-20"]
    assert times("9月的5号楼和6号楼") == ["2026-09"]


def test_a_small_hour_that_repeats_is_in_the_afternoon_and_the_night_is_a_reading() -> None:
    daily = value("每天三点对账")
    assert daily.canonical == "RRULE:FREQ=DAILY;BYHOUR=15;BYMINUTE=0"
    assert [reading.start for reading in daily.readings] == ["T03:00"]
    assert value("每周二早上五点出车").canonical == "RRULE:FREQ=WEEKLY;BYDAY=TU;BYHOUR=5;BYMINUTE=0"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("乾隆三年五月", "1738-05"),
        ("光绪元年", "1875"),
        ("民国三十七年", "1948"),
        ("公元一六年", "0016"),
        ("789年", "0789"),
        ("三三年", "2033"),
        ("二十世纪五六十年代", "1950/1969"),
        ("2020年闰四月十二", "2020-06-03"),
        ("26-3-15", "2026-03-15"),
        ("从2016-2018", "2016/2018"),
    ],
)
def test_years_in_every_count(text: str, expected: str) -> None:
    assert times(text) == [expected]


@pytest.mark.parametrize("text", ["康熙来了", "绍兴话", "三四年级", "公元前200年", "比一下2009年的价"])
def test_what_only_looks_like_a_count_of_years(text: str) -> None:
    assert [t for t in times(text) if t not in ("2009",)] == []


def test_a_number_of_years_may_be_a_year_and_a_season_may_follow_its_solar_term() -> None:
    assert value("24年").canonical == "P24Y"
    assert ("2024-01-01", "2025-01-01") in [(r.start, r.end) for r in value("24年").readings]
    spring = value("今年春天")
    assert spring.canonical == "2026-03-01/2026-05-31"
    assert ("2026-02-04", "2026-05-05") in [(r.start, r.end) for r in spring.readings]


def test_eight_fifteen_is_mid_autumn_until_a_written_year_or_a_day_word_says_otherwise() -> None:
    assert times("八月十五") == ["2026-09-25"]
    assert times("去年八月十五") == ["2025-10-06"]
    assert times("2026年八月十五") == ["2026-08-15"]
    assert times("八月十五日") == ["2026-08-15"]


@pytest.mark.parametrize(
    ("text", "now", "expected"),
    [
        ("两个工作日后", "2026-09-18T09:00:00+08:00", "2026-09-21"),  # Sunday the 20th is worked
        ("三个工作日后", "2026-09-29T09:00:00+08:00", "2026-10-09"),
        ("国庆节后第一个工作日", "2026-09-01T09:00:00+08:00", "2026-10-08"),
        ("春节前最后一个工作日", "2026-01-10T09:00:00+08:00", "2026-02-14"),
        ("本月最后一个工作日", WEDNESDAY, "2026-03-31"),
        ("2026年第一个工作日", WEDNESDAY, "2026-01-04"),
        ("下个工作日", "2026-04-30T09:00:00+08:00", "2026-05-06"),
        ("五一假期", WEDNESDAY, "2026-05-01/2026-05-05"),
        ("节后第一个工作日", WEDNESDAY, "holiday+1bd"),
        ("节前最后一个工作日", WEDNESDAY, "holiday-1bd"),
        ("三个工作日后", "2031-03-18T09:00:00+08:00", "said_at+3bd"),
    ],
)
def test_working_days_are_those_that_were_published(text: str, now: str, expected: str) -> None:
    assert times(text, now) == [expected]


@pytest.mark.parametrize("text", ["2031年国庆假期", "2031年3月第三个工作日"])
def test_nothing_is_said_of_a_year_whose_working_days_are_not_published(text: str) -> None:
    assert times(text) == []
    assert [r.kind for r in found(text).refused] == ["time"]


def test_another_country_works_from_monday_to_friday() -> None:
    assert times("两个工作日后", "2026-09-18T09:00:00+08:00", locale="zh-TW") == ["2026-09-22"]


def test_workdays_know_the_weekend_that_is_worked_and_refuse_an_unknown_year() -> None:
    table = Workdays({2026: {"off": "10-01..10-07", "work": "10-10"}})
    assert table.works(datetime(2026, 10, 10).date())  # noqa: DTZ001 - a day
    assert not table.works(datetime(2026, 10, 7).date())  # noqa: DTZ001 - a day
    assert not table.works(datetime(2026, 10, 11).date())  # noqa: DTZ001 - a day
    assert Workdays().works(datetime(2026, 10, 7).date())  # noqa: DTZ001 - a day
    with pytest.raises(Unpublished):
        table.works(datetime(2027, 1, 4).date())  # noqa: DTZ001 - a day


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("每周一三五", "FREQ=WEEKLY;BYDAY=MO,WE,FR"),
        ("每周二和周四", "FREQ=WEEKLY;BYDAY=TU,TH"),
        ("每月5号和20号", "FREQ=MONTHLY;BYMONTHDAY=5,20"),
        ("每年3月和9月", "FREQ=YEARLY;BYMONTH=3,9"),
        ("每个月最后一个周五", "FREQ=MONTHLY;BYDAY=-1FR"),
        ("每月最后一个工作日", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"),
        ("隔周周五", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR"),
        ("逢周末", "FREQ=WEEKLY;BYDAY=SA,SU"),
        ("工作日每天早上9点", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0"),
        ("每周一下午八点都开会", "FREQ=WEEKLY;BYDAY=MO;BYHOUR=20;BYMINUTE=0"),
        ("每两周一次", "FREQ=WEEKLY;INTERVAL=2"),
        ("每隔一天", "FREQ=DAILY;INTERVAL=2"),
        ("周一到周五每天9点", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0"),
    ],
)
def test_rhythms_may_have_several_days(text: str, expected: str) -> None:
    assert times(text) == [f"RRULE:{expected}"]


@pytest.mark.parametrize(
    ("text", "canonical", "zone"),
    [
        ("北京时间下午三点", "T15:00", "Asia/Shanghai"),
        ("美东时间周五16:00", "2026-03-20T16:00", "America/New_York"),
        ("纽约时间3月25日上午9点", "2026-03-25T09:00", "America/New_York"),
        ("下午三点", "T15:00", None),
    ],
)
def test_a_zone_said_before_a_time_belongs_to_it(text: str, canonical: str, zone: str | None) -> None:
    got = value(text)
    assert (got.canonical, got.zone) == (canonical, zone)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("差一刻九点", "T08:45"),
        ("8点差5分", "T07:55"),
        ("八点过十分", "T08:10"),
        ("两点四十五", "T14:45"),
        ("凌晨两点四十五", "T02:45"),
        ("明天三点见", "2026-03-19T15:00"),
        ("3时停电", "T03:00"),
        ("九点到五点", "T09:00/T17:00"),
        ("早九点到晚六点", "T09:00/T18:00"),
        ("下班前", "../T18:00"),
        ("周五下班前", "../2026-03-20T18:00"),
    ],
)
def test_clocks_as_people_say_them(text: str, expected: str) -> None:
    assert times(text) == [expected]


def test_a_bare_clock_is_the_same_value_on_every_day_and_starts_on_the_coming_one() -> None:
    one, two = value("下午三点", WEDNESDAY), value("下午三点", SUNDAY)
    assert one.same_as(two)
    assert (one.start, two.start) == ("2026-03-18T15:00:00", "2026-03-22T15:00:00")
    assert not one.same_as(value("下午四点", WEDNESDAY))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2025财年", "fiscal_year_2025"),
        ("上财年", "fiscal_year-P1Y"),
        ("2025财年第三季度", "fiscal_year_2025_q3"),
        ("会计年度终了后四个月内", "<=year_end+P4M"),
        ("季度结束后十五日内", "<=quarter_end+P15D"),
        ("乙方收到发票后15日内", "<=invoice_date+P15D"),
        ("自合同签订之日起三个工作日内", "<=signing_date+3bd"),
        ("到期前30日", "expiry-P30D"),
        ("T+2", "T+2bd"),
        ("自双方签字盖章之日起生效", ">=signing_date"),
        ("应于交割日前完成", "<=closing"),
        ("自乙方书面提出异议之日起十五日内", "<=乙方书面提出异议+P15D"),
        ("在知道之日起一年内", "<=知道+P1Y"),
        ("质保期自终验合格之日起24个月", "acceptance+P24M"),
    ],
)
def test_what_hangs_on_an_unknown_day_stays_symbolic(text: str, expected: str) -> None:
    assert times(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("6月30日前三天", "2026-06-27"),
        ("国庆节后一周", "2026-10-08"),
        ("元旦前一天", "2026-12-31"),
        ("自3月5日起三十日内", "../2026-04-04"),
        ("有效期至2027年6月30日", "../2027-06-30"),
        ("截至目前", "../2026-03-18T10:00:00"),
        ("提前60日书面通知", "P60D"),
        ("本周五（3月20日）下午6点前", "../2026-03-20T18:00"),
        ("3月5日-8日出差", "2026-03-05/2026-03-08"),
        ("今晚23:55起飞", "2026-03-18T23:55"),
    ],
)
def test_counted_from_a_known_day_it_is_a_date(text: str, expected: str) -> None:
    assert times(text) == [expected]


@pytest.mark.parametrize("text", ["4月31号", "2月30日", "13月5日", "十三月五日", "下午25点", "2026-02-29"])
def test_what_no_calendar_and_no_clock_has_is_refused(text: str) -> None:
    scanned = found(text)
    assert [m for m in scanned.mentions if m.kind == "time"] == []
    assert [r.kind for r in scanned.refused] == ["time"]


@pytest.mark.parametrize("text", ["2月30日后三天", "星期天2月29日31到13月", "4月31日的前一天", "2月30日起三个工作日内"])
def test_nothing_is_counted_from_a_day_that_does_not_exist(text: str) -> None:
    assert "-04-" not in "".join(times(text))
    assert found(text).refused


def test_a_leap_month_without_a_year_is_the_last_or_next_there_is() -> None:
    assert times("闰六月初一") == ["2025-07-25"]


@pytest.mark.parametrize(
    "text",
    [
        "店开在五一路",
        "万一下雨呢",
        "千万别去",
        "周天乐请假了",
        "他有点二百五",
        "软件版本号2.3.1",
        "一日之计在于晨",
        "一日三餐都在食堂",
        "三天两头请假",
        "两点论",
        "一时半会儿好不了",
        "十年寒窗无人问",
        "百年大计",
        "三分钟热度",
        "他刷今日头条",
        "春天花店开业了",
        "六一小学门口",
        "三八线以北",
        "七月流火",
        "二月兰开了",
        "一心一意",
        "马上一看就懂",
        "周末愉快",
        "新年快乐",
        "他是周五福的店员",
        "零点乐队",
        "第二天堂",
        "12号",
        "座位在12号",
    ],
)
def test_sayings_names_and_numbers_are_no_times(text: str) -> None:
    assert times(text) == []


def test_a_lone_numbered_day_is_a_part_for_whoever_knows_what_was_asked() -> None:
    assert [(p.type, p.value) for p in found("12号").parts if p.type == "day_said"] == [("day_said", "12")]
    assert times("12号交") == ["2026-04-12"]
    assert times("30日") == ["2026-03-30"]


@pytest.mark.parametrize("text", ["三年后", "春天", "下午三点前", "近三个月", "年底前", "八月十五", "三点", "26-3-15"])
def test_a_mention_has_at_most_three_other_readings(text: str) -> None:
    assert len(value(text).readings) <= 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("中秋节后第二天出货", "2026-09-27"),
        ("元旦后第三个工作日", "2026-01-06"),
        ("国庆假期最后一天返程", "2026-10-07"),
        ("端午当天休息", "2026-06-19"),
        ("节后三天内回复", "<=holiday+P3D"),
        ("节前一周备货", "holiday-P1W"),
        ("签约后次日打款", "signing_date+P1D"),
        ("交割日后第五个工作日", "closing+5bd"),
        ("评估报告出具后10日内", "<=issue_date+P10D"),
        ("见票后30天付款", "sight+P30D"),
        ("尾款发货前付清", "<delivery"),
        ("25财年上半年", "fiscal_year_2025_h1"),
        ("每季度首月10日缴税", "RRULE:FREQ=MONTHLY;BYMONTH=1,4,7,10;BYMONTHDAY=10"),
        ("每季度末月的20日", "RRULE:FREQ=MONTHLY;BYMONTH=3,6,9,12;BYMONTHDAY=20"),
    ],
)
def test_what_is_counted_from_a_festival_an_event_or_a_quarter(text: str, expected: str) -> None:
    assert times(text) == [expected]


@pytest.mark.parametrize("text", ["2026年13月", "2026年13月5日", "发货前的仓库", "国庆节后第二天"])
def test_what_cannot_be_placed_is_not_counted_from_today(text: str) -> None:
    assert not [t for t in times(text) if t.startswith("2026-03")]
    assert "2026" not in times(text)


def test_a_length_behind_an_unknown_event_is_not_counted_from_today() -> None:
    assert times("手术后两周复查") == ["手术+P2W"]
    assert times("样品寄出后10天内答复") == ["<=样品寄出+P10D"]
    assert times("他走后三天内没有消息") == ["P3D"]
    assert times("然后三天内付款") == ["../2026-03-21"]
    assert times("后三天有雨") == ["2026-03-19/2026-03-21"]


def test_the_next_day_alone_is_still_tomorrow() -> None:
    assert times("次日发货") == ["2026-03-19"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("五月底六月初交房", ["2026-05-31", "2026-06-01/2026-06-10"]),
        ("保险还有三天到期", ["2026-03-21"]),
        ("还有三天", ["P3D"]),
        ("2026.03.01-2026.05.31", ["2026-03-01/2026-05-31"]),
    ],
)
def test_neighbouring_edges_what_is_left_and_dotted_ranges(text: str, expected: list[str]) -> None:
    assert times(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("24年签的租约", "2024"),
        ("98年毕业", "1998"),
        ("26年预算", "2026"),
        ("20年买的房", "2020"),
        ("98年前后", "~1998"),
        ("10年前认识的", "2016-03-18"),
        ("20年的租约", "P20Y"),
        ("合作24年了", "P24Y"),
        ("签了12年的合同", "P12Y"),
        ("他有26年的经验", "P26Y"),
    ],
)
def test_two_digits_before_a_year_are_a_year_only_beside_what_happened_in_it(text: str, expected: str) -> None:
    assert times(text) == [expected]
