"""New rule files: `recordari rules new` writes one to fill in, `recordari init` a folder with an example of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from .described import OWN_SCHEMAS, first_line, write_all

TEMPLATES = files(__package__) / "templates"
_ID = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)*")
CHANGED, RETIRED = "slot.budget", "capture.place_labelled"


class AuthoringError(ValueError):
    """A file that cannot be made, and the way out."""


def kinds() -> list[str]:
    """The kinds of which a new file can be made."""
    return sorted(entry.name.removesuffix(".yaml") for entry in TEMPLATES.iterdir() if entry.name.endswith(".yaml"))


def new(kind: str, name: str, folder: Path, slot: str | None = None) -> Path:
    """Write a file of this kind and id; what is to be filled in says FILL-IN. The file.

    ``slot`` is the slot that it fills or is about; left out, it is what stands behind the first dot of the id.
    """
    if kind not in kinds():
        raise AuthoringError(f"no template for {kind!r}. One of: {', '.join(kinds())}")
    if not _ID.fullmatch(name):
        raise AuthoringError(f"{name!r} is no id. Small letters, digits, _ and dots: capture.retainer")
    if kind == "slot" and not name.startswith("slot."):
        raise AuthoringError(f"the id of a slot is slot.<its name>: slot.{name}")
    path = folder / f"{name}.yaml"
    if path.exists():
        raise AuthoringError(f"{path} is there already. Choose another id")
    text = (TEMPLATES / f"{kind}.yaml").read_text(encoding="utf-8")
    for placeholder, value in (("{id}", name), ("{slot}", slot or name.partition(".")[2] or name)):
        text = text.replace(placeholder, value)
    _write(path, f"{first_line(kind, folder)}\n{text}")
    return path


def init(folder: Path) -> list[Path]:
    """Fill an empty or new folder with rules of one's own to begin with; the files."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise AuthoringError(f"{folder} is not empty. Name a new folder")
    written = write_all(folder / OWN_SCHEMAS)
    for name, text in sorted([*_examples(folder), *_layers(folder)]):
        _write(folder / name, text)
        written.append(folder / name)
    return written


def _examples(folder: Path) -> Iterator[tuple[str, str]]:
    for entry in (TEMPLATES / "init").iterdir():
        text = entry.read_text(encoding="utf-8")
        kind = re.search(r"^kind: (\w+)$", text, re.MULTILINE)
        yield entry.name, f"{first_line(kind[1], folder)}\n{text}" if kind else text


def _layers(folder: Path) -> Iterator[tuple[str, str]]:
    """A shipped rule with a higher version, changed, and one taken out."""
    from ..rules.load import load

    shipped = load()
    changed = next_version(shipped.sources[CHANGED], "A budget up by a fifth is unusual here.")
    yield f"{CHANGED}.yaml.example", _led(re.sub(r"factor: [0-9.]+", "factor: 1.2", changed, count=1), folder)
    out = next_version(shipped.sources[RETIRED], "Not wanted here.")
    out = re.sub(r"^status: \w+$", "status: retired", out, flags=re.MULTILINE)
    yield f"{RETIRED}.yaml.example", _led(out, folder)


def next_version(text: str, note: str) -> str:
    """A rule's text with the next version and a line in its changelog."""
    found = re.search(r"^version: (\d+)$", text, re.MULTILINE)
    assert found is not None
    version = int(found[1]) + 1
    text = text.replace(found[0], f"version: {version}", 1)
    line = f'  - {{version: {version}, note: "{note}"}}\n'
    if re.search(r"^changelog:\n", text, re.MULTILINE):
        return re.sub(r"^changelog:\n", lambda hit: hit[0] + line, text, count=1, flags=re.MULTILINE)
    return f"{text.rstrip()}\nchangelog:\n{line}"


def _led(text: str, folder: Path) -> str:
    body = re.sub(r"\A# yaml-language-server:.*\n", "", text)
    kind = re.search(r"^kind: (\w+)$", body, re.MULTILINE)
    assert kind is not None
    return f"{first_line(kind[1], folder)}\n{body}"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
