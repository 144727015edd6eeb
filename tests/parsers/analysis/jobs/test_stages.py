"""Places in the grid of parallel dimensions, and stages of pipelines."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from parsers.analysis.jobs.stages import chains, places, stages
from parsers.cluster_frames import GROUPS
from parsers.profiler.frame_parts import frame_of
from parsers.profiler.groups import ranks_of, text_of

SIZES = {
    "tensor_model_parallel_size": 2, "data_parallel_size": 2, "pipeline_model_parallel_size": 4,
    "context_parallel_size": 1,
}  # fmt: skip


def groups(*told: tuple[str, str, Sequence[int]]) -> pd.DataFrame:
    columns = {
        "group": [str(place) for place in range(len(told))], "kind": [one[0] for one in told],
        "sections": [one[1] for one in told], "ranks": [text_of(one[2]) for one in told],
    }  # fmt: skip
    return frame_of(GROUPS, len(told), columns, "made")


def test_tensor_changes_fastest_then_data_then_pipeline() -> None:
    found = places(range(16), SIZES)
    assert found["tp"].tolist() == [0, 1] * 8
    assert found["dp"].tolist() == [0, 0, 1, 1] * 4
    assert found["pp"].tolist() == [rank // 4 for rank in range(16)]


def test_the_two_stages_of_the_sample() -> None:
    sizes = {"tensor_model_parallel_size": 1, "data_parallel_size": 2, "pipeline_model_parallel_size": 2}
    found = places([1, 2], sizes)
    assert [found[name].tolist() for name in ("dp", "pp", "tp")] == [[1, 0], [0, 1], [0, 0]]


def test_unknown_or_wrong_sizes_give_no_place() -> None:
    assert places([0, 1], {})["tp"].tolist() == [-1, -1]
    assert places([0, 16], SIZES)["tp"].tolist() == [-1, -1]


def test_stages_are_joined_by_groups_across_chains_only() -> None:
    found = groups(
        ("pp", "p2p", (0, 2, 4)), ("pp", "p2p", (1, 3, 5)), ("dp_cp", "collective", (0, 1)), ("dp_cp", "collective", (2, 3)),
        ("dp_cp", "collective", (4, 5)), ("mp", "collective", (0, 2, 4)), ("default_group", "collective", range(6)),
    )  # fmt: skip
    assert chains(found, ranks_of) == [(0, 2, 4), (1, 3, 5)]
    assert stages(found, ranks_of) == [(0, 1), (2, 3), (4, 5)]


def test_without_a_pipeline_there_is_no_stage() -> None:
    assert stages(groups(("dp", "collective", (0, 1))), ranks_of) == []
    assert stages(groups(), ranks_of) == []


def test_without_kinds_groups_that_only_send_and_receive_are_chains() -> None:
    assert stages(groups(("", "p2p", (0, 1)), ("", "collective", (0, 1))), ranks_of) == [(0,), (1,)]
