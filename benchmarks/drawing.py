"""What a chart costs on the server: from the columns in memory to the JSON of its figure, no cache in between."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.data import TAGS, folder
from benchmarks.measure import Figure, in_fresh_process


def figures(times: int) -> list[Figure]:
    """One heavy card, and ten cards of a hundred runs."""
    one = in_fresh_process("benchmarks.drawing", "one", times=times)
    many = in_fresh_process("benchmarks.drawing", "many", times=times)
    kilobytes = f"{one[0]['bytes'] / 1024:,.0f} KiB"
    megabytes = f"{many[0]['bytes'] / 2**20:,.1f} MiB of JSON"
    return [
        Figure("card of 100k points, smoothing and threshold: JSON, p50", "ms", 5.0, tuple(r["ms"] for r in one), kilobytes),
        Figure("10 tags x 100 runs: reduce and JSON", "CPU ms", 300.0, tuple(r["ms"] for r in many), megabytes),
    ]


def _source(name: str) -> Any:
    from app.store import Store

    store = Store([folder() / "ms" / name], interval=0).start()
    store.wait(60)
    return store


def _encoded(figure: Any) -> bytes:
    from dash._utils import to_json

    text: str = to_json({"response": {"graph": {"figure": figure}}, "multi": True})
    return text.encode()


def _timed(draw: Callable[[], int], times: int, clock: Callable[[], float]) -> dict[str, float]:
    draw()
    spent, size = [], 0
    for _ in range(times):
        begun = clock()
        size = draw()
        spent.append((clock() - begun) * 1e3)
    return {"ms": statistics.median(spent), "bytes": size}


def one() -> dict[str, float]:
    """S1's loss with smoothing 0.6 and a threshold; median of 50."""
    from layouts.training.scalars.callbacks import draw

    source = _source("S1")
    ask = {"tag": ["loss"], "run": ["*"], "smooth": ["0.6"], "threshold": ["<0.3"], "columns": ["600"]}
    return _timed(lambda: len(_encoded(draw(source, ask))), 50, time.perf_counter)


def many() -> dict[str, float]:
    """Ten tags of S2's hundred runs, raw; CPU milliseconds of the process, median of 5."""
    from layouts.training.scalars.callbacks import draw

    source = _source("S2")
    asks = [{"tag": [tag], "run": ["*"], "columns": ["400"], "every": ["1"]} for tag in TAGS]
    return _timed(lambda: sum(len(_encoded(draw(source, ask))) for ask in asks), 5, time.process_time)


if __name__ == "__main__":
    print(json.dumps({"one": one, "many": many}[sys.argv[1]]()))
