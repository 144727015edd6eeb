"""Each promise in SECURITY.md names tests that exist: file and function."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TABLE = re.compile(r"^## Promises and their tests\n(.*?)^## ", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`([^`]*)`")
TEST = re.compile(r"(tests/[\w/]+\.py)::(test_\w+)")


def rows_in(text: str) -> list[tuple[str, str]]:
    """Each promise, and what is said of its tests."""
    section = TABLE.search(text)
    assert section is not None
    cells = (re.split(r"(?<!\\)\|", line)[1:-1] for line in section[1].splitlines() if line.startswith("| "))
    return [(promise.strip(), tests) for promise, tests in cells if promise.strip() != "promise"]


def missing(tests: str) -> list[str]:
    """Names in a cell that are no test of a file that is there."""
    found = [(name, TEST.fullmatch(name)) for name in NAMED.findall(tests)]
    return [name for name, test in found if test is None or test[2] not in defined(test[1])] or ([] if found else ["none"])


@cache
def defined(path: str) -> frozenset[str]:
    """Names of the functions of a file; none if there is no such file."""
    file = ROOT / path
    tree = ast.parse(file.read_text("utf-8") if file.is_file() else "")
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


def test_every_promise_names_tests_that_exist() -> None:
    rows = rows_in((ROOT / "SECURITY.md").read_text("utf-8"))
    assert len(rows) > 25
    assert {promise: missing(tests) for promise, tests in rows if missing(tests)} == {}


@pytest.mark.parametrize(
    ("tests", "wanted"),
    [
        ("`tests/test_promises.py::test_a_test_that_is_not_there_is_noticed`", []),
        ("`tests/test_promises.py::test_no_such`", ["tests/test_promises.py::test_no_such"]),
        ("`tests/no_such.py::test_x`, `test_y`", ["tests/no_such.py::test_x", "test_y"]),
        ("by hand", ["none"]),
    ],
)
def test_a_test_that_is_not_there_is_noticed(tests: str, wanted: list[str]) -> None:
    assert missing(tests) == wanted
