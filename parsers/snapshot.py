r"""Serialises everything read of a run, so that a second start reads only what is new.

Layout: magic ``MSIX`` and a version byte, padded to 8; uint64 LE length and uint64 LE CRC32C of the header; the header
(msgpack of `_Header`), padded to a multiple of 8; then the columns, raw little-endian, each padded to a multiple of 8.
Nothing in it is executed: the header is decoded into the types below, and columns are views of the bytes.
"""

from __future__ import annotations

import hashlib
import os
import struct
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import google_crc32c
import msgspec
import numpy as np
from numpy.typing import NDArray

from parsers.errors import FormatError
from parsers.file_states import FileState
from parsers.model import Cursor, PayloadBlock, Problem, ScalarBlock, SourceFile

MAGIC = b"MSIX\0\0\0"
# Increment whenever this layout or the output of a reader changes.
VERSION = 6
_PREFIX = struct.Struct("<7sBQQ")


class _Scalars(msgspec.Struct, array_like=True):
    tags: tuple[str, ...]
    rows: int


class _Payloads(msgspec.Struct, array_like=True):
    kind: str
    tag: str
    plugin: str
    rows: int


class _File(msgspec.Struct):
    file: SourceFile
    reader: str
    cursor: Cursor | None
    problems: tuple[Problem, ...]
    records: int
    bytes_read: int
    pending: int
    started: float | None
    tail: Problem | None
    large: int
    damaged: dict[int, int]
    lost: tuple[Problem, ...]
    scalars: list[_Scalars]
    payloads: list[_Payloads]


class _Header(msgspec.Struct):
    files: list[_File]
    columns: int
    crc: int


def dump(states: Sequence[FileState]) -> list[bytes | memoryview] | None:
    """Return the parts of a snapshot, to be written one after the other.

    None if a path cannot be encoded, a number exceeds 64 bits, or there is more to read.
    """
    if sys.byteorder != "little" or any(state.more for state in states):
        return None
    files: list[_File] = []
    columns: list[NDArray[Any]] = []
    for state in states:
        state.mark()
        scalars = [state.block(tags) for tags in list(state.scalars)]
        payloads = [block for blocks in state.payloads.values() for block in blocks]
        for block in scalars:
            columns += [block.step, block.wall_time, block.order, block.value]
        for payload in payloads:
            columns += [payload.step, payload.wall_time, payload.order, payload.offset, payload.length, payload.verified]
        files.append(
            _File(
                state.file, state.reader, state.cursor, state.problems, state.records, state.bytes_read, state.pending,
                state.started, state.tail, state.large, state.damaged, state.lost,
                [_Scalars(block.tags, len(block.step)) for block in scalars],
                [_Payloads(block.kind, block.tag, block.plugin, len(block.step)) for block in payloads],
            )
        )  # fmt: skip
    parts = [part for column in columns for part in _padded(_bytes_of(column))]
    crc = 0
    for part in parts:
        crc = google_crc32c.extend(crc, bytes(part))
    try:
        header = msgspec.msgpack.encode(_Header(files, sum(len(part) for part in parts), crc))
    except (UnicodeEncodeError, OverflowError):
        return None
    prefix = _PREFIX.pack(MAGIC, VERSION, len(header), google_crc32c.value(header))
    return [prefix, *_padded(memoryview(header)), *parts]


def load(data: bytes) -> list[FileState]:
    """Return the states in a snapshot; FormatError for anything but a complete snapshot of this version."""
    if len(data) < _PREFIX.size:
        raise FormatError(f"snapshot: expected at least {_PREFIX.size} bytes, found {len(data)}")
    magic, version, size, crc = _PREFIX.unpack_from(data)
    if magic != MAGIC or version != VERSION:
        raise FormatError(f"snapshot: expected version {VERSION}, found {magic!r} version {version}")
    raw = data[_PREFIX.size : _PREFIX.size + size]
    if len(raw) != size or google_crc32c.value(raw) != crc:
        raise FormatError("snapshot: the header fails its CRC")
    try:
        header = msgspec.msgpack.decode(raw, type=_Header)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"snapshot: the header cannot be decoded ({error})") from error
    body = np.frombuffer(data, np.uint8)[_PREFIX.size + _round_up(size) :]
    if len(body) != header.columns or google_crc32c.value(body) != header.crc:
        raise FormatError("snapshot: the columns fail their CRC")
    columns = _Columns(body)
    return [_state(file, columns) for file in header.files]


class _Columns:
    """Hands out columns of the body, one after the other."""

    def __init__(self, body: NDArray[np.uint8]) -> None:
        self._body = body
        self._at = 0

    def take(self, dtype: type[np.generic], rows: int) -> NDArray[Any]:
        size = rows * np.dtype(dtype).itemsize
        if rows < 0 or self._at + size > len(self._body):
            raise FormatError(f"snapshot: expected {size} bytes at {self._at}, found {len(self._body) - self._at}")
        column = self._body[self._at : self._at + size].view(dtype)
        self._at += _round_up(size)
        return column


def _state(file: _File, columns: _Columns) -> FileState:
    state = FileState(
        file.file, file.reader, file.cursor, file.problems, file.records, file.bytes_read, file.pending, False, file.started,
        tail=file.tail, large=file.large, damaged=file.damaged, lost=file.lost,
    )
    for scalars in file.scalars:
        n = scalars.rows
        step, wall_time, order = columns.take(np.int64, n), columns.take(np.float64, n), columns.take(np.int64, n)
        value = columns.take(np.float64, n * len(scalars.tags)).reshape(len(scalars.tags), n)
        state.scalars[scalars.tags] = [ScalarBlock(scalars.tags, step, wall_time, order, value)]
    for one in file.payloads:
        n = one.rows
        step, wall_time = columns.take(np.int64, n), columns.take(np.float64, n)
        order, offset, length = (columns.take(np.int64, n) for _ in range(3))
        verified = columns.take(np.bool_, n).copy()  # the one column that changes
        block = PayloadBlock(one.kind, one.tag, step, wall_time, order, offset, length, verified, one.plugin)
        state.payloads.setdefault((one.kind, one.tag), []).append(block)
    return state


def _round_up(size: int) -> int:
    return -(-size // 8) * 8


def _bytes_of(column: NDArray[Any]) -> memoryview:
    return memoryview(np.ascontiguousarray(column).view(np.uint8).data).cast("B")


def _padded(part: memoryview) -> Iterator[bytes | memoryview]:
    yield part
    if len(part) % 8:
        yield bytes(-len(part) % 8)


def key_of(path: str) -> str:
    """Return the key under which the snapshot of the run at this real path is stored."""
    return hashlib.blake2b(os.fsencode(path), digest_size=20).hexdigest()
