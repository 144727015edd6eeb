"""Runs of a large sweep can be told apart on every page that lists them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app.web.server import create_app
from parsers import GraphLocation, TextValue
from parsers.lineage.datasets import DatasetGraph
from parsers.payloads.pictures import png_of
from parsers.payloads.values import ImageValue
from tests.amounts import long_after
from tests.browser.conftest import in_address
from tests.browser.short_names import meant, names_on
from tests.browser.showing import show
from tests.browser.waiting import becomes, steady
from tests.layouts.graphs.dataset.pipelines import node
from tests.sources import MemorySource, series
from tests.writers.clusters import make
from tests.writers.symptomatic_runs import bowl, graph, histogram, tensor

pytestmark = pytest.mark.browser
SETTINGS = [
    ("adam", "sgd", "lamb"), ("lr0.1", "lr0.01", "lr0.003", "lr0.001", "lr0.0003"), ("wd0.0", "wd0.0001"), ("b32", "b64"),
    tuple(f"seed{seed}" for seed in range(1, 6)),
]  # fmt: skip
SWEEP = ["project_imagenet_resnet50_" + "_".join(chosen) for chosen in itertools.product(*SETTINGS)]
JOB = make(1, ranks=2, group=2, steps=3)
FRAMES = {"groups": JOB.groups, "collectives": JOB.collectives, "cluster_steps": JOB.steps, "links": JOB.links}
GRAPHS = {"network": graph("Conv2D", "MatMul").graph}
PLACES = [GraphLocation("network", "f", 10, 5, 1e9, 0, "", "", 0, None, True, None, None)]  # type: ignore[arg-type]
HOSTILE = [
    "<b>bold</b>_run_of_many_words_and_no_end_1", "\u202egnp.elif_a_with_a_long_name_that_turns_around", "日本語の長い名前_一",
]  # fmt: skip


@pytest.fixture(scope="module")
def sweep(serve_file: Callable[[Flask], str]) -> str:
    return serve_file(create_app(MemorySource({name: content(name, at) for at, name in enumerate(SWEEP)})).server)


def content(name: str, at: int) -> dict[str, Any]:
    """Return a run of the sweep: something for every page that lists runs but those about dumps and explanations."""
    words = name.split("_")
    still = np.arange(16.0)
    return {
        "scalar": {"loss": series(3)},
        "text": {"note": [(0, TextValue(("as planned",)))]},
        "image": {"input": [(0, ImageValue(png_of(np.full((8, 8, 3), at % 256, np.uint8)), "image/png", 8, 8))]},
        "histogram": {"fc.weight": [(step, histogram(still)) for step in (0, 9)]},
        "tensor": {"logits": [(0, tensor(still.reshape(4, 4)))]},
        "landscape": bowl(2.0 + at).values["landscape"],
        "dataset_graph": DatasetGraph(node("Batch", node("MnistDataset", dataset_dir="/data"), batch_size=int(words[6][1:]))),
        "graphs": GRAPHS, "graph_locations": PLACES,
        "profiles": {("s", rank): FRAMES for rank in range(2)},
        "settings": {"optimizer": words[3], "learning_rate": float(words[4][2:]), "loss": at / len(SWEEP)},
    }


LISTING = [
    ("scalars?run=*", 10), ("job", 2), ("", 15), ("two_runs", 3), ("overview", 2), ("scalars?run=*&mode=table", 5),
    ("model_lineage", 10), ("data_lineage", 10), ("optimisation", 8), ("text", 5), ("histograms", 1), ("images", 4),
    ("tensors", 2), ("tensors?view=histogram", 1), ("landscape", 2), ("landscape?mode=final", 4), ("graph", 2), ("dataset", 4),
    ("guides?symptom=loss_flat", 2), ("start", 1), ("profile_overview", 2), ("timeline", 2), ("steps", 2), ("memory", 2),
    ("operators", 2), ("shapes", 2), ("preparation", 2), ("communication", 2), ("ranks", 2), ("cluster", 2), ("pipeline", 2),
    ("strategy", 2), ("two_jobs", 3), ("advice", 2),
]  # fmt: skip
"""Pages that list runs, and the least number of names on each."""
ELSEWHERE = """() => {
    const seen = [...document.querySelectorAll('main *, header *')].filter((one) => one.checkVisibility());
    const chosen = seen.filter((one) => one.localName === 'select' && !one.closest('.ms-run-select'));
    const cut = seen.filter((one) => !one.children.length && !one.matches('.ms-name, option, select')
        && getComputedStyle(one).overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1);
    return [...chosen.map((one) => one.selectedOptions[0]?.text ?? ''), ...cut.map((one) => one.textContent)];
}"""
"""Texts of what is chosen in other selects than those of runs, and texts that the browser cuts."""


def told_apart(page: Page, least: int, *, every: bool = True) -> None:
    """Every name of a run on the page can be read as that run alone of all (or of those on the page), and has its room."""
    names = set(SWEEP)
    becomes(page, lambda: sum(one.name in names for one in names_on(page)) >= least, True)
    steady(page, "() => [...document.querySelectorAll('.ms-name')].map((one) => one.dataset.short)")
    found = [one for one in names_on(page) if one.name in names]
    runs = SWEEP if every else [name for name in SWEEP if name in {one.name for one in found}]
    assert {one.name: meant(one.short, runs) for one in found} == {one.name: [one.name] for one in found}
    assert [one for one in found if one.over > 1] == []
    assert all(("…" in one.short) == (one.short != one.name) for one in found)
    assert [text for text in page.evaluate(ELSEWHERE) if any(name in text for name in names)] == []


@pytest.mark.parametrize(("path", "least"), long_after(2, LISTING))
def test_runs_of_a_sweep_are_told_apart(page: Page, sweep: str, path: str, least: int) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    show(page, f"{sweep}/{path}")
    told_apart(page, least, every="*" in path or not path)
    if path == "scalars?run=*":
        page.locator(".ms-picker-open").click()
        told_apart(page, least + 10)  # those of the picker too


@pytest.mark.long
def test_runs_of_a_sweep_are_told_apart_on_a_phone(page: Page, sweep: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    show(page, sweep)
    told_apart(page, 15)


def test_the_lists_can_be_widened_and_stay_so(page: Page, sweep: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    show(page, f"{sweep}/scalars?run=*")
    edge = page.locator(".ms-side-edge")
    side = page.locator(".ms-tags")
    before = becomes(page, lambda: side.evaluate("e => e.offsetWidth"), lambda width: width > 300)
    edge.focus()
    edge.press("ArrowRight")
    assert side.evaluate("e => e.offsetWidth") == before + 16
    box = edge.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 4, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(side.evaluate("e => e.getBoundingClientRect().left") + 260, box["y"] + 200, steps=3)
    page.mouse.up()
    assert abs(side.evaluate("e => e.offsetWidth") - 260) <= 2
    told_apart(page, 10)
    page.reload()
    expect(page.locator(".ms-run-list-row").first).to_be_visible()
    assert abs(side.evaluate("e => e.offsetWidth") - 260) <= 2
    edge.press("Home")
    assert side.evaluate("e => e.offsetWidth") == before
    page.evaluate("window.localStorage.clear()")


@pytest.mark.long
def test_the_whole_name_is_read_and_appears_at_the_focus(page: Page, sweep: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    show(page, f"{sweep}/scalars?run=*")
    button = page.locator(".ms-run-list-name").first
    expect(button.locator(".ms-name[data-short]")).to_be_visible()
    name = button.inner_text()
    assert name in SWEEP
    expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()
    assert name in (button.get_attribute("title") or "")
    page.locator(".ms-run-list-row .ms-dot-button").first.focus()
    page.keyboard.press("Tab")
    expect(page.locator(".ms-name-tip")).to_have_text(button.inner_text())
    page.keyboard.press("Escape")
    expect(page.locator(".ms-name-tip")).to_be_hidden()


@pytest.mark.long
def test_hostile_names_stay_text(page: Page, serve: Callable[[Flask], str]) -> None:
    address = serve(create_app(MemorySource({name: {"scalar": {"loss": series(3)}} for name in HOSTILE})).server)
    page.set_viewport_size({"width": 390, "height": 720})
    page.goto(address)
    becomes(page, lambda: {one.name for one in names_on(page)} >= set(HOSTILE), True)
    for one in names_on(page):
        assert one.name not in HOSTILE or meant(one.short, HOSTILE) == [one.name]
    assert page.locator("b", has_text="bold").count() == 0


def test_the_table_of_these_tags_has_the_tags_on_screen(page: Page, serve_file: Callable[[Flask], str]) -> None:
    tags = {f"tag_{number:02}": series(3) for number in range(30)}
    show(page, serve_file(create_app(MemorySource({"run": {"scalar": tags}})).server) + "/scalars")
    expect(page.locator(".ms-pager [data-act=next]")).to_be_visible()
    page.locator(".ms-pager [data-act=next]").click()
    in_address(page, "page", "2")
    page.locator(".ms-cards-right summary[title]").last.click()
    link = page.locator('[data-export="csv screen"]')
    expect(link).to_have_attribute("href", re.compile("tag="))
    on_screen = page.locator(".ms-slot:not([hidden]) .ms-card-title").all_inner_texts()
    assert on_screen
    assert parse_qs(urlsplit(link.get_attribute("href") or "").query)["tag"] == on_screen
