"""The options of the Collector for MindSpore, with a stand-in for what it imports of MindSpore."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from parsers import open_run
from parsers.recording import RecordingError, RecordingWarning

NAME = "parsers.recording.adapters.mindspore"


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    made, train = ModuleType("mindspore"), ModuleType("mindspore.train")
    made.nn = SimpleNamespace(Optimizer=type("Optimizer", (), {}))  # type: ignore[attr-defined]
    train.Callback = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mindspore", made)
    monkeypatch.setitem(sys.modules, "mindspore.train", train)
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    yield importlib.import_module(NAME)
    sys.modules.pop(NAME, None)


def test_a_landscape_without_intervals_is_refused(adapter: Any, tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="collect_landscape: intervals"):
        adapter.Collector(str(tmp_path), collect_specified_data={"collect_landscape": {"create_landscape": {}}})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        adapter.Collector(str(tmp_path))


@pytest.mark.parametrize("name", ["collect_freq", "collect_tensor_freq"])
@pytest.mark.parametrize("value", [0, -1, "1"])
def test_frequencies_are_checked(adapter: Any, tmp_path: Path, name: str, value: Any) -> None:
    with pytest.raises(RecordingError, match=f"{name}: expected a whole number above 0"):
        adapter.Collector(str(tmp_path), **{name: value})


def test_steps_are_counted_where_many_of_them_are_one_call(adapter: Any, tmp_path: Path) -> None:
    """In data sink mode a step ends after every `sink_size` steps, 20 here: a step is recorded where 30 more have passed."""
    wanted = {"collect_metric": True}
    collector = adapter.Collector(str(tmp_path), collect_freq=30, collect_specified_data=wanted, keep_default_action=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordingWarning)  # the stand-in has no summary operators
        for step in range(20, 141, 20):
            given = {"cur_step_num": step, "net_outputs": step / 10, "optimizer": None, "train_network": None}
            collector.on_train_step_end(SimpleNamespace(original_args=lambda given=given: SimpleNamespace(**given)))
    collector.recorder.close()
    series = open_run(tmp_path).series("loss/auto")
    assert series.step.tolist() == [20, 40, 60, 100, 120]
    assert series.value.tolist() == [2, 4, 6, 10, 12]


class Broken:
    """What a run context hands over, where everything but the step and the result fails."""

    cur_step_num = 3
    net_outputs = 0.5

    def __getattr__(self, name: str) -> Any:
        raise OSError(f"no {name}")


def test_a_context_that_fails_does_not_end_the_training(adapter: Any, tmp_path: Path) -> None:
    collector = adapter.Collector(str(tmp_path))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        collector.on_train_step_end(SimpleNamespace(original_args=Broken))
    assert {one.category for one in told} == {RecordingWarning}
    assert any("no optimizer" in str(one.message) for one in told)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        collector.on_train_step_end(SimpleNamespace(original_args=Broken))
    collector.recorder.close()
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith("_MS")] != []
