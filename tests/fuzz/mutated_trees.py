"""Mutations of what has parts within parts: JSON, records of event files, messages of protobuf."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from random import Random
from typing import Any

from parsers.recording.wire import masked
from tests.fuzz.mutated_texts import MOST, NUMBERS, Corpus, plain, repetitions, text

# JSON and other trees ------------------------------------------------------------------------------------------------------


def tree(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Change values of a JSON document, which stays one; half of the time its text instead."""
    if random.random() < 0.5:
        return text(data, corpus, random)
    try:
        found = json.loads(data)
        return json.dumps(changed_tree(found, random), ensure_ascii=random.random() < 0.9).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        return text(data, corpus, random)


def changed_tree(found: Any, random: Random) -> Any:
    for _ in range(random.choice((1, 1, 2, 3))):
        found = _changed(found, random, 0)
    return found


def _changed(found: Any, random: Random, depth: int) -> Any:
    """Replace one value somewhere in a tree of dicts and lists."""
    if depth < 12 and isinstance(found, dict) and found and random.random() < 0.85:
        key = random.choice(list(found))
        act = random.random()
        rest = dict(found)
        if act < 0.08:
            del rest[key]
        elif act < 0.16:
            rest[random.choice(("", "x" * 300, "0", "step", "\ud800", "name", f"{key}"))] = rest.pop(key)
        else:
            rest[key] = _changed(rest[key], random, depth + 1)
        return rest
    if depth < 12 and isinstance(found, list | tuple) and found and random.random() < 0.85:
        at = random.randrange(len(found))
        act = random.random()
        several = list(found)
        if act < 0.08:
            del several[at]
        elif act < 0.14:
            several[at:at] = [several[at]] * random.choice((1, 3, 30))
        elif act < 0.18:
            several[at] = random.choice(several)
        else:
            several[at] = _changed(several[at], random, depth + 1)
        return several
    return _value(found, random)


def _value(found: Any, random: Random) -> Any:
    act = random.randrange(8)
    if act == 0 and isinstance(found, str):
        return text(found.encode("utf-8", "surrogatepass"), (), random)[:4000].decode("utf-8", "replace")
    if act == 1 and isinstance(found, int | float) and not isinstance(found, bool):
        return -found
    if act == 2:
        return [found]
    if act == 3:
        return {"name": found}
    if act == 4:
        deep: Any = found
        for _ in range(random.choice((3, 60, 400))):
            deep = [deep]
        return deep
    if act == 5:
        return random.choice((None, True, False, "", [], {}, [None], "nan", "-1", "1e309", "\ud800", "\x00"))
    return random.choice(NUMBERS)


# Records of event files ----------------------------------------------------------------------------------------------------


def records(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Change records of an event file, whose lengths and CRCs are made right again."""
    found = split_records(data)
    if not found:
        return plain(data, corpus, random)
    for _ in range(random.choice((1, 1, 2, 3))):
        at = random.randrange(len(found)) if found else 0
        act = random.random()
        if act < 0.65 and found:
            found[at] = random.choice((message, message, plain))(found[at], (), random)
        elif act < 0.72 and found:
            del found[at]
        elif act < 0.8 and found:
            found[at:at] = [found[at]] * repetitions(len(found[at]), random.choice((1, 2, 20)))
        elif act < 0.86 and found:
            other = random.randrange(len(found))
            found[at], found[other] = found[other], found[at]
        elif corpus and (others := split_records(random.choice(corpus))):
            found.insert(at, random.choice(others))
    return join_records(found)


def split_records(data: bytes) -> list[bytes]:
    """Return the contents of the records of an event file, up to the first one that is not whole."""
    found, at = [], 0
    while at + 16 <= len(data):
        size = int.from_bytes(data[at : at + 8], "little")
        if at + 16 + size > len(data):
            break
        found.append(data[at + 12 : at + 12 + size])
        at += 16 + size
    return found


def join_records(contents: Sequence[bytes]) -> bytes:
    """Return an event file with these records."""
    made = []
    for content in contents:
        length = struct.pack("<Q", len(content))
        made += [length, struct.pack("<I", masked(length)), content, struct.pack("<I", masked(content))]
    return b"".join(made)


# Messages of protobuf ------------------------------------------------------------------------------------------------------


def message(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Change fields of a protobuf message, at any level, with the lengths around them made right."""
    for _ in range(random.choice((1, 1, 2, 3))):
        other = random.choice(corpus) if corpus else data
        data = _message(data, other, random, 0)[:MOST]
    return data


def _message(data: bytes, other: bytes, random: Random, depth: int) -> bytes:
    found = fields(data)
    if not found:
        return text(data, (), random) if data and printable(data) else plain(data, (), random)
    at = random.randrange(len(found))
    act = random.random()
    if act < 0.06:
        del found[at]
    elif act < 0.12:
        found[at:at] = [found[at]] * repetitions(len(found[at][2]), random.choice((1, 2, 30, 1000)))
    elif act < 0.17:
        found.insert(at, random.choice(fields(other) or found))
    elif act < 0.21:
        to = random.randrange(len(found))
        found[at], found[to] = found[to], found[at]
    elif act < 0.25:
        number, kind, content = found[at]
        found[at] = (random.choice((number + 1, number - 1, random.randint(1, 20), number)) % (1 << 29), kind, content)
    elif act < 0.28:  # the same message within itself, as deep as it gets
        number, kind, content = found[at]
        nested = content
        for _ in range(random.choice((2, 20, 150))):
            nested = _varint(number << 3 | 2) + _varint(len(nested)) + nested
        found[at] = (number, 2, nested)
    else:
        number, kind, content = found[at]
        if kind == 2 and depth < 14 and fields(content):
            content = _message(content, other, random, depth + 1)
        elif kind == 0:
            content = _varint(random.choice([one for one in NUMBERS if isinstance(one, int)]) % (1 << 64))
        elif kind in (1, 5):
            width = 8 if kind == 1 else 4
            content = random.choice((b"\xff", b"\x00", b"\x7f")) * width if random.random() < 0.5 else random.randbytes(width)
        else:
            content = text(content, (), random) if printable(content) else plain(content, (), random)
        found[at] = (number, kind, content)
    return b"".join(_varint(number << 3 | kind) + (_varint(len(c)) if kind == 2 else b"") + c for number, kind, c in found)


def fields(data: bytes) -> list[tuple[int, int, bytes]]:
    """Return (number, wire type, content) of each field of a message; empty if it is none."""
    found, at = [], 0
    while at < len(data):
        key, at = read_varint(data, at)
        kind = key & 7
        if not 0 < key >> 3 < 1 << 29 or kind not in (0, 1, 2, 5):
            return []
        if kind == 0:
            value, end = read_varint(data, at)
            if value < 0:
                return []
        elif kind == 2:
            size, at = read_varint(data, at)
            end = at + size if size >= 0 else len(data) + 1
        else:
            end = at + (8 if kind == 1 else 4)
        if end > len(data):
            return []
        found.append((key >> 3, kind, data[at:end]))
        at = end
    return found


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            return -1, at
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
    return -1, at


def _varint(value: int) -> bytes:
    made = bytearray()
    while value >= 0x80:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def printable(data: bytes) -> bool:
    return bool(data) and all(32 <= one < 127 or one in (9, 10) for one in data[:64])
