"""What a card of histograms draws: every count, every step that fits, and what is said of the rest."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts.curves.smoothed_lines import WRONG
from layouts.kit.figures.panels import grid, titles
from layouts.kit.state import BadInput
from layouts.values.histogram_asks import HistogramRequest
from layouts.values.histogram_figures import MOST_COLUMNS, MOST_LINES
from layouts.values.histogram_plots import cell_edges, gradient
from layouts.values.histograms.page import draw, stamp
from parsers import HistogramValue
from tests.layouts.values.histograms.conftest import START, growing, histograms, value_of
from tests.sources import MemorySource


def ask(tag: str = "w", run: str = "a", **more: str) -> dict[str, list[str]]:
    return {"tag": [tag], "run": [run]} | {key: [value] for key, value in more.items()}


def plain(spec: Any) -> np.ndarray:
    """Numbers as the browser reads them."""
    array = np.frombuffer(base64.b64decode(spec["bdata"]), np.dtype(f"<{spec['dtype']}"))
    return array.reshape([int(part) for part in spec["shape"].split(",")]) if "shape" in spec else array


def meta(figure: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = figure["layout"]["meta"]
    return found


def test_a_heat_map_holds_every_step_and_every_count(source: MemorySource) -> None:
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


def test_the_median_over_a_heat_map_is_that_of_the_numbers(source: MemorySource) -> None:
    lines = [trace for trace in draw(source, ask())["data"] if trace["type"] == "scatter"]
    assert len(lines) == 5
    random = np.random.default_rng(0)
    medians = [np.median(random.normal(0.0, 1.0 + at / 50, 500)) for at in range(200)]
    widths = [(1.0 + at / 50) * 0.5 for at in range(200)]
    assert (np.abs(plain(lines[2]["y"]) - medians) < widths).all()


def test_a_ridge_is_thinned_evenly_with_first_and_last_and_says_so(source: MemorySource) -> None:
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


def test_the_view_without_a_choice_goes_by_the_number_of_steps(source: MemorySource) -> None:
    assert meta(draw(source, ask("short")))["view"] == "ridge"
    assert meta(draw(source, ask("w", "b")))["view"] == "ridge"
    assert meta(draw(source, ask("w", "a")))["view"] == "heat"


def test_values_in_one_point_are_counted(source: MemorySource) -> None:
    for view in ("heat", "ridge", "overlay", "step"):
        figure = draw(source, ask("points", view=view))
        panel = meta(figure)["panels"][0]
        if view == "heat":
            counts = np.nan_to_num(plain(figure["data"][0]["z"]).T) * 10
        else:
            counts = plain(panel["counts"])
        np.testing.assert_allclose(counts.sum(axis=1), 10, rtol=1e-6)
        assert counts[0, 0] == pytest.approx(7)


def test_steps_without_a_finite_value_are_marked_not_dropped(source: MemorySource) -> None:
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


def test_what_cannot_be_read_is_counted_and_named(source: MemorySource) -> None:
    said = meta(draw(source, ask("short", "b")))
    assert (said["unread"], said["reason"]) == (1, "step 120: unreadable")
    assert said["steps"] == 13


def test_one_step_is_the_one_asked_for_or_the_one_before(source: MemorySource) -> None:
    shown = [meta(draw(source, ask(view="step", **more)))["step"] for more in ({}, {"at": "50"}, {"at": "59"}, {"at": "-3"})]
    assert shown == [1990, 50, 50, 0]
    assert plain(meta(draw(source, ask(view="step")))["choices"]).tolist() == [10 * at for at in range(200)]


def test_of_a_step_recorded_twice_the_later_counts() -> None:
    (_, first), (_, second) = growing(2)
    found = histograms({"a": {"w": [(5, first), (5, second)]}})
    panel = meta(draw(found, ask(view="step", at="5")))["panels"][0]
    assert second is not None
    assert plain(panel["extent"])[0].tolist() == [second.min, second.mean, second.max]
    assert plain(draw(found, ask(view="heat"))["data"][0]["z"]).shape == (90, 1)


def test_runs_lie_over_each_other_or_side_by_side_on_the_same_bins(source: MemorySource) -> None:
    both = {"tag": ["w"], "run": ["a", "b"], "view": ["step"]}
    over, beside = draw(source, both), draw(source, both | {"beside": ["1"]})
    assert {trace["xaxis"] for trace in over["data"]} == {"x"}
    assert {trace["xaxis"] for trace in beside["data"]} == {"x", "x2"}
    assert beside["layout"]["yaxis"]["range"] == beside["layout"]["yaxis2"]["range"]
    assert meta(over)["panels"][0]["bins"] == meta(beside)["panels"][1]["bins"]
    assert len({trace["line"]["color"] for trace in over["data"]}) == 2


def test_as_many_runs_as_fit_and_how_many_there_are() -> None:
    found = histograms({f"r{number}": {"w": growing(3)} for number in range(12)})
    wanted = {"tag": ["w"], "run": ["*"]}
    said = [meta(draw(found, wanted | {"columns": [columns]})) for columns in ("300", "850", "2400")]
    assert [(one["shown"], one["runs"]) for one in said] == [(2, 12), (4, 12), (9, 12)]
    assert meta(draw(found, wanted | {"view": ["numbers"]}))["shown"] == 10


@pytest.mark.parametrize("view", ["heat", "ridge", "overlay", "step", "numbers"])
def test_hidden_runs_are_not_drawn_but_named(view: str) -> None:
    source = histograms({name: {"w": growing(5, seed=number)} for number, name in enumerate("abc")})
    data = {"tag": ["w"], "run": ["a", "b", "c"], "view": [view]}
    figure = draw(source, data | {"hide": ["b"]})
    assert [panel["run"] for panel in meta(figure)["panels"]] == ["a", "c"]
    assert (meta(figure)["off"], meta(figure)["runs"], meta(draw(source, data))["off"]) == ([["b", "b"]], 2, [])
    none = meta(draw(source, data | {"hide": ["a", "b", "c", "gone"]}))
    assert (none["panels"], none["off"]) == ([], [["a", "a"], ["b", "b"], ["c", "c"]])


@pytest.mark.parametrize("view", ["step", "numbers"])
def test_every_line_says_whose_it_is(view: str) -> None:
    values = growing(5)
    values[2] = (2, value_of(np.full(9, np.nan)))
    source = histograms({"a": {"w": values}, "b": {"w": growing(5, seed=1)}})
    figure = draw(source, {"tag": ["w"], "run": ["a", "b"], "view": [view], "at": ["2"]})
    colours = {"a": set(), "b": set()}
    for trace in figure["data"]:
        colours[trace["meta"]["key"]].add(trace.get("line", trace.get("marker", {})).get("color"))
    assert all(colours.values())
    wrong = colours["a"] & colours["b"]
    assert wrong <= {WRONG}, "lines of values that are not finite are red whosever they are"


def test_the_axes_of_steps(source: MemorySource) -> None:
    relative = draw(source, ask("short", x="relative"))
    assert plain(meta(relative)["panels"][0]["at"]).tolist() == [5.0 + 2 * at for at in range(12)]
    absolute = draw(source, ask("short", x="absolute", zone="60", view="heat"))
    assert absolute["layout"]["xaxis"]["type"] == "date"
    assert plain(meta(absolute)["panels"][0]["at"])[0] == (START + 5 + 3600) * 1000


def test_very_many_steps_are_thinned() -> None:
    one = growing(1)[0][1]
    said = meta(draw(histograms({"a": {"w": [(step, one) for step in range(2000)]}}), ask()))
    assert (said["drawn"], said["steps"]) == (MOST_COLUMNS, 2000)


def test_odd_numbers_make_a_figure() -> None:
    huge = HistogramValue(np.array([-3e38, 0.0]), np.array([3e38, 3e38]), np.array([3.0, 3.0]), -3e38, 3e38, 6.0, 6)
    empty = HistogramValue(np.zeros(0), np.zeros(0), np.zeros(0), np.nan, np.nan, 0.0, 0)
    for values in ([huge, huge], [empty], [huge, empty], []):
        found = histograms({"a": {"w": list(enumerate(values))}})
        for view in ("heat", "ridge", "overlay", "step", "numbers"):
            assert meta(draw(found, ask(view=view)))["tags"] == ["w"]


def test_a_stamp_changes_with_the_data(source: MemorySource) -> None:
    before = stamp(source, ask())
    assert before == stamp(source, ask(view="ridge"))
    source.data["a"]["histogram"]["w"].append((2000, growing(1)[0][1]))
    assert stamp(source, ask()) != before
    assert stamp(source, ask("no such tag")) == stamp(source, ask("nor this"))


def test_names_are_no_markup() -> None:
    (note,) = titles([("<b>bold</b>" * 9, "#123456")], grid(1), 400)
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


def shares_of(figure: dict[str, Any]) -> np.ndarray:
    """Counts inside the bins, per step, of a figure's first panel."""
    panel = meta(figure)["panels"][0]
    if "counts" in panel:
        return plain(panel["counts"]).sum(axis=1)
    heat = next(trace for trace in figure["data"] if trace["type"] == "heatmap")
    return np.nan_to_num(plain(heat["z"]).T).sum(axis=1) * plain(panel["finite"])


def far(steps: int = 100) -> MemorySource:
    """A step of a hundred lies a million times as far out as the others."""
    found = growing(steps)
    found[40] = (400, value_of(np.array([*np.zeros(250), *np.full(250, 1e6)])))
    return histograms({"a": {"w": found}})


@pytest.mark.parametrize("view", ["heat", "ridge", "overlay"])
def test_a_step_far_from_the_others_does_not_squeeze_them_and_no_count_is_lost(view: str) -> None:
    source = far(60)
    figure = draw(source, ask(view=view))
    said, panel = meta(figure), meta(figure)["panels"][0]
    assert said["limits"] == "usual"
    assert -12 < panel["bins"]["low"] < panel["bins"]["high"] < 12
    outside = plain(panel["outside"])
    np.testing.assert_allclose(shares_of(figure) + outside.sum(axis=1), 500, rtol=1e-5)
    assert np.flatnonzero(outside.sum(axis=1)).tolist() == [40]
    assert outside[40, 1] > 490
    assert outside[40, 0] == 0
    whole = draw(source, ask(view=view, zoom="all,,,"))
    assert (meta(whole)["limits"], meta(whole)["panels"][0]["bins"]["high"]) == ("all", 1e6)
    assert not plain(meta(whole)["panels"][0]["outside"]).any()
    np.testing.assert_allclose(shares_of(whole), 500, rtol=1e-5)


@pytest.mark.parametrize("view", ["heat", "ridge", "overlay", "step"])
def test_a_zoom_counts_anew_on_bins_of_what_is_in_view(source: MemorySource, view: str) -> None:
    figure = draw(source, ask(view=view, zoom="-0.5,1.25,,"))
    said, panel = meta(figure), meta(figure)["panels"][0]
    assert said["panels"][0]["bins"] == {"low": -0.5, "high": 1.25, "n": 90}
    values = "yaxis" if view == "heat" else "xaxis"
    assert figure["layout"][values]["range"] == [-0.5, 1.25]
    assert said["ranges"][f"{values}.range"] == [-0.5, 1.25]
    np.testing.assert_allclose(shares_of(figure) + plain(panel["outside"]).sum(axis=1), 500, rtol=1e-5)
    assert (plain(panel["outside"]) > 0).all()


def test_a_zoom_of_steps_shows_all_of_them(source: MemorySource) -> None:
    ridge = meta(draw(source, ask(view="ridge", zoom=",,500,1000")))
    assert (ridge["drawn"], ridge["steps"]) == (51, 200)
    assert plain(ridge["panels"][0]["step"]).tolist() == list(range(500, 1001, 10))
    heat = draw(source, ask(zoom=",,500,1000"))
    assert heat["layout"]["xaxis"]["range"] == [500, 1000]
    assert plain(meta(heat)["panels"][0]["step"])[[0, -1]].tolist() == [490, 1010], "cells reach into the view"
    nothing = meta(draw(source, ask(view="ridge", zoom=",,501,502")))
    assert (nothing["drawn"], nothing["steps"]) == (0, 200)


def test_a_zoom_of_time_is_in_seconds_since_1970(source: MemorySource) -> None:
    view = draw(source, ask("short", x="absolute", zone="60", view="heat", zoom=f",,{START + 9},{START + 13}"))
    assert view["layout"]["xaxis"]["range"] == [(START + 9 + 3600) * 1000, (START + 13 + 3600) * 1000]
    assert plain(meta(view)["panels"][0]["step"]).tolist() == [10, 20, 30, 40, 50]


def test_numbers_are_not_squeezed_either() -> None:
    figure = draw(far(), ask(view="numbers"))
    assert meta(figure)["limits"] == "usual"
    assert max(abs(end) for end in figure["layout"]["yaxis"]["range"]) < 20
    assert "range" not in draw(far(), ask(view="numbers", zoom="all,,,"))["layout"]["yaxis"]


def test_steps_without_a_finite_value_are_marked_in_every_view(source: MemorySource) -> None:
    overlay = draw(source, ask("short", "b", view="overlay"))
    assert [trace["line"]["color"] for trace in overlay["data"]].count(WRONG) == 1
    single = draw(source, ask("short", "b", view="step", at="0"))
    assert [trace["line"]["color"] for trace in single["data"]] == [WRONG]
    numbers = draw(source, ask("short", "b", view="numbers"))
    assert [shape["fillcolor"] for shape in numbers["layout"]["shapes"]] == [WRONG]


def test_counts_of_what_is_not_finite_have_an_axis_of_their_own() -> None:
    data = [value_of(np.array([*np.arange(1000.0), *[np.nan] * at, *[np.inf] * 3])) for at in range(3)]
    figure = draw(histograms({"a": {"w": list(enumerate(data))}}), ask(view="numbers"))
    red = [trace for trace in figure["data"] if trace["yaxis"] == "y3"]
    assert [plain(trace["y"]).tolist() for trace in red] == [[0, 1, 2], [3, 3, 3]]
    assert figure["layout"]["yaxis3"]["range"][1] < 4
    assert figure["layout"]["annotations"][-1]["text"] == "NaN —   +Inf – –"
    assert "yaxis3" not in draw(histograms({"a": {"w": growing(3)}}), ask(view="numbers"))["layout"]


def test_a_finite_step_between_others_is_a_dot() -> None:
    nothing = value_of(np.full(5, np.nan))
    steps = [(0, nothing), (1, value_of(np.array([2.0, 4.0]))), (2, nothing)]
    figure = draw(histograms({"a": {"w": steps}}), ask(view="numbers"))
    dots = [trace for trace in figure["data"] if trace["mode"] == "markers"]
    assert [plain(dot["y"]).tolist() for dot in dots] == [[4], [3], [2]]


def test_thinning_is_by_steps_even_where_training_started_again() -> None:
    one = growing(1)[0][1]
    steps = [*range(100), *range(50, 150)]
    said = meta(draw(histograms({"a": {"w": [(step, one) for step in steps]}}), ask(view="ridge")))
    assert (said["drawn"], said["steps"]) == (60, 150)
    gaps = np.diff(plain(said["panels"][0]["step"]))
    assert set(gaps.tolist()) == {2, 3}


def test_each_of_several_values_of_a_step_is_reached() -> None:
    (_, first), (_, second), (_, third) = growing(3)
    found = histograms({"a": {"w": [(5, first), (5, second), (6, third)]}, "b": {"w": [(5, first)]}})
    both = {"tag": ["w"], "run": ["a", "b"], "view": ["step"]}
    said = meta(draw(found, both))
    assert (plain(said["choices"]).tolist(), said["steps"], said["drawn"]) == ([5, 5, 6], 2, 1)
    shown = [meta(draw(found, both | {"at": [at]}))["panels"] for at in ("5~1", "5~2", "5", "6~1")]
    assert first is not None
    assert second is not None
    assert third is not None
    assert [plain(panels[0]["extent"])[0, 0] for panels in shown] == [first.min, second.min, second.min, third.min]
    assert [plain(panels[1]["extent"])[0, 0] for panels in shown] == [first.min] * 4


def test_what_is_damaged_says_where() -> None:
    bad = HistogramValue(np.zeros(1), np.ones(1), np.ones(1), 0, 1, 0.5, 1, problem="1 of 2 buckets are left out.")
    said = meta(draw(histograms({"a": {"w": [*growing(3), (70, bad), (80, bad)]}}), ask()))
    assert (said["damaged"], said["problem"]) == (2, "a, step 70: 1 of 2 buckets are left out.")


@pytest.mark.parametrize(
    "wrong",
    [{}, {"tag": []}, {"tag": ["a", "b"]}, ask(view="pie"), ask(x="tag:loss"), ask(at="now"), ask(at="nan"), ask(at="1e30"),
     ask(at="1~0"), ask(at="9999999999999999999"),
     ask(zoom="1,2"), ask(zoom="2,1,,"), ask(zoom="1,,,"), ask(zoom="nan,1,,"), ask(zoom="all,1,,"), ask(zoom=",,all,"),
     ask(beside="yes"), ask(columns="0"), ask(zone="1e9"), {"tag": ["w"], "run": "a"}, [], "w", 7],
)  # fmt: skip
def test_wrong_asks_are_refused(source: MemorySource, wrong: Any) -> None:
    with pytest.raises(BadInput):
        draw(source, wrong)


@given(
    st.dictionaries(
        st.sampled_from(["tag", "run", "view", "x", "at", "beside", "columns", "zone", "zoom"]),
        st.none() | st.floats() | st.lists(st.none() | st.text(max_size=5), max_size=3), max_size=5,
    )
)  # fmt: skip
def test_any_json_is_an_ask_or_is_refused(data: Any) -> None:
    try:
        HistogramRequest.read(data)
    except BadInput:
        return


def test_the_colour_of_a_share_is_chosen(source: MemorySource) -> None:
    figures = {name: draw(source, ask(colour=name)) for name in ("root", "log", "robust")}
    heats = {name: figure["data"][0] for name, figure in figures.items()}
    assert [round(at, 4) for at, _ in heats["root"]["colorscale"]] == [round((at / 7) ** 2, 4) for at in range(8)]
    assert [at for at, _ in heats["log"]["colorscale"]] == pytest.approx([0, *np.logspace(-3, 0, 8)[1:]])
    shares = plain(heats["root"]["z"])
    assert heats["log"]["zmax"] == pytest.approx(np.nanmax(shares), rel=1e-6)
    assert heats["robust"]["zmax"] == pytest.approx(np.percentile(shares[np.isfinite(shares)], 98), rel=1e-5)
    assert [meta(figure)["scale"]["more"] for figure in figures.values()] == [False, False, True]


@pytest.mark.parametrize("view", ["heat", "ridge", "overlay", "step"])
@pytest.mark.parametrize("scale", ["symlog", "quantile"])
def test_no_count_is_lost_on_another_scale(source: MemorySource, view: str, scale: str) -> None:
    figure = draw(source, ask(view=view, scale=scale))
    panel = meta(figure)["panels"][0]
    edges = plain(panel["bins"]["edges"])
    assert len(edges) == panel["bins"]["n"] + 1
    counts = np.nan_to_num(plain(figure["data"][0]["z"])).T * 500 if view == "heat" else plain(panel["counts"])
    np.testing.assert_allclose(counts.sum(axis=1), 500, rtol=1e-5)
    axis = figure["layout"]["yaxis" if view == "heat" else "xaxis"]
    assert axis["range"] == [panel["bins"]["low"], panel["bins"]["high"]]
    assert len(set(axis["ticktext"])) == len(axis["ticktext"]) >= 3


def test_runs_have_a_common_axis_or_their_own() -> None:
    near, far = ([(step, value_of(np.linspace(low, low + 1.0, 50))) for step in range(9)] for low in (0.0, 100.0))
    source = histograms({"a": {"w": near}, "b": {"w": far}})
    wanted = {"tag": ["w"], "run": ["a", "b"], "view": ["heat"]}
    common, apart = (meta(draw(source, wanted | more))["panels"] for more in ({}, {"apart": ["1"]}))
    assert common[0]["bins"] == common[1]["bins"] == {"low": 0.0, "high": 101.0, "n": 90}
    assert [(one["bins"]["low"], one["bins"]["high"]) for one in apart] == [(0.0, 1.0), (100.0, 101.0)]


def test_every_one_of_many_runs_can_be_shown() -> None:
    source = histograms({f"run{number:03}": {"w": growing(3)} for number in range(100)})
    wanted = {"tag": ["w"], "run": sorted(source.data), "columns": ["600"]}
    seen: list[str] = []
    while len(seen) < 100:
        said = meta(draw(source, wanted | {"first": [str(len(seen))]}))
        assert (said["first"], said["runs"]) == (len(seen), 100)
        seen += [panel["run"] for panel in said["panels"]]
    assert sorted(seen) == sorted(source.data)
    assert meta(draw(source, wanted | {"first": ["5000"]}))["first"] == 96


def test_the_statistics_of_one_run_have_colours_and_those_of_several_dashes(source: MemorySource) -> None:
    alone, several = draw(source, ask(view="numbers")), draw(source, {"tag": ["w"], "run": ["a", "b"], "view": ["numbers"]})
    lines = [trace["line"]["color"] for trace in alone["data"][:3]]
    assert len(set(lines)) == 3
    assert [colour for _, colour, _ in meta(alone)["statistics"]] == lines
    dashes = [trace["line"].get("dash", "solid") for trace in several["data"][:3]]
    assert dashes == [dash for _, _, dash in meta(several)["statistics"]] == ["dot", "solid", "dash"]


@pytest.mark.parametrize("width", [300, 600, 1400])
def test_titles_have_room_and_keep_both_ends_of_a_name(width: int) -> None:
    domains = grid(9)
    notes = titles([(f"a_long_prefix_of_a_sweep/{number}/seed_{number}", "#123456") for number in range(9)], domains, width)
    for number, (note, (x, _)) in enumerate(zip(notes, domains, strict=True)):
        name = note["text"].split("</span> ")[1]
        assert len(name) * 6 <= (x[1] - x[0]) * width + 12
        assert name.endswith(str(number))


def test_runs_of_far_apart_ranges_have_axes_of_their_own_and_robust_colours_by_default() -> None:
    def two(factor: float) -> MemorySource:
        wide = [(step, value_of(np.linspace(-factor, factor, 200))) for step in range(5)]
        return histograms({"a": {"w": [(step, value_of(np.linspace(-1, 1, 200))) for step in range(5)]}, "b": {"w": wide}})

    def bins(figure: dict[str, Any]) -> list[tuple[float, float]]:
        return [(panel["bins"]["low"], panel["bins"]["high"]) for panel in meta(figure)["panels"]]

    both: dict[str, list[str]] = {**ask(view="heat"), "run": ["a", "b"]}
    near, far_apart = draw(two(50), both), draw(two(100), both)
    assert bins(near)[0] == bins(near)[1]
    assert not meta(near)["scale"]["more"]
    np.testing.assert_allclose(bins(far_apart), [(-1, 1), (-100, 100)])
    assert meta(far_apart)["scale"]["more"], "the last colour is for more than its share"
    chosen = draw(two(100), {**both, "apart": ["0"], "colour": ["root"]})
    assert bins(chosen)[0] == bins(chosen)[1]
    assert not meta(chosen)["scale"]["more"]
    # The steps of one run, too.
    grown = histograms({"a": {"w": [(step, value_of(np.linspace(-1, 1, 200) * 10.0**step)) for step in range(3)]}})
    assert meta(draw(grown, ask(view="heat")))["scale"]["more"]
