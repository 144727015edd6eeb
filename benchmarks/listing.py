"""CPU seconds to list a thousand runs, and to scan them again when nothing changed."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import Figure, in_fresh_process

RUNS = 1000


def figures(times: int) -> list[Figure]:
    """First listing and the next one."""
    with tempfile.TemporaryDirectory() as place:
        for number in range(RUNS):
            run = Path(place) / f"group{number % 20}" / f"run{number}"
            run.mkdir(parents=True)
            for suffix in ("MS", "lineage"):
                (run / f"events.out.events.summary.{1_700_000_000 + number}.0.host_{suffix}").write_bytes(b"")
        for path, _, _ in os.walk(place):
            os.utime(path, (1e9, 1e9))
        results = in_fresh_process("benchmarks.listing", place, times=times)
    return [
        Figure("1,000 runs of two files listed", "CPU s", 0.3, tuple(result["first"] for result in results)),
        Figure("looked at again", "CPU s", 0.3, tuple(result["again"] for result in results)),
    ]


def one(base: str) -> dict[str, float]:
    """Scan twice."""
    from parsers.discovery.scanner import Scanner

    scanner = Scanner(base)
    begun = time.process_time()
    found = len(scanner.scan())
    first = time.process_time()
    scanner.scan()
    if found != RUNS:
        raise RuntimeError(f"wanted {RUNS} runs, got {found}")
    return {"first": first - begun, "again": time.process_time() - first}


if __name__ == "__main__":
    print(json.dumps(one(sys.argv[1])))
