"""Reads records of a text table in which quotes do not pair up: a cell with an unescaped quote, or one that never ends.

The csv module reads a record from each line in strict mode. Where that fails, the line is skipped and the next one tried, so
the records after a damaged one are found again.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field

MOST_LINES = 1_000
"""Maximum lines of a record after damage."""
MOST_COMPLAINTS = 60
"""Complaints that are kept in full; others are counted."""
_OPEN = "unexpected end of data"
_NO_END = "a cell that does not end"
_READ_AGAIN = 1 << 20
"""Maximum characters read in failed attempts, beyond as many as the text has; after that only records of one line are read."""


@dataclass(slots=True)
class Reread:
    """Records found, as (place of the first line, cells); complaints, and how many more there are; and the number
    of lines that were used.

    A record of one line without quotes is that line, whose cells need not be made.
    """

    records: list[tuple[int, list[str] | str]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    more: int = 0
    used: int = 0

    def complain(self, text: str) -> None:
        """Add a complaint, or count it."""
        if len(self.complaints) < MOST_COMPLAINTS:
            self.complaints.append(text)
        else:
            self.more += 1

    def skip(self, line: int, wanted: int, got: int | str) -> None:
        """Complain of a line without as many cells as wanted."""
        if len(self.complaints) < MOST_COMPLAINTS:
            self.complaints.append(f"Line {line}: expected {wanted} cells, found {got}; the line was skipped.")
        else:
            self.more += 1


@dataclass(frozen=True, slots=True)
class _Attempt:
    """An attempt to read a record: its cells or None, the lines read, and whether a cell is still open after them."""

    cells: list[str] | None
    lines: int
    open: bool


def reread(lines: Sequence[str], first: int, header: Sequence[str], *, ended: bool, longest: int) -> Reread:
    """Return the records in lines, each of which ends in a newline; `first` is the number of the first line in the file.

    If the cells before the last one of a damaged record are intact, the record is kept, with its last cell as written: up to
    the line at which the next record begins. Unless ended, a record that is still open after the last line, and is at most
    `longest` characters long, is not used.
    """
    found, cut = Reread(), _Cut()
    budget = _READ_AGAIN + sum(map(len, lines))
    while found.used < len(lines):
        at = found.used
        if _is_plain(lines[at], header, longest):
            found.records.append((first + at, lines[at]))
            found.used += 1
            cut = cut.mended()
            continue
        commas = _commas(lines[at])
        if commas not in (None, len(header) - 1):  # no record, which its cells need not be made to tell
            if cut.cells:
                cut.cells[-1] += lines[at]
            elif not lines[at].isspace():
                found.skip(first + at, len(header), commas + 1)
            budget -= len(lines[at])
            found.used += 1
            continue
        if budget <= 0 and not cut.cells and lines[at].count('"') % 2:  # no record of one line
            found.skip(first + at, len(header), _NO_END)
            found.used += 1
            continue
        attempt = _record_at(lines, at, MOST_LINES if budget > 0 else 1)
        size = sum(len(lines[place]) for place in range(at, at + attempt.lines))
        if attempt.open and not ended and at + attempt.lines == len(lines) and size <= longest:
            break
        if attempt.cells is not None and len(attempt.cells) == len(header):
            found.records.append((first + at, attempt.cells))
            found.used += attempt.lines
            cut = cut.mended()
            continue
        budget -= size
        found.used += 1
        begun = None if attempt.cells is not None or attempt.open else _begun(lines[at], len(header))
        if begun is not None:
            cut.mended()
            cut = _Cut(begun, at)
            found.records.append((first + at, begun))
            wrong = lines[at + attempt.lines - 1].strip()[:60]
            text = f"expected doubled quotes within the cell, found {wrong!r}; the cell is shown as written"
            found.complain(f"Line {first + at}, column {header[-1]}: {text}.")
        elif cut.cells:
            cut.cells[-1] += lines[at]
        elif lines[at].strip():
            found.skip(first + at, len(header), _NO_END if attempt.cells is None else len(attempt.cells))
    if cut.cells and not ended and len(cut.cells[-1]) <= longest:
        found.records.pop()
        if found.more:
            found.more -= 1
        else:
            found.complaints.pop()
        found.used = cut.at
    cut.mended()
    return found


@dataclass(frozen=True, slots=True)
class _Cut:
    """The record that a damaged line belongs to: its cells, of which the last one grows; no cells if there is none."""

    cells: list[str] = field(default_factory=list)
    at: int = 0

    def mended(self) -> _Cut:
        """End the record; return that there is none."""
        if self.cells:
            self.cells[-1] = self.cells[-1].rstrip("\r\n").removesuffix('"')
        return _Cut()


def _is_plain(line: str, header: Sequence[str], longest: int) -> bool:
    """Return whether a line without quotes has as many cells as the header, and other content."""
    return (
        line.count(",") == len(header) - 1 and '"' not in line and "\r" not in line[:-2] and 1 < len(line) <= longest
        and not line.startswith(header[0])
    )  # fmt: skip


def _commas(line: str) -> int | None:
    """Return the number of commas of a line in which every one separates cells; None if some may be within one."""
    return None if '"' in line or "\r" in line[:-2] else line.count(",")


def _record_at(lines: Sequence[str], at: int, most: int) -> _Attempt:
    reader = csv.reader(map(lines.__getitem__, range(at, min(at + most, len(lines)))), strict=True)
    try:
        return _Attempt(next(reader), reader.line_num, open=False)
    except csv.Error as error:
        return _Attempt(None, max(reader.line_num, 1), open=str(error) == _OPEN)


def _begun(line: str, number: int) -> list[str] | None:
    """Return the cells of a record whose last one begins with a quote in this line and is not ended by it; None for others."""
    at = line.find(',"')
    for _ in range(number):
        if at < 0:
            return None
        try:
            cells = next(csv.reader([line[:at]], strict=True), [])
        except csv.Error:
            cells = []
        if len(cells) == number - 1:
            return [*cells, line[at + 2 :]]
        at = line.find(',"', at + 1)
    return None
