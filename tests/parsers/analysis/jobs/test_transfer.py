"""What operations consist of: transfer, waiting, and what is not explained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from parsers import open_run
from parsers.analysis.jobs.transfer import operation_parts, parts_per_step
from parsers.cluster_frames import COLLECTIVES, LINKS
from parsers.profiler.frame_parts import frame_of


def operations(**columns: object) -> pd.DataFrame:
    """Two ranks of one operation: the first waited 6 ms of 10."""
    given = {
        "step": [1, 1], "rank": [0, 1], "group": ["g", "g"], "name": ["a", "a"], "kind": ["allreduce"] * 2,
        "section": ["collective"] * 2, "elapse_ns": [10e6, 4e6], "own_wait_ns": [6e6, 0.0], "transit_ns": [1e6, 1e6],
        "wait_ns": [0.0, 0.0], "size_bytes": [9_000_000] * 2, **columns,
    }  # fmt: skip
    return frame_of(COLLECTIVES, 2, given, "made")


def test_nothing() -> None:
    assert parts_per_step(COLLECTIVES.empty()) == {}
    assert not len(operation_parts(COLLECTIVES.empty(), LINKS.empty()).transfer)


def test_what_files_do_not_record_is_no_part() -> None:
    recorded = parts_per_step(operations())
    assert {"transit", "recorded_wait"} < recorded.keys()
    bare = parts_per_step(operations().assign(transit_ns=np.nan, wait_ns=np.nan))
    assert bare.keys() == recorded.keys() - {"transit", "recorded_wait"}


def test_recorded_transit_is_transfer_and_the_rest_is_not_explained() -> None:
    parts = operation_parts(operations())
    assert parts.waited.tolist() == [6e6, 0.0]
    assert parts.transfer.tolist() == [1e6, 1e6]
    assert parts.unexplained.tolist() == [3e6, 3e6]


def test_bytes_without_transit_take_the_time_of_the_reference_bandwidth() -> None:
    """18 GB/s: 9 MB take 0.5 ms, on two links half of that; never longer than the operation."""
    links = frame_of(LINKS, 4, {
        "rank": [0, 0, 1, 1], "group": ["g"] * 4, "source_local": [0, 0, 1, 1], "target_local": [1, 2, 0, 2],
        "size_bytes": [1, 1, 1, 1], "time_ns": [1.0] * 4, "transport": ["HCCS"] * 4, "class": ["total"] * 4,
    }, "made")  # fmt: skip
    silent = operations(transit_ns=[0.0, 0.0])
    assert operation_parts(silent).transfer == pytest.approx([0.5e6, 0.5e6])
    assert operation_parts(silent, links).transfer == pytest.approx([0.25e6, 0.25e6])
    assert operation_parts(operations(size_bytes=[10**9] * 2, transit_ns=[0.0, 0.0])).transfer.tolist() == [4e6, 4e6]


def test_what_two_ranks_wait_for_each_other() -> None:
    pair = operations(section=["p2p"] * 2, own_wait_ns=[np.nan] * 2)
    assert operation_parts(pair).waited.tolist() == [6e6, 0.0]


@pytest.mark.parametrize("name", ["torch_npu_text_level2", "torch_npu_db_level2"])
def test_an_operation_that_ranks_without_files_hold_is_not_transfer(real_data: Path, name: str) -> None:
    """The files have 4.0 to 4.1 ms of transit in 94 to 102 ms; recorded ranks wait for each other for at most 7 ms."""
    (job,) = open_run(real_data / "profiler_new" / name).profile.jobs
    parts = parts_per_step(job.collectives, job.links)
    transit = float(job.collectives["transit_ns"].sum()) / 2
    assert parts["moved"] == pytest.approx(transit, rel=0.02)
    assert parts["unexplained"] > 0.85 * parts["all"]
    assert parts["moved"] + parts["waited"] + parts["unexplained"] == pytest.approx(parts["all"])
