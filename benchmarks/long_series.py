"""The server's cost of a chart of one tag with many points: CPU milliseconds from the columns in memory to the JSON.

What every view needs is computed when the columns have been read, the averages of a smoothing when it is first asked for.
`python -m benchmarks.long_series POINTS` prints one measurement.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.growth import exponent
from benchmarks.measure import Figure, in_fresh_process

if TYPE_CHECKING:
    from parsers.scalars import RunScalars

SIZES = (100_000, 1_000_000, 5_000_000, 50_000_000)
BEGUN = 1_700_000_000.0
VIEWS: dict[str, dict[str, str]] = {"first": {}, "smoothed": {"smooth": "0.6"}, "smoothed again": {"smooth": "0.6"}}
BOUNDS = {"first": 15.0, "smoothed": 40.0, "smoothed again": 15.0, "zoomed": 15.0, "zoomed, smoothed": 15.0}


def figures(times: int) -> list[Figure]:
    """Measure each view of 5 million points, and how the cost grows from 0.1 to 50 million."""
    results = {size: in_fresh_process("benchmarks.long_series", str(size), times=times) for size in SIZES}
    large = results[5_000_000]
    found = [
        Figure(f"5M points of one tag: {view}", "CPU ms", bound, tuple(one[view] for one in large))
        for view, bound in BOUNDS.items()
    ]
    found.append(Figure("5M points: facts computed once", "CPU ms", 25.0, tuple(one["facts"] for one in large)))
    return found + [
        Figure(f"{view}: exponent of growth from 1M to 50M points", "", 1.05, _exponents(results, view), _costs(results, view))
        for view in ("first", "smoothed", "zoomed")
    ]


def _exponents(results: dict[int, list[dict[str, float]]], view: str) -> tuple[float, ...]:
    rounds = zip(*(results[size] for size in SIZES), strict=True)
    return tuple(exponent([(size, one[view]) for size, one in zip(SIZES, each, strict=True)]) for each in rounds)


def _costs(results: dict[int, list[dict[str, float]]], view: str) -> str:
    costs = (f"{size / 1e6:g}M: {np.median([one[view] for one in results[size]]):.1f}" for size in SIZES)
    return f"CPU ms of {', '.join(costs)}"


def one(points: int) -> dict[str, float]:
    """CPU milliseconds of each view, each drawn for the first time in this process."""
    from dash._utils import to_json

    from app.store.store import Store
    from layouts.curves.scalars.page import draw
    from layouts.runs.rows import RunRow
    from layouts.sources import Sources

    class OneRun(Store):
        """A store with one tag of one run, which is on no disk."""

        def __init__(self, scalars: RunScalars) -> None:
            super().__init__(interval=0)
            row = RunRow("run", "run", "run", "run", ("run",), BEGUN, BEGUN, 0, "idle")
            self.runs.rows = lambda: [row]  # type: ignore[method-assign]
            self.runs.colours = lambda chosen=(): {}  # type: ignore[method-assign]  # noqa: ARG005
            self.curves.series = lambda run, tag: scalars.series(tag)  # type: ignore[method-assign]  # noqa: ARG005

    def drawn(source: Sources, **ask: str) -> int:
        asked = {"tag": ["loss"], "run": ["*"], "columns": ["600"], **{key: [value] for key, value in ask.items()}}
        return len(to_json({"figure": draw(source, asked)}))

    drawn(OneRun(_scalars(1000)))
    scalars = _scalars(points)
    zoom = f"{points // 2},{points // 2 + points // 100},,"
    views = VIEWS | {"zoomed": {"view": zoom}, "zoomed, smoothed": {"view": zoom, "smooth": "0.6"}}
    source = OneRun(scalars)
    found = {"facts": _milliseconds(lambda: scalars.series("loss"))}
    return found | {view: _milliseconds(partial(drawn, source, **ask)) for view, ask in views.items()}


def _milliseconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return (time.process_time() - begun) * 1e3


def _scalars(points: int) -> RunScalars:
    """The scalars of a run as reading leaves them: one block of one file."""
    from parsers.file_states import FileState
    from parsers.model import ScalarBlock, SourceFile
    from parsers.run_files import RunFiles
    from parsers.scalars import RunScalars

    random = np.random.default_rng(0)
    at = np.arange(points)
    value = (np.exp(at * (-3.0 / points)) + random.normal(0.0, 0.05, points)).astype(np.float32).astype(np.float64)
    block = ScalarBlock(("loss",), at, BEGUN + np.cumsum(random.random(points)), at * 60, value[None])
    state = FileState(SourceFile("events", "events", 0, 0.0, None, 0, 0))
    state.scalars[block.tags] = block
    files = RunFiles()
    files.restore([state])
    return RunScalars(files)


if __name__ == "__main__":
    print(json.dumps(one(int(sys.argv[1]))))
