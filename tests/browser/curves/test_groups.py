"""Groups of runs on the scalars page, and its tables of last values, used as a person would."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from parsers.recording import EventWriter
from tests.browser.conftest import in_address
from tests.browser.curves.test_scalars import CARDS, LINE
from tests.browser.showing import show


def sweep(base: Path) -> None:
    """Runs of two learning rates, three and five seeds each."""
    random = np.random.default_rng(4)
    for rate, seeds in ((1, 5), (2, 3)):
        for seed in range(seeds):
            directory = base / f"lr{rate}_seed{seed}"
            directory.mkdir()
            with EventWriter(str(directory / "events.out.tfevents.1700000000.host"), "tensorboard", wall_time=1.7e9) as writer:
                for step in range(40):
                    writer.add(step, {"loss": rate + float(random.normal()) / 10}, wall_time=1.7e9 + step)


@pytest.mark.long
def test_runs_are_grouped_compared_with_a_baseline_and_told_in_a_table(page: Page, address: str, base: Path) -> None:
    sweep(base)
    runs = "&".join(f"run=lr{rate}_seed{seed}" for rate, seeds in ((1, 5), (2, 3)) for seed in range(seeds))
    show(page, f"{address}/scalars?{runs}")
    loss = page.locator(CARDS).first
    lines = loss.locator(LINE)
    expect(lines).to_have_count(8)

    page.locator(".ms-grouping > summary").click()
    page.get_by_label("Group by").select_option("regex")
    what = page.locator('[data-group="what"]')
    what.fill("lr(")
    what.press("Enter")
    expect(page.locator(".ms-group-refused")).to_contain_text("expected a regular expression")
    expect(lines).to_have_count(8)
    what.fill("lr([0-9])")
    what.press("Enter")
    chips = page.locator(".ms-group-chip")
    expect(chips).to_have_text(["1n 5", "2n 3"])
    expect(page.locator(".ms-group-warning")).to_be_visible()
    expect(loss.locator(".scatterlayer .trace path.js-fill")).to_have_count(2)

    # Without a choice of runs all are grouped, not the best of each group.
    show(page, f"{address}/scalars")
    page.locator(".ms-grouping > summary").click()
    page.get_by_label("Group by").select_option("regex")
    what.fill("lr([0-9])")
    what.press("Enter")
    expect(chips.filter(has_text="n 5")).to_have_count(1)
    in_address(page, "run", "*")
    show(page, f"{address}/scalars?{runs}&group=regex:lr([0-9])")
    expect(chips).to_have_text(["1n 5", "2n 3"])
    page.locator(".ms-grouping > summary").click()

    # Off and on again shows the same groups.
    page.get_by_label("Group by").select_option("")
    expect(lines).to_have_count(8)
    expect(page.locator(".ms-groups")).to_be_hidden()
    page.get_by_label("Group by").select_option("regex")
    what.fill("lr([0-9])")
    what.press("Enter")
    expect(page.locator(".ms-groups")).to_be_visible()
    expect(lines).to_have_count(4)  # two lines, and the edges of their bands

    page.get_by_role("button", name="Min–max").click()
    expect(page.locator(".ms-groups")).to_contain_text("Mean, min to max")
    page.locator('[data-group="base"]').select_option("group:1")
    expect(loss.locator(".ms-minus")).to_have_text("− 1")
    in_address(page, "group", "regex:lr([0-9])")
    page.keyboard.press("Escape")
    chips.nth(1).click()
    expect(page.locator(".ms-group[open] .ms-group-runs > div")).to_have_count(3)
    page.keyboard.press("Escape")

    expect(loss.locator(".ms-card-notes")).to_contain_text("320 points")
    box = loss.locator(".js-plotly-plot").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator(".ms-hover-table tbody tr").first.locator("td").nth(3)).to_have_text(re.compile("[35]"))
    expect(page.locator(".ms-hover-members")).to_contain_text("_seed0")

    page.get_by_role("button", name="Table", exact=True).click()
    rows = page.locator(".ms-finals tbody tr:has(td)")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("0.00 (0.00 –")
    page.get_by_role("button", name="Last", exact=True).click()
    expect(page.locator('th[aria-sort="ascending"]')).to_contain_text("Last")
    address_now = page.url
    show(page, address_now)
    expect(rows).to_have_count(2)
    expect(page.locator(CARDS)).to_have_count(0)
    page.locator(".ms-cards-controls .ms-menu-down > summary").last.click()
    expect(page.locator('[data-export="final"]')).to_have_attribute("href", re.compile("final"))
    href = page.locator('[data-export="final"]').get_attribute("href")
    assert href is not None
    with urlopen(address + href) as answer:
        told = list(csv.DictReader(io.StringIO(answer.read().decode())))
    assert [(row["name"], row["runs"]) for row in told] == [("1", "5"), ("2", "3")]


@pytest.mark.long
def test_the_matrix_of_last_values_is_sorted_and_leads_to_cards(page: Page, address: str, base: Path) -> None:
    sweep(base)
    runs = "&".join(f"run=lr{rate}_seed{seed}" for rate, seeds in ((1, 5), (2, 3)) for seed in range(seeds))
    show(page, f"{address}/scalars?{runs}&mode=table")
    page.get_by_role("button", name="Runs × tags", exact=True).click()
    in_address(page, "table", "runs")
    values = page.locator(".ms-matrix tbody td")
    expect(values).to_have_count(8)
    page.locator('.ms-matrix [data-by="-tag:loss"]').click()
    in_address(page, "by", "-tag:loss")
    expect(page.locator('.ms-matrix th[aria-sort="descending"]')).to_contain_text("loss")
    numbers = [float(text) for text in values.all_inner_texts()]
    assert numbers == sorted(numbers, reverse=True)
    expect(values.first).to_have_attribute("title", re.compile(" at step "))
    values.first.click()
    expect(page.locator(CARDS)).to_have_count(1)
    in_address(page, "full", "loss")
