"""CPU from process start to the first page answered with all of S1 there, also against the bare imports of the same stack;
the second start from the index; the memory of the server."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import tensorboard
from benchmarks.data import folder
from benchmarks.measure import ROOT, STACK, Figure, anonymous_rss, cpu_seconds, free_port, in_fresh_process

POINTS = 1_000_000


def figures(times: int) -> list[Figure]:
    """Start, second start and memory."""
    return [
        *_start("ms", "MindSpore layout", times),
        *_start("tb", "TensorBoard layout", times),
        *tensorboard.started(folder() / "tb" / "S1", times),
        _second_start(times),
    ]


def bare_imports(times: int = 3) -> float:
    """Return the CPU seconds, a median, of importing the libraries of a server."""
    spent = []
    for _ in range(times):
        bare = subprocess.Popen([sys.executable, "-c", STACK], cwd=ROOT)
        _, _, usage = os.wait4(bare.pid, 0)
        spent.append(usage.ru_utime + usage.ru_stime)
    return statistics.median(spent)


@contextmanager
def server(base: Path, *options: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """The application in a process of its own: (process, address)."""
    port = free_port()
    with tempfile.TemporaryDirectory() as workspace:
        command = [sys.executable, "-m", "app", "--summary-base-dir", str(base), "--port", str(port), "--workspace", workspace]
        process = subprocess.Popen([*command, "--no-open", *options], cwd=ROOT, stdout=subprocess.DEVNULL)
        try:
            yield process, f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(20)


def wait_for(address: str, points: int, seconds: float = 60) -> None:
    """Wait until the start page is answered and this many points are available."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(address + "/", timeout=5) as page:
                page.read()
            with urllib.request.urlopen(address + "/api/runs.json", timeout=5) as answer:
                rows = json.load(answer)
            if sum(row["points"] for row in rows) >= points and all(row["state"] in ("idle", "live") for row in rows):
                return
        except OSError:
            pass
        time.sleep(0.01)
    raise RuntimeError(f"{address}: {points} points were not there after {seconds} s")


def _start(layout: str, of: str, times: int) -> list[Figure]:
    spent, ratios, memory = [], [], []
    for _ in range(times):
        imports = bare_imports(1)
        with server(folder() / layout / "S1", "--no-cache") as (process, address):
            wait_for(address, POINTS)
            spent.append(cpu_seconds(process.pid))
            ratios.append(spent[-1] / imports)
            memory.append(anonymous_rss(process.pid))
    return [
        Figure(f"process start to first page with all of S1, {of}", "CPU s", 1.0, tuple(spent)),
        Figure("the same against the bare imports of its libraries", "x", 2.0, tuple(ratios)),
        Figure("anonymous memory of the server with S1 open", "MB", 250, tuple(memory)),
    ]


def _second_start(times: int) -> Figure:
    with tempfile.TemporaryDirectory() as place:
        command = ("benchmarks.starting", str(folder() / "ms" / "S1"), str(Path(place) / "index"))
        in_fresh_process(*command, times=1)
        results = in_fresh_process(*command, times=times)
    return Figure("second start from the index, 1M points, after imports", "CPU s", 0.05, tuple(r["cpu"] for r in results))


def _load(base: str, index: str) -> dict[str, float]:
    """Open a store with an index and wait until all is read."""
    from app.store.store import Store

    begun = time.process_time()
    store = Store([base], interval=0, index_directory=index).start()
    store.wait(60)
    cpu = time.process_time() - begun
    points = sum(row.points for row in store.runs.rows())
    store.stop()
    if points != POINTS:
        raise RuntimeError(f"wanted {POINTS} points, got {points}")
    return {"cpu": cpu}


if __name__ == "__main__":
    print(json.dumps(_load(sys.argv[1], sys.argv[2])))
