"""CPU seconds per GB of hole in an event file of 10 GB, with and without SEEK_DATA: `python -m benchmarks.holes known`."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import Figure, in_fresh_process

GIGABYTES = 10
STEPS = 1000
CASES = (
    ("10 GB hole in an event file, holes known by the file system", "known", 0.1),
    ("10 GB hole in an event file, read as zeros", "unknown", 0.5),
)


def figures(times: int) -> list[Figure]:
    """CPU seconds per GB of each case."""
    found = []
    for what, how, bound in CASES:
        results = in_fresh_process("benchmarks.holes", how, times=times)
        note = f"{results[0]['points']:,.0f} points around the hole"
        found.append(Figure(what, "s/GB", bound, tuple(result["cpu"] / GIGABYTES for result in results), note))
    return found


def one(path: Path) -> dict[str, float]:
    """Read a file with a hole, in slices as a server does."""
    from parsers.events.mindspore import MINDSPORE
    from parsers.recording import EventWriter

    with EventWriter(str(path), "mindspore") as writer:
        for step in range(STEPS):
            writer.add(step, {"loss": 1 / (step + 1)})
    content = path.read_bytes()
    with path.open("r+b") as file:
        file.seek(len(content) + (GIGABYTES << 30))
        file.write(content)
    begun, cursor, points, more = time.process_time(), None, 0, True
    while more:
        batch = MINDSPORE.read(str(path), cursor, 32 << 20)
        cursor, more = batch.cursor, batch.more
        points += sum(block.value.size for block in batch.scalars)
    if points != 2 * STEPS:
        raise RuntimeError(f"expected {2 * STEPS} points, found {points}")
    return {"cpu": time.process_time() - begun, "points": points}


if __name__ == "__main__":
    if sys.argv[1] == "unknown" and hasattr(os, "SEEK_DATA"):
        del os.SEEK_DATA
    with tempfile.TemporaryDirectory() as directory:
        print(json.dumps(one(Path(directory) / "events.out.events.summary.1700000000.0.host_MS")))
