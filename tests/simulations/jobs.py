"""Draws jobs with and without a fault, and says what the fault costs: by running the same job without it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from app.demo.simulated.jobs import simulate
from app.demo.simulated.programs import Fault, JobPlan


@dataclass(frozen=True, slots=True)
class JobTruth:
    """What is wrong with a job and what it costs; durations of the job's steps in ns."""

    fault: Fault | None
    step_ns: NDArray[np.float64]
    clean_step_ns: NDArray[np.float64]
    """The same job without the fault."""
    free_step_ns: NDArray[np.float64]
    """The same job, fault included, where no transfer takes any time; ranks still wait for each other."""

    @property
    def lost_ns(self) -> float:
        """What the fault costs in a mean step since it began."""
        since = self.fault.since if self.fault else 0
        return float((self.step_ns - self.clean_step_ns)[since:].mean())

    @property
    def communication_ns(self) -> float:
        """What transfers cost in a mean step."""
        return float((self.step_ns - self.free_step_ns).mean())


def truth(plan: JobPlan) -> JobTruth:
    """Run the job as it is, without its fault, and without time for transfers."""
    clean = simulate(replace(plan, fault=None)).step_ns
    return JobTruth(plan.fault, simulate(plan).step_ns, clean, simulate(plan, transfers=0.0).step_ns)


# Choosing jobs --------------------------------------------------------------------------------------------------------------


def draw(random: np.random.Generator, *, fault: str = "", steps: int = 10) -> JobPlan:
    """Choose a job of 4 to 64 ranks and, if one is named, its fault with a size of those that occur."""
    dp, tp, pp = ((8, 1, 1), (16, 1, 1), (64, 1, 1), (4, 2, 1), (4, 1, 4), (2, 2, 4), (8, 1, 2), (4, 2, 2))[random.integers(8)]
    chunks = int(random.choice([1, 2])) if pp > 1 else 1
    plan = JobPlan(
        seed=int(random.integers(2**31)), dp=dp, tp=tp, pp=pp, steps=steps, chunks=chunks,
        micro=pp * int(random.integers(1, 4)) if pp > 1 else 1,
        mode=str(random.choice(["meetings", "buckets", "sharded"])) if pp == 1 else "buckets",
        collectives=int(random.integers(1, 21)), computing_ns=float(10 ** random.uniform(7.0, 9.0)),
        communication=float(random.uniform(0.02, 0.4)), noise=float(random.uniform(0.01, 0.05)),
        transfer_noise=float(random.uniform(0.01, 0.05)), unequal=float(random.choice([0.0, 0.05, 0.15])),
        hiccups=float(random.choice([0.0, 0.002, 0.01])), gaps=float(random.uniform(0.0, 0.1)),
        data=float(random.uniform(0.0, 0.02)), early=bool(random.random() < 0.5), batched=bool(random.random() < 0.3),
        stages=tuple(random.uniform(0.95, 1.1, pp)) if pp > 1 and random.random() < 0.5 else (),
        waits_recorded=bool(random.random() < 0.5), late_within=bool(random.random() < 0.5),
    )  # fmt: skip
    return replace(plan, fault=_fault(random, plan, fault)) if fault else plan


def _fault(random: np.random.Generator, plan: JobPlan, kind: str) -> Fault:
    if kind == "stage" and plan.pp == 1:
        raise ValueError("a job without a pipeline has no unbalanced stages")
    places = {"slow_replica": plan.dp, "stage": plan.pp}
    sizes = {
        "slow_rank": [0.05, 0.1, 0.5], "slow_replica": [0.15], "slow_link": [0.2, 0.3, 0.5], "late_host": [0.05, 0.1, 0.3],
        "stage": [0.15, 0.3, 0.6],
    }  # fmt: skip
    since = int(random.integers(0, max(plan.steps // 2, 1))) if random.random() < 0.3 else 0
    return Fault(kind, int(random.integers(places.get(kind, plan.ranks))), float(random.choice(sizes[kind])), since)
