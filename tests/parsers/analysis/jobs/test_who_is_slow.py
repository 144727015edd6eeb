"""How often slow ranks and replicas are named in jobs of a generator that knows nothing of the rule (`tests.simulations`).

The table in docs/performance/ranks.md is of the seeds of `make test-long`. A fault that costs less than COSTS of a step need
not be named. Data of replicas that differ by up to 15 % from step to step hide a rank of 5 %: there is no floor for those.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from app.demo.simulated.job_records import recorded
from app.demo.simulated.jobs import simulate
from app.demo.simulated.programs import Fault, JobPlan
from parsers.analysis.jobs.slow_tests import LIMITS
from parsers.analysis.jobs.who_is_slow import SlowRanks, who_is_slow
from tests.amounts import some_or_every
from tests.simulations.job_frames import frames
from tests.simulations.jobs import draw, truth

COSTS = 0.003
EVERY, SOME = 100, 8
CAUSES = {"slow_rank": "computing", "slow_replica": "computing", "late_host": "host"}


def job(seed: int, kind: str, steps: int, share: float, unequal: float | None = None) -> JobPlan:
    """Draw a job; of a rank, share is what its fault takes of a step, of a replica what its computing takes longer."""
    random = np.random.default_rng(seed)
    plan = draw(random, steps=steps)
    plan = plan if unequal is None else replace(plan, unequal=unequal)
    if kind == "slow_replica" and plan.tp * plan.pp == 1:
        plan = replace(plan, dp=4, tp=int(random.choice([1, 2])), pp=2, mode="buckets", micro=4)
    if not kind:
        return plan
    place = int(random.integers(plan.dp if kind == "slow_replica" else plan.ranks))
    if kind == "slow_replica":
        return replace(plan, fault=Fault(kind, place, share))
    clean = simulate(plan)
    computing = sum(piece.end - piece.start for piece in clean.pieces if piece.rank == place) / steps
    whole = computing if kind == "slow_rank" else plan.computing_ns
    return replace(plan, fault=Fault(kind, place, share * float(clean.step_ns.mean()) / whole))


def judged(plan: JobPlan) -> SlowRanks:
    return who_is_slow(frames(recorded(simulate(plan))))


def hits(plan: JobPlan, found: SlowRanks) -> tuple[bool, int]:
    """Return whether the fault was named with its cause, or costs too little to be, and how many wrong names there are."""
    fault = plan.fault
    if fault is None:
        return not found.slow, len(found.slow)
    wanted = {rank for rank in range(plan.ranks) if plan.place(rank)[0] == fault.place}
    wanted = wanted if fault.kind == "slow_replica" else {fault.place}
    right = [one for one in found.slow if set(one.replica or (one.rank,)) == wanted]
    named = any(one.cause == CAUSES[fault.kind] for one in right)
    if not named:
        told = truth(plan)
        named = told.lost_ns < COSTS * float(told.clean_step_ns.mean())
    return named, len(found.slow) - len(right)


def counted(begin: int, number: int, *what: object) -> tuple[int, int]:
    results = [(plan, judged(plan)) for plan in (job(seed, *what) for seed in range(begin, begin + number))]  # type: ignore[arg-type]
    pairs = [hits(*one) for one in results]
    return sum(named for named, _ in pairs), sum(wrong > 0 for _, wrong in pairs)


@some_or_every
@pytest.mark.parametrize(
    ("begin", "what", "least"),
    [
        (41_000, ("slow_rank", 20, 0.05, 0.0), 0.95), (42_000, ("slow_rank", 20, 0.05, 0.05), 0.95),
        (43_000, ("slow_rank", 8, 0.05, 0.0), 0.90), (44_000, ("late_host", 20, 0.05, 0.0), 0.95),
        (45_000, ("slow_replica", 20, 0.15), 0.95),
    ],
    ids=["rank-20", "rank-20-data", "rank-8", "host-20", "replica-20"],
)  # fmt: skip
def test_what_is_slow_is_named_with_its_cause(begin: int, what: tuple[object, ...], least: float, every: bool) -> None:
    number = EVERY if every else SOME // 2
    right, wrong = counted(begin, number, *what)
    assert right >= np.floor(least * number)
    assert wrong <= 0.02 * number


@some_or_every
@pytest.mark.parametrize(("begin", "steps"), [(46_000, 20), (47_000, 8)])
def test_nobody_is_named_where_nothing_is_wrong(begin: int, steps: int, every: bool) -> None:
    number = EVERY if every else SOME // 2
    assert counted(begin, number, "", steps, 0.0)[1] == 0


@pytest.mark.parametrize("seed", [44_014, 44_036])
def test_a_few_last_steps_that_agree_by_chance_name_nobody(seed: int) -> None:
    """Data of replicas differ by up to 15 %: in the last five or six steps one rank is above its peers, and evenly so."""
    assert judged(job(seed, "", 20, 0.0, 0.15)).slow == ()


def test_fewer_steps_are_not_judged() -> None:
    found = judged(JobPlan(dp=8, mode="meetings", steps=LIMITS.steps - 1, fault=Fault("slow_rank", 3, 0.5)))
    assert (found.reason, found.slow, found.steps) == ("steps", (), LIMITS.steps - 1)
    assert [one.rank for one in found.once] == [3]


@pytest.mark.parametrize("collectives", [1, 3, 8, 20])
def test_the_number_of_operations_in_a_step_does_not_matter(collectives: int) -> None:
    plan = JobPlan(seed=5, dp=8, mode="meetings", steps=12, collectives=collectives, fault=Fault("slow_rank", 3, 0.1))
    assert [(one.rank, one.cause) for one in judged(plan).slow] == [(3, "computing")]


@pytest.mark.parametrize("place", [1, 5, 6])
def test_a_rank_that_waits_for_the_late_one_is_said_to(place: int) -> None:
    """Both stages of a replica are late to their groups: the one whose host pauses, and the one that waits for it."""
    plan = JobPlan(
        seed=8, dp=4, pp=2, micro=8, steps=10, collectives=2, computing_ns=64e6, communication=0.15, noise=0.015, hiccups=0.0,
        gaps=0.01, clock_ns=0.0, fault=Fault("late_host", place, 0.4),
    )  # fmt: skip
    found = judged(plan)
    assert [(one.rank, one.cause) for one in found.slow] == [(place, "host")]
    assert {(one.rank, one.cause, one.saved_ns) for one in found.once} == {((place + 4) % 8, "pipeline", 0.0)}
