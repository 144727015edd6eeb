"""The longest path through the graph of a job, for several changes at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.replay.graph import (
    ALONG,
    BEFORE,
    BLOCK,
    FINISH,
    LAST,
    OPERATION,
    Edge,
    JobGraph,
    Joint,
    StepGraph,
    Tell,
    lengths,
    quietly,
)
from parsers.model import Floats

INSIDE = 4
"""Kind of place of the lags within a block; BLOCK and OPERATION are those before one."""
Place = tuple[int, int, int]
"""(program, kind, number) of lags."""
_SAME: Floats = np.ones((1, 1))
LEAST_EXACT = 0.005
"""Share of each step by which the unchanged replay may miss it."""


@dataclass(frozen=True, slots=True, eq=False)
class JobChange:
    """What would be different. computing and host are factors by step and rank: of slices, and of lags that are the host's.

    lasting is the factor of what each meeting takes without waiting; passing is whether its ranks do not wait for each other.
    eased are factors of the host's lags at single places of a program, by step and rank (steps x ranks). released are
    operations (program, number) that await the operations before them, and no block.
    """

    computing: Floats
    host: Floats
    lasting: Floats
    passing: NDArray[np.bool_]
    eased: Mapping[Place, Floats] = field(default_factory=dict)
    released: frozenset[tuple[int, int]] = frozenset()

    def __and__(self, other: JobChange) -> JobChange:
        """Return both changes together. Of factors for one rank or meeting the lower one counts."""
        return JobChange(
            _both(self.computing, other.computing), _both(self.host, other.host), _both(self.lasting, other.lasting),
            self.passing | other.passing,
            {key: _both(self.eased.get(key, _SAME), other.eased.get(key, _SAME)) for key in {**self.eased, **other.eased}},
            self.released | other.released,
        )  # fmt: skip


def _both(one: Floats, other: Floats) -> Floats:
    """Return the factor that differs more from 1 downwards; a factor above 1 counts only where nothing is reduced."""
    least = np.minimum(one, other)
    both: Floats = np.where(least < 1.0, least, np.maximum(one, other))
    return both


def unchanged(graph: JobGraph) -> JobChange:
    """Return the change that changes nothing."""
    shape = len(graph.recording.steps), len(graph.recording.ranks)
    meetings = graph.recording.meetings.number
    return JobChange(np.ones(shape), np.ones(shape), np.ones(meetings), np.zeros(meetings, np.bool_))


def replayed(graph: JobGraph, change: JobChange | None = None) -> Floats:
    """Return when each rank ends each step (steps x ranks) in ns after the first begin of the job, after a change."""
    found: Floats = replayed_all(graph, [change if change is not None else unchanged(graph)])[0]
    return found


def replayed_all(graph: JobGraph, changes: Sequence[JobChange], tell: Tell = quietly) -> Floats:
    """Return the ends of `replayed` for each of several changes: changes x steps x ranks. One pass over the graph.

    tell is called with the steps done and all steps.
    """
    ranks = len(graph.recording.ranks)
    found = np.full((len(changes), len(graph.steps), ranks), np.nan)
    lasting = np.stack([one.lasting for one in changes])
    passing = np.stack([one.passing for one in changes])
    before = (np.zeros((len(changes), ranks)), np.zeros((len(changes), ranks)))
    for number, step in enumerate(graph.steps):
        tell(number, len(graph.steps))
        computing = np.stack([one.computing[number] for one in changes])
        host = np.stack([one.host[number] for one in changes])
        one = _StepReplay(step, computing, host, lasting, passing, before, _eased(step, changes, number),
                          [one.released for one in changes])  # fmt: skip
        one.run()
        found[:, number] = one.ends(found[:, number])
        before = one.after()
    return found


def _eased(step: StepGraph, changes: Sequence[JobChange], number: int) -> dict[Place, Floats]:
    """Return the factors of single places of a step, by change and rank."""
    programs = {piece.program for piece in step.pieces}
    keys = {key for one in changes for key in one.eased if key[0] in programs}
    found = {}
    for key in keys:
        rows = [one.eased.get(key, _SAME) for one in changes]
        width = max(row.shape[-1] for row in rows)
        found[key] = np.stack([np.broadcast_to(row[number if len(row) > 1 else 0], width) for row in rows])
    return found


class _StepReplay:
    """The replay of one step; arrays are changes x ranks of a piece."""

    def __init__(
        self, graph: StepGraph, computing: Floats, host: Floats, lasting: Floats, passing: NDArray[np.bool_],
        before: tuple[Floats, Floats], eased: Mapping[Place, Floats], released: Sequence[frozenset[tuple[int, int]]],
    ) -> None:  # fmt: skip
        self._eased, self._released = eased, released
        self._graph, self._lasting, self._passing, self._before = graph, lasting, passing, before
        self._computing = [computing[:, piece.rank] for piece in graph.pieces]
        self._host = [host[:, piece.rank] for piece in graph.pieces]
        self._earlier = [tuple(one[:, piece.rank] for one in before) for piece in graph.pieces]
        self._blocks: list[list[Floats]] = [[_NONE] * len(piece.awaited_blocks) for piece in graph.pieces]
        self._begins: list[list[Floats]] = [[_NONE] * len(piece.awaited_blocks) for piece in graph.pieces]
        self._operations: list[list[Floats]] = [[_NONE] * len(piece.rows) for piece in graph.pieces]

    def run(self) -> None:
        """Replay all blocks and meetings."""
        for kind, place, number in self._graph.order:
            if kind == BLOCK:
                self._blocks[place][number] = self._block(place, number)
            else:
                self._meet(self._graph.joints[number])

    def _block(self, place: int, number: int) -> Floats:
        piece = self._graph.pieces[place]
        begin = self._begins[place][number] = self._begin(place, BLOCK, number)
        inside: Floats = piece.busy[number] * self._computing[place] + piece.host[number] * self._factor(place, INSIDE, number)
        inside += begin
        inside += piece.rest[number]
        return inside

    def _factor(self, place: int, kind: int, number: int) -> Floats:
        """Return the factor of the host's lags at a place."""
        eased = self._eased.get((self._graph.pieces[place].program, kind, number))
        return self._host[place] if eased is None else self._host[place] * eased[:, self._graph.pieces[place].rank]

    def _begin(self, place: int, kind: int, number: int) -> Floats:
        piece = self._graph.pieces[place]
        edges = (piece.awaited_blocks if kind == BLOCK else piece.awaited_operations)[number]
        found = (piece.begin_blocks if kind == BLOCK else piece.begin_operations).get(number)
        free = [kind == OPERATION and (piece.program, number) in one for one in self._released]
        for edge in edges:
            end = self._end(place, edge) + edge.lag
            if edge.host.any():
                end += edge.host * self._factor(place, kind, number)
            if edge.kind == BLOCK and any(free):
                end = np.where(np.array(free)[:, None], -np.inf, end)
            found = end if found is None else np.maximum(found, end, out=end)
        assert found is not None
        return found

    def _end(self, place: int, edge: Edge) -> Floats:
        if edge.kind == BEFORE:
            return self._earlier[place][edge.number]
        ends = {BLOCK: self._blocks, OPERATION: self._operations, ALONG: self._begins}[edge.kind]
        return ends[place][edge.number]

    def _meet(self, joint: Joint) -> None:
        pieces = self._graph.pieces
        shape = len(self._lasting), 0
        begins = []
        for place, number in joint.parts:
            begin = self._begin(place, OPERATION, number)
            begins.append(np.broadcast_to(begin, (shape[0], begin.shape[-1])))
        arrived = begins[0] if len(begins) == 1 else np.concatenate(begins, axis=1)
        ready = arrived - joint.apart + joint.least * self._lasting[:, joint.meeting]
        last = np.maximum.reduceat(ready[:, joint.order], joint.cuts, axis=1)[:, joint.back]
        alone = joint.own | self._passing[:, joint.meeting]
        ends = np.where(alone, ready, last) + joint.apart
        at = 0
        for place, number in joint.parts:
            size = len(pieces[place].rank)
            self._operations[place][number] = ends[:, at : at + size]
            at += size

    def ends(self, like: Floats) -> Floats:
        """Return when each rank of the job ends the step; NaN for ranks without it."""
        found = np.full(like.shape, np.nan)
        for place, piece in enumerate(self._graph.pieces):
            found[:, piece.rank] = np.maximum.reduce([self._blocks[place][-1], *self._operations[place]])
        return found

    def after(self) -> tuple[Floats, Floats]:
        """Return LAST and FINISH for the next step, by rank; ranks without this step keep those they had."""
        last, finish = self._before[LAST].copy(), self._before[FINISH].copy()
        for place, piece in enumerate(self._graph.pieces):
            last[:, piece.rank] = self._blocks[place][-1]
            tail = [self._operations[place][number] for number in piece.tail.tolist()]
            finish[:, piece.rank] = np.maximum.reduce([self._blocks[place][-1], *tail])
        return last, finish


_NONE: Floats = np.empty((0, 0))


def exact(graph: JobGraph) -> bool:
    """Return whether the unchanged replay is the recording, within LEAST_EXACT of every step."""
    ends = replayed(graph)
    recorded, found = graph.step_ns, lengths(ends, graph.begin)
    return bool((np.abs(found - recorded) <= LEAST_EXACT * recorded).all())
