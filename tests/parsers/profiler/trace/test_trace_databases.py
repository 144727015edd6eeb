"""Traces in databases equal what SQL finds in them."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from parsers.profiler.trace import sources
from parsers.profiler.trace.columns import INSTANT, UNFINISHED, Trace
from tests.parsers.profiler.trace.test_chrome import check

SCRIPT = """
    CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
    CREATE TABLE ENUM_API_TYPE (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);
    CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, connectionId INTEGER, name INTEGER);
    CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER,
        callchainId INTEGER, type INTEGER);
    CREATE TABLE PYTORCH_CALLCHAINS (id INTEGER, stack INTEGER, stackDepth INTEGER);
    CREATE TABLE CONNECTION_IDS (id INTEGER, connectionId INTEGER);
    CREATE TABLE MSTX_EVENTS (startNs INTEGER, endNs INTEGER, eventType INTEGER, message INTEGER, globalTid INTEGER,
        connectionId INTEGER);
    CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,
        taskType INTEGER, streamId INTEGER);
    CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER, block_dim INTEGER, inputShapes INTEGER);
    CREATE TABLE COMMUNICATION_TASK_INFO (name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER,
        groupName INTEGER);
    CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER);
    CREATE TABLE OVERLAP_ANALYSIS (id INTEGER, deviceId INTEGER, startNs INTEGER, endNs INTEGER, type INTEGER);
    CREATE TABLE HBM (deviceId INTEGER, timestampNs INTEGER, bandwidth NUMERIC, hbmId INTEGER, type INTEGER);
    INSERT INTO STRING_IDS VALUES (1, 'MatMul'), (2, '"2,3;3,4"'), (3, 'KERNEL'), (4, 'hcom_allReduce'), (5, 'group'),
        (6, 'launch'), (7, 'aten::mm'), (8, 'main.py(3)'), (9, 'train.py(7)'), (10, 'mark'), (11, 'read'), (12, 'Notify_Wait');
    INSERT INTO ENUM_API_TYPE VALUES (5000, 'runtime'), (50001, 'op');
    INSERT INTO STEP_TIME VALUES (4, 1764246877073569600, 1764246877073569990);
    INSERT INTO PYTORCH_API VALUES ('1764246877073569601', '1764246877073569699', 21474836487, 0, 7, 1, 50001);
    INSERT INTO PYTORCH_CALLCHAINS VALUES (1, 9, 1), (1, 8, 0);
    INSERT INTO CONNECTION_IDS VALUES (0, 77), (0, 99);
    INSERT INTO CANN_API VALUES (1764246877073569610, 1764246877073569620, 5000, 21474836488, 77, 6);
    INSERT INTO MSTX_EVENTS VALUES (1764246877073569650, 1764246877073569650, 0, 10, 21474836487, 0);
    INSERT INTO TASK VALUES (1764246877073569641, 1764246877073569743, 3, 77, 7, 3, 2),
        (1764246877073569841, 1764246877073569900, 3, 88, 8, 12, 2);
    INSERT INTO COMPUTE_TASK_INFO VALUES (1, 7, 24, 2);
    INSERT INTO COMMUNICATION_TASK_INFO VALUES (4, 8, 12, 0, 5);
    INSERT INTO COMMUNICATION_OP VALUES (4, 1764246877073569800, 1764246877073569950, 77, 5);
    INSERT INTO OVERLAP_ANALYSIS VALUES (1, 3, 1764246877073569641, 1764246877073569743, 0);
    INSERT INTO HBM VALUES (3, 1764246877073569700, 12.5, 1, 11);"""


def made(folder: Path, more: str = "") -> Trace:
    path = folder / "ascend_pytorch_profiler_3.db"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCRIPT + more)
        connection.commit()
    return sources.read(str(path))


def rows(trace: Trace) -> dict[tuple[str, str, str], tuple[int, int]]:
    columns = trace.slices
    return {
        (trace.tracks[track].kind, trace.tracks[track].thread, trace.names[name]): (start + trace.origin_ns, duration)
        for track, name, start, duration in zip(
            columns.track.tolist(), columns.name.tolist(), columns.start.tolist(), columns.duration.tolist(), strict=True
        )
    }


def test_all_tables(tmp_path: Path) -> None:
    trace = made(tmp_path)
    check(trace)
    assert not trace.problems
    assert trace.clock == "epoch"
    base = 1764246877073569000
    assert rows(trace) == {
        ("step", "Steps", "Step 4"): (base + 600, 390),
        ("python", "Thread 7", "aten::mm"): (base + 601, 98),
        ("host", "Thread 7", "mark"): (base + 650, 0),
        ("cann", "Thread 8", "launch"): (base + 610, 10),
        ("device_stream", "Stream 2", "MatMul"): (base + 641, 102),
        ("device_stream", "Stream 2", "Notify_Wait"): (base + 841, 59),
        ("communication", "Group group Communication", "hcom_allReduce"): (base + 800, 150),
        ("communication", "Group group Plane 0", "Notify_Wait"): (base + 841, 59),
        ("overlap", "Computing", "Computing"): (base + 641, 102),
    }
    names = [trace.names[name] for name in trace.slices.name.tolist()]
    flows = trace.flows
    arrows = {
        (names[one], names[two], trace.flow_kinds[kind])
        for one, two, kind in zip(flows.source, flows.target, flows.kind, strict=True)
    }
    assert arrows == {
        ("launch", "MatMul", "HostToDevice"), ("launch", "hcom_allReduce", "HostToDevice"),
        ("aten::mm", "MatMul", "async_npu"), ("aten::mm", "hcom_allReduce", "async_npu"),
    }  # fmt: skip
    assert (trace.series, trace.counters.value.tolist()) == (("bandwidth",), [12.5])
    assert trace.tracks[trace.counters.track[0]].thread == "HBM 1/read"
    arguments = sources.arguments(trace, names.index("MatMul"))
    assert arguments.items() >= {"inputShapes": '"2,3;3,4"', "block_dim": 24, "taskType": "KERNEL", "name": "MatMul"}.items()
    assert sources.arguments(trace, names.index("aten::mm"))["Call stack"] == "main.py(3)\ntrain.py(7)"
    assert trace.slices.phase.tolist().count(INSTANT) == 1


def test_what_is_wrong_in_a_table_is_counted(tmp_path: Path) -> None:
    trace = made(
        tmp_path,
        """INSERT INTO CANN_API VALUES (NULL, 5, 5000, 1, 1, 6), (1764246877073569700, 1764246877073569600, 5000, 1, 2, 6),
            (1764246877073569710, NULL, 5000, 1, 3, 999);
        INSERT INTO COMMUNICATION_TASK_INFO VALUES (4, 12345, 12, 0, 5);
        INSERT INTO HBM VALUES (3, NULL, 1, 1, 11);""",
    )
    check(trace)
    texts = " ".join(problem.text for problem in trace.problems)
    for text in ("CANN_API: 1 event dropped", "1 event with endNs before", "1 event without an end", "globalTaskId", "HBM"):
        assert text in texts
    assert len(trace.slices) == 9 + 2
    assert trace.slices.phase.tolist().count(UNFINISHED) == 1
    assert "API 999" in trace.names


@pytest.mark.parametrize(
    "drop", ["TASK", "STRING_IDS", "CONNECTION_IDS", "ENUM_API_TYPE", "COMPUTE_TASK_INFO", "PYTORCH_CALLCHAINS"]
)
def test_tables_that_are_missing_cost_only_what_they_hold(drop: str, tmp_path: Path) -> None:
    trace = made(tmp_path, f"DROP TABLE {drop};")
    check(trace)
    assert len(trace.slices) == {"TASK": 6}.get(drop, 9)
    for row in range(len(trace.slices)):
        sources.arguments(trace, row)


def test_a_row_with_a_negative_number_has_arguments(tmp_path: Path) -> None:
    values = "-1, 1764246877073569700, 1764246877073569710, 11"
    trace = made(tmp_path, f"INSERT INTO CANN_API (rowid, startNs, endNs, name) VALUES ({values})")
    row = [trace.names[name] for name in trace.slices.name.tolist()].index("read")
    assert sources.arguments(trace, row)["name"] == "read"


def test_a_database_without_a_trace_and_a_damaged_one_say_so(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE other (a)")
    assert "found other" in sources.read(str(path)).problems[0].text
    trace = made(tmp_path)
    data = Path(trace.path).read_bytes()
    for length in range(16, len(data), 4093):
        path.write_bytes(data[:length])
        damaged = sources.read(str(path))
        check(damaged)
        assert damaged.problems


def test_real_databases_equal_sql(real_data: Path) -> None:
    paths = sorted(real_data.glob("profiler_new/*/*/ASCEND_PROFILER_OUTPUT/ascend_*.db"))
    assert len(paths) == 2
    for path in (*paths, real_data / "profiler_new/msinsight_server/full_db/msprof_0.db"):
        trace = sources.read(str(path))
        check(trace)
        found = Counter(event >> 48 for event in trace.slices.event.tolist())
        if path in paths:
            arrows = Counter(trace.flow_kinds[kind] for kind in trace.flows.kind.tolist())
            taken = sum(trace.names[name].startswith("Dequeue") for name in trace.slices.name.tolist())
            assert arrows.items() >= {"async_task_queue": taken, "fwdbwd": 27}.items()
            assert taken >= 159
            assert [track.kind for track in trace.tracks].count("host_queue") == 1
        with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
            tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for number, table in ((2, "PYTORCH_API"), (4, "CANN_API"), (5, "TASK"), (6, "COMMUNICATION_OP")):
                if table not in tables:
                    continue
                count, total = connection.execute(
                    f"SELECT COUNT(*), SUM(CAST(endNs AS INTEGER) - CAST(startNs AS INTEGER)) FROM {table}"
                ).fetchone()
                assert found[number] == count
                mine = trace.slices.event >> 48 == number
                assert int(trace.slices.duration[mine].sum()) == (total or 0)


@pytest.mark.parametrize("hidden", [("rowid",), ("ROWID", "oid"), ("rowid", "_rowid_", "oid")], ids=" ".join)
def test_columns_that_hide_the_numbers_of_rows(hidden: tuple[str, ...], tmp_path: Path) -> None:
    """SQLite allows a column named rowid, in which anything may be, or nothing."""
    trace = made(tmp_path, "".join(f"ALTER TABLE STEP_TIME ADD COLUMN {name} DEFAULT NULL;" for name in hidden))
    (step,) = [row for row in range(len(trace.slices)) if trace.tracks[int(trace.slices.track[row])].thread == "Steps"]
    if len(hidden) < 3:
        assert sources.arguments(trace, step)["id"] == 4
