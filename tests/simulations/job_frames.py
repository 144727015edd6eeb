"""The rows of a simulated job as the frames that the readers make of its files."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from app.demo.simulated.job_records import PAIRS, JobRecord
from app.demo.simulated.programs import JobPlan
from parsers.analysis.jobs.lateness import waits
from parsers.cluster_frames import (
    CLUSTER_STEPS,
    COLLECTIVES,
    DEVICE_TIMES,
    GROUPS,
    LINKS,
    PACKETS,
    RANKS,
    STAGES,
)
from parsers.profiler.frame_parts import frame_of
from parsers.profiler.groups import text_of


def frames(rows: JobRecord) -> dict[str, pd.DataFrame]:
    """The frames of the job by name (`JOB_FRAMES`), as if they had been read from its files."""
    groups = _groups(rows)
    collectives = _collectives(rows)
    collectives["own_wait_ns"], collectives["lateness_ns"] = waits(collectives, groups)
    ranks = list(range(rows.plan.ranks))
    return {
        "groups": groups, "collectives": collectives, "cluster_steps": _cluster_steps(rows), "links": _link_frame(rows),
        "device_times": _device_times(rows), "packets": PACKETS.empty(), "stages": STAGES.empty(),
        "ranks": frame_of(RANKS, len(ranks), {"rank": ranks, "host": [_host(rows.plan, rank) for rank in ranks]}, "made"),
    }  # fmt: skip


def _host(plan: JobPlan, rank: int) -> str:
    return f"node{rank // plan.hosts}"


def _groups(rows: JobRecord) -> pd.DataFrame:
    used: dict[str, set[str]] = defaultdict(set)
    for row in rows.communication:
        used[row.group.name].add(row.section)
    columns = {
        "group": [one.hashed for one in rows.groups], "name": [one.name for one in rows.groups],
        "kind": [one.kind for one in rows.groups], "ranks": [text_of(one.ranks) for one in rows.groups],
        "size": [len(one.ranks) for one in rows.groups], "told": ["yes"] * len(rows.groups),
        "sections": [";".join(sorted(used[one.name], reverse=True)) for one in rows.groups],
    }  # fmt: skip
    return frame_of(GROUPS, len(rows.groups), columns, "made")


def _collectives(rows: JobRecord) -> pd.DataFrame:
    of = rows.communication
    columns: dict[str, Any] = {
        name: [getattr(row, name) for row in of]
        for name in (
            "step",
            "name",
            "section",
            "rank",
            "start_ns",
            "elapse_ns",
            "transit_ns",
            "wait_ns",
            "idle_ns",
            "size_bytes",
        )
    }
    hashes = {one.name: one.hashed for one in rows.groups}
    columns |= {
        "group": [hashes[row.group.name] for row in of], "kind": [row.kind.lower() for row in of],
        "synchronisation_ns": columns["wait_ns"],
        "idle_explained": ["yes" if rows.plan.waits_recorded or not row.size_bytes else "no" for row in of],
    }  # fmt: skip
    return frame_of(COLLECTIVES, len(of), columns, "made")


def _cluster_steps(rows: JobRecord) -> pd.DataFrame:
    of = rows.parts
    places = [rows.plan.place(row.rank) for row in of]
    columns = {
        "step": [row.step for row in of], "kind": ["rank"] * len(of), "rank": [row.rank for row in of],
        "device": [row.rank % rows.plan.hosts for row in of], "total_ns": [row.total for row in of],
        "computing_ns": [row.computing for row in of], "exposed_ns": [row.exposed for row in of],
        "overlapped_ns": [row.overlapped for row in of], "free_ns": [row.free for row in of],
        "communication_ns": [row.exposed + row.overlapped for row in of], "bubble_ns": [row.bubble for row in of],
        "stage_ns": [row.total - row.bubble for row in of], "own_bubble_ns": [row.pairs for row in of],
        "exposed_without_receive_ns": [row.exposed - row.bubble for row in of],
        "preparing_ns": [row.preparing for row in of], "bubble_source": ["exact"] * len(of),
        "dp": [place[0] for place in places], "pp": [place[1] for place in places], "tp": [place[2] for place in places],
    }  # fmt: skip
    return frame_of(CLUSTER_STEPS, len(of), columns, "made")


def _link_frame(rows: JobRecord) -> pd.DataFrame:
    of = rows.links
    hashes = {one.name: one.hashed for one in rows.groups}
    size: NDArray[np.float64] = np.array([row.size_bytes for row in of], np.float64)
    time: NDArray[np.float64] = np.array([row.time_ns for row in of], np.float64)
    columns = {
        "step": [row.step for row in of], "group": [hashes[row.group.name] for row in of],
        "name": [row.kind.lower() for row in of], "class": ["total"] * len(of), "rank": [row.rank for row in of],
        "section": ["p2p" if row.kind in PAIRS else "collective" for row in of], "source": [row.rank for row in of],
        "target": [row.target for row in of], "source_local": [row.group.ranks.index(row.rank) for row in of],
        "target_local": [row.group.ranks.index(row.target) for row in of], "transport": ["HCCS"] * len(of), "size_bytes": size,
        "time_ns": time, "bandwidth": size / time * 1e9,
    }  # fmt: skip
    return frame_of(LINKS, len(of), columns, "made")


def _device_times(rows: JobRecord) -> pd.DataFrame:
    kinds = {"send": "send", "receive": "receive", "batchSendRecv": "exchange"}
    made = [(row.step, "computing", row.rank, row.start_ns, row.end_ns, 1) for row in rows.computing]
    made += [
        (row.step, kinds.get(row.kind, "collective"), row.rank, row.start_ns, row.start_ns + round(row.elapse_ns), 0)
        for row in rows.communication
    ]
    made.sort(key=lambda row: (row[2], row[0], row[1], row[3]))
    names = ("step", "kind", "rank", "start_ns", "end_ns", "operations")
    columns = dict(zip(names, zip(*made, strict=True), strict=True))
    return frame_of(DEVICE_TIMES, len(made), columns, "made")
