"""CPU time of loss landscapes, the user's function left out: `python -m benchmarks.landscapes`."""

from __future__ import annotations

import json
import os
import resource
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import Figure, anonymous_rss, in_fresh_process

if TYPE_CHECKING:
    from app.landscapes.process import PlaneLoss

PARAMETERS_MB = 40e6 / (1 << 20)
"""Of 10 million."""
FIGURES = (
    ("Landscape of 10,000 parameters: own work per point, all processes", "point", "ms", 0.2),
    ("Landscape of 10 million parameters: own work of a worker per point", "large_point", "ms", 5.0),
    ("Landscape of 10 million parameters: a worker besides what the function gets", "worker", "MB", 1.3 * PARAMETERS_MB),
    ("Directions and path of 20 checkpoints of 10 million parameters", "directions", "s", 2.5),
    ("Directions and path of 20 checkpoints of 10 million parameters: memory", "memory", "MB", 300.0),
)
SCRIPT = "def loss(parameters):\n    return 0.5\n"
SIZES = (3, 20, 60)
"""Of grids; the first one imports what the others need."""
CHECKPOINTS = 20
COLUMNS = 40


def figures(times: int) -> list[Figure]:
    """Each figure with its bound."""
    results = in_fresh_process("benchmarks.landscapes", times=times)
    return [Figure(what, unit, bound, tuple(r[name] for r in results)) for what, name, unit, bound in FIGURES]


def one() -> dict[str, float]:
    """Compute landscapes of a function that costs nothing."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does
    with tempfile.TemporaryDirectory() as made:
        return {"point": _point(Path(made) / "small")} | _large(Path(made) / "large")


def _checkpoints(folder: Path, count: int, shapes: dict[str, tuple[int, ...]]) -> None:
    import numpy as np

    folder.mkdir()
    (folder / "loss.py").write_text(SCRIPT)
    random = np.random.default_rng(0)
    weights = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    for step in range(1, count + 1):
        np.savez(folder / f"net_{step}.npz", **weights)  # type: ignore[arg-type]
        for one in weights.values():
            one += random.normal(0, 0.01, one.shape).astype(np.float32)


def _point(folder: Path) -> float:
    """Milliseconds of all processes per point: what a large grid takes more than a small one."""
    from app.landscapes import LandscapeOptions, compute

    _checkpoints(folder, 5, {"0.weight": (90, 100), "0.bias": (90,), "1.weight": (10, 90), "1.bias": (10,)})
    spent = []
    for size in SIZES:
        begun = _spent()
        out = str(folder / f"out{size}")
        compute(LandscapeOptions(str(folder), str(folder / "loss.py"), out, size=size, checkpoints="*.npz"))
        spent.append(_spent() - begun)
    return 1000 * (spent[2] - spent[1]) / (SIZES[2] ** 2 - SIZES[1] ** 2)


def _spent() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _large(folder: Path) -> dict[str, float]:
    from app.landscapes.chosen import CheckpointPath
    from app.landscapes.planes import path_plane
    from app.landscapes.process import PlaneLoss
    from app.landscapes.workers import setting_of

    shapes = {"0.weight": (2500, 2000), "0.bias": (2500,), "1.weight": (1998, 2500), "1.bias": (1998,)}
    _checkpoints(folder, CHECKPOINTS, shapes)
    files = tuple(str(folder / f"net_{step}.npz") for step in range(1, CHECKPOINTS + 1))
    path = CheckpointPath(tuple(range(1, CHECKPOINTS + 1)), files)
    before, seen, done = anonymous_rss(), [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            seen.append(anonymous_rss())

    watcher = threading.Thread(target=watch)
    watcher.start()
    begun = time.process_time()
    plane = path_plane(path, 40, "tensor", str(folder / "plane"))
    directions = time.process_time() - begun
    done.set()
    watcher.join()
    found = _worker(PlaneLoss, setting_of(plane, str(folder / "loss.py"), "loss", files[-1], files))
    return found | {"directions": directions, "memory": max(seen) - before}


def _worker(plane_loss: type[PlaneLoss], setting: dict[str, Any]) -> dict[str, float]:
    """Milliseconds per point of a row, its begin included; MB besides the arrays that the function gets."""
    before = anonymous_rss()
    worker = plane_loss(setting)
    worker.at(0, 0, 0.1, 0.1)
    memory = anonymous_rss() - before
    begun = time.process_time()
    for column in range(COLUMNS):
        worker.at(1, column, 0.01 * column, 0.2)
    return {"large_point": 1000 * (time.process_time() - begun) / COLUMNS, "worker": memory - PARAMETERS_MB}


if __name__ == "__main__":
    print(json.dumps(one()))
