"""The last value of a curve is the same wherever one is shown, for runs whose files make that hard to say."""

from __future__ import annotations

import base64
import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from app import create_app
from app.store.store import Store
from layouts.curves.charts import chart
from layouts.curves.chosen_lines import series_of
from layouts.curves.scalar_asks import ChartRequest
from layouts.curves.scalars.sheet import sheet as final_sheet
from layouts.kit import units
from layouts.lineage.drawing import sheet as lineage_sheet
from layouts.lineage.model_columns import table as lineage_of
from layouts.lineage.two_runs.differences import scalars as compared
from layouts.runs.overview.pictures import scalars as pictures
from layouts.runs.runs.columns import values as column_values
from layouts.shell.run_list import listing
from parsers import discover, open_run
from parsers.analysis.curves.final_values import last_value
from parsers.export.scalars import write
from parsers.recording import EventWriter
from tests.layouts.jobs.job.test_job_page import texts_in

NAN, INF = math.nan, math.inf


class Made(NamedTuple):
    """The files of a run, each a list of (step, value), and its last and its last finite value, each with its step."""

    files: Sequence[Sequence[tuple[int, float]]]
    last: tuple[float, int]
    finite: tuple[float, int]


RUNS: Mapping[str, Made] = {
    "plain": Made([[(step, 4.0 / (1 + step)) for step in range(40)]], (0.1, 39), (0.1, 39)),
    # The second session is not as far yet as the first was.
    "restarted": Made([[(step, 2.0) for step in range(0, 6500, 100)], [(step, 1.25) for step in range(2000, 3001, 100)]],
                      (1.25, 3000), (1.25, 3000)),
    "further": Made([[(step, 2.0) for step in range(60)], [(step, 0.5) for step in range(50, 80)]], (0.5, 79), (0.5, 79)),
    "nan": Made([[*((step, 4.46111 if step == 31 else 5.0) for step in range(32)), (32, NAN), (33, NAN)]],
                (NAN, 33), (4.46111, 31)),
    "infinite": Made([[(0, 1.5), (1, INF)]], (INF, 1), (1.5, 0)),
    "never": Made([[(0, NAN), (1, NAN)]], (NAN, 1), (NAN, -1)),
    # What was NaN was written again.
    "cured": Made([[(0, 3.0), (1, 2.0), (2, NAN), (3, NAN)], [(2, 1.75), (3, 1.5)]], (1.5, 3), (1.5, 3)),
    # The finite values after the restart's step are superseded too.
    "relapsed": Made([[(0, 3.0), (1, 2.0), (2, 1.0)], [(1, NAN)]], (NAN, 1), (3.0, 0)),
    "several": Made([[(0, 5.0), (1, 4.0)], [(2, 3.0), (3, 2.0)], [(4, 1.0), (5, 0.75)]], (0.75, 5), (0.75, 5)),
    "unordered": Made([[(0, 1.0), (2, 3.0), (1, 2.5), (4, 5.0), (3, 4.5), (5, 0.25)]], (0.25, 5), (0.25, 5)),
    "back": Made([[(0, 1.0), (10, 9.0), (5, 6.5)]], (6.5, 5), (6.5, 5)),
    "twice": Made([[(0, 1.0), (1, 2.0), (1, 2.125)]], (2.125, 1), (2.125, 1)),
}  # fmt: skip
TAG = "loss"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("agreement")
    for name, made in RUNS.items():
        (directory / name).mkdir()
        (directory / name / "config.yaml").write_text(f"seed: {len(name)}\n")
        for number, points in enumerate(made.files):
            path = directory / name / f"events.out.tfevents.{1_700_000_000 + 1000 * number}.host"
            with EventWriter(str(path), "tensorboard", wall_time=1.7e9 + 1000 * number) as writer:
                for place, (step, value) in enumerate(points):
                    writer.add(step, {TAG: value}, wall_time=1.7e9 + 1000 * number + place)
    return directory


@pytest.fixture(scope="module")
def store(base: Path) -> Iterator[Store]:
    made = Store([base], interval=0).start()
    assert made.wait(60)
    yield made
    made.stop()


def near(one: float, other: float) -> bool:
    """Files hold float32."""
    return (math.isnan(one) and math.isnan(other)) or one == other or math.isclose(one, other, rel_tol=1e-6)


def agree(found: Mapping[str, tuple[float, int]], wanted: Mapping[str, tuple[float, int]]) -> None:
    for name, (value, step) in wanted.items():
        assert near(found[name][0], value), (name, found[name])
        assert found[name][1] == step, (name, found[name])


LAST = {name: made.last for name, made in RUNS.items()}
FINITE = {name: made.finite for name, made in RUNS.items()}
FLOAT32 = {name: float(np.float32(made.last[0])) for name, made in RUNS.items()}
TEXTS = {name: units.number(value) for name, value in FLOAT32.items()}


def said(tip: Sequence[str], name: str) -> None:
    """What is said on hover names the last step, and of values that are not finite the last finite one."""
    (value, step), (finite, finite_step) = RUNS[name].last, RUNS[name].finite
    assert f"at step {step:,}" in tip[0]
    if math.isfinite(value):
        assert "finite" not in tip[0]
    elif finite_step < 0:
        assert "No value is finite" in tip[0]
    else:
        assert f"Last finite value: {units.number(float(np.float32(finite)))} at step {finite_step:,}" in tip[0]


def test_the_function_that_all_places_call(store: Store) -> None:
    found = {name: last_value(one) for name in RUNS if (one := store.curves.series(name, TAG)) is not None}
    agree({name: (one.value, one.step) for name, one in found.items()}, LAST)
    agree({name: (one.finite, one.finite_step) for name, one in found.items()}, FINITE)
    every = {name: last_value(one) for name in RUNS if (one := store.curves.recorded(name, TAG)) is not None}
    assert str(every) == str(found), "also of what was recorded"


def test_the_list_of_runs_and_its_columns(store: Store) -> None:
    agree({row.key: (row.main_value or 0.0, row.main_step) for row in store.runs.rows()}, LAST)
    for row in listing(store)["rows"]:
        assert row["valueText"] == TEXTS[row["key"]]
        said(row["valueTip"], row["key"])
    columns = column_values(store, {"run": list(RUNS), "col": [f"last:{TAG}"]})
    for name, (value,) in columns["rows"].items():
        assert near(float(value or 0.0), LAST[name][0]), name
        assert (name in columns["tips"]) is not math.isfinite(LAST[name][0])
        if name in columns["tips"]:
            said(columns["tips"][name][f"last:{TAG}"], name)


def decoded(array: Any) -> np.ndarray[Any, Any]:
    return np.frombuffer(base64.b64decode(array["bdata"]), np.dtype(array["dtype"])).astype(float)


def drawn(store: Store, query: Mapping[str, list[str]]) -> dict[str, Any]:
    """The figure of a card, and its lines by key."""
    ask = ChartRequest.read({"run": list(RUNS), "tag": [TAG], "every": ["1"], **query})
    figure = chart(store, ask, series_of(store, ask))
    traces = [*figure.get("canvas", []), *figure["data"]]
    return {trace["meta"]["key"]: trace for trace in traces if "key" in trace.get("meta", {})} | {"": figure}


def end_of(trace: Mapping[str, Any]) -> tuple[float, int]:
    """The last point of a line that is drawn."""
    y = decoded(trace["y"])
    x = trace["x0"] + trace["dx"] * np.arange(y.size) if "x0" in trace else decoded(trace["x"])
    at = np.flatnonzero(np.isfinite(y))
    return (float(y[at[-1]]), int(x[at[-1]])) if at.size else (NAN, -1)


def test_cards_run_list_and_groups(store: Store) -> None:
    lines = drawn(store, {})
    agree({name: end_of(lines[name]) for name in RUNS}, FINITE)
    for name in RUNS:
        last = lines[name]["meta"]["last"]
        assert last["text"] == TEXTS[name]
        assert last["wrong"] is not math.isfinite(LAST[name][0])
        said(last["tip"], name)
    zoomed = drawn(store, {"view": ["0,1,,"]})
    assert zoomed["restarted"]["meta"]["last"]["text"] == TEXTS["restarted"], "not the last one on screen"
    groups = drawn(store, {"group": ["regex:(.*)"], "band": ["none"]})
    agree({name: end_of(groups[name]) for name in RUNS}, FINITE)


def test_superseded_points_are_drawn_apart(store: Store) -> None:
    figure = drawn(store, {})[""]
    old = [trace for trace in (*figure.get("canvas", []), *figure["data"]) if "superseded" in trace.get("meta", {})]
    # The superseded points of "cured" are NaN.
    restarted = {"restarted", "further", "relapsed", "unordered", "back", "twice"}
    assert {trace["meta"]["superseded"] for trace in old} == restarted
    for trace in old:
        assert trace["opacity"] < 1
        assert trace.get("line", {"dash": "dot"})["dash"] == "dot"
    (mine,) = (trace for trace in old if trace["meta"]["superseded"] == "restarted")
    assert end_of(mine) == (2.0, 6400)
    # Of 65 points 20 were kept; of "twice" and "back" 1, of "further" 10, of the others 2 each.
    assert figure["layout"]["meta"]["superseded"] == 45 + 10 + 2 + 2 + 2 + 1 + 1


def test_the_table_of_final_values_and_its_csv(store: Store) -> None:
    table = final_sheet(store, {"run": list(RUNS), "tag": [TAG], "table": ["1"]})["table"]
    assert table is not None
    at, step = table["columns"].index("last"), table["columns"].index("last_step")
    for row in table["rows"]:
        assert row["cells"][at]["text"] == TEXTS[row["label"]]
        assert row["cells"][step]["value"] == LAST[row["label"]][1]
        said(row["cells"][at]["tip"], row["label"])


def rows(store: Store, address: str) -> list[dict[str, str]]:
    answer = create_app(store).server.test_client().get(address)
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text)))


def test_exported_files(store: Store, base: Path, tmp_path: Path) -> None:
    final = rows(store, f"/api/scalars-final.csv?tag={TAG}")
    agree({row["name"]: (float(row["last"]), int(row["last_step"])) for row in final}, LAST)
    matrix = rows(store, f"/api/scalars-matrix.csv?tag={TAG}&tag=none")
    assert [row["none"] for row in matrix] == [""] * len(RUNS)
    by_value = {row["run"]: float(row[TAG]) for row in matrix}
    assert by_value == pytest.approx({name: value for name, (value, _) in LAST.items()}, nan_ok=True)
    route = rows(store, f"/api/scalars.csv?tag={TAG}")
    agree({row["run"]: (float(row["value"]), int(row["step"])) for row in route}, LAST)
    write([open_run(source) for source in discover(base)], tmp_path / "scalars.csv")
    with (tmp_path / "scalars.csv").open(newline="") as file:
        command = list(csv.DictReader(file))
    assert command == route
    every = rows(store, f"/api/scalars.csv?tag={TAG}&superseded=1")
    assert len(every) == sum(len(points) for made in RUNS.values() for points in made.files)
    derived = rows(store, "/api/scalars.csv?expr=loss*1")
    agree({row["run"]: (float(row["value"]), int(row["step"])) for row in derived}, LAST)


def test_two_runs(store: Store) -> None:
    for one, other in zip(list(RUNS)[::2], list(RUNS)[1::2], strict=True):
        (line,) = compared(store, (one, other))
        for name, end in zip((one, other), line.ends, strict=True):
            assert end is not None
            agree({name: (end.last, end.last_step)}, {name: LAST[name]})
            agree({name: (end.finite, end.finite_step)}, {name: FINITE[name]})


def test_the_overview(store: Store) -> None:
    for row in store.runs.rows():
        (picture,) = pictures(store, row.key, row, "#123456")
        assert texts_in(picture).split()[1] == TEXTS[row.key], row.key


def test_model_lineage_and_optimisation(store: Store) -> None:
    table = lineage_of(store, None)
    agree({row.run: (float(row.derived[f"last/{TAG}"]), LAST[row.run][1]) for row in table.rows}, LAST)
    values = dict(zip(table.frame["run"], table.frame[f"last/{TAG}"], strict=True))
    agree({name: (float(value), LAST[name][1]) for name, value in values.items()}, LAST)
    tips = lineage_sheet(table)["tips"]
    assert set(tips) == {name for name, (value, _) in LAST.items() if not math.isfinite(value)}
    for name, of in tips.items():
        said(of[f"last/{TAG}"], name)
