"""Compares two runs datum by datum."""

from __future__ import annotations

import pandas as pd

from parsers import Run

FRAMES = ("scalars", "histograms", "images", "tensors", "texts", "lineage")


def same_frames(one: Run, other: Run) -> None:
    """Check that all frames of two runs are equal, but for the paths of their files, and that the same is damaged."""
    for name in FRAMES:
        first, second = getattr(one, name), getattr(other, name)
        if not isinstance(first, pd.DataFrame):
            assert type(first) is type(second), name
            continue
        columns = [column for column in first.columns if column not in ("file", "path")]
        pd.testing.assert_frame_equal(first[columns], second[columns], obj=name)
    assert [(problem.kind, problem.offset) for problem in one.problems] == [(two.kind, two.offset) for two in other.problems]
