"""Directions of exchanges, operations that leave no trace, and gaps that follow waits, beside the simulated programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from app.demo.simulated.job_records import recorded
from app.demo.simulated.jobs import simulate
from app.demo.simulated.programs import JobPlan
from parsers.analysis.jobs.replay.awaiting import completed
from parsers.analysis.jobs.replay.graph import graph_of, lag_after_waits, receives_unawaited
from parsers.analysis.jobs.replay.meetings import EXCHANGES, RECEIVES, SENDS
from parsers.analysis.jobs.replay.programs import NOTHING, Program
from tests.amounts import long_after, some_or_every
from tests.parsers.analysis.jobs.replay.told_and_true import HOLDS, cases
from tests.simulations.job_frames import frames

PIPES = [
    JobPlan(dp=2, pp=4, micro=8, batched=True, early=False, gaps=0.02, steps=4),
    JobPlan(dp=2, tp=2, pp=2, micro=4, chunks=2, batched=True, early=False, steps=4),
    JobPlan(dp=4, pp=2, micro=6, batched=True, early=True, gaps=0.05, steps=4),
    JobPlan(dp=2, tp=2, pp=4, micro=4, batched=True, early=True, gaps=0.05, steps=4),
]


@pytest.mark.parametrize("plan", long_after(2, PIPES))
@pytest.mark.parametrize("seed", long_after(1, range(91_000, 91_004)))
def test_exchanges_have_the_direction_of_the_program(plan: JobPlan, seed: int) -> None:
    """In files all of them are batchSendRecv; what they do is known of nearly all, and seldom wrong."""
    job = simulate(replace(plan, seed=seed))
    operations = sorted(job.operations, key=lambda one: (one.rank, one.step, one.index))
    graph = graph_of(frames(recorded(job)))
    right = wrong = unknown = 0
    for program in graph.programs:
        for row, does in zip(graph.recording.rows[program.operations[:, 0]], program.does, strict=True):
            one = operations[row]
            if one.what.kind == "batchSendRecv":
                sends = one.what.key[1] == one.rank
                unknown += does == EXCHANGES
                right += does == (SENDS if sends else RECEIVES)
                wrong += does == (RECEIVES if sends else SENDS)
    assert right >= 0.95 * (right + wrong + unknown)
    assert wrong <= 0.02 * right


def test_receives_that_always_come_in_time_are_awaited_as_the_others() -> None:
    """Reductions of the tensor group end later than what was received, so that no begin shows the receives."""
    plan = JobPlan(seed=54_021, dp=2, tp=2, pp=4, micro=4, chunks=2, early=False, gaps=0.014, steps=4)
    graph = graph_of(frames(recorded(simulate(plan))))
    receives = [program.does == RECEIVES for program in graph.programs]
    assert sum(int(these.sum()) for these in receives) > 20
    assert not receives_unawaited(graph)


def test_no_send_is_awaited_that_nothing_waits_for() -> None:
    plan = JobPlan(seed=54_003, dp=4, pp=4, micro=12, early=True, gaps=0.095, steps=4)
    graph = graph_of(frames(recorded(simulate(plan))))
    assert all((program.after[program.does == SENDS] == NOTHING).all() for program in graph.programs)


def test_without_programs_nothing_is_completed() -> None:
    graph = graph_of(frames(recorded(simulate(JobPlan(dp=2, steps=2)))))
    assert completed(graph.recording, []) == []


def _program(begins: list[float], ends: list[float]) -> Program:
    """Three blocks in ten instances; the last one awaits an operation."""
    nothing = np.array([NOTHING])
    shape = np.ones((1, 10))
    begun, over = (np.array(times)[:, None] * shape for times in (begins, ends))
    return Program(
        np.arange(10), np.zeros(10, np.int64), np.arange(10)[None], np.array([1]), nothing, np.array([2]), np.array([2]),
        nothing, nothing, np.array([0]), np.array([RECEIVES]), begun, over, np.zeros((3, 10)), np.zeros((3, 10)), True,
    )  # fmt: skip


@pytest.mark.parametrize(("begin", "expected"), [(1_700_000.0, 200_000.0), (1_505_000.0, 0.0)])
def test_gaps_follow_waits_only_if_they_are_as_long_after_them_as_elsewhere(begin: float, expected: float) -> None:
    """A gap of 200 us where nothing is awaited; after 300 us of waiting it is as long, or nearly nothing of it is left."""
    program = _program([0.0, 700_000.0, begin], [500_000.0, 1_200_000.0, begin + 500_000.0])
    assert lag_after_waits(program, np.full((1, 10), 1_500_000.0)) == expected


@some_or_every
def test_savings_of_equal_stages_are_told_within_a_fifth(every: bool) -> None:
    """Of drawn jobs, a third of them with exchanges, or within 0.3 % of a step; bounds are not below the truth."""
    found = [one for one in cases("stage", range(850_000, 850_040 if every else 850_008)) if one.true > 0.003]
    exact = [one for one in found if one.kind == "stage"]
    assert len(exact) >= 2
    assert np.mean([abs(one.told - one.true) <= max(0.2 * one.true, 0.003) for one in exact]) >= 0.9
    assert all(one.ratio * HOLDS >= 1.0 for one in found if one.kind == "stage at most")
