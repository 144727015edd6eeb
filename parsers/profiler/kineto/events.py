"""Takes from the events of a Kineto trace what frames need beside the slices of the timeline: their arguments.

Old and new spellings are those of libkineto/src/output_json.cpp since 2021. Each column is as long as there are events of its
class; `place` finds the slice of an event, whose time and name the timeline has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from parsers.json_text import encodable
from parsers.profiler.columns import narrow
from parsers.profiler.tables import NONE
from parsers.profiler.trace.chrome_tracks import Codes
from parsers.profiler.trace.events import WITHIN, EventPiece, TraceEvent

NOTHING, OPERATOR, ANNOTATION, CALL, KERNEL, COPY, FILL, COUNTERS = range(8)
"""Classes of slices: of the host its operators, annotations and calls of the runtime; of the device kernels, copies and fills;
ranges whose counters CUPTI read."""
MEMORY = 8
"""The class of moments at which memory was allocated or released."""
CLASSES: Mapping[str, int] = {
    "cpu_op": OPERATOR, "Operator": OPERATOR, "user_annotation": ANNOTATION,
    **dict.fromkeys(
        ("cuda_runtime", "cuda_driver", "Runtime", "mtia_runtime", "xpu_runtime", "xpu_driver", "privateuse1_runtime",
         "privateuse1_driver", "glow_runtime"), CALL,
    ),
    **dict.fromkeys(("kernel", "Kernel", "mtia_ccp_events"), KERNEL),
    **dict.fromkeys(("gpu_memcpy", "Memcpy"), COPY), **dict.fromkeys(("gpu_memset", "Memset"), FILL),
    "cuda_profiler_range": COUNTERS,
}  # fmt: skip
"""Category of an event -> class."""
ON_HOST = (OPERATOR, ANNOTATION, CALL)
ON_DEVICE = (KERNEL, COPY, FILL)
_INSTANT = frozenset(("i", "I"))
_Cell = int | float | str | bool | None

_KEYS = {
    "correlation": "correlation", "external": "External id", "external_old": "external id", "device": "device",
    "stream": "stream", "grid": "grid", "block": "block", "registers": "registers per thread", "shared": "shared memory",
    "blocks": "blocks per SM", "warps": "warps per SM", "occupancy": "est. achieved occupancy %",
    "occupancy_old": "theoretical occupancy %", "bytes": "bytes", "bandwidth": "memory bandwidth (GB/s)", "graph": "graph id",
    "shapes": "Input Dims", "types": "Input type", "stack": "Call stack", "collective": "Collective name",
    "elements_in": "In msg nelems", "elements_out": "Out msg nelems", "dtype": "dtype", "group_size": "Group size",
    "group": "Process Group Name", "group_about": "Process Group Description", "group_ranks": "Process Group Ranks",
    "address": "Addr", "size": "Bytes", "device_type": "Device Type", "device_id": "Device Id",
    "allocated": "Total Allocated", "reserved": "Total Reserved",
}  # fmt: skip


class _Arguments(msgspec.Struct, gc=False):
    """What all classes may have."""


class _OfCall(_Arguments, gc=False, rename=_KEYS):
    correlation: _Cell = None
    external: _Cell = None
    external_old: _Cell = None


class _OfOperator(_Arguments, gc=False, rename=_KEYS):
    external: _Cell = None
    external_old: _Cell = None
    shapes: msgspec.Raw = msgspec.Raw()
    types: msgspec.Raw = msgspec.Raw()
    stack: msgspec.Raw = msgspec.Raw()
    collective: _Cell = None
    elements_in: _Cell = None
    elements_out: _Cell = None
    dtype: _Cell = None
    group_size: _Cell = None
    group: _Cell = None
    group_about: _Cell = None
    group_ranks: msgspec.Raw = msgspec.Raw()


class _OfDevice(_Arguments, gc=False, rename=_KEYS):
    correlation: _Cell = None
    external: _Cell = None
    external_old: _Cell = None
    device: _Cell = None
    stream: _Cell = None
    grid: msgspec.Raw = msgspec.Raw()
    block: msgspec.Raw = msgspec.Raw()
    registers: _Cell = None
    shared: _Cell = None
    blocks: _Cell = None
    warps: _Cell = None
    occupancy: _Cell = None
    occupancy_old: _Cell = None
    bytes: _Cell = None
    bandwidth: _Cell = None
    graph: _Cell = None
    collective: _Cell = None
    elements_in: _Cell = None
    elements_out: _Cell = None
    dtype: _Cell = None
    group_size: _Cell = None
    group: _Cell = None
    group_about: _Cell = None
    group_ranks: msgspec.Raw = msgspec.Raw()


class _OfMemory(_Arguments, gc=False, rename=_KEYS):
    address: _Cell = None
    size: _Cell = None
    device_type: _Cell = None
    device_id: _Cell = None
    allocated: _Cell = None
    reserved: _Cell = None


MEMORY_COLUMNS = _OfMemory.__struct_fields__
_STRUCTS: Mapping[int, type[_Arguments]] = {
    OPERATOR: _OfOperator, ANNOTATION: _OfOperator, CALL: _OfCall, KERNEL: _OfDevice, COPY: _OfDevice, FILL: _OfDevice,
    MEMORY: _OfMemory,
}  # fmt: skip
_DECODERS: Mapping[type[_Arguments], tuple[msgspec.json.Decoder[Any], msgspec.json.Decoder[Any]]] = {
    each: (msgspec.json.Decoder(list[each]), msgspec.json.Decoder(each)) for each in dict.fromkeys(_STRUCTS.values())  # type: ignore[valid-type]
}
_WHOLE = frozenset((
    "correlation", "external", "device", "stream", "bytes", "graph", "elements_in", "elements_out", "group_size", "address",
    "size", "device_type", "device_id", "allocated", "reserved",
))  # fmt: skip
_REAL = frozenset(("registers", "shared", "blocks", "warps", "occupancy", "bandwidth"))
_SPELLINGS = {"external": "external_old", "occupancy": "occupancy_old"}
TEXTS = ("grid", "block", "shapes", "types", "stack", "collective", "dtype", "group", "group_about", "group_ranks")
"""Columns that hold codes of texts, which are in `EventArguments.texts`; code 0 is none."""


class ArgumentTable:
    """Arguments of the events of some classes, in the order of the file; columns are made when asked for."""

    def __init__(self, parts: Sequence[Mapping[str, Sequence[NDArray[Any]]]]) -> None:
        self._parts = parts
        place = np.concatenate([_empty("place"), *(array for part in parts for array in part["place"])])
        self._order = np.argsort(place, kind="stable")
        self.place: NDArray[np.int64] = place[self._order]

    def __len__(self) -> int:
        return len(self.place)

    def rows_of(self, events: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the row of each event by its place in the file, -1 for events that are not in the table."""
        if not len(self.place):
            return np.full(len(events), -1, np.int32)
        at = np.searchsorted(self.place, events).astype(np.int32)
        np.minimum(at, len(self.place) - 1, out=at)
        at[self.place[at] != events] = -1
        return at

    def column(self, name: str) -> NDArray[Any]:
        """Return a column, as long as `place`."""
        made = np.concatenate([_empty(name), *(array for part in self._parts for array in part[name])])
        return made[self._order]


@dataclass(slots=True)
class EventArguments:
    """Collects the arguments of a file, piece by piece."""

    texts: dict[str, Codes] = field(default_factory=lambda: {name: Codes({b"": 0}) for name in TEXTS})
    counters: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    """Place and arguments of ranges with counters."""
    wanted: frozenset[str] = frozenset(("deviceProperties", "computeProperties", "distributedInfo"))
    values: dict[str, bytes] = field(default_factory=dict)
    """JSON of the values of these names beside the events."""
    undecoded: int = 0
    """Events whose arguments could not be read."""
    _parts: dict[int, dict[str, list[NDArray[Any]]]] = field(default_factory=dict)
    _tables: dict[tuple[int, ...], ArgumentTable] = field(default_factory=dict)

    def add(self, piece: EventPiece) -> None:
        """Take in the events of a piece."""
        events = piece.events
        classes = np.fromiter((CLASSES.get(cat, NOTHING) for cat in map(_CAT, events)), np.uint8, len(events))
        phases = list(map(_PH, events))
        for number in np.flatnonzero(classes == NOTHING).tolist():
            if phases[number] in _INSTANT and events[number].name == "[memory]":
                classes[number] = MEMORY
        for class_ in np.unique(classes).tolist():
            if class_ == NOTHING:
                continue
            rows = np.flatnonzero(classes == class_)
            if class_ != MEMORY:
                rows = rows[[phases[row] == "X" for row in rows.tolist()]]
            if len(rows):
                chosen = np.zeros(len(events), np.bool_)
                chosen[rows] = True
                self._take(class_, (piece.offset << WITHIN) + rows, list(compress(events, chosen.tolist())))

    def table(self, *classes: int) -> ArgumentTable:
        """Return the arguments of classes that have the same ones."""
        found = self._tables.get(classes)
        if found is None:
            found = ArgumentTable([self._parts[class_] for class_ in classes if class_ in self._parts])
            self._tables[classes] = found
        return found

    def _take(self, class_: int, place: NDArray[np.int64], events: list[TraceEvent]) -> None:
        if class_ == COUNTERS:
            for where, event in zip(place.tolist(), events, strict=True):
                found = _object(event.args)
                if found is not None:
                    self.counters.append((where, found))
            return
        struct = _STRUCTS[class_]
        decoded = self._decoded(struct, events)
        known = self._parts.setdefault(class_, {})
        known.setdefault("place", []).append(place)
        for name in struct.__struct_fields__:
            if name in _SPELLINGS.values():
                continue
            values = list(map(attrgetter(name), decoded))
            old = _SPELLINGS.get(name)
            if old is not None and all(value is None for value in values):
                values = list(map(attrgetter(old), decoded))
            known.setdefault(name, []).append(self._column(name, values))

    def _decoded(self, struct: type[_Arguments], events: list[TraceEvent]) -> Sequence[Any]:
        many, one = _DECODERS[struct]
        try:
            return many.decode(b"[" + b",".join([event.args or b"{}" for event in events]) + b"]")  # type: ignore[no-any-return]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
        found = []
        for event in events:
            try:
                found.append(one.decode(event.args or b"{}"))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                self.undecoded += 1
                found.append(struct())
        return found

    def _column(self, name: str, values: list[Any]) -> NDArray[Any]:
        if name in _WHOLE:
            return narrow(whole_numbers(values))
        if name in _REAL:
            found = real_numbers(values)
            return found.astype(np.float16) if np.isnan(found).all() else found
        kinds = set(map(type, values))
        if kinds == {type(None)} or (kinds == {msgspec.Raw} and not b"".join(values)):
            return np.zeros(len(values), np.int8)
        texts = map(bytes, values) if kinds == {msgspec.Raw} else map(_bytes_of, values)
        return narrow(self.texts[name].of(texts, len(values)))


_CAT, _PH = attrgetter("cat"), attrgetter("ph")


def _empty(name: str) -> NDArray[Any]:
    """Return no values of the type of a column: parts of it have smaller types where their values allow it."""
    return np.empty(0, np.int64 if name in _WHOLE or name == "place" else np.float64 if name in _REAL else np.int32)


def _bytes_of(value: Any) -> bytes:
    """Return a text or raw JSON as bytes, by which equal ones are found without decoding them."""
    if value is None:
        return b""
    if isinstance(value, msgspec.Raw):
        return bytes(value)
    return str(value).encode("utf-8", "surrogatepass")


def _object(text: msgspec.Raw) -> dict[str, Any] | None:
    try:
        found = msgspec.json.decode(text or b"{}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return {encodable(key): value for key, value in found.items()} if isinstance(found, dict) else None


def whole_numbers(values: list[Any]) -> NDArray[np.int64]:
    """Return whole numbers, also from text; NONE for what is none, or beyond 62 bits."""
    return _numbers(values, _whole, np.int64)


def real_numbers(values: list[Any]) -> NDArray[np.float64]:
    """Return numbers, also from text; NaN for what is none."""
    return _numbers(values, _real, np.float64)


def _numbers(values: list[Any], convert: Callable[[Any], Any], dtype: Any) -> NDArray[Any]:
    kinds = set(map(type, values))
    if kinds == {type(None)}:
        return np.full(len(values), convert(None), dtype)
    if kinds == {int} and dtype is np.int64:
        try:
            found = np.array(values, np.int64)
        except OverflowError:
            pass
        else:
            if len(found) == 0 or max(int(found.max()), -int(found.min())) < 1 << 62:
                return found
    made: Iterable[Any] = map(convert, values)
    return np.fromiter(made, dtype, len(values))


def _whole(value: Any) -> int:
    if value is None or isinstance(value, bool):
        return NONE
    try:
        number = int(value) if not isinstance(value, str) or len(value) < 40 else NONE
    except (ValueError, OverflowError):
        return NONE
    return number if abs(number) < 1 << 62 else NONE


def _real(value: Any) -> float:
    try:
        return float("nan") if value is None or isinstance(value, bool) else float(value)
    except (ValueError, OverflowError):
        return float("nan")
