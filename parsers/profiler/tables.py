"""Reads text tables into columns, with the column names and units of all writers.

Names are compared without case, blanks and underscores; a unit in brackets after a name determines the scale of the numbers.
Numbers that cannot be read become missing values and are reported with file, line and column. Texts are stored once each.
"""

from __future__ import annotations

import functools
import io
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.files import RegularFile
from parsers.model import Problem
from parsers.profiler.arrow_cells import Texts, arrow_cells
from parsers.profiler.digits import WIDTH, exact_ns, parsed_digits
from parsers.profiler.lines import Complaints, LineBlock, Lines

NANOSECONDS: Mapping[str, int] = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
BYTES: Mapping[str, int] = {"b": 1, "byte": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}
NONE = -1
"""The missing value in columns of whole numbers."""
_MISSING = ("", "N/A", "n/a", "NA", "nan", "NaN", "None", "null", "-")
_UNIT = re.compile(r"(.*)\(([^()]*)\)\s*")
MOST_COLUMNS = 10_000
"""Maximum columns of a table; the widest real ones, step traces, have three of each of some hundred operators."""
_OTHER_UNITS = ("%", "per-step")
_SAMPLE = 1_000
_LEFT_OUT = "the line was skipped"
_UNSET = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True)
class TableField:
    """A column to read: its name in the frame, its names in files, and its type.

    kind: "text" (a categorical), "number" (float64, in the base unit), "whole" (int64, NONE for none), "time" (int64
    nanoseconds, parsed without rounding to a float) or "exact" (int64, a number rounded to a whole one in the base unit).
    unit is that of numbers whose name in the file has none in brackets; without it, numbers stay as they are, whatever the file
    says. A row without a value in a `required` column is skipped and reported.
    """

    name: str
    aliases: tuple[str, ...]
    kind: str = "number"
    unit: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class FileTable:
    """The content of one file: columns by name, of equal length; `found` are those that the file has.

    lines holds the line of the file at which each row begins, if the caller asked for it; else it is empty.
    """

    columns: dict[str, Any]
    rows: int
    found: frozenset[str]
    problems: tuple[Problem, ...]
    lines: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _PlacedColumn:
    """A column to read and its position in the file."""

    field: TableField
    place: int
    header: str
    scale: float


def plain(name: str) -> str:
    """Normalise a column's name for comparison."""
    return re.sub(r"[\s_]+", "", name).casefold()


def read_table(
    path: str,
    fields: Sequence[TableField],
    *,
    further: str = "",
    among: Callable[[str], bool] | None = None,
    numbered: bool = False,
) -> FileTable:
    """Read columns of a text table; never raises for its content, or if it does not exist.

    A column that the file does not have holds missing values; if it is required, that is a problem and there are no rows.
    With `further`, all other columns are read too, or those whose names are `among` the wanted, with this prefix to their
    names: numbers as float64, else texts. With `numbered`, the table has the line of each row.
    """
    complaints = Complaints(path)
    try:
        with RegularFile(path) as file:
            if not file.size:
                complaints.add("The file is empty.", "empty_file")
                return _nothing(fields, complaints)
            lines = Lines(file, complaints)
            return _read(lines, fields, _Further(further, among, numbered), complaints, file.size)
    except OSError as error:
        complaints.add(f"The file cannot be read ({error.strerror or error}); what is in it is not shown.", "unreadable")
        return _nothing(fields, complaints)


def _nothing(fields: Sequence[TableField], complaints: Complaints) -> FileTable:
    columns = {field.name: _missing(field, 0) for field in fields}
    return FileTable(columns, 0, frozenset(), complaints.all(), np.empty(0, np.int64))


@dataclass(frozen=True, slots=True)
class _Further:
    """What is read in addition to the fields: columns with this prefix to their names ("": none), which, and line numbers."""

    prefix: str
    among: Callable[[str], bool] | None
    lines: bool


def _read(lines: Lines, fields: Sequence[TableField], further: _Further, complaints: Complaints, size: int) -> FileTable:
    if len(lines.header) > MOST_COLUMNS:
        text = f"expected at most {MOST_COLUMNS:,} columns, found {len(lines.header):,}; nothing is taken from the file"
        complaints.add(f"Line 1: {text}.")
        return _nothing(fields, complaints)
    placed = _places(lines.header, fields, complaints)
    absent = [field for field in fields if field.required and field.name not in {one.field.name for one in placed}]
    if not placed and not absent:
        absent = list(fields)
    if absent:
        absent_names = ", ".join(f"{field.aliases[0]}" for field in absent)
        got = ", ".join(lines.header[:60]) or "none"
        complaints.add(f"Line 1: expected a column {absent_names}, found {got}; nothing is taken from the file.", "bad_table")
        return _nothing(fields, complaints)
    growing: dict[str, _GrowingColumn] = {}
    texts: dict[str, dict[str, int]] = {one.field.name: {} for one in placed}
    rows = 0
    places: list[NDArray[np.int64]] = []
    for block in lines.blocks():
        if not growing:
            placed += _others(lines, placed, block, further) if further.prefix else []
            expected = int(1.1 * len(block.lines) * max(size / len(block.data), 1.0))
            growing = {one.field.name: _GrowingColumn(one.field, expected) for one in placed}
        columns, kept = _columns(lines, block, placed, complaints)
        rows += len(kept)
        if further.lines:
            places.append(kept)
        for one in placed:
            name = one.field.name
            part = columns.pop(name)
            growing[name].add(_coded(part, texts.setdefault(name, {})) if one.field.kind == "text" else part)
    if not growing and not complaints.problems:
        complaints.add("Line 1: expected rows below the names of columns, found none.")
    joined: dict[str, Any] = {}
    for one in placed:
        name = one.field.name
        whole = growing[name].whole() if growing else _GrowingColumn(one.field, 0).whole()
        joined[name] = _categories(whole, texts[name]) if one.field.kind == "text" else whole
    found = frozenset(joined)
    columns = {field.name: joined.pop(field.name) if field.name in joined else _missing(field, rows) for field in fields}
    at = np.concatenate(places) if places else np.empty(0, np.int64)
    return FileTable({**columns, **joined}, rows, found, complaints.all(), at)


class _GrowingColumn:
    """A growing column. Overestimating its size costs nothing: memory that is not written to is not allocated."""

    def __init__(self, field: TableField, expected: int) -> None:
        dtype = np.int32 if field.kind == "text" else np.float64 if field.kind == "number" else np.int64
        self._array: NDArray[Any] = np.empty(expected, dtype)
        self._rows = 0

    def add(self, part: NDArray[Any]) -> None:
        """Append the values of one block."""
        rows = self._rows + len(part)
        if rows > len(self._array):
            larger = np.empty(rows + rows // 2, self._array.dtype)
            larger[: self._rows] = self._array[: self._rows]
            self._array = larger
        self._array[self._rows : rows] = part
        self._rows = rows

    def whole(self) -> NDArray[Any]:
        """Return all values."""
        return self._array[: self._rows]


def _missing(field: TableField, rows: int) -> Any:
    if field.kind == "text":
        return _categories(np.zeros(rows, np.int32), {"": 0})
    return np.full(rows, np.nan) if field.kind == "number" else np.full(rows, NONE, np.int64)


def _categories(codes: NDArray[np.int32], texts: Mapping[str, int]) -> pd.Categorical:
    return pd.Categorical.from_codes(codes, categories=pd.Index(list(texts), dtype="str"), validate=False)


def _places(header: Sequence[str], fields: Sequence[TableField], complaints: Complaints) -> list[_PlacedColumn]:
    """Find the columns to read; of two columns of one name the first counts."""
    known: dict[str, tuple[int, str]] = {}
    exact = {name: (place, _split(name)[1]) for place, name in reversed(list(enumerate(header)))}  # FLOPs is not FLOPS
    for place, name in enumerate(header):
        base, unit = _split(name)
        for key in (plain(name), plain(base)):
            known.setdefault(key, (place, unit))
    placed: list[_PlacedColumn] = []
    taken: set[int] = set()
    for field in fields:
        found = next((exact[alias] for alias in field.aliases if alias in exact), None) or next(
            (known[plain(alias)] for alias in field.aliases if plain(alias) in known), None
        )
        if found is None or found[0] in taken:
            continue
        taken.add(found[0])
        placed.append(_PlacedColumn(field, found[0], header[found[0]], _scale(field, found[1])))
    for name, times in Counter(header).items():
        if name and times > 1:
            complaints.add(f"Line 1, column {name}: expected once, found {times} times; the first one is used.")
    return sorted(placed, key=lambda one: one.place)


def _split(name: str) -> tuple[str, str]:
    """Split a name into the name and the unit in brackets after it."""
    match = _UNIT.fullmatch(name)
    unit = match[2].strip().casefold() if match is not None else ""
    if match is None or not (unit in NANOSECONDS or unit in BYTES or unit in _OTHER_UNITS):
        return name, ""
    return match[1], unit


def _scale(field: TableField, unit: str) -> float:
    """Return the factor that converts the file's numbers to the base unit."""
    for units in (NANOSECONDS, BYTES):
        if field.unit in units:
            return units.get(unit, units[field.unit])
    return 1.0


def _others(lines: Lines, placed: Sequence[_PlacedColumn], block: LineBlock, further: _Further) -> list[_PlacedColumn]:
    """Return the remaining columns that are wanted; as numbers if the first records hold nothing else."""
    taken = {one.place for one in placed}
    first = {name: place for place, name in reversed(list(enumerate(lines.header))) if name}
    wanted = further.among or bool
    rest = sorted((place, name) for name, place in first.items() if place not in taken and wanted(name))
    sample = lines.sample(block, _SAMPLE) if rest else []
    found = []
    for place, name in rest:
        numbers = all(_is_number(row[place].strip()) for row in sample)
        found.append(
            _PlacedColumn(TableField(further.prefix + name, (name,), "number" if numbers else "text"), place, name, 1.0)
        )
    return found


def _is_number(cell: str) -> bool:
    if cell in _MISSING:
        return True
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _parsed(data: bytes, kinds: Mapping[int, str]) -> pd.DataFrame:
    """Parse cells into columns by position. "str" cells are stripped; missing cells are NaN in every kind but bytes.

    An extra first record is added and removed again: it sets the number of cells, and keeps texts of digits texts. Of one
    column it has quotes, as pandas finds no columns in an empty line.
    """
    first = ",".join(_TEXT if kinds[place] in ("category", "str") else "" for place in range(len(kinds))) or '""'
    dtypes: Any = {place: _dtypes().get(kind, kind) for place, kind in kinds.items()}
    frame = pd.read_csv(
        io.BytesIO(b"".join((first.encode(), b"\n", data))), header=None, dtype=dtypes, keep_default_na=False,
        na_values=_MISSING, lineterminator="\n", skip_blank_lines=False, low_memory=False, encoding_errors="replace",
    )  # fmt: skip
    frame = frame.iloc[1:]
    for place, kind in kinds.items():
        if kind == "str":
            stripped = frame[place].str.strip()
            frame[place] = stripped.mask(stripped.isin(_MISSING))
    return frame


_TEXT = "\x01"
_BYTES = f"S{WIDTH}"
_UNREAD = "S1"
"""Type of the columns that are not read: 10,000 of them take 0.4 s, as categories 2.8 s."""
_FAST = {"text": "category", "number": "float64", "whole": "float64", "exact": "float64", "time": _BYTES}


@functools.cache
def _dtypes() -> Mapping[str, Any]:
    """Return the types by name; created once, because pandas looks up a name anew for every column of every block."""
    return {"category": pd.CategoricalDtype(), **{name: np.dtype(name) for name in ("float64", _BYTES, _UNREAD)}}


def _columns(
    lines: Lines, block: LineBlock, placed: Sequence[_PlacedColumn], complaints: Complaints
) -> tuple[dict[str, Any], NDArray[np.int64]]:
    """Return the columns of one block and the line of each of its rows."""
    block, columns = _cells(lines, block, placed, complaints)
    values: dict[str, Any] = {}
    kept = np.ones(len(block.lines), np.bool_)
    for one in placed:
        column = columns.pop(one.place)
        made = _value(one, column, block, complaints)
        values[one.field.name] = made
        if one.field.required and not isinstance(made, Texts):
            kept &= np.isfinite(made) if one.field.kind == "number" else made != _UNSET
    for one in placed:
        if one.field.kind in ("time", "exact", "whole"):
            made = values[one.field.name]
            made[made == _UNSET] = NONE
    if not kept.all():
        _tell_left_out(block, placed, kept, complaints)
        values = {
            name: value._replace(codes=value.codes[kept]) if isinstance(value, Texts) else value[kept]
            for name, value in values.items()
        }
        return values, block.lines[kept]
    return values, block.lines


def _cells(
    lines: Lines, block: LineBlock, placed: Sequence[_PlacedColumn], complaints: Complaints
) -> tuple[LineBlock, dict[int, Texts | NDArray[Any]]]:
    """Return the records of a block with as many cells as the header, and their cells by position (as `arrow_cells`)."""
    found = arrow_cells(
        block.data, len(block.lines), len(lines.header), {one.place: one.field.kind for one in placed}, _MISSING
    )
    if found is not None:
        return block, found
    last = len(lines.header) - 1
    kinds = dict.fromkeys(range(last), _UNREAD) | {last: "category"} | {one.place: _FAST[one.field.kind] for one in placed}
    frame = _fast(block, kinds)
    if frame is None or (kinds[last] != _BYTES and bool(frame[last].isna().any())):
        whole = lines.recounted(block)
        if whole is not block:
            block, frame = whole, _fast(whole, kinds)
    if frame is None:
        try:
            frame = _careful(block, placed, kinds, complaints)
        except pd.errors.ParserError:
            block = lines.requoted(block)
            frame = _careful(block, placed, kinds, complaints)
    return block, {one.place: _read_by_pandas(frame[one.place], one.field.kind) for one in placed}


def _read_by_pandas(column: pd.Series[Any], kind: str) -> Texts | NDArray[Any]:
    if kind == "text":
        return Texts(column.cat.codes.to_numpy().astype(np.int32), column.cat.categories.tolist())
    return column.to_numpy()


def _fast(block: LineBlock, kinds: Mapping[int, str]) -> pd.DataFrame | None:
    """Parse a block; None if a cell is not of its kind or a record has too many cells."""
    if not block.data:  # a record of thousands of columns takes 0.2 s even where there is none
        read = {place: kind for place, kind in kinds.items() if kind != _UNREAD}
        return pd.DataFrame({place: pd.Series(dtype=_dtypes().get(kind, kind)) for place, kind in read.items()})
    try:
        return _parsed(block.data, kinds)
    except (ValueError, OverflowError):  # ParserError is one
        return None


def _tell_left_out(block: LineBlock, placed: Sequence[_PlacedColumn], kept: NDArray[np.bool_], complaints: Complaints) -> None:
    needed = ", ".join(one.header for one in placed if one.field.required and one.field.kind != "text")
    for line in block.lines[~kept].tolist():
        complaints.add(f"Line {line}: expected numbers in {needed}; {_LEFT_OUT}.")


def _careful(
    block: LineBlock, placed: Sequence[_PlacedColumn], fast: Mapping[int, str], complaints: Complaints
) -> pd.DataFrame:
    """Parse a block in which some cells are no numbers: these become missing values and are reported."""
    kinds = {place: "str" if kind == "float64" else kind for place, kind in fast.items()}
    frame = _parsed(block.data, kinds)
    for one in placed:
        if kinds[one.place] != "str":
            continue
        column = frame[one.place]
        numbers = pd.to_numeric(column, errors="coerce").astype("float64")
        for row in np.flatnonzero((numbers.isna() & column.notna()).to_numpy()).tolist():
            got = str(column.iloc[row])[:60]
            complaints.add(f"Line {block.lines[row]}, column {one.header}: expected a number, found {got!r}.")
        frame[one.place] = numbers
    return frame


def _value(one: _PlacedColumn, column: Texts | NDArray[Any], block: LineBlock, complaints: Complaints) -> Texts | NDArray[Any]:
    kind = one.field.kind
    if isinstance(column, Texts):
        return column
    if kind == "time":
        return _times(one, column, block, complaints)
    numbers = np.asarray(column, np.float64)
    if one.scale != 1.0:
        with np.errstate(over="ignore"):
            numbers = numbers * one.scale
    if kind == "number":
        return numbers
    whole = np.rint(numbers)
    usable = np.abs(whole) < 2.0**63
    made = np.full(len(whole), _UNSET, np.int64)
    made[usable] = whole[usable].astype(np.int64)
    for row in np.flatnonzero(np.isfinite(numbers) & ~usable).tolist():
        complaints.add(f"Line {block.lines[row]}, column {one.header}: expected a number below 2^63, found {numbers[row]:g}.")
    return made


def _times(one: _PlacedColumn, raw: NDArray[Any], block: LineBlock, complaints: Complaints) -> NDArray[np.int64]:
    """Parse times as int64 nanoseconds from their digits: a float64 of microseconds since 1970 is only exact to 250 ns."""
    raw = np.asarray(raw, f"S{WIDTH}")
    decimals = len(str(int(one.scale))) - 1
    values, odd = parsed_digits(raw, decimals)
    rows = np.flatnonzero(odd)
    texts, first, codes = np.unique(raw[rows], return_index=True, return_inverse=True)
    made, wrong = np.full(len(texts), _UNSET, np.int64), np.zeros(len(texts), np.bool_)
    for place, cell in enumerate(texts.tolist()):
        text = cell.decode("utf-8", "replace").strip()
        number = exact_ns(text, decimals)
        if number is not None:
            made[place] = number
            _tell_rounded(one, text, int(block.lines[rows[first[place]]]), complaints)
        wrong[place] = number is None and text not in _MISSING
    for row in rows[wrong[codes]].tolist():
        text = raw[row].decode("utf-8", "replace").strip()
        complaints.add(f"Line {block.lines[row]}, column {one.header}: expected a time, found {text[:60]!r}.")
    values[rows] = made[codes]
    return values


def _tell_rounded(one: _PlacedColumn, text: str, line: int, complaints: Complaints) -> None:
    """Report a time that a spreadsheet rounded to a few digits, such as 1.69512E+15: it is read, but means little."""
    lost = Decimal(text).as_tuple().exponent
    if isinstance(lost, int) and lost > 0 and "e" in text.casefold():
        error = f"rounded to {10**lost * one.scale / 1e9:g} s; such times cannot be compared"
        what = f"expected all digits of a time, found {text[:60]!r}, {error}"
        complaints.once(one.header, f"Line {line}, column {one.header}: {what}.")


def _coded(values: Texts, texts: dict[str, int]) -> NDArray[np.int32]:
    """Map the codes of a block to those of the whole column; a missing text becomes the empty one."""
    known = []
    for place, text in enumerate(values.texts):
        code = texts.get(text) if text else None
        if code is None:
            stripped = str(text).strip()
            added = text == _TEXT and not bool((values.codes == place).any())  # by `_parsed`, and by no cell of the file
            code = 0 if added else texts.setdefault("" if stripped in _MISSING else stripped, len(texts))
        known.append(code)
    codes = values.codes
    table = np.array([*known, texts.setdefault("", len(texts)) if bool((codes < 0).any()) else 0], np.int32)
    made: NDArray[np.int32] = table[codes]
    return made
