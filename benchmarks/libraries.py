"""Score other libraries beside Recordari on the same cases, and write their section of docs/accuracy.md.

    python benchmarks/libraries.py FOLDER

FOLDER is the folder of benchmarks/accuracy.py: `score_extract.py` and `public/`. Every library is optional; an adapter
(benchmarks/adapters.py) turns what it returns for one text into mentions, which the same scorer scores. Run it with the
interpreter of an environment that holds the libraries; Recordari itself is run as a command (`--recordari`).
"""

from __future__ import annotations

import argparse
import json
import logging
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from accuracy import BEGIN, END, RECORDARI, ROOT, kept, run
from adapters import (
    Mention,
    Request,
    cn2an,
    cpca,
    ctparse,
    datefinder,
    dateparser,
    jionlp_address,
    jionlp_contact,
    jionlp_money,
    jionlp_time,
    parsedatetime,
    phonenumbers,
    price_parser,
    pyap,
    quantulum3,
    quiet,
    recognizers_number,
    recognizers_sequence,
    recognizers_time,
    timelength,
    usaddress,
)

Adapter = Callable[[Request], Iterator[Mention]]
COMMAND = (
    "pip install dateparser phonenumbers recognizers-text-suite 'emoji<2' jionlp parsedatetime datefinder ctparse "
    "timelength price-parser quantulum3 cn2an usaddress pyap cpca"
)
CAP = 10  # seconds that one text may take
LEAST = 10  # labels that a row of the table needs
TIME, MONEY, NUMBER, ADDRESS = ("time",), ("money",), ("number", "percent", "quantity"), ("address",)
CONTACT = ("phone", "email", "url", "identifier")
# Source → what is labelled in it. Sources without a value to compare (names, bare spans) are not asked.
SOURCES: dict[str, tuple[str, ...]] = {
    "chrono_time": TIME,
    "cuad_clauses": TIME,
    "dateparser_dates": TIME,
    "duckling_time": TIME,
    "jionlp_time": TIME,
    "multiwoz_turns": TIME,
    "recognizers_datetime": TIME,
    "recognizers_datetime_parsers": TIME,
    "sgd_turns": TIME,
    "tempeval3_tbaq": TIME,
    "timenorm_timex_phrases": TIME,
    "crosswoz_turns": TIME + MONEY,
    "duckling_money": MONEY,
    "jionlp_money": MONEY,
    "price_parser_money": MONEY,
    "sgd_money": MONEY,
    "recognizers_currency": MONEY + NUMBER,
    "recognizers_number": NUMBER,
    "recognizers_sequence": CONTACT,
    "cn_address_naacl19": ADDRESS,
    "cpca_location": ADDRESS,
    "jionlp_location": ADDRESS,
    "libpostal_parser": ADDRESS,
    "usaddress": ADDRESS,
}
# Sources that are a library's own test suite (or, for usaddress, what it was trained on).
OWN = {
    "dateparser_dates": "dateparser",
    "recognizers": "recognizers-text",
    "jionlp": "jionlp",
    "price_parser": "price-parser",
    "usaddress": "usaddress",
    "cpca": "cpca",
}


# ---------------------------------------------------------------- running them
class Library(NamedTuple):
    """A library: name of the table and of the package index, and its adapters with the kinds and languages they do."""

    package: str
    module: str
    adapters: tuple[tuple[Adapter, tuple[str, ...], str], ...]
    note: str = ""


LIBRARIES: dict[str, Library] = {
    "dateparser": Library("dateparser", "dateparser", ((dateparser, TIME, "en zh"),)),
    "recognizers-text": Library(
        "recognizers-text-suite",
        "recognizers_date_time",
        (
            (recognizers_time, TIME, "en zh"),
            (recognizers_number, MONEY + NUMBER, "en zh"),
            (recognizers_sequence, CONTACT, "en zh"),
        ),
        "no number ranges in its Python edition",
    ),
    "jionlp": Library(
        "jionlp",
        "jionlp",
        (
            (jionlp_time, TIME, "zh"),
            (jionlp_money, MONEY, "zh"),
            (jionlp_contact, CONTACT, "zh"),
            (jionlp_address, ADDRESS, "zh"),
        ),
    ),
    "parsedatetime": Library("parsedatetime", "parsedatetime", ((parsedatetime, TIME, "en"),)),
    "datefinder": Library("datefinder", "datefinder", ((datefinder, TIME, "en"),)),
    "ctparse": Library("ctparse", "ctparse", ((ctparse, TIME, "en"),), "one time a text"),
    "timelength": Library("timelength", "timelength", ((timelength, TIME, "en"),), "durations only, one a text"),
    "price-parser": Library("price-parser", "price_parser", ((price_parser, MONEY, "en"),), "one price a text"),
    "quantulum3": Library("quantulum3", "quantulum3", ((quantulum3, MONEY + NUMBER, "en"),), "without its classifier"),
    "cn2an": Library("cn2an", "cn2an", ((cn2an, NUMBER, "zh"),), "every run of numerals"),
    "phonenumbers": Library(
        "phonenumbers", "phonenumbers", ((phonenumbers, ("phone",), "en zh"),), "valid numbers only, its default"
    ),
    "usaddress": Library("usaddress", "usaddress", ((usaddress, ADDRESS, "en"),), "addresses of the United States"),
    "pyap": Library("pyap", "pyap", ((pyap, ADDRESS, "en"),), "US, GB and CA addresses"),
    "cpca": Library("cpca", "cpca", ((cpca, ADDRESS, "zh"),), "province, city, district"),
}


def too_long(*_: object) -> None:
    raise TimeoutError


def asked(library: Library, request: Request) -> list[Adapter]:
    """The adapters that do a text's language and something that is labelled in its source."""
    if request["row_lang"].startswith("multi:") and request["row_lang"] not in ("multi:us", "multi:gb", "multi:ca"):
        return []
    if library.module == "usaddress" and request["row_lang"] not in ("en", "multi:us"):
        return []
    return [
        a
        for a, kinds, langs in library.adapters
        if request["lang"] in langs.split() and set(kinds) & {*request["kinds"]}
    ]


class Run(NamedTuple):
    """What a library did."""

    rows: dict[str, list[Mention]]
    failed: int
    each: float


def ask(library: Library, requests: list[Request]) -> Run:
    """Its mentions of every text that it does."""
    rows: dict[str, list[Mention]] = {}
    failed, spent = 0, 0.0
    signal.signal(signal.SIGALRM, too_long)
    for request in requests:
        adapters = asked(library, request)
        if not adapters:
            continue
        if not rows:  # what is loaded once is not counted
            list(adapters[0](request))
        begun, rows[request["id"]] = time.process_time(), []
        signal.alarm(CAP)
        try:
            rows[request["id"]] = [m for adapter in adapters for m in adapter(request)]
        except Exception:
            failed += 1
        finally:
            signal.alarm(0)
        spent += time.process_time() - begun
    return Run(rows, failed, 1000 * spent / max(1, len(rows)))


def sample(folder: Path, work: Path, limit: int) -> list[Request]:
    """At most `limit` scored texts of each source, evenly spaced, laid out in `work` for the scorer."""
    public = work / "public"
    public.mkdir()
    for source in SOURCES:
        if (folder / "public" / f"{source}.jsonl").exists():
            (public / f"{source}.jsonl").symlink_to(folder / "public" / f"{source}.jsonl")
    every: list[Request] = []
    prepared = run(sys.executable, folder / "score_extract.py", "prepare", public)
    for source, group in groupby(map(json.loads, prepared.splitlines()), key=lambda r: r["id"].partition(":")[0]):
        requests = list(group)
        n = min(limit, len(requests))
        chosen = {r["id"]: r for r in (requests[i * len(requests) // n] for i in range(n))}
        path = public / f"{source}.jsonl"
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        rows = [row for row in rows if row["id"] in chosen]
        path.unlink()
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
        every += [chosen[row["id"]] | {"row_lang": row["lang"], "kinds": SOURCES[source]} for row in rows]
    return every


def score(folder: Path, work: Path, rows: dict[str, list[Mention]]) -> dict[str, dict[str, Any]]:
    """The scorer's cells for a set of predictions."""
    path, table = work / "predictions.jsonl", work / "scores.json"
    lines = (json.dumps({"id": key, "mentions": found}, ensure_ascii=False, default=str) for key, found in rows.items())
    path.write_text("\n".join(lines), encoding="utf-8")
    scorer = folder / "score_extract.py"
    run(sys.executable, scorer, "report", work / "public", path, "--json", table, "--rounds", "2")
    cells: dict[str, dict[str, Any]] = json.loads(table.read_text("utf-8"))
    return cells


def ours(command: str, requests: list[Request], work: Path) -> Run:
    """Recordari over the same texts."""
    source, target = work / "requests.jsonl", work / "recordari.jsonl"
    extra = {"row_lang", "kinds"}
    lines = (json.dumps({k: v for k, v in r.items() if k not in extra}, ensure_ascii=False) for r in requests)
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    begun = time.monotonic()
    run(command, "extract", source=source, target=target)
    each = 1000 * (time.monotonic() - begun) / len(requests)
    found = {r["id"]: r["mentions"] for r in map(json.loads, target.read_text("utf-8").splitlines())}
    return Run(found, 0, each)


def first_only(rows: dict[str, list[Mention]]) -> dict[str, list[Mention]]:
    """Mentions without their further readings."""
    bare = lambda m: m | {"value": {k: v for k, v in m["value"].items() if k != "readings"}}  # noqa: E731
    return {key: [bare(m) for m in found] for key, found in rows.items()}


def figure(cell: dict[str, Any] | None, *, mark: bool = False) -> str:
    """Value recall, and the share of empty texts with a false alarm where they are labelled."""
    if cell is None or cell["value_recall"] is None:
        value = "–"
    else:
        value = f"{cell['value_recall']:.3f}" + ("*" if mark else "")
    alarm = cell and cell["false_alarm"]
    return value + (f" / {alarm:.2f}" if alarm is not None else "")


Scores = dict[str, dict[str, dict[str, Any]]]


def own(key: str, name: str) -> bool:
    """Whether the row comes from this library's own suite."""
    return any(key.startswith(source) and name == library for source, library in OWN.items())


def compared(scores: Scores, requests: list[Request]) -> list[tuple[str, list[str]]]:
    """Rows of the table (a source, language and kind) and the libraries that do it."""
    sample_of = {f"{r['id'].partition(':')[0]}/{r['row_lang']}": r for r in requests}
    rows = []
    for key, cell in scores["Recordari"].items():
        place, _, label = key.rpartition("/")
        kind = "address" if label == "exact" else label.removeprefix("*")
        if not (label.startswith("*") or label == "exact") or kind not in sample_of[place]["kinds"]:
            continue
        if (cell["value_gold"] or 0) < LEAST:
            continue
        names = []
        for name, library in LIBRARIES.items():
            does = asked(library, sample_of[place])
            if name in scores and any(a in does and kind in kinds for a, kinds, _ in library.adapters):
                names.append(name)
        if names:
            rows.append((key, names))
    return rows


def table(scores: Scores, requests: list[Request]) -> Iterator[str]:
    """Recordari, its first reading alone, the best library and the others, by source, language and kind."""
    yield "| source / language / kind | labels | Recordari | first reading alone | best library | others |"
    yield "|---|---|---|---|---|---|"
    for key, names in compared(scores, requests):
        ranked = sorted(names, key=lambda n: -(scores[n][key]["value_recall"] or 0))
        shown = [f"{n} {figure(scores[n][key], mark=own(key, n))}" for n in ranked]
        mine, alone = (figure(scores[n][key]) for n in ("Recordari", "first reading"))
        n = scores["Recordari"][key]["value_gold"]
        yield f"| {key.replace('*', '')} | {n} | {mine} | {alone} | {shown[0]} | {'; '.join(shown[1:]) or '–'} |"


def licence(package: str) -> str:
    about = metadata.metadata(package)
    named = about.get("License-Expression") or about.get("License") or ""
    if not named or len(named) > 40:
        named = next(
            (c.rpartition(" :: ")[2] for c in about.get_all("Classifier") or () if "License" in c), "not stated"
        )
    return str(named)


INTRODUCTION = """## Beside other libraries

Made in an environment of its own, which nothing here depends on:

```text
python -m venv libraries
libraries/bin/{command}
libraries/bin/python benchmarks/libraries.py FOLDER --recordari .venv/bin/recordari
```

At most {limit} scored texts of each source, evenly spaced, in one process; the scorer is the one above. A cell is value
recall, then (where texts without anything to find are labelled: often under 20) the share with a false alarm; a row
needs {least} labels. Each library gets the time of speech, the language and the locale that the case states, as its
manual says, and its default settings otherwise. One that gives several readings (Recognizers) keeps them, as Recordari
does; most give one, so "first reading alone" is Recordari without its further readings. Only Recordari gets the earlier
turns of a dialogue. Addresses: `exact` is every component right and none too many. Ranges of money are beyond most
libraries' scope, and so are the many holidays of Duckling.

\\* marks a source made from that library's own tests (usaddress: also what it was trained on). The Recognizers suites
are shared by all its editions; its Python one is older than they are. Recordari's rules were written with these public
cases at hand and the libraries' were not (but for the starred ones): read the table as what each does on these kinds of
text, not as a ranking.
"""
CONCLUSION = """
A failure is an exception or more than {cap} seconds; it counts as nothing found. Libraries under the GPL could be
measured here, but would never be depended on; none of these is. libpostal is left out: its model takes two gigabytes.
"""


def section(runs: dict[str, Run], missing: list[str], rows: list[str], mine: Run, limit: int) -> str:
    """The section of docs/accuracy.md."""
    introduction = INTRODUCTION.format(command=COMMAND, limit=limit, least=LEAST)
    lines = [
        BEGIN,
        introduction,
        *rows,
        "",
        "| library | version | licence | texts | failures | ms a text | |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, done in runs.items():
        library = LIBRARIES[name]
        about = f"{metadata.version(library.package)} | {licence(library.package)}"
        lines.append(f"| {name} | {about} | {len(done.rows)} | {done.failed} | {done.each:.1f} | {library.note} |")
    lines += [f"| {name} | not installed | | | | | |" for name in missing]
    lines += [
        f"| Recordari | this one | | {len(mine.rows)} | | {mine.each:.1f} | every kind at once, start-up included |",
        CONCLUSION.format(cap=CAP),
        END,
    ]
    return "\n".join(lines) + "\n"


def put(path: Path, text: str) -> None:
    """Put the section where it stood, or at the end."""
    page = path.read_text("utf-8") if path.exists() else ""
    before = kept(path)
    path.write_text(page.replace(before, text) if before else page.rstrip() + "\n\n" + text, encoding="utf-8")


def main() -> None:
    """Score and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=150, help="texts of each source")
    parser.add_argument("--only", nargs="*", default=list(LIBRARIES), help="libraries to run")
    parser.add_argument("--recordari", default=RECORDARI[0], help="the command")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "accuracy.md")
    args = parser.parse_args()
    folder = args.folder.resolve()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        logging.disable(logging.CRITICAL)  # some libraries report every text without a result
        requests = sample(folder, work, args.limit)
        mine = ours(args.recordari, requests, work)
        scores = {
            "Recordari": score(folder, work, mine.rows),
            "first reading": score(folder, work, first_only(mine.rows)),
        }
        runs: dict[str, Run] = {}
        missing: list[str] = []
        for name, library in ((n, LIBRARIES[n]) for n in args.only):
            try:
                quiet(library.module)
            except ImportError as error:
                print(f"{name}: not installed ({error})", file=sys.stderr)
                missing.append(name)
                continue
            begun = time.monotonic()
            runs[name] = ask(library, requests)
            scores[name] = score(folder, work, runs[name].rows)
            spent = time.monotonic() - begun
            print(f"{name}: {len(runs[name].rows)} texts, {runs[name].failed} failures, {spent:.0f} s", file=sys.stderr)
        rows = list(table(scores, requests))
    text = section(runs, missing, rows, mine, args.limit)
    put(args.out, text)
    print(text)


if __name__ == "__main__":
    main()
