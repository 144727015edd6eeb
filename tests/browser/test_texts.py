"""The text page: plain text by step, whatever it contains."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store import Store
from parsers.events.writer import EventWriter, Text

HOSTILE = "# <b>title</b> <script>window.ran = 1</script>\n<img src=x onerror='window.ran = 1'> 第一步"


@pytest.fixture
def given(tmp_path: Path, serve: Callable[[Flask], str]) -> Iterator[str]:
    for run in ("a", "b"):
        (tmp_path / run).mkdir()
        with EventWriter(str(tmp_path / run / "events.out.tfevents.1700000000.vm"), "tensorboard") as writer:
            writer.add(1, {"samples": Text(HOSTILE), "long": Text("x" * 250_000)}, wall_time=1.7e9)
            writer.add(5, {"samples": Text(f"step five of {run}")}, wall_time=1.7e9 + 5)
    store = Store([tmp_path], interval=0).start()
    assert store.wait(30)
    yield serve(create_app(store).server)
    store.stop()


def test_texts_follow_the_slider_and_are_never_html(page: Page, given: str) -> None:
    page.goto(f"{given}/texts?tag=samples")
    bodies = page.locator(".ms-slot:not([hidden]) .ms-text-body")
    expect(bodies).to_have_count(2)
    expect(page.locator('.ms-text[data-run="a"] pre')).to_have_text("step five of a")
    expect(page.locator('.ms-text[data-run="b"] pre')).to_have_text("step five of b")
    page.locator("body").press("ArrowLeft")
    expect(page.locator('.ms-text[data-run="a"] pre')).to_have_text(HOSTILE, use_inner_text=False)
    assert page.locator('.ms-text[data-run="a"] pre').evaluate("pre => pre.children.length") == 0
    assert page.evaluate("window.ran") is None
    expect(page).to_have_url(re.compile("step=1"))


def test_a_long_text_is_cut_and_says_so(page: Page, given: str) -> None:
    page.goto(f"{given}/texts?run=a&tag=long")
    expect(page.locator(".ms-text-note")).to_have_text("The first 200,000 of 250,000 characters; the download has them all.")
    with page.expect_download() as download:
        page.locator(".ms-text").hover()
        page.get_by_role("link", name="Download this text").click()
    assert download.value.suggested_filename == "long_1.txt"
    assert Path(download.value.path()).read_text() == "x" * 250_000


def test_runs_without_texts_are_told_how_to_record_one(page: Page, address: str) -> None:
    page.goto(f"{address}/texts?run=long_history")
    expect(page.get_by_text("The chosen runs recorded no text.")).to_be_visible()
