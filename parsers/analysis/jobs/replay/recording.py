"""The operations and slices of a job as arrays: who took part in which, and when, with all clocks set to one another.

Names of operations are those of the program, not of the rank: kind of group, kind of operation, direction between stages and
number within the step. Times are ns after the first begin of the job, as float64.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.choosing import coded, numbered
from parsers.analysis.jobs.replay.meetings import Meetings, meetings_of
from parsers.analysis.jobs.replay.slices import RankSlices, slices_of
from parsers.analysis.jobs.stages import stages
from parsers.analysis.jobs.transfer import operation_parts
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints
from parsers.profiler.groups import ranks_of


class NotJudged(Exception):
    """Raised where files do not tell what a replay needs; the argument is a name in REASONS."""


REASONS = (
    "no_operations", "no_starts", "one_rank", "overlap", "circle", "inexact", "alone",
)  # fmt: skip
"""Why there is no replay: no operations; sums without begins; operations of one rank only; communication beside computing
without kernels; dependencies that form a circle; a replay that is not the recording; operations between two ranks without a
pair."""


@dataclass(frozen=True, slots=True, eq=False)
class JobRecording:
    """Operations of a job, by step, rank and name; and slices of its ranks.

    ranks and steps are the numbers behind the places in rank and step; stage is by place of the rank. start, end and elapse are
    in ns; name numbers the operation within its program; meeting numbers what ranks take part in together. transfer is in ns,
    of the least elapse. computing, free and total are of each step and rank (steps x ranks), NaN for unknown. serial: no
    operation runs beside computing. slices are by (step, rank). rows are those of the frame.
    """

    ranks: Ints
    steps: Ints
    stage: Ints
    rank: Ints
    step: Ints
    start: Floats
    end: Floats
    elapse: Floats
    name: Ints
    between: NDArray[np.bool_]
    stream: Ints
    launched: Ints
    meetings: Meetings
    transfer: Floats
    computing: Floats
    free: Floats
    total: Floats
    serial: bool
    slices: dict[tuple[int, int], RankSlices] = field(repr=False)
    rows: Ints = field(repr=False)

    def number(self, rank: int) -> int:
        """Return the place of a rank; KeyError for one that has no operations."""
        place = int(np.searchsorted(self.ranks, rank))
        if place == len(self.ranks) or self.ranks[place] != rank:
            raise KeyError(rank)
        return place


def recorded(
    collectives: pd.DataFrame | None, steps: pd.DataFrame | None, groups: pd.DataFrame | None,
    device_times: pd.DataFrame | None, links: pd.DataFrame | None,
) -> JobRecording:  # fmt: skip
    """Return what frames of a job tell (schemas COLLECTIVES, CLUSTER_STEPS, GROUPS, DEVICE_TIMES, LINKS).

    NotJudged if that is too little.
    """
    if collectives is None or collectives.empty:
        raise NotJudged("no_operations")
    elapse = collectives["elapse_ns"].to_numpy(np.float64)
    timed = np.flatnonzero((collectives["start_ns"].to_numpy() >= 0) & np.isfinite(elapse) & (elapse > 0.0))
    if not len(timed):
        raise NotJudged("no_starts")
    ranks, rank = np.unique(collectives["rank"].to_numpy()[timed], return_inverse=True)
    if len(ranks) < 2:
        raise NotJudged("one_rank")
    known, step = np.unique(collectives["step"].to_numpy()[timed], return_inverse=True)
    start = collectives["start_ns"].to_numpy()[timed]
    order = np.lexsort((start, rank, step))
    timed, rank, step, start = timed[order], rank[order], step[order], start[order]
    chosen = collectives.iloc[timed]
    groups = groups if groups is not None else pd.DataFrame({"group": [], "kind": [], "ranks": [], "sections": []})
    meetings = meetings_of(chosen, rank, step, groups, ranks)
    ahead = meetings.ahead
    first = float((start - ahead[rank]).min())
    begin = start - first - ahead[rank]
    stage = _stage(ranks, steps, groups)
    between = coded(chosen["section"], ("p2p",))
    stream, name = _names(chosen, rank, step, stage, meetings, groups)
    parts = operation_parts(collectives, links)
    computing, free, total = (_of_steps(steps, ranks, known, column) for column in ("computing_ns", "free_ns", "total_ns"))
    own = _slices(device_times, ranks, known, ahead + first)
    beside = np.nan_to_num(_of_steps(steps, ranks, known, "overlapped_ns"), nan=np.inf if own else 0.0)
    serial = bool((beside <= SERIAL * np.nan_to_num(total)).all())
    length = elapse[timed]
    found = JobRecording(
        ranks, known, stage, rank, step, begin, begin + length, length, name, between, stream, _launched(chosen), meetings,
        parts.transfer[timed], computing, free, total, serial, own, timed,
    )  # fmt: skip
    _check_overlap(found, steps)
    return found


def _slices(
    device_times: pd.DataFrame | None, ranks: Ints, steps: Ints, origin: Floats
) -> dict[tuple[int, int], RankSlices]:
    return {} if device_times is None or device_times.empty else slices_of(device_times, ranks, steps, origin)


def _check_overlap(found: JobRecording, steps: pd.DataFrame | None) -> None:
    """NotJudged if a rank without slices communicates while it computes: what it computes then is not known."""
    if steps is None or steps.empty:
        return
    beside = _of_steps(steps, found.ranks, found.steps, "overlapped_ns")
    share = np.nan_to_num(beside) / np.maximum(np.nan_to_num(found.total), 1.0)
    told = np.zeros(share.shape, np.bool_)
    for place in found.slices:
        told[place] = True
    if (share[~told] > LEAST_BESIDE).any():
        raise NotJudged("overlap")


SERIAL = 0.001
"""Share of a step up to which communication beside computing is none."""
LEAST_BESIDE = 0.02
"""Share of a step that may be communication beside computing where no kernels tell what ran beside it."""


def _of_steps(steps: pd.DataFrame | None, ranks: Ints, known: Ints, column: str) -> Floats:
    """Return a column of CLUSTER_STEPS by step and rank, NaN for unknown."""
    found = np.full((len(known), len(ranks)), np.nan)
    if steps is None or steps.empty:
        return found
    rows = steps[(steps["kind"].astype("str") == "rank") & steps["rank"].isin(ranks) & steps["step"].isin(known)]
    at = np.searchsorted(known, rows["step"].to_numpy()), np.searchsorted(ranks, rows["rank"].to_numpy())
    found[at] = rows[column].to_numpy(np.float64)
    return found


def _stage(ranks: Ints, steps: pd.DataFrame | None, groups: pd.DataFrame) -> Ints:
    """Return the stage of each rank, 0 where there is no pipeline."""
    found = np.full(len(ranks), -1, np.int64)
    if steps is not None and len(steps):
        rows = steps[(steps["kind"].astype("str") == "rank") & (steps["pp"] >= 0) & steps["rank"].isin(ranks)]
        found[np.searchsorted(ranks, rows["rank"].to_numpy())] = rows["pp"].to_numpy()
    if (found < 0).any() and len(groups):
        for number, members in enumerate(stages(groups, ranks_of)):
            found[np.isin(ranks, members)] = number
    return np.maximum(found, 0)


def _names(
    chosen: pd.DataFrame, rank: Ints, step: Ints, stage: Ints, meetings: Meetings, groups: pd.DataFrame
) -> tuple[Ints, Ints]:
    """Return for each operation the number of its stream (kind of group, of operation, direction) and of its name.

    A rank may have several groups of one kind. They are numbered in the order in which it first uses them.
    """
    codes = chosen["group"].cat.codes.to_numpy().astype(np.int64)
    kinds = groups.set_index(groups["group"].astype("str"))["kind"].astype("str")
    kinds = kinds[~kinds.index.duplicated()].reindex(chosen["group"].cat.categories).fillna("")
    _, kind_of = np.unique(kinds.to_numpy(str), return_inverse=True)
    role = np.append(kind_of, -1)[codes]
    number, first = numbered(rank, codes)
    by_role, _ = numbered(rank[first], role[first])
    nth = _counted(by_role, first)[number]
    does = chosen["kind"].cat.codes.to_numpy().astype(np.int64)
    towards = np.where(meetings.peer >= 0, stage[np.maximum(meetings.peer, 0)] - stage[rank], 0)
    stream, _ = numbered(role, nth, does, towards)
    within, _ = numbered(rank, step, stream)
    name, _ = numbered(stream, _counted(within, _launched(chosen)))
    return stream, name


def _launched(chosen: pd.DataFrame) -> Ints:
    """Return the order of launches: the counter in names as hcom_send__271_3_1, by group; without it that of begins.

    Operations of different directions may begin in another order than they were launched, and not in the same one everywhere.
    """
    names = chosen["name"].cat.categories
    counters = np.array([int(found[1]) if (found := _COUNTER.search(str(name))) else -1 for name in names] + [-1])
    told = counters[chosen["name"].cat.codes.to_numpy()]
    number = np.arange(len(chosen))
    return told * len(chosen) + number if (told >= 0).all() else number


_COUNTER = re.compile(r"__\d+_(\d+)_\d+$")


def _counted(key: Ints, order: Ints) -> Ints:
    """Return the number of each row among those of equal key, in an order."""
    places = np.lexsort((order, key))
    ordered = key[places]
    begins = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(key) else np.empty(0, np.int64)
    found = np.empty(len(key), np.int64)
    found[places] = np.arange(len(key)) - np.repeat(begins, np.diff(np.r_[begins, len(key)]))
    return found
