"""What the demo has an answer to: the names of its runs, and the places that answer the questions of the start page."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from layouts.runs.questions import Destination

SWEEP = "digits_lr0.01_seed2"
"""One of the runs of the sweep, with the best learning rate."""
OVERFITS = "digits_150_images_overfits"
STEADY = "digits_sgd_lr0.1"
DIVERGES = "digits_sgd_lr2_diverges"
EXPLAINED = "digits_explained"
STARVES = "digits_mindspore_starves"
JOB = "digits_8_ranks"
JOB_REPAIRED = "digits_8_ranks_repaired"
RATES = ("0.0003", "0.001", "0.003", "0.01", "0.1", "0.3")
"""Learning rates of the sweep."""
LATE_RANK = 5
ENDED = 1_795_603_600
"""When the last run of the demo ended, in seconds since 1970."""
BACK_SECONDS = 3600
"""How long ago it ended, at least."""


def date(folder: Path) -> None:
    """Give all files below a folder the time at which the demo ended, so that no run counts as one that still trains.

    Where a clock says that this is still to come, it is an hour ago.
    """
    ended = min(ENDED, time.time() - BACK_SECONDS)
    for path in folder.rglob("*"):
        os.utime(path, (ended, ended))


def sweep() -> tuple[str, ...]:
    """Return the names of the runs of the sweep."""
    return tuple(f"digits_lr{rate}_seed{seed}" for rate in RATES for seed in (1, 2))


def places() -> dict[str, Destination]:
    """Return the page, run and rank that answer each question of the start page (`layouts.runs.questions`)."""
    from layouts.runs.questions import Destination  # not needed by the program that writes the jobs

    of_job = {"run": [JOB], "of": [JOB]}
    late = {**of_job, "rank": [str(LATE_RANK)]}
    return {
        "best": Destination("optimisation", {"run": list(sweep()), "target": ["metric/accuracy"]}),
        "broke": Destination("first_cause", {"run": [DIVERGES], "of": [DIVERGES]}),
        "time": Destination("job", late),
        "late": Destination("cluster", {**of_job, "picked": [str(LATE_RANK)]}),
        "memory": Destination("memory", late),
        "looks": Destination("saliency", {"run": [EXPLAINED], "of": [EXPLAINED], "sort": ["uncertainty"]}),
    }
