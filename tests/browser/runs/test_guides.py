"""The guides page in a browser: search, evidence, links that open a page at its place, slow questions, ticks that are kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
import pytest
from flask import Flask
from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from app import create_app
from app.commands.serving import demo_directory
from app.store.store import Store
from layouts.runs.checks import Checks
from parsers.recording import EventWriter
from tests.amounts import long_after
from tests.browser.conftest import in_address
from tests.browser.showing import show
from tests.browser.waiting import settles
from tests.layouts.runs.symptoms.test_profile_steps import slowed
from tests.waiting import until
from tests.writers.dumps import Injection, write_dump
from tests.writers.kineto_traces import write
from tests.writers.symptomatic_files import write_run
from tests.writers.symptomatic_runs import curve, falling, graph, histogram, mapped, triples

pytestmark = pytest.mark.browser


def write_broken(base: Path) -> None:
    """A run whose loss is NaN from step 300 on, whose learning rate was at its highest then, and a dump with the cause."""
    (base / "broken").mkdir(parents=True)
    values = falling(400)
    with EventWriter(str(base / "broken" / "events.out.tfevents.1700000000.host"), "tensorboard") as writer:
        for step, value in enumerate(values):
            writer.add(step, {"loss": float("nan") if step >= 300 else float(value), "lr": 0.001 * (step + 1)})
    write_dump(base / "broken", iterations=4, injection=Injection(2, 5, "nan"))


def step(name: str) -> str:
    return f'.ms-guides-step[data-step="{name}"]'


def test_from_a_symptom_to_its_cause(page: Page, serve: Callable[[Flask], str], tmp_path: Path) -> None:
    write_broken(tmp_path / "runs")
    (tmp_path / "notes").mkdir()
    store = Store([tmp_path / "runs"], interval=0.5, notes_directory=str(tmp_path / "notes")).start()
    assert store.wait(30)
    page.goto(f"{serve(create_app(store).server)}/guides")
    entry = page.locator('.ms-guides-group[data-group="found"] .ms-guides-entry').first
    expect(entry).to_contain_text("loss is NaN at step 300")
    expect(entry).to_have_attribute("aria-current", "true")
    expect(page.locator(f"{step('not_a_number.first')}[data-state=found]")).to_be_visible()
    expect(page.locator(step("not_a_number.rates"))).to_contain_text("lr was at its highest, 0.3010, at step 300")

    # Search, in either language; the keyboard goes through what is left.
    search = page.locator(".ms-guides-search input")
    search.fill("显存")
    expect(page.locator(".ms-guides-entry:visible")).to_have_count(1)
    expect(page.locator(".ms-guides-entry:visible")).to_contain_text("Out of memory")
    search.fill("no such words")
    expect(page.locator(".ms-guides-no-match")).to_be_visible()
    search.fill("loss")
    in_address(page, "q", "loss")
    entry.focus()
    page.keyboard.press("ArrowDown")
    expect(entry).not_to_be_focused()
    search.fill("")

    # A slow question is answered on request, and its link opens the page at the step and the operator.
    cause = page.locator(step("not_a_number.cause"))
    cause.locator("[data-look]").click()
    expect(cause).to_have_attribute("data-state", "found")
    expect(cause.locator(".ms-guides-said")).to_contain_text("In iteration 2")

    # A tick and a remark are kept with the notes.
    labels = page.locator(step("not_a_number.labels"))
    labels.locator("input[type=checkbox]").check()
    expect(labels).to_have_attribute("data-state", "done")
    labels.locator("input[type=text]").fill("all in 0 to 9")
    labels.locator("input[type=text]").press("Enter")
    expect(labels.locator("input[type=text]")).not_to_be_focused()
    until(lambda: store.notes.notebook().checks.get("broken", Checks()).of("not_a_number.labels").remark == "all in 0 to 9")
    page.reload()
    expect(labels.locator("input[type=checkbox]")).to_be_checked()
    expect(labels.locator("input[type=text]")).to_have_value("all in 0 to 9")

    expect(cause).to_have_attribute("data-state", "found")  # it is known by now
    cause.locator(".ms-guides-open").click()
    in_address(page, "step", "2")
    expect(page.locator(".ms-first-cause-said")).to_contain_text("In iteration 2")
    # And back: what the cause means is the symptom.
    page.locator(".ms-first-cause a", has_text="What does this mean?").click()
    in_address(page, "symptom", "not_a_number")
    store.stop()


LINKS = ("not_a_number.first", "not_a_number.inputs", "no_learning.weights", "fluctuates.restarts")


@pytest.mark.parametrize("name", long_after(2, LINKS))
def test_links_open_their_page_with_the_run_chosen(page: Page, real: str, name: str) -> None:
    symptom = name.partition(".")[0]
    show(page, f"{real}/guides?run=lenet_diverges_nan&symptom={symptom}")
    link = page.locator(f"{step(name)} .ms-guides-open")
    wanted = link.get_attribute("data-page")
    link.click()
    in_address(page, "run", "lenet_diverges_nan")
    assert f"/{wanted}?" in page.url
    expect(page.locator(".ms-card").first).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize(("run", "least"), [("digits_sgd_lr2_diverges", 5), ("digits_mindspore_starves", 2)])
def test_every_link_opens_its_page_where_it_says(page: Page, serve: Callable[[Flask], str], run: str, least: int) -> None:
    """Each different link of all symptoms of a run of the demo, with all that it chooses still in the address."""
    store = Store([demo_directory()], interval=0.5).start()
    assert store.wait(60)
    pages = open_links(page, serve(create_app(store).server), run)
    assert len(pages) >= least
    store.stop()


PLAIN = [
    ("tuner", "summaries/train_b531b0de-e53d-11f1-9fad-02fc00000001", {"scalars", "histograms", "graph", "dataset"}),
    ("profiler", "old_graph", {"operators", "shapes"}), ("profiler", "minddata_nosink", {"advice", "preparation"}),
    ("explain", "summary_real", set()),
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(("folder", "run", "wanted"), PLAIN, ids=[f"{folder}/{run[:18]}" for folder, run, _ in PLAIN])
def test_every_link_of_real_runs_of_other_kinds_opens(
    page: Page, serve: Callable[[Flask], str], real_data: Path, folder: str, run: str, wanted: set[str]
) -> None:
    """Those of a search, of plain profiles, and of explanations, of which no step says more than what records its data."""
    store = Store([real_data / folder], interval=0.5).start()
    assert store.wait(60)
    assert set(open_links(page, serve(create_app(store).server), run)) >= wanted
    store.stop()


def test_explanations_alone_answer_nothing_and_leave_no_step_without_a_way_on(page: Page, explained: str) -> None:
    show(page, f"{explained}/guides?run=summary_real&symptom=no_learning")
    steps = page.locator(".ms-guides-step")
    expect(steps.first).to_be_visible()
    expect(page.locator(".ms-guides-step[data-state=found], .ms-guides-open")).to_have_count(0)
    expect(page.locator(".ms-guides-step[data-state=not-recorded]").first).to_be_visible()
    ways = page.locator(".ms-guides-step:has(.ms-guides-record, input[type=checkbox], [data-other])")
    expect(ways).to_have_count(steps.count())


def test_a_plain_profile_leads_to_its_data_preparation(page: Page, everything: str) -> None:
    show(page, f"{everything}/guides?run=profiled&symptom=long_interval")
    link = page.locator(f"{step('long_interval.queues')} .ms-guides-open")
    link.click()
    in_address(page, "run", "profiled")
    assert "/preparation?" in page.url
    expect(page.locator(".ms-card").first).to_be_visible()


def test_a_pipeline_that_changed_at_a_restart_is_shown_beside_the_one_before(
    page: Page, serve: Callable[[Flask], str], tmp_path: Path
) -> None:
    write_run(tmp_path / "resumed", triples()["pipeline at a restart"].fault)
    store = Store([tmp_path], interval=0.5).start()
    assert store.wait(60)
    page.goto(f"{serve(create_app(store).server)}/guides?run=resumed&symptom=stops_learning")
    changed = page.locator(step("stops_learning.pipeline"))
    expect(changed).to_have_attribute("data-state", "found")
    expect(changed.locator(".ms-guides-said")).to_contain_text("From step 200 on (start 2 of 2), Map is not as before")
    changed.locator(".ms-guides-open").click()
    expect(page.locator(".ms-dataset-card")).to_have_count(2)
    expect(page.locator(".ms-dataset-runs").nth(1)).to_contain_text("resumed · 2023-11-14 22:16:40 UTC")
    expect(page.locator(".ms-dataset-differences")).to_contain_text("Rescale")
    expect(page.locator(".ms-dataset-panel")).to_contain_text("Rescale")
    store.stop()


def open_links(page: Page, root: str, run: str) -> list[str]:
    """Open each different link of all symptoms of a run, and return the names of the pages that they lead to."""
    page.goto(f"{root}/guides?run={run}")
    expect(page.locator(".ms-guides-step").first).to_be_visible()
    symptoms = [one.get_attribute("data-symptom") for one in page.locator(".ms-guides-entry[data-symptom]").all()]
    links: dict[str, Opened] = {}
    for symptom in dict.fromkeys(symptoms):
        with settles(page):
            show(page, f"{root}/guides?run={run}&symptom={symptom}")
            expect(page.locator(f'.ms-guides-step[data-step^="{symptom}."]').first).to_be_visible()
            expect(page.locator(".ms-guides-progress")).to_have_count(0)  # a step that is not recorded loses its link
        for one in page.locator(".ms-guides-step:has(.ms-guides-open)").all():
            opened = link_of(one)
            links.setdefault(f"{opened.page}?{opened.query}", opened)
    unseen = []
    for opened in links.values():
        show(page, f"{root}/{opened.page}?{opened.query}")
        expect(page.locator(f'.ms-menu-link[aria-current][data-page="{opened.page}"]')).to_have_count(1)
        for key, values in parse_qs(opened.query).items():
            in_address(page, key, *values)
        expect(page.locator(".ms-unknown-page, .ms-body-wrong:visible")).to_have_count(0)
        assert parse_qs(opened.query)["run"] == [run]
        if not shows_evidence(page, opened):
            unseen.append(f"{opened.step}: {opened.said} -> {opened.page}?{opened.query}")
    assert unseen == []
    return [one.page for one in links.values()]


@dataclass(frozen=True, slots=True)
class Opened:
    """A link of a step: the step, its state and what it says, and the page with its state as a query."""

    step: str
    state: str
    said: str
    page: str
    query: str


def link_of(found: Locator) -> Opened:
    """Return the link of a step that is shown."""
    link = found.locator(".ms-guides-open").first
    said = found.locator(".ms-guides-said .en, .ms-guides-said span:not(.t)").first
    name, query = (link.get_attribute(f"data-{part}") or "" for part in ("page", "query"))
    step, state = (found.get_attribute(f"data-{part}") or "" for part in ("step", "state"))
    return Opened(step, state, (said.text_content() or "").replace("\u00a0", " ") if said.count() else "", name, query)


NAMED = ("tag", "node", "op", "q")
"""What a link chooses by name; the page must show it."""
QUANTITY = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?: ?(?:%|[nµm]?s|[KMGT]i?B)(?!\w))?")
NODE = re.compile(r"\S+/\w+-op\d+")
"""The full name of a node."""
SHOWN = """(wanted) => {
  const root = document.querySelector(".ms-page") || document.body;
  const parts = [root.innerText];
  for (const one of root.querySelectorAll("svg text, canvas[aria-label], [aria-label], [title], input, select")) {
    if (one instanceof HTMLElement && !one.offsetParent && !one.closest("svg")) continue;
    parts.push(one.textContent, one.getAttribute("title"), one.getAttribute("aria-label"), one.value);
  }
  const text = parts.filter(Boolean).join("\\n").toLowerCase().replaceAll("\\u00a0", " ");
  return wanted.some((each) => each.every((one) => text.includes(one.toLowerCase())));
}"""


def shows_evidence(page: Page, opened: Opened) -> bool:
    """Whether the page shows every name that the link chooses, or a number that the step claims; waits until it does."""
    if opened.state != "found":
        return True
    asked = parse_qs(opened.query)
    names = [value.rsplit("/", 1)[-1] for key in NAMED for value in asked.get(key, [])]
    if opened.page == "dataset":
        names = [name.partition(":")[0] for name in names]  # the mark of the pipeline; the number is that of an operation
    if opened.page == "graph" and "node" in asked:
        names = [name.rsplit("/", 1)[-1] for name in NODE.findall(opened.said)]  # the address has its number in the graph
        assert names, opened.said
    numbers = [one for one in QUANTITY.findall(opened.said) if len(one.strip("0.,")) > 1]
    wanted = [names] if names else [[one] for one in numbers]
    if not wanted:
        return True
    try:
        page.wait_for_function(SHOWN, arg=wanted, timeout=30_000)
    except PlaywrightTimeout:
        return False
    return True


KINDS = {
    "frozen weights": "histograms", "bad inputs": "tensors", "logarithm": "graph", "no shuffle": "dataset",
    "sharp minimum": "landscape", "float32": "operators", "clocks": "job", "fragmentation": "memory",
    "slow rank": "cluster", "no regularization": "model_lineage", "length of an epoch": "scalars",
}  # fmt: skip
"""Fault -> a page that its guide leads to, one for every kind of data."""


@pytest.mark.long
@pytest.mark.parametrize(("fault", "wanted"), [*KINDS.items(), ("dump", "first_cause")])
def test_links_of_every_kind_of_data_open(
    page: Page, serve: Callable[[Flask], str], tmp_path: Path, fault: str, wanted: str
) -> None:
    if fault == "dump":
        write_broken(tmp_path)
    else:
        write_run(tmp_path / "faulty", triples()[fault].fault)
    store = Store([tmp_path], interval=0.5).start()
    assert store.wait(60)
    assert wanted in open_links(page, serve(create_app(store).server), "broken" if fault == "dump" else "faulty")
    store.stop()


def write_pair(base: Path) -> None:
    """A run and a slower and worse one: settings, pipelines, graphs, first weights, and a step of their traces differ."""
    made = {
        "fast": replace(graph("MatMul", "ReLU", "MatMul"), settings={"lr": 0.1}, pipeline=mapped("Normalize").pipeline),
        "slow": replace(graph("MatMul", "Log", "MatMul"), settings={"lr": 0.2}, pipeline=mapped("Rescale").pipeline),
    }  # fmt: skip
    for name, end, extra_ns, width in (("fast", 0.9, 0, 1.0), ("slow", 0.8, 400_000, 3.0)):
        weights = {"histogram": {"fc.weight": [(0, histogram(width * np.linspace(-1.0, 1.0, 40)))]}}
        accuracy = curve(end - 0.5 * np.exp(-np.arange(100) / 20))
        write_run(base / name, replace(made[name], scalars={"accuracy": accuracy}, values=weights))
        write(base / name / "profiler" / "host_1.1712000000000.pt.trace.json", slowed(extra_ns))


@pytest.mark.long
@pytest.mark.parametrize(("symptom", "slow", "pages"), [
    ("worse_than_reference", "graphs", {"two_runs", "graph", "histograms", "runs"}),
    ("slower_than_before", "traces", {"two_jobs", "operators", "timeline", "two_runs"}),
])  # fmt: skip
def test_links_of_two_runs_open_both(
    page: Page, serve: Callable[[Flask], str], tmp_path: Path, symptom: str, slow: str, pages: set[str]
) -> None:
    write_pair(tmp_path)
    store = Store([tmp_path], interval=0.5).start()
    assert store.wait(60)
    root = serve(create_app(store).server)
    page.goto(f"{root}/guides?run=slow&run=fast&of=slow&symptom={symptom}")
    asked = page.locator(step(f"{symptom}.{slow}"))
    asked.locator("[data-look]").click()
    expect(asked).to_have_attribute("data-state", "found")
    links = [(link.get_attribute("data-page") or "runs", link.get_attribute("data-query") or "")
             for link in page.locator(".ms-guides-open").all()]  # fmt: skip
    assert {name for name, _ in links} >= pages
    for name, query in dict.fromkeys(links):
        show(page, f"{root}/{'' if name == 'runs' else name}?{query}")
        for key, values in parse_qs(query).items():
            in_address(page, key, *values)
        expect(page.locator(".ms-unknown-page, .ms-body-wrong:visible, .ms-bad:visible")).to_have_count(0)
    store.stop()


def test_the_overview_has_the_severest_symptoms(page: Page, real: str) -> None:
    show(page, f"{real}/overview?run=lenet_diverges_nan")
    first = page.locator(".ms-symptoms-list a").first
    expect(first).to_contain_text("The loss is NaN or infinite")
    expect(page.locator(".ms-insight-meaning").first).to_have_attribute("title", "What does this mean?")
    first.click()
    in_address(page, "symptom", "not_a_number")
    expect(page.locator(step("not_a_number.first"))).to_be_visible()


def test_a_narrow_page_and_print_have_the_open_symptom(page: Page, real: str) -> None:
    page.set_viewport_size({"width": 1000, "height": 800})
    show(page, f"{real}/guides?run=lenet_diverges_nan")
    expect(page.locator(step("not_a_number.first"))).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.set_viewport_size({"width": 390, "height": 844})
    parts = ("", " input", " .ms-run-select >> nth=0")
    bar, search, chosen = (page.locator(f".ms-guides-bar{one}").bounding_box() for one in parts)
    assert bar is not None
    assert search is not None
    assert chosen is not None
    assert max(one["x"] + one["width"] for one in (search, chosen)) <= bar["x"] + bar["width"]
    page.emulate_media(media="print")
    expect(page.locator(".ms-guides-list")).to_be_hidden()
    expect(page.locator(".ms-menu")).to_be_hidden()
    expect(page.locator(".ms-top")).to_be_hidden()
    expect(page.locator(".ms-guides-name")).to_be_visible()
    expect(page.locator(".ms-guides button:visible")).to_have_count(0)
    expect(page.locator(".ms-guides-of-run")).to_have_text("lenet_diverges_nan")  # paper has no choice of runs
    page.emulate_media(media="print", color_scheme="dark")
    shade = "(one) => getComputedStyle(document.querySelector(one)).backgroundColor"
    for one in ("html", "body", ".ms-shell"):
        assert page.evaluate(shade, one) == "rgb(255, 255, 255)"
    page.emulate_media(media="screen", color_scheme="light")
