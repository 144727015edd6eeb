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
from parsers.tables.rows import MOST_PROBLEMS, MOST_TAGS, STEPS, TIMES, MetricRows

LONGEST_HEADER = 1 << 20
MOST_JOINED = 100
"""Lines that a quoted cell may span."""
FEW_LINES = 32
"""Lines that are read one by one where one of them is unusual."""
PART = 256 << 10
"""Bytes of lines that are read together where some of them are unusual."""
_NO_CELL = re.compile(r"[,\n\r\0\"]")
"""What ends a cell, or is none of its characters."""
_EMPTY = "-"
"""For a quoted cell without text that is alone in its line, which is not blank."""
_BLANK = np.isin(np.arange(256), (9, 10, 11, 12, 13, 32))
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
        self._header = ",".join(names).encode()
        self._step = next((names.index(name) for name in STEPS if name in names), None)
        self._time = next((names.index(name) for name in TIMES if name in names), None)
        first = {name: place for place, name in reversed(list(enumerate(names))) if name}
        self._tags = sorted(place for name, place in first.items() if name not in STEPS and name not in TIMES)

    def add(self, rows: MetricRows, data: bytes, begin: int) -> tuple[list[ScalarBlock], int]:
        """Read whole lines."""
        if b'"' not in data:
            return self._plain(rows, data, begin), len(data)
        blocks: list[ScalarBlock] = []
        used = 0
        while used < len(data):
            end = _line_end(data, used + PART)
            if data.find(b'"', used, end) < 0:
                blocks += self._plain(rows, data[used:end], begin + used)
                used = end
                continue
            found, taken = self._quoted(rows, data, used, end, begin)
            blocks += found
            used += taken
            if not taken:
                break  # a cell goes on beyond this piece
        if not used:  # so does none of as many lines as one may have
            rows.complain(begin, len(data), "A quoted cell has no end; these lines were skipped.")
            used = len(data) if data.count(b"\n") > MOST_JOINED else 0
        return blocks, used

    def _plain(self, rows: MetricRows, data: bytes, begin: int) -> list[ScalarBlock]:
        """Read lines without quotes: all at once, or, if some of them are unusual, in parts without these."""
        found = None if self._header in data else self._columns(data)
        if found is not None:
            return self._blocks(rows, found[0], found[1], found[2] + begin)
        blocks: list[ScalarBlock] = []
        used = 0
        while used < len(data):
            end = _line_end(data, used + PART)
            part = data[used:end]
            blocks += self._usual(rows, *self._fitting(rows, part, _starts(np.frombuffer(part, np.uint8)) + (begin + used)))
            used = end
        return blocks

    def _usual(self, rows: MetricRows, data: bytes, begins: NDArray[np.int64]) -> list[ScalarBlock]:
        """Read lines as long as the header; one by one what pandas does not take."""
        if not data:
            return []
        found = self._columns(data)
        if found is not None:
            return self._blocks(rows, found[0], found[1], begins)
        ends = [at + len(line) + 1 for at, line in split(data)]
        if len(ends) > FEW_LINES:
            half = len(ends) // 2
            end = ends[half - 1]
            return self._usual(rows, data[:end], begins[:half]) + self._usual(rows, data[end:], begins[half:])
        for (_, line), offset in zip(split(data), begins.tolist(), strict=True):
            self._add_line(rows, [line], offset, len(line) + 1)
        return []

    def _fitting(self, rows: MetricRows, data: bytes, begins: NDArray[np.int64]) -> tuple[bytes, NDArray[np.int64]]:
        """Return the lines that have as many cells as the header, and where they begin.

        Blank lines and headers written again are left out, others are complained of.
        """
        text = np.frombuffer(data, np.uint8)
        starts = _starts(text)
        lengths = np.diff(starts, append=len(text))
        newline, returns = text == 10, text == 13
        ending = np.zeros(len(text), np.bool_)
        for _ in range(3 if returns.any() else 0):  # a program that writes \r\n as text on Windows writes \r\r\n
            ending[:-1] = returns[:-1] & (newline[1:] | ending[1:])
        cells = np.add.reduceat(text == 44, starts, dtype=np.int64) + 1
        blank = ~np.logical_or.reduceat(~_BLANK[text], starts)
        fits = ~blank & (cells == len(self._names)) & ~np.logical_or.reduceat(returns & ~ending, starts)
        for line in np.flatnonzero(~fits & ~blank)[: MOST_PROBLEMS + 1].tolist():
            self._unfit(rows, data[starts[line] : starts[line] + lengths[line] - 1], int(begins[line]), int(lengths[line]))
        if self._header in data:
            fits &= ~_equal(text, starts, lengths - np.add.reduceat(ending, starts, dtype=np.int64), self._header)
        kept = text[np.repeat(fits, lengths) & ~ending].tobytes()
        return kept.replace(b"\0", b"\x1a"), begins[fits]  # either is no part of a number

    def _unfit(self, rows: MetricRows, line: bytes, offset: int, length: int) -> None:
        expected = f"Expected {len(self._names)} cells, found {line[:60]!r}"
        rows.complain(offset, length, f"{expected}; the line was skipped.")

    # Lines with quotes -----------------------------------------------------------------------------------------------

    def _quoted(self, rows: MetricRows, data: bytes, used: int, end: int, begin: int) -> tuple[list[ScalarBlock], int]:
        """Read the lines between two places of a piece; return how many bytes of it, which may be more or fewer.

        Cells whose quotes are needless lose them, all at once. Others are read record by record, and are then lines as well.
        """
        part = data[used:end]
        starts, needless = _needless_quotes(part, alone=len(self._names) == 1)
        pieces: list[bytes] = []
        begins: list[int] = []
        line, taken = 0, len(part)
        for number in np.flatnonzero(~needless).tolist():
            if number < line:
                continue  # of the record before
            at = int(starts[number])
            if number > line:
                pieces.append(part[starts[line] : at].replace(b'"', b""))
                begins += starts[line:number].tolist()
            found = _record(data, used + at)
            if found is None:
                line, taken = len(starts), at
                break
            after, lines = found
            whole = self._as_line(rows, lines, begin + used + at, after - used - at)
            if whole:
                pieces.append(whole)
                begins.append(at)
            line = number + len(lines)
            taken = max(taken, after - used)
        if line < len(starts):
            pieces.append(part[starts[line] :].replace(b'"', b""))
            begins += starts[line:].tolist()
        plain, offsets = b"".join(pieces), np.array(begins, np.int64) + (begin + used)
        return self._usual(rows, *self._fitting(rows, plain, offsets)) if plain else [], taken

    def _as_line(self, rows: MetricRows, lines: list[bytes], offset: int, length: int) -> bytes:
        """Return a record with quotes as a line without; nothing for one that does not fit. Only numbers matter."""
        cells = _cells(lines)
        if cells == self._names:
            return b""  # a header written again
        if len(cells) != len(self._names):
            self._unfit(rows, lines[0], offset, length)
            return b""
        return (",".join(_NO_CELL.sub(" ", cell) for cell in cells) or _EMPTY).encode() + b"\n"

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
        self, rows: MetricRows, columns: list[NDArray[Any]], empty: NDArray[np.bool_], begins: NDArray[np.int64]
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
                    rows.complain(int(begins[place]), 0, _no_step(columns[self._step][place]))
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
        return [
            ScalarBlock(tuple(self._names[place] for place in places), step[shown], time[shown], begins[shown],
                        np.stack([value[shown] for value in values]))
            for shown, places, values in together.values()
        ]  # fmt: skip

    # What pandas does not take --------------------------------------------------------------------------

    def _add_line(self, rows: MetricRows, lines: list[bytes], offset: int, length: int) -> None:
        if not any(line.strip() for line in lines):
            return
        cells = _cells(lines)
        if cells == list(self._names):
            return  # a header written again
        if len(cells) != len(self._names):
            self._unfit(rows, lines[0], offset, length)
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


def _line_end(data: bytes, at: int) -> int:
    """Return the end of the line at a place, or of the data, which end with a line."""
    return data.find(b"\n", at) + 1 or len(data)


def _starts(text: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return where lines begin."""
    return np.concatenate(([0], np.flatnonzero(text == 10)[:-1] + 1)).astype(np.int64)


def _equal(
    text: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64], line: bytes
) -> NDArray[np.bool_]:
    """Return which lines, of these lengths with their ends, are this one."""
    found = lengths == len(line) + 1
    places = starts[found]
    for at, byte in enumerate(line):
        if not len(places):
            break
        places = places[text[places + at] == byte]
    return np.isin(starts, places)


def _needless_quotes(data: bytes, *, alone: bool) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return where lines begin, and of which ones all quotes enclose whole cells without comma, quote and line end.

    alone: cells are alone in their lines, where without quotes an empty one would be a blank line.
    """
    text = np.frombuffer(data, np.uint8)
    starts = _starts(text)
    quotes = np.flatnonzero(text == 34)
    line = np.searchsorted(starts, quotes, side="right") - 1
    first = np.searchsorted(line, line)  # the first quote of the line of each
    closes = (np.arange(len(quotes)) - first) % 2 == 1
    before, after = text[quotes - 1], text[np.minimum(quotes + 1, len(text) - 1)]
    good = np.where(closes, (after == 44) | (after == 10) | (after == 13), (before == 44) | (quotes == starts[line]))
    commas = np.cumsum(text == 44)[quotes]
    good[1:] &= ~closes[1:] | (commas[1:] == commas[:-1])
    counts = np.bincount(line, minlength=len(starts))
    needless = counts % 2 == 0
    needless[line[~good]] = False
    returns = np.flatnonzero(text == 13)
    lone = np.searchsorted(starts, returns[text[np.minimum(returns + 1, len(text) - 1)] != 10], side="right") - 1
    needless[lone] &= counts[lone] == 0
    if alone:
        needless &= counts == 0
    return starts, needless


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
        return next(csv.reader((text,) if len(lines) == 1 else io.StringIO(text, newline=""), strict=True), [])
    except csv.Error:
        return []
