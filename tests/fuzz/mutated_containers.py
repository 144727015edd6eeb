"""Mutations of formats with checksums of their own, which are made right again, and of databases."""

from __future__ import annotations

import gzip
import sqlite3
import struct
import zlib
from random import Random

import google_crc32c
import msgspec

from tests.fuzz.mutated_texts import MOST, NUMBERS, Corpus, lines_changed, plain, text
from tests.fuzz.mutated_trees import changed_tree, tree


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


def compressed(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Change the JSON in a gzip file, whose length and CRC are made right again; one that is damaged as bytes."""
    try:
        whole = zlib.decompressobj(31).decompress(data, MOST)
    except zlib.error:
        return plain(data, corpus, random)
    return gzip.compress(tree(whole, (), random), 1, mtime=0)


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
            header = changed_tree(header, random)
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
    changed = lines_changed(b"\n".join(lines), (), random).split(b"\n")
    return b"".join(b"%08x %s\n" % (zlib.crc32(line), line) for line in changed)


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
    numbers = (one for one in NUMBERS if isinstance(one, float) or abs(one) < 2**63)
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
