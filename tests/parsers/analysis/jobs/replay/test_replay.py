"""Replays: the unchanged one is the recording, and savings are those of a simulation run again without the cause."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.demo.simulated.job_records import recorded
from app.demo.simulated.jobs import simulate
from app.demo.simulated.programs import Fault, JobPlan
from parsers import open_run
from parsers.analysis.jobs.replay import changes
from parsers.analysis.jobs.replay.graph import graph_of, lengths
from parsers.analysis.jobs.replay.recording import NotJudged
from parsers.analysis.jobs.replay.replaying import replayed, replayed_all, unchanged
from parsers.analysis.jobs.replay.savings import in_turn
from parsers.analysis.jobs.replay.what_ifs import AT_MOST, BETWEEN, EXACT, WhatIf, bound_of_link, replay_of
from parsers.cluster_frames import COLLECTIVES, JOB_FRAMES
from tests.amounts import long_after, some_or_every
from tests.parsers.analysis.jobs.replay.told_and_true import KINDS, Case, cases, change_of, of_plan, table
from tests.simulations.job_frames import frames
from tests.simulations.jobs import draw

MS = 1e6
QUIET = JobPlan(dp=4, mode="meetings", collectives=5, noise=0.0, transfer_noise=0.0, hiccups=0.0, gaps=0.0, data=0.0, steps=4)


def test_nothing_is_not_judged() -> None:
    for given in ({}, {"collectives": None}, {"collectives": COLLECTIVES.empty()}):
        with pytest.raises(NotJudged, match="no_operations"):
            graph_of(given)


def test_sums_without_begins_are_not_judged() -> None:
    found = frames(recorded(simulate(QUIET)))
    found["collectives"]["start_ns"] = -1
    with pytest.raises(NotJudged, match="no_starts"):
        graph_of(found)


def test_communication_beside_computing_is_not_judged_without_kernels() -> None:
    found = frames(recorded(simulate(replace(QUIET, mode="buckets", communication=0.3))))
    assert graph_of(found)
    with pytest.raises(NotJudged, match="overlap"):
        graph_of({**found, "device_times": None})


@pytest.mark.parametrize("plan", [
    JobPlan(dp=4, mode="meetings"), JobPlan(dp=4, tp=2, unequal=0.15), JobPlan(dp=4, mode="sharded", collectives=9),
    JobPlan(dp=2, pp=4, micro=8), JobPlan(dp=2, tp=2, pp=2, micro=4, chunks=2, early=False, batched=True),
])  # fmt: skip
def test_the_unchanged_replay_is_the_recording(plan: JobPlan) -> None:
    job = simulate(replace(plan, steps=4))
    graph = graph_of(frames(recorded(job)))
    ends = replayed(graph)
    np.testing.assert_allclose(ends, graph.recorded_end, atol=1.0)
    np.testing.assert_allclose(lengths(ends, graph.begin)[1:], job.step_ns[1:], rtol=1e-3)


def test_without_chance_a_slow_rank_costs_what_it_computes_longer() -> None:
    """All wait for it in each of five operations: 10 % of 1.02 times the computing of a step."""
    plan = replace(QUIET, fault=Fault("slow_rank", 2, 0.1))
    graph = graph_of(frames(recorded(simulate(plan))))
    ends = replayed_all(graph, [unchanged(graph), changes.computing_as_peers(graph, [2])])
    saved = np.diff(-lengths(ends, graph.begin), axis=0)[0]
    np.testing.assert_allclose(saved, 0.102 * plan.computing_ns, rtol=1e-3)


def test_ranks_that_are_equally_slow_save_only_together() -> None:
    plan = replace(QUIET, fault=Fault("slow_replica", 1, 0.1), tp=2, dp=4, mode="buckets", collectives=2)
    graph = graph_of(frames(recorded(simulate(plan))))
    first, second = (rank for rank in range(plan.ranks) if plan.place(rank)[0] == 1)
    found = in_turn(graph, {
        "one": changes.computing_as_peers(graph, [first]), "both": changes.computing_as_peers(graph, [first, second]),
    })  # fmt: skip
    assert [one.name for one in found] == ["both", "one"]
    assert found[0].alone_ns == found[0].adds_ns > 0.09 * plan.computing_ns
    assert found[1].alone_ns < 0.01 * plan.computing_ns
    assert found[1].adds_ns < 0.01 * plan.computing_ns


def test_savings_in_turn_never_exceed_the_step() -> None:
    plan = JobPlan(dp=2, pp=4, micro=8, stages=(1.0, 1.2, 1.0, 1.4), gaps=0.05, communication=0.3, steps=3)
    graph = graph_of(frames(recorded(simulate(plan))))
    found = in_turn(graph, {
        "gaps": changes.gaps_closed(graph), "free": changes.communication_free(graph, most=True),
        "bubble": changes.no_waiting_for_stages(graph), "stages": changes.stages_balanced(graph),
    })  # fmt: skip
    assert sum(one.adds_ns for one in found) <= graph.step_ns.mean()
    assert found[0].adds_ns == found[0].alone_ns == max(one.alone_ns for one in found)
    assert all(one.adds_ns >= 0.0 for one in found)


def test_told_savings_are_those_of_the_simulation_run_again() -> None:
    """One job of each kind and shape; the table of docs/performance/replay.md has many."""
    plans = [
        JobPlan(dp=4, fault=Fault("slow_rank", 1, 0.05)),
        JobPlan(dp=4, mode="sharded", collectives=9, fault=Fault("slow_rank", 1, 0.5)),
        JobPlan(dp=4, tp=2, collectives=7, communication=0.3, fault=Fault("slow_replica", 1, 0.15)),
        JobPlan(dp=2, pp=4, micro=8, fault=Fault("slow_rank", 3, 0.5), early=False),
        JobPlan(dp=2, tp=2, pp=2, micro=4, chunks=2, early=False, fault=Fault("slow_rank", 1, 0.1)),
        JobPlan(dp=4, mode="meetings", collectives=9, fault=Fault("slow_link", 0, 0.5)),
        JobPlan(dp=4, fault=Fault("late_host", 2, 0.3)),
        JobPlan(dp=2, pp=2, micro=4, fault=Fault("late_host", 1, 0.1), early=False),
        JobPlan(dp=2, pp=4, micro=8, stages=(1.0, 1.0, 1.1, 1.2), fault=Fault("stage", 3, 0.3)),
    ]  # fmt: skip
    found = [one for seed, plan in enumerate(plans) for one in of_plan(replace(plan, seed=seed + 500, steps=4))]
    told = [one for one in found if not one.upper]
    assert all(abs(one.told - one.true) <= max(0.2 * one.true, 0.003) for one in told)
    assert all(one.told >= 0.99 * one.true - 0.003 for one in found if one.upper)


@pytest.mark.parametrize(("kind", "seed"), long_after(1, [("stage", 1_028), ("late_host", 1_017), ("late_host", 1_010)]))
def test_receives_that_are_posted_early(kind: str, seed: int) -> None:
    """They begin with a slice, whatever ended before it, and are awaited by the next one, also if they always come in time."""
    (told, _) = cases(kind, [seed])
    assert told.pp > 1
    assert 0.8 <= told.ratio <= 1.2


@pytest.mark.parametrize("seed", long_after(1, [9009, 9007, 9022]))
def test_the_saving_of_a_link_counts_transfers_that_always_wait_in_a_queue(seed: int) -> None:
    plan = replace(draw(np.random.default_rng(seed), fault="slow_link", steps=6), unequal=0.0)
    graph = graph_of(frames(recorded(simulate(plan))))
    change = change_of(graph, plan)
    assert change.released
    ends = replayed_all(graph, [unchanged(graph), change, replace(change, released=frozenset())])
    recorded_ns, told, held = lengths(ends, graph.begin)[:, 1:].mean(axis=1)
    true = float((simulate(plan).step_ns - simulate(replace(plan, fault=None)).step_ns)[1:].mean())
    assert 0.8 < (recorded_ns - told) / true < 1.2
    assert (recorded_ns - held) / true < 0.8
    assert bound_of_link(recorded_ns - told, recorded_ns - held, recorded_ns) == AT_MOST
    assert bound_of_link(recorded_ns - told, recorded_ns - told, recorded_ns) == EXACT


def test_what_is_seen_to_await_a_block_is_not_released_from_a_queue() -> None:
    """In all but the slow rank buckets wait in a queue; in that one they begin as blocks end, which tells what is awaited."""
    (_, free) = cases("slow_rank", [7_149])
    assert free.kind == "free"
    assert 0.98 <= free.ratio <= 1.02


@some_or_every
def test_savings_of_links_are_exact_or_called_at_most(every: bool) -> None:
    """Of drawn jobs, with transfers that wait in queues in many: what is called exact is, and no bound is below the truth."""
    found = [one for one in cases("slow_link", range(55_004, 55_064 if every else 55_008)) if one.true > 0.003]
    exact, most = ([one.ratio for one in found if one.kind == kind] for kind in ("slow_link", "slow_link at most"))
    assert min(len(exact), len(most)) >= 2
    assert np.mean([0.8 <= ratio <= 1.2 for ratio in exact]) >= 0.9
    assert all(ratio >= 0.95 for ratio in most)


@pytest.mark.long
def test_most_savings_are_told_within_a_fifth() -> None:
    """Nine in ten of all, and 85 % with each number of stages; docs/performance/replay.md has more."""
    found: list[Case] = [one for kind in KINDS for one in cases(kind, range(3000, 3012))]
    told = [replace(one, kind="all") for one in found if not one.upper]
    for _, stages, _, inside, *_ in table(told):
        assert inside >= (0.9 if stages == "all" else 0.85), stages
    (whole, *_) = table([one for one in found if one.upper])
    assert whole[3] >= 0.95


# Samples -------------------------------------------------------------------------------------------------------------------


def lines_of(path: Path) -> dict[tuple[str, tuple[int, ...]], WhatIf]:
    """The lines of a sample by cause and ranks; the unchanged replay misses no step by more than 0.5 %."""
    found = replay_of(frames_of(path))
    assert found.missed <= 0.005
    graph = graph_of(frames_of(path))
    told = np.nanmax(graph.recording.total, axis=1)
    np.testing.assert_allclose(graph.step_ns, told, rtol=0.005)
    return {(line.cause, line.subject): line for line in found.lines}


def frames_of(path: Path) -> dict[str, Any]:
    """The frames of the only job of a sample."""
    (job,) = open_run(path).profile.jobs
    return {name: job.frame(name) for name in JOB_FRAMES}


def test_a_job_of_two_stages(real_data: Path) -> None:
    """The figures are those of an earlier implementation by other means (a loop over operations), in ms."""
    lines = lines_of(real_data / "profiler_new/torch_npu_st_4ranks_pp2")
    expected = {
        ("gaps", ()): 203, ("bubble", ()): 160, ("collectives", ()): 100, ("communication", ()): 102, ("stages", ()): 37,
        ("rank", (0,)): 9, ("rank", (3,)): 10,
    }  # fmt: skip
    for key, saved in expected.items():
        assert lines[key].most_ns == pytest.approx(saved * MS, abs=5 * MS), key
    assert {lines[key].bound for key in (("gaps", ()), ("bubble", ()), ("stages", ()))} == {AT_MOST}


@pytest.mark.parametrize("name", ["torch_npu_text_level2", "torch_npu_db_level2"])
def test_an_operation_that_is_held_is_not_transfer(real_data: Path, name: str) -> None:
    lines = lines_of(real_data / "profiler_new" / name)
    free = lines["communication", ()]
    assert free.bound == BETWEEN
    assert free.saved_ns == pytest.approx(4.05 * MS, abs=0.1 * MS)
    assert free.most_ns == pytest.approx(81 * MS, abs=2.5 * MS)
    assert lines["gaps", ()].saved_ns == pytest.approx(26 * MS, abs=1.5 * MS)
