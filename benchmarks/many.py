"""CPU seconds of the store for many small runs: until all are read, at a second start, idle; against the library alone.

`python -m benchmarks.many library DIR`, or `store DIR INDEX [SECONDS]` with the seconds to stay idle.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import peers
from benchmarks.many_data import make
from benchmarks.measure import Figure, anonymous_rss, in_fresh_process

CASES = (("ms", 10_000, 10, 100), ("tb", 1_000, 20, 50), ("tb", 100, 10, 1_000))
LAYOUTS = {"ms": "MindSpore layout", "tb": "TensorBoard layout"}
BOUNDS = {10_000: (15.0, 4.0), 1_000: (3.0, 0.8), 100: (1.0, 0.2)}
IDLE_SECONDS = 30.0


def figures(times: int) -> list[Figure]:
    """Each case; what the server does while nothing happens, and its memory, for the largest one."""
    found: list[Figure] = []
    for layout, runs, tags, steps in CASES:
        with tempfile.TemporaryDirectory() as place:
            base = Path(place) / "runs"
            base.mkdir()
            make(base, runs, tags, steps, layout)
            found += _case(str(base), place, f"{runs:,} runs of {tags} tags x {steps:,} steps, {LAYOUTS[layout]}", runs, times)
            found += peers.beside(base, layout, those=(peers.RUST,))  # the others take minutes
    return found


def _case(base: str, place: str, what: str, runs: int, times: int) -> list[Figure]:
    library, first = [], []
    for number in range(times):  # in turn, so that both meet the same machine
        library += in_fresh_process("benchmarks.many", "library", base, times=1)
        first += in_fresh_process("benchmarks.many", "store", base, f"{place}/index{number}", times=1)
    idle = str(IDLE_SECONDS) if runs == CASES[0][1] else "0"
    second = in_fresh_process("benchmarks.many", "store", base, f"{place}/index0", idle, times=times)
    ready, again = BOUNDS[runs]
    ratios = tuple(one["cpu"] / other["cpu"] for one, other in zip(first, library, strict=True))
    found = [
        Figure(f"{what}: all read, and in the index", "CPU s", ready, tuple(one["cpu"] for one in first)),
        Figure("the same against the library alone", "x", 3.0, ratios),
        Figure("second start from the index", "CPU s", again, tuple(one["cpu"] for one in second)),
    ]
    if idle != "0":
        found.append(Figure("share of a core while nothing happens", "%", 0.3, tuple(one["idle"] for one in second)))
        found.append(Figure("anonymous memory", "MB", 400, tuple(one["rss"] for one in first)))
    return found


def library(base: str) -> dict[str, float]:
    """Read all runs without a store."""
    from parsers import PayloadCache, discover
    from parsers.runs import Run

    begun, cache = time.process_time(), PayloadCache()
    runs = [Run(source, cache) for source in discover(base)]
    for run in runs:
        run.refresh(run.source)
    return {"cpu": time.process_time() - begun, "points": sum(run.points for run in runs)}


def store(base: str, index: str, idle: float = 0.0) -> dict[str, float]:
    """Open a store, wait until all runs are read and in the index, and stay idle for some seconds."""
    from app.store.store import Store

    begun = time.process_time()
    opened = Store([base], index_directory=index).start()
    if not opened.wait(600):
        raise RuntimeError("the runs were not read in ten minutes")
    time.sleep(1.0)  # the last of them are written to the index
    cpu, rss = time.process_time() - begun, anonymous_rss()
    points = sum(row.points for row in opened.runs.rows())
    begun, begun_wall = time.process_time(), time.perf_counter()
    time.sleep(idle)
    share = 100 * (time.process_time() - begun) / max(time.perf_counter() - begun_wall, 1e-9)
    opened.stop()
    return {"cpu": cpu, "points": points, "rss": rss, "idle": share}


if __name__ == "__main__":
    kind, place, *rest = sys.argv[1:]
    print(json.dumps(library(place) if kind == "library" else store(place, rest[0], *map(float, rest[1:]))))
