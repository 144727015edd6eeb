"""Simulates training jobs of a grid tensor x data x pipeline, operation by operation, and tells what a profiler would record.

Written without regard to the rules that judge jobs. Ranks compute, meet in operations, and go on together: what they wait for
each other follows from the times at which they come. A job differs from the next in its grid, micro batches, times, sizes, how
hosts differ, clocks (hours apart), drift over the steps and hiccups. What may be injected is in `Fault`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from parsers.analysis.jobs.bubble import at_most
from parsers.analysis.jobs.lateness import waits
from parsers.cluster_frames import CLUSTER_STEPS, COLLECTIVES, GROUPS, LINKS
from parsers.profiler.frame_parts import frame_of
from parsers.profiler.groups import hash_of, text_of

HOST = 8
"""Ranks of a host."""
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Grid:
    """Sizes of the dimensions, and micro batches of a step."""

    tensor: int
    data: int
    pipeline: int
    micro: int = 4

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.tensor * self.data * self.pipeline


@dataclass(frozen=True, slots=True)
class Fault:
    """A rank that computes `slower` longer and starts each piece of work `late` (share of a step) later, from a step on; a link
    (place in the list of links) with a share of its bandwidth."""

    rank: int = -1
    slower: float = 0.0
    late: float = 0.0
    since: int = 0
    link: int = -1
    share: float = 0.7


@dataclass(slots=True)
class Job:
    """Frames of a job, and its links in order."""

    groups: pd.DataFrame
    collectives: pd.DataFrame
    steps: pd.DataFrame
    links: pd.DataFrame
    pairs: list[tuple[int, int]]


@dataclass(slots=True)
class _Run:
    """What goes on: the true time of each rank, and what was recorded of a step. All arrays are (pipeline, data, tensor)."""

    random: np.random.Generator
    shape: tuple[int, int, int]
    now: Floats
    computing: Floats
    free: Floats
    apart: Floats
    rows: list[tuple[int, str, str, str, Floats, Floats, NDArray[np.bool_]]] = field(default_factory=list)
    step: int = 0
    number: int = 0

    def work(self, length: Floats, gap: Floats) -> None:
        self.now += length + gap
        self.computing += length
        self.free += gap

    def meet(self, kind: str, of: str, axis: int | None, transfer: float) -> None:
        """All ranks along an axis meet (None: all of the job): the operation ends for all of them at once."""
        begin = self.now.copy()
        last = begin.max(axis=axis, keepdims=True) if axis is not None else np.full((1, 1, 1), begin.max())
        spread = 1 + 0.01 * self.random.standard_normal(last.shape)
        end = np.broadcast_to(last + transfer * spread, self.shape)
        end = end + 2e3 * self.random.random(self.shape)  # ends differ by microseconds
        self._record(kind, of, "collective", begin, end, np.ones(self.shape, np.bool_))

    def receive(self, stage: int, ready: Floats, transfer: float) -> None:
        """The ranks of a stage wait for those of another one."""
        begin, who = self.now.copy(), np.zeros(self.shape, np.bool_)
        who[stage] = True
        end = begin.copy()
        end[stage] = np.maximum(begin[stage], ready) + transfer
        self._record("batchSendRecv", "pp", "p2p", begin, end, who)

    def _record(self, kind: str, of: str, section: str, begin: Floats, end: Floats, who: NDArray[np.bool_]) -> None:
        self.rows.append((self.step, f"hcom_{kind}__{self.number}", of, section, begin + self.apart, end - begin, who))
        self.number += 1
        self.now = end


def simulate(seed: int, grid: Grid, fault: Fault = Fault(), *, steps: int = 10, noise: float = 0.01) -> Job:
    """Simulate a job; the same seed, grid and fault give the same one."""
    random = np.random.default_rng(seed)
    shape = (grid.pipeline, grid.data, grid.tensor)
    number = np.arange(grid.ranks).reshape(shape)
    host = number // HOST
    hosts = int(host.max()) + 1
    piece = random.uniform(5e6, 30e6)  # ns of a forward pass of one micro batch
    launch, across, within = random.uniform(0.005, 0.03), random.uniform(1e6, 8e6), random.uniform(1e5, 1e6)
    own = 1 + 0.004 * random.standard_normal(hosts)[host] + 0.002 * random.standard_normal(shape)
    drift = random.uniform(-0.003, 0.003)
    rare = random.uniform(0.0, 0.003)
    apart = (random.uniform(-5, 5, hosts) * 3.6e12)[host] + 1.7e18
    run = _Run(random, shape, np.zeros(shape), np.zeros(shape), np.zeros(shape), apart)
    pieces = grid.micro * 3
    told: list[Floats] = []
    for step in range(steps):
        run.step, run.number = step, 0
        begun = run.now.copy()
        run.computing, run.free = np.zeros(shape), np.zeros(shape)
        usual = piece * own * (1 + drift * step) * (1 + noise * random.standard_normal(shape))
        gap = np.full(shape, launch * piece)
        slow = (number == fault.rank) & (step >= fault.since)
        usual = np.where(slow, usual * (1 + fault.slower), usual)
        gap = np.where(slow, gap + fault.late * piece * pieces / (2 * grid.micro), gap)
        hit = random.random(shape) < rare
        on_host = random.random(shape) < 0.5
        when = random.integers(2 * grid.micro, size=shape)
        before = len(run.rows)
        for backward in (False, True):
            stages = range(grid.pipeline)[::-1] if backward else range(grid.pipeline)
            ready: list[Floats | None] = [None] * grid.micro
            for stage in stages:
                for batch in range(grid.micro):
                    sent = ready[batch]
                    if sent is not None:
                        run.receive(stage, sent, within * 2)
                    length = np.zeros(shape)
                    idle = np.zeros(shape)
                    length[stage] = (usual * (2 if backward else 1) * (1 + 0.003 * random.standard_normal(shape)))[stage]
                    idle[stage] = gap[stage]
                    stall = 0.3 * piece * pieces * (hit & (when == batch + backward * grid.micro))
                    length[stage] += np.where(on_host, 0, stall)[stage]
                    idle[stage] += np.where(on_host, stall, 0)[stage]
                    for _ in range(2):
                        run.work(length / 2, idle / 2)
                        if grid.tensor > 1:
                            _meet_of_stage(run, stage, within)
                    ready[batch] = run.now[stage].copy()
        if grid.data > 1:
            for kind in ("reduceScatter", "reduceScatter", "allGather"):
                run.meet(kind, "dp", 1, across)
                run.work(0.02 * usual, 0.2 * gap)
        run.meet("allReduce", "default_group", None, within)
        exposed = _exposed(run.rows[before:], shape)
        told.append(np.stack([run.computing, run.free, exposed, run.now - begun, _p2p(run.rows[before:], shape)]))
    groups, hashes = _groups(grid, number)
    collectives = _collectives(run.rows, number, hashes)
    collectives["own_wait_ns"], collectives["lateness_ns"] = waits(collectives, groups)
    pairs, links = _links(random, grid, number, fault, steps)
    return Job(groups, collectives, _steps(np.stack(told), grid), links, pairs)


def _meet_of_stage(run: _Run, stage: int, transfer: float) -> None:
    """The ranks of one stage meet along the tensor dimension; the others go on with what they do."""
    before = run.now.copy()
    run.meet("allReduce", "tp", 2, transfer)
    step, name, of, section, begin, elapse, who = run.rows.pop()
    who = np.zeros_like(who)
    who[stage] = True
    run.rows.append((step, name, of, section, begin, elapse, who))
    run.now = np.where(who, run.now, before)


def _exposed(rows: list[Any], shape: tuple[int, int, int]) -> Floats:
    return sum((np.where(row[6], row[5], 0.0) for row in rows), np.zeros(shape))


def _p2p(rows: list[Any], shape: tuple[int, int, int]) -> Floats:
    return _exposed([row for row in rows if row[3] == "p2p"], shape)


def _groups(grid: Grid, number: NDArray[Any]) -> tuple[pd.DataFrame, dict[str, NDArray[Any]]]:
    """Return the groups, and by kind for each rank the place of its group among them."""
    rows: list[tuple[str, list[int]]] = []
    of: dict[str, NDArray[Any]] = {}
    for kind, axis in (("tp", 2), ("dp", 1), ("pp", 0)):
        moved = np.moveaxis(number, axis, -1).reshape(-1, number.shape[axis])
        place = np.empty(number.size, np.int64)
        for ranks in moved.tolist():
            place[ranks] = len(rows)
            rows.append((kind, ranks))
        of[kind] = place
    of["default_group"] = np.full(number.size, len(rows))
    rows.append(("default_group", [*range(number.size)]))
    columns = {
        "group": [hash_of(f"{kind}{place}") for place, (kind, _) in enumerate(rows)],
        "name": [f"{kind}{place}" for place, (kind, _) in enumerate(rows)], "kind": [kind for kind, _ in rows],
        "ranks": [text_of(ranks) for _, ranks in rows], "size": [len(ranks) for _, ranks in rows], "told": ["yes"] * len(rows),
        "sections": ["p2p" if kind == "pp" else "collective" for kind, _ in rows],
    }  # fmt: skip
    return frame_of(GROUPS, len(rows), columns, "simulated"), of


def _collectives(rows: list[Any], number: NDArray[Any], of: dict[str, NDArray[Any]]) -> pd.DataFrame:
    names = list(dict.fromkeys(row[1] for row in rows))
    kinds = [name.split("__")[0].removeprefix("hcom_").lower() for name in names]
    code = {name: place for place, name in enumerate(names)}
    counts = [int(row[6].sum()) for row in rows]
    rank = np.concatenate([number[row[6]] for row in rows])
    group = np.concatenate([of[row[2]][number[row[6]]] for row in rows])
    last = int(max(place.max() for place in of.values())) + 1
    labels = pd.Index([""] * last, dtype="str").to_numpy(object)
    for kind, place in of.items():
        for one in np.unique(place).tolist():
            labels[one] = hash_of(f"{kind}{one}")
    name = np.repeat([code[row[1]] for row in rows], counts)
    known = list(dict.fromkeys(kinds))
    start = np.concatenate([row[4][row[6]] for row in rows])
    section = np.repeat([row[3] == "p2p" for row in rows], counts).astype(np.int8)
    columns = {
        "step": np.repeat([row[0] + 100 for row in rows], counts), "rank": rank, "start_ns": start.astype(np.int64),
        "elapse_ns": np.concatenate([row[5][row[6]] for row in rows]), "size_bytes": np.full(len(rank), 1 << 20),
        "group": pd.Categorical.from_codes(group, pd.Index(labels, dtype="str")),
        "name": pd.Categorical.from_codes(name, pd.Index(names, dtype="str")),
        "kind": pd.Categorical.from_codes(np.array([known.index(one) for one in kinds])[name], pd.Index(known, dtype="str")),
        "section": pd.Categorical.from_codes(section, pd.Index(["collective", "p2p"], dtype="str")),
    }  # fmt: skip
    return frame_of(COLLECTIVES, len(rank), columns, "simulated")


def _steps(told: Floats, grid: Grid) -> pd.DataFrame:
    steps = len(told)
    flat = told.reshape(steps, 5, -1)
    step, rank = (place.ravel() for place in np.indices((steps, flat.shape[2])))
    computing, free, exposed, whole, p2p = (flat[:, place].ravel() for place in range(5))
    columns = {
        "step": step + 100, "rank": rank, "kind": ["rank"] * len(rank), "computing_ns": computing, "free_ns": free,
        "exposed_ns": exposed, "communication_ns": exposed, "overlapped_ns": np.zeros(len(rank)), "total_ns": whole,
        "own_bubble_ns": at_most(exposed, p2p), "bubble_source": ["at most"] * len(rank),
        "pp": rank // (grid.tensor * grid.data), "tp": rank % grid.tensor, "dp": rank // grid.tensor % grid.data,
    }  # fmt: skip
    return frame_of(CLUSTER_STEPS, len(rank), columns, "simulated")


def _links(
    random: np.random.Generator, grid: Grid, number: NDArray[Any], fault: Fault, steps: int
) -> tuple[list[tuple[int, int]], pd.DataFrame]:
    """Rings along the tensor and data dimensions, both ways; links within a host are of another transport than those across."""
    pairs: list[tuple[int, int]] = []
    for axis in (2, 1):
        for ring in np.moveaxis(number, axis, -1).reshape(-1, number.shape[axis]).tolist():
            if len(ring) > 1:
                pairs += [(a, b) for a, b in zip(ring, [*ring[1:], ring[0]], strict=True)]
                pairs += [(b, a) for a, b in zip(ring, [*ring[1:], ring[0]], strict=True)] if len(ring) > 2 else []
    pairs = list(dict.fromkeys(pairs))
    source, target = np.array(pairs, np.int64).reshape(-1, 2).T
    near = source // HOST == target // HOST
    speed = np.where(near, random.uniform(15e9, 60e9), random.uniform(5e9, 25e9))
    speed = speed * (1 + 0.02 * random.standard_normal(len(pairs)))
    if fault.link >= 0:
        speed[fault.link % len(pairs)] *= fault.share
    size = np.where(near, random.integers(1 << 21, 1 << 28), random.integers(1 << 21, 1 << 28))
    rate = speed * (1 + 0.01 * random.standard_normal((steps, len(pairs))))
    rate = np.where(random.random(rate.shape) < 0.002, rate / 2, rate)
    time = size / rate * 1e9
    step = np.repeat(np.arange(steps), len(pairs))
    columns = {
        "step": step + 100, "rank": np.tile(source, steps), "source": np.tile(source, steps), "target": np.tile(target, steps),
        "size_bytes": np.tile(size, steps), "time_ns": time.ravel(), "bandwidth": (size / time * 1e9).ravel(),
        "class": ["total"] * len(step), "section": ["collective"] * len(step), "name": ["allreduce"] * len(step),
        "transport": np.tile(np.where(near, "HCCS", "RDMA"), steps).tolist(),
    }  # fmt: skip
    return pairs, frame_of(LINKS, len(step), columns, "simulated")


def memory(seed: int, *, steps: int, leak_bytes: int, allocated: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Simulate allocated bytes over time: (times, values, begins and ends of steps, all in ns or bytes).

    A step allocates and frees blocks in random order; what stays varies by 2 MiB, and one step in fifty keeps 200 MiB more.
    """
    random = np.random.default_rng(seed)
    times: list[int] = []
    values: list[int] = []
    begins, ends = [], []
    now = 1_700_000_000_000_000_000
    for step in range(steps):
        begins.append(now)
        base = allocated + leak_bytes * step + int(random.normal(0, 2 * 2**20)) + (random.random() < 0.02) * 200 * 2**20
        blocks = random.integers(1 << 20, 1 << 27, 40)
        level = base
        for change in np.concatenate([blocks, -random.permutation(blocks)]).tolist():
            now += int(random.integers(1, 10**6))
            level += change
            times.append(now)
            values.append(level)
        now += int(random.integers(1, 10**6))
        ends.append(now)
    return np.array(times), np.array(values, np.int64), np.array(begins), np.array(ends)
