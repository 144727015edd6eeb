from __future__ import annotations

import math
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
import pytest

from parsers import LINEAGE_TABLE, Run, better, discover, lineage_frame, lineage_table, open_run
from parsers.lineage.table import LineageRow
from parsers.recording import EventWriter
from tests.parsers.lineage.lineage_reference import custom, lineage_event, lineage_files, settings_of, write_run


def opened(base: Path) -> list[Run]:
    runs = [Run(source) for source in sorted(discover(base), key=lambda source: source.name)]
    for run in runs:
        run.refresh()
    return runs


def test_no_run_gives_an_empty_table() -> None:
    assert len(LINEAGE_TABLE.check(lineage_table([]))) == 0


def test_real_runs_side_by_side(real_data: Path) -> None:
    runs = opened(real_data / "summary")
    frame = LINEAGE_TABLE.check(lineage_table(runs))
    assert len(frame) == 35
    wanted = pd.DataFrame([settings_of(lineage_files(path)) for path in frame["path"]])
    for name in wanted.columns:
        left, right = frame[name].astype(object), wanted[name].astype(object)
        assert left.isna().tolist() == right.isna().tolist(), name
        assert left[left.notna()].tolist() == right[right.notna()].tolist(), name
    assert frame["metric/accuracy"].notna().sum() == 19
    # the ranks and the LeNet runs were fed by pipelines that differ in batch size only
    marks = frame.loc[frame["dataset_mark"].notna()].groupby("dataset_mark")["batch_size"].nunique()
    assert set(marks) == {1}


def test_columns_from_scalars(tmp_path: Path) -> None:
    values = {"loss": [2.0, math.nan, 0.5, math.inf, 0.75], "accuracy": [0.1, 0.4, 0.9, 0.8, math.nan], "lr": [1.0, 2, 3, 4, 5]}
    (tmp_path / "a").mkdir()
    path = str(tmp_path / "a/events.out.events.summary.1700000000.0.host_MS")
    with EventWriter(path, "mindspore", wall_time=100.0) as writer:
        for at, step in enumerate((1, 2, 3, 4, 4)):
            writer.add(step, {tag: column[at] for tag, column in values.items()}, wall_time=100.0 + 2 * at)
    write_run(tmp_path / "b", custom(a=1))
    frame = LINEAGE_TABLE.check(lineage_table(opened(tmp_path), scalars=["loss", "accuracy", "lr", "none"]))
    assert frame.loc[0, ["last/loss", "best/loss", "best/accuracy", "last/lr"]].tolist() == [0.75, 0.5, pytest.approx(0.9), 5.0]
    assert math.isnan(frame.loc[0, "last/accuracy"])
    assert {"best/lr", "last/none", "best/none"}.isdisjoint(frame.columns)
    assert frame["steps"].tolist() == [4, 0]
    assert frame["duration"].tolist()[0] == 8.0
    assert frame.loc[1, ["duration", "last/loss", "best/loss"]].isna().all()


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("loss", "min"), ("train/loss/auto", "min"), ("val_err", "min"), ("Accuracy", "max"), ("top_1", "max"), ("mAP50", "max"),
     ("ppl", "min"), ("lr", ""), ("epoch", ""), ("MSE", "min"), ("f1-score", "max"), ("accuracy_loss", "min"), ("map", "max"),
     ("heatmap", ""), ("mape", "min")],
)  # fmt: skip
def test_which_end_is_better_by_name(name: str, wanted: str) -> None:
    assert better(name) == wanted


def test_types_of_columns(tmp_path: Path) -> None:
    columns = {
        "ints": ([1, 2, None], "Int64"), "numbers": ([1, 2.5, None], "float64"), "nan text": ([1.5, "NaN", None], "float64"),
        "mixed": ([1, "x", 2.5], "object"), "texts": (["1", "nan", None], "str"), "one": (["x", None, None], "str"),
    }  # fmt: skip
    for number in range(3):
        recorded = {name: values[number] for name, (values, _) in columns.items() if values[number] is not None}
        write_run(tmp_path / f"run{number}", custom(**recorded))
    frame = LINEAGE_TABLE.check(lineage_table(opened(tmp_path)))
    for name, (values, dtype) in columns.items():
        column = frame[f"user_defined/{name}"]
        assert str(column.dtype) == dtype, name
        assert [value for value in column if not pd.isna(value)] == [
            value for value in values if value is not None and not (dtype == "float64" and value == "NaN")
        ]
    assert frame["user_defined/mixed"].tolist() == [1, "x", 2.5]
    assert [type(value) for value in frame["user_defined/mixed"]] == [int, str, float]


def test_whole_numbers_beyond_64_bits_are_kept_as_they_are(tmp_path: Path) -> None:
    for number, value in enumerate(("18446744073709551616", "1")):
        metric = lineage_event(evaluation_lineage={"metric": f'{{"big": {value}}}'})
        write_run(tmp_path / f"run{number}", metric)
    frame = LINEAGE_TABLE.check(lineage_table(opened(tmp_path)))
    assert frame["metric/big"].tolist() == [1 << 64, 1]


def test_two_runs_of_equal_names(tmp_path: Path) -> None:
    runs = [open_run(write_run(tmp_path / place / "run", custom(a=number))) for number, place in enumerate("xy")]
    frame = lineage_table(runs)
    assert frame["run"].tolist() == [".", "."]
    assert frame["path"].tolist() == [str(tmp_path / "x/run"), str(tmp_path / "y/run")]
    assert frame["user_defined/a"].tolist() == [0, 1]
    assert lineage_table(runs, names=["x", "y"])["run"].tolist() == ["x", "y"]
    with pytest.raises(ValueError, match="expected 2"):
        lineage_table(runs, names=["x"])


def test_ranks_are_rows(tmp_path: Path) -> None:
    for rank in range(3):
        write_run(tmp_path / f"job/rank_{rank}", custom(rank=rank))
    frame = lineage_table(opened(tmp_path))
    assert frame["run"].tolist() == ["job/rank_0", "job/rank_1", "job/rank_2"]
    assert frame["user_defined/rank"].tolist() == [0, 1, 2]


def test_many_runs_are_a_table_in_no_time(tmp_path: Path) -> None:
    settings = [{"epoch": n, **{f"user_defined/{c}": n * c for c in range(30)}} for n in range(1000)]
    rows = [LineageRow(f"r{n}", "/p", one, {"steps": 1}) for n, one in enumerate(settings)]
    begin = process_time()
    frame = lineage_frame(rows)
    assert process_time() - begin < 1.0
    assert np.array_equal(frame["user_defined/7"].to_numpy(np.int64), 7 * np.arange(1000))
