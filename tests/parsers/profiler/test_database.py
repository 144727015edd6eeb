"""The database export against sqlite3, and what is wrong with databases."""

from __future__ import annotations

import sqlite3
import statistics
from collections import defaultdict
from pathlib import Path

import pytest

from parsers import open_run
from parsers.profile_frames import API, KERNELS, STEPS
from parsers.profiler import database
from parsers.profiler.access import Profile
from parsers.profiler.registry import FRAMES
from tests.amounts import some_or_every
from tests.writers.profiler_database import TABLES


def profile_of(path: Path) -> Profile:
    (profile,) = open_run(path).profile.values()
    return profile


def made(path: Path) -> None:
    """A database with the tables and columns that MindSpore's documentation names."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA page_size = 512")  # with little free space, so that most damage hits something
    connection.executescript(TABLES)
    connection.close()


@pytest.mark.parametrize("rank", [0, 1])
def test_executions_of_the_real_one(real_data: Path, rank: int) -> None:
    folder = real_data / f"profiler_new/torch_npu_db_level2/rank{rank}_ascend_pt"
    path = folder / f"ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_{rank}.db"
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    texts = dict(connection.execute("SELECT id, value FROM STRING_IDS"))
    tasks = {row[0]: row[1:] for row in connection.execute("SELECT globalTaskId, startNs, endNs, streamId, taskId FROM TASK")}
    expected = []
    for name, task, kind in connection.execute("SELECT name, globalTaskId, opType FROM COMPUTE_TASK_INFO"):
        start, end, stream, number = tasks[task]
        expected.append((start, end - start, texts[name], texts[kind], stream, number))
    for name, start, end, kind in connection.execute("SELECT opName, startNs, endNs, opType FROM COMMUNICATION_OP"):
        expected.append((start, end - start, texts[name], texts[kind], -1, -1))
    (begin, last) = connection.execute("SELECT startNs, endNs FROM STEP_TIME").fetchone()
    calls: dict[str, list[int]] = defaultdict(list)
    for start, end, name in connection.execute("SELECT startNs, endNs, name FROM CANN_API"):
        calls[texts[name]].append(end - start)
    connection.close()
    profile = profile_of(folder)
    kernels = KERNELS.check(profile.kernels)
    found = kernels[["start_ns", "duration_ns", "name", "type", "stream", "task"]].itertuples(index=False, name=None)
    assert sorted(found) == sorted(expected)
    assert kernels["step"].tolist() == [50 if begin <= start <= last else -1 for start in kernels["start_ns"]]
    api = API.check(profile.api).groupby("name", observed=True)[["count", "total_ns"]].sum()
    assert {str(name): tuple(row) for name, row in api.iterrows()} == {
        name: (len(taken), sum(taken)) for name, taken in calls.items()
    }
    assert not profile.problems
    steps = STEPS.check(profile.steps)
    if rank == 0:
        assert steps[["step", "computing_ns", "bubble_ns"]].iloc[0].tolist() == [50, 8900456.0, 0.0]


def test_both_forms_of_a_job_say_the_same(real_data: Path) -> None:
    """StepTraceTime and step_trace_time of the four ranks."""
    base = real_data / "profiler_new/torch_npu_st_4ranks_pp2"
    for rank in range(4):
        output = base / f"rank_{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT"
        connection = sqlite3.connect(f"file:{output / 'analysis.db'}?mode=ro&immutable=1", uri=True)
        ((computing, free),) = connection.execute("SELECT computing, free FROM StepTraceTime").fetchall()
        connection.close()
        steps = profile_of(output).steps  # the text is read where there are both
        assert abs(steps["computing_ns"].iloc[0] - computing * 1000) < 1e-3
        assert abs(steps["free_ns"].iloc[0] - free * 1000) < 1e6


def test_names_of_mindspore_and_of_its_columns(tmp_path: Path) -> None:
    """No real database of MindSpore is at hand: this one is made from its documentation."""
    made(tmp_path / "ascend_mindspore_profiler.db")
    profile = profile_of(tmp_path)
    kernels = KERNELS.check(profile.kernels)
    assert kernels["start_ns"].tolist() == [1764246877073569600, 1764246877073569641, 1764246877073569841]
    assert kernels["duration_ns"].tolist() == [50, 102, 59]
    assert kernels["core"].tolist() == ["COMMUNICATION", "AI_CORE", "AI_CORE"]
    assert kernels["model"].tolist() == [-1, -1, 5]
    assert kernels["blocks"].tolist() == [-1, 24, 24]
    assert kernels["input_shapes"].tolist() == ["", "2,3;3,4", ""]
    assert profile.rank == 0
    operators = profile.operators.set_index("name")
    assert operators.loc["MatMul-op1", ["count", "total_ns", "min_ns", "max_ns"]].tolist() == [2, 161, 59, 102]
    (call,) = profile.api.itertuples()
    assert (call.level, call.name, call.count, call.total_ns, call.mean_ns) == ("runtime", "launch", 2, 40, 20)
    assert call.variance_ns2 == statistics.pvariance([10, 30])


def test_the_rank_is_in_the_name(tmp_path: Path) -> None:
    made(tmp_path / "ascend_mindspore_profiler_7.db")
    assert list(open_run(tmp_path).profile) == [(".", 7)]


def test_nothing_is_written_beside_a_database(real_data: Path, tmp_path: Path) -> None:
    source = real_data / "profiler_new/msinsight_server/full_db"
    for name in ("msprof_0.db", "msprof_0.db-shm", "msprof_0.db-wal"):
        (tmp_path / name).write_bytes((source / name).read_bytes())
    before = {path.name: (path.stat().st_mtime_ns, path.stat().st_size) for path in tmp_path.iterdir()}
    profile = profile_of(tmp_path)
    assert (len(profile.kernels), len(profile.api)) == (11, 3)
    assert {path.name: (path.stat().st_mtime_ns, path.stat().st_size) for path in tmp_path.iterdir()} == before


def test_a_locked_database_is_read(tmp_path: Path) -> None:
    made(tmp_path / "ascend_mindspore_profiler.db")
    connection = sqlite3.connect(tmp_path / "ascend_mindspore_profiler.db", isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    profile = profile_of(tmp_path)
    assert len(profile.kernels) == 3
    assert not profile.problems
    connection.close()


@some_or_every
def test_damage_is_told_and_the_rest_is_shown(tmp_path: Path, every: bool) -> None:
    made(tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()
    path = tmp_path / "run/ascend_mindspore_profiler.db"
    path.parent.mkdir()
    told = 0
    for at in range(0, len(whole), 97 if every else 291):
        path.write_bytes(whole[:at] + bytes((whole[at] ^ 0xFF,)) + whole[at + 1 :])
        profile = profile_of(path.parent)
        for name, schema in FRAMES.items():
            schema.check(profile.frame(name))
        told += bool(profile.problems)
    assert told > 3
    for cut in range(0, len(whole), 501 if every else 3001):
        path.write_bytes(whole[:cut])
        profile = profile_of(path.parent)
        for name in FRAMES:
            profile.frame(name)
        assert profile.problems, cut
        assert {problem.path for problem in profile.problems} == {str(path)}


def test_values_of_other_types_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "ascend_mindspore_profiler.db"
    made(path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE TASK SET endNs = 'soon' WHERE globalTaskId = 8")
    connection.execute("UPDATE TASK SET streamId = x'00ff'")
    connection.execute("UPDATE STRING_IDS SET value = CAST(x'ff41' AS TEXT) WHERE id = 2")
    connection.commit()
    connection.close()
    profile = profile_of(tmp_path)
    assert profile.kernels["duration_ns"].tolist() == [50, 102]
    assert profile.kernels["stream"].tolist() == [-1, -1]
    assert profile.kernels["type"].tolist() == ["", "\ufffdA"]
    assert ["1 rows were skipped" in problem.text for problem in profile.problems] == [True]


def exploding(path: Path, number: int) -> None:
    """A database in which both tables have `number` rows of one id, and one more row that belongs together."""
    connection = sqlite3.connect(path)
    connection.executescript(
        """
        CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, globalTaskId INTEGER);
        CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER);
        CREATE TABLE STRING_IDS (id INTEGER, value TEXT);
        INSERT INTO STRING_IDS VALUES (1, 'MatMul');
        """
    )
    connection.executemany("INSERT INTO TASK VALUES (?, ?, 7)", ((one, one + 1) for one in range(number)))
    connection.executemany("INSERT INTO COMPUTE_TASK_INFO VALUES (?, 7)", ((one,) for one in range(number)))
    connection.executescript("INSERT INTO TASK VALUES (5, 9, 8); INSERT INTO COMPUTE_TASK_INFO VALUES (1, 8);")
    connection.close()


@pytest.mark.parametrize("number", [2, 30_000])
def test_ids_that_both_tables_repeat_are_reported_instead_of_paired(tmp_path: Path, number: int) -> None:
    exploding(tmp_path / "ascend_mindspore_profiler.db", number)
    profile = profile_of(tmp_path)
    assert profile.kernels[["name", "start_ns", "duration_ns"]].to_numpy().tolist() == [["MatMul", 5, 4]]
    (problem,) = profile.problems
    assert "found 1 that both have more than once" in problem.text


def test_an_id_that_one_table_repeats_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "ascend_mindspore_profiler.db"
    exploding(path, 0)
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO COMPUTE_TASK_INFO VALUES (1, 8)")
    connection.commit()
    connection.close()
    profile = profile_of(tmp_path)
    assert (len(profile.kernels), profile.problems) == (2, ())


@pytest.mark.parametrize(("limit", "value", "kept"), [("MOST_ROWS", 20, 20), ("MOST_BYTES", 2_000, 10)])
def test_rows_and_memory_are_limited_and_the_limit_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, kept: int
) -> None:
    path = tmp_path / "ascend_mindspore_profiler.db"
    exploding(path, 0)
    connection = sqlite3.connect(path)
    connection.executemany("INSERT INTO TASK VALUES (?, ?, ?)", ((one, one + 1, one) for one in range(100, 150)))
    connection.executemany("INSERT INTO COMPUTE_TASK_INFO VALUES (1, ?)", ((one,) for one in range(100, 150)))
    connection.commit()
    connection.close()
    monkeypatch.setattr(database, "ROWS", 10)
    monkeypatch.setattr(database, limit, value)
    profile = profile_of(tmp_path)
    assert len(profile.kernels) == kept
    (problem,) = profile.problems
    assert f"{kept} rows were read, the others were skipped." in problem.text


def test_a_text_that_is_too_long_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "ascend_mindspore_profiler.db"
    exploding(path, 0)
    connection = sqlite3.connect(path)
    connection.execute(f"INSERT INTO STRING_IDS VALUES (2, zeroblob({database.LONGEST_VALUE + 1}))")
    connection.commit()
    connection.close()
    profile = profile_of(tmp_path)
    assert profile.kernels.empty
    assert "too big" in profile.problems[0].text
