"""Score Recordari over a folder of cases and write docs/accuracy.md.

    python benchmarks/accuracy.py FOLDER

FOLDER holds `score_extract.py`, `score_rehearse.py` and `score_corrections.py` (each with `prepare…` and `report…`
commands), `public/` for the first and the last and `scenarios/` for the second. Nothing here knows their content.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RECORDARI = [str(Path(sys.executable).parent / "recordari")]
BEGIN, END = "<!-- benchmarks/libraries.py -->", "<!-- /benchmarks/libraries.py -->"


def run(*command: str | Path, source: Path | None = None, target: Path | None = None) -> str:
    """Run a command, its input and output taken from and written to files."""
    with source.open("rb") if source else open(0, "rb", closefd=False) as stdin:
        done = subprocess.run([*map(str, command)], stdin=stdin, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr.decode()[-2000:]}")
    if target:
        target.write_bytes(done.stdout)
    return done.stdout.decode()


def extraction(folder: Path, work: Path) -> dict[str, Any]:
    """Rows of the extraction table: source → measures."""
    scorer, public = folder / "score_extract.py", folder / "public"
    run(sys.executable, scorer, "prepare", public, target=work / "requests.jsonl")
    run(*RECORDARI, "extract", source=work / "requests.jsonl", target=work / "predictions.jsonl")
    table = work / "extract.json"
    text = run(sys.executable, scorer, "report", public, work / "predictions.jsonl", "--json", table)
    return {"text": text, "rows": json.loads(table.read_text(encoding="utf-8"))}


def rehearsal(folder: Path, work: Path) -> dict[str, Any]:
    """Summary over the scenarios."""
    scorer, scenarios = folder / "score_rehearse.py", folder / "scenarios"
    run(sys.executable, scorer, "prepare", scenarios, target=work / "dialogues.jsonl")
    run(*RECORDARI, "rehearse", source=work / "dialogues.jsonl", target=work / "rehearsed.jsonl")
    table = work / "rehearse.json"
    text = run(sys.executable, scorer, "report", scenarios, work / "rehearsed.jsonl", "--json", table)
    return {"text": text, "rows": json.loads(table.read_text(encoding="utf-8"))}


def commands(folder: Path, work: Path) -> str:
    """How many one-off commands leave something in memory."""
    scorer, public = folder / "score_corrections.py", folder / "public"
    run(sys.executable, scorer, "prepare-commands", public, target=work / "commands.jsonl")
    run(*RECORDARI, "rehearse", source=work / "commands.jsonl", target=work / "commanded.jsonl")
    return run(sys.executable, scorer, "report-commands", public, work / "commanded.jsonl")


def kept(path: Path) -> str:
    """The section of the page that benchmarks/libraries.py writes, with its marks."""
    _, begin, rest = (path.read_text(encoding="utf-8") if path.exists() else "").partition(BEGIN)
    section, end, _ = rest.partition(END)
    return f"{begin}{section}{end}\n" if end else ""


def page(parts: dict[str, str], libraries: str = "") -> str:
    """docs/accuracy.md."""
    lines = [
        "# Accuracy", "",
        "Made by `make accuracy CASES=folder` (benchmarks/accuracy.py). The cases are public test suites and dialogues",
        "that nobody here wrote; other samples of the same sources are kept back. Figures as measured.",
        "",
    ]  # fmt: skip
    for title, text in parts.items():
        lines += [f"## {title}", "", "```text", text.rstrip(), "```", ""]
    return "\n".join(lines) + (f"\n{libraries}" if libraries else "")


def main() -> None:
    """Score and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "accuracy.md")
    args = parser.parse_args()
    folder = args.folder.resolve()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        parts = {
            "Extraction over public cases": extraction(folder, work)["text"],
            "Memory after a dialogue (scenarios)": rehearsal(folder, work)["text"],
            "Over-remembering (one-off commands as single turns)": commands(folder, work),
        }
    text = page(parts, kept(args.out))
    args.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
