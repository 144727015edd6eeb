"""What a large tensor takes in memory from its first piece to the page, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from app.live.received import ReceivedValues

ROOT = Path(__file__).parent.parent.parent.parent


@pytest.mark.long
def test_a_tensor_of_100_mb_takes_little_more_than_its_size() -> None:
    command = [sys.executable, "-m", "benchmarks.live", "fetch", "100000000"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=True)
    assert 1.0 <= json.loads(done.stdout)["ratio"] <= 2.2


def test_values_not_looked_at_longest_make_room() -> None:
    kept = ReceivedValues(1000)
    for wire in range(4):
        kept.put(("live:1", wire, 0), np.zeros(75, np.float32))
        kept.get(("live:1", 0, 0))
    assert kept.nbytes == 900
    assert sorted(kept.keys("live:1")) == [(0, 0), (2, 0), (3, 0)]
    kept.reserve(800)
    assert kept.nbytes == 0
    kept.put(("live:2", 0, 0), np.zeros(2000, np.float32))
    assert kept.nbytes == 8000, "a tensor that is larger than all that is kept is kept alone"
    kept.put(("live:2", 1, 0), np.zeros(10, np.float32))
    assert kept.keys("live:2") == [(1, 0)]
    kept.put(("live:2", 1, 0), np.zeros(20, np.float32))
    kept.put(("live:2", 1, 1), np.zeros(20, np.float32))
    assert kept.nbytes == 160
    kept.forget("live:2", 0)
    assert kept.keys("live:2") == [(1, 1)]
    kept.forget("live:2")
    assert (kept.nbytes, kept.keys("live:2")) == (0, [])
