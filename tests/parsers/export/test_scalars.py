"""Scalars to CSV, JSON and Parquet, read back by pandas and the standard library."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from parsers import FormatError, export, open_run
from parsers.export.scalars import ROW_GROUP, scalar_file
from parsers.recording import EventWriter
from parsers.runs import Run
from tests.recorded import RECORDED

HOSTILE = ("=1+1", "+a", "-b", "@c", "'d", "\te", "\rf", 'a,"b"\n', "<img src=x>", "层/权重", "plain")
VALUES = (0.1, float("nan"), float("inf"), float("-inf"), -0.0, 1e-45, 3.4028234663852886e38)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("base") / "run"
    folder.mkdir()
    with EventWriter(str(folder / "events.out.events.summary.1700000000.0.h_MS"), "mindspore", wall_time=1.7e9) as writer:
        for step, value in enumerate(VALUES):
            writer.add(step, {tag: value * (place + 1) for place, tag in enumerate(HOSTILE)}, wall_time=1.7e9 + step / 3)
    return open_run(folder)


def plain(cell: str) -> str:
    """A cell as it was: without the apostrophe that keeps a spreadsheet from running it."""
    return cell.removeprefix("'") if cell.startswith("'") else cell


def test_csv_reads_back_the_same(run: Run, tmp_path: Path) -> None:
    assert export.write([run], tmp_path / "x.csv") == len(VALUES) * len(HOSTILE)
    with (tmp_path / "x.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert all(row["tag"][0] not in "=+-@\t\r\n" for row in rows)
    frame = run.scalars
    assert [plain(row["tag"]) for row in rows] == list(frame["tag"])
    for name in ("value", "wall_time", "step", "file", "order"):
        np.testing.assert_array_equal([float(row[name]) for row in rows], frame[name])


def test_json_reads_back_the_same(run: Run, tmp_path: Path) -> None:
    export.write([run], tmp_path / "x.json", "json")
    rows = json.loads((tmp_path / "x.json").read_text("utf-8"), parse_constant=pytest.fail)
    assert [row["tag"] for row in rows] == list(run.scalars["tag"])
    np.testing.assert_array_equal([float(row["value"]) for row in rows], run.scalars["value"])


def test_parquet_reads_back_the_same(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    export.write([run], tmp_path / "x.parquet", "parquet")
    frame = pd.read_parquet(tmp_path / "x.parquet")
    assert list(frame.columns) == list(export.COLUMNS)
    assert set(frame.pop("run")) == {run.name}
    pd.testing.assert_frame_equal(frame.astype({"tag": str}), run.scalars.astype({"tag": str}))


def test_parquet_of_several_row_groups(run: Run, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    repeats = ROW_GROUP // (len(VALUES) * len(HOSTILE)) + 2
    count = export.write([run] * repeats, tmp_path / "x.parquet", "parquet")
    file = parquet.ParquetFile(tmp_path / "x.parquet")
    assert (file.metadata.num_rows, file.metadata.num_row_groups) == (count, 2)


@pytest.mark.parametrize("suffix", export.FORMATS)
def test_no_runs(tmp_path: Path, suffix: str) -> None:
    assert export.write([], tmp_path / "deep" / "out", suffix) == 0
    assert os.listdir(tmp_path / "deep" / "out") == [f"scalars.{suffix}"]
    if suffix == "json":
        assert json.loads((tmp_path / "deep" / "out" / "scalars.json").read_text()) == []


@pytest.mark.parametrize("suffix", export.FORMATS)
def test_an_export_that_fails_leaves_no_file(run: Run, tmp_path: Path, suffix: str) -> None:
    def runs():
        yield run
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        export.write(runs(), tmp_path / f"x.{suffix}", suffix)
    assert os.listdir(tmp_path) == []


def test_steps(run: Run, tmp_path: Path) -> None:
    with scalar_file(tmp_path / "x.csv", "csv") as writer:
        assert writer.add(run, "plain", (2, 4)) == 3
        assert writer.add(run, "plain", (100, 200)) == 0
    assert pd.read_csv(tmp_path / "x.csv")["step"].tolist() == [2, 3, 4]


def test_ranks_are_exported_under_their_own_names(tmp_path: Path) -> None:
    job = open_run(RECORDED / "ranks")
    export.write([job], tmp_path / "x.csv")
    assert set(pd.read_csv(tmp_path / "x.csv")["run"]) == {rank.name for rank in job.ranks}


def test_an_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="csv, json, parquet, found 'xls'"):
        export.write([], tmp_path, "xls")
