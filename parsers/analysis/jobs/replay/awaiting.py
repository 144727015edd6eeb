"""What computing awaits where nothing shows it: which way exchanges go, and operations that always came in time.

An operation that had always ended before something else did leaves no trace in the begin of the block that awaits it.
Operations of a kind are awaited alike: where those that leave a trace are awaited by the block that is launched next, so are
the others.
Exchanges (batched sends and receives) do not record their direction. It follows from the order in both ranks: what begins along
with a block was posted early, so it receives; what begins before all blocks has nothing to send; where blocks go on while an
operation runs, it is no receive; of two between the same blocks the first sends what was computed; and of two ranks the only
one that is seen to await it receives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.choosing import numbered
from parsers.analysis.jobs.replay.meetings import EXCHANGES, RECEIVES, SENDS
from parsers.analysis.jobs.replay.programs import EXACT_NS, LEAST_IDLE, NOTHING, Program, former_of
from parsers.analysis.jobs.replay.recording import JobRecording
from parsers.analysis.jobs.replay.slices import HOST_NS
from parsers.model import Floats, Ints

_USUALLY = 0.8
"""Share of the operations with a trace that are awaited by the next block, from which on those without one are."""
_LEAST = 2
_PART = 0.25
"""Share of instances in which a block has to wait for a send alone to be believed to await it."""
_SURE, _LIKELY = 8, 2
"""Votes of a rule about directions in each instance; the weakest has one."""
Side = tuple[int, int]
"""(program, operation)."""


def completed(recording: JobRecording, programs: Sequence[Program]) -> list[Program]:
    """Return programs with what their blocks await beyond what the begins of these show, and with directions of exchanges."""
    does = _directions(recording, programs)
    found = [_sends_alone(_one_way(recording, one, what), recording.end[one.operations])
             for one, what in zip(programs, does, strict=True)]  # fmt: skip
    received = _awaited_next(found)
    return [_like_others(one, received=received) for one in found]


def _one_way(recording: JobRecording, program: Program, does: Ints) -> Program:
    """Return a program with directions: what goes one way follows what went the same way, and nothing else."""
    if (does == program.does).all():
        return program
    rows = program.operations
    stream, _ = numbered(program.stream, does)
    return replace(program, does=does, former=former_of(recording.start[rows], recording.end[rows], stream))


def _next(program: Program) -> NDArray[np.bool_]:
    """Return which operations may be awaited by the first block that is launched after them."""
    posted = np.where(program.along != NOTHING, program.along + 1, program.before)
    found: NDArray[np.bool_] = (program.first == posted) & (program.first < len(program.begins))
    return found


# Operations of a kind are awaited alike --------------------------------------------------------------------------------------


def _awaited_next(programs: Sequence[Program]) -> bool:
    """Return whether receives of a job that leave a trace are usually awaited by the next block."""
    traced = [one.does == RECEIVES for one in programs]
    traced = [these & (one.after != NOTHING) for these, one in zip(traced, programs, strict=True)]
    number = sum(int(these.sum()) for these in traced)
    soon = sum(int((these & _next(one)).sum()) for these, one in zip(traced, programs, strict=True))
    return number >= _LEAST and soon >= _USUALLY * number


def _like_others(program: Program, *, received: bool) -> Program:
    """Return a program whose receives, and collectives of each stream, are awaited as those that leave a trace."""
    soon, traced = _next(program), program.after != NOTHING
    filled = soon & (program.does == RECEIVES) & received
    for stream in np.unique(program.stream[program.does == 0]).tolist():
        own = program.stream == stream
        number = int((own & traced).sum())
        if number >= max(_LEAST, _PART * (own & soon).sum()) and (own & traced & soon).sum() >= _USUALLY * number:
            filled |= own & soon
    return replace(program, after=np.where(traced | ~filled, program.after, program.first))


def _sends_alone(program: Program, over: Floats) -> Program:
    """Return a program whose blocks await sends only where they wait for nothing else in enough instances.

    over are the ends of operations x instances.
    """
    after = program.after.copy()
    for one in np.flatnonzero((program.does == SENDS) & (after != NOTHING)).tolist():
        block = int(after[one])
        others = np.flatnonzero((after == block) & (program.does != SENDS))
        ended = program.ends[block - 1] if block else np.full(over.shape[1], -np.inf)
        ended = np.maximum(ended, over[others].max(axis=0)) if len(others) else ended
        alone, gap = over[one] - ended, program.begins[block] - over[one]
        waits = alone > HOST_NS
        explained = waits & (gap >= -EXACT_NS) & (gap <= np.maximum(HOST_NS, alone / 2))
        if explained.sum() < max(LEAST_IDLE, _PART * len(waits)) or explained.sum() < _USUALLY * waits.sum():
            after[one] = NOTHING
    return replace(program, after=after)


# Directions of exchanges -----------------------------------------------------------------------------------------------------


def _directions(recording: JobRecording, programs: Sequence[Program]) -> list[Ints]:
    """Return what each operation of each program does, with those exchanges as sends or receives of which that is known.

    Programs of one stage may disagree, so each rule votes for as many instances as its program has, a surer one more often.
    """
    found = [one.does.copy() for one in programs]
    pairs = _pairs(recording, programs)
    end, sign = _ends(pairs)
    votes = dict.fromkeys(end.values(), 0)

    def vote(side: Side, what: int, weight: int) -> None:
        receives = sign[side] if what == RECEIVES else -sign[side]
        votes[end[side]] += receives * weight * len(programs[side[0]].step)

    early = any(programs[place].along[one] != NOTHING for place, one in pairs)
    for side, others in pairs.items():
        program, one = programs[side[0]], side[1]
        if program.along[one] != NOTHING or program.before[one] == 0:
            vote(side, RECEIVES, _SURE)
        elif not early and program.first[one] != program.before[one]:
            vote(side, SENDS, _LIKELY)
        if program.after[one] == NOTHING and any(programs[where].after[other] != NOTHING for where, other in others):
            vote(side, SENDS, 1)
    between = _between(recording, programs, pairs)
    for first, second in between:
        vote(first, SENDS, _LIKELY)
        vote(second, RECEIVES, _LIKELY)
    for first, second in between:
        for side, beside in ((first, second), (second, first)):
            known = votes[end[beside]] * sign[beside]
            if known and not votes[end[side]]:
                vote(side, SENDS if known > 0 else RECEIVES, 1)
    for side in pairs:
        told = votes[end[side]] * sign[side]
        if told:
            found[side[0]][side[1]] = RECEIVES if told > 0 else SENDS
    return found


def _ends(pairs: dict[Side, set[Side]]) -> tuple[dict[Side, Side], dict[Side, int]]:
    """Return one side for all that do the same as it or the opposite, and 1 or -1 for these."""
    end: dict[Side, Side] = {}
    sign: dict[Side, int] = {}
    for first in pairs:
        left = [(first, 1)]
        while left:
            side, way = left.pop()
            if side not in end:
                end[side], sign[side] = first, way
                left += [(other, -way) for other in pairs[side]]
    return end, sign


def _pairs(recording: JobRecording, programs: Sequence[Program]) -> dict[Side, set[Side]]:
    """Return for each exchange of a program those that it is a pair with, one of each program, in most instances."""
    of = recording.meetings.of
    place, number = np.full(len(of), -1), np.full(len(of), -1)
    for where, program in enumerate(programs):
        place[program.operations] = where
        number[program.operations] = np.arange(len(program.operations))[:, None]
    rows = np.flatnonzero((recording.meetings.does == EXCHANGES) & (recording.meetings.peer >= 0))
    order = rows[np.argsort(of[rows], kind="stable")]
    both = np.flatnonzero(of[order[1:]] == of[order[:-1]])
    one, other = order[both], order[both + 1]
    first, second = np.r_[one, other], np.r_[other, one]
    which, example = numbered(place[first], number[first], place[second], number[second])
    sides, _ = numbered(place[first], number[first], place[second])
    often = np.bincount(which) > np.bincount(sides)[sides[example]] / 2
    found: dict[Side, set[Side]] = {}
    for mine, yours in zip(first[example[often]].tolist(), second[example[often]].tolist(), strict=True):
        found.setdefault((int(place[mine]), int(number[mine])), set()).add((int(place[yours]), int(number[yours])))
    return {side: {other for other in others if side in found.get(other, ())} for side, others in found.items()}


def _between(recording: JobRecording, programs: Sequence[Program], pairs: dict[Side, set[Side]]) -> list[tuple[Side, Side]]:
    """Return two exchanges that a program launches between the same blocks, in this order; there are no more of them."""
    found = []
    for place, program in enumerate(programs):
        launched = recording.launched[program.operations[:, 0]]
        own = [one for side, one in pairs if side == place and program.along[one] == NOTHING]
        for block in np.unique(program.before[own]).tolist() if own else []:
            here = sorted((one for one in own if program.before[one] == block), key=lambda one: int(launched[one]))
            if len(here) == 2:
                found.append(((place, here[0]), (place, here[1])))
    return found
