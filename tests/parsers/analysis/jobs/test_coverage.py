"""Files and steps that only some ranks have."""

from __future__ import annotations

from parsers.analysis.jobs.coverage import Lacking, common_steps, lacking_files
from parsers.cluster_frames import CLUSTER_STEPS
from parsers.profiler.frame_parts import frame_of


def test_files_that_only_some_ranks_have() -> None:
    files = {0: {"steps", "trace"}, 1: {"steps", "trace", "memory"}, 2: {"steps"}}
    assert lacking_files(files) == [Lacking("trace", (2,), 2), Lacking("memory", (0, 2), 1)]
    assert lacking_files({}) == []
    assert lacking_files({3: {"steps"}}) == []


def test_steps_that_all_ranks_have() -> None:
    told = [(1, 0), (2, 0), (1, 1), (2, 1), (3, 1), (3, 1), (2, 4)]
    columns = {"step": [step for step, _ in told], "rank": [rank for _, rank in told], "kind": ["rank"] * len(told)}
    steps = frame_of(CLUSTER_STEPS, len(told), columns, "made")
    found = common_steps(steps, [0, 1, 4, 5])
    assert found.common == (2,)
    assert found.partial == (Lacking("1", (4,), 2), Lacking("3", (0, 4), 1))
    assert found.without == (5,)
    nothing = common_steps(steps.iloc[:0], [0, 1])
    assert (nothing.common, nothing.partial, nothing.without) == ((), (), (0, 1))


def test_stages_and_means_are_no_steps_of_a_rank() -> None:
    steps = frame_of(CLUSTER_STEPS, 3, {"step": [1, 2, 1], "rank": [-1, 0, 0], "kind": ["stage", "mean", "rank"]}, "made")
    assert common_steps(steps, [0]).common == (1,)
