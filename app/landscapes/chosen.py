"""The checkpoints that landscapes are computed from: those of the plan of a run, or those that a pattern names."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.landscapes.options import LandscapeError, LandscapeOptions
from parsers.analysis.values.histograms import thinned
from parsers.checkpoints import LandscapePlan, landscape_plan
from parsers.errors import FormatError

MOST_CHECKPOINTS = 500
"""Of a path: all are open at once, and the products of all pairs of them are summed."""


@dataclass(frozen=True, slots=True)
class CheckpointPath:
    """The checkpoints of an interval, in the order of their steps. missing: steps that the plan lists and no file has.

    thinned: how many there are, if only some of them are taken, evenly from the first to the last; else 0. unusable: what was
    expected of checkpoints that are left out, and what was found.
    """

    steps: tuple[int, ...]
    files: tuple[str, ...]
    missing: tuple[int, ...] = ()
    thinned: int = 0
    unusable: tuple[str, ...] = ()

    def without(self, reasons: Mapping[int, str]) -> CheckpointPath:
        """Return the path without checkpoints by their index, whose reasons are kept."""
        kept = [at for at in range(len(self.files)) if at not in reasons]
        steps, files = tuple(self.steps[at] for at in kept), tuple(self.files[at] for at in kept)
        told = tuple(f"step {self.steps[at]:,}: {reason}" for at, reason in sorted(reasons.items()))
        return replace(self, steps=steps, files=files, unusable=self.unusable + told)

    @property
    def label(self) -> str:
        """The ends as MindSpore writes them in a tag."""
        return f"[{self.steps[0]}, {self.steps[-1]}]"


@dataclass(frozen=True, slots=True)
class ChosenCheckpoints:
    """The paths, the unit of their steps, and steps per epoch (0: not known)."""

    paths: tuple[CheckpointPath, ...]
    unit: str = "step"
    steps_per_epoch: int = 0

    @property
    def last(self) -> tuple[int, str]:
        """Step and file of the last checkpoint."""
        path = max(self.paths, key=lambda one: one.steps[-1])
        return path.steps[-1], path.files[-1]


def chosen(options: LandscapeOptions) -> ChosenCheckpoints:
    """Find the checkpoints. Raises LandscapeError where there are none."""
    if not os.path.isdir(options.run):
        raise LandscapeError(f"expected the directory of a run, found {options.run!r}")
    try:
        plan = landscape_plan(options.run)
    except FormatError as error:
        raise LandscapeError(str(error)) from error
    if options.checkpoints:
        return _by_pattern(options)
    if plan is None:
        raise LandscapeError(
            f"{options.run}: expected ckpt_dir/train_metadata.json, found none; name the checkpoints by --checkpoints 'GLOB'"
        )
    return _by_plan(options, plan)


def _by_plan(options: LandscapeOptions, plan: LandscapePlan) -> ChosenCheckpoints:
    folder = os.path.dirname(plan.path)
    there = {step: os.path.join(folder, name) for step, name in plan.files.items()}
    there = {step: path for step, path in there.items() if os.path.isfile(path)}
    groups = plan.intervals or (tuple(plan.files),)
    listed = sorted({step for group in groups for step in group})
    wanted = [[step for step in listed if low <= step <= high] for low, high in options.intervals] or groups
    paths = tuple(_path(group, there) for group in wanted)
    return ChosenCheckpoints(_with_files(options, paths), plan.unit, plan.step_per_epoch)


def _by_pattern(options: LandscapeOptions) -> ChosenCheckpoints:
    found = sorted(glob.iglob(os.path.join(glob.escape(options.run), options.checkpoints), recursive=True))
    files = [path for path in found if os.path.isfile(path)]
    there = {number: path for path, number in zip(files, _numbers(files), strict=True)}
    if len(there) < len(files):
        raise LandscapeError("--checkpoints: expected a number of its own in each name, found two files with the same one")
    wanted = [[step for step in sorted(there) if low <= step <= high] for low, high in options.intervals] or [sorted(there)]
    return ChosenCheckpoints(_with_files(options, tuple(_path(group, there) for group in wanted)))


def _numbers(files: Sequence[str]) -> list[int]:
    """Return the number in each name that differs most between them; the place in the list for names without one."""
    numbers = [[int(text) for text in re.findall(r"\d{1,18}", os.path.basename(path))] for path in files]
    shortest = min(map(len, numbers), default=0)
    if not shortest:
        return list(range(1, len(files) + 1))
    at = max(range(shortest), key=lambda place: len({one[place] for one in numbers}))
    return [one[at] for one in numbers]


def _path(steps: Sequence[int], there: Mapping[int, str]) -> CheckpointPath:
    known = [step for step in sorted(steps) if step in there]
    missing = tuple(step for step in sorted(steps) if step not in there)
    taken = [known[at] for at in thinned(len(known), MOST_CHECKPOINTS).tolist()]
    count = len(known) if len(taken) < len(known) else 0
    return CheckpointPath(tuple(taken), tuple(there[step] for step in taken), missing, count)


def _with_files(options: LandscapeOptions, paths: Sequence[CheckpointPath]) -> tuple[CheckpointPath, ...]:
    found = tuple(path for path in paths if path.files)
    if not found:
        raise LandscapeError(f"{options.run}: expected checkpoints, found none of those that are listed or named")
    return found
