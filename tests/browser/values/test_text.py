"""The text page: plain text by step, whatever it contains."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from parsers.events.messages import message_class
from parsers.recording import EventWriter, Text
from parsers.recording.wire import record
from tests.browser.showing import show

HOSTILE = "# <b>title</b> <script>window.ran = 1</script>\n<img src=x onerror='window.ran = 1'> 第一步"


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory, serve_file: Callable[[Flask], str]) -> Iterator[str]:
    base = tmp_path_factory.mktemp("given")
    for run in ("a", "b"):
        (base / run).mkdir()
        with EventWriter(str(base / run / "events.out.tfevents.1700000000.vm"), "tensorboard") as writer:
            writer.add(1, {"samples": Text(HOSTILE), "long": Text("x" * 250_000)}, wall_time=1.7e9)
            writer.add(5, {"samples": Text(f"step five of {run}")}, wall_time=1.7e9 + 5)
    store = Store([base], interval=0).start()
    assert store.wait(30)
    yield serve_file(create_app(store).server)
    store.stop()


def test_texts_follow_the_slider_and_are_never_html(page: Page, given: str) -> None:
    show(page, f"{given}/text?tag=samples")
    bodies = page.locator(".ms-slot:not([hidden]) .ms-text-body")
    expect(bodies).to_have_count(2)
    expect(page.locator('.ms-text[data-run="a"] pre')).to_have_text("step five of a")
    expect(page.locator('.ms-text[data-run="b"] pre')).to_have_text("step five of b")
    page.locator("body").press("ArrowLeft")
    expect(page.locator('.ms-text[data-run="a"] pre')).to_have_text(HOSTILE, use_inner_text=False)
    assert page.locator('.ms-text[data-run="a"] pre').evaluate("pre => pre.children.length") == 0
    assert page.evaluate("window.ran") is None
    expect(page).to_have_url(re.compile("step=1"))


@pytest.mark.long
def test_a_frame_is_as_high_as_its_text(page: Page, given: str) -> None:
    show(page, f"{given}/text?run=a&tag=samples")
    expect(page.locator('.ms-text[data-run="a"] pre')).to_have_text("step five of a")
    frame, card = page.locator(".ms-text-body").bounding_box(), page.locator(".ms-slot:not([hidden])").bounding_box()
    assert frame is not None
    assert card is not None
    assert frame["height"] < 40
    assert card["height"] < 140
    show(page, f"{given}/text?run=a&tag=long")
    expect(page.locator(".ms-text-note")).to_be_visible()
    page.wait_for_function("() => document.querySelector('.ms-slot:not([hidden])').getBoundingClientRect().height > 300")
    assert page.locator(".ms-slot:not([hidden])").evaluate("card => card.getBoundingClientRect().bottom <= innerHeight")


def test_a_long_text_is_cut_and_says_so(page: Page, given: str) -> None:
    show(page, f"{given}/text?run=a&tag=long")
    note = page.locator(".ms-text-note")
    expect(note.locator(".en")).to_have_text("The first 200,000 of 250,000 characters; the download has them all.")
    assert note.bounding_box()["y"] < page.locator(".ms-text-body").bounding_box()["y"]  # type: ignore[index]
    page.locator('[data-action="language"]').first.click()
    expect(note.locator(".zh")).to_be_visible()
    expect(note.locator(".en")).to_be_hidden()
    page.locator('[data-action="language"]').first.click()
    with page.expect_download() as download:
        page.locator(".ms-text").hover()
        page.get_by_role("link", name="Download this text").click()
    assert download.value.suggested_filename == "long_1.txt"
    assert Path(download.value.path()).read_text() == "x" * 250_000


@pytest.mark.long
def test_texts_that_can_be_shown_in_part_and_not_at_all(
    unwatched: Page, tmp_path: Path, serve: Callable[[Flask], str]
) -> None:
    with (tmp_path / "events.out.tfevents.1700000000.vm").open("xb") as file:
        for tag, strings, dims in (("table", [b"a", b"b", b"c"], 4), ("many", [b""] * 100_001, 100_001)):
            event = message_class("tensorflow.Event")(wall_time=1.7e9, step=1)
            value = event.summary.value.add(tag=tag)
            value.metadata.plugin_data.plugin_name = "text"
            value.tensor.dtype = 7
            value.tensor.string_val.extend(strings)
            value.tensor.tensor_shape.dim.add(size=dims)
            file.write(record(event.SerializeToString()))
    store = Store([tmp_path], interval=0).start()
    assert store.wait(30)
    show(unwatched, f"{serve(create_app(store).server)}/text")
    table, many = (unwatched.locator(f'.ms-slot[data-key="{tag}"]') for tag in ("table", "many"))
    expect(table.locator(".ms-text-wrong")).to_contain_text("Its shape (4,) does not fit 3 strings")
    expect(table.locator(".ms-text-body")).to_have_text("a\nb\nc", use_inner_text=True)
    expect(many.locator(".ms-text-wrong")).to_contain_text("events.out.tfevents.1700000000.vm: record at byte")
    expect(many.locator(".ms-text-body")).to_have_text("")
    store.stop()


@pytest.mark.long
def test_runs_without_texts_are_told_how_to_record_one(page: Page, address: str) -> None:
    show(page, f"{address}/text?run=long_history")
    expect(page.get_by_text("The chosen runs recorded no text.").filter(visible=True)).to_be_visible()
