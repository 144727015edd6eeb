"""Seconds and memory from a kernel_details.csv of 1,000,000 rows to its frame, beside plain `pandas.read_csv` of it."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path

from benchmarks.measure import ROOT, Figure, in_fresh_process
from benchmarks.profiler_data import kernel_details

ROWS = 1_000_000


def figures(times: int) -> list[Figure]:
    """Both in fresh processes, one after the other, so that they find the machine alike."""
    folder = Path(os.environ.get("MINDSCOPE_BENCH_DATA", ROOT / "bench-data")) / "profiler"
    path = folder / "kernel_details.csv"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        made = folder / "made"
        kernel_details(made, ROWS)
        made.rename(path)
    pairs = [
        (in_fresh_process("benchmarks.profiler", "ours", str(folder), times=1)[0],
         in_fresh_process("benchmarks.profiler", "pandas", str(path), times=1)[0])
        for _ in range(times)
    ]  # fmt: skip
    yardstick = pairs[0][1]
    note = f"{ROWS:,} rows, {path.stat().st_size / 2**20:,.0f} MB; pandas {yardstick['cpu']:.1f} s, {yardstick['rss']:,.0f} MB"
    ratios = tuple(a["cpu"] / b["cpu"] for a, b in pairs)
    return [
        Figure("kernel_details.csv to its frame / pandas.read_csv", "x", 3.0, ratios, note),
        Figure("kernel_details.csv to its frame: most memory", "MB", 700.0, tuple(a["rss"] for a, _ in pairs)),
        Figure("its operators and types", "CPU s", 2.0, tuple(a["grouped"] for a, _ in pairs)),
    ]


def ours(path: str) -> dict[str, float]:
    """The frame, and what is derived from it."""
    from parsers import open_run

    run = open_run(path)
    (profile,) = run.profile.values()
    begun = time.process_time()
    rows = len(profile.kernels)
    read = time.process_time()
    most = _most_memory()
    if (rows, len(profile.operator_types)) != (ROWS, 4):
        raise RuntimeError(f"wanted {ROWS:,} rows of 4 types, got {rows:,} of {len(profile.operator_types)}")
    return {"cpu": read - begun, "rss": most, "grouped": time.process_time() - read}


def pandas(path: str) -> dict[str, float]:
    """The yardstick."""
    import pandas as pd

    begun = time.process_time()
    pd.read_csv(path)
    return {"cpu": time.process_time() - begun, "rss": _most_memory()}


def _most_memory() -> float:
    """The most resident memory of this process so far, in MB (Linux)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    print(json.dumps({"ours": ours, "pandas": pandas}[sys.argv[1]](sys.argv[2])))
