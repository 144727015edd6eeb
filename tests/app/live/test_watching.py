"""Watchpoints of live training: which are sent, and what is not checkable."""

from __future__ import annotations

import numpy as np
import pytest

from app.live.watching import NumberedWatchpoints, nodes_of
from layouts.dumps.debugger.selected_facts import texts_of
from layouts.dumps.live_sessions import TRAINING
from parsers.analysis.dumps.watchpoints import Watchpoint
from parsers.debugger.tensors import GraphTensors
from parsers.dumps.statistics import TensorStatistics
from parsers.dumps.store import StatisticsTable
from tests.app.live.conftest import Served, served

__all__ = ["served"]
OVERFLOW = Watchpoint("operator_overflow")
NOTHING = Watchpoint("tensor_too_large", {"max_gt": 1.0}, frozenset({"Default/nobody"}))
ALL = Watchpoint("tensor_overflow")


@pytest.mark.parametrize("ascend", [False, True])
def test_a_watchpoint_is_never_sent_without_nodes(served: Served, ascend: bool) -> None:
    served.training(steps=2)
    served.reaches("waiting", step=0)
    tensors = served.sessions.dump("live:1")._tensors
    watched = NumberedWatchpoints()
    watched.want([OVERFLOW, NOTHING, ALL])
    assert nodes_of(tensors, NOTHING) == []
    assert len(watched.flush(tensors, ascend=ascend, step=1)) == (2 if ascend else 1)
    assert watched.unsent == 0
    assert watched.flush(tensors, ascend=ascend, step=1) == []
    watched.want([])
    assert len(watched.flush(tensors, ascend=ascend, step=1)) == (2 if ascend else 1)  # only what was sent is deleted
    assert watched.flush(tensors, ascend=ascend, step=1) == []


def test_operator_overflow_is_not_checkable_on_a_gpu(served: Served) -> None:
    training = served.training(steps=2)
    served.reaches("waiting", step=0)
    assert served.look().backend == "GPU"
    for sent in (False, True):
        found = served.sessions.dump("live:1").reported([OVERFLOW])
        assert found[["condition", "hit", "why"]].values.tolist() == [["operator_overflow", False, "no overflow records"]], sent
        served.sessions.watch("live:1", [OVERFLOW, NOTHING])
        if not sent:
            served.order("continue", steps=1)
            served.reaches("waiting", step=1)
    assert not [line for line in training.log if line.startswith("set")]


def test_steps_before_a_watchpoint_was_sent_are_not_judged_by_it(served: Served) -> None:
    served.training(steps=4)
    served.reaches("waiting", step=0)
    served.order("continue", steps=2)
    served.reaches("waiting", step=2)
    served.sessions.watch("live:1", [ALL])
    assert reasons(served) == {1: {"sent after this step"}, 2: {"not sent yet"}}
    served.order("continue", steps=1)
    served.reaches("waiting", step=3)
    assert reasons(served) == {2: {"sent after this step"}}


def test_a_check_again_judges_the_step_where_training_is(served: Served) -> None:
    served.training(steps=3)
    served.reaches("waiting", step=0)
    served.order("continue", steps=1)
    served.reaches("waiting", step=1)
    served.sessions.watch("live:1", [ALL])
    served.order("recheck")
    served.reaches("waiting", step=1)
    assert reasons(served) == {0: {"sent after this step"}}


def test_training_that_runs_has_not_checked_the_step_it_left() -> None:
    watched = NumberedWatchpoints()
    watched.want([ALL])
    watched.flush(GraphTensors([]), ascend=True, step=8)
    assert list(watched.since.values()) == [8]
    watched.want([ALL, OVERFLOW])
    watched.flush(GraphTensors([]), ascend=True, step=9)
    assert list(watched.since.values()) == [8, 9]


def reasons(served: Served) -> dict[int, set[str]]:
    """Return why rows could not be checked, by iteration."""
    found = served.sessions.dump("live:1").reported([ALL])
    return {int(step): set(rows["why"]) for step, rows in found.groupby("iteration")}


@pytest.mark.parametrize("bad", [0, 3])
def test_a_norm_that_training_did_not_send_is_blank(bad: int) -> None:
    known = StatisticsTable(1)
    mean = float("nan") if bad else 0.5
    known.put(0, TensorStatistics(max=1.0, min=0.0, mean=mean, count=8, nan=bad), int(bad > 0), TRAINING)
    texts = texts_of(known, 0)
    assert "l2" not in texts
    assert "std" not in texts
    assert np.isnan(float(texts["mean"][1].replace("NaN", "nan"))) == (bad > 0)
