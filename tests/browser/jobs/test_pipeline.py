"""The pipeline page in a browser: bands with pointer and keys, zoom, folded stages, micro batches, files, links."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from tests.browser.showing import show
from tests.writers.pipelines import write

CANVAS = ".ms-pipeline-canvas"
TIP = ".ms-pipeline-tip"
LEGEND = ".ms-pipeline-legend li .en"
SENTENCES = ".ms-pipeline-head p .en"


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, serve_file) -> str:
    """Two jobs of 2 stages of 2 ranks, 2 steps of 4 micro batches: one with marked ranges, one without kernels of rank 3."""
    base = tmp_path_factory.mktemp("place")
    write(base / "runs/marked", marks="device")
    write(base / "runs/plain", without=((3, "kernel_details.csv"),))
    store = Store([base / "runs"], interval=0).start()
    assert store.wait(30)
    return serve_file(create_app(store).server)


def drawn(page: Page) -> None:
    """Wait until the chart has pixels of several colours."""
    page.wait_for_function("""() => {
        const canvas = document.querySelector(".ms-pipeline-canvas");
        if (!canvas || !canvas.width || canvas.closest("[hidden]")) return false;
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const seen = new Set();
        for (let i = 0; i < data.length; i += 4) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
        return seen.size > 5;
    }""")


def tip(page: Page) -> str:
    return " | ".join(page.locator(f"{TIP} div").all_text_contents())


def test_bands_are_read_with_keys_and_the_pointer(page: Page, place: str) -> None:
    show(page, f"{place}/pipeline?run=marked&step=1")
    drawn(page)
    assert page.locator(LEGEND).all_text_contents() == [
        "Forward", "Backward", "Send", "Receive", "Collective", "Communication while computing"
    ]  # fmt: skip
    sentences = [text.replace("\u00a0", " ") for text in page.locator(SENTENCES).all_text_contents()]
    waits = "Ranks wait 19.5 % of a step for other stages on average (exposed p2p); longest rank 0: 30.0 ms"
    assert sentences[0].startswith(waits)
    theory = "In theory 1F1B waits 20.0 %: (p − 1) / (m + p − 1) with p = 2 equal stages and m = 4 micro batches"
    assert sentences[1].startswith(theory)
    assert "forward_step on each rank" in sentences[1]
    canvas = page.locator(CANVAS)
    canvas.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(TIP)).to_contain_text("Stage 0, Rank 0")
    page.keyboard.press("ArrowRight")
    expect(page.locator(TIP)).to_contain_text(re.compile(r"Forward 1 of the step: 10.0 ms0\.00 ms to 10\.00 ms"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator(TIP)).to_contain_text("Stage 1, Rank 2")
    expect(page.locator(TIP)).to_contain_text("hcom_receive__0_0_1: 30.0 ms")
    expect(page.locator(".ms-pipeline-chart [role=status]")).to_contain_text("Stage 1, Rank 2")
    page.keyboard.press("+")
    page.wait_for_function("() => new URLSearchParams(location.search).get('to')")
    first, last = (int(query(page)[name][0]) for name in ("from", "to"))
    assert last - first == 77_000_000  # half of the step
    drawn(page)
    page.keyboard.press("0")
    page.wait_for_function("() => !new URLSearchParams(location.search).get('to')")
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 300, box["y"] + 50)
    expect(page.locator(TIP)).to_contain_text("Stage 0, Rank 0")
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 60, steps=4)
    page.mouse.up()
    page.wait_for_function("() => new URLSearchParams(location.search).get('to')")
    drawn(page)


def test_a_link_restores_step_stages_zoom_and_micro_batches(page: Page, place: str) -> None:
    show(page, f"{place}/pipeline?run=plain&step=2&stage=1&from=1000000&to=60000000&m=8")
    drawn(page)
    expect(page.locator(".ms-pipeline-number")).to_have_value("8")
    expect(page.locator(SENTENCES).nth(1)).to_contain_text("1F1B waits 11.1 %")
    said = " ".join(page.locator(SENTENCES).all_text_contents()).replace("\u00a0", " ")
    assert "When rank 3 computed was not checked: kernel_details.csv" in said
    assert "computing is not divided" in said
    assert page.locator(LEGEND).all_text_contents()[-1] == "Not known"
    canvas = page.locator(CANVAS)
    canvas.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(TIP)).to_contain_text("Stage 0, 2 ranks, mean")
    page.keyboard.press("Enter")
    page.wait_for_function("() => new URLSearchParams(location.search).getAll('stage').length === 2")
    assert query(page)["stage"] == ["0", "1"]
    page.get_by_role("button", name="Fold stages").click()
    page.wait_for_function("() => new URLSearchParams(location.search).get('stage') === 'none'")
    expect(page.get_by_role("button", name="Show ranks")).to_be_visible()


@pytest.mark.long
def test_micro_batches_are_typed_where_no_file_tells_them(page: Page, place: str) -> None:
    show(page, f"{place}/pipeline?run=plain")
    expect(page.locator(SENTENCES).nth(1)).to_contain_text("The number of micro batches is not known")
    page.locator(".ms-pipeline-number").fill("4")
    expect(page.locator(SENTENCES).nth(1)).to_contain_text("m = 4 micro batches (as typed below)")
    assert query(page)["m"] == ["4"]


@pytest.mark.long
def test_files(page: Page, place: str) -> None:
    show(page, f"{place}/pipeline?run=marked&step=2")
    drawn(page)
    page.locator(".ms-pipeline-bar summary").click()
    links = [link.get_attribute("href") for link in page.locator(".ms-pipeline-bar a").all()]
    tables = []
    for link in links:
        with urlopen(f"{place}/{str(link).lstrip('/')}") as answer:
            tables.append(list(csv.DictReader(io.StringIO(answer.read().decode()))))
    assert [row["rank"] for row in tables[0]] == ["0", "1", "2", "3"]
    assert {round(float(row["bubble_ns"]) / 1e3) for row in tables[0]} == {30_000}  # begins are floats of microseconds
    assert {(row["band"], row["duration_ns"]) for row in tables[1] if row["rank"] == "2"} >= {("forward", "10000000")}
    page.keyboard.press("Escape")
    card = page.locator(".ms-pipeline-card")
    card.focus()
    with page.expect_download() as found:
        card.locator('[data-act="png"]').click(force=True)
    assert found.value.suggested_filename.startswith("marked_2_Pipeline")
    assert Path(found.value.path()).read_bytes().startswith(b"\x89PNG")
    page.keyboard.press("f")
    expect(card).to_have_class(re.compile("ms-full"))


def test_both_languages_and_what_screen_readers_are_told(page: Page, place: str) -> None:
    show(page, f"{place}/pipeline?run=plain&step=1")
    drawn(page)
    described = "canvas => document.getElementById(canvas.getAttribute('aria-describedby')).textContent"
    said = page.locator(CANVAS).evaluate(described)
    assert "Time by stage, step 1. Stage 0: Computing" in said
    assert "各阶段的时间，步骤 1" in said
    page.locator(".ms-shell [data-act=language], .ms-language, button[title*='中文']").first.click()
    expect(page.locator(CANVAS)).to_have_attribute("aria-label", re.compile("时间条带"))
