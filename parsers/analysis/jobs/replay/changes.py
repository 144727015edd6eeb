"""Changes that are worth asking for: what would be different in a job without a cause of lost time.

Peers of a rank are the other ranks of its stage; sums are over all steps from `since` on, so that chance evens out.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.replay.graph import JobGraph, has_kernels
from parsers.analysis.jobs.replay.host_gaps import as_peers, lags
from parsers.analysis.jobs.replay.programs import EXACT_NS
from parsers.analysis.jobs.replay.replaying import JobChange, unchanged
from parsers.model import Floats, Ints

_ALWAYS = 0.9
"""Share of its instances in which an operation begins at the end of the one before if it always waits in a queue."""
_SOME, _MOSTLY = 3, 0.8
"""Instances without a queue, at least, and the share of them that begin with the end of a block, if this is what they await."""


def computing_as_peers(graph: JobGraph, ranks: Collection[int], *, since: int = 0) -> JobChange:
    """Slices of these ranks (places) take as long as those of their peers in the median. since is the place of a step."""
    return _factors(graph, ranks, _computed(graph)[since:].sum(axis=0), since)


def host_as_peers(graph: JobGraph, ranks: Collection[int], *, since: int = 0) -> JobChange:
    """Lags of the host of these ranks are those of their peers. Of ranks without kernels what is free in their blocks is."""
    steps = np.arange(since, len(graph.steps))
    if graph.recording.serial and not has_kernels(graph):
        free = np.nan_to_num(graph.recording.free)[since:].sum(axis=0)
        if free.all():
            return _swapped(_factors(graph, ranks, free, since))
    found = lags(graph, steps)
    eased: dict[tuple[int, int, int], Floats] = {}
    for rank in ranks:
        eased |= as_peers(graph, found, rank, peers_of(graph, rank, ranks), steps)
    return replace(unchanged(graph), eased=eased)


def fast_as_peers(graph: JobGraph, ranks: Collection[int], *, since: int = 0) -> JobChange:
    """These ranks do what they do as fast as their peers, in slices and between them."""
    if not graph.recording.serial or has_kernels(graph):
        return computing_as_peers(graph, ranks, since=since) & host_as_peers(graph, ranks, since=since)
    both = _computed(graph) + np.nan_to_num(graph.recording.free)
    found = _factors(graph, ranks, both[since:].sum(axis=0), since)
    return replace(found, host=found.computing)


def peers_of(graph: JobGraph, rank: int, without: Collection[int]) -> Ints:
    """Return the other ranks of the stage of a rank, as places; if all of these are left out, all other ranks of the job."""
    out = np.isin(np.arange(len(graph.recording.ranks)), list(without))
    return np.flatnonzero((graph.recording.stage == graph.recording.stage[rank]) & ~out)


def _computed(graph: JobGraph) -> Floats:
    """Return what ranks computed by step, in ns: as slices tell, else as files do."""
    found = np.zeros((len(graph.steps), len(graph.recording.ranks)))
    for number, step in enumerate(graph.steps):
        for piece in step.pieces:
            found[number, piece.rank] = piece.busy.sum(axis=0)
    return found


def _factors(graph: JobGraph, ranks: Collection[int], took: Floats, since: int) -> JobChange:
    same = unchanged(graph)
    computing = same.computing.copy()
    for rank in ranks:
        peers = peers_of(graph, rank, ranks)
        if len(peers) and took[rank] > 0.0:
            computing[since:, rank] = float(np.median(took[peers])) / took[rank]
    return replace(same, computing=computing)


def _swapped(change: JobChange) -> JobChange:
    return replace(change, computing=change.host, host=change.computing)


def link_as_others(graph: JobGraph, source: int, target: int, share: float, *, since: int = 0) -> JobChange:
    """Meetings of two ranks (places) take as long as those of other groups under the same name; without such, `share` of it.

    What waited in a queue then comes as soon as the queue lets it: an upper bound.
    """
    recording = graph.recording
    of = recording.meetings.of
    number = recording.meetings.number
    here = np.ones(number, np.bool_)
    for place in (source, target):
        here &= np.isin(np.arange(number), of[(recording.rank == place) & (recording.step >= since)])
    least, key = _least(graph), np.zeros(number, np.int64)
    key[of] = recording.name * len(recording.steps) + recording.step
    lasting = np.ones(number)
    for one in np.flatnonzero(here).tolist():
        others = np.flatnonzero((key == key[one]) & ~here)
        usual = float(np.median(least[others])) if len(others) else share * float(least[one])
        lasting[one] = min(usual / float(least[one]), 1.0)
    return replace(unchanged(graph), lasting=lasting, released=_always_queued(graph))


def _always_queued(graph: JobGraph) -> frozenset[tuple[int, int]]:
    """Return (program, number) of operations that always waited in a queue: files do not tell which block they await.

    They began right at the end of the operation before, so that what else they waited for had ended at some time before. One
    that begins right at the end of its block wherever the queue is empty, as in the rank that all others wait for, tells it.
    """
    found: set[tuple[int, int]] = set()
    for number, program in enumerate(graph.programs):
        queued = np.flatnonzero((program.former >= 0) & (program.before > 0))
        starts = graph.recording.start[program.operations[queued]]
        waited = np.abs(starts - graph.recording.end[program.operations[program.former[queued]]]) <= EXACT_NS
        told = (np.abs(starts - program.ends[program.before[queued] - 1]) <= EXACT_NS) & ~waited
        alone = (~waited).sum(axis=1)
        seen = (alone >= _SOME) & (told.sum(axis=1) >= _MOSTLY * alone)
        always = (waited.mean(axis=1) >= _ALWAYS) & ~seen
        found |= {(number, int(one)) for one in queued[always]}
    return frozenset(found)


def _least(graph: JobGraph) -> Floats:
    """Return what each meeting takes without waiting, in ns."""
    least = np.full(graph.recording.meetings.number, np.inf)
    np.minimum.at(least, graph.recording.meetings.of, graph.recording.elapse)
    return least


def gaps_closed(graph: JobGraph) -> JobChange:
    """The host never lags."""
    same = unchanged(graph)
    return replace(same, host=np.zeros_like(same.host))


def stage_times(graph: JobGraph) -> Floats:
    """Return what a rank of each stage computes in a mean step, in ns."""
    took, stage = _computed(graph).mean(axis=0), graph.recording.stage
    return np.array([took[stage == one].mean() for one in range(int(stage.max()) + 1)])


def stages_balanced(graph: JobGraph) -> JobChange:
    """All stages compute equally long, together as long as they do."""
    took = stage_times(graph)
    same = unchanged(graph)
    factor = np.mean(took) / np.where(took > 0.0, took, np.mean(took))
    return replace(same, computing=same.computing * factor[graph.recording.stage])


def communication_free(graph: JobGraph, *, collectives: bool = False, most: bool = False) -> JobChange:
    """Operations transfer in no time; with `most` they take none at all once all ranks are there. collectives: only these.

    With `most` what waited in a queue also comes as soon as the queue lets it.
    """
    least, transfer = _least(graph), np.zeros(graph.recording.meetings.number)
    np.maximum.at(transfer, graph.recording.meetings.of, graph.recording.transfer)
    lasting = np.zeros(len(least)) if most else np.clip(1.0 - transfer / least, 0.0, 1.0)
    if collectives:
        lasting[graph.recording.meetings.of[graph.recording.between]] = 1.0
    return replace(unchanged(graph), lasting=lasting, released=_always_queued(graph) if most else frozenset())


def no_waiting_for_stages(graph: JobGraph) -> JobChange:
    """Ranks never wait for those of other stages."""
    return replace(unchanged(graph), passing=between_stages(graph))


def between_stages(graph: JobGraph) -> NDArray[np.bool_]:
    """Return which meetings are of ranks of several stages."""
    recording = graph.recording
    stage, of = recording.stage[recording.rank], recording.meetings.of
    low, high = np.full(recording.meetings.number, len(stage)), np.full(recording.meetings.number, -1)
    np.minimum.at(low, of, stage)
    np.maximum.at(high, of, stage)
    found: NDArray[np.bool_] = low != high
    return found
