"""The advice page, used as a person would."""

from __future__ import annotations

import csv
import os
import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from layouts.kit.work import Report, WorkResult
from layouts.profiles.frames import IdleTime
from layouts.profiles.source import JobWork
from tests.browser.showing import show

DATA = Path(os.environ.get("MINDSCOPE_TEST_DATA", "/nowhere"))
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="MINDSCOPE_TEST_DATA names no directory of real runs")


def test_advice_is_given_with_evidence_and_a_threshold_that_can_be_changed(
    page: Page, serve: Callable[[Flask], str], tmp_path: Path
) -> None:
    shutil.copytree(DATA / "profiler_new" / "mindspore_2.10_minddata" / "raw_b", tmp_path / "runs" / "feeding")
    store = Store([tmp_path / "runs"], interval=0.5).start()
    try:
        assert store.wait(30)
        page.goto(f"{serve(create_app(store).server)}/advice")
        card = page.locator('.ms-advice-card[data-rule="empty"]')
        expect(card).to_contain_text("empty for 98.0 % of the batches")
        card.locator("summary").click()
        expect(card.locator("tbody tr")).to_have_count(20)
        card.locator("input").fill("99")  # steps wait all the same, which is said then
        expect(card).to_contain_text("13.0 %")
        expect(page).to_have_url(re.compile("empty=99"))
        busy = page.locator('.ms-advice-card[data-rule="cpu"]')
        busy.locator("input").fill("99")
        expect(busy).to_have_count(0)
        expect(page).to_have_url(re.compile("cpu=99"))
        page.reload()
        expect(page.locator(".ms-advice-quiet input[value='99']")).to_be_visible()
        page.locator('.ms-advice-card[data-rule="queue_use"] a[data-page="preparation"]').click()
        expect(page.locator(".ms-preparation-verdict")).to_be_visible()
        assert "/preparation?" in page.url
    finally:
        store.stop()


@pytest.mark.long
def test_pages_show_idle_time_once_the_trace_has_been_read(
    page: Page, serve: Callable[[Flask], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(DATA / "profiler_new" / "torch_npu_text_level2", tmp_path / "runs" / "job")
    store = Store([tmp_path / "runs"], interval=0.5).start()
    states = [IdleTime("reading")]
    monkeypatch.setattr(store.profiles, "idle_time", lambda *_: states[-1])
    try:
        assert store.wait(30)
        address = serve(create_app(store).server)
        for name in ("advice", "profile_overview"):
            states.append(IdleTime("reading"))
            show(page, f"{address}/{name}")
            expect(page.locator("main, .ms-shell").first).to_contain_text("the trace is being read")
            states.append(IdleTime("none"))
            expect(page.locator("main, .ms-shell").first).to_contain_text("The trace has no stream of a device.")
    finally:
        store.stop()


@pytest.mark.long
def test_advice_about_a_job_takes_the_memory_of_the_device(page: Page, serve: Callable[[Flask], str], tmp_path: Path) -> None:
    shutil.copytree(DATA / "profiler_new" / "torch_npu_st_4ranks_pp2", tmp_path / "runs" / "job")
    store = Store([tmp_path / "runs"], interval=0.5).start()
    try:
        assert store.wait(30)
        page.goto(f"{serve(create_app(store).server)}/advice")
        # It has too few steps to say who is slow.
        expect(page.locator(".ms-advice-found")).to_contain_text("fewer than 8 steps were recorded")
        expect(page.locator(".ms-advice-status")).to_be_hidden()  # a field that is drawn anew meanwhile loses what is typed
        page.locator('.ms-advice-field[data-rule="capacity"] input').fill("11")
        card = page.locator('.ms-advice-card[data-rule="memory"]')
        expect(card).to_contain_text("of 11.0 GiB")
        expect(page).to_have_url(re.compile("capacity=11"))
        card.locator('.ms-advice-field[data-rule="capacity"] input').fill("64")
        expect(card).to_have_count(0)
    finally:
        store.stop()


@pytest.mark.long
def test_savings_come_later_and_what_was_read_stays_in_place(
    page: Page, serve: Callable[[Flask], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(DATA / "profiler_new" / "torch_npu_st_4ranks_pp2", tmp_path / "runs" / "job")
    store = Store([tmp_path / "runs"], interval=0.5).start()
    work, held = store.profiles.work, threading.Event()

    def slow(run: str, session: str, rank: int, one: JobWork, *, again: bool = False) -> WorkResult:
        def job(report: Report) -> object:
            while not held.wait(0.1):
                report(30, 100)
            return one.job(report)

        return work(run, session, rank, JobWork(one.name, one.key, job), again=again)

    monkeypatch.setattr(store.profiles, "work", slow)
    try:
        assert store.wait(30)
        page.goto(f"{serve(create_app(store).server)}/advice")
        status, cards = page.locator(".ms-advice-status"), page.locator(".ms-advice-card")
        expect(status).to_contain_text("Computing savings")
        expect(status).to_contain_text("30.0 %")
        card = page.locator('.ms-advice-card[data-rule="communication"]')
        expect(card).to_contain_text("computing savings")
        expect(card.locator("input")).to_have_attribute("data-rule", "communication")
        before = cards.evaluate_all("all => all.map((one) => one.dataset.rule)")
        card.locator("summary").click()
        height = page.evaluate("document.querySelector('.ms-advice-bar').getBoundingClientRect().height")
        status.get_by_role("button", name="Stop").click()
        expect(card).to_contain_text("saving not computed")
        status.get_by_role("button", name="Continue").click()
        expect(card).to_contain_text("computing savings")
        page.locator(".ms-advice-bar button", has_text="CSV").click()
        # Buttons are scrolled into view by a click, so that the reader goes to the card after the last one.
        page.evaluate("window.scrollBy(0, document.querySelector('[data-rule=communication]').getBoundingClientRect().top + 5)")
        top = card.evaluate("one => one.getBoundingClientRect().top")
        with page.expect_download() as download:
            held.set()
            expect(card).to_contain_text("of a step")
        rows = list(csv.DictReader(download.value.path().read_text().splitlines()))
        assert all(float(row["cost_ns"]) >= 0 for row in rows if row["rule"] == "communication")
        assert any(row["rule"] == "communication" for row in rows)
        expect(status).to_be_hidden()
        assert page.evaluate("document.querySelector('.ms-advice-bar').getBoundingClientRect().height") == height
        after = cards.evaluate_all("all => all.map((one) => one.dataset.rule)")
        assert sorted(before) == sorted(after)
        assert card.evaluate("one => one.getBoundingClientRect().top") == pytest.approx(top, abs=2.0)
        expect(card.locator("details").first).to_have_attribute("open", "")
        opened = page.locator(".ms-advice-card > .ms-card-body > details[open]")
        assert opened.evaluate_all("all => all.map((one) => one.closest('[data-rule]').dataset.rule)") == ["communication"]
        for rule in after:
            expect(page.locator(f'.ms-advice-card[data-rule="{rule}"] input')).to_have_attribute("data-rule", rule)
    finally:
        held.set()
        store.stop()
