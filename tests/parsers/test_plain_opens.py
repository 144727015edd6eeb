"""Readers open regular files only: a FIFO or a device in place of a file would hold up one that opens it otherwise."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OPENED_PLAINLY = {
    "parsers/files.py": "what opens regular files only",
    "parsers/profiler/trace/idle.py": "our own file in the index",
    "parsers/profiler/trace/pyramid.py": "our own files in the index",
    "parsers/profiler/trace/storage.py": "our own files in the index",
    "parsers/recording/adapters/torch.py": "a file that it has just exported",
    "parsers/recording/output.py": "a file that it creates, by flags",
    "parsers/recording/system.py": "files of /proc, which have no size",
}
OPENS = re.compile(r"(?:^|\.)(?:open|open_file|read_text|read_bytes)$|^np\.(?:load|fromfile|memmap|genfromtxt|loadtxt)$")
OPENERS = {"open", "open_file", "read_text", "read_bytes", "load", "fromfile", "memmap", "genfromtxt", "loadtxt"}
OF_PROCESSES = ("PROCESSES.open", "process.open")
"""These ask a process to open a database."""


def plain_opens(text: str) -> Iterator[int]:
    """Yield the lines that open a file to read it, other than by `RegularFile`."""
    for call in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)):
        if _last_name(call.func) not in OPENERS:  # most calls, whose text need not be made
            continue
        function = ast.unparse(call.func)
        first = ast.unparse(call.args[0]) if call.args else ""
        modes = {str(one.value) for one in call.args[:2] if isinstance(one, ast.Constant)}
        writes = any(re.fullmatch(r"[wxa][b+]*", mode) for mode in modes)
        if OPENS.search(function) and function not in OF_PROCESSES and not writes and not first.startswith("io.BytesIO("):
            yield call.lineno


def _last_name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""


def test_readers_open_regular_files_only() -> None:
    paths = {path.relative_to(ROOT).as_posix(): path for path in (ROOT / "parsers").rglob("*.py")}
    found = {name: list(plain_opens(path.read_text("utf-8"))) for name, path in paths.items()}
    assert {name: lines for name, lines in found.items() if lines and name not in OPENED_PLAINLY} == {}
    assert [name for name in OPENED_PLAINLY if not found[name]] == [], "on the list, but without such a line"


@pytest.mark.parametrize("line", ["open(p)", "io.open(p, 'rb')", "Path(p).read_bytes()", "np.load(p)", "p.open()"])
def test_plain_opens_are_found(line: str) -> None:
    assert list(plain_opens(line)) == [1]


@pytest.mark.parametrize("line", ["open(p, 'wb')", "p.open('ab')", "Image.open(io.BytesIO(data))", "RegularFile(p)"])
def test_other_calls_are_none(line: str) -> None:
    assert list(plain_opens(line)) == []
