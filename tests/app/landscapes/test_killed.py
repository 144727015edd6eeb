"""Computations that are killed at random moments, or whose workers are: the result is that of one that was not."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from app.landscapes import LandscapeOptions, compute
from parsers.checkpoints import POINTS, files_in
from parsers.landscapes.points import text_of
from tests.app.commands.running import ROOT
from tests.waiting import until

KILLS = 20
SIZE = 40
TOTAL = SIZE * SIZE + 4
SCRIPT = """
import os, signal, time
import numpy as np

def once(moment, place):
    "Kill this process if it is to be killed now; never twice at one place, which would have no loss then."
    kills = os.environ["KILLS"]
    if not os.path.exists(f"{kills}/{moment}"):
        return
    try:
        os.close(os.open(f"{kills}/{place}.done", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)

def setup():
    once("setup", "setup")

def loss(parameters):
    time.sleep(0.002)
    with open(os.environ["COMPUTED"], "ab", buffering=0) as file:
        file.write(b"x")
        once(file.tell(), parameters["w.weight"].tobytes().hex())
    return float(np.sin(3 * parameters["w.weight"]).sum() + (parameters["w.bias"] ** 2).sum())
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    random = np.random.default_rng(5)
    weight = random.normal(size=(2, 3))
    for step in range(1, 5):
        np.savez(folder / f"net_{step}.npz", **{"w.weight": weight, "w.bias": weight[0]})  # type: ignore[arg-type]
        weight = weight + random.normal(size=(2, 3)) * 0.2
    (tmp_path / "loss.py").write_text(SCRIPT)
    (tmp_path / "kills").mkdir()
    monkeypatch.setenv("KILLS", str(tmp_path / "kills"))
    monkeypatch.setenv("COMPUTED", str(tmp_path / "computed"))
    return folder


def begun(run: Path, out: Path) -> subprocess.Popen[bytes]:
    """Start the command with two workers."""
    given = [run, "--script", run.parent / "loss.py", "--out", out, "--checkpoints", "*.npz", "--size", SIZE, "--jobs", 2]
    command = [sys.executable, "-m", "app", "landscape", *map(str, given)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def losses_of(run: Path, out: Path) -> np.ndarray:
    """Compute to the end; return all losses."""
    script = str(run.parent / "loss.py")
    (one,) = compute(LandscapeOptions(str(run), script, str(out), size=SIZE, jobs=2, checkpoints="*.npz")).landscapes
    assert one.failed == ()
    assert one.path is not None
    return np.concatenate([one.z.ravel(), one.path[2]])


def kept(out: Path) -> int:
    """The number of whole points in the points file, 0 for none."""
    for _, path in files_in(str(out), POINTS):
        lines = Path(path).read_bytes().splitlines(keepends=True)
        return max(sum(text_of(line) is not None for line in lines) - 1, 0)
    return 0


def computed(run: Path) -> int:
    path = run.parent / "computed"
    return path.stat().st_size if path.exists() else 0


def still(run: Path) -> None:
    """Wait until workers of a command that was killed have ended: each ends with the row it is at."""
    before = -1
    while before != computed(run):
        before = computed(run)
        time.sleep(0.1)


@pytest.mark.long
def test_a_killed_command_goes_on_to_the_same_bits(run: Path, tmp_path: Path) -> None:
    wanted = losses_of(run, tmp_path / "whole")
    assert computed(run) == TOTAL
    out = tmp_path / "out"
    random = np.random.default_rng(11)
    moments = [0]
    for _ in range(KILLS):
        goal = computed(run) + int(random.integers(0, 24))
        process = begun(run, out)
        until(lambda goal=goal, process=process: computed(run) >= goal or process.poll() is not None)
        time.sleep(float(random.uniform(0, 0.02)))
        process.kill()
        process.wait()
        still(run)
        moments.append(kept(out))
        assert moments[-1] >= moments[-2]  # what was kept stays
    before, left = computed(run), TOTAL - moments[-1]
    assert np.array_equal(losses_of(run, out), wanted)
    assert computed(run) - before == left


@pytest.mark.long
def test_killed_workers_are_replaced_and_the_bits_are_the_same(run: Path, tmp_path: Path) -> None:
    wanted = losses_of(run, tmp_path / "whole")
    (tmp_path / "computed").unlink()
    moments = np.random.default_rng(12).choice(np.arange(1, TOTAL), KILLS, replace=False)
    for moment in ("setup", *moments):
        (tmp_path / f"kills/{moment}").touch()
    assert np.array_equal(losses_of(run, tmp_path / "out"), wanted)
    killed = len(list((tmp_path / "kills").glob("*.done"))) - 1
    assert killed >= KILLS - 5
    assert computed(run) == TOTAL + killed
