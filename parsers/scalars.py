"""The scalars of a run: as series of one tag, as one frame, and with restarts resolved.

Scalars stay in the blocks the reader made of them, in which all tags of a record share one step and time column; a series is a
view of a block wherever one block holds all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.curves.segments import most_steps, resolved
from parsers.analysis.curves.series_facts import LONG, SeriesFacts
from parsers.deferred import pandas as pd
from parsers.frames import SCALARS, SCALARS_VIEW
from parsers.model import Ints, RareScalars, Series
from parsers.recorded import RunSeries
from parsers.run_files import RunFiles

_EMPTY_SERIES = Series(
    np.empty(0, np.int64), np.empty(0), np.empty(0), np.empty(0, np.int32), np.empty(0, np.int64)
)


class ScalarsView(NamedTuple):
    """Scalars with restarts resolved: the frame (SCALARS_VIEW), the number of rows left out, and a sentence about it."""

    frame: pd.DataFrame
    left_out: int
    text: str


class _ScalarPart(NamedTuple):
    """The part of a series in one file: number and state of the file when it was read, and the number of points."""

    file: int
    identity: object
    damaged: int
    points: int


@dataclass(slots=True)
class _RareRows:
    """Some tags of rare scalars: their rows in the table, and their numbers among all tags of the run."""

    file: int
    scalars: RareScalars
    rows: Ints
    numbers: Ints

    def _bounds(self) -> tuple[Ints, Ints]:
        begin = self.scalars.bounds[self.rows]
        return begin, self.scalars.bounds[self.rows + 1] - begin

    def codes(self) -> Ints:
        """Return the number of the tag of each value."""
        return np.repeat(self.numbers, self._bounds()[1])

    def series(self) -> Series:
        """Return all values, tag by tag."""
        begin, counts = self._bounds()
        at = np.repeat(begin - np.cumsum(counts) + counts, counts) + np.arange(int(counts.sum()))
        one = self.scalars
        return Series(one.step[at], one.wall_time[at], _wide(one.value[at]), _repeated(self.file, len(at)), one.order[at])


class RunScalars:
    """The scalars in the files of one run."""

    def __init__(self, files: RunFiles) -> None:
        self._files = files
        self._series: dict[str, Series] = files.cache()
        self._resolved: dict[str, Series] = files.cache()
        self._resolved_before: dict[str, Series] = {}
        self._known: dict[str, tuple[list[_ScalarPart], dict[Any, tuple[int, Any]]]] = {}

    @property
    def tags(self) -> tuple[str, ...]:
        """Scalar tags in order of first appearance."""
        return self._files.tags("scalar")

    @property
    def points(self) -> int:
        """Number of scalar values."""
        with self._files.lock:
            return sum(len(tags) * rows for state in self._files.states.values() for tags, rows in state.lengths())

    @property
    def steps(self) -> int:
        """Number of steps of the longest series with restarts resolved."""
        with self._files.lock:
            # Of tags that are equally long, one that has been resolved comes first.
            lengths = dict.fromkeys(sorted(self.tags, key=lambda tag: tag not in self._resolved), 0)
            for state in self._files.states.values():
                for tags, rows in state.lengths():
                    for tag in tags:
                        lengths[tag] += rows
            return most_steps(lengths, self.resolved)

    def series(self, tag: str) -> Series:
        """All values of one tag in the order they were written; empty for an unknown tag."""
        found = self._joined(tag)
        if found.step.size >= LONG:
            SeriesFacts(found).prepare()
        return found

    def resolved(self, tag: str) -> Series:
        """Return the values of one tag that no later one supersedes, steps ascending; empty for an unknown tag."""
        with self._files.lock:
            if tag not in self._resolved:
                recorded = self._joined(tag)
                found = recorded if _rising(recorded) else resolved(recorded)
                if found is not recorded and isinstance(found, RunSeries):
                    found.known = self._known_of_resolved(tag, recorded, found)
                self._resolved[tag] = found
            found = self._resolved[tag]
        if found.step.size >= LONG:
            SeriesFacts(found).prepare()
        return found

    def _known_of_resolved(self, tag: str, recorded: Series, found: RunSeries) -> dict[Any, tuple[int, Any]]:
        """Return what is known of resolved series if points were only appended to the earlier one, else nothing."""
        before = self._resolved_before.get(tag)
        self._resolved_before[tag] = found
        appended = isinstance(recorded, RunSeries) and bool(recorded.known)
        if not appended or not isinstance(before, RunSeries):
            return {}
        size = before.step.size
        kept = size <= found.step.size and np.array_equal(before.order, found.order[:size])
        return before.known if kept and np.array_equal(before.file, found.file[:size]) else {}

    def _joined(self, tag: str) -> Series:
        """Return the series of a tag, of which nothing need be known yet."""
        with self._files.lock:
            if tag not in self._series:
                by_file: dict[int, list[Series]] = {}
                for number, block in self._files.scalar_blocks(tag):
                    for row in (i for i, name in enumerate(block.tags) if name == tag):
                        file = _repeated(number, block.step.size)
                        part = Series(block.step, block.wall_time, _wide(block.value[row]), file, block.order)
                        by_file.setdefault(number, []).append(part)
                if not by_file:
                    return _EMPTY_SERIES
                ordered = [_in_file_order(parts) for parts in by_file.values()]
                series = RunSeries(*(ordered[0] if len(ordered) == 1 else _concatenate(ordered)))
                series.known = self._known_of(tag, by_file) if series.step.size >= LONG else {}
                self._series[tag] = series
            return self._series[tag]

    def _known_of(self, tag: str, by_file: Mapping[int, Sequence[Series]]) -> dict[Any, tuple[int, Any]]:
        """Return what is known of a series if it is the earlier one with points appended, else nothing."""
        states = list(self._files.states.values())
        parts = [
            _ScalarPart(number, states[number].identity, len(states[number].damaged), len(columns[0].step))
            for number, columns in by_file.items()
        ]
        before, known = self._known.get(tag, ([], {}))
        # A tag in several blocks of one file is put in order after it was read.
        if any(len(columns) > 1 for columns in by_file.values()):
            parts = []
        if not _appended(before, parts):
            known = {}
        self._known[tag] = parts, known
        return known

    def frame(self) -> pd.DataFrame:
        """Every scalar value (schema SCALARS), nothing merged or left out."""
        with self._files.lock:
            tags, codes, joined = self._all()
        if not tags:
            return SCALARS.empty()
        return pd.DataFrame(
            {
                "tag": pd.Categorical.from_codes(codes, categories=pd.Index(tags, dtype="str"), validate=False),
                **joined._asdict(),
            },
            copy=False,
        )

    def _all(self) -> tuple[list[str], NDArray[Any], Series]:
        """Return all tags, the number of the tag of each value, and all values: by tag, file and place in the file.

        Made of blocks, not of series: a hundred thousand of these would take 100 MB.
        """
        states, order = list(self._files.states.values()), self._files.order()
        tags = dict.fromkeys(tag for file in order for tag in chain.from_iterable(states[file].scalars))
        number_of = {tag: number for number, tag in enumerate(tags)}
        pieces: list[tuple[int, int, Series]] = []
        tables: list[_RareRows] = []
        for file in order:
            for key in states[file].frequent():
                block = states[file].block(key)
                files, place = _repeated(file, block.step.size), block.order
                for tag, value in zip(block.tags, block.value, strict=True):
                    pieces.append((number_of[tag], file, Series(block.step, block.wall_time, _wide(value), files, place)))
            for scalars, keys, rows in states[file].rare_rows():
                numbers = np.fromiter((number_of[tag] for tag, *_ in keys), np.int64, len(keys))
                tables.append(_RareRows(file, scalars, rows, numbers))
        if not number_of:
            return [], np.empty(0, np.int8), _EMPTY_SERIES
        pieces.sort(key=itemgetter(0))
        parts = [
            (number, _in_file_order([part for _, _, part in alike]))
            for (number, _), alike in groupby(pieces, key=itemgetter(0, 1))
        ]
        joined = _concatenate([part for _, part in parts] + [table.series() for table in tables])
        counts = [part.step.size for _, part in parts]
        codes = np.repeat(np.array([number for number, _ in parts], np.min_scalar_type(-len(number_of))), counts)
        if tables:
            codes = np.concatenate([codes, *(table.codes().astype(codes.dtype) for table in tables)])
            position = np.array([order[file] for file in range(len(states))])
            by_tag = np.lexsort((joined.order, position[joined.file], codes))
            codes, joined = codes[by_tag], _taken(joined, by_tag)
        return list(number_of), codes, joined

    def view(self, sessions: str = "newest") -> ScalarsView:
        """Scalars with a column `session` that counts restarts of each tag from 0; a session begins where step goes back.

        "all" keeps every row. "newest" keeps of each session the steps before the next session's first one, and of a
        (tag, step) written twice in one session the later value: the curve as the last writer of every step left it.
        """
        if sessions not in ("newest", "all"):
            raise ValueError(f"sessions: expected 'newest' or 'all', found {sessions!r}")
        frame = self.frame()
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


def _appended(before: Sequence[_ScalarPart], now: Sequence[_ScalarPart]) -> bool:
    """Return whether all parts are still there, the last one perhaps with more points."""
    if not before or len(now) < len(before) or now[: len(before) - 1] != before[:-1]:
        return False
    was, last = before[-1], now[len(before) - 1]
    return was[:-1] == last[:-1] and was.points <= last.points


def _rising(series: Series) -> bool:
    """Return whether every step is greater than the one before."""
    if series.step.size < LONG:
        return bool((series.step[1:] > series.step[:-1]).all())
    rises = SeriesFacts(series).steps
    return rises is not None and not rises.falls.size and not rises.repeats


def _repeated(number: int, size: int) -> NDArray[np.int32]:
    """Return an array of one number; of many it takes no memory, of few less time."""
    return np.full(size, number, np.int32) if size < LONG else np.broadcast_to(np.int32(number), (size,))


def _wide(value: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):  # a signalling NaN
        return value.astype(np.float64, copy=False)


def _in_file_order(parts: list[Series]) -> Series:
    if len(parts) == 1:
        return parts[0]
    joined = _concatenate(parts)
    if bool((joined.order[1:] >= joined.order[:-1]).all()):
        return joined
    place = np.argsort(joined.order, kind="stable")
    return _taken(joined, place)


def _taken(series: Series, at: NDArray[np.intp]) -> Series:
    step, wall_time, value, file, order = series
    return Series(step[at], wall_time[at], value[at], file[at], order[at])


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
