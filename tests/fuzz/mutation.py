"""Mutates files: any bytes, and formats by their structure, with lengths and checksums made right again.

A mutation is a pure function of its input and a random generator, so a case can be made again from its seed. Seven of ten cases
of a format with structure are mutated by it (`FORMS`), the others as plain bytes, and some as both.
"""

from __future__ import annotations

import json
import sqlite3
import struct
import zlib
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import google_crc32c
import msgspec

from parsers.events.checksums import masked

MOST = 128 << 10
"""Maximum bytes of a case."""
Corpus = Sequence[bytes]
Mutation = Callable[[bytes, Corpus, Random], bytes]

_WORDS = (
    b"\x00", b"\xff", b"\x00" * 16, b"\xff" * 8, b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x80\x00\x00\x00",
    b"\xff\xff\xff\xff\x0f", b"\xff" * 9 + b"\x01", b"\x80" * 10, b"\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x00\x00\xc0\x7f",
    b"\x00\x00\x80\x7f", b"\x00\x00\x00\x00\x00\x00\xf8\x7f", b"\x00\x00\x00\x00\x00\x00\xf0\xff", b"\xef\xbb\xbf", b"\xff\xfe",
    b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff\xe0", b"RIFF\x00\x00\x00\x00WEBPVP8X", b"\x93NUMPY\x01\x00",
    b"SQLite format 3\x00", b"MindSpore.Event:1", b"brain.Event:2", b"MSIX\0\0\0", b"MSPF\0\0\0", b"PK\x03\x04",
    b"\x1f\x8b\x08", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\xf0\x9f\x92\xa9",
)  # fmt: skip
_TOKENS = (
    b"0", b"-1", b"--5", b"+", b"1e309", b"-1e-400", b"nan", b"NaN", b"Infinity", b"-inf", b"9223372036854775807",
    b"9223372036854775808", b"-9223372036854775809", b"18446744073709551616", b"4294967296", b"0x1F", b"1_000", b"1e18",
    b"0.1.2", b"9" * 40, b"1" * 5000, b".", b",", b";", b":", b"=", b"\t", b" ", b"\n", b"\r", b"\r\n", b"\n\n", b'"', b'""',
    b"'", b"`", b"\\", b"\\u0000", b"\\ud800", b"{", b"}", b"[", b"]", b"(", b")", b"<", b">", b"[[[[", b"{" * 300,
    b"(" * 300, b"[" * 2000, b"#", b"%", b"&a [*a]", b"*a", b"!!python/object:os.system ", b"!!int ", b"<<: *a", b"- ", b"? ",
    b"|", b"null", b"true", b"None", b"--", b"-> ", b"%0", b"@1_main", b"step", b"\x00", b"\xff", b"\xc3", "训练".encode(),
    "\u202e".encode(), "\U0001f4a9".encode(), b"NULL", b"1970-01-01", b"/", b"../", b"$", b"subgraph", b"digraph",
)  # fmt: skip
_NUMBERS: tuple[int | float, ...] = (
    0, 1, -1, 2, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, 2**31, -(2**31), 2**32, 2**53 + 1, 2**63 - 1, -(2**63), 2**63,
    2**64, 10**30, 0.1, -0.5, 1e18, 1e300, float("inf"), float("-inf"), float("nan"),
)  # fmt: skip


def mutate(form: str, data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Return a mutated copy of data, of at most MOST bytes; form is a key of FORMS, corpus other files of the same target."""
    by_form = FORMS[form]
    found = data
    if by_form is not plain and random.random() < 0.7:
        found = by_form(found, corpus, random)
    if found is data or random.random() < 0.15:
        found = plain(found, corpus, random)
    return found[:MOST]


def plain(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Apply one to four mutations of bytes."""
    return _several(data, corpus, random, _BYTES)


def text(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Apply one to four mutations of bytes, tokens and lines."""
    return _several(data, corpus, random, _TEXTS)


def _several(data: bytes, corpus: Corpus, random: Random, kinds: Sequence[Mutation]) -> bytes:
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        data = random.choice(kinds)(data, corpus, random)[:MOST]
    return data


# Bytes ---------------------------------------------------------------------------------------------------------------------


def _flip(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    made = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8)) if made else 0):
        at = random.randrange(len(made))
        old = made[at]
        made[at] = random.choice((old ^ 1 << random.randrange(8), random.randrange(256), old ^ 0xFF, (old + 1) % 256))
    return bytes(made)


def _cut(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    at = random.randint(0, len(data))
    return data[:at] if random.random() < 0.8 else data[at:]


def _delete(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    begin, end = _range(data, random)
    return data[:begin] + data[end:]


def _repeat(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    begin, end = _range(data, random)
    return data[:begin] + data[begin:end] * _times(end - begin, random.choice((2, 2, 3, 10, 300))) + data[end:]


def _insert(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    at = random.randint(0, len(data))
    return data[:at] + random.choice(_WORDS) + data[at:]


def _overwrite(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    at, word = random.randint(0, len(data)), random.choice(_WORDS)
    return data[:at] + word + data[at + len(word) :]


def _integer(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    width = random.choice((2, 4, 8))
    if len(data) < width:
        return data
    at = random.randrange(len(data) - width + 1)
    order = random.choice(("<", ">"))
    number = int(random.choice([one for one in _NUMBERS if isinstance(one, int)]))
    near = random.choice((number, number + random.randint(-8, 8), len(data), len(data) - at)) % (1 << 8 * width)
    return data[:at] + struct.pack(f"{order}Q", near)[8 - width if order == ">" else 0 :][:width] + data[at + width :]


def _splice(data: bytes, corpus: Corpus, random: Random) -> bytes:
    other = random.choice(corpus) if corpus else data
    begin, end = _range(data, random)
    from_, to = _range(other, random)
    return data[:begin] + other[from_:to] + data[random.choice((begin, end)) :]


def _swap(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    begin, end = _range(data, random)
    to = random.randint(end, len(data))
    return data[:begin] + data[end:to] + data[begin:end] + data[to:]


def _range(data: bytes, random: Random) -> tuple[int, int]:
    begin = random.randint(0, len(data))
    longest = len(data) - begin
    return begin, begin + min(longest, random.choice((1, 2, 4, 8, 16, 64, random.randint(0, longest))))


def _times(size: int, wanted: int) -> int:
    """Return how often something of a size is repeated: as wanted, if a case holds that."""
    return min(wanted, 1 + MOST // max(size, 1))


_BYTES: tuple[Mutation, ...] = (_flip, _flip, _cut, _delete, _repeat, _insert, _overwrite, _integer, _splice, _swap)


# Texts ---------------------------------------------------------------------------------------------------------------------


def _token(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    at = random.randint(0, len(data))
    return data[:at] + random.choice(_TOKENS) + data[at:]


def _number(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    """Replace the number around a random place, else what separates the texts there."""
    at = random.randint(0, len(data))
    begin, end = at, at
    while begin > 0 and data[begin - 1 : begin] in _DIGITS and at - begin < 40:
        begin -= 1
    while end < len(data) and data[end : end + 1] in _DIGITS and end - at < 40:
        end += 1
    return data[:begin] + random.choice(_TOKENS) + data[end:]


_DIGITS = frozenset(bytes((one,)) for one in b"0123456789.-+e")


def _lines(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Move, repeat, delete or take over lines."""
    lines = data.split(b"\n")
    other = random.choice(corpus).split(b"\n") if corpus else lines
    at, to = random.randrange(len(lines)), random.randrange(len(lines))
    act = random.randrange(5)
    if act == 0:
        del lines[at : at + random.choice((1, 1, 3))]
    elif act == 1:
        lines[at:at] = [lines[to]] * random.choice((1, 2, 50))
    elif act == 2:
        lines[at], lines[to] = lines[to], lines[at]
    elif act == 3:
        lines[at:to] = [random.choice(other)]
    else:
        lines.insert(at, random.choice(other))
    return b"\n".join(lines)


def _cells(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    """Change one cell of a table, or a column of the whole of it."""
    lines = data.split(b"\n")
    mark = max((b",", b";", b" ", b"|"), key=data.count)
    row = random.randrange(len(lines))
    rows = range(len(lines)) if random.random() < 0.3 else (row,)
    column = random.randrange(lines[row].count(mark) + 1)
    act, word, times = random.randrange(5), random.choice(_TOKENS), random.choice((2, 3, 40))
    for at in rows:
        cells = lines[at].split(mark)
        if column >= len(cells):
            continue
        if act == 0:
            cells[column] = word
        elif act == 1:
            del cells[column]
        elif act == 2:
            cells[column] = b""
        elif act == 3:
            cells[column:column] = [cells[column]] * times
        else:
            cells[column] = b'"' + cells[column] + random.choice((b'"', b"", b'""'))
        lines[at] = mark.join(cells)
    return b"\n".join(lines)


_TEXTS: tuple[Mutation, ...] = (*_BYTES, _token, _token, _token, _number, _number, _number, _lines, _lines)
_TABLES: tuple[Mutation, ...] = (*_TEXTS, _cells, _cells, _cells, _cells)


def table(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Apply one to four mutations of cells, lines, tokens and bytes."""
    return _several(data, corpus, random, _TABLES)


# JSON and other trees ------------------------------------------------------------------------------------------------------


def tree(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Change values of a JSON document, which stays one; half of the time its text instead."""
    if random.random() < 0.5:
        return text(data, corpus, random)
    try:
        found = json.loads(data)
        return json.dumps(_grown(found, random), ensure_ascii=random.random() < 0.9).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        return text(data, corpus, random)


def _grown(found: Any, random: Random) -> Any:
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
    return random.choice(_NUMBERS)


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
            found[at:at] = [found[at]] * _times(len(found[at]), random.choice((1, 2, 20)))
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
        return text(data, (), random) if data and _printable(data) else plain(data, (), random)
    at = random.randrange(len(found))
    act = random.random()
    if act < 0.06:
        del found[at]
    elif act < 0.12:
        found[at:at] = [found[at]] * _times(len(found[at][2]), random.choice((1, 2, 30, 1000)))
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
            content = _varint(random.choice([one for one in _NUMBERS if isinstance(one, int)]) % (1 << 64))
        elif kind in (1, 5):
            width = 8 if kind == 1 else 4
            content = random.choice((b"\xff", b"\x00", b"\x7f")) * width if random.random() < 0.5 else random.randbytes(width)
        else:
            content = text(content, (), random) if _printable(content) else plain(content, (), random)
        found[at] = (number, kind, content)
    return b"".join(_varint(number << 3 | kind) + (_varint(len(c)) if kind == 2 else b"") + c for number, kind, c in found)


def fields(data: bytes) -> list[tuple[int, int, bytes]]:
    """Return (number, wire type, content) of each field of a message; empty if it is none."""
    found, at = [], 0
    while at < len(data):
        key, at = _read_varint(data, at)
        kind = key & 7
        if not 0 < key >> 3 < 1 << 29 or kind not in (0, 1, 2, 5):
            return []
        if kind == 0:
            value, end = _read_varint(data, at)
            if value < 0:
                return []
        elif kind == 2:
            size, at = _read_varint(data, at)
            end = at + size if size >= 0 else len(data) + 1
        else:
            end = at + (8 if kind == 1 else 4)
        if end > len(data):
            return []
        found.append((key >> 3, kind, data[at:end]))
        at = end
    return found


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
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


def _printable(data: bytes) -> bool:
    return bool(data) and all(32 <= one < 127 or one in (9, 10) for one in data[:64])


# Formats with checksums of their own ---------------------------------------------------------------------------------------


def png(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Change chunks of a PNG, whose lengths and CRCs are made right again; other images as bytes."""
    if not data.startswith(b"\x89PNG\r\n\x1a\n"):
        return plain(data, corpus, random)
    chunks, at = [], 8
    while at + 12 <= len(data) and at + 12 + (size := int.from_bytes(data[at : at + 4], "big")) <= len(data):
        chunks.append(data[at + 4 : at + 8 + size])
        at += 12 + size
    for _ in range(random.choice((1, 1, 2)) if chunks else 0):
        place = random.randrange(len(chunks))
        act = random.random()
        if act < 0.1:
            chunks.insert(place, chunks[place])
        elif act < 0.2 and len(chunks) > 1:
            del chunks[place]
        else:
            chunks[place] = chunks[place][:4] + plain(chunks[place][4:], (), random)
    made = [data[:8]]
    for chunk in chunks:
        made += [struct.pack(">I", max(len(chunk) - 4, 0)), chunk, struct.pack(">I", zlib.crc32(chunk))]
    return b"".join(made)


def npy(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Change the text of a .npy header, whose length is made right again."""
    if len(data) < 10 or data[6] != 1:
        return plain(data, corpus, random)
    size = int.from_bytes(data[8:10], "little")
    head = text(data[10 : 10 + size], (), random)[:60_000]
    return data[:8] + struct.pack("<H", len(head)) + head + data[10 + size :]


def snapshot(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Change header or columns of a snapshot of ours, whose CRCs and lengths are made right again."""
    if len(data) < 24:
        return plain(data, corpus, random)
    size = int.from_bytes(data[8:16], "little")
    raw, body = data[24 : 24 + size], data[24 + size + -size % 8 :]
    try:
        header = msgspec.msgpack.decode(raw)
        if random.random() < 0.3:
            body = plain(body, (), random)
        else:
            header = _grown(header, random)
        columns = "columns" if isinstance(header, dict) and isinstance(header.get("columns"), int) else "size"
        if isinstance(header, dict) and random.random() < 0.9:
            header |= {columns: len(body), "crc": google_crc32c.value(body)}
        raw = msgspec.msgpack.encode(header)
    except (msgspec.DecodeError, OverflowError, UnicodeError, RecursionError, TypeError):
        raw = plain(raw, (), random)
    prefix = data[:8] + struct.pack("<QQ", len(raw), google_crc32c.value(raw))
    return prefix + raw + bytes(-len(raw) % 8) + body


def notes(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Change lines of a notes file, whose CRCs are made right again."""
    lines = [line[9:] for line in data.split(b"\n") if len(line) > 9]
    for _ in range(random.choice((1, 1, 2)) if lines else 0):
        at = random.randrange(len(lines))
        lines[at] = tree(lines[at], (), random).replace(b"\n", b"")
    return b"".join(b"%08x %s\n" % (zlib.crc32(line), line) for line in _lines(b"\n".join(lines), (), random).split(b"\n"))


def database(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Change values, rows and tables of an SQLite database."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.deserialize(data)
        connection.execute("PRAGMA journal_mode=OFF")
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type='table' ORDER BY name")]
        for _ in range(random.choice((1, 1, 2, 4))):
            _change_table(connection, random.choice(tables), random)
        return connection.serialize()
    except (sqlite3.Error, IndexError, MemoryError, TypeError, ValueError):  # names of other types, and with a zero
        return plain(data, corpus, random)
    finally:
        connection.close()


def _change_table(connection: sqlite3.Connection, name: object, random: Random) -> None:
    if not isinstance(name, str):
        raise TypeError("expected the name of a table")
    table_name = '"' + name.replace('"', '""') + '"'
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table_name})")]
    column = '"' + random.choice(columns).replace('"', '""') + '"'
    numbers = (one for one in _NUMBERS if isinstance(one, float) or abs(one) < 2**63)
    words = (*numbers, None, "x", "", b"\xff\x00", "9" * 40, "1" * 5000)
    act = random.random()
    if act < 0.6:
        where = random.choice(("", f" WHERE rowid = (SELECT rowid FROM {table_name} LIMIT 1)", " WHERE rowid % 2"))
        connection.execute(f"UPDATE OR IGNORE {table_name} SET {column} = ?{where}", (random.choice(words),))
    elif act < 0.7:
        connection.execute(f"DELETE FROM {table_name} WHERE rowid % 2")
    elif act < 0.8:
        others = ", ".join('"' + one.replace('"', '""') + '"' for one in columns)
        connection.execute(f"INSERT OR IGNORE INTO {table_name} SELECT {others} FROM {table_name} LIMIT 100")
    elif act < 0.88:
        connection.execute(f"ALTER TABLE {table_name} DROP COLUMN {column}")
    elif act < 0.94:
        connection.execute(f"ALTER TABLE {table_name} RENAME COLUMN {column} TO {random.choice(('x', 'id', 'value', 'name'))}")
    else:
        connection.execute(f"DROP TABLE {table_name}")


FORMS: dict[str, Mutation] = {
    "plain": plain, "text": text, "table": table, "tree": tree, "records": records, "message": message, "png": png, "npy": npy,
    "snapshot": snapshot, "notes": notes, "database": database,
}  # fmt: skip
"""Name of a form -> the mutation that knows its structure."""
