"""The tensors page in a browser, over runs written for the purpose: large tables, differences, what is not finite, damage."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask import Flask
from playwright.sync_api import Locator, Page, expect

from app import create_app
from app.store.store import Store
from layouts.values.tensor_histograms import over_steps
from parsers.recording import EventWriter, Tensor
from parsers.recording.wire import delimited, number, record
from tests.browser.conftest import in_address
from tests.browser.showing import show

RNG = np.random.default_rng(3)
WEIGHTS = [RNG.normal(size=(3, 40, 300)).astype(np.float32) for _ in range(3)]
WEIGHTS[2][1, 30, 250] = np.nan
NAME = "events.out.events.summary.1700000000.0.host_MS"
LONG = np.arange(1_200_000, dtype=np.float32)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("tensors")
    write(base / "one", [(1, "weights", WEIGHTS[0]), (5, "weights", WEIGHTS[1]), (9, "weights", WEIGHTS[2]), (9, "long", LONG)])
    write(base / "two", [(1, "weights", WEIGHTS[0]), (5, "weights", WEIGHTS[0]), (9, "weights", WEIGHTS[1])])
    extreme = np.float32([[3e38, -3e38], [0, 1]])
    write(base / "extreme", [(1, "huge", extreme), (1, "nothing", np.zeros((2, 0), np.float32)), (1, "nan", extreme * np.nan)])
    write(base / "complex", [])
    write(base / "broken", [])
    # A tensor of complex numbers, which our writer does not make.
    phase = number(1, 2) + number(1, 2) + number(2, 43) + delimited(3, np.complex64([[3 + 4j, 1j], [0, -2]]).tobytes())
    # A tensor that claims 360 values and has 240.
    content = number(1, 3) + number(1, 40) + number(1, 3) + number(2, 11) + delimited(3, WEIGHTS[0][:, :, :2].tobytes())
    for folder, tag, tensor in (("complex", b"phase", phase), ("broken", b"weights", content)):
        value = delimited(1, tag) + delimited(8, tensor)
        with open(base / folder / NAME, "ab") as file:
            file.write(record(number(2, 1) + delimited(5, delimited(1, value))))
    return base


def write(folder: Path, values: list[tuple[int, str, np.ndarray[Any, Any]]]) -> None:
    folder.mkdir()
    with EventWriter(str(folder / NAME), "mindspore") as writer:
        for step, tag, array in values:
            writer.add(step, {tag: Tensor(array)}, wall_time=1.7e9 + step)


@pytest.fixture(scope="module")
def address(runs: Path, serve_file: Callable[[Flask], str]) -> Iterator[str]:
    store = Store([runs], interval=0).start()
    assert store.wait(30)
    yield serve_file(create_app(store).server)
    store.stop()


CARD = ".ms-slot:not([hidden])"


def cell(page: Page, row: int, column: int) -> Any:
    return page.locator(f'{CARD} .ms-table-cell[data-row="{row}"][data-column="{column}"]:not([hidden])')


@pytest.mark.long
def test_a_table_shows_the_values_recorded(page: Page, address: str) -> None:
    show(page, f"{address}/tensors?run=one&tag=weights&step=5&dims=1,..,10..20:weights")
    expect(cell(page, 2, 3)).to_have_text(f"{WEIGHTS[1][1, 2, 13]:.5f}")
    expect(page.locator(f"{CARD} .ms-table-column:not([hidden])").first).to_have_text("10")
    page.locator('[data-control="digits"]').select_option("2")
    expect(cell(page, 2, 3)).to_have_text(f"{WEIGHTS[1][1, 2, 13]:.2f}")
    page.locator('.ms-tensor-format [data-value="sci"]').click()
    expect(cell(page, 2, 3)).to_have_text(f"{WEIGHTS[1][1, 2, 13]:.2e}".replace("e-0", "e-").replace("e+0", "e+"))
    in_address(page, "digits", "2")
    cell(page, 2, 3).click()
    readout = page.locator(f"{CARD} .ms-tensor-readout")
    expect(readout).to_contain_text("[1, 2, 13] = ")
    assert np.float32(readout.text_content().split("= ")[1]) == WEIGHTS[1][1, 2, 13]


@pytest.mark.long
def test_extreme_values_and_those_without_any(page: Page, address: str) -> None:
    show(page, f"{address}/tensors?run=extreme")
    huge = page.locator('.ms-slot[aria-label="huge"]')
    for place, text in (("0", "3.00000e+38"), ("1", "-3.00000e+38")):
        expect(huge.locator(f'.ms-table-cell[data-row="0"][data-column="{place}"]')).to_have_text(text)
    expect(huge.locator(".ms-tensor-stats")).to_contain_text("min", use_inner_text=True)
    for name, count in (("nothing", "count 0"), ("nan", "count 4")):
        stats = page.locator(f'.ms-slot[aria-label="{name}"] .ms-tensor-stats')
        expect(stats).to_contain_text(count, use_inner_text=True)
        expect(stats).not_to_contain_text("min", use_inner_text=True)


@pytest.mark.long
def test_statistics_of_complex_numbers_are_those_of_their_magnitudes(page: Page, address: str) -> None:
    show(page, f"{address}/tensors?run=complex")
    stats = page.locator('.ms-slot[aria-label="phase"] .ms-tensor-stats')
    expect(stats).to_contain_text("of magnitudes: min 0", use_inner_text=True)
    expect(stats).to_contain_text("max 5", use_inner_text=True)


@pytest.mark.long
def test_dimension_boxes(page: Page, address: str) -> None:
    show(page, f"{address}/tensors?run=one&tag=weights&step=1")
    boxes = page.locator(".ms-tensor-box")
    expect(boxes).to_have_count(3)
    expect(cell(page, 0, 0)).to_have_text(f"{WEIGHTS[0][0, 0, 0]:.5f}")
    boxes.nth(0).fill("-1")
    boxes.nth(0).press("Enter")
    expect(cell(page, 0, 0)).to_have_text(f"{WEIGHTS[0][2, 0, 0]:.5f}")
    boxes.nth(1).fill("40")
    boxes.nth(1).press("Enter")
    expect(page.locator(f"{CARD} .ms-tensor-message")).to_have_text("dimension 1: expected -40 to 39, found 40")
    expect(boxes.nth(1)).to_have_attribute("aria-invalid", "true")
    boxes.nth(1).fill("39")
    boxes.nth(1).press("Enter")
    expect(page.locator(f"{CARD} .ms-tensor-message")).to_be_hidden()
    expect(cell(page, 3, 0)).to_have_text(f"{WEIGHTS[0][2, 39, 3]:.5f}")


@pytest.mark.long
def test_going_to_what_is_not_finite(page: Page, address: str) -> None:
    show(page, f"{address}/tensors?run=one&tag=weights&step=9")
    expect(page.locator(f"{CARD} .ms-tensor-stats")).to_contain_text("NaN 1")
    page.locator('[data-act="bad"]').click()
    expect(page.locator(".ms-current")).to_have_text("NaN")
    expect(page.locator(f"{CARD} .ms-tensor-readout")).to_have_text("[1, 30, 250] = NaN")
    expect(page.locator(".ms-current")).to_have_class("ms-table-cell ms-bad ms-current")
    expect(page.locator(".ms-tensor-box").first).to_have_value("1")


def test_differences(page: Page, address: str) -> None:
    show(page, f"{address}/tensors?run=one&run=two&tag=weights&step=5&of=one:weights")
    select = page.locator(f"{CARD} select").nth(1)
    select.select_option("prev")
    expect(cell(page, 0, 1)).to_have_text(f"{float(WEIGHTS[1][0, 0, 1]) - float(WEIGHTS[0][0, 0, 1]):.5f}")
    page.locator('.ms-slot:not([hidden]) .ms-tensor-bar [data-value="relative"]').click()
    relative = (float(WEIGHTS[1][0, 0, 1]) - float(WEIGHTS[0][0, 0, 1])) / abs(float(WEIGHTS[0][0, 0, 1]))
    expect(cell(page, 0, 1)).to_have_text(f"{relative:.5f}")
    page.locator('.ms-slot:not([hidden]) .ms-tensor-bar [data-value="absolute"]').click()
    select.select_option(label="two")
    expect(cell(page, 0, 1)).to_have_text(f"{float(WEIGHTS[1][0, 0, 1]) - float(WEIGHTS[0][0, 0, 1]):.5f}")
    assert in_address(page, "minus")[0].startswith("run.two:weights")


@pytest.mark.long
def test_a_million_rows_are_a_key_press_away(page: Page, address: str) -> None:
    show(page, f"{address}/tensors?run=one&tag=long")
    expect(cell(page, 0, 0)).to_have_text("0.00000")
    page.locator(".ms-tensor-table:visible").focus()
    page.keyboard.press("Control+End")
    page.keyboard.press("Control+ArrowDown")
    expect(cell(page, len(LONG) - 1, 0)).to_have_text("1199999.00000")
    page.keyboard.press("PageUp")
    page.keyboard.press("ArrowUp")
    expect(page.locator(".ms-current")).to_be_visible()
    page.locator(".ms-table-scroll:visible").evaluate("element => element.scrollTo(0, element.scrollHeight / 2)")
    middle = page.locator(f"{CARD} .ms-table-row:not([hidden])").first
    expect(middle).to_have_text(re.compile("^(59|60)[0-9]{4}$"))
    before = int(middle.text_content())
    page.mouse.move(*centre(page))
    page.mouse.wheel(0, 220)
    expect(middle).to_have_text(str(before + 10))
    # Few elements, however many values.
    assert page.locator(".ms-table-cell").count() < 3000


def centre(page: Page) -> tuple[float, float]:
    return centre_of(page.locator(".ms-table-scroll:visible"))


def test_a_damaged_tensor_says_so_and_the_rest_works(page: Page, address: str) -> None:
    show(page, f"{address}/tensors?run=one&run=broken&step=1&of=broken:weights")
    first = page.locator('.ms-slot[aria-label="weights"]')
    expect(first.locator(".ms-tensor-message")).to_contain_text("expected 360 values for the shape (3, 40, 3), found 240")
    expect(page.locator('.ms-slot[aria-label="long"] .ms-tensor-message')).to_contain_text("nothing recorded yet")
    page.locator(".ms-steps-all").get_by_label("Next step").last.click()
    in_address(page, "step", "5")
    expect(page.locator('.ms-slot[aria-label="weights"]')).to_be_visible()


def test_the_histogram_is_the_second_view(page: Page, address: str) -> None:
    show(page, f"{address}/tensors?run=one&tag=weights")
    page.locator('.ms-tensor-view [data-value="histogram"]').click()
    drawn = page.locator(f"{CARD} .js-fill")
    expect(drawn).to_have_count(3)
    notes = page.locator(f"{CARD} .ms-card-notes")
    expect(notes).to_contain_text("all 3 steps")
    expect(notes).to_contain_text("1 NaN")
    for control in (".ms-tensor-bar", ".ms-tensor-stats", ".ms-steps-all", ".ms-tensor-format", ".ms-tensor-digits"):
        expect(page.locator(control).locator("visible=true")).to_have_count(0)
    page.mouse.move(*centre_of(page.locator(f"{CARD} .nsewdrag")))
    expect(page.locator(".ms-hover-table")).to_contain_text("36,000")
    page.locator('.ms-tensor-hist [data-value="step"]').click()
    expect(page.locator(f"{CARD} .barlayer .point")).to_have_count(90)
    expect(page.locator(f"{CARD} .ms-tensor-stats")).to_contain_text("NaN 1")
    page.locator('.ms-tensor-hist [data-value="heat"]').click()
    expect(page.locator(f"{CARD} .hm image")).to_have_count(1)
    in_address(page, "hist", "heat")
    page.locator('.ms-tensor-view [data-value="table"]').click()
    expect(cell(page, 0, 0)).to_have_text(f"{WEIGHTS[2][0, 0, 0]:.5f}")


@pytest.mark.long
def test_histograms_of_two_runs_side_by_side_survive_a_reload(page: Page, address: str) -> None:
    show(page, f"{address}/tensors?run=one&run=two&tag=weights&view=histogram&hist=heat&x=relative")
    expect(page.locator(f"{CARD} .hm image")).to_have_count(2)
    assert {text.split()[-1] for text in page.locator(f"{CARD} .annotation-text").all_text_contents()} == {"one", "two"}
    page.reload()
    expect(page.locator(f"{CARD} .hm image")).to_have_count(2)
    page.locator('.ms-tensor-hist [data-value="numbers"]').click()
    expect(page.locator(f"{CARD} .js-line").first).to_be_attached()


@pytest.mark.long
def test_the_legend_of_histograms_names_and_hides_runs(page: Page, address: str) -> None:
    show(page, f"{address}/tensors?run=one&run=two&tag=weights&view=histogram&hist=numbers")
    entries = page.locator(f"{CARD} .ms-histogram-entry")
    expect(entries).to_have_count(2)
    drawn = """wanted => {
        const { data } = document.querySelector('.ms-slot:not([hidden]) .js-plotly-plot');
        return JSON.stringify(Array.from(new Set(data.map((trace) => trace.meta.key))).sort()) === wanted;
    }"""
    page.wait_for_function(drawn, arg='["one","two"]')
    page.locator(f'{CARD} .ms-histogram-entry[data-run="two"]').click()
    expect(page).to_have_url(re.compile("hide=two"))
    expect(entries).to_have_count(2)
    expect(page.locator(f'{CARD} .ms-histogram-entry[data-run="two"]')).to_have_attribute("aria-pressed", "false")
    page.wait_for_function(drawn, arg='["one"]')
    page.get_by_role("button", name="Table", exact=True).click()
    expect(page.locator(f"{CARD} .ms-histogram-legend")).to_be_hidden()


@pytest.mark.long
def test_a_card_asks_on_until_every_histogram_is_made(
    page: Page, runs: Path, serve: Callable[[Flask], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(over_steps, "__defaults__", (0.0,))  # no time: one histogram a request
    store = Store([runs], interval=0).start()  # one that has made none yet
    assert store.wait(30)
    address = serve(create_app(store).server)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "tensor-histograms" in request.url else None)
    show(page, f"{address}/tensors?run=one&run=two&tag=weights&view=histogram&hist=overlay")
    expect(page.locator(f"{CARD} .js-line")).to_have_count(6)
    expect(page.locator(f"{CARD} .ms-card-notes")).not_to_contain_text("pending")
    assert len(asked) == 6
    store.stop()


@pytest.mark.long
def test_a_damaged_tensor_does_not_hide_the_histograms_of_others(page: Page, address: str) -> None:
    show(page, f"{address}/tensors?run=one&run=broken&tag=weights&view=histogram&hist=ridge")
    expect(page.locator(f"{CARD} .js-fill").first).to_be_attached()
    damaged = page.locator(f"{CARD} .ms-card-notes").get_by_text("damaged", exact=True)
    expect(page.locator(f"{CARD} .ms-card-notes .ms-badge-wrong").last).to_have_attribute("title", re.compile("found 240"))
    expect(damaged).to_be_visible()


def centre_of(element: Locator) -> tuple[float, float]:
    box = element.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.long
def test_files(page: Page, address: str, tmp_path: Path) -> None:
    show(page, f"{address}/tensors?run=one&tag=weights&step=1&dims=0,1..3,..:weights")
    expect(cell(page, 0, 0)).to_have_text(f"{WEIGHTS[0][0, 1, 0]:.5f}")
    page.locator(".ms-slot:visible").hover()
    page.locator(".ms-slot:visible .ms-card-tools summary").click()
    with page.expect_download() as download:
        page.locator(f'{CARD} [data-tensor-file="npy"][data-part="shown"]').click()
    np.testing.assert_array_equal(np.load(download.value.path()), WEIGHTS[0][0, 1:3])
    assert download.value.suggested_filename == "weights_1.npy"


@pytest.mark.long
def test_keys(page: Page, address: str) -> None:
    show(page, f"{address}/tensors?run=one&tag=weights&step=9")
    expect(page.locator(f"{CARD} .ms-tensor-stats")).to_contain_text("NaN 1")
    page.locator(f"{CARD} .ms-tensor-table").focus()
    page.keyboard.press("n")
    expect(page.locator(f"{CARD} .ms-tensor-readout")).to_have_text("[1, 30, 250] = NaN")
    page.keyboard.press("f")
    expect(page.locator(CARD)).to_have_class(re.compile("ms-full"))
    assert page.locator(CARD).bounding_box() == {"x": 0, "y": 0, "width": 1440, "height": 900}
    page.keyboard.press("ArrowLeft")
    expect(page.locator(f"{CARD} .ms-tensor-readout")).to_contain_text("[1, 30, 249] = ")
    page.keyboard.press("Escape")
    expect(page.locator(CARD)).not_to_have_class(re.compile("ms-full"))


@pytest.mark.long
def test_a_card_follows_a_run_that_goes_on(page: Page, serve: Callable[[Flask], str], tmp_path: Path) -> None:
    (tmp_path / "live").mkdir()
    with EventWriter(str(tmp_path / "live" / NAME), "mindspore") as writer:
        writer.add(1, {"weights": Tensor(WEIGHTS[0])})
        writer.flush()
        store = Store([tmp_path], interval=0.3).start()
        assert store.wait(30)
        show(page, f"{serve(create_app(store).server)}/tensors")
        expect(cell(page, 0, 0)).to_have_text(f"{WEIGHTS[0][0, 0, 0]:.5f}")
        writer.add(2, {"weights": Tensor(WEIGHTS[1])})
        writer.flush()
        expect(cell(page, 0, 0)).to_have_text(f"{WEIGHTS[1][0, 0, 0]:.5f}")
        expect(page.locator(f"{CARD} .ms-tensor-now .en")).to_have_text("Step 2")
        store.stop()
