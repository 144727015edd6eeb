"""Splits a text table into blocks of complete records with the right number of cells, each with its line number.

The table may be larger than memory, cut, in another encoding, or have an unclosed quote; anything that is not a record of
the table is reported and skipped.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from parsers.files import RegularFile
from parsers.model import Problem
from parsers.profiler.damaged_lines import MOST_LINES, reread
from parsers.profiler.progress import report_read

BLOCK = 4 << 20
"""Bytes read at a time."""
LONGEST_RECORD = 16 << 20
"""Maximum bytes of one record; a quote that stays open for longer is treated as a character of its cell."""
LONGEST_CELL = 1 << 20
"""Maximum characters of a cell."""
MOST_COMPLAINTS = 50
DENSE = 24
"""Bytes per line below which a buffer is taken in parts: numbers that describe its lines take more memory than itself."""
SMALL = 512 << 10
"""Bytes of such a part."""
LONG_RECORD = 100_000
"""Bytes from which a record is split here: the csv module takes cells of up to 131,072 characters."""
Places = NDArray[np.int64]
_QUOTE, _NEWLINE, _COMMA, _RETURN = 34, 10, 44, 13


@dataclass(slots=True)
class Complaints:
    """The problems of one file: the first ones in full, the number of the others."""

    path: str
    problems: list[Problem] = field(default_factory=list)
    left_out: int = 0
    told: set[str] = field(default_factory=set)

    def once(self, what: str, text: str, kind: str = "bad_table") -> None:
        """Add the first problem of what is found again and again."""
        if what not in self.told:
            self.told.add(what)
            self.add(text, kind)

    def add(self, text: str, kind: str = "bad_table") -> None:
        """Add a problem, unless it is already there."""
        if any(problem.text == text for problem in self.problems):
            return
        if len(self.problems) < MOST_COMPLAINTS:
            self.problems.append(Problem(self.path, 0, 0, kind, text))
        else:
            self.left_out += 1

    def all(self) -> tuple[Problem, ...]:
        """Return the problems; the last one states how many more there are."""
        if not self.left_out:
            return tuple(self.problems)
        text = f"{self.left_out:,} more problems of this file are not listed."
        return (*self.problems, Problem(self.path, 0, 0, "bad_table", text))


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Records of a table: their bytes, each ending in a newline, and the line in the file where each begins."""

    data: bytes
    lines: NDArray[np.int64]


class Lines:
    """A text table, record by record. `header` holds the names in its first non-empty line."""

    def __init__(self, file: RegularFile, complaints: Complaints) -> None:
        self._complaints = complaints
        self._pieces = _pieces(file, complaints)
        self._rest, self._line, self._ended = b"", 1, False
        self._is_partial, self._is_skipping, self._reread_lines = False, False, 0
        self._header, self.header = self._read_header()

    def _fill(self) -> bool:
        piece = next(self._pieces, None)
        if piece is None:
            self._ended = True
            return False
        if self._is_skipping:
            _, newline, piece = piece.partition(b"\n")
            self._is_skipping = not newline
        self._rest += piece
        self._reread_lines = 2 * MOST_LINES
        return True

    def _read_header(self) -> tuple[bytes, list[str]]:
        while True:
            while b"\n" not in self._rest and len(self._rest) <= LONGEST_CELL and self._fill():
                pass
            blank = len(self._rest) - len(self._rest.lstrip())
            if b"\n" in self._rest[:blank]:
                end = self._rest.rindex(b"\n", 0, blank) + 1
                self._line += self._rest.count(b"\n", 0, end)
                self._rest = self._rest[end:]
                continue
            line, newline, rest = self._rest.partition(b"\n")
            if not newline and len(line) > LONGEST_CELL:
                self._complaints.add(f"Line {self._line}: expected names of columns, found more than {LONGEST_CELL:,} bytes.")
                return b"", []
            self._rest = rest
            self._line += 1
            if line.strip():
                names = cells(line)
                if names is None:
                    self._complaints.add(f"Line {self._line - 1}: expected names of columns, found {line[:60]!r}.")
                    return b"", []
                return line.rstrip(b"\r"), [name.strip() for name in names]
            if not newline:
                return b"", []

    def blocks(self) -> Iterator[LineBlock]:
        """Yield the records after the header."""
        while not self._ended or self._is_partial:
            if not self._is_partial:
                self._fill()
            self._is_partial = False
            block = self._take_part()
            if len(block.lines):
                yield block

    def _take_part(self) -> LineBlock:
        """Take the complete records in the buffer, of very short ones a part."""
        if len(self._rest) <= SMALL or self._rest.count(b"\n") * DENSE < len(self._rest):
            return self._take()
        whole, ended, line = self._rest, self._ended, self._line
        end = whole.find(b"\n", SMALL) + 1
        self._rest, self._ended = whole[:end] if end else whole, False
        block = self._take()
        if len(self._rest) == end:  # no record ends there
            self._rest, self._ended, self._line = whole, ended, line
            return self._take()
        self._rest, self._ended, self._is_partial = self._rest + whole[end:], ended, True
        return block

    def _take(self) -> LineBlock:
        """Return the complete records in the buffer; at the end of the file all of them, unless quotes are out of order."""
        data = self._rest
        if self._ended and data and not data.endswith(b"\n"):
            data = self._rest = data + b"\n"
        if not self._ended and b"\n" not in data:
            if len(data) > LONGEST_RECORD:
                limit = f"at most {LONGEST_RECORD >> 20} MB"
                self._complaints.add(f"Line {self._line}: expected {limit}, found more; the line was skipped.")
                self._rest, self._line, self._is_skipping = b"", self._line + 1, True
            return _NOTHING
        if len(data) > LONGEST_RECORD and not self._ended and b'"' in data:
            return self._reread()
        starts, ends, newlines, stray = _records(data)
        whole = int(ends[-1]) + 1 if len(ends) else 0
        if stray is not None and stray < whole:
            whole = int(starts[np.searchsorted(starts, stray, side="right") - 1])
        number = int(np.searchsorted(starts, whole))
        plain = len(newlines) == len(ends)  # no record has a newline within
        lines = self._line + (np.arange(number) if plain else np.searchsorted(newlines, starts[:number]))
        self._line += int(np.searchsorted(newlines, whole))
        self._rest = data[whole:]
        block = self._checked(data[:whole], starts[:number], ends[:number], lines) if number else _NOTHING
        if stray is None and not (self._ended and self._rest):
            return block
        damaged = self._reread()
        return LineBlock(block.data + damaged.data, np.concatenate((block.lines, damaged.lines)))

    def _checked(self, data: bytes, starts: Places, ends: Places, lines: Places) -> LineBlock:
        """Return the valid records, and what can be saved of the others.

        Cells are counted only in the first record: parsing the block shows whether others differ, and then they are counted
        in all (`recounted`), which takes longer than parsing.
        """
        lengths = ends - starts
        view = np.frombuffer(data, np.uint8)
        blank = (lengths == 0) | ((lengths == 1) & _BLANK[view[starts]])
        short = np.flatnonzero(~blank & (lengths < len(self.header) - 1))  # too short for as many commas
        if len(short) > MOST_COMPLAINTS:
            for place in short[:MOST_COMPLAINTS].tolist():
                self._odd(data[int(starts[place]) : int(ends[place])], int(lines[place]))
            self._complaints.left_out += len(short) - MOST_COMPLAINTS
            blank[short] = True
        if blank.any():
            if blank.all():
                return _NOTHING
            kept = ~np.repeat(blank, lengths + 1)
            data, lines, lengths = view[kept].tobytes(), lines[~blank], lengths[~blank]
            ends = np.cumsum(lengths + 1) - 1
            starts = ends - lengths
        odd = (lengths > LONGEST_CELL) | (lengths <= 1)
        odd[0] = odd[0] or len(cells(data[: int(ends[0])]) or ()) != len(self.header)
        for place in np.flatnonzero((lengths >= len(self._header)) & (lengths <= len(self._header) + 1)).tolist():
            odd[place] = odd[place] or data[starts[place] : ends[place]].rstrip(b"\r") == self._header
        return self._without(odd, data, starts, ends, lines)

    def sample(self, block: LineBlock, most: int) -> list[list[str]]:
        """Return the cells of the first complete records of a block, at most `most`."""
        starts, ends, _, _ = _records(block.data)
        found = (cells(block.data[start:end]) for start, end in zip(starts[:most].tolist(), ends[:most].tolist(), strict=True))
        return [row for row in found if row is not None and len(row) == len(self.header)]

    def recounted(self, block: LineBlock) -> LineBlock:
        """Return the block without records that have too many or too few cells; the same block if there are none."""
        starts, ends, _, _ = _records(block.data)
        counts = _counts(block.data, starts)
        odd = counts != len(self.header)
        if not odd.any():
            return block
        places = np.flatnonzero(odd)
        if len(places) <= MOST_COMPLAINTS:
            return self._without(odd, block.data, starts, ends, block.lines)
        for place in places[:MOST_COMPLAINTS].tolist():
            self._miscounted(int(block.lines[place]), int(counts[place]))
        self._complaints.left_out += len(places) - MOST_COMPLAINTS
        kept = np.repeat(~odd, ends - starts + 1)
        return LineBlock(np.frombuffer(block.data, np.uint8)[kept].tobytes(), block.lines[~odd])

    def _miscounted(self, line: int, number: int) -> None:
        self._complaints.add(f"Line {line}: expected {len(self.header)} cells, found {number}; the line was skipped.")

    def requoted(self, block: LineBlock) -> LineBlock:
        """Return the block with every cell quoted, for one that pandas rejects."""
        starts, ends, _, _ = _records(block.data)
        return self._without(np.ones(len(starts), np.bool_), block.data, starts, ends, block.lines)

    def _without(self, odd: NDArray[np.bool_], data: bytes, starts: Places, ends: Places, lines: Places) -> LineBlock:
        """Replace the odd records of a block by what can be saved of them."""
        if not odd.any():
            return LineBlock(data, lines)
        parts: list[bytes] = []
        kept: list[Places] = []
        begin = 0
        for place in [*np.flatnonzero(odd).tolist(), len(starts)]:
            if begin < place:
                parts.append(data[int(starts[begin]) : int(ends[place - 1]) + 1])
                kept.append(lines[begin:place])
            if place < len(starts):
                saved = self._odd(data[int(starts[place]) : int(ends[place])], int(lines[place]))
                parts.append(saved.data)
                kept.append(saved.lines)
            begin = place + 1
        return LineBlock(b"".join(parts), np.concatenate(kept))

    def _odd(self, record: bytes, line: int) -> LineBlock:
        """Return what can be saved of a record that does not match the header."""
        stripped = record.rstrip(b"\r")
        if not stripped.strip():
            return _NOTHING
        if stripped == self._header:
            self._complaints.add(f"Line {line}: the header is repeated; the line was skipped.")
            return _NOTHING
        if len(record) > LONG_RECORD:
            number = int(_counts(record, np.zeros(1, np.int64))[0])
            if number > 2 * len(self.header):  # its cells need not be made to tell
                self._miscounted(line, number)
                return _NOTHING
        found = cells(record)
        if found is not None and len(found) == len(self.header):
            return self._shortened(found, line)
        got = "a cell that does not end" if found is None else f"{len(found)}"
        self._complaints.add(f"Line {line}: expected {len(self.header)} cells, found {got}; the line was skipped.")
        return _NOTHING

    def _shortened(self, found: list[str], line: int) -> LineBlock:
        for place, cell in enumerate(found):
            if len(cell) > LONGEST_CELL:
                text = f"expected at most {LONGEST_CELL:,} characters, found {len(cell):,}; the first ones are shown"
                self._complaints.add(f"Line {line}, column {self.header[place]}: {text}.")
                found[place] = cell[:LONGEST_CELL]
        quoted = (f'"{cell.replace(chr(_QUOTE), chr(_QUOTE) * 2)}"' for cell in found)
        return LineBlock(",".join(quoted).encode() + b"\n", np.array([line], np.int64))

    def _reread(self) -> LineBlock:
        """Take complete records out of a buffer in which quotes do not pair up: of the first lines, twice as many each time.

        What follows the damage is most often intact, and is taken at a tenth of the cost (`_take`).
        """
        while True:
            end, is_all = self._end_of(self._reread_lines)
            self._reread_lines *= 2
            text = self._rest[:end].decode("utf-8", "replace").replace("\0", "\ufffd")
            lines = [f"{line}\n" for line in text.removesuffix("\n").split("\n")] if text else []
            ended = self._ended and is_all
            found = reread(lines, self._line, self.header, ended=ended, longest=LONGEST_CELL)
            if found.used or is_all:
                break
        for complaint in found.complaints:
            self._complaints.add(complaint)
        self._complaints.left_out += found.more
        left = "".join(lines[found.used :]).encode()
        self._line, self._rest = self._line + found.used, left + self._rest[end:]
        self._is_partial = not is_all
        saved = []
        for line, record in found.records:
            if isinstance(record, str):
                saved.append(LineBlock(record.encode(), np.array([line], np.int64)))
            elif [cell.strip() for cell in record] == self.header:
                self._complaints.add(f"Line {line}: the header is repeated; the line was skipped.")
            else:
                saved.append(self._shortened(record, line))
        if not saved:
            return _NOTHING
        return LineBlock(b"".join(one.data for one in saved), np.concatenate([one.lines for one in saved]))


    def _end_of(self, lines: int) -> tuple[int, bool]:
        """Return the end of the first lines in the buffer, at most so many, and whether these are all that end in it."""
        last = self._rest.rfind(b"\n") + 1
        end = 0
        for _ in range(lines):
            end = self._rest.find(b"\n", end) + 1
            if end in (0, last):
                return last, True
        return end, False


_NOTHING = LineBlock(b"", np.empty(0, np.int64))


def _stray_quote(view: NDArray[np.uint8], quotes: Places) -> int | None:
    """Return the position of the first quote that neither opens nor closes a cell nor is doubled; None if there is none."""
    opening, closing = quotes[::2], quotes[1::2]
    opens = _BEFORE[view[opening - 1]]
    closes = _AFTER[view[np.minimum(closing + 1, len(view) - 1)]]
    if len(opening) and opening[0] == 0:
        opens[0] = True
    wrong = [places[np.argmin(good)] for places, good in ((opening, opens), (closing, closes)) if not good.all()]
    return int(min(wrong)) if wrong else None


def _among(*characters: int) -> NDArray[np.bool_]:
    """Return a table of bytes that tells which are among these."""
    return np.isin(np.arange(256), characters)


# Bytes before a quote that opens a cell, and after one that closes it; a doubled quote closes and opens.
_BLANK = _among(_RETURN, 32, 9)
_BEFORE, _AFTER = _among(_COMMA, _NEWLINE, _QUOTE), _among(_COMMA, _NEWLINE, _RETURN, _QUOTE)


def _records(data: bytes) -> tuple[Places, Places, Places, int | None]:
    """Return start and newline of every record that ends within the bytes, all newlines also in quotes, and a stray quote."""
    view = np.frombuffer(data, np.uint8)
    newlines = np.flatnonzero(view == _NEWLINE)
    ends, stray = newlines, None
    if b'"' in data:
        quotes = np.flatnonzero(view == _QUOTE)
        ends = newlines[np.searchsorted(quotes, newlines) % 2 == 0]
        stray = _stray_quote(view, quotes)
    return np.concatenate(([0], ends[:-1] + 1))[: len(ends)], ends, newlines, stray


def _counts(data: bytes, starts: Places) -> Places:
    """Return the number of cells of each record."""
    view = np.frombuffer(data, np.uint8)
    separators = (view == _COMMA).view(np.uint8)
    if b'"' in data:
        separators = separators & (np.bitwise_xor.accumulate((view == _QUOTE).view(np.uint8)) ^ 1)
    return np.add.reduceat(separators, starts, dtype=np.int64) + 1


def cells(record: bytes) -> list[str] | None:
    """Split one record into cells; None if a quote is not closed."""
    if len(record) >= LONG_RECORD:
        return _long_cells(record.rstrip(b"\r\n"))
    text = record.decode("utf-8", "replace").rstrip("\r\n").replace("\0", "\ufffd")
    try:
        found = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return None
    return found[0] if len(found) == 1 else None


def _long_cells(record: bytes) -> list[str] | None:
    """Split a record of any length; None if a quote is not closed, or is within a cell that is not quoted."""
    view = np.frombuffer(record, np.uint8)
    quotes, commas = np.flatnonzero(view == _QUOTE), np.flatnonzero(view == _COMMA)
    if len(quotes) % 2:
        return None
    ends = commas[np.searchsorted(quotes, commas) % 2 == 0].tolist()
    found = []
    for start, end in zip([0, *(end + 1 for end in ends)], [*ends, len(record)], strict=True):
        cell = record[start:end]
        if b'"' in cell:
            whole = len(cell) > 1 and cell.startswith(b'"') and cell.endswith(b'"')
            if not whole or b'"' in cell[1:-1].replace(b'""', b""):
                return None
            cell = cell[1:-1].replace(b'""', b'"')
        found.append(cell.decode("utf-8", "replace").replace("\0", "\ufffd"))
    return found


def _pieces(file: RegularFile, complaints: Complaints) -> Iterator[bytes]:
    """Yield the file as UTF-8; report where it is not valid."""
    head = file.read(0, 4)
    wide = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    decoder = codecs.getincrementaldecoder("utf-16" if wide else "utf-8")("replace")
    told, offset, zeros = False, 3 if head.startswith(codecs.BOM_UTF8) else 0, 0
    while offset < file.size:
        # Of a hole as many zeros are taken as make its record too long: it is skipped, however long it is.
        hole = (file.next_data(offset) - offset) // 2 * 2  # whole characters of UTF-16, too
        zeros = zeros + BLOCK if hole >= BLOCK else 0
        if zeros > LONGEST_RECORD + BLOCK:
            report_read(hole)
            offset += hole
            continue
        piece = file.read(offset, BLOCK)
        if not piece:
            return
        offset += len(piece)
        report_read(len(piece))
        if not wide and piece.isascii():
            yield decoder.decode(b"").encode() + piece if decoder.getstate()[0] == b"" else decoder.decode(piece).encode()
            continue
        text = decoder.decode(piece, final=offset >= file.size)
        if not told and "\ufffd" in text:
            told = True
            before = piece.decode("utf-16" if wide else "utf-8", "replace").split("\ufffd")[0].count("\n")
            place = f"line {before + 1} on" if offset <= BLOCK else f"byte {offset - len(piece):,} on"
            complaints.add(f"From {place}: expected UTF-8, found other bytes; these are shown as \ufffd.")
        yield text.encode()
