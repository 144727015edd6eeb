r"""Serialises everything read of a run, so that a second start reads only what is new.

Layout: magic ``MSIX`` and a version byte, padded to 8; uint64 LE length and uint64 LE CRC32C of the header; the header
(msgpack of `_RunHeader`), padded to a multiple of 8; then the columns, little-endian, each padded to a multiple of 8. Steps,
wall times and orders of scalars are packed (`parsers.packed`), values are float32 where the file has no more, all others are
raw. Nothing in it is executed: the header is decoded into the types below, and columns are views of the bytes.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import google_crc32c
import msgspec
import numpy as np
from numpy.typing import NDArray

from parsers.errors import FormatError
from parsers.file_states import FileState
from parsers.headers import PREFIX, Format, crc_of
from parsers.model import Cursor, Ints, PayloadBlock, Problem, RareBlock, Rounds, ScalarBlock, SourceFile, TagBlock
from parsers.packed import PIECE, RAW, WIDTHS, pack, pack_pieces, packed_bytes, unpack

# Increment the version whenever this layout or the output of a reader changes.
FORMAT = Format("snapshot", b"MSIX\0\0\0", 7)
Pieces = tuple[bytes | memoryview, ...]
"""A column as the parts of its bytes."""


class _StoredColumns(msgspec.Struct, array_like=True):
    """The columns of a ScalarBlock or of Rounds: n rows, and for each column the bytes per number; in_turn says that they are
    Rounds. Their wall times and orders are stored in the order written; wall times that are equal within a round once."""

    tags: tuple[str, ...]
    rows: int
    value: int
    step: int
    wall_time: int
    order: int
    in_turn: bool
    at_once: bool


class _Scalars(msgspec.Struct, array_like=True):
    """The place of the block of these tags among the tables."""

    tags: tuple[str, ...]
    table: int


class _Payloads(msgspec.Struct, array_like=True):
    kind: str
    tag: str
    plugin: str
    rows: int


class _IndexedFile(msgspec.Struct):
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
    tables: list[_StoredColumns]
    scalars: list[_Scalars]
    payloads: list[_Payloads]


class _RunHeader(msgspec.Struct):
    files: list[_IndexedFile]
    columns: int
    crc: int


def dump(states: Sequence[FileState]) -> list[bytes | memoryview] | None:
    """Return the parts of a snapshot, to be written one after the other.

    None if a path cannot be encoded, a number exceeds 64 bits, or there is more to read.
    """
    if sys.byteorder != "little" or any(state.more for state in states):
        return None
    files: list[_IndexedFile] = []
    columns: list[Pieces] = []
    for state in states:
        state.mark()
        tables: list[_StoredColumns] = []
        scalars: list[_Scalars] = []
        known: dict[int, int] = {}  # by the identity of rounds or block
        for tags in list(state.scalars):
            block = state.block(tags)
            whole = block.rounds if isinstance(block, TagBlock) else block
            number = len(tables) if isinstance(block, RareBlock) else known.setdefault(id(whole), len(tables))
            if number == len(tables):
                tables.append(_pack(whole, columns))
            scalars.append(_Scalars(tags, number))
        payloads = [block for blocks in state.payloads.values() for block in blocks]
        for payload in payloads:
            raw = (payload.step, payload.wall_time, payload.order, payload.offset, payload.length, payload.verified)
            columns += [(column.tobytes(),) for column in raw]
        files.append(
            _IndexedFile(
                state.file, state.reader, state.cursor, state.problems, state.records, state.bytes_read, state.pending,
                state.started, state.tail, state.large, state.damaged, state.lost,
                tables, scalars, [_Payloads(block.kind, block.tag, block.plugin, len(block.step)) for block in payloads],
            )
        )  # fmt: skip
    parts = [part for column in columns for part in _padded(*column)]
    try:
        header = msgspec.msgpack.encode(_RunHeader(files, sum(map(len, parts)), crc_of(parts)))
    except (UnicodeEncodeError, OverflowError):
        return None
    return [FORMAT.prefix(header), *_padded(header), *parts]


def _pack(block: ScalarBlock | RareBlock | Rounds, columns: list[Pieces]) -> _StoredColumns:
    """Append the columns of scalars; return their description."""
    in_turn, at_once = isinstance(block, Rounds), False
    value = block.value
    columns.append(tuple(_bytes_of(row) for row in ((value,) if value.flags.c_contiguous else value)))
    if not isinstance(block, Rounds):
        packed = [pack(block.step), pack(block.wall_time), pack(block.order)]
    else:
        bits = block.wall_time.view(np.int64)
        at_once = bool((bits == bits[0]).all())
        packed = [pack(block.step), pack(bits[0]) if at_once else pack_pieces(lambda: _in_turn(bits))]
        packed.append(pack_pieces(lambda: _in_turn(block.within, block.begin)))
    columns += [(data,) for _, data in packed]
    step, wall, place = (width for width, _ in packed)
    return _StoredColumns(block.tags, len(block.step), value.itemsize, step, wall, place, in_turn, at_once)


def _bytes_of(values: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(values).view(np.uint8).data.cast("B")


def _in_turn(column: NDArray[Any], begin: Ints | None = None) -> Iterator[Ints]:
    """Yield the numbers of rounds in the order written, in pieces; begin is to be added to each round."""
    rounds = max(PIECE // len(column), 1)
    for at in range(0, column.shape[1], rounds):
        piece = column[:, at : at + rounds].T
        yield (piece if begin is None else piece + begin[at : at + rounds, None]).ravel()


def load(data: bytes) -> list[FileState]:
    """Return the states in a snapshot; FormatError for anything but a complete snapshot of this version."""
    header, body = _checked(data)
    columns = _RunColumns(body)
    return [_state(file, columns) for file in header.files]


def files_in(data: bytes) -> list[tuple[SourceFile, Cursor | None]]:
    """Return the files whose states are in a snapshot, and up to where each was read; FormatError as for `load`.

    That costs a quarter of `load`, which also notices columns that do not fit what is told of them.
    """
    return [(one.file, one.cursor) for one in _checked(data)[0].files]


def _checked(data: bytes) -> tuple[_RunHeader, NDArray[np.uint8]]:
    header, end = FORMAT.header(data, _RunHeader)
    body = np.frombuffer(data, np.uint8)[PREFIX.size + _round_up(end - PREFIX.size) :]
    if len(body) != header.columns or google_crc32c.value(body) != header.crc:
        raise FormatError("snapshot: the columns fail their CRC")
    return header, body


class _RunColumns:
    """Hands out columns of the body, one after the other."""

    def __init__(self, body: NDArray[np.uint8]) -> None:
        self._body = body
        self._at = 0

    def take(self, dtype: type[np.generic], rows: int) -> NDArray[Any]:
        return self._bytes(rows * np.dtype(dtype).itemsize).view(dtype)

    def unpack(self, width: int, rows: int) -> Ints:
        if width not in (*WIDTHS, RAW) or (not rows and width != RAW):
            raise FormatError(f"snapshot: expected a column of {rows} numbers, found {width} bytes for each")
        return unpack(self._bytes(packed_bytes(width, rows)), width, rows)

    def _bytes(self, size: int) -> NDArray[np.uint8]:
        if size < 0 or self._at + size > len(self._body):
            raise FormatError(f"snapshot: expected {size} bytes at {self._at}, found {len(self._body) - self._at}")
        column = self._body[self._at : self._at + size]
        self._at += _round_up(size)
        return column


def _table(table: _StoredColumns, columns: _RunColumns) -> ScalarBlock | Rounds:
    k, n = len(table.tags), table.rows
    if not k or table.value not in (4, 8):
        raise FormatError(f"snapshot: expected tags and values of 4 or 8 bytes, found {k} tags and {table.value} bytes")
    # The values come first: that they are there bounds the number of rows.
    value = columns.take(np.float32 if table.value == 4 else np.float64, k * n).reshape(k, n).copy()
    step = columns.unpack(table.step, n)
    wall_time = columns.unpack(table.wall_time, n if table.at_once or not table.in_turn else k * n).view(np.float64)
    order = columns.unpack(table.order, k * n if table.in_turn else n)
    if not table.in_turn:
        return ScalarBlock(table.tags, step, wall_time, order, value)
    if table.at_once:
        wall_time = np.broadcast_to(wall_time, (k, n))
    else:
        wall_time = np.ascontiguousarray(wall_time.reshape(n, k).T)
    return Rounds.of(table.tags, step, wall_time, order.reshape(n, k).T, value)


def _state(file: _IndexedFile, columns: _RunColumns) -> FileState:
    state = FileState(
        file.file, file.reader, file.cursor, file.problems, file.records, file.bytes_read, file.pending, False, file.started,
        tail=file.tail, large=file.large, damaged=file.damaged, lost=file.lost,
    )
    blocks = [_blocks(_table(table, columns)) for table in file.tables]
    for scalars in file.scalars:
        found = blocks[scalars.table].get(scalars.tags) if 0 <= scalars.table < len(blocks) else None
        if found is None:
            raise FormatError(f"snapshot: expected the scalars {scalars.tags} in table {scalars.table}, found none")
        state.scalars[scalars.tags] = found
    for one in file.payloads:
        n = one.rows
        step, wall_time = columns.take(np.int64, n), columns.take(np.float64, n)
        order, offset, length = (columns.take(np.int64, n) for _ in range(3))
        verified = columns.take(np.bool_, n).copy()  # the one column that changes
        block = PayloadBlock(one.kind, one.tag, step, wall_time, order, offset, length, verified, one.plugin)
        state.payloads.setdefault((one.kind, one.tag), []).append(block)
    return state


def _blocks(table: ScalarBlock | Rounds) -> dict[tuple[str, ...], ScalarBlock | TagBlock]:
    if isinstance(table, Rounds):
        return {block.tags: block for block in table.blocks()}
    return {table.tags: table}


def _round_up(size: int) -> int:
    return -(-size // 8) * 8


def _padded(*pieces: bytes | memoryview) -> Iterator[bytes | memoryview]:
    """Yield the pieces of a column, and what is missing to a multiple of eight bytes."""
    yield from pieces
    if missing := -sum(map(len, pieces)) % 8:
        yield bytes(missing)


def key_of(path: str) -> str:
    """Return the key under which the snapshot of the run at this real path is stored."""
    return hashlib.blake2b(os.fsencode(path), digest_size=20).hexdigest()
