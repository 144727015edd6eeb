"""When ranks computed and what their programs marked, read from kernels, databases and traces."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from parsers import open_run
from parsers.profiler.device_times import kind_between
from parsers.profiler.job_access import Job

DATA = Path(os.environ.get("MINDSCOPE_TEST_DATA", "/nowhere"))
real = pytest.mark.skipif(not DATA.is_dir(), reason="MINDSCOPE_TEST_DATA names no directory of real runs")
BEGIN_US = 1_764_246_877_000_000
KERNELS = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)"


def output(folder: Path, rank: int = 0) -> Path:
    found = folder / f"host_{rank}_20261120233012998_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    found.mkdir(parents=True)
    (found.parent / f"profiler_info_{rank}.json").write_text(json.dumps({"rank_id": rank}))
    return found


def job_of(folder: Path) -> Job:
    (found,) = open_run(folder).profile.jobs
    return found


def rows(job: Job) -> list[tuple[Any, ...]]:
    """kind, step, begin and end in us after BEGIN_US, operations."""
    frame = job.device_times
    begin, end = ((frame[name] - BEGIN_US * 1000) / 1000 for name in ("start_ns", "end_ns"))
    columns = (frame["kind"].astype("str"), frame["step"], begin, end, frame["operations"])
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def kernels(*lines: tuple[int, str, str, int, int]) -> str:
    made = [f"{step},{name},{name},{core},{BEGIN_US + begin}.000\t,{took}.000" for step, name, core, begin, took in lines]
    return "\n".join([KERNELS, *made]) + "\n"


def test_kernels_that_follow_without_a_gap_are_one_row_and_operations_are_told_by_their_core(tmp_path: Path) -> None:
    lines = (
        (1, "Add", "AI_CORE", 0, 10), (1, "Mul", "AI_VECTOR_CORE", 10, 5), (1, "Mul", "AI_CPU", 12, 2),
        (1, "Add", "AI_CORE", 20, 5), (2, "Add", "AI_CORE", 24, 5), (1, "hcom_send__1_0_1", "HCCL", 3, 9),
        (1, "hcom_receive__1_0_1", "COMMUNICATION", 30, 1),
        (1, "hcom_batchSendRecv__1_0_1", "HCCL", 31, 1), (2, "hcom_allReduce__1_0_1", "HCCL", 40, 2),
    )  # fmt: skip
    (output(tmp_path) / "kernel_details.csv").write_text(kernels(*lines))
    assert rows(job_of(tmp_path)) == [
        ("collective", 2, 40, 42, 1), ("computing", 1, 0, 15, 3), ("computing", 1, 20, 25, 1), ("computing", 2, 24, 29, 1),
        ("exchange", 1, 31, 32, 1), ("receive", 1, 30, 31, 1), ("send", 1, 3, 12, 1),
    ]  # fmt: skip


def test_names_of_operations() -> None:
    names = ("hcom_send__1", "hcom_receive_", "hcom_batchSendRecv__1", "hcom_allReduce__1", "Send-op3", "who knows")
    assert list(map(kind_between, names)) == ["send", "receive", "exchange", "collective", "send", "collective"]


# Traces ----------------------------------------------------------------------------------------------------------------------

PROCESSES = {1: "python3 (mstx)", 2: "Ascend Hardware", 3: "HCCL", 4: "Overlap Analysis", 5: "Python"}
THREADS = {(2, 2): "Stream 2", (3, 0): "Group 0 Communication", (3, 1): "Plane 0", (4, 0): "Computing", (4, 1): "Free"}


def trace(*slices: tuple[int, int, str, int, int]) -> str:
    """Events of a trace: (process, thread, name, begin, duration) in us."""
    keys = [("process_name", pid, 0, name) for pid, name in PROCESSES.items()]
    keys += [("thread_name", *where, name) for where, name in THREADS.items()]
    named = [{"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": name}} for what, pid, tid, name in keys]
    events = [
        {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": f"{BEGIN_US + begin}.000", "dur": took, "args": {}}
        for pid, tid, name, begin, took in slices
    ]
    return json.dumps([*named, *events])


MARKS = (
    (2, 2, "{'name': 'forward_step'}", 2, 6), (2, 2, "backward_step", 10, 9), (2, 2, "my_forward_step", 0, 1),
    (1, 7, "{'name': 'forward_step'}", 0, 1), (1, 7, "backward_step", 1, 1),
)  # fmt: skip


def test_marked_ranges_of_the_device_are_taken_and_those_of_the_host_only_without_them(tmp_path: Path) -> None:
    where = output(tmp_path)
    (where / "kernel_details.csv").write_text(kernels((1, "Add", "AI_CORE", 0, 20)))
    (where / "trace_view.json").write_text(trace(*MARKS))
    wanted = [("backward", -1, 10, 19, 0), ("computing", 1, 0, 20, 1), ("forward", -1, 2, 8, 0)]
    assert rows(job_of(tmp_path)) == wanted
    (where / "trace_view.json").unlink()
    (where / "trace_view.json.gz").write_bytes(gzip.compress(trace(*MARKS[3:]).encode()))
    wanted = [("backward_host", -1, 1, 2, 0), ("computing", 1, 0, 20, 1), ("forward_host", -1, 0, 1, 0)]
    assert rows(job_of(tmp_path)) == wanted


def test_a_trace_alone_tells_computing_operations_and_steps(tmp_path: Path) -> None:
    told = (
        (5, 1, "ProfilerStep#7", 0, 30), (5, 1, "ProfilerStep#8", 30, 30), (4, 0, "Computing", 1, 4),
        (4, 0, "Computing", 35, 4), (4, 1, "Free", 5, 30), (3, 0, "hcom_send__1_0_1", 6, 3), (3, 1, "Memcpy", 6, 1),
        (3, 0, "hcom_allReduce__1_0_1", 40, 3),
        (2, 2, "MatMul", 1, 4),
    )  # fmt: skip
    (output(tmp_path) / "trace_view.json").write_text(trace(*told))
    assert rows(job_of(tmp_path)) == [
        ("collective", 8, 40, 43, 1), ("computing", 7, 1, 5, 1), ("computing", 8, 35, 39, 1), ("send", 7, 6, 9, 1),
    ]  # fmt: skip


def test_a_legacy_timeline_tells_computing_and_operations(tmp_path: Path) -> None:
    """Tracks are told by numbers: thread 7999 of process 12000 is merged computing, process 10000 communication."""
    told = (
        (12000, 7999, "Merged Computation Op", 10, 5), (12000, 8001, "Merged Communication Op", 15, 9),
        (10000, 41, "Receive-op7", 15, 9), (10000, 42, "AllReduce-op9", 24, 2), (0, 41, "MatMul-op1", 10, 5),
    )  # fmt: skip
    keys = ("pid", "tid", "name", "ts", "dur")
    events = [{"ph": "X", **dict(zip(keys, one, strict=True))} for one in told]
    (tmp_path / "ascend_timeline_display_0.json").write_text(json.dumps(events))
    frame = job_of(tmp_path).device_times
    found = sorted(zip(frame["kind"].astype("str"), frame["start_ns"], frame["end_ns"], strict=True))
    assert found == [("collective", 24_000, 26_000), ("computing", 10_000, 15_000), ("receive", 15_000, 24_000)]


def test_a_trace_without_marks_is_not_parsed_where_kernels_are_known(tmp_path: Path) -> None:
    where = output(tmp_path)
    (where / "kernel_details.csv").write_text(kernels((1, "Add", "AI_CORE", 0, 20)))
    (where / "trace_view.json").write_text("[" + " " * 5_000_000 + "this is no trace")
    job = job_of(tmp_path)
    assert [row[0] for row in rows(job)] == ["computing"]
    assert job.problems == ()
    # A mark across the border of two pieces of the file is found.
    text = trace((2, 2, "forward_step", 2, 6))
    at = text.index("forward_step")
    (where / "trace_view.json").write_text(" " * ((4 << 20) - at - 5) + text)
    assert [row[0] for row in rows(job_of(tmp_path))] == ["computing", "forward"]


def test_marks_by_another_clock_than_the_kernels_are_reported_and_left_out(tmp_path: Path) -> None:
    where = output(tmp_path)
    (where / "kernel_details.csv").write_text(kernels((1, "Add", "AI_CORE", 0, 20)))
    event = {"ph": "X", "name": "forward_step", "pid": 2, "tid": 2, "ts": 5.0, "dur": 3.0}
    (where / "trace_view.json").write_text(json.dumps([*json.loads(trace())[:-1], event]))
    job = job_of(tmp_path)
    assert [row[0] for row in rows(job)] == ["computing"]
    assert "another clock" in job.problems[0].text


@pytest.mark.parametrize("text", ["", "[", '{"a": 1}', "\x00", '[{"ph": "X", "name": "forward_step"}]', '["forward_step"'])
def test_damaged_traces_are_reported(tmp_path: Path, text: str) -> None:
    where = output(tmp_path)
    (where / "trace_view.json").write_text(text)
    job = job_of(tmp_path)
    assert rows(job) == []
    assert job.problems


# Databases -------------------------------------------------------------------------------------------------------------------


def database(path: Path, *, marks: str) -> None:
    """Two kernels, steps 3 and 4, and marked ranges: on the device, of the host only, or analysed."""
    connection = sqlite3.connect(path)
    at = BEGIN_US * 1000
    with connection:
        connection.execute("CREATE TABLE STRING_IDS (id INTEGER, value TEXT)")
        texts = [(1, "{'name': 'forward_step'}"), (2, "backward_step"), (3, "other")]
        connection.executemany("INSERT INTO STRING_IDS VALUES (?, ?)", texts)
        connection.execute("CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER)")
        connection.executemany("INSERT INTO STEP_TIME VALUES (?, ?, ?)", [(3, at, at + 50_000), (4, at + 50_000, at + 90_000)])
        connection.execute("CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, globalTaskId INTEGER, connectionId INTEGER)")
        connection.execute("CREATE TABLE COMPUTE_TASK_INFO (globalTaskId INTEGER, name INTEGER)")
        tasks = [(at + 5_000, at + 9_000, 1, 11), (at + 60_000, at + 70_000, 2, 12), (None, at, 3, 13)]
        if marks == "device":
            tasks += [(at + 4_000, at + 10_000, 7, 21), (at + 59_000, at + 59_000, 8, 22), (at + 71_000, at + 72_000, 9, 22)]
        connection.executemany("INSERT INTO TASK VALUES (?, ?, ?, ?)", tasks)
        connection.executemany("INSERT INTO COMPUTE_TASK_INFO VALUES (?, ?)", [(1, 3), (2, 3), (3, 3)])
        columns = "startNs INTEGER, endNs INTEGER, message INTEGER, connectionId INTEGER"
        connection.execute(f"CREATE TABLE MSTX_EVENTS ({columns})")
        events = [(at + 1_000, at + 2_000, 1, 21), (at + 51_000, at + 52_000, 2, 22), (at, at + 1, 3, 23), ("x", None, 1, 24)]
        connection.executemany("INSERT INTO MSTX_EVENTS VALUES (?, ?, ?, ?)", events)
        if marks == "analysed":
            connection.execute("CREATE TABLE StepTaskInfo (name TEXT, startNs INTEGER, endNs INTEGER, type INTEGER)")
            connection.executemany("INSERT INTO StepTaskInfo VALUES (?, ?, ?, ?)", [
                ("forward_step", at + 6_000, at + 8_000, 1), ("WeightGradStore.pop", at, at + 1, 2),
                ("backward_step", "x", 1, 1),
            ])  # fmt: skip
    connection.close()


@pytest.mark.parametrize(("marks", "wanted"), [
    ("device", [("backward", 4, 59, 72, 0), ("forward", 3, 4, 10, 0)]),
    ("host", [("backward_host", 4, 51, 52, 0), ("forward_host", 3, 1, 2, 0)]),
    ("analysed", [("forward", 3, 6, 8, 0)]),
])  # fmt: skip
def test_databases(tmp_path: Path, marks: str, wanted: list[Any]) -> None:
    database(output(tmp_path) / "ascend_pytorch_profiler_0.db", marks=marks)
    computing = [("computing", 3, 5, 9, 1), ("computing", 4, 60, 70, 1)]
    assert rows(job_of(tmp_path)) == sorted([*wanted, *computing])


def test_an_empty_database_and_one_of_something_else(tmp_path: Path) -> None:
    path = output(tmp_path) / "ascend_pytorch_profiler_0.db"
    path.write_bytes(b"")
    assert len(job_of(tmp_path).device_times) == 0
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5_000)
    job = job_of(tmp_path)
    assert len(job.device_times) == 0
    assert job.problems


# Micro batches ---------------------------------------------------------------------------------------------------------------


def told(folder: Path, *metadata: Any) -> Job:
    for rank, one in enumerate(metadata):
        where = output(folder, rank)
        (where / "kernel_details.csv").write_text(kernels((1, "Add", "AI_CORE", 0, 20)))
        (where.parent / "profiler_metadata.json").write_text(json.dumps(one))
    return job_of(folder)


INFO = {"pp_type": "1f1b", "microbatch_num": 8}


@pytest.mark.parametrize(("metadata", "schedule", "number"), [
    ([{"pp_info": INFO}, {"pp_info": INFO}, {}], "1f1b", 8),
    ([{"pp_info": json.dumps(INFO)}], "1f1b", 8),
    ([{"pp_info": {"microbatch_num": "x", "pp_type": 5}}], "", 0),
    ([{"pp_info": "{"}], "", 0), ([{"pp_info": [8]}], "", 0), ([{}], "", 0),
])  # fmt: skip
def test_schedule_and_micro_batches_of_metadata(tmp_path: Path, metadata: list[Any], schedule: str, number: int) -> None:
    files = told(tmp_path, *metadata).files
    assert (files.schedule, files.micro_batches) == (schedule, number)
    assert files.problems == ()


def test_ranks_that_tell_different_micro_batches(tmp_path: Path) -> None:
    files = told(tmp_path, {"pp_info": INFO}, {"pp_info": INFO | {"microbatch_num": 4}}).files
    assert (files.schedule, files.micro_batches) == ("", 0)
    assert "8 micro batches (rank 0)" in files.problems[0].text
    assert "4 (rank 1)" in files.problems[0].text


@real
def test_the_real_ranks_of_a_database_tell_what_those_of_text_files_do() -> None:
    """The two samples are of one program; their computing differs by noise, not in its kernels."""
    (text,) = open_run(DATA / "profiler_new" / "torch_npu_text_level2").profile.jobs
    (tables,) = open_run(DATA / "profiler_new" / "torch_npu_db_level2").profile.jobs
    for job in (text, tables):
        computing = job.device_times[job.device_times["kind"] == "computing"]
        assert computing.groupby("rank")["operations"].sum().tolist() == [187, 187]
        assert set(computing["step"]) == {50}
