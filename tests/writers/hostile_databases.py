"""Databases that a profiler never writes: made to be slow, to run what they hold, or to show more than their tables."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

SLOW = 40_000
"""Characters in the texts of a slow view: one row of it takes seconds of one instruction of SQLite."""
_TASKS = (
    "CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER); INSERT INTO COMPUTE_TASK_INFO VALUES (1, 7);"
    "CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT); INSERT INTO STRING_IDS VALUES (1, 'MatMul');"
)
_PLAIN = "CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, globalTaskId INTEGER); INSERT INTO TASK VALUES (5, 9, 7);"


def _slow_call(length: int = SLOW) -> str:
    """Return an expression of two long texts that differ at their ends: its time is the square of their length."""
    return f"instr(printf('%.*c', {length} * 10, 'a'), printf('%.*c', {length} * 5, 'a') || 'b')"


def _view(name: str) -> str:
    return f"CREATE VIEW {name} AS SELECT 1 AS id, {_slow_call()} AS startNs, 9 AS endNs, 7 AS globalTaskId"


def virtual(path: Path) -> None:
    """TASK is a full-text index with external content, a view whose rows take minutes; each is one instruction."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            f"{_TASKS} {_view('slow')};"
            "CREATE VIRTUAL TABLE TASK USING fts5(startNs, endNs, globalTaskId, content='slow', content_rowid='id');"
        )


def view(path: Path) -> None:
    """TASK is a view."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"{_TASKS} {_view('TASK')};")


def generated(path: Path) -> None:
    """TASK has a column that is computed when it is read."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            f"{_TASKS} {_PLAIN} ALTER TABLE TASK ADD COLUMN streamId INTEGER GENERATED ALWAYS AS ({_slow_call()}) VIRTUAL;"
        )


def masked(path: Path) -> None:
    """The schema lists TASK as a table, and the text of another entry makes it a view."""
    doubled = _view("TASK").replace("'", "''")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"{_TASKS} {_PLAIN}")
        connection.executescript(
            "PRAGMA writable_schema=ON;"
            "UPDATE sqlite_master SET sql='CREATE TABLE OTHER (startNs, endNs, globalTaskId)' WHERE name='TASK';"
            "INSERT INTO sqlite_master VALUES ('view', 'harmless', 'harmless', 0,"
            f"'{doubled}');"
        )


def planned(path: Path, rows: int = 60_000) -> None:
    """Statistics that claim one row where there are many, so that SQLite joins without an index."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, globalTaskId INTEGER);"
            "CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER);"
            "CREATE INDEX one ON TASK (startNs); CREATE INDEX two ON COMPUTE_TASK_INFO (name);"
        )
        connection.executemany("INSERT INTO TASK VALUES (?, ?, ?)", ((one, one + 1, one) for one in range(rows)))
        connection.executemany("INSERT INTO COMPUTE_TASK_INFO VALUES (?, ?)", ((one, one) for one in range(rows)))
        connection.executescript("ANALYZE; UPDATE sqlite_stat1 SET stat='1 1 noskipscan';")


HOSTILE = {"virtual": virtual, "view": view, "generated": generated, "masked": masked}
"""Makers of databases by what they hold in place of a plain table."""
