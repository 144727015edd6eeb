"""Reads what training sends to MindInsight's debugger: the messages of package `debugger`, service `EventListener`.

MindSpore 1.5 to 2.2 speaks it with ENABLE_MS_DEBUGGER=1. Values of tensors and graphs come in pieces of up to 3 MiB. The bytes
are of a program that anyone may have written: FormatError for what is no such message, or one beyond the limits here, which
are checked before anything of that size is allocated. Unknown fields are ignored.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field

import numpy as np

from parsers.errors import FormatError
from parsers.events.wire import DELIMITED, FIXED32, FIXED64, VARINT, WireError, signed, varint
from parsers.graphs.wire import places

LARGEST_MESSAGE = 4 << 20
"""Bytes of a message; pieces of tensors and graphs have 3 MiB and little more."""
LARGEST_TENSOR = 1 << 30
"""Bytes of the values of a tensor, as in MindInsight."""
MOST_DIMS = 32
MOST_FIELDS = 4096
"""Fields of one message, or numbers of one list."""
LONGEST_TEXT = 4096
"""Bytes of a name."""
OVERFLOW_NAN, OVERFLOW_INF, NO_PREVIOUS, NO_MEMORY, NO_HISTORY, NO_VALUE = (1 << bit for bit in range(6))
"""Bits of the error code of a hit."""
DTYPES = {
    1: "bool", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "uint8", 7: "uint16", 8: "uint32", 9: "uint64",
    10: "float16", 11: "float32", 12: "float64", 36: "int64", 37: "uint64", 38: "float32", 43: "complex64", 44: "complex128",
    46: "bfloat16", 48: "int8",
}  # fmt: skip
"""Number of a type -> its name in frames."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What training says of itself: device and root graph, the step it is at, the operator it stopped at.

    device is "0" for the device_name "0:1"; step 0 is before the first step.
    """

    device: str = ""
    root: str = ""
    step: int = 0
    backend: str = ""
    node: str = ""
    done: bool = False
    graphs: int = 0
    version: str = ""


@dataclass(frozen=True, slots=True)
class WireTensorName:
    """A tensor on the wire: full name of its operator, output, and whether it is that of the step before."""

    node: str
    slot: int = 0
    previous: bool = False


@dataclass(frozen=True, slots=True)
class TensorHead:
    """Type, shape and bytes of a tensor; dtype is "" and the size 0 if training does not have it."""

    dtype: str = ""
    shape: tuple[int, ...] = ()
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class TensorPiece:
    """A piece of the values of a tensor; finished with the last one."""

    name: WireTensorName
    head: TensorHead
    content: memoryview
    finished: bool


@dataclass(frozen=True, slots=True)
class TensorSummary:
    """What training computed of a tensor. Counts are of values; -1 and NaN for what it did not send."""

    head: TensorHead
    is_bool: bool = False
    max: float = math.nan
    min: float = math.nan
    mean: float = math.nan
    counts: tuple[int, ...] = (0,) * 7
    """All, negative, positive, NaN, -Inf, +Inf, zero."""


@dataclass(frozen=True, slots=True)
class HitParameter:
    """A parameter of a watchpoint that was compared: its limit, and what was measured."""

    name: str
    disabled: bool
    value: float
    hit: bool
    actual: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A tensor that a watchpoint found; error says why it could not be checked (bits of NO_VALUE ...), 0 for a hit."""

    name: WireTensorName
    watchpoint: int
    condition: int
    parameters: tuple[HitParameter, ...] = ()
    error: int = 0


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A sign of life, and the seconds until the next."""

    message: str
    period_s: int


@dataclass(slots=True)
class _MessageFields:
    """The fields of one message by number: the last value of each, and all of those repeated."""

    data: bytes
    last: dict[int, int | tuple[int, int]] = field(default_factory=dict)
    every: dict[int, list[int | tuple[int, int]]] = field(default_factory=dict)

    def number(self, key: int, default: int = 0) -> int:
        found = self.last.get(key, default)
        if not isinstance(found, int):
            raise FormatError(f"expected a number in field {key}, found bytes")
        return found

    def flag(self, key: int) -> bool:
        return bool(self.number(key))

    def real(self, key: int, kind: str = "<f") -> float:
        found = self.last.get(key)
        if found is None:
            return 0.0
        start, stop = self._span(key, found)
        if stop - start != struct.calcsize(kind):
            raise FormatError(f"expected a number of {struct.calcsize(kind)} bytes in field {key}, found {stop - start}")
        (value,) = struct.unpack_from(kind, self.data, start)
        return float(value)

    def text(self, key: int) -> str:
        found = self.last.get(key)
        if found is None:
            return ""
        start, stop = self._span(key, found)
        if stop - start > LONGEST_TEXT:
            raise FormatError(f"expected up to {LONGEST_TEXT:,} bytes of text in field {key}, found {stop - start:,}")
        return self.data[start:stop].decode("utf-8", "backslashreplace")

    def span(self, key: int) -> tuple[int, int]:
        return self._span(key, self.last.get(key, (0, 0)))

    def spans(self, key: int) -> list[tuple[int, int]]:
        return [self._span(key, one) for one in self.every.get(key, ())]

    def numbers(self, key: int) -> tuple[int, ...]:
        """Return a repeated number, packed or not."""
        found: list[int] = []
        for one in self.every.get(key, ()):
            if isinstance(one, int):
                found.append(one)
                continue
            packed, at = self.data[slice(*one)], 0
            try:
                while at < len(packed) and len(found) <= MOST_DIMS:
                    value, at = varint(packed, at)
                    found.append(signed(value))
            except (WireError, IndexError) as error:
                raise FormatError(f"expected packed numbers in field {key}, found bytes that are none: {error}") from None
        return tuple(found)

    @staticmethod
    def _span(key: int, found: int | tuple[int, int]) -> tuple[int, int]:
        if isinstance(found, int):
            raise FormatError(f"expected bytes in field {key}, found a number")
        return found


def read_metadata(data: bytes) -> Metadata:
    """Read the message of SendMetadata and WaitCMD."""
    found = _fields(data)
    device, _, root = found.text(1).partition(":")
    return Metadata(
        device, root, _whole(found.number(2), "step"), found.text(3), found.text(4), found.flag(5),
        _whole(found.number(6), "number of graphs"), found.text(7),
    )  # fmt: skip


def read_chunk(data: bytes) -> tuple[memoryview, bool]:
    """Read a piece of a graph: its bytes, and whether it is the last one."""
    found = _fields(data)
    start, stop = found.span(1)
    return memoryview(data)[start:stop], found.flag(2)


def read_piece(data: bytes) -> TensorPiece:
    """Read a piece of a tensor."""
    found = _fields(data)
    start, stop = found.span(3)
    dtype = found.number(5)
    head = TensorHead()
    if dtype:
        head = _head(dtype, found.numbers(4))
    return TensorPiece(_name(found), head, memoryview(data)[start:stop], found.flag(6))


def read_base(data: bytes) -> TensorHead:
    """Read type, shape and size of a tensor."""
    return _base(_fields(data))


def read_summary(data: bytes) -> TensorSummary:
    """Read statistics of a tensor, which were computed by training."""
    found = _fields(data)
    head = _base(_fields(data, *found.span(1)))
    told = _fields(data, *found.span(2))
    if not head.dtype:
        return TensorSummary(head)
    counts = tuple(_whole(told.number(key), "count") for key in range(5, 12))
    return TensorSummary(head, told.flag(1), told.real(2), told.real(3), told.real(4), counts)


def read_hit(data: bytes) -> Hit:
    """Read what a watchpoint found."""
    found = _fields(data)
    condition = _fields(data, *found.span(2))
    parameters = []
    for start, stop in condition.spans(4):
        one = _fields(data, start, stop)
        parameters.append(HitParameter(one.text(1), one.flag(2), one.real(3, "<d"), one.flag(4), one.real(5, "<d")))
    name = _name(_fields(data, *found.span(1)))
    return Hit(name, found.number(3), condition.number(1), tuple(parameters), found.number(4))


def read_heartbeat(data: bytes) -> Heartbeat:
    """Read a sign of life."""
    found = _fields(data)
    return Heartbeat(found.text(1), found.number(2))


def _fields(data: bytes, start: int = 0, stop: int | None = None) -> _MessageFields:
    found = _MessageFields(data)
    stop = len(data) if stop is None else stop
    try:
        for count, (key, begin, end) in enumerate(places(data, start, stop)):
            if count >= MOST_FIELDS:
                raise FormatError(f"expected up to {MOST_FIELDS:,} fields in a message, found more")
            kind = key & 7
            value: int | tuple[int, int]
            if kind == VARINT:
                value = signed(varint(data, begin)[0])
            elif kind in (DELIMITED, FIXED32, FIXED64):
                value = (begin, end)
            else:
                continue
            number = key >> 3
            found.last[number] = value
            found.every.setdefault(number, []).append(value)
    except (WireError, IndexError) as error:
        raise FormatError(f"expected a message of the debugger, found bytes that are none: {error}") from None
    return found


def _name(found: _MessageFields) -> WireTensorName:
    slot = found.text(2) or "0"
    if not slot.isascii() or not slot.isdigit() or len(slot) > 6:
        raise FormatError(f"expected the number of an output, found {slot[:80]!r}")
    return WireTensorName(found.text(1), int(slot), found.text(7) == "prev")


def _base(found: _MessageFields) -> TensorHead:
    dtype, size = found.number(1), found.number(3)
    if not dtype or size <= 0:
        return TensorHead()
    head = _head(dtype, found.numbers(2))
    return TensorHead(head.dtype, head.shape, size)


def _head(number: int, dims: tuple[int, ...]) -> TensorHead:
    dtype = DTYPES.get(number)
    if dtype is None:
        raise FormatError(f"expected a type of values that can be read, found number {number}")
    if len(dims) > MOST_DIMS or min(dims, default=0) < 0:
        raise FormatError(f"expected up to {MOST_DIMS} dimensions from 0 on, found {dims[:MOST_DIMS]}")
    return TensorHead(dtype, dims, math.prod(dims) * item_size(dtype))


def item_size(dtype: str) -> int:
    """Return the bytes of one value on the wire."""
    return 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize


def _whole(value: int, what: str) -> int:
    if value < 0:
        raise FormatError(f"expected a {what} from 0 on, found {value}")
    return value
