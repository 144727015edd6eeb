"""How often faults are named in simulated jobs (`tests.writers.simulated_jobs`, written without regard to the rules).

Of 100 jobs of 64 to 1,024 ranks each, on the seeds 5000 to 5099: docs/figures.md. Here are fewer, whose pipelines wait less
than half of the time: elsewhere a rank slower by 5 % costs less than 1 % of a step, which is no straggler.
"""

from __future__ import annotations

import numpy as np
import pytest

from parsers.analysis.jobs.bubble import bubbles
from parsers.analysis.jobs.links import slow_links
from parsers.analysis.jobs.stragglers import Straggler, stragglers
from parsers.analysis.profiles.memory.curves import BytesOverTime, step_minima
from parsers.analysis.profiles.memory.leaks import leak
from tests.amounts import long_after, some_or_every
from tests.writers.simulated_jobs import Fault, Grid, Job, memory, simulate

GRIDS = (Grid(4, 16, 1), Grid(8, 8, 1), Grid(4, 4, 4, 8), Grid(8, 4, 2), Grid(4, 16, 2), Grid(8, 16, 2))
SEEDS = range(8000, 8040)
"""Seeds in `make test-long`; the first FEWER in `make test`, one of each grid."""
FEWER = 6


def seeds(every: bool) -> range:
    return SEEDS if every else SEEDS[:FEWER]


def grid_of(seed: int) -> Grid:
    return GRIDS[seed % len(GRIDS)]


def named(job: Job) -> list[Straggler]:
    found = stragglers(job.collectives, job.steps, job.groups, slow_links(job.links))
    return [one for one in found if one.persistent]


def test_what_is_simulated_adds_up() -> None:
    job = simulate(1, Grid(2, 2, 2))
    parts = job.steps[["computing_ns", "free_ns", "exposed_ns"]].sum(axis=1)
    assert np.allclose(parts, job.steps["total_ns"], rtol=1e-9)
    assert job.collectives["own_wait_ns"].notna().any()
    starts = job.collectives.groupby("rank")["start_ns"].min()
    assert len(starts) == 8


@some_or_every
def test_nothing_is_named_where_nothing_is_wrong(every: bool) -> None:
    jobs = [simulate(seed, grid_of(seed)) for seed in seeds(every)]
    assert sum(bool(named(job)) for job in jobs) <= 0.025 * len(seeds(every))  # a hiccup in a group of four
    assert not [job for job in jobs if slow_links(job.links)]


@some_or_every
@pytest.mark.parametrize(
    ("fault", "cause"),
    long_after(2, [
        (Fault(slower=0.05), "computing"), (Fault(slower=0.06, since=3), "computing"),
        (Fault(slower=0.05, late=0.02), "computing"), (Fault(late=0.05), "host"),
    ]),
)  # fmt: skip
def test_a_rank_that_is_slow_or_late_is_named(fault: Fault, cause: str, every: bool) -> None:
    right = others = 0
    for seed in seeds(every):
        grid = grid_of(seed)
        rank = int(np.random.default_rng(seed).integers(grid.ranks))
        found = named(simulate(seed, grid, Fault(rank, fault.slower, fault.late, fault.since)))
        right += [one.cause for one in found if one.rank == rank] == [cause]
        others += any(one.rank != rank for one in found)
    assert right >= 0.95 * len(seeds(every))
    assert others <= 0.025 * len(seeds(every))


@some_or_every
def test_a_rank_that_becomes_slow_is_slow_since_then(every: bool) -> None:
    """A step in which noise hides it does not move the beginning."""
    found = [
        one.since - 100
        for seed in seeds(every)
        for one in named(simulate(seed, Grid(8, 8, 1), Fault(9, slower=0.1, since=3)))
        if one.rank == 9
    ]
    assert len(found) >= 0.95 * len(seeds(every))
    assert np.count_nonzero(np.array(found) == 3) >= 0.9 * len(found)


@some_or_every
def test_a_link_at_seven_tenths_is_named_and_no_other(every: bool) -> None:
    right = 0
    for seed in seeds(every):
        job = simulate(seed, grid_of(seed), Fault(link=seed))
        right += [(one.source, one.target) for one in slow_links(job.links)] == [job.pairs[seed % len(job.pairs)]]
    assert right >= 0.95 * len(seeds(every))


@pytest.mark.long
@pytest.mark.parametrize(("leak_bytes", "least", "most"), [(1 << 20, 0.95, 1.0), (0, 0.0, 0.02)])
def test_a_leak_of_a_mib_a_step(leak_bytes: int, least: float, most: float) -> None:
    found = []
    for seed in range(100):
        allocated = int(np.random.default_rng(seed).uniform(1, 8) * 2**30)
        times, values, begins, ends = memory(seed, steps=20, leak_bytes=leak_bytes, allocated=allocated)
        found.append(leak(step_minima(BytesOverTime(times, values), begins, ends)).verdict == "leak")
    assert least <= np.mean(found) <= most


@pytest.mark.long
@some_or_every
def test_pipelines_that_wait_are_named(every: bool) -> None:
    for grid in (Grid(4, 4, 4), Grid(8, 4, 2), Grid(4, 8, 8), Grid(1, 16, 4, 8)):
        found = [bubbles(simulate(seed, grid).steps) for seed in range(10 if every else 2)]
        assert all(found)
        assert all(one[0].stage == 0 for one in found)  # it waits for all others in backward
    assert not [seed for seed in seeds(every) if bubbles(simulate(seed, Grid(8, 8, 1)).steps)]
