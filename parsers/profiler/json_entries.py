"""Reads JSON of three levels, {a: {b: {name: entry}}}, entry by entry: communication files may be larger than memory.

Small files are decoded at once. Of large ones a MB is read at a time and cut between entries, by position: a file that
is cut under a memory map would end the process. What cannot be decoded as expected is decoded by itself; what is damaged is
reported and skipped.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from parsers.files import RegularFile
from parsers.json_text import ManyValuesError, encodable, parse_json, require_few_values
from parsers.profiler.lines import Complaints
from parsers.profiler.progress import report_read

WHOLE = 8 << 20
"""Files up to this size are decoded at once."""
BLOCK = 1 << 20
LONGEST_ENTRY = 16 << 20
"""Maximum bytes of one entry: of cluster files it has 1.2 kB for each rank. As objects it takes up to 20 times as much."""
T = TypeVar("T")
Entries = Iterator[tuple[str, str, dict[str, T]]]
_DEPTH = 3


@dataclass(frozen=True, slots=True)
class EntryType(Generic[T]):
    """What entries are: their type; how one is made of what was decoded without types (None: it is none).

    mark occurs `marks(entry)` times in an entry, at most: if it occurs more often, entries have the same name.
    """

    kind: type[T]
    lenient: Callable[[Any], T | None]
    mark: bytes
    marks: Callable[[T], int]


def entries(path: str, form: EntryType[T], complaints: Complaints) -> Entries[T]:
    """Yield (a, b, {name: entry}); several times for one a and b if there are many entries.

    Never raises for the content of the file.
    """
    # msgspec takes types as values; mypy accepts no variable in a type, so the types to decode are made without its help.
    inner_type: Any = dict.__class_getitem__((str, form.kind))
    decoder: msgspec.json.Decoder[dict[str, T]] = msgspec.json.Decoder(inner_type)
    try:
        with RegularFile(path) as file:
            if not file.size:
                complaints.add("The file is empty.", "empty_file")
                return
            if file.size <= WHOLE:
                data = file.read(0, file.size).removeprefix(b"\xef\xbb\xbf")
                report_read(file.size)
                try:
                    require_few_values(data)
                    whole = msgspec.json.decode(data, type=dict[str, dict[str, inner_type]])
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ManyValuesError):
                    pass
                else:
                    _tell_same(data, (found for inner in whole.values() for found in inner.values()), form, complaints)
                    del data
                    for a, inner in whole.items():
                        for b, found in inner.items():
                            yield a, b, found
                    return
                del data
            begun = len(complaints.problems)
            number = 0
            for a, b, piece in _pieces(file, complaints):
                number += 1
                yield a, b, _decoded(piece, f"{a[:60]}.{b[:60]}", decoder, form, complaints)
            if not number and len(complaints.problems) == begun:
                complaints.add("Expected JSON with objects by step, found another content; nothing is taken from the file.")
    except OSError as error:
        complaints.add(f"The file cannot be read ({error.strerror or error}); what is in it is not shown.", "unreadable")


def _tell_same(data: bytes, found: Iterable[dict[str, T]], form: EntryType[T], complaints: Complaints) -> None:
    lost = data.count(form.mark) - sum(sum(map(form.marks, one.values())) for one in found)
    if lost > 0:
        complaints.add(f"Expected names once in an object, found {lost:,} that occur again; the last of each is shown.")


def _decoded(
    piece: bytes, where: str, decoder: msgspec.json.Decoder[dict[str, T]], form: EntryType[T], complaints: Complaints
) -> dict[str, T]:
    try:
        require_few_values(piece)
        decoded = decoder.decode(piece)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ManyValuesError):
        pass
    else:
        _tell_same(piece, (decoded,), form, complaints)
        return decoded
    try:
        piece.decode()
    except UnicodeDecodeError as error:
        complaints.once("utf-8", f"{where}: expected UTF-8, found byte {piece[error.start]:02x}; it is shown as \ufffd.")
    try:
        require_few_values(piece)
        found = parse_json(piece.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        found, rest = _singly(piece), error.msg.lower() if isinstance(error, json.JSONDecodeError) else str(error)
        complaints.add(f"{where}: expected JSON, found {rest}; damaged entries were skipped.")
    made: dict[str, T] = {}
    for name, value in found.items():
        entry = form.lenient(value)
        if entry is None:
            complaints.add(f"{where}.{name[:60]}: expected an object with times or links; it was skipped.")
        else:
            made[name] = entry
    return made


def _singly(piece: bytes) -> dict[str, Any]:
    """Return those entries of a damaged piece that can be decoded."""
    found: dict[str, Any] = {}
    places, depths = Scan().shallow(piece, 2)
    begin = 1
    for place, depth in zip(places.tolist(), depths.tolist(), strict=True):
        opens = piece[place] == 0x7B
        if depth == 2 and opens:
            name, value_at = _key(piece[begin:place]), place
        elif depth == 1 and not opens:
            begin = place + 1
            try:
                require_few_values(piece[value_at:begin])
                found[name] = parse_json(piece[value_at:begin].decode("utf-8", "replace"))
            except (ValueError, RecursionError):
                continue
    return found


def number(value: Any) -> float:
    """Return a number below 2^53; NaN for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return math.nan
    return found if abs(found) < 2.0**53 else math.nan


def _pieces(file: RegularFile, complaints: Complaints) -> Iterator[tuple[str, str, bytes]]:
    """Yield (a, b, bytes of an object with some entries) of a file. Entries are the objects at depth three."""
    scan = Scan()
    keys = ["", ""]
    pending = bytearray()  # from where the entries not yet given begin, or the key before the next brace
    at = 0
    while at < file.size:
        block = file.read(at, BLOCK)
        if not block:
            break
        report_read(len(block))
        at += len(block)
        before = len(pending)
        places, depths = scan.shallow(block, _DEPTH)
        pending += block
        begin, end = 0, -1  # of the entries that are whole
        for place, level in zip((places + before).tolist(), depths.tolist(), strict=True):
            opens = pending[place] == 0x7B
            if not opens and level == _DEPTH:
                end = place + 1
                continue
            if opens and 2 <= level <= _DEPTH:
                keys[level - 2] = _key(bytes(pending[begin:place]))
            elif not opens and level == _DEPTH - 1 and end > begin:
                yield keys[0], keys[1], _object(pending[begin:end])
            begin, end = place + 1, -1
        if end > begin:
            yield keys[0], keys[1], _object(pending[begin:end])
            begin = end
        del pending[:begin]
        if scan.depth < 0:
            complaints.add("Expected JSON, found more braces that close than that open; what comes before is shown.")
            return
        if len(pending) > LONGEST_ENTRY:
            where = f"{keys[0][:60]}.{keys[1][:60]}"
            complaints.add(f"{where}: expected entries of at most {LONGEST_ENTRY:,} bytes; the rest was skipped.")
            return
    if scan.depth > 0 or not at:
        complaints.add("The file ends within its JSON; what comes before is shown.", "truncated")


def _object(entries: bytearray) -> bytes:
    return b"{" + entries.strip(b" \t\r\n,") + b"}"


def _key(text: bytes) -> str:
    """Return the key at the end of a text such as `, "step5": `."""
    begin, end = text.find(b'"'), text.rfind(b'"')
    try:
        found = json.loads(text[begin : end + 1].decode("utf-8", "replace")) if begin >= 0 else ""
    except ValueError:
        return ""
    return encodable(found) if isinstance(found, str) else ""


class Scan:
    """Finds braces outside of strings, with `arrays` also brackets, block after block. depth is that after the last block."""

    def __init__(self, *, arrays: bool = False) -> None:
        self.depth = 0
        self._arrays = arrays
        self._inside = False  # of a string
        self._escapes = False  # the next byte is escaped by a backslash

    def shallow(self, block: bytes, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the places in the block of the braces of depth up to `most`, and the depth after each."""
        array = np.frombuffer(block, np.uint8)
        quotes = np.flatnonzero(array == 0x22)
        if self._escapes or b"\\" in block:
            quotes = self._unescaped(array, quotes)
        folded = array | 0x20 if self._arrays else array  # [ and ] as { and }
        places = np.flatnonzero((folded == 0x7B) | (folded == 0x7D))
        outside = (np.searchsorted(quotes, places) + self._inside) % 2 == 0
        places = places[outside]
        self._inside = bool((len(quotes) + self._inside) % 2)
        depths = self.depth + np.cumsum(np.where(folded[places] == 0x7B, np.int64(1), np.int64(-1)))
        if len(depths):
            self.depth = int(depths[-1])
        chosen = depths <= most
        return places[chosen], depths[chosen]

    def _unescaped(self, array: NDArray[np.uint8], quotes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the quotes with an even number of backslashes before them; remember whether the block ends in an odd one."""
        others = np.flatnonzero(array != 0x5C)
        own = np.searchsorted(others, quotes)
        before = np.where(own > 0, others[own - 1], -1)
        odd = (quotes - before - 1) % 2 == 1
        if self._escapes:  # the backslash belongs to the run before the first other byte
            odd ^= before < 0
        last = int(others[-1]) if len(others) else -1
        run = len(array) - 1 - last + (self._escapes and last < 0)
        self._escapes = bool(run % 2)
        even: NDArray[np.int64] = quotes[~odd]
        return even
