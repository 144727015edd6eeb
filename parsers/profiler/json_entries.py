"""Reads JSON of three levels, {a: {b: {name: entry}}}, entry by entry: communication files may be larger than memory.

Small files are decoded at once. Of large ones a few MB are read at a time and cut between entries, by position: a file that
is cut under a memory map would end the process. What cannot be decoded as expected is decoded by itself; what is damaged is
reported and skipped.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec
import numpy as np

from parsers.files import RegularFile
from parsers.json_text import all_encodable, encodable, parse_json
from parsers.profiler.lines import Complaints
from parsers.profiler.progress import report_read

WHOLE = 8 << 20
"""Files up to this size are decoded at once."""
BLOCK = 4 << 20
LONGEST_ENTRY = 64 << 20
"""Maximum bytes of one entry."""
T = TypeVar("T")
Entries = Iterator[tuple[str, str, dict[str, T]]]
_DEPTH = 3


def entries(path: str, kind: type[T], lenient: Callable[[Any], T | None], complaints: Complaints) -> Entries[T]:
    """Yield (a, b, {name: entry}); several times for one a and b if there are many entries.

    lenient makes an entry of what was decoded without types; None for what is none. Never raises for the content of the file.
    """
    # msgspec takes types as values; mypy accepts no variable in a type, so the types to decode are made without its help.
    inner_type: Any = dict.__class_getitem__((str, kind))
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
                    whole = msgspec.json.decode(data, type=dict[str, dict[str, inner_type]])
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    pass
                else:
                    for a, inner in whole.items():
                        for b, found in inner.items():
                            yield a, b, found
                    return
            begun = len(complaints.problems)
            number = 0
            for a, b, piece in _pieces(file, complaints):
                number += 1
                yield a, b, _decoded(piece, f"{a[:60]}.{b[:60]}", decoder, lenient, complaints)
            if not number and len(complaints.problems) == begun:
                complaints.add("Expected JSON with objects by step, found another content; nothing is taken from the file.")
    except OSError as error:
        complaints.add(f"The file cannot be read ({error.strerror or error}); what is in it is not shown.", "unreadable")


def _decoded(
    piece: bytes,
    where: str,
    decoder: msgspec.json.Decoder[dict[str, T]],
    lenient: Callable[[Any], T | None],
    complaints: Complaints,
) -> dict[str, T]:
    try:
        return decoder.decode(piece)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        found = parse_json(piece.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        found, rest = _singly(piece), error.msg.lower() if isinstance(error, json.JSONDecodeError) else str(error)
        complaints.add(f"{where}: expected JSON, found {rest}; damaged entries were skipped.")
    made: dict[str, T] = {}
    for name, value in found.items():
        entry = lenient(value)
        if entry is None:
            complaints.add(f"{where}.{name[:60]}: expected an object with times or links; it was skipped.")
        else:
            made[name] = entry
    return made


def _singly(piece: bytes) -> dict[str, Any]:
    """Return those entries of a damaged piece that can be decoded."""
    decoder = json.JSONDecoder()
    text = piece.decode("utf-8", "replace")
    found: dict[str, Any] = {}
    at = 1
    while at < len(text):
        begin = text.find('"', at)
        if begin < 0:
            return found
        try:
            name, end = decoder.raw_decode(text, begin)
            value, at = decoder.raw_decode(text, text.index("{", end))
            value = all_encodable(value)
        except (ValueError, RecursionError):
            at = begin + 1
            continue
        if isinstance(name, str):
            found[encodable(name)] = value
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
    rest, at, depth = b"", 0, 0
    keys = ["", ""]
    while at < file.size:
        block = file.read(at, BLOCK)
        if not block:
            break
        report_read(len(block))
        at += len(block)
        data = rest + block
        braces, depths = _braces(data, depth)
        begin = 0  # of the entries not yet given, or of the key before the next brace
        end = -1  # of the last whole entry
        shallow = np.flatnonzero(depths <= _DEPTH)
        for place in shallow.tolist():
            position, level = int(braces[place]), int(depths[place])
            opens = data[position] == 0x7B
            if opens:
                if 2 <= level <= _DEPTH:
                    keys[level - 2] = _key(data[begin:position])
                begin = position + 1
            elif level == _DEPTH:
                end = position + 1
                continue
            else:
                if level == _DEPTH - 1 and end > begin:
                    yield keys[0], keys[1], _object(data[begin:end])
                begin = position + 1
            depth, end = level, -1
        if end > begin:
            yield keys[0], keys[1], _object(data[begin:end])
            begin = end
        rest = data[begin:]
        if len(rest) > LONGEST_ENTRY:
            where = f"{keys[0][:60]}.{keys[1][:60]}"
            complaints.add(f"{where}: expected entries of at most {LONGEST_ENTRY:,} bytes; the rest was skipped.")
            return
    if depth > 0 or not at:
        complaints.add("The file ends within its JSON; what comes before is shown.", "truncated")


def _object(entries: bytes) -> bytes:
    return b"{" + entries.strip(b" \t\r\n,") + b"}"


def _key(text: bytes) -> str:
    """Return the key at the end of a text such as `, "step5": `."""
    begin, end = text.find(b'"'), text.rfind(b'"')
    try:
        found = json.loads(text[begin : end + 1].decode("utf-8", "replace")) if begin >= 0 else ""
    except ValueError:
        return ""
    return encodable(found) if isinstance(found, str) else ""


def _braces(data: bytes, depth: int) -> tuple[Any, Any]:
    """Return the places of the braces outside of strings, and the depth after each; data begins outside of a string."""
    array = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(array == 0x22)
    if b"\\" in data:
        quotes = quotes[[_unescaped(data, int(place)) for place in quotes.tolist()]] if len(quotes) else quotes
    braces = np.flatnonzero((array | 0x06) == 0x7F)  # { is 7B, } is 7D; 79 and 7F are none of both
    braces = braces[(array[braces] == 0x7B) | (array[braces] == 0x7D)]
    outside = np.searchsorted(quotes, braces) % 2 == 0
    braces = braces[outside]
    change = np.where(array[braces] == 0x7B, 1, -1)
    return braces, depth + np.cumsum(change)


def _unescaped(data: bytes, place: int) -> bool:
    count = 0
    while place - count > 0 and data[place - count - 1] == 0x5C:
        count += 1
    return count % 2 == 0
