"""Who owns a script or style, and who needs it: the folders of assets/ as the server sees them."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path, PurePosixPath

from dash import html

from app.web import server
from app.web.bundles import CARTESIAN, assets_directory
from app.web.modules import BASE, GENERATORS, HOLD, SHELL, Assets, folder_of, imports_of, page_entry
from layouts import PAGES, i18n
from layouts.page import Page

ASSETS = Assets(assets_directory())
MODULES = sorted(ASSETS.imports)
FAMILIES = ("cards", "graphs", "profiling", "lineage", "debugging", "explanations", "tensor_grid")
ALLOWED = {
    "early": (), "vendor": (), "kit": (), "base": ("early", "kit"), "shell": ("base", "kit"),
    **dict.fromkeys(FAMILIES, ("base", "kit", "vendor")),
}  # fmt: skip
"""Folder -> the folders that its modules may import from, beside itself; pages may import from base, kit and the families."""
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
            assert folder_of(wanted) in (folder, *ALLOWED.get(folder, ("base", "kit", *FAMILIES))), (name, wanted)


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
    first = ASSETS.modules([BASE, SHELL, *(page_entry(page.name) for page in PAGES)])
    later = [found for name in first for found in later_imports(name)]
    assert later
    assert not set(later) & set(first), "loaded later, and at the start all the same"
    assert {folder_of(found) for found in later} <= {folder_of(name) for name in first}, "style sheets are there at the start"
    assert sorted({HOLD, GENERATORS, CARTESIAN, *first, *ASSETS.modules(later)}) == MODULES
    modules = {page.name: ASSETS.modules([BASE, SHELL, page_entry(page.name)]) for page in PAGES}
    assert {sheet for name, needed in modules.items() for sheet in ASSETS.styles(needed, name)} == set(ASSETS.sheets)


def test_a_folder_below_pages_is_a_page() -> None:
    folders = {folder_of(name) for name in ASSETS.names if name.startswith("pages/")}
    assert folders <= {f"pages/{page.name}" for page in PAGES}


def made(name: str) -> Page:
    texts = {f"{name}.title": (name, name)}
    return Page(name, texts, needs=(), layout=lambda _ids, _routes: html.P(name), register=lambda *_: None)


def test_pages_named_like_shared_files_and_folders_take_nothing_away(source, monkeypatch) -> None:
    monkeypatch.setattr(i18n, "CATALOGUE", {**{f"{name}.title": (name, name) for name in NAMES}, **i18n.CATALOGUE})
    names = [name for name in NAMES if name not in {"health", *(page.name for page in PAGES)}]  # /health is a route of its own
    assert {"files", "cards", "base", "profiling", "grid", "main", "page", "vendor", "early"} <= set(names)
    usual = server.create_app(source).server.test_client()
    more = server.create_app(source, pages=(*PAGES, *map(made, names))).server.test_client()
    files = re.compile(r'(?:href|src)="([^"]*)"')
    for page in PAGES:
        assert files.findall(more.get(f"/{page.path}").text) == files.findall(usual.get(f"/{page.path}").text)
    bare = {url for url in files.findall(usual.get("/").text) if "pages/" not in url}
    for name in names:
        found = [url for url in files.findall(more.get(f"/{name}").text) if "/pages/" in url]
        assert found == [f"/api/pages/{name}.json"], "a page without scripts has none"
        assert more.get(f"/api/pages/{name}.json").status_code == 200
    assert bare


def test_a_page_has_what_lies_in_its_folder(tmp_path) -> None:
    shared = ("base/main.js", "base/base.css", "files/files.js")
    for name in (*shared, "pages/files/page.css", "pages/files/page.js", "pages/base/rest.css"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('import "../../files/files.js";\n' if name == "pages/files/page.js" else "")
    assets = Assets(str(tmp_path))
    modules = assets.modules([BASE, page_entry("files")])
    assert modules == ["base/main.js", "files/files.js", "pages/files/page.js"]
    assert assets.styles(modules, "files") == ["base.css", "pages/files.css"]
    assert assets.modules([BASE, page_entry("base")]) == ["base/main.js"]
    assert assets.styles(["base/main.js"], "base") == ["base.css", "pages/base.css"]
