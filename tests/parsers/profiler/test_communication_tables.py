"""Communication in databases of profilers: steps of operations and links, and what finding them costs."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsers.profiler.communication_tables import Tasks
from parsers.profiler.database import Database
from parsers.profiler.lines import Complaints

TABLES = """
    CREATE TABLE STRING_IDS (id INTEGER, value TEXT);
    INSERT INTO STRING_IDS VALUES (1, 'hcom_allReduce__1_0'), (2, '77'), (3, 'Memcpy');
    CREATE TABLE ENUM_HCCL_LINK_TYPE (id INTEGER, name TEXT);
    INSERT INTO ENUM_HCCL_LINK_TYPE VALUES (1, 'HCCS');
    CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);
    CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, globalTaskId INTEGER);
    CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, groupName INTEGER, opId INTEGER);
    CREATE TABLE COMMUNICATION_TASK_INFO (name INTEGER, globalTaskId INTEGER, taskType INTEGER, groupName INTEGER, opId INTEGER,
        srcRank INTEGER, dstRank INTEGER, transportType INTEGER, linkType INTEGER, size INTEGER);
"""


def made(path: Path, steps: Sequence[tuple[int, int]], starts: Sequence[int]) -> Path:
    """Write steps (number, begin) and operations of 5 ns, each with one transfer of 1 MB from rank 0 to 1."""
    connection = sqlite3.connect(path)
    connection.executescript(TABLES)
    connection.executemany("INSERT INTO STEP_TIME VALUES (?, ?, ?)", [(step, begin, begin + 3) for step, begin in steps])
    rows = [(at, at + 5, number) for number, at in enumerate(starts)]
    connection.executemany("INSERT INTO COMMUNICATION_OP VALUES (1, ?, ?, 2, ?)", rows)
    connection.executemany("INSERT INTO TASK VALUES (?, ?, ?)", rows)
    sent = "INSERT INTO COMMUNICATION_TASK_INFO SELECT 1, opId, 3, 2, opId, 0, 1, 0, 1, 1000000 FROM COMMUNICATION_OP"
    connection.execute(sent)
    connection.commit()
    connection.close()
    return path


def test_operations_and_links_are_of_the_step_under_way(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    begins = random.permutation(np.arange(100, 10_100, 100))
    steps = [(1_000 + place, int(begin)) for place, begin in enumerate(begins)]
    starts = [*random.integers(0, 12_000, 500).tolist(), 99, 100, 199, 200, 10_000]
    expected = [max(((begin, step) for step, begin in steps if begin <= at), default=(0, -1))[1] for at in starts]
    with Database(str(made(tmp_path / "a.db", steps, starts))) as database:
        tasks = Tasks(database, Complaints("a.db"))
        operations, links = tasks.operations(), tasks.links()
    assert operations is not None
    assert links is not None
    assert list(operations.collectives.values["step"]) == expected
    found = dict(zip(list(links.rows.values["step"]), list(links.rows.values["size_bytes"]), strict=True))
    assert found == {step: 1_000_000 * expected.count(step) for step in expected}


def test_without_steps_operations_are_of_none(tmp_path: Path) -> None:
    with Database(str(made(tmp_path / "a.db", [], [7]))) as database:
        found = Tasks(database, Complaints("a.db")).operations()
    assert found is not None
    assert list(found.collectives.values["step"]) == [-1]


def test_links_ask_for_the_transfers_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    rows = Database.rows

    def counted(self: Database, query: str, what: str, complaints: Complaints) -> Iterator[list[tuple[Any, ...]]]:
        asked.append(what)
        return rows(self, query, what, complaints)

    monkeypatch.setattr(Database, "rows", counted)
    with Database(str(made(tmp_path / "a.db", [(1, 0)], [5, 6]))) as database:
        assert Tasks(database, Complaints("a.db")).links() is not None
    assert asked.count("Table COMMUNICATION_TASK_INFO") == 1


def test_many_steps_cost_little_more_than_one(tmp_path: Path) -> None:
    times = []
    for place, steps in enumerate((1, 20_000)):
        path = made(tmp_path / f"{place}.db", [(step, step * 10) for step in range(steps)], range(5_000))
        with Database(str(path)) as database:
            begin = time.process_time()
            assert Tasks(database, Complaints("a.db")).operations() is not None
            times.append(time.process_time() - begin)
    assert times[1] < 4 * times[0] + 0.2
