"""Links that name a run: one that is not chosen is chosen, and one that nobody has is said to be unknown, on every page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from tests.amounts import long_after
from tests.browser.everything import write_everything
from tests.browser.showing import show

OF = {
    "profile_overview": "profile", "steps": "profile", "operators": "profile", "memory": "profile", "preparation": "profile",
    "shapes": "profile", "timeline": "profile", "job": "profile", "cluster": "profile", "communication": "profile",
    "pipeline": "profile", "ranks": "profile", "strategy": "profile", "advice": "profile", "two_jobs": "profile",
    "saliency": "explanations", "confusion": "explanations", "scores": "explanations", "counterfactual": "explanations",
    "uncertainty": "explanations", "graph": "a computation graph", "landscape": "a loss landscape", "first_cause": "a dump",
    "debugger": "a dump", "two_dumps": "a dump",
}  # fmt: skip
"""Pages with `of` in the address, and what they say that the run should have."""
OFTEN = ("operators", "job", "saliency", "graph", "debugger")
"""One page of each subject, for `make test`."""


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory, serve_file: Callable[[Flask], str]) -> Iterator[str]:
    base = tmp_path_factory.mktemp("everything")
    write_everything(base)
    store = Store([base], interval=0, notes_directory=str(base / "notes")).start()
    assert store.wait(60)
    yield serve_file(create_app(store).server)
    store.stop()


@pytest.mark.parametrize(
    "name", [name if name in OFTEN else pytest.param(name, marks=pytest.mark.long) for name in OF]
)
def test_a_name_that_no_run_has_is_one_line(page: Page, everything: str, name: str) -> None:
    show(page, f"{everything}/{name}?run=*&of=nobody")
    line = page.locator('[data-state="unknown"] .en')
    expect(line).to_be_visible()
    wanted = re.compile(f"^No run with (a profile|{re.escape(OF[name])}) has this name:$")
    expect(line).to_have_text(wanted)
    expect(page.locator(".ms-body-unknown")).to_have_text("nobody")
    show(page, f"{everything}/{name}?run=*")
    expect(page.locator('[data-state="unknown"]')).to_be_hidden()


@pytest.mark.parametrize("query", long_after(2, [
    "overview?of=nobody", "guides?run=*&of=nobody", "two_runs?one=nobody", "two_runs?run=*&other=nobody",
]))  # fmt: skip
def test_a_run_that_is_not_there_is_one_line(page: Page, everything: str, query: str) -> None:
    show(page, f"{everything}/{query}")
    expect(page.locator('[data-state="unknown"]')).to_contain_text("No run has this name: nobody", use_inner_text=True)
    expect(page.locator(".ms-empty:visible")).to_have_count(1)
    show(page, f"{everything}/{query.partition('?')[0]}")
    expect(page.locator('[data-state="unknown"]')).to_be_hidden()


def test_a_profile_that_is_not_chosen_is_shown_where_a_link_names_it(page: Page, everything: str) -> None:
    show(page, f"{everything}/operators?run=dump&of=profiled")
    expect(page.locator(".ms-body-bar select").first).to_have_value("profiled")
    expect(page.locator('[data-state="none"]')).to_be_hidden()
    show(page, f"{everything}/operators?run=dump")
    expect(page.locator('[data-state="none"]')).to_be_visible()


def test_explanations_that_are_not_chosen_are_shown_where_a_link_names_them(page: Page, everything: str) -> None:
    show(page, f"{everything}/scores?run=dump&of=explained")
    expect(page.locator('[data-state="none"]')).to_be_hidden()
    expect(page.locator(".ms-body-content")).to_be_visible()
