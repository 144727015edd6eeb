"""What computing awaits where nothing shows it: which way exchanges go, and operations that always came in time.

An operation that had always ended before something else did leaves no trace in the begin of the block that awaits it.
Operations of a kind are awaited alike: where those that leave a trace are awaited by the block that is launched next, so are
the others.
Exchanges (batched sends and receives) do not record their direction. It follows from the order in both ranks: what begins along
with a block was posted early, so it receives; what begins before all blocks has nothing to send; where blocks go on while an
operation runs, it is no receive; and of two between the same blocks the first sends what was computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.choosing import numbered
from parsers.analysis.jobs.replay.meetings import EXCHANGES, RECEIVES, SENDS
from parsers.analysis.jobs.replay.programs import EXACT_NS, LEAST_IDLE, NOTHING, Program, former_of
from parsers.analysis.jobs.replay.recording import Recording
from parsers.analysis.jobs.replay.slices import HOST_NS
from parsers.model import Floats, Ints

_USUALLY = 0.8
"""Share of the operations with a trace that are awaited by the next block, from which on those without one are."""
_LEAST = 2
_PART = 0.25
"""Share of instances in which a block has to wait for a send alone to be believed to await it."""
_OTHER = {SENDS: RECEIVES, RECEIVES: SENDS}
Side = tuple[int, int]
"""(program, operation)."""


def completed(recording: Recording, programs: Sequence[Program]) -> list[Program]:
    """Return programs with what their blocks await beyond what the begins of these show, and with directions of exchanges."""
    does = _directions(recording, programs)
    found = [_sends_alone(_one_way(recording, one, what), recording.end[one.operations])
             for one, what in zip(programs, does, strict=True)]  # fmt: skip
    received = _awaited_next(found)
    return [_like_others(one, received=received) for one in found]


def _one_way(recording: Recording, program: Program, does: Ints) -> Program:
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


def _directions(recording: Recording, programs: Sequence[Program]) -> list[Ints]:
    """Return what each operation of each program does, with those exchanges as sends or receives of which that is known."""
    found = [one.does.copy() for one in programs]
    pairs = _pairs(recording, programs)
    if not pairs:
        return found
    told: dict[Side, int] = {}
    early = any(programs[place].along[one] != NOTHING for place, one in pairs)

    def tell(side: Side, what: int) -> None:
        if side in pairs and side not in told and pairs[side] not in told:
            told[side], told[pairs[side]] = what, _OTHER[what]

    for side in pairs:
        program, one = programs[side[0]], side[1]
        if program.along[one] != NOTHING or program.before[one] == 0:
            tell(side, RECEIVES)
    between = _between(recording, programs, pairs)
    if not early:
        for side in pairs:
            if not _next(programs[side[0]])[side[1]]:
                tell(side, SENDS)
    for first, second in between:
        if first in told or second in told:
            for one, other in ((first, second), (second, first)):
                if one in told:
                    tell(other, _OTHER[told[one]])
    for first, second in between:
        tell(first, SENDS)
        tell(second, RECEIVES)
    for (place, one), what in told.items():
        found[place][one] = what
    return found


def _pairs(recording: Recording, programs: Sequence[Program]) -> dict[Side, Side]:
    """Return for each exchange of a program the one that it is a pair with in all instances."""
    of = recording.meetings.of
    place, number = np.full(len(of), -1), np.full(len(of), -1)
    for where, program in enumerate(programs):
        place[program.operations] = where
        number[program.operations] = np.arange(len(program.operations))[:, None]
    rows = np.flatnonzero((recording.meetings.does == EXCHANGES) & (recording.meetings.peer >= 0))
    order = rows[np.argsort(of[rows], kind="stable")]
    both = np.flatnonzero(of[order[1:]] == of[order[:-1]])
    one, other = order[both], order[both + 1]
    _, first = numbered(place[one], number[one], place[other], number[other])
    found: dict[Side, set[Side]] = {}
    for mine, yours in zip(one[first].tolist(), other[first].tolist(), strict=True):
        sides = (int(place[mine]), int(number[mine])), (int(place[yours]), int(number[yours]))
        found.setdefault(sides[0], set()).add(sides[1])
        found.setdefault(sides[1], set()).add(sides[0])
    return {side: next(iter(others)) for side, others in found.items()
            if len(others) == 1 and found[next(iter(others))] == {side}}  # fmt: skip


def _between(recording: Recording, programs: Sequence[Program], pairs: dict[Side, Side]) -> list[tuple[Side, Side]]:
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
