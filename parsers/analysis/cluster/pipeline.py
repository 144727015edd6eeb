"""What the ranks of a pipeline did when: computing, sending and receiving, collective operations, nothing.

Each moment of a rank has one band (`BANDS`), the first of these that applies: computing (forward or backward inside a marked
range), an operation between two ranks, a collective operation, idle. So the bands of operations between two ranks are what no
computing hides: their sum is the bubble (`parsers.analysis.cluster.bubble`). Where no file tells computing, or none tells
communication, the rest of the time is unknown, not idle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.cluster.choosing import coded, distinct
from parsers.analysis.cluster.spans import NO_SPANS, Spans, partition
from parsers.analysis.cluster.stages import chains, places
from parsers.deferred import pandas as pd
from parsers.model import Ints

BANDS = ("forward", "backward", "computing", "send", "receive", "exchange", "collective", "idle", "unknown")
"""What a rank does at a moment. computing lies in no marked range; exchange sends and receives (batchSendRecv)."""
BETWEEN_TWO = ("send", "receive", "exchange")
OPERATIONS = (*BETWEEN_TWO, "collective")
COMPUTING = ("forward", "backward", "computing")
HIDDEN = "hidden"
"""Communication while the rank computes: not a band, as it runs beside one."""
_SETS = ("computing", *OPERATIONS, "forward", "backward")
_PAIRS = {"send": "send", "receive": "receive", "recv": "receive"}
_FULL = 255
_LONG_AGO = -(1 << 62)


def _bands_of_sets() -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """Return for each set of what runs (bits of _SETS) its band, and whether communication is hidden by computing."""
    number = np.arange(1 << len(_SETS))
    has = {name: (number >> bit & 1).astype(np.bool_) for bit, name in enumerate(_SETS)}
    band = np.full(len(number), BANDS.index("idle"), np.int8)
    for name in reversed(OPERATIONS):
        band[has[name]] = BANDS.index(name)
    band[has["computing"]] = BANDS.index("computing")
    for name in ("backward", "forward"):
        band[has["computing"] & has[name]] = BANDS.index(name)
    hidden = has["computing"] & np.logical_or.reduce([has[name] for name in OPERATIONS])
    return band, hidden


_BAND, _HIDES = _bands_of_sets()


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


@dataclass(frozen=True, slots=True, eq=False)
class RankBands:
    """The bands of one rank: edges (n + 1, ns by its clock), and a place in BANDS for each of the n bands between them.

    computes and communicates say whether files tell computing and communication. windows are first begin and last end of each
    step; marks are begins of ranges by kind (forward, backward, forward_host, backward_host).
    """

    rank: int
    edges: Ints
    bands: NDArray[np.int8]
    computes: bool
    communicates: bool
    windows: Mapping[int, tuple[int, int]]
    marks: Mapping[str, Ints]
    classes: Mapping[str, _Class] = field(repr=False)

    def window(self, step: int | None) -> tuple[int, int] | None:
        """Return first begin and last end of a step, None for all steps; None if the rank has nothing there."""
        if step is not None:
            return self.windows.get(step)
        return (int(self.edges[0]), int(self.edges[-1])) if len(self.edges) else None

    def times(self, begin: int, end: int) -> dict[str, int]:
        """Return the time in ns of each band, and of hidden communication, from begin to end."""
        return {name: int(time[0]) for name, time in self.times_in([(begin, end)]).items()}

    def times_in(self, windows: Sequence[tuple[int, int]]) -> dict[str, Ints]:
        """Return the time in ns of each band, and of hidden communication, in each of some windows."""
        begins, ends = np.array(windows, np.int64).reshape(-1, 2).T
        return {name: one.until(ends) - one.until(begins) for name, one in self.classes.items()}


def rank_bands(device_times: pd.DataFrame, collectives: pd.DataFrame) -> dict[int, RankBands]:
    """Return the bands of each rank that has any, by rank (schemas DEVICE_TIMES and COLLECTIVES).

    Operations between ranks are those of collectives; of a rank that has none with a begin there, those of device_times.
    """
    kinds = device_times["kind"].cat
    own = _by_rank(device_times["rank"].to_numpy())
    sent = _operations(collectives)
    found = {}
    for rank in sorted({*own, *sent}):
        rows = own.get(rank, np.empty(0, np.int64))
        columns = [device_times[name].to_numpy()[rows] for name in ("start_ns", "end_ns", "step")]
        codes = kinds.codes.to_numpy()[rows]
        names = kinds.categories.tolist()
        spans = {name: _chosen(columns, codes == code) for code, name in enumerate(names)}
        if rank in sent:
            spans = {name: one for name, one in spans.items() if name not in OPERATIONS} | sent[rank]
        found[rank] = _of_rank(rank, spans)
    return found


_Timed = tuple[Ints, Ints, Ints]
"""Begins, ends, steps."""


def _chosen(columns: Sequence[Ints], chosen: NDArray[np.bool_]) -> _Timed:
    begins, ends, steps = (column[chosen] for column in columns)
    return begins, ends, steps


def _by_rank(ranks: Ints) -> dict[int, Ints]:
    order = np.argsort(ranks, kind="stable")
    first = np.flatnonzero(np.diff(ranks[order], prepend=-2))
    return {int(ranks[rows[0]]): rows for rows in np.split(order, first[1:])} if len(order) else {}


def _operations(collectives: pd.DataFrame) -> dict[int, dict[str, _Timed]]:
    """Return the operations with a begin by rank and what they do."""
    elapse, start = collectives["elapse_ns"].to_numpy(), collectives["start_ns"].to_numpy()
    timed = np.flatnonzero((start >= 0) & (elapse > 0.0) & np.isfinite(elapse))
    kinds = collectives["kind"].cat
    between = coded(collectives["section"], ("p2p",))
    table = np.array([*(_PAIRS.get(str(one), "exchange") for one in kinds.categories), "exchange"], object)
    does = np.where(between, table[kinds.codes.to_numpy()], "collective")
    ends = start + np.rint(np.nan_to_num(elapse)).astype(np.int64)
    columns = [start, ends, collectives["step"].to_numpy()]
    found: dict[int, dict[str, _Timed]] = {}
    for rank, places_of in _by_rank(collectives["rank"].to_numpy()[timed]).items():
        rows = timed[places_of]
        found[rank] = {name: _chosen(columns, rows[does[rows] == name]) for name in OPERATIONS}
    return found


def _of_rank(rank: int, spans: Mapping[str, _Timed]) -> RankBands:
    computes = len(spans.get("computing", NO_SPANS)[0]) > 0
    communicates = any(len(spans.get(name, NO_SPANS)[0]) for name in OPERATIONS)
    sets: list[Spans] = [spans[name][:2] if name in spans else NO_SPANS for name in _SETS]
    edges, runs = partition(sets)
    # Marked ranges may begin before, and end after what the device did.
    busy = np.flatnonzero(_BAND[runs] != BANDS.index("idle"))
    first, last = (int(busy[0]), int(busy[-1]) + 1) if len(busy) else (0, 0)
    edges, runs = edges[first : last + 1] if last else edges[:0], runs[first:last]
    bands, hides = _BAND[runs], _HIDES[runs]
    hidden = _class(edges, hides)
    if not (computes and communicates):
        bands = np.where(bands == BANDS.index("idle"), BANDS.index("unknown"), bands).astype(np.int8)
    kept = np.flatnonzero(np.diff(bands, prepend=-1))
    edges = np.r_[edges[:-1][kept], edges[-1:]]
    bands = bands[kept]
    classes = {name: _class(edges, bands == code) for code, name in enumerate(BANDS)} | {HIDDEN: hidden}
    marks = {name: spans[name][0] for name in spans if name.partition("_")[0] in ("forward", "backward")}
    return RankBands(rank, edges, bands, computes, communicates, _windows(spans), marks, classes)


def _class(edges: Ints, chosen: NDArray[np.bool_]) -> _Class:
    rows = np.flatnonzero(chosen)
    begins, ends = edges[rows], edges[rows + 1]
    return _Class(begins, np.r_[_LONG_AGO, ends], np.r_[0, np.cumsum(ends - begins)])


def _windows(spans: Mapping[str, _Timed]) -> dict[int, tuple[int, int]]:
    found: dict[int, tuple[int, int]] = {}
    for name in ("computing", *OPERATIONS):
        begins, ends, steps = spans.get(name, (*NO_SPANS, NO_SPANS[0]))
        for step in distinct(steps).tolist():
            own = steps == step
            low, high = found.get(step, (2**62, -1))
            found[step] = min(low, int(begins[own].min())), max(high, int(ends[own].max()))
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
    made: dict[str, NDArray[np.uint8]] = {}
    for name in (*BANDS, HIDDEN):
        if not any(len(one.classes[name].begins) for row in rows for one in row):
            continue
        found = np.zeros((len(rows), columns), np.uint8)
        for place, row in enumerate(rows):
            time = np.zeros(columns, np.int64)
            for one in row:
                if len(one.classes[name].begins):
                    time += np.diff(one.classes[name].until(cuts + origins[one.rank]))
            share = time * float(_FULL) / (np.diff(cuts) * max(len(row), 1))
            found[place] = np.where((time > 0) & (share < 1.0), 1, np.rint(share)).astype(np.uint8)
        if found.any():
            made[name] = found
    return made


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
    found |= dict(zip(ranks, places(ranks, parallel)["pp"].tolist(), strict=True))
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
    windows = [one.windows[step]] if step is not None else list(one.windows.values())
    # Ranges of the host run ahead of the device, so a step's own ones are not told by the window of the device.
    if "forward" not in one.marks:
        return len(begins) if len(one.windows) == 1 else 0
    numbers = {int(np.searchsorted(begins, end) - np.searchsorted(begins, begin)) for begin, end in windows}
    return numbers.pop() if len(numbers) == 1 else 0
