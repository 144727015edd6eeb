"""Parts of steps by rank, communication by dimension, load of experts, and the grid of ranks, against other computations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from parsers import open_run
from parsers.analysis.jobs.dimensions import dimensions
from parsers.analysis.jobs.experts import loads
from parsers.analysis.jobs.grid import grid_of
from parsers.analysis.jobs.step_parts import by_row, mean, rank_steps
from parsers.cluster_frames import CLUSTER_STEPS, COLLECTIVES, GROUPS, RANKS
from parsers.profiler.frame_parts import frame_of
from tests.writers.clusters import make

FOUR = "profiler_new/torch_npu_st_4ranks_pp2"


def test_nothing_is_known_of_empty_frames() -> None:
    table = rank_steps([CLUSTER_STEPS.empty()])
    assert table.values["total"].shape == (0, 0)
    assert table.metrics == ()
    assert table.stacked()[1].shape == (0, 1)
    assert rank_steps([]).at("computing").shape == (0,)
    assert dimensions(COLLECTIVES.empty(), GROUPS.empty()) == []
    assert loads(COLLECTIVES.empty(), GROUPS.empty(), RANKS.empty()) is None
    nothing = np.empty(0, np.int64)
    assert grid_of(nothing, nothing, nothing, nothing, []).cells.size == 0


def test_parts_add_up_to_the_step(real_data: Path) -> None:
    (job,) = open_run(real_data / FOUR).profile.jobs
    table = rank_steps([job.cluster_steps])
    assert table.ranks.tolist() == [0, 1, 2, 3]
    assert table.steps.tolist() == [13]
    names, parts = table.stacked()
    inside = parts[:, [name != "preparing" for name in names]].sum(axis=1)
    files = sorted((real_data / FOUR).glob("rank_*/ASCEND_PROFILER_OUTPUT/step_trace_time.csv"))
    assert inside / 1e3 == pytest.approx([pd.read_csv(file)["Stage"].sum() for file in files], abs=0.4)
    assert dict(zip(names, parts[0] / 1e6, strict=True))["bubble"] == pytest.approx(313.8778)  # as cluster.md has it
    assert table.stacked(13)[1].tolist() == parts.tolist()


def test_legacy_files_have_other_parts(real_data: Path) -> None:
    (job,) = open_run(real_data / "mindinsight_legacy/run_2").profile.jobs
    names, parts = rank_steps([job.cluster_steps]).stacked()
    assert names == ("interval", "forward_backward", "tail")
    assert (parts[0] / 1e6).tolist() == pytest.approx([0.0, 23.66808, 0.04097])


def test_sessions_of_a_job_are_joined_and_ranks_may_lack_some() -> None:
    first, second = make(1, ranks=8, steps=3).steps, make(2, ranks=8, steps=2).steps
    second = second[second["rank"] != 4]
    table = rank_steps([first, second])
    assert table.steps.tolist() == [1, 2, 3, 1, 2]
    assert table.session.tolist() == [0, 0, 0, 1, 1]
    assert np.isnan(table.values["computing"][4]).tolist() == [False, False, False, True, True]
    pivot = first.pivot_table(index="rank", columns="step", values="computing_ns")
    assert table.values["computing"][:, :3].tolist() == pivot.to_numpy().tolist()
    assert table.at("computing", 2).tolist() == pivot[2].tolist()
    assert table.at("computing", 77).tolist() == pytest.approx(mean(table.values["computing"], 1).tolist())
    own = rank_steps([first, second], 1)  # both have steps 1 and 2
    other = second.pivot_table(index="rank", columns="step", values="computing_ns").reindex(range(8))
    assert own.at("computing", 2).tolist() == pytest.approx(other[2].tolist(), nan_ok=True)
    assert own.at("computing").tolist() == pytest.approx(other.mean(axis=1).tolist(), nan_ok=True)


def test_rows_of_hosts_and_stages_are_means_or_the_highest() -> None:
    values = np.array([1.0, np.nan, 3.0, 5.0, np.nan])
    row = np.array([0, 0, 1, 1, 2])
    assert by_row(values, row, 3).tolist() == pytest.approx([1.0, 4.0, np.nan], nan_ok=True)
    assert by_row(values, row, 3, highest=True).tolist() == pytest.approx([1.0, 5.0, np.nan], nan_ok=True)
    assert np.isnan(by_row(values[:, None], np.full(5, -1), 1)).tolist() == [[True]]


def test_dimensions_have_the_sums_of_their_operations(real_data: Path) -> None:
    (job,) = open_run(real_data / FOUR).profile.jobs
    frame = job.collectives.merge(job.groups[["group", "kind"]].astype("str"), on="group", suffixes=("", "_of_group"))
    found = {one.kind: one for one in dimensions(job.collectives, job.groups)}
    sums = frame.groupby(["kind_of_group", "rank"])["elapse_ns"].sum()
    for kind, one in found.items():
        assert one.elapse_ns == pytest.approx(sums[kind].mean())
        assert one.highest_ns == pytest.approx(sums[kind].max())
        assert one.highest_rank == sums[kind].idxmax()
    assert sums["pp"][0] / 1e6 == pytest.approx(313.8778)  # group totals of rank 0 in cluster.md
    assert sums["dp_cp"][0] / 1e6 == pytest.approx(65.41234)
    assert found["dp_cp"].groups == 2
    assert np.isnan(found["pp"].wait_ns)  # a rank of a pipeline is not late by the elapse of its neighbours
    assert dimensions(job.collectives, job.groups, 12) == []


def test_dimensions_are_means_over_steps() -> None:
    made = make(3, ranks=16, steps=4)
    (one,) = dimensions(made.collectives, made.groups)
    assert (one.kind, one.groups, one.ranks, one.operations) == ("dp", 2, 16, 5.0)
    per_step = made.collectives.groupby(["rank", "step"])["elapse_ns"].sum()
    assert one.elapse_ns == pytest.approx(per_step.mean())
    assert np.isnan(one.size_bytes)
    (second,) = dimensions(made.collectives, made.groups, 2)
    assert second.elapse_ns == pytest.approx(per_step.xs(2, level="step").mean())


def exchanged(sizes: dict[int, int], kind: str = "alltoallv") -> tuple[pd.DataFrame, pd.DataFrame]:
    rows = len(sizes)
    columns = {
        "step": np.ones(rows), "group": ["7"] * rows, "name": ["hcom_alltoallv__1"] * rows, "kind": [kind] * rows,
        "rank": list(sizes), "elapse_ns": np.ones(rows), "size_bytes": list(sizes.values()),
    }  # fmt: skip
    told = {"group": ["7"], "kind": ["ep"], "name": ["g"], "ranks": ["0-3"], "size": [4], "told": ["yes"]}
    return frame_of(COLLECTIVES, rows, columns, "made"), frame_of(GROUPS, 1, told, "made")


def test_bytes_of_all_to_all_stand_in_for_tokens() -> None:
    collectives, groups = exchanged({0: 100, 1: 300, 2: 100, 3: 100})
    found = loads(collectives, groups, None)
    assert found is not None
    assert found.source == "bytes"
    assert found.share.tolist() == pytest.approx([100 / 150, 2.0, 100 / 150, 100 / 150])
    assert loads(*exchanged({0: 100}, "allreduce"), None) is None


def test_rows_of_grouped_multiplications_are_tokens() -> None:
    collectives, groups = exchanged({0: 100, 1: 300, 2: 100, 3: 100})
    ranks = frame_of(RANKS, 4, {"rank": [0, 1, 2, 3], "expert_rows": [50, 10, 20, -1]}, "made")
    found = loads(collectives, groups, ranks)
    assert found is not None
    assert (found.source, found.ranks.tolist(), found.values.tolist()) == ("tokens", [0, 1, 2], [50.0, 10.0, 20.0])
    assert found.share[0] == pytest.approx(50 / (80 / 3))


def test_every_rank_has_one_cell_of_the_grid() -> None:
    rank = np.arange(96)
    tp, dp, pp = rank % 4, rank // 4 % 8, rank // 32
    grid = grid_of(rank, dp, pp, tp, [""] * 96)
    assert grid.form == "parallel"
    assert grid.cells.shape == (3 * 4 + 2, 8)
    for place in (0, 5, 95):
        (row, column) = (int(one[0]) for one in np.nonzero(grid.cells == place))
        assert grid.rows[row] == (pp[place], tp[place])
        assert grid.columns[column] == dp[place]
    assert sorted(grid.cells[grid.cells >= 0].tolist()) == rank.tolist()
    assert grid.rows[4] == (-1, -1)


def test_ranks_of_one_place_are_side_by_side() -> None:
    rank = np.arange(8)
    zero = np.zeros(8, np.int64)
    grid = grid_of(rank, zero, rank // 4, zero, [""] * 8)
    assert grid.cells.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert grid.columns == (0, 0, 0, 0)


def test_ranks_parallel_in_data_alone_are_no_single_row() -> None:
    rank, zero = np.arange(64), np.zeros(64, np.int64)
    assert grid_of(rank, rank, zero, zero, [""] * 64).cells.shape == (8, 8)


@pytest.mark.parametrize("number", [1, 7, 64, 1_000, 10_000])
def test_ranks_without_places_are_in_order(number: int) -> None:
    rank, unknown = np.arange(number) * 2, np.full(number, -1)
    grid = grid_of(rank, unknown, unknown, unknown, [""] * number)
    assert grid.form == "order"
    assert grid.cells[grid.cells >= 0].tolist() == list(range(number))
    assert grid.rows[-1][0] == rank[grid.cells[-1, 0]]
    assert len(grid.columns) == grid.cells.shape[1] < 4 * max(len(grid.rows), 4)


def test_a_missing_rank_leaves_its_place_in_the_row_of_its_host_empty() -> None:
    ranks, none = np.array([0, 3, 4, 5, 6, 7]), np.full(6, -1)
    grid = grid_of(ranks, none, none, none, ["a", "a", "b", "b", "b", "b"])
    assert grid.cells.tolist() == [[0, -1, -1, 1], [2, 3, 4, 5]]
    apart = grid_of(np.array([0, 9, 4, 5]), none[:4], none[:4], none[:4], ["a", "a", "b", "b"])
    assert apart.cells.tolist() == [[0, 1], [2, 3]]
    askew = grid_of(np.array([3, 4, 5, 6, 7]), none[:5], none[:5], none[:5], ["a", "a", "b", "b", "b"])
    assert askew.cells.tolist() == [[0, 1, -1], [2, 3, 4]]
    twice = grid_of(np.array([0, 0, 1, 1]), none[:4], none[:4], none[:4], ["a", "a", "b", "b"])
    assert twice.cells.tolist() == [[0, 1], [2, 3]]


def test_ranks_of_a_host_are_a_row() -> None:
    rank, unknown = np.arange(6), np.full(6, -1)
    grid = grid_of(rank, unknown, unknown, unknown, ["a", "b", "a", "b", "b", "a"])
    assert grid.form == "hosts"
    assert grid.cells.tolist() == [[0, 2, 5], [1, 3, 4]]


def test_a_sparse_grid_would_be_too_large_so_ranks_are_in_order() -> None:
    rank, zero = np.array([0, 999_999_999]), np.zeros(2, np.int64)
    grid = grid_of(rank, zero, zero, rank, ["", ""])
    assert (grid.form, sorted(grid.cells[grid.cells >= 0].tolist())) == ("order", [0, 1])
    hosts = [*(f"host{number}" for number in range(2_000)), *("large" for _ in range(2_000))]
    rank, unknown = np.arange(4_000), np.full(4_000, -1)
    assert grid_of(rank, unknown, unknown, unknown, hosts).form == "order"
