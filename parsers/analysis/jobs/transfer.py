"""What the time of a communication operation consists of: transfer, waiting for a rank that came later, and time not explained.

`least` of an operation is the least elapse of its ranks: nobody was missing any more. What a rank took longer it waited. Of
the least elapse, transfer is min(least, max(recorded transit, bytes of a link / reference bandwidth)): profilers record transit
only of tasks that they trace, so bytes that moved without any transit have taken the time of the reference at least. What
remains was neither transfer nor waiting for a recorded rank: a rank without files, the start of the operation, or a host that
launched its parts late. It is not explained, and never called transfer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsers.analysis.jobs.choosing import coded, numbered
from parsers.analysis.jobs.contention import CHIP, REFERENCE
from parsers.deferred import pandas as pd
from parsers.model import Floats


@dataclass(frozen=True, slots=True, eq=False)
class OperationParts:
    """Parts of the elapse of each row of COLLECTIVES, in ns: elapse = waited + transfer + unexplained. NaN where it is unknown.

    waited is NaN where no other rank of the operation is known; its time is then in the other two, or, between two ranks, as
    the file has it.
    """

    waited: Floats
    transfer: Floats
    unexplained: Floats

    @property
    def least(self) -> Floats:
        """Elapse without waiting."""
        return self.transfer + self.unexplained


def operation_parts(collectives: pd.DataFrame, links: pd.DataFrame | None = None) -> OperationParts:
    """Return what the elapse of each operation consists of (schemas COLLECTIVES and LINKS).

    links tell over how many links a rank sends at the same time, and the usual bandwidth of RDMA; without them bytes count only
    where no transit was recorded, as if they all took one link of a chip.
    """
    elapse = collectives["elapse_ns"].to_numpy(np.float64)
    transit = np.nan_to_num(collectives["transit_ns"].to_numpy(np.float64))
    waited = _waited(collectives, elapse)
    least = np.maximum(elapse - np.nan_to_num(waited), 0.0)
    transfer = np.minimum(least, np.maximum(transit, _by_bytes(collectives, links, transit)))
    return OperationParts(waited, transfer, least - transfer)


def _waited(collectives: pd.DataFrame, elapse: Floats) -> Floats:
    """Return what each rank waited, in ns; of operations between two ranks that others recorded under the same name, too."""
    waited = collectives["own_wait_ns"].to_numpy(np.float64).copy()
    between = np.flatnonzero(coded(collectives["section"], ("p2p",)) & np.isnan(waited) & np.isfinite(elapse))
    if not len(between):
        return waited
    columns = [collectives[name].cat.codes.to_numpy()[between].astype(np.int64) for name in ("group", "name")]
    key, first = numbered(*columns, collectives["step"].to_numpy()[between])
    ranks = collectives["rank"].to_numpy()[between]
    shared = np.zeros(len(first), np.bool_)
    np.logical_or.at(shared, key, ranks != ranks[first][key])
    least = np.full(len(first), np.inf)
    np.minimum.at(least, key, elapse[between])
    told = np.nan_to_num(collectives["wait_ns"].to_numpy(np.float64)[between])
    found = np.where(shared[key], elapse[between] - least[key], np.minimum(told, elapse[between]))
    waited[between] = np.where(shared[key] | (told > 0.0), found, np.nan)
    return waited


def _by_bytes(collectives: pd.DataFrame, links: pd.DataFrame | None, transit: Floats) -> Floats:
    """Return the time of the bytes of one link at the reference bandwidth, in ns."""
    size = np.maximum(collectives["size_bytes"].to_numpy(np.float64), 0.0)
    count, bandwidth = np.zeros(len(size)), np.full(len(size), REFERENCE)
    if links is not None and len(links):
        count, bandwidth = _links_of(collectives, links)
    known = count > 0
    alone = np.where(transit > 0.0, 0.0, size / REFERENCE)
    return np.where(known, size / np.where(known, count, 1.0) / bandwidth, alone) * 1e9


def _links_of(collectives: pd.DataFrame, links: pd.DataFrame) -> tuple[Floats, Floats]:
    """Return for each operation the number of links of its rank in its group, 0 for unknown, and their bandwidth in B/s."""
    local = links["source_local"] >= 0
    apart = links["source_local"].ne(links["target_local"]).where(local, links["source"].ne(links["target"]))
    rows = links[apart & (links["size_bytes"] > 0) & (local | (links["source"] == links["rank"]))]
    if rows.empty:
        return np.zeros(len(collectives)), np.full(len(collectives), REFERENCE)
    speeds = _speeds(rows)
    rows = rows.assign(speed=rows["transport"].astype("str").map(speeds).to_numpy(np.float64))
    rows = rows.assign(
        group=rows["group"].astype("str"), end=np.where(rows["target_local"] >= 0, rows["target_local"], rows["target"])
    )
    found = rows.groupby(["group", "rank"], observed=True).agg(count=("end", "nunique"), speed=("speed", "min"))
    groups = collectives["group"].cat
    wanted = pd.MultiIndex.from_arrays([
        groups.categories.to_numpy(object)[groups.codes.to_numpy()], collectives["rank"].to_numpy(),
    ])  # fmt: skip
    told = found.reindex(wanted)
    return np.nan_to_num(told["count"].to_numpy(np.float64)), told["speed"].fillna(REFERENCE).to_numpy(np.float64)


def _speeds(rows: pd.DataFrame) -> dict[str, float]:
    """Return the reference bandwidth of each transport in B/s: that of SDMA within a node, else the median measured."""
    names = rows["transport"].astype("str")
    measured = rows["bandwidth"].groupby(names).median()
    return {str(name): REFERENCE if name in CHIP or usual != usual else float(usual) for name, usual in measured.items()}


def parts_per_step(collectives: pd.DataFrame, links: pd.DataFrame | None = None) -> dict[str, float]:
    """Return the mean time per rank and step of all operations and of their parts, in ns; {} without operations.

    all, waited, moved (transfer), unexplained; transit and recorded_wait are what the files have, and missing where they have
    neither, as traces of torch do.
    """
    if collectives.empty:
        return {}
    parts = operation_parts(collectives, links)
    pairs = max(len(numbered(collectives["rank"].to_numpy(), collectives["step"].to_numpy())[1]), 1)
    sums: dict[str, Floats] = {
        "all": collectives["elapse_ns"].to_numpy(), "waited": parts.waited, "moved": parts.transfer,
        "unexplained": parts.unexplained, "transit": collectives["transit_ns"].to_numpy(),
        "recorded_wait": collectives["wait_ns"].to_numpy(),
    }  # fmt: skip
    recorded = not (np.isnan(sums["transit"]).all() and np.isnan(sums["recorded_wait"]).all())
    return {
        name: float(np.nansum(values)) / pairs
        for name, values in sums.items() if recorded or name not in ("transit", "recorded_wait")
    }  # fmt: skip
