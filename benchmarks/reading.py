"""CPU seconds from files to a frame, in a process that has done nothing but import: `python -m benchmarks.reading DIR`."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import peers
from benchmarks.data import folder
from benchmarks.many_data import make
from benchmarks.measure import Figure, anonymous_rss, in_fresh_process

CASES = (
    ("S1 MindSpore layout: 1M points to a frame, every CRC checked", "ms/S1", 0.15),
    ("S1 TensorBoard layout: the same", "tb/S1", 0.45),
    ("S4 MindSpore layout: 1 GB, 1,000 scalars and payload index", "ms/S4", 0.10),
    ("S4 TensorBoard layout: the same", "tb/S4", 0.10),
)


TAGS, STEPS, MISSING = 20, 64_286, 0.3


def figures(times: int) -> list[Figure]:
    """CPU seconds of each case, and of steps that miss some of their values."""
    found = []
    for what, where, bound in CASES:
        results = in_fresh_process("benchmarks.reading", str(folder() / where), times=times)
        note = f"{results[0]['points']:,.0f} points, {results[0]['rss']:.0f} MB anonymous"
        found.append(Figure(what, "CPU s", bound, tuple(r["cpu"] for r in results), note))
        found += peers.beside(folder() / where, where.partition("/")[0])
    with tempfile.TemporaryDirectory() as place:
        make(Path(place), 1, TAGS, STEPS, "ms", MISSING)
        results = in_fresh_process("benchmarks.reading", place, times=times)
    note = f"{results[0]['points']:,.0f} points"
    what = f"MindSpore layout: {TAGS} tags, steps miss {MISSING:.0%} of their values"
    found.append(Figure(what, "CPU s", 0.25, tuple(r["cpu"] for r in results), note))
    return found


def one(base: Path) -> dict[str, float]:
    """Read every run below a directory into frames."""
    import pandas  # noqa: F401  its import, at the first frame, is not what is measured

    from parsers import discover
    from parsers.runs import Run

    begun = time.process_time()
    runs = [Run(source) for source in discover(base)]
    points = 0
    for run in runs:
        run.refresh(run.source)
        points += len(run.scalars)
    return {"cpu": time.process_time() - begun, "points": points, "rss": anonymous_rss()}


if __name__ == "__main__":
    print(json.dumps(one(Path(sys.argv[1]))))
