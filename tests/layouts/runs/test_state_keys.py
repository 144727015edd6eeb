"""The keys that view files of a page may have are those its scripts and modules read from its state, no more and no fewer."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from layouts import PAGES
from layouts.kit.page import Page
from layouts.kit.parameters import Request
from layouts.runs.state_keys import KEYS_OF_PAGE, STATE_KEYS

ROOT = Path(__file__).parents[3]
_CHANGED = re.compile(r"\b(?:page|state|cards)\.change\(\{([^;]*?)\}\)", re.DOTALL)
_KEY = re.compile(r"(?:^|[,{])\s*([a-z_]+)\s*(?=[:,}]|$)")
_READ = re.compile(r'\b(?:last|listed|toggled|withEntry|entry|get|flag)\((?:page|state|page\.state|now), "([a-z_]+)"')
_BOUND = re.compile(r'\bbind\(\s*app, ids, "[^"]+", "[^"]+", "([a-z_]+)"')
_IMPORT = re.compile(r"""(?:^(?:import|export)\b(?:[^;"'()]*?\bfrom)?\s*|\bimport\()"([^"]+)"\s*[;)]""", re.MULTILINE)
_BY_NAME = {"model_lineage": {"x", "y"}, "data_lineage": {"x", "y"}, "two_runs": {"one", "other"}}
"""Keys that are read in a loop over their names."""


def scripts(page: Page) -> set[Path]:
    """The scripts of a page, and those they import."""
    found: set[Path] = set()
    left = list((ROOT / "assets" / page.folder.replace(".", "/")).glob("*.js"))
    while left:
        path = left.pop()
        if path in found or "vendor" in path.parts or not path.is_file():
            continue
        found.add(path)
        left += [(path.parent / other).resolve() for other in _IMPORT.findall(text_of(path))]
    return found


def modules(page: Page) -> dict[str, Path]:
    """The modules of the layouts that a page imports, and those they import, with their files."""
    found: dict[str, Path] = {}
    left = [f"layouts.{page.folder}.page"]
    while left:
        name = left.pop()
        path = next((one for one in _files(name) if one.is_file()), None)
        if path is None or name in found:
            continue
        found[name] = path
        left += imported(path)
    return found


@cache
def text_of(path: Path) -> str:
    return path.read_text()


@cache
def imported(path: Path) -> list[str]:
    """What a module imports of the layouts; a name may be that of a module or of something in one."""
    return [
        name for node in ast.walk(ast.parse(text_of(path)))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("layouts.")
        for name in (node.module, *(f"{node.module}.{one.name}" for one in node.names))
    ]  # fmt: skip


def _files(name: str) -> Iterable[Path]:
    place = ROOT / name.replace(".", "/")
    return place.with_suffix(".py"), place / "__init__.py"


def requests(kind: type[Request]) -> list[type[Request]]:
    """What pages ask for: the requests below one that are declared by pages."""
    below = [one for one in kind.__subclasses__() if one.__module__.startswith("layouts.")]
    return below + [deeper for one in below for deeper in requests(one)]


def keys(page: Page) -> set[str]:
    import_module(f"layouts.{page.folder}.page")
    found = {*page.keeps, *_BY_NAME.get(page.name, ())}
    for path in scripts(page):
        text = text_of(path)
        found.update(_READ.findall(text))
        found.update(key for change in _CHANGED.findall(text) for key in _KEY.findall(change))
    own = modules(page)
    for path in own.values():
        found.update(_BOUND.findall(text_of(path)))
    for request in requests(Request):
        if request.__module__ in own:
            found.update(request.keys())
    return found - {"run"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_keys_are_those_of_the_page(page: Page) -> None:
    known, found = KEYS_OF_PAGE[page.name], keys(page)
    assert sorted(found - known) == [], f"add them to {page.name} in layouts/runs/state_keys.py"
    assert sorted(known - found) == [], f"{page.name} has them no more"


def test_well_known_keys_are_among_them() -> None:
    assert set(KEYS_OF_PAGE) == {page.name for page in PAGES}
    assert {"smooth", "x", "pin", "full", "zoom", "log", "q"} <= KEYS_OF_PAGE["scalars"]
    assert "clip" not in KEYS_OF_PAGE["scalars"]
    assert list(STATE_KEYS) == sorted(STATE_KEYS)


_PLACE = re.compile(rf"(?<![\w.])({'|'.join(page.path for page in PAGES if page.path)})\?([a-z_]+=[^\s\"'`)<]*)")
_BESIDE = {"run", "card", "embed", "alone", "lang", "theme", "token", "zone"}
"""Parameters that are no state."""


def test_addresses_in_the_documentation_have_keys_of_their_page() -> None:
    by_path = {page.path: page.name for page in PAGES}
    wrong = [
        f"{path.name}: {name}?{query}" for path in (ROOT / "docs").rglob("*.md")
        for name, query in _PLACE.findall(path.read_text())
        for part in query.split("&")
        if (key := part.partition("=")[0]) and key not in KEYS_OF_PAGE[by_path[name]] | _BESIDE
    ]  # fmt: skip
    assert wrong == []
