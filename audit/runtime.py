"""The runtime digest: which code, libraries and tables a decision was made with, as one hash."""

from __future__ import annotations

import hashlib
import sys
import unicodedata
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from .record import canonical

ROOT = Path(__file__).resolve().parent.parent

# Libraries that can change what is found or decided. A missing one is recorded as absent, not left out:
# with and without durable-rules, say, are two runtimes.
LIBRARIES = (
    "babel", "convertdate", "dateparser", "durable-rules", "google-re2", "jieba", "lunar-python",
    "opencc", "phonenumbers", "pydantic", "spacy", "tzdata",
)  # fmt: skip

# Our own code on which decisions depend; the command line, the store's tables and this room do not count.
CODE = ("values.py", "model.py", "rulefile.py", "memory.py", "extractors", "rules", "store/items.py",
        "llm_polish/template.py")  # fmt: skip


# Tables that are data, not rules: rule files, their lock and parsed form are in the rule set's own digest.
TABLES = ("rules/packs/**/*.tsv", "rules/packs/**/*.json", "rules/packs/**/*.txt", "extractors/**/*.tsv")


@cache
def runtime_digest(models: tuple[str, ...] = ()) -> str:
    """SHA-256 over ``runtime_facts``; computed once a process. ``models`` are distributions of NER models in use."""
    return hashlib.sha256(canonical(runtime_facts(models)).encode()).hexdigest()


@cache
def _facts(models: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    facts = {f"library {name}": _version(name) for name in (*LIBRARIES, *sorted(models))}
    facts["code"] = digest_of(ROOT, _sources(ROOT))
    tables = sorted(path for pattern in TABLES for path in ROOT.glob(pattern))
    facts["tables"] = digest_of(ROOT, (path for path in tables if not path.name.startswith("rules.")))
    facts["python"] = ".".join(map(str, sys.version_info[:3]))
    facts["unicode"] = unicodedata.unidata_version
    facts["time zones"] = _zones()
    return tuple(sorted(facts.items()))


def runtime_facts(models: tuple[str, ...] = ()) -> dict[str, str]:
    """What the digest is made of, by name: for the auditor who asks how two runtimes differ."""
    return dict(_facts(models))


def digest_of(root: Path, paths: Iterable[Path]) -> str:
    """SHA-256 over the names and contents of files below ``root``."""
    whole = hashlib.sha256()
    for path in paths:
        # Line ends do not change a decision, but a checkout on Windows changes line ends.
        content = path.read_bytes().replace(b"\r\n", b"\n")
        whole.update(f"{path.relative_to(root).as_posix()}\n{len(content)}\n".encode())
        whole.update(content)
    return whole.hexdigest()


def _sources(root: Path) -> Iterable[Path]:
    for name in CODE:
        place = root / name
        if place.is_dir():
            yield from sorted(place.rglob("*.py"))
        elif place.exists():
            yield place


def _version(name: str) -> str:
    # importlib.metadata costs 15 ms to import; only a process that decides something pays for it.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def _zones() -> str:
    """The edition of the time-zone rules that ``zoneinfo`` will use: the system's, or else tzdata's."""
    import zoneinfo

    for folder in zoneinfo.TZPATH:
        for name in ("tzdata.zi", "+VERSION"):
            try:
                with (Path(folder) / name).open(encoding="ascii", errors="replace") as file:
                    return file.readline().strip().removeprefix("# version ")
            except OSError:
                continue
        if (Path(folder) / "UTC").exists():
            return "system, edition unknown"
    return f"tzdata {_version('tzdata')}"
