"""Traces and memory snapshots of torch against what decoding them takes at least.

`python -m benchmarks.torch_profiles frames FILE` measures one case. The trace is of our own writer, 9,000 steps of 24 events;
the snapshot repeats 3,000 entries. References are read in the same run: orjson for the trace, and for the snapshot Python's C
unpickler without garbage collection.
"""

from __future__ import annotations

import gc
import json
import pickle
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from benchmarks.measure import NO_BOUND, Figure, in_fresh_process

STEPS = 9_000
SNAPSHOT = 100 << 20
OTHERS = 10_000


def figures(times: int) -> list[Figure]:
    """Ratios to the references, memory, and CPU seconds of finding files."""
    from tests.writers.kineto_traces import training
    from tests.writers.memory_snapshots import write_large

    with tempfile.TemporaryDirectory() as directory:
        trace, snapshot = Path(directory) / "trace.json", Path(directory) / "snapshot.pickle"
        trace.write_text(training(STEPS, changing=False).text(), encoding="utf-8")
        write_large(snapshot, SNAPSHOT)
        found = [
            *_compared("trace of torch: timeline and all frames", ("frames", "orjson"), trace, 3.0, NO_BOUND, times),
            *_compared("memory snapshot of torch", ("snapshot", "unpickler"), snapshot, 10.0, 600.0, times),
        ]
        others = Path(directory) / "others"
        others.mkdir()
        for number in range(OTHERS):
            (others / f"{number}.json").write_text(json.dumps({"number": number, "text": "x" * 200}))
        results = in_fresh_process("benchmarks.torch_profiles", "find", str(others), times=times)
        for name, bound in (("first", 4.0), ("again", 0.3)):
            spent = tuple(one[name] for one in results)
            found.append(Figure(f"10,000 other JSON files looked into, {name}", "s", bound, spent))
        return found


def _compared(
    what: str, cases: tuple[str, str], path: Path, ratio: float, memory: float, times: int
) -> list[Figure]:
    ours, theirs = (in_fresh_process("benchmarks.torch_profiles", case, str(path), times=times) for case in cases)
    usual = median(one["cpu"] for one in theirs)
    size = path.stat().st_size / 1e6
    note = f"{size:,.0f} MB; {cases[1]} {usual:.2f} s"
    per_gb = tuple(one["mb"] * 1e3 / size for one in ours)
    return [
        Figure(f"{what}, of {cases[1]}", "x", ratio, tuple(one["cpu"] / usual for one in ours), note),
        Figure(f"{what}, memory for 1 GB at this rate", "MB", memory, per_gb, "beyond what is imported"),
    ]


def measured(*reads: Callable[[], object]) -> dict[str, float]:
    """Return CPU seconds and the growth of the peak memory in MB of what is read one after the other.

    `VmHWM` is the peak of this program; that of getrusage is at least what the process that started it had.
    """
    before = _peak()
    begun = time.process_time()
    for read in reads:
        read()
    return {"cpu": time.process_time() - begun, "mb": _peak() - before}


def _peak() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def one(case: str, path: str) -> dict[str, float]:
    """Measure one case."""
    if case == "orjson":
        import orjson

        data = Path(path).read_bytes()
        return measured(lambda: orjson.loads(data))
    if case == "unpickler":
        gc.disable()
        data = Path(path).read_bytes()
        return measured(lambda: pickle.loads(data))  # our own file
    if case == "find":
        from parsers import discover

        return {name: measured(lambda: discover(path))["cpu"] for name in ("first", "again")}
    import pandas as pd

    from parsers.memory_snapshots import read_memory_snapshot
    from parsers.profiler.frame_parts import ProfileInput
    from parsers.profiler.kineto.frame_readers import read_all
    from parsers.profiler.trace import chrome

    pd.DataFrame()
    if case == "snapshot":
        return measured(lambda: read_memory_snapshot(path))
    return measured(lambda: chrome.read(path), lambda: read_all(ProfileInput(path, "trace.json", {})))


if __name__ == "__main__":
    print(json.dumps(one(*sys.argv[1:3])))
