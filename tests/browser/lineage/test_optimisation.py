"""The optimisation target page in a browser: settings, chart, pairs and shares tell of the result that is chosen."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from parsers import Setting
from tests.browser.showing import show
from tests.sources import MemorySource

ROWS = ".ms-optimisation-settings tbody tr"


def with_shares(settings: dict[str, dict[str, Setting]]) -> MemorySource:
    """Return runs in memory with the shares of the application."""
    from app.store.lineage.fittings import Fittings

    source = MemorySource({key: {"settings": recorded} for key, recorded in settings.items()})
    rows = source.lineage.rows()
    source.lineage.fitting = Fittings().fitting  # type: ignore[method-assign]
    source.lineage.rows = lambda: rows  # type: ignore[method-assign]
    return source


def made() -> MemorySource:
    rng = np.random.default_rng(1)
    described: dict[str, dict[str, Setting]] = {}
    for n in range(60):
        rate, kind = float(10.0 ** rng.integers(-4, 0)), str(rng.choice(["Adam", "SGD", "Lamb"]))
        described[f"run{n}"] = {
            "learning_rate": rate, "optimizer": kind, "epoch": 3, "batch_size": int(rng.choice([16, 32])),
            "metric/acc": 0.9 + 0.1 * float(np.log10(rate)) + (0.05 if kind == "SGD" else 0.0), "loss": float(rng.random()),
        }  # fmt: skip
    return with_shares(described)


@pytest.fixture(scope="module")
def source() -> MemorySource:
    return made()


@pytest.fixture(scope="module")
def address(source: MemorySource, serve_file: Callable[[Flask], str]) -> str:
    return serve_file(create_app(source).server)


def test_a_result_is_explained(page: Page, address: str, source: MemorySource, tmp_path: Path) -> None:
    show(page, address + "/optimisation")
    first = page.locator(ROWS).first
    expect(first).to_have_attribute("data-setting", "learning_rate")
    expect(page.locator(ROWS, has_text="Epochs").locator(".ms-optimisation-reason .en")).to_have_text("never varies")
    expect(page.locator(".ms-optimisation-over .scatterlayer .points path")).to_have_count(60)
    expect(page.locator(".ms-optimisation-over .scatterlayer .lines path[style*='stroke-width: 2px']")).to_have_count(1)
    expect(page.locator(".ms-optimisation-best .en")).to_contain_text("the highest value tried")
    expect(page.locator(".ms-optimisation-over .ms-optimisation-told")).to_contain_text("tried from 0.0001 to 0.1")
    expect(page.locator(".ms-optimisation-trend")).to_contain_text("over the values tried (0.0001 to 0.1)")
    arrow = first.locator(".ms-optimisation-sign[role]")
    expect(arrow).to_have_attribute("title", "rises with it from 0.0001 to 0.1; not tried beyond")
    expect(page.locator(".ms-optimisation-spread .bars path").first).to_be_attached()
    # The shares come by themselves, and order the settings as they explain the result.
    expect(page.locator(".ms-optimisation-fitting")).to_contain_text("40 refits")
    expect(page.locator(".ms-optimisation-note")).to_contain_text("Sorted by the share (R² 1.00")
    expect(page.locator('th[aria-sort="descending"] [data-by="share"]')).to_have_count(1)
    expect(page.locator(".ms-optimisation-sentence > .t > .en").first).to_contain_text("Best ")
    expect(page.locator(".ms-optimisation-sentence > .t > .en").last).to_contain_text("with Learning rate ")
    expect(page.locator(".ms-optimisation-trend")).to_contain_text("of the differences go with it.")
    page.locator('[data-by="share"]').click()
    expect(page).to_have_url(re.compile("by=share"))
    expect(page.locator(ROWS).nth(1)).to_have_attribute("data-setting", "optimizer")
    expect(first.locator("td").nth(2).locator(".ms-optimisation-whisker")).to_be_attached()

    # By keyboard to the optimizer: boxes instead of a line, pairs of it with links.
    first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("setting=optimizer"))
    expect(page.locator(".ms-optimisation-over .boxlayer .trace path.box")).to_have_count(3)
    expect(page.locator(ROWS).nth(1)).to_be_focused()
    pairs = page.locator(".ms-optimisation-pairs tbody tr")
    expect(pairs.first).to_be_visible()
    link = str(pairs.first.locator("a.ms-button-icon").get_attribute("href"))
    assert link.startswith("/two_runs?one=run")

    page.locator(".ms-optimisation-importance").hover()
    page.locator(".ms-optimisation-importance summary").click()
    with page.expect_download() as download:
        page.locator('.ms-optimisation-importance [data-kind="csv"]').click()
    download.value.save_as(tmp_path / "optimisation.csv")
    lines = (tmp_path / "optimisation.csv").read_text(encoding="utf-8").splitlines()
    told = {one["setting"]: one for one in csv.DictReader(lines)}
    values = [content["settings"] for content in source.data.values()]
    wanted = np.corrcoef([one["learning_rate"] for one in values], [one["metric/acc"] for one in values])[0, 1]  # type: ignore[list-item]
    assert float(told["learning_rate"]["linear"]) == pytest.approx(abs(wanted), abs=1e-6)
    assert float(told["learning_rate"]["share_low"]) <= float(told["learning_rate"]["share"])
    assert told["epoch"]["reason"] == "constant"
    page.locator(".ms-optimisation-over").hover()
    page.locator(".ms-optimisation-over summary").click()
    with page.expect_download() as download:
        page.locator('.ms-optimisation-over [data-kind="png"]').click()
    download.value.save_as(tmp_path / "over.png")
    assert (tmp_path / "over.png").read_bytes().startswith(b"\x89PNG")

    # Another result, and few runs, by the address.
    page.locator('[data-control="target"]').select_option("loss")
    expect(page).to_have_url(re.compile("target=loss"))
    show(page, page.url.partition("?")[0] + "?run=run1&run=run2&target=loss")
    expect(page.locator(".ms-optimisation-count .en")).to_have_text("2 of 2 chosen runs have it; 60 runs have settings")
    expect(page.locator(".ms-optimisation-fitting")).to_contain_text("Shares need ten runs with this result.")


@pytest.mark.long
def test_settings_that_say_nothing_are_folded(page: Page, address: str) -> None:
    show(page, address + "/optimisation")
    rest = page.locator("[data-act=rest]")
    expect(rest.locator(".en")).to_contain_text("1 more")
    expect(page.locator(ROWS, has_text="Epochs")).to_be_hidden()
    rest.click()
    expect(page.locator(ROWS, has_text="Epochs")).to_be_visible()
    page.reload()
    expect(page.locator(ROWS, has_text="Epochs")).to_be_visible()
    rest.click()
    expect(page.locator(ROWS, has_text="Epochs")).to_be_hidden()


@pytest.mark.long
def test_the_page_opens_on_the_result_that_most_runs_have(page: Page, serve: Callable[[Flask], str]) -> None:
    source = made()
    for at, one in enumerate(source.data.values()):
        one["settings"]["metric/rare"] = float(at) if at < 5 else float("nan")
    source.kept = MemorySource(source.data).lineage.rows()
    page.goto(serve(create_app(source).server) + "/optimisation")
    expect(page.locator("[data-control=target]")).to_have_value("metric/acc")
