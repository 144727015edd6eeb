"""Chains and stages of pipelines."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from parsers.analysis.jobs.stages import chains, stages
from parsers.cluster_frames import GROUPS
from parsers.profiler.frame_parts import frame_of
from parsers.profiler.groups import ranks_of, text_of


def groups(*told: tuple[str, str, Sequence[int]]) -> pd.DataFrame:
    columns = {
        "group": [str(place) for place in range(len(told))], "kind": [one[0] for one in told],
        "sections": [one[1] for one in told], "ranks": [text_of(one[2]) for one in told],
    }  # fmt: skip
    return frame_of(GROUPS, len(told), columns, "made")


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
