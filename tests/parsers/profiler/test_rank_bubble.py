"""The bubble of a rank from when its operations ran, compared with one counted nanosecond by nanosecond."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from parsers import open_run
from parsers.profiler import rank_bubble, ranks
from tests.writers.clusters import write

DATA = Path(os.environ.get("MINDSCOPE_TEST_DATA", "/nowhere"))
real = pytest.mark.skipif(not DATA.is_dir(), reason="MINDSCOPE_TEST_DATA names no directory of real runs")
BEGIN_US = 1_764_246_877_000_000
Spans = Sequence[tuple[int, int]]


def counted(sent: Spans, computing: Spans) -> int:
    """The bubble in microseconds, by marking each microsecond."""
    marks = np.zeros((2, 10_000), np.bool_)
    for row, spans in enumerate((sent, computing)):
        for begin, end in spans:
            marks[row, begin:end] = True
    return int((marks[0] & ~marks[1]).sum())


def operation(begin: int, end: int) -> dict[str, Any]:
    return {"Communication Time Info": {"Start Timestamp(us)": BEGIN_US + begin, "Elapse Time(ms)": (end - begin) / 1e3}}


def job(folder: Path, sent: dict[int, Spans], computing: Spans) -> Path:
    """Two ranks of two steps; rank 0 has these sends and kernels (us), rank 1 the sends alone."""
    write(folder, ranks=2, steps=2, operations=1)
    for rank in range(2):
        (output,) = folder.glob(f"host0_{rank}_*/ASCEND_PROFILER_OUTPUT")
        told = json.loads((output / "communication.json").read_text())
        for step, spans in sent.items():
            own = {f"hcom_batchSendRecv__1_{place}_1@77": operation(*span) for place, span in enumerate(spans)}
            told[f"step{step}"]["p2p"] = {**own, "Total Op Info": operation(0, 9_000)}
        (output / "communication.json").write_text(json.dumps(told))
        lines = ["Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)"]
        lines += [f"1,Add,Add,AI_CORE,{BEGIN_US + begin}.000\t,{end - begin}.000" for begin, end in computing]
        lines += [f"1,hcom,hcom,COMMUNICATION,{BEGIN_US}.000\t,9000.000"]
        if rank == 0:
            (output / "kernel_details.csv").write_text("\n".join(lines) + "\n")
    return folder


SENT = {1: [(100, 600), (500, 900)], 2: [(5_000, 5_400)]}
COMPUTING = [(0, 150), (140, 200), (800, 1_000), (5_100, 5_200), (5_150, 5_300)]


def steps_of(folder: Path) -> pd.DataFrame:
    (found,) = open_run(folder).profile.jobs
    return found.cluster_steps.set_index(["rank", "step"])


def test_what_overlaps_computing_is_no_bubble(tmp_path: Path) -> None:
    steps = steps_of(job(tmp_path, SENT, COMPUTING))
    for step, sent in SENT.items():
        row = steps.loc[(0, step)]
        assert row["own_bubble_ns"] == pytest.approx(1e3 * counted(sent, COMPUTING), abs=1_000)  # begins are floats
        assert row["bubble_source"] == "exact"
        other = steps.loc[(1, step)]  # without kernels only the most it can be is known
        sums = sum(end - begin for begin, end in sent) * 1e3
        assert other["own_bubble_ns"] == pytest.approx(min(sums, other["exposed_ns"]))
        assert other["bubble_source"] == "at most"
    assert counted(SENT[1], COMPUTING) == 600


def test_a_rank_that_sends_nothing_has_no_bubble(tmp_path: Path) -> None:
    steps = steps_of(job(tmp_path, {1: SENT[1]}, COMPUTING))
    assert steps.loc[(0, 2), "own_bubble_ns"] == 0.0
    assert steps.loc[(0, 2), "bubble_source"] == "exact"


def test_operations_are_read_for_steps_only_with_kernels(tmp_path: Path) -> None:
    write(tmp_path, ranks=2, steps=1, operations=1)
    (found,) = open_run(tmp_path).profile.jobs
    files = [member.files for member in found.files.members]
    assert ranks.kinds_read(("cluster_steps",), files) == set(ranks.KINDS["cluster_steps"])
    assert ranks.kinds_read(("links",), files) == set(ranks.KINDS["links"])
    for output in tmp_path.glob("host0_1_*/ASCEND_PROFILER_OUTPUT"):
        (output / "kernel_details.csv").write_text("Start Time(us),Duration(us)\n")
    (found,) = open_run(tmp_path).profile.jobs
    files = [member.files for member in found.files.members]
    assert ranks.kinds_read(("cluster_steps",), files) >= {"communication", "kernel_details"}


@pytest.mark.parametrize(("module", "limit"), [(rank_bubble, "LARGEST"), (ranks, "MOST_BESIDE")])
def test_large_files_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Any, limit: str) -> None:
    monkeypatch.setattr(module, limit, 10)
    steps = steps_of(job(tmp_path, SENT, COMPUTING))
    assert set(steps["bubble_source"].astype("str")) == {"at most"}


@pytest.mark.parametrize("damage", ["{", '{"step1": {"p2p": {"a": 3}}}', '{"step1": {"p2p": {"a@1": {}}}}'])
def test_damaged_operations_leave_the_bubble_unknown(tmp_path: Path, damage: str) -> None:
    folder = job(tmp_path, SENT, COMPUTING)
    (output,) = folder.glob("host0_0_*/ASCEND_PROFILER_OUTPUT")
    (output / "communication.json").write_text(damage)
    steps = steps_of(folder)
    assert len(steps) == 4
    assert steps.loc[(0, 1), "bubble_source"] in ("", "exact")
    assert not steps.loc[(0, 1), "own_bubble_ns"] > 0.0


def test_kernels_without_times_leave_the_upper_bound(tmp_path: Path) -> None:
    folder = job(tmp_path, SENT, [])
    assert steps_of(folder).loc[(0, 1), "bubble_source"] == "at most"


def test_a_database_tells_it_too(tmp_path: Path) -> None:
    base = tmp_path / "host0_1_20261120233012998_ascend_pt"
    output = base / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (base / "profiler_info_0.json").write_text(json.dumps({"rank_id": 0}))
    (output / "step_trace_time.csv").write_text(
        "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,Preparing\n"
        + "".join(f"{step},1000,9000,0,9000,10,10010,0,1\n" for step in (1, 2))
    )
    with sqlite3.connect(output / "ascend_pytorch_profiler_0.db") as database:
        database.executescript(
            "create table STRING_IDS (id integer, value text); insert into STRING_IDS values (1, 'hcom_send_1'), (2, 'add');"
            "create table STEP_TIME (id integer, startNs integer, endNs integer);"
            "create table COMMUNICATION_OP (opName integer, startNs integer, endNs integer, groupName integer, opId integer);"
            "create table TASK (startNs integer, endNs integer, globalTaskId integer);"
            "create table COMPUTE_TASK_INFO (globalTaskId integer, name integer);"
        )
        database.execute("insert into STEP_TIME values (1, 0, 4000000), (2, 4000000, 9000000)")
        for spans in SENT.values():
            database.executemany(
                "insert into COMMUNICATION_OP values (1, ?, ?, 1, 1)", [(a * 1000, b * 1000) for a, b in spans]
            )
        for place, (begin, end) in enumerate(COMPUTING):
            database.execute("insert into TASK values (?, ?, ?)", (begin * 1000, end * 1000, place))
            database.execute("insert into COMPUTE_TASK_INFO values (?, 2)", (place,))
        database.execute("insert into TASK values (0, 9000000, 99)")  # communication
    steps = steps_of(tmp_path)
    for step, sent in SENT.items():
        assert steps.loc[(0, step), "own_bubble_ns"] == 1e3 * counted(sent, COMPUTING)
        assert steps.loc[(0, step), "bubble_source"] == "exact"


@real
def test_the_bubble_of_the_four_ranks() -> None:
    """Rank 0 spends 313.9 of 810.0 ms in hcom_batchSendRecv, which nothing overlaps: the file's own Bubble is 0."""
    (found,) = open_run(DATA / "profiler_new/torch_npu_st_4ranks_pp2").profile.jobs
    steps = found.cluster_steps.set_index("rank")
    assert steps["bubble_source"].astype("str").to_dict() == {0: "exact", 1: "at most", 2: "exact", 3: "at most"}
    assert steps.loc[0, "own_bubble_ns"] / 1e6 == pytest.approx(313.878, abs=1e-3)
    folder = DATA / "profiler_new/torch_npu_st_4ranks_pp2"
    for rank in (0, 2):
        output = folder / f"rank_{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT"
        kernels = pd.read_csv(output / "kernel_details.csv", usecols=["Accelerator Core", "Start Time(us)", "Duration(us)"])
        kernels = kernels[~kernels["Accelerator Core"].isin(["COMMUNICATION", "HCCL"])]
        start = kernels["Start Time(us)"].astype(str).str.strip().astype(np.longdouble).to_numpy()
        told = json.loads((output / "communication.json").read_text())["step13"]["p2p"]
        times = [one["Communication Time Info"] for name, one in told.items() if name != "Total Op Info"]
        exposed = 0.0
        for time in times:  # operations between two ranks do not overlap each other here
            begin, end = time["Start Timestamp(us)"], time["Start Timestamp(us)"] + time["Elapse Time(ms)"] * 1e3
            stop = start + kernels["Duration(us)"].to_numpy()
            spans = sorted(zip(np.clip(start, begin, end), np.clip(stop, begin, end), strict=True))
            covered, last = 0.0, begin
            for one, other in spans:
                covered += max(0.0, float(other - max(one, last)))
                last = max(last, other)
            exposed += end - begin - covered
        assert steps.loc[rank, "own_bubble_ns"] / 1e3 == pytest.approx(exposed, abs=len(times))
