"""Simulated packets between the ranks of a job: sizes that are not aligned, and transfers by RDMA that are sent again.

Written from the manual before its author read the rules. An effect is, of packets that are not aligned (no multiple of 512
bytes, larger than that), the share of the time within a node that they take longer than aligned ones would (`alignment`); of
transfers sent again, how often a timeout of 4.3 s passed before a packet was sent again (`resent`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from parsers.cluster_frames import COLLECTIVES, GROUPS, PACKETS
from parsers.profiler.frame_parts import frame_of
from parsers.profiler.groups import text_of

KB, MB = 1 << 10, 1 << 20
MS = 1_000_000
RATE = {"HCCS": 18.0, "RDMA": 12.5}
"""Bytes per ns."""
BEFORE_FIRST = {"HCCS": 30_000.0, "RDMA": 80_000.0}
"""What a packet takes before its first byte, in ns."""
TIMEOUT = 4_300 * MS
"""After this, RoCE sends a packet again by default (4.096 µs times 2 to the power of 20)."""


@dataclass(frozen=True, slots=True)
class Send:
    """An operation of every step: how many packets of which size on which transport; slower: factor of their time."""

    name: str
    transport: str
    size: int
    count: int
    slower: float = 1.0


@dataclass(frozen=True, slots=True)
class Plan:
    """A job. resent: (operation, step, timeouts) that all its ranks take longer; held_ns: time that rank 0 holds up one step's
    operations by being late."""

    seed: int
    ranks: int
    steps: int
    sends: tuple[Send, ...]
    noise: float = 0.02
    resent: tuple[int, int, int] | None = None
    held_ns: float = 0.0


def frames(plan: Plan) -> dict[str, pd.DataFrame]:
    """Return packets, operations and the group as the frames that readers make of files."""
    chance = np.random.default_rng(plan.seed)
    packets, operations = [], []
    now = 1_764_246_877_000_000_000
    for step in range(plan.steps):
        for number, send in enumerate(plan.sends):
            again = plan.resent[2] * TIMEOUT if plan.resent and plan.resent[:2] == (number, step) else 0.0
            base = send.count * (send.size / RATE[send.transport] + BEFORE_FIRST[send.transport]) * send.slower
            waited = plan.held_ns if step == plan.steps // 2 else 0.0
            for rank in range(plan.ranks):
                transit = base * max(1 + plan.noise * chance.standard_normal(), 0.7) + again * chance.uniform(1.0, 1.01)
                wait = waited * (rank > 0) + chance.uniform(0.0, 0.1) * base
                packets.append((step + 1, send.name, rank, send.transport, send.size, send.count, transit))
                operations.append((step + 1, send.name, rank, now, transit + wait, transit, wait, send.size * send.count))
            now += int(base + again + waited) + 10 * MS
    return {"packets": _packets(packets), "collectives": _collectives(operations), "groups": _groups(plan)}


def lost(plan: Plan) -> float:
    """Return the share of the time within nodes that packets take longer than at the speed of others."""
    own = [(send.count * (send.size / RATE["HCCS"] + BEFORE_FIRST["HCCS"]), send.slower)
           for send in plan.sends if send.transport == "HCCS"]  # fmt: skip
    return sum(time * (slower - 1) for time, slower in own) / max(sum(time * slower for time, slower in own), 1.0)


def _packets(rows: list[tuple[int, str, int, str, int, int, float]]) -> pd.DataFrame:
    step, name, rank, transport, size, count, time = zip(*rows, strict=True)
    columns = {"step": step, "group": ["dp"] * len(rows), "name": name, "section": ["collective"] * len(rows), "rank": rank,
               "transport": transport, "size_bytes": size, "count": count, "time_ns": time}  # fmt: skip
    return frame_of(PACKETS, len(rows), {key: list(value) for key, value in columns.items()}, "made")


def _collectives(rows: list[tuple[int, str, int, int, float, float, float, int]]) -> pd.DataFrame:
    step, name, rank, start, elapse, transit, wait, size = zip(*rows, strict=True)
    columns = {
        "step": step, "group": ["dp"] * len(rows), "name": name, "kind": ["allreduce"] * len(rows),
        "section": ["collective"] * len(rows), "rank": rank, "start_ns": start, "elapse_ns": elapse, "transit_ns": transit,
        "wait_ns": wait, "synchronisation_ns": wait, "idle_ns": [0.0] * len(rows), "size_bytes": size,
        "idle_explained": ["yes"] * len(rows),
    }  # fmt: skip
    return frame_of(COLLECTIVES, len(rows), {key: list(value) for key, value in columns.items()}, "made")


def _groups(plan: Plan) -> pd.DataFrame:
    columns = {"group": ["dp"], "name": ["dp"], "kind": ["dp"], "ranks": [text_of(range(plan.ranks))], "size": [plan.ranks],
               "told": ["yes"], "sections": ["collective"]}  # fmt: skip
    return frame_of(GROUPS, 1, columns, "made")


def healthy(seed: int, transport: str = "HCCS", **told: object) -> Plan:
    """Return a job that sends 2 to 8 buckets of 16 to 256 MB in each step."""
    chance = np.random.default_rng([seed, 61])
    sends = [Send(f"hcom_allReduce__{number}", transport, int(chance.integers(16, 257)) * MB, int(chance.integers(1, 30)))
             for number in range(int(chance.integers(2, 9)))]  # fmt: skip
    plan = Plan(int(chance.integers(2**31)), int(chance.choice([2, 4, 8])), int(chance.integers(4, 13)), tuple(sends),
                float(chance.uniform(0.005, 0.03)))  # fmt: skip
    return replace(plan, **told)  # type: ignore[arg-type]


def odd(seed: int, size: int, share: float, slower: float, transport: str = "HCCS") -> Plan:
    """Return a job with packets of about `size` bytes, not aligned, for `share` of the time and `slower` times as long."""
    plan = healthy(seed, transport)
    own = size // 512 * 512 + 4 * (1 + seed % 120)
    time = sum(send.count * (send.size / RATE[transport] + BEFORE_FIRST[transport]) for send in plan.sends)
    each = (own / RATE[transport] + BEFORE_FIRST[transport]) * slower
    count = max(round(share / (1 - share) * time / each), 1)
    return replace(plan, sends=(*plan.sends, Send("hcom_allReduce__99", transport, own, count, slower)))


def unaligned(seed: int, effect: float) -> Plan:
    """Return a job that loses `effect` of its time within nodes: packets of 8 to 64 MB that take 1.5 to 3 times as long."""
    slower = float(np.random.default_rng([seed, 62]).uniform(1.5, 3.0))
    return odd(seed, (8 + seed % 56) * MB, min(effect * slower / (slower - 1), 0.95), slower)


def resent(seed: int, timeouts: float) -> Plan:
    """Return a job of which one operation by RDMA passes so many timeouts in one step."""
    plan = healthy(seed, "RDMA")
    return replace(plan, resent=(seed % len(plan.sends), seed % plan.steps, int(timeouts)))


def many(seed: int) -> Plan:
    """Return a job whose operations by RDMA take 6 to 10 s together, each of them less than half a second."""
    plan = healthy(seed, "RDMA", steps=4)
    sends = tuple(Send(f"hcom_allGather__{number}", "RDMA", 64 * MB, 60 + seed % 20) for number in range(22))
    return replace(plan, sends=sends)


EFFECTS: Mapping[str, tuple[float, ...]] = {"alignment": (0.02, 0.1, 0.3), "resent": (1, 2, 4)}
FAULTS: Mapping[str, Callable[[int, float], Plan]] = {"alignment": unaligned, "resent": resent}
HEALTHY: Mapping[str, Callable[[int], Plan]] = {
    "aligned": healthy,
    "aligned_rdma": lambda seed: healthy(seed, "RDMA"),
    "scalars": lambda seed: odd(seed, 0, 0.01 + seed % 10 / 100, 1.0),
    "odd_and_as_fast": lambda seed: odd(seed, (16 + seed % 48) * MB, 0.1 + seed % 5 / 10, 1.0),
    "odd_and_small": lambda seed: odd(seed, 4 * KB + seed % 60 * KB, 0.01, 1.0),
    "odd_by_rdma": lambda seed: odd(seed, (16 + seed % 48) * MB, 0.4, 1.0, "RDMA"),
    "many_by_rdma": many,
    "waits_for_a_late_rank": lambda seed: healthy(seed, "RDMA", held_ns=(5_000 + 100 * (seed % 100)) * MS),
    "large_within_a_node": lambda seed: replace(healthy(seed), sends=(Send("hcom_send__1", "HCCS", 64 * MB, 2_000),)),
    "large_by_rdma": lambda seed: replace(healthy(seed, "RDMA"), sends=(Send("hcom_send__1", "RDMA", 64 * MB, 1_000),)),
}
"""Healthy jobs: what is not aligned is as fast as the rest, and what takes 5 s by RDMA moves the 64 GB that this takes."""
