"""Derived curves of a store's runs: computed once for each state of a run, within a bound of memory, and while it grows."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import numpy as np
import pytest

from app.store.curves.derivations import Derivations
from app.store.store import Store
from parsers import ExpressionError, open_run
from parsers.recording import EventWriter
from tests.waiting import until


def written(folder: Path, name: str = "run", steps: int = 5) -> Path:
    path = folder / name / "events.out.tfevents.1700000000.host"
    path.parent.mkdir()
    with EventWriter(str(path), "tensorboard", wall_time=1.7e9) as writer:
        for step in range(steps):
            writer.add(step, {"train/loss": step + 1.0, "val/loss": 0.5}, wall_time=1.7e9 + step)
    return path


def test_a_run_evaluates_expressions(tmp_path: Path) -> None:
    written(tmp_path)
    run = open_run(tmp_path / "run")
    found = run.derived("train/loss - val/loss")
    assert found.series.value.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert found.series.wall_time.tolist() == [1.7e9 + step for step in range(5)]
    assert run.derived("'no such' - train/loss").missing == ("no such",)
    with pytest.raises(ExpressionError, match="column 14: expected a tag"):
        run.derived("train/loss - ")


def test_a_curve_is_computed_once_until_its_run_changes(tmp_path: Path) -> None:
    path = written(tmp_path)
    run, known = open_run(tmp_path / "run"), Derivations()
    first = known.of("run", run, "train/loss - val/loss")
    assert known.of("run", run, "train/loss - val/loss") is first
    assert known.series("run", run, "=train/loss - val/loss") is first.series
    assert known.series("run", run, "train/loss") is run.series("train/loss")
    assert known.series("run", run, "=train/loss -").step.size == 0
    assert known.of("other", run, "train/loss - val/loss") is not first
    with EventWriter(str(path.with_name(path.name + ".1")), "tensorboard", wall_time=1.7e9) as writer:
        writer.add(5, {"train/loss": 6.0, "val/loss": 1.0}, wall_time=1.7e9)
    run.refresh()
    assert known.of("run", run, "train/loss - val/loss").series.value.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.0]


def test_the_least_recently_used_curves_are_evicted(tmp_path: Path) -> None:
    written(tmp_path)
    run, known = open_run(tmp_path / "run"), Derivations(12 * 8)
    first, second = (known.of("run", run, f"{n} * train/loss") for n in (1, 2))
    assert known.of("run", run, "1 * train/loss") is first
    third = known.of("run", run, "3 * train/loss")
    assert known.of("run", run, "1 * train/loss") is first
    assert known.of("run", run, "3 * train/loss") is third
    assert known.of("run", run, "2 * train/loss") is not second
    known = Derivations(1)
    alone = known.of("run", run, "4 * train/loss")
    assert known.of("run", run, "4 * train/loss") is alone, "a curve longer than the bound is kept while it is the last one"


def test_values_that_a_run_replaced_are_not_kept(tmp_path: Path) -> None:
    path = written(tmp_path)
    run, known = open_run(tmp_path / "run"), Derivations()
    known.of("run", run, "2 * train/loss")
    old = weakref.ref(run.series("train/loss").value)
    with EventWriter(str(path.with_name(path.name + ".1")), "tensorboard", wall_time=1.7e9) as writer:
        writer.add(5, {"train/loss": 6.0}, wall_time=1.7e9)
    run.refresh()
    assert run.series("train/loss").step.size == 6
    gc.collect()
    assert old() is None


def test_a_store_has_derived_curves_that_grow(tmp_path: Path) -> None:
    path = written(tmp_path)
    store = Store([tmp_path], interval=0.05).start()
    try:
        assert store.wait(30)
        series = store.curves.series("run", "=train/loss / val/loss")
        assert series is not None
        assert series.value.tolist() == [2.0, 4.0, 6.0, 8.0, 10.0]
        assert store.curves.series("run", "=train/loss / 'no such'") is None
        assert store.curves.series("run", "=train/loss /") is None
        assert store.curves.series("nope", "=train/loss") is None
        assert store.curves.derived("nope", "train/loss") is None
        found, left = store.curves.insights("run", ["=train/loss / (val/loss - val/loss)"])
        assert (left, [one.kind for one in found]) == (0, ["non_finite"])
        with EventWriter(str(path.with_name(path.name + ".1")), "tensorboard", wall_time=1.7e9) as writer:
            writer.add(5, {"train/loss": 6.0, "val/loss": 1.0}, wall_time=1.7e9)
        until(lambda: store.curves.series("run", "=train/loss / val/loss").step.size >= 6)
        found = store.curves.series("run", "=train/loss / val/loss").value
        np.testing.assert_array_equal(found, [2.0, 4.0, 6.0, 8.0, 10.0, 6.0])
    finally:
        store.stop()
