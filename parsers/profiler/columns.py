r"""Columns of one rank without pandas: made by workers, passed as bytes, joined for all ranks.

Layout: magic ``MSRC`` and a version byte; uint32 LE length and uint32 LE CRC32C of the header; the header (msgpack of
`_ColumnHeader`); then the columns, raw little-endian. Texts are numbers into lists in the header. Nothing in it is executed.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.errors import FormatError
from parsers.headers import Format, crc_of
from parsers.model import Problem
from parsers.profiler.tables import NONE
from parsers.schema import Schema

FORMAT = Format("columns", b"MSRC\0\0\0", 5)
"""Increment the version whenever this layout or the output of a reader changes."""
_TYPES: Mapping[str, np.dtype[Any]] = {
    "b": np.dtype("<i1"), "h": np.dtype("<i2"), "w": np.dtype("<i4"), "i": np.dtype("<i8"), "f": np.dtype("<f8"),
    "r": np.dtype("<i1"), "s": np.dtype("<i2"), "t": np.dtype("<i4"),
}  # fmt: skip
_WHOLE = {1: "b", 2: "h", 4: "w", 8: "i"}
"""Bytes of a whole number -> type."""
_TEXT = {1: "r", 2: "s", 4: "t"}
"""Bytes of the number of a text -> type."""
_TEXTS = frozenset(_TEXT.values())
Values = list[Any] | NDArray[Any]
_T = TypeVar("_T")
"""How the lists of texts are known: bytes when written, lists when read."""


class NumberedTexts:
    """Texts by number, in the order in which they came.

    Of many, the older ones are kept as bytes, which take a fifth of the memory: one that comes again long after gets a second
    number. `JoinedRanks` makes the two one again.
    """

    RECENT = 1 << 16

    def __init__(self) -> None:
        self._recent: dict[str, int] = {}
        self._number = 0
        self._packed: list[msgspec.Raw] = []

    def __contains__(self, text: str) -> bool:
        """Return whether a text came lately."""
        return text in self._recent

    def number(self, text: str) -> int:
        """Return the number of a text."""
        found = self._recent.get(text)
        if found is None:
            if len(self._recent) >= self.RECENT:
                self._pack()
            found = self._recent[text] = self._number
            self._number += 1
        return found

    def _pack(self) -> None:
        self._packed.append(msgspec.Raw(msgspec.msgpack.encode(list(self._recent))))
        self._recent = {}

    def packed(self) -> list[msgspec.Raw]:
        """Return lists of texts in MessagePack, one after the other all of them, and forget them."""
        if self._recent:
            self._pack()
        found, self._packed = self._packed, []
        return found


class FileRows:
    """Rows of one file as they are read, column by column: lists of numbers, and of texts as numbers into `texts`."""

    def __init__(self, schema: Schema, names: Sequence[str], file: str = "") -> None:
        self.file = file
        dtypes = {column.name: column.dtype for column in schema.columns}
        self.schema, self.names = schema, tuple(names)
        self.values: dict[str, Values] = {name: [] for name in names}
        self.texts: dict[str, NumberedTexts] = {name: NumberedTexts() for name in names if dtypes[name] == "category"}

    def __len__(self) -> int:
        return len(self.values[self.names[0]])

    def add(self, **cells: Any) -> None:
        """Append a row; texts are given as texts."""
        for name in self.names:
            cell = cells[name]
            values = self.values[name]
            if isinstance(values, list):
                values.append(self.texts[name].number(cell) if name in self.texts else cell)


class _KeptColumn(msgspec.Struct, Generic[_T], array_like=True):
    name: str
    type: str
    texts: list[_T] | None
    like: str = ""  # the column that has the texts of this one


class _KeptFrame(msgspec.Struct, Generic[_T], array_like=True):
    name: str
    file: str
    rows: int
    columns: list[_KeptColumn[_T]]


class _ColumnHeader(msgspec.Struct, Generic[_T]):
    frames: list[_KeptFrame[_T]]
    problems: list[Problem]
    size: int
    crc: int


def packed(frames: Iterable[FileRows], problems: Sequence[Problem]) -> bytes:
    """Return rows and problems as bytes; the rows are empty afterwards."""
    told: list[_KeptFrame[msgspec.Raw]] = []
    parts: list[memoryview] = []
    told_texts: dict[int, str] = {}
    for rows in frames:
        dtypes = {column.name: column.dtype for column in rows.schema.columns}
        number = len(rows)
        told.append(_KeptFrame(rows.schema.name, rows.file, number, []))
        for name in rows.names:
            values = rows.values[name]
            rows.values[name] = []
            texts, like = None, ""
            if dtypes[name] == "float64":
                kind = "f"
            else:
                types = _TEXT if name in rows.texts else _WHOLE
                values = narrow(np.asarray(values, _TYPES[types[max(types)]] if isinstance(values, list) else None))
                kind = types[values.dtype.itemsize]
            if name in rows.texts:
                own = f"{rows.schema.name}.{name}"
                like = told_texts.setdefault(id(rows.texts[name]), own)
                texts, like = (rows.texts[name].packed(), "") if like == own else (None, like)
            parts.append(np.ascontiguousarray(values, _TYPES[kind]).view(np.uint8).data.cast("B"))
            told[-1].columns.append(_KeptColumn(name, kind, texts, like))
    header = msgspec.msgpack.encode(_ColumnHeader(told, list(problems), sum(map(len, parts)), crc_of(parts)))
    del told
    found = io.BytesIO()  # grows in place, while the columns go one after the other
    found.write(FORMAT.prefix(header))
    found.write(header)
    del header
    for place, part in enumerate(parts):
        found.write(part)
        parts[place] = memoryview(b"")
    return found.getvalue()


@dataclass(frozen=True, slots=True)
class FrameColumns:
    """One frame: the file it is from, the number of rows, arrays by column, and the texts of text columns."""

    file: str
    rows: int
    arrays: Mapping[str, NDArray[Any]]
    texts: Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class RankColumns:
    """What `packed` was given: frames by name, and problems."""

    frames: Mapping[str, FrameColumns]
    problems: tuple[Problem, ...]


def unpacked(data: bytes) -> RankColumns:
    """Return what is in bytes of `packed`; FormatError unless they are complete and of this version."""
    header, end = FORMAT.header(data, _ColumnHeader[list[str]])
    body = memoryview(data)[end:]
    if len(body) != header.size or crc_of([body]) != header.crc:
        raise FormatError("columns: they do not match the header")
    frames: dict[str, FrameColumns] = {}
    told: dict[str, list[str]] = {}
    at = 0
    for frame in header.frames:
        arrays: dict[str, NDArray[Any]] = {}
        texts: dict[str, list[str]] = {}
        for column in frame.columns:
            if column.type not in _TYPES or frame.rows < 0 or at + frame.rows * _TYPES[column.type].itemsize > len(body):
                raise FormatError(f"columns: {frame.name}.{column.name} is not complete")
            array = arrays[column.name] = np.frombuffer(body, _TYPES[column.type], frame.rows, at)
            at += array.nbytes
            if column.type in _TEXTS:
                known = [*chain.from_iterable(column.texts)] if column.texts is not None else told.get(column.like, [])
                told[f"{frame.name}.{column.name}"] = texts[column.name] = known
                if frame.rows and int(array.view(f"<u{array.itemsize}").max()) >= len(known):  # negative ones are large
                    raise FormatError(f"columns: {frame.name}.{column.name} has a number without a text")
        frames[frame.name] = FrameColumns(frame.file, frame.rows, arrays, texts)
    return RankColumns(frames, tuple(header.problems))


_FIRST_ROWS = 1 << 12


@dataclass(slots=True)
class _JoinedColumn:
    """A column of all ranks, whole numbers in the smallest type that holds those so far.

    Memory that it has in advance is not touched, and so not taken from the system.
    """

    values: NDArray[Any]
    texts: dict[str, int] = field(default_factory=dict)
    _last: tuple[list[str], NDArray[Any]] = field(default_factory=lambda: ([], np.empty(0, np.int8)))

    def put(self, at: int, rows: int, values: NDArray[Any] | float) -> None:
        """Set rows from `at` on; there are that many before."""
        kind = np.promote_types(self.values.dtype, values.dtype if isinstance(values, np.ndarray) else _type_of(values))
        room = len(self.values)
        if at + rows > room or kind != self.values.dtype:
            grown = np.empty(room if at + rows <= room else max(at + rows, 2 * room, _FIRST_ROWS), kind)
            grown[:at] = self.values[:at]
            self.values = grown
        self.values[at : at + rows] = values

    def number(self, text: str) -> int:
        """Return the number of a text."""
        return self.texts.setdefault(text, len(self.texts))

    def table(self, texts: list[str]) -> NDArray[Any]:
        """Return the numbers of these texts; ranks of a group often have the same ones, one after the other."""
        if self._last[0] != texts:
            known = self.texts
            numbers = [known.setdefault(text, len(known)) for text in texts]
            self._last = texts, np.array(numbers, _smallest(len(known)))
        return self._last[1]

    def whole(self, rows: int, kind: np.dtype[Any] | None = None) -> NDArray[Any]:
        """Return the rows, of this type if one is given."""
        values = self.values[:rows]
        return values.astype(kind or values.dtype, copy=2 * rows < len(self.values))


class JoinedRanks:
    """Rows of one frame of all ranks, joined as they arrive."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.rows = 0
        self._columns = {
            column.name: _JoinedColumn(np.empty(0, np.float64 if column.dtype == "float64" else np.int8))
            for column in schema.columns
        }

    def add(self, found: RankColumns, session: str, rank: int = NONE) -> None:
        """Append the rows of one rank, or of all; session is its name, before the name of the file."""
        part = found.frames.get(self.schema.name)
        if part is None or not part.rows:
            return
        for column in self.schema.columns:
            name = column.name
            growing = self._columns[name]
            values: NDArray[Any] | float
            if column.dtype != "category":
                missing = (rank if name == "rank" else NONE) if column.dtype == "int64" else math.nan
                values = part.arrays.get(name, missing)
            elif name in part.texts:
                values = growing.table(part.texts[name]).take(part.arrays[name])
            else:
                shown = part.file if session == "." else f"{session}/{part.file}"
                values = growing.number(shown if name == "file" else "")
            growing.put(self.rows, part.rows, values)
        self.rows += part.rows

    def file_rows(self) -> FileRows:
        """Return the rows as those of one file, with all columns, to be `packed`; this object is empty afterwards.

        Where these are added, in the order of the ranks, the same rows result, and the same texts in the same order.
        """
        found = FileRows(self.schema, self.schema.names)
        for name, growing in self._columns.items():
            found.values[name] = growing.whole(self.rows)
            for text in growing.texts:
                found.texts[name].number(text)
        self.rows = 0
        self._columns.clear()
        return found

    def frame(self) -> pd.DataFrame:
        """Return the rows as a frame of the schema; this object is empty afterwards."""
        if not self.rows:
            return self.schema.empty()
        made: dict[str, Any] = {}
        for column in self.schema.columns:
            growing = self._columns.pop(column.name)
            if column.dtype == "category":
                categories = pd.Index(list(growing.texts), dtype="str")
                made[column.name] = pd.Categorical.from_codes(growing.whole(self.rows), categories=categories, validate=False)
            else:
                made[column.name] = growing.whole(self.rows, np.dtype(column.dtype))
        self.rows = 0
        return pd.DataFrame(made, copy=False)


class Growing:
    """A column that grows: whole numbers in the smallest type that holds them."""

    def __init__(self) -> None:
        self._array: NDArray[Any] = np.empty(0, np.int8)
        self._rows = 0

    def add(self, values: NDArray[Any]) -> None:
        """Append values."""
        values = narrow(values)
        rows, kind = self._rows + len(values), np.result_type(self._array, values)
        if rows > len(self._array) or kind != self._array.dtype:
            larger = np.empty(max(rows + rows // 2, len(self._array)), kind)  # what is not written to takes no memory
            larger[: self._rows] = self._array[: self._rows]
            self._array = larger
        self._array[self._rows : rows] = values
        self._rows = rows

    def whole(self) -> NDArray[Any]:
        """Return all values."""
        return self._array[: self._rows]


def narrow(values: NDArray[Any]) -> NDArray[Any]:
    """Return a copy, so that the bytes it was read from can go; whole numbers in the smallest type that holds them."""
    if values.dtype.kind != "i":
        return values.copy()
    if not len(values):
        return np.empty(0, np.int8)
    low, high = int(values.min()), int(values.max())
    kind = np.result_type(np.min_scalar_type(min(low, -1)), np.min_scalar_type(min(-1 - high, -1)))
    return values.astype(kind)


def _type_of(value: float) -> np.dtype[Any]:
    """Return the smallest type of a whole number, with a sign; float64 for others."""
    return np.min_scalar_type(min(value, -1 - value)) if isinstance(value, int) else np.dtype(np.float64)


def _smallest(number: int) -> np.dtype[Any]:
    """Return the smallest type for this many codes, which is the one that a categorical has."""
    return np.dtype(np.int8 if number < 1 << 7 else np.int16 if number < 1 << 15 else np.int32)
