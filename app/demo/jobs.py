"""The two jobs of eight ranks of the demo, which are simulated: one with a late rank, and the same one without."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from app.demo import story
from app.demo.simulated.detailed_files import write_detailed
from app.demo.simulated.job_records import recorded
from app.demo.simulated.jobs import simulate
from app.demo.simulated.programs import Fault, JobPlan

PLAN = JobPlan(
    seed=8, dp=4, pp=2, micro=8, steps=10, collectives=2, computing_ns=64e6, communication=0.15, noise=0.015, hiccups=0.0,
    gaps=0.01, clock_ns=0.0, fault=Fault("late_host", story.LATE_RANK, 0.4),
)  # fmt: skip
"""Four replicas of two stages. The host of one rank pauses in each step for two fifths of what a step computes."""
JOBS: tuple[tuple[str, JobPlan, Sequence[int]], ...] = (
    (story.JOB, PLAN, (4, 5, 6, 7)),
    (story.JOB_REPAIRED, replace(PLAN, fault=None), ()),
)
"""Name of a job, what it does, and the ranks in which a callback keeps its predictions in device memory: the second stage."""


def write_jobs(folder: Path) -> None:
    """Write the jobs that are not there below a folder that exists.

    Each appears whole, by a rename, so that programs that write at the same time, and one that is killed, leave no half of it.
    """
    for name, plan, leaking in JOBS:
        if (folder / name).is_dir():
            continue
        made = Path(tempfile.mkdtemp(prefix=".job-", dir=folder))
        try:
            write_detailed(made / name, recorded(simulate(plan)), leaking=leaking)
            story.date(made)
            os.rename(made / name, folder / name)
        except OSError:
            if not (folder / name).is_dir():
                raise
        finally:
            shutil.rmtree(made, ignore_errors=True)


if __name__ == "__main__":
    write_jobs(Path(sys.argv[1]))
