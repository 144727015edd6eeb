"""Files followed while another process writes, cuts and replaces them and is killed in the middle of it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from parsers.events.mindspore import MINDSPORE
from parsers.events.tensorboard import TENSORBOARD
from parsers.model import Batch
from tests.amounts import long_after
from tests.parsers.events.event_reference import read_points

READER = {"mindspore": MINDSPORE, "tensorboard": TENSORBOARD}
ROOT = Path(__file__).parents[3]


def follow(layout: str, directory: Path, batches: dict[str, list[Batch]]) -> None:
    names = set(os.listdir(directory))
    for gone in batches.keys() - names:
        del batches[gone]
    for name in names:
        known = batches.setdefault(name, [])
        batch = READER[layout].read(str(directory / name), known[-1].cursor if known else None)
        if batch.restarted:
            known.clear()
        known.append(batch)


@pytest.mark.parametrize("layout", ["mindspore", "tensorboard"])
@pytest.mark.parametrize("seed", long_after(1, [1, 2]))
def test_what_was_followed_equals_a_full_read(tmp_path: Path, layout: str, seed: int) -> None:
    command = [sys.executable, "-m", "tests.writers.live_writer", str(tmp_path), layout, str(seed)]
    batches: dict[str, list[Batch]] = {}
    reads = 0
    with subprocess.Popen(command, cwd=ROOT) as writer:
        try:
            starting = time.monotonic() + 60
            while not batches and time.monotonic() < starting:
                time.sleep(0.005)
                follow(layout, tmp_path, batches)
            deadline = time.monotonic() + 2 + seed / 10
            while time.monotonic() < deadline or (reads <= 20 and time.monotonic() < starting + 60):
                follow(layout, tmp_path, batches)
                reads += 1
                time.sleep(0.005)
        finally:
            writer.kill()
    assert reads > 20
    follow(layout, tmp_path, batches)
    for name, parts in batches.items():
        whole = READER[layout].read(str(tmp_path / name))
        assert sorted(read_points(*parts)) == sorted(read_points(whole))
        assert parts[-1].pending == whole.pending
        kinds = {problem.kind for part in parts for problem in part.problems}
        assert kinds <= {"replaced", "empty_file", "unreadable"}
