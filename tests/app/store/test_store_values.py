"""Large values as pages get them from the store."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.store.store import Store
from parsers import PayloadError, TensorValue
from parsers.events.writer import EventWriter, Tensor

LARGE = np.arange(40_000, dtype=np.float32)


def test_values_by_run_kind_tag_and_place(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        with EventWriter(str(tmp_path / name / "events.out.events.summary.1700000000.0.host_MS"), "mindspore") as writer:
            for step in (1, 2, 2):
                writer.add(step, {"w": Tensor(LARGE + step)})
    store = Store([tmp_path], interval=0).start()
    try:
        assert store.wait(30)
        items = store.payload_series("a", "tensor", "w")
        assert items is not None
        assert items.step.tolist() == [1, 2, 2]
        assert store.unverified() == 6
        value = store.value("b", "tensor", "w", 1)
        assert isinstance(value, TensorValue)
        assert np.array_equal(value.data, LARGE + 2)
        assert (store.unverified(), store.unverified("b")) == (5, 2)
        assert store.payload_series("a", "tensor", "none") is None
        assert store.payload_series("none", "tensor", "w") is None
        for run, tag, place in (("none", "w", 0), ("a", "none", 0), ("a", "w", 3)):
            with pytest.raises(PayloadError, match=r"wanted|expected"):
                store.value(run, "tensor", tag, place)
    finally:
        store.stop()


def test_settings_and_pipeline_are_those_of_the_run() -> None:
    demo = Path(__file__).resolve().parents[3] / "app" / "demo"
    store = Store([demo], interval=0).start()
    try:
        assert store.wait(30)
        found = store.settings("lenet_landscape")
        assert (found["network"], found["optimizer"], found["learning_rate"]) == ("LeNet5", "Momentum", 0.02)
        assert dict(store.settings("nan_inf")) == dict(store.settings("no such run")) == {}
        pipeline = store.dataset_graph("lenet_landscape")
        assert pipeline is not None
        assert pipeline.root.type == "Batch"
        assert store.dataset_graph("nan_inf") is store.dataset_graph("no such run") is None
        tags = {row.key: row.tags for row in store.runs()}
        assert (tags["lenet_landscape"]["lineage"], tags["lenet_landscape"]["dataset_graph"]) == (1, 1)
        assert {"lineage", "dataset_graph"}.isdisjoint(tags["nan_inf"])
    finally:
        store.stop()
