"""Advice from the packets of communication: small ones, unaligned ones, sent again, and slow beside a matrix multiplication.

Limits are those of msprof-analyze: packets below 16 MB (RDMA: 1 MB) are small, sizes that are no multiple of 512 bytes slow,
RDMA that takes more than 4 s was sent again, and links of a node reach 18 GB/s.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs import contention as beside
from parsers.analysis.jobs.advice.cluster import OPERATION_FILES
from parsers.analysis.jobs.advice.model import MOST_ROWS, Advice, Frames, Told, Unchecked, frame_of, needed
from parsers.analysis.jobs.packets import SMALL
from parsers.analysis.jobs.traffic import REFERENCE, sent_of
from parsers.cluster_frames import LINKS
from parsers.deferred import pandas as pd
from parsers.model import Floats

Bools = NDArray[np.bool_]
FAMILIES = ("SDMA", "RDMA")
"""Transports that are judged together: those within a node, and that between nodes."""
ALIGNED_BYTES = 512
APART = 2.0
"""Largest by smallest aligned packet, from which on a line through their times is told from one through 0."""
LEAST_LOST = 0.01
"""Packets that are not aligned but lose less than this fraction of the time within nodes are as fast as aligned ones."""
LEAST_COST = 0.001
"""Packets that cost less than this fraction of a step deserve no advice."""
ENOUGH_OPERATIONS = 4
"""Operations whose median bandwidth one slow operation cannot move."""
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
        is_small = (own["size_bytes"] < SMALL[str(family)]).to_numpy()
        share = float(own["count"][is_small].sum()) / max(float(own["count"].sum()), 1.0)
        if not share > limit:
            continue
        cost = _cost(own, is_small)
        if _negligible(cost, frames):
            continue
        shown = _rows(own, is_small)
        told: Told = {"family": str(family), "small_share": share, "limit_traffic": float(SMALL[str(family)])}
        one = Advice("small_packets", share, limit, cost, shown, "communication", (str(family),), told=told)
        if best is None or _higher(one.cost_ns, best.cost_ns):
            best = one
    return best


def alignment(frames: Frames, limit: float) -> Advice | None:
    """Packets within nodes whose size above 512 bytes is no multiple of that take more than this fraction of their time.

    Cost: what they take longer than aligned packets of their size would, of the rank with the most. Where aligned packets are
    no faster, nothing is found; where there are none, the cost is unknown.
    """
    packets = _packets(frames)
    own = packets[(packets["family"] == "SDMA") & (packets["size_bytes"] > ALIGNED_BYTES)]
    if own.empty:
        raise Unchecked(reason="no_packets")
    odd = (own["size_bytes"] % ALIGNED_BYTES != 0).to_numpy()
    whole = float(own["time_ns"].sum())
    share = float(own["time_ns"][odd].sum()) / whole if whole > 0.0 else 0.0
    if not share > limit:
        return None
    lost = own["time_ns"][odd] - own["count"][odd] * aligned_time(own[~odd], own["size_bytes"][odd].to_numpy(np.float64))
    if np.isfinite(lost).all() and float(lost.sum()) < LEAST_LOST * whole:
        return None
    by_rank = lost.groupby(own["rank"][odd]).sum()
    cost = float(by_rank.max()) / max(int(own["step"].nunique()), 1) if np.isfinite(by_rank).all() else math.nan
    if _negligible(cost, frames):
        return None
    return Advice("alignment", share, limit, cost, _rows(own, odd), "communication", told={"odd_share": share})


def aligned_time(aligned: pd.DataFrame, sizes: Floats) -> Floats:
    """Return what an aligned packet of each of `sizes` (bytes) takes, in ns; NaN without aligned packets (schema PACKETS).

    A packet takes a constant and its bytes: the line with the least relative errors, weighted by what the packets took. Time
    goes with size where the constant would be below 0, and where sizes differ too little to tell it.
    """
    if aligned.empty:
        return np.full(len(sizes), np.nan)
    size, count = (aligned[name].to_numpy(np.float64) for name in ("size_bytes", "count"))
    each = aligned["time_ns"].to_numpy(np.float64) / count
    if size.max() >= APART * size.min():
        slope, constant = np.polyfit(size, each, 1, w=1.0 / np.maximum(each, 1.0))
        if slope > 0.0 and constant >= 0.0:
            found: Floats = constant + slope * sizes
            return found
    return sizes * float((each * count).sum() / (size * count).sum())


def retransmission(frames: Frames, limit: float) -> Advice | None:
    """An operation over RDMA takes this (ns) longer to transfer than its bytes do, in the fastest rank of its group too.

    What bytes take is told by the median bandwidth of the operations over RDMA, where there are enough, but by no more than
    that of the transport. Cost: what such operations take longer in their fastest rank, per step.
    """
    packets, collectives = _packets(frames), needed(frames, "collectives", *OPERATION_FILES)
    sent = packets[packets["family"] == "RDMA"]
    if sent.empty:
        raise Unchecked(reason="no_packets")
    keys = ["step", "group", "name"]
    sums = sent.assign(size_bytes=sent["size_bytes"].astype("float64") * sent["count"])
    of_ranks = sums.groupby(_OPERATION, observed=True)[["time_ns", "size_bytes"]].sum()
    rates = (of_ranks["size_bytes"] / of_ranks["time_ns"]).groupby(level=keys, observed=True).median()
    usual = min(float(rates.median()) if len(rates) >= ENOUGH_OPERATIONS else math.inf, REFERENCE["RDMA"] / 1e9)
    both = of_ranks.groupby(level=keys, observed=True).max().rename(columns={"time_ns": "transit_ns"})
    both["elapse_ns"] = collectives.groupby(keys, observed=True)["elapse_ns"].min().reindex(both.index)
    due = both.pop("size_bytes") / usual
    slow = both[(both["transit_ns"] - due > limit) & (both["elapse_ns"] - due > limit)]
    slow = slow.sort_values("transit_ns", ascending=False)
    if slow.empty:
        return None
    shown = slow.reset_index().head(MOST_ROWS)
    told: Told = {
        "name": str(shown["name"].iloc[0]),
        "transit_ns": float(shown["transit_ns"].iloc[0]),
        "operations": str(len(slow)),
    }
    cost = float((slow["elapse_ns"] - due[slow.index]).sum()) / max(int(collectives["step"].nunique()), 1)
    value = float((slow["transit_ns"] - due[slow.index]).iloc[0])
    return Advice("retransmission", value, limit, cost, shown, "communication", told=told)


def contention(frames: Frames, limit: float) -> Advice | None:
    """Operations within a node that run beside a matrix multiplication have a lower bandwidth than this (B/s).

    They do not if those that run alone are no faster: then the link is slow. Cost: what they take longer than at the bandwidth
    of those that run alone, or at the limit if there are none, per step.
    """
    packets = _packets(frames)
    kernels = needed(frames, "kernels", *_KERNEL_FILES)
    collectives = _of_profile(frames)
    sent = sent_of(packets[packets["rank"] == collectives["rank"].iloc[0]], LINKS.empty())
    found = beside.contention(collectives, sent, kernels, limit=limit)
    if not found.multiplications:
        raise Unchecked(reason="no_matmul")
    if found.operations.empty:
        raise Unchecked(reason="no_packets")
    value, usual = found.beside, limit if math.isnan(found.apart) else found.apart
    slow = found.operations[found.operations["held"] == "yes"]
    if slow.empty or not value < limit or not usual > value:
        return None
    lost = slow["time_ns"] - slow["size_bytes"] / usual * 1e9
    shown = slow.assign(lost_ns=lost).sort_values("lost_ns", ascending=False)
    shown = shown[["step", "name", "size_bytes", "time_ns", "bandwidth", "beside_share", "lost_ns"]].head(MOST_ROWS)
    cost = float(np.maximum(lost, 0.0).sum()) / max(int(found.operations["step"].nunique()), 1)
    told: Told = {"bandwidth": value, "usual_bandwidth": found.apart, "operations": str(len(slow))}
    variant = "only" if math.isnan(found.apart) else "said"
    return Advice("contention", value, limit, cost, shown, "communication", variant=variant, told=told)


def _packets(frames: Frames) -> pd.DataFrame:
    """Return the packets between ranks that took time, with `family` (SDMA or RDMA). Unchecked if there are none."""
    packets = needed(frames, "packets", *OPERATION_FILES)
    transport = packets["transport"].cat
    names = transport.categories.tolist()
    family = np.array([*(0 if name in beside.CHIP else 1 if name == "RDMA" else -1 for name in names), -1], np.int8)
    codes = family[transport.codes.to_numpy()]
    usable = (codes >= 0) & (packets["size_bytes"] > 0).to_numpy() & (packets["count"] > 0).to_numpy()
    if not usable.any():
        raise Unchecked(reason="no_packets")
    families = pd.Categorical.from_codes(codes, categories=pd.Index(list(FAMILIES), dtype="str"))
    made = packets.assign(family=families)
    found: pd.DataFrame = made if usable.all() else made[usable]
    return found.reset_index(drop=True)


def _cost(packets: pd.DataFrame, slow: Bools) -> float:
    """Return the time per step that slow packets take longer than at the bandwidth of the others, of the rank with the most."""
    sizes, times = (packets["size_bytes"].astype("float64") * packets["count"]).to_numpy(), packets["time_ns"].to_numpy()
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


def _of_profile(frames: Frames) -> pd.DataFrame:
    """Return the collectives of the profile's rank: the one whose operations begin when those of the profile do."""
    own, collectives = frame_of(frames, "communication"), needed(frames, "collectives", *OPERATION_FILES)
    if own is None:
        raise Unchecked("communication", "analysis", "database")
    starts = set(own["start_ns"][own["start_ns"] >= 0].tolist())
    ranks = collectives["rank"][collectives["start_ns"].isin(starts)]
    if ranks.empty:
        raise Unchecked("communication", "analysis", "database")
    found: pd.DataFrame = collectives[collectives["rank"] == ranks.mode().iloc[0]]
    return found
