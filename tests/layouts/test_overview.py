"""The overview over real demo runs: its numbers against numpy, its tiles against what the runs recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from dash import dcc, html

from app.store import Store
from layouts import PAGES
from layouts.format import count, duration, number, size
from layouts.page import Page
from layouts.state import BadInput
from layouts.training.overview import TILES, drawn, shown_run
from layouts.training.overview.facts import facts, run_of, speed
from layouts.training.overview.pictures import CELLS
from parsers import PayloadError, Run, Series, Value, open_run
from tests.layouts.sources import GivenSource, row
from tests.layouts.sources import series as made

DEMO = Path(__file__).resolve().parents[2] / "app" / "demo"
SINGLE = sorted(path.name for path in DEMO.iterdir() if path.name != "ranks")
PAGE_OF: dict[str, Page] = {page.needs[0]: page for page in PAGES if page.needs and page.name != "overview"}


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    found = Store([DEMO], interval=0).start()
    assert found.wait(30)
    yield found
    found.stop()


class Damaged:
    """A source whose values of one kind cannot be read."""

    def __init__(self, source: Store, kind: str) -> None:
        self.source, self.kind = source, kind

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def value(self, run: str, kind: str, tag: str, place: int) -> Value:
        if kind == self.kind:
            raise PayloadError("events, byte 17: the CRC does not hold")
        return self.source.value(run, kind, tag, place)


def parts(component: Any, kind: type) -> list[Any]:
    found = [component] if isinstance(component, kind) else []
    if isinstance(component, (list, tuple)):
        return [part for child in component for part in parts(child, kind)]
    children = getattr(component, "children", None)
    return found if children is None else found + parts(children, kind)


def words(component: Any) -> str:
    if isinstance(component, (list, tuple)):
        return " ".join(words(child) for child in component)
    if component is None or isinstance(component, str):
        return component or ""
    return words(getattr(component, "children", None))


def tile(source: Any, name: str, run: str) -> list[Any]:
    what = next(what for what in TILES if what.name == name)
    found: list[Any] = drawn(what, source, {"run": run}, "/api/", PAGE_OF)
    return found


def told(source: Any, run: str) -> dict[str, str]:
    row = next(row for row in source.runs() if run in row.members)
    return {fact["name"]: fact["text"] for fact in facts(source, run, row)}


def scalars_of(run: Run) -> Sequence[Series]:
    return [run.series(tag) for tag in run.tags("scalar")]


@pytest.mark.parametrize("name", SINGLE)
def test_the_state_of_a_run_is_what_numpy_says(store: Store, name: str) -> None:
    run, known = open_run(DEMO / name), told(store, name)
    every = scalars_of(run)
    times = [series.wall_time for series in every]
    times += [run.items(kind, tag).wall_time for kind in ("histogram", "image", "tensor") for tag in run.tags(kind)]
    together = np.concatenate(times)
    assert known["steps"] == count(max(len(set(series.step.tolist())) for series in every))
    assert known["points"] == count(sum(len(series.value) for series in every))
    assert known["duration"] == duration(float(together.max() - together.min()))
    assert known["size"] == size(sum(path.stat().st_size for path in (DEMO / name).iterdir()))
    main = run.series(next(row.main_tag for row in store.runs() if row.key == name))
    each = [
        (main.wall_time[at] - main.wall_time[at - 1]) / (main.step[at] - main.step[at - 1])
        for at in range(max(1, len(main.step) - 100), len(main.step))
        if main.step[at] > main.step[at - 1] and main.wall_time[at] >= main.wall_time[at - 1]
    ]
    median = sorted(each)[len(each) // 2] if len(each) % 2 else sum(sorted(each)[len(each) // 2 - 1 :][:2]) / 2
    assert known.get("speed") == (number(1 / median, 3) if median > 0 else None)


def test_speed_leaves_restarts_out_and_counts_only_the_newest_intervals() -> None:
    step = np.array([*range(400), 390, 395, 400], np.int64)
    wall = np.concatenate((np.arange(299) * 50.0, 299 * 50.0 + np.arange(101) * 0.5, 2e5 + np.arange(3) * 2.5))
    found = speed(made(1)._replace(step=step, wall_time=wall))
    assert found is not None
    assert found.seconds == pytest.approx(0.5)
    assert found.intervals == 99
    still = made(50)._replace(wall_time=np.full(50, 1.7e9))
    assert speed(still) is None
    assert speed(made(1)) is None
    assert speed(made(3)._replace(wall_time=np.array([np.nan, np.inf, -np.inf]))) is None


def test_a_state_names_the_run_shown() -> None:
    source = GivenSource([row("a"), row("job", ("job/rank_0", "job/rank_1")), row("b")])

    def shown(state: Any) -> str | None:
        found = run_of(source, state)
        return found[0] if found else None

    assert shown(None) == "a"
    assert shown({"run": ["job", "b"]}) == "job/rank_0"
    assert shown({"run": ["job", "b"], "of": ["job/rank_1"]}) == "job/rank_1"
    assert shown({"run": ["b"], "of": ["a"]}) == "b"
    assert shown({"of": ["gone"]}) == "a"
    assert shown({"run": [""]}) is None
    assert shown_run(GivenSource(), {}) == ({"of": ""}, {"run": ""})
    with pytest.raises(BadInput):
        drawn(TILES[0], source, {"run": 3}, "/api/", {})


def test_the_curves_are_those_of_the_main_scalar_and_one_more(store: Store) -> None:
    [link] = tile(store, "scalars", "long_history")
    assert (link.href, getattr(link, "data-page"), getattr(link, "data-run")) == (
        "scalars?run=long_history", "scalars", "long_history")  # fmt: skip
    graphs = parts(link, dcc.Graph)
    assert len(graphs) == 2
    run = open_run(DEMO / "long_history")
    assert [graph.figure["data"][0]["meta"]["tag"] for graph in graphs] == list(run.tags("scalar"))[:2]
    last = run.series("loss").value[-1]
    assert number(float(last)) in words(link)


def test_the_distribution_is_the_newest_and_keeps_its_count(store: Store) -> None:
    run = open_run(DEMO / "lenet_adam_lr0.01_b64")
    [link] = tile(store, "histograms", "lenet_adam_lr0.01_b64")
    tag = run.tags("histogram")[0]
    items = run.items("histogram", tag)
    assert items is not None
    value = run.value("histogram", tag, len(items) - 1)
    assert f"step {int(items.step[-1]):,}" in words(link)
    assert f"{int(value.count.sum()):,} values" in words(link)  # type: ignore[union-attr]
    assert getattr(link, "data-page") == "histograms"


def test_the_image_comes_from_the_image_route(store: Store) -> None:
    [link] = tile(store, "images", "lenet_adam_lr0.01_b64")
    [image] = parts(link, html.Img)
    address = urlsplit(image.src)
    items = open_run(DEMO / "lenet_adam_lr0.01_b64").items("image", "input_image")
    asked = parse_qs(address.query)
    assert address.path == "/api/image"
    assert (asked["run"], asked["tag"], asked["place"]) == (["lenet_adam_lr0.01_b64"], ["input_image"], [str(len(items) - 1)])


def test_the_tensor_is_a_corner_of_the_newest_with_statistics_of_all(store: Store) -> None:
    run = open_run(DEMO / "lenet_adam_lr0.01_b64")
    data = run.tensor("logits", len(run.items("tensor", "logits")) - 1).data
    [link] = tile(store, "tensors", "lenet_adam_lr0.01_b64")
    cells = [cell.title for cell in parts(link, html.Td) if getattr(cell, "title", None)]
    assert np.array_equal(np.array(cells, np.float64).astype(np.float32).reshape(CELLS, CELLS), data[:CELLS, :CELLS])
    for known in (data.min(), data.max(), data.mean(dtype=np.float64), data.std(dtype=np.float64)):
        assert number(float(known)) in words(link)
    [nan] = tile(store, "tensors", "nan_inf")
    assert {"NaN", "+Inf", "-Inf"} <= {words(cell) for cell in parts(nan, html.Td)}


def test_the_landscape_and_the_graphs(store: Store) -> None:
    [link] = tile(store, "landscape", "lenet_landscape")
    [graph] = parts(link, dcc.Graph)
    z = open_run(DEMO / "lenet_landscape").landscape("landscape_[12]", 0).z
    assert graph.figure["data"][0]["type"] == "contour"
    assert f"loss {number(float(z.min()))} to {number(float(z.max()))}" in words(link)
    for name in ("graph", "dataset"):
        assert "does not draw it yet" in words(tile(store, name, "lenet_landscape"))
        assert parts(tile(store, name, "lenet_landscape"), html.A) == []


@pytest.mark.parametrize("what", TILES, ids=lambda what: what.name)
def test_an_empty_tile_says_what_to_add(what: Any) -> None:
    source = GivenSource([row("empty", tags={}, steps=0, points=0, main_tag="", main_value=None)])
    found = tile(source, what.name, "empty")
    assert parts(found, html.A) == []
    assert len(words(parts(found, html.Code)).splitlines()) == 2
    json.dumps(shown_run(source, {}))


@pytest.mark.parametrize(("name", "kind"), [(t.name, t.kind) for t in TILES[1:5]])
def test_a_damaged_value_is_a_message_on_its_tile(store: Store, name: str, kind: str) -> None:
    run = "lenet_landscape" if kind == "landscape" else "lenet_adam_lr0.01_b64"
    source = Damaged(store, kind)
    found = tile(source, name, run)
    assert "byte 17" in words(found)
    assert store.tags(run, kind)[-1 if kind == "landscape" else 0] in words(found)
    for other in TILES:
        if other.name != name:
            assert "byte 17" not in words(tile(source, other.name, run))


@pytest.mark.parametrize("run", [*SINGLE, "ranks/rank_2", "ranks/rank_3"])
def test_every_tile_of_every_demo_run_is_json(store: Store, run: str) -> None:
    for what in TILES:
        found = tile(store, what.name, run)
        json.dumps([part.to_plotly_json() for part in found], default=lambda part: part.to_plotly_json(), allow_nan=False)
