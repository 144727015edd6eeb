"""What the demo has an answer to: the names of its runs, and six addresses, each of a page with what it is about chosen."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

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


@dataclass(frozen=True, slots=True)
class Answer:
    """A page that answers a question: state is its query without the runs to select, which are `runs`."""

    question: str
    page: str
    runs: tuple[str, ...]
    state: tuple[tuple[str, str], ...] = ()

    @property
    def address(self) -> str:
        """Return page and query, without the prefix of the application."""
        return f"{self.page}?{urlencode([*(('run', run) for run in self.runs), *self.state])}"


def date(folder: Path) -> None:
    """Give all files below a folder the time at which the demo ended, so that no run counts as one that still trains.

    Where a clock says that this is still to come, it is an hour ago.
    """
    ended = min(ENDED, time.time() - 3600)
    for path in folder.rglob("*"):
        os.utime(path, (ended, ended))


def sweep() -> tuple[str, ...]:
    """Return the names of the runs of the sweep."""
    return tuple(f"digits_lr{rate}_seed{seed}" for rate in RATES for seed in (1, 2))


def answers(present: Sequence[str]) -> dict[str, Answer]:
    """Return the answers by question (setting, break, time, rank, memory, look) of which all runs are present.

    present are the keys of the runs that are open. The job of ranks is written at the first start and may come later.
    """
    known = set(present)
    return {one.question: one for one in _all() if set(one.runs) <= known}


def _all() -> tuple[Answer, ...]:
    return (
        Answer("setting", "optimisation", sweep(), (("target", "metric/accuracy"),)),
        Answer("break", "first_cause", (DIVERGES,), (("of", DIVERGES),)),
        Answer("time", "job", (JOB,), (("of", JOB), ("rank", str(LATE_RANK)))),
        Answer("rank", "cluster", (JOB,), (("of", JOB), ("picked", str(LATE_RANK)))),
        Answer("memory", "memory", (JOB,), (("of", JOB), ("rank", str(LATE_RANK)))),
        Answer("look", "saliency", (EXPLAINED,), (("of", EXPLAINED), ("sort", "uncertainty"))),
    )
