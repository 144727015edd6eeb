"""The columns of the list of runs: chosen, moved, resized, filtered, and rows grouped by settings."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from flask import Flask
from playwright.sync_api import Locator, Page, expect

from app import create_app
from layouts.kit import units
from parsers import Setting
from tests.browser.shell.test_shell import open_runs
from tests.browser.showing import show
from tests.sources import MemorySource, series


def header(page: Page, column: str) -> Locator:
    return page.locator(f".ms-runs-grid .ag-header-cell[col-id='{column}']")


def cells(page: Page, column: str) -> list[str]:
    rows = page.locator(f".ms-runs-grid .ag-row [col-id='{column}']").all()
    return [one.inner_text() for one in sorted(rows, key=lambda one: (one.bounding_box() or {"y": 0})["y"])]


def lines(groups: Locator) -> list[str]:
    """Value and number of runs of each group, from top to bottom."""
    shown = sorted(groups.all(), key=lambda one: (one.bounding_box() or {"y": 0})["y"])
    numbers = (one.locator(".en").inner_text().removesuffix(" runs") for one in shown)
    return [f"{one.locator('strong').inner_text()} {number}" for one, number in zip(shown, numbers, strict=True)]


@pytest.fixture(scope="module")
def sweep(serve_file: Callable[[Flask], str]) -> str:
    described: dict[str, dict[str, Setting]] = {}
    for n in range(24):
        optimizer = ["Adam", "SGD"][n % 2]
        described[f"run{n:02}"] = {"batch_size": 2 ** (3 + n % 3), "optimizer": optimizer, "learning_rate": n / 100}
    data = {key: {"settings": settings} for key, settings in described.items()}
    source = MemorySource({key: one | {"scalar": {"loss": series(5 + n, n)}} for n, (key, one) in enumerate(data.items())})
    return serve_file(create_app(source).server)


def choose(page: Page, column: str) -> None:
    page.locator(f'.ms-runs-choice input[value="{column}"]').check()


@pytest.mark.long
@pytest.mark.parametrize(("theme", "language"), [("light", "en"), ("dark", "zh")])
def test_updated_and_size_are_in_view_and_empty_columns_take_no_space(
    page: Page, address: str, theme: str, language: str
) -> None:
    open_runs(page, address)
    page.evaluate(
        "([t, l]) => localStorage.setItem('mindscope', JSON.stringify({ theme: t, language: l }))", [theme, language]
    )
    page.reload()
    for column in ("size", "updated", "insights"):
        box = header(page, column).bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 1440, column
    for column in ("remark", "tags"):
        expect(header(page, column)).to_have_count(0)
    page.set_viewport_size({"width": 1000, "height": 800})
    expect(page.locator(".ms-runs-columns > summary")).to_be_in_viewport()


@pytest.mark.long
def test_columns_are_chosen_moved_and_resized_and_the_layout_is_kept(page: Page, sweep: str) -> None:
    show(page, sweep)
    page.locator(".ms-runs-columns > summary").click()
    for column in ("setting:batch_size", "last:loss", "duration"):
        choose(page, column)
        expect(header(page, column)).to_have_count(1)
    page.locator('.ms-runs-choice input[value="path"]').uncheck()
    expect(header(page, "path")).to_have_count(0)
    page.locator(".ms-runs-columns > summary").click()
    assert set(cells(page, "setting:batch_size")) == {"8", "16", "32"}
    shown = cells(page, "duration")
    assert shown
    assert set(shown) <= {units.duration(4.0 + n) for n in range(24)}, "run n has 5 + n steps, one per second"
    # Moved before the state, and made wider.
    header(page, "setting:batch_size").drag_to(header(page, "state"), target_position={"x": 8, "y": 10})
    expect(page).to_have_url(re.compile(r"col=(open&col=)?setting:batch_size&col=state"))
    before = header(page, "setting:batch_size").bounding_box()
    assert before is not None
    edge = before["x"] + before["width"] - 2
    page.mouse.move(edge, before["y"] + 10)
    page.mouse.down()
    page.mouse.move(edge + 60, before["y"] + 10, steps=6)
    page.mouse.up()
    expect(page).to_have_url(re.compile("width=setting:batch_size:"))
    for address in (page.url, sweep):  # the link, and the next visit without one
        show(page, address)
        expect(header(page, "duration")).to_have_count(1)
        expect(header(page, "path")).to_have_count(0)
        after = header(page, "setting:batch_size").bounding_box()
        state = header(page, "state").bounding_box()
        assert after is not None
        assert state is not None
        assert abs(after["width"] - before["width"] - 60) < 8
        assert after["x"] < state["x"]
    page.locator(".ms-runs-columns > summary").click()
    page.locator('[data-act="columns-reset"]').click()
    expect(page.locator('.ms-runs-choice input[value="path"]')).to_be_checked()  # it may be out of view
    expect(header(page, "duration")).to_have_count(0)


def test_settings_and_values_are_filtered_and_sorted(page: Page, sweep: str) -> None:
    layout = "col=name&col=setting:learning_rate&col=setting:optimizer&col=last:loss"
    between = '["setting:learning_rate",{"filterType":"number","type":"inRange","filter":0.045,"filterTo":0.095}]'
    show(page, f"{sweep}/?{layout}&sort=-setting:learning_rate&filter={between}")
    expect(page.locator(".ms-runs-chosen .en")).to_contain_text("5 of 24 runs match")
    assert cells(page, "setting:learning_rate") == ["0.09", "0.08", "0.07", "0.06", "0.05"]
    show(page, f"{sweep}/?{layout}")
    name = header(page, "name")
    name.hover()
    name.locator(".ag-header-cell-filter-button").click()
    field = page.locator(".ag-filter input[type=text]").first
    field.fill("/run0[1-3]$|9$/")
    expect(page.locator(".ms-runs-chosen .en")).to_contain_text("5 of 24 runs match")
    expect(page).to_have_url(re.compile("filter="))
    page.reload()
    expect(page.locator(".ms-runs-chosen .en")).to_contain_text("5 of 24 runs match")


@pytest.mark.long
def test_a_hostile_pattern_hangs_nothing(page: Page, tmp_path: Path, serve: Callable[[Flask], str]) -> None:
    from app.store.store import Store
    from parsers.recording import EventWriter

    folder = tmp_path / ("a" * 60)
    folder.mkdir()
    with EventWriter(str(folder / "events.out.events.summary.1700000000.1.vm_MS"), "mindspore") as writer:
        writer.add(1, {"loss": 1.0})
    store = Store([tmp_path], interval=0).start()
    assert store.wait(30)
    wanted = '["name",{"filterType":"text","type":"contains","filter":"/(a%2B)%2B!/"}]'
    page.goto(serve(create_app(store).server) + f"/?filter={wanted}")
    expect(page.locator(".ms-runs-trouble .en")).to_contain_text("took longer")
    expect(page.locator(".ms-runs-grid .ag-row").first).to_be_visible()
    store.stop()


@pytest.mark.long
def test_rows_are_grouped_by_settings_one_within_the_other(page: Page, sweep: str) -> None:
    show(page, f"{sweep}/?run=")
    page.locator(".ms-runs-columns > summary").click()
    page.locator('[data-group="setting:optimizer"]').click()
    expect(page.locator('[data-group="setting:optimizer"]')).to_have_attribute("aria-pressed", "true")
    page.locator('[data-group="setting:batch_size"]').click()
    page.locator(".ms-runs-columns > summary").click()
    groups = page.locator(".ms-runs-group")
    expect(groups).to_have_count(8)
    assert lines(groups) == ["Adam 12", "8 4", "16 4", "32 4", "SGD 12", "8 4", "16 4", "32 4"]
    groups.filter(has_text="Adam").click()
    expect(groups).to_have_count(5)
    assert lines(groups) == ["Adam 12", "SGD 12", "8 4", "16 4", "32 4"]
    expect(page.locator(".ms-runs-grid .ag-pinned-left-cols-container .ag-row [col-id=name]")).to_have_count(12)
    page.reload()
    expect(groups).to_have_count(8)
    # All runs are chosen by the box in the header, and no row of a group is a run.
    page.locator(".ag-header-select-all input").first.check()
    expect(page.locator(".ms-runs-chosen .en")).to_contain_text("24 runs · 24 chosen")
    page.locator('[data-act="ungroup"]').click()
    expect(groups).to_have_count(0)


def test_rows_are_grouped_from_the_bar(page: Page, sweep: str) -> None:
    show(page, f"{sweep}/?run=")
    page.locator(".ms-runs-group-by").click()
    one = page.locator('[data-by="setting:optimizer"]')
    one.click()
    expect(one).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".ms-runs-group")).to_have_count(2)
    one.click()
    expect(page.locator(".ms-runs-group")).to_have_count(0)


@pytest.mark.long
def test_the_first_remark_makes_its_column(page: Page, base: Path, tmp_path: Path, serve: Callable[[Flask], str]) -> None:
    app = create_app(base, workspace=tmp_path / "workspace")
    open_runs(page, serve(app.server))
    expect(header(page, "remark")).to_have_count(0)
    row = page.locator(".ag-pinned-left-cols-container .ag-row").first
    row.hover()
    row.locator(".ms-runs-note").click()
    page.keyboard.insert_text("seen")
    page.keyboard.press("Enter")
    expect(header(page, "remark")).to_have_count(1)
    expect(header(page, "tags")).to_have_count(0)
    assert "seen" in cells(page, "remark")
    app.source.stop()


@pytest.mark.long
def test_every_page_counts_the_same_runs_and_says_what_it_counts(page: Page, serve: Callable[[Flask], str]) -> None:
    ranks = [f"job/rank_{n}" for n in range(4)]
    described: dict[str, Setting] = {"learning_rate": 0.1, "loss": 1.0}
    keys = [*ranks, "one", "two"]
    source = MemorySource({
        key: {"settings": described | {"epoch": n, "metric/acc": n / 10}, "scalar": {"loss": series(5, n)}}
        for n, key in enumerate(keys)
    }, jobs={"job": ranks})  # fmt: skip
    address = serve(create_app(source).server)
    for name, place, words in (
        ("", ".ms-runs-chosen .en", "3 runs (6 ranks) · 3 chosen"),
        ("model_lineage", ".ms-lineage-rows .ms-lineage-told .en", "3 of 3 runs, 6 of 6 ranks"),
        ("optimisation", ".ms-optimisation-count .en", "6 of 6 ranks have it, of 3 runs with settings"),
    ):
        show(page, f"{address}/{name}")
        expect(page.locator(place).first).to_have_text(words)
        button = page.locator(".ms-picker-open .en").first
        expect(button).to_have_text("3 of 3 runs")
        expect(page.locator("[data-en-title^='3 runs, of which']").first).to_have_attribute(
            "data-en-title", re.compile("6 ranks$")
        )


@pytest.mark.long
@pytest.mark.parametrize(("theme", "language"), [("light", "en"), ("dark", "zh")])
def test_header_picker_and_cards_fit_a_phone(page: Page, base: Path, address: str, theme: str, language: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    (base / "nan_inf" / "events.out.events.summary.1700000009.0.cut_MS").write_bytes(bytes(range(256)) * 8)
    open_runs(page, address)
    expect(page.locator(".ms-health.ms-wrong")).to_be_visible()
    page.evaluate(
        "([t, l]) => localStorage.setItem('mindscope', JSON.stringify({ theme: t, language: l }))", [theme, language]
    )
    for name in ("", "scalars", "overview", "histograms"):
        show(page, f"{address}/{name}")
        expect(page.locator(".ms-picker-open")).to_be_in_viewport(ratio=1)
        # No control of the header is over another one or beyond the edge.
        apart = page.evaluate("""() => {
          const shown = Array.from(document.querySelectorAll(".ms-top :is(button, summary, h1)"))
            .filter((one) => one.checkVisibility() && !one.closest(".ms-popover, .ms-panel, .ms-chips"))
            .map((one) => one.getBoundingClientRect()).filter((box) => box.width > 0);
          const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
          return shown.length > 4 && shown.every((a, i) => a.right <= 390 && shown.every((b, j) => i >= j || !over(a, b)));
        }""")
        assert apart, name
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
        tools = page.locator(".ms-top > :is(button, details, .ms-refresh), .ms-top .ms-health").evaluate_all(
            "(all) => all.filter((one) => one.checkVisibility()).map((one) => Math.round(one.getBoundingClientRect().top / 20))"
        )
        assert len(set(tools)) == 1, "the tools are in one line, with damage too"
    show(page, f"{address}/scalars")
    cards = page.locator(".ms-slot:not([hidden])")
    expect(cards.nth(1)).to_be_visible()
    boxes = [cards.nth(n).bounding_box() for n in range(2)]
    assert all(box and box["width"] > 300 for box in boxes)
    assert len({round(box["x"]) for box in boxes if box}) == 1
    page.locator(".ms-picker-open").click()
    panel = page.locator(".ms-panel").first
    expect(panel).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()


@pytest.mark.long
def test_an_expression_becomes_a_column(page: Page, sweep: str) -> None:
    show(page, sweep)
    page.locator(".ms-runs-columns > summary").click()
    page.locator('[data-act="expr-add"]').click()
    field = page.locator(".ms-expression-field")
    field.press_sequentially("log10(lo")
    expect(page.locator(".ms-expression-tag")).to_have_text(["loss"])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    field.press_sequentially(") * 2")
    page.keyboard.press("Enter")
    tag = "=log10(loss) * 2"
    expect(header(page, f"last:{tag}")).to_contain_text(f"Last {tag}")
    expect(page).to_have_url(re.compile("col=last%3A%3Dlog10|col=last:%3Dlog10"))
    wanted = {f"run{n:02}": 2 * np.log10(series(5 + n, n).value[-1]) for n in range(24)}
    cell = page.locator(f'.ms-runs-grid .ag-row[row-id="run05"] [col-id="last:{tag}"]')
    expect(cell).not_to_be_empty()
    assert float(cell.inner_text().replace("−", "-")) == pytest.approx(wanted["run05"], rel=1e-3)
    header(page, f"last:{tag}").click()
    lowest = min(wanted, key=lambda run: wanted[run])
    expect(page.locator('.ms-runs-grid .ag-row[row-index="0"]').first).to_have_attribute("row-id", lowest)
    page.locator(".ms-runs-columns > summary").click()
    choose(page, f"max:{tag}")
    expect(header(page, f"max:{tag}")).to_contain_text(f"Highest {tag}")


@pytest.mark.long
def test_an_invalid_expression_of_a_link_is_told(page: Page, sweep: str) -> None:
    show(page, f"{sweep}/?col=last:%3Dloss+-&col=state")
    trouble = page.locator(".ms-runs-trouble")
    expect(trouble).to_contain_text("=loss -: Column 7: expected a tag, a number, a function or (; found the end.")
