"""One run: its files followed while they grow, its scalars as columns, its large values as an index.

A file is read from its cursor on, so `Run.refresh()` costs what is new. Scalars stay in the blocks the reader made of
them, in which all tags of a record share one step and time column; a series is a view of a block wherever one block
holds all of it.
"""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from parsers.discovery import rescan, source_of
from parsers.file_states import FileState
from parsers.frames import SCALARS, SCALARS_VIEW
from parsers.graphs.access import Graphs, locations_of
from parsers.lineage.access import Described
from parsers.model import CONFIG, Batch, PayloadBlock, Problem, Reader, Series, Source, SourceFile
from parsers.payloads.cache import PayloadCache
from parsers.payloads.series import PayloadSeries
from parsers.profiler.access import Profiled
from parsers.registry import reader_of_file

_EMPTY_SERIES = Series(
    np.empty(0, np.int64), np.empty(0), np.empty(0), np.empty(0, np.int32), np.empty(0, np.int64)
)


class ScalarsView(NamedTuple):
    """Scalars with restarts resolved: the frame (SCALARS_VIEW), how many rows were left out, and a sentence about it."""

    frame: pd.DataFrame
    left_out: int
    text: str


class Run(Profiled, Described):
    """A run directory or file. Reads nothing until `refresh()`; `open_run` does that at once.

    A job of several ranks has one Run per rank in `ranks`; its own scalars are those of files beside the rank directories.
    One thread may refresh a run while others read from it: nobody waits for a file, only for a batch to be taken in.
    cache keeps decoded values; runs may share one.
    """

    def __init__(self, source: Source, cache: PayloadCache | None = None) -> None:
        super().__init__()
        self.source = source
        self._lock = threading.RLock()
        self.behind = False
        self._cache = PayloadCache() if cache is None else cache
        self._items: dict[tuple[str, str], PayloadSeries] = {}
        self.ranks = tuple(Run(rank, self._cache) for rank in source.ranks)
        self.version = 0
        self._states: dict[str, FileState] = {}
        self._next: dict[str, FileState] | None = None  # what is being read anew, to be shown when it is complete
        self._series: dict[str, Series] = {}
        self._tags: dict[str, dict[str, list[tuple[int, tuple[str, ...]]]]] = {}

    def __repr__(self) -> str:
        return f"Run({self.name!r}, files={len(self.files)}, scalar tags={len(self.tags('scalar'))})"

    @property
    def name(self) -> str:
        """Name relative to the base the run was found under."""
        return self.source.name

    @property
    def path(self) -> str:
        """Directory of the run."""
        return self.source.path

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of the files read; the column `file` of frames is an index into this."""
        return tuple(self._states)

    @property
    def states(self) -> Mapping[str, FileState]:
        """What has been read of each file, by path."""
        return self._states

    def refresh(self, source: Source | None = None, *, limit: int | None = None) -> bool:
        """Read what has been appended since the last time; whether anything changed.

        source is the run as a later scan found it (other files, other sizes); without it the directory is looked at.
        limit stops after about so many bytes; `behind` then says that more is to be read by the next call.
        """
        self.source = rescan(self.source) if source is None else source
        self._pair_ranks()
        followed = (self, *self.ranks)
        for run in followed:
            run._forget_vanished()
        lineage = [run._lineage_seen() for run in followed]
        changed, self.behind = False, False
        for run, file in ((leaf, file) for leaf in followed for file in leaf.source.files):
            self.behind = self.behind or (limit is not None and limit <= 0)
            if limit is not None and limit <= 0:
                break
            grown, size, more = run._follow(file, limit)
            changed = changed or grown
            self.behind = self.behind or more
            limit = None if limit is None else limit - size
        settled = [run._settle() for run in followed]
        configured = [run._configured() for run in followed]
        profiled = [run._find_profiles() for run in followed]
        for run, found in zip(followed, profiled, strict=True):
            run.version += found
        for run, seen in zip(followed, lineage, strict=True):
            run._check_lineage(seen)
        return changed or any(settled) or any(configured) or any(profiled)

    def _pair_ranks(self) -> None:
        known = {rank.path: rank for rank in self.ranks}
        self.ranks = tuple(known.get(found.path) or Run(found, self._cache) for found in self.source.ranks)
        for rank, found in zip(self.ranks, self.source.ranks, strict=True):
            rank.source = found

    def _forget_vanished(self) -> None:
        """Where a file vanished from the disk, begin to read the others anew, under new numbers."""
        states = self._states if self._next is None else self._next
        if states.keys() - {file.path for file in self.source.files}:
            self._next = {}

    def _settle(self) -> bool:
        """Show what was read anew, all at once, when it is complete: until then the old data stay whole."""
        if self._next is None:
            return False
        wanted = {file.path for file in self.source.files if file.kind != CONFIG}
        if wanted - self._next.keys() or any(state.more for state in self._next.values()):
            return False
        with self._lock:
            self._states, self._next = self._next, None
            self._touch()
        return True

    def _configured(self) -> bool:
        """Whether files of settings came, went or changed."""
        changed = self._read_configs()
        if changed:
            with self._lock:
                self._touch()
        return changed

    def _touch(self) -> None:
        self.version += 1
        self._series.clear()
        self._tags.clear()
        self._items.clear()

    def _follow(self, file: SourceFile, limit: int | None) -> tuple[bool, int, bool]:
        """Read what is new in one file: whether that changed anything, how many bytes it took, whether there is more."""
        states = self._states if self._next is None else self._next
        state = states.get(file.path)
        if file.kind == CONFIG or (state is not None and _unchanged(file, state)):
            return False, 0, False
        state = state or FileState(file)
        reader = reader_of_file(file, state.reader)
        batch = reader.read(file.path, state.cursor, limit)
        if batch.restarted:
            reader, batch = _read_anew(file, reader, batch, limit)
            if batch.more and state is self._states.get(file.path):
                self._next = states = {**self._states}
                state = FileState(file)
        with self._lock:
            before = (state.records, state.problems, state.bytes_read)
            new = file.path not in states
            state.add(batch)
            state.file, state.more = file, batch.more
            state.reader = reader.name if state.records else ""
            states[file.path] = state
            grown = new or batch.restarted or before != (state.records, state.problems, state.bytes_read)
            changed = grown and state is self._states.get(file.path)
            if changed:
                self._touch()
        return changed, batch.bytes_read, batch.more

    # What was read -------------------------------------------------------------------------------------------------

    def _places(self, kind: str) -> dict[str, list[tuple[int, tuple[str, ...]]]]:
        """tag -> where it is: (file number, key of the block), files by the time in their names."""
        if kind in self._tags:
            return self._tags[kind]
        found: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
        states = list(self._states.values())
        for number, state in ((number, states[number]) for number in self._file_order()):
            if kind == "scalar":
                for tags in state.scalars:
                    for tag in dict.fromkeys(tags):
                        found.setdefault(tag, []).append((number, tags))
            else:
                for payload_kind, tag in state.payloads:
                    if payload_kind == kind:
                        found.setdefault(tag, []).append((number, (payload_kind, tag)))
        self._tags[kind] = found
        return found

    def _file_order(self) -> dict[int, int]:
        """Number of a file -> its place among the files by the times in their names."""
        numbered = sorted(enumerate(self._states.values()), key=lambda item: (item[1].file.stamp or 0, item[1].file.path))
        return {number: place for place, (number, _) in enumerate(numbered)}

    def tags(self, kind: str = "scalar") -> tuple[str, ...]:
        """Tags of one kind ("scalar", "histogram", "image", "tensor", ...) in order of first appearance."""
        with self._lock:
            return tuple(self._places(kind))

    def kinds(self) -> dict[str, int]:
        """Kind -> number of tags, for the kinds this run has; "config" counts files of settings, "profile" profiles."""
        with self._lock:
            names = dict.fromkeys(kind for state in self._states.values() for kind, _ in state.payloads)
            counted = {kind: len(self._places(kind)) for kind in ("scalar", *names)}
            if "graph" in counted:
                counted["graph"] = len(self.graphs)
            counted["config"] = len(self._configs)
            counted["profile"] = len(self.profile)
        return {kind: count for kind, count in counted.items() if count}

    def series(self, tag: str) -> Series:
        """All values of one scalar tag in the order they were written; empty for an unknown tag."""
        with self._lock:
            if tag not in self._series:
                places = self._places("scalar").get(tag)
                if not places:
                    return _EMPTY_SERIES
                self._series[tag] = self._join(tag, places)
            return self._series[tag]

    def _join(self, tag: str, places: Iterable[tuple[int, tuple[str, ...]]]) -> Series:
        states = list(self._states.values())
        by_file: dict[int, list[Series]] = {}
        for number, tags in places:
            block = states[number].block(tags)
            for row in (i for i, name in enumerate(tags) if name == tag):
                file = np.broadcast_to(np.int32(number), block.step.shape)
                part = Series(block.step, block.wall_time, block.value[row], file, block.order)
                by_file.setdefault(number, []).append(part)
        ordered = [_in_file_order(parts) for parts in by_file.values()]
        return ordered[0] if len(ordered) == 1 else _concatenate(ordered)

    @property
    def scalars(self) -> pd.DataFrame:
        """Every scalar value (schema SCALARS), nothing merged or left out."""
        with self._lock:
            tags = self.tags("scalar")
            series = [self.series(tag) for tag in tags]
        if not tags:
            return SCALARS.empty()
        counts = [len(one.step) for one in series]
        codes = np.repeat(np.arange(len(tags), dtype=np.min_scalar_type(-len(tags))), counts)
        joined = _concatenate(series)
        return pd.DataFrame(
            {
                "tag": pd.Categorical.from_codes(codes, categories=pd.Index(tags, dtype="str"), validate=False),
                **joined._asdict(),
            },
            copy=False,
        )

    def scalars_view(self, sessions: str = "newest") -> ScalarsView:
        """Scalars with a column `session` that counts restarts of each tag from 0; a session begins where step goes back.

        "all" keeps every row. "newest" keeps of each session the steps before the next session's first one, and of a
        (tag, step) written twice in one session the later value: the curve as the last writer of every step left it.
        """
        if sessions not in ("newest", "all"):
            raise ValueError(f"sessions: wanted 'newest' or 'all', got {sessions!r}")
        frame = self.scalars
        tag = frame["tag"].cat.codes.to_numpy() if len(frame) else np.empty(0, np.int8)
        session, kept = _sessions(tag, frame["step"].to_numpy())
        frame["session"] = session
        frame = frame[list(SCALARS_VIEW.names)]
        restarts = int(np.count_nonzero((session[1:] != session[:-1]) & (tag[1:] == tag[:-1]))) if len(session) else 0
        if sessions == "all":
            return ScalarsView(frame, 0, f"All {len(frame):,} values; steps go back {restarts:,} times.")
        left_out = len(frame) - int(np.count_nonzero(kept))
        text = f"{len(frame) - left_out:,} of {len(frame):,} values: {left_out:,} lie at or beyond a step that was "
        text += f"written again later ({restarts:,} restarts; a step written twice counts too)."
        return ScalarsView(frame[kept].reset_index(drop=True), left_out, text if left_out else f"All {len(frame):,} values.")

    @property
    def graphs(self) -> Graphs:
        """Every graph of this run by name; decoded when it is asked for. Ranks have their own."""
        with self._lock:
            return Graphs(locations_of(self.path, self._states), self._cache.graphs, self._verified, self._noted)

    def payloads(self, kind: str, tag: str) -> list[tuple[str, PayloadBlock]]:
        """(file path, index of the values) of one tag of one kind; the values themselves are not read."""
        with self._lock:
            paths = self.files
            return [(paths[number], block) for number, block in self._blocks(kind, tag)]

    def _blocks(self, kind: str, tag: str) -> list[tuple[int, PayloadBlock]]:
        states = list(self._states.values())
        return [
            (number, block)
            for number, key in self._places(kind).get(tag, ())
            for block in states[number].index(key[0], key[1])
        ]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All damage found in the files of this run and its ranks."""
        with self._lock:
            own = self.source.problems + tuple(p for state in self._states.values() for p in state.problems)
            own += tuple(problem for config in self._configs.values() for problem in config.problems)
        own += self.profile.problems
        return tuple(dict.fromkeys(own + tuple(p for rank in self.ranks for p in rank.problems)))

    @property
    def unverified(self) -> int:
        """How many large values have a data CRC that has not been checked yet."""
        with self._lock:
            own = sum(state.unverified() for state in self._states.values())
        return own + sum(rank.unverified for rank in self.ranks)

    @property
    def points(self) -> int:
        """Number of scalar values in the files of this run, ranks not counted."""
        with self._lock:
            blocks = [b for state in self._states.values() for parts in state.scalars.values() for b in parts]
        return sum(block.value.size for block in blocks)

    @property
    def started(self) -> float | None:
        """Wall time of the earliest event in seconds, else the earliest time in a file name, else None."""
        with self._lock:
            times = [state.started for state in self._states.values() if state.started is not None]
        times += [rank.started for rank in self.ranks if rank.started is not None]
        if times:
            return min(times)
        return min((float(f.stamp) for f in self.source.files if f.stamp is not None), default=None)

    # What the index on disk keeps ----------------------------------------------------------------------------------

    def restore(self, states: Sequence[FileState]) -> None:
        """Take what an earlier process read; `refresh()` then reads only what came after."""
        with self._lock:
            self._states = {state.file.path: state for state in states}
            self._touch()


def open_run(path: str | os.PathLike[str]) -> Run:
    """Open one run directory or event file and read it; SourceError where there is no run."""
    run = Run(source_of(path))
    run.refresh()
    return run


def _read_anew(file: SourceFile, reader: Reader, batch: Batch, limit: int | None) -> tuple[Reader, Batch]:
    """The batch of a file that was replaced, read with the reader that its new content calls for."""
    fitting = reader_of_file(file)
    if fitting is reader:
        return reader, batch
    other = fitting.read(file.path, None, limit)
    replaced = [problem for problem in batch.problems if problem.kind == "replaced"]
    return fitting, dataclasses.replace(other, restarted=True, problems=[*replaced, *other.problems])


def _unchanged(file: SourceFile, state: FileState) -> bool:
    cursor = state.cursor
    if cursor is None:
        return False
    if state.more or any(problem.kind == "unreadable" for problem in state.problems):
        return False
    now = (file.device, file.inode, file.size, file.mtime)
    return now == (cursor.device, cursor.inode, cursor.size, state.file.mtime)


def _in_file_order(parts: list[Series]) -> Series:
    if len(parts) == 1:
        return parts[0]
    joined = _concatenate(parts)
    if bool((joined.order[1:] >= joined.order[:-1]).all()):
        return joined
    place = np.argsort(joined.order, kind="stable")
    step, wall_time, value, file, order = joined
    return Series(step[place], wall_time[place], value[place], file[place], order[place])


def _concatenate(parts: Sequence[Series]) -> Series:
    return Series(
        np.concatenate([part.step for part in parts]),
        np.concatenate([part.wall_time for part in parts]),
        np.concatenate([part.value for part in parts]),
        np.concatenate([part.file for part in parts]),
        np.concatenate([part.order for part in parts]),
    )


def _sessions(tag: NDArray[Any], step: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Session number of each row within its tag, and whether the row is the last word on its (tag, step).

    Rows are grouped by tag and in the order written, so the last word is the last row of the tag with a step at most
    this one: the row's step is below every step that follows it in its tag.
    """
    n = len(step)
    if not n:
        return np.empty(0, np.int32), np.empty(0, np.bool_)
    first = np.ones(n, np.bool_)
    first[1:] = tag[1:] != tag[:-1]
    back = np.zeros(n, np.int64)
    back[1:] = (step[1:] < step[:-1]) & ~first[1:]
    count = np.cumsum(back)
    starts = np.flatnonzero(first)
    session = count - np.repeat(count[starts], np.diff(np.append(starts, n)))
    kept = np.empty(n, np.bool_)
    for begin, end in zip(starts, np.append(starts[1:], n), strict=True):
        steps = step[begin:end]
        lowest_after = np.minimum.accumulate(steps[::-1])[::-1]
        kept[begin : end - 1] = steps[:-1] < lowest_after[1:]
        kept[end - 1] = True
    return session.astype(np.int32), kept
