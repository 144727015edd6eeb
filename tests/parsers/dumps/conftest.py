"""A dump that was written for a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.writers.dumps import write_dump


@pytest.fixture
def dumped(tmp_path: Path) -> Path:
    write_dump(tmp_path / "job", iterations=3)
    return tmp_path / "job"
