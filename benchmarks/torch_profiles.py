"""Traces and memory snapshots of torch against what decoding them takes at least.

`python -m benchmarks.torch_profiles frames FILE` measures one case. The trace is of our own writer, 9,000 steps of 24 events
of 160 bytes, half of what torch writes with shapes and stacks: 1 GB of it has twice the slices. The snapshot repeats 3,000
entries. References are read in the same run: orjson for traces, and for the snapshot Python's C unpickler without garbage
collection. The job has 64 traces of 13,000 steps, read by four processes that count too.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from benchmarks.measure import NO_BOUND, Figure, in_fresh_process, started_by

STEPS = 9_000
SNAPSHOT = 100 << 20
LARGER = 4
"""How many times larger the second file of each kind is, from which memory for 1 GB is told."""
OTHERS = 10_000
RANKS, PROCESSES, JOB_STEPS = 64, 4, 13_000
JOB = ("groups", "collectives", "cluster_steps")


def figures(times: int) -> list[Figure]:
    """Ratios to the references, memory, and CPU seconds of finding files."""
    from tests.writers.kineto_traces import training
    from tests.writers.memory_snapshots import write_large

    with tempfile.TemporaryDirectory() as directory:
        trace, snapshot = Path(directory) / "trace.json", Path(directory) / "snapshot.pickle"
        traces, snapshots = Path(directory) / "larger.json", Path(directory) / "larger.pickle"
        trace.write_text(training(STEPS, changing=False).text(), encoding="utf-8")
        traces.write_text(training(LARGER * STEPS, changing=False).text(), encoding="utf-8")
        write_large(snapshot, SNAPSHOT)
        write_large(snapshots, LARGER * SNAPSHOT)
        found = [
            *_compared("trace of torch: timeline and all frames", ("frames", "orjson"), (trace, traces), 3.0, NO_BOUND, times),
            *_compared("memory snapshot of torch", ("snapshot", "unpickler"), (snapshot, snapshots), 10.0, 600.0, times),
        ]
        others = Path(directory) / "others"
        others.mkdir()
        for number in range(OTHERS):
            (others / f"{number}.json").write_text(json.dumps({"number": number, "text": "x" * 200}))
        results = in_fresh_process("benchmarks.torch_profiles", "find", str(others), times=times)
        for name, bound in (("first", 4.0), ("again", 0.3)):
            spent = tuple(one[name] for one in results)
            found.append(Figure(f"10,000 other JSON files looked into, {name}", "s", bound, spent))
        return [*found, *_of_pages(trace, times), *_of_a_job(times)]


def _of_pages(trace: Path, times: int) -> list[Figure]:
    """A server fills the index; the next one answers from it."""
    with tempfile.TemporaryDirectory() as directory:
        runs = Path(directory) / "runs"
        (runs / "one").mkdir(parents=True)
        (runs / "one" / "trace.json").hardlink_to(trace)
        asked = ("benchmarks.torch_profiles", "shapes", str(runs))
        in_fresh_process(*asked, times=1)
        found = tuple(1e3 * one["cpu"] for one in in_fresh_process(*asked, times=times))
    return [Figure("operators of torch by shapes, from the index, page answer", "ms", 300.0, found, "CPU")]


def _of_a_job(times: int) -> list[Figure]:
    from tests.writers.kineto_traces import training

    with tempfile.TemporaryDirectory(dir=os.environ.get("MINDSCOPE_BENCH_DATA")) as directory:
        text = training(JOB_STEPS, world_size=RANKS, changing=False).text()
        stated = f'"rank": 0, "world_size": {RANKS}'
        if text.count(stated) != 1:
            raise RuntimeError(f"expected {stated} once in the trace")
        job = Path(directory) / "runs" / "job"
        job.mkdir(parents=True)
        for rank in range(RANKS):
            made = text.replace(stated, stated.replace("0", str(rank), 1))
            (job / f"rank_{rank}.json").write_text(made, encoding="utf-8")
        runs = str(job.parent)
        found = [
            [in_fresh_process("benchmarks.torch_profiles", case, runs, times=1)[0] for case in ("plain_job", "job")]
            for _ in range(times)
        ]
        size = sum(file.stat().st_size for file in job.iterdir()) / 1e6
    note = f"{size:,.0f} MB; orjson {median(plain['cpu'] for plain, _ in found):.0f} s"
    ratios = tuple(ours["cpu"] / plain["cpu"] for plain, ours in found)
    return [Figure(f"job of {RANKS} ranks of torch with {PROCESSES} processes, of orjson", "x", 3.0, ratios, note)]


def _compared(
    what: str, cases: tuple[str, str], paths: tuple[Path, Path], ratio: float, memory: float, times: int
) -> list[Figure]:
    path, larger = paths
    ours, theirs = (in_fresh_process("benchmarks.torch_profiles", case, str(path), times=times) for case in cases)
    more = in_fresh_process("benchmarks.torch_profiles", cases[0], str(larger), times=1)[0]["mb"]
    usual = median(one["cpu"] for one in theirs)
    size = path.stat().st_size / 1e6
    note = f"{size:,.0f} MB; {cases[1]} {usual:.2f} s"
    # What a reader needs whatever the size, such as buffers, would count many times if a small file stood for 1 GB.
    further = larger.stat().st_size / 1e6 - size
    of_gb = tuple(one["mb"] + (more - one["mb"]) * (1e3 - size) / further for one in ours)
    return [
        Figure(f"{what}, of {cases[1]}", "x", ratio, tuple(one["cpu"] / usual for one in ours), note),
        Figure(f"{what}, memory for 1 GB by two sizes", "MB", memory, of_gb, "beyond what is imported"),
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
    if case == "plain_job":
        return _plain(path)
    if case == "job":
        return _job(path)
    if case == "shapes":
        return _shapes(path)
    import pandas as pd

    from parsers.memory_snapshots import read_memory_snapshot
    from parsers.profiler.frame_parts import ProfileInput
    from parsers.profiler.kineto.frame_readers import read_all
    from parsers.profiler.trace import chrome

    pd.DataFrame()
    if case == "snapshot":
        return measured(lambda: read_memory_snapshot(path))
    return measured(lambda: chrome.read(path), lambda: read_all(ProfileInput(path, "trace.json", {})))


def _plain(path: str) -> dict[str, float]:
    import orjson

    taken = 0.0
    for file in Path(path).rglob("*.json"):
        data = file.read_bytes()
        taken += measured(lambda data=data: orjson.loads(data))["cpu"]  # type: ignore[misc]
    return {"cpu": taken}


def _job(path: str) -> dict[str, float]:
    """What a server does until the frames of a job are there, with all its processes."""
    from app.engines import Processes
    from app.store.store import Store

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + used.ru_utime + used.ru_stime

    begun = spent()
    store = Store([path], interval=0, engine=Processes(PROCESSES)).start()
    store.wait(600)
    (run,) = store.runs.rows()
    rows = store.profiles.rows(run.key)
    if len(rows) != RANKS:
        raise RuntimeError(f"expected {RANKS} ranks, found {len(rows)}")
    for name in JOB:
        while (frame := store.profiles.frame(run.key, rows[0].session, rows[0].rank, name)).state in ("waiting", "reading"):
            time.sleep(0.02)
        if frame.state != "ready":
            raise RuntimeError(f"{name}: {frame.state} {frame.text}")
    store.stop()
    while started_by(os.getpid()):  # processes that are being ended count only then
        time.sleep(0.02)
    return {"cpu": spent() - begun}


def _shapes(path: str) -> dict[str, float]:
    """The answers of the page to operators by shapes; frames come from the index if it has them."""
    from app.store.store import Store
    from layouts.profiles.operators import page as callbacks
    from layouts.profiles.operators.asks import OperatorRequest
    from layouts.profiles.operators.tables import OperatorTables
    from layouts.profiles.profile_choice import ProfileChoice

    store = Store([path], interval=0, index_directory=str(Path(path).parent / "index")).start()
    store.wait(60)
    (run,) = store.runs.rows()
    (profile,) = store.profiles.rows(run.key)
    tables = OperatorTables(store)
    ask = OperatorRequest(ProfileChoice(run.key, profile.session, profile.rank, profile.mark), None, view="shapes")

    def answer() -> None:
        for name in ("operator_types", "operators"):
            while store.profiles.frame(run.key, profile.session, profile.rank, name).state != "ready":
                time.sleep(0.01)
        callbacks.sheet(tables, ask), callbacks.figure(tables, ask), callbacks.rows(tables, ask, {"startRow": 0, "endRow": 200})

    found = measured(answer)
    store.stop()
    return found


if __name__ == "__main__":
    print(json.dumps(one(*sys.argv[1:3])))
