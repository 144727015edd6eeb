"""The histograms page, used as a person would."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

from playwright.sync_api import BrowserContext, Locator, Page, expect

from parsers import HistogramValue, open_run

DEMO = Path(__file__).resolve().parents[2] / "app" / "demo"
CARDS = ".ms-slot:not([hidden])"
RUN, TAG = "lenet_sink_mode", "conv1.weight/auto"


def visit(page: Page, address: str, query: str) -> None:
    page.goto(f"{address}/histograms?{query}")
    expect(page.locator(f"{CARDS} .js-plotly-plot .xtick").first).to_be_attached()


def card(page: Page, tag: str) -> Locator:
    return page.locator(CARDS).filter(has=page.get_by_role("heading", name=tag, exact=True))


def traces(page: Page, tag: str, kind: str) -> int:
    script = "(card, kind) => card.querySelector('.js-plotly-plot')._fullData.filter(trace => trace.type === kind).length"
    found: int = card(page, tag).evaluate(script, kind)
    return found


def view(page: Page, name: str) -> None:
    page.get_by_role("group", name="View").get_by_role("button", name=name, exact=True).click()


def steps(run: str, tag: str) -> list[int]:
    found: list[int] = open_run(DEMO / run).items("histogram", tag).step.tolist()
    return found


def test_few_steps_are_a_ridge_and_many_a_heat_map(page: Page, address: str) -> None:
    visit(page, address, f"run={RUN}&tag={TAG}")
    count = len(steps(RUN, TAG))
    expect(card(page, TAG)).to_contain_text(f"all {count} steps")
    assert traces(page, TAG, "scatter") == count
    visit(page, address, "run=several_files")
    expect(card(page, "w").locator(".heatmaplayer image")).to_be_attached()
    expect(card(page, "w")).to_contain_text("all 150 steps")
    view(page, "Top")
    expect(card(page, "w")).to_contain_text("60 of 150 steps")
    expect(page).to_have_url(re.compile("view=ridge"))
    view(page, "Front")
    expect(page).to_have_url(re.compile("view=overlay"))
    expect(card(page, "w")).to_contain_text("60 of 150 steps")


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
    value = open_run(DEMO / RUN).value("histogram", TAG, len(steps(RUN, TAG)) - 1)
    assert isinstance(value, HistogramValue)
    assert whole == value.total
    assert abs(float(row["Max"]) - value.max) < 1e-3


def test_the_slider_reaches_every_step_and_the_link_says_which(page: Page, context: BrowserContext, address: str) -> None:
    visit(page, address, f"run={RUN}&tag={TAG}&view=step")
    slider = card(page, TAG).get_by_role("slider")
    recorded = sorted(set(steps(RUN, TAG)))  # of a step recorded twice the later counts
    expect(slider).to_have_attribute("max", str(len(recorded) - 1))
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile("at="))
    assert parse_qs(urlsplit(page.url).query)["at"] == [f"{recorded[-2]}:{TAG}"]
    expect(card(page, TAG).locator("output")).to_have_text(str(recorded[-2]))
    other = context.new_page()
    other.goto(page.url)
    expect(card(other, TAG).locator("output")).to_have_text(str(recorded[-2]))


def test_two_runs_over_each_other_and_side_by_side(page: Page, address: str) -> None:
    visit(page, address, f"run={RUN}&run=lenet_adam_lr0.01_b64&tag={TAG}&view=step")
    expect(card(page, TAG).locator(".subplot")).to_have_count(1)
    page.get_by_role("button", name="Side by side").click()
    expect(card(page, TAG).locator(".subplot")).to_have_count(2)
    expect(page).to_have_url(re.compile("beside=1"))


def test_what_is_not_finite_is_counted_and_marked(page: Page, address: str) -> None:
    visit(page, address, f"run=lenet_diverges_nan&tag={TAG}")
    run = open_run(DEMO / "lenet_diverges_nan")
    values = [run.value("histogram", TAG, place) for place in range(len(steps("lenet_diverges_nan", TAG)))]
    empty = sum(isinstance(value, HistogramValue) and value.nan == value.total for value in values)
    assert empty > 0
    expect(card(page, TAG)).to_contain_text(f"steps not finite: {empty}")
    view(page, "Numbers")
    expect(page).to_have_url(re.compile("view=numbers"))
    expect(card(page, TAG)).to_contain_text("NaN")


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
    assert download.value.suggested_filename == "conv1.weight_auto.png"


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
    page.goto(f"{address}/histograms?run=long_history")
    expect(page.locator('[data-state="no-tags"]')).to_contain_text("histogram_regular")
