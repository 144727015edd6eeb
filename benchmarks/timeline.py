"""Traces: seconds and memory from a trace_view.json to columns and index beside `orjson.loads`; CPU of views, ranges and
search over ten million slices in 150 lanes, and beside one million; script of a picture in the browser."""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import painting
from benchmarks.measure import ROOT, Figure, in_fresh_process
from parsers.profiler.trace import storage

if TYPE_CHECKING:
    from parsers.profiler.trace.columns import Trace
    from parsers.profiler.trace.pyramid import Pyramid

MILLION, TEN = 1_000_000, 10_000_000
PIXELS = 1440
ZOOMS = (1, 3, 10, 30, 100, 1000, 10_000)
LEAST_DRAWN = 30_000
"""Slices and buckets below which what is drawn no longer says what a view takes."""


def figures(times: int) -> list[Figure]:
    """Of two files and two sets of columns, which are made once."""
    folder = Path(os.environ.get("MINDSCOPE_BENCH_DATA", ROOT / "bench-data")) / "timeline"
    for what, count in (("file", MILLION), ("file", TEN), ("columns", MILLION), ("columns", TEN)):
        # Columns of an earlier version of their format are made again.
        marker = folder / (f"{what}-{count}.made" if what != "columns" else f"{what}-{count}-v{storage.VERSION}.made")
        if not marker.is_file():
            in_fresh_process("benchmarks.timeline", f"make_{what}", str(folder), str(count), times=1)
            marker.touch()
    return [*_reading(folder, times), *_showing(folder, times), *painting.figures(times)]


def _reading(folder: Path, times: int) -> list[Figure]:
    file, index = folder / f"{MILLION}.json", str(folder / "index")
    pairs = [
        (in_fresh_process("benchmarks.timeline", "read", str(file), index, times=1)[0],
         in_fresh_process("benchmarks.timeline", "loads", str(file), times=1)[0])
        for _ in range(times)
    ]  # fmt: skip
    large = in_fresh_process("benchmarks.timeline", "read", str(folder / f"{TEN}.json"), index, times=1)[0]
    note = f"{file.stat().st_size / 2**20:,.0f} MB; orjson {pairs[0][1]['cpu']:.1f} s, {pairs[0][1]['rss']:,.0f} MB"
    size = (folder / f"{TEN}.json").stat().st_size
    return [
        Figure("trace_view.json to columns / orjson.loads", "x", 2.0, tuple(a["columns"] / b["cpu"] for a, b in pairs), note),
        Figure("trace_view.json to columns and index / orjson.loads", "x", 3.0, tuple(a["all"] / b["cpu"] for a, b in pairs)),
        Figure(f"{size / 1e9:.1f} GB of 10M events to columns and index", "CPU s", 40.0, (large["all"],)),
        Figure("the same: most memory", "MB", 1000.0, (large["rss"],), f"anonymous {large['anonymous']:,.0f} MB at the end"),
    ]


def _showing(folder: Path, times: int) -> list[Figure]:
    small, large = (
        in_fresh_process("benchmarks.timeline", "show", str(folder / f"columns-{count}"), times=times)
        for count in (MILLION, TEN)
    )

    def of(key: str) -> tuple[float, ...]:
        return tuple(run[key] for run in large)

    ratios = tuple(
        max(b[f"view {zoom}"] * a[f"drawn {zoom}"] / (a[f"view {zoom}"] * b[f"drawn {zoom}"]) for zoom in ZOOMS)
        for a, b in zip(small, large, strict=True)
    )
    worst = tuple(max(run[f"view {zoom}"] for zoom in ZOOMS) for run in large)
    note = ", ".join(f"{zoom}x {large[0][f'view {zoom}']:.1f}" for zoom in ZOOMS)
    return [
        Figure("a view of 10M slices in 150 lanes, the slowest zoom", "ms", 25.0, worst, note),
        Figure("a view of 10M / of 1M slices, by what is drawn, the worst zoom", "x", 3.0, ratios),
        Figure("50 lanes at full width", "KB", 1000.0, of("bytes"), f"{large[0]['buckets']:.0f} buckets"),
        Figure("opening 10M slices and the first view of 50 lanes", "CPU s", 0.3, of("open")),
        Figure("statistics of all of 10M slices", "ms", 250.0, of("range all")),
        Figure("statistics of 1 % of 10M slices", "ms", 20.0, of("range part")),
        Figure("searching 1M unique names for a text", "ms", 150.0, of("text")),
        Figure("searching 1M unique names for a regular expression", "ms", 150.0, of("pattern")),
        Figure("finding the slices of a name among 10M", "ms", 150.0, of("rows")),
    ]


def make_file(folder: str, count: str) -> dict[str, float]:
    from benchmarks.trace_data import trace_view

    os.makedirs(folder, exist_ok=True)
    trace_view(Path(folder) / f"{count}.json", int(count))
    return {}


def make_columns(folder: str, count: str) -> dict[str, float]:
    from benchmarks.trace_data import columns
    from parsers.profiler.trace import pyramid

    made = columns(int(count))
    target = os.path.join(folder, f"columns-{count}")
    storage.write(made, target)
    pyramid.build(made, target)
    return {}


def read(path: str, index: str) -> dict[str, float]:
    """From a file to columns, and on to the index."""
    from parsers.profiler.trace import pyramid, sources

    begun = time.process_time()
    trace = sources.read(path)
    columns = time.process_time() - begun
    storage.write(trace, index)
    del trace
    pyramid.build(storage.open(index), index)
    from benchmarks.measure import anonymous_rss

    return {"columns": columns, "all": time.process_time() - begun, "rss": _most_memory(), "anonymous": anonymous_rss()}


def loads(path: str) -> dict[str, float]:
    """The yardstick: decode the file whole, without looking for garbage."""
    import gc

    import orjson

    gc.disable()
    begun = time.process_time()
    orjson.loads(Path(path).read_bytes())
    return {"cpu": time.process_time() - begun, "rss": _most_memory()}


def show(folder: str) -> dict[str, float]:
    """What pages ask for, each three times after one that reads the pages of the files; the fastest counts."""
    import numpy as np

    from parsers.profiler.trace import lanes, pyramid, ranges, search, storage, views

    begun = time.process_time()
    trace, levels = storage.open(folder), pyramid.open(folder)
    end = trace.end

    def window(zoom: int, place: float) -> tuple[int, int, int]:
        k = max(int(np.floor(np.log2(end / zoom / PIXELS))), 0)
        n = int(end / zoom) >> k
        return k, int((end - end / zoom) * place) >> k, n + 1

    views.view(trace, levels, range(50), *window(1, 0)).packed()
    found = {"open": time.process_time() - begun}
    all_ = range(int(lanes.numbering(trace)[-1]))
    for zoom in ZOOMS:
        spans, drawn = [], 0
        for place in (0.1, 0.5, 0.77):
            where = window(zoom, place)
            spans.append(_ms(partial(_packed, trace, levels, all_, where)))
            shown = views.view(trace, levels, all_, *where)
            drawn += len(shown.row) + len(shown.bucket)
        found |= {f"view {zoom}": max(spans), f"drawn {zoom}": float(max(drawn, LEAST_DRAWN))}
    data = views.view(trace, levels, range(50), *window(1, 0)).packed()
    found |= {"bytes": len(data) / 1000, "buckets": float(window(1, 0)[2])}
    found["range all"] = _ms(lambda: ranges.statistics(trace, 0, end + 1, pyramid=levels))
    found["range part"] = _ms(lambda: ranges.statistics(trace, int(0.3 * end), int(0.31 * end), pyramid=levels))
    names: Sequence[str] = [f"aclnnMatMul_{number}_Layer{number * 7919 % 1_000_003}_forward" for number in range(MILLION)]
    known = search.TraceNames(names)
    found["text"] = max(_ms(partial(known.containing, text)) for text in ("_123456_", "Layer77", "forward"))
    found["pattern"] = _ms(lambda: known.matching(re.compile("Layer77[0-9]+_forward$")))
    few = search.TraceNames(trace.names)
    found["rows"] = _ms(lambda: search.find(trace, "_77", names=few))
    return found


def _packed(trace: Trace, levels: Pyramid, of: Sequence[int], where: tuple[int, int, int]) -> bytes:
    from parsers.profiler.trace import views

    return views.view(trace, levels, of, *where).packed()


def _ms(work: Callable[[], object]) -> float:
    """CPU of the fastest of three runs."""
    work()
    spans = []
    for _ in range(3):
        begun = time.process_time()
        work()
        spans.append(time.process_time() - begun)
    return 1000 * min(spans)


def _most_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    actions: dict[str, Callable[..., dict[str, float]]] = {
        "make_file": make_file, "make_columns": make_columns, "read": read, "loads": loads, "show": show,
    }  # fmt: skip
    print(json.dumps(actions[sys.argv[1]](*sys.argv[2:])))
