"""What the ranks of a pipeline did when: computing, sending and receiving, collective operations, nothing.

Each moment of a rank has one band (`BANDS`), the first of these that applies: computing (forward or backward inside a marked
range), an operation between two ranks, a collective operation, idle. So the bands of operations between two ranks are what no
computing hides: their sum is the bubble (`parsers.analysis.jobs.bubble`). Where no file tells computing, or none tells
communication, the rest of the time is unknown, not idle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.choosing import coded, distinct
from parsers.analysis.jobs.rank_places import rank_places
from parsers.analysis.jobs.spans import NO_SPANS, Spans, joined, split
from parsers.analysis.jobs.stages import chains
from parsers.deferred import pandas as pd
from parsers.model import Ints

BANDS = ("forward", "backward", "computing", "send", "receive", "exchange", "collective", "idle", "unknown")
"""What a rank does at a moment. computing lies in no marked range; exchange sends and receives (batchSendRecv)."""
BETWEEN_TWO = ("send", "receive", "exchange")
OPERATIONS = (*BETWEEN_TWO, "collective")
COMPUTING = ("forward", "backward", "computing")
HIDDEN = "hidden"
"""Communication while the rank computes: not a band, as it runs beside one."""
_PAIRS = {"send": "send", "receive": "receive", "recv": "receive"}
_Timed = tuple[Ints, Ints, Ints]
"""Begins, ends, steps."""
_FULL = 255
_LONG_AGO = -(1 << 62)


@dataclass(frozen=True, slots=True, eq=False)
class _Class:
    """Intervals of one band in order: begins; ends, after one long ago; and the time of all before each, and of all."""

    begins: Ints
    ends: Ints
    before: Ints

    def until(self, times: Ints) -> Ints:
        """Return the time of this band before each moment, in ns."""
        at = np.searchsorted(self.begins, times, "right")
        found: Ints = self.before[at] - np.maximum(self.ends[at] - times, 0)
        return found


@dataclass(frozen=True, eq=False)
class RankBands:
    """The bands of one rank from begin to end (ns by its clock; both 0 for a rank that has none).

    computes and communicates say whether files tell computing and communication. windows are first begin and last end of each
    step; marks are begins of ranges by kind (forward, backward, forward_host, backward_host). classes are the intervals of
    each band and of hidden communication; what no band has is idle, or unknown where files do not tell both.
    """

    rank: int
    begin: int
    end: int
    computes: bool
    communicates: bool
    windows: Mapping[int, tuple[int, int]]
    marks: Mapping[str, Ints]
    classes: Mapping[str, _Class] = field(repr=False)

    @property
    def rest(self) -> str:
        """The name of the time in which nothing is known to run."""
        return "idle" if self.computes and self.communicates else "unknown"

    @cached_property
    def _listed(self) -> tuple[Ints, NDArray[np.int8]]:
        own = [(name, one) for name, one in self.classes.items() if name != HIDDEN]
        begins = np.concatenate([np.empty(0, np.int64), *(one.begins for _, one in own)])
        ends = np.concatenate([np.empty(0, np.int64), *(one.ends[1:] for _, one in own)])
        codes = np.repeat(np.array([BANDS.index(name) for name, _ in own], np.int8), [len(one.begins) for _, one in own])
        order = np.argsort(begins, kind="stable")
        begins, ends, codes = begins[order], ends[order], codes[order]
        gaps = np.flatnonzero(begins[1:] > ends[:-1]) + 1
        edges = np.r_[np.insert(begins, gaps, ends[gaps - 1]), ends[-1:]]
        return edges, np.insert(codes, gaps, BANDS.index(self.rest))

    @property
    def edges(self) -> Ints:
        """The n + 1 edges of the n bands one after the other, in ns by the clock of the rank; none without bands."""
        return self._listed[0]

    @property
    def bands(self) -> NDArray[np.int8]:
        """The place in BANDS of each of the n bands."""
        return self._listed[1]

    def window(self, step: int | None) -> tuple[int, int] | None:
        """Return first begin and last end of a step, None for all steps; None if the rank has nothing there."""
        if step is not None:
            return self.windows.get(step)
        return (self.begin, self.end) if self.begin < self.end else None

    @property
    def numbered(self) -> list[tuple[int, int]]:
        """The windows of the steps that have numbers; of work without any step, that of this work."""
        return [window for step, window in self.windows.items() if step >= 0] or list(self.windows.values())

    def times(self, begin: int, end: int) -> dict[str, int]:
        """Return the time in ns of each band, and of hidden communication, from begin to end."""
        return {name: int(time[0]) for name, time in self.times_in([(begin, end)]).items()}

    def times_in(self, windows: Sequence[tuple[int, int]]) -> dict[str, Ints]:
        """Return the time in ns of each band, and of hidden communication, in each of some windows."""
        begins, ends = np.array(windows, np.int64).reshape(-1, 2).T
        found = dict.fromkeys((*BANDS, HIDDEN), np.zeros(len(begins), np.int64))
        before, until = self.until(begins), self.until(ends)
        return found | {name: until[name] - before[name] for name in until}

    def until(self, times: Ints) -> dict[str, Ints]:
        """Return the time in ns of each band that the rank has, and of hidden communication, before each moment."""
        found = {name: one.until(times) for name, one in self.classes.items()}
        rest = np.clip(times, self.begin, self.end) - self.begin
        for name, time in found.items():
            if name != HIDDEN:
                rest = rest - time
        return found | {self.rest: rest}


def rank_bands(device_times: pd.DataFrame, collectives: pd.DataFrame) -> dict[int, RankBands]:
    """Return the bands of each rank that has any, by rank (schemas DEVICE_TIMES and COLLECTIVES).

    Operations between ranks are those of collectives; of a rank that has none with a begin there, those of device_times.
    """
    kinds = device_times["kind"].cat
    ranks, *columns = (device_times[name].to_numpy() for name in ("rank", "start_ns", "end_ns", "step"))
    own = _by_rank_and_name(ranks, columns, kinds.codes.to_numpy(), kinds.categories.tolist())
    sent = _operations(collectives)
    found = {}
    for rank in sorted({*own, *sent}):
        spans = own.get(rank, {})
        if rank in sent:
            spans = {name: one for name, one in spans.items() if name not in OPERATIONS} | sent[rank]
        found[rank] = _of_rank(rank, spans)
    return found


def _by_rank_and_name(
    ranks: Ints, columns: Sequence[Ints], codes: NDArray[Any], names: Sequence[str]
) -> dict[int, dict[str, _Timed]]:
    """Return the intervals of each rank by name. columns are begins, ends and steps; codes are places in names."""
    if not (ranks[1:] >= ranks[:-1]).all():
        order = np.argsort(ranks, kind="stable")
        ranks, codes, columns = ranks[order], codes[order], [column[order] for column in columns]
    cuts = np.flatnonzero(np.diff(ranks, prepend=-2, append=-2)).tolist()
    found: dict[int, dict[str, _Timed]] = {}
    for first, last in pairwise(cuts):
        mine = codes[first:last]
        begins, ends, steps = (column[first:last] for column in columns)
        by_name: dict[str, _Timed] = {}
        for code in distinct(mine).tolist():
            rows = mine == code
            by_name[names[code]] = (begins, ends, steps) if rows.all() else (begins[rows], ends[rows], steps[rows])
        found[int(ranks[first])] = by_name
    return found


def _operations(collectives: pd.DataFrame) -> dict[int, dict[str, _Timed]]:
    """Return the operations with a begin by rank and what they do."""
    elapse, start = collectives["elapse_ns"].to_numpy(), collectives["start_ns"].to_numpy()
    timed = np.flatnonzero((start >= 0) & (elapse > 0.0) & np.isfinite(elapse))
    begins, ranks, steps = start[timed], collectives["rank"].to_numpy()[timed], collectives["step"].to_numpy()[timed]
    ends = begins + np.rint(elapse[timed]).astype(np.int64)
    kinds = collectives["kind"].cat
    does = [*(_PAIRS.get(str(one), "exchange") for one in kinds.categories), "exchange"]
    table = np.array([OPERATIONS.index(one) for one in does], np.int8)
    between = coded(collectives["section"], ("p2p",))[timed]
    codes = np.where(between, table[kinds.codes.to_numpy()[timed]], np.int8(OPERATIONS.index("collective")))
    return _by_rank_and_name(ranks, (begins, ends, steps), codes, OPERATIONS)


def _of_rank(rank: int, spans: Mapping[str, _Timed]) -> RankBands:
    sets: dict[str, Spans] = {name: joined(*one[:2])[:2] for name, one in spans.items()}
    computing = sets.get("computing", NO_SPANS)
    operations = {name: sets[name] for name in OPERATIONS if name in sets and len(sets[name][0])}
    bands: dict[str, Spans] = {}
    left = computing
    for name in ("forward", "backward"):
        bands[name], left = split(left, sets.get(name, NO_SPANS))
    bands["computing"] = left
    hidden = []
    for name, own in operations.items():
        inside, left = split(own, computing)
        hidden.append(inside)
        for other in OPERATIONS[: OPERATIONS.index(name)]:
            left = split(left, bands.get(other, NO_SPANS))[1]
        bands[name] = left
    bands[HIDDEN] = _union([one for one in hidden if len(one[0])])
    # Marked ranges may begin before, and end after what the device did.
    ran = [one for one in (computing, *operations.values()) if len(one[0])]
    begin = min((int(begins[0]) for begins, _ in ran), default=0)
    end = max((int(ends[-1]) for _, ends in ran), default=0)
    marks = {name: spans[name][0] for name in spans if name.partition("_")[0] in ("forward", "backward")}
    classes = {name: _class(*one) for name, one in bands.items() if len(one[0])}
    computes, communicates = len(spans.get("computing", NO_SPANS)[0]) > 0, any(name in spans for name in OPERATIONS)
    return RankBands(rank, begin, end, computes, communicates, _windows(spans), marks, classes)


def _union(sets: Sequence[Spans]) -> Spans:
    if len(sets) < 2:
        return sets[0] if sets else NO_SPANS
    begins, ends, _ = joined(*(np.concatenate(one) for one in zip(*sets, strict=True)))
    return begins, ends


def _class(begins: Ints, ends: Ints) -> _Class:
    return _Class(begins, np.r_[_LONG_AGO, ends], np.r_[0, np.cumsum(ends - begins)])


def _windows(spans: Mapping[str, _Timed]) -> dict[int, tuple[int, int]]:
    found: dict[int, tuple[int, int]] = {}
    for name in ("computing", *OPERATIONS):
        begins, ends, steps = spans.get(name, (*NO_SPANS, NO_SPANS[0]))
        if not len(steps):
            continue
        order = slice(None) if (steps[1:] >= steps[:-1]).all() else np.argsort(steps, kind="stable")
        begins, ends, steps = begins[order], ends[order], steps[order]
        first = np.r_[0, np.flatnonzero(steps[1:] != steps[:-1]) + 1]
        lows, highs = np.minimum.reduceat(begins, first).tolist(), np.maximum.reduceat(ends, first).tolist()
        for step, own_low, own_high in zip(steps[first].tolist(), lows, highs, strict=True):
            low, high = found.get(step, (2**62, -1))
            found[step] = min(low, own_low), max(high, own_high)
    return dict(sorted(found.items()))


# Views -----------------------------------------------------------------------------------------------------------------------


def shares(
    rows: Sequence[Sequence[RankBands]], origins: Mapping[int, int], begin: int, end: int, columns: int
) -> dict[str, NDArray[np.uint8]]:
    """Return for each band, and for hidden communication, its share of each column of time in each row, 255 being all of it.

    The window from begin to end (ns after the origin of each rank, by its clock) is cut into columns. A row is of one rank or
    of several, of which the mean is taken. A band that takes any time in a column has a share of at least 1 of 255, so none is
    lost. Arrays are rows x columns; bands that take no time in the window are left out.
    """
    width = max(end - begin, columns)
    cuts = begin + (np.arange(columns + 1, dtype=np.int64) * width) // columns
    found: dict[str, NDArray[np.uint8]] = {}
    for place, row in enumerate(rows):
        times: dict[str, Ints] = {}
        for one in row:
            for name, until in one.until(cuts + origins[one.rank]).items():
                times[name] = times.get(name, 0) + np.diff(until)
        for name, time in times.items():
            if time.any():
                share = time * float(_FULL) / (np.diff(cuts) * len(row))
                drawn = found.setdefault(name, np.zeros((len(rows), columns), np.uint8))
                drawn[place] = np.where((time > 0) & (share < 1.0), 1, np.rint(share)).astype(np.uint8)
    return {name: found[name] for name in (*BANDS, HIDDEN) if name in found}


def origins_of(ranks: Sequence[RankBands], step: int | None, ahead: Mapping[int, int]) -> tuple[dict[int, int], int]:
    """Return the time by the clock of each rank at which a step begins, and how long the step is, both in ns.

    It begins with the first rank and ends with the last one. ahead is by how much clocks are ahead (`clock_offsets`), {} to
    take them as they are. Of a rank that has nothing in the step the time is known all the same.
    """
    windows = {one.rank: window for one in ranks if (window := one.window(step)) is not None}
    if not windows:
        return {one.rank: 0 for one in ranks}, 0
    first = min(begin - ahead.get(rank, 0) for rank, (begin, _) in windows.items())
    last = max(end - ahead.get(rank, 0) for rank, (_, end) in windows.items())
    return {one.rank: first + ahead.get(one.rank, 0) for one in ranks}, last - first


# Stages and micro batches ----------------------------------------------------------------------------------------------------


def stages_of(
    ranks: Sequence[int], groups: pd.DataFrame, steps: pd.DataFrame, told: pd.DataFrame, parallel: Mapping[str, int],
    ranks_of: Any,
) -> dict[int, int]:  # fmt: skip
    """Return the stage of each rank, -1 for unknown: its place in a group of the pipeline, else as files or sizes tell it.

    Takes schemas GROUPS, CLUSTER_STEPS and STAGES; parallel are the sizes of `distributed_args`; ranks_of reads texts of ranks.
    """
    found = dict.fromkeys(ranks, -1)
    placed = rank_places(ranks, groups, parallel)
    found |= dict(zip(placed.ranks.tolist(), placed.of.get("pp", np.full(len(placed.ranks), -1)).tolist(), strict=True))
    for frame, name in ((steps, "pp"), (told, "stage")):
        known = frame[(frame[name] >= 0) & frame["rank"].isin(list(found))]
        found |= dict(zip(known["rank"].tolist(), known[name].tolist(), strict=True))
    for chain in chains(groups, ranks_of):
        found |= {rank: stage for stage, rank in enumerate(chain) if rank in found}
    return found


@dataclass(frozen=True, slots=True)
class MicroBatches:
    """Number of micro batches of a step, 0 for unknown, and where it is known from: typed, pp_info, marks or "".

    counts are the numbers of ranges marked as forward_step in the step by rank; they tell it only if all are the same.
    """

    number: int
    source: str
    counts: Mapping[int, int]


def micro_batches(ranks: Sequence[RankBands], step: int | None, *, told: int = 0, typed: int = 0) -> MicroBatches:
    """Return the number of micro batches of a step (None: of each step). told is microbatch_num of pp_info, 0 for none."""
    counts = {one.rank: number for one in ranks if (number := _marked(one, step)) > 0}
    if typed > 0:
        return MicroBatches(typed, "typed", counts)
    if told > 0:
        return MicroBatches(told, "pp_info", counts)
    numbers = set(counts.values())
    if len(numbers) == 1:
        return MicroBatches(numbers.pop(), "marks", counts)
    return MicroBatches(0, "", counts)


def _marked(one: RankBands, step: int | None) -> int:
    """Return the ranges marked as forward_step in a step; of several steps the number that all of them have, else 0."""
    begins = np.sort(one.marks["forward"] if "forward" in one.marks else one.marks.get("forward_host", np.empty(0, np.int64)))
    if step is not None and step not in one.windows:
        return 0
    windows = [one.windows[step]] if step is not None else one.numbered
    # Ranges of the host run ahead of the device, so a step's own ones are not told by the window of the device.
    if "forward" not in one.marks:
        return len(begins) if len(one.numbered) == 1 else 0
    numbers = {int(np.searchsorted(begins, end) - np.searchsorted(begins, begin)) for begin, end in windows}
    return numbers.pop() if len(numbers) == 1 else 0
