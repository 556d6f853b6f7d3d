"""Addresses and places in both languages: their parts, where they begin and end, and what is none."""

from __future__ import annotations

from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shipped import shipped

from recordari.extractors.places.gazetteer import gazetteer
from recordari.extractors.scan import Extraction, scan
from recordari.model import Scan
from recordari.values import AddressValue


@lru_cache(maxsize=1)
def extraction() -> Extraction:
    return shipped().extraction


def read(text: str) -> Scan:
    return scan(text, extraction(), ner=False)


def found(text: str, kind: str) -> list[str]:
    return [m.text for m in read(text).mentions if m.kind == kind]


def parts(text: str) -> dict[str, str]:
    """The filled parts of the only address in a text."""
    [value] = [m.value for m in read(text).mentions if isinstance(m.value, AddressValue)]
    return {name: getattr(value, name) for name in (*value.PARTS, "postcode") if getattr(value, name)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "送达地址：河北省承德市承德县下板城镇新华路7号。",
            "province 河北省 | city 承德市 | district 承德县 | town 下板城镇 | road 新华路 | number 7号",
        ),
        ("我住在文三路90号", "road 文三路 | number 90号"),
        ("棠岭路200号12楼", "road 棠岭路 | number 200号 | unit 12楼"),
        ("寄到翠湖路60号3栋2单元304室", "road 翠湖路 | number 60号 | building 3栋 | unit 2单元304室"),
        ("3栋304室", "building 3栋 | unit 304室"),
        ("我住在晚晴小区3号楼", "poi 晚晴小区 | building 3号楼"),
        ("住晚晴花园5期12幢2单元", "poi 晚晴花园 | building 5期12幢 | unit 2单元"),
        ("明月路18号院5号楼", "road 明月路 | number 18号院 | building 5号楼"),
        ("明月路18号楼305室", "road 明月路 | building 18号楼 | unit 305室"),
        (
            "台北市中山区明月路三段18号7楼之2",
            "province 台湾省 | city 台北市 | district 中山区 | road 明月路三段 | number 18号 | unit 7楼之2",
        ),
        (
            "深圳市南山区科技园北区3栋",
            "province 广东省 | city 深圳市 | district 南山区 | poi 科技园 | building 北区3栋",
        ),
        ("办公室搬到成都路15号3楼302室", "road 成都路 | number 15号 | unit 3楼302室"),
        ("浙江省杭州市西湖區文三路90號", "province 浙江省 | city 杭州市 | district 西湖区 | road 文三路 | number 90號"),
        ("青岛市市北区延安三路25号", "province 山东省 | city 青岛市 | district 市北区 | road 延安三路 | number 25号"),
    ],
)
def test_a_chinese_address_is_read_into_its_parts(text: str, expected: str) -> None:
    assert sorted(f"{name} {said}" for name, said in parts(text).items()) == sorted(expected.split(" | "))


def test_an_address_without_its_province_equals_the_one_with_it() -> None:
    short, full = (read(t).mentions[0].value for t in ("静安区友新路66号", "上海市静安区友新路66号"))
    assert short.canonical == full.canonical == "上海市静安区友新路66号"


def test_a_name_keeps_the_characters_of_its_writer() -> None:
    assert found("去乾元酒店", "place") == ["乾元酒店"]
    assert read("去乾元酒店").mentions[0].canonical == "乾元酒店"


def test_an_ambiguous_district_is_given_no_city() -> None:
    assert "city" not in parts("鼓楼区明月路8号")
    assert parts("福建省鼓楼区明月路8号")["city"] == "福州市"


def test_a_renamed_division_is_found_under_its_new_name() -> None:
    assert parts("湖北省襄樊市明月路8号")["city"] == "襄阳市"


@pytest.mark.parametrize(
    "text", ["这条马路很宽", "我不知道", "思路清晰", "味道不错", "一路顺风", "项目在推进", "我们在路上", "街道很干净"]
)
def test_words_that_end_like_roads_are_none(text: str) -> None:
    assert found(text, "address") == []
    assert found(text, "place") == []


@pytest.mark.parametrize("road", ["五四路", "五一路", "解放路", "人民路"])
def test_a_road_named_after_a_day_is_a_place_and_no_date(road: str) -> None:
    scanned = read(f"我住{road}。")
    assert [(m.kind, m.text) for m in scanned.mentions] == [("place", road)]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("我下周去珠海出差", "珠海"),
        ("项目在大理", "大理"),
        ("从巴黎回来", "巴黎"),
        ("不要送到嘉定区", "嘉定区"),
        ("我们在红砖美术馆见", "红砖美术馆"),
        ("就住格林豪泰(北京学清路店)吧", "格林豪泰(北京学清路店)"),
        ("我想去雁栖湖", "雁栖湖"),
        ("到晚晴广场地铁站2号口", "晚晴广场地铁站2号口"),
        ("会议在明珠大厦3楼", "明珠大厦"),
    ],
)
def test_a_chinese_place_is_found(text: str, place: str) -> None:
    assert found(text, "place") == [place]


@pytest.mark.parametrize(
    "text",
    [
        "东方的天空",
        "听说对面开了店",
        "我非常满意这间公寓",
        "附近的酒店",
        "长安好",
        "我们一起吃饭",
        "公司附近有停车场",
        "白银价格上涨",
    ],
)
def test_ordinary_chinese_words_are_no_places(text: str) -> None:
    assert found(text, "place") == []


def test_floor_room_and_house_number_alone_are_parts() -> None:
    assert [(p.type, p.value) for p in read("不是12楼，是15楼").parts] == [("floor", "12楼"), ("floor", "15楼")]
    assert ("room", "404室") in [(p.type, p.value) for p in read("改到404室").parts]
    assert ("house_number", "110号") in [(p.type, p.value) for p in read("门牌是110号").parts]


def test_the_floor_of_an_address_is_no_part_of_its_own() -> None:
    assert read("棠岭路200号12楼").parts == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Ship to 26 Mallow Lane, Hove, BN3 9ZZ, not the Depot.",
            "number 26 | road Mallow Lane | city Hove | postcode BN3 9ZZ",
        ),
        (
            "Send it to 35 Hazel Street, Apt 412, Lincoln, NE 68599.",
            "number 35 | road Hazel Street | unit Apt 412 | city Lincoln | province NE | postcode 68599",
        ),
        (
            "Deliver to 6 Belford Plaza, Ste 250, Unit C, Boise, ID 83799.",
            "number 6 | road Belford Plaza | unit Ste 250, Unit C | city Boise | province ID | postcode 83799",
        ),
        ("It moved to 17 Garnet Street.", "number 17 | road Garnet Street"),
        ("PO Box 1234, Springfield, IL 62799", "poi PO Box 1234 | city Springfield | province IL | postcode 62799"),
        ("20 benton pl st louis mo 63199", "number 20 | road benton pl | city st louis | province mo | postcode 63199"),
        ("16½ Windward Road NW", "number 16 1/2 | road Windward Road NW"),
        (
            "254 US Highway No 202, Pluckemin, NJ 07999",
            "number 254 | road US Highway No 202 | city Pluckemin | province NJ | postcode 07999",
        ),
        (
            "Flat 18, Quill House, 44 Saffron Hill, London, EC1N 8ZZ",
            "unit Flat 18 | building Quill House | number 44 | road Saffron Hill | city London | postcode EC1N 8ZZ",
        ),
        ("1240 Larch Street 60799", "number 1240 | road Larch Street | postcode 60799"),
        (
            "77 Larch Ave SW B, Boise ID 83799",
            "number 77 | road Larch Ave SW | unit B | city Boise | province ID | postcode 83799",
        ),
        ("9 Larch Court 14", "number 9 | road Larch Court | unit 14"),
        ("40 Larch Ct ste # d", "number 40 | road Larch Ct | unit ste # d"),
        (
            "attn: payroll 12 Larch Road, Boise, ID 83799",
            "poi attn: payroll | number 12 | road Larch Road | city Boise | province ID | postcode 83799",
        ),
        (
            "dept 4410 p o box 7781 boise id 83799",
            "building dept 4410 | poi p o box 7781 | city boise | province id | postcode 83799",
        ),
        (
            "2nd floor quill tower 44 larch st boise id 83799",
            "unit 2nd floor | building quill tower | number 44 | road larch st | city boise | province id "
            "| postcode 83799",
        ),
        (
            "80 Larch Road, Saltern Court, Suite 9",
            "number 80 | road Larch Road | building Saltern Court | unit Suite 9",
        ),
        ("Harbor Mall, Boise, ID 83799", "poi Harbor Mall | city Boise | province ID | postcode 83799"),
        (
            "Larch Opera House, Quill Street, London, WC2E 9ZZ",
            "poi Larch Opera House | road Quill Street | city London | postcode WC2E 9ZZ",
        ),
        ("Anchor Point, AK 99599", "city Anchor Point | province AK | postcode 99599"),
        (
            "1 Larch Way Bear Creek Twp PA 18799",
            "number 1 | road Larch Way | city Bear Creek Twp | province PA | postcode 18799",
        ),
        ("One North Larch Avenue", "number One | road North Larch Avenue"),
        ("corner of Larch and Alder Streets", "road Larch and Alder Streets"),
        ("18th & Alder St", "road 18th & Alder St"),
        ("Highway 34 East", "road Highway 34 East"),
        ("RR 4 Box 164, Boise, ID 83799", "poi RR 4 Box 164 | city Boise | province ID | postcode 83799"),
        ("7 Birch Lane, Nashua, NH 3060", "number 7 | road Birch Lane | city Nashua | province NH | postcode 3060"),
        (
            "31 Quill St; Boise; ID 83799",
            "number 31 | road Quill St | city Boise | province ID | postcode 83799",
        ),
        ("14 Larch St, New York", "number 14 | road Larch St | city New York"),
        ("14 Larch St, Albany, New York", "number 14 | road Larch St | city Albany | province New York"),
        ("9 Alder Road PO Box X", "number 9 | road Alder Road | poi PO Box X"),
        (
            "52 Saltern Rd Quill Grove Rd Boise ID 83799",
            "number 52 | road Saltern Rd Quill Grove Rd | city Boise | province ID | postcode 83799",
        ),
        ("8 Quartz Center 505 20th St N", "building 8 Quartz Center | number 505 | road 20th St N"),
        ("5th Ave at 42nd St", "road 5th Ave at 42nd St"),
        (
            "The archive is at Flat 3, 12 Saltern Road, London SW1A 1AA now",
            "unit Flat 3 | number 12 | road Saltern Road | city London | postcode SW1A 1AA",
        ),
        ("90 Larch Rd Fl 6 attn: Ms. Ada Earth", "number 90 | road Larch Rd | unit Fl 6 | poi attn: Ms. Ada Earth"),
    ],
)
def test_an_english_address_is_read_into_its_parts(text: str, expected: str) -> None:
    assert sorted(f"{name} {said}" for name, said in parts(text).items()) == sorted(expected.split(" | "))


@pytest.mark.parametrize(
    "text",
    [
        "We met 3 people in the park",
        "Section 7 of the lease",
        "In 2026 Main Street grew",
        "I have 2 court hearings",
        "One more thing about the road",
        "Two of the streets and one avenue",
        "the 3rd and 4th quarters",
        "Pine and Oak are woods",
        "Dept 12 asked for more",
        "Suite 900 is free",
        "I was first and Holt second",
        "Highway 34 is closed",
        "$400 Lane",
        "Dinner at Alder Street",
        "Flat 3, 12 Alder trees",
        "Send NH 3060 boxes",
        "Turn off; then wait",
    ],
)
def test_numbers_in_english_sentences_are_no_addresses(text: str) -> None:
    assert found(text, "address") == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Maren lives in Leeds.", "Leeds"),
        ("Delmore is based in Suzhou.", "Suzhou"),
        ("the flight to Reading is late", "Reading"),
        ("a train to kings lynn please", "kings lynn"),
        ("tickets from Fresno, CA.", "Fresno, CA"),
        ("somewhere in London, England", "London, England"),
        ("I land at Kuala Lumpur International Airport", "Kuala Lumpur International Airport"),
        ("the weather in NYC", "NYC"),
    ],
)
def test_an_english_place_is_found(text: str, place: str) -> None:
    assert found(text, "place") == [place]


@pytest.mark.parametrize(
    "text",
    [
        "Reading the contract took an hour",
        "He may be nice",
        "Mobile phones are fine",
        "turkey for dinner",
        "I can do it",
    ],
)
def test_ordinary_english_words_are_no_places(text: str) -> None:
    assert found(text, "place") == []


def test_the_longest_run_of_divisions_is_taken() -> None:
    chain = gazetteer().chain("青岛市南区", 0)
    assert [named.division.name for named in chain] == ["青岛市", "市南区"]
    assert gazetteer().chain("明月几时有", 0) == ()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["北京市", "明月路", "100号", "12楼", "，", "在", "Main", "Street", "41 ", ", ", "WI 53799", "的"]
        ),
        max_size=9,
    )
)
def test_spans_lead_back_to_the_original_characters(pieces: list[str]) -> None:
    text = "".join(pieces)
    for mention in read(text).mentions:
        assert text[mention.start : mention.end] == mention.text
