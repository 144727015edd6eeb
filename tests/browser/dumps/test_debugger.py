"""The debugger page, used as a person would."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from tests.browser.conftest import in_address
from tests.browser.showing import show
from tests.browser.waiting import becomes
from tests.recorded import RECORDED


@pytest.fixture(scope="module")
def dumps(
    real_data: Path, tmp_path_factory: pytest.TempPathFactory, serve_file: Callable[[Flask], str]
) -> Iterator[str]:
    """The application over a dump with NaN, one without, one of msprobe, one without tensors, and a run without a dump."""
    base = tmp_path_factory.mktemp("dumps")
    for name in ("out_nan", "out_tensor", "out_pyn"):
        shutil.copytree(real_data / "dump" / name, base / name)
    shutil.copytree(real_data / "msprobe" / "mindspore" / "stat_mix", base / "msprobe")
    shutil.copytree(RECORDED / "several_files", base / "plain")
    notes = tmp_path_factory.mktemp("notes")
    store = Store([base], interval=0, notes_directory=str(notes)).start()
    assert store.wait(60)
    yield serve_file(create_app(store).server)
    store.stop()


def test_a_dump_is_chosen_with_its_iteration(page: Page, dumps: str) -> None:
    show(page, f"{dumps}/debugger?run=out_nan&run=out_tensor&of=out_tensor&step=1")
    bar = page.locator(".ms-body-bar")
    expect(bar.locator("select").first).to_have_value("out_tensor")
    expect(bar.locator("select[aria-label=Iteration]:visible")).to_have_value("1")
    bar.locator("select").first.select_option("out_nan")
    expect(page).not_to_have_url("step=1")
    expect(bar.locator("select[aria-label=Iteration]:visible")).to_be_visible()


def test_a_dump_without_tensors_and_a_run_without_a_dump_say_so(page: Page, dumps: str) -> None:
    show(page, f"{dumps}/debugger?run=out_pyn")
    expect(page.locator('[data-state="nothing"]')).to_be_visible()
    show(page, f"{dumps}/debugger?run=plain")
    expect(page.locator('[data-state="none"]')).to_contain_text("MINDSPORE_DUMP_CONFIG")
    page.locator(".ms-body-elsewhere button", has_text="out_nan").click()
    expect(page.locator(".ms-body-content")).to_be_visible()


SQUARE = "Default/network-WithLossCell/_loss_fn-MSELoss/Square-op0"


def state(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query, keep_blank_values=True)


def says(page: Page, *texts: str) -> None:
    """Expect texts in the English of the sentence."""
    said = page.locator(".ms-debugger-sentence > .t > .en")
    for place, text in enumerate(texts):
        expect(said.nth(place)).to_have_text(text)


def until(page: Page, script: str) -> None:
    """Wait for a script to be true; the page forbids what playwright would wait with."""
    becomes(page, lambda: bool(page.evaluate(script)), True)


def visit(page: Page, address: str, query: str) -> None:
    show(page, f"{address}/debugger?{query}")
    expect(page.locator(".ms-debugger-hit").first).to_be_visible()


def test_the_first_bad_operator_is_what_the_page_opens_with(page: Page, dumps: str) -> None:
    visit(page, dumps, "run=out_nan")
    sentence = page.locator(".ms-debugger-sentence")
    says(page, "Iteration 1 has NaN or Inf in 16 of 32 operators.", "The first is")
    expect(sentence.locator("button")).to_have_text("Square-op0")
    expect(sentence.locator("a")).to_have_attribute("href", re.compile(r"^first_cause\?.*of=out_nan"))
    expect(page.locator(".ms-graphs.ms-graph-drawn")).to_be_visible()
    expect(page.locator('.ms-debugger-cell[aria-selected="true"]')).to_have_text("1")
    expect(page.locator(".ms-debugger-cell-bad")).to_have_count(3)
    expect(page.locator('[data-tab="hits"] .ms-debugger-count')).to_have_text("142")
    in_address(page, "node", SQUARE)
    # another iteration, by the strip and by key
    page.locator(".ms-debugger-cell", has_text="0").click()
    says(page, "No operator has NaN or Inf in iteration 0 (checked: 32).")
    sentence.locator("button", has_text="Show iteration 1").click()
    says(page, "Iteration 1 has NaN or Inf in 16 of 32 operators.")
    page.keyboard.press("]")
    says(page, "Iteration 2 has NaN or Inf in 26 of 32 operators.", "fc1.weight was bad already before; the first is")


@pytest.mark.long
def test_a_hit_leads_to_its_tensor_and_filters_stay_in_the_link(page: Page, dumps: str) -> None:
    visit(page, dumps, "run=out_nan&step=2&only_step=1&only_watch=4")
    expect(page.locator('[data-pane="hits"] .ms-rows')).to_have_attribute("style", re.compile(r"height: 1672px"))  # 38 of 44 px
    hit = page.locator(".ms-debugger-hit").nth(3)
    text = hit.locator("strong").inner_text()
    hit.click()
    expect(page.locator(".ms-debugger-hit[aria-current=true]")).to_have_count(1)
    in_address(page, "step", "2")
    assert in_address(page, "node")[0].endswith(text)
    assert re.fullmatch(r"(output|parameter)\.\d+", in_address(page, "io")[0])
    expect(page.locator(".ms-debugger-selected")).to_contain_text(text)
    page.reload()
    expect(page.locator(".ms-debugger-hit[aria-current=true] strong")).to_have_text(text)


def test_the_list_of_hits_is_switched_to_another_language(page: Page, dumps: str) -> None:
    visit(page, dumps, "run=out_nan&step=2")
    hits = page.locator('[data-pane="hits"]')
    first = hits.locator(".ms-debugger-hit .ms-cut").first
    for lang, sort, watchpoints, place in (("en", "By severity", "All watchpoints", "iteration"),
                                           ("zh", "按严重程度", "全部监测点", "迭代")):  # fmt: skip
        page.evaluate("lang => mindscope.prefs.set({ lang })", lang)
        expect(hits.locator("select option", has_text=sort)).to_have_count(1)
        expect(hits.locator("select option", has_text=watchpoints)).to_have_count(1)
        expect(first).to_contain_text(place)
    page.evaluate("mindscope.prefs.set({ lang: 'en' })")


@pytest.mark.long
def test_the_graph_shows_the_neighbours_of_the_selected_operator(page: Page, dumps: str) -> None:
    visit(page, dumps, f"run=out_nan&step=1&node={SQUARE}")
    expect(page.locator(".ms-graphs.ms-graph-drawn")).to_be_visible()
    cy = "document.querySelector('.ms-debugger .ms-graph-cytoscape')._cyreg.cy"
    until(page, f"{cy}.nodes('.chosen').length === 1")
    assert page.evaluate(f"{cy}.nodes('.badge').length") > 0
    page.locator("button", has_text="Neighbours only").click()
    until(page, f"{cy}.nodes('.node').length === 3")
    labels = page.evaluate(f"{cy}.nodes('.node').map(node => node.data('label')).sort()")
    assert labels == ["ReduceMean-op0", "Square-op0", "Sub-op0"]
    with page.expect_download() as saved:
        page.locator('.ms-debugger-graph [data-act="png"]').click()
    assert saved.value.suggested_filename.endswith(".png")


@pytest.mark.long
def test_a_watchpoint_is_added_for_chosen_operators_and_kept(page: Page, dumps: str) -> None:
    visit(page, dumps, "run=out_nan")
    form = page.locator(".ms-debugger-form")
    page.locator(".ms-debugger-watch-tools button", has_text="Add").click()
    form.locator("select").select_option("tensor_too_large")
    form.locator("input[name=max_gt]").fill("1e")
    form.locator("button[type=submit]").click()
    expect(form).to_contain_text("Expected a number such as 0.1 or 1e-9, found “1e”.")
    form.locator("input[name=max_gt]").fill("1e-9")
    form.locator("input[name=abs_mean_gt]").fill("1e30")
    form.locator("[data-value=nodes]").click()
    expect(page.locator('[data-pane="nodes"]')).to_be_visible()
    page.locator('[data-pane="nodes"] .ms-debugger-branch', has_text="Expand").locator("input").check()
    expect(form).to_contain_text("operators chosen")
    page.locator('[data-pane="nodes"] input[type=search]').fill("Square-op0")
    page.locator("button", has_text="Watch these").click()
    expect(page.locator(".ms-debugger-box:checked")).to_have_count(1)
    form.locator("button[type=submit]").click()
    added = page.locator(".ms-debugger-watchpoint").last
    expect(added).to_contain_text("Tensor too large · max > 1e-9 or mean |x| > 1e+30")
    expect(added.locator("[data-watch]")).to_contain_text("hits:")
    page.reload()
    expect(page.locator(".ms-debugger-watchpoint")).to_have_count(10)
    expect(page.locator(".ms-debugger-watchpoint").last).to_contain_text("Tensor too large")
    # switched off, it is not checked any more
    page.locator(".ms-debugger-watchpoint").last.locator("input").uncheck()
    expect(page.locator(".ms-debugger-watchpoint").last.locator(".ms-debugger-watch-name")).to_be_disabled()
    page.locator(".ms-debugger-watchpoint").last.locator("button").last.click()
    expect(page.locator(".ms-debugger-watchpoint")).to_have_count(9)
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator('[data-act="clear_watchpoints"]').click()
    expect(page.locator(".ms-debugger-watchpoint")).to_have_count(0)
    page.locator('[data-tab="hits"]').click()
    expect(page.locator('[data-pane="hits"]')).to_contain_text("No watchpoint is enabled.")
    page.locator(".ms-debugger-watch-tools button", has_text="Recommended").click()
    expect(page.locator(".ms-debugger-watchpoint")).to_have_count(9)


@pytest.mark.long
def test_a_source_line_shows_its_operators(page: Page, dumps: str) -> None:
    visit(page, dumps, "run=out_nan")
    page.locator('[data-tab="lines"]').click()
    files = page.locator(".ms-debugger-file")
    expect(files.first).to_contain_text("dump_nan.py")
    page.locator(".ms-debugger-line button").first.click()
    page.locator(".ms-debugger-of-line button").first.click()
    expect(page).to_have_url(re.compile("node=Default/network-WithLossCell/_backbone-Net/fc1-Dense/MatMul-op0"))


@pytest.mark.long
def test_a_dump_without_a_graph_lists_its_calls(page: Page, dumps: str) -> None:
    visit(page, dumps, "run=msprobe")
    middle = page.locator(".ms-debugger-order")
    expect(middle).to_contain_text("msprobe dumps no computation graph")
    expect(middle.locator(".ms-debugger-ran", has_text="NaN or Inf").first).to_contain_text("Functional.log.0.forward")
    page.locator('[data-pane="hits"] button', has_text="Not checkable").click()
    expect(page.locator(".ms-debugger-unchecked").first).to_be_visible()


@pytest.mark.long
def test_hits_are_saved_and_the_list_is_walked_by_keys(page: Page, dumps: str) -> None:
    visit(page, dumps, "run=out_nan&step=1")
    with page.expect_download() as saved:
        page.locator('[data-act="csv"]').click()
    assert len(saved.value.path().read_text().splitlines()) == 143
    page.locator(".ms-debugger-hit").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator('.ms-debugger-hit[aria-current="true"]')).to_have_attribute("data-row", "1")
