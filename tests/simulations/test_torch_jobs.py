"""Simulated training with torch: its times are what can be told by hand, and what advice says of its traces is right."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from tests.amounts import long_after
from tests.simulations.torch_jobs import BETWEEN, MS, QUEUE, US, Job, Plan, step_time
from tests.simulations.torch_verdicts import EFFECTS, FAULTS, HEALTHY, named, of_fault, of_healthy, reviewed

QUIET = Plan(noise=0.0, copy=US, layers=6, kernel=MS)
NEW = range(3000, 3050)
"""Seeds that no limit was adjusted on."""


@pytest.mark.parametrize("fetch", [0, 10 * MS])
def test_a_step_takes_its_kernels_and_what_the_loader_holds_it_up(fetch: int) -> None:
    plan = replace(QUIET, loader="process", fetch=fetch)
    assert step_time(plan, 0) == pytest.approx(plan.computing + fetch, abs=0.02 * plan.computing)


def test_a_loader_costs_nothing_while_the_host_is_ahead() -> None:
    plan = replace(QUIET, loader="process", fetch=10 * MS, lead=-1)
    assert step_time(plan, 0) == pytest.approx(plan.computing, rel=0.01)


def test_workers_that_are_too_slow_make_a_step_as_long_as_a_batch() -> None:
    plan = replace(QUIET, fetch=30 * MS)
    assert step_time(plan, 0) == pytest.approx(30 * MS, rel=0.01)


def test_a_slow_rank_holds_up_all_others() -> None:
    plan = replace(QUIET, ranks=4, reduces=0.0, slow=(2, 0.5))
    assert step_time(plan, 0) == pytest.approx(1.5 * plan.computing, rel=0.05)


@pytest.mark.parametrize("case", ["ranks_unequal", "small_kernels", "ahead"])
def test_kernels_keep_their_order_and_the_queue_its_length(case: str) -> None:
    job = Job(HEALTHY[case](3), 3)
    job.simulate()
    for rank in job.ranks:
        assert rank.host > rank.since > 0
        assert len(rank.starts) < QUEUE or rank.starts[-QUEUE] < rank.host
        if case != "ranks_unequal":
            assert all(after[0] - before[1] >= BETWEEN for before, after in pairwise(rank.kernels))


def test_an_all_reduce_ends_on_all_ranks_together_and_begins_where_they_are_ready() -> None:
    made = Job(HEALTHY["ranks_unequal"](3), 3).simulate()
    reduces = [
        [(event["ts"], event["dur"]) for event in one.events if event["name"].startswith("nccl") and event["cat"] == "kernel"]
        for one in made
    ]
    assert len({len(rows) for rows in reduces}) == 1
    numbers = [[(float(start.strip("\0")), float(lasts.strip("\0"))) for start, lasts in rows] for rows in reduces]
    for together in zip(*numbers, strict=True):
        ends = [start + lasts for start, lasts in together]
        assert max(ends) - min(ends) < 0.01
        assert len({start for start, _ in together}) > 1


@pytest.mark.parametrize("case", [
    "compute", "hidden_loader", "warm_up", "graph", "few_short", "few_items", "tf32", "without_tensor_cores",
    "buckets", "last_batch",
])
def test_healthy_training_is_not_accused(case: str) -> None:
    assert of_healthy(case, range(1)) == {"fine": 1}


@pytest.mark.parametrize("case", [
    "slow_rank", "fetch_in_process", "slow_workers", "pageable", "launch_bound", "short_kernels", "float32", "shapes", "items",
])
def test_a_fault_is_found(case: str) -> None:
    effects = EFFECTS[case]
    assert of_fault(case, effects[len(effects) // 2], range(1)) == {"right": 1}


@pytest.mark.parametrize("seed", long_after(1, range(3)))
def test_joining_short_kernels_saves_no_less_than_the_advice_says(seed: int) -> None:
    plan = replace(FAULTS["short_kernels"](seed, 0.4), noise=0.0)
    found, _ = reviewed(plan, seed)
    said = next(one.cost_ns for one in found.found if one.rule == "short_kernels")
    joined = replace(plan, short=1, short_kernel=plan.short * plan.short_kernel)
    assert 0 < said <= 1.02 * (step_time(plan, seed) - step_time(joined, seed))


@pytest.mark.parametrize("effect", [0.1, 0.3])
def test_what_waiting_for_numbers_costs_is_told(effect: float) -> None:
    plan = replace(FAULTS["items"](1, effect), noise=0.0)
    found, _ = reviewed(plan, 1)
    told = next(one.cost_ns for one in found.found if one.rule == "synchronising")
    lost = step_time(plan, 1) - step_time(replace(plan, items=0), 1)
    assert 0.8 * lost < told <= lost


@pytest.mark.long
@pytest.mark.parametrize("case", HEALTHY)
def test_at_most_one_in_fifty_healthy_trainings_is_accused(case: str) -> None:
    assert of_healthy(case, NEW[:4] if case.startswith("64") else NEW)["fine"] >= (4 if case.startswith("64") else 49)


@pytest.mark.long
@pytest.mark.parametrize("case", FAULTS)
def test_nineteen_in_twenty_faults_are_found(case: str) -> None:
    effects = EFFECTS[case]
    seeds = NEW[:4] if case.endswith("64") else NEW
    assert of_fault(case, effects[len(effects) // 2], seeds)["right"] >= 0.95 * len(seeds)


@pytest.mark.long
def test_a_rank_that_is_slower_by_five_percent_is_named_where_steps_differ_by_one() -> None:
    right = 0
    for seed in NEW:
        plan = replace(FAULTS["slow_rank"](seed, 0.05), noise=0.01)
        assert plan.slow is not None
        right += named(*reviewed(plan, seed)) == {f"slow_rank {plan.slow[0]}"}
    assert right >= 0.95 * len(NEW)
