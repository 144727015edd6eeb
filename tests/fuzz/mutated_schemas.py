"""Mutations of SQLite files that are hostile rather than damaged: what schemas compute, logs with right checksums."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Sequence
from random import Random

from tests.fuzz.mutated_containers import database
from tests.fuzz.mutated_texts import Corpus, plain, text

_SLOW = "(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 999999999) SELECT max(n) FROM c)"
_VALUES = (
    "1",
    "NULL",
    "randomblob(100000000)",
    "zeroblob(1 << 30)",
    "printf('%.*c', 100000000, 'x')",
    _SLOW,
    "load_extension('x')",
)
_MODULES = (
    "fts5({0}, content='')",
    "fts5({0}, content='{1}')",
    "fts4({0})",
    "rtree({0}, a, b)",
    "dbstat",
    "json_each",
    "nothing({0})",
)
_STATEMENTS = (
    'ALTER TABLE "{0}" RENAME TO "{1}"; CREATE VIEW "{0}" AS SELECT * FROM "{1}"',
    'ALTER TABLE "{0}" RENAME TO "{1}"; CREATE VIEW "{0}" AS SELECT {3} AS "{2}" FROM "{1}" a, "{1}" b, "{1}" c',
    'CREATE VIEW "{1}" AS SELECT * FROM "{1}x"; CREATE VIEW "{1}x" AS SELECT * FROM "{1}"',
    'ALTER TABLE "{0}" ADD COLUMN "{1}" GENERATED ALWAYS AS ({3}) VIRTUAL',
    'ALTER TABLE "{0}" RENAME COLUMN "{2}" TO "{1}"; ALTER TABLE "{0}" ADD COLUMN "{2}" AS (instr("{1}", {3}))',
    'ALTER TABLE "{0}" ADD COLUMN "{1}" DEFAULT {3}',
    'DROP TABLE "{0}"; CREATE VIRTUAL TABLE "{0}" USING {4}',
    'CREATE INDEX "{1}" ON "{0}" ("{2}" COLLATE nocase DESC) WHERE "{2}" > 0',
    'CREATE INDEX "{1}" ON "{0}" (length("{2}"))',
    'CREATE TRIGGER "{1}" AFTER INSERT ON "{0}" BEGIN INSERT INTO "{0}" SELECT * FROM "{0}"; END',
    "ANALYZE; UPDATE sqlite_stat1 SET stat = '1 1'; INSERT INTO sqlite_stat1 VALUES ('{0}', NULL, '999999999999999999999 1 x')",
    'CREATE TABLE "{1}" ("{2}" PRIMARY KEY CHECK ({3})) WITHOUT ROWID',
    'CREATE TABLE "{1}" AS SELECT * FROM "{0}"; DROP TABLE "{0}"; CREATE TABLE "{0}" ("{2}" BLOB COLLATE nothing)',
)  # fmt: skip
_WRITTEN = (
    "UPDATE sqlite_master SET rootpage = (SELECT max(rootpage) FROM sqlite_master)", "UPDATE sqlite_master SET rootpage = 1",
    "UPDATE sqlite_master SET type = 'view'", "UPDATE sqlite_master SET type = 'table' WHERE type = 'index'",
    "UPDATE sqlite_master SET name = 'sqlite_' || name", "UPDATE sqlite_master SET name = tbl_name || char(0) || 'x'",
    "INSERT INTO sqlite_master SELECT * FROM sqlite_master", "UPDATE sqlite_master SET sql = NULL",
)  # fmt: skip
_NAMES = ("x", "x y", "sqlite_x", "it's", "select", "rowid", "训练", "%s{}", "x" * 2000)
_HEAD, _FRAME = 32, 24


def schema(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Have the schema of a database compute what a query reads, or name what it is not."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.deserialize(data)
        connection.execute("PRAGMA journal_mode=OFF")
        for _ in range(random.choice((1, 1, 2))):
            _compute(connection, random)
        if random.random() < 0.3:
            _write_schema(connection, random)
        return connection.serialize()
    except (sqlite3.Error, IndexError, MemoryError, TypeError, ValueError):  # as for other databases
        return database(data, corpus, random)
    finally:
        connection.close()


def _compute(connection: sqlite3.Connection, random: Random) -> None:
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type='table' ORDER BY name")]
    name = str(random.choice([one for one in tables if not str(one).startswith("sqlite_")]))
    columns = [str(row[1]) for row in connection.execute(f"SELECT * FROM pragma_table_info('{name}')")]
    other = random.choice(_NAMES)
    words = ", ".join(f'"{one}"' for one in columns)
    module = random.choice(_MODULES).format(words, other)
    statements = random.choice(_STATEMENTS)
    connection.executescript(statements.format(name, other, random.choice(columns), random.choice(_VALUES), module))


def _write_schema(connection: sqlite3.Connection, random: Random) -> None:
    connection.execute("PRAGMA writable_schema=ON")
    if random.random() < 0.5:
        connection.execute(random.choice(_WRITTEN))
        return
    row, sql = random.choice(connection.execute("SELECT rowid, sql FROM sqlite_master WHERE sql != ''").fetchall())
    changed = text(str(sql).encode(), (), random)[:20_000].decode("utf-8", "replace")
    connection.execute("UPDATE sqlite_master SET sql = ? WHERE rowid = ?", (changed, row))


# Logs ------------------------------------------------------------------------------------------------------------------------


def split_log(data: bytes) -> tuple[bytes, bytes]:
    """Return the database and the log of a case: four bytes have the size of the first."""
    end = 4 + int.from_bytes(data[:4], "little")
    return data[4:end], data[end:]


def join_log(database: bytes, log: bytes) -> bytes:
    """Return the case of a database and its log."""
    return len(database).to_bytes(4, "little") + database + log


def logged(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Change a database, or frames of its log, whose checksums are made right again."""
    found, log = split_log(data)
    if random.random() < 0.2:
        return join_log(schema(found, (), random), log)
    size = int.from_bytes(log[8:12], "big") + _FRAME
    if not 512 <= size - _FRAME <= 65536 or size % 8 or len(log) < _HEAD:
        return join_log(found, plain(log, (), random))
    frames = [log[at : at + size] for at in range(_HEAD, len(log) - size + 1, size)]
    for _ in range(random.choice((1, 1, 2, 3)) if frames else 0):
        at, act = random.randrange(len(frames)), random.random()
        if act < 0.15 and len(frames) > 1:
            del frames[at]
        elif act < 0.3:
            frames[at:at] = [frames[random.randrange(len(frames))]]
        elif act < 0.5:
            page, pages = (random.choice((0, 1, 2, 3, 2**31, 2**32 - 1, random.randrange(64))) for _ in range(2))
            frames[at] = struct.pack(">II", page, pages) + frames[at][8:]
        else:
            changed = plain(frames[at][_FRAME:], (), random)
            frames[at] = frames[at][:_FRAME] + changed[: size - _FRAME].ljust(size - _FRAME, b"\0")
    return join_log(found, _summed(log[:_HEAD], frames))


def _summed(head: bytes, frames: Sequence[bytes]) -> bytes:
    """Return a log of these frames: each has the salt of the head, the checksum of all up to it (SQLite: file format, 4.2)."""
    order = ">" if head[3] & 1 else "<"
    sums = _sum(head[:24], (0, 0), order)
    made = [head[:24], struct.pack(">II", *sums)]
    for frame in frames:
        sums = _sum(frame[:8] + frame[_FRAME:], sums, order)
        made += [frame[:8], head[16:24], struct.pack(">II", *sums), frame[_FRAME:]]
    return b"".join(made)


def _sum(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    first, second = sums
    for one, other in struct.iter_unpack(f"{order}II", data):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second
