"""CPU of a whole server until all runs of a directory are read, as a user waits for them: a page asks twice a second. First,
again from the index, and while two other processes keep the cores busy; the memory of the server."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from benchmarks import peers, tensorboard
from benchmarks.many_data import make
from benchmarks.measure import NO_BOUND, Figure, anonymous_rss, cpu_seconds
from benchmarks.starting import server

CASES = ((100, 10, 1_000, 1.2, NO_BOUND), (1_000, 10, 100, 1.3, 1.1), (10_000, 4, 100, 7.0, 2.5))
"""Runs, tags and steps, and the bounds of the first reading and of that from the index."""
ASKED_S = 0.5
PATIENCE_S = 600.0


def figures(times: int) -> list[Figure]:
    """Each case, and for the largest one memory and the ratio on a busy machine."""
    found: list[Figure] = []
    for runs, tags, steps, ready, again in CASES:
        with tempfile.TemporaryDirectory() as place:
            base = Path(place) / "runs"
            make(base, runs, tags, steps, "tb")
            what = f"{runs:,} runs of {tags} tags x {steps:,} steps, whole server"
            first: list[tuple[float, float]] = []
            slower: list[float] = []
            for _ in range(times):
                first.append(_read(base, runs, "--no-cache"))
                if runs == CASES[-1][0]:
                    with _busy():  # in turn: within an hour the same work takes up to 1.6 times as long, or as little
                        slower.append(_read(base, runs, "--no-cache")[0] / first[-1][0])
            found.append(Figure(what, "CPU s", ready, tuple(cpu for cpu, _ in first)))
            found += peers.beside(base, "tb", times, (peers.RUST,))
            found += tensorboard.started(base, times)
            found.append(Figure("the same from the index", "CPU s", again, _from_index(base, runs, times)))
            if runs == CASES[-1][0]:
                found.append(Figure("anonymous memory of the server", "MB", 330, tuple(memory for _, memory in first)))
                found.append(Figure("the same while two processes keep both cores busy", "x", 1.2, tuple(slower)))
    return found


def _read(base: Path, runs: int, *options: str) -> tuple[float, float]:
    """Return the CPU seconds and the MB of a server that has read all runs."""
    with server(base, *options) as (process, address):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            time.sleep(ASKED_S)
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/api/health", timeout=30) as answer:
                told = json.load(answer)
                if told["total"] == told["loaded"] == runs:
                    return cpu_seconds(process.pid), anonymous_rss(process.pid)
    raise RuntimeError(f"{runs:,} runs were not read in {PATIENCE_S:g} s")


def _from_index(base: Path, runs: int, times: int) -> tuple[float, ...]:
    with tempfile.TemporaryDirectory() as workspace:
        options = ("--workspace", workspace)
        _read(base, runs, *options)
        return tuple(_read(base, runs, *options)[0] for _ in range(times))


@contextlib.contextmanager
def _busy() -> Iterator[None]:
    """Two processes that only compute."""
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()
