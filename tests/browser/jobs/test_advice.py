"""The advice page, used as a person would."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from layouts.profiles.frames import IdleTime
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
        card.locator("input").fill("99")
        expect(card).to_have_count(0)
        expect(page).to_have_url(re.compile("empty=99"))
        page.reload()
        expect(page.locator(".ms-advice-quiet input[value='99']")).to_be_visible()
        page.locator('.ms-advice-card[data-rule="queue_use"] a').click()
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
        slow = page.locator('.ms-advice-card[data-rule="slow_rank"]')
        expect(slow).to_contain_text("waited 11.4 ms of a step (1.40 %) for rank 0")
        slow.locator("summary").click()
        expect(slow.locator("tbody a").first).to_have_attribute("href", re.compile("profile_overview.*rank=0"))
        page.locator('.ms-advice-field[data-rule="capacity"] input').fill("11")
        card = page.locator('.ms-advice-card[data-rule="memory"]')
        expect(card).to_contain_text("of 11.0 GiB")
        expect(page).to_have_url(re.compile("capacity=11"))
        card.locator('.ms-advice-field[data-rule="capacity"] input').fill("64")
        expect(card).to_have_count(0)
    finally:
        store.stop()
