"""Seconds and memory from a kernel_details.csv of 1,000,000 rows to its frame, beside plain `pandas.read_csv` of it; and to
the first table and pie of the operators page, from the file and from the index, what sorting and filtering it takes,
and the cards on the use of the hardware."""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import NO_BOUND, ROOT, Figure, in_fresh_process
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
        *_of_the_page(folder, times, tuple(b["cpu"] for _, b in pairs)),
    ]


def _of_the_page(folder: Path, times: int, yardsticks: tuple[float, ...]) -> list[Figure]:
    """A store without an index reads the file; the next one has it."""
    found: list[tuple[dict[str, float], dict[str, float], float]] = []
    for number in range(times):
        with tempfile.TemporaryDirectory() as index:
            ran = [in_fresh_process("benchmarks.profiler", "page", str(folder), index, times=1)[0] for _ in range(2)]
        found.append((ran[0], ran[1], yardsticks[number]))
    return [
        Figure("first table and pie of the page / pandas.read_csv", "x", 2.5, tuple(a["first"] / y for a, _, y in found)),
        Figure("first table and pie: most memory of the server", "MB", 700.0, tuple(a["rss"] for a, _, _ in found)),
        Figure("first table and pie, from the index", "CPU s", 0.1, tuple(b["first"] for _, b, _ in found)),
        Figure("imports for the first profile of a server", "CPU s", NO_BOUND, tuple(b["imports"] for _, b, _ in found)),
        Figure("1,000,000 executions, from the index", "CPU s", 0.3, tuple(b["executions"] for _, b, _ in found)),
        Figure("sorting them", "CPU s", 0.3, tuple(b["sort"] for _, b, _ in found)),
        Figure("searching and filtering them", "CPU s", 0.3, tuple(b["filter"] for _, b, _ in found)),
        Figure("use of the hardware by them: all cards", "CPU s", 1.0, tuple(b["use"] for _, b, _ in found)),
        Figure("the same, 20,000 shapes and two sessions", "CPU s", 1.0, tuple(b["use_shapes"] for _, b, _ in found)),
        Figure("the same, 367,000 groups of one session", "CPU s", 1.0, tuple(b["use_groups"] for _, b, _ in found)),
    ]


def page(path: str, index: str) -> dict[str, float]:
    """What the server does for the operators page."""
    from app.store.store import Store
    from layouts.profiles.operators import page as callbacks
    from layouts.profiles.operators.asks import OperatorRequest
    from layouts.profiles.operators.tables import OperatorTables
    from layouts.profiles.profile_choice import ProfileChoice

    store = Store([path], interval=0, index_directory=str(Path(index) / "index")).start()
    store.wait(60)
    (run,) = store.runs.rows()
    (profile,) = store.profiles.rows(run.key)
    choice = ProfileChoice(run.key, profile.session, profile.rank, profile.mark)

    def ready(name: str) -> None:
        while store.profiles.frame(run.key, profile.session, profile.rank, name).state != "ready":
            time.sleep(0.05)

    tables, told = OperatorTables(store), {}
    request = {"startRow": 0, "endRow": 200}

    def first() -> None:
        for name in ("operator_types", "operators"):
            ready(name)
        ask = OperatorRequest(choice, None)
        callbacks.sheet(tables, ask), callbacks.figure(tables, ask), callbacks.rows(tables, ask, request)

    executions = OperatorRequest(choice, None, view="executions")
    sort = replace(executions, sort=("wait_ns", "asc"))
    filters = {"filterModel": {"duration_ns": {"type": "greaterThan", "filter": 100}}}
    works: dict[str, Callable[[], object]] = {
        "imports": _import_what_reads, "first": first, "executions": lambda: ready("kernels"),
        "table": lambda: callbacks.rows(tables, executions, request),
        "sort": lambda: callbacks.rows(tables, sort, request),
        "filter": lambda: callbacks.rows(tables, replace(sort, query="matmul"), request | filters),
        "use": lambda: _use(store, choice, None),
    }  # fmt: skip
    for name, work in works.items():
        begun = time.process_time()
        work()
        told[name] = time.process_time() - begun
        if name == "first":
            told["rss"] = _most_memory()
    kernels = store.profiles.frame(run.key, profile.session, profile.rank, "kernels").frame
    if kernels is None:
        raise RuntimeError("wanted the kernels, found none")
    codes = np.arange(len(kernels)) * 7919 % 20_000
    sessions = [_with_shapes(kernels, codes, names) for names in (_OPERATIONS, _TRAFFIC)]
    begun = time.process_time()
    _use(store, choice, sessions)
    told["use_shapes"] = time.process_time() - begun
    many = _with_shapes(kernels, np.random.default_rng(0).integers(0, 100_000, len(kernels)), _OPERATIONS)
    begun = time.process_time()
    _use(store, choice, [many])
    told["use_groups"] = time.process_time() - begun
    store.stop()
    return told


def _import_what_reads() -> None:
    """Import what the first profile of a server needs, once."""
    import pandas  # noqa: F401
    import pyarrow.csv  # noqa: F401

    import app.store.profiles.frames  # noqa: F401


_OPERATIONS = ("aic_cube_fops", "aiv_vector_fops")
_TRAFFIC = ("aic_read_main_memory_datas(KB)", "aic_write_main_memory_datas(KB)")


def _with_shapes(kernels: Any, codes: Any, names: tuple[str, str]) -> Any:
    """The kernels with shapes by number, and two counters more."""
    import pandas as pd

    texts = pd.Index([f"{number},512" for number in range(int(codes.max()) + 1)], dtype="str")
    shapes = pd.Categorical.from_codes(codes.astype(np.int32), categories=texts)
    counters = {f"pmu/{name}": np.arange(1.0, len(kernels) + 1) for name in names}
    return kernels.assign(input_shapes=shapes, **counters)


def _use(source: Any, choice: Any, sessions: list[Any] | None) -> None:
    """What the cards on the use of the hardware take, of the profile, or of made sessions: one, or two that are joined."""
    from layouts.profiles.efficiency import Efficiency, EfficiencyRequest
    from layouts.profiles.efficiency_cards import figures as three
    from layouts.profiles.operators import page as callbacks
    from layouts.profiles.profile_choice import ProfileChoice

    other = ProfileChoice("other", ".", 0)

    def frame(of: ProfileChoice, name: str) -> Any:
        if sessions is None or name != "kernels":
            return of.frame(source, name)
        return sessions[1 if of is other else 0]

    ask = EfficiencyRequest(choice, other if sessions is not None and len(sessions) > 1 else None, (("peak", 280e12),))
    found = Efficiency(source, ask, frame=frame)
    three(found)
    callbacks.use(found, {})
    if found.measured is None or not len(found.measured.shapes):
        raise RuntimeError("wanted kernels by shape, found none")


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
    works: dict[str, Callable[..., dict[str, float]]] = {"ours": ours, "pandas": pandas, "page": page}
    print(json.dumps(works[sys.argv[1]](*sys.argv[2:])))
