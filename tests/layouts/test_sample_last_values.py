"""The last value of a curve is the same in lists, cards, tables, columns and files, for all curves of all samples."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from app import create_app
from app.store.store import Store
from layouts.curves.charts import chart
from layouts.curves.chosen_lines import series_of
from layouts.curves.scalar_asks import ChartRequest
from layouts.curves.scalars.sheet import sheet as final_sheet
from layouts.kit import units
from layouts.lineage.model_columns import table as lineage_of
from layouts.runs.runs.columns import values as column_values
from layouts.shell.run_list import listing
from parsers.analysis.curves.final_values import last_value

ROOT = Path(__file__).resolve().parents[2]
MOST = 6
"""Tags of a run in the short form."""


@pytest.fixture(scope="module", params=["own", pytest.param("every", marks=pytest.mark.long)])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    own = request.param == "own"
    base = ROOT / "tests" / "data" if own else request.getfixturevalue("real_data")
    made = Store([base], interval=0).start()
    assert made.wait(600)
    yield made
    made.stop()


def tags(store: Store, run: str) -> list[str]:
    found = [tag for tag in store.runs.tags(run) if (one := store.curves.series(run, tag)) is not None and one.step.size]
    return found[:MOST]


def same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=1e-6)


def test_last_values_of_samples_are_the_same_everywhere(store: Store) -> None:
    client = create_app(store).server.test_client()
    rows = {row.key: row for row in store.runs.rows()}
    listed = {row["key"]: row for row in listing(store)["rows"]}
    lineage = {row.run: row.derived for row in lineage_of(store, None).rows}
    checked = 0
    for run in rows:
        for tag in tags(store, run):
            series = store.curves.series(run, tag)
            assert series is not None
            wanted = last_value(series)
            text = units.number(float(np.float32(wanted.value)))
            checked += 1
            if rows[run].main_tag == tag:
                assert same(rows[run].main_value or 0.0, wanted.value), (run, tag)
                assert rows[run].main_step == wanted.step, (run, tag)
                assert listed[run]["valueText"] == text, (run, tag)
            (column,) = column_values(store, {"run": [run], "col": [f"last:{tag}"]})["rows"][run]
            assert same(float(column if column is not None else math.nan), wanted.value), (run, tag)
            ask = ChartRequest.read({"run": [run], "tag": [tag], "every": ["1"]})
            figure = chart(store, ask, series_of(store, ask))
            (line,) = (one for one in [*figure.get("canvas", []), *figure["data"]] if one.get("meta", {}).get("key") == run)
            assert line["meta"]["last"]["text"] == text, (run, tag)
            table = final_sheet(store, {"run": [run], "tag": [tag], "table": ["1"]})["table"]
            assert table is not None
            assert table["rows"][0]["cells"][table["columns"].index("last")]["text"] == text, (run, tag)
            answer = client.get("/api/scalars-final.csv", query_string={"run": run, "tag": tag})
            assert answer.status_code == 200, answer.text
            (exported,) = csv.DictReader(io.StringIO(answer.text))
            answer.close()
            assert same(float(exported["last"] or "nan"), wanted.value), (run, tag)
            assert int(exported["last_step"]) == wanted.step, (run, tag)
            if f"last/{tag}" in lineage.get(run, {}):
                assert same(float(lineage[run][f"last/{tag}"]), wanted.value), (run, tag)
    assert checked >= 20


LAST = re.compile(r"(?:\bseries|curve|kept|one|found)\.value\[-1\]|\[\"value\"\]\.iloc\[-1\]")


def test_the_last_value_is_taken_in_one_module() -> None:
    paths = [path for package in ("parsers", "layouts", "app") for path in (ROOT / package).rglob("*.py")]
    assert len(paths) > 500
    found = {str(path.relative_to(ROOT)) for path in paths if LAST.search(path.read_text("utf-8"))}
    assert found == {"parsers/analysis/curves/final_values.py"}
