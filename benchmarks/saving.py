"""CPU time of `mindscope save`: the command, its server and all processes of the Chromium that it starts, from start to end."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.measure import ROOT, Figure, cpu_of_family

RUNS, POINTS, TAGS = 10, 5_000, 6
LOOK_SECONDS = 0.02


def figures(times: int) -> list[Figure]:
    """The scalars page of ten runs as PNG, PDF and HTML, and one card of it as SVG."""
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder) / "runs")
        _saved(folder, "first.png")  # so that the index has the runs, and the interpreter has compiled its modules
        note = f"{RUNS} runs, {TAGS} cards of {POINTS:,} points"
        found = {
            name: tuple(_saved(folder, f"a.{name}", *more) for _ in range(times))
            for name, more in (("png", ()), ("pdf", ()), ("html", ()), ("svg", ("--card", "tag0")))
        }
    return [
        Figure(f"mindscope save: the scalars page as {name.upper()}, all processes", "CPU s", 5.0, values, note)
        for name, values in found.items()
    ]


def _saved(folder: str, name: str, *options: str) -> float:
    """Return the CPU seconds of a save. Those of a process that ends between two looks are with the one that waited for it."""
    command = [sys.executable, "-m", "app", "save", "scalars?run=*", "--out", f"{folder}/{name}", "--force", "--workspace",
               f"{folder}/workspace", *options, f"{folder}/runs"]  # fmt: skip
    most = 0.0
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            most = max(most, cpu_of_family(process.pid))
            time.sleep(LOOK_SECONDS)
        errors = process.stderr.read() if process.stderr else ""
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: {errors.strip()[-2000:]}")
    return most


def _write(folder: Path) -> None:
    from parsers.recording import Recorder

    random = np.random.default_rng(37)
    for number in range(RUNS):
        with Recorder(str(folder / f"run{number}")) as recorder:
            values = 0.3 + np.exp(-np.arange(POINTS) / 900) + random.normal(0.0, 0.02, (TAGS, POINTS))
            for step in range(POINTS):
                recorder.log(step, {f"tag{tag}": float(values[tag, step]) for tag in range(TAGS)})
