"""Where conversations are kept between two looks at them: in the process, and by choice in a Valkey that others share.

What is kept is never believed by itself: it names the state of the namespace that it was read at, and the window
compares it with the database each time.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from ..model import Turn
from ..settings import SettingsError
from ..store.codec import turn_body
from ..store.talk import ForNow, Head, Talk, Told, Worded

if TYPE_CHECKING:
    from valkey import Valkey

LOG = logging.getLogger(__name__)
_KEPT = 256  # conversations in a process; the one not looked at for longest leaves first

# The mark is the number of the last erasure that has been carried out here. A slower process that had read before it
# must not put back what it took.
_PUT = """
local mark = tonumber(redis.call('GET', KEYS[3]) or '-1')
if mark > tonumber(ARGV[1]) then return 0 end
local after = tonumber(ARGV[5])
if after < 0 then
  redis.call('DEL', KEYS[1])
else
  local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
  if #last == 0 or tonumber(last[2]) < after then return 2 end
end
for at = 7, #ARGV, 2 do redis.call('ZADD', KEYS[1], ARGV[at], ARGV[at + 1]) end
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - tonumber(ARGV[6]))
redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('SADD', KEYS[4], ARGV[4])
redis.call('EXPIRE', KEYS[4], ARGV[3])
return 1
"""
_FORGET = """
for _, name in ipairs(redis.call('SMEMBERS', KEYS[2])) do
  redis.call('DEL', ARGV[3] .. name .. ':turns', ARGV[3] .. name .. ':state')
end
redis.call('DEL', KEYS[2])
if tonumber(redis.call('GET', KEYS[1]) or '-1') < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
end
return 1
"""


# Both of one state, as one text: a client takes each member of a list apart by itself.
_GET = """
local state = redis.call('GET', KEYS[2])
if not state then return false end
return '[' .. state .. ',[' .. table.concat(redis.call('ZRANGE', KEYS[1], 0, -1), ',') .. ']]'
"""
_SCRIPTS = (_GET, _PUT, _FORGET)


class Shelf(Protocol):
    """Keeps conversations by the secret of their namespace: no two stores meet on one shelf."""

    def get(self, secret: bytes, conversation: str) -> Talk | None:
        """What is kept of a conversation, at whatever state; None for nothing, or nothing that can be reached."""

    def put(self, secret: bytes, conversation: str, talk: Talk, after: int = -1) -> None:
        """Keep a conversation, unless something was erased that ``talk`` does not know of; of the turns up to number
        ``after`` it is known that they are kept already, if anything is."""

    def forget(self, secret: bytes, acts: int) -> bool:
        """Drop all of a namespace that was read before record ``acts``; False when it could not be reached."""


class InProcess:
    """The last conversations looked at, in this process."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[bytes, str], Talk] = OrderedDict()

    def get(self, secret: bytes, conversation: str) -> Talk | None:
        """See Shelf."""
        found = self._kept.get((secret, conversation))
        if found is not None:
            self._kept.move_to_end((secret, conversation))
        return found

    def put(self, secret: bytes, conversation: str, talk: Talk, after: int = -1) -> None:
        """See Shelf."""
        self._kept[secret, conversation] = talk
        self._kept.move_to_end((secret, conversation))
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def forget(self, secret: bytes, acts: int) -> bool:
        """See Shelf."""
        for key in [key for key, talk in self._kept.items() if key[0] == secret and talk.acts < acts]:
            del self._kept[key]
        return True


class _Line:
    """One connection to the server, for one thread at a time. What is only told is sent, and its answer read when the
    line is needed next: who asked for a window does not wait until it is kept."""

    def __init__(self, client: Valkey) -> None:
        self._pool = client.connection_pool
        self._lock = threading.Lock()
        self._connection: Any = None
        self._owner = 0  # a process that was forked off has a line of its own
        self._due: list[Callable[[Any], None]] = []

    def ask(self, script: str, keys: Sequence[str], given: Sequence[Any]) -> Any:
        """What a script answers."""
        return self._sent(script, keys, given, None)

    def tell(self, script: str, keys: Sequence[str], given: Sequence[Any], then: Callable[[Any], None]) -> None:
        """Let a script run; ``then`` gets what it answers when the line is needed next."""
        self._sent(script, keys, given, then)

    def _sent(
        self, script: str, keys: Sequence[str], given: Sequence[Any], then: Callable[[Any], None] | None
    ) -> Any:  # fmt: skip
        from valkey.exceptions import ConnectionError as Cut
        from valkey.exceptions import NoScriptError

        command = ["EVALSHA", _name_of(script), len(keys), *keys, *given]
        with self._lock:
            try:
                return self._once(command, then)
            except (Cut, NoScriptError):  # cut while nobody needed it, or a server that has forgotten the script
                return self._once(command, then)

    def _once(self, command: Sequence[Any], then: Callable[[Any], None] | None) -> Any:
        with self._ready() as connection:
            connection.send_command(*command)
            if then is None:
                return connection.read_response()
            self._due.append(then)
            return None

    @contextlib.contextmanager
    def _ready(self) -> Iterator[Any]:
        """The connection with nothing left to read; whatever goes wrong on it cuts it."""
        if self._owner != os.getpid():
            self._connection, self._owner = None, os.getpid()
        try:
            if self._connection is None:
                self._due.clear()
                self._connection = self._pool.get_connection("EVALSHA")
                for script in _SCRIPTS:
                    self._connection.send_command("SCRIPT", "LOAD", script)
                    self._connection.read_response()
            while self._due:
                self._due.pop(0)(self._connection.read_response())
            yield self._connection
        except BaseException:
            if self._connection is not None:
                self._connection.disconnect()
                self._pool.release(self._connection)
                self._connection = None
            raise


class InValkey:
    """Conversations in a Valkey or Redis server: the turns a sorted set by their number, the rest beside it.

    A server that cannot be reached costs a reading of the database, never an answer. Keys live ``seconds``.
    """

    def __init__(self, client: Valkey, seconds: int) -> None:
        self._line = _Line(client)
        self._seconds = seconds
        self._short: set[tuple[bytes, str]] = set()  # the server has less of these than was thought

    @classmethod
    def at(cls, url: str, seconds: int) -> InValkey:
        """By the address of the server: valkey://host:port/0, redis://…, unix://…. SettingsError for another, or
        without the client."""
        try:
            from valkey import Valkey
            from valkey.exceptions import ValkeyError
        except ImportError as missing:
            raise SettingsError("RECORDARI_WINDOW_URL: the client is missing. Install recordari[valkey]") from missing
        try:
            client = Valkey.from_url(url, socket_timeout=1.0, socket_connect_timeout=1.0)
        except (ValueError, ValkeyError) as wrong:
            raise SettingsError(f"RECORDARI_WINDOW_URL: {wrong}. Correct or unset the variable") from wrong
        return cls(client, seconds)

    def get(self, secret: bytes, conversation: str) -> Talk | None:
        """See Shelf."""
        prefix = _prefix(secret)
        keys = [f"{prefix}{conversation}:turns", f"{prefix}{conversation}:state"]
        found = self._reached(lambda: self._line.ask(_GET, keys, []))
        try:
            return None if found is None else _read(found)
        except (TypeError, ValueError):  # kept by another version of this program
            return None

    def put(self, secret: bytes, conversation: str, talk: Talk, after: int = -1) -> None:
        """See Shelf."""
        prefix = _prefix(secret)
        keys = [f"{prefix}{conversation}:turns", f"{prefix}{conversation}:state", f"{prefix}mark", f"{prefix}all"]
        place = (secret, conversation)
        if place in self._short:
            after = -1
        members: list[Any] = []
        for turn in talk.turns:
            if turn.ordinal > after:
                members += [turn.ordinal, _turn(turn)]
        kept = len(talk.turns)
        given: list[Any] = [talk.acts, _state(talk), self._seconds, conversation, after, kept, *members]

        def told(answer: Any) -> None:
            (self._short.add if answer == 2 else self._short.discard)(place)

        self._reached(lambda: self._line.tell(_PUT, keys, given, told))

    def forget(self, secret: bytes, acts: int) -> bool:
        """See Shelf."""
        prefix = _prefix(secret)
        given: list[Any] = [acts, self._seconds, prefix]
        return self._reached(lambda: self._line.ask(_FORGET, [f"{prefix}mark", f"{prefix}all"], given)) is not None

    def _reached(self, ask: Any) -> Any:
        from valkey.exceptions import ValkeyError

        try:
            return ask()
        except (ValkeyError, OSError) as wrong:
            LOG.warning("the window's server did not answer (%s); the store is read instead", type(wrong).__name__)
            return None


@lru_cache(maxsize=8)
def _name_of(script: str) -> str:
    """Under which the server knows a script."""
    return hashlib.sha1(script.encode(), usedforsecurity=False).hexdigest()


@lru_cache(maxsize=64)
def _prefix(secret: bytes) -> str:
    """All keys of a namespace: in one slot of a cluster, under a name that tells nothing."""
    return f"recordari:{{{hmac.digest(secret, b'window', hashlib.sha256).hex()[:32]}}}:"


def _json(fields: Any) -> bytes:
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"), default=datetime.isoformat)
    try:
        return text.encode()
    except UnicodeEncodeError:  # half a surrogate pair is no UTF-8 and must become an escape
        return json.dumps(fields, separators=(",", ":"), default=datetime.isoformat).encode()


def _turn(turn: Turn) -> bytes:
    # The number makes two equal turns two members.
    return b"[%d,%s,%s]" % (turn.ordinal, turn_body(turn).encode(), _json(turn.text))


def _state(talk: Talk) -> bytes:
    told = list(talk.told.values())
    return _json([*talk.head, talk.acts, talk.plain, told, talk.for_now, talk.summaries, talk.worded, talk.principals])


def _read(kept: bytes) -> Talk:
    (version, rows, acts, plain, told, for_now, summaries, worded, principals), said = json.loads(kept)
    return Talk(
        Head(version, rows), acts, plain,
        tuple(Turn.model_validate({**fields, "text": text}) for _, fields, text in said),
        {each[0]: _told(each) for each in told},
        tuple(ForNow(each[0], datetime.fromisoformat(each[1]), *each[2:]) for each in for_now),
        summaries, Worded(worded[0], tuple(worded[1]), worded[2]) if worded is not None else None,
        tuple(principals),
    )  # fmt: skip


def _told(fields: list[Any]) -> Told:
    *others, until = fields
    return Told._make([*others, None if until is None else datetime.fromisoformat(until)])
