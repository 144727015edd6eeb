"""What curves show on the screen, pixel column by pixel column, against all of their points."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from flask import Flask
from playwright.sync_api import Page

from app import create_app
from app.store.store import Store
from layouts.curves.lines import figure
from layouts.curves.smoothed_lines import ChartLine, LineStyle, VisibleRange
from parsers import Series
from parsers.recording import EventWriter
from tests.browser.showing import show

WIDTHS = [1417, *(pytest.param(width, marks=pytest.mark.long) for width in (1280, 1603, 1920))]
"""An odd one in every run."""
SERIES = int(os.environ.get("MINDSCOPE_PIXEL_SERIES", "60"))
"""Curves per width; continuous integration draws 500, which takes minutes."""
PER_FIGURE = 20
# Coordinates of paths have two decimals.
ROUNDED = 0.02

DRAW = """async (figure) => {
  const plot = document.querySelector(".ms-slot:not([hidden]) .js-plotly-plot");
  await Plotly.react(plot, figure.data, { ...figure.layout, width: plot._fullLayout.width, height: plot._fullLayout.height });
  const { xaxis, yaxis } = plot._fullLayout;
  const paths = Array.from(plot.querySelectorAll(".scatterlayer .trace .js-line"), (path) => path.getAttribute("d"));
  return { x: [xaxis._m, xaxis._b], y: [yaxis._m, yaxis._b], width: xaxis._length, paths };
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, serve_file: Callable[[Flask], str]) -> Iterator[str]:
    directory: Path = tmp_path_factory.mktemp("pixels") / "run"
    directory.mkdir()
    with EventWriter(str(directory / "events.out.events.summary.1700000000.1.vm_MS"), "mindspore") as writer:
        for step in range(30):
            writer.add(step, {f"tag{n}": float(step % 7) for n in range(6)}, wall_time=1.7e9 + step)
    store = Store([directory.parent], interval=60).start()
    assert store.wait(30)
    yield serve_file(create_app(store).server)
    store.stop()


def made(seed: int) -> ChartLine:
    """A curve of 3,000 to 30,000 points: noise, a walk, or a fall with spikes, at even or uneven steps."""
    random = np.random.default_rng(seed)
    n = int(random.integers(3_000, 30_000))
    uneven = np.sort(random.choice(99_000, n, replace=False))
    step = np.arange(n) * (95_000 // n) if random.random() < 0.5 else uneven - uneven[0]
    value = (
        random.normal(size=n), np.cumsum(random.normal(size=n)) / n**0.5,
        np.exp(-np.arange(n) / n * 4) + 0.02 * random.normal(size=n) + (random.random(n) < 0.003),
    )[seed % 3]  # fmt: skip
    one = Series(step.astype(np.int64), 1.7e9 + step, value, np.zeros(n, np.int32), step * 60)
    return ChartLine(str(seed), "loss", str(seed), "#336699", one, step.astype(float), 1.7e9)


def covered(x: np.ndarray, y: np.ndarray, columns: int, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """(lowest, highest) y of a line in each pixel column, widened by reach on both sides."""
    low, high = np.full(columns, np.inf), np.full(columns, -np.inf)
    for side in (reach, -reach):
        column = np.floor(x + side).astype(int)
        inside = (column >= 0) & (column < columns)
        np.minimum.at(low, column[inside], y[inside])
        np.maximum.at(high, column[inside], y[inside])
    edges = np.interp(np.arange(columns + 1), x, y, left=np.nan, right=np.nan)
    for ends in (edges[:-1], edges[1:]):
        low, high = np.fmin(low, ends), np.fmax(high, ends)
    return low, high


def points_of(path: str) -> tuple[np.ndarray, np.ndarray]:
    """Corners of a path of absolute and one-dimensional moves."""
    x, y, found = 0.0, 0.0, []
    for command, numbers in re.findall(r"([MLHV])([^MLHV]*)", path):
        values = [float(one) for one in re.findall(r"-?[\d.]+", numbers)]
        if command == "H":
            found += [(one, y) for one in values]
        elif command == "V":
            found += [(x, one) for one in values]
        else:
            found += list(zip(values[::2], values[1::2], strict=True))
        x, y = found[-1]
    corners = np.array(found)
    return corners[:, 0], corners[:, 1]


def off(line: ChartLine, path: str, axes: dict, columns: int) -> int:
    """Number of columns in which the drawn line misses an extreme of the points, or adds one, by more than a pixel."""
    x = axes["x"][0] * line.x + axes["x"][1]
    y = axes["y"][0] * line.series.value + axes["y"][1]
    drawn_x, drawn_y = points_of(path)
    wrong = np.zeros(columns, bool)
    for inner, outer in (((x, y), (drawn_x, drawn_y)), ((drawn_x, drawn_y), (x, y))):
        column = np.floor(inner[0]).astype(int)
        clear = (np.abs(inner[0] - np.round(inner[0])) > ROUNDED) & (column >= 0) & (column < columns)
        low, high = covered(*outer, columns, ROUNDED)
        at, height = column[clear], inner[1][clear]
        wrong[at[(height < low[at] - 1.0) | (height > high[at] + 1.0)]] = True
    return int(np.count_nonzero(wrong))


@pytest.mark.long
@pytest.mark.parametrize("width", WIDTHS)
def test_no_pixel_column_is_off_by_more_than_a_pixel(page: Page, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    with page.expect_request(lambda one: '"columns":["' in (one.post_data or "")) as asked:
        show(page, address + "/scalars")
    columns = int(re.findall(r'"columns":\["(\d+)"\]', asked.value.post_data or "")[-1])
    page.locator(".ms-slot:not([hidden]) .js-plotly-plot .js-line").first.wait_for(state="attached")
    plots = page.evaluate("""() => Array.from(document.querySelectorAll(".ms-slot:not([hidden]) .js-plotly-plot"),
        (plot) => [plot.getBoundingClientRect().left, plot._fullLayout.xaxis._length])""")
    # Columns are those of the screen: plots begin at whole pixels and are as wide as was asked for.
    assert {length for _, length in plots} == {columns}
    assert all(left == int(left) for left, _ in plots)
    random = np.random.default_rng(width)
    wrong = drawn = 0
    for first in range(0, SERIES, PER_FIGURE):
        lines = [made(seed) for seed in range(first, first + PER_FIGURE)]
        end = float(max(line.x[-1] for line in lines))
        for zoom in (1.0, 0.61, 0.23, 0.07):
            begin = float(random.uniform(0, 0.3) * end * (1 - zoom))
            view = VisibleRange() if zoom == 1.0 else VisibleRange(x=(begin, begin + zoom * end))
            axes = page.evaluate(DRAW, figure(lines, LineStyle(columns=columns, view=view)))
            assert axes["width"] == columns
            assert len(axes["paths"]) == len(lines)
            for line, path in zip(lines, axes["paths"], strict=True):
                wrong += off(line, path, axes, columns)
                drawn += 1
    assert (drawn, wrong) == (4 * SERIES, 0)
