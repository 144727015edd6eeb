"""Simulated pipelines of data: their times are what can be told by hand, and what advice says of them is right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.amounts import each_once
from tests.simulations.data_pipelines import EFFECTS, FAULTS, HEALTHY, Operation, Plan, simulate
from tests.simulations.pipeline_verdicts import of_fault, of_healthy
from tests.writers.minddata_files import sizes

NEW = range(1000, 1100)
"""Seeds that no limit was adjusted on."""


def plain(load: float) -> Plan:
    """A source and a batch of 4 rows without chance: a step is 100 ms."""
    made = Operation("TFReader", 1, 8, load, 1e-4, 0.5), Operation("Batch", 1, 4, 0.1, 1e-4, 0.5)
    return Plan(sink=False, operations=made, batch=4, compute=100.0, steps=40, skipped=10, noise=0.0, push=1.0, device_queue=2)


@pytest.mark.parametrize(("load", "lost"), [(0.5, 0.0), (1.5, 0.5), (2.0, 1.0)])
def test_steps_wait_for_what_the_slowest_operation_takes_longer(load: float, lost: float) -> None:
    assert simulate(plain(load), 0).lost == pytest.approx(lost, abs=0.01)


@pytest.mark.parametrize(("case", "seed"), each_once(FAULTS, range(3)))
def test_items_keep_their_order_and_queues_their_length(case: str, seed: int) -> None:
    recording = simulate(FAULTS[case](seed, 0.2)[0], seed)
    for stage in recording.stages:
        put, taken = np.array(stage.put[: len(stage.taken)]), np.array(stage.taken)
        assert (np.diff(put) >= 0).all()
        assert (taken >= put).all()
        assert (sizes(stage, np.array(stage.taken[:-1]) - 1e-9) <= stage.queue).all()
    assert (np.diff(recording.steps, axis=1) >= 0).all()
    assert (recording.steps[1:, 0] >= recording.steps[:-1, 3]).all()


@pytest.mark.parametrize("case", HEALTHY)
def test_healthy_pipelines_are_not_accused(case: str, tmp_path: Path) -> None:
    counts = of_healthy(case, range(3), tmp_path)
    assert counts["false"] == 0
    assert counts["fine"] > 0


@pytest.mark.parametrize("case", FAULTS)
def test_the_cause_of_waiting_is_found(case: str, tmp_path: Path) -> None:
    assert of_fault(case, 0.2, range(1), tmp_path)["right"] == 1


@pytest.mark.long
@pytest.mark.parametrize("case", HEALTHY)
def test_at_most_one_in_fifty_healthy_pipelines_is_accused(case: str, tmp_path: Path) -> None:
    counts = of_healthy(case, NEW, tmp_path)
    assert counts["false"] <= 0.02 * (sum(counts.values()) - counts["apart"]), counts


@pytest.mark.long
@pytest.mark.parametrize("effect", EFFECTS[1:])
@pytest.mark.parametrize("case", FAULTS)
def test_nine_in_ten_causes_are_found(case: str, effect: float, tmp_path: Path) -> None:
    counts = of_fault(case, effect, NEW, tmp_path)
    assert counts["right"] >= 0.9 * len(NEW), counts
