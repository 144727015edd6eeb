"""Groups and steps that the bar offers: every group under a name of its own, and only steps that were marked."""

from __future__ import annotations

import pandas as pd

from parsers.analysis.jobs.job_choices import group_choices, group_title, offers
from parsers.cluster_frames import GROUPS
from parsers.profiler.frame_parts import frame_of

KNOWN = [
    ("11", "group_19", "pp", "0,2"), ("12", "group_5", "dp_cp", "2-3"), ("13", "group_6", "dp_cp", "0-1"),
    ("14", "", "", "0-3"), ("15", "embd_1", "embd", "0,2"), ("16", "embd_2", "embd", "0,2"),
    ("", "nothing", "pp", ""), ("17", "named", "", ""),
]  # fmt: skip


def groups() -> pd.DataFrame:
    columns = dict(zip(("group", "name", "kind", "ranks"), map(list, zip(*KNOWN, strict=True)), strict=True))
    return frame_of(GROUPS, len(KNOWN), columns, "made")


def test_groups_are_named_by_kind_and_ranks() -> None:
    assert group_choices(groups()) == [
        ["13", "dp_cp 0-1"], ["12", "dp_cp 2-3"], ["15", "embd 0,2 (embd_1)"], ["16", "embd 0,2 (embd_2)"], ["11", "pp 0,2"],
        ["17", "named"], ["14", "14 0-3"],
    ]  # fmt: skip


def test_a_long_hash_is_shortened() -> None:
    assert group_title("", "0-1", "", "11022204950826225271") == "1102…5271 0-1"
    assert group_title("", "", "", "123456789012") == "123456789012"


def test_steps_without_a_number_are_not_offered() -> None:
    assert offers(None, None) == {"groups": [], "steps": []}
    assert offers(groups().iloc[:0], pd.DataFrame({"step": [13, -1, 2, 13]})) == {"groups": [], "steps": [2, 13]}
