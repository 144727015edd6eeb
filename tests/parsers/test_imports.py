"""No module of parsers imports, by whatever way, a module that imports it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUTER = {"dash", "plotly", "flask", "layouts", "app", "dash_mantine_components"}


def modules() -> dict[str, Path]:
    found = {}
    for path in (ROOT / "parsers").rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path, known: Mapping[str, Path]) -> Iterator[tuple[str, bool]]:
    """(module imported anywhere in the file, whether only a type checker imports it)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    checked = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    for_types = {id(node) for branch in checked for statement in branch.body for node in ast.walk(statement)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in for_types) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            module = node.module or ""
            for alias in node.names:
                below = f"{module}.{alias.name}"
                yield below if below in known else module, id(node) in for_types


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


def graphs() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Module -> modules of parsers it imports: at run time, and for type checkers only."""
    known = modules()
    running: dict[str, set[str]] = {name: set() for name in known}
    typing: dict[str, set[str]] = {name: set() for name in known}
    for name, path in known.items():
        for imported, for_types in imports(path, known):
            if imported in known:
                (typing if for_types else running)[name].add(imported)
    return running, typing


def test_no_circle_at_run_time() -> None:
    assert cycle(graphs()[0]) == []


def test_no_circle_with_the_imports_of_type_checkers() -> None:
    running, typing = graphs()
    assert cycle({name: running[name] | typing[name] for name in running}) == []


def test_parsers_import_neither_pages_nor_the_server() -> None:
    known = modules()
    for name, path in known.items():
        for imported, _ in imports(path, known):
            assert imported.split(".")[0] not in OUTER, f"{name} imports {imported}"


def test_a_circle_is_found() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
