"""The parallel strategy page: stages, grid and graph of made and real jobs, and of files that lack or contradict something."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.demo.simulated import strategy_files as made
from layouts.jobs.strategy.asks import COLOURS, read_graph, read_grid
from layouts.jobs.strategy.drawing import Strategies, drawing
from layouts.jobs.strategy.page import _node
from layouts.jobs.strategy.summary import FRAMES, metric_name, summary
from layouts.kit.i18n import CATALOGUE
from layouts.kit.state import BadInput
from layouts.profiles.frames import ProfileFrame
from parsers import open_run
from parsers.analysis.jobs.two_jobs import METRICS
from parsers.cluster_frames import JOB_FRAMES
from parsers.profiler.access import Profiles
from parsers.profiler.jobs import JobFiles, JobMember
from tests.pages import page_named
from tests.parsers.profiler.strategy_files import strategy_file
from tests.sources import MemorySource
from tests.writers.clusters import make

PAGE = page_named("strategy")

ASK: dict[str, Any] = {"run": ["a"], "session": ["."], "rank": ["0"]}


def texts_of(plain: Any) -> str:
    """The English texts of plain lists."""
    if isinstance(plain, str):
        return plain
    if isinstance(plain[0], str) and len(plain) == 3 and isinstance(plain[1], dict):
        return "" if plain[1].get("class") == "zh" else texts_of(plain[2])
    return " ".join(filter(None, map(texts_of, plain)))


def source_of(profiles: Profiles, more: Mapping[str, Any] | None = None) -> MemorySource:
    """The first job of profiles, as a server has it."""
    job = profiles.jobs[0]
    of_job = {name: job.frame(name) for name in JOB_FRAMES if job.gives(name)} | dict(more or {})
    ranks = {
        key: of_job | {"strategies": ProfileFrame("ready", one.strategies, problems=one.problems)}
        for key, one in profiles.items()
        if one.gives("strategies")
    }
    ranks = ranks or dict.fromkeys(profiles, of_job)
    return MemorySource({"a": {"profiles": ranks, "job": job.files}})


def made_job(folder: Path, ranks: tuple[int, ...] = (0, 1, 2, 3)) -> MemorySource:
    (folder / "profiler").mkdir()
    for rank in ranks:
        told = strategy_file()
        told["config"] |= {"rankId": rank, "stageId": rank // 2}
        made.write(folder / "profiler", rank, told)
    profiles = open_run(folder).profile
    return source_of(profiles)


def asked(source: MemorySource, **more: list[str]) -> dict[str, Any]:
    session = next(iter(source.data["a"]["profiles"]))[0]
    return summary(source, read_grid(ASK | {"session": [session]} | more))


def drawn(source: MemorySource, **more: list[str]) -> dict[str, Any]:
    session = next(iter(source.data["a"]["profiles"]))[0]
    return drawing(source, Strategies(), read_graph(ASK | {"session": [session]} | more))


def panel(source: MemorySource, node: str, **more: list[str]) -> str:
    session = next(iter(source.data["a"]["profiles"]))[0]
    answer = _node(source, Strategies(), ASK | {"session": [session], "node": [node]} | more)
    assert json.dumps(answer)
    return texts_of(answer["sections"]["node"])


def test_the_page_is_there() -> None:
    assert (PAGE.name, PAGE.group) == ("strategy", "performance")
    assert set(FRAMES) <= set(JOB_FRAMES)
    for metric in METRICS:
        assert f"two_jobs.metric.{metric}" in CATALOGUE
    for colour in COLOURS:
        assert all(metric_name(colour))


def test_the_files_of_mindinsight(real_data: Path) -> None:
    source = source_of(open_run(real_data / "mindinsight_legacy/parallel_strategy").profile)
    found = asked(source)
    assert "Auto parallel: 2 ranks in one stage." in texts_of(found["sections"]["head"])
    assert found["stages"] == [[0, [0, 1]]]  # MindInsight's map: {"0": [0, 1]}
    answer = drawn(source)
    counters = answer["meta"]["counters"]
    assert [counters[name] for name in ("operators", "strategy", "redistribution", "gradient")] == [2, 1, 0, 0]
    assert (answer["stage"], answer["rank"], answer["ranks"]) == (0, 0, [0, 1])
    said = panel(source, "n1")
    assert "Strategy generated (gen_strategy)" in said
    assert "2 1 1 1" in said
    assert "64 × 3 × 7 × 7" not in said  # the input of the file is named 1000, which no node is: its shape is unknown
    assert any("1000" in problem for problem in answer["meta"]["problems"])


def test_counters_and_marks_of_a_made_job(tmp_path: Path) -> None:
    source = made_job(tmp_path)
    answer = drawn(source)
    counters = answer["meta"]["counters"]
    assert {name: counters[name] for name in ("operators", "strategy", "redistribution", "gradient", "uneven")} == {
        "operators": 10, "strategy": 4, "redistribution": 3, "gradient": 2, "uneven": 1,
    }  # fmt: skip
    assert (counters["generated"], counters["user"], counters["cut"]) == (3, 1, 3)
    assert counters["rows"] == {"redistribution": [2, 3, 9], "gradient": [7, 8], "strategy": [1, 4, 5, 6], "uneven": [4]}
    assert answer["meta"]["phases"] == {"forward": 5, "backward": 3, "recompute": 1, "optimizer": 1}
    everything = ["s:Default", "s:Default/net", "s:Default/net/fc1", "s:Gradients", "s:Gradients/Default"]
    opened = drawn(source, open=everything)
    classes = {one["data"]["id"]: one["classes"].split() for one in opened["elements"] if "source" not in one["data"]}
    assert "strategy" in classes["n1"]
    assert "redistribution" in classes["n2"]
    assert "redistribution" in classes["n3"]
    assert not {"strategy", "redistribution", "gradient"} & set(classes["n0"])
    badges = [one["data"]["label"] for one in opened["elements"] if one["data"]["kind"] == "badge"]
    assert sorted(badges) == ["G2", "R1"]
    closed = drawn(source, open=["s:Gradients"])
    assert sorted(one["data"]["label"] for one in closed["elements"] if one["data"]["kind"] == "badge") == ["G2", "R3"]


def test_parts_are_hidden_and_shown(tmp_path: Path) -> None:
    source = made_job(tmp_path)
    every = {"open": ["s:Default", "s:Default/net", "s:recompute_Default"]}
    names = {one["data"].get("name") for one in drawn(source, without=["forward", "optimizer"], **every)["elements"]}
    assert "s:Default" not in names
    assert {"s:Gradients", "s:recompute_Default"} <= names
    assert drawn(source, without=["forward", "optimizer", "backward", "recompute"])["meta"]["boxes"] == 0
    with pytest.raises(BadInput, match="without"):
        drawn(source, without=["sideways"])


def test_stages_and_files_are_chosen(tmp_path: Path) -> None:
    source = made_job(tmp_path, ranks=(0, 2, 3))
    assert [drawn(source)[name] for name in ("stage", "rank", "stages", "ranks")] == [0, 0, [0, 1], [0]]
    assert [drawn(source, stage=["1"])[name] for name in ("stage", "rank", "ranks")] == [1, 2, [2, 3]]
    assert drawn(source, stage=["1"], file=["3"])["rank"] == 3
    assert drawn(source, stage=["1"], file=["0"])["rank"] == 2
    assert drawn(source, stage=["7"])["state"] == "missing"
    found = asked(source)
    head = texts_of(found["sections"]["head"])
    assert "Semi-auto parallel: 4 ranks in 2 stages." in head
    assert "1 of 4 ranks without a readable parallel_strategy file: 1." in head
    assert found["grid"]["ranks"] == [0, 1, 2, 3]
    assert found["grid"]["rowNames"] == ["pp 0", "pp 1"]
    assert asked(source, metric=["file"])["grid"]["values"] == [1, 0, 1, 1]
    assert asked(source, metric=["stage"])["grid"]["values"] == [0, 0, 1, 1]


def test_the_panel(tmp_path: Path) -> None:
    source = made_job(tmp_path)
    said = panel(source, "n4")
    assert "set by the user (in_strategy)" in said
    assert "dimension 2 is not divided by its shards" in said
    assert "32 × 8" in said
    assert "8 × 8" in said
    said = panel(source, "n8")
    assert "Inserted to aggregate gradients" in said
    assert "no strategy in the file" in said
    said = panel(source, "s:Default")
    assert "6 operators" in said
    assert "3 redistribute tensors" in said
    assert "Choose an operator" in panel(source, "")
    assert "Choose an operator" in panel(source, "n999")
    assert panel(source, "f0", open=["s:Default"])


def test_the_grid_of_a_job_with_metrics(real_data: Path) -> None:
    profiles = open_run(real_data / "profiler_new/torch_npu_st_4ranks_pp2").profile
    source = source_of(profiles)
    found = asked(source, metric=["computing"], picked=["1"])
    steps = profiles.jobs[0].cluster_steps
    expected = steps[steps["kind"] == "rank"].groupby("rank")["computing_ns"].mean() / 1e6
    grid = found["grid"]
    assert grid["unit"] == "ms"
    assert (grid["rows"], grid["columns"], grid["ranks"]) == (2, 2, [0, 1, 2, 3])
    assert np.allclose(grid["values"], expected.to_numpy(), rtol=1e-5)
    assert (grid["rowNames"], grid["columnNames"]) == (["pp 0", "pp 1"], ["dp 0", "dp 1"])
    names = [name for name, _ in found["metrics"]]
    assert {"computing", "lateness", "stage", "group:pp", "group:dp"} <= set(names)
    assert "file" not in names
    said = texts_of(found["sections"]["head"])
    assert "there is no strategy graph" in said
    picked = texts_of(found["sections"]["picked"])
    assert "Rank 1" in picked
    assert "dp 1" in picked
    assert "0-1" in picked
    assert "1,3" in picked
    assert asked(source, metric=["group:pp"])["grid"]["values"] == [0, 1, 0, 1]
    assert asked(source, metric=["group:dp"])["grid"]["values"] == [0, 0, 1, 1]
    assert drawn(source)["state"] == "missing"


def test_what_is_being_read_and_what_failed(tmp_path: Path) -> None:
    source = made_job(tmp_path)
    ranks = source.data["a"]["profiles"]
    for frames in ranks.values():
        frames["cluster_steps"] = ProfileFrame("reading", done=1, total=10)
    found = asked(source)
    assert found["state"] == "reading"
    assert found["stages"] == [[0, [0, 1]], [1, [2, 3]]]
    for frames in ranks.values():
        frames["cluster_steps"] = ProfileFrame("failed", text="no memory")
        frames["strategies"] = ProfileFrame("reading")
    assert "no memory" in texts_of(asked(source)["sections"]["head"])
    assert drawn(source)["state"] == "reading"
    for frames in ranks.values():
        frames["stages"] = ProfileFrame("reading")
    assert drawn(source)["state"] == "reading"


def test_many_ranks_are_one_grid() -> None:
    cluster = make(1, ranks=64, group=8)
    frames = {"groups": cluster.groups, "cluster_steps": cluster.steps, "collectives": cluster.collectives}
    source = MemorySource({"a": {"profiles": {(".", rank): frames for rank in range(64)}}})
    found = asked(source, metric=["lateness"])
    assert sorted(found["grid"]["ranks"]) == list(range(64))
    assert json.dumps(found, allow_nan=False)
    assert asked(source)["metric"] == "computing"


def test_all_five_dimensions() -> None:
    sizes = {"tensor": 2, "context": 2, "data": 2, "pipeline": 2}
    parallel = (*((f"{name}_model_parallel_size" if name in ("tensor", "pipeline") else f"{name}_parallel_size", size)
                  for name, size in sizes.items()), ("expert_model_parallel_size", 4))  # fmt: skip
    members = tuple(JobMember(".", "/d", rank, "", ()) for rank in range(16))
    content = {"profiles": {(".", rank): {} for rank in range(16)}, "job": JobFiles(".", members, size=16, parallel=parallel)}
    found = asked(MemorySource({"a": content}), metric=["group:ep"], picked=["6"])
    grid = found["grid"]
    assert grid["columnNames"] == ["dp 0 · cp 0", "dp 0 · cp 1", "dp 1 · cp 0", "dp 1 · cp 1"]
    assert grid["rowNames"] == ["pp 0 · tp 0", "pp 0 · tp 1", "", "pp 1 · tp 0", "pp 1 · tp 1"]
    assert grid["ranks"] == [0, 2, 4, 6, 1, 3, 5, 7, *[-1] * 4, 8, 10, 12, 14, 9, 11, 13, 15]
    # Experts are spread over data and context: four ranks of one tensor place and stage are a group.
    assert grid["values"] == [0] * 4 + [1] * 4 + [None] * 4 + [2] * 4 + [3] * 4
    picked = texts_of(found["sections"]["picked"])
    for text in ("Rank 6 pp 0 tp 0 cp 1 dp 1 ep 3", "pp 6,14", "tp 6-7", "cp 4,6", "dp 2,6", "ep 0,2,4,6"):
        assert text in picked


def test_requests_are_untrusted() -> None:
    source = MemorySource({"a": {"profiles": {(".", 0): {}}}})
    for ask in ({}, {"run": ["a"], "metric": ["x"]}, {"run": ["a"], "picked": ["-3"]}, {"run": ["a"], "step": ["x"]}):
        with pytest.raises(BadInput):
            summary(source, read_grid(ask))
    for ask in (
        {},
        {"run": ["a"], "stage": ["-2"]},
        {"run": ["a"], "file": ["x"]},
        {"run": ["a"], "open": list(map(str, range(2_000)))},
    ):
        with pytest.raises(BadInput):
            read_graph(ask)
    assert summary(source, read_grid({"run": ["a"], "session": ["."]}))["grid"]["rows"] == 1
    assert summary(source, read_grid({"run": ["b"], "session": ["."]}))["grid"] is None
    assert drawing(source, Strategies(), read_graph({"run": ["b"]}))["state"] == "missing"


def test_a_rank_that_no_stage_lists(tmp_path: Path) -> None:
    (tmp_path / "profiler").mkdir()
    for rank, stages in ((0, ((0, 1),)), (5, ((0, 1),)), (1, ((0,), (1,)))):
        told = made.content([made.node("1", "Add", "Default")], rank=0, stage=None, stages=stages)
        made.write(tmp_path / "profiler", rank, told)
    profiles = open_run(tmp_path).profile
    source = source_of(profiles)
    head = texts_of(asked(source)["sections"]["head"])
    for said in ("no stage lists (1): 5", "other stages than most (1): 1", "another rank than their names (2): 1,5"):
        assert said in head
    answer = drawn(source, stage=["-1"])
    assert (answer["stage"], answer["rank"]) == (-1, 5)
    assert len(profiles.jobs[0].problems) == 3
    assert isinstance(profiles.jobs[0].files, JobFiles)


def test_strategies_are_made_once(tmp_path: Path) -> None:
    source = made_job(tmp_path)
    kept = Strategies()
    session = next(iter(source.data["a"]["profiles"]))[0]
    ask = partial(read_graph, ASK | {"session": [session]})
    drawing(source, kept, ask())
    (first,) = kept._kept.values()
    drawing(source, kept, ask())
    assert kept._kept.values()[0] is first
    for frames in source.data["a"]["profiles"].values():
        frames["strategies"] = ProfileFrame("ready", frames["strategies"].frame.copy())
    drawing(source, kept, ask())
    assert kept._kept.values()[0] is not first
