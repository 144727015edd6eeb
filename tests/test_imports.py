"""Who may import whom: parsers know no pages, pages know no server and no other page, and no imports form a circle."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import parsers

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("parsers", "layouts", "app")
DASH = {"dash", "dash_ag_grid", "dash_cytoscape", "plotly"}
FORBIDDEN = {"parsers": {"layouts", "app", "flask", *DASH}, "layouts": {"app", "flask"}, "app": {"layouts.pages"}}


def modules() -> dict[str, Path]:
    found = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


KNOWN = modules()


def imports(text: str, known: Mapping[str, object]) -> Iterator[tuple[str, bool]]:
    """(module imported anywhere in a file, whether only a type checker imports it)."""
    tree = ast.parse(text)
    checked = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    for_types = {id(node) for branch in checked for statement in branch.body for node in ast.walk(statement)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in for_types) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import"
            module = node.module or ""
            for alias in node.names:
                below = f"{module}.{alias.name}"
                yield below if below in known else module, id(node) in for_types


IMPORTS = {name: list(imports(path.read_text(encoding="utf-8"), KNOWN)) for name, path in KNOWN.items()}


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def cycle(graph: Mapping[str, set[str]]) -> list[str]:
    """The modules of one import circle, the first one at both ends; empty if there is none."""
    done: set[str] = set()

    def follow(module: str, way: list[str]) -> list[str]:
        if module in way:
            return [*way[way.index(module) :], module]
        if module in done:
            return []
        for imported in sorted(graph.get(module, ())):
            if found := follow(imported, [*way, module]):
                return found
        done.add(module)
        return []

    return next((found for module in sorted(graph) if (found := follow(module, []))), [])


def graph_of(package: str, *, with_types: bool = False) -> dict[str, set[str]]:
    """Module -> modules of the package it imports at run time, and with_types also those for type checkers."""
    return {
        name: {module for module, for_types in found if within(module, package) and (with_types or not for_types)}
        for name, found in IMPORTS.items() if within(name, package)
    }  # fmt: skip


@pytest.mark.parametrize("package", PACKAGES)
def test_no_imports_form_a_circle(package: str) -> None:
    assert cycle(graph_of(package)) == []


def test_parsers_form_no_circle_with_the_imports_of_type_checkers() -> None:
    assert cycle(graph_of("parsers", with_types=True)) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_nothing_outside_its_layer(package: str) -> None:
    found = [(name, module) for name in graph_of(package) for module, _ in IMPORTS[name]]
    assert [pair for pair in found if any(within(pair[1], one) for one in FORBIDDEN[package])] == []


def page_of(module: str) -> str:
    """The page a module belongs to, "" for none."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["layouts", "pages"] and len(parts) > 2 else ""


def test_a_page_is_imported_by_itself_alone() -> None:
    found = [(name, module) for name, modules in IMPORTS.items() for module, _ in modules if page_of(module)]
    assert [(name, module) for name, module in found if page_of(name) != page_of(module)] == []


def test_imports_within_functions_count_and_those_for_types_are_known() -> None:
    text = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import b\ndef f():\n    from a import c, d\n"
    assert list(imports(text, {"a.c": None})) == [("typing", False), ("b", True), ("a.c", False), ("a", False)]


def test_a_circle_is_found() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]


def test_the_public_names_of_parsers_are_those_that_a_type_checker_sees() -> None:
    """They are imported on first access."""
    tree = ast.parse((ROOT / "parsers/__init__.py").read_text(encoding="utf-8"))
    (branch,) = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    seen = {node.module: tuple(alias.name for alias in node.names) for node in branch.body if isinstance(node, ast.ImportFrom)}
    assert seen == parsers._NAMES
    assert sorted(name for names in seen.values() for name in names) == sorted(parsers.__all__)
    for module, names in seen.items():
        assert all(getattr(parsers, name) is getattr(importlib.import_module(str(module)), name) for name in names)
    assert set(parsers.__all__) <= set(dir(parsers))
    with pytest.raises(AttributeError, match="nonsense"):
        getattr(parsers, "nonsense")  # noqa: B009 - a type checker would refuse it
