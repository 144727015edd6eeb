"""The conversion page in a browser: a node chosen by mouse and keys shows its lines, links, colours, files, hostile names."""

from __future__ import annotations

import csv
import io
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urljoin
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from tests.browser.showing import show
from tests.converted import CONVERSION, changed

CANVAS = ".ms-conversion-graph .ms-graph-canvas"
CODE = ".ms-conversion-panel"
EVIL = '<img src=x onerror="window.evil = 1">'


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, serve_file) -> str:
    """The sample, one whose names are markup, and a report that was cut."""
    base = tmp_path_factory.mktemp("conversions")
    shutil.copytree(CONVERSION, base / "digits")

    def change(told: dict[str, Any]) -> None:
        for node in told["nodes"]:
            node["name"] = EVIL
        told["nodes"][12]["message"] = EVIL
        told["check"]["values"][6] |= {"largest": 3.0, "beyond": True, "value": EVIL}

    changed(base / "hostile", change, script=False)
    (base / "cut").mkdir()
    whole = next(CONVERSION.glob("*.json"))
    (base / "cut" / whole.name).write_bytes(whole.read_bytes()[:2000])
    store = Store([base], interval=0).start()
    assert store.wait(30)
    return serve_file(create_app(store).server)


def test_a_node_is_chosen_and_shows_its_lines(page: Page, place: str) -> None:
    show(page, f"{place}/conversion?run=digits")
    expect(page.locator(".ms-conversion-said .en")).to_have_text("92.9 % of 14 nodes converted")
    expect(page.locator(".ms-conversion-graph.ms-graph-drawn")).to_be_visible()
    page.locator(".ms-conversion-check [data-go=n12]").click()
    expect(page.locator(".ms-conversion-own")).to_have_text(re.compile(r"self\.head2\(x\)"))
    expect(page).to_have_url(re.compile("node=n12"))
    page.reload()
    expect(page.locator(f"{CODE} h4")).to_have_text("/head/QuickGelu")
    # Along the edges by arrows.
    page.locator(CANVAS).focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator(f"{CODE} h4")).to_have_text("/head/Gemm")
    expect(page.locator(".ms-conversion-own")).to_have_text(re.compile(r"self\.head1\(x\)"))


def test_colours_plot_files_and_languages(page: Page, place: str) -> None:
    show(page, f"{place}/conversion?run=digits")
    expect(page.locator(".ms-conversion-legend")).to_contain_text("Marked")
    page.locator(".ms-conversion-bar button", has_text="Difference").click()
    expect(page.locator(".ms-conversion-legend")).to_contain_text("Largest absolute difference")
    expect(page).to_have_url(re.compile("colour=difference"))
    expect(page.locator(".ms-conversion-differences .scatterlayer .point")).to_have_count(9)
    expect(page.locator(".ms-conversion-values tbody tr")).to_have_count(9)
    expect(page.locator(".ms-conversion-weights tbody tr")).to_have_count(8)
    for name, rows in (("nodes", 14), ("values", 9), ("weights", 8)):
        address = page.locator(f"[data-csv={name}]").get_attribute("href") or ""
        with urlopen(urljoin(page.url, address)) as answer:
            assert len(list(csv.DictReader(io.StringIO(answer.read().decode())))) == rows
    with page.expect_download() as saved:
        page.locator(".ms-conversion-graph [data-act=png]").click()
    assert Path(saved.value.path()).read_bytes()[:4] == b"\x89PNG"
    page.locator("[data-action=language]").click()
    expect(page.locator(".ms-conversion-legend")).to_contain_text("最大绝对差异")
    page.locator("[data-action=language]").click()


def test_texts_of_files_are_texts_and_damage_is_said(page: Page, place: str) -> None:
    show(page, f"{place}/conversion?run=hostile&node=n12")
    expect(page.locator(f"{CODE} h4")).to_have_text(EVIL)
    expect(page.locator(".ms-conversion-check .ms-wrong-text .en")).to_contain_text("1 of 9 values are beyond tolerance")
    expect(page.locator(CODE)).to_contain_text("No code is shown")
    assert page.evaluate("window.evil === undefined && !document.querySelector('img[src=x]')")
    show(page, f"{place}/conversion?run=cut")
    expect(page.locator("[data-state=damaged]")).to_contain_text("The report ends within a record")
