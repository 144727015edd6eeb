"""The cluster page in a browser: who is late, picking a rank by bar, cell, key and number, rows, zoom, a second job, growth."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urljoin
from urllib.request import urlopen

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from tests.browser.showing import show
from tests.writers.clusters import make, write_made

DRAWN = ".ms-breakdown-drawn[data-plot={}] .js-plotly-plot"


def written(base: Path, *runs: str) -> Path:
    """Run a: 32 ranks on hosts of 8, of which rank 13 computes 10 % longer; run b: the same rank on another host."""
    parallel = {"tensor": 1, "pipeline": 4, "data": 8}
    for run in runs:
        hosts, seed = {"a": (8, 1), "b": (4, 2)}[run]
        made = make(seed, ranks=32, group=8, steps=8, slow_rank=13, slower=0.1, hiccups=0.0)
        write_made(base / run / "profiler", made, hosts=hosts, parallel=parallel)
    return base


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("runs"), "a", "b")


@pytest.fixture(scope="module")
def place(runs: Path, serve_file: Callable[[Flask], str]) -> Iterator[str]:
    store = Store([runs], interval=0).start()
    assert store.wait(30)
    yield serve_file(create_app(store).server)
    store.stop()


def press(page: Page, plot: str, x: float, y: float) -> None:
    area = page.locator(f"{DRAWN.format(plot)} .nsewdrag")
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * x + 3, box["y"] + box["height"] * y + 1)
    page.mouse.click(box["x"] + box["width"] * x, box["y"] + box["height"] * y)


@pytest.mark.long
def test_a_slow_rank_is_named_picked_and_opened_elsewhere(page: Page, place: str) -> None:
    show(page, f"{place}/cluster?run=a")
    head = page.locator(".ms-breakdown-sentence .en")
    expect(head).to_have_text(re.compile(
        r"^Rank 13 \(node-1\) computes .* longer per step than the median of the other ranks that do the same work "
        r"\(7 of them\); since step 1 "
    ))  # fmt: skip
    expect(page.locator(DRAWN.format("bars"))).to_be_visible()
    expect(page.locator(DRAWN.format("heat"))).to_be_visible()
    title = page.locator(".ms-cluster-panel .ms-card-title .en")
    expect(title).to_have_count(0)
    page.get_by_role("button", name="Show rank 13").click()
    expect(title).to_have_text("Rank 13")
    page.locator(".ms-cluster-panel [data-act=close]").click()
    expect(title).to_have_count(0)
    press(page, "bars", 0.5 / 32, 0.9)  # highest first: the slow one
    expect(title).to_have_text("Rank 13")
    expect(page.locator(".ms-cluster-panel")).to_contain_text("Compared with the 8 ranks of dp 8-15.")
    expect(page.locator(".ms-cluster-panel .ms-badge").first).to_have_text("node-1")
    page.locator(".ms-cluster-panel").click(position={"x": 5, "y": 5})
    page.keyboard.press("ArrowRight")
    expect(title).not_to_have_text("Rank 13")
    page.locator(".ms-cluster-bar .ms-breakdown-number").fill("13")
    page.keyboard.press("Enter")
    expect(title).to_have_text("Rank 13")

    # rank 13 is (pp 1, dp 5): a cell of the grid of 4 stages, 8 data places wide
    press(page, "grid", 0.5 / 8, 0.06)
    expect(title).to_have_text("Rank 0")
    expect(page.locator(f"{DRAWN.format('grid')} .shapelayer path")).to_have_count(2)  # the slow and the picked rank
    # Two clicks in quick succession would be a double click of plotly.
    page.wait_for_function(
        "plot => Date.now() - plot._mouseDownTime > plot._context.doubleClickDelay",
        arg=page.locator(DRAWN.format("grid")).element_handle(),
    )
    press(page, "grid", 5.5 / 8, 0.366)
    expect(title).to_have_text("Rank 13")

    show(page, page.url)
    expect(title).to_have_text("Rank 13")
    page.locator(".ms-cluster-links a", has_text="Steps").click()
    expect(page).to_have_url(re.compile(r"/steps\?.*rank=13"))


def test_rows_order_step_zoom_and_files(page: Page, place: str) -> None:
    show(page, f"{place}/cluster?run=a")
    bars = page.locator(DRAWN.format("bars"))
    expect(bars).to_be_visible()
    page.locator(".ms-segments [data-value=host]").click()
    expect(bars.locator(".xtick")).to_have_count(4)
    expect(bars.locator(".xtick").first).to_have_text("node-1")
    page.locator(".ms-segments [data-value=stage]").click()
    expect(bars.locator(".xtick").first).to_have_text("stage 1")
    page.locator(".ms-segments [data-value=group]").click()
    expect(bars.locator(".xtick").first).to_have_text(re.compile("8-15"))
    expect(bars.locator(".xtick")).to_have_count(4)
    press(page, "bars", 0.5 / 4, 0.9)
    expect(page.locator(".ms-cluster-bar")).to_contain_text("Shown: the 8 ranks of dp 8-15")
    page.locator(".ms-body-bar select:visible").first.select_option("")
    expect(page.locator(".ms-cluster-bar", has_text="Shown:").locator("> .ms-muted")).to_be_hidden()

    page.locator(".ms-segments [data-value=rank]").last.click()
    expect(bars.locator(".xtick").first).to_have_text("rank 0")
    box = page.locator(f"{DRAWN.format('bars')} .nsewdrag").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 42, steps=5)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"from=8&to=15"))
    expect(bars.locator(".xtick").first).to_have_text("rank 8")

    page.locator(".ms-cluster-bar summary").click()
    item = page.locator(".ms-cluster-bar .ms-menu-item", has_text="Steps of all ranks as CSV")
    with urlopen(urljoin(page.url, str(item.get_attribute("href")))) as answer:
        rows = list(csv.DictReader(io.StringIO(answer.read().decode("utf-8-sig"))))
    assert len(rows) == 32 * 8
    assert {row["rank"] for row in rows} == {str(rank) for rank in range(32)}


@pytest.mark.long
def test_a_second_job_and_chinese_and_dark(page: Page, place: str, runs: Path) -> None:
    session = next((runs / "b" / "profiler").glob("node-0_1000_*")).name
    show(page, f"{place}/cluster?run=a&run=b&of=a&with=b%7Cprofiler/{session}%7C0")
    expect(page.locator(".ms-cluster-moved .en")).to_have_text(re.compile(
        r"^It follows the rank: in the second job rank 13 is late as well, on another host \(node-3, "
    ))  # fmt: skip
    page.keyboard.press("t")
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    expect(page.locator(DRAWN.format("bars"))).to_be_visible()
    page.get_by_role("button", name="中文").click()
    sentence = page.locator(".ms-breakdown-sentence .zh")
    expect(sentence).to_be_visible()
    expect(sentence).to_contain_text("每步计算比工作相同的其他 7 个 rank 的中位数多")


@pytest.mark.long
def test_a_rank_that_is_added_is_shown(page: Page, tmp_path: Path, serve: Callable[[Flask], str]) -> None:
    runs = written(tmp_path / "runs", "a")
    store = Store([runs], interval=0.5).start()
    assert store.wait(30)
    page.goto(f"{serve(create_app(store).server)}/cluster?run=a&order=rank")
    expect(page.locator(DRAWN.format("bars"))).to_be_visible()
    old = next((runs / "a/profiler").glob("node-3_1031_*"))
    new = old.with_name("node-4_1032_20260101000000000_ascend_pt")
    (new / "ASCEND_PROFILER_OUTPUT").mkdir(parents=True)
    about = json.loads((old / "profiler_metadata.json").read_text())
    about["distributed_args"] = {"rank": 32, "world_size": 32}
    about["parallel_group_info"] = {}
    (new / "profiler_info_32.json").write_text(json.dumps({"rank_id": 32}))
    steps = (old / "ASCEND_PROFILER_OUTPUT/step_trace_time.csv").read_text()
    (new / "ASCEND_PROFILER_OUTPUT/step_trace_time.csv").write_text(steps)
    expect(page.locator(f"{DRAWN.format('bars')} .barlayer .trace").first.locator(".point")).to_have_count(33)
    store.stop()
