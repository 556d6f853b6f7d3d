"""benchmarks/libraries.py: adapters of libraries that are here anyway, and the section that a remade page keeps."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    for name in ("accuracy", "adapters", "libraries"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("libraries")


def request(text: str) -> dict[str, object]:
    return {"text": text, "lang": "en", "said_at": "2031-03-03T09:00:00", "locale": None}


def test_a_date_of_dateparser_becomes_a_mention_with_its_place(libraries: ModuleType) -> None:
    (found,) = libraries.dateparser(request("The hearing is on 14 May 2031 at last"))
    assert (found["kind"], found["value"]["start"]) == ("time", "2031-05-14")
    assert "14 May 2031" in "The hearing is on 14 May 2031 at last"[found["start"] : found["end"]]
    assert list(libraries.dateparser(request("The curtains were pale and heavy"))) == []


def test_a_number_of_phonenumbers_becomes_a_mention_with_its_place(libraries: ModuleType) -> None:
    text = "Ring the clerk on (201) 555-0123 please"
    (found,) = libraries.phonenumbers(request(text))
    assert text[found["start"] : found["end"]] == "(201) 555-0123"
    assert found["value"]["e164"] == "+12015550123"
    assert list(libraries.phonenumbers(request("Ring the clerk on Tuesday please"))) == []


def test_the_section_of_the_libraries_replaces_itself_and_survives_a_remade_page(
    libraries: ModuleType, tmp_path: Path
) -> None:
    accuracy, page = importlib.import_module("accuracy"), tmp_path / "accuracy.md"
    section = f"{accuracy.BEGIN}\nfirst\n{accuracy.END}\n"
    page.write_text("# Accuracy\n", "utf-8")
    assert accuracy.kept(page) == ""
    libraries.put(page, section)
    libraries.put(page, section.replace("first", "second"))
    text = page.read_text("utf-8")
    assert ("second" in text, "first" in text, text.count(accuracy.BEGIN)) == (True, False, 1)
    assert accuracy.page({"Part": "figures"}, accuracy.kept(page)).endswith(section.replace("first", "second"))
    assert accuracy.BEGIN not in accuracy.page({"Part": "figures"})
