from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import pytest

from parsers import Run, discover
from parsers.export import Export, WantedExport
from tests.parsers.lineage.lineage_reference import custom, lineage_event, lineage_files, settings_of, write_run


def exported(base: Path, out: Path) -> list[dict[str, str]]:
    with Export(out, WantedExport(kinds=("lineage",)), refused=lambda error: pytest.fail(str(error))) as export:
        for source in sorted(discover(base), key=lambda source: source.name):
            run = Run(source)
            run.refresh()
            for part in (run, *run.ranks):
                export.add(part)
    if not (out / "lineage.csv").exists():
        return []
    with (out / "lineage.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, strict=True))
    assert len(rows) == export.counts["lineage"]
    return rows


def test_real_runs_as_csv(real_data: Path, tmp_path: Path) -> None:
    rows = exported(real_data / "summary", tmp_path)
    assert len(rows) == 22
    for row in rows:
        wanted = settings_of(lineage_files(row["path"]))
        for name, value in wanted.items():
            assert (float(row[name]) == value or math.isnan(value)) if isinstance(value, float) else row[name] == str(value)
        empty = {name for name, cell in row.items() if not cell}
        assert not empty & {name for name, value in wanted.items() if value != ""}


def test_cells_of_every_type_read_back_and_run_as_no_formula(tmp_path: Path) -> None:
    names = {"=1+1": "=cmd()", "a,b": 'x"y', "line\r": "\n", "n": -5, "f": 0.1, "nan": math.nan, "inf": -math.inf}
    metric = lineage_event(evaluation_lineage={"metric": json.dumps({"ok": True, "big": 1 << 70})})
    write_run(tmp_path / "runs" / "a", custom(**names) + metric)
    write_run(tmp_path / "runs" / "b", custom(other="x"))
    write_run(tmp_path / "runs" / "c", b"")
    one, other = exported(tmp_path / "runs", tmp_path / "out")
    cells = {name.removeprefix("user_defined/"): cell for name, cell in one.items() if name.startswith("user_defined/")}
    assert cells == {"=1+1": "'=cmd()", "a,b": 'x"y', "line\r": "'\n", "n": "-5", "f": "0.1", "nan": "NaN", "inf": "-Infinity",
                     "other": ""}  # fmt: skip
    assert (one["metric/ok"], one["metric/big"], one["steps"]) == ("true", str(1 << 70), "0")
    assert [other["run"], other["user_defined/other"], other["user_defined/n"]] == ["b", "x", ""]


def test_runs_without_lineage_make_no_file(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "a", b"")
    assert exported(tmp_path / "runs", tmp_path / "out") == []


def test_an_interrupted_export_leaves_no_lineage(tmp_path: Path) -> None:
    [source] = discover(write_run(tmp_path / "runs", custom(a=1)))
    run = Run(source)
    run.refresh()

    def interrupted() -> None:
        with Export(tmp_path / "out", WantedExport(kinds=("lineage",)), refused=pytest.fail) as export:
            export.add(run)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list((tmp_path / "out").iterdir()) == []
