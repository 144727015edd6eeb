"""A first step that is no step like the others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from parsers.analysis.jobs.warm_up import first_differs, steady, warm_up, without_warm_up
from parsers.cluster_frames import CLUSTER_STEPS
from parsers.profiler.frame_parts import frame_of


def steps(lengths: list[float], ranks: int = 2) -> pd.DataFrame:
    rows = [(step, rank, length * (1 + 0.01 * rank)) for step, length in enumerate(lengths, 1) for rank in range(ranks)]
    columns = {
        "step": [row[0] for row in rows], "rank": [row[1] for row in rows], "total_ns": [row[2] for row in rows],
        "kind": ["rank"] * len(rows),
    }  # fmt: skip
    return frame_of(CLUSTER_STEPS, len(rows), columns, "made")


@pytest.mark.parametrize(
    ("lengths", "left_out"),
    [
        ([900.0, 100.0, 101.0], True), ([210.0, 100.0, 101.0, 99.0], True), ([190.0, 100.0, 101.0, 99.0], False),
        ([100.0, 100.0, 900.0], False), ([900.0, 100.0], False), ([900.0], False), ([], False),
        ([900.0, 100.0, 900.0, 900.0], False),
    ],
)  # fmt: skip
def test_a_first_step_of_twice_the_others_is_left_out(lengths: list[float], *, left_out: bool) -> None:
    frame = steps(lengths)
    found = warm_up(frame)
    assert (found is not None) is left_out
    kept = without_warm_up(frame)
    assert sorted(set(kept["step"])) == list(range(2 if left_out else 1, len(lengths) + 1))
    if found is not None:
        assert found.step == 1
        assert found.total_ns == pytest.approx(1.005 * lengths[0])
        assert found.others_ns == pytest.approx(1.005 * float(np.mean(lengths[1:])))


def test_unknown_lengths_are_no_reason() -> None:
    assert not first_differs(np.array([np.nan, 1.0, 1.0]))
    assert not first_differs(np.array([9.0, np.nan, 1.0]))
    assert first_differs(np.array([9.0, np.nan, 1.0, 1.0]))
    assert warm_up(None) is None
    assert steady({"groups": None}) == {"groups": None}


def test_a_step_that_was_not_marked_is_no_warm_up() -> None:
    frame = steps([900.0, 100.0, 101.0])
    assert warm_up(frame.assign(step=frame["step"] - 2)) is None
