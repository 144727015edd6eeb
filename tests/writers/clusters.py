"""Makes the frames of jobs of many ranks in which it is known what is wrong: one slow rank, one slow link, or nothing.

Ranks of a group compute, meet in an operation, and go on together, several times a step. Computing varies by `noise`, and now
and then a rank has a hiccup. Also writes such jobs as files (`write`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from parsers.analysis.jobs.lateness import waits
from parsers.cluster_frames import CLUSTER_STEPS, COLLECTIVES, GROUPS, LINKS
from parsers.profiler.frame_parts import frame_of
from parsers.profiler.groups import hash_of, ranks_of, text_of

COMPUTING_NS = 100e6
TRANSFER_NS = 5e6
MEETINGS = 5
"""Operations of a group in a step."""
LINK_BYTES = 64_000_000
LINK_BYTES_PER_S = 20e9


@dataclass(frozen=True, slots=True)
class Made:
    """The frames of a made job."""

    groups: pd.DataFrame
    collectives: pd.DataFrame
    steps: pd.DataFrame
    links: pd.DataFrame


def make(
    seed: int, *, ranks: int = 64, group: int = 8, steps: int = 10, noise: float = 0.01, hiccups: float = 0.002,
    slow_rank: int = -1, slower: float = 0.05, late_ns: float = 0.0, since: int = 1, slow_link: int = -1,
    link_share: float = 0.7,
) -> Made:
    """Make a job of groups of neighbouring ranks.

    slow_rank computes `slower` longer from step `since` on, or does nothing for late_ns before. slow_link is the rank whose
    link to the next one has link_share of the bandwidth of the others.
    """  # fmt: skip
    random = np.random.default_rng(seed)
    computing = COMPUTING_NS * (1.0 + noise * random.standard_normal((steps, ranks)))
    computing *= 1.0 + 0.3 * (random.random((steps, ranks)) < hiccups)
    free = np.abs(0.05 * COMPUTING_NS * (1.0 + noise * random.standard_normal((steps, ranks))))
    if slow_rank >= 0:
        computing[since - 1 :, slow_rank] *= 1.0 + slower
        free[since - 1 :, slow_rank] += late_ns
    members = [range(first, min(first + group, ranks)) for first in range(0, ranks, group)]
    shares = random.dirichlet(np.full(MEETINGS, 200.0), steps)
    arrival = shares[:, :, None] * (computing + free)[:, None, :]
    elapse = np.empty_like(arrival)
    for own in members:
        part = arrival[:, :, own.start : own.stop]
        transfer = TRANSFER_NS * (1.0 + noise * random.standard_normal((steps, MEETINGS, 1)))
        elapse[:, :, own.start : own.stop] = part.max(axis=2, keepdims=True) - part + transfer
    return Made(*_frames(computing, free, elapse, members, _links(random, ranks, slow_link, link_share, noise)))


def _links(random: np.random.Generator, ranks: int, slow: int, share: float, noise: float) -> pd.DataFrame:
    source = np.arange(ranks)
    bandwidth = LINK_BYTES_PER_S * (1.0 + noise * random.standard_normal(ranks))
    if slow >= 0:
        bandwidth[slow] *= share
    size = np.full(ranks, LINK_BYTES)
    columns = {
        "source": source, "target": (source + 1) % ranks, "rank": source, "size_bytes": size, "time_ns": size / bandwidth * 1e9,
        "bandwidth": bandwidth, "class": ["total"] * ranks, "transport": ["HCCS"] * ranks, "step": np.ones(ranks),
    }  # fmt: skip
    return frame_of(LINKS, ranks, columns, "made")


def _frames(
    computing: NDArray[Any], free: NDArray[Any], elapse: NDArray[Any], members: Sequence[range], links: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    steps, meetings, ranks = elapse.shape
    names = [hash_of(f"group_{place}") for place in range(len(members))]
    groups = frame_of(
        GROUPS, len(members),
        {
            "group": names, "name": [f"group_{place}" for place in range(len(members))], "kind": ["dp"] * len(members),
            "ranks": [text_of(own) for own in members], "size": [len(own) for own in members], "told": ["yes"] * len(members),
            "sections": ["collective"] * len(members),
        },
        "made",
    )  # fmt: skip
    step, meeting, rank = (place.ravel() for place in np.indices((steps, meetings, ranks)))
    of = [names[next(place for place, own in enumerate(members) if one in own)] for one in range(ranks)]
    texts = [f"hcom_allReduce__{one}" for one in range(meetings)]
    columns = {
        "step": step + 1, "rank": rank, "elapse_ns": elapse.ravel(), "section": ["collective"] * len(step),
        "kind": ["allreduce"] * len(step),
        "group": pd.Categorical.from_codes(np.array([names.index(one) for one in of])[rank], pd.Index(names, dtype="str")),
        "name": pd.Categorical.from_codes(meeting, pd.Index(texts, dtype="str")),
    }  # fmt: skip
    collectives = frame_of(COLLECTIVES, len(step), columns, "made")
    collectives["own_wait_ns"], collectives["lateness_ns"] = waits(collectives, groups)
    exposed = elapse.sum(axis=1)
    number, rank = (place.ravel() for place in np.indices((steps, ranks)))
    parts = {
        "step": number + 1, "rank": rank, "kind": ["rank"] * len(number), "computing_ns": computing.ravel(),
        "free_ns": free.ravel(), "exposed_ns": exposed.ravel(), "total_ns": (computing + free + exposed).ravel(),
    }  # fmt: skip
    return groups, collectives, frame_of(CLUSTER_STEPS, len(number), parts, "made"), links


# As files --------------------------------------------------------------------------------------------------------------------


def write(folder: Path, *, ranks: int, steps: int, operations: int, seed: int = 0) -> None:
    """Write a job as torch_npu writes it: both communication files and step_trace_time.csv of each rank."""
    random = np.random.default_rng(seed)
    group = 8
    for rank in range(ranks):
        base = folder / f"host{rank // 8}_{rank}_20261120233012998_ascend_pt"
        (base / "ASCEND_PROFILER_OUTPUT").mkdir(parents=True)
        first = rank // group * group
        members = [*range(first, first + group)]
        told = {f"group_{first}": {"group_name": "tp", "group_rank": rank - first, "global_ranks": members}}
        about = {"distributed_args": {"rank": rank, "world_size": ranks}, "parallel_group_info": told}
        (base / "profiler_metadata.json").write_text(json.dumps(about))
        (base / f"profiler_info_{rank}.json").write_text(json.dumps({"rank_id": rank}))
        hashed = hash_of(f"group_{first}")
        output = base / "ASCEND_PROFILER_OUTPUT"
        (output / "communication.json").write_text(json.dumps(communication(random, steps, operations, hashed)))
        (output / "communication_matrix.json").write_text(json.dumps(matrix(random, steps, rank - first, group, hashed)))
        lines = ["Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,Preparing"]
        rest = "2000.5,100.25,2100.75,3000.125,105000.0,0.0,12.5"
        lines += [f"{step},{random.normal(1e5, 1e3):.3f},{rest}" for step in range(1, steps + 1)]
        (output / "step_trace_time.csv").write_text("\n".join(lines) + "\n")


def write_made(
    folder: Path, made: Made, *, hosts: int = 0, parallel: dict[str, int] | None = None, day: int = 1
) -> None:
    """Write a made job as torch_npu writes it, with `hosts` ranks of a host in the names of directories (0: none).

    day is the day of January in these names: a job that is written twice was profiled twice.
    """
    ranks = sorted(made.steps["rank"].unique().tolist())
    group = made.collectives["group"].astype("str")
    named = zip(*(made.groups[name].tolist() for name in ("name", "kind", "ranks")), strict=True)
    told = {name: {"group_name": kind, "global_ranks": ranks_of(text)} for name, kind, text in named}
    sizes = {f"{name}_model_parallel_size".replace("data_model", "data"): size for name, size in (parallel or {}).items()}
    own_steps, own = dict(list(made.steps.groupby("rank"))), dict(list(made.collectives.assign(group=group).groupby("rank")))
    for rank in ranks:
        host = f"node-{rank // hosts}_{1000 + rank}_202601{day:02d}000000000_" if hosts else f"rank_{rank}_"
        base = folder / f"{host}ascend_pt"
        output = base / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        mine = {name: one for name, one in told.items() if rank in one["global_ranks"]}
        about = {"distributed_args": {"rank": rank, "world_size": len(ranks), **sizes}, "parallel_group_info": mine}
        (base / "profiler_metadata.json").write_text(json.dumps(about))
        (base / f"profiler_info_{rank}.json").write_text(json.dumps({"rank_id": rank}))
        lines = ["Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,Preparing"]
        lines += [
            f"{row.step},{row.computing_ns / 1e3:.3f},{row.exposed_ns / 1e3:.3f},0.0,{row.exposed_ns / 1e3:.3f},"
            f"{row.free_ns / 1e3:.3f},{row.total_ns / 1e3:.3f},0.0,12.5"
            for row in own_steps[rank].itertuples(index=False)
        ]
        (output / "step_trace_time.csv").write_text("\n".join(lines) + "\n")
        found: dict[str, Any] = {}
        for row in own[rank].itertuples(index=False):
            entries = found.setdefault(f"step{row.step}", {"p2p": {}, "collective": {}})["collective"]
            elapse = row.elapse_ns / 1e6
            entries[f"{row.name}@{row.group}"] = {
                "Communication Time Info": {
                    "Start Timestamp(us)": 1764246877147674.5, "Elapse Time(ms)": elapse, "Transit Time(ms)": elapse,
                    "Wait Time(ms)": 0.0, "Synchronization Time(ms)": 0.0, "Idle Time(ms)": 0.0,
                },
                "Communication Bandwidth Info": {},
            }  # fmt: skip
        (output / "communication.json").write_text(json.dumps(found))


def communication(random: np.random.Generator, steps: int, operations: int, group: str) -> Any:
    """Return the content of a communication.json."""
    nothing = {
        "Transit Size(MB)": 0, "Transit Time(ms)": 0, "Bandwidth(GB/s)": 0, "Large Packet Ratio": 0,
        "Size Distribution": {},
    }  # fmt: skip
    found: dict[str, Any] = {}
    for step in range(1, steps + 1):
        entries = {}
        for operation in range(operations):
            size, time = float(random.integers(1, 10**9)) / 1e6, float(random.random() * 10)
            moved = {"Transit Size(MB)": size, "Transit Time(ms)": time, "Bandwidth(GB/s)": 20.0, "Large Packet Ratio": 1.0}
            entries[f"hcom_allReduce__{group[-3:]}_{operation}_{step}@{group}"] = {
                "Communication Time Info": {
                    "Start Timestamp(us)": 1764246877147674.5 + operation * 1000, "Elapse Time(ms)": time + 1.25,
                    "Transit Time(ms)": time, "Wait Time(ms)": 0.25, "Synchronization Time(ms)": 0.25, "Idle Time(ms)": 1.0,
                    "Wait Time Ratio": 0.1, "Synchronization Time Ratio": 0.1,
                },
                "Communication Bandwidth Info": {
                    "RDMA": nothing, "HCCS": {**moved, "Size Distribution": {str(size / 2): [2, time]}}, "PCIE": nothing,
                    "SDMA": {**moved, "Size Distribution": {}}, "SIO": nothing,
                },
            }  # fmt: skip
        found[f"step{step}"] = {"p2p": {}, "collective": entries}
    return found


def matrix(random: np.random.Generator, steps: int, local: int, group: int, hashed: str) -> Any:
    """Return the content of a communication_matrix.json."""
    found: dict[str, Any] = {}
    for step in range(1, steps + 1):
        keys = {}
        for kind in ("allreduce", "allgather", "reducescatter"):
            for place in ("top1", "middle", "bottom1", "bottom2", "bottom3", "total"):
                keys[f"{kind}-{place}@{hashed}"] = {
                    f"{local}-{target}": {
                        "Transport Type": "LOCAL" if target == local else "HCCS",
                        "Transit Size(MB)": float(random.random() * 100), "Transit Time(ms)": float(random.random()),
                        "Bandwidth(GB/s)": 20.0, "Op Name": f"hcom_{kind}__1_1_{step}",
                    }
                    for target in range(group)
                }  # fmt: skip
        found[f"step{step}"] = {"p2p": {}, "collective": keys}
    return found
