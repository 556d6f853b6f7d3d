"""New files: each kind's scaffold passes lint and its tests once filled in; `init` makes a folder that works."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
from shipped import shipped
from typer.testing import CliRunner

from recordari.memory import Memory
from recordari.rules.check import check
from recordari.rules.lint import lint_folders
from recordari.rules.load import load
from recordari.rules.schema import KINDS
from recordari.rules.yamltext import YamlText
from recordari.service.authoring import AuthoringError, init, kinds, new
from recordari.service.cli import app
from recordari.service.described import LINE, SCHEMAS, lead, schema, text

pytestmark = pytest.mark.usefixtures("sharing")  # see conftest.py

ROOT = Path(__file__).resolve().parent.parent
RUN = CliRunner()
# What an author writes in place of each FILL-IN, by kind.
FILLED = {
    "slot": {
        "a name of the slot": "escrow fee", "槽位的名称": "托管费", "name": "escrow fee", "名称": "托管费",
        "how one asks for it": "what is the escrow fee", "怎样问": "托管费多少", "陈述值的句子": "托管费是8万元。",
        "80000 CNY": "80000 CNY", "9000 USD": "9000 USD",
        "a sentence that states the value": "The escrow fee is $9,000.",
        "提问的句子": "托管费是8万元吗？", "a sentence that only supposes it": "Suppose the escrow fee is $9,000.",
    },
    "capture": {
        "a word beside the value": "escrow fee", "值旁边的词": "托管费", "陈述值的句子": "托管费是8万元。",
        "80000 CNY": "80000 CNY", "9000 USD": "9000 USD",
        "a sentence that states the value": "The escrow fee is $9,000.",
        "提问的句子": "托管费是8万元吗？", "a sentence that denies the value": "The escrow fee is not $9,000.",
    },
    "vocabulary": {"a word": "escrow", "一个词": "托管"},
    "gate": {
        "a phrase": "toodle pip", "一句话": "回头聊哈", "a turn that is nothing but this": "Toodle pip!",
        "只有这句话的一轮": "回头聊哈。", "a turn that says more": "Toodle pip, the fee is $90.",
        "说了别的内容的一轮": "回头聊哈，费用90元。",
    },
    "cue": {
        "a word of doubt": "dunno maybe", "表示疑问的词": "也没准儿",
        "a sentence with the word before a value": "It is dunno maybe $9,000.", "9000 USD": "9000 USD",
        "词在值前面的句子": "也没准儿是80000元", "80000 CNY": "80000 CNY",
        "a sentence with the word and no value in its clause": "Dunno maybe.", "没有这个词的句子": "费用80000元",
    },
    "grammar": {
        "word": "zorkmids", "5 of the word": "we have 5 zorkmids", "5": "5", "12 of the word": "we have 12 zorkmids",
        "12": "12", "the word without a number": "zorkmids are rare", "a number with another word": "see you",
    },
    "induction": {
        "a wish": "I'd like a window seat.", "一个愿望": "我要靠窗的座位。", "另一个愿望": "我要安静的房间。",
    },
    "retention": {"P5Y": "P5Y"},
    "forgetting": {"P180D": "P180D"},
    "policy": {
        "why": "The desk decides on doubtful fees.", "what the case is": "a doubtful fee",
        "another value of it": "a doubtful change", "asked for": "a question",
        "of another slot": "a question of a date",
    },
}  # fmt: skip
HEADER = {
    "what it is about": "Escrow fee", "关于什么": "托管费", "who answers for it": "escrow-desk",
    "why the rule exists, in one sentence": "The desk quotes the fee.",
}  # fmt: skip


def filled(path: Path, kind: str) -> None:
    said = path.read_text(encoding="utf-8")
    for left in sorted(HEADER | FILLED[kind], key=len, reverse=True):
        said = said.replace(f"FILL-IN {left}", (HEADER | FILLED[kind])[left])
    path.write_text(said, encoding="utf-8")


@pytest.mark.parametrize("kind", sorted(FILLED))
def test_a_scaffold_passes_lint_and_its_tests_once_it_is_filled_in(tmp_path: Path, kind: str) -> None:
    name = {"slot": "slot.escrow_fee", "policy": "policy.escrow_fee"}.get(kind, f"{kind}.escrow_fee")
    made = new(kind, name, tmp_path, "preference" if kind == "induction" else None)
    if kind in ("capture", "policy", "forgetting"):
        filled(new("slot", "slot.escrow_fee", tmp_path), "slot")
    if kind == "slot":
        filled(new("capture", "capture.escrow_fee", tmp_path), "capture")
    unfilled = [p for p in lint_folders([tmp_path])[1] if p.file == str(made)]
    assert {problem.check for problem in unfilled} & {"not-filled-in", "wrong-value"}
    filled(made, kind)
    ruleset, problems = lint_folders([tmp_path])
    assert [str(problem) for problem in problems if problem.file == str(made)] == []
    report = check(ruleset, Memory.rehearsal(ruleset=ruleset).trial, rule=name)
    assert [str(problem) for problem in report.problems] == []
    assert report.passed == (0 if kind in ("forgetting", "retention", "vocabulary") else 4)


def test_every_kind_has_a_scaffold() -> None:
    assert set(kinds()) == set(FILLED) == set(KINDS)


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [("slt", "slot.x", "One of: capture"), ("slot", "Slot.X", "is no id"), ("slot", "fee", "slot.fee")],
)
def test_a_file_that_cannot_be_made_says_why(tmp_path: Path, kind: str, name: str, said: str) -> None:
    with pytest.raises(AuthoringError, match=re.escape(said)):
        new(kind, name, tmp_path)


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    path = new("vocabulary", "words.fee", tmp_path)
    with pytest.raises(AuthoringError, match="is there already"):
        new("vocabulary", "words.fee", tmp_path)
    assert RUN.invoke(app, ["rules", "new", "vocabulary", "words.fee", "--in", str(tmp_path)]).exit_code == 2
    assert path.exists()


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("init") / "my-rules"
    init(folder)
    return folder


def test_init_makes_a_folder_that_is_clean_and_whose_tests_pass(mine: Path) -> None:
    ruleset, problems = lint_folders([mine])
    assert [str(problem) for problem in problems if "my-rules" in problem.file] == []
    trial = Memory.rehearsal(ruleset=ruleset).trial
    for name in ("slot.warranty", "capture.warranty"):
        report = check(ruleset, trial, rule=name)
        assert report.problems == []
        assert report.passed == 4


def test_its_examples_override_and_retire_once_they_are_renamed(mine: Path, tmp_path: Path) -> None:
    assert load([mine]).slots["budget"].flag_change == shipped().slots["budget"].flag_change
    for path in mine.glob("*.example"):
        (tmp_path / path.name.removesuffix(".example")).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    layered, problems = lint_folders([tmp_path])
    assert [str(problem) for problem in problems if str(tmp_path) in problem.file] == []
    change = layered.slots["budget"].flag_change
    assert change is not None
    assert change.factor == 1.2
    assert "capture.place_labelled" not in layered.files
    assert "capture.place_labelled" in shipped().files


def test_init_writes_nothing_into_a_folder_that_holds_something(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("mine", encoding="utf-8")
    assert RUN.invoke(app, ["init", str(tmp_path)]).exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]


# ---------------------------------------------------------------- schemas
def test_an_editor_finds_the_schema_of_every_file(mine: Path) -> None:
    files = [*(ROOT / "rules" / "packs").rglob("*.yaml"), *mine.glob("*.yaml"), *mine.glob("*.example")]
    for path in files:
        line, kind = path.read_text(encoding="utf-8").partition("\n")[0], ""
        kind = str(YamlText(path.read_text(encoding="utf-8"), path.name).data["kind"]) if path.parent == mine else ""
        assert line.startswith(LINE), f"{path}: make docs, then recordari rules lock rules/packs"
        found = (path.parent / line.removeprefix(LINE)).resolve()
        assert found.is_file(), path
        assert found.name.startswith(kind)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_shipped_schemas_are_in_step_with_the_models(kind: str) -> None:
    assert (SCHEMAS / f"{kind}.schema.json").read_text(encoding="utf-8") == text(kind), "make docs"


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_field_and_every_value_of_a_schema_is_described(kind: str, language: str) -> None:
    made = schema(kind, language)  # type: ignore[arg-type]
    jsonschema.Draft202012Validator.check_schema(made)
    han = re.compile(r"[\u3400-\u9fff]")
    for part in (made, *made.get("$defs", {}).values()):
        for name, field in part["properties"].items():
            assert field.get("description"), (part["title"], name)
            assert name == "kind" or language == "en" or han.search(field["description"]), (part["title"], name)
    enums = list(_enums(made))
    assert enums
    for node in enums:
        assert len(node["enumDescriptions"]) == len(node["enum"])
        assert all(node["enumDescriptions"])


def _enums(node: object) -> list[dict[str, list[str]]]:
    if isinstance(node, list):
        return [found for child in node for found in _enums(child)]
    if not isinstance(node, dict):
        return []
    own = [node] if isinstance(node.get("enum"), list) else []
    return own + [found for child in node.values() for found in _enums(child)]


def test_the_first_line_is_added_once(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("id: words.a\nkind: vocabulary\n", encoding="utf-8")
    lead(tmp_path)
    once = path.read_text(encoding="utf-8")
    lead(tmp_path)
    assert path.read_text(encoding="utf-8") == once
    assert once.startswith(LINE)


def test_the_schemas_of_all_kinds_can_be_written(tmp_path: Path) -> None:
    assert RUN.invoke(app, ["rules", "schema", "--all", str(tmp_path), "--lang", "zh"]).exit_code == 0
    made = json.loads((tmp_path / "slot.schema.json").read_text(encoding="utf-8"))
    assert "槽位" in made["description"]
    assert RUN.invoke(app, ["rules", "schema"]).exit_code == 2
