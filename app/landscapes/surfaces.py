"""The surfaces that are computed: their planes, written for the workers. What has no plane is reported, the rest computed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.landscapes import planes
from app.landscapes.chosen import CheckpointPath, ChosenCheckpoints
from app.landscapes.names import names_chosen
from app.landscapes.options import ALPHAS, LINE, PATH, RANDOM, LandscapeError, LandscapeOptions
from app.landscapes.planes import PlaneFiles
from parsers.analysis.values.landscapes import NotFiniteError
from parsers.errors import FormatError
from parsers.weights import opened


@dataclass(frozen=True, slots=True)
class SurfaceTask:
    """A surface to be computed. base: the checkpoint that has the tensors which do not vary. files: those of the path.

    steps are those of the path, or of the ends of a line.
    """

    tag: str
    kind: str
    base: str
    plane: PlaneFiles
    steps: tuple[int, ...] = ()
    files: tuple[str, ...] = ()


def surfaces_to_compute(
    options: LandscapeOptions, found: ChosenCheckpoints, folder: str
) -> tuple[list[SurfaceTask], tuple[str, ...]]:
    """Write the planes of all surfaces below a folder. Return them, and what is left out and why.

    Raises LandscapeError if no surface can be computed, and OSError, as on a full disk.
    """
    names = names_chosen(options.script, found)
    paths = [usable(path, names) for path in found.paths]
    problems = [reason for path in paths for reason in path.unusable]
    known = replace(found, paths=tuple(path for path in paths if path.files))
    if not known.paths:
        raise LandscapeError("expected checkpoints that can be read, found none: " + problems[0])
    tasks: list[SurfaceTask] = []
    failed: list[str] = []
    for kind in options.kinds:
        for path in known.paths if kind == PATH else known.paths[:1]:
            try:
                task, left_out = _task(kind, path, options, known, os.path.join(folder, str(len(tasks) + len(failed))), names)
            except LandscapeError as error:
                failed.append(str(error))
            else:
                tasks.append(task)
                problems += left_out
    if not tasks:
        raise LandscapeError("; ".join([*failed, *problems]))
    return tasks, tuple(dict.fromkeys(problems + failed))


def usable(path: CheckpointPath, chosen: Sequence[str] = ()) -> CheckpointPath:
    """Return a path without the checkpoints that cannot be read, or are not of the network of the last one that can.

    chosen: names of the weights that vary, () for those of every network.
    """
    reasons: dict[int, str] = {}
    last, names = None, list[str]()
    for at in reversed(range(len(path.files))):
        try:
            with opened(path.files[at]) as weights:
                if last is None and (names := planes.varied(weights.tensors, chosen)):
                    last = weights
                reason = planes.difference(weights, last, names) if last else _without_weights(weights.path, chosen)
        except FormatError as error:
            reason = str(error)
        except OSError as error:
            reason = f"{path.files[at]}: expected a readable file, found {error.strerror}"
        if reason:
            reasons[at] = reason
    return path.without(reasons)


def _without_weights(path: str, chosen: Sequence[str]) -> str:
    wanted = f", with those that the script's names() chose ({', '.join(chosen)[:200]})" if chosen else ""
    return f"{path}: expected weights of real numbers{wanted}, found none"


def _task(
    kind: str, path: CheckpointPath, options: LandscapeOptions, found: ChosenCheckpoints, folder: str,
    names: Sequence[str],
) -> tuple[SurfaceTask, Sequence[str]]:
    if kind == PATH:
        return _path(path, options, folder, names)
    if kind == RANDOM:
        step, file = found.last
        plane = planes.random_plane(file, options.size, options.seed, options.scale, folder, names)
        return SurfaceTask(f"landscape_[{step}]", kind, file, plane), ()
    return _line(options, found.paths, folder, names), ()


def _path(
    path: CheckpointPath, options: LandscapeOptions, folder: str, names: Sequence[str]
) -> tuple[SurfaceTask, Sequence[str]]:
    """Write the plane of a path; without checkpoints that have NaN or infinity."""
    own = path
    while True:
        try:
            plane = planes.path_plane(own, options.size, options.scale, folder, names)
        except NotFiniteError as error:
            own = own.without({at: f"{own.files[at]}: expected finite weights, found NaN or infinity" for at in error.at})
            if not own.files:
                raise LandscapeError(f"{path.label}: {error}, and in all others") from error
        else:
            task = SurfaceTask(f"landscape_{own.label}", PATH, own.files[-1], plane, own.steps, own.files)
            return task, own.unusable[len(path.unusable) :]


def _line(
    options: LandscapeOptions, paths: Sequence[CheckpointPath], folder: str, names: Sequence[str]
) -> SurfaceTask:
    first, last = options.against or paths[0].files[0], paths[-1].files[-1]
    if not os.path.isfile(first):
        raise LandscapeError(f"--against: expected a file, found {first!r}")
    if os.path.samefile(first, last):
        raise LandscapeError("line: expected two checkpoints, found one")
    plane = planes.line_between(first, last, ALPHAS, folder, names)
    ends = (paths[0].steps[0], paths[-1].steps[-1])
    return SurfaceTask(f"landscape_line_[{ends[0]}, {ends[1]}]", LINE, last, plane, () if options.against else ends)
