"""Dumps for tests of the debugger page."""

from __future__ import annotations

from pathlib import Path

import pytest

from layouts.dumps.debugger.page import DebuggerAnswers
from parsers import open_run
from parsers.dumps.access import RunDump
from tests.sources import MemorySource
from tests.writers.dumps import Injection, write_dump


@pytest.fixture
def dump(tmp_path: Path) -> RunDump:
    """Five iterations, of which the third makes NaN."""
    write_dump(tmp_path / "a", iterations=5, injection=Injection(2, 5, "nan"))
    return open_run(tmp_path / "a").dump


@pytest.fixture
def source(dump: RunDump) -> MemorySource:
    return MemorySource({"a": {"dump": dump}})


@pytest.fixture
def answers(source: MemorySource) -> DebuggerAnswers:
    return DebuggerAnswers(source)


@pytest.fixture
def nan(real_data: Path) -> DebuggerAnswers:
    """A dump of MindSpore that diverges."""
    return DebuggerAnswers(MemorySource({"a": {"dump": open_run(real_data / "dump" / "out_nan").dump}}))
