"""Entries of one form, read by one regular expression each.

The entries of a recording have the same keys in the same order, so most of them differ only in their numbers and in which
remembered texts and stacks they refer to. The form is taken from an entry that was read opcode by opcode; an entry of another
form is read that way too. Runs of references to lines are looked up by their bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.memory_snapshots.columns import MOST_EVENTS, UNKNOWN, SnapshotColumns
from parsers.memory_snapshots.memo import Memo
from parsers.memory_snapshots.objects import FrameNumber, OpenDict, OpenList, StackNumber, TakenRows
from parsers.memory_snapshots.window import Window

_GET = rb"h.|j.{4}"
_LONGS = b"|".join(rb"\x8a" + re.escape(bytes([size])) + b".{%d}" % size for size in range(1, 8))
_NUMBER = rb"(K.|M..|J.{4}|" + _LONGS + b")"
_SMALL = rb"(?:K.|M..|J.{4})"
_STACK = rb"(\]\x94(?:\((?:" + _GET + rb")*e|(?:" + _GET + rb")a)?|" + _GET + b")"
_PAIR = b"(" + _SMALL + _SMALL + rb"\x86\x94|" + _GET + b")"
_REFERENCE = re.compile(_GET, re.DOTALL)
_MOST_KNOWN = 1 << 15
_MOST_RUNS = 1 << 24
"""Bytes of runs that are kept."""
_LIST, _TEXT = 0x5D, 0x8C
_GETS = (0x68, 0x6A)
_NO_PLACE = -1


def _number(raw: bytes) -> int:
    """Decode BININT1, BININT2, BININT or LONG1."""
    code = raw[0]
    if code == 0x8A:
        return int.from_bytes(raw[2:], "little", signed=True)
    return int.from_bytes(raw[1:], "little", signed=code == 0x4A)


def _index(raw: bytes) -> int:
    """Return the place in the memo that BINGET or LONG_BINGET refers to."""
    return int.from_bytes(raw[1:], "little")


class _Decoded(dict[bytes, int]):
    """Numbers by their bytes, decoded when first asked for."""

    def __init__(self, decode: Callable[[bytes], int]) -> None:
        super().__init__()
        self._decode = decode

    def __missing__(self, raw: bytes) -> int:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        found = self[raw] = self._decode(raw)
        return found


class EntryForm:
    """One form of entries: its expression, where in it each column is, and what was decoded before."""

    def __init__(
        self, pattern: bytes, groups: dict[str, int], puts: tuple[int, ...], memo: Memo, columns: SnapshotColumns
    ) -> None:
        self._match = re.compile(pattern, re.DOTALL).match
        self._groups, self._puts = groups, puts
        self._memo, self._columns = memo, columns
        self._actions = _Decoded(lambda raw: columns.actions.number(self._text(raw)))
        self._streams = _Decoded(lambda raw: columns.streams.number(_number(raw)))
        self._sizes = _Decoded(_number)
        self._codes = _Decoded(self._code)
        self._stacks: dict[bytes, StackNumber] = {}
        self._run_bytes = 0

    @classmethod
    def of(cls, entry: OpenDict, memo: Memo, columns: SnapshotColumns) -> EntryForm | None:
        """Return the form of an entry; None if it has keys or values that no expression covers."""
        pattern, groups, puts = [rb"\}\x94\("], {}, []
        for number, (key, value) in enumerate(entry.items()):
            known = memo.keys.get(key)
            part = _pattern_of(value)
            if not known or not part:
                return None
            pattern += [_references(known), part]
            groups[key] = number
            if type(value) in (str, tuple, StackNumber, OpenList):
                puts.append(number)
        usual = {"action", "addr", "size", "stream", "frames"} <= groups.keys() and "device_free" not in groups
        return cls(b"".join([*pattern, b"u"]), groups, tuple(puts), memo, columns) if usual else None

    def read(self, window: Window, place: int) -> tuple[int, TakenRows | None]:
        """Read the entries from a place on as long as they have the form; return the place after them, and their rows."""
        data, match, stacks, frames = window.data, self._match, self._stacks, self._groups["frames"]
        rows: list[tuple[bytes, ...]] = []
        while found := match(data, place):
            raws = found.groups()
            stack = raws[frames]
            if stack[0] == _LIST and stack not in stacks and not self._learn_stack(stack, window.base + place):
                break
            rows.append(raws)
            place = found.end()
        if not rows:
            return place, None
        first = len(self._columns.action)
        self._columns.check_room(first + len(rows), MOST_EVENTS, window.base + place)
        self._take([*zip(*rows, strict=True)], window.base + place)
        return place, TakenRows("event", first, first + len(rows))

    def _take(self, raws: list[tuple[bytes, ...]], offset: int) -> None:
        """Add a row for each entry; raws are the bytes of its values, by group."""
        groups, columns = self._groups, self._columns
        self._remember(raws, offset)
        columns.action.extend(map(self._actions.__getitem__, raws[groups["action"]]))
        columns.address.extend(map(self._sizes.__getitem__, raws[groups["addr"]]))
        columns.size.extend(map(self._sizes.__getitem__, raws[groups["size"]]))
        columns.stream.extend(map(self._streams.__getitem__, raws[groups["stream"]]))
        times = _numbers(raws[groups["time_us"]]) if "time_us" in groups else np.full(len(raws[0]), UNKNOWN, np.int64)
        columns.time.frombytes(times.tobytes())
        columns.stack.extend([self._stack(raw) for raw in raws[groups["frames"]]])

    def _remember(self, raws: list[tuple[bytes, ...]], offset: int) -> None:
        """Take the places in the memo that entries take: themselves, stacks, texts and pairs that they do not refer to."""
        codes = np.zeros((len(raws[0]), 1 + len(self._puts)), np.int32)
        for column, group in enumerate(self._puts, 1):
            codes[:, column] = [_NO_PLACE if raw[0] in _GETS else self._codes[raw] for raw in raws[group]]
        taken = codes.ravel()
        self._memo.take_places(taken[taken != _NO_PLACE], offset)

    def _code(self, raw: bytes) -> int:
        """Return the code in the memo of a new stack, text or pair."""
        if raw[0] == _LIST:
            return self._memo.shared_code(self._stacks[raw])
        return self._memo.text_code(_own_text(raw), 0) if raw[0] == _TEXT else self._memo.shared_code(_pair(raw))

    def _text(self, raw: bytes) -> str:
        found = self._memo.peek(_index(raw)) if raw[0] in _GETS else _own_text(raw)
        return found if type(found) is str else ""

    def _stack(self, raw: bytes) -> int:
        found = self._stacks[raw] if raw[0] == _LIST else self._memo.peek(_index(raw))
        return found.number if type(found) is StackNumber else UNKNOWN

    def _learn_stack(self, raw: bytes, offset: int) -> bool:
        """Keep the stack of a list of references; return False if they refer to something else than lines."""
        lines = [self._memo.peek(_index(one)) for one in _REFERENCE.findall(raw, 2 + (raw[2:3] == b"("))]
        if any(type(line) is not FrameNumber for line in lines):
            return False
        self._run_bytes += len(raw)
        if self._run_bytes < _MOST_RUNS:
            self._stacks[raw] = self._columns.stack_number(lines, offset)
            return True
        return False


def _own_text(raw: bytes) -> str:
    return str(raw[2:-1], "utf-8", "replace")


def _numbers(raws: tuple[bytes, ...]) -> NDArray[np.int64]:
    """Decode numbers; those of one length, as times have, all at once."""
    size = len(raws[0])
    if not 3 < size <= 10 or {len(raw) for raw in raws} != {size} or {raw[0] for raw in raws} != {0x8A}:
        return np.array([_number(raw) for raw in raws], np.int64)
    wide = np.zeros((len(raws), 8), np.uint8)
    digits = np.frombuffer(b"".join(raws), np.uint8).reshape(-1, size)[:, 2:]
    wide[:, : size - 2] = digits
    wide[:, size - 2 :] = np.where(digits[:, -1:] > 127, 255, 0)  # the sign
    return wide.view("<i8").ravel()


def _pair(raw: bytes) -> tuple[int, ...]:
    numbers: list[int] = []
    place = 0
    while len(numbers) < 2:
        size = {0x4B: 2, 0x4D: 3}.get(raw[place], 5)
        numbers.append(_number(raw[place : place + size]))
        place += size
    return tuple(numbers)


def _references(places: list[int]) -> bytes:
    """Return an expression for a reference to one of these places."""
    some = [b"h" + bytes([one]) if one < 256 else b"j" + one.to_bytes(4, "little") for one in places]
    return b"(?:" + b"|".join(map(re.escape, some)) + b")"


def _pattern_of(value: Any) -> bytes:
    """Return an expression with one group for values of the type of this one; nothing for types that entries do not have."""
    kind = type(value)
    if kind is int:
        return _NUMBER
    if kind is str:
        own = value.encode("utf-8", "replace")
        literal = b"|\x8c" + re.escape(bytes([len(own)]) + own) + b"\x94" if len(own) < 256 else b""
        return b"(" + _GET + literal + b")"
    if kind is StackNumber or kind is OpenList:
        return _STACK
    if kind is tuple:
        return _PAIR if len(value) == 2 else b""
    return rb"([\x88\x89N])" if kind is bool or value is None else b""
