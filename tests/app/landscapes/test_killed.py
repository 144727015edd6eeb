"""Computations that are killed at random moments, or whose workers are: the result is that of one that was not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from parsers.landscapes.files import POINTS, files_in
from parsers.landscapes.points import point_of, text_of
from tests.app.commands.running import ROOT

KILLS = 20
SIZE = 16
SCRIPT = """
import os, time
import numpy as np

def setup():
    with open(os.environ["WORKERS"], "a") as file:
        print(os.getpid(), file=file)

def loss(parameters):
    time.sleep(0.002)
    with open(os.environ["COMPUTED"], "ab", buffering=0) as file:
        file.write(parameters["w.weight"].tobytes())
    return float(np.sin(3 * parameters["w.weight"]).sum() + (parameters["w.bias"] ** 2).sum())
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    random = np.random.default_rng(5)
    weight = random.normal(size=(2, 3))
    for step in range(1, 5):
        np.savez(folder / f"net_{step}.npz", **{"w.weight": weight, "w.bias": weight[0]})  # type: ignore[arg-type]
        weight = weight + random.normal(size=(2, 3)) * 0.2
    (tmp_path / "loss.py").write_text(SCRIPT)
    return folder


def begun(run: Path, out: Path) -> subprocess.Popen[bytes]:
    """Start the command with two workers."""
    given = ["--script", run.parent / "loss.py", "--out", out, "--checkpoints", "*.npz", "--size", SIZE, "--jobs", 2]
    files = {"WORKERS": str(out) + ".workers", "COMPUTED": str(out) + ".computed"}
    command = [sys.executable, "-m", "app", "landscape", *map(str, (run, *given))]
    return subprocess.Popen(command, cwd=ROOT, env=os.environ | files, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finished(run: Path, out: Path) -> bytes:
    """Run the command to its end; return the losses as the facts and the summary file have them."""
    process = begun(run, out)
    said, wrong = process.communicate(timeout=120)
    assert process.returncode == 0, (said, wrong)
    (file,) = out.glob("*.landscape_MS")
    return file.read_bytes()[60:]  # after the record of the version, which has the time


def kept(out: Path) -> int:
    """The number of whole points in the points file; -1 before there is one with its surfaces."""
    for _, path in files_in(str(out), POINTS):
        lines = Path(path).read_bytes().splitlines(keepends=True)
        texts = [text for line in lines if (text := text_of(line)) is not None]
        return len([point_of(text) for text in texts[1:]]) if texts else -1
    return -1


def computed(out: Path) -> int:
    path = Path(str(out) + ".computed")
    return path.stat().st_size // (6 * 8) if path.exists() else 0


@pytest.mark.long
def test_a_killed_command_goes_on_to_the_same_bits(run: Path, tmp_path: Path) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    wanted = losses_of(run, whole)
    random = np.random.default_rng(11)
    total, moments = SIZE * SIZE + 4, []
    for _ in range(KILLS):
        before, started = kept(out), computed(out)
        process = begun(run, out)
        goal = started + int(random.integers(0, 12))
        end = time.monotonic() + 60
        while computed(out) < goal and process.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.001)
        time.sleep(float(random.uniform(0, 0.02)))
        process.kill()
        process.wait()
        await_workers(out)
        moments.append(kept(out))
        assert moments[-1] >= before  # what was kept stays
    again = computed(out)
    left = total - max(kept(out), 0)
    assert np.array_equal(losses_of(run, out), wanted)
    assert computed(out) - again == left
    assert len(set(moments)) > KILLS // 3


@pytest.mark.long
def test_killed_workers_are_replaced_and_the_bits_are_the_same(run: Path, tmp_path: Path) -> None:
    wanted = losses_of(run, tmp_path / "whole")
    out = tmp_path / "out"
    process = begun(run, out)
    random = np.random.default_rng(12)
    killed: set[int] = set()
    workers = Path(str(out) + ".workers")
    end = time.monotonic() + 120
    while len(killed) < KILLS and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(float(random.uniform(0, 0.03)))
        alive = {int(line) for line in workers.read_text().split()} - killed if workers.exists() else set()
        if alive:
            worker = int(random.choice(sorted(alive)))
            try:
                os.kill(worker, signal.SIGKILL)
            except ProcessLookupError:
                pass
            killed.add(worker)
    said, wrong = process.communicate(timeout=120)
    assert process.returncode == 0, (said, wrong)
    assert len(killed) >= KILLS // 2
    assert np.array_equal(losses(out), wanted)
