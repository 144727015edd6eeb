"""Slices of computing of a rank in a step by their number, also where several that follow without a gap are one row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsers.analysis.jobs.choosing import coded
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints

HOST_NS = 60_000.0
"""A gap longer than this is the host's: the device had nothing to do."""
ROUNDING_NS = 20_000.0
"""By how much begins and ends of different files of one rank may miss each other: up to 9 us in real profiles."""


@dataclass(frozen=True, slots=True, eq=False)
class RankSlices:
    """Rows of slices in order: begins and ends in ns, until is the number of slices up to the end of each row.

    works is the time of each row that computes, waits what in it is the host's. busy and host are the sums up to the begin of
    each row: host has gaps longer than HOST_NS between rows, too.
    """

    begins: Floats
    ends: Floats
    until: Ints
    works: Floats
    waits: Floats
    busy: Floats
    host: Floats

    @property
    def number(self) -> int:
        """How many slices there are."""
        return int(self.until[-1]) if len(self.until) else 0

    def ended(self, times: Floats) -> Ints:
        """Return how many slices had ended at each moment; those that had not begun have not, however short they are."""
        row = np.minimum(np.searchsorted(self.ends, times + ROUNDING_NS, "right"), np.searchsorted(self.begins, times, "right"))
        before = np.r_[0, self.until][row]
        inside = np.minimum(row, len(self.ends) - 1)
        length = np.maximum(self.ends[inside] - self.begins[inside], 1.0)
        part = np.clip((times - self.begins[inside]) / length, 0.0, 1.0)
        more = np.floor(part * (self.until[inside] - np.r_[0, self.until][inside]) + 1e-6).astype(np.int64)
        found = np.where(row < len(self.ends), before + np.minimum(more, self.until[inside] - before - 1), before)
        ended: Ints = np.maximum(found, before)
        return ended

    def begun(self, times: Floats) -> Ints:
        """Return how many slices had begun before each moment: the number of the first one that begins after it."""
        row = np.searchsorted(self.begins, times - ROUNDING_NS, "left")
        last = np.maximum(row - 1, 0)
        length = np.maximum(self.ends[last] - self.begins[last], 1.0)
        size = self.until[last] - np.r_[0, self.until][last]
        part = np.clip((times - ROUNDING_NS - self.begins[last]) / length, 0.0, 1.0)
        found: Ints = np.r_[0, self.until][last] + np.clip(np.ceil(part * size - 1e-6), 1, size).astype(np.int64)
        return np.where(row > 0, found, 0)

    def begin_of(self, numbers: Ints) -> Floats:
        """Return when slices begin; those that do not exist begin when the last one ends."""
        row = np.minimum(np.searchsorted(self.until, numbers, "right"), len(self.until) - 1)
        return self.begins[row] + self._part(row, numbers) * (self.ends[row] - self.begins[row])

    def end_of(self, numbers: Ints) -> Floats:
        """Return when the slice before each number ends; for 0 when the first one begins."""
        row = np.minimum(np.searchsorted(self.until, numbers, "left"), len(self.until) - 1)
        return self.begins[row] + self._part(row, numbers) * (self.ends[row] - self.begins[row])

    def _part(self, row: Ints, numbers: Ints) -> Floats:
        """Return which part of a row lies before slices."""
        before = np.r_[0, self.until][row]
        found: Floats = np.clip((numbers - before) / (self.until[row] - before), 0.0, 1.0)
        return found

    def between(self, first: Ints, last: Ints) -> tuple[Floats, Floats]:
        """Return the time of computing, and that of the host, from slices up to others that are left out."""
        begin = np.minimum(np.searchsorted(self.until, first, "right"), len(self.until) - 1)
        end = np.minimum(np.searchsorted(self.until, last, "left"), len(self.until) - 1)
        earlier, later = self._part(begin, first), self._part(end, last)
        busy = self.busy[end] + later * self.works[end] - self.busy[begin] - earlier * self.works[begin]
        host = self.host[end] + later * self.waits[end] - self.host[begin] - earlier * self.waits[begin]
        return np.where(last > first, busy, 0.0), np.where(last > first, host, 0.0)

    def computed(self, times: Floats) -> Floats:
        """Return how long computing had taken up to each moment."""
        row = np.maximum(np.searchsorted(self.begins, times, "right") - 1, 0)
        length = np.maximum(self.ends[row] - self.begins[row], 1.0)
        found: Floats = self.busy[row] + np.clip((times - self.begins[row]) / length, 0.0, 1.0) * self.works[row]
        return found


def of_times(begins: Floats, ends: Floats, operations: Ints, works: Floats | None = None) -> RankSlices:
    """Return slices of rows in order; operations are how many slices each row is. All of a row computes unless works tells."""
    length = ends - begins
    gaps = np.r_[0.0, begins[1:] - ends[:-1]]
    host = np.cumsum(np.where(gaps > HOST_NS, gaps, 0.0))
    waits: Floats = np.broadcast_to(0.0, length.shape)
    if works is None:
        works = length
    else:
        waits = length - works
        host += np.cumsum(waits) - waits
    return RankSlices(begins, ends, np.cumsum(np.maximum(operations, 1)), works, waits, np.cumsum(works) - works, host)


def slices_of(device_times: pd.DataFrame, ranks: Ints, steps: Ints, origin: Floats) -> dict[tuple[int, int], RankSlices]:
    """Return the slices of each (step, rank), by their places (schema DEVICE_TIMES). origin is ns to take off."""
    begins, ends, operations, cuts, keys = _ordered(device_times, ranks, steps, origin)
    found = {}
    for first, last, key in zip(cuts[:-1].tolist(), cuts[1:].tolist(), keys.tolist(), strict=True):
        found[divmod(key, len(ranks))] = of_times(begins[first:last], ends[first:last], operations[first:last])
    return found


def _ordered(
    device_times: pd.DataFrame, ranks: Ints, steps: Ints, origin: Floats
) -> tuple[Floats, Floats, Ints, Ints, Ints]:  # fmt: skip
    """Return begins, ends and numbers of slices in order of step, rank and begin; where each pair of these begins, and its key.

    A job has millions of rows, so what is not returned must not be kept while slices are made.
    """
    chosen = np.flatnonzero(coded(device_times["kind"], ("computing",)))
    key = _keys(device_times, chosen, ranks, steps)
    known = key >= 0
    if not known.all():
        chosen, key = chosen[known], key[known]
    begins = device_times["start_ns"].to_numpy()[chosen]
    if (key[1:] < key[:-1]).any() or ((begins[1:] < begins[:-1]) & (key[1:] == key[:-1])).any():
        order = np.lexsort((begins, key))
        chosen, key, begins = chosen[order], key[order], begins[order]
    apart = origin[key % len(ranks)]
    begins = begins - apart
    ends = device_times["end_ns"].to_numpy()[chosen] - apart
    first = np.flatnonzero(np.r_[len(key) > 0, key[1:] != key[:-1]])
    return begins, ends, device_times["operations"].to_numpy()[chosen], np.r_[first, len(key)], key[first]


def _keys(device_times: pd.DataFrame, chosen: Ints, ranks: Ints, steps: Ints) -> Ints:
    """Return place of the step x number of ranks + place of the rank of rows; -1 for other steps and ranks."""
    rank, step = device_times["rank"].to_numpy()[chosen], device_times["step"].to_numpy()[chosen]
    place, number = (np.minimum(np.searchsorted(known, one), len(known) - 1) for known, one in ((ranks, rank), (steps, step)))
    found: Ints = np.where((ranks[place] == rank) & (steps[number] == step), number * len(ranks) + place, -1)
    return found


def between_operations(
    starts: Floats, ends: Floats, begin: float, end: float, *, share: float = 1.0, known: RankSlices | None = None
) -> RankSlices:
    """Return what lies between operations as slices, the first one from begin, the last one to end; they may have no length.

    share is the part of them that computes, unless slices are known. Operations beside each other have none between them.
    """
    reached = np.maximum.accumulate(np.r_[begin, ends[:-1]])
    apart = starts >= reached - ROUNDING_NS
    apart[0] = True
    last = float(ends.max())
    begins = np.r_[np.minimum(reached[apart], starts[apart]), last]
    finish = np.r_[starts[apart], max(last, end)]
    works = (finish - begins) * share
    if known is not None:
        works = np.minimum(known.computed(finish) - known.computed(begins), finish - begins)
    return of_times(begins, finish, np.ones(len(begins), np.int64), works)
