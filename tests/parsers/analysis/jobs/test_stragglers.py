"""Whether slow ranks and links of made jobs are named, and nothing is where nothing is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from parsers.analysis.jobs.links import slow_links
from parsers.analysis.jobs.stragglers import Straggler, moves_with, stragglers
from parsers.cluster_frames import CLUSTER_STEPS, COLLECTIVES, GROUPS, LINKS
from tests.amounts import long_after, some_or_every
from tests.writers.clusters import Made, make

TRIALS = 100
"""Seeds per shape of job in `make test-long`; in `make test` FEWER, which still tell 95 % from a tenth less."""
FEWER = 10
SHAPES = ((64, 4), (64, 8), (64, 16), (256, 8), (1024, 16))


def named(made: Made) -> list[Straggler]:
    found = stragglers(made.collectives, made.steps, made.groups, slow_links(made.links))
    return [one for one in found if one.persistent]


def trials(ranks: int, every: bool) -> range:
    """Fewer of the largest jobs, which have as many groups as several small ones."""
    most = TRIALS if ranks == 64 else max(TRIALS * 64 // ranks, 10)
    return range(most if every else min(most, FEWER * 64 // min(ranks, 256)))


def test_no_rows_name_nobody() -> None:
    assert stragglers(COLLECTIVES.empty(), CLUSTER_STEPS.empty(), GROUPS.empty()) == []
    assert slow_links(LINKS.empty()) == []


@some_or_every
@pytest.mark.parametrize(("ranks", "group"), long_after(2, SHAPES))
def test_a_rank_that_computes_five_percent_longer_is_named(ranks: int, group: int, every: bool) -> None:
    right = wrong = 0
    for seed in trials(ranks, every):
        slow = int(np.random.default_rng(seed).integers(ranks))
        found = named(make(seed, ranks=ranks, group=group, slow_rank=slow))
        right += [(one.rank, one.cause) for one in found] == [(slow, "computing")]
        wrong += any(one.rank != slow for one in found)
    assert right >= 0.95 * len(trials(ranks, every))
    assert wrong <= 0.02 * len(trials(ranks, every))


@some_or_every
@pytest.mark.parametrize(("ranks", "group"), long_after(2, SHAPES))
def test_nobody_is_named_where_nothing_is_wrong(ranks: int, group: int, every: bool) -> None:
    jobs = [make(seed, ranks=ranks, group=group) for seed in trials(ranks, every)]
    assert sum(bool(named(job)) for job in jobs) <= 0.02 * len(jobs)
    assert not [job for job in jobs if slow_links(job.links)]


@some_or_every
@pytest.mark.parametrize("ranks", [64, 256])
def test_a_link_at_seven_tenths_is_named(ranks: int, every: bool) -> None:
    right = 0
    for seed in trials(ranks, every):
        slow = int(np.random.default_rng(seed).integers(ranks))
        found = slow_links(make(seed, ranks=ranks, slow_link=slow).links)
        right += [(one.source, one.target) for one in found] == [(slow, (slow + 1) % ranks)]
    assert right >= 0.95 * len(trials(ranks, every))


@some_or_every
def test_a_rank_that_comes_late_from_the_host(every: bool) -> None:
    ranks = 64
    right = 0
    for seed in trials(ranks, every):
        slow = int(np.random.default_rng(seed).integers(ranks))
        found = named(make(seed, ranks=ranks, slow_rank=slow, slower=0.0, late_ns=8e6))
        right += [(one.rank, one.cause) for one in found] == [(slow, "host")]
    assert right >= 0.95 * len(trials(ranks, every))


def test_one_step_is_not_enough_to_call_a_rank_slow() -> None:
    for seed in range(20):
        made = make(seed, steps=1, slow_rank=5)
        found = stragglers(made.collectives, made.steps, made.groups)
        assert not any(one.persistent for one in found)
        assert all(one.of == 1 and one.steps == (1,) for one in found)


def test_since_which_step_and_what_it_costs() -> None:
    made = make(3, steps=20, slow_rank=11, slower=0.10, since=9)
    (found,) = named(made)
    assert (found.rank, found.since, found.of, found.cause) == (11, 9, 20, "computing")
    assert set(found.steps) >= set(range(10, 20))
    assert found.excess_ns == pytest.approx(10e6, rel=0.2)
    # The group waits until the next rank comes, which is somewhat slower than the median.
    assert 0.6 * found.excess_ns <= found.saved_ns <= found.excess_ns
    assert found.share == pytest.approx(found.lateness_ns / 140e6, rel=0.05)  # 110 + 5 + 25 ms
    assert found.last > 0.9


@some_or_every
def test_two_ranks_only_differ(every: bool) -> None:
    ranks = 8
    right = 0
    for seed in trials(64, every):
        found = named(make(seed, ranks=ranks, group=2, slow_rank=3, slower=0.10))
        right += [(one.rank, one.between_two) for one in found] == [(3, True)]
    assert right >= 0.95 * len(trials(64, every))


def test_groups_of_the_pipeline_are_not_judged() -> None:
    made = make(1, slow_rank=5, slower=0.2)
    for kind in ("pp", "mp", "embd", "default_group"):
        groups = made.groups.assign(kind=made.groups["kind"].cat.rename_categories({"dp": kind}))
        assert stragglers(made.collectives, made.steps, groups) == []


def test_what_a_straggler_follows() -> None:
    one, other = (named(make(seed, slow_rank=rank, slower=0.1))[0] for seed, rank in ((1, 5), (2, 7)))
    hosts = ({5: "a", 7: "b"}, {5: "b", 7: "a"})
    assert moves_with(one, other, hosts) == "host"
    assert moves_with(one, one, hosts) == "rank"
    assert moves_with(one, one, (hosts[0], hosts[0])) == "both"
    assert moves_with(one, other, ({}, {})) == ""
