"""What a profiler records of a simulated job, as the frames that the readers make of it.

`recorded` gives the rows, with which `frames` and `job_files.write` begin. Times are by the clock of the rank's host.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.demo.simulated.jobs import Simulated
from app.demo.simulated.programs import BANDWIDTH, Communicate, JobPlan, slow_link
from parsers.profiler.groups import hash_of

BEGIN_NS = 1_764_246_877_000_000_000
PAIRS = ("send", "receive", "batchSendRecv")
Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class RankGroup:
    """A group of ranks, with the name that metadata have and the hash that communication files have."""

    name: str
    kind: str
    ranks: tuple[int, ...]

    @property
    def hashed(self) -> str:
        """The hash of its name."""
        return hash_of(self.name)


@dataclass(frozen=True, slots=True)
class CommunicationRow:
    """One operation as communication.json of a rank has it; begin in whole ns, times in ns."""

    step: int
    rank: int
    group: RankGroup
    name: str
    kind: str
    start_ns: int
    elapse_ns: float
    transit_ns: float
    wait_ns: float
    size_bytes: int
    target: int

    @property
    def section(self) -> str:
        """p2p or collective."""
        return "p2p" if self.kind in PAIRS else "collective"

    @property
    def idle_ns(self) -> float:
        """What is neither transit nor wait."""
        return self.elapse_ns - self.transit_ns - self.wait_ns


@dataclass(frozen=True, slots=True)
class LinkRow:
    """Traffic of a rank with another one in a step, by group and kind of operation."""

    step: int
    rank: int
    group: RankGroup
    kind: str
    target: int
    size_bytes: int
    time_ns: float


@dataclass(frozen=True, slots=True)
class PartsRow:
    """The parts of a step of a rank, in ns."""

    step: int
    rank: int
    preparing: float
    computing: float
    overlapped: float
    exposed: float
    free: float
    total: float
    pairs: float
    """Exposed time of operations between two ranks."""
    bubble: float
    """The same as files have it: of send and receive alone."""


@dataclass(frozen=True, slots=True)
class ComputingRow:
    """A piece of computing by the clock of its rank."""

    step: int
    rank: int
    kind: str
    launched_ns: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class JobRecord:
    """All rows of a job; steps count from 1."""

    plan: JobPlan
    groups: list[RankGroup]
    communication: list[CommunicationRow]
    links: list[LinkRow]
    parts: list[PartsRow]
    computing: list[ComputingRow]


def recorded(job: Simulated) -> JobRecord:
    """What the profilers of all ranks record of the job."""
    groups = [RankGroup(f"group_name_{place}", *one) for place, one in enumerate(job.plan.groups())]
    clocks = _clocks(job.plan)
    communication = _communication(job, groups, clocks)
    computing = [
        ComputingRow(
            one.step + 1, one.rank, one.kind,
            *(clocks[one.rank] + round(time) for time in (one.launched, one.start, one.end)),
        )
        for one in job.pieces
    ]  # fmt: skip
    return JobRecord(job.plan, groups, communication, _links(job.plan, communication), _parts(job), computing)


def _clocks(plan: JobPlan) -> list[int]:
    """What each rank's clock shows when the job begins."""
    generator = np.random.default_rng([plan.seed, 1])
    hosts = generator.uniform(-plan.clock_ns, plan.clock_ns, plan.ranks // plan.hosts + 1)
    return [BEGIN_NS + round(hosts[rank // plan.hosts]) for rank in range(plan.ranks)]


def _communication(job: Simulated, groups: Sequence[RankGroup], clocks: Sequence[int]) -> list[CommunicationRow]:
    known = {(group.kind, rank): group for group in groups for rank in group.ranks}
    counted: dict[tuple[int, str], int] = defaultdict(int)
    made = []
    for one in sorted(job.operations, key=lambda one: (one.rank, one.step, one.index)):
        group = known[one.what.group, one.rank]
        number = counted[one.rank, group.name]
        counted[one.rank, group.name] += 1
        start = clocks[one.rank] + round(one.start)
        elapse = float(clocks[one.rank] + round(one.end) - start)
        transit = min(one.transfer, elapse) if job.plan.waits_recorded else 0.0
        wait = elapse - transit if job.plan.waits_recorded else 0.0
        made.append(CommunicationRow(
            one.step + 1, one.rank, group, f"hcom_{one.what.kind}__{group.hashed[-3:]}_{number}_1", one.what.kind, start,
            elapse, transit, wait, one.what.size_bytes, _target(one.what, one.rank),
        ))  # fmt: skip
    return made


def _target(what: Communicate, rank: int) -> int:
    """The rank that this one sends to: the next of the ring, or the other of two."""
    place = what.members.index(rank)
    return what.members[(place + 1) % len(what.members)]


def _links(plan: JobPlan, rows: Sequence[CommunicationRow]) -> list[LinkRow]:
    generator = np.random.default_rng([plan.seed, 2])
    sums: dict[tuple[int, int, str, str, int], list[Any]] = {}
    for row in rows:
        if row.kind != "receive":
            sums.setdefault((row.step, row.rank, row.group.name, row.kind, row.target), [row.group, 0])[1] += row.size_bytes
    fault = plan.fault if plan.fault and plan.fault.kind == "slow_link" else None
    pair = slow_link(plan, fault.place) if fault else (-1, -1)
    made = []
    for (step, rank, _, kind, target), (group, size) in sums.items():
        bandwidth = BANDWIDTH * (1.0 + plan.transfer_noise * np.clip(generator.standard_normal(), -4.0, 4.0))
        if fault and step > fault.since and (rank, target) == pair:
            bandwidth *= 1.0 - fault.size
        made.append(LinkRow(step, rank, group, kind, target, size, size / bandwidth))
    return made


# Parts of steps -------------------------------------------------------------------------------------------------------------


def _parts(job: Simulated) -> list[PartsRow]:
    shape = job.plan.steps, job.plan.ranks
    computing: dict[tuple[int, int], list[Span]] = defaultdict(list)
    pairs: dict[tuple[int, int], list[Span]] = defaultdict(list)
    named: dict[tuple[int, int], list[Span]] = defaultdict(list)
    others: dict[tuple[int, int], list[Span]] = defaultdict(list)
    for piece in job.pieces:
        computing[piece.step, piece.rank].append((piece.start, piece.end))
    for one in job.operations:
        place, span = (one.step, one.rank), (one.start, one.end)
        (pairs if one.what.kind in PAIRS else others)[place].append(span)
        if one.what.kind in PAIRS[:2]:
            named[place].append(span)
    made = []
    for place in np.ndindex(*shape):
        busy = united(computing[place])
        between = united(pairs[place] + others[place])
        exposed, communication, computed = without(between, busy), length(between), length(busy)
        first = min(begin for begin, _ in busy + between)
        total = max(end for _, end in busy + between) - first
        made.append(PartsRow(
            place[0] + 1, place[1], first - job.host_begin[place], computed, communication - exposed, exposed,
            total - computed - exposed, total, without(united(pairs[place]), busy), without(united(named[place]), busy),
        ))  # fmt: skip
    return made


def united(spans: Sequence[Span]) -> list[Span]:
    """Spans that cover the same time and neither touch nor overlap, in order."""
    made: list[Span] = []
    for begin, end in sorted(spans):
        if made and begin <= made[-1][1]:
            made[-1] = made[-1][0], max(made[-1][1], end)
        else:
            made.append((begin, end))
    return made


def length(spans: Sequence[Span]) -> float:
    """Their length, if they do not overlap."""
    return sum(end - begin for begin, end in spans)


def without(spans: Sequence[Span], others: Sequence[Span]) -> float:
    """The length of united spans that other united spans do not cover."""
    left, place = length(spans), 0
    for begin, end in spans:
        while place < len(others) and others[place][1] <= begin:
            place += 1
        at = place
        while at < len(others) and others[at][0] < end:
            left -= min(end, others[at][1]) - max(begin, others[at][0])
            at += 1
    return left
