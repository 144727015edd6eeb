"""The parallel strategy page in a browser: stages, the grid by keys, the graph with parts and counters, links, a file."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from app import create_app
from app.demo.simulated import strategy_files as made
from app.store.store import Store
from tests.browser.showing import show
from tests.parsers.profiler.strategy_files import strategy_file
from tests.writers.clusters import write

CANVAS = ".ms-strategy-graph .ms-graph-canvas"
PANEL = ".ms-strategy-panel"


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, serve_file) -> str:
    """Three of four ranks of a job in two stages, and a job without strategy files."""
    base = tmp_path_factory.mktemp("place")
    folder = base / "runs/cut/profiler"
    folder.mkdir(parents=True)
    for rank in (0, 2, 3):
        told = strategy_file()
        told["config"] |= {"rankId": rank, "stageId": rank // 2}
        made.write(folder, rank, told)
    write(base / "runs/job", ranks=16, steps=2, operations=3)
    store = Store([base / "runs"], interval=0).start()
    assert store.wait(30)
    return serve_file(create_app(store).server)


def node(page: Page) -> str:
    return query(page).get("node", [""])[0]


def test_stages_graph_and_counters(page: Page, place: str) -> None:
    show(page, f"{place}/strategy?run=cut")
    expect(page.locator(".ms-strategy-said .en")).to_have_text("Semi-auto parallel: 4 ranks in 2 stages.")
    expect(page.locator(".ms-strategy-wrong .en").first).to_have_text(
        "1 of 4 ranks without a readable parallel_strategy file: 1."
    )
    expect(page.locator(".ms-strategy-graph.ms-graph-drawn")).to_be_visible()
    title = page.locator(".ms-strategy-graph .ms-card-title .en")
    expect(title).to_have_text("Strategy graph · stage 0 · rank 0")
    counters = page.locator(".ms-strategy-counters .en")
    expect(counters).to_have_text([
        "10 operators", "4 with a strategy", "3 redistribute tensors", "2 aggregate gradients", "1 with uneven shards",
    ])  # fmt: skip
    page.locator("[data-count=uneven]").click()
    expect(page.locator(f"{PANEL} h4")).to_have_text("MatMul-op5")
    expect(page.locator(f"{PANEL} .ms-strategy-matrix tbody tr")).to_have_count(2)
    expect(page.locator(f"{PANEL} .ms-strategy-wrong .en")).to_have_text("dimension 2 is not divided by its shards")
    assert node(page) == "n4"
    for wanted in ("n9", "n2", "n3"):
        page.locator("[data-count=redistribution]").click()
        page.wait_for_url(re.compile(rf"node={wanted}(&|$)"))
    expect(page.locator(f"{PANEL} .ms-strategy-inserted .en")).to_have_text("Inserted to redistribute a tensor")
    page.locator(f"{PANEL} .ms-strategy-ends button").first.click()
    page.wait_for_url(re.compile("node=n2(&|$)"))
    link = page.url
    page.locator(".ms-strategy-stages [data-stage='1']").click()
    expect(title).to_have_text("Strategy graph · stage 1 · rank 2")
    show(page, link)
    expect(page.locator(f"{PANEL} h4")).to_have_text("AllGather-op3")


@pytest.mark.long
def test_bad_files_are_named_and_the_rest_works(page: Page, tmp_path: Path, serve) -> None:
    folder = tmp_path / "cut/profiler"
    folder.mkdir(parents=True)
    made.write(folder, 2, strategy_file())
    made.write(folder, 3, strategy_file())
    told = strategy_file()
    del told["config"]["stageId"]
    made.write(folder, 0, told)
    (folder / "parallel_strategy_1.json").write_bytes(b"")
    whole = (folder / "parallel_strategy_3.json").read_text()
    (folder / "parallel_strategy_3.json").write_text(whole[: whole.index('"name": "7"')])
    store = Store([tmp_path], interval=0).start()
    assert store.wait(30)
    show(page, f"{serve(create_app(store).server)}/strategy?run=cut")
    expect(page.locator(".ms-strategy-wrong .en").first).to_contain_text("without a readable parallel_strategy file: 1.")
    damage = page.locator(".ms-body-damage")
    expect(damage.locator("summary .en")).to_have_text("Parts of the files that cannot be read: 2")
    damage.locator("summary").click()
    expect(damage).to_contain_text("The file is empty.")
    expect(damage).to_contain_text("config.stageId: expected the number of the stage, found none.")
    expect(page.locator(".ms-strategy-counters .en").first).to_have_text("10 operators")
    page.locator(".ms-strategy-graph-bar select").first.select_option("1")
    page.locator(".ms-strategy-graph-bar select").nth(1).select_option("3")
    expect(page.locator(".ms-strategy-counters .en").first).to_have_text("6 operators")
    expect(page.locator(".ms-graph-message")).to_contain_text("The file ends within its JSON")


@pytest.mark.long
def test_parts_are_hidden(page: Page, place: str) -> None:
    show(page, f"{place}/strategy?run=cut&open=")
    expect(page.locator(CANVAS)).to_have_attribute("data-boxes", "3")
    page.locator("[data-toggle=backward]").click()
    expect(page.locator(CANVAS)).to_have_attribute("data-boxes", "2")
    expect(page.locator("[data-toggle=backward]")).to_have_attribute("aria-pressed", "false")
    for part in ("forward", "recompute", "optimizer"):
        page.locator(f"[data-toggle={part}]").click()
    expect(page.locator(".ms-graph-message .en")).to_contain_text("Nothing is left to show")
    assert query(page)["without"] == ["backward", "forward", "recompute", "optimizer"]


def test_the_grid_by_keys(page: Page, place: str) -> None:
    show(page, f"{place}/strategy?run=job")
    expect(page.locator(".ms-strategy-graph")).to_be_hidden()
    expect(page.locator("[data-section=head] .en", has_text="there is no strategy graph")).to_be_visible()
    select = page.locator(".ms-strategy-bar select")
    expect(select.locator("option")).not_to_have_count(0)
    select.select_option("group:tp")
    canvas = page.locator(".ms-strategy-map canvas")
    canvas.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".ms-strategy-map .ms-heat-tip")).to_contain_text("Rank")
    page.keyboard.press("Enter")
    expect(page.locator("[data-section=picked] strong .en")).to_have_text(re.compile(r"Rank \d+"))
    assert query(page)["metric"] == ["group:tp"]
    page.keyboard.press("Enter")
    expect(page.locator("[data-section=picked] strong")).to_have_count(0)


@pytest.mark.long
def test_language_file_and_full_screen(page: Page, place: str) -> None:
    show(page, f"{place}/strategy?run=cut")
    expect(page.locator(".ms-strategy-graph.ms-graph-drawn")).to_be_visible()
    address = page.locator(".ms-strategy-csv").get_attribute("href")
    with urlopen(urljoin(page.url, address)) as answer:
        rows = list(csv.DictReader(io.StringIO(answer.read().decode("utf-8-sig"))))
    assert [row["inserted"] for row in rows].count("redistribution") == 3
    assert [row["strategy"] for row in rows[:2]] == ["", "2,1;1,1"]
    page.locator(CANVAS).focus()
    page.keyboard.press("f")
    expect(page.locator(".ms-strategy-graph")).to_have_class(re.compile("ms-full"))
    page.keyboard.press("Escape")
    expect(page.locator(".ms-strategy-graph")).not_to_have_class(re.compile("ms-full"))
    page.locator("[data-act=language], .ms-language").first.click()
    expect(page.locator(".ms-strategy-said .zh")).to_be_visible()
