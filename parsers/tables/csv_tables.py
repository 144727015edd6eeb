"""Reads tables of metrics as CSV: a header of column names, then a line of numbers per step.

metrics.csv is written by the CSVLogger of Lightning, progress.csv by Ray and Stable-Baselines3. Empty cells are no values, and
a text where numbers may be is no damage. A logger that learns of another column writes the file anew: it is read again then.
`parsers.tables.rows` says what step and time are.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.file_reading import read_growing
from parsers.files import RegularFile
from parsers.model import Batch, Cursor, Problem, Reader, ScalarBlock
from parsers.tables.lines import ROW, read_lines, split
from parsers.tables.rows import MOST_TAGS, STEPS, TIMES, MetricRows

LONGEST_HEADER = 1 << 20
MOST_JOINED = 100
"""Lines that a quoted cell may span."""
FEW_LINES = 32
"""Lines that are read one by one where one of them is unusual."""
_WHOLE = re.compile(r"[-+]?[0-9]{1,18}(?:\.0*)?")
_NAN = ("nan", "NaN", "NAN", "-nan")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CsvReader(Reader):
    """Reads tables as CSV."""

    def read(self, path: str, cursor: Cursor | None = None, limit: int | None = None) -> Batch:
        """Read the lines after the cursor; an unfinished last line waits for its end."""
        return read_growing(path, cursor, lambda file, resumed: _read(file, resumed, limit))


CSV_TABLES = CsvReader(name="csv_table", pattern=re.compile(r"\A(?:metrics|progress)\.csv\Z"), appendable=True)


def _read(file: RegularFile, resumed: Cursor, limit: int | None) -> Batch:
    head, newline, _ = file.read(0, LONGEST_HEADER).partition(b"\n")
    if not newline and file.size < LONGEST_HEADER:
        return Batch(file.cursor(0, file.size), pending=file.size)
    names = _cells([head.removeprefix(b"\xef\xbb\xbf")]) if newline else []
    if not any(names) or len(names) > MOST_TAGS:
        text = f"Expected a line of up to {MOST_TAGS:,} column names, found {bytes(head[:60])!r}; the file was skipped."
        return Batch(file.cursor(file.size, file.size), problems=[Problem(file.path, 0, file.size, "bad_table", text)])
    start = len(head) + 1
    begun = resumed if resumed.offset >= start else file.cursor(start, start, plugins=((ROW, "0"),))
    batch = read_lines(file, begun, limit, _CsvTable(names).add)
    return batch if begun is resumed else replace(batch, bytes_read=batch.bytes_read + start)


class _CsvTable:
    """The columns of a table, and how its lines become blocks."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._step = next((names.index(name) for name in STEPS if name in names), None)
        self._time = next((names.index(name) for name in TIMES if name in names), None)
        first = {name: place for place, name in reversed(list(enumerate(names))) if name}
        self._tags = sorted(place for name, place in first.items() if name not in STEPS and name not in TIMES)

    def add(self, rows: MetricRows, data: bytes, begin: int) -> tuple[list[ScalarBlock], int]:
        """Read whole lines."""
        blocks: list[ScalarBlock] = []
        used = 0
        while used < len(data):
            quote = data.find(b'"', used)
            plain = len(data) if quote < 0 else max(data.rfind(b"\n", used, quote) + 1, used)
            if plain > used:
                blocks += self._plain(rows, data[used:plain], begin + used)
            elif (found := _record(data, used)) is None:
                break  # a cell goes on beyond this piece
            else:
                plain, lines = found
                self._add_line(rows, lines, begin + used, plain - used)
            used = plain
        if not used:  # so does none of as many lines as one may have
            rows.complain(begin, len(data), "A quoted cell has no end; these lines were skipped.")
            used = len(data) if data.count(b"\n") > MOST_JOINED else 0
        return blocks, used

    def _plain(self, rows: MetricRows, data: bytes, begin: int) -> list[ScalarBlock]:
        """Read lines without quotes: all at once, or, if one of them is unusual, those before and after it at once."""
        found = self._columns(data)
        if found is not None:
            return self._blocks(rows, *found, begin)
        half = data.find(b"\n", len(data) // 2) + 1
        if data.count(b"\n") > FEW_LINES and half < len(data):
            return self._plain(rows, data[:half], begin) + self._plain(rows, data[half:], begin + half)
        for at, line in split(data):
            self._add_line(rows, [line], begin + at, len(line) + 1)
        return []

    # Plain lines, all at once ---------------------------------------------------------------------------------------

    def _columns(self, data: bytes) -> tuple[list[NDArray[Any]], NDArray[np.bool_], NDArray[np.int64]] | None:
        """Return columns, which cells are empty (columns, rows), and where rows begin; None if a line is not plain."""
        if b'"' in data or b"\0" in data or data.startswith((b"\n", b"\r")) or b"\n\n" in data or b"\n\r" in data:
            return None
        if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):
            return None
        text = np.frombuffer(data, np.uint8)
        ends = np.flatnonzero((text == 44) | (text == 10))
        count = len(self._names)
        if data.count(b"\n") * count != len(ends) or not bool((text[ends[count - 1 :: count]] == 10).all()):
            return None
        begins = np.concatenate(([0], ends[:-1] + 1))
        empty = ends == begins
        if b"\r" in data:
            empty |= (ends == begins + 1) & (text[begins] == 13)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # columns of numbers and texts
                table = pd.read_csv(
                    io.BytesIO(data), header=None, names=range(count), keep_default_na=False, na_values=["", *_NAN], quoting=3,
                    float_precision="round_trip", encoding_errors="replace", skip_blank_lines=False, low_memory=False,
                    index_col=False,
                )  # fmt: skip
        except (ValueError, OverflowError):  # ParserError is a ValueError
            return None
        if len(table) * count != len(ends):
            return None
        return [table[place].to_numpy() for place in range(count)], empty.reshape(-1, count).T, begins[::count].astype(np.int64)

    def _blocks(
        self, rows: MetricRows, columns: list[NDArray[Any]], empty: NDArray[np.bool_], begins: NDArray[np.int64], begin: int
    ) -> list[ScalarBlock]:
        count = len(begins)
        step = np.arange(rows.number, rows.number + count)
        kept = np.ones(count, np.bool_)
        if self._step is not None:
            own, good = _whole(columns[self._step])
            if self._names[self._step] == STEPS[-1]:
                step = np.where(good, own, step)
            else:
                step, kept = own, good
                for place in np.flatnonzero(~good)[:1001].tolist():
                    rows.complain(begin + int(begins[place]), 0, _no_step(columns[self._step][place]))
        time = np.full(count, np.nan) if self._time is None else _floats(columns[self._time])[0]
        together: dict[bytes, tuple[NDArray[np.bool_], list[int], list[NDArray[np.float64]]]] = {}
        for place in self._tags:
            values, good = _floats(columns[place])
            shown = kept & good & ~empty[place]
            if shown.any():
                entry = together.setdefault(np.packbits(shown).tobytes(), (shown, [], []))
                entry[1].append(place)
                entry[2].append(values)
        rows.number += count
        rows.records += int(kept.sum())
        order = begins + begin
        return [
            ScalarBlock(tuple(self._names[place] for place in places), step[shown], time[shown], order[shown],
                        np.stack([value[shown] for value in values]))
            for shown, places, values in together.values()
        ]  # fmt: skip

    # Lines with quotes, or of other lengths --------------------------------------------------------------------------

    def _add_line(self, rows: MetricRows, lines: list[bytes], offset: int, length: int) -> None:
        if not any(line.strip() for line in lines):
            return
        cells = _cells(lines)
        if cells == list(self._names):
            return  # a header written again
        if len(cells) != len(self._names):
            expected = f"Expected {len(self._names)} cells, found {lines[0][:60]!r}"
            rows.complain(offset, length, f"{expected}; the line was skipped.")
            return
        values: dict[str, Any] = {}
        if self._step is not None:
            name, cell = self._names[self._step], cells[self._step]
            if _WHOLE.fullmatch(cell.strip()):
                values[name] = int(cell.partition(".")[0])
            elif name != STEPS[-1]:
                rows.complain(offset, length, _no_step(cell))
                rows.number += 1
                return
        for place in (*self._tags, *(() if self._time is None else (self._time,))):
            number = _number(cells[place])
            if number is not None:
                values[self._names[place]] = number
        rows.add(values, offset)


def _no_step(cell: object) -> str:
    return f"Expected a whole number as step, found {str(cell)[:60]!r}; the line was skipped."


def _number(cell: object) -> float | None:
    try:
        return float(str(cell)) if cell is not None and "_" not in str(cell) else None
    except ValueError:
        return None


def _floats(column: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the numbers of a column, and where they are numbers."""
    if column.dtype.kind in "iuf":
        return column.astype(np.float64), np.ones(len(column), np.bool_)
    if column.dtype.kind == "b":
        return np.full(len(column), np.nan), np.zeros(len(column), np.bool_)
    found = [value if isinstance(value, float) else None if isinstance(value, bool) else _number(value) for value in column]
    values = np.array([np.nan if value is None else value for value in found], np.float64)
    return values, np.array([value is not None for value in found], np.bool_)


def _whole(column: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the whole numbers of a column, and where there are such; 0 elsewhere."""
    if column.dtype.kind == "i":
        return column.astype(np.int64), np.ones(len(column), np.bool_)
    values, good = _floats(column)
    with np.errstate(invalid="ignore"):
        good = good & (np.abs(values) < 2**63) & (values == np.floor(values))
    return np.where(good, values, 0.0).astype(np.int64), good


def _record(data: bytes, begin: int) -> tuple[int, list[bytes]] | None:
    """Return end and lines of the record that begins here; None if a quoted cell goes on after the last line."""
    lines: list[bytes] = []
    quotes, end = 0, begin
    while not lines or (quotes % 2 and len(lines) < MOST_JOINED):
        if end >= len(data):
            return None
        at, end = end, data.index(b"\n", end) + 1
        lines.append(data[at : end - 1])
        quotes += lines[-1].count(b'"')
    if quotes % 2:  # no such cell: the line is damaged
        return begin + len(lines[0]) + 1, lines[:1]
    return end, lines


def _cells(lines: list[bytes]) -> list[str]:
    """Return the cells of a record; none if it cannot be parsed."""
    text = b"\n".join(lines).decode("utf-8", "replace").replace("\0", "�").rstrip("\r")
    try:
        return next(csv.reader(io.StringIO(text, newline=""), strict=True), [])
    except csv.Error:
        return []
