"""Follows one scalar of a run while its files grow, by the readers of event files: a look costs what is new."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from parsers.ages import age_of
from parsers.discovery.listing import RACY_SECONDS, classify
from parsers.model import Cursor, Floats, Ints, Reader, Series
from parsers.registry import reader_for

KINDS = ("events", "tensorboard")
"""Kinds of files that hold scalars."""
DEEPEST = 3
"""Levels of directories below that of the run which are searched."""
MOST_DIRECTORIES = 200
LIMIT = 32 << 20
"""Bytes of one file that are read at a time."""
FINE = 128
"""Steps below this one are reported as they are; of larger ones as many binary digits count as this one has."""


@dataclass(slots=True)
class _FollowedFile:
    """A file that is followed."""

    path: str
    reader: Reader
    cursor: Cursor | None = None
    size: int = -1


class TagFollower:
    """The values of the first tag of several that a run records. `look` reads what is new."""

    def __init__(self, directory: str, tags: Sequence[str]) -> None:
        self._directory, self._tags = directory, tuple(tags)
        self._tag = ""
        self._files: dict[str, _FollowedFile] = {}
        self._directories: dict[str, tuple[int, int]] = {}
        self._steps: list[Ints] = []
        self._times: list[Floats] = []
        self._values: list[Floats] = []

    @property
    def tag(self) -> str:
        """The tag that was found, "" for none yet."""
        return self._tag

    def look(self) -> tuple[Ints, Floats]:
        """Return steps and values that were recorded since the last look."""
        self._search()
        steps: list[Ints] = []
        values: list[Floats] = []
        for file in self._files.values():
            for step, wall_time, value in self._new(file):
                steps.append(step)
                values.append(value)
                self._steps.append(step)
                self._times.append(wall_time)
                self._values.append(value)
        if not steps:
            return np.empty(0, np.int64), np.empty(0, np.float64)
        return np.concatenate(steps), np.concatenate(values)

    @property
    def series(self) -> Series:
        """Everything seen so far."""
        if not self._steps:
            none = np.empty(0, np.int64)
            return Series(none, np.empty(0), np.empty(0), np.empty(0, np.int32), none)
        steps = np.concatenate(self._steps)
        order = np.arange(steps.size)
        return Series(steps, np.concatenate(self._times), np.concatenate(self._values), np.zeros(steps.size, np.int32), order)

    def _search(self) -> None:
        """List directories that have changed, or may change without their time moving."""
        waiting = [(self._directory, 0), *((path, depth) for path, (_, depth) in self._directories.items() if depth)]
        while waiting:
            path, depth = waiting.pop()
            try:
                changed = os.stat(path).st_mtime_ns
            except OSError:
                continue
            if self._directories.get(path, (0, 0))[0] == changed:
                continue
            settled = age_of(changed / 1e9) > RACY_SECONDS
            self._directories[path] = (changed if settled else 0, depth)
            for below in self._list(path):
                known = below in self._directories or len(self._directories) + len(waiting) >= MOST_DIRECTORIES
                if depth < DEEPEST and not known:
                    waiting.append((below, depth + 1))

    def _list(self, path: str) -> Iterator[str]:
        try:
            with os.scandir(path) as entries:
                for entry in sorted(entries, key=lambda one: one.name):
                    if entry.is_dir(follow_symlinks=False):
                        yield entry.path
                    elif entry.path not in self._files and (classify(entry.name) or ("",))[0] in KINDS:
                        reader = reader_for(entry.path)
                        if reader is not None and reader.name in KINDS:
                            self._files[entry.path] = _FollowedFile(entry.path, reader)
        except OSError:
            return

    def _new(self, file: _FollowedFile) -> Iterator[tuple[Ints, Floats, Floats]]:
        try:
            size = os.stat(file.path).st_size
        except OSError:
            return
        if size == file.size:
            return
        file.size = size
        while True:
            batch = file.reader.read(file.path, file.cursor, LIMIT)
            file.cursor = batch.cursor
            for block in batch.scalars:
                self._tag = self._tag or next((tag for tag in self._tags if tag in block.tags), "")
                if self._tag in block.tags:
                    row = block.tags.index(self._tag)
                    yield block.step, block.wall_time, block.value[row].astype(np.float64)
            if not batch.more:
                return


def cell_of(step: int) -> int:
    """Return the step under which a value is reported: a pruner compares values of equal steps, and a journal stays short.

    Steps from FINE on lose binary digits, so at most 64 values are reported each time the step doubles.
    """
    extra = max(step.bit_length() - (FINE.bit_length() - 1), 0)
    return step >> extra << extra


class Reports:
    """The values of one trial that are worth reporting: the first of each cell, and from step 0 on."""

    def __init__(self, known: Sequence[int] = ()) -> None:
        self._known = set(known)

    def of(self, steps: Ints, values: Floats) -> list[tuple[int, float]]:
        """Return (step, value) of cells that were not reported before. NaN is reported, infinite values as well."""
        found = []
        for step, value in zip(steps.tolist(), values.tolist(), strict=True):
            if step < 0:
                continue
            cell = cell_of(step)
            if cell not in self._known:
                self._known.add(cell)
                found.append((cell, value))
        return found


def first_bad(steps: Ints, values: Floats) -> int | None:
    """Return the first step whose value is NaN or infinite, None if there is none."""
    places = np.flatnonzero(~np.isfinite(values))
    return int(steps[places[0]]) if places.size else None


def is_better(one: float, other: float, sign: int) -> bool:
    """Return whether a value is better than another; sign 1: smaller is."""
    return math.isnan(other) or sign * one < sign * other
