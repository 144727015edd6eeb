"""The page about the first cause of bad values, used as a person would."""

from __future__ import annotations

import csv
import io
import math
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from parsers.recording import EventWriter
from tests.browser.showing import show
from tests.writers.dumps import Injection, write_dump


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory, serve_file: Callable[[Flask], str]) -> Iterator[str]:
    """The application over a training whose gradient explodes in iteration 9, one with NaN from iteration 3, a healthy one."""
    base = tmp_path_factory.mktemp("dumps")
    write_dump(base / "explode", injection=Injection(9, 14, "exploding"), iterations=12)
    write_dump(base / "nan", injection=Injection(3, 4, "nan"), iterations=6)
    write_dump(base / "healthy", iterations=3)
    with EventWriter(str(base / "nan/events.out.events.summary.1700000000.0.host_MS"), "mindspore") as writer:
        for step in range(1, 7):  # MindSpore counts steps from 1, iterations of a dump from 0
            writer.add(step, {"loss": 0.5 if step < 4 else math.nan})
    store = Store([base], interval=0, notes_directory=str(base / "notes")).start()
    assert store.wait(60)
    yield serve_file(create_app(store).server)
    store.stop()


def drawn(page: Page, name: str) -> str:
    return page.locator(f'[data-plot="{name}"].ms-plot-drawn .js-plotly-plot').evaluate(
        "plot => JSON.stringify(plot._fullData.map(trace => [trace.meta.role, trace.x.length]))"
    )


def test_a_link_chooses_the_run_and_an_unknown_name_is_said(page: Page, dumps: str) -> None:
    show(page, f"{dumps}/first_cause?run=healthy&of=nan")
    expect(page.locator('[data-section="head"]')).to_contain_text("In iteration 3, BiasAdd-op0 made the first bad values")
    show(page, f"{dumps}/first_cause?run=nan&of=nobody")
    expect(page.locator('[data-state="unknown"]')).to_have_text(
        "No run with a dump has this name: nobody", use_inner_text=True
    )
    expect(page.locator('[data-section="head"]')).to_be_hidden()
    show(page, f"{dumps}/two_dumps?run=nan&run=healthy&of=healthy&with=explode")
    expect(page.locator(".ms-two-dumps-sides")).to_contain_text("B explode", use_inner_text=True)
    show(page, f"{dumps}/two_dumps?run=nan&run=healthy&of=healthy&with=nobody")
    expect(page.locator('[data-state="unknown"]')).to_contain_text("nobody")


def test_one_sentence_and_the_list_lead_to_the_debugger(page: Page, dumps: str) -> None:
    show(page, f"{dumps}/first_cause?run=nan")
    head = page.locator('[data-section="head"]')
    said = "In iteration 3, BiasAdd-op0 made the first bad values (1 NaN of 48); all its inputs are finite."
    expect(head).to_contain_text(said)
    expect(head).to_contain_text("value = self.biasadd(value)")
    rows = page.locator('[data-section="causes"] tbody tr')
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_have_class("ms-chosen")
    expect(rows.nth(1)).to_contain_text("bad before: fc0.weight", use_inner_text=True)
    rows.nth(2).get_by_role("button", name="5").click()
    expect(rows.nth(2)).to_have_class("ms-chosen")
    expect(page.locator('[data-plot="spread"] .ms-card-title')).to_have_text("Spread in iteration 5", use_inner_text=True)
    expect(page).to_have_url(re.compile("step=5"))
    head.locator("a[data-page=debugger]").click()
    expect(page).to_have_url(re.compile("/debugger[?].*step=3.*node=Default"))


@pytest.mark.long
def test_an_insight_about_nan_leads_to_the_iteration_in_the_dump(page: Page, dumps: str) -> None:
    show(page, f"{dumps}/scalars?run=nan")
    page.locator(".ms-marks-menu summary").first.click()
    page.get_by_role("link", name="Find the cause in the dump").click()
    expect(page).to_have_url(re.compile("/first_cause[?].*step=3"))
    expect(page.locator('[data-section="causes"] tr.ms-chosen')).to_contain_text("BiasAdd-op0")
    expect(page.locator('[data-plot="norms"] .ms-first-cause-note')).to_contain_text("Orange: loss")
    assert '["loss",6]' in drawn(page, "norms")


@pytest.mark.long
def test_norms_that_left_their_history(page: Page, dumps: str) -> None:
    show(page, f"{dumps}/first_cause?run=explode")
    expect(page.locator('[data-section="head"]')).to_contain_text("In iteration 9, the norm of MatMul-op0 exploded")
    rows = page.locator('[data-section="departures"] tbody tr')
    expect(rows.nth(0)).to_have_class("ms-chosen")
    expect(page.locator('[data-plot="norms"] .ms-card-badges')).to_contain_text("Grad_MatMul/MatMul-op0 output.0")
    assert '["norm",12]' in drawn(page, "norms")
    rows.nth(2).get_by_role("button").click()
    expect(rows.nth(2)).to_have_class("ms-chosen")
    expect(page.locator('[data-plot="norms"] .ms-card-badges')).to_contain_text("fc2.weight parameter.0")
    page.keyboard.press("f")
    expect(page.locator(".ms-full")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(".ms-full")).to_have_count(0)


@pytest.mark.long
def test_a_table_is_saved_whole(page: Page, dumps: str) -> None:
    show(page, f"{dumps}/first_cause?run=nan")
    card = page.locator('[data-card="spread"]')
    expect(card.locator("tbody tr").first).to_be_visible()
    with page.expect_download() as download:
        card.get_by_role("button", name="CSV").click()
    assert download.value.suggested_filename == "nan_spread.csv"
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text())))
    assert len(rows) == card.locator("tbody tr").count()
    assert rows[0]["type"] == "BiasAdd"


def test_a_healthy_dump_and_a_dump_without_tensors(page: Page, dumps: str) -> None:
    show(page, f"{dumps}/first_cause?run=healthy")
    expect(page.locator('[data-section="head"]')).to_contain_text("No tensor has NaN or Inf")
    expect(page.locator('[data-card="causes"]')).to_be_hidden()
    expect(page.locator('[data-plot="spread"]')).to_be_hidden()


@pytest.mark.long
def test_a_real_dump_in_chinese(page: Page, real_data: Path, tmp_path: Path, serve: Callable[[Flask], str]) -> None:
    shutil.copytree(real_data / "dump/out_nan", tmp_path / "runs/out_nan")
    shutil.copytree(real_data / "dump/out_pyn", tmp_path / "runs/out_pyn")
    store = Store([tmp_path / "runs"], interval=0, notes_directory=str(tmp_path / "notes")).start()
    assert store.wait(60)
    base = serve(create_app(store).server)
    show(page, f"{base}/first_cause?run=out_nan")
    page.locator("html").evaluate("root => { root.lang = 'zh-CN'; }")
    expect(page.locator('[data-section="head"] .zh').first).to_have_text(
        "在迭代 1 中，Square-op0 最先产生异常值（12 个值中 12 Inf），其输入均为有限值。"
    )
    page.locator('[data-section="head"] summary').click()
    expect(page.locator('[data-section="head"] .ms-debugging-stack li').first).to_contain_text("square_op(input)")
    assert '["spread",16]' in drawn(page, "spread")
    show(page, f"{base}/first_cause?run=out_pyn")
    expect(page.locator('[data-state="nothing"]')).to_be_visible()
    store.stop()


def test_no_table_is_cut_in_a_narrow_window(page: Page, serve: Callable[[Flask], str], real_data: Path) -> None:
    store = Store([real_data / "msprobe" / "torch" / "stat_ddp"], interval=0).start()
    assert store.wait(60)
    page.set_viewport_size({"width": 1000, "height": 800})
    show(page, serve(create_app(store).server) + "/first_cause")
    rows = page.locator(".ms-debugging-rows")
    expect(rows).to_have_count(2)
    assert rows.evaluate_all("all => all.map((one) => one.scrollWidth - one.clientWidth)") == [0, 0]
    store.stop()
