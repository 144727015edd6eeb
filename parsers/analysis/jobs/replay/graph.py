"""The graph of a job: blocks of slices and meetings of ranks, step by step, each after what it awaits.

A begin is recorded; what is awaited ended before it. The time between the latest of these ends and the begin is the lag, put on
that one edge; more than HOST_NS of it is the host's. So the unchanged replay is the recording.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.replay.awaiting import completed
from parsers.analysis.jobs.replay.meetings import EXCHANGES, RECEIVES
from parsers.analysis.jobs.replay.programs import NOTHING, Program, programs_of
from parsers.analysis.jobs.replay.recording import JobRecording, NotJudged, recorded
from parsers.analysis.jobs.replay.slices import HOST_NS, ROUNDING_NS
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints

BLOCK, OPERATION, BEFORE, ALONG = 0, 1, 2, 3
"""What an edge comes from: the end of a block or of an operation (of this step), the end of the step before, the begin of a
block."""
LAST, FINISH = 0, 1
"""What of the step before: the end of its last slice, or that and all operations that nothing else awaited."""
Tell = Callable[[int, int], object]
"""Called with what is done and what is to be done in all; it may raise to end the work."""


def quietly(_done: int, _total: int) -> None:
    """Tell nobody."""


Node = tuple[int, int, int]
"""(BLOCK or OPERATION, piece, number) of an own thing; operations that meet are one node: (OPERATION, -1, number)."""


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """What is awaited: kind and number of its source in the piece, and by rank of the piece what passes after its end in ns.

    lag stays as it is, host is the host's.
    """

    kind: int
    number: int
    lag: Floats
    host: Floats


@dataclass(frozen=True, slots=True, eq=False)
class StepPiece:
    """A program in one step: places of its ranks; blocks x ranks of what lies within blocks, in ns; what each thing awaits."""

    program: int
    rank: Ints
    rows: Ints
    busy: Floats
    host: Floats
    rest: Floats
    last: Floats
    awaited_blocks: list[list[Edge]]
    awaited_operations: list[list[Edge]]
    begin_blocks: dict[int, Floats]
    begin_operations: dict[int, Floats]
    tail: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Operations of a step that meet: (piece, operation) of each part, whose ranks follow one after the other.

    meeting is by these ranks; order sorts them by meeting, cuts are begins of meetings in that order, back is the place of its
    meeting by rank. least is what each takes without waiting, apart its recorded end minus that of the meeting, own whether it
    ends on its own; in ns.
    """

    parts: list[tuple[int, int]]
    meeting: Ints
    order: Ints
    cuts: Ints
    back: Ints
    least: Floats
    apart: Floats
    own: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class StepGraph:
    """One step: pieces, meetings, and the order in which they are replayed."""

    pieces: list[StepPiece]
    joints: list[Joint]
    order: list[Node]


@dataclass(frozen=True, slots=True, eq=False)
class JobGraph:
    """The graph of a job. recorded_end is steps x ranks, in ns; begin is the first begin of the job.

    alone_share is the part of the time of operations between two ranks of which the other one is not known.
    """

    recording: JobRecording
    programs: list[Program]
    steps: list[StepGraph]
    recorded_end: Floats
    begin: float
    measured: bool
    alone_share: float
    least: Floats = field(repr=False)

    @property
    def step_ns(self) -> Floats:
        """Duration of each recorded step: from the end of the one before in its last rank."""
        return lengths(self.recorded_end, self.begin)


def lengths(ends: Floats, begin: float) -> Floats:
    """Return the duration of steps from the ends of their ranks (.. x steps x ranks), in ns."""
    return np.diff(np.nanmax(ends, axis=-1), prepend=begin, axis=-1)


def has_kernels(graph: JobGraph) -> bool:
    """Return whether files tell the slices of all ranks in all steps."""
    return all((step, int(rank)) in graph.recording.slices for step, one in enumerate(graph.steps)
               for piece in one.pieces for rank in piece.rank)  # fmt: skip


def receives_unawaited(graph: JobGraph) -> bool:
    """Return whether files leave open what awaits some receive, as of those that are posted early and always in time."""
    return any((np.isin(one.does, (RECEIVES, EXCHANGES)) & (one.after == NOTHING)).any() for one in graph.programs)


def graph_of(frames: Mapping[str, pd.DataFrame | None], tell: Tell = quietly) -> JobGraph:
    """Return the graph of a job, from its frames by name: collectives, cluster_steps, groups, links, device_times.

    NotJudged if files do not tell enough, or if what they tell is no graph. tell is called with the steps done and all steps.
    """
    names = ("collectives", "cluster_steps", "groups", "device_times", "links")
    recording = recorded(*(frames.get(name) for name in names))
    programs = completed(recording, programs_of(recording))
    end_of, least, own = _meeting_times(recording)
    pieces = _pieces(recording, programs)
    _fill_edges(recording, programs, pieces)
    steps: list[StepGraph] = []
    for these in pieces:
        tell(len(steps), len(pieces))
        joints = _joints(recording, these, end_of, least, own)
        steps.append(StepGraph(these, joints, _ordered(these, joints)))
    ends = np.full((len(recording.steps), len(recording.ranks)), np.nan)
    begin = np.inf
    for step, these in enumerate(pieces):
        for piece in these:
            last = np.maximum(piece.last, recording.end[piece.rows].max(axis=0))
            ends[step, piece.rank] = last
            if step == 0:
                begin = min(begin, float(programs[piece.program].begins[0, programs[piece.program].instances(0)].min()),
                            float(recording.start[piece.rows].min()))  # fmt: skip
    alone = recording.meetings.alone
    between = float(recording.elapse[recording.between].sum())
    share = float(recording.elapse[alone].sum()) / between if between else 0.0
    measured = all(program.measured for program in programs)
    return JobGraph(recording, programs, steps, ends, begin, measured, share, least)


def _meeting_times(recording: JobRecording) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return the end of each meeting, what each operation takes without waiting, and which operations end on their own."""
    of, meetings = recording.meetings.of, recording.meetings
    end_of, least_of = np.full(meetings.number, -np.inf), np.full(meetings.number, np.inf)
    np.maximum.at(end_of, of, recording.end)
    np.minimum.at(least_of, of, recording.elapse)
    own = meetings.sends.copy()
    least = least_of[of]
    if own.any():  # a receive of data that had come takes its own time; a send always does
        sent = np.zeros(meetings.number, np.bool_)
        sent[of[own]] = True
        send_end = np.full(meetings.number, np.inf)
        send_end[of[own]] = recording.end[own]
        late = sent[of] & (recording.end - send_end[of] > HOST_NS)
        least = np.where(own | late, recording.elapse, least)
    return end_of, least, own


def _pieces(recording: JobRecording, programs: list[Program]) -> list[list[StepPiece]]:
    found: list[list[StepPiece]] = [[] for _ in recording.steps]
    for number, program in enumerate(programs):
        for step in np.unique(program.step).tolist():
            own = program.instances(step)
            busy, host = program.busy[:, own], program.host[:, own]
            begins, ends = program.begins[:, own], program.ends[:, own]
            found[step].append(StepPiece(
                number, program.rank[own], program.operations[:, own], busy, host, ends - begins - busy - host, ends[-1],
                [[] for _ in begins], [[] for _ in program.operations], {}, {},
                np.flatnonzero(program.after == NOTHING),
            ))  # fmt: skip
    return found


# Edges ---------------------------------------------------------------------------------------------------------------------


def _fill_edges(recording: JobRecording, programs: list[Program], pieces: list[list[StepPiece]]) -> None:
    """Add to each piece what its blocks and operations await, with lags."""
    before = _before(recording, programs, pieces)
    refuted = _refuted(recording, programs, pieces, before)
    after_waits = [lag_after_waits(program, recording.end[program.operations]) for program in programs]
    for step, these in enumerate(pieces):
        for piece in these:
            program = programs[piece.program]
            own = program.instances(step)
            begins, ends = program.begins[:, own], program.ends[:, own]
            starts, over = recording.start[piece.rows], recording.end[piece.rows]
            usual = after_waits[piece.program]
            earlier = None if step == 0 else tuple(one[step - 1, piece.rank] for one in before)
            for block in range(len(begins)):
                sources: list[tuple[int, int, Floats]] = []
                if block:
                    sources.append((BLOCK, block - 1, ends[block - 1]))
                elif earlier is not None:
                    sources.append((BEFORE, FINISH, earlier[FINISH]))
                sources += [(OPERATION, one, over[one]) for one in np.flatnonzero(program.after == block).tolist()]
                if sources:
                    piece.awaited_blocks[block] = _edges(begins[block], sources, usual)
                else:
                    piece.begin_blocks[block] = begins[block]
            for one in range(len(starts)):
                sources = []
                if program.before[one]:
                    sources.append((BLOCK, int(program.before[one]) - 1, ends[program.before[one] - 1]))
                elif earlier is not None and not refuted[piece.program][one, LAST]:
                    what = LAST if refuted[piece.program][one, FINISH] else FINISH
                    sources.append((BEFORE, what, earlier[what]))
                if program.along[one] != NOTHING:
                    sources.append((ALONG, int(program.along[one]), begins[program.along[one]]))
                known = dict.fromkeys((int(program.former[one]), int(program.cause[one])))
                sources += [(OPERATION, other, over[other]) for other in known if other >= 0]
                if sources:
                    piece.awaited_operations[one] = _edges(starts[one], sources)
                else:
                    piece.begin_operations[one] = starts[one]


def _edges(begin: Floats, sources: list[tuple[int, int, Floats]], usual: float = 0.0) -> list[Edge]:
    """Return edges from what ended, with the lag to a begin on the latest of them; by rank.

    usual is how long a lag may be that follows whatever is awaited: as much of it is on the other edges, too.
    """
    ends = np.stack([end for _, _, end in sources])
    latest = np.argmax(ends, axis=0)
    whole = np.maximum(begin - ends.max(axis=0), 0.0)
    found = []
    for place, (kind, number, end) in enumerate(sources):
        lag = begin - end
        lag = np.where(latest == place, lag, np.minimum(lag, np.minimum(whole, usual)))
        host = np.where(lag > HOST_NS, lag, 0.0)
        found.append(Edge(kind, number, lag - host, host))
    return found


_SELDOM = 0.5
_MOST = 0.95


def lag_after_waits(program: Program, over: Floats) -> float:
    """Return up to which length (ns) lags before blocks follow whatever is awaited; 0 if they are those of a busy host.

    A host that is late launches at its own time: after a long wait for an operation nothing is left of its lag. A lag that
    is as long after such waits as elsewhere is part of each launch. over are the ends of operations x instances.
    """
    waited, usual = [np.empty(0)], [np.empty(0)]
    for block in range(1, len(program.begins)):
        before = program.ends[block - 1]
        awaited = np.flatnonzero(program.after == block)
        last = over[awaited].max(axis=0) if len(awaited) else np.full(len(before), -np.inf)
        lag = program.begins[block] - np.maximum(last, before)
        waited.append(lag[last - before > HOST_NS])
        usual.append(lag[last <= before])
    after, elsewhere = np.maximum(np.concatenate(waited), 0.0), np.maximum(np.concatenate(usual), 0.0)
    if not len(after) or (len(elsewhere) and np.median(after) < _SELDOM * np.median(elsewhere)):
        return 0.0
    return float(np.quantile(after, _MOST))


def _before(recording: JobRecording, programs: list[Program], pieces: list[list[StepPiece]]) -> tuple[Floats, Floats]:
    """Return the end of the last slice, and of all that the next step awaits, by step and rank."""
    shape = len(recording.steps), len(recording.ranks)
    last, finish = np.full(shape, np.nan), np.full(shape, np.nan)
    first = np.full(shape, np.inf)
    for step, these in enumerate(pieces):
        for piece in these:
            own = programs[piece.program].instances(step)
            last[step, piece.rank] = piece.last
            first[step, piece.rank] = programs[piece.program].begins[0, own]
    held = [np.ones(len(program.operations), np.bool_) for program in programs]
    for step, these in enumerate(pieces[:-1]):
        for piece in these:
            after = first[step + 1, piece.rank]
            held[piece.program] &= (recording.end[piece.rows] <= after + ROUNDING_NS).all(axis=1)
    for step, these in enumerate(pieces):
        for place, piece in enumerate(these):
            tail = piece.tail[held[piece.program][piece.tail]]
            these[place] = piece = _with_tail(piece, tail)
            over = recording.end[piece.rows[tail]].max(axis=0) if len(tail) else -np.inf
            finish[step, piece.rank] = np.maximum(piece.last, over)
    return last, finish


def _with_tail(piece: StepPiece, tail: Ints) -> StepPiece:
    return StepPiece(
        piece.program, piece.rank, piece.rows, piece.busy, piece.host, piece.rest, piece.last, piece.awaited_blocks,
        piece.awaited_operations, piece.begin_blocks, piece.begin_operations, tail,
    )  # fmt: skip


def _refuted(
    recording: JobRecording, programs: list[Program], pieces: list[list[StepPiece]], before: tuple[Floats, Floats]
) -> list[NDArray[np.bool_]]:
    """Return for each program whether an operation somewhere began before LAST or FINISH of the step before it."""
    found = [np.zeros((len(program.operations), 2), np.bool_) for program in programs]
    for step, these in enumerate(pieces[1:], 1):
        for piece in these:
            for what, ends in enumerate(before):
                early = recording.start[piece.rows] < ends[step - 1, piece.rank] - ROUNDING_NS
                found[piece.program][:, what] |= early.any(axis=1)
    return found


# Meetings and order --------------------------------------------------------------------------------------------------------


def _joints(
    recording: JobRecording, pieces: list[StepPiece], end_of: Floats, least: Floats, own: NDArray[np.bool_]
) -> list[Joint]:
    """Return what meets in a step: operations of pieces that have a meeting in common are one."""
    of = recording.meetings.of
    above: dict[tuple[int, int], tuple[int, int]] = {}

    def top(one: tuple[int, int]) -> tuple[int, int]:
        while above.setdefault(one, one) != one:
            above[one] = one = above[above[one]]
        return one

    first: dict[int, tuple[int, int]] = {}
    for place, piece in enumerate(pieces):
        for number, rows in enumerate(piece.rows):
            one = place, number
            top(one)
            for meeting in of[rows].tolist():
                known = first.setdefault(meeting, one)
                if known != one and top(known) != top(one):
                    above[top(one)] = top(known)
    together: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for one in above:
        together.setdefault(top(one), []).append(one)
    return [_joint(recording, pieces, sorted(parts), end_of, least, own) for parts in together.values()]


def _joint(
    recording: JobRecording, pieces: list[StepPiece], parts: list[tuple[int, int]], end_of: Floats, least: Floats,
    own: NDArray[np.bool_],
) -> Joint:  # fmt: skip
    rows = np.concatenate([pieces[place].rows[number] for place, number in parts])
    meeting = recording.meetings.of[rows]
    order = np.argsort(meeting, kind="stable")
    ordered = meeting[order]
    begins = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    back = np.empty(len(rows), np.int64)
    back[order] = np.repeat(np.arange(len(begins)), np.diff(np.r_[begins, len(rows)]))
    apart = recording.end[rows] - end_of[meeting]
    return Joint(parts, meeting, order, begins, back, least[rows], apart, own[rows])


def _ordered(pieces: list[StepPiece], joints: list[Joint]) -> list[Node]:
    """Return blocks and meetings in an order in which each comes after all that it awaits. NotJudged for a circle."""
    joint_of = {part: number for number, joint in enumerate(joints) for part in joint.parts}
    sorter: TopologicalSorter[Node] = TopologicalSorter()

    def sources(place: int, edges: list[Edge]) -> list[Node]:
        return [
            (OPERATION, -1, joint_of[place, edge.number]) if edge.kind == OPERATION else (BLOCK, place, edge.number)
            for edge in edges if edge.kind != BEFORE
        ]  # fmt: skip

    for place, piece in enumerate(pieces):
        for block, edges in enumerate(piece.awaited_blocks):
            sorter.add((BLOCK, place, block), *sources(place, edges))
        for one, edges in enumerate(piece.awaited_operations):
            sorter.add((OPERATION, -1, joint_of[place, one]), *sources(place, edges))
    try:
        return list(sorter.static_order())
    except CycleError as error:
        raise NotJudged("circle") from error
