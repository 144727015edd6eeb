"""Links that are slower than others of their kind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsers.analysis.jobs.choosing import links_of_kind
from parsers.analysis.jobs.robust import z_scores
from parsers.deferred import pandas as pd

LEAST_BYTES = 1_000_000
"""Bytes below which a bandwidth is that of starting, not of transferring."""
SHARE = 0.8
"""Share of the median below which a link is slow."""
Z = 3.5
LEAST_SPREAD = 0.02
LEAST_PEERS = 4
"""Links of one transport without which there is no usual bandwidth."""


@dataclass(frozen=True, slots=True)
class SlowLink:
    """A slow link: ranks of the job, transport, bytes and ns over all steps, bandwidth and that of its peers in B/s, z-score.

    lost_ns is what the transfers of the link would have saved at the usual bandwidth.
    """

    source: int
    target: int
    transport: str
    size_bytes: int
    time_ns: float
    bandwidth: float
    usual: float
    z: float

    @property
    def share(self) -> float:
        """Its bandwidth as a share of the usual one."""
        return self.bandwidth / self.usual

    @property
    def lost_ns(self) -> float:
        """Time in ns that its transfers took longer than at the usual bandwidth."""
        return self.time_ns - self.size_bytes / self.usual * 1e9


def totals(links: pd.DataFrame) -> pd.DataFrame:
    """Return bytes, ns and bandwidth (B/s) of each pair of ranks and transport, over steps, groups and types (schema LINKS).

    Only the class total counts, where a file has none the single operations; links within a rank, without known ranks, without
    bytes or without time do not count.
    """
    kinds = links["class"].astype("str")
    usable = (links["source"] >= 0) & (links["target"] >= 0) & (links["source"] != links["target"])
    usable &= (links["size_bytes"] > 0) & (links["time_ns"] > 0.0)
    rows = links[usable & kinds.eq("total")]
    if rows.empty:
        rows = links[usable & kinds.eq("single")]
    keys = ["source", "target", "transport"]
    found = rows.groupby(keys, observed=True, sort=True)[["size_bytes", "time_ns"]].sum().reset_index()
    found["bandwidth"] = found["size_bytes"] / found["time_ns"] * 1e9
    return found


def slow_links(
    links: pd.DataFrame, *, share: float = SHARE, z: float = Z, least_bytes: int = LEAST_BYTES
) -> list[SlowLink]:
    """Return links below `share` of the median bandwidth of their transport and more than z spreads below it, slowest first.

    The spread is max(1.4826 * median distance, 2 % of the median). Fewer than four links of a transport are not judged.
    """
    found = []
    rows = totals(links)
    for transport, peers in rows[rows["size_bytes"] >= least_bytes].groupby("transport", observed=True, sort=True):
        bandwidth = peers["bandwidth"].to_numpy()
        if len(bandwidth) < LEAST_PEERS:
            continue
        usual = float(np.median(bandwidth))
        below = -z_scores(bandwidth, LEAST_SPREAD)
        for place in np.flatnonzero((bandwidth < share * usual) & (below > z)).tolist():
            row = peers.iloc[place]
            source, target, size = int(row["source"]), int(row["target"]), int(row["size_bytes"])
            told = float(row["time_ns"]), float(bandwidth[place]), usual, float(below[place])
            found.append(SlowLink(source, target, str(transport), size, *told))
    return sorted(found, key=lambda one: one.share)


def listed(
    links: pd.DataFrame, *, group: str = "", kind: str = "", step: int | None = None, share: float = SHARE, z: float = Z,
    least_bytes: int = LEAST_BYTES,
) -> pd.DataFrame:
    """Return every link between two ranks, judged as `slow_links` does, the slowest first and those not judged last.

    Takes schema LINKS. source and target are ranks of the job; where one is unknown (-1), `group`, source_local and
    target_local say which of that group it is, and are otherwise "" and -1. transport, size_bytes, time_ns, bandwidth (B/s; NaN
    where one of them is 0), usual (median of the transport), z, lost_ns (what the transfers took longer than at the usual
    bandwidth) and slow: yes, no, or "" where it was not judged: too few bytes, or fewer than four links of the transport.
    """  # fmt: skip
    rows = links_of_kind(links, group=group, kind=kind, step=step, of="total")
    part = links.iloc[rows]
    named = ((part["source"] >= 0) & (part["target"] >= 0)).to_numpy()
    other = np.where(named, part["source"] != part["target"], part["source_local"] != part["target_local"])
    part, named = part[other], named[other]
    columns = {
        "source": part["source"].to_numpy(), "target": part["target"].to_numpy(),
        "group": np.where(named, "", part["group"].astype("str").to_numpy(object)),
        "source_local": np.where(named, -1, part["source_local"]), "target_local": np.where(named, -1, part["target_local"]),
        "transport": part["transport"].astype("str").to_numpy(object),
    }  # fmt: skip
    sums = {"size_bytes": np.maximum(part["size_bytes"].to_numpy(), 0), "time_ns": np.nan_to_num(part["time_ns"].to_numpy())}
    found = pd.DataFrame(columns | sums).groupby(list(columns), sort=True)[list(sums)].sum().reset_index()
    found = found[(found["size_bytes"] > 0) | (found["time_ns"] > 0.0)].reset_index(drop=True)
    judged = _judged(found, share, z, least_bytes)
    order = np.lexsort((judged["bandwidth"], judged["slow"] == ""))
    return judged.iloc[order].reset_index(drop=True)


def _judged(found: pd.DataFrame, share: float, z: float, least_bytes: int) -> pd.DataFrame:
    """Add bandwidth, usual, z, lost_ns and slow."""
    size, time = found["size_bytes"].to_numpy(np.float64), found["time_ns"].to_numpy()
    bandwidth = np.divide(size * 1e9, time, out=np.full(len(found), np.nan), where=(size > 0) & (time > 0.0))
    usual, score = np.full(len(found), np.nan), np.full(len(found), np.nan)
    for transport in found["transport"].unique():
        peers = np.flatnonzero((found["transport"] == transport) & (size >= least_bytes) & np.isfinite(bandwidth))
        if len(peers) >= LEAST_PEERS:
            usual[peers] = float(np.median(bandwidth[peers]))
            score[peers] = z_scores(bandwidth[peers], LEAST_SPREAD)
    slow = (bandwidth < share * usual) & (-score > z)
    told = np.where(np.isnan(usual), "", np.where(slow, "yes", "no"))
    lost = time - size / usual * 1e9
    return found.assign(bandwidth=bandwidth, usual=usual, z=score, lost_ns=lost, slow=told)
