"""The page about two jobs, used as a person would."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from tests.browser.showing import show
from tests.writers.clusters import write


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory, serve_file: Callable[[Flask], str]) -> Iterator[str]:
    """The address of a server with two made jobs, of 16 and of 12 ranks."""
    base = tmp_path_factory.mktemp("two")
    write(base / "first", ranks=16, steps=6, operations=4, seed=1)
    write(base / "second", ranks=12, steps=6, operations=4, seed=2)
    store = Store([base], interval=0.5).start()
    try:
        assert store.wait(30)
        yield serve_file(create_app(store).server)
    finally:
        store.stop()


def test_two_jobs_are_compared_swapped_and_saved(page: Page, two: str) -> None:
    show(page, f"{two}/two_jobs?run=first&run=second&of=first")
    head = page.locator(".ms-two-jobs-head")
    expect(head).to_contain_text("by the median over ranks (12)")
    expect(head).to_contain_text("Ranks in A only (4): 12-15.")
    expect(page).to_have_url(re.compile("with=second"))
    expect(page.locator(".ms-two-jobs-bars .js-plotly-plot .bars .point")).to_have_count(12)
    ranks = page.locator('[data-card="ranks"] tbody tr')
    expect(ranks).to_have_count(16)
    before = ranks.first.inner_text()
    page.locator(".ms-two-jobs-bars select").select_option("free")
    expect(page).to_have_url(re.compile("metric=free"))
    expect(ranks.first).not_to_have_text(before)
    page.locator('[data-card="operations"] button', has_text="By rank").click()
    expect(page.locator('[data-card="operations"] thead')).to_contain_text("Rank")
    page.keyboard.press("x")
    expect(head).to_contain_text("Ranks in B only (4): 12-15.")
    expect(page).to_have_url(re.compile("of=second.*with=first|with=first.*of=second"))
    page.reload()
    expect(page.locator(".ms-two-jobs-bars select")).to_have_value("free")
    expect(head).to_contain_text("Ranks in B only (4): 12-15.")
    with page.expect_download() as download:
        page.locator('[data-card="ranks"] button', has_text="CSV").click()
    rows = list(csv.DictReader(Path(download.value.path()).read_text().splitlines()))
    assert {"rank", "one", "other", "difference", "change", "metric"} <= set(rows[0])
    assert len([row for row in rows if row["metric"] == "total"]) == 16
    with page.expect_download() as download:
        page.locator(".ms-two-jobs-bars").hover()
        page.locator('.ms-two-jobs-bars [data-act="png"]').click()
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
    page.locator('[data-card="ranks"] tbody a').first.click()
    expect(page).to_have_url(re.compile(r"/profile_overview\?.*rank=\d+"))


LETTERS = """() => [...document.querySelectorAll(".ms-two-jobs-bars .bartext")].map((text) =>
  parseFloat(text.style.fontSize) * text.getBoundingClientRect().height / Math.max(1, text.getBBox().height))"""
"""The size of the letters at bars in pixels, 0 where they are hidden."""


def test_what_is_written_at_bars_can_be_read_or_is_left_out(page: Page, two: str) -> None:
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(f"{two}/two_jobs?run=first&run=second&of=first")
        expect(page.locator(".ms-two-jobs-bars .js-plotly-plot .bars .point")).to_have_count(12)
        written = page.evaluate(LETTERS)
        assert all(size == 0 or size > 8 for size in written), written


def test_one_job_asks_for_another_run(page: Page, two: str) -> None:
    show(page, f"{two}/two_jobs?run=first")
    expect(page.locator(".ms-two-jobs-none")).to_contain_text("one job only")
    expect(page.locator(".ms-two-jobs-cards")).to_be_hidden()


@pytest.mark.long
def test_a_bar_opens_its_rank(page: Page, two: str) -> None:
    show(page, f"{two}/two_jobs?run=first&run=second&of=first")
    bar = page.locator(".ms-two-jobs-bars .js-plotly-plot .bars .point").first
    expect(bar).to_be_visible()
    mark = bar.bounding_box()
    assert mark is not None
    place = mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2
    page.mouse.move(*place)
    expect(page.locator(".ms-two-jobs-bars .hovertext")).to_contain_text("rank")
    page.mouse.click(*place)
    expect(page).to_have_url(re.compile(r"/profile_overview\?.*of=first"))
