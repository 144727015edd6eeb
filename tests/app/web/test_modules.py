"""Who owns a script or style, and who needs it: the folders of assets/ as the server sees them."""

from __future__ import annotations

import posixpath
import re
from collections import ChainMap
from pathlib import Path, PurePosixPath

from dash import html

from app.web import server
from app.web.bundles import CARTESIAN, assets_directory
from app.web.modules import BASE, GENERATORS, HOLD, PAGE_FILE, PAGE_SAVING, SHELL, Assets, folder_of, imports_of, is_page
from layouts import PAGES
from layouts.kit import i18n
from layouts.kit.page import Page
from tests.amounts import some_or_every

ASSETS = Assets(assets_directory())
MODULES = sorted(ASSETS.imports)
SUBJECTS = ("curves", "dumps", "explanations", "graphs", "jobs", "lineage", "profiles", "runs", "tuning", "values")
FAMILIES = ("kit/cards", "kit/tensor_grid", *SUBJECTS)
ALLOWED = {"early": (), "vendor": (), "kit": ("early",), "shell": ("kit",), **dict.fromkeys(FAMILIES, ("kit", "vendor"))}
"""Folder -> the folders that its modules may import from, beside itself; pages may import from kit and the subjects."""
NAMES = sorted({PurePosixPath(name).stem for name in MODULES} | {folder_of(name).rpartition("/")[2] for name in MODULES})


def test_imports_are_found() -> None:
    text = '''// import "nothing";
import "./a.js";
import { one, two as three } from "../b.js";
import {
  four,
} from "./c/d.js";
import * as all from "./e.js";
export * from "./f.js";
export { five } from "./g.js";
export const six = "./h.js";
export function seven() { return import("./i.js"); }
const eight = `
import "not-an-import"`;
'''
    assert imports_of(text) == ["./a.js", "../b.js", "./c/d.js", "./e.js", "./f.js", "./g.js"]


def test_modules_import_files_that_are_there_and_their_folders_may_import() -> None:
    assert MODULES
    for name in MODULES:
        text = (Path(assets_directory()) / name).read_text(encoding="utf-8")
        written = re.findall(r"^(?:import\b(?!\()|export [*{][^;]* from)", text, re.MULTILINE)
        assert len(written) == len(ASSETS.imports[name]), name
        folder = folder_of(name)
        for wanted in ASSETS.imports[name]:
            assert wanted in ASSETS.imports, (name, wanted)
            assert folder_of(wanted) in (folder, *ALLOWED.get(folder, ("kit", *FAMILIES))), (name, wanted)


def test_imports_have_no_circle() -> None:
    above: list[str] = []
    done: set[str] = set()

    def visit(name: str) -> None:
        assert name not in above, " -> ".join([*above[above.index(name) :], name])
        if name in done:
            return
        above.append(name)
        for wanted in ASSETS.imports[name]:
            visit(wanted)
        done.add(above.pop())

    for name in MODULES:
        visit(name)


def later_imports(name: str) -> list[str]:
    """The modules that a module imports when it needs them: they are not among the scripts of a page."""
    text = (Path(assets_directory()) / name).read_text(encoding="utf-8")
    targets = re.findall(r"await import\(\"([^\"]+)\"\)", text)
    return [posixpath.normpath(posixpath.join(posixpath.dirname(name), target)) for target in targets]


def test_every_script_and_style_is_needed_by_somebody() -> None:
    first = ASSETS.modules([BASE, SHELL, *(ASSETS.page_entry(page.name) for page in PAGES)])
    later = [found for name in first for found in later_imports(name)]
    assert later
    assert not set(later) & set(first), "loaded later, and at the start all the same"
    assert {folder_of(found) for found in later} <= {folder_of(name) for name in first}, "style sheets are there at the start"
    assert sorted({HOLD, PAGE_FILE, PAGE_SAVING, GENERATORS, CARTESIAN, *first, *ASSETS.modules(later)}) == MODULES
    modules = {page.name: ASSETS.modules([BASE, SHELL, ASSETS.page_entry(page.name)]) for page in PAGES}
    assert {sheet for name, needed in modules.items() for sheet in ASSETS.styles(needed, name)} == set(ASSETS.sheets)


def test_a_folder_below_a_subject_is_a_page_of_that_subject() -> None:
    folders = {folder for folder in map(folder_of, ASSETS.names) if is_page(folder)}
    assert folders <= {page.folder.replace(".", "/") for page in PAGES}
    assert {folder.partition("/")[0] for folder in folders} <= set(SUBJECTS)


def made(name: str) -> Page:
    texts = {f"{name}.title": (name, name)}
    return Page(name, texts, needs=(), layout=lambda _ids, _routes: html.P(name), register=lambda *_: None)


@some_or_every
def test_pages_named_like_shared_files_and_folders_take_nothing_away(source, monkeypatch, every) -> None:
    titles = {f"{name}.title": (name, name) for name in NAMES}
    monkeypatch.setattr(i18n, "CATALOGUE", ChainMap(i18n.CATALOGUE, titles))  # most texts are defined when they are asked for
    names = [name for name in NAMES if name not in {"health", *(page.name for page in PAGES)}]  # /health is a route of its own
    likely = {"files", "cards", "kit", "profiles", "grid", "main", "page", "vendor", "early"}
    assert likely <= set(names)
    names = [name for name in names if every or name in likely]
    usual = server.create_app(source).server.test_client()
    more = server.create_app(source, pages=(*PAGES, *map(made, names))).server.test_client()
    files = re.compile(r'(?:href|src)="([^"]*)"')
    for page in PAGES if every else PAGES[::5]:
        assert files.findall(more.get(f"/{page.path}").text) == files.findall(usual.get(f"/{page.path}").text)
    bare = {url for url in files.findall(usual.get("/").text) if "/page." not in url}
    for name in names:
        found = [url for url in files.findall(more.get(f"/{name}").text) if "/pages/" in url]
        assert found == [f"/api/pages/{name}.json"], "a page without scripts has none"
        assert more.get(f"/api/pages/{name}.json").status_code == 200
    assert bare


def test_a_page_has_what_lies_in_its_folder(tmp_path) -> None:
    shared = ("kit/main.js", "kit/kit.css", "kit/files/files.js", "files/files.js")
    for name in (*shared, "files/files/page.css", "files/files/page.js", "values/kit/rest.css"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('import "../files.js";\n' if name == "files/files/page.js" else "")
    assets = Assets(str(tmp_path))
    modules = assets.modules([BASE, assets.page_entry("files")])
    assert modules == ["kit/main.js", "files/files.js", "files/files/page.js"]
    assert assets.styles(modules, "files") == ["kit.css", "files/files.css"]
    assert assets.modules([BASE, assets.page_entry("kit")]) == ["kit/main.js"]
    assert assets.styles(["kit/main.js"], "kit") == ["kit.css", "values/kit.css"]


def test_a_page_looks_once_for_the_styles_of_each_other_page(source, monkeypatch) -> None:
    """And once for the shared ones: looking for those again for every style sheet took half of the first answer."""
    asked: list[str] = []
    styles = Assets.styles
    monkeypatch.setattr(Assets, "styles", lambda *given: asked.append(given[2] if len(given) > 2 else "") or styles(*given))
    assert server.create_app(source).server.test_client().get("/").status_code == 200
    assert sorted(asked) == sorted(["", *(page.name for page in PAGES)])
