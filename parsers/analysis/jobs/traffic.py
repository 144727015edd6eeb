"""What the communication of a job consists of: by group, kind, operation or rank, and one operation over the ranks.

Values are means per rank and step: of the ranks and steps in which something of the kind ran. What a file does not tell is NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.choosing import coded, kind_of, numbered, rows_of
from parsers.analysis.jobs.links import LEAST_BYTES
from parsers.analysis.jobs.peers import ALIKE
from parsers.analysis.jobs.slow_tests import LIMITS
from parsers.analysis.jobs.transfer import operation_parts
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints

LEVELS: Mapping[str, tuple[str, ...]] = {
    "group": ("group",), "kind": ("group", "kind"), "operation": ("group", "kind", "name"), "rank": ("group", "kind", "rank"),
}  # fmt: skip
"""What a row of `totals` stands for -> its keys."""
TIMES = ("elapse_ns", "transit_ns", "wait_ns", "synchronisation_ns", "idle_ns", "own_wait_ns", "lateness_ns")
REFERENCE: Mapping[str, float] = {"HCCS": 18e9, "SDMA": 18e9, "PCIE": 20e9, "RDMA": 12.5e9}
"""Usual bandwidth of a transport in B/s; that of another one is unknown."""


def totals(collectives: pd.DataFrame, sent: pd.DataFrame, by: str, rows: Ints | None = None) -> pd.DataFrame:
    """Return a row for each group, kind, operation or rank (by: one of LEVELS), the longest first (schema COLLECTIVES).

    ranks, steps: how many. count: operations per rank and step. The times of TIMES and bytes are means per rank and step;
    unexplained_ns is the part of idle_ns that means nothing because small tasks were not recorded; waited_ns is the time of
    the operations of which own_wait_ns is known. transport is the one that carried most, bandwidth its bytes / time in B/s,
    carried_bytes its bytes per rank and step; `sent` is what `sent_of` returns. rows: those of collectives that count.
    """
    keys = LEVELS[by]
    chosen = np.arange(len(collectives)) if rows is None else rows
    code, first = _codes(collectives, chosen, keys)
    count = len(first)
    ranks, steps = collectives["rank"].to_numpy()[chosen], collectives["step"].to_numpy()[chosen]
    parts = _distinct(code, ranks, steps, count=count)
    found: dict[str, Any] = {name: _taken(collectives[name], chosen[first]) for name in keys}
    found["ranks"] = _distinct(code, ranks, count=count)
    found["steps"] = _distinct(code, steps, count=count)
    found["count"] = np.bincount(code, minlength=count) / np.maximum(parts, 1)
    for name in TIMES:
        found[name] = _sum(code, collectives[name].to_numpy()[chosen], count) / parts
    unexplained = coded(collectives["idle_explained"], ("no",))[chosen]
    idle = np.where(unexplained, collectives["idle_ns"].to_numpy()[chosen], 0.0)
    found["unexplained_ns"] = np.where(np.isnan(found["idle_ns"]), np.nan, _sum(code, idle, count) / parts)
    waited = np.isfinite(collectives["own_wait_ns"].to_numpy()[chosen])
    found["waited_ns"] = _sum(code, np.where(waited, collectives["elapse_ns"].to_numpy()[chosen], 0.0), count) / parts
    size = collectives["size_bytes"].to_numpy()[chosen].astype(np.float64)
    found["size_bytes"] = _sum(code, np.where(size < 0, np.nan, size), count) / parts
    frame = pd.DataFrame(found).join(_carried(sent, found, keys, parts))
    return frame.sort_values("elapse_ns", ascending=False, kind="stable", ignore_index=True)


def sent_of(packets: pd.DataFrame, links: pd.DataFrame, rows: Ints | None = None) -> pd.DataFrame:
    """Return what operations sent: step, group, kind, name, rank, transport, bytes and ns (schemas PACKETS and LINKS).

    Where no file has packets, what the links of single operations to other ranks carried. rows: those of packets that count.
    """
    if len(packets):
        part = packets if rows is None else packets.iloc[rows]
        size = part["size_bytes"].to_numpy(np.float64) * part["count"].to_numpy()
        time = part["time_ns"].to_numpy()
    else:
        other = (links["source_local"] != links["target_local"]) | (links["source"] != links["target"])
        part = links[coded(links["class"], ("single",)) & other.to_numpy()]
        size, time = part["size_bytes"].to_numpy(), part["time_ns"].to_numpy()
    columns: dict[str, Any] = {name: part[name].array for name in ("step", "group", "name", "rank", "transport")}
    columns["kind"] = _renamed(part["name"].array)
    return pd.DataFrame(columns | {"size_bytes": size.astype(np.float64), "time_ns": time})


@dataclass(frozen=True, slots=True)
class RankSpread:
    """One operation over its ranks: a value for each rank, means over steps in ns; NaN for unknown.

    transfer_ns and unexplained_ns are what remains without waiting (`parsers.analysis.jobs.transfer`). last is in how many of
    `judged` steps the rank came last, and caused_ns what the others waited for it, per step.
    """

    ranks: Ints
    elapse_ns: Floats
    own_wait_ns: Floats
    transit_ns: Floats
    wait_ns: Floats
    caused_ns: Floats
    last: Ints
    judged: int
    steps: int
    transfer_ns: Floats
    unexplained_ns: Floats

    @property
    def last_place(self) -> int:
        """The place of the rank that came last most often, of several the one that the others waited for longest."""
        return int(np.lexsort((-np.nan_to_num(self.caused_ns), -self.last))[0])

    @property
    def latest(self) -> int:
        """The rank at `last_place`; -1 for unknown, or if the others wait for it for less than `once` of `slow_tests.LIMITS`.

        Some rank always comes last; the limit is that by which Cluster names a rank for a single step, of the operation here.
        """
        if not self.judged or not self.caused_ns[self.last_place] >= LIMITS.once * np.nanmax(self.elapse_ns):
            return -1
        return int(self.ranks[self.last_place])

    def table(self, group: str, name: str) -> pd.DataFrame:
        """Return a row for each rank, as the CSV of an operation has it."""
        return pd.DataFrame({
            "group": group, "name": name, "rank": self.ranks, "elapse_ns": self.elapse_ns, "own_wait_ns": self.own_wait_ns,
            "transfer_ns": self.transfer_ns, "unexplained_ns": self.unexplained_ns, "transit_ns": self.transit_ns,
            "wait_ns": self.wait_ns, "lateness_ns": self.caused_ns, "last": self.last,
            "judged": self.judged, "steps": self.steps,
        })  # fmt: skip


@dataclass(frozen=True, slots=True)
class Whole:
    """All operations together: means per rank and step in ns.

    own_wait_ns is what ranks waited in the operations of which that is known, which took waited_ns. unexplained_ns is idle time
    that means nothing because small tasks were not recorded.
    """

    ranks: int
    steps: int
    elapse_ns: float
    waited_ns: float
    own_wait_ns: float
    unexplained_ns: float


def whole(collectives: pd.DataFrame, rows: Ints) -> Whole:
    """Return these rows together (schema COLLECTIVES)."""
    rank, step = (collectives[name].to_numpy()[rows] for name in ("rank", "step"))
    one = np.zeros(len(rows), np.int64)
    parts = max(int(_distinct(one, rank, step, count=1)[0]), 1)
    elapse, wait, idle = (collectives[name].to_numpy()[rows] for name in ("elapse_ns", "own_wait_ns", "idle_ns"))
    unexplained = coded(collectives["idle_explained"], ("no",))[rows]
    sums = (elapse, elapse[np.isfinite(wait)], wait, idle[unexplained])
    return Whole(len(np.unique(rank)), len(np.unique(step)), *(float(np.nansum(part)) / parts for part in sums))


def spread(collectives: pd.DataFrame, rows: Ints, links: pd.DataFrame | None = None) -> RankSpread:
    """Return these rows of one operation by rank (schemas COLLECTIVES and LINKS).

    The rank with the least elapse came last; that is known only where own_wait_ns is (`parsers.analysis.jobs.lateness`).
    """
    rank = collectives["rank"].to_numpy()[rows]
    ranks, code = np.unique(rank, return_inverse=True)
    count = len(ranks)
    step = collectives["step"].to_numpy()[rows]
    parts = np.maximum(_distinct(code, step, count=count), 1)
    columns = {name: collectives[name].to_numpy()[rows] for name in ("elapse_ns", *TIMES)}
    sums = {name: _sum(code, values, count) / parts for name, values in columns.items()}
    divided = operation_parts(collectives.iloc[rows], links)
    without = [_sum(code, values, count) / parts for values in (divided.transfer, divided.unexplained)]
    wait = columns["own_wait_ns"]
    known = np.isfinite(wait)
    late = known & (wait == 0.0)
    # Of ranks that came at the same time none was last, unless it is the only one.
    last = np.bincount(code[late & (columns["lateness_ns"] > 0.0)], minlength=count)
    judged = int(np.bincount(code[known], minlength=count).max(initial=0))
    return RankSpread(
        ranks, sums["elapse_ns"], sums["own_wait_ns"], sums["transit_ns"], sums["wait_ns"], sums["lateness_ns"],
        last, judged, len(np.unique(step)), *without,
    )  # fmt: skip


def longest(collectives: pd.DataFrame, rows: Ints) -> tuple[str, str]:
    """Return (group, name) of the operation of these rows that made ranks wait longest, or else took longest; "" for none."""
    if not len(rows):
        return "", ""
    code, first = _codes(collectives, rows, ("group", "name"))
    for name in ("own_wait_ns", "elapse_ns"):
        sums = np.nan_to_num(_sum(code, collectives[name].to_numpy()[rows], len(first)))
        if (sums > 0.0).any():
            break
    row = rows[first[int(np.argmax(sums))]]
    return str(collectives["group"].iloc[row]), str(collectives["name"].iloc[row])


def waited_for(collectives: pd.DataFrame, groups: pd.DataFrame, rows: Ints) -> tuple[str, str]:
    """Return `longest` of the groups whose ranks do the same work, or of all where there are no others.

    Waiting in groups that carry the shape of the pipeline says nothing of a rank.
    """
    kinds = groups["kind"].astype("str")
    other = groups["group"].astype("str")[kinds.map(_different_work).astype("bool")]
    alike = rows[~coded(collectives["group"], other)[rows]]
    return longest(collectives, alike if len(alike) else rows)


def different_work(groups: pd.DataFrame, group: str) -> bool:
    """Return whether the ranks of a group do different work, as the kind of the group says (schema GROUPS)."""
    kinds = groups["kind"][groups["group"] == group]
    return bool(len(kinds)) and _different_work(str(kinds.iloc[0]))


def _different_work(kind: str) -> bool:
    return kind != "" and kind not in ALIKE


def with_reference(found: pd.DataFrame, references: Mapping[str, float]) -> pd.DataFrame:
    """Return totals with the usual bandwidth of their transport in B/s, and the part of it that was reached."""
    usual = found["transport"].map(lambda name: references.get(name, np.nan)).astype("float64")
    # The bandwidth of few bytes is that of starting, not of the transport.
    usual = usual.where(found["carried_bytes"] >= LEAST_BYTES)
    return found.assign(reference=usual, of_reference=found["bandwidth"] / usual)


def most(collectives: pd.DataFrame, rows: Ints, name: str) -> list[tuple[str, float]]:
    """Return the groups or names (name: "group" or "name") of these rows and their elapse in ns, the longest first.

    It is the mean per rank and step, of the ranks and steps that have any.
    """
    code, first = _codes(collectives, rows, (name,))
    parts = _distinct(code, *(collectives[one].to_numpy()[rows] for one in ("rank", "step")), count=len(first))
    means = np.nan_to_num(_sum(code, collectives["elapse_ns"].to_numpy()[rows], len(first))) / np.maximum(parts, 1)
    texts = collectives[name].iloc[rows[first]].astype("str").tolist()
    return [(texts[place], float(means[place])) for place in np.argsort(-means, kind="stable").tolist()]


def operation_rows(collectives: pd.DataFrame, group: str, name: str, step: int | None = None) -> Ints:
    """Return the rows of one operation of a group, in a step or all of them."""
    rows = rows_of(collectives, group=group, step=step)
    if not group:
        rows = rows[coded(collectives["group"], ("",))[rows]]
    found: Ints = rows[coded(collectives["name"], (name,))[rows]]
    return found


def _carried(sent: pd.DataFrame, found: Mapping[str, Any], keys: tuple[str, ...], parts: Ints) -> pd.DataFrame:
    """Return transport, bandwidth and carried_bytes of each row of `found`."""
    count = len(parts)
    texts = {name: (np.asarray(found[name].astype(object)) if name != "rank" else found[name]) for name in keys}
    places = {key: place for place, key in enumerate(zip(*(one.tolist() for one in texts.values()), strict=True))}
    transport, bandwidth, carried = np.full(count, "", object), np.full(count, np.nan), np.full(count, np.nan)
    if len(sent):
        code, first = _codes(sent, np.arange(len(sent)), (*keys, "transport"))
        size, time = (np.bincount(code, np.nan_to_num(sent[name].to_numpy()), len(first)) for name in ("size_bytes", "time_ns"))
        rows = sent.iloc[first]
        named = zip(*(rows[name].tolist() for name in keys), strict=True)
        for key, which, bytes_, ns in zip(named, rows["transport"].tolist(), size.tolist(), time.tolist(), strict=True):
            place = places.get(key)
            if place is not None and bytes_ > 0 and not bytes_ <= (carried[place] * parts[place] or 0.0):
                transport[place], carried[place] = which, bytes_ / parts[place]
                bandwidth[place] = bytes_ / ns * 1e9 if ns > 0 else np.nan
    return pd.DataFrame({"transport": transport, "bandwidth": bandwidth, "carried_bytes": carried})


def _codes(frame: pd.DataFrame, rows: Ints, names: tuple[str, ...]) -> tuple[Ints, Ints]:
    """Return a number for each row by some columns, and the first of the rows that have it."""
    return numbered(*(_numbers(frame[name])[rows] for name in names))


def _numbers(column: pd.Series[Any]) -> NDArray[Any]:
    return column.cat.codes.to_numpy() if isinstance(column.dtype, pd.CategoricalDtype) else column.to_numpy()


def _distinct(code: NDArray[Any], *columns: NDArray[Any], count: int) -> Ints:
    """Return for each code how many different rows of these columns it has."""
    _, first = numbered(code, *columns)
    return np.bincount(code[first], minlength=count)


def _sum(code: NDArray[Any], values: Floats, count: int) -> Floats:
    """Return the sum of the known values of each code; NaN where none is known."""
    known = np.isfinite(values)
    if known.all():
        return np.where(np.bincount(code, minlength=count) > 0, np.bincount(code, values, count), np.nan)
    sums = np.bincount(code, np.where(known, values, 0.0), count)
    return np.where(np.bincount(code, known, count) > 0, sums, np.nan)


def _taken(column: pd.Series[Any], rows: Ints) -> Any:
    found = column.iloc[rows].array
    return found.remove_unused_categories() if isinstance(found, pd.Categorical) else np.asarray(found)


def _renamed(names: Any) -> Any:
    """Return the kinds of the names of operations."""
    kinds = [kind_of(name) for name in names.categories]
    known = list(dict.fromkeys(kinds))
    table = np.append(np.array([known.index(kind) for kind in kinds], np.int64), -1)
    return pd.Categorical.from_codes(table[names.codes], categories=pd.Index(known, dtype="str"))
