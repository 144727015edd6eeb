"""The start page in a browser: it follows the runs, its links open pages, and the framework that was chosen is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from parsers.recording import EventWriter
from tests.browser.conftest import in_address
from tests.browser.showing import show

pytestmark = pytest.mark.browser
DEMO = "http://127.0.0.1:9/p/"


def test_a_directory_without_runs_opens_on_start_and_follows_the_first_run(
    page: Page, serve: Callable[[Flask], str], tmp_path: Path
) -> None:
    store = Store([tmp_path], interval=0.5).start()
    assert store.wait(30)
    page.goto(f"{serve(create_app(store, demo=DEMO).server)}/")
    expect(page.locator(".ms-start-empty")).to_be_visible()
    assert page.url.endswith("/start")

    expect(page.locator(".ms-demo-start:visible")).to_have_count(0)
    expect(page.locator(".ms-demo-link:visible")).to_have_attribute("href", f"{DEMO}scalars")

    # The code of the framework chosen, by the keyboard, here and on other pages.
    torch = page.locator('.ms-start .ms-recording-tab[data-tool="torch"]')
    torch.focus()
    page.keyboard.press("Enter")
    expect(torch).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".ms-start .ms-code:visible")).to_contain_text("add_scalar")
    page.locator('[data-record="dump"].ms-start-choice').click()
    in_address(page, "record", "dump")
    expect(page.locator(".ms-start .ms-code:visible")).to_contain_text("PrecisionDebugger")
    page.locator('[data-record="lineage"].ms-start-choice').focus()

    (tmp_path / "run").mkdir()
    with EventWriter(str(tmp_path / "run" / "events.out.tfevents.1700000000.host"), "tensorboard") as writer:
        for step in range(20):
            writer.add(step, {"loss": 1.0 / (1 + step)})
    link = page.locator('.ms-start-answer[data-key="going"]')
    expect(link).to_contain_text("How is training going?")
    expect(page.locator(".ms-start-count .en")).to_have_text("1 run")
    expect(page.locator('[data-record="lineage"].ms-start-choice')).to_be_focused()

    link.click()
    expect(page.locator(".ms-overview-run")).to_contain_text("run")
    in_address(page, "run", "run")
    page.locator('.ms-menu-link[data-page=""]').click()
    expect(page.locator(".ms-runs-grid")).to_be_visible()
    page.keyboard.press("?")
    page.locator('.ms-keys-start:visible a[data-page="start"]').click()
    expect(link).to_be_visible()
    store.stop()


def test_each_of_the_six_questions_opens_its_page_with_something_to_show(page: Page, everything: str) -> None:
    show(page, f"{everything}/start")
    links = page.locator(".ms-start-answer")
    expect(links).to_have_count(6)
    expect(page.locator(".ms-start-missing")).to_have_count(0)
    addresses = [str(link.get_attribute("href")) for link in links.all()]
    assert [address.partition("?")[0] for address in addresses] == [
        "optimisation", "first_cause", "profile_overview", "cluster", "memory", "saliency",
    ]  # fmt: skip
    for place, shown in enumerate((".ms-optimisation-body", *[".ms-body-content"] * 5)):
        show(page, f"{everything}/start")
        links.nth(place).click()
        expect(page.locator(shown).first).to_be_visible()
        expect(page.locator(".ms-missing-data:visible")).to_have_count(0)
