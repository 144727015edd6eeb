"""curves.csv, as a script of one's own may write it: a header of column names, then one line of numbers per step.

Make one with `csv.DictWriter`. Every column but epoch and step is a scalar; empty cells are no values. Such files contain no
times, so the wall time of a value is NaN.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass

import numpy as np

from parsers.file_reading import read_growing
from parsers.files import RegularFile
from parsers.model import Batch, Cursor, Problem, Reader, ScalarBlock

LONGEST_HEADER = 1 << 20
Row = tuple[int, int, list[float]]
"""Byte offset, step, values."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CurvesReader(Reader):
    """Reads curves.csv."""

    def read(self, path: str, cursor: Cursor | None = None, limit: int | None = None) -> Batch:  # noqa: ARG002  small files
        """Read the lines after the cursor; an unfinished last line waits for its end."""
        return read_growing(path, cursor, _read)


CURVES_CSV = CurvesReader(name="curves_csv", pattern=re.compile(r"\Acurves\.csv\Z"), appendable=True)


def _read(file: RegularFile, resumed: Cursor) -> Batch:
    head, newline, _ = file.read(0, LONGEST_HEADER).partition(b"\n")
    if not newline:
        return Batch(file.cursor(0, file.size), pending=file.size)
    names = _header(head)
    if "step" not in names:
        text = f"Expected a column `step`, found {', '.join(names)[:80]!r}; the file was skipped."
        return Batch(file.cursor(file.size, file.size), problems=[Problem(file.path, 0, file.size, "bad_message", text)])
    rows: dict[tuple[str, ...], list[Row]] = {}
    problems: list[Problem] = []
    end = resumed.offset
    # Not splitlines: it also splits at a lone "\r". What follows the last newline waits for its rest.
    for line in file.read(end, file.size - end).split(b"\n")[:-1]:
        offset, end = end, end + len(line) + 1
        if not offset or not line.strip():
            continue
        try:
            step, values = _numbers(names, line)
        except ValueError as error:
            problems.append(Problem(file.path, offset, len(line) + 1, "bad_message", f"{error}; the line was skipped."))
        else:
            rows.setdefault(tuple(values), []).append((offset, step, list(values.values())))
    return Batch(
        file.cursor(end, file.size), [_block(tags, found) for tags, found in rows.items() if tags], problems=problems,
        records=sum(map(len, rows.values())), bytes_read=end - resumed.offset, pending=file.size - end,
    )  # fmt: skip


def _cells(line: bytes) -> list[str]:
    return next(csv.reader([line.decode("utf-8", "replace").strip().replace("\0", "�")], strict=True), [])


def _header(line: bytes) -> list[str]:
    try:
        return _cells(line)
    except csv.Error:
        return []


def _numbers(names: list[str], line: bytes) -> tuple[int, dict[str, float]]:
    """Return step and scalars of a line; ValueError says what was expected and what was found."""
    try:
        found = _cells(line)
    except csv.Error:
        found = []
    cells = dict(zip(names, found, strict=False))
    if len(found) != len(names) or not re.fullmatch(r"-?[0-9]{1,18}", cells.get("step", "")):
        raise ValueError(f"Expected {len(names)} cells, one of them a whole step, found {line[:80]!r}")
    return int(cells["step"]), {name: float(cell) for name, cell in cells.items() if cell and name not in ("epoch", "step")}


def _block(tags: tuple[str, ...], rows: list[Row]) -> ScalarBlock:
    offsets, steps, values = zip(*rows, strict=True)
    wall_time = np.full(len(rows), np.nan)
    return ScalarBlock(tags, np.array(steps, np.int64), wall_time, np.array(offsets, np.int64), np.array(values, np.float64).T)
