"""The use of the hardware in a browser: settings in the link, tables, roofline, downloads, both languages and themes, keys."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from typing import Any
from urllib.request import urlopen

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page, expect

from app import create_app
from app.store.store import Store
from tests.browser.showing import show
from tests.browser.test_accessibility import AXE, FOUND, GRAVE, is_left_out
from tests.browser.waiting import WAIT_MS, steady

HEAD = "Step ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Input Shapes,{}\n"
OPERATIONS = "aic_cube_fops,aic_mac_ratio,aic_mte2_ratio"
TRAFFIC = "aic_read_main_memory_datas(KB),aic_write_main_memory_datas(KB)"
FIRST, SECOND = "profiler/h_1_20260101000000_ascend_ms", "profiler/h_2_20260102000000_ascend_ms"


def rows(counters: dict[str, str]) -> str:
    """60 MatMul of 10 us and one of 40 us, and 20 Add of 5 us."""
    kernels = [("MatMul", '"64,64"', 40 if place == 30 else 10) for place in range(61)] + [("Add", '"9"', 5)] * 20
    lines, at = [], 1_000
    for name, shapes, time in kernels:
        lines.append(f"1,{name}-op1,{name},AI_CORE,{at},{time},{shapes},{counters[name]}\n")
        at += time
    return "".join(lines)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, serve_file: Callable[[Flask], str]) -> str:
    base = tmp_path_factory.mktemp("address")
    tables = (
        (FIRST, OPERATIONS, {"MatMul": "1e9,0.9,0.2", "Add": "1e6,0.1,0.95"}),
        (SECOND, TRAFFIC, {"MatMul": "1000,500", "Add": "800,200"}),
    )
    for session, columns, counters in tables:
        place = base / "one" / session / "ASCEND_PROFILER_OUTPUT"
        place.mkdir(parents=True)
        (place / "kernel_details.csv").write_text(HEAD.format(columns) + rows(counters))
        (place.parent / "profiler_info_0.json").write_text("{}")
    place = base / "one" / FIRST / "ASCEND_PROFILER_OUTPUT"
    (place / "step_trace_time.csv").write_text(
        "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Preparing\n1,740,0,0,0,260,5\n"
    )
    trace = [{"ph": "X", "name": "MatMul-op1", "pid": 1, "tid": 1, "ts": 1_300, "dur": 40}]
    (place / "trace_view.json").write_text(json.dumps(trace))
    store = Store([base], interval=0).start()
    assert store.wait(60)
    return serve_file(create_app(store).server)


def test_three_figures_from_counters_peak_and_model(page: Page, address: str) -> None:
    show(page, f"{address}/profile_overview?run=one&session={FIRST}")
    card = page.locator(".ms-efficiency-use")
    figures = card.locator(".ms-efficiency-figure strong")
    # 61 x 1e9 + 20 x 1e6 operations in 740 us
    expect(figures).to_have_text(["82.5 TFLOPS", "–", "–"])
    expect(card).to_contain_text("no file names the device")
    card.get_by_role("button", name="A100 · 312").click()
    expect(page).to_have_url(re.compile("peak=312"))
    expect(figures).to_have_text(["82.5 TFLOPS", "26.4 %", "–"])
    card.get_by_label("or parameters, 10⁹").fill("0.001")
    card.get_by_label("× tokens per step").fill("2e4")
    expect(page).to_have_url(re.compile("parameters=0.001&tokens=2e4|tokens=2e4&parameters=0.001"))
    expect(figures).to_have_text(["82.5 TFLOPS", "26.4 %", "38.5 %"])  # 120 GFLOPs in 1 ms at 312 TFLOPS
    card.get_by_label("Model, TFLOPs per step").fill("0.5")
    expect(figures.nth(2)).to_have_text("160 %")
    expect(card.locator(".ms-efficiency-doubts")).to_contain_text("An MFU of 160 % cannot be")
    card.get_by_label("Peak, TFLOPS").fill("none")
    expect(card.locator(".ms-efficiency-doubts")).to_contain_text("expected a number above 0, found none; it is not used")

    # the settings go along, and the link alone gives them
    card.get_by_label("Peak, TFLOPS").fill("40")
    expect(card.locator(".ms-efficiency-doubts")).to_contain_text("238 % of the peak of 40.0 TFLOPS")
    card.get_by_role("link", name="What limits the kernels").click()
    expect(page).to_have_url(re.compile(r"operators\?.*peak=40"))
    expect(page.locator(".ms-efficiency-figure strong").first).to_have_text("82.5 TFLOPS")
    expect(page.get_by_label("Peak, TFLOPS")).to_have_value("40")
    # At once: the card is drawn anew now and then.
    path = page.wait_for_function("""() => {
        const href = document.querySelector('[data-efficiency-csv="figures"]')?.getAttribute("href");
        return href?.includes("peak=40") && href;
    }""").json_value()
    with urlopen(address + str(path)) as answer:
        saved = {row["figure"]: row["value"] for row in csv.DictReader(io.StringIO(answer.read().decode()))}
    assert float(saved["achieved"]) == pytest.approx((61e9 + 20e6) / 740e-6)
    assert float(saved["mfu"]) == pytest.approx(0.5e12 / (1e-3 * 40e12))


@pytest.mark.long
def test_what_limits_kernels_and_which_are_slow(page: Page, address: str) -> None:
    show(page, f"{address}/operators?run=one&session={FIRST}&peak=312")
    page.get_by_role("button", name="What limits the kernels").click()
    bound = page.locator(".ms-operators-bound-card")
    expect(bound).to_be_in_viewport()
    expect(bound).to_contain_text("86.5 % are bound by computing, 13.5 % are bound by memory")
    expect(bound.locator("tbody tr").first).to_contain_text("Computing")
    expect(bound.locator("tbody tr").first).to_contain_text("aic_mac_ratio")
    expect(bound.locator("tbody tr").nth(1)).to_contain_text("aic_mte2_ratio")
    bound.get_by_role("button", name="By shape").click()
    expect(page).to_have_url(re.compile("use=shapes"))
    expect(bound.locator("tbody tr").first).to_contain_text("64,64")
    with urlopen(address + str(bound.locator("[data-efficiency-csv]").get_attribute("href"))) as answer:
        saved = list(csv.DictReader(io.StringIO(answer.read().decode())))
    assert [(row["input_shapes"], row["bound"], row["by"]) for row in saved] == [
        ("64,64", "compute", "aic_mac_ratio"), ("9", "memory", "aic_mte2_ratio"),
    ]  # fmt: skip

    # all counters are a table that opens to shapes
    bound.get_by_role("button", name="All 2 rows and counters").click()
    expect(page).to_have_url(re.compile("view=counters"))
    grid = page.locator(".ms-operators-grid")
    expect(page.locator(".ms-operators-table-card")).to_be_in_viewport()
    names = grid.locator(".ag-pinned-left-cols-container .ag-row")
    expect(names).to_have_count(2)
    names.first.get_by_role("button").click()
    expect(names).to_have_count(3)
    expect(names.nth(1)).to_contain_text("64,64")
    expect(grid.locator(".ag-center-cols-container .ag-row").first.locator("[col-id=bound]")).to_have_text("computing")

    # one kernel took four times as long, and leads to its slice
    slow = page.locator(".ms-operators-slow-card")
    expect(slow).to_contain_text("1 of 81 kernels took 30.0 µs more")
    slow.get_by_role("link", name="Show on the timeline").click()
    expect(page).to_have_url(re.compile(r"timeline\?.*first=MatMul-op1&near=1300000"))


@pytest.mark.long
def test_roofline_of_two_sessions(page: Page, address: str) -> None:
    show(page, f"{address}/operators?run=one&session={FIRST}&peak=312&bandwidth=1000")
    card = page.locator(".ms-operators-roofline-card")
    expect(card).to_contain_text("Choose a second session with Compare")
    expect(card.get_by_role("link", name="Save as CSV")).to_be_hidden()
    page.goto(f"{address}/operators?run=one&session={FIRST}&peak=312&bandwidth=1000&with=one|{SECOND}|0")
    expect(card).to_contain_text("2 kernels of both sessions")
    expect(card.locator(".scatterlayer .point")).to_have_count(2)
    expect(card.locator(".scatterlayer .js-line")).to_have_count(2)  # slope and roof
    plot = card.locator(".js-plotly-plot")
    expect(plot).to_have_attribute("aria-label", re.compile(r"MatMul-op1: 666\.7 /B.*Roof at 312 TFLOPS"))
    with page.expect_download() as found:
        card.get_by_role("button", name="Save as PNG").click()
    assert found.value.suggested_filename.startswith("one_Operators_")
    assert found.value.path().read_bytes()[:4] == b"\x89PNG"
    with urlopen(address + str(card.locator("[data-efficiency-csv]").get_attribute("href"))) as answer:
        saved = {row["type"]: row for row in csv.DictReader(io.StringIO(answer.read().decode()))}
    assert float(saved["MatMul"]["per_byte"]) == pytest.approx(1e9 / 1.5e6)
    assert float(saved["Add"]["per_s"]) == pytest.approx(1e6 / 5e-6)

    # keys: f enlarges the card under focus, Escape brings it back
    card.focus()
    page.keyboard.press("f")
    expect(card).to_have_class(re.compile("ms-full"))
    expect(page).to_have_url(re.compile("full=roofline"))
    page.keyboard.press("Escape")
    expect(card).not_to_have_class(re.compile("ms-full"))


@pytest.mark.long
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_grave_is_found(browser: Browser, address: str, theme: Any) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; `make scripts` does it")
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme=theme, locale="en-US", bypass_csp=True)
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    found = []
    for name in ("operators", "profile_overview"):
        show(page, f"{address}/{name}?run=one&session={FIRST}&peak=40&model_flops=1&with=one|{SECOND}|0")
        expect(page.locator(".ms-efficiency-doubts")).to_be_visible()
        steady(page, "() => document.querySelector('main').innerHTML.length")
        page.evaluate(AXE.read_text(encoding="utf-8"))
        grave = [one for one in page.evaluate(FOUND) if one["impact"] in GRAVE and not is_left_out(one)]
        found += [f"{name}: {one['id']} {one['target']}: {one['why']} {one['html']}" for one in grave]
    context.close()
    assert not found, "\n".join(found)


@pytest.mark.long
def test_it_is_read_in_chinese_and_dark_on_a_narrow_screen(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 900, "height": 800})
    show(page, f"{address}/operators?run=one&session={FIRST}&peak=312&with=one|{SECOND}|0&lang=zh")
    page.evaluate("() => localStorage.clear()")
    page.locator(".ms-shell").get_by_role("button", name=re.compile("中文")).click()
    card = page.locator(".ms-efficiency-use")
    expect(card.locator(".ms-card-title").first).to_contain_text("硬件利用情况")
    expect(page.locator(".ms-operators-bound-card")).to_contain_text("受限于计算")
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".ms-efficiency-card").evaluate_all("all => all.every((one) => one.scrollWidth <= one.clientWidth + 1)")
