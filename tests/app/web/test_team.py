"""Fifty readers and two editors at one server that reads a run which grows."""

from __future__ import annotations

import pytest

from benchmarks.team import trial


@pytest.mark.long
def test_no_remark_is_lost_and_readers_have_every_step() -> None:
    found = trial(30.0)
    assert found.failed == []
    assert (found.lost, found.written > 40) == (0, True)
    assert len(found.delays) > 500
    assert sorted(found.delays)[len(found.delays) // 2] < 5.0  # seconds; 1.4 on a free machine
