"""Stage map, counts, cuts, places and the graph of parallel strategies, on made files and on those of MindInsight."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from app.demo.simulated import strategy_files as made
from parsers import open_run
from parsers.analysis.graphs.network import network
from parsers.analysis.jobs.grid import grid_of
from parsers.analysis.jobs.strategy import count, cuts_of, in_phases, phases, positions, stage_map, strategy_graph, uneven
from parsers.cluster_frames import GROUPS, STAGES
from parsers.deferred import pandas as pd
from parsers.profile_frames import STRATEGIES
from parsers.profiler.frame_parts import ProfileInput, categorical, frame_of
from parsers.profiler.strategy import strategies
from tests.parsers.profiler.strategy_files import strategy_file


def frame_for(folder: Path, told: made.Node) -> pd.DataFrame:
    path = made.write(folder, 0, told)
    return strategies(ProfileInput(str(path), path.name, {})).frame


def stages_of(rows: Sequence[tuple[int, int, int, str, str]]) -> pd.DataFrame:
    """rank, told_rank, stage, mode, stages."""
    columns = list(zip(*rows, strict=True)) or [(), (), (), (), ()]
    return frame_of(STAGES, len(rows), {
        "rank": columns[0], "told_rank": columns[1], "stage": columns[2], "mode": categorical(list(columns[3])),
        "stages": categorical(list(columns[4])),
    }, "x")  # fmt: skip


def test_nothing() -> None:
    empty = stage_map(STAGES.empty())
    assert (empty.stages, empty.files, empty.missing, empty.stage_of(0)) == ((), {}, (), -1)
    counts = count(STRATEGIES.empty())
    assert (counts.operators, counts.strategy, counts.redistribution, counts.gradient, counts.phases) == (0, 0, 0, 0, {})
    assert uneven(STRATEGIES.empty()) == []
    assert phases(STRATEGIES.empty()) == {}
    assert not len(strategy_graph(STRATEGIES.empty()).nodes)
    assert positions([]).places == {}


def test_the_stage_map_and_counters_of_mindinsight(real_data: Path) -> None:
    run = open_run(real_data / "mindinsight_legacy/parallel_strategy")
    found = stage_map(run.profile.jobs[0].stages)
    assert dict(enumerate(found.stages)) == {0: (0, 1)}
    assert found.modes == ("auto_parallel",)
    assert found.files == {0: (0, 1)}
    assert (found.missing, found.outside, found.differing, found.moved, found.renamed) == ((),) * 5
    for rank in (0, 1):
        counts = count(run.profile[".", rank].strategies)
        assert (counts.operators, counts.strategy, counts.generated, counts.cut) == (2, 1, 1, 1)
        assert (counts.redistribution, counts.gradient) == (0, 0)


def test_counts_of_a_made_file(tmp_path: Path) -> None:
    told = strategy_file()
    counts = count(frame_for(tmp_path, told))
    raw = told["graph"]["node"]
    assert counts.operators == len(raw) == 10
    assert counts.strategy == sum(any("strategy" in one["name"] for one in node["attribute"]) for node in raw) == 4
    assert counts.generated == 3
    assert counts.cut == 3
    assert counts.redistribution == sum("redistribution" in node["instanceName"] for node in raw) == 3
    assert counts.gradient == sum("grad_mirror" in node["instanceName"] for node in raw) == 2
    assert counts.phases == {"forward": 5, "backward": 3, "recompute": 1, "optimizer": 1}


def test_files_of_some_ranks_and_contradictions() -> None:
    both = "0-1;2-3"
    found = stage_map(stages_of([(0, 0, 0, "auto_parallel", both), (2, 2, 1, "auto_parallel", both)]))
    assert found.stages == ((0, 1), (2, 3))
    assert found.missing == (1, 3)
    assert found.files == {0: (0,), 1: (2,)}
    found = stage_map(stages_of([
        (0, 0, 0, "auto_parallel", both), (1, 5, 1, "", both), (2, -1, -1, "semi_auto_parallel", "0-3"), (9, 9, 0, "", ""),
    ]))  # fmt: skip
    assert found.stages == ((0, 1), (2, 3))
    assert found.modes == ("auto_parallel", "semi_auto_parallel")
    assert (found.missing, found.outside, found.differing) == ((3,), (9,), (2,))
    assert (found.moved, found.renamed) == ((1,), (1,))
    assert found.files == {0: (0, 1, 9), 1: (2,)}
    assert [found.stage_of(rank) for rank in (0, 3, 9, 7)] == [0, 1, 0, -1]


def test_without_lists_ranks_are_placed_by_their_own_stage() -> None:
    found = stage_map(stages_of([(0, 0, 0, "", ""), (1, 1, 1, "", ""), (2, 2, -1, "", ""), (3, 3, 10**8, "", "")]))
    assert found.stages == ((0,), (1,))
    assert found.outside == (2, 3)
    assert found.files == {-1: (2,), 0: (0,), 1: (1,), 10**8: (3,)}


def test_cuts_and_shards_that_do_not_divide(tmp_path: Path) -> None:
    frame = frame_for(tmp_path, strategy_file())
    names, shapes = frame["name"].tolist(), frame["shape"].tolist()
    first, second = cuts_of(frame["strategy"].iloc[1], frame["inputs"].iloc[1], names, shapes)
    assert (first.name, first.shape, first.shards, first.shard_shape) == ("1", (8, 16), (2, 1), (4, 16))
    assert (second.name, second.shape, second.shards, second.uneven) == ("fc1.weight", (16, 32), (1, 1), ())
    weight = cuts_of(frame["strategy"].iloc[4], frame["inputs"].iloc[4], names, shapes)[1]
    assert (weight.shape, weight.shards, weight.uneven, weight.shard_shape) == ((32, 8), (2, 3), (1,), None)
    assert uneven(frame) == [4]
    (cut,) = cuts_of("2,2", "0", ["a"], ["8"])
    assert not cut.fits
    assert cut.shard_shape is None
    assert [one.shape for one in cuts_of("2;2", "^0;-1;9", ["a"], ["8"])] == [None, None]
    assert cuts_of("0", "0", ["a"], ["8"])[0].uneven == (0,)
    assert cuts_of("2", "0", ["a"], ["-1"])[0].shard_shape == (-1,)


def test_the_graph(tmp_path: Path) -> None:
    frame = frame_for(tmp_path, strategy_file())
    graph = strategy_graph(frame, "stage 0")
    assert graph.title == "stage 0"
    assert len(graph.nodes) == 13
    edges = set(zip(graph.edges["source"].tolist(), graph.edges["target"].tolist(), graph.edges["kind"].tolist(), strict=True))
    raw = strategy_file()["graph"]
    place = {name: row for row, name in enumerate(frame["name"].tolist())}
    assert edges == {
        (place[one["name"]], place[node["name"]], "control" if one["type"] == "CONTROL_EDGE" else "data")
        for node in raw["node"] for one in node["input"]
    }  # fmt: skip
    assert graph.attributes(1) == {"gen_strategy": "((2, 1), (1, 1))"}
    assert graph.attributes(0) == {}
    assert graph.having("gen_strategy").keys() == {1, 5, 6}
    assert graph.source_lines(0) == ()


def test_phases_of_the_graph(tmp_path: Path) -> None:
    frame = frame_for(tmp_path, strategy_file())
    graph = strategy_graph(frame)
    whole = network(graph.nodes, graph.edges)
    assert list(phases(frame)) == ["forward", "backward", "recompute", "optimizer"]
    part = in_phases(whole, frame, ["recompute"])
    names = np.array(frame["name"].tolist())
    assert set(names[part.shown]) == {"6", "fc1.weight"}
    assert set(names[in_phases(whole, frame, ["backward", "optimizer"]).shown]) == {"7", "8", "9", "10"}
    assert set(names[in_phases(whole, frame, ["forward"]).shown]) == {
        "1",
        "2",
        "3",
        "4",
        "5",
        "fc1.weight",
        "fc2.weight",
        "one",
    }
    assert not in_phases(whole, frame, []).shown.any()


def test_places_by_sizes() -> None:
    sizes = {
        "tensor_model_parallel_size": 2, "context_parallel_size": 2, "data_parallel_size": 2, "pipeline_model_parallel_size": 2,
        "expert_model_parallel_size": 2,
    }  # fmt: skip
    found = positions(range(16), sizes=sizes)
    assert set(found.told.values()) == {"sizes"}
    assert {name: found.size(name) for name in found.places} == dict.fromkeys(("pp", "tp", "cp", "dp", "ep"), 2)
    for rank in range(16):  # by counting: tensor fastest, then context, data, pipeline
        tp, cp, dp, pp = rank % 2, rank // 2 % 2, rank // 4 % 2, rank // 8
        assert found.at(rank) == {"tp": tp, "cp": cp, "dp": dp, "pp": pp, "ep": (dp * 2 + cp) % 2}
        assert found.group(rank, "tp") == (rank - tp, rank - tp + 1)
        assert found.group(rank, "pp") == (rank % 8, rank % 8 + 8)
        assert found.group(rank, "dp") == (rank - 4 * dp, rank - 4 * dp + 4)
        assert found.group(rank, "cp") == (rank - 2 * cp, rank - 2 * cp + 2)
        assert found.group(rank, "ep") == found.group(rank, "cp")
    assert "cp" not in positions(range(8), sizes={**sizes, "context_parallel_size": 1}).places


def test_places_by_groups_and_by_stages() -> None:
    rows = [("pp", "0,2"), ("pp", "1,3"), ("dp_cp", "0-1"), ("dp_cp", "2-3"), ("embd", "0,2")]
    groups = frame_of(GROUPS, len(rows), {
        "kind": categorical([kind for kind, _ in rows]), "ranks": categorical([ranks for _, ranks in rows]),
    }, "x")  # fmt: skip
    found = positions(range(4), groups=groups)
    assert {name: own.tolist() for name, own in found.places.items()} == {"pp": [0, 0, 1, 1], "dp": [0, 1, 0, 1]}
    assert found.told == {"pp": "groups", "dp": "groups"}
    assert [found.group(rank, "dp") for rank in range(4)] == [(0, 1), (0, 1), (2, 3), (2, 3)]
    more = positions(range(5), groups=groups)  # rank 4 is in none
    assert more.places == {}
    assert more.group(3, "pp") == ()
    stages = stage_map(stages_of([(0, 0, 0, "auto_parallel", "0-1;2-3")]))
    found = positions(range(4), stages=stages)
    assert found.places["pp"].tolist() == [0, 0, 1, 1]
    assert found.told == {"pp": "files"}
    assert found.group(0, "pp") == ()  # what distinguishes the ranks of a stage is unknown
    assert found.group(9, "pp") == ()
    assert found.group(0, "tp") == ()


def test_places_of_the_four_ranks(real_data: Path) -> None:
    (job,) = open_run(real_data / "profiler_new/torch_npu_st_4ranks_pp2").profile.jobs
    found = positions(job.ranks, steps=job.cluster_steps, groups=job.groups, sizes=dict(job.files.parallel))
    assert found.at(1)["dp"] == 1
    assert found.at(1)["pp"] == 0
    assert found.at(2)["dp"] == 0
    assert found.at(2)["pp"] == 1
    assert found.at(2)["tp"] == 0
    assert found.group(0, "pp") == (0, 2)
    assert found.group(3, "dp") == (2, 3)
    grid = grid_of(found.ranks, found.places["dp"], found.places["pp"], found.places["tp"], [""] * 4)
    assert grid.cells.tolist() == [[0, 1], [2, 3]]


def test_graph_ids_out_of_range_are_left_out() -> None:
    frame = frame_of(STRATEGIES, 1, {"number": [0], "kind": categorical(["operator"]), "inputs": categorical(["7;-1"])}, "x")
    assert not len(strategy_graph(frame).edges)
    assert uneven(frame) == []
