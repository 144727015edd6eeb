"""The frames of real memory files are what they were when somebody read them in review."""

from __future__ import annotations

from pathlib import Path

from tests.parsers.profiler.memory.golden import GOLDEN, all_facts, written


def test_frames_are_those_of_the_golden_file(real_data: Path) -> None:
    found = written(all_facts(real_data)).splitlines()
    assert found == GOLDEN.read_text(encoding="utf-8").splitlines()
