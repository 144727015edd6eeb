"""The tuning page, used as a person would, on a study that grows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from tests.browser.showing import show
from tests.writers.studies import trial, write_study

ROWS = ".ms-tuning-table tbody tr"


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return write_study(tmp_path / "search" / "journal.log")


@pytest.fixture
def address(journal: Path, serve: Callable[[Flask], str]) -> Iterator[str]:
    store = Store([journal.parents[1]], interval=0.3).start()
    assert store.wait(30)
    store.studies.wait()
    yield serve(create_app(store).server)
    store.stop()


@pytest.mark.long
def test_a_study_has_trials_keys_a_file_a_command_and_an_evaluator_that_says_what_it_lacks_while_it_grows(
    page: Page, address: str, journal: Path
) -> None:
    show(page, f"{address}/tuning?sort=newest&trial=5")
    expect(page.locator("tr.ms-chosen")).to_contain_text("running")
    page.keyboard.press("j")
    expect(page).to_have_url(re.compile("trial=4"))
    expect(page.locator("[data-act=trial][data-trial='4']")).to_be_focused()
    with page.expect_download() as download:
        page.locator(".ms-tuning-trials a[download]").click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert len(lines) == 7
    assert lines[0].startswith("trial,state,source,value")

    show(page, f"{address}/tuning")
    expect(page.locator(ROWS)).to_have_count(6)
    expect(page.locator(".ms-tuning-head")).to_contain_text("Best of this search: trial 1 with loss = 1")
    expect(page.locator(".ms-tuning-progress .scatterlayer .point")).to_have_count(5)
    expect(page.locator(".ms-tuning-trial code").last).to_contain_text('"mode": ["b", 1]')
    page.locator("[data-act=trial][data-trial='2']").click()
    expect(page).to_have_url(re.compile("trial=2"))
    expect(page.locator(".ms-tuning-trial code").last).to_contain_text("repeat_search_2")
    page.locator(".ms-tuning-trials select").select_option("failed")
    expect(page.locator(ROWS)).to_have_count(1)
    expect(page.locator(ROWS)).to_contain_text("exit code 3")

    show(page, f"{address}/tuning")
    card = page.locator("[data-plot=importance]")
    expect(card.locator(".annotation")).to_contain_text("Share of the variance needs at least 10 complete trials; there are 3.")
    card.locator("select").select_option("association")
    expect(card.locator(".barlayer .point")).not_to_have_count(0)
    card.scroll_into_view_if_needed()
    card.locator("select").select_option("pedanova")
    expect(page).to_have_url(re.compile("by=pedanova"))
    expect(card.locator(".annotation")).to_contain_text("PED-ANOVA (Optuna) needs at least 4 complete trials; there are 3.")
    with journal.open("a") as file:
        file.write("".join(trial(number, "complete", [0.1 * number], x=0.09 * number) for number in range(6, 11)))
    expect(card.locator(".barlayer .point")).not_to_have_count(0)
    expect(card.locator(".xtitle")).to_have_text("PED-ANOVA (Optuna), 8 trials")
    card.locator("select").select_option("association")
    expect(card.locator(".xtitle")).to_contain_text("association")
    with journal.open("a") as file:
        file.write(trial(11, "complete", [0.25]))
    expect(page.locator(".ms-tuning-head")).to_contain_text("Best of this search: trial 11")
