"""Jobs of many ranks: all frames of 1,000 ranks cold, from the index and with one more rank; 64 ranks with much communication;
one file of 1 GB; finding the ranks among 23,000 and 230,000 files.

CPU is that of all processes without the imports of the first one, memory what all of them share out among them (PSS).
"""

from __future__ import annotations

import importlib
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import clusters_data
from benchmarks.measure import NO_BOUND, ROOT, Figure, in_fresh_process, started_by
from parsers.profiler.groups import hash_of

SETS: dict[str, Callable[[Path], None]] = {
    "ranks-1001": lambda folder: clusters_data.job(folder, ranks=1_001, steps=10, operations=20),
    "ranks-64": lambda folder: clusters_data.job(folder, ranks=64, steps=10, operations=440),
    "directories-1000": lambda folder: clusters_data.directories(folder, 1_000),
}
"""What is kept, 0.9 GB; the larger ones are made for each measurement."""
ONE = 88_000
"""Operations of a step that make 1 GB in ten steps."""
FRAMES = ("groups", "collectives", "packets", "links", "cluster_steps")


def figures(times: int) -> Iterator[Figure]:
    """Each in a fresh process."""
    folder = Path(os.environ.get("MINDSCOPE_BENCH_DATA", ROOT / "bench-data")) / "clusters"
    for name in SETS:
        _made(folder / name)
    yield from _of_thousand(folder / "ranks-1001", times)
    yield from _of_much(folder / "ranks-64", times)
    yield from _of_one_file(folder, times)
    yield from _of_directories(folder, times)


def _made(folder: Path) -> None:
    if not folder.is_dir():
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        SETS[folder.name](part)
        part.rename(folder)


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.glob("*/*/communication*.json")) / 1e6


def _of_thousand(folder: Path, times: int) -> list[Figure]:
    last = clusters_data.rank_folder(folder, 1_000)
    aside = folder.with_suffix(".aside")
    found = []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as index:
            last.rename(aside)
            try:
                ran = [_opened(folder, index), _opened(folder, index)]
            finally:
                aside.rename(last)
            found.append((*ran, _opened(folder, index)))
    plain = [in_fresh_process("benchmarks.clusters", "plain", str(folder), times=1)[0] for _ in range(times)]
    note = f"{_megabytes(folder):,.0f} MB of JSON, json.loads {plain[0]['cpu']:.1f} s; discovery included"
    return [
        Figure("1,000 ranks x 10 steps x 20 operations, all frames", "CPU s", 8.0, tuple(a["cpu"] for a, _, _ in found), note),
        Figure("the same / json.loads of these files", "x", NO_BOUND,
               tuple(a["cpu"] / one["cpu"] for (a, _, _), one in zip(found, plain, strict=True))),
        Figure("the same: most memory of all processes", "MB", 400.0, tuple(a["all_mb"] for a, _, _ in found)),
        Figure("the same from the index", "CPU s", 0.5, tuple(b["frames"] for _, b, _ in found), "without discovery"),
        Figure("one more rank", "CPU s", 0.8, tuple(c["frames"] for _, _, c in found), "without discovery"),
        Figure("the list of profiles of 1,000 ranks", "CPU s", NO_BOUND, tuple(b["listed"] for _, b, _ in found)),
    ]  # fmt: skip


def _of_much(folder: Path, times: int) -> list[Figure]:
    found = []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as index:
            found.append(_opened(folder, index))
    size = _megabytes(folder)
    note = f"{size:,.0f} MB"
    return [
        Figure("64 ranks x 5 MB, all frames, per 500 MB", "CPU s", 8.0, tuple(one["cpu"] * 500 / size for one in found), note),
        Figure("the same: most memory of all processes", "MB", 400.0, tuple(one["all_mb"] for one in found)),
    ]


def _of_one_file(folder: Path, times: int) -> list[Figure]:
    where = Path(tempfile.mkdtemp(dir=folder))
    try:
        path = where / "rank_0_ascend_pt" / clusters_data.OUTPUT / "communication.json"
        path.parent.mkdir(parents=True)
        clusters_data.communication(path, random.Random(1), 10, ONE, hash_of("group"))
        found = [in_fresh_process("benchmarks.clusters", "one", str(path), times=1)[0] for _ in range(times)]
        note = f"{path.stat().st_size / 1e6:,.0f} MB, {10 * ONE:,} operations"
        with tempfile.TemporaryDirectory() as index:
            whole = _opened(where, index)
    finally:
        shutil.rmtree(where)
    return [
        Figure("one communication.json of 1 GB to columns: most memory", "MB", 300.0, tuple(one["rss"] for one in found), note),
        Figure("the same", "CPU s", NO_BOUND, tuple(one["cpu"] for one in found)),
        Figure("the same to all frames: most memory of all processes", "MB", NO_BOUND, (whole["all_mb"],)),
        Figure("the same", "CPU s", NO_BOUND, (whole["cpu"],)),
    ]


def _of_directories(folder: Path, times: int) -> list[Figure]:
    few = [in_fresh_process("benchmarks.clusters", "found", str(folder / "directories-1000"), times=1)[0] for _ in range(times)]
    many = Path(tempfile.mkdtemp(dir=folder))
    try:
        clusters_data.directories(many, 10_000)
        lot = [in_fresh_process("benchmarks.clusters", "found", str(many), times=1)[0] for _ in range(times)]
    finally:
        shutil.rmtree(many)
    note = f"{clusters_data.FILES} files each"
    return [
        Figure("1,000 rank directories: run, sessions and job", "CPU s", 1.0, tuple(one["cpu"] for one in few), note),
        Figure("10,000 rank directories", "CPU s", 8.0, tuple(one["cpu"] for one in lot), note),
        Figure("10,000 rank directories: most memory", "MB", NO_BOUND, tuple(one["rss"] for one in lot)),
    ]


def _opened(folder: Path, index: str) -> dict[str, float]:
    return in_fresh_process("benchmarks.clusters", "store", str(folder), index, times=1, watched=True)[0]


# In a process of its own -----------------------------------------------------------------------------------------------------


def of_store(path: str, index: str) -> dict[str, float]:
    """What the server does until all frames of a job are there."""
    from app.store.store import Store

    importlib.import_module("pandas")
    begun, taken = _cpu(), time.process_time()
    store = Store([path], interval=0, index_directory=str(Path(index) / "index")).start()
    store.wait(600)
    (run,) = store.runs.rows()
    listing = time.process_time()
    rows = store.profiles.rows(run.key)
    listed = time.process_time()
    asked = time.process_time()
    for name in FRAMES:
        while (frame := store.profiles.frame(run.key, rows[0].session, rows[0].rank, name)).state in ("waiting", "reading"):
            time.sleep(0.02)
        if frame.state not in ("ready", "missing") or (name == "collectives" and frame.state == "missing"):
            raise RuntimeError(f"{name}: {frame.state} {frame.text}")
    done = time.process_time()
    store.stop()
    while started_by(os.getpid()):  # processes that are being ended count only then
        time.sleep(0.02)
    return {
        "cpu": _cpu() - begun, "frames": done - asked, "listed": listed - listing, "found": listing - taken,
    }  # fmt: skip


def of_one(path: str) -> dict[str, float]:
    """The columns of one file, as a worker makes them."""
    from parsers.profiler.ranks import columns_of
    from parsers.profiler.sessions import ProfileFile

    size = os.stat(path).st_size
    begun = time.process_time()
    columns_of((ProfileFile(path, "communication.json", "communication", 0, size, 0),), ("groups", "collectives", "packets"))
    return {"cpu": time.process_time() - begun, "rss": _most_memory()}


def of_plain(path: str) -> dict[str, float]:
    """The yardstick: all JSON of the ranks by the standard library, from memory. It varies as our own time does."""
    taken = 0.0
    for file in Path(path).glob("*/*/communication*.json"):
        data = file.read_bytes()
        begun = time.process_time()
        json.loads(data)
        taken += time.process_time() - begun
    return {"cpu": taken}


def of_discovery(path: str) -> dict[str, float]:
    """From a directory to the job in it."""
    from parsers import open_run

    importlib.import_module("pandas")
    begun = time.process_time()
    (job,) = open_run(path).profile.jobs
    taken = time.process_time() - begun
    if job.files.size != len(job.ranks) or job.files.problems:
        raise RuntimeError(f"wanted all {job.files.size:,} ranks, found {len(job.ranks):,}; {job.files.problems[:1]}")
    return {"cpu": taken, "rss": _most_memory()}


def _cpu() -> float:
    """CPU seconds of this process and of those that it started and that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _most_memory() -> float:
    """The most resident memory of this process so far, in MB (Linux)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    works: dict[str, Callable[..., dict[str, float]]]
    works = {"store": of_store, "one": of_one, "plain": of_plain, "found": of_discovery}
    print(json.dumps(works[sys.argv[1]](*sys.argv[2:])))
