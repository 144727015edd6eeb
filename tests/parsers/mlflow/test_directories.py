"""Runs in MLflow's file store. MLflow wrote the sample, from the formulas that the tests repeat."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from parsers import discover, open_run
from parsers.discovery.scanner import Scanner
from parsers.mlflow.directories import MLFLOW_METRIC
from tests.parsers.tables.test_tables import points

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "mlflow" / "3.17.2"


def test_runs_of_mlflow() -> None:
    opened = [open_run(source.path) for source in discover(SAMPLE / "mlruns")]
    runs = {float(run.settings["learning_rate"]): run for run in opened}
    assert sorted(runs) == [0.01, 0.1]
    for rate, run in runs.items():
        assert run.tags() == ("bad", "loss", "val/acc")
        assert run.series("loss").value.tolist() == [rate / (step + 1) for step in range(10)]
        assert run.series("val/acc").value.tolist() == [step / 10 for step in range(10)]
        assert run.series("bad").step.tolist() == [3]
        assert str(run.series("bad").value[0]) == "nan"
        assert run.settings["optimizer"] == "sgd"
        assert (run.settings["user_defined/tags.note"], run.settings["user_defined/tags.mlflow.user"]) == ("first", "root")
        assert "user_defined/tags.mlflow.source.type" not in run.settings
        assert not run.problems


def test_tags_are_texts_and_their_changes_are_followed(tmp_path: Path) -> None:
    base = tmp_path / "mlruns"
    shutil.copytree(SAMPLE / "mlruns", base)
    scanner = Scanner(base)
    path = Path(scanner.scan()[0].path)
    run = open_run(path)

    def found(name: str) -> object:
        run.refresh(next(one for one in scanner.scan() if one.path == str(path)))
        return run.settings.get(f"user_defined/{name}")

    assert found("tags.note") == "first"
    (path / "tags" / "note").write_text("later")
    assert found("tags.note") == "later"
    (path / "tags" / "model").mkdir()
    (path / "tags" / "model" / "commit").write_text("12e5678")
    assert found("tags.model/commit") == "12e5678"
    (path.parent / "tags").mkdir()
    (path.parent / "tags" / "team").write_text("vision")
    assert found("experiment.tags.team") == "vision"
    (path / "params" / "model").mkdir()
    (path / "params" / "model" / "layers").write_text("4")
    assert found("model/layers") == 4


def test_links_among_tags_do_not_lead_out(tmp_path: Path) -> None:
    base = tmp_path / "mlruns"
    shutil.copytree(SAMPLE / "mlruns", base)
    path = Path(Scanner(base).scan()[0].path)
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "key").write_text("outside")
    (path / "tags" / "linked").symlink_to(tmp_path / "secrets" / "key")
    assert "outside" not in open_run(path).settings.values()
    shutil.rmtree(path / "tags")
    (path / "tags").symlink_to(tmp_path / "secrets")
    (source,) = [one for one in Scanner(base, stay_inside=True).scan() if one.path == str(path)]
    assert not [file for file in source.files if file.path == str(path / "tags")]


def test_growth_new_metrics_and_new_settings_are_followed(tmp_path: Path) -> None:
    base = tmp_path / "mlruns"
    shutil.copytree(SAMPLE / "mlruns", base)
    scanner = Scanner(base)
    (source, _) = scanner.scan()
    run = open_run(source.path)
    with open(os.path.join(source.path, "metrics", "loss"), "a") as file:
        file.write("1795782911000 7.5 10\n1795782911000 8")
    Path(source.path, "metrics", "new").write_text("1 2 3\n")
    Path(source.path, "params", "seed").write_text("4")
    again = next(one for one in scanner.scan() if one.path == source.path)
    assert run.refresh(again)
    assert run.series("loss").value.tolist()[-1] == 7.5
    assert run.series("new").value.tolist() == [2.0]
    assert run.settings["user_defined/seed"] == 4


@pytest.mark.parametrize(
    ("data", "expected", "damaged"),
    [
        (b"1 nan 1\n2 -inf 2\n3 1e999 3\n", "[(1, nan), (2, -inf), (3, inf)]", 0),
        (b"1 2\n", "[(0, 2.0)]", 0),
        (b"1 2 99999999999999999999\nx\n1 a 2\n\xff\n\n5 6 7\n", "[(7, 6.0)]", 4),
        (b"1 2 3 a b\n4 5 6\r\n", "[(6, 5.0)]", 1),
    ],
)
def test_lines_of_any_content(data: bytes, expected: str, damaged: int, tmp_path: Path) -> None:
    path = tmp_path / "metrics" / "a" / "b"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    batch = MLFLOW_METRIC.read(str(path))
    assert repr(points(batch)["a/b"]) == expected
    assert len(batch.problems) == damaged


def test_a_metric_cut_anywhere_and_resumed_equals_one_read(tmp_path: Path) -> None:
    whole = next((SAMPLE / "mlruns").rglob("loss")).read_bytes()
    path = tmp_path / "loss"
    path.write_bytes(whole)
    expected = points(MLFLOW_METRIC.read(str(path)))
    for cut in range(1, len(whole)):
        path.write_bytes(whole[:cut])
        first = MLFLOW_METRIC.read(str(path))
        path.write_bytes(whole)
        assert points(first, MLFLOW_METRIC.read(str(path), first.cursor)) == expected
