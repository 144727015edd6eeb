"""Advice that stages of a pipeline compute unequally long, with what each computes."""

from __future__ import annotations

import numpy as np

from parsers.analysis.jobs.advice.cluster import STEP_FILES
from parsers.analysis.jobs.advice.model import MOST_ROWS, Advice, Frames, Told, Unchecked, needed
from parsers.analysis.jobs.stage_operators import stage_means

LEAST = 0.1
"""Stages are called unequal if the slowest computes longer than the mean by at least this share."""


def unbalanced(frames: Frames, limit: float) -> Advice | None:
    """A stage computes longer than the mean of stages by more than this fraction of it.

    Cost: half the difference of the longest and the mean, unless a replay tells what balance saves.
    """
    steps = needed(frames, "cluster_steps", *STEP_FILES)
    shown = stage_means(steps)
    if shown.empty:
        raise Unchecked(*STEP_FILES)
    if len(shown) < 2:
        raise Unchecked(reason="one_stage")
    took = shown["computing_ns"].to_numpy(np.float64)
    most, least = int(np.argmax(took)), int(np.argmin(took))
    value = float(took[most] / took.mean() - 1.0)
    if not value > limit:
        return None
    shown["of_least"] = took / took[least]
    told: Told = {
        "stage": str(int(shown["stage"].iloc[most])), "other": str(int(shown["stage"].iloc[least])),
        "times": f"{took[most] / took[least]:.2f}", "computing_ns": float(took[most]), "other_ns": float(took[least]),
    }  # fmt: skip
    cost = float(took[most] - took.mean()) / 2
    return Advice("stages", value, limit, cost, shown.head(MOST_ROWS), "ranks", told=told)
