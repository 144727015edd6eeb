"""One page, one name, one home: menu, folders, addresses, icons and tests are in step."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dash import html
from dash.development.base_component import Component

from layouts import PAGES
from layouts.kit.i18n import CATALOGUE
from layouts.kit.page import Ids, Page
from layouts.shell import shell

ROOT = Path(__file__).resolve().parents[2]
NAMES = [page.name for page in PAGES]
each_page = pytest.mark.parametrize("page", PAGES, ids=NAMES)


SUBJECTS = ("runs", "curves", "values", "graphs", "lineage", "tuning", "profiles", "jobs", "dumps", "explanations")


def subject_of(page: Page) -> str:
    return page.folder.partition(".")[0]


def test_every_folder_is_a_page_in_the_menu_and_every_page_a_folder() -> None:
    folders = sorted(path.parent.relative_to(ROOT / "layouts").as_posix() for path in (ROOT / "layouts").rglob("page.py"))
    assert [folder for folder in folders if folder != "kit"] == sorted(f"{subject_of(page)}/{page.name}" for page in PAGES)
    assert len(set(NAMES)) == len(NAMES)
    assert {subject_of(page) for page in PAGES} == set(SUBJECTS)


@pytest.mark.parametrize("floor", ["parsers/analysis", "layouts", "app/store", "app/routes", "assets"])
def test_every_floor_is_divided_into_the_same_subjects(floor: str) -> None:
    shared = {"kit", "shell", "early", "types", "vendor", "__pycache__"}
    sources = [path for ending in ("*.py", "*.js", "*.css") for path in (ROOT / floor).rglob(ending)]
    found = {path.relative_to(ROOT / floor).parts[0] for path in sources if path.parent != ROOT / floor}
    assert found - shared <= set(SUBJECTS)


@each_page
def test_a_page_has_one_name(page: Page) -> None:
    assert page.path == ("" if page.name == "runs" else page.name)
    assert page.title == f"{page.name}.title"
    assert page.title in page.texts
    assert page.group == "training" or f"menu.{page.group}" in CATALOGUE


@each_page
def test_a_page_has_a_browser_test_of_its_name(page: Page) -> None:
    assert (ROOT / "tests" / "browser" / subject_of(page) / f"test_{page.name}.py").is_file()


def test_former_names_are_free() -> None:
    former = [name for page in PAGES for name in page.formerly]
    assert len(set(former)) == len(former)
    assert set(former).isdisjoint(NAMES)


def test_the_menu_groups_are_those_of_the_pages_in_order() -> None:
    groups = list(dict.fromkeys(page.group for page in PAGES))
    assert groups == ["training", "comparison", "performance", "debugging", "explanation", "tools"]
    assert [page.group for page in PAGES] == sorted((page.group for page in PAGES), key=groups.index)


def test_the_address_book_of_the_browser_has_every_page_under_its_name() -> None:
    parts = shell.layout(PAGES, Ids("shell"), "/p/").children
    [book] = [part.data for part in parts if getattr(part, "data", None)]
    assert [path or "runs" for path in book["pages"]] == NAMES
    assert [entry["content"] for entry in book["pages"].values()] == [f"/p/api/pages/{name}.json" for name in NAMES]
    assert set(book["formerly"].values()) <= set(book["pages"])


def test_links_name_pages_that_are_there() -> None:
    linked = set()
    for path in [*(ROOT / "layouts").rglob("*.py"), *(ROOT / "assets").rglob("*.js")]:
        linked |= set(re.findall(r"""data-page["\]]*[:=] ?["']([a-z_]+)["']""", path.read_text(encoding="utf-8")))
    assert linked
    assert linked <= set(NAMES)


NAMED_BY_NATURE = {
    "A", "Aside", "Button", "Dialog", "Fieldset", "Footer", "Form", "Header", "Img", "Input", "Meter", "Nav", "Progress",
    "Ol", "Section", "Select", "Summary", "Table", "Textarea", "Ul",
}  # fmt: skip
"""Elements that may have a name without a role; of others browsers ignore it."""


@each_page
def test_what_has_a_name_has_a_role(page: Page) -> None:
    tree = html.Div(page.layout(Ids(page.name), "/p/"))
    parts = [part for part in tree._traverse() if isinstance(part, Component)]
    named = [part for part in parts if "aria-label" in part.to_plotly_json()["props"]]
    nameless = [part for part in named if not getattr(part, "role", None) and type(part).__name__ not in NAMED_BY_NATURE]
    assert nameless == []
