"""Who may import whom: parsers know no pages, pages know no server and no other page, and no imports form a circle."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

import parsers

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("parsers", "layouts", "app")
DASH = {"dash", "dash_ag_grid", "dash_cytoscape", "plotly"}
BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)
RECORDING = "parsers.recording"
"""Is also built under another name, so it imports itself relatively."""
FORBIDDEN: dict[str, set[str]] = {"parsers": {"layouts", "app", "flask", *DASH}, "layouts": {"app", "flask"}, "app": set()}


@cache
def modules() -> dict[str, Path]:
    found = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def statements_of(body: Sequence[ast.AST], for_types: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """(statement at any depth, whether only a type checker sees it). Expressions, which hold no imports, are not visited."""
    for node in body:
        yield node, for_types
        only_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        yield from statements_of(getattr(node, "body", ()) if isinstance(node, BLOCKS) else (), for_types or only_types)
        for name in ("orelse", "handlers", "finalbody", "cases"):
            yield from statements_of(getattr(node, name, ()) if isinstance(node, BLOCKS) else (), for_types)


def imports(text: str, known: Mapping[str, object], package: str = "") -> Iterator[tuple[str, bool]]:
    """(module imported anywhere in a file, whether only a type checker imports it); package is that of relative imports."""
    for node, for_types in statements_of(ast.parse(text).body):
        if isinstance(node, ast.Import):
            yield from ((alias.name, for_types) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level or within(package, RECORDING), "a relative import"
            parent = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            module = ".".join([*parent, *filter(None, [node.module])])
            for alias in node.names:
                below = f"{module}.{alias.name}"
                yield below if below in known else module, for_types


@cache
def all_imports() -> dict[str, list[tuple[str, bool]]]:
    """Module -> what it imports. Read by the first test that asks, not while tests are collected."""
    return {
        name: list(imports(path.read_text(encoding="utf-8"), modules(), package_of(name, path)))
        for name, path in modules().items()
    }


def package_of(module: str, path: Path) -> str:
    return module if path.stem == "__init__" else module.rpartition(".")[0]


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


def graph_of(package: str) -> dict[str, set[str]]:
    """Module -> modules of the package it imports, be it for a type checker alone."""
    return {
        name: {module for module, _ in found if within(module, package)}
        for name, found in all_imports().items() if within(name, package)
    }  # fmt: skip


@pytest.mark.parametrize("package", PACKAGES)
def test_no_imports_form_a_circle_not_even_those_for_type_checkers(package: str) -> None:
    assert cycle(graph_of(package)) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_nothing_outside_its_layer(package: str) -> None:
    found = [(name, module) for name in graph_of(package) for module, _ in all_imports()[name]]
    assert [pair for pair in found if any(within(pair[1], one) for one in FORBIDDEN[package])] == []


def page_of(module: str) -> str:
    """The page a module belongs to, "" for none."""
    folder = ".".join(module.split(".")[:3])
    return folder if f"{folder}.page" in modules() and folder.startswith("layouts.") else ""


def test_a_page_is_imported_by_itself_alone() -> None:
    assert page_of("layouts.curves.scalars.matrix")
    found = [(name, module) for name, modules in all_imports().items() for module, _ in modules if page_of(module)]
    assert [(name, module) for name, module in found if page_of(name) != page_of(module)] == []


def test_imports_within_functions_count_and_those_for_types_are_known() -> None:
    text = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import b\ndef f():\n    from a import c, d\n"
    assert list(imports(text, {"a.c": None})) == [("typing", False), ("b", True), ("a.c", False), ("a", False)]


def test_relative_imports_are_those_of_what_is_built_under_another_name() -> None:
    known = {f"{RECORDING}.wire": None}
    text = "from .wire import a\nfrom . import wire\nfrom .adapters import b"
    assert [name for name, _ in imports(text, known, RECORDING)] == [f"{RECORDING}.wire"] * 2 + [f"{RECORDING}.adapters"]
    above = [name for name, _ in imports("from ..wire import a\nfrom .. import wire", known, f"{RECORDING}.adapters")]
    assert above == [f"{RECORDING}.wire"] * 2
    with pytest.raises(AssertionError, match="relative"):
        list(imports("from .wire import a", known, "parsers.events"))


def test_imports_within_every_kind_of_block_count() -> None:
    text = """
class A:
    async def f(self):
        for _ in self:
            try:
                import a
            except OSError:
                import b
            else:
                import c
            finally:
                with self:
                    import d
        else:
            while self:
                import e
        match self:
            case 1:
                if self: import f
                elif other: import g
                else: import h
"""
    assert sorted(name for name, _ in imports(text, {})) == list("abcdefgh")


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
