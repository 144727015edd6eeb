"""What a card of histograms draws: every count, every step that fits, and what is said of the rest."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts.figures.curves import WRONG
from layouts.figures.histograms import cell_edges, gradient
from layouts.figures.panels import grid, titles
from layouts.state import BadInput
from layouts.training.histograms.asks import read_ask
from layouts.training.histograms.callbacks import draw, stamp
from layouts.training.histograms.drawing import MOST_COLUMNS, MOST_LINES
from parsers import HistogramValue
from tests.layouts.histograms.conftest import START, Histograms, growing


def ask(tag: str = "w", run: str = "a", **more: str) -> dict[str, list[str]]:
    return {"tag": [tag], "run": [run]} | {key: [value] for key, value in more.items()}


def plain(spec: Any) -> np.ndarray:
    """Numbers as the browser reads them."""
    array = np.frombuffer(base64.b64decode(spec["bdata"]), np.dtype(f"<{spec['dtype']}"))
    return array.reshape([int(part) for part in spec["shape"].split(",")]) if "shape" in spec else array


def meta(figure: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = figure["layout"]["meta"]
    return found


def test_a_heat_map_holds_every_step_and_every_count(source: Histograms) -> None:
    figure = draw(source, ask())
    assert meta(figure)["view"] == "heat"
    (heat,) = (trace for trace in figure["data"] if trace["type"] == "heatmap")
    shares, panel = plain(heat["z"]), meta(figure)["panels"][0]
    assert shares.shape == (90, 200)
    counts = np.nan_to_num(shares.astype(np.float64)) * plain(panel["finite"])
    np.testing.assert_allclose(counts.sum(axis=0), 500, rtol=1e-5)
    assert plain(panel["step"]).tolist() == [10 * at for at in range(200)]
    assert plain(heat["x"]).size == 201
    assert heat["zmax"] == pytest.approx(np.nanmax(shares), rel=1e-6)


def test_the_median_over_a_heat_map_is_that_of_the_numbers(source: Histograms) -> None:
    lines = [trace for trace in draw(source, ask())["data"] if trace["type"] == "scatter"]
    assert len(lines) == 5
    random = np.random.default_rng(0)
    medians = [np.median(random.normal(0.0, 1.0 + at / 50, 500)) for at in range(200)]
    widths = [(1.0 + at / 50) * 0.5 for at in range(200)]
    assert (np.abs(plain(lines[2]["y"]) - medians) < widths).all()


def test_a_ridge_is_thinned_evenly_with_first_and_last_and_says_so(source: Histograms) -> None:
    figure = draw(source, ask(view="ridge"))
    said = meta(figure)
    assert len(figure["data"]) == MOST_LINES == said["drawn"]
    assert said["steps"] == 200
    steps = plain(said["panels"][0]["step"])
    assert (steps[0], steps[-1]) == (0, 1990)
    assert set(np.diff(steps)) == {30, 40}
    np.testing.assert_allclose(plain(said["panels"][0]["counts"]).sum(axis=1), 500, rtol=1e-5)
    newest, oldest = figure["data"][-1], figure["data"][0]
    assert plain(newest["y"])[0] == 1990
    assert (plain(newest["y"])[1:-1] <= 1990).all(), "heights go up from the step's place"
    assert (oldest["fillcolor"], newest["fillcolor"]) == (gradient(60)[0], gradient(60)[-1])


def test_the_view_without_a_choice_goes_by_the_number_of_steps(source: Histograms) -> None:
    assert meta(draw(source, ask("short")))["view"] == "ridge"
    assert meta(draw(source, ask("w", "b")))["view"] == "ridge"
    assert meta(draw(source, ask("w", "a")))["view"] == "heat"


def test_values_in_one_point_are_counted(source: Histograms) -> None:
    for view in ("heat", "ridge", "overlay", "step"):
        figure = draw(source, ask("points", view=view))
        panel = meta(figure)["panels"][0]
        if view == "heat":
            counts = np.nan_to_num(plain(figure["data"][0]["z"]).T) * 10
        else:
            counts = plain(panel["counts"])
        np.testing.assert_allclose(counts.sum(axis=1), 10, rtol=1e-6)
        assert counts[0, 0] == pytest.approx(7)


def test_steps_without_a_finite_value_are_marked_not_dropped(source: Histograms) -> None:
    ridge = draw(source, ask("short", "b", view="ridge"))
    assert plain(meta(ridge)["panels"][0]["step"])[0] == 0
    assert ridge["data"][0]["line"]["color"] == WRONG
    assert (meta(ridge)["empty"], meta(ridge)["bad"]) == (1, [30, 0, 0])
    heat = draw(source, ask("short", "b", view="heat"))
    (mark,) = heat["layout"]["shapes"]
    assert (mark["x0"], mark["x1"], mark["fillcolor"]) == (-5.0, 5.0, WRONG)
    numbers = draw(source, ask("short", "b", view="numbers"))
    red = [trace for trace in numbers["data"] if trace["line"]["color"] == WRONG]
    assert plain(red[0]["y"]).tolist() == [30.0, *[0.0] * 11]


def test_what_cannot_be_read_is_counted_and_named(source: Histograms) -> None:
    said = meta(draw(source, ask("short", "b")))
    assert (said["unread"], said["reason"]) == (1, "step 120: unreadable")
    assert said["steps"] == 13


def test_one_step_is_the_one_asked_for_or_the_one_before(source: Histograms) -> None:
    shown = [meta(draw(source, ask(view="step", **more)))["step"] for more in ({}, {"at": "50"}, {"at": "59"}, {"at": "-3"})]
    assert shown == [1990, 50, 50, 0]
    assert plain(meta(draw(source, ask(view="step")))["choices"]).tolist() == [10 * at for at in range(200)]


def test_of_a_step_recorded_twice_the_later_counts() -> None:
    (_, first), (_, second) = growing(2)
    found = Histograms({"a": {"w": [(5, first), (5, second)]}})
    panel = meta(draw(found, ask(view="step", at="5")))["panels"][0]
    assert second is not None
    assert plain(panel["extent"])[0].tolist() == [second.min, second.mean, second.max]
    assert plain(draw(found, ask(view="heat"))["data"][0]["z"]).shape == (90, 1)


def test_runs_lie_over_each_other_or_side_by_side_on_the_same_bins(source: Histograms) -> None:
    both = {"tag": ["w"], "run": ["a", "b"], "view": ["step"]}
    over, beside = draw(source, both), draw(source, both | {"beside": ["1"]})
    assert {trace["xaxis"] for trace in over["data"]} == {"x"}
    assert {trace["xaxis"] for trace in beside["data"]} == {"x", "x2"}
    assert beside["layout"]["yaxis"]["range"] == beside["layout"]["yaxis2"]["range"]
    assert meta(over)["bins"] == meta(beside)["bins"]
    assert len({trace["line"]["color"] for trace in over["data"]}) == 2


def test_as_many_runs_as_fit_and_how_many_there_are() -> None:
    found = Histograms({f"r{number}": {"w": growing(3)} for number in range(12)})
    wanted = {"tag": ["w"], "run": ["*"]}
    said = [meta(draw(found, wanted | {"columns": [columns]})) for columns in ("300", "850", "2400")]
    assert [(one["shown"], one["runs"]) for one in said] == [(2, 12), (4, 12), (9, 12)]
    assert meta(draw(found, wanted | {"view": ["numbers"]}))["shown"] == 10


def test_the_axes_of_steps(source: Histograms) -> None:
    relative = draw(source, ask("short", x="relative"))
    assert plain(meta(relative)["panels"][0]["at"]).tolist() == [5.0 + 2 * at for at in range(12)]
    absolute = draw(source, ask("short", x="absolute", zone="60", view="heat"))
    assert absolute["layout"]["xaxis"]["type"] == "date"
    assert plain(meta(absolute)["panels"][0]["at"])[0] == (START + 5 + 3600) * 1000


def test_very_many_steps_are_thinned() -> None:
    one = growing(1)[0][1]
    said = meta(draw(Histograms({"a": {"w": [(step, one) for step in range(2000)]}}), ask()))
    assert (said["drawn"], said["steps"]) == (MOST_COLUMNS, 2000)


def test_odd_numbers_make_a_figure() -> None:
    huge = HistogramValue(np.array([-3e38, 0.0]), np.array([3e38, 3e38]), np.array([3.0, 3.0]), -3e38, 3e38, 6.0, 6)
    empty = HistogramValue(np.zeros(0), np.zeros(0), np.zeros(0), np.nan, np.nan, 0.0, 0)
    for values in ([huge, huge], [empty], [huge, empty], []):
        found = Histograms({"a": {"w": list(enumerate(values))}})
        for view in ("heat", "ridge", "overlay", "step", "numbers"):
            assert meta(draw(found, ask(view=view)))["tags"] == ["w"]


def test_a_stamp_changes_with_the_data(source: Histograms) -> None:
    before = stamp(source, ask())
    assert before == stamp(source, ask(view="ridge"))
    source.data["a"]["w"].append((2000, growing(1)[0][1]))
    assert stamp(source, ask()) != before
    assert stamp(source, ask("no such tag")) == stamp(source, ask("nor this"))


def test_names_are_no_markup() -> None:
    (note,) = titles([("<b>bold</b>" * 9, "#123456")], grid(1))
    assert "<b>" not in note["text"]
    assert len(note["text"]) < 250


@pytest.mark.parametrize("count", range(1, 11))
def test_panels_do_not_overlap(count: int) -> None:
    domains = grid(count)
    assert len(domains) == count
    for first, (x, y) in enumerate(domains):
        assert 0 <= x[0] < x[1] <= 1
        assert 0 <= y[0] < y[1] <= 1
        for other_x, other_y in domains[first + 1 :]:
            assert x[1] < other_x[0] or other_x[1] < x[0] or y[0] > other_y[1] or other_y[0] > y[1]


def test_cells_of_a_heat_map_meet_halfway() -> None:
    assert cell_edges(np.array([0.0, 1.0, 4.0]), "step").tolist() == [-0.5, 0.5, 2.5, 5.5]
    assert cell_edges(np.array([3.0]), "absolute").tolist() == [-497.0, 503.0]


@pytest.mark.parametrize(
    "wrong",
    [{}, {"tag": []}, {"tag": ["a", "b"]}, ask(view="pie"), ask(x="tag:loss"), ask(at="now"), ask(at="nan"), ask(at="1e30"),
     ask(beside="yes"), ask(columns="0"), ask(zone="1e9"), {"tag": ["w"], "run": "a"}, [], "w", 7],
)  # fmt: skip
def test_wrong_asks_are_refused(source: Histograms, wrong: Any) -> None:
    with pytest.raises(BadInput):
        draw(source, wrong)


@given(
    st.dictionaries(
        st.sampled_from(["tag", "run", "view", "x", "at", "beside", "columns", "zone"]),
        st.none() | st.floats() | st.lists(st.none() | st.text(max_size=5), max_size=3), max_size=5,
    )
)  # fmt: skip
def test_any_json_is_an_ask_or_is_refused(data: Any) -> None:
    try:
        read_ask(data)
    except BadInput:
        return
