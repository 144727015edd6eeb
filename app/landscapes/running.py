"""Computes the landscapes of a run and writes them as MindSpore does, so that the page Loss landscape shows them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from app.landscapes.chosen import ChosenCheckpoints, chosen
from app.landscapes.directory import PLANES, prepare
from app.landscapes.options import LINE, PATH, RANDOM, LandscapeError, LandscapeOptions
from app.landscapes.points_file import PointsFile
from app.landscapes.surfaces import SurfaceTask, surfaces_to_compute
from app.landscapes.workers import GridPlace, GridRow, WorkerPool, setting_of
from parsers.analysis.values.landscapes import sharpness
from parsers.landscapes.facts import FactsFile, FactsRecord, FailedPlace, checksum_of
from parsers.landscapes.points import MOST_PLACES, ON_PATH, Loss, PlannedSurface, Point
from parsers.model import Floats
from parsers.recording import EventWriter, Landscape, Surface

VERSION = 3
"""Of how places are computed: points of another one are not continued, since their last bits may differ."""
_NOT_MARKED = {"jobs", "limit_s", "out", "run", "dask", "dask_trust"}
"""Options that change no point."""
MOST_DAMAGE = 5
"""Damaged lines of a points file that are said."""
if TYPE_CHECKING:
    from app.landscapes.cluster import ClusterPool

Say = Callable[[str], None]
Show = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ComputedLandscape:
    """A landscape. x, y, z as MindSpore has them; shown: share of the path that lies in its plane (`PathOnPlane`), or NaN.

    failed: places without a loss, with the reason.
    """

    tag: str
    x: Floats
    y: Floats
    z: Floats
    steps: tuple[int, ...]
    path: tuple[Floats, Floats, Floats] | None
    end: tuple[float, float, float]
    shown: float
    sharpness: float
    decomposition: str
    failed: tuple[tuple[GridPlace, str], ...]


@dataclass(frozen=True, slots=True)
class ComputedLandscapes:
    """The landscapes of a run, the file that was written, and the steps whose checkpoint is missing.

    problems: checkpoints that are left out and landscapes that could not be computed, with what was expected and found.
    """

    landscapes: tuple[ComputedLandscape, ...]
    file: str
    missing: tuple[int, ...]
    varied: tuple[str, ...]
    problems: tuple[str, ...] = ()


def compute(options: LandscapeOptions, say: Say = lambda _: None, show: Show = lambda _done, _of: None) -> ComputedLandscapes:
    """Compute the landscapes and write them to a summary file in `options.out`.

    say gets sentences, show the number of points that are finished and of all. A computation that was ended goes on where it
    was. Raises LandscapeError, OSError (full disk), KeyboardInterrupt; what is finished is kept.
    """
    options = options.checked()
    if not os.path.isfile(options.script):
        raise LandscapeError(f"--script: expected a file, found {options.script!r}")
    found = chosen(options)
    prepare(options.out, options.run)
    mark = mark_of(options, found)
    _say_others(options.out, mark, say)
    missing = tuple(step for path in found.paths for step in path.missing)
    if missing:
        say(f"left out, since no checkpoint has them: {', '.join(map(str, missing))}")
    for path in found.paths:
        if path.thinned:
            say(f"{path.label}: {len(path.steps):,} of {path.thinned:,} checkpoints are taken, evenly from first to last")
    folder = tempfile.mkdtemp(prefix=PLANES, dir=options.out)
    try:
        tasks, problems = surfaces_to_compute(options, found, folder)
        for problem in problems:
            say(f"left out: {problem}")
        varied = tuple(one.name for one in tasks[0].plane.tensors)
        say(f"weights that vary: {', '.join(varied)}")
        points_path = os.path.join(options.out, f"landscape-{mark}.points")
        surfaces = [_planned(task, found) for task in tasks]
        if sum(one.size for one in surfaces) > MOST_PLACES:
            raise LandscapeError(f"expected up to {MOST_PLACES:,} points in all: choose a smaller --size or fewer --intervals")
        with PointsFile(points_path, surfaces) as points:
            for damage in points.damage[:MOST_DAMAGE]:
                say(f"{damage}; it is computed again")
            for number, task in enumerate(tasks):
                _compute(number, task, options, points, lambda: show(len(points.known), sum(one.size for one in surfaces)))
            points.flush()
            results = tuple(_result(number, task, points) for number, task in enumerate(tasks))
        file = _write(options, found, results)
        _write_facts(os.path.join(options.out, f"landscape-{mark}.json"), results)
        os.remove(points_path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return ComputedLandscapes(results, file, missing, varied, problems)


def mark_of(options: LandscapeOptions, found: ChosenCheckpoints) -> str:
    """Return a hash of what the points depend on: checkpoints by name, size and time, options, and the script."""
    wanted = {name: value for name, value in asdict(options).items() if name not in _NOT_MARKED}
    facts: list[object] = [VERSION, sorted(wanted.items(), key=str)]
    for path in found.paths:
        for file in path.files:
            status = os.stat(file)
            facts.append([os.path.basename(file), status.st_size, status.st_mtime_ns])
    with open(options.script, "rb") as stream:
        facts.append(hashlib.sha256(stream.read()).hexdigest())
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()[:16]


def _say_others(out: str, mark: str, say: Say) -> None:
    """Say what is resumed, or why it is not."""
    there = [name for name in os.listdir(out) if name.startswith("landscape-") and name.endswith(".points")]
    if f"landscape-{mark}.points" in there:
        say("going on with the points that are finished")
    elif there:
        say("starting anew: the checkpoints, the options or the script have changed since the points that are there")


def _planned(task: SurfaceTask, found: ChosenCheckpoints) -> PlannedSurface:
    """Describe a surface to who reads its points."""
    plane, path = task.plane, task.plane.path
    x, y = ([], []) if path is None else (path.x.tolist(), path.y.tolist())
    return PlannedSurface(
        task.tag, plane.x.tolist(), plane.y.tolist(), list(task.steps), x, y, found.unit, found.steps_per_epoch
    )


def _compute(number: int, task: SurfaceTask, options: LandscapeOptions, points: PointsFile, shown: Callable[[], None]) -> None:
    """Compute what is not known of a surface, and the losses of the checkpoints of its path."""

    def take(point: Point, loss: Loss) -> None:
        points.add(point, loss)
        shown()

    own = [column for column in range(len(task.files)) if Point(number, ON_PATH, column) not in points.known]
    rows = [GridRow(number, tuple(GridPlace(ON_PATH, column, 0.0, 0.0) for column in own))] if own else []
    for row, y in enumerate(task.plane.y.tolist()):
        left = tuple(
            GridPlace(row, column, x, y) for column, x in enumerate(task.plane.x.tolist())
            if Point(number, row, column) not in points.known
        )  # fmt: skip
        if left:
            rows.append(GridRow(number, left))
    if rows:
        _pool(options, take).run(rows, setting_of(task.plane, options.script, options.function, task.base, task.files))


def _pool(options: LandscapeOptions, take: Callable[[Point, Loss], None]) -> WorkerPool | ClusterPool:
    if not options.dask:
        return WorkerPool(options.jobs, options.limit_s, take)
    from app.landscapes.cluster import ClusterPool  # few have a cluster: Dask takes 0.5 s

    return ClusterPool(options.dask, trust=options.dask_trust, limit_s=options.limit_s, take=take)


def _result(number: int, task: SurfaceTask, points: PointsFile) -> ComputedLandscape:
    x, y = task.plane.x, task.plane.y
    z = np.array([[points.known[Point(number, row, column)].value for column in range(len(x))] for row in range(len(y))])
    failed = tuple(
        (GridPlace(point.row, point.column, math.nan, math.nan), loss.reason)
        for point, loss in sorted(points.known.items()) if point.surface == number and math.isnan(loss.value)
    )  # fmt: skip
    path, shown, end = None, math.nan, (0.0, 0.0, float(z[len(y) // 2, len(x) // 2]))
    if task.plane.path is not None:
        own = np.array([points.known[Point(number, ON_PATH, column)].value for column in range(len(task.files))])
        path, shown = (task.plane.path.x, task.plane.path.y, own), task.plane.path.shown
        end = (0.0, 0.0, float(own[-1]))
    elif task.kind == LINE:
        end = (1.0, 0.0, float(z[0, -1]))
        path = (x[[0, -1]], np.zeros(2), z[0, [0, -1]]) if task.steps else None
    curved = sharpness(x, y, z, end) if len(y) > 1 else math.nan
    kind = {PATH: "PCA", RANDOM: "Random", LINE: "Line"}[task.kind]
    return ComputedLandscape(task.tag, x, y, z, task.steps, path, end, shown, curved, kind, failed)


def _write(options: LandscapeOptions, found: ChosenCheckpoints, results: Sequence[ComputedLandscape]) -> str:
    name = f"events.out.events.summary.{int(time.time())}.{os.getpid()}.landscape_MS"
    half, file = os.path.join(options.out, f".{name}.part"), os.path.join(options.out, name)
    try:
        with EventWriter(half, "mindspore") as writer:
            for one in results:
                path = None if one.path is None else Surface(*one.path)
                value = Landscape(
                    Surface(one.x, one.y, one.z), path, one.steps, one.end, one.decomposition, found.unit,
                    found.steps_per_epoch,
                )  # fmt: skip
                writer.add(0, {one.tag: value}, wall_time=time.time())
        os.replace(half, file)  # it appears whole or not at all
    except OSError as error:
        with contextlib.suppress(OSError):
            os.remove(half)
        raise OSError(error.errno, error.strerror, file) from error
    return file


def _write_facts(path: str, results: Sequence[ComputedLandscape]) -> None:
    """Write what the summary file has no place for."""
    records = [
        FactsRecord(
            one.tag, checksum_of(one.z), None if math.isnan(one.shown) else one.shown,
            [FailedPlace(place.row, place.column, reason) for place, reason in one.failed if place.row != ON_PATH],
        )
        for one in results
    ]  # fmt: skip
    half = f"{path}.part"
    try:
        with contextlib.suppress(FileNotFoundError):
            os.remove(half)
        with open(half, "xb") as stream:
            stream.write(msgspec.json.encode(FactsFile(records)))
        os.replace(half, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.remove(half)
        raise OSError(error.errno, error.strerror, path) from error
