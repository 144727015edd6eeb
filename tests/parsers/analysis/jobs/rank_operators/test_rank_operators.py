"""Operators over ranks: of real jobs against their raw files, of made ones against plain loops."""

from __future__ import annotations

import csv
import json
import statistics
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from parsers import open_run
from parsers.analysis.jobs.rank_operators import joins as joining
from parsers.analysis.jobs.rank_operators.operators import (
    CATEGORIES,
    COMPUTING,
    Operators,
    group_of,
    key_of,
    name_of,
    operators,
)
from parsers.analysis.jobs.rank_operators.shifts import COLUMNS, ends_of, shifts, to_one_zero
from parsers.analysis.jobs.rank_operators.traces import of_trace
from parsers.analysis.jobs.rank_operators.views import LEVELS, Laid, OperatorView, view
from parsers.cluster_frames import COLLECTIVES
from parsers.profile_frames import KERNELS
from parsers.profiler.frame_parts import frame_of
from parsers.profiler.trace import chrome
from parsers.profiler.trace.columns import Track
from parsers.profiler.trace.opened import TraceStep
from tests.writers.traces import trace

BEGIN = 1_764_246_877_147_674_500
Row = tuple[int, str, str, str, int, int]
"""(step, name, type, core, begin, duration) of a kernel."""


def kernels(rows: list[Row]) -> pd.DataFrame:
    names = ("step", "name", "type", "core", "start_ns", "duration_ns")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)) if rows else {}
    return frame_of(KERNELS, len(rows), columns, "made")


def collectives(rows: list[tuple[str, str, str, int, int, float]]) -> pd.DataFrame:
    """Communication as (group, name, kind, rank, begin, elapse)."""
    names = ("group", "name", "kind", "rank", "start_ns", "elapse_ns")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)) if rows else {}
    return frame_of(COLLECTIVES, len(rows), {**columns, "step": [1] * len(rows)}, "made")


def random_rank(rank: int, size: int, seed: int, span: int = 10**6) -> Operators:
    """Operators of a few names, so that many occur often, two steps, some of no time at all."""
    random = np.random.default_rng(seed)
    cores = ("AI_CORE", "MIX_AIV", "AI_CPU", "HCCL")
    rows: list[Row] = []
    for _ in range(size):
        core = cores[int(random.choice(4, p=[0.4, 0.4, 0.1, 0.1]))]
        name = f"hcom_allReduce__{random.integers(3)}" if core == "HCCL" else f"op{random.integers(9)}"
        duration = int(random.choice([0, 3, 40, 900, 20_000]))
        rows.append((int(random.integers(2)), name, "T", core, BEGIN + int(random.integers(span)), duration))
    return operators(rank, kernels(rows), None)


def test_kernels_of_a_gpu_are_told_apart_by_their_names() -> None:
    rows: list[Row] = [
        (1, "ampere_sgemm_128x64_tn", "sgemm", "GPU_KERNEL", 10, 5), (1, "Memcpy HtoD (Pinned -> Device)", "x", "COPY", 20, 5),
        (1, "void at::native::vectorized_elementwise_kernel<4>", "x", "GPU_KERNEL", 30, 5),
        (1, "ncclDevKernel_SendRecv", "x", "COMMUNICATION", 40, 5), (1, "gemm of Ascend", "x", "AI_CPU", 50, 5),
    ]  # fmt: skip
    found = operators(0, kernels(rows), None)
    assert [CATEGORIES[one] for one in found.category] == ["matrix", "copy", "other", "send_receive", "other"]


# One rank ------------------------------------------------------------------------------------------


def test_nothing_gives_no_operators() -> None:
    assert len(operators(3, None, None)) == 0
    assert len(operators(3, kernels([]), collectives([]))) == 0
    assert not operators(3, kernels([]), None).kernels


def test_operators_are_in_order_of_begin_with_categories_by_core_and_direction() -> None:
    rows: list[Row] = [
        (1, "b", "MatMul", "AI_CORE", 20, 5), (1, "a", "Add", "AI_VECTOR_CORE", 10, 5), (1, "c", "Cast", "DSA_SQE", 20, 9),
        (1, "untimed", "Add", "AI_CORE", -1, 5), (1, "hcom_send__1_0", "hcom_send_", "HCCL", 40, 5),
        (1, "hcom_batchSendRecv__1_0", "x", "COMMUNICATION", 50, 5),
    ]  # fmt: skip
    found = operators(0, kernels(rows), None)
    assert [name_of(found.keys[key]) for key in found.key] == ["a", "c", "b", "hcom_send__1_0", "hcom_batchSendRecv__1_0"]
    assert [CATEGORIES[one] for one in found.category] == ["vector_core", "other", "ai_core", "send", "send_receive"]
    assert (found.untimed, found.kernels, found.told) == (1, True, False)
    assert found.end.tolist() == [15, 29, 25, 45, 55]


def test_communication_of_the_job_takes_the_place_of_that_of_kernels() -> None:
    rows: list[Row] = [(1, "a", "Add", "AI_CORE", 10, 5), (1, "hcom_allReduce__1_0", "x", "HCCL", 20, 5)]
    told = collectives([("7", "hcom_allReduce__1_0", "allreduce", 0, 21, 6.4), ("7", "other", "send", 1, 21, 6.0)])
    found = operators(0, kernels(rows), told)
    assert [(name_of(found.keys[key]), group_of(found.keys[key])) for key in found.key] == [
        ("a", ""),
        ("hcom_allReduce__1_0", "7"),
    ]
    assert (found.end.tolist(), found.told) == ([15, 27], True)
    # A rank that the frame of the job does not have keeps its own.
    assert operators(2, kernels(rows), told).end.tolist() == [15, 25]


def test_a_step_takes_only_its_own_and_too_many_are_counted() -> None:
    rows: list[Row] = [(step, "a", "Add", "AI_CORE", 10 * step, 5) for step in range(8)]
    assert operators(0, kernels(rows), None, step=3).start.tolist() == [30]
    found = operators(0, kernels(rows), None, most=5)
    assert (len(found), found.left_out, found.start.tolist()) == (5, 3, [0, 10, 20, 30, 40])


def test_operators_on_the_host_count_only_where_there_are_no_others() -> None:
    rows: list[Row] = [(1, "a", "Add", "HOST_CPU", 10, 5), (1, "b", "Add", "AI_CORE", 20, 5)]
    assert operators(0, kernels(rows), None).start.tolist() == [20]
    assert operators(0, kernels(rows[:1]), None).start.tolist() == [10]


def test_times_that_cannot_be_are_cut_or_left_out() -> None:
    rows: list[Row] = [(1, "a", "Add", "AI_CORE", 2**63 - 1, 5), (1, "b", "Add", "AI_CORE", 10, 2**63 - 1)]
    told = collectives([("7", "x", "allreduce", 0, 20, 1e300), ("7", "y", "allreduce", 0, 30, -5.0)])
    found = operators(0, kernels(rows), told)
    assert (found.start.tolist(), found.end.tolist()) == ([10, 20, 30], [10 + 2**60, 20 + 2**60, 30])
    assert found.untimed == 1
    drawn = view(Laid((found,), (0,)), 0, 2**60, 100)
    assert (drawn.bars["x0"] <= drawn.bars["x1"]).all()


# Joins ---------------------------------------------------------------------------------------------


def by_hand(first: Operators, second: Operators, *, communication_only: bool = False) -> list[tuple[int, int]]:
    """The n-th of a name in a step goes with the n-th: by a plain loop over the rows."""
    known: dict[tuple[int, str, int], int] = {}
    seen: dict[tuple[int, str], int] = defaultdict(int)
    for row in range(len(second)):
        name = (int(second.step[row]), second.keys[second.key[row]])
        known[*name, seen[name]] = row
        seen[name] += 1
    seen.clear()
    found = []
    for row in range(len(first)):
        name = (int(first.step[row]), first.keys[first.key[row]])
        other = known.get((*name, seen[name]))
        seen[name] += 1
        if other is not None and (not communication_only or first.category[row] >= COMPUTING):
            found.append((row, other))
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("communication_only", [False, True])
def test_joins_are_those_of_a_plain_loop(seed: int, *, communication_only: bool) -> None:
    first, second = random_rank(0, 40 * seed, seed), random_rank(1, 300, seed + 50)
    numbers = joining.numbered([first, second])
    found = joining.joins(first, second, (numbers[0], numbers[1]), communication_only=communication_only)
    assert list(zip(found.first.tolist(), found.second.tolist(), strict=True)) == by_hand(
        first, second, communication_only=communication_only
    )
    counts = []
    for rank in (first, second):
        one: dict[tuple[int, str], int] = defaultdict(int)
        for row in range(len(rank)):
            if not communication_only or rank.category[row] >= COMPUTING:
                one[int(rank.step[row]), rank.keys[rank.key[row]]] += 1
        counts.append(one)
    assert found.uneven == sum(counts[0][name] != counts[1][name] for name in counts[0].keys() & counts[1].keys())


def test_communication_of_other_groups_is_not_joined_and_an_unknown_group_is_the_only_one() -> None:
    told = [("7", "x", "allreduce", 0, 10, 5.0), ("8", "x", "allreduce", 1, 10, 5.0), ("7", "y", "allreduce", 0, 20, 5.0)]
    zero, one = (operators(rank, None, collectives(told)) for rank in (0, 1))
    two = operators(2, kernels([(1, "x", "hcom_x", "HCCL", 11, 4), (1, "y", "hcom_y", "HCCL", 21, 4)]), None)
    numbers = joining.numbered([zero, one, two])
    assert not len(joining.joins(zero, one, (numbers[0], numbers[1])).first)
    found = joining.joins(zero, two, (numbers[0], numbers[2]))
    assert (found.first.tolist(), found.second.tolist()) == ([1], [1])  # "x" may be that of either group
    assert key_of("x", "7") in zero.keys


# Clocks --------------------------------------------------------------------------------------------


def test_shifts_are_medians_within_stages_and_the_residual_is_what_remains() -> None:
    clocks = {0: 0, 1: 5_000, 2: 900_000, 3: 870_000, 4: 1}
    noise = {1: [0, 0, 10, -30, 0], 3: [0, 200, 0, 0, 0]}
    rows = []
    for number in range(5):
        for group, ranks in (("a", (0, 1)), ("b", (2, 3))):
            for rank in ranks:
                end = BEGIN + number * 10**6 + clocks[rank] + noise.get(rank, [0] * 5)[number]
                rows.append((group, f"n{number}", "allreduce", rank, end - 1000 * (rank + 1), 1000.0 * (rank + 1)))
    rows.append(("c", "over", "allreduce", 0, BEGIN, 10.0))
    rows.append(("c", "over", "allreduce", 2, BEGIN, 10.0))
    found = shifts(collectives(rows), [(0, 1), (2, 3)]).set_index("rank")
    told = found.to_dict("index")
    assert found["shift_ns"].to_dict() == {0: 0, 1: -5_000, 2: 0, 3: 30_000}  # a group of two stages moves nothing
    assert found["stage"].to_dict() == {0: 0, 1: 0, 2: 1, 3: 1}
    assert [told[1][name] for name in ("operations", "residual_ns", "worst_ns")] == [5, 0.0, 30.0]
    assert [told[3][name] for name in ("operations", "residual_ns", "worst_ns")] == [5, 0.0, 200.0]
    assert np.isnan(told[0]["residual_ns"])
    assert tuple(shifts(collectives([]), []).columns) == COLUMNS


def test_kernels_stand_in_for_communication_that_no_file_of_the_job_tells() -> None:
    ranks = [
        operators(rank, kernels([(1, f"hcom_allReduce__{n}", "x", "HCCL", 100 * n + 7 * rank, 50) for n in range(3)]), None)
        for rank in (0, 1)
    ]
    found = shifts(ends_of(None, ranks), [])
    assert found[["rank", "shift_ns", "worst_ns"]].iloc[1].tolist() == [1, -7, 0.0]
    assert not len(shifts(ends_of(None, []), []))


def test_clocks_of_other_zeros_begin_together_and_sets_that_were_aligned_stay_so() -> None:
    def at(rank: int, begin: int) -> Operators:
        return operators(
            rank, kernels([(1, "a", "Add", "AI_CORE", begin, 50), (1, "a", "Add", "AI_CORE", begin + 900, 50)]), None
        )

    near = [at(0, BEGIN), at(1, BEGIN + 10**9)]
    assert to_one_zero(near, [0, 1]) == [0, 0]
    far = [at(0, 500), at(1, BEGIN), at(2, BEGIN + 30), operators(3, None, None)]
    assert to_one_zero(far, [0, 1, 1, 2]) == [0, 500 - BEGIN, 500 - BEGIN, 0]
    assert to_one_zero([], []) == []


# A trace ---------------------------------------------------------------------------------------


STREAM, GROUP, HOST = (
    Track("d", "Stream 2", "1", "2", "device_stream", (0, 0)), Track("d", "Group", "1", "3", "communication", (0, 1)),
    Track("h", "Thread 7", "2", "7", "python", (0, 2)),
)  # fmt: skip


def test_a_trace_gives_what_runs_on_its_device_but_no_waiting() -> None:
    stream = [(5, 20, "MatMul"), (8, 4, "part"), (30, 50, "EVENT_WAIT"), (90, 10, "Add"), (140, 40, "hcom_allReduce__1")]
    group = [(140, 40, "hcom_allReduce__1"), (190, 10, "hcom_send__2"), (200, 5, "Notify_Wait")]
    made = trace([(STREAM, stream), (GROUP, group), (HOST, [(0, 300, "f")])])
    steps = [TraceStep("ProfilerStep#3", 0, 100), TraceStep("12", 100, 300)]
    found = of_trace(4, made, steps)
    rows = zip(found.key, found.start, found.end, found.step, found.category, strict=True)
    assert [(name_of(found.keys[key]), start, end, step, CATEGORIES[kind]) for key, start, end, step, kind in rows] == [
        ("MatMul", 5, 25, 3, "other"), ("Add", 90, 100, 3, "other"), ("hcom_allReduce__1", 140, 180, 12, "collective"),
        ("hcom_send__2", 190, 200, 12, "send"),
    ]  # fmt: skip
    assert of_trace(4, made, steps, step=12).start.tolist() == [140, 190]
    assert len(of_trace(4, trace({}))) == 0
    assert (len(of_trace(4, made, most=1)), of_trace(4, made, most=1).left_out) == (1, 3)


def test_the_trace_of_a_real_rank_has_the_kernels_of_its_table(real_data: Path) -> None:
    folder = real_data / "profiler_new" / "torch_npu_text_level2" / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    found = of_trace(0, chrome.read(str(folder / "trace_view.json")))
    listed = {(name_of(found.keys[key]), int(start)) for key, start in zip(found.key, found.start, strict=True)}
    with open(folder / "kernel_details.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if row["Accelerator Core"] != "HCCL":
            assert (row["Name"], int(Decimal(row["Start Time(us)"].strip()) * 1000)) in listed
    named = [name_of(found.keys[key]) for key in found.key]
    assert sorted(name for name in named if "hcom" in name) == [
        row["Name"] for row in rows if row["Accelerator Core"] == "HCCL"
    ]


# A picture -----------------------------------------------------------------------------------------


def test_the_cells_bars_and_joins_of_a_window_are_those_of_plain_loops() -> None:
    laid = Laid((random_rank(0, 400, 1), random_rank(1, 500, 2), random_rank(2, 60, 3)), (0, 0, 1))
    begin, end, columns = BEGIN + 200_000, BEGIN + 700_000, 300
    found = view(laid, begin, end, columns)
    width = (end - begin) / columns
    assert found.wide == found.coarse == 1
    busy: dict[tuple[int, int, int], float] = defaultdict(float)
    bars, count = set(), 0
    for row, rank in enumerate(laid.ranks):
        for at in range(len(rank)):
            start, stop = int(rank.start[at]), int(rank.end[at])
            if start >= end or max(stop, start + 1) <= begin:
                continue
            x0, x1 = (max(start, begin) - begin) / width, (min(stop, end) - begin) / width
            lane = int(rank.category[at] >= COMPUTING)
            if x1 - x0 >= 1:
                bars.add((row, lane, at))
            else:
                count += 1
                for column in range(int(x0), min(int(x1), columns - 1) + 1):
                    busy[row, lane, column] += max(0.0, min(x1, column + 1) - max(x0, column))
    assert {*zip(*(found.bars[name].tolist() for name in ("row", "lane", "operator")), strict=True)} == bars
    assert found.merged == count == int(found.cells["count"].sum())
    assert found.operators == count + len(bars)
    shares = {}
    for row, lane, x0, x1, share in zip(
        *(found.cells[name].tolist() for name in ("row", "lane", "x0", "x1", "share")), strict=True
    ):
        for column in range(x0, x1):
            shares[row, lane, column] = share
    for place, part in busy.items():
        level = shares.get(place, 0)
        assert level == max(1, round(min(part, 1.0) * LEVELS)) or (part < 1e-9 and level <= 1) or abs(
            min(part, 1.0) * LEVELS % 1 - 0.5) < 1e-6  # fmt: skip
    expected = 0
    for row, pair in enumerate(laid.joins):
        upper, lower = laid.ranks[row : row + 2]
        for one, other in zip(pair.first.tolist(), pair.second.tolist(), strict=True):
            low = min(int(upper.start[one]), int(lower.start[other]))
            high = max(int(upper.end[one]), int(lower.end[other]))
            expected += low < end and high > begin
    assert found.joined == expected == int(found.joins["count"].sum())


def test_cells_may_be_those_of_what_is_not_joined_alone() -> None:
    laid = Laid((random_rank(0, 400, 1), random_rank(1, 300, 2)), (0, 0))
    found = view(laid, BEGIN, BEGIN + 1_000_000, 40, alone=True)
    whole = view(laid, BEGIN, BEGIN + 1_000_000, 40)
    bars = {(row, at) for row, at in zip(whole.bars["row"].tolist(), whole.bars["operator"].tolist(), strict=True)}
    small = [(row, at) for row, rank in enumerate(laid.ranks) for at in range(len(rank)) if (row, at) not in bars]
    assert int(found.cells["count"].sum()) == sum(not laid.joined[row][at] for row, at in small) > 0
    assert len(found.bars["row"]) == len(bars)


@pytest.mark.long
def test_too_much_for_a_screen_is_taken_together_and_counted() -> None:
    laid = Laid(tuple(random_rank(rank, 3_000, rank) for rank in range(24)), (0,) * 24)
    found = view(laid, BEGIN, BEGIN + 1_000_000, 4_000)
    assert found.coarse > 1
    assert len(found.joins["row"]) <= 24_000
    assert int(found.joins["count"].sum()) == found.joined
    assert found.bundled == found.joined - int((found.joins["count"] == 1).sum())
    assert len(found.bars["row"]) + int(found.cells["count"].sum()) == found.operators


def test_a_view_is_packed_as_its_header_says() -> None:
    laid = Laid((random_rank(0, 40, 1), random_rank(1, 50, 2)), (0, 0))
    found = view(laid, BEGIN, BEGIN + 1_000_000, 200)
    data = found.packed()
    size = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + size])
    at = 4 + size
    for name in ("bars", "cells", "joins"):
        table = header["tables"][name]
        for column, kind in table["columns"]:
            values = np.frombuffer(data, f"<{kind}", table["length"], at)
            assert values.tolist() == getattr(found, name)[column].tolist()
            at += -(-values.nbytes // 4) * 4
    assert at == len(data)
    empty = view(Laid((), ()), 0, 1, 10)
    assert isinstance(empty, OperatorView)
    assert not empty.operators
    with pytest.raises(ValueError, match="window"):
        view(laid, 5, 5, 10)


# Real jobs -----------------------------------------------------------------------------------------


def test_two_real_ranks_are_joined_as_their_raw_files_say(real_data: Path) -> None:
    folder = real_data / "profiler_new" / "torch_npu_text_level2"
    run = open_run(str(folder))
    (job,) = run.profile.jobs
    profiles = {rank: profile for (_, rank), profile in run.profile.items()}
    laid = Laid(tuple(operators(rank, profiles[rank].kernels, job.collectives) for rank in (0, 1)), (0, 0))
    names = []
    for rank in (0, 1):
        with open(folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv", encoding="utf-8") as file:
            rows = [(Decimal(row["Start Time(us)"].strip()), row["Name"]) for row in csv.DictReader(file)]
        names.append([name for _, name in sorted(rows)])
    counts = [{name: own.count(name) for name in own} for own in names]
    expected = sum(min(count, counts[1].get(name, 0)) for name, count in counts[0].items())
    (pairs,) = laid.joins
    assert len(pairs.first) == expected == 191
    assert [name_of(laid.ranks[0].keys[key]) for key in laid.ranks[0].key] == names[0]
    # The shift and what remains, from communication.json itself.
    ends = []
    for rank in (0, 1):
        path = folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "communication.json"
        told = json.loads(path.read_text(), parse_float=Decimal)["step50"]["collective"]
        own = {}
        for name, value in told.items():
            times = value["Communication Time Info"]
            if "Total" not in name:
                own[name] = times["Start Timestamp(us)"] * 1000 + times["Elapse Time(ms)"] * 1_000_000
        ends.append(own)
    apart = [float(ends[0][name] - ends[1][name]) for name in ends[0]]
    middle = statistics.median(apart)
    found = shifts(ends_of(job.collectives, laid.ranks), []).set_index("rank")
    assert found.loc[1, "operations"] == len(apart) == 4
    assert found.loc[1, "shift_ns"] == pytest.approx(middle, abs=300)  # a quarter of a microsecond: the file has floats
    assert found.loc[1, "worst_ns"] == pytest.approx(max(abs(one - middle) for one in apart), abs=600)
    assert found.loc[1, "residual_ns"] == pytest.approx(statistics.median(abs(one - middle) for one in apart), abs=600)


def test_ranks_without_kernels_show_their_communication(real_data: Path) -> None:
    run = open_run(str(real_data / "profiler_new" / "torch_npu_st_4ranks_pp2"))
    (job,) = run.profile.jobs
    own = {rank: profile.kernels for (_, rank), profile in run.profile.items() if profile.gives("kernels")}
    ranks = [operators(rank, own.get(rank), job.collectives) for rank in range(4)]
    assert [rank.kernels for rank in ranks] == [True, False, True, False]
    # 2,463 and 2,587 rows, of which 15 and 23 are communication; these are in communication.json as well.
    assert [int((rank.category < COMPUTING).sum()) for rank in ranks] == [2448, 0, 2564, 0]
    assert [int((rank.category >= COMPUTING).sum()) for rank in ranks] == [15, len(ranks[1]), 23, len(ranks[3])]
