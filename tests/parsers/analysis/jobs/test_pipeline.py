"""Bands of a pipeline, compared with one counted nanosecond by nanosecond, and with intervals taken from the raw files."""

from __future__ import annotations

import csv
import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import open_run
from parsers.analysis.jobs import pipeline
from parsers.analysis.jobs.bubble import in_theory
from parsers.analysis.jobs.pipeline import BANDS, HIDDEN, RankBands, micro_batches, origins_of, rank_bands, shares, stages_of
from parsers.analysis.jobs.spans import joined, joined_within, split
from parsers.analysis.jobs.waiting import rank_times
from parsers.cluster_frames import CLUSTER_STEPS, COLLECTIVES, DEVICE_TIMES, GROUPS, STAGES
from parsers.deferred import pandas as pd
from parsers.profiler.frame_parts import frame_of
from parsers.profiler.groups import ranks_of

DATA = Path(os.environ.get("MINDSCOPE_TEST_DATA", "/nowhere"))
FOUR = DATA / "profiler_new" / "torch_npu_st_4ranks_pp2"
real = pytest.mark.skipif(not DATA.is_dir(), reason="MINDSCOPE_TEST_DATA names no directory of real runs")
Row = tuple[str, int, int, int, int]
"""kind, rank, begin, end, step."""


def device_times(*rows: Row) -> pd.DataFrame:
    kind, rank, begin, end, step = zip(*rows, strict=True) if rows else ((),) * 5
    columns = {"kind": list(kind), "rank": rank, "start_ns": begin, "end_ns": end, "step": step, "operations": [1] * len(rows)}
    return frame_of(DEVICE_TIMES, len(rows), columns, "made")


def collectives(*rows: tuple[str, int, int, int, int]) -> pd.DataFrame:
    kind, rank, begin, end, step = zip(*rows, strict=True) if rows else ((),) * 5
    pairs = ("send", "receive", "recv", "batchsendrecv")
    columns: dict[str, Any] = {
        "kind": list(kind), "rank": rank, "start_ns": begin, "step": step, "name": list(kind), "group": ["7"] * len(rows),
        "section": ["p2p" if one in pairs else "collective" for one in kind],
        "elapse_ns": [float(high - low) for low, high in zip(begin, end, strict=True)],
    }  # fmt: skip
    return frame_of(COLLECTIVES, len(rows), columns, "made")


# Intervals -------------------------------------------------------------------------------------------------------------------

SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(-2, 12)).map(lambda one: (one[0], one[0] + one[1])), max_size=12)


def marked(spans: list[tuple[int, int]], length: int = 80) -> np.ndarray[Any, Any]:
    """Which of the first units of time lie in any of the intervals."""
    found = np.zeros(length, np.bool_)
    for begin, end in spans:
        found[begin : max(end, begin)] = True
    return found


def arrays(spans: list[tuple[int, int]]) -> tuple[Any, Any]:
    begins, ends = np.array(spans, np.int64).reshape(-1, 2).T
    return begins, ends


def test_nothing_is_joined_to_nothing() -> None:
    assert [len(one) for one in joined(*arrays([]))] == [0, 0, 0]
    assert [len(one) for both in split(arrays([]), arrays([])) for one in both] == [0, 0, 0, 0]


@given(SPANS)
def test_joined_intervals_cover_the_same_and_do_not_touch(spans: list[tuple[int, int]]) -> None:
    begins, ends, counts = joined(*arrays(spans))
    assert (marked(list(zip(begins, ends, strict=True))) == marked(spans)).all()
    assert (begins[1:] > ends[:-1]).all()
    assert counts.sum() == sum(end > begin for begin, end in spans)


@pytest.mark.parametrize("far", [1, 1 << 53])
@given(data=st.data())
def test_intervals_are_joined_within_their_keys_alone(data: st.DataObject, far: int) -> None:
    rows = [(key, begin * far, end * far) for key, spans in enumerate(data.draw(st.lists(SPANS, max_size=9)), -1)
            for begin, end in spans]  # fmt: skip
    rows = data.draw(st.permutations(rows))
    keys, begins, ends = np.array(rows, np.int64).reshape(-1, 3).T
    found = list(zip(*(column.tolist() for column in joined_within(keys, begins, ends)), strict=True))
    wanted = []
    for key in sorted({key for key, _, _ in rows}):
        own = joined(*arrays([row[1:] for row in rows if row[0] == key]))
        wanted += [(key, *one) for one in zip(*(column.tolist() for column in own), strict=True)]
    assert found == wanted


@given(SPANS, SPANS)
def test_intervals_are_split_into_the_moments_in_others_and_the_rest(
    spans: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    inside, left = split(joined(*arrays(spans))[:2], joined(*arrays(others))[:2])
    wanted = marked(spans) & marked(others), marked(spans) & ~marked(others)
    for (begins, ends), units in zip((inside, left), wanted, strict=True):
        assert (marked(list(zip(begins, ends, strict=True))) == units).all()
        assert (begins < ends).all()
        assert (begins[1:] > ends[:-1]).all()


# Bands -----------------------------------------------------------------------------------------------------------------------

KINDS = ("computing", "send", "receive", "exchange", "collective", "forward", "backward")


def expected(sets: dict[str, list[tuple[int, int]]], length: int = 80) -> tuple[list[str], np.ndarray[Any, Any]]:
    """The band of each unit of time by the rule in words, and where communication is hidden."""
    on = {name: marked(sets.get(name, []), length) for name in KINDS}
    bands = []
    for at in range(length):
        running = {name for name in KINDS if on[name][at]}
        order = ["send", "receive", "exchange", "collective"]
        if "computing" in running:
            band = next((name for name in ("forward", "backward") if name in running), "computing")
        else:
            band = next((name for name in order if name in running), "idle")
        bands.append(band)
    hidden = on["computing"] & (on["send"] | on["receive"] | on["exchange"] | on["collective"])
    return bands, hidden


@given(st.fixed_dictionaries(dict.fromkeys(KINDS, SPANS)))
def test_bands_are_those_of_every_moment(sets: dict[str, list[tuple[int, int]]]) -> None:
    rows: list[Row] = [(name, 3, begin, end, 1) for name, spans in sets.items() for begin, end in spans if end > begin]
    found = rank_bands(device_times(*rows), collectives())
    bands, hidden = expected(sets)
    if not rows:
        assert found == {}
        return
    one = found[3]
    busy = [at for at, band in enumerate(bands) if band != "idle"]
    if not busy:  # ranges alone tell nothing that the device did
        assert len(one.edges) == 0
        return
    assert (one.edges[0], one.edges[-1]) == (busy[0], busy[-1] + 1)
    both = one.computes and one.communicates
    wanted = [band if both or band != "idle" else "unknown" for band in bands]
    shown = [BANDS[code] for code, width in zip(one.bands, np.diff(one.edges), strict=True) for _ in range(width)]
    assert shown == wanted[busy[0] : busy[-1] + 1]
    for low, high in ((0, 80), (7, 31), (busy[0], busy[-1])):
        times = one.times(low, high)
        low_in, high_in = max(low, busy[0]), min(high, busy[-1] + 1)
        for name in BANDS:
            assert times[name] == sum(band == name for band in wanted[low_in:high_in])
        assert times[HIDDEN] == hidden[low:high].sum()


def test_the_bubble_is_what_computing_does_not_hide() -> None:
    rows = device_times(("computing", 0, 0, 400, 1), ("computing", 0, 900, 1_000, 1))
    sent = collectives(("batchsendrecv", 0, 300, 700, 1), ("allreduce", 0, 600, 950, 1), ("send", 1, 10, 60, 1))
    found = rank_bands(rows, sent)
    times = found[0].times(0, 1_000)
    assert times == dict.fromkeys((*BANDS, HIDDEN), 0) | {"computing": 500, "exchange": 300, "collective": 200, HIDDEN: 150}
    assert found[1].times(0, 1_000) == dict.fromkeys((*BANDS, HIDDEN), 0) | {"send": 50}
    assert found[1].communicates
    assert not found[1].computes


def test_operations_of_kernels_serve_ranks_without_communication_files() -> None:
    rows = device_times(
        ("computing", 0, 0, 100, 1), ("receive", 0, 100, 300, 1), ("computing", 1, 0, 100, 1), ("receive", 1, 100, 300, 1)
    )
    found = rank_bands(rows, collectives(("receive", 1, 100, 250, 1)))
    assert found[0].times(0, 400)["receive"] == 200
    assert found[1].times(0, 400)["receive"] == 150  # its own file is more exact


def test_operations_without_a_begin_are_left_out() -> None:
    found = rank_bands(device_times(("computing", 0, 0, 100, 1)), collectives(("send", 0, -1, 50, 1)))
    assert not found[0].communicates
    assert set(found[0].bands.tolist()) == {BANDS.index("computing")}


# Windows and shares ----------------------------------------------------------------------------------------------------------


def of_rank(rank: int, *rows: tuple[str, int, int, int]) -> RankBands:
    return rank_bands(device_times(*((kind, rank, low, high, step) for kind, low, high, step in rows)), collectives())[rank]


def test_a_step_begins_with_its_first_rank_by_the_clocks() -> None:
    early = of_rank(0, ("computing", 1_000, 1_400, 1), ("send", 1_400, 1_500, 1), ("computing", 2_000, 2_500, 2))
    late = of_rank(1, ("computing", 5_100, 5_400, 1), ("send", 5_400, 5_700, 1))
    assert origins_of([early, late], 1, {}) == ({0: 1_000, 1: 1_000}, 4_700)
    assert origins_of([early, late], 1, {0: 0, 1: 4_000}) == ({0: 1_000, 1: 5_000}, 700)
    assert origins_of([early, late], 2, {}) == ({0: 2_000, 1: 2_000}, 500)
    assert origins_of([early, late], None, {}) == ({0: 1_000, 1: 1_000}, 4_700)
    assert origins_of([early, late], 9, {}) == ({0: 0, 1: 0}, 0)
    assert origins_of([], 1, {}) == ({}, 0)


def test_work_before_the_first_step_is_no_step_of_the_mean() -> None:
    own = of_rank(0, ("computing", 1, 3, -1), ("computing", 1_000, 1_400, 4), ("allreduce", 1_400, 1_500, 4),
                  ("computing", 2_000, 2_200, 5), ("allreduce", 2_200, 2_300, 5))  # fmt: skip
    (found,) = rank_times([0], {0: own}, CLUSTER_STEPS.empty(), {}, None)
    assert (found.steps, found.bands["computing"]) == (2, 300.0)
    alone = of_rank(0, ("computing", 1_000, 1_400, -1), ("allreduce", 1_400, 1_500, -1))
    (found,) = rank_times([0], {0: alone}, CLUSTER_STEPS.empty(), {}, None)
    assert (found.steps, found.bands["computing"]) == (1, 400.0)


@given(st.fixed_dictionaries(dict.fromkeys(KINDS[:5], SPANS)), st.integers(-10, 60), st.integers(1, 90), st.integers(1, 40))
def test_shares_are_the_time_in_each_column(
    sets: dict[str, list[tuple[int, int]]], begin: int, width: int, columns: int
) -> None:
    rows: list[Row] = [(name, 0, low, high, 1) for name, spans in sets.items() for low, high in spans if high > low]
    found = rank_bands(device_times(*rows, ("computing", 0, 70, 71, 1)), collectives())
    one = found[0]
    width = max(width, columns)  # a column has at least 1 ns
    drawn = shares([[one]], {0: 0}, begin, begin + width, columns)
    for name in (*BANDS, HIDDEN):
        values = drawn.get(name)
        for column in range(columns):
            low, high = begin + column * width // columns, begin + (column + 1) * width // columns
            time = one.times(low, high)[name]
            share = 0 if values is None else int(values[0, column])
            assert share == (0 if not time else max(1, round(255 * time / (high - low))))


def test_a_band_of_one_nanosecond_is_not_lost_and_rows_of_several_ranks_are_means() -> None:
    long = of_rank(0, ("computing", 0, 1_000_000, 1), ("send", 1_000_000, 1_000_001, 1), ("computing", 1_000_001, 2_000_000, 1))
    other = of_rank(1, ("computing", 0, 500_000, 1), ("send", 1_999_999, 2_000_000, 1))
    drawn = shares([[long], [long, other], []], {0: 0, 1: 0}, 0, 2_000_000, 2)
    assert drawn["send"].tolist() == [[0, 1], [0, 1], [0, 0]]
    assert drawn["computing"].tolist() == [[255, 255], [191, 127], [0, 0]]
    assert drawn["idle"].tolist() == [[0, 0], [64, 127], [0, 0]]


# Micro batches and stages ----------------------------------------------------------------------------------------------------


def marked_rank(rank: int, kinds: str, step: int = 1) -> RankBands:
    rows = [("computing", 10 * at, 10 * at + 8, step) for at in range(len(kinds))]
    ranges = [("forward" if one == "F" else "backward", 10 * at, 10 * at + 9, -1) for at, one in enumerate(kinds)]
    return of_rank(rank, *rows, *ranges)


def test_micro_batches_are_counted_only_where_all_ranks_agree() -> None:
    ranks = [marked_rank(0, "FFFBBB"), marked_rank(1, "FBFBFB")]
    assert (micro_batches(ranks, 1).number, micro_batches(ranks, 1).source) == (3, "marks")
    assert micro_batches(ranks, None).number == 3
    assert micro_batches(ranks, 2) == pipeline.MicroBatches(0, "", {})
    differ = [*ranks, marked_rank(2, "FB")]
    assert micro_batches(differ, 1) == pipeline.MicroBatches(0, "", {0: 3, 1: 3, 2: 1})
    assert (micro_batches(differ, 1, told=8).number, micro_batches(differ, 1, told=8).source) == (8, "pp_info")
    assert micro_batches(differ, 1, told=8, typed=5).source == "typed"
    assert micro_batches([], None).number == 0


def test_forward_and_backward_are_computing_in_marked_ranges_only() -> None:
    one = of_rank(
        0, ("computing", 0, 100, 1), ("forward", 20, 60, 1), ("backward", 80, 130, 1), ("send", 100, 120, 1),
        ("forward_host", 0, 5, 1),
    )  # fmt: skip
    times = one.times(0, 200)
    assert {name: time for name, time in times.items() if time} == {"forward": 40, "backward": 20, "computing": 40, "send": 20}
    assert one.edges[-1] == 120


def test_stages_come_from_groups_then_files_then_sizes() -> None:
    texts = {"group": "1", "name": "p", "kind": "pp", "ranks": "2,5", "told": "yes", "sections": "p2p"}
    groups = frame_of(GROUPS, 1, {name: [text] for name, text in texts.items()} | {"size": [2]}, "made")
    steps = CLUSTER_STEPS.empty()
    none = STAGES.empty()
    assert stages_of([2, 5, 7], groups, steps, none, {}, ranks_of) == {2: 0, 5: 1, 7: -1}
    told = frame_of(STAGES, 3, {"rank": [2, 7, 9], "told_rank": [2, 7, 9], "stage": [5, 3, 4]}, "made")
    assert stages_of([2, 5, 7], groups, steps, told, {}, ranks_of) == {2: 0, 5: 1, 7: 3}
    sizes = {"tensor_model_parallel_size": 1, "pipeline_model_parallel_size": 2, "data_parallel_size": 2}
    assert stages_of([0, 1, 2, 3], GROUPS.empty(), steps, none, sizes, ranks_of) == {0: 0, 1: 0, 2: 1, 3: 1}
    assert stages_of([0, 1], GROUPS.empty(), steps, none, {}, ranks_of) == {0: -1, 1: -1}
    assert stages_of([], GROUPS.empty(), steps, none, {}, ranks_of) == {}


def test_in_theory() -> None:
    assert in_theory(2, 8) == 1 / 9
    assert in_theory(1, 8) == 0.0


# The real job ----------------------------------------------------------------------------------------------------------------


def union(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((begin, end))
    return found


def without(spans: list[tuple[int, int]], others: list[tuple[int, int]]) -> int:
    """The length of what is in some intervals and in none of the others."""
    both = union([*spans, *others])
    return sum(end - begin for begin, end in both) - sum(end - begin for begin, end in union(others))


@real
@pytest.mark.parametrize("rank", [0, 2])
def test_the_real_job_has_the_bubble_of_its_raw_files(rank: int) -> None:
    output = FOUR / f"rank_{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    computing = []
    with (output / "kernel_details.csv").open(newline="") as stream:
        for row in csv.DictReader(stream):
            begin = int(Decimal(row["Start Time(us)"].strip()) * 1000)
            if row["Accelerator Core"] not in ("HCCL", "COMMUNICATION"):
                computing.append((begin, begin + int(Decimal(row["Duration(us)"].strip()) * 1000)))
    sent: dict[str, list[tuple[int, int]]] = {"p2p": [], "collective": []}
    for section, operations in json.loads((output / "communication.json").read_text(), parse_float=Decimal)["step13"].items():
        for name, one in operations.items():
            if not name.startswith("Total"):
                times = one["Communication Time Info"]
                begin = int(Decimal(times["Start Timestamp(us)"]) * 1000)
                sent[section].append((begin, begin + int(Decimal(times["Elapse Time(ms)"]) * 1_000_000)))
    (job,) = open_run(FOUR).profile.jobs
    bands = rank_bands(job.device_times, job.collectives)
    window = bands[rank].window(13)
    assert window is not None
    times = bands[rank].times(*window)
    pair = times["send"] + times["receive"] + times["exchange"]
    assert pair == pytest.approx(without(sent["p2p"], computing), abs=2_000)  # begins are floats of microseconds
    assert times["computing"] == sum(end - begin for begin, end in union(computing))
    assert times["collective"] == pytest.approx(without(sent["collective"], computing + sent["p2p"]), abs=5_000)
    whole = [*computing, *sent["p2p"], *sent["collective"]]
    assert window[1] - window[0] == max(end for _, end in whole) - min(begin for begin, _ in whole)
    assert times["idle"] == window[1] - window[0] - times["computing"] - pair - times["collective"]
    if rank == 0:
        assert round(pair / 1e6, 1) == 313.9
        assert round((window[1] - window[0]) / 1e6, 1) == 810.0
    steps = job.cluster_steps.set_index("rank").loc[rank]
    assert pair == pytest.approx(steps["own_bubble_ns"], abs=2_000)
    assert times["computing"] == pytest.approx(steps["computing_ns"], abs=500)
    assert times["idle"] == pytest.approx(steps["free_ns"], abs=5_000)


@real
def test_ranks_of_the_real_job_without_kernels_have_unknown_time() -> None:
    (job,) = open_run(FOUR).profile.jobs
    bands = rank_bands(job.device_times, job.collectives)
    assert {rank: (one.computes, one.communicates) for rank, one in bands.items()} == {
        0: (True, True), 1: (False, True), 2: (True, True), 3: (False, True)
    }  # fmt: skip
    window = bands[1].window(13)
    assert window is not None
    times = bands[1].times(*window)
    assert times["idle"] == times["computing"] == 0
    assert times["unknown"] == window[1] - window[0] - times["exchange"] - times["collective"]
    assert stages_of(job.ranks, job.groups, job.cluster_steps, STAGES.empty(), {}, ranks_of) == {0: 0, 1: 0, 2: 1, 3: 1}
