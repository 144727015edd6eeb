"""Dumps in a server: list, first picture of the debugger, a tensor that is selected, statistics in processes and index."""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import shared_out


def _store(base: str, index: str | None = None) -> Any:
    from app.store.store import Store

    store = Store([base], interval=0, index_directory=index).start()
    if not store.wait(60):
        raise RuntimeError("the run was not found within 60 s")
    return store


def _ready(ask: Callable[[], Any], states: tuple[str, ...] = ("reading", "waiting", "working")) -> Any:
    """Ask until a dump, a result or a part of a page is there."""
    while (state := _state(found := ask())) in states:
        time.sleep(0.005)
    if state not in ("ready", "working"):
        raise RuntimeError(f"wanted an answer, got {found}")
    return found


def _state(found: Any) -> str:
    return str(found["state"] if isinstance(found, dict) else found.state)


def _cpu(work: Callable[[], Any]) -> float:
    """Return the CPU seconds of all threads while work is done."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _children() -> float:
    told = resource.getrusage(resource.RUSAGE_CHILDREN)
    return told.ru_utime + told.ru_stime


def _measured(dump: Any, report: Any) -> int:
    report.measure(np.arange(len(dump.tensors)), computed=True)
    return len(dump.tensors)


def _statistics(base: str) -> dict[str, float]:
    """Statistics of everything in a run by its server, against numpy's reading and one sum of the same files."""
    from layouts.dumps.open_dump import DumpWork

    paths = sorted(Path(base).rglob("*.npy"))
    plain = min(_cpu(lambda: [np.load(path).sum() for path in paths]) for _ in range(2))
    with tempfile.TemporaryDirectory() as index:
        os.chmod(index, 0o700)
        store = _store(base, f"{index}/index")
        run = store.runs.rows()[0].key
        _ready(lambda: store.dumps.open(run))
        children = _children()
        own = _cpu(lambda: (_ready(lambda: store.dumps.work(run, DumpWork("statistics", 0, _measured))), store.stop()))
        again = _store(base, f"{index}/index")
        _ready(lambda: again.dumps.open(run))
        known = _cpu(lambda: _ready(lambda: again.dumps.work(run, DumpWork("statistics", 0, _measured))))
        again.stop()
    return {"ratio": (own + _children() - children) / plain, "known": known}


def _memory(base: str) -> dict[str, float]:
    """Statistics of everything in a run by its server, which is watched from outside; the memory before it begins."""
    from layouts.dumps.open_dump import DumpWork

    store = _store(base)
    run = store.runs.rows()[0].key
    _ready(lambda: store.dumps.open(run))
    before = shared_out(os.getpid())
    _ready(lambda: store.dumps.work(run, DumpWork("statistics", 0, _measured)))
    store.stop()
    return {"before_mb": before}


def _pages(base: str) -> dict[str, float]:
    """What a visitor waits for: the list, the first picture of the debugger, and a tensor that is selected."""
    from layouts.dumps.debugger import selected
    from layouts.dumps.debugger.page import DebuggerAnswers

    store = _store(base)
    run = store.runs.rows()[0].key
    listed = _cpu(lambda: _ready(lambda: store.dumps.open(run)))
    mark = store.dumps.open(run).mark
    ask: dict[str, Any] = {"of": [run], "rank": ["0"], "step": ["50"], "mark": [mark]}
    parts = DebuggerAnswers(store).parts()

    def first() -> None:
        asked = ask | {"watch": [json.dumps(parts["watch"](ask)["watchpoints"])]}
        for name in ("strip", "tree", "order"):
            parts[name](asked)
        while not sum(_ready(lambda: parts["hits"](asked), ("reading", "waiting"))["checked"]):
            time.sleep(0.005)  # until the iteration on screen has been checked

    picture = _cpu(first)
    dump = store.dumps.open(run).dump
    row = int(np.flatnonzero(dump.tensors["iteration"].to_numpy() == 50)[7])
    chosen = ask | {"node": [str(dump.tensors["name"].array[row])], "io": ["output.0"], "row": [str(row)]}

    def select() -> None:
        for answer in (selected.tensors, selected.histogram, selected.trend):
            _ready(partial(answer, store, chosen))

    taken = {"list": listed, "picture": picture, "select": _cpu(select)}
    store.stop()
    return taken


if __name__ == "__main__":
    print(json.dumps({"statistics": _statistics, "memory": _memory, "pages": _pages}[sys.argv[1]](sys.argv[2])))
