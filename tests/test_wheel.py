"""The wheel: one package, with its rule packs, tables, examples, migrations and type marker, and none of the tests."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_wheel_holds_the_package_its_packs_and_nothing_that_users_do_not_need(tmp_path: Path) -> None:
    tree = tmp_path / "a-clone-with-hyphens"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            target = tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path / "out"), str(tree)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    (wheel,) = (tmp_path / "out").glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    packs = {f"recordari/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "rules" / "packs").rglob("*.yaml")}
    assert len(packs) > 50
    assert packs <= names
    for wanted in (
        "recordari/py.typed",
        "recordari/memory.py",
        "recordari/audit/reasons.yaml",
        "recordari/llm_polish/wording.yaml",
        "recordari/examples/legal-zh.jsonl",
        "recordari/store/migrations/versions/0001_first_schema.py",
        "recordari/rules/packs/core/data/china_divisions.tsv",
    ):
        assert wanted in names, wanted
    assert not {name for name in names if name.startswith(("recordari/tests", "recordari/benchmarks", "tests"))}
    assert {name.split("/")[0].split("-")[0] for name in names} == {"recordari"}
