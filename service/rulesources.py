"""Where rule sets to be compared come from: folders, the shipped packs, git revisions, digests kept in a store."""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..rules.load import build, load
from ..rules.ruleset import Ruleset
from ..settings import Settings
from ..store.engine import Store

SHIPPED = "packs"
_DIGEST = re.compile(r"[0-9a-f]{6,64}")
HOW = (
    f"Give a folder, {SHIPPED!r} for the shipped rules, REVISION:folder of git, or the first characters of a digest "
    "that the --store keeps"
)


class UnknownRules(LookupError):
    """Nothing has this name; says what a name may be."""


def ruleset_of(name: str, store: str | None, *, packs: bool) -> Ruleset:
    """The rule set of a name; several folders of one set are joined by ``+`` ("mine+theirs").

    Raises UnknownRules, and RuleError for files that cannot be used.
    """
    if name == SHIPPED:
        return load()
    parts = name.split("+")
    if all(Path(part).exists() for part in parts):
        return load([Path(part) for part in parts], packs=packs)
    if ":" in name:
        return _of_git(name, packs=packs)
    if _DIGEST.fullmatch(name):
        return _of_store(name, store)
    raise UnknownRules(f"no rules {name!r}. {HOW}")


def _of_git(name: str, *, packs: bool) -> Ruleset:
    """The files of a folder as they stood at a revision; layered over the shipped packs of today."""
    revision, _, folder = name.partition(":")
    if revision.startswith("-"):  # git would take it for an option
        raise UnknownRules(f"no rules {name!r}. {HOW}")
    try:
        told = _git("archive", "--format=tar", revision, "--", folder or ".")
    except FileNotFoundError:
        raise UnknownRules(f"{name!r} names a revision, and git is not installed") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UnknownRules(f"no rules {name!r}: {said[-1] if said else 'git finds nothing'}. {HOW}") from None
    with tempfile.TemporaryDirectory() as place, tarfile.open(fileobj=io.BytesIO(told)) as archive:
        archive.extractall(place, filter="data")
        return load([Path(place) / folder], packs=packs)


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], capture_output=True, check=True).stdout


def _of_store(prefix: str, place: str | None) -> Ruleset:
    """The rule set that decided under a digest, or the beginning of one."""
    settings = Settings()
    with Store.open(place or settings.store, read_only=True) as store:
        names: Sequence[str] = store.namespaces() or [settings.namespace]
        with store.inspecting(names[0]) as tx:
            found = sorted(digest for digest in tx.rulesets_kept() if digest.startswith(prefix))
            if len(found) != 1:
                many = f"{len(found)} rule sets begin so" if found else "the store keeps no such rule set"
                raise UnknownRules(f"no rules {prefix!r}: {many}. {HOW}")
            sources = tx.ruleset(found[0])
    assert sources is not None
    return build(sources, found[0])
