"""Loading rule files: located errors, layers, digests, references, the cache and the lock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import untraced
from hypothesis import given
from hypothesis import strategies as st

from recordari.model import REASONS
from recordari.rulefile import RuleError
from recordari.rules import cache
from recordari.rules import parsed as parsed_module
from recordari.rules.folders import read_folder, read_packs
from recordari.rules.load import build, load
from recordari.rules.lock import LOCK, check_lock, write_lock
from recordari.rules.parsed import SHIPPED, parse, write_shipped
from recordari.rules.schema import KINDS, json_schema
from recordari.rules.yamltext import YamlText

BAD = sorted((Path(__file__).parent / "bad_rules").glob("*.yaml"))

POLICY = """\
id: {id}
version: {version}
kind: policy
status: {status}
title: {{en: A table, zh: 表}}
owner: test
rationale: {why}
priority: {priority}
rows:
  - {{when: {{modality: question}}, do: IGNORE, reason: question}}
"""
BAD_PATTERN = """\
id: cue.broken
version: 1
kind: cue
title: {en: Broken, zh: 坏}
owner: test
category: hedge
patterns: ["(unclosed"]
"""
LAST = "  - {when: {}, do: IGNORE, reason: no_slot}\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RECORDARI_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def policy(name: str = "policy.core", version: int = 1, status: str = "active", why: str = "x", **more: object) -> str:
    last = more.pop("last", LAST)
    return POLICY.format(id=name, version=version, status=status, why=why, priority=more.get("priority", 0)) + str(last)


def folder(base: Path, **files: str) -> Path:
    base.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (base / f"{name}.yaml").write_text(text, encoding="utf-8")
    return base


def problems(*folders: Path) -> list[str]:
    with pytest.raises(RuleError) as caught:
        load(folders, packs=False)
    return [str(problem) for problem in caught.value.problems]


# ---------------------------------------------------------------- bad files
@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_file_is_refused_with_line_column_and_way_out(path: Path) -> None:
    expected = path.read_text(encoding="utf-8").split("\n")[0].removeprefix("# ").split(" | ")
    found = problems(path)
    for line in expected:
        place, _, message = line.partition(" ")
        prefix = f"{path}:{place}: "
        assert any(one.startswith(prefix) and message in one for one in found), "\n".join(found)


def test_problems_of_all_files_are_reported_in_one_run(tmp_path: Path) -> None:
    rules = folder(tmp_path / "r", a="id: [\n", b=policy() + "colour: blue\n", c="")
    found = problems(rules, tmp_path / "missing")
    assert [Path(one.split(":")[0]).name for one in found] == ["missing", "a.yaml", "b.yaml", "c.yaml"]


@pytest.mark.parametrize(
    ("raw", "place", "message"),
    [
        ("id: 预算".encode("gbk"), "1:6", "is not UTF-8. Save the file as UTF-8"),
        (b"id: a\nowner: \xff\n", "2:8", "0xff is not UTF-8"),
        ("id: a".encode("utf-16"), "1:1", "the file is UTF-16"),
        (b"", "1:1", "the file is empty"),
        (b"  \n\n", "1:1", "the file is empty"),
        (b"id: a\x07b\n", "1:6", "control character"),
        (b"a: " + b"[" * 1100, "1:1", "nested too deeply"),
        (b"a: " + b"[" * 60 + b"]" * 60, "1:44", "nested more than 40 deep"),
    ],
)
def test_bytes_that_are_no_rule_are_refused_at_their_place(
    tmp_path: Path, raw: bytes, place: str, message: str
) -> None:
    (tmp_path / "x.yaml").write_bytes(raw)
    assert any(f"x.yaml:{place}: " in one and message in one for one in problems(tmp_path / "x.yaml"))


def test_a_missing_folder_an_empty_folder_and_yml_are_named(tmp_path: Path) -> None:
    empty = folder(tmp_path / "empty")
    wrong_ending = folder(tmp_path / "yml")
    (wrong_ending / "a.yml").write_text(policy(), encoding="utf-8")
    found = "\n".join(problems(tmp_path / "none", empty, wrong_ending))
    assert "no such folder" in found
    assert "no rule file in this folder" in found
    assert "Rename it so that it ends in .yaml" in found


@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="root reads everything")
def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    rules = folder(tmp_path / "r", a=policy())
    (rules / "a.yaml").chmod(0)
    assert "cannot be read" in "\n".join(problems(rules))


def test_bom_and_line_ends_change_nothing(tmp_path: Path) -> None:
    plain = load([folder(tmp_path / "a", p=policy())], packs=False)
    (tmp_path / "b").mkdir()
    windows = "\ufeff" + policy().replace("\n", "\r\n")
    (tmp_path / "b" / "other_name.yaml").write_bytes(windows.encode())
    other = load([tmp_path / "b"], packs=False)
    assert other.digest == plain.digest
    assert other.sources == plain.sources


def test_hidden_files_are_left_out(tmp_path: Path) -> None:
    rules = folder(tmp_path / "r", p=policy())
    folder(rules / ".git", q="not: [a rule")
    (rules / ".draft.yaml").write_text("not: [a rule", encoding="utf-8")
    assert list(load([rules], packs=False).files) == ["policy.core"]


# ---------------------------------------------------------------- YAML 1.2
def test_scalars_follow_yaml_1_2_and_dates_stay_text() -> None:
    text = "a: [no, yes, on, 2026-03-18, 12:30, 0o17, 1e3, ~, true, '5', 1.50, 62220212345678901234]\n7: x\n"
    read = YamlText(text, "f")
    assert read.data == {
        "a": ["no", "yes", "on", "2026-03-18", "12:30", 15, 1000.0, None, True, "5", 1.5, "62220212345678901234"],
        "7": "x",
    }
    assert not read.problems


def test_a_place_inside_a_union_is_found_by_the_steps_that_exist() -> None:
    read = YamlText("a:\n  b: [x, {c: 1}]\n", "f")
    assert read.place(("a", "b", 1, "c")) == (2, 14)
    assert read.place(("a", "SomeModel", "b", 0)) == (2, 7)
    assert read.place(("a", "b", 1, "c"), key=True) == (2, 11)


@given(st.recursive(
    st.none() | st.booleans() | st.integers(-10**12, 10**12) | st.text("abc预算:#'\"- \n", max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcd", min_size=1), inner, max_size=4),
    max_leaves=12,
))  # fmt: skip
def test_what_json_writes_is_read_back(data: object) -> None:
    read = YamlText(json.dumps({"x": data}, ensure_ascii=False), "f")
    assert not read.problems
    assert read.data == {"x": data}


# ---------------------------------------------------------------- layers
def test_a_folder_adds_overrides_and_retires(tmp_path: Path) -> None:
    below = folder(tmp_path / "a", core=policy(), other=policy("policy.other", priority=10, last=""))
    above = folder(
        tmp_path / "b",
        core=policy(version=2, why="changed"),
        other=policy("policy.other", version=2, status="retired", priority=10, last=""),
        new=policy("policy.new", priority=20, last=""),
    )
    ruleset = load([below, above], packs=False)
    assert [file.ref for file in ruleset.files.values()] == ["policy.core@2", "policy.new@1"]
    assert ruleset.paths["policy.core"] == str(above / "core.yaml")


def test_a_draft_neither_counts_nor_hides_the_active_version(tmp_path: Path) -> None:
    below = folder(tmp_path / "a", core=policy())
    above = folder(tmp_path / "b", core=policy(version=2, status="draft"), d=policy("policy.d", status="draft"))
    ruleset = load([below, above], packs=False)
    assert [file.ref for file in ruleset.files.values()] == ["policy.core@1"]
    assert ruleset.digest == load([below], packs=False).digest


def test_an_older_override_does_not_count_and_is_noted(tmp_path: Path) -> None:
    below, above = folder(tmp_path / "a", core=policy(version=3)), folder(tmp_path / "b", core=policy(version=2))
    ruleset = load([below, above], packs=False)
    assert ruleset.files["policy.core"].version == 3
    assert "policy.core@2 is older than policy.core@3" in ruleset.notes[0]


def test_the_same_version_saying_something_else_is_refused(tmp_path: Path) -> None:
    below, above = folder(tmp_path / "a", core=policy()), folder(tmp_path / "b", core=policy(why="changed"))
    assert "says something else. Raise `version` to override it" in problems(below, above)[0]
    assert load([below, folder(tmp_path / "c", core=policy() + "# a comment\n")], packs=False)


def test_an_id_keeps_its_kind(tmp_path: Path) -> None:
    gate = "id: policy.core\nversion: 2\nkind: gate\ntitle: {en: a, zh: b}\nowner: o\ngives: small_talk\nwords: [hi]\n"
    below, above = folder(tmp_path / "a", core=policy()), folder(tmp_path / "b", core=gate)
    assert "is a policy in" in problems(below, above)[0]


def test_a_catch_all_of_a_user_file_that_hides_the_core_is_refused(tmp_path: Path) -> None:
    below = folder(tmp_path / "a", core=policy())
    above = folder(tmp_path / "b", mine=policy("policy.mine", priority=50))
    assert "hides the 2 rows after it" in problems(below, above)[0]


# ---------------------------------------------------------------- digest and sources
def test_the_digest_does_not_depend_on_paths_comments_or_quotes(tmp_path: Path) -> None:
    one = load([folder(tmp_path / "a", p=policy())], packs=False)
    text = "# hello\n" + policy().replace("owner: test", 'owner: "test"  # who')
    two = load([folder(tmp_path / "b" / "deep", q=text)], packs=False)
    assert one.digest == two.digest


def test_the_digest_changes_with_content_and_with_the_order_of_rows(tmp_path: Path) -> None:
    rows = "  - {when: {kind: money}, do: ADD, reason: stated}\n"
    texts = [policy(), policy(why="y"), policy(last=rows + LAST)]
    swapped = texts[2].split("\n")
    swapped[9], swapped[10] = swapped[10], swapped[9]
    digests = {
        load([folder(tmp_path / str(n), p=text)], packs=False).digest
        for n, text in enumerate([*texts, "\n".join(swapped)])
    }
    assert len(digests) == 4


def test_sources_rebuild_the_same_set(tmp_path: Path) -> None:
    first = load([folder(tmp_path / "a", p=policy(), q=policy("policy.q", priority=5, last=""))], packs=False)
    again = build(json.loads(json.dumps(dict(first.sources))))
    assert again.digest == first.digest
    assert again.table == first.table


def test_a_rule_is_found_by_id_by_version_and_by_row(tmp_path: Path) -> None:
    ruleset = load([folder(tmp_path / "a", p=policy(version=3))], packs=False)
    core = ruleset.files["policy.core"]
    for ref in ("policy.core", "policy.core@3", "policy.core.row1@3"):
        assert ruleset.rule(ref) is core
    for ref in ("policy.core@2", "policy", "gate.x@1", ""):
        assert ruleset.rule(ref) is None


# ---------------------------------------------------------------- cache
def test_a_second_load_reads_the_cache_and_gives_the_same(tmp_path: Path, own_cache: Path) -> None:
    rules = folder(tmp_path / "a", p=policy())
    first = load([rules], packs=False)
    entries = list((own_cache / "yaml").iterdir())
    assert len(entries) == 1
    assert load([rules], packs=False).digest == first.digest


def test_an_entry_under_another_key_is_not_trusted(tmp_path: Path, own_cache: Path) -> None:
    rules = folder(tmp_path / "a", p=policy())
    digest = load([rules], packs=False).digest
    for wrong in (lambda held: json.dumps(held | {"key": "0" * 64, "data": []}), lambda _held: "{not json"):
        for entry in own_cache.glob("*/*.json"):
            entry.write_text(wrong(json.loads(entry.read_bytes())), encoding="utf-8")
        assert load([rules], packs=False).digest == digest


def test_a_tampered_entry_never_passes_under_the_digest_of_the_file(tmp_path: Path, own_cache: Path) -> None:
    rules = folder(tmp_path / "a", p=policy())
    first = load([rules], packs=False)
    for entry in own_cache.glob("*/*.json"):
        entry.write_text(entry.read_text(encoding="utf-8").replace('"owner":"test"', '"owner":"mallory"'), "utf-8")
    assert load([rules], packs=False).digest != first.digest
    for digest in (None, first.digest):
        again = build(first.sources, digest)
        assert again.digest == first.digest
        assert again.files["policy.core"].owner == "test"


def test_without_a_writable_cache_loading_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = folder(tmp_path / "a", p=policy())
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for value in (str(tmp_path / "file"), ""):
        monkeypatch.setenv("RECORDARI_CACHE", value)
        assert load([rules], packs=False).files
    assert cache.folder() is None


# ---------------------------------------------------------------- lock
def test_the_lock_sees_silent_changes_and_deletions(tmp_path: Path) -> None:
    rules = folder(tmp_path / "a", p=policy(), q=policy("policy.q", priority=5, last=""))
    assert "no readable lock" in str(check_lock(rules)[0])
    assert write_lock(rules) == []
    assert check_lock(rules) == []
    folder(rules, p=policy(why="changed"))
    assert "changed and still has version 1. Set `version: 2`" in str(check_lock(rules)[0])
    assert str(check_lock(rules)[0]).startswith(f"{rules / 'p.yaml'}:2:10:")
    assert write_lock(rules), "a silent change is not locked away"
    folder(rules, p=policy(why="changed", version=2))
    assert "the lock still 1" in str(check_lock(rules)[0])
    assert write_lock(rules) == []
    (rules / "q.yaml").unlink()
    assert "policy.q was deleted" in str(check_lock(rules)[0])
    assert write_lock(rules)
    folder(rules, q=policy("policy.q", version=2, status="retired", priority=5, last=""))
    assert write_lock(rules) == []
    folder(rules, p=policy(why="changed"))
    assert "has version 1, the lock has 2 already" in str(check_lock(rules)[0])


def test_a_comment_needs_no_new_version(tmp_path: Path) -> None:
    rules = folder(tmp_path / "a", p=policy())
    write_lock(rules)
    folder(rules, p=policy() + "# why\n")
    assert check_lock(rules) == []


def test_a_parsed_form_of_other_packs_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = folder(tmp_path / "a", p=policy())
    layer = list(read_folder(rules, []))
    key = parsed_module._key(layer)
    packs = tmp_path / "packs"
    packs.mkdir()
    monkeypatch.setattr(parsed_module, "files", lambda _: tmp_path)
    assert parsed_module._shipped(key) is None  # there is none
    write_shipped(layer, packs)
    found = parsed_module._shipped(key)
    assert isinstance(found, list)
    assert found[0]["id"] == layer[0].data(trusting=False)["id"]
    assert parsed_module._shipped(parsed_module._key([*layer, *layer])) is None
    (packs / SHIPPED).write_text("{", encoding="utf-8")
    assert parsed_module._shipped(key) is None


def test_what_has_passed_once_passes_faster_and_what_fails_fails_again(tmp_path: Path) -> None:
    rules = folder(tmp_path / "a", p=policy())
    first, second = load([rules], packs=False), load([rules], packs=False)
    assert first.digest == second.digest
    assert first.files == second.files
    bad = folder(tmp_path / "b", p=policy(), c=BAD_PATTERN)
    assert problems(bad) == problems(bad) != []


def test_the_shipped_packs_match_their_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # the cache of this machine, whose entries are named by the texts they were parsed from
    packs = Path(__file__).parent.parent / "rules" / "packs"
    assert (packs / LOCK).exists(), "recordari rules lock rules/packs"
    assert check_lock(packs) == []


def test_the_shipped_parsed_packs_are_fresh() -> None:
    packs = Path(__file__).parent.parent / "rules" / "packs"
    assert (packs / LOCK).exists(), "recordari rules lock rules/packs"
    # All packs are parsed anew, in a process that coverage does not slow down: each line of it is measured by others.
    program = "from recordari.rules.parsed import *; from recordari.rules.folders import read_packs; import sys; "
    program += "sys.stdout.buffer.write(shipped_text(list(read_packs([]))).encode())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, env=untraced())
    assert (packs / SHIPPED).read_bytes() == done.stdout


# ---------------------------------------------------------------- schema
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_has_a_json_schema(kind: str) -> None:
    import jsonschema

    schema = json_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert {"id", "version", "kind", "title", "owner"} <= set(schema["required"])
    assert schema["additionalProperties"] is False


def test_a_good_policy_fits_its_schema_and_a_bad_one_does_not() -> None:
    import jsonschema

    data = YamlText(policy(), "f").data
    validator = jsonschema.Draft202012Validator(json_schema("policy"))
    assert validator.is_valid(data)
    assert not validator.is_valid(data | {"colour": "blue"})
    assert "duplicate" in REASONS["CONFIRM"]


def test_every_shipped_rule_fits_the_schema_of_its_kind() -> None:
    import jsonschema

    validators = {kind: jsonschema.Draft202012Validator(json_schema(kind)) for kind in KINDS}
    for read, parsed in parse(read_packs([]), trusting=True):
        found = validators[parsed.data["kind"]].iter_errors(parsed.data)
        assert [error.message for error in found] == [], read.shown
