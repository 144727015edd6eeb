"""Landscapes that the command computed or computes, of damaged and partial files: facts, curves and places without a loss."""

from __future__ import annotations

import base64
import json
import math
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layouts.values.landscape import page as callbacks
from layouts.values.landscape.catalogue import catalogue
from layouts.values.landscape.computed import computed_facts, facts_of_growing
from layouts.values.landscape_curves import curves
from layouts.values.landscape_missing import MOST_HATCHED, missing_traces
from layouts.values.landscapes import LandscapeSheet, LandscapeStyle
from parsers import FormatError, LandscapeValue, landscape_facts
from parsers.analysis.values.drawn_landscapes import MissingLosses
from parsers.landscapes.points import GrowingDirectory
from tests.layouts.values.landscape.landscapes import bowl, landscape_source
from tests.sources import MemorySource, row

MARK = "0123456789abcdef"
WORDS = {word: word for word in ("loss", "step", "epoch", "start", "end", "convergence", "missing", "alpha")}
SURFACE = {"tag": "landscape_[1, 3]", "x": [0.0, 1.0, 2.0], "y": [0.0, 0.5], "steps": [1, 3], "path_x": [1.0, 0.0],
           "path_y": [0.5, 0.0]}  # fmt: skip


def checked(content: object) -> bytes:
    text = json.dumps(content).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def decoded(spec: dict[str, str]) -> np.ndarray[Any, Any]:
    return np.frombuffer(base64.b64decode(spec["bdata"]), spec["dtype"])


def grown(tmp_path: Path, content: bytes) -> MemorySource:
    """A source of one run, whose directory has a points file of this content."""
    (tmp_path / f"landscape-{MARK}.points").write_bytes(content)
    given = landscape_source([row("run", tags={"growing": 1})], {}, {})
    given.data["run"]["growing"] = GrowingDirectory(str(tmp_path)).landscapes()
    return given


def ask(tag: str) -> dict[str, list[str]]:
    return {"sheet": [json.dumps(["run", tag])]}


# Damaged points --------------------------------------------------------------------------------------------------------


def test_a_points_file_of_which_nothing_is_intact_is_listed_and_says_why(tmp_path: Path) -> None:
    given = grown(tmp_path, b"0" * 40 + b"\n" + checked([0, 0, 0, 0.5, ""]))
    ((run,), name) = catalogue(given, {})["runs"], f"landscape-{MARK}.points"
    (sheet,) = run["sheets"]
    assert (sheet["tag"], sheet["of"]) == (name, 0)
    assert "byte 0: expected the surfaces, found a line with another checksum" in sheet["broken"]
    meta = callbacks.drawn(given, ask(name))["layout"]["meta"]
    assert (meta["sheets"], meta["problems"]) == ([], [f"run: {sheet['broken']}"])
    callbacks.side(given, ask(name))


def test_what_is_intact_of_a_damaged_points_file_is_drawn_with_the_damage(tmp_path: Path) -> None:
    first = checked([SURFACE])
    given = grown(tmp_path, first + checked([0, 0, 0, 0.5, ""]) + b"damaged\n" + checked([0, 1, 2, 0.75, ""]))
    (sheet,) = catalogue(given, {})["runs"][0]["sheets"]
    assert (sheet["done"], sheet["of"], sheet["broken"]) == (2, 8, "")
    found = callbacks.drawn(given, ask(sheet["tag"]))
    (problem,) = found["layout"]["meta"]["problems"]
    assert f"byte {len(first) + len(checked([0, 0, 0, 0.5, '']))}: expected a point" in problem
    (ground,) = (trace for trace in found["data"] if trace["meta"]["role"] == "ground")
    z = decoded(ground["z"])
    assert (np.isfinite(z).sum(), z[0], z[5]) == (2, 0.5, 0.75)
    # What is still to be computed is no place without a loss.
    assert (found["layout"]["meta"]["bad"], [trace["meta"]["role"] for trace in found["data"]].count("hatch")) == ([0], 0)


@pytest.mark.parametrize("points", [[], [[0, 0, 0, None, "ValueError: x"]], [[0, -1, 1, None, "x"]]])
def test_a_landscape_that_has_just_begun_is_drawn(tmp_path: Path, points: list[list[Any]]) -> None:
    given = grown(tmp_path, checked([SURFACE]) + b"".join(map(checked, points)))
    (sheet,) = catalogue(given, {})["runs"][0]["sheets"]
    meta = callbacks.drawn(given, ask(sheet["tag"]))["layout"]["meta"]
    assert (meta["sheets"][0]["done"], meta["sheets"][0]["of"], meta["problems"]) == (len(points), 8, [])
    callbacks.side(given, ask(sheet["tag"]))


def test_facts_of_one_that_is_computed_have_its_progress_and_reasons(tmp_path: Path) -> None:
    content = checked([SURFACE]) + checked([0, 1, 2, None, "ValueError: x"])
    (tmp_path / f"landscape-{MARK}.points").write_bytes(content)
    (one,) = GrowingDirectory(str(tmp_path)).landscapes()
    facts = facts_of_growing(one)
    assert (facts.done, facts.total, facts.reasons) == (1, 8, {(2.0, 0.5): "ValueError: x"})
    assert math.isnan(facts.shown)


# Facts -----------------------------------------------------------------------------------------------------------------


def with_facts(tmp_path: Path, content: bytes) -> MemorySource:
    (tmp_path / f"landscape-{MARK}.json").write_bytes(content)
    given = landscape_source([row("run", tags={"landscape": 1})], {}, {("run", "landscape_[1, 3]"): bowl([1, 2, 3])})
    given.data["run"]["landscape_facts"] = landscape_facts(str(tmp_path))
    return given


def checksum(value: LandscapeValue) -> int:
    return zlib.crc32(value.z.astype("<f4").tobytes())


def test_facts_are_of_the_landscape_with_their_checksum_and_places_outside_are_left_out(tmp_path: Path) -> None:
    value = bowl([1, 2, 3])
    own = {"tag": "landscape_[1, 3]", "checksum": checksum(value), "shown": 0.7,
           "failed": [[0, 0, "x"], [10, 8, "y"], [11, 0, "outside"], [0, 9, "outside"]]}  # fmt: skip
    other = own | {"checksum": checksum(value) ^ 1, "shown": 0.2, "failed": [[1, 1, "other"]]}
    given = with_facts(tmp_path, json.dumps({"landscapes": [other, own]}).encode())
    found = computed_facts(given, "run", value)
    assert (found.shown, found.reasons) == (0.7, {(-1.0, -1.0): "x", (1.0, 1.0): "y"})


@pytest.mark.parametrize("content", [b'{"landscapes": []}', b'{"landscapes": [{"tag": "t", "checksum": 7}]}'])
def test_without_facts_nothing_is_known(tmp_path: Path, content: bytes) -> None:
    found = computed_facts(with_facts(tmp_path, content), "run", bowl([1, 2, 3]))
    assert (math.isnan(found.shown), found.reasons, found.total) == (True, {}, 0)


@pytest.mark.parametrize("content", [
    b"", b"{", b"[]", b'{"landscapes": 1}', b'{"landscapes": [{"tag": "t"}]}',
    b'{"landscapes": [{"tag": "t", "checksum": -1}]}',
    b'{"landscapes": [{"tag": "t", "checksum": 1, "failed": [[-1, 0, "x"]]}]}', b"\xff\xfe", b"[" * 100_000,
])  # fmt: skip
def test_damaged_facts_are_said_and_the_landscape_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    given = with_facts(tmp_path, b'{"landscapes": []}')
    (tmp_path / f"landscape-{MARK}.json").write_bytes(content)
    monkeypatch.setattr(given.values, "landscape_facts", lambda _: landscape_facts(str(tmp_path)))
    with pytest.raises(FormatError, match=f"landscape-{MARK}.json: expected"):
        computed_facts(given, "run", bowl())
    meta = callbacks.drawn(given, ask("landscape_[1, 3]"))["layout"]["meta"]
    assert (len(meta["sheets"]), f"landscape-{MARK}.json: expected the JSON" in meta["problems"][0]) == (1, True)


# Curves ----------------------------------------------------------------------------------------------------------------


def line(z: np.ndarray, x: np.ndarray | None = None, steps: tuple[int, ...] = (1, 9)) -> LandscapeValue:
    x = np.linspace(0, 1, len(z)) if x is None else x
    ends = np.array([0.0, 1.0])[: len(steps)]
    return LandscapeValue(
        x, np.zeros(1), z[None, :], np.array(steps, np.int64), ends, ends * 0, z[[0, -1]][: len(steps)], "Line", "step"
    )


def drawn(value: LandscapeValue, reasons: dict[tuple[float, float], str] | None = None) -> dict[str, Any]:
    return curves([LandscapeSheet("<run>", "#123456", value, reasons or {})], LandscapeStyle(WORDS))


def roles(found: dict[str, Any]) -> list[str]:
    return [trace["meta"]["role"] for trace in found["data"]]


def test_a_line_is_drawn_with_its_ends_and_without_html() -> None:
    found = drawn(line(np.array([3.0, 2.0, 1.0])))
    assert roles(found) == ["line", "start", "end"]
    shown = found["data"][0]
    assert (decoded(shown["x"]).tolist(), decoded(shown["y"]).tolist()) == ([0.0, 0.5, 1.0], [3.0, 2.0, 1.0])
    assert shown["name"] == "&lt;run&gt;"
    low, high = found["layout"]["yaxis"]["range"]
    assert low < 1.0 < 3.0 < high


def test_gaps_of_a_line_are_hatched_from_bottom_to_top_and_say_why() -> None:
    found = drawn(line(np.array([3.0, np.nan, np.inf, 1.0])), {(1 / 3, 0.0): "ValueError: <b>"})
    assert roles(found) == ["hatch", "missing", "line", "start", "end"]
    hatch, places, shown = found["data"][:3]
    y = decoded(hatch["y"])
    assert (np.nanmin(y), np.nanmax(y)) == tuple(found["layout"]["yaxis"]["range"])
    assert decoded(places["x"]).tolist() == pytest.approx([1 / 3, 2 / 3])
    assert places["text"] == ["missing<br>ValueError: &lt;b&gt;", "missing"]
    assert (shown["connectgaps"], found["layout"]["meta"]["bad"]) == (False, [2])


def test_a_line_that_is_computed_has_no_gaps_where_it_is_still_to_be() -> None:
    value = replace(line(np.array([3.0, np.nan, np.nan, np.nan])), pending=np.array([[False, False, True, True]]))
    found = drawn(value)
    assert (found["layout"]["meta"]["bad"], decoded(found["data"][1]["x"]).tolist()) == ([1], pytest.approx([1 / 3]))


@pytest.mark.parametrize("fill", [np.nan, np.inf, 0.25])
def test_a_line_without_a_range_is_drawn(fill: float) -> None:
    found = drawn(line(np.full(5, fill)))
    low, high = found["layout"]["yaxis"]["range"]
    assert low < high
    assert found["layout"]["meta"]["bad"] == [0 if np.isfinite(fill) else 5]
    assert ({"start", "end"} & set(roles(found)) == {"start", "end"}) == np.isfinite(fill)


def test_a_line_to_somewhere_else_has_no_ends() -> None:
    assert roles(drawn(line(np.array([1.0, 2.0]), steps=()))) == ["line"]


@pytest.mark.parametrize(("damaged", "role", "place", "step"), [(0, "end", 1.0, "step 9"), (1, "start", 0.0, "step 1")])
def test_a_damaged_end_is_left_out_and_the_other_stays_what_it_is(damaged: int, role: str, place: float, step: str) -> None:
    path_z = np.array([3.0, 1.0])
    path_z[damaged] = np.nan
    found = drawn(replace(line(np.array([3.0, 2.0, 1.0])), path_z=path_z))
    (end,) = (trace for trace in found["data"] if trace["meta"]["role"] in ("start", "end"))
    assert (end["meta"]["role"], decoded(end["x"]).tolist(), step in end["hovertemplate"]) == (role, [place], True)


# Places without a loss -------------------------------------------------------------------------------------------------


def missing(count: int, reason: str = "") -> MissingLosses:
    at = np.arange(count, dtype=float)
    return MissingLosses(at, at, at - 0.5, at + 0.5, at - 0.25, at + 0.25, (reason,) * count)


def test_no_missing_loss_is_no_trace() -> None:
    assert missing_traces(missing(0), word="none", colour="#000", ground=None) == []


def test_cells_are_hatched_along_their_edges() -> None:
    hatch, places = missing_traces(missing(2), word="none", colour="#000", ground=None)
    x, y = decoded(hatch["x"]).reshape(2, 6), decoded(hatch["y"]).reshape(2, 6)
    assert x[1, :5].tolist() == [0.5, 1.5, 1.5, 0.5, 0.5]
    assert y[1, :5].tolist() == [0.75, 0.75, 1.25, 1.25, 0.75]
    assert np.isnan(x[:, 5]).all()
    assert (places["type"], places["text"]) == ("scatter", ["none", "none"])


def test_below_a_surface_there_are_crosses() -> None:
    (crosses,) = missing_traces(missing(3), word="none", colour="#000", ground=-2.0)
    assert (crosses["type"], decoded(crosses["z"]).tolist()) == ("scatter3d", [-2.0] * 3)


def test_very_many_cells_are_hatched_in_part_and_all_can_be_pointed_at() -> None:
    hatch, places = missing_traces(missing(MOST_HATCHED + 5), word="none", colour="#000", ground=None)
    assert (len(decoded(hatch["x"])), len(decoded(places["x"]))) == (6 * MOST_HATCHED, MOST_HATCHED + 5)


def test_a_long_reason_is_cut() -> None:
    _, places = missing_traces(missing(1, "<" * 5000), word="none", colour="#000", ground=None)
    assert places["text"][0].endswith("…")
    assert places["text"][0].count("&lt;") == 120
