"""Lengths of epochs: recorded now and then, as fractions, and too few of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsers.analysis.runs.probes.epochs import epoch_length
from parsers.analysis.runs.probes.model import FOUND, NOT_JUDGED, NOTHING, Finding
from tests.parsers.analysis.runs.probes.probed_run import MadeRun
from tests.writers.symptomatic_runs import Made, curve

ENDS = np.cumsum([100, 100, 60, 60, 60])


def judged(epoch: Any, every: int = 1) -> Finding:
    steps = np.arange(len(epoch))[::every]
    return epoch_length(MadeRun(Made({"epoch": curve(np.asarray(epoch)[::every], step=steps)})))


def test_the_epoch_that_is_shorter_is_named_with_its_first_step() -> None:
    found = judged(np.searchsorted(ENDS, np.arange(ENDS[-1]), side="right"))
    assert (found.state, found.where.step, found.told["before"], found.told["value"]) == (FOUND, 200, 100, 60)


@pytest.mark.parametrize("every", [3, 7, 30])
def test_rare_records_of_equal_epochs_show_no_change(every: int) -> None:
    assert judged(np.arange(1_000) // 100, every).state == NOTHING


def test_fractions_of_epochs_count_by_their_whole_part() -> None:
    assert judged(np.arange(1_000) / 100.0, 3).state == NOTHING


@pytest.mark.parametrize("epoch", [np.zeros(50), np.arange(150) // 100, np.arange(1_000) // 10 * 5, np.full(9, np.nan)])
def test_too_few_or_skipped_epochs_are_not_judged(epoch: Any) -> None:
    assert judged(epoch).state == NOT_JUDGED
