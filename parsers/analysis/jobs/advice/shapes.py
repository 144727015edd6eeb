"""Advice from the shapes of operators: ones that no step before had, again and again."""

from __future__ import annotations

import numpy as np

from parsers.analysis.jobs.advice.launching import TRACE
from parsers.analysis.jobs.advice.model import MOST_ROWS, Advice, Frames, Told, Unchecked, frame_of, needed
from parsers.deferred import pandas as pd

LEAST_LATER = 4
"""Steps of the second half that a verdict needs."""


def shapes(frames: Frames, limit: float) -> Advice | None:
    """More than this fraction of the later half of the steps bring operators shapes that no step before had.

    What is compiled, tuned or kept for a shape helps when it comes again: a few shapes in turn, a smaller last batch, or
    several steps between two updates bring nothing new for long.
    """
    steps = needed(frames, "steps", TRACE)
    if not steps["file"].astype(str).str.contains(".json", regex=False).all():
        raise Unchecked(TRACE)  # Only a trace tells in which steps the shapes of an operator are the same.
    numbers = np.unique(steps["step"][(steps["kind"] == "step") & (steps["step"] >= 0)].to_numpy())
    rows = frame_of(frames, "shape_times")
    if rows is None:
        operators = needed(frames, "operators", TRACE)
        if not (operators["input_shapes"].astype(str) != "").any():
            raise Unchecked(reason="no_shapes")
    later = numbers[(len(numbers) + 1) // 2 :]
    if len(later) < LEAST_LATER:
        raise Unchecked(reason="few_steps")
    if rows is None:
        return None
    rows = rows[rows["step"].isin(numbers)]
    first = rows.groupby(["name", "input_shapes"], observed=True)["step"].min().reset_index()
    fresh = first[first["step"].isin(later)]
    bringing = fresh["step"].nunique()
    if not bringing / len(later) > limit:
        return None
    own = rows[rows["name"].isin(fresh["name"].unique())]
    sums = own.groupby("name", observed=True).agg(
        shapes=("input_shapes", "nunique"), count=("step", "size"), total_ns=("duration_ns", "sum")
    )
    shown: pd.DataFrame = sums.reset_index().sort_values(["shapes", "total_ns"], ascending=False).head(MOST_ROWS)
    told: Told = {"steps": str(bringing), "of_steps": str(len(later)), "operators": str(len(sums))}
    subject = tuple(shown["name"].astype(str).head(3))
    return Advice("shapes", bringing / len(later), limit, float("nan"), shown, "shapes", subject, told=told)
