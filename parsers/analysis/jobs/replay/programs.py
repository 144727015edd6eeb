"""Programs: what ranks of one stage do in a step, and what their operations and slices depend on, by the evidence of all.

Files say when things ran, not what they waited for. A dependency belongs to the program: what contradicts it in one rank or
step refutes it in all. So an operation depends on the slices that had ended before it in all ranks and steps (`before`, the
least), and the slice that may await it is the first one that began after it in all of them (`after`, the largest). That one is
believed to await it if it somewhere began right after its end on an idle device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.choosing import numbered
from parsers.analysis.jobs.replay.meetings import RECEIVES, SENDS
from parsers.analysis.jobs.replay.recording import JobRecording
from parsers.analysis.jobs.replay.slices import HOST_NS, ROUNDING_NS, RankSlices, between_operations, of_times
from parsers.model import Floats, Ints

NOTHING = -1
"""No block of the step awaits an operation."""
EXACT_NS = 2_000.0
"""A begin that is no later than this after an end that it depends on is explained by nothing else."""
_EXPLAINED = 0.9
_OFTEN = 0.5
LEAST_IDLE = 3
_CHANCE = 0.25
_SEED = 20_240_229


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """What `instances` pairs of step and rank have in common.

    operations are rows of the recording (operations x instances). Slices are merged into blocks between what depends on them:
    begins, ends, busy (computing) and host (gaps that are the host's) are blocks x instances, in ns. before is the number of
    blocks that each operation depends on, along the block whose begin it awaits, after the block that awaits it, NOTHING for
    none; first is the first block that may await it. former is the operation before it in its stream and cause another one
    whose end it awaits; -1 for none. does is that of meetings.
    """

    step: Ints
    rank: Ints
    operations: Ints
    before: Ints
    along: Ints
    after: Ints
    first: Ints
    former: Ints
    cause: Ints
    stream: Ints
    does: Ints
    begins: Floats
    ends: Floats
    busy: Floats
    host: Floats
    measured: bool

    def instances(self, step: int) -> Ints:
        """Return which instances are of a step."""
        return np.flatnonzero(self.step == step)


def programs_of(recording: JobRecording) -> list[Program]:
    """Return the programs of a job; each step of each rank is an instance of one of them."""
    width = len(recording.ranks)
    key = recording.step * width + recording.rank
    cuts = np.r_[np.flatnonzero(np.r_[True, key[1:] != key[:-1]]), len(key)]
    places = key[cuts[:-1]]
    signs = np.random.default_rng(_SEED).integers(1 << 62, size=int(recording.name.max()) + 1)
    sign = np.add.reduceat(signs[recording.name], cuts[:-1])
    step, rank = np.divmod(places, width)
    known = np.array([place in recording.slices for place in zip(step.tolist(), rank.tolist(), strict=True)], np.bool_)
    slices, measured = _all_slices(recording, step, rank, cuts), known & ~recording.serial
    number = np.array([one.number for one in slices])
    program, first = numbered(recording.stage[rank], sign, np.diff(cuts), number, measured.astype(np.int64))
    found = []
    for one in range(len(first)):
        own = np.flatnonzero(program == one)
        size = int(cuts[own[0] + 1] - cuts[own[0]])
        rows = cuts[own][:, None] + np.arange(size)
        order = np.argsort(recording.name[rows], axis=1, kind="stable")
        rows = np.take_along_axis(rows, order, axis=1).T
        these = [slices[place] for place in own.tolist()]
        if recording.serial:
            these = _as_peers(these, known[own])
        found.append(_program(recording, step[own], rank[own], rows, these, measured=bool(measured[own[0]])))
    return found


def _as_peers(slices: list[RankSlices], known: NDArray[np.bool_]) -> list[RankSlices]:
    """Return slices in which those of ranks without kernels compute where peers do, and as long as they did all in all."""
    if known.all() or not known.any():
        return slices
    usual = np.median([one.works for one, told in zip(slices, known, strict=True) if told], axis=0)
    found = []
    for one, told in zip(slices, known, strict=True):
        works = np.minimum(usual * (one.works.sum() / max(float(usual.sum()), 1.0)), one.ends - one.begins)
        found.append(one if told else of_times(one.begins, one.ends, np.ones(len(works), np.int64), works))
    return found


def _all_slices(recording: JobRecording, step: Ints, rank: Ints, cuts: Ints) -> list[RankSlices]:
    """Return the slices of each instance.

    Slices are what lies between operations where files have none, and where nothing runs beside operations: then all of these
    are awaited.
    """
    found: list[RankSlices] = []
    tails = _tails(recording, step, rank, cuts)
    reached: dict[int, float] = {}
    for place, (number, who) in enumerate(zip(step.tolist(), rank.tolist(), strict=True)):
        own = slice(int(cuts[place]), int(cuts[place + 1]))
        known = recording.slices.get((number, who))
        starts, ends = recording.start[own], recording.end[own]
        end = float(ends.max())
        if known is not None:
            slices, end = known, max(end, float(known.ends[-1]))
        if known is None or recording.serial:
            end = end if known is not None or number < len(recording.steps) - 1 else end + tails
            begin = float(starts.min()) if known is None else float(known.begins[0])
            if who in reached:
                begin = max(reached[who], begin) if known is not None else reached[who]
            elif known is None:
                begin = _begin(recording, number, who, starts, end)
            share = _computing_share(recording, number, who)
            slices = between_operations(starts, ends, begin, end, share=share, known=known)
        found.append(slices)
        reached[who] = end
    return found


def _tails(recording: JobRecording, step: Ints, rank: Ints, cuts: Ints) -> float:
    """Return how long ranks compute after their last operation in the last step, as those with slices tell: their median."""
    found = []
    for place, (number, who) in enumerate(zip(step.tolist(), rank.tolist(), strict=True)):
        known = recording.slices.get((number, who))
        if known is not None and number == len(recording.steps) - 1:
            found.append(float(known.ends[-1]) - float(recording.end[cuts[place] : cuts[place + 1]].max()))
    return max(float(np.median(found)), 0.0) if found else 0.0


def _begin(recording: JobRecording, step: int, rank: int, starts: Floats, end: float) -> float:
    """Return when the first step of a rank began: what lies neither between operations nor at its end came before them."""
    total = recording.total[step, rank]
    before = max(float(total) - (end - float(starts.min())), 0.0) if np.isfinite(total) else 0.0
    return float(starts.min()) - before


def _computing_share(recording: JobRecording, step: int, rank: int) -> float:
    computing, free = recording.computing[step, rank], recording.free[step, rank]
    return float(computing / (computing + free)) if computing + free > 0.0 else 1.0


def _program(
    recording: JobRecording, step: Ints, rank: Ints, rows: Ints, slices: Sequence[RankSlices], *, measured: bool
) -> Program:
    starts, ends = recording.start[rows], recording.end[rows]
    total = slices[0].number
    before, after = _positions(starts, ends, slices)
    cuts = np.unique(np.r_[0, before, after[after < total], total])
    begins, finish, busy, host = (np.stack(one, axis=1) for one in zip(*(_blocks(one, cuts) for one in slices), strict=True))
    block_of = np.searchsorted(cuts, before), np.searchsorted(cuts, after)
    does = recording.meetings.does[rows[:, 0]]
    awaits = _believed(begins, finish, ends, block_of[1], does)
    stream = recording.stream[rows[:, 0]]
    reached = _reached(finish, block_of[0])
    former = former_of(starts, ends, stream)
    last = np.maximum(reached, np.where((former >= 0)[:, None], ends[np.maximum(former, 0)], -np.inf))
    along, cause = _others(starts, ends, begins, last, block_of)
    # What awaits a receive that was posted along with a block is launched after it.
    awaits |= (does == RECEIVES) & (along != NOTHING) & (block_of[1] == along + 1)
    return Program(
        step, rank, rows, block_of[0], along, np.where(awaits, block_of[1], NOTHING), block_of[1], former, cause, stream,
        does, begins, finish, busy, host, measured,
    )  # fmt: skip


def _positions(starts: Floats, ends: Floats, slices: Sequence[RankSlices]) -> tuple[Ints, Ints]:
    """Return for each operation the least number of slices ended before it, and the largest number begun before its end."""
    before = np.full(len(starts), np.iinfo(np.int64).max)
    after = np.zeros(len(starts), np.int64)
    apart = ROUNDING_NS - missed_by(starts, ends)
    for place, one in enumerate(slices):
        ended = one.ended(starts[:, place])
        np.minimum(before, ended, out=before)
        np.maximum(after, np.maximum(one.begun(ends[:, place] + apart[:, place]), ended), out=after)
    return before, after


def _blocks(one: RankSlices, cuts: Ints) -> tuple[Floats, Floats, Floats, Floats]:
    """Return begin, end, time of computing and gaps of the host of each block of slices between cuts."""
    first, last = cuts[:-1], cuts[1:]
    begins, ends = one.begin_of(first), one.end_of(last)
    return begins, ends, *one.between(first, last)


def _believed(begins: Floats, ends: Floats, over: Floats, after: Ints, does: Ints) -> NDArray[np.bool_]:
    """Return whether the block after each operation awaits it.

    It does if it began at most HOST_NS after the end of the operation, the latest that it may await, while the device was idle;
    not in so few instances, compared with other operations, that this is chance. Or if the device was idle often, and what it
    was idle for before that end is more than after it, although nothing contradicts. Sends have to explain more than receives:
    what computes next seldom awaits them.
    """
    found = np.zeros(len(after), np.bool_)
    inside = np.flatnonzero(after < len(begins))
    if not len(inside):
        return found
    block = after[inside]
    gap = begins[block] - over[inside]
    idle = over[inside] - np.where(block[:, None] > 0, ends[np.maximum(block - 1, 0)], -np.inf)
    latest = _latest(gap, block)
    waits = (idle > HOST_NS) & (gap >= -EXACT_NS)
    hits = ((gap <= HOST_NS) & (idle >= -ROUNDING_NS) & latest).sum(axis=1)
    most = np.zeros(len(begins), np.int64)
    np.maximum.at(most, block, hits)
    with np.errstate(invalid="ignore"):
        longer = np.where(waits, np.minimum(idle, 1e15), 0.0).sum(axis=1) > np.where(waits, gap, 0.0).sum(axis=1)
    least = np.where(does[inside] == SENDS, _OFTEN, _CHANCE)
    found[inside] = (hits > least * most[block]) | ((waits.sum(axis=1) >= LEAST_IDLE) & longer)
    return found


def _latest(gap: Floats, block: Ints) -> NDArray[np.bool_]:
    """Return where an operation is the one that ended last of those that a block may await, by the gap after its end.

    One that ended after the begin of the block is not, unless nothing ended right before it.
    """
    after = np.where(gap >= -EXACT_NS, np.abs(gap), np.abs(gap) + HOST_NS)
    least = np.full((int(block.max()) + 1, gap.shape[1]), np.inf)
    np.minimum.at(least, block, after)
    found: NDArray[np.bool_] = after <= least[block]
    return found


def former_of(starts: Floats, ends: Floats, stream: Ints) -> Ints:
    """Return for each operation the one before it in its stream, if it never began before that one had ended; else -1."""
    order = np.lexsort((np.median(starts, axis=1), stream))
    found = np.full(len(stream), -1, np.int64)
    one, other = order[:-1], order[1:]
    same = (stream[one] == stream[other]) & _had_ended(starts[one], ends[one], starts[other]).all(axis=1)
    found[other[same]] = one[same]
    return found


def _bound(starts: Floats, ends: Floats, former: Ints, reached: Floats) -> NDArray[np.bool_]:
    """Return which operations somewhere began right at the end of the one before, and not of the blocks that they depend on.

    Exchanges of several directions have one name, so that those that follow each other need not be of one stream.
    """
    right = (np.abs(starts - ends[np.maximum(former, 0)]) <= EXACT_NS) & (starts - reached > EXACT_NS)
    found: NDArray[np.bool_] = (former >= 0) & right.any(axis=1)
    return found


def _had_ended(starts: Floats, ends: Floats, times: Floats) -> NDArray[np.bool_]:
    """Return whether operations had ended at some times, as exactly as files have it, which is not exact for short ones."""
    found: NDArray[np.bool_] = times >= ends - missed_by(starts, ends)
    return found


def missed_by(starts: Floats, ends: Floats) -> Floats:
    """Return by how much files may miss the ends of operations, in ns: short ones by no more than half of themselves."""
    found: Floats = np.minimum(ROUNDING_NS, (ends - starts) / 2)
    return found


def _reached(ends: Floats, before: Ints) -> Floats:
    """Return when the blocks that operations depend on had ended; long ago where there is none."""
    found: Floats = np.where((before > 0)[:, None], ends[np.maximum(before - 1, 0)], -np.inf)
    return found


def _others(starts: Floats, ends: Floats, begins: Floats, last: Floats, block_of: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Return the block whose begin, and the operation whose end, each operation awaits beside `last`; NOTHING and -1 for none.

    What explains more begins exactly counts; where neither does, an operation that ended at most HOST_NS before.
    """
    along, with_it = _along(starts, begins, last, *block_of)
    cause, after_it = _causes(starts, ends, last, EXACT_NS)
    along[(with_it < _OFTEN) | (with_it <= after_it)] = NOTHING
    cause[along != NOTHING] = -1
    last = np.maximum(last, np.where((along != NOTHING)[:, None], begins[along], -np.inf))
    roughly, _ = _causes(starts, ends, last, HOST_NS)
    return along, np.where(cause < 0, roughly, cause)


def _along(starts: Floats, begins: Floats, last: Floats, before: Ints, after: Ints) -> tuple[Ints, Floats]:
    """Return the block whose begin each operation may await, since it was launched right after it, and how often it does.

    It is the one after those that the operation depends on; NOTHING where the operation somewhere began before it. How often is
    the share, of the begins that the ends which the operation depends on (`last`, the latest) do not explain, that are with it.
    """
    found, often = np.full(len(starts), NOTHING), np.zeros(len(starts))
    inside = np.flatnonzero(before < np.minimum(after, len(begins)))
    apart = starts[inside] - begins[before[inside]]
    inside, apart = inside[never := (apart >= -ROUNDING_NS).all(axis=1)], apart[never]
    late = starts[inside] - last[inside] > EXACT_NS
    found[inside] = before[inside]
    often[inside] = (late & (np.abs(apart) <= EXACT_NS)).sum(axis=1) / np.maximum(late.sum(axis=1), 1)
    return found, often


def _causes(starts: Floats, ends: Floats, last: Floats, near: float) -> tuple[Ints, Floats]:
    """Return for operations that what they depend on (`last`, its latest end) does not explain another one; -1 for none.

    It ended at most `near` before in half of the instances that are not explained, and after the begin in none. How often it
    did is returned, too.
    """
    found, often = np.full(len(starts), -1, np.int64), np.zeros(len(starts))
    late = starts - last > near
    for one in np.flatnonzero(late.mean(axis=1) > 1 - _EXPLAINED).tolist():
        gap = starts[one, late[one]] - ends[:, late[one]]
        share = (np.abs(gap) <= near).mean(axis=1)
        share[one] = 0.0
        for other in np.argsort(-share, kind="stable").tolist():
            if share[other] < _OFTEN:
                break
            if _had_ended(starts[other], ends[other], starts[one]).all():
                found[one], often[one] = other, share[other]
                break
    return found, often
