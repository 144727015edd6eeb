"""Dumps of tensors: listing 100,000 files, statistics of 1 and 4 GB, watchpoints over 10,000 tensors, and the debugger."""

from __future__ import annotations

import json
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Figure, in_fresh_process

FILES, OPERATORS = 100_000, 500
SMALL, SMALL_VALUES = 10_000, 25_000
LARGE_VALUES = 250_000_000
SPARSE_VALUES = 1 << 30
_BEGIN_US = 1_795_217_412_000_000
_SERVER = "benchmarks.dumps_server"


def figures(times: int) -> list[Figure]:
    """Make the dumps in a temporary directory and measure each in fresh processes."""
    with tempfile.TemporaryDirectory() as place:
        base = Path(place)
        _write_many(base / "many")
        listed = in_fresh_process("benchmarks.dumps", "list", str(base / "many"), times=times)
        shown = in_fresh_process(_SERVER, "pages", str(base / "many"), times=times)
        shutil.rmtree(base / "many")
        _write_small(base / "small")
        small = in_fresh_process("benchmarks.dumps", "measure", str(base / "small"), times=times)
        served = in_fresh_process(_SERVER, "statistics", str(base / "small"), times=times)
        seen = in_fresh_process(_SERVER, "pages", str(base / "small"), times=times)
        compared = in_fresh_process("benchmarks.dumps", "previous", str(base / "small"), times=times)
        _write_sparse(base / "sparse")
        sparse = in_fresh_process(_SERVER, "memory", str(base / "sparse"), times=1, watched=True)
        rng = np.random.default_rng(0)
        folder = base / "large" / "rank_0" / "Net" / "0" / "0"
        folder.mkdir(parents=True)
        np.save(folder / _name("Add", 0, "output", _BEGIN_US), rng.standard_normal(LARGE_VALUES, dtype=np.float32))
        large = in_fresh_process("benchmarks.dumps", "measure", str(base / "large"), times=times)
        parted = in_fresh_process(_SERVER, "statistics", str(base / "large"), times=times)
    more = tuple(one["all_mb"] - one["before_mb"] for one in sparse)
    return [
        Figure("100,000 files of a dump listed", "CPU s", 1.0, _of(listed, "cpu")),
        Figure("memory of the process", "MB", 200.0, _of(listed, "mb")),
        Figure("statistics of 1 GB in one file / numpy reads and sums it", "x", 2.5, _of(large, "ratio")),
        Figure("memory it takes", "MB", 256.0, _of(large, "more_mb")),
        Figure("statistics of 10,000 tensors of 100 kB / numpy reads and sums them", "x", 2.5, _of(small, "ratio")),
        Figure("by a server, with the start of a process and the index: one file", "x", 3.0, _of(parted, "ratio")),
        Figure("10,000 files", "x", 3.5, _of(served, "ratio")),
        Figure("these statistics from the index", "CPU s", 0.5, _of(served, "known")),
        Figure("memory of server and processes for a tensor of 4 GB, beyond that of the server", "MB", 256.0, more),
        Figure("a watchpoint over 10,000 tensors with statistics", "CPU s", 0.1, _of(small, "check")),
        Figure("one that compares 1,000 with the iteration before / reading both", "x", 2.5, _of(compared, "ratio")),
        Figure("first picture of the debugger and hits of an iteration, 10,000 tensors", "CPU s", 1.0, _of(seen, "picture")),
        Figure("100,000 tensors", "CPU s", 1.0, _of(shown, "picture")),
        Figure("selecting a tensor: statistics, histogram, trend over 100 iterations", "CPU s", 0.15, _of(seen, "select")),
        Figure("first cause in 10,000 tensors with statistics", "CPU s", 1.0, _of(small, "cause")),
    ]


def _write_sparse(base: Path) -> None:
    """Write a tensor of 4 GB of zeros that takes no space."""
    folder = base / "rank_0" / "Net" / "0" / "0"
    folder.mkdir(parents=True)
    with open(folder / _name("Add", 0, "output", _BEGIN_US), "wb") as file:
        head = {"descr": "<f4", "fortran_order": False, "shape": (SPARSE_VALUES,)}
        np.lib.format.write_array_header_1_0(file, head)
        file.truncate(file.tell() + 4 * SPARSE_VALUES)


def _of(results: list[dict[str, float]], name: str) -> tuple[float, ...]:
    return tuple(result[name] for result in results)


def _name(kind: str, number: int, io: str, time_us: int) -> str:
    place = f"layer{number // 20}-CellList_block{number % 20}-Block"
    scope = f"Default_network-TrainOneStepCell_network-WithLossCell__backbone-Net_{place}"
    return f"{kind}.{scope}_{kind}-op{number}.0.0.{time_us}.{io}.0.DefaultFormat.Float32.npy"


def _write_many(base: Path) -> None:
    root = base / "rank_0"
    (root / "execution_order").mkdir(parents=True)
    for iteration in range(FILES // OPERATORS // 2):
        folder = root / "Net" / "0" / str(iteration)
        folder.mkdir(parents=True)
        for number in range(OPERATORS):
            for place, io in enumerate(("input", "output")):
                time_us = _BEGIN_US + iteration * 100_000 + number * 10 + place
                (folder / _name("Conv2D", number, io, time_us)).touch()


def _write_small(base: Path) -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal(SMALL_VALUES, dtype=np.float32)
    for iteration in range(100):
        folder = base / "rank_0" / "Net" / "0" / str(iteration)
        folder.mkdir(parents=True)
        for number in range(SMALL // 100):
            time_us = _BEGIN_US + iteration * 100_000 + number * 10
            name = _name("Add", number, "output", time_us)
            if number % 10 == 0:
                name = f"Parameter.layer{number}_weight.0.0.{time_us}.output.0.DefaultFormat.Float32.npy"
            np.save(folder / name, values * np.float32(1.0 + number / 100 + iteration / 1000))


def _list(base: str) -> dict[str, float]:
    from parsers.dumps.access import RunDump

    begun = time.process_time()
    found = len(RunDump(base, [f"{base}/rank_0"]).tensors)
    if found != FILES:
        raise RuntimeError(f"wanted {FILES} tensors, got {found}")
    return {"cpu": time.process_time() - begun, "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def _measure(base: str) -> dict[str, float]:
    from parsers.analysis.dumps.watchpoints import Watchpoint
    from parsers.dumps.access import RunDump

    dump = RunDump(base, [f"{base}/rank_0"])
    count = len(dump.tensors)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    taken = [_cpu(lambda: dump.statistics)]
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    check = _cpu(lambda: dump.check([Watchpoint("tensor_too_large", {"max_gt": 3.0})]))
    cause = _cpu(dump.first_cause)
    paths = sorted(Path(base).rglob("*.npy"))
    for _ in range(2):  # the first reading may have to wait for pages
        plain = _cpu(lambda: [np.load(path).sum() for path in paths])
        taken.append(_cpu(lambda: RunDump(base, [f"{base}/rank_0"]).statistics_of(range(count))))
    return {"ratio": min(taken) / plain, "more_mb": more / 1024, "check": check, "cause": cause}


def _previous(base: str) -> dict[str, float]:
    """A watchpoint that compares weights with the iteration before, against reading both."""
    from parsers.analysis.dumps.watchpoints import Watchpoint
    from parsers.dumps.access import RunDump

    dump = RunDump(base, [f"{base}/rank_0"])
    rows = np.flatnonzero((dump.tensors["io"] == "parameter").to_numpy() & (dump.tensors["iteration"] > 0).to_numpy())
    paths = [(dump.place(row).path, dump.place(dump.previous(row) or 0).path) for row in rows.tolist()]
    ratios = []
    for _ in range(3):
        plain = _cpu(lambda: [(np.load(one), np.load(other)) for one, other in paths])
        ratios.append(_cpu(lambda: dump.check([Watchpoint("weight_change_too_large")])) / plain)
    return {"ratio": min(ratios), "count": len(rows)}


def _cpu(work: Any) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


if __name__ == "__main__":
    print(json.dumps({"list": _list, "measure": _measure, "previous": _previous}[sys.argv[1]](sys.argv[2])))
