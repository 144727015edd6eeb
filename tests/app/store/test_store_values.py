"""Large values as pages get them from the store."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from app.store.store import Store
from layouts import PAGES
from parsers import PayloadError, TensorValue
from parsers.recording import EventWriter, Tensor
from tests.recorded import RECORDED
from tests.waiting import until

DATA = Path(__file__).resolve().parents[2] / "data"
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
        items = store.values.series("a", "tensor", "w")
        assert items is not None
        assert items.step.tolist() == [1, 2, 2]
        assert store.runs.verified()[1] == 6
        value = store.values.value("b", "tensor", "w", 1)
        assert isinstance(value, TensorValue)
        assert np.array_equal(value.data, LARGE + 2)
        until(lambda: (store.runs.verified(), store.runs.verified("b")) == ((6, 6), (3, 3)))
        assert store.values.series("a", "tensor", "none") is None
        assert store.values.series("none", "tensor", "w") is None
        for run, tag, place in (("none", "w", 0), ("a", "none", 0), ("a", "w", 3)):
            with pytest.raises(PayloadError, match=r"wanted|expected"):
                store.values.value(run, "tensor", tag, place)
    finally:
        store.stop()


def damaged_runs(base: Path, large: int = 40_000) -> None:
    """Write two runs of four tensors; the third one of run b is damaged."""
    for name in ("a", "b"):
        (base / name).mkdir(parents=True)
        path = base / name / "events.out.events.summary.1700000000.0.host_MS"
        with EventWriter(str(path), "mindspore") as writer:
            for step in range(4):
                writer.add(step, {"w": Tensor(np.full(large, step, np.float32)), "loss": step})
    data = bytearray(path.read_bytes())
    data[len(data) * 5 // 8] ^= 1
    path.write_bytes(data)


def problems_by_run(store: Store) -> dict[str, int]:
    return {row.key: row.problems for row in store.runs.rows()}


def test_large_values_are_verified_when_nothing_else_is_to_be_done(tmp_path: Path) -> None:
    damaged_runs(tmp_path / "runs")
    store = Store([tmp_path / "runs"], interval=0, index_directory=str(tmp_path / "index")).start()
    try:
        until(lambda: store.runs.verified() == (8, 8))
        until(lambda: problems_by_run(store) == {"a": 0, "b": 1})
        assert store.runs.status().problems == 1
        ((key, problem),) = store.runs.problems()
        assert (key, problem.kind) == ("b", "bad_data")
        assert {row.key: row.points for row in store.runs.rows()} == {"a": 4, "b": 3}
    finally:
        store.stop()


def test_what_was_verified_is_not_read_again_at_the_next_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged_runs(tmp_path / "runs")

    def opened() -> Store:
        return Store([tmp_path / "runs"], interval=0, index_directory=str(tmp_path / "index")).start()

    store = opened()
    until(lambda: store.runs.verified() == (8, 8))
    store.stop()
    monkeypatch.setattr("parsers.verification.Verification._check", None)
    store = opened()
    try:
        assert store.wait(20)
        assert store.runs.verified() == (8, 8)
        assert problems_by_run(store) == {"a": 0, "b": 1}
    finally:
        store.stop()


def test_a_pass_that_was_stopped_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged_runs(tmp_path / "runs")
    monkeypatch.setattr("app.store.runs.following.VERIFY_BYTES", 1)
    monkeypatch.setattr("app.store.runs.following.VERIFY_SHARE", 1e-4)
    store = Store([tmp_path / "runs"], interval=0, index_directory=str(tmp_path / "index")).start()
    until(lambda: store.runs.verified()[0] >= 1)
    store.stop()
    done = store.runs.verified()[0]
    assert done < 8
    monkeypatch.setattr("parsers.verification.Verification._check", None)
    again = Store([tmp_path / "runs"], interval=0, index_directory=str(tmp_path / "index")).start()
    assert again.wait(20)
    assert again.runs.verified() == (done, 8)
    again.stop()


def test_settings_and_pipeline_are_those_of_the_run() -> None:
    store = Store([RECORDED], interval=0).start()
    try:
        assert store.wait(30)
        found = store.lineage.settings("lenet_landscape")
        assert (found["network"], found["optimizer"], found["learning_rate"]) == ("LeNet5", "Momentum", 0.02)
        assert dict(store.lineage.settings("nan_inf")) == dict(store.lineage.settings("no such run")) == {}
        pipeline = store.graphs.dataset("lenet_landscape")
        assert pipeline is not None
        assert pipeline.root.type == "Batch"
        assert store.graphs.dataset("nan_inf") is store.graphs.dataset("no such run") is None
        tags = {row.key: row.tags for row in store.runs.rows()}
        assert (tags["lenet_landscape"]["lineage"], tags["lenet_landscape"]["dataset_graph"]) == (1, 1)
        assert {"lineage", "dataset_graph"}.isdisjoint(tags["nan_inf"])
    finally:
        store.stop()


def test_settings_in_logs_of_other_programs_are_lineage(tmp_path: Path) -> None:
    """Those among scalars, not in a file of their own: of Weights & Biases, and of MLflow's databases."""
    for sample in ("wandb/0.31.0", "mlflow/3.17.2"):
        shutil.copytree(DATA / sample, tmp_path / sample)
    store = Store([tmp_path], interval=0).start()
    try:
        assert store.wait(30)
        rows = {row.path.rpartition("/")[2]: row.settings for row in store.lineage.rows()}
        assert len(rows) == len(store.runs.rows()) == 5
        assert [row["user_defined/tags.mlflow.runName"] for row in rows.values() if "optimizer" in row].count("one") == 2
        page = next(page for page in PAGES if page.name == "model_lineage")
        assert all(set(page.needs) & set(row.tags) for row in store.runs.rows())
    finally:
        store.stop()
