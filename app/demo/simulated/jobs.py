"""Simulates training jobs of many ranks, event by event, in which it is known what is wrong and what it costs.

Each rank computes and communicates by the program of its place (`programs.py`). An operation begins in each of its ranks once
that rank is ready and ends in all of them when the last one came and the transfer is over. What a fault costs is known by
running the same job, with the same random numbers, without it.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.demo.simulated.programs import BANDWIDTH, Communicate, Compute, JobPlan, Key, program, slow_link

LAUNCH_NS = 8_000.0


@dataclass(frozen=True, slots=True)
class ComputingPiece:
    """A piece of computing; times in ns of the job's true clock."""

    step: int
    rank: int
    kind: str
    launched: float
    """When the host had launched it."""
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Operation:
    """What one rank sees of a communication operation; transfer is the time after the last rank came."""

    step: int
    rank: int
    index: int
    """Place among the operations of this rank in a step."""
    what: Communicate
    start: float
    end: float
    transfer: float


@dataclass(frozen=True, slots=True)
class Simulated:
    """All that happened in a job. The arrays of times have the shape (steps, ranks), in ns of the true clock."""

    plan: JobPlan
    pieces: list[ComputingPiece]
    operations: list[Operation]
    host_begin: NDArray[np.float64]
    """When the host began the step."""
    end: NDArray[np.float64]
    """When all of the step had ended on the device and the host knew."""

    @property
    def step_ns(self) -> NDArray[np.float64]:
        """Duration of each step of the job: from the end of the one before in its last rank."""
        return np.diff(self.end.max(axis=1), prepend=0.0)


class _Chances:
    """The random numbers of a job: the same for a plan whatever its fault is."""

    def __init__(self, plan: JobPlan, pieces: int) -> None:
        generator = np.random.default_rng(plan.seed)
        shape = (plan.steps, plan.ranks, pieces)
        self.piece = 1.0 + plan.noise * np.clip(generator.standard_normal(shape), -4.0, 4.0)
        self.piece *= 1.0 + 0.3 * (generator.random(shape) < plan.hiccups)
        self.gap = generator.exponential(plan.gaps * plan.computing_ns / pieces, shape)
        self.data = 1.0 + plan.unequal * generator.uniform(-1.0, 1.0, (plan.steps, plan.dp))
        self.loading = generator.exponential(plan.data * plan.computing_ns, (plan.steps, plan.ranks))
        self.transfer = 1.0 + plan.transfer_noise * np.clip(generator.standard_normal((plan.steps, 4096)), -4.0, 4.0)


class _Simulation:
    """A simulation: times of ranks, and operations that have begun and ended."""

    def __init__(self, plan: JobPlan, transfers: float) -> None:
        self.plan, self.transfers = plan, transfers
        self.programs = [program(plan, rank) for rank in range(plan.ranks)]
        self.chances = _Chances(plan, max(sum(isinstance(one, Compute) for one in own) for own in self.programs))
        self.arrived: dict[tuple[int, Key], dict[int, float]] = {}
        self.ended: dict[tuple[int, Key], tuple[float, float]] = {}
        self.pieces: list[ComputingPiece] = []
        self.begun: list[tuple[int, int, int, Communicate, float]] = []
        self.host_begin = np.zeros((plan.steps, plan.ranks))
        self.end = np.zeros((plan.steps, plan.ranks))
        self.ranks = [_Rank(self, rank) for rank in range(plan.ranks)]

    def run(self) -> Simulated:
        waiting = {rank.number for rank in self.ranks}
        while waiting:
            before = len(waiting), len(self.ended), len(self.begun)
            waiting = {number for number in waiting if not self.ranks[number].advance()}
            if (len(waiting), len(self.ended), len(self.begun)) == before:
                raise RuntimeError(f"ranks {sorted(waiting)} wait for each other")
        operations = [
            Operation(step, rank, index, what, start, *self.ended[step, what.key])
            for step, rank, index, what, start in self.begun
        ]
        return Simulated(self.plan, self.pieces, operations, self.host_begin, self.end)

    def begin(self, step: int, rank: int, index: int, what: Communicate, start: float) -> None:
        """A rank comes to an operation; the last one to come starts the transfer."""
        here = self.arrived.setdefault((step, what.key), {})
        here[rank] = start
        self.begun.append((step, rank, index, what, start))
        if len(here) == len(what.members):
            took = what.size_bytes / BANDWIDTH * self.transfers * self.transfer_noise(step, what.key)
            took /= link_share(self.plan, step, what)
            self.ended[step, what.key] = max(here.values()) + took, took

    def transfer_noise(self, step: int, key: Key) -> float:
        place = zlib.crc32(repr(key).encode()) % self.chances.transfer.shape[1]
        return float(self.chances.transfer[step, place])


def link_share(plan: JobPlan, step: int, what: Communicate) -> float:
    """The share of the usual bandwidth that the slowest link of an operation has."""
    fault = plan.fault
    if fault is None or fault.kind != "slow_link" or step < fault.since:
        return 1.0
    source, target = slow_link(plan, fault.place)
    ring = {(one, what.members[(place + 1) % len(what.members)]) for place, one in enumerate(what.members)}
    if what.key[0] == "p2p":
        ring = {(what.members[0], what.members[1])}
    return 1.0 - fault.size if (source, target) in ring else 1.0


class _Rank:
    """One rank: where it is in its program, and when its host and its device are ready again."""

    def __init__(self, run: _Simulation, number: int) -> None:
        self.run, self.number = run, number
        self.dp, self.stage, self.tp = run.plan.place(number)
        self.step = self.at = self.piece = self.index = 0
        self.host = self.device = self.last_begin = 0.0
        self.streams: dict[Key, tuple[int, Key]] = {}
        own = run.programs[number]
        self.operations = tuple(one.key for one in own if isinstance(one, Communicate))
        self.late_piece = min(1, sum(isinstance(one, Compute) for one in own) - 1)  # the second one, or the only one
        self.begin_step()

    def begin_step(self) -> None:
        plan, chances = self.run.plan, self.run.chances
        if self.step < plan.steps:
            self.run.host_begin[self.step, self.number] = self.host
            self.host += chances.loading[self.step, self.number]
            if not plan.late_within:
                self.host += self.late()
            self.last_begin = self.host
        self.at = self.piece = self.index = 0

    def late(self) -> float:
        plan, fault = self.run.plan, self.run.plan.fault
        if fault is None or fault.kind != "late_host" or fault.place != self.number or self.step < fault.since:
            return 0.0
        return fault.size * plan.computing_ns

    def slower(self) -> float:
        fault = self.run.plan.fault
        if fault is None or self.step < fault.since:
            return 1.0
        places = {"slow_rank": self.number, "slow_replica": self.dp, "stage": self.stage}
        return 1.0 + fault.size * (places.get(fault.kind, -1) == fault.place)

    def ends(self, keys: tuple[Key, ...]) -> float | None:
        """When the last of these operations of this step ended; None while one of them has not."""
        found = [self.run.ended.get((self.step, key)) for key in keys]
        return None if None in found else max((one[0] for one in found if one), default=0.0)

    def advance(self) -> bool:
        """Go on until an operation is needed that has not ended; return whether all steps are done."""
        own = self.run.programs[self.number]
        while self.step < self.run.plan.steps:
            while self.at < len(own):
                one = own[self.at]
                if not (self.compute(one) if isinstance(one, Compute) else self.communicate(one)):
                    return False
                self.at += 1
            ready = self.ends(self.operations)
            if ready is None:
                return False
            self.host = self.run.end[self.step, self.number] = max(ready, self.device, self.host)
            self.step += 1
            self.begin_step()
        return True

    def compute(self, one: Compute) -> bool:
        ready = self.ends(one.needs)
        if ready is None:
            return False
        plan, chances, place = self.run.plan, self.run.chances, (self.step, self.number, self.piece)
        self.host += LAUNCH_NS
        if plan.late_within and self.piece == self.late_piece:
            self.host = max(self.host, self.device) + self.late() if self.late() else self.host
        start = max(self.host, self.device, ready) + chances.gap[place]
        share = one.share * (plan.stages[self.stage] if plan.stages else 1.0)
        took = share * plan.computing_ns * chances.piece[place] * chances.data[self.step, self.dp] * self.slower()
        self.pieces_add(one.kind, start, start + took)
        self.last_begin, self.device = start, start + took
        self.piece += 1
        return True

    def pieces_add(self, kind: str, start: float, end: float) -> None:
        self.run.pieces.append(ComputingPiece(self.step, self.number, kind, self.host, start, end))

    def communicate(self, one: Communicate) -> bool:
        ready = self.ends(one.needs)
        before = self.streams.get(one.stream)
        free = self.run.ended.get(before) if before else (0.0, 0.0)
        if ready is None or free is None:
            return False
        self.host += LAUNCH_NS
        after = self.last_begin if one.with_begin else self.device
        self.run.begin(self.step, self.number, self.index, one, max(self.host, after, ready, free[0]))
        self.streams[one.stream] = self.step, one.key
        self.index += 1
        return True


def simulate(plan: JobPlan, *, transfers: float = 1.0) -> Simulated:
    """Run the job; transfers: factor of the time that all of them take."""
    return _Simulation(plan, transfers).run()
