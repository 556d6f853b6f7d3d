"""Word lists go out to a spreadsheet and come back as they were; what a spreadsheet spoils is told with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from recordari.rulefile import RuleError
from recordari.rules.folders import read_packs
from recordari.rules.yamltext import YamlText
from recordari.service.cli import app
from recordari.service.wordlists import PARTS, export, put, read

RUN = CliRunner()
HEAD = "id: words.fees\nversion: 3\nkind: vocabulary\ntitle: {en: e, zh: z}\nowner: o\n"


def parts_of(data: dict[str, Any]) -> dict[str, Any]:
    return {part: data[part] for part in PARTS if data.get(part)}


def back(tmp_path: Path, csv: str, text: str = HEAD) -> dict[str, Any]:
    table, file = tmp_path / "t.csv", tmp_path / "words.yaml"
    table.write_bytes(csv.encode("utf-8"))
    file.write_text(text, encoding="utf-8")
    return dict(YamlText(put(read(table), file), "f").data)


def test_every_shipped_vocabulary_comes_back_as_it_was(tmp_path: Path) -> None:
    shipped = [found.data(trusting=True) for found in read_packs([])]
    vocabularies = [data for data in shipped if data["kind"] == "vocabulary"]
    assert len(vocabularies) > 50
    table = tmp_path / "t.csv"
    for data in vocabularies:
        table.write_bytes(export(data).encode("utf-8"))
        assert read(table) == parts_of(data), data["id"]


@given(st.lists(st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1), min_size=1, unique=True))
def test_any_words_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    folder = tmp_path_factory.mktemp("w")
    assert back(folder, export({"words": words}))["words"] == words


@pytest.mark.parametrize(
    "words", [{"廿": 20, "no": False, "yes": "yes", "tel": "0571"}, ["=SUM(A1)", "+86", "'tis", "12:30"]]
)
def test_values_keep_their_type_and_a_formula_stays_text(tmp_path: Path, words: Any) -> None:
    found = back(tmp_path, export({"words": words}))["words"]
    assert found == words
    if isinstance(found, dict):
        assert [type(value) for value in found.values()] == [type(value) for value in words.values()]


def test_a_changed_list_gets_the_next_version_and_the_rest_of_the_file_stays(tmp_path: Path) -> None:
    text = "# ours\n" + HEAD + "words: [fee, 费用]\nsource: own\ntests:\n  - {say: a, expect: none}\n"
    found = back(tmp_path, export({"words": ["fee", "charge"]}), text)
    assert found["version"] == 4
    assert found["changelog"] == [{"version": 4, "note": "Words from a spreadsheet."}]
    assert found["words"] == ["fee", "charge"]
    assert (found["source"], len(found["tests"])) == ("own", 1)
    assert put({"words": ["fee", "费用"]}, tmp_path / "words.yaml") == text, "an unchanged list changes nothing"


def test_a_new_file_is_made_with_what_is_left_to_fill_in(tmp_path: Path) -> None:
    text = put({"labels": {"fee": ["费用", "fee"]}}, tmp_path / "labels.fees.yaml")
    assert "id: labels.fees\n" in text
    assert "owner: FILL-IN" in text
    assert YamlText(text, "f").data["labels"] == {"fee": ["费用", "fee"]}


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_spreadsheet_may_part_columns_in_its_own_way(tmp_path: Path, separator: str) -> None:
    (tmp_path / "t.csv").write_text(f"part{separator}word\r\nwords{separator}fee\r\n", encoding="utf-8")
    assert read(tmp_path / "t.csv") == {"words": ["fee"]}


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("part,word\nwords,费用\n".encode("gbk"), "t.csv:2:1: the file is not UTF-8. Save it as “CSV UTF-8”"),
        (b"name,text\nwords,fee\n", "t.csv:1:1: the columns are name, text"),
        (b"part,word\nword,fee\n", "t.csv:2:1: unknown part 'word'"),
        (b"part,word,means,type\nwords,a,x,number\n", "t.csv:2:1: 'x' is no whole number"),
        (b"part,word,means,type\nwords,a,1,number\nwords,b,,\n", "t.csv:3:1: 'b' has no value and others have one"),
        (b"part,word,means\nlabels,a,\n", "t.csv:2:1: the label 'a' means nothing"),
        (b"part,word\n", "names no word"),
    ],
)
def test_what_is_wrong_with_a_table_is_told_with_its_line(tmp_path: Path, raw: bytes, said: str) -> None:
    (tmp_path / "t.csv").write_bytes(raw)
    with pytest.raises(RuleError) as error:
        read(tmp_path / "t.csv")
    assert said in str(error.value)


def test_the_commands_export_and_import(tmp_path: Path) -> None:
    table, file = tmp_path / "t.csv", tmp_path / "labels.mine.yaml"
    assert RUN.invoke(app, ["rules", "words", "export", "labels.concepts", str(table)]).exit_code == 0
    assert table.read_bytes().startswith(b"\xef\xbb\xbfpart,word,means,type\r\n")
    assert RUN.invoke(app, ["rules", "words", "import", str(table), str(file)]).exit_code == 0
    assert "marketing: [" in file.read_text(encoding="utf-8")
    wrong = RUN.invoke(app, ["rules", "words", "export", "labels.concept", "-"])
    assert wrong.exit_code == 2
    assert "Did you mean 'labels.concepts'" in wrong.stderr
