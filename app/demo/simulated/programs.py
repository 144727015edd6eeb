"""What each rank of a simulated job does in a step, in the order of its launches: computing and communication operations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

BANDWIDTH = 20.0
"""Bytes per ns of a link: 20 GB/s."""


@dataclass(frozen=True, slots=True)
class Fault:
    """The one thing that is wrong with a job.

    kind is slow_rank (place: rank, size: share of its computing), slow_replica (place in the data-parallel dimension, share),
    slow_link (place: the rank whose link to the next one of its first group is slow; size: share of the bandwidth that is
    lost), late_host (place: rank; size: share of a step's computing that its host comes late) or stage (place: stage, share).
    """

    kind: str
    place: int
    size: float
    since: int = 0
    """First step with it, counted from 0."""


@dataclass(frozen=True, slots=True)
class JobPlan:
    """A job: its shape, what is usual in it, and its fault. Times of a step are shares of `computing_ns`."""

    seed: int = 0
    dp: int = 4
    tp: int = 1
    pp: int = 1
    micro: int = 1
    """Micro batches of a step; a multiple of pp where chunks > 1."""
    chunks: int = 1
    """Parts of the model in each rank: above 1 the pipeline is interleaved."""
    steps: int = 10
    mode: str = "buckets"
    """How replicas meet: meetings (computing waits for each), buckets (overlapped with backward) or sharded (as FSDP)."""
    collectives: int = 4
    """Operations of the data-parallel group in a step, 1 to 20; sharded: rounded to three per layer."""
    computing_ns: float = 100e6
    communication: float = 0.1
    """Transfers of the data-parallel group."""
    noise: float = 0.02
    transfer_noise: float = 0.02
    unequal: float = 0.0
    """How far data of a replica may differ in size from the usual, 0 to 0.15."""
    hiccups: float = 0.002
    """Share of pieces of computing that take 1.3 times as long."""
    gaps: float = 0.01
    """Launch gaps, in which the device is idle."""
    data: float = 0.01
    """Loading a batch before a step."""
    early: bool = True
    """Receives are posted while the piece of computing before them runs."""
    batched: bool = False
    """Sends and receives are called batchSendRecv."""
    stages: tuple[float, ...] = ()
    """Computing of each stage as a multiple of the usual."""
    clock_ns: float = 50e6
    """How far clocks of hosts differ."""
    hosts: int = 8
    """Ranks of one host."""
    waits_recorded: bool = True
    late_within: bool = True
    """A late host is late between two pieces of a step, not before it."""
    fault: Fault | None = None

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.dp * self.tp * self.pp

    def place(self, rank: int) -> tuple[int, int, int]:
        """(dp, pp, tp) of a rank; tp counts fastest, pp slowest."""
        return rank // self.tp % self.dp, rank // (self.tp * self.dp), rank % self.tp

    def rank(self, dp: int, pp: int, tp: int) -> int:
        """The rank at a place."""
        return tp + self.tp * (dp + self.dp * pp)

    def group(self, kind: str, rank: int) -> tuple[int, ...]:
        """Ranks of the group of this kind (dp, tp, pp) that a rank is in."""
        dp, pp, tp = self.place(rank)
        if kind == "dp":
            return tuple(self.rank(one, pp, tp) for one in range(self.dp))
        if kind == "tp":
            return tuple(self.rank(dp, pp, one) for one in range(self.tp))
        return tuple(self.rank(dp, one, tp) for one in range(self.pp))

    def groups(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """(kind, ranks) of all groups of more than one rank."""
        for kind in ("dp", "tp", "pp"):
            found = dict.fromkeys(self.group(kind, rank) for rank in range(self.ranks))
            yield from ((kind, ranks) for ranks in found if len(ranks) > 1)


Key = tuple[object, ...]
"""Names one communication operation in all its ranks, within a step."""


@dataclass(frozen=True, slots=True)
class Compute:
    """A piece of computing, after operations that have ended."""

    share: float
    kind: str
    needs: tuple[Key, ...] = ()


@dataclass(frozen=True, slots=True)
class Communicate:
    """An operation between ranks; it begins once the piece of computing launched before it has ended (or begun)."""

    key: Key
    kind: str
    group: str
    members: tuple[int, ...]
    size_bytes: int
    stream: Key
    with_begin: bool = False
    needs: tuple[Key, ...] = ()


def slow_link(plan: JobPlan, rank: int) -> tuple[int, int]:
    """(source, target) of the link from a rank to the next one of its first group: dp, else tp, else pp."""
    for kind in ("dp", "tp", "pp"):
        members = plan.group(kind, rank)
        if len(members) > 1:
            return rank, members[(members.index(rank) + 1) % len(members)]
    raise ValueError("a job of one rank has no links")


@dataclass(slots=True)
class _Program:
    plan: JobPlan
    rank: int
    found: list[Compute | Communicate] = field(default_factory=list)
    pending: tuple[Key, ...] = ()
    """What the next piece of computing waits for."""

    def compute(self, share: float, kind: str, *needs: Key) -> None:
        self.found.append(Compute(share, kind, (*self.pending, *needs)))
        self.pending = ()

    def meet(self, group: str, kind: str, share: float, *key: object, with_begin: bool = False) -> Key:
        """An operation of all ranks of the group, whose transfer takes `share`; nothing in a group of one rank."""
        members = self.plan.group(group, self.rank)
        whole: Key = (group, members[0], *key)
        if len(members) > 1:
            size = int(share * self.plan.computing_ns * BANDWIDTH)
            self.found.append(Communicate(whole, kind, group, members, size, (group, members[0]), with_begin))
        return whole

    def exists(self, key: Key) -> bool:
        return any(isinstance(one, Communicate) and one.key == key for one in self.found)


def program(plan: JobPlan, rank: int) -> list[Compute | Communicate]:
    """What the rank does in each step."""
    made = _Program(plan, rank)
    if plan.pp == 1 and plan.micro == 1 and plan.mode == "meetings":
        _meetings(made)
    elif plan.pp == 1 and plan.micro == 1 and plan.mode == "sharded":
        _sharded(made)
    else:
        _pipeline(made)
    return [one if isinstance(one, Communicate) else _existing(made, one) for one in made.found]


def _existing(made: _Program, one: Compute) -> Compute:
    return Compute(one.share, one.kind, tuple(key for key in one.needs if made.exists(key)))


def _meetings(made: _Program) -> None:
    count = made.plan.collectives
    for number in range(count):
        kind = "forward" if number < count / 3 else "backward"
        made.compute(1.0 / count, kind)
        made.pending = (made.meet("dp", "allReduce", made.plan.communication / count, number),)
    made.compute(0.02, "optimizer")


def _sharded(made: _Program) -> None:
    """Parameters are gathered one layer ahead, forward and backward; gradients are scattered behind backward."""
    layers, plan = max(made.plan.collectives // 3, 1), made.plan
    each = plan.communication / (3 * layers)
    order = [("forward", layer) for layer in range(layers)] + [("backward", layer) for layer in reversed(range(layers))]
    gathered = made.meet("dp", "allGather", each, "gather", *order[0])
    scattered: list[Key] = []
    for place, (kind, layer) in enumerate(order):
        made.compute((1.0 if kind == "forward" else 2.0) / (3.0 * layers), kind, gathered)
        if place + 1 < len(order):
            gathered = made.meet("dp", "allGather", each, "gather", *order[place + 1], with_begin=True)
        if kind == "backward":
            scattered.append(made.meet("dp", "reduceScatter", each, "scatter", layer))
    made.compute(0.02, "optimizer", *scattered)


def order_of(plan: JobPlan, stage: int) -> list[tuple[str, int, int]]:
    """(forward or backward, micro batch, chunk) in the order of 1F1B, or of the interleaved one by Narayanan et al. (2021)."""
    total = plan.micro * plan.chunks
    if plan.chunks == 1:
        ahead = min(plan.pp - stage - 1, total)
    else:
        ahead = min((plan.pp - stage - 1) * 2 + (plan.chunks - 1) * plan.pp, total)

    def at(number: int, kind: str) -> tuple[str, int, int]:
        chunk = number % (plan.pp * plan.chunks) // plan.pp if plan.chunks > 1 else 0
        micro = number // (plan.pp * plan.chunks) * plan.pp + number % plan.pp if plan.chunks > 1 else number
        return kind, micro, chunk if kind == "forward" else plan.chunks - 1 - chunk

    found = [at(number, "forward") for number in range(ahead)]
    for number in range(total - ahead):
        found += [at(ahead + number, "forward"), at(number, "backward")]
    return found + [at(number, "backward") for number in range(total - ahead, total)]


def _pipeline(made: _Program) -> None:
    plan = made.plan
    order = order_of(plan, plan.place(made.rank)[1])
    reduced: list[Key] = []
    for place, (kind, micro, chunk) in enumerate(order):
        got = _transfer(made, "receive", kind, micro, chunk)
        share = (1.0 if kind == "forward" else 2.0) / (3.0 * plan.micro * plan.chunks)
        last = place + 1 == len(order)
        parts = plan.collectives if last else 1
        for part in range(parts):
            made.compute(share / parts, kind, *(got if part == 0 else ()))
            met = made.meet("tp", "allReduce", 0.05 * share / parts, kind, micro, chunk, part)
            made.pending = (*made.pending, met)
            if last:
                reduced.append(made.meet("dp", "allReduce", plan.communication / parts, part))
        _transfer(made, "send", kind, micro, chunk, met)
    made.compute(0.02, "optimizer", *reduced)


def _transfer(made: _Program, what: str, kind: str, micro: int, chunk: int, *needs: Key) -> tuple[Key, ...]:
    """Receive what a piece needs from the stage before it, or send what it made to the one after it, if there is one."""
    plan = made.plan
    dp, stage, tp = plan.place(made.rank)
    own, last = chunk * plan.pp + stage, plan.pp * plan.chunks - 1
    onward = (kind == "forward") == (what == "send")
    other = own + (1 if onward else -1)
    if plan.pp == 1 or not 0 <= other <= last:
        return ()
    peer = plan.rank(dp, other % plan.pp, tp)
    source, target = (made.rank, peer) if what == "send" else (peer, made.rank)
    size = int(0.02 / (3.0 * plan.micro * plan.chunks) * plan.computing_ns * BANDWIDTH)
    key: Key = ("p2p", source, target, kind, micro, min(own, other))
    known = tuple(need for need in needs if made.exists(need))
    name = "batchSendRecv" if plan.batched else what
    early = what == "receive" and plan.early
    made.found.append(Communicate(key, name, "pp", (source, target), size, ("p2p", kind, source, target), early, known))
    return (key,)
