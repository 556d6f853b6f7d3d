"""Who may do what only a person does: the list of actors, their keys, and the signature under what they did."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..audit.checkpoint import KeyFileError, SigningKey
from ..audit.record import Entry, Private, Sign, Signed, key_of, read_record
from ..audit.signatures import Listed, listed_by
from ..settings import Settings
from ..store.engine import Store
from ..store.log import Log

FILE = "actors.yaml"
_NAME = re.compile(r"[^\s/\\:'\"]+( [^\s/\\:'\"]+)*")
_HEAD = "# Who may correct, approve, publish, erase and hold. `recordari audit actor` adds a person and makes a key.\n"


class ActorError(ValueError):
    """An actor who is not known, cannot sign, or a list that cannot be used; says the way out."""


@dataclass(frozen=True, slots=True)
class Actor:
    """A person on the list: the name that stands in the log, a role in the words of the house, the public key."""

    name: str
    role: str
    public: bytes

    @property
    def key(self) -> str:
        """The name of the key, as signatures give it."""
        return key_of(self.public)


def actors_file(store: Store, settings: Settings) -> Path | None:
    """Where the list is: as the settings say, else ``actors.yaml`` beside an SQLite file; perhaps not there yet."""
    if settings.actors is not None:
        return settings.actors
    beside = Path(store.place)
    return beside.with_name(FILE) if store.backend == "sqlite" and beside.is_file() else None


def key_file(listed: Path, name: str) -> Path:
    """Where an actor's private key lies unless RECORDARI_ACTOR_KEY says otherwise: beside the list."""
    return listed.with_name(f"actor-{name}.key")


def read_actors(path: Path) -> tuple[Actor, ...]:
    """The actors of a file, in its order; ActorError with file, line and column for what cannot be used."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        content = YAML(typ="rt", pure=True).load(path.read_text(encoding="utf-8"))
    except (YAMLError, UnicodeDecodeError) as wrong:
        mark = getattr(wrong, "problem_mark", None)
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else f"{path}:1:1"
        raise ActorError(f"{place}: {getattr(wrong, 'problem', wrong)}. Correct the YAML") from None
    listed = content.get("actors") if isinstance(content, dict) else None
    if not isinstance(listed, list) or set(content) != {"actors"}:
        raise ActorError(f"{path}:1:1: a list of actors is needed. Write `actors:` and one entry a person")
    found: list[Actor] = []
    for each in listed:
        actor = _actor(each, path, listed)
        if any(actor.name == one.name or actor.public == one.public for one in found):
            raise ActorError(f"{_place(path, each)}: {actor.name!r} or this key stands there twice. Keep one entry")
        found.append(actor)
    return tuple(found)


def _actor(given: Any, path: Path, listed: Any) -> Actor:
    place = _place(path, given if isinstance(given, dict) else listed)
    if not isinstance(given, dict) or set(given) != {"name", "role", "key"}:
        raise ActorError(f"{place}: an actor has name, role and key. Give these three and no others")
    if not all(isinstance(each, str) and each for each in given.values()) or not _NAME.fullmatch(given["name"]):
        raise ActorError(f"{place}: name, role and key are texts, a name has no slash and no quote. Write it otherwise")
    try:
        public = base64.b64decode(given["key"], validate=True)
    except ValueError:
        public = b""
    if len(public) != 32:
        raise ActorError(f"{place}: the key of {given['name']!r} is no Ed25519 public key in base64. Copy it again")
    return Actor(given["name"], given["role"], public)


def _place(path: Path, node: Any) -> str:
    """``file:line:column`` of a part of the file."""
    mark = getattr(node, "lc", None)
    return f"{path}:{mark.line + 1}:{mark.col + 1}" if mark is not None else f"{path}:1:1"


def add_actor(path: Path, name: str, role: str, key: Path) -> Actor:
    """Put a person on the list, and make a private key for them unless the file has one already."""
    if not _NAME.fullmatch(name) or not role.strip() or "\n" in role:
        raise ActorError(
            f"{name!r}, {role!r}: a name has no slash and no quote, a role is one line. Write it otherwise"
        )
    known = read_actors(path) if path.exists() else ()
    if any(name == each.name for each in known):
        raise ActorError(f"{path}: {name!r} is on the list already. Take the entry out to give them another key")
    actor = Actor(name, role, SigningKey.open(key).public)
    if any(actor.public == each.public for each in known):
        raise ActorError(f"{key}: this key is another actor's. Give each person a key of their own")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write("" if known else f"{_HEAD}actors:\n")
        file.write(f"  - name: {name!r}\n    role: {role!r}\n    key: {base64.b64encode(actor.public).decode()}\n")
    read_actors(path)
    return actor


def last_listed(log: Log, namespace: str) -> Listed | None:
    """The list of actors that a namespace has last been told."""
    seqs = log.acts("actors")
    for row in log.read(namespace, seqs[-1], seqs[-1] + 1) if seqs else ():
        private = {name: Private(each.value, each.salt) for name, each in row.private.items()}
        return listed_by(read_record(row.record), private)
    return None


@dataclass(frozen=True, slots=True)
class Acting:
    """A known actor with a key at hand, and the list they are on."""

    actor: Actor
    sign: Sign
    known: tuple[Actor, ...]

    def entries(self, log: Log, namespace: str, acts: Sequence[Entry]) -> Iterator[Entry]:
        """The entries of what the actor does, signed; before them the list of actors where it is new to the log."""
        content = [
            {"key": each.key, "public": base64.b64encode(each.public).decode(), "role": each.role}
            for each in self.known
        ]
        names = {each.key: each.name for each in self.known}
        last = last_listed(log, namespace)
        roles = {each.key: each.role for each in self.known}
        if last is None or last.roles != roles or (last.names and last.names != names):
            yield Entry("actors", {"actors": content}, {"names": names}, sign=self.sign)
        for each in acts:
            yield replace(each, sign=self.sign)


def acting(store: Store, namespace: str, settings: Settings, name: str) -> Acting | None:
    """The actor of this name, able to sign; None where there is no list of actors and never was one.

    ActorError when a list is there and the name is not on it, or its key is not at hand.
    """
    path = actors_file(store, settings)
    if path is None or not path.exists():
        with store.reading(namespace) as tx:
            told = tx.log.acts("actors")
        if told:
            raise ActorError(
                f"{path or FILE}: the list of actors is not there, and record {told[-1]} of {namespace!r} says that "
                "there is one. Put it back, or name it with RECORDARI_ACTORS"
            )
        return None
    known = read_actors(path)
    actor = next((each for each in known if each.name == name), None)
    if actor is None:
        names = ", ".join(repr(each.name) for each in known) or "nobody"
        raise ActorError(f"{path}: {name!r} is no actor here. Known: {names}; `recordari audit actor` adds one")
    key = settings.actor_key if settings.actor_key is not None else key_file(path, name)
    if not key.exists():
        raise ActorError(f"{key}: the private key of {name!r} is not there. RECORDARI_ACTOR_KEY names the file")
    private, wide = SigningKey.read(key)
    if wide:
        raise KeyFileError(f"{wide}; chmod 600 it")
    if private.public != actor.public:
        raise ActorError(f"{key}: not the key that {path} has for {name!r}. RECORDARI_ACTOR_KEY names another")
    return Acting(actor, lambda text: Signed(actor.key, private.raw_signature(text)), known)
