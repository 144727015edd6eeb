r"""Stores the columns of a trace in a directory, to be mapped into memory instead of read.

`trace.columns` has the arrays one after the other, little-endian, each at a multiple of 64 bytes. `trace.header` says where:
magic ``MSTR`` and a version byte, padded to 8; uint64 LE length and uint64 LE CRC32C of what follows; msgpack of `_TraceHeader`
with dtype, length, place and CRC32C of every array. It is written last, and only a complete one counts. Names are UTF-8, one
after the other, and are decoded when they are asked for. Nothing in the files is executed.
"""

from __future__ import annotations

import hashlib
import os
import sys
from builtins import open as open_file
from collections.abc import Iterator, Sequence
from typing import Any, overload

import google_crc32c
import msgspec
import numpy as np
from numpy.typing import NDArray

from parsers.errors import FormatError
from parsers.headers import Format
from parsers.model import Problem
from parsers.profiler.progress import report_read
from parsers.profiler.trace.columns import Clock, CounterValues, Flows, Kind, Slices, Trace, Track

MAGIC = b"MSTR\0\0\0"
VERSION = 5
"""Increment whenever this layout, or what readers of traces make, changes."""
HEADER, COLUMNS = "trace.header", "trace.columns"
_ALIGNMENT = 64
_PIECE = 1 << 22
_SLICES = {
    "track": "int32", "start": "int64", "duration": "int64", "name": "int32", "category": "int32", "phase": "uint8",
    "event": "int64", "depth": "int32", "self": "int64",
}  # fmt: skip
_FLOWS = {"source": "int64", "target": "int64", "kind": "int32"}
_COUNTERS = {"track": "int32", "series": "int32", "time": "int64", "value": "float64"}
_NAMES = {"ends": "int64", "bytes": "uint8"}
_DTYPES = {
    f"{group}.{name}": dtype
    for group, columns in (("slices", _SLICES), ("flows", _FLOWS), ("counters", _COUNTERS), ("names", _NAMES))
    for name, dtype in columns.items()
}


class _TraceColumn(msgspec.Struct, array_like=True):
    name: str
    dtype: str
    length: int
    offset: int
    crc: int


class _Track(msgspec.Struct, array_like=True):
    process: str
    thread: str
    process_id: str
    thread_id: str
    kind: Kind
    order: tuple[int, int]
    first: int
    last: int


class _TraceHeader(msgspec.Struct):
    path: bytes
    origin_ns: int
    clock: Clock
    tracks: list[_Track]
    categories: list[str]
    series: list[str]
    flow_kinds: list[str]
    problems: list[tuple[int, int, str, str]]
    columns: list[_TraceColumn]
    size: int
    files: list[bytes]


class StoredNames(Sequence[str]):
    """Names in a stored trace, decoded when they are asked for. `blob` and `ends` allow searching all of them at once."""

    def __init__(self, ends: NDArray[np.int64], blob: NDArray[np.uint8]) -> None:
        self.ends, self.blob = ends, blob

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(index)
        begin = int(self.ends[place - 1]) if place else 0
        return self.blob[begin : int(self.ends[place])].tobytes().decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        begin = 0
        for first in range(0, len(self), _PIECE):
            for end in self.ends[first : first + _PIECE].tolist():
                yield self.blob[begin:end].tobytes().decode("utf-8", "replace")
                begin = end


def key_of(*paths: str) -> str:
    """Return the key of a trace: it changes with the place, size or mtime of any of its files. OSError if one is missing."""
    digest = hashlib.blake2b(digest_size=20)
    for path in paths:
        status = os.stat(path)
        digest.update(f"{VERSION}\0{status.st_size}\0{status.st_mtime_ns}\0".encode() + os.fsencode(os.path.realpath(path)))
    return digest.hexdigest()


def write(trace: Trace, directory: str) -> None:
    """Store a trace in a directory, which is made if necessary. OSError if this fails; what is there then does not open."""
    if sys.byteorder != "little":
        raise OSError("traces can be stored on little-endian machines only")
    os.makedirs(directory, exist_ok=True)
    header_path, columns_path = os.path.join(directory, HEADER), os.path.join(directory, COLUMNS)
    for path in (header_path, columns_path):
        if os.path.exists(path):
            os.unlink(path)
    columns: list[_TraceColumn] = []
    with open_file(columns_path, "wb") as file:
        for name, array in _arrays(trace):
            file.write(bytes(-file.tell() % _ALIGNMENT))
            data = np.ascontiguousarray(array, _DTYPES[name]).view(np.uint8).data
            offset, crc = file.tell(), 0
            for first in range(0, len(data), _PIECE):
                piece = data[first : first + _PIECE]
                crc = google_crc32c.extend(crc, bytes(piece))
                file.write(piece)
                report_read(0)
            columns.append(_TraceColumn(name, _DTYPES[name], len(array), offset, crc))
        size = file.tell()
    tracks = [
        _Track(one.process, one.thread, one.process_id, one.thread_id, one.kind, one.order, one.first, one.last)
        for one in trace.tracks
    ]
    problems = [(one.offset, one.length, one.kind, one.text) for one in trace.problems]
    described = _TraceHeader(
        os.fsencode(trace.path), trace.origin_ns, trace.clock, tracks, list(trace.categories), list(trace.series),
        list(trace.flow_kinds), problems, columns, size, list(map(os.fsencode, trace.files)),
    )  # fmt: skip
    header = msgspec.msgpack.encode(described)
    with open_file(header_path + ".new", "wb") as file:
        file.write(Format(header_path, MAGIC, VERSION).prefix(header) + header)
    os.replace(header_path + ".new", header_path)


def _arrays(trace: Trace) -> Iterator[tuple[str, NDArray[Any]]]:
    for group, values, names in (
        ("slices", trace.slices, _SLICES), ("flows", trace.flows, _FLOWS), ("counters", trace.counters, _COUNTERS),
    ):  # fmt: skip
        for name in names:
            yield f"{group}.{name}", getattr(values, name)
    if isinstance(trace.names, StoredNames):
        yield "names.ends", trace.names.ends
        yield "names.bytes", trace.names.blob
        return
    encoded = [name.encode("utf-8", "backslashreplace") for name in trace.names]
    yield "names.ends", np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), dtype=np.int64)
    yield "names.bytes", np.frombuffer(b"".join(encoded), np.uint8)


def open(directory: str, *, verify: bool = True) -> Trace:  # noqa: A001  read as storage.open
    """Return the trace stored in a directory, its columns mapped into memory and read-only.

    FormatError unless it is complete and of this version; with verify also if a checksum of a column does not match, for
    which every column is read once. OSError if there is none.
    """
    header = _header(os.path.join(directory, HEADER))
    path = os.path.join(directory, COLUMNS)
    if os.path.getsize(path) != header.size:
        raise FormatError(f"{path}: expected {header.size:,} bytes, found {os.path.getsize(path):,}")
    found = {column.name: column for column in header.columns}
    if {name: column.dtype for name, column in found.items()} != _DTYPES:
        raise FormatError(f"{path}: expected columns {', '.join(_DTYPES)}; found {', '.join(found)}")
    mapped = np.memmap(path, np.uint8, "r") if header.size else np.empty(0, np.uint8)
    arrays: dict[str, NDArray[Any]] = {}
    for name, column in found.items():
        size = column.length * np.dtype(column.dtype).itemsize
        if column.length < 0 or column.offset < 0 or column.offset % _ALIGNMENT or column.offset + size > header.size:
            raise FormatError(f"{path}: expected {size:,} bytes of {name} at {column.offset:,}, found {header.size:,} in all")
        data = mapped[column.offset : column.offset + size]
        if verify and google_crc32c.value(data) != column.crc:
            raise FormatError(f"{path}: the checksum of {name} does not match")
        arrays[name] = np.asarray(data).view(column.dtype)
    slices, flows, counters = (
        {name: arrays[f"{group}.{name}"] for name in names}
        for group, names in (("slices", _SLICES), ("flows", _FLOWS), ("counters", _COUNTERS))
    )
    for group in (slices, flows, counters):
        if len({len(array) for array in group.values()}) > 1:
            raise FormatError(f"{path}: expected columns of the same length, found {', '.join(group)} of different ones")
    names = StoredNames(arrays["names.ends"], arrays["names.bytes"])
    shown = os.fsdecode(header.path)
    return Trace(
        shown, header.origin_ns, header.clock,
        tuple(Track(*(getattr(one, name) for name in _Track.__struct_fields__)) for one in header.tracks), names,
        tuple(header.categories), tuple(header.series), tuple(header.flow_kinds), Slices(**slices), Flows(**flows),
        CounterValues(**counters), tuple(Problem(shown, *one) for one in header.problems),
        tuple(map(os.fsdecode, header.files)),
    )  # fmt: skip


def _header(path: str) -> _TraceHeader:
    with open_file(path, "rb") as file:
        data = file.read()
    header, end = Format(path, MAGIC, VERSION).header(data, _TraceHeader)
    if end != len(data):
        raise FormatError(f"{path}: expected {end} bytes, found {len(data)}")
    return header
