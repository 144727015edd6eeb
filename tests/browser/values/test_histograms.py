"""The histograms page, used as a person would."""

from __future__ import annotations

import csv
import io
import re
import struct
from collections.abc import Callable, Iterator
from itertools import pairwise
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import numpy as np
import pytest
from flask import Flask
from playwright.sync_api import BrowserContext, Locator, Page, expect

from app import create_app
from app.store.store import Store
from parsers import HistogramValue, open_run
from parsers.recording import EventWriter, Histogram
from parsers.recording.wire import record
from tests.browser.showing import show
from tests.recorded import RECORDED

CARDS = ".ms-slot:not([hidden])"
RUN, TAG = "lenet_sink_mode", "conv1.weight/auto"


def visit(page: Page, address: str, query: str) -> None:
    show(page, f"{address}/histograms?{query}")
    expect(page.locator(f"{CARDS} .js-plotly-plot .xtick").first).to_be_attached()


def card(page: Page, tag: str) -> Locator:
    return page.locator(CARDS).filter(has=page.get_by_role("heading", name=tag, exact=True))


def traces(page: Page, tag: str, kind: str) -> int:
    script = "(card, kind) => card.querySelector('.js-plotly-plot')._fullData.filter(trace => trace.type === kind).length"
    found: int = card(page, tag).evaluate(script, kind)
    return found


def view(page: Page, name: str) -> None:
    page.get_by_role("group", name="View").get_by_role("button", name=name, exact=True).click()


def zoomed(page: Page) -> list[float]:
    """The values and the steps of a box zoom, by the link: steps are those of all cards."""
    shared, own = (entry.rsplit(":", 1) for entry in parse_qs(urlsplit(page.url).query)["zoom"])
    assert shared[1] == "*"
    return [float(end) for end in (*own[0].split(",")[:2], *shared[0].split(",")[2:])]


def steps(run: str, tag: str) -> list[int]:
    found: list[int] = open_run(RECORDED / run).payload_series("histogram", tag).step.tolist()
    return found


@pytest.mark.long
def test_few_steps_are_a_ridge_and_many_a_heat_map(page: Page, address: str) -> None:
    visit(page, address, f"run={RUN}&tag={TAG}")
    recorded = steps(RUN, TAG)
    expect(card(page, TAG)).to_contain_text(f"all {len(set(recorded))} steps")
    assert traces(page, TAG, "scatter") == len(recorded)
    visit(page, address, "run=several_files")
    expect(card(page, "w").locator(".heatmaplayer image")).to_be_attached()
    expect(card(page, "w")).to_contain_text(f"all {len(set(steps('several_files', 'w')))} steps")
    view(page, "Top")
    expect(card(page, "w")).to_contain_text(f"60 of {len(set(steps('several_files', 'w')))} steps")
    expect(page).to_have_url(re.compile("view=ridge"))
    view(page, "Front")
    expect(page).to_have_url(re.compile("view=overlay"))
    expect(card(page, "w")).to_contain_text(f"60 of {len(set(steps('several_files', 'w')))} steps")


def test_the_pointer_reads_centre_count_and_share(page: Page, address: str) -> None:
    visit(page, address, f"run={RUN}&tag={TAG}&view=step")
    expect(card(page, TAG).locator(".scatterlayer .trace")).to_have_count(1)
    box = card(page, TAG).locator(".nsewdrag").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2 - 3, box["y"] + 50)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 50)
    table = page.locator(".ms-hover-table")
    expect(table).to_be_visible()
    heads, cells = table.locator("th").all_inner_texts(), table.locator("tbody td").all_inner_texts()
    row = dict(zip(heads, cells, strict=True))
    assert row["Run"].strip() == RUN
    count, whole = float(row["Count"]), float(row["Values"].replace(",", ""))
    assert abs(count / whole * 100 - float(row["Share"].removesuffix(" %"))) < 0.1
    value = open_run(RECORDED / RUN).value("histogram", TAG, len(steps(RUN, TAG)) - 1)
    assert isinstance(value, HistogramValue)
    assert whole == value.total
    assert abs(float(row["Max"]) - value.max) < 1e-3


def test_the_slider_reaches_every_step_and_the_link_says_which(page: Page, address: str) -> None:
    visit(page, address, f"run={RUN}&tag={TAG}&view=step")
    slider = card(page, TAG).get_by_role("slider")
    recorded = sorted(steps(RUN, TAG))
    before = recorded[-3]
    assert before < recorded[-2] == recorded[-1], "the last step is recorded twice"
    expect(slider).to_have_attribute("max", str(len(recorded) - 1))
    slider.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile(f"at={before}:"))
    assert parse_qs(urlsplit(page.url).query)["at"] == [f"{before}:*"]
    expect(card(page, TAG).locator("output .en")).to_have_text(str(before))
    show(page, page.url)
    expect(card(page, TAG).locator("output .en")).to_have_text(str(before))


HERE = """() => {
    const plot = document.querySelector('.js-plotly-plot');
    return plot && plot._fullLayout && plot._fullLayout.yaxis ? [...plot._fullLayout.yaxis.range] : [NaN, NaN];
}"""


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag over the first card, from and to shares of its plot's width and height."""
    box = page.locator(f"{CARDS} .nsewdrag").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * start[0], box["y"] + box["height"] * start[1])
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * end[0], box["y"] + box["height"] * end[1], steps=4)
    page.mouse.up()


@pytest.mark.long
def test_a_zoom_is_in_the_link_counts_anew_and_is_undone(page: Page, context: BrowserContext, address: str) -> None:
    visit(page, address, "run=several_files&tag=w")
    expect(card(page, "w").locator(".heatmaplayer image")).to_be_attached()
    before = page.evaluate(HERE)
    drag(page, (0.2, 0.3), (0.6, 0.6))
    expect(page).to_have_url(re.compile("zoom="))
    expect(card(page, "w")).to_contain_text("values outside")
    low, high, first, last = zoomed(page)
    assert before[0] < low < high < before[1]
    assert min(steps("several_files", "w")) < first < last < max(steps("several_files", "w"))
    page.wait_for_function(f"low => Math.abs(({HERE})()[0] - low) < 1e-6", arg=low)
    other = context.new_page()
    other.goto(page.url)
    expect(card(other, "w")).to_contain_text("values outside")
    other.wait_for_function(f"high => Math.abs(({HERE})()[1] - high) < 1e-6", arg=high)
    card(page, "w").hover()
    card(page, "w").get_by_role("button", name="One zoom step back").click()
    expect(page).not_to_have_url(re.compile("zoom="))
    expect(card(page, "w")).not_to_contain_text("values outside")
    page.wait_for_function(f"before => ({HERE})()[0] === before", arg=before[0])
    drag(page, (0.2, 0.3), (0.6, 0.6))
    expect(page).to_have_url(re.compile("zoom="))
    page.locator(f"{CARDS} .nsewdrag").first.dblclick()
    expect(page).not_to_have_url(re.compile("zoom="))


def test_the_bar_is_one_line_and_its_axis_is_in_the_link(page: Page, address: str) -> None:
    visit(page, address, "run=several_files&tag=w")
    bar = page.locator(".ms-cards-controls")
    parts = "[...bar.children].filter((one) => one.clientWidth)"
    tops = bar.evaluate(f"bar => {parts}.map((one) => one.getBoundingClientRect().top)")
    assert max(tops) - min(tops) < 8, tops
    page.get_by_label("Axis of steps").select_option("relative")
    expect(page).to_have_url(re.compile("x=relative"))
    page.get_by_label("Axis of steps").select_option("step")
    expect(page).not_to_have_url(re.compile("x="))


@pytest.mark.long
def test_scale_colour_and_axis_are_in_the_link_and_a_zoom_is_in_values(page: Page, address: str) -> None:
    visit(page, address, "run=several_files&tag=w")
    page.get_by_label("Scale of values").select_option("symlog")
    expect(page).to_have_url(re.compile("scale=symlog"))
    page.get_by_label("Colours of a heat map").select_option("robust")
    expect(page).to_have_url(re.compile("colour=robust"))
    expect(card(page, "w")).to_contain_text("≥")
    page.wait_for_function("() => document.querySelector('.js-plotly-plot')._fullLayout.yaxis.tickmode === 'array'")
    drag(page, (0.2, 0.1), (0.8, 0.9))
    expect(page).to_have_url(re.compile("zoom="))
    low, high, *_ = zoomed(page)
    ticks = page.evaluate("() => document.querySelector('.js-plotly-plot')._fullLayout.yaxis.ticktext.map(Number)")
    assert all(low <= tick <= high for tick in ticks), "the axis is that of the values dragged over"
    page.get_by_label("Scale of values").select_option("linear")
    expect(page).not_to_have_url(re.compile("scale="))


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory, serve_file: Callable[[Flask], str]) -> Iterator[str]:
    """A run with one step far from the others, a step recorded twice, and histograms that cannot be read."""
    base = tmp_path_factory.mktemp("given")
    folder = base / "odd"
    folder.mkdir()
    random = np.random.default_rng(0)
    with EventWriter(str(folder / "events.out.events.summary.1700000000.1.vm_MS"), "mindspore") as writer:
        for step in range(70):
            reach = 1e6 if step == 30 else 0.1
            writer.add(step, {"far": Histogram(random.normal(0.0, reach, 300))}, wall_time=1.7e9 + step)
        for step, size in ((1, 10), (2, 20), (2, 30), (3, 40)):
            writer.add(step, {"twice": Histogram(np.arange(size))}, wall_time=1.7e9 + step)
        for step in (1, 2):
            writer.add(step, {"none": Histogram(np.arange(9.0)), "some": Histogram(np.arange(9.0))}, wall_time=1.7e9 + step)
    file = folder / "events.out.events.summary.1700000000.1.vm_MS"
    file.write_bytes(broken(file.read_bytes()))
    store = Store([base], interval=0.5).start()
    assert store.wait(30)
    yield serve_file(create_app(store).server)
    store.stop()


def broken(data: bytes) -> bytes:
    """The same with the last records of "none", and the last of "some", whose histogram is no message any more."""
    out, pos, at = [], 0, 0
    while pos < len(data):
        (length,) = struct.unpack_from("<Q", data, pos)
        body = bytearray(data[pos + 12 : pos + 12 + length])
        for tag in (b"none", b"some"):
            found = body.find(tag)
            if found > 0 and (tag == b"none" or at == 1):
                body[found + len(tag) + 3] = 0xFF
        at += body.find(b"some") > 0
        out.append(record(bytes(body)))
        pos += 16 + length
    return b"".join(out)


@pytest.mark.long
def test_one_step_far_away_does_not_squeeze_the_others(page: Page, given: str) -> None:
    visit(page, given, "tag=far")
    expect(card(page, "far")).to_contain_text("values outside")
    page.wait_for_function(f"() => ({HERE})()[1] < 1")
    page.get_by_role("button", name="Show all").click()
    expect(page).to_have_url(re.compile("zoom=all"))
    page.wait_for_function(f"() => ({HERE})()[1] > 1e6")
    expect(card(page, "far")).not_to_contain_text("values outside")


@pytest.mark.long
def test_both_values_of_a_step_recorded_twice_are_reached(page: Page, given: str) -> None:
    visit(page, given, "tag=twice&view=step")
    slider = card(page, "twice").get_by_role("slider")
    said = []
    slider.focus()
    for _ in range(4):
        said.append(card(page, "twice").locator("output .en").inner_text())
        page.keyboard.press("ArrowLeft")
    assert said == ["3", "2 (record 2 of 2)", "2 (record 1 of 2)", "1"]
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("at=2(~|%7E)1"))
    expect(card(page, "twice")).to_contain_text("n 20")


@pytest.mark.long
def test_what_cannot_be_read_says_which_record(page: Page, given: str) -> None:
    visit(page, given, "tag=none&tag=some")
    note = card(page, "none").locator(".ms-histogram-note")
    expect(note).to_contain_text(re.compile("2 cannot be read.*vm_MS: record at byte"))
    expect(card(page, "none").locator(".js-plotly-plot")).to_be_hidden()
    expect(card(page, "some").locator(".js-plotly-plot")).to_be_visible()
    expect(card(page, "some").locator(".ms-histogram-note")).to_be_hidden()
    card(page, "some").get_by_role("button", name="1 unreadable").click()
    note = card(page, "some").locator(".ms-histogram-note")
    expect(note).to_contain_text(re.compile("1 cannot be read.*vm_MS: record at byte"))


@pytest.mark.long
def test_the_histogram_under_the_pointer_is_outlined(page: Page, address: str) -> None:
    visit(page, address, f"run={RUN}&tag={TAG}&view=overlay")
    box = card(page, TAG).locator(".nsewdrag").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(box["x"] + box["width"] / 2 + 2, box["y"] + box["height"] / 2)
    expect(card(page, TAG).locator(".ms-histogram-mark path")).to_have_count(1)
    page.mouse.move(2, 2)
    expect(card(page, TAG).locator(".ms-histogram-mark path")).to_have_count(0)


def test_two_runs_over_each_other_and_side_by_side(page: Page, address: str) -> None:
    visit(page, address, f"run={RUN}&run=lenet_adam_lr0.01_b64&tag={TAG}&view=step")
    expect(card(page, TAG).locator(".subplot")).to_have_count(1)
    page.get_by_role("button", name="Side by side").click()
    expect(card(page, TAG).locator(".subplot")).to_have_count(2)
    expect(page).to_have_url(re.compile("beside=1"))


ADAM = "lenet_adam_lr0.01_b64"
LIT = "() => document.querySelectorAll('.ms-lit .scatterlayer > .trace:not(.ms-lit-trace)').length"


def entry(page: Page, run: str, tag: str = TAG) -> Locator:
    return card(page, tag).locator(f'.ms-histogram-entry[data-run="{run}"]')


@pytest.mark.long
def test_the_legend_names_values_hides_isolates_and_highlights(page: Page, address: str) -> None:
    visit(page, address, f"run={RUN}&run={ADAM}&run=lenet_landscape&view=numbers")
    run = open_run(RECORDED / ADAM)
    means = [value.mean for value in (run.value("histogram", TAG, place) for place in range(len(steps(ADAM, TAG))))]
    value = entry(page, ADAM).locator(".ms-histogram-value")
    assert float(value.inner_text().replace("−", "-")) == pytest.approx(means[-1], rel=1e-3)

    box = card(page, TAG).locator(".nsewdrag").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 3, box["y"] + box["height"] / 2)
    page.mouse.move(box["x"] + 4, box["y"] + box["height"] / 2)
    page.wait_for_function(
        "([one, wanted]) => Math.abs(Number(one.innerText.replace('−', '-')) - wanted) <= 1e-3 * Math.abs(wanted)",
        arg=[value.element_handle(), means[0]],
    )
    page.mouse.move(2, 2)

    assert page.evaluate(LIT) == 0
    entry(page, ADAM).hover()
    page.wait_for_function(f"({LIT})() > 0")
    assert page.locator(".ms-card-body.ms-lit").count() > 1, "the other cards show it too"
    page.mouse.move(2, 2)
    page.wait_for_function(f"({LIT})() === 0")

    entry(page, ADAM).click()
    expect(page).to_have_url(re.compile(f"hide={re.escape(ADAM)}"))
    expect(entry(page, ADAM)).to_have_attribute("aria-pressed", "false")
    expect(entry(page, RUN)).to_have_attribute("aria-pressed", "true")
    expect(entry(page, ADAM)).to_be_focused()
    entry(page, ADAM).click()
    expect(entry(page, ADAM)).to_have_attribute("aria-pressed", "true")
    assert "hide=" not in page.url
    entry(page, RUN).click(modifiers=["Alt"])
    expect(entry(page, ADAM)).to_have_attribute("aria-pressed", "false")
    expect(entry(page, RUN)).to_have_attribute("aria-pressed", "true")
    view(page, "Heat map")
    expect(entry(page, ADAM)).to_be_visible()
    entry(page, ADAM).click()
    expect(card(page, TAG).locator(".subplot")).to_have_count(2)


@pytest.mark.long
def test_entries_of_a_legend_do_not_cover_each_other(page: Page, address: str) -> None:
    visit(page, address, f"run={RUN}&run={ADAM}&run=lenet_landscape&run=lenet_diverges_nan&view=numbers")
    boxes = card(page, TAG).evaluate(
        """(card) => Array.from(card.querySelectorAll('.ms-histogram-legend > *'), (one) => {
            const { left, right, top, bottom } = one.getBoundingClientRect();
            const inner = Array.from(one.children, (part) => part.getBoundingClientRect()).map((box) => [box.left, box.right]);
            return { left, right, top, bottom, inner };
        })"""
    )
    assert len(boxes) == 7
    for at, one in enumerate(boxes):
        assert all(a[1] <= b[0] + 1 for a, b in pairwise(one["inner"])), one
        for other in boxes[at + 1 :]:
            beside = one["right"] <= other["left"] + 1 or other["right"] <= one["left"] + 1
            assert beside or one["bottom"] <= other["top"] + 1 or other["bottom"] <= one["top"] + 1


def test_what_is_not_finite_is_counted_and_marked(page: Page, address: str) -> None:
    visit(page, address, f"run=lenet_diverges_nan&tag={TAG}")
    run = open_run(RECORDED / "lenet_diverges_nan")
    values = [run.value("histogram", TAG, place) for place in range(len(steps("lenet_diverges_nan", TAG)))]
    empty = sum(isinstance(value, HistogramValue) and value.nan == value.total for value in values)
    assert empty > 0
    expect(card(page, TAG)).to_contain_text(f"steps not finite: {empty}")
    view(page, "Numbers")
    expect(page).to_have_url(re.compile("view=numbers"))
    expect(card(page, TAG)).to_contain_text("NaN")


@pytest.mark.long
def test_every_bucket_can_be_downloaded(page: Page, address: str) -> None:
    visit(page, address, f"run={RUN}&tag={TAG}")
    card(page, TAG).hover()
    card(page, TAG).locator("summary").click()
    entry = card(page, TAG).locator('[data-save="histograms.csv"]')
    expect(entry).to_have_attribute("href", re.compile("histograms.csv"))
    with urlopen(address + (entry.get_attribute("href") or "")) as answer:
        rows = list(csv.DictReader(io.StringIO(answer.read().decode())))
    assert sorted({int(row["step"]) for row in rows}) == sorted(set(steps(RUN, TAG)))
    first = [row for row in rows if row["step"] == rows[0]["step"]]
    assert sum(float(row["count"]) for row in first) == float(first[0]["total"])
    with page.expect_download() as download:
        card(page, TAG).locator('[data-act="png"]').click()
    assert download.value.suggested_filename.endswith("_Histograms_conv1.weight_auto.png")


def test_theme_language_and_full_screen(page: Page, address: str) -> None:
    visit(page, address, f"run={RUN}")
    page.keyboard.press("j")
    page.keyboard.press("f")
    expect(page.locator(".ms-slot.ms-full")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(".ms-slot.ms-full")).to_have_count(0)
    page.locator("[data-action=theme]").first.click()
    page.locator("[data-action=language]").first.click()
    expect(page.locator(".ms-cards-controls")).to_contain_text("热力图")


def test_runs_without_histograms_say_what_records_them(page: Page, address: str) -> None:
    show(page, f"{address}/histograms?run=long_history")
    expect(page.locator('[data-state="no-tags"]')).to_contain_text("histogram_regular")


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory, serve_file: Callable[[Flask], str]) -> Iterator[str]:
    """A run with a tag of 80 steps, one of every third of them, and one of 20 steps."""
    base = tmp_path_factory.mktemp("several")
    folder = base / "run"
    folder.mkdir()
    random = np.random.default_rng(0)
    with EventWriter(str(folder / "events.out.events.summary.1700000000.1.vm_MS"), "mindspore") as writer:
        for step in range(240):
            found = {"a": 3, "b": 1, "c": 12}
            every = {tag: Histogram(random.normal(0.0, 1.0, 50)) for tag, by in found.items() if step % by == 0}
            writer.add(step, every, wall_time=1.7e9 + step)
    store = Store([base], interval=0.5).start()
    assert store.wait(30)
    yield serve_file(create_app(store).server)
    store.stop()


@pytest.mark.long
def test_steps_are_linked_over_all_cards_and_views(page: Page, several: str) -> None:
    visit(page, several, "")
    expect(page.locator(f"{CARDS}:not(.ms-pending)")).to_have_count(3)
    expect(card(page, "c").locator(".nsewdrag").first).to_be_attached()
    box = card(page, "b").locator(".nsewdrag").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] / 2)
    page.mouse.move(box["x"] + box["width"] * 0.4 + 1, box["y"] + box["height"] / 2)
    expect(page.locator(".ms-histogram-mark")).to_have_count(3)
    step = int(page.locator(".ms-hover-table tbody td").nth(1).inner_text())
    assert 80 < step < 110
    for tag, by in (("a", 3), ("c", 12)):
        shown = int(card(page, tag).locator(".ms-histogram-linked .en, .ms-histogram-linked").first.inner_text().split()[1])
        assert shown % by == 0
        assert abs(shown - step) <= by / 2
    page.mouse.move(2, 2)
    expect(page.locator(".ms-histogram-mark")).to_have_count(0)
    expect(page.locator(".ms-histogram-linked:not([hidden])")).to_have_count(0)

    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.8, steps=5)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"zoom=[^&]*:\*"))
    _, _, first, last = zoomed(page)
    for tag, by, beside in (("a", 3, 2), ("c", 12, 0)):  # cells of a heat map beside the range reach into it
        inside = len([at for at in range(0, 240, by) if first <= at <= last])
        whole = len(range(0, 240, by))
        expect(card(page, tag).locator(".ms-card-notes")).to_contain_text(f"{inside + beside} of {whole} steps")
    page.locator('[data-act="link"]').click()
    card(page, "b").hover()
    card(page, "b").get_by_role("button", name="Undo the zoom").click()
    expect(page.locator(f'{CARDS} [data-act="restore"]:not([disabled])')).to_have_count(2)
