"""Computes the landscapes of a run and writes them as MindSpore does, so that the page Loss landscape shows them."""

from __future__ import annotations

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

from app.landscapes import planes
from app.landscapes.chosen import CheckpointPath, ChosenCheckpoints, chosen
from app.landscapes.options import ALPHAS, LINE, PATH, RANDOM, LandscapeError, LandscapeOptions
from app.landscapes.planes import PlaneFiles
from app.landscapes.points_file import PointsFile
from app.landscapes.workers import GridPlace, GridRow, WorkerPool, setting_of
from parsers.analysis.values.loss_surfaces import sharpness
from parsers.landscapes.facts import FactsFile, FactsRecord, FailedPlace, checksum_of
from parsers.landscapes.points import ON_PATH, Loss, PlannedSurface, Point
from parsers.model import Floats
from parsers.recording import EventWriter, Landscape, Surface

_NOT_MARKED = {"jobs", "limit_s", "out", "run", "dask", "dask_trust"}
"""Options that change no point."""
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
    """The landscapes of a run, the file that was written, and the steps whose checkpoint is missing."""

    landscapes: tuple[ComputedLandscape, ...]
    file: str
    missing: tuple[int, ...]
    varied: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Task:
    """A surface to be computed. base: the checkpoint that has the tensors which do not vary. files: those of the path.

    steps are those of the path, or of the ends of a line.
    """

    tag: str
    kind: str
    base: str
    plane: PlaneFiles
    steps: tuple[int, ...] = ()
    files: tuple[str, ...] = ()


def compute(options: LandscapeOptions, say: Say = lambda _: None, show: Show = lambda _done, _of: None) -> ComputedLandscapes:
    """Compute the landscapes and write them to a summary file in `options.out`.

    say gets sentences, show the number of points that are finished and of all. A computation that was ended goes on where it
    was. Raises LandscapeError, OSError (full disk), KeyboardInterrupt; what is finished is kept.
    """
    options = options.checked()
    if not os.path.isfile(options.script):
        raise LandscapeError(f"--script: expected a file, found {options.script!r}")
    found = chosen(options)
    os.makedirs(options.out, exist_ok=True)
    mark = mark_of(options, found)
    _say_others(options.out, mark, say)
    missing = tuple(step for path in found.paths for step in path.missing)
    if missing:
        say(f"left out, since no checkpoint has them: {', '.join(map(str, missing))}")
    folder = tempfile.mkdtemp(prefix="landscape-planes-", dir=options.out)
    try:
        tasks = _tasks(options, found, folder)
        varied = tuple(one.name for one in tasks[0].plane.tensors)
        say(f"weights that vary: {', '.join(varied)}")
        path = os.path.join(options.out, f"landscape-{mark}.points")
        surfaces = [_planned(task, found) for task in tasks]
        with PointsFile(path, surfaces) as points:
            for number, task in enumerate(tasks):
                _compute(number, task, options, points, lambda: show(len(points.known), sum(one.size for one in surfaces)))
            points.flush()
            results = tuple(_result(number, task, points) for number, task in enumerate(tasks))
        file = _write(options, found, results)
        _write_facts(os.path.join(options.out, f"landscape-{mark}.json"), results)
        os.remove(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return ComputedLandscapes(results, file, missing, varied)


def mark_of(options: LandscapeOptions, found: ChosenCheckpoints) -> str:
    """Return a hash of what the points depend on: checkpoints by name, size and time, options, and the script."""
    wanted = {name: value for name, value in asdict(options).items() if name not in _NOT_MARKED}
    facts: list[object] = [sorted(wanted.items(), key=str)]
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


def _tasks(options: LandscapeOptions, found: ChosenCheckpoints, folder: str) -> list[_Task]:
    tasks: list[_Task] = []
    for kind in options.kinds:
        if kind == PATH:
            for path in found.paths:
                plane = planes.path_plane(path, options.size, options.scale, os.path.join(folder, str(len(tasks))))
                tasks.append(_Task(f"landscape_{path.label}", kind, path.files[-1], plane, path.steps, path.files))
        elif kind == RANDOM:
            step, file = found.last
            place = os.path.join(folder, str(len(tasks)))
            plane = planes.random_plane(file, options.size, options.seed, options.scale, place)
            tasks.append(_Task(f"landscape_[{step}]", kind, file, plane))
        else:
            tasks.append(_line(options, found.paths, folder, len(tasks)))
    return tasks


def _line(options: LandscapeOptions, paths: Sequence[CheckpointPath], folder: str, number: int) -> _Task:
    first, last = options.against or paths[0].files[0], paths[-1].files[-1]
    if os.path.samefile(first, last):
        raise LandscapeError("line: expected two checkpoints, found one")
    plane = planes.line_between(first, last, ALPHAS, os.path.join(folder, str(number)))
    ends = (paths[0].steps[0], paths[-1].steps[-1])
    return _Task(f"landscape_line_[{ends[0]}, {ends[1]}]", LINE, last, plane, () if options.against else ends)


def _planned(task: _Task, found: ChosenCheckpoints) -> PlannedSurface:
    """Describe a surface to who reads its points."""
    plane, path = task.plane, task.plane.path
    x, y = ([], []) if path is None else (path.x.tolist(), path.y.tolist())
    return PlannedSurface(
        task.tag, plane.x.tolist(), plane.y.tolist(), list(task.steps), x, y, found.unit, found.steps_per_epoch
    )


def _compute(number: int, task: _Task, options: LandscapeOptions, points: PointsFile, shown: Callable[[], None]) -> None:
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


def _result(number: int, task: _Task, points: PointsFile) -> ComputedLandscape:
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
    half = os.path.join(options.out, f".{name}.part")  # a file appears whole or not at all
    with EventWriter(half, "mindspore") as writer:
        for one in results:
            path = None if one.path is None else Surface(*one.path)
            value = Landscape(
                Surface(one.x, one.y, one.z), path, one.steps, one.end, one.decomposition, found.unit,
                found.steps_per_epoch,
            )  # fmt: skip
            writer.add(0, {one.tag: value}, wall_time=time.time())
    file = os.path.join(options.out, name)
    os.replace(half, file)
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
    with open(half, "wb") as stream:
        stream.write(msgspec.json.encode(FactsFile(records)))
    os.replace(half, path)
