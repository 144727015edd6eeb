"""Device memory: files of millions of rows to their frames, beside plain `pandas.read_csv`, and answers from the frames."""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import ROOT, Figure, in_fresh_process
from benchmarks.memory_data import memory_record, operator_memory

RECORDS, BLOCKS = 3_000_000, 1_000_000
PIXELS = 1_600
_MAKERS = {"memory_record": (memory_record, RECORDS), "operator_memory": (operator_memory, BLOCKS)}
_BOUNDS = {"memory_record": 3.0, "operator_memory": 4.0}


def figures(times: int) -> list[Figure]:
    """Ours and pandas in fresh processes, one after the other, so that they find the machine alike."""
    folder = Path(os.environ.get("MINDSCOPE_BENCH_DATA", ROOT / "bench-data")) / "memory"
    found = []
    for name, (make, rows) in _MAKERS.items():
        path = folder / name / f"{name}.csv"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            made = path.with_suffix(".made")
            make(made, rows)
            made.rename(path)
        pairs = [
            (in_fresh_process("benchmarks.memory", name, str(path.parent), times=1)[0],
             in_fresh_process("benchmarks.memory", "pandas", str(path), times=1)[0])
            for _ in range(times)
        ]  # fmt: skip
        yardstick = pairs[0][1]
        size = path.stat().st_size / 2**20
        note = f"{rows:,} rows, {size:,.0f} MB; pandas {yardstick['cpu']:.1f} s, {yardstick['rss']:,.0f} MB"
        ratios = tuple(ours["cpu"] / theirs["cpu"] for ours, theirs in pairs)
        found.append(Figure(f"{name}.csv to its frame / pandas.read_csv", "x", _BOUNDS[name], ratios, note))
        if name == "operator_memory":
            most = tuple(ours["rss"] for ours, _ in pairs)
            found.append(Figure(f"{name}.csv to its frame: most memory", "MB", 700.0, most))
            found.append(_answer("page: what was alive at a moment of 1,000,000 blocks", 20.0, pairs))
        else:
            found.append(_answer("page: zoom of 3,000,000 records, exact extremes in 1,600 pixels", 40.0, pairs))
    return found


def _answer(what: str, bound: float, pairs: list[tuple[dict[str, float], dict[str, float]]]) -> Figure:
    worst = max(ours["worst_ms"] for ours, _ in pairs)
    return Figure(what, "ms", bound, tuple(ours["answer_ms"] for ours, _ in pairs), f"CPU; slowest of 100 windows {worst:.1f}")


def of_records(path: str) -> dict[str, float]:
    """The frame of memory_record.csv, and the figure of all its curves in windows of all widths."""
    from parsers import open_run

    (profile,) = open_run(path).profile.values()
    told = _timed(lambda: len(profile.memory))
    from layouts.profiles.memory.curve import MemoryWindow, figure  # after the memory of reading has been measured
    from layouts.profiles.memory.page import words
    from parsers.analysis.profiles.memory import recording

    found = recording(profile.memory, profile.operator_memory)
    assert found is not None
    last = found.end - found.origin
    taken = []
    for turn in range(100):
        width = last >> (turn % 10)
        begin = (last - width) * turn // 100
        started = time.process_time()
        figure(found, MemoryWindow(words("en"), (begin, begin + width), PIXELS))
        taken.append((time.process_time() - started) * 1e3)
    return told | {"answer_ms": sorted(taken)[50], "worst_ms": max(taken)}


def of_blocks(path: str) -> dict[str, float]:
    """The frame of operator_memory.csv, and treemap and table of what was alive at a hundred moments."""
    from parsers import open_run

    (profile,) = open_run(path).profile.values()
    told = _timed(lambda: len(profile.operator_memory))
    from layouts.profiles.memory.explained import at_moment, table  # after the memory of reading has been measured
    from layouts.profiles.memory.tiles import tiles
    from parsers.analysis.profiles.memory import recording

    frame = profile.operator_memory
    found = recording(profile.memory, frame)
    assert found is not None
    taken = []
    for moment in found.blocks.start[:: len(found.blocks) // 100].tolist():
        started = time.process_time()
        explained = at_moment(frame, found, moment, "name")
        tiles(explained)
        table(explained, None)
        taken.append((time.process_time() - started) * 1e3)
    return told | {"answer_ms": sorted(taken)[len(taken) // 2], "worst_ms": max(taken)}


def pandas(path: str) -> dict[str, float]:
    """The yardstick."""
    import pandas as pd

    return _timed(lambda: len(pd.read_csv(path)))


def _timed(work: Callable[[], int]) -> dict[str, float]:
    """CPU seconds and most memory of one call. Importing pandas, which takes as long for both, is not measured."""
    import resource

    importlib.import_module("pandas")
    begun = time.process_time()
    rows = work()
    taken = time.process_time() - begun
    if rows not in (RECORDS, BLOCKS):
        raise RuntimeError(f"wanted {RECORDS:,} or {BLOCKS:,} rows, got {rows:,}")
    return {"cpu": taken, "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


if __name__ == "__main__":
    works = {"memory_record": of_records, "operator_memory": of_blocks, "pandas": pandas}
    print(json.dumps(works[sys.argv[1]](*sys.argv[2:])))
