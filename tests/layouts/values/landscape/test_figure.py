"""The figure of landscapes, against the numbers they were made of."""

from __future__ import annotations

import base64
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from layouts.kit.theme import PALETTE
from layouts.values.landscapes import CONTOURS, SCALES, VIEWS, LandscapeSheet, LandscapeStyle, figure
from parsers import LandscapeValue
from parsers.analysis.values.drawn_landscapes import MOST_PASSED, MOST_POINTS
from tests.layouts.values.landscape.landscapes import bowl

WORDS = {word: word for word in ("loss", "step", "epoch", "start", "end", "convergence", "missing", "alpha")}
COLOUR = PALETTE[0][0]


def drawn(value: LandscapeValue, **look: Any) -> dict[str, Any]:
    return figure([LandscapeSheet("run", COLOUR, value)], LandscapeStyle(WORDS, **look))


def traces(found: dict[str, Any], role: str) -> list[dict[str, Any]]:
    return [trace for trace in found["data"] if trace["meta"]["role"] == role]


def decoded(spec: dict[str, str]) -> np.ndarray[Any, Any]:
    flat = np.frombuffer(base64.b64decode(spec["bdata"]), spec["dtype"])
    return flat.reshape([int(part) for part in spec["shape"].split(",")]) if "shape" in spec else flat


@pytest.mark.parametrize("view", VIEWS)
def test_every_loss_is_in_the_figure_unchanged(view: str) -> None:
    value = bowl([1, 2, 3])
    (ground,) = traces(drawn(value, view=view), "ground")
    assert np.array_equal(decoded(ground["z"]), value.z)
    assert np.array_equal(decoded(ground["x"]), value.x)
    assert np.array_equal(decoded(ground["y"]), value.y)
    assert ground["type"] == ("surface" if view == "surface" else "contour")


@pytest.mark.parametrize("count", [CONTOURS[0], 20, CONTOURS[1]])
def test_there_are_as_many_lines_as_asked_for(count: int) -> None:
    value = bowl()
    (ground,) = traces(drawn(value, contours=count), "ground")
    lines = ground["contours"]
    levels = np.arange(lines["start"], lines["end"], lines["size"])
    assert len(levels) == count
    assert value.z.min() < levels[0]
    assert levels[-1] < value.z.max()


@pytest.mark.parametrize("view", VIEWS)
def test_the_path_lies_over_its_halo_from_start_to_end(view: str) -> None:
    value = bowl([1, 2, 3, 4])
    found = drawn(value, view=view)
    roles = [trace["meta"]["role"] for trace in found["data"]]
    assert roles == ["ground", "halo", "path", "start", "end", "convergence"]
    (path,), (start,), (end,) = (traces(found, role) for role in ("path", "start", "end"))
    assert np.allclose(decoded(path["x"]), value.path_x)
    assert decoded(path["text"]).tolist() == [1, 2, 3, 4]
    assert decoded(start["x"]).tolist() == [value.path_x[0]]
    assert decoded(end["x"]).tolist() == [value.path_x[-1]]
    assert start["marker"]["color"] == "#ffffff" != end["marker"]["color"]
    if view == "surface":
        above = decoded(path["z"]) - value.path_z
        assert (above > 0).all()
        assert (above < 0.05 * np.ptp(value.z)).all()


def test_a_final_landscape_has_no_path() -> None:
    assert [trace["meta"]["role"] for trace in drawn(bowl())["data"]] == ["ground", "convergence"]
    assert [trace["meta"]["role"] for trace in drawn(replace(bowl(), convergence=None))["data"]] == ["ground"]
    bad = replace(bowl(), convergence=(0.0, 0.0, float("nan")))
    assert [trace["meta"]["role"] for trace in drawn(bad)["data"]] == ["ground"]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("fill", [np.nan, 0.25, np.inf])
def test_losses_without_a_range_are_drawn(view: str, fill: float) -> None:
    value = bowl([1, 2])
    found = drawn(replace(value, z=np.full_like(value.z, fill)), view=view)
    assert found["layout"]["meta"]["bad"] == [0 if np.isfinite(fill) else value.z.size]
    (ground,) = traces(found, "ground")
    assert ground.get("zmin", ground.get("cmin")) < ground.get("zmax", ground.get("cmax"))


def test_a_damaged_path_keeps_its_finite_points() -> None:
    value = bowl([1, 2, 3, 4])
    x = value.path_x.copy()
    x[[0, 2]] = np.nan
    (path,) = traces(drawn(replace(value, path_x=x)), "path")
    assert decoded(path["text"]).tolist() == [2, 4]
    assert traces(drawn(replace(value, path_x=np.full(4, np.nan))), "path") == []


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dark", [False, True])
def test_colours_run_from_0_to_1(scale: str, view: str, dark: bool) -> None:
    (ground,) = traces(drawn(bowl(), scale=scale, view=view, dark=dark), "ground")
    places = [place for place, _ in ground["colorscale"]]
    assert places[0] == 0
    assert places[-1] == 1
    assert all(a < b for a, b in pairwise(places))


def test_the_middle_of_diverging_colours_is_where_training_ended() -> None:
    value = replace(bowl(), convergence=(0.0, 0.0, 1.1))
    (ground,) = traces(drawn(value, scale="diverging"), "ground")
    place = ground["colorscale"][2][0]
    assert value.z.min() + place * np.ptp(value.z) == pytest.approx(1.1)


@pytest.mark.parametrize("view", VIEWS)
def test_landscapes_side_by_side_share_one_scale(view: str) -> None:
    sheets = [LandscapeSheet(f"<b>{n}</b>", COLOUR, bowl(scale=n)) for n in (1, 2, 5)]
    found = figure(sheets, LandscapeStyle(WORDS, view=view))
    grounds = traces(found, "ground")
    ends = {(ground.get("zmin", ground.get("cmin")), ground.get("zmax", ground.get("cmax"))) for ground in grounds}
    assert ends == {(0.5, float(sheets[-1].value.z.max()))}
    axis = "scene" if view == "surface" else "xaxis"
    assert len({ground[axis] for ground in grounds}) == 3
    assert [ground.get("showscale", True) for ground in grounds] == [False, False, True]
    assert [note["text"] for note in found["layout"]["annotations"]] == [f"&lt;b&gt;{n}&lt;/b&gt;" for n in (1, 2, 5)]
    if view != "surface":
        domains = [found["layout"][f"xaxis{n}"]["domain"] for n in ("", "2", "3")]
        assert domains[0][0] == 0
        assert domains[-1][1] == pytest.approx(1)
        assert all(a[1] < b[0] for a, b in pairwise(domains))


@pytest.mark.parametrize("view", VIEWS)
def test_each_landscape_may_have_a_scale_of_its_own(view: str) -> None:
    sheets = [LandscapeSheet(str(n), COLOUR, bowl(scale=n)) for n in (1, 2, 5)]
    found = figure(sheets, LandscapeStyle(WORDS, view=view, own_scale=True))
    grounds = traces(found, "ground")
    ends = [(ground.get("zmin", ground.get("cmin")), ground.get("zmax", ground.get("cmax"))) for ground in grounds]
    assert ends == [(float(sheet.value.z.min()), float(sheet.value.z.max())) for sheet in sheets]
    assert all(ground.get("showscale", True) for ground in grounds)
    bars = [ground["colorbar"]["x"] for ground in grounds]
    panels = [found["layout"][f"{'scene' if view == 'surface' else 'xaxis'}{n}"]["domain"] for n in ("", "2", "3")]
    domains = [panel["x"] if view == "surface" else panel for panel in panels]
    assert all(bar == end for bar, (_, end) in zip(bars, domains, strict=True))
    assert all(bar < begin for bar, (begin, _) in zip(bars, domains[1:], strict=False)), "a scale lies beside its landscape"
    over = figure(sheets, LandscapeStyle(WORDS, view=view, own_scale=True, overlaid=True))
    assert len({ground.get("zmax", ground.get("cmax")) for ground in traces(over, "ground")}) == 1


@pytest.mark.parametrize("view", VIEWS)
def test_overlaid_landscapes_have_the_colours_of_their_runs(view: str) -> None:
    hues = [PALETTE[n][0] for n in (0, 1, 2)]
    found = figure([LandscapeSheet("run", hue, bowl()) for hue in hues], LandscapeStyle(WORDS, view=view, overlaid=True))
    grounds = traces(found, "ground")
    assert [ground["colorscale"] for ground in grounds] == [[[0, hue], [1, hue]] for hue in hues]
    assert len({ground["scene" if view == "surface" else "xaxis"] for ground in grounds}) == 1


@pytest.mark.parametrize("view", VIEWS)
def test_axes_are_drawn_ascending_without_what_has_no_place(view: str) -> None:
    value = bowl([1, 2, 3])
    order = np.array([3, 1, 0, 2, 8, 7, 4, 6, 5])
    x = value.x[order]
    x[4] = np.nan
    odd = replace(value, x=np.append(x, value.x[3]), z=np.column_stack([value.z[:, order], value.z[:, 0]]))
    (ground,) = traces(drawn(odd, view=view), "ground")
    assert np.array_equal(decoded(ground["x"]), value.x[:-1])
    assert np.array_equal(decoded(ground["z"]), value.z[:, :-1])


@pytest.mark.parametrize("shape", [(1, 1), (5, 1), (0, 0)])
@pytest.mark.parametrize("view", VIEWS)
def test_a_single_point_is_no_plane(view: str, shape: tuple[int, int]) -> None:
    value = replace(bowl([1, 2]), x=np.arange(shape[1], dtype=float), y=np.arange(shape[0], dtype=float), z=np.ones(shape))
    found = drawn(value, view=view)
    (ground,) = traces(found, "ground")
    assert decoded(ground["z"]).size == 0
    assert len(traces(found, "path")) == 1


def test_very_large_landscapes_and_paths_are_thinned_with_their_ends() -> None:
    value = bowl(list(range(1, 30_001)), size=2000)
    found = drawn(value)
    (ground,), (path,) = traces(found, "ground"), traces(found, "path")
    assert decoded(ground["z"]).shape == (MOST_POINTS, MOST_POINTS)
    for axis, whole in (("x", value.x), ("y", value.y)):
        assert decoded(ground[axis])[[0, -1]] == pytest.approx(whole[[0, -1]])
    assert len(decoded(path["x"])) == MOST_PASSED
    assert found["layout"]["meta"]["points"] == [[MOST_POINTS**2, 2000 * 2002]]
    assert found["layout"]["meta"]["passed"] == [[MOST_PASSED, 30_000]]
    small = drawn(bowl([1, 2]))["layout"]["meta"]
    assert small["points"] == [[99, 99]]
