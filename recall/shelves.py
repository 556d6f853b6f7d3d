"""Where conversations are kept between two looks at them: in the process, and by choice in a Valkey that others share.

What is kept is never believed by itself: it names the state of the namespace that it was read at, and the window
compares it with the database each time.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
from collections import OrderedDict
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from ..model import Turn
from ..settings import SettingsError
from ..store.codec import read_turn, turn_body
from ..store.talk import ForNow, Head, Talk, Told

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


class InValkey:
    """Conversations in a Valkey or Redis server: the turns a sorted set by their number, the rest beside it.

    A server that cannot be reached costs a reading of the database, never an answer. Keys live ``seconds``.
    """

    def __init__(self, client: Valkey, seconds: int) -> None:
        self._client = client
        self._seconds = seconds
        self._put = client.register_script(_PUT)
        self._forget = client.register_script(_FORGET)

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
        pipe = self._client.pipeline(transaction=True)  # both of one state
        pipe.get(f"{prefix}{conversation}:state")
        pipe.zrange(f"{prefix}{conversation}:turns", 0, -1)
        found = self._reached(pipe.execute)
        if found is None or found[0] is None:
            return None
        return _read(found[0], found[1])

    def put(self, secret: bytes, conversation: str, talk: Talk, after: int = -1) -> None:
        """See Shelf."""
        prefix = _prefix(secret)
        keys = [f"{prefix}{conversation}:turns", f"{prefix}{conversation}:state", f"{prefix}mark", f"{prefix}all"]
        members: list[Any] = []
        for turn in talk.turns:
            if turn.ordinal > after:
                members += [turn.ordinal, _turn(turn)]
        kept = len(talk.turns)
        given: list[Any] = [talk.acts, _state(talk), self._seconds, conversation, after, kept, *members]
        if self._reached(lambda: self._put(keys=keys, args=given)) == 2:  # less is there than was thought
            self.put(secret, conversation, talk)

    def forget(self, secret: bytes, acts: int) -> bool:
        """See Shelf."""
        prefix = _prefix(secret)
        given: list[Any] = [acts, self._seconds, prefix]
        return self._reached(lambda: self._forget(keys=[f"{prefix}mark", f"{prefix}all"], args=given)) is not None

    def _reached(self, ask: Any) -> Any:
        from valkey.exceptions import ValkeyError

        try:
            return ask()
        except (ValkeyError, OSError) as wrong:
            LOG.warning("the window's server did not answer (%s); the store is read instead", type(wrong).__name__)
            return None


def _prefix(secret: bytes) -> str:
    """All keys of a namespace: in one slot of a cluster, under a name that tells nothing."""
    return f"recordari:{{{hmac.digest(secret, b'window', hashlib.sha256).hex()[:32]}}}:"


def _json(fields: Any) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"), default=datetime.isoformat)


def _turn(turn: Turn) -> str:
    return _json([turn.ordinal, turn_body(turn), turn.text])  # the number makes two equal turns two members


def _state(talk: Talk) -> str:
    return _json([*talk.head, talk.acts, talk.plain, list(talk.told.values()), talk.for_now])


def _read(state: bytes, turns: list[bytes]) -> Talk:
    version, rows, acts, plain, told, for_now = json.loads(state)
    said = [json.loads(each) for each in turns]
    return Talk(
        Head(version, rows), acts, plain,
        tuple(read_turn(body, text.encode()) for _, body, text in said),
        {each[0]: _told(each) for each in told},
        tuple(ForNow(each[0], datetime.fromisoformat(each[1]), *each[2:]) for each in for_now),
    )  # fmt: skip


def _told(fields: list[Any]) -> Told:
    *others, until = fields
    return Told._make([*others, None if until is None else datetime.fromisoformat(until)])
