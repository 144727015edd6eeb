"""Values of two jobs side by side, compared with sums made another way."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from parsers import open_run
from parsers.analysis.jobs import two_jobs
from parsers.cluster_frames import CLUSTER_STEPS, COLLECTIVES, GROUPS, JOB_FRAMES, LINKS, RANKS
from parsers.profiler.frame_parts import frame_of
from tests.writers.clusters import Made, make

DATA = Path(os.environ.get("MINDSCOPE_TEST_DATA", "/nowhere"))
real = pytest.mark.skipif(not DATA.is_dir(), reason="MINDSCOPE_TEST_DATA names no directory of real runs")


def frames_of(made: Made) -> dict[str, pd.DataFrame | None]:
    told = {"rank": [0, 1], "host": ["a", "b"], "peak_allocated_bytes": [100, -1], "cube_flops": [1.0, 2.0]}
    frames = {"groups": made.groups, "collectives": made.collectives, "links": made.links, "cluster_steps": made.steps}
    return {**frames, "ranks": frame_of(RANKS, 2, told, "")}


def test_jobs_without_rows() -> None:
    for frames in ({}, {schema.name: schema.empty() for schema in (GROUPS, COLLECTIVES, LINKS, CLUSTER_STEPS, RANKS)}):
        values = two_jobs.rank_values(frames)
        assert list(values.columns) == ["host", *two_jobs.METRICS]
        assert len(two_jobs.compared(values, values, "total")) == 0
        assert len(two_jobs.medians(values, values)) == 0
        assert two_jobs.largest_part(two_jobs.medians(values, values)) == ("", 0.0)
        for table, name in (
            (two_jobs.operations(frames, by_rank=True), "elapse_ns"), (two_jobs.link_values(frames), "bandwidth"),
            (two_jobs.group_values(frames), "number"),
        ):  # fmt: skip
            assert len(two_jobs.beside(table, table, name)) == 0


def test_values_of_ranks_are_means_over_their_steps() -> None:
    made = make(1, ranks=8, group=4, steps=6)
    values = two_jobs.rank_values(frames_of(made))
    for rank in range(8):
        steps = made.steps[made.steps["rank"] == rank]
        assert values.loc[rank, "computing"] == pytest.approx(math.fsum(steps["computing_ns"]) / 6)
        operations = made.collectives[made.collectives["rank"] == rank]
        assert values.loc[rank, "operations"] == pytest.approx(math.fsum(operations["elapse_ns"]) / 6)
        assert values.loc[rank, "waited"] == pytest.approx(math.fsum(operations["own_wait_ns"]) / 6)
    assert values["host"].tolist() == ["a", "b", *[""] * 6]
    assert values["peak_allocated"].tolist()[0] == 100
    assert values["peak_allocated"].isna().tolist() == [False, *[True] * 7]
    one = two_jobs.rank_values(frames_of(made), 3)
    third = made.steps[(made.steps["step"] == 3) & (made.steps["rank"] == 5)]
    assert one.loc[5, "total"] == third["total_ns"].iloc[0]


def test_the_largest_difference_comes_first_and_what_one_lacks_last() -> None:
    one, other = make(1, ranks=8, group=4, slow_rank=3, slower=0.5), make(2, ranks=12, group=4)
    a, b = (two_jobs.rank_values(frames_of(made)) for made in (one, other))
    found = two_jobs.compared(a, b, "computing")
    assert found.index[0] == 3
    assert sorted(found.index[8:]) == [8, 9, 10, 11]
    assert found["difference"].isna().sum() == 4
    sizes = found["difference"].abs().dropna().to_numpy()
    assert (np.diff(sizes) <= 0).all()
    assert found.loc[3, "change"] == pytest.approx(0.5, abs=0.05)
    back = two_jobs.compared(b, a, "computing")
    pd.testing.assert_series_equal(back["difference"].sort_index(), -found["difference"].sort_index())
    medians = two_jobs.medians(a, b)
    common = list(range(8))
    assert medians.loc["computing", "one"] == np.median(a.loc[common, "computing"])
    assert medians.loc["computing", "most_one"] == a.loc[3, "computing"]
    assert medians.loc["computing", "ranks"] == 8


def test_rounding_is_no_difference() -> None:
    made = make(1, ranks=8, group=4)
    a = two_jobs.rank_values(frames_of(made))
    b = a.copy()
    b["total"] = np.nextafter(a["total"], np.inf)
    assert (two_jobs.compared(a, b, "total")["difference"] == 0.0).all()
    assert two_jobs.medians(a, b).loc["total", "difference"] == 0.0
    b["total"] = a["total"] + 1.0  # a nanosecond of a tenth of a second
    assert two_jobs.compared(a, b, "total")["difference"].tolist() == pytest.approx([-1.0] * 8)


def test_which_part_differs_most() -> None:
    one, other = make(1, ranks=8, group=4), make(1, ranks=8, group=4)
    steps = other.steps.assign(free_ns=other.steps["free_ns"] + 7e6, total_ns=other.steps["total_ns"] + 7e6)
    a, b = two_jobs.rank_values(frames_of(one)), two_jobs.rank_values({**frames_of(other), "cluster_steps": steps})
    name, difference = two_jobs.largest_part(two_jobs.medians(a, b))
    assert name == "free"
    assert difference == pytest.approx(-7e6)


def test_operations_per_rank_and_step() -> None:
    made = make(4, ranks=8, group=4, steps=5)
    by_group = two_jobs.operations(frames_of(made), by_rank=False)
    assert by_group.index.tolist() == [("dp", "0-3", "allreduce"), ("dp", "4-7", "allreduce")]
    rows = made.collectives[made.collectives["rank"] < 4]
    assert by_group.iloc[0]["elapse_ns"] == pytest.approx(math.fsum(rows["elapse_ns"]) / (4 * 5))
    assert by_group["count"].tolist() == [5.0, 5.0]
    by_rank = two_jobs.operations(frames_of(made), by_rank=True)
    assert len(by_rank) == 8
    own = made.collectives[made.collectives["rank"] == 6]
    assert by_rank.loc[("dp", "4-7", "allreduce", 6), "waited_ns"] == pytest.approx(math.fsum(own["own_wait_ns"]) / 5)


def test_links_and_groups() -> None:
    one, other = make(1, slow_link=5), make(1)
    found = two_jobs.beside(*(two_jobs.link_values(frames_of(made)) for made in (one, other)), "bandwidth", ["time_ns"])
    assert found.index[0] == (5, 6, "HCCS")
    row = one.links[one.links["source"] == 5].iloc[0]
    assert found.iloc[0]["one"] == pytest.approx(row["size_bytes"] / row["time_ns"] * 1e9)
    assert found.iloc[0]["time_ns_one"] == row["time_ns"]
    local = one.links.assign(source=-1, source_local=np.arange(len(one.links)))
    assert two_jobs.unknown_links(local) == len(local)
    assert two_jobs.unknown_links(one.links) == 0
    groups = two_jobs.beside(
        two_jobs.group_values(frames_of(one)), two_jobs.group_values(frames_of(make(1, group=16))), "number", ["size"]
    )  # fmt: skip
    assert groups.loc[("dp", "0-7"), "size_one"] == 8
    assert math.isnan(groups.loc[("dp", "0-7"), "other"])
    assert groups.loc[("dp", "0-15"), "other"] == 1


@real
def test_two_real_jobs_by_their_files() -> None:
    """Level 2 as text and as database: steps as written, operations as the sums of the file."""
    frames = []
    for name in ("torch_npu_text_level2", "torch_npu_st_4ranks_pp2"):
        (job,) = open_run(DATA / "profiler_new" / name).profile.jobs
        frames.append({frame: job.frame(frame) for frame in JOB_FRAMES})
    a, b = (two_jobs.rank_values(one) for one in frames)
    for rank in (0, 1):
        output = DATA / f"profiler_new/torch_npu_text_level2/rank{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT"
        row = pd.read_csv(output / "step_trace_time.csv").iloc[0]
        assert a.loc[rank, "free"] / 1e3 == pytest.approx(row["Free"])
        told = json.loads((output / "communication.json").read_text())["step50"]["collective"]
        elapse = sum(one["Communication Time Info"]["Elapse Time(ms)"] for name, one in told.items() if name != "Total Op Info")
        assert a.loc[rank, "operations"] / 1e6 == pytest.approx(elapse)
    assert b.loc[0, "peak_reserved"] >= 10_372 * 2**20
    found = two_jobs.compared(a, b, "total")
    assert sorted(found.index[2:].tolist()) == [2, 3]
    table = two_jobs.operations(frames[1], by_rank=True)
    assert table.loc[("pp", "0,2", "batchsendrecv", 0), "elapse_ns"] / 1e6 == pytest.approx(313.8778)
    assert table.loc[("dp_cp", "0-1", "allgather", 0), "elapse_ns"] > 0
    links = two_jobs.link_values(frames[1])
    assert links.loc[(0, 1, "HCCS"), "bandwidth"] / 1e9 == pytest.approx(18.9444, abs=1e-3)
