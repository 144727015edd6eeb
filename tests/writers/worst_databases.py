"""The worst databases of profilers: those that SQLite opens, of which reading costs most."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable

from tests.writers.worst_files import ASCEND, SIZE, Format, Make

_TASK = "CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, globalTaskId INTEGER, streamId INTEGER);"
_INFO = "COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, opType INTEGER, inputShapes INTEGER)"
_COMPUTE = f"CREATE TABLE {_INFO};"
_STRINGS = "CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);"
_ALL = _TASK + _COMPUTE + _STRINGS
Rows = Iterable[tuple[object, ...]]


def _database(schema: str, rows: Callable[[int], dict[str, Rows]], most: int = 10_000_000) -> bytes:
    """Return a database of about SIZE: rows by table, of a number of rows that is found by trying."""
    count = min(1000, most)
    while True:
        with contextlib.closing(sqlite3.connect(":memory:")) as connection:
            connection.executescript(schema)
            for table, some in rows(count).items():
                first, *others = some
                marks = ",".join("?" * len(first))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", [first, *others])
            connection.commit()
            data = connection.serialize()
        if len(data) >= SIZE * 0.8 or count == most:
            return data
        count = min(int(count * SIZE / len(data)) + 1, most)


def _kernels(count: int) -> dict[str, Rows]:
    return {
        "TASK": ((at * 10, at * 10 + 5, at, 1) for at in range(count)),
        "COMPUTE_TASK_INFO": ((at % 100, at, at % 100, at % 100) for at in range(count)),
        "STRING_IDS": ((at, f"Default/MatMul-op{at}") for at in range(100)),
    }


def _one(table: str, row: Callable[[int], tuple[object, ...]]) -> Make:
    """Return what fills one table beside a task."""

    def rows(count: int) -> dict[str, Rows]:
        own = {"TASK": [(5, 9, 7, 1)], "COMPUTE_TASK_INFO": [(1, 7, 1, 1)], "STRING_IDS": [(1, "MatMul")]}
        return own | {table: (*own.get(table, ()), *(row(at) for at in range(10, count)))}

    return lambda: _database(_ALL, rows)


def _long(size: int) -> Make:
    return lambda: _database(_ALL, lambda _: _kernels(5) | {"STRING_IDS": [(1, "x" * size)]}, 1)


def _tables() -> bytes:
    return _database(_ALL + "".join(f"CREATE TABLE t{at} (a);" for at in range(1000)), lambda _: _kernels(5), 1)


def _columns() -> bytes:
    columns = ",".join(f"c{at}" for at in range(1900))
    schema = _COMPUTE + _STRINGS + f"CREATE TABLE TASK (startNs, endNs, globalTaskId, streamId, {columns})"
    return _database(schema, lambda count: {"TASK": ((at, at + 1, at) + (None,) * 1901 for at in range(count))})


DATABASES: dict[str, Format] = {
    "database": Format(f"{ASCEND}/ascend_mindspore_profiler.db", lambda: _database(_ALL, _kernels), {
        "long_text": _long(SIZE),
        "texts": _one("STRING_IDS", lambda at: (at, "")),
        "long_texts": _one("STRING_IDS", lambda at: (at, "x" * 1000)),
        "tasks": _one("TASK", lambda at: (0, 1, 7, 0)),
        "empty_tasks": _one("TASK", lambda at: (None, None, None, None)),
        "texts_for_numbers": _one("TASK", lambda at: ("a", "b", "c", "d")),
        "long_for_numbers": _one("TASK", lambda at: ("9" * 300, "9" * 300, 7, 1)),
        "blobs": _one("TASK", lambda at: (b"\0" * 200, b"", 7, 1)),
        "same_task": lambda: _database(
            _TASK + "CREATE TABLE COMPUTE_TASK_INFO (name, globalTaskId, opType, inputShapes);" + _STRINGS,
            lambda count: {"TASK": ((1, 2, 7, 1) for _ in range(count // 2)),
                           "COMPUTE_TASK_INFO": ((1, 7, 1, 1) for _ in range(count // 2))},
        ),
        "extreme_times": _one("TASK", lambda at: (-(1 << 63), (1 << 63) - 1, 7, 1)),
        "endless_times": _one("TASK", lambda at: (1e308, float("inf"), 7, 1)),
        "tables": _tables,
        "columns": _columns,
    }),
}  # fmt: skip
