"""The server's cost of a chart: from the columns in memory to the JSON of its figure, without caches."""

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
    """Measure one heavy card, ten cards of a hundred runs, a group of them, and histograms over 200 steps."""
    one = in_fresh_process("benchmarks.drawing", "one", times=times)
    many = in_fresh_process("benchmarks.drawing", "many", times=times)
    group = in_fresh_process("benchmarks.drawing", "group", times=times)
    heat, ridge = (in_fresh_process("benchmarks.drawing", view, times=times) for view in ("heat", "ridge"))
    kilobytes = f"{one[0]['bytes'] / 1024:,.0f} KiB"
    megabytes = f"{many[0]['bytes'] / 2**20:,.1f} MiB of JSON"
    return [
        Figure("card of 100k points, smoothing and threshold: JSON", "CPU ms", 3.0, tuple(r["ms"] for r in one), kilobytes),
        Figure("10 tags x 100 runs: reduce and JSON", "CPU ms", 300.0, tuple(r["ms"] for r in many), megabytes),
        Figure("mean of 100 runs x 1,000 steps and its 95 % band: JSON", "CPU ms", 100.0, tuple(r["ms"] for r in group)),
        Figure("heat map of 200 steps x 90 buckets: JSON", "CPU ms", 30.0, tuple(r["ms"] for r in heat)),
        Figure("ridge of 60 steps thinned from 200: JSON", "CPU ms", 30.0, tuple(r["ms"] for r in ridge)),
    ]


def _source(name: str) -> Any:
    from app.store.store import Store

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
    """S1's loss with smoothing 0.6 and a threshold; CPU milliseconds, median of 50."""
    from layouts.curves.scalars.page import draw

    source = _source("S1")
    ask = {"tag": ["loss"], "run": ["*"], "smooth": ["0.6"], "threshold": ["<0.3"], "columns": ["600"]}
    return _timed(lambda: len(_encoded(draw(source, ask))), 50, time.process_time)


def many() -> dict[str, float]:
    """Ten tags of S2's hundred runs, raw; CPU milliseconds of the process, median of 5."""
    from layouts.curves.scalars.page import draw

    source = _source("S2")
    asks = [{"tag": [tag], "run": ["*"], "columns": ["400"], "every": ["1"]} for tag in TAGS]
    return _timed(lambda: sum(len(_encoded(draw(source, ask))) for ask in asks), 5, time.process_time)


def group() -> dict[str, float]:
    """The loss of S2's hundred runs as one group with a band of 95 % intervals; CPU milliseconds, median of 20."""
    from layouts.curves.scalars.page import draw

    source = _source("S2")
    ask = {"tag": ["loss"], "run": ["*"], "columns": ["600"], "group": ["regex:^()"], "band": ["interval"]}
    return _timed(lambda: len(_encoded(draw(source, ask))), 20, time.process_time)


def heat() -> dict[str, float]:
    """200 histograms of 90 buckets as a heat map with quantiles; decoding not counted. Median of 50."""
    return _histograms("heat")


def ridge() -> dict[str, float]:
    """The same as a ridge."""
    return _histograms("ridge")


def _histograms(view: str) -> dict[str, float]:
    import numpy as np

    from layouts.values import histogram_plots as histograms
    from layouts.values.histogram_figures import MOST_LINES
    from parsers import HistogramValue
    from parsers.analysis import thinned

    random = np.random.default_rng(0)
    values = []
    for spread in np.linspace(1.0, 2.0, 200):
        data = random.normal(0.0, spread, 10_000)
        count, edges = np.histogram(data, 90)
        limits = float(data.min()), float(data.max()), float(data.sum())
        values.append(HistogramValue(edges[:-1], np.diff(edges), count.astype(np.float64), *limits, data.size))

    def draw() -> int:
        places = thinned(200, MOST_LINES if view == "ridge" else 200)
        step = places * 10
        x = step.astype(np.float64)
        run = histograms.RunHistograms("run", "run", "#236db4", 0.0, step, x, x, [values[place] for place in places])
        return len(_encoded(getattr(histograms, view)([run], histograms.HistogramStyle())))

    return _timed(draw, 50, time.process_time)


if __name__ == "__main__":
    print(json.dumps({"one": one, "many": many, "group": group, "heat": heat, "ridge": ridge}[sys.argv[1]]()))
