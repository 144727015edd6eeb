"""How cost grows with the data: 1 to 10,000 runs, 0.1 to 50 million points, 0.1 to 10 GB of tensors.

Of each size: CPU seconds until all is read and in the index, memory of the server, size of the index, CPU milliseconds of a
page and of a card. For each of these the exponent that fits the three largest sizes: 1 is as much more as there is more data.

`python -m benchmarks.growth DIR INDEX` measures one size.
"""

from __future__ import annotations

import json
import math
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks import growth_data, many_data, peers
from benchmarks.measure import NO_BOUND, Figure, anonymous_rss, in_fresh_process

EXPONENT = 1.05
FITTED = 3
"""Sizes that an exponent is fitted to: at small ones, what is always the same counts most."""
QUANTITIES = {"cpu": "CPU", "memory": "memory", "index": "index", "page": "page", "card": "card"}
RUNS, POINTS, GIGABYTES = (1, 10, 100, 1_000, 10_000), (0.1, 1, 5, 10, 50), (0.1, 1, 10)
TAGS = 10
SPARE = 2
"""Twice the space a size needs must be free on the disk, or it is left out."""


def figures(times: int) -> list[Figure]:
    """All three kinds of growth."""
    return [
        *_growth("runs of 10 x 100 points, TensorBoard layout", "tb", RUNS, _make_runs, 35e3, times),
        *_growth("M points in one run, MindSpore layout", "ms", POINTS, _make_points, 25e6, times),
        *_growth("GB of tensors, MindSpore layout", "ms", GIGABYTES, _make_tensors, 1e9, times),
    ]


def _make_runs(base: Path, size: float) -> None:
    many_data.make(base, int(size), TAGS, 100, "tb")


def _make_points(base: Path, size: float) -> None:
    growth_data.points(base / "run", TAGS, round(size * 1e6 / TAGS))


def _make_tensors(base: Path, size: float) -> None:
    growth_data.tensors(base / "run", size)


def _growth(
    what: str, layout: str, sizes: tuple[float, ...], make: Callable[[Path, float], None], each: float, times: int
) -> list[Figure]:
    """Measure every size; `each` is the number of bytes on disk of one unit of it."""
    found, measured = [], []
    for size in sizes:
        with tempfile.TemporaryDirectory() as place:
            if shutil.disk_usage(place).free < SPARE * size * each:
                print(f"{size:g} {what}: not measured, the disk has too little space")
                continue
            base = Path(place) / "runs"
            base.mkdir()
            make(base, size)
            results = []
            for number in range(times if size * each < 1e9 else 1):
                results += in_fresh_process("benchmarks.growth", str(base), f"{place}/index{number}", times=1)
            median = {name: float(np.median([one[name] for one in results])) for name in QUANTITIES}
            measured.append((size, median))
            note = (f"memory {median['memory']:.0f} MB, index {median['index']:.2f} MB, page {median['page']:.1f} ms, "
                    f"card {median['card']:.1f} ms")  # fmt: skip
            found.append(Figure(f"{size:,g} {what}", "CPU s", NO_BOUND, tuple(one["cpu"] for one in results), note))
            found += peers.beside(base, layout, those=(peers.RUST,))  # the others take minutes
    return found + [
        Figure(f"  exponent of {label}, {what}", "", EXPONENT, (exponent([(size, one[name]) for size, one in measured]),))
        for name, label in QUANTITIES.items()
    ]  # fmt: skip


def exponent(cost: list[tuple[float, float]]) -> float:
    """Return the exponent e of cost ~ size ** e that fits the largest sizes best, by least squares of the logarithms."""
    size, value = np.log(np.array(cost[-FITTED:])).T
    return float(np.polyfit(size, value, 1)[0]) if len(size) > 1 else math.nan


def one(base: str, index: str) -> dict[str, float]:
    """Open a store, wait until all runs are read; ask for a page and a card; close it, which saves what is not saved yet."""
    import os

    from app import create_app
    from app.store.store import Store
    from layouts.curves.scalars.page import draw
    from layouts.shell.run_list import listing

    begun = time.process_time()
    store = Store([base], interval=0, index_directory=index).start()
    if not store.wait(900):
        raise RuntimeError("the runs were not read in fifteen minutes")
    cpu = time.process_time() - begun
    client = create_app(store).server.test_client()

    def page() -> None:
        for path in ("/", "/api/pages/scalars.json"):
            if client.get(path).status_code != 200:
                raise RuntimeError(f"{path} is not answered")
        json.dumps(listing(store, ("scalar",)))

    asked = {"tag": ["loss"], "columns": ["600"], "smooth": ["0.6"]}
    page_ms, card_ms = _repeated(page), _repeated(lambda: json.dumps(len(str(draw(store, asked)))))
    memory, begun = anonymous_rss(), time.process_time()
    store.stop()
    cpu += time.process_time() - begun
    size = sum(os.path.getsize(Path(place) / name) for place, _, names in os.walk(index) for name in names)
    return {"cpu": cpu, "memory": memory, "index": size / 1e6, "page": page_ms, "card": card_ms}


def _repeated(act: Callable[[], object]) -> float:
    """Return the median CPU milliseconds of five times, after one that is not counted."""
    act()
    spent = []
    for _ in range(5):
        begun = time.process_time()
        act()
        spent.append((time.process_time() - begun) * 1e3)
    return float(np.median(spent))


if __name__ == "__main__":
    print(json.dumps(one(*sys.argv[1:])))
