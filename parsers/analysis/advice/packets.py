"""Advice from the packets of communication: small ones, unaligned ones, sent again, and slow beside a matrix multiplication.

Limits are those of msprof-analyze: packets below 16 MB (RDMA: 1 MB) are small, sizes that are no multiple of 512 bytes slow,
RDMA that takes more than 4 s was sent again, and links of a node reach 18 GB/s.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.advice.cluster import OPERATION_FILES
from parsers.analysis.advice.model import MOST_ROWS, Advice, Frames, Told, Unchecked, frame_of, needed
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints

Bools = NDArray[np.bool_]
NODE = ("HCCS", "PCIE", "SIO", "SDMA")
"""Transports within a node, by SDMA."""
SMALL_BYTES = {"SDMA": 16_000_000, "RDMA": 1_000_000}
ALIGNED_BYTES = 512
LEAST_COST = 0.001
"""Packets that cost less than this fraction of a step deserve no advice."""
LEAST_BYTES = 1_000_000
"""Bytes below which the bandwidth of an operation is that of starting it."""
LEAST_BESIDE = 0.1
"""Part of an operation that runs beside a matrix multiplication from which on this counts."""
_OPERATION = ["step", "group", "name", "rank"]
_KERNEL_FILES = ("kernel_details", "database", "op_summary")


def small(frames: Frames, limit: float) -> Advice | None:
    """More than this fraction of the packets of one transport is small.

    Cost: what they take longer than their bytes would at the bandwidth of the large ones, of the rank with the most; unknown
    without large ones.
    """
    packets = _packets(frames)
    best: Advice | None = None
    for family, own in packets.groupby("family", observed=True, sort=True):
        is_small = (own["size_bytes"] < SMALL_BYTES[str(family)]).to_numpy()
        share = float(own["count"][is_small].sum()) / max(float(own["count"].sum()), 1.0)
        if not share > limit:
            continue
        cost = _cost(own, is_small)
        if _negligible(cost, frames):
            continue
        shown = _rows(own, is_small)
        told: Told = {"family": str(family), "small_share": share, "limit": f"{SMALL_BYTES[str(family)] / 1e6:g} MB"}
        one = Advice("small_packets", share, limit, cost, shown, "communication", (str(family),), told=told)
        if best is None or _higher(one.cost_ns, best.cost_ns):
            best = one
    return best


def alignment(frames: Frames, limit: float) -> Advice | None:
    """Packets within nodes whose size above 512 bytes is no multiple of that take more than this fraction of their time."""
    packets = _packets(frames)
    own = packets[(packets["family"] == "SDMA") & (packets["size_bytes"] > ALIGNED_BYTES)]
    if own.empty:
        raise Unchecked(reason="no_packets")
    odd = (own["size_bytes"] % ALIGNED_BYTES != 0).to_numpy()
    whole = float(own["time_ns"].sum())
    share = float(own["time_ns"][odd].sum()) / whole if whole > 0.0 else 0.0
    if not share > limit:
        return None
    cost = _cost(own, odd)
    if _negligible(cost, frames):
        return None
    return Advice("alignment", share, limit, cost, _rows(own, odd), "communication", told={"odd_share": share})


def retransmission(frames: Frames, limit: float) -> Advice | None:
    """An operation over RDMA takes longer than this (ns) to transfer, and in the fastest rank of its group too.

    Cost: what such operations take in their fastest rank, per step.
    """
    packets, collectives = _packets(frames), needed(frames, "collectives", *OPERATION_FILES)
    sent = packets[packets["family"] == "RDMA"]
    if sent.empty:
        raise Unchecked(reason="no_packets")
    keys = ["step", "group", "name"]
    transit = sent.groupby(_OPERATION, observed=True)["time_ns"].sum().groupby(level=keys, observed=True).max()
    fastest = collectives.groupby(keys, observed=True)["elapse_ns"].min()
    both = pd.DataFrame({"transit_ns": transit, "elapse_ns": fastest.reindex(transit.index)})
    slow = both[(both["transit_ns"] > limit) & (both["elapse_ns"] > limit)].sort_values("transit_ns", ascending=False)
    if slow.empty:
        return None
    shown = slow.reset_index().head(MOST_ROWS)
    told: Told = {
        "name": str(shown["name"].iloc[0]),
        "transit_ns": float(shown["transit_ns"].iloc[0]),
        "operations": str(len(slow)),
    }
    cost = float(slow["elapse_ns"].sum()) / max(int(collectives["step"].nunique()), 1)
    value = float(slow["transit_ns"].iloc[0])
    return Advice("retransmission", value, limit, cost, shown, "communication", told=told)


def contention(frames: Frames, limit: float) -> Advice | None:
    """Operations within a node that run beside a matrix multiplication have a lower bandwidth than this (B/s).

    They do not if those that run alone are no faster: then the link is slow. Cost: what they take longer than at the bandwidth
    of those that run alone, or at the limit if there are none, per step.
    """
    packets = _packets(frames)
    kernels = needed(frames, "kernels", *_KERNEL_FILES)
    operations = _timed_operations(frames, packets)
    chosen = _multiplies(kernels) & (kernels["start_ns"].to_numpy() >= 0) & (kernels["duration_ns"].to_numpy() > 0)
    if not chosen.any():
        raise Unchecked(reason="no_matmul")
    begins = kernels["start_ns"].to_numpy()[chosen]
    ends = begins + kernels["duration_ns"].to_numpy()[chosen]
    starts, elapse = operations["start_ns"].to_numpy(), operations["elapse_ns"].to_numpy()
    share = _overlap(starts, starts + elapse.astype(np.int64), begins, ends) / np.maximum(elapse, 1.0)
    beside = operations.assign(beside_share=share)[share >= LEAST_BESIDE]
    alone = operations[share < LEAST_BESIDE]
    if beside.empty:
        return None
    slow = beside[beside["bandwidth"] < limit]
    usual = float(alone["size_bytes"].sum()) / float(alone["time_ns"].sum()) * 1e9 if len(alone) else limit
    value = float(beside["size_bytes"].sum()) / float(beside["time_ns"].sum()) * 1e9
    if slow.empty or not value < limit or not usual > value:
        return None
    lost = slow["time_ns"] - slow["size_bytes"] / usual * 1e9
    shown = slow.assign(lost_ns=lost).sort_values("lost_ns", ascending=False)
    shown = shown[["step", "name", "size_bytes", "time_ns", "bandwidth", "beside_share", "lost_ns"]].head(MOST_ROWS)
    cost = float(np.maximum(lost, 0.0).sum()) / max(int(operations["step"].nunique()), 1)
    told: Told = {"bandwidth": value, "usual_bandwidth": usual if len(alone) else math.nan, "operations": str(len(slow))}
    variant = "said" if len(alone) else "only"
    return Advice("contention", value, limit, cost, shown, "communication", variant=variant, told=told)


def _multiplies(kernels: pd.DataFrame) -> Bools:
    """Return which kernels multiply matrices, by their type, else by their name."""
    typed, named = (
        np.append(kernels[column].cat.categories.astype("str").str.contains("matmul", case=False), False)
        for column in ("type", "name")
    )
    types = kernels["type"].cat
    nameless = np.append(np.asarray(types.categories == "", np.bool_), True)[types.codes.to_numpy()]
    found: Bools = typed[types.codes.to_numpy()] | (nameless & named[kernels["name"].cat.codes.to_numpy()])
    return found


def _packets(frames: Frames) -> pd.DataFrame:
    """Return the packets between ranks that took time, with `family` (SDMA or RDMA). Unchecked if there are none."""
    packets = needed(frames, "packets", *OPERATION_FILES)
    transport = packets["transport"].cat
    names = transport.categories.tolist()
    family = np.array([*(0 if name in NODE else 1 if name == "RDMA" else -1 for name in names), -1], np.int8)
    codes = family[transport.codes.to_numpy()]
    usable = (codes >= 0) & (packets["size_bytes"] > 0).to_numpy() & (packets["count"] > 0).to_numpy()
    if not usable.any():
        raise Unchecked(reason="no_packets")
    families = pd.Categorical.from_codes(codes, categories=pd.Index(list(SMALL_BYTES), dtype="str"))
    made = packets.assign(family=families)
    found: pd.DataFrame = made if usable.all() else made[usable]
    return found.reset_index(drop=True)


def _cost(packets: pd.DataFrame, slow: Bools) -> float:
    """Return the time per step that slow packets take longer than at the bandwidth of the others, of the rank with the most."""
    sizes, times = (packets["size_bytes"] * packets["count"]).to_numpy(np.float64), packets["time_ns"].to_numpy()
    usual = _ratio(float(sizes[~slow].sum()), float(np.nansum(times[~slow])))
    if not usual > 0.0:
        return math.nan
    lost = pd.Series(times[slow] - sizes[slow] / usual).groupby(packets["rank"].to_numpy()[slow]).sum()
    return max(float(lost.max()) if len(lost) else 0.0, 0.0) / max(int(packets["step"].nunique()), 1)


def _ratio(value: float, whole: float) -> float:
    return value / whole if whole > 0.0 else math.nan


def _higher(one: float, other: float) -> bool:
    return (0.0 if math.isnan(one) else one) > (0.0 if math.isnan(other) else other)


def _negligible(cost: float, frames: Frames) -> bool:
    """Return whether a known cost is nothing beside a known step."""
    steps = frame_of(frames, "cluster_steps")
    if steps is None or math.isnan(cost):
        return False
    known = steps["total_ns"][(steps["kind"].astype("str") == "rank") & (steps["total_ns"] > 0.0)]
    return bool(len(known)) and cost < LEAST_COST * float(known.mean())


def _rows(packets: pd.DataFrame, slow: Bools) -> pd.DataFrame:
    """Return evidence: operations, whose slow packets take longest, with these."""
    keys = ["rank", "step", "name", "transport", "size_bytes"]
    rows = packets[slow].groupby(keys, observed=True, sort=False)[["count", "time_ns"]].sum().reset_index()
    return rows.sort_values("time_ns", ascending=False, kind="stable").rename(columns={"count": "packets"}).head(MOST_ROWS)


def _timed_operations(frames: Frames, packets: pd.DataFrame) -> pd.DataFrame:
    """Return the large operations within nodes of the profile's rank: step, name, start and elapse, bytes, time, bandwidth.

    The rank is the one whose operations begin when those of the profile do.
    """
    own, collectives = frame_of(frames, "communication"), needed(frames, "collectives", *OPERATION_FILES)
    if own is None:
        raise Unchecked("communication", "analysis", "database")
    starts = set(own["start_ns"][own["start_ns"] >= 0].tolist())
    mine = collectives[collectives["start_ns"].isin(starts)]
    if mine.empty:
        raise Unchecked("communication", "analysis", "database")
    mine = mine[mine["rank"] == mine["rank"].mode().iloc[0]]
    sent = packets[(packets["family"] == "SDMA") & (packets["rank"] == mine["rank"].iloc[0])]
    sums = sent.assign(size_bytes=sent["size_bytes"] * sent["count"])
    keys = ["step", "group", "name"]
    moved = sums.groupby(keys, observed=True)[["size_bytes", "time_ns"]].sum().reset_index()
    texts = {"group": "str", "name": "str"}
    began = mine[[*keys, "start_ns", "elapse_ns"]].astype(texts).drop_duplicates(keys, keep=False)
    found: pd.DataFrame = began.merge(moved.astype(texts), on=keys)
    found = found[(found["size_bytes"] >= LEAST_BYTES) & (found["time_ns"] > 0.0) & (found["elapse_ns"] > 0.0)]
    if found.empty:
        raise Unchecked(reason="no_packets")
    return found.assign(bandwidth=found["size_bytes"] / found["time_ns"] * 1e9)


def _overlap(starts: Ints, ends: Ints, begins: Ints, finishes: Ints) -> Floats:
    """Return for each interval [start, end) the time that the union of others covers of it, in their unit."""
    order = np.argsort(begins, kind="stable")
    begins, finishes = begins[order], np.maximum.accumulate(finishes[order])
    first = np.maximum(begins[1:], finishes[:-1])
    lengths = np.concatenate((finishes[:1] - begins[:1], np.maximum(finishes[1:] - first, 0)))
    lefts = np.concatenate((begins[:1], finishes[1:] - lengths[1:]))
    before = np.concatenate(([0], np.cumsum(lengths)))

    def until(times: Ints) -> Ints:
        place = np.searchsorted(lefts, times, side="right")
        last = np.maximum(place - 1, 0)
        part = np.clip(times - lefts[last], 0, lengths[last])
        found: Ints = np.where(place > 0, before[last] + part, 0)
        return found

    covered: Floats = (until(ends) - until(starts)).astype(np.float64)
    return covered
