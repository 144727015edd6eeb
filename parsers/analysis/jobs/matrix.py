"""The traffic between ranks as a matrix: rows send, columns receive.

Its axis are the ranks of one group, in their order there, or all ranks of the job. Of a rank whose number in the job is unknown
the number in its group is kept. A matrix of more than 1,024 ranks shows blocks of neighbours.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.choosing import coded, distinct, links_of_kind, numbered, places_in
from parsers.analysis.jobs.links import LEAST_BYTES
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints
from parsers.profiler.groups import ranks_of

Measure = Literal["bandwidth", "bytes", "time"]
MEASURES: tuple[Measure, ...] = ("bandwidth", "bytes", "time")
UNITS = {"bandwidth": "B/s", "bytes": "B", "time": "ns"}
CLASSES = ("total", "top1", "middle", "bottom1", "bottom2", "bottom3")
"""total: all operations together; the others are of one operation of each type: the fastest, the middle, the slowest ones."""
MOST = 1_024
"""Rows and columns of a matrix; beyond, neighbours share a cell."""
BLOCKS = {"bandwidth": "min", "bytes": "sum", "time": "sum"}
"""What a cell of several links shows by default: of bandwidths the lowest, so that a slow link stays in sight."""
HOWS = ("sum", "mean", "max", "min")
_ROW = np.dtype([("row", "<u2"), ("column", "<u2"), ("value", "<f4")])


@dataclass(frozen=True, slots=True)
class LinkCells:
    """The links that carry anything, by sender and receiver: their places on the axis, and bytes and ns per step.

    ranks are those of the job at the places of the axis, -1 where only the number in the group is known. steps is how many
    steps bytes and times are means of. few is whether a link carried so little (less than 1 MB in all) that its bandwidth is
    that of starting, not of transferring. unplaced counts links that have no place on the axis: those of which only the
    numbers in their groups are known, on the axis of the job.
    """

    ranks: Ints
    source: Ints
    target: Ints
    size_bytes: Floats
    time_ns: Floats
    few: NDArray[np.bool_]
    steps: int
    unplaced: int

    def table(self, group: str) -> pd.DataFrame:
        """Return a row for each link, as the CSV of the matrix of a group has it; "" for the whole job."""
        return pd.DataFrame({
            "group": group, "source": self.ranks[self.source], "target": self.ranks[self.target], "source_place": self.source,
            "target_place": self.target, "size_bytes": self.size_bytes, "time_ns": self.time_ns,
            "bandwidth": self.values("bandwidth"),
        })  # fmt: skip

    def values(self, measure: Measure) -> Floats:
        """Return bytes or ns per step, or bandwidth in B/s (bytes / time), of each link; NaN where it is unknown."""
        if measure == "bytes":
            return self.size_bytes
        if measure == "time":
            return self.time_ns
        known = (self.size_bytes > 0.0) & (self.time_ns > 0.0)
        found: Floats = np.divide(self.size_bytes * 1e9, self.time_ns, out=np.full(len(known), np.nan), where=known)
        return found


@dataclass(frozen=True, slots=True)
class Matrix:
    """What is drawn: for cells row by row their row, column and value. Everything else carries nothing.

    A cell shows `block` x `block` places of the axis, from `first`. rows is the number of rows and of columns. how says what
    the value of several links is. A bandwidth of few bytes (`LinkCells.few`) is negative.
    """

    ranks: Ints
    measure: Measure
    how: str
    first: int
    block: int
    rows: int
    row: Ints
    column: Ints
    value: Floats
    steps: int
    unplaced: int

    def dense(self) -> NDArray[np.float32]:
        """Return all cells, NaN where nothing is carried."""
        found = np.full((self.rows, self.rows), np.nan, np.float32)
        found[self.row, self.column] = self.value
        return found

    def packed(self) -> bytes:
        """Return the matrix as bytes: length of a JSON header (uint32), the header, and at the next multiple of 4 its body.

        The body is the ranks on the axis (int32), and then the cells: `sparse` ones as row and column (uint16) and value
        (float32), `dense` ones as three planes of bytes, the upper 24 bits of each float32, rounded: of a value five digits.
        All numbers are little-endian. The shorter form is chosen.
        """
        sparse = _ROW.itemsize * len(self.row) <= 3 * self.rows * self.rows
        header = {
            "form": "sparse" if sparse else "dense", "measure": self.measure, "unit": UNITS[self.measure], "how": self.how,
            "rows": self.rows, "first": self.first, "block": self.block, "ranks": len(self.ranks), "cells": len(self.row),
            "steps": self.steps, "unplaced": self.unplaced,
        }  # fmt: skip
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        return b"".join((struct.pack("<I", len(text)), text, self.ranks.astype("<i4").tobytes(), self._body(sparse)))

    def _body(self, sparse: bool) -> bytes:
        if sparse:
            rows = np.empty(len(self.row), _ROW)
            rows["row"], rows["column"], rows["value"] = self.row, self.column, self.value
            return rows.tobytes()
        bits = self.dense().view(np.uint32).ravel()
        known = np.where(bits & 0x7FFFFFFF > 0x7F800000, np.uint32(0x7FC00000), bits + np.uint32(0x80))
        return b"".join((known >> shift).astype(np.uint8).tobytes() for shift in (24, 16, 8))


def cells(
    links: pd.DataFrame, *, group: str = "", members: Ints | None = None, kind: str = "", step: int | None = None,
    of: str = "total", inner: bool = False,
) -> LinkCells:
    """Return the links of a group, or of the job for group "" (schema LINKS).

    members are the ranks of the group in its order; None if no file lists them: then they are taken from the links. kind is
    that of the operations, "" for all. step: one step, None for the mean of all. of: one of CLASSES. Of files without classes
    total is the sum of the single operations, and the others are the fastest, middle and slowest of these. Links of a rank to
    itself count with inner only.
    """  # fmt: skip
    chosen = links_of_kind(links, group=group, kind=kind, step=step, of=of)
    known = _columns(links, chosen, "source", "target")
    named = (known[0] >= 0) & (known[1] >= 0)
    # Numbers in groups are of no use where all ranks of a job are known.
    local = known if not group and named.all() else _columns(links, chosen, "source_local", "target_local")
    if not inner:
        ends = np.where(named, known[0] != known[1], local[0] != local[1])
        chosen, local, known = _kept(ends, chosen, local, known)
    ranks, places = _placed(local, known, members) if group else _over_job(known, members)
    there = (places[0] >= 0) & (places[1] >= 0)
    lost = ~there
    unplaced = len(numbered(links["group"].cat.codes.to_numpy()[chosen[lost]], *local[:, lost])[1])
    chosen, places = _kept(there, chosen, places)
    steps = len(distinct(links["step"].to_numpy()[chosen]))
    size = np.maximum(links["size_bytes"].to_numpy()[chosen], 0).astype(np.float64)
    time = np.nan_to_num(links["time_ns"].to_numpy()[chosen])
    key, first = numbered(places[0] * (len(ranks) + 1) + places[1])
    if of == "total":
        size, time = (np.bincount(key, one, len(first)) for one in (size, time))
    else:
        first = _one_each(key, size, time, of)
        size, time = size[first], time[first]
    size, time, first = _kept((size > 0) | (time > 0), size, time, first)
    source, target = places.take(first, axis=-1)
    per = max(steps, 1) if of == "total" else 1
    return LinkCells(ranks, source, target, size / per, time / per, size < LEAST_BYTES, steps, unplaced)


def matrix(
    found: LinkCells, measure: Measure, *, how: str = "", first: int = 0, last: int | None = None, most: int = MOST
) -> Matrix:
    """Return the cells of the places from `first` up to `last` (all of them) in at most `most` rows and columns.

    how: what a cell of several links shows, one of HOWS; "" for that in BLOCKS. A sum of bandwidths is no bandwidth: it is
    bytes / time of all of them.
    """
    how = how or BLOCKS[measure]
    end = len(found.ranks) if last is None else min(last, len(found.ranks))
    first = max(0, min(first, end))
    block = max(1, -(-(end - first) // most))
    rows = -(-(end - first) // block)
    value = found.values(measure)
    row, column = (place - first if block == 1 else (place - first) // block for place in (found.source, found.target))
    inside = np.isfinite(value)
    if end - first < len(found.ranks):
        inside &= (found.source >= first) & (found.source < end) & (found.target >= first) & (found.target < end)
    if measure == "bandwidth":
        value = np.where(found.few, -value, value)
        if block > 1:  # what says little of the bandwidth is shown only where nothing else is
            key = numbered(row * rows + column)[0]
            inside &= ~found.few | (np.bincount(key, inside & ~found.few, int(key.max(initial=-1)) + 1) == 0)[key]
    row, column, value = _kept(inside, row, column, value)
    if block > 1 and len(row):
        key, places = numbered(row * rows + column)
        size, time = (np.bincount(key, one[inside]) for one in (found.size_bytes, found.time_ns))
        sign = np.where(_joined(key, np.abs(value) - value, "max") > 0, -1.0, 1.0)
        rates = measure == "bandwidth" and how in ("sum", "mean")
        value = sign * (size / time * 1e9 if rates else _joined(key, np.abs(value), how))
        row, column = row[places], column[places]
    else:
        how = ""
    ranks = found.ranks[first:end]
    return Matrix(ranks, measure, how, first, block, rows, row, column, value, found.steps, found.unplaced)


def _joined(key: Ints, value: Floats, how: str) -> Floats:
    count = int(key.max()) + 1
    if how in ("sum", "mean"):
        return np.bincount(key, value) / (np.bincount(key) if how == "mean" else 1.0)
    found = np.full(count, -np.inf if how == "max" else np.inf)
    (np.maximum if how == "max" else np.minimum).at(found, key, value)
    return found


def _kept(rows: NDArray[np.bool_], *columns: NDArray[Any]) -> list[NDArray[Any]]:
    """Return these rows (the last axis) of some columns, without copies where all are kept."""
    if rows.all():
        return list(columns)
    kept = np.flatnonzero(rows)
    return [column.take(kept, axis=-1) for column in columns]  # in a third of the time of an index


def _columns(links: pd.DataFrame, rows: Ints, *names: str) -> NDArray[Any]:
    every = len(rows) == len(links)
    return np.stack([links[name].to_numpy() if every else links[name].to_numpy()[rows] for name in names])


def _over_job(known: NDArray[Any], members: Ints | None) -> tuple[Ints, NDArray[Any]]:
    """Return the ranks of the job, at least `members`, and the places of senders and receivers; -1 for unknown ones."""
    ranks = distinct(known[known >= 0])
    if members is not None:
        ranks = np.union1d(members, ranks)
    return ranks, places_in(ranks, known)


def _placed(local: NDArray[Any], known: NDArray[Any], members: Ints | None) -> tuple[Ints, NDArray[Any]]:
    """Return the ranks at the places of a group, and the places of senders and receivers; -1 for none.

    The place is the number in the group; of files that tell ranks of the job instead, that of the rank among the members. Where
    these are unknown, ranks whose number no file tells follow after the others.
    """
    local = np.where(local < MOST_PLACES, local, -1)
    size = max(0 if members is None else len(members), int(local.max(initial=-1)) + 1)
    ranks = np.full(size, -1, np.int64)
    if members is not None:
        ranks[: len(members)] = members
    told = (local >= 0) & (known >= 0)
    if told.all():
        ranks[local] = known
    else:
        ranks[local[told]] = known[told]
    alone = (local < 0) & (known >= 0)
    if not alone.any():
        return ranks, local
    if members is None:
        ranks = np.concatenate((ranks, np.setdiff1d(distinct(known[alone]), ranks)[: MOST_PLACES - size]))
    order = np.argsort(ranks, kind="stable")
    spots = places_in(ranks[order], np.where(alone, known, -1))
    return ranks, np.where(local >= 0, local, np.append(order, -1)[spots])


MOST_PLACES = 1 << 16
"""Places of an axis: a damaged file can claim any number in a group."""


def _one_each(key: Ints, size: Floats, time: Floats, of: str) -> Ints:
    """Return for each link the row that stands for a class: of several types of operations the fastest, middle or slowest."""
    with np.errstate(divide="ignore", invalid="ignore"):
        speed = np.where((size > 0) & (time > 0), size / time, np.inf if of.startswith("bottom") else -np.inf)
    order = np.lexsort((speed, key))
    begins = np.flatnonzero(np.diff(key[order], prepend=-1))
    counts = np.diff(np.append(begins, len(key)))
    at = {"top1": counts - 1, "middle": counts // 2}.get(of, np.zeros(len(begins), np.int64))
    chosen: Ints = order[begins + at]
    return chosen


def members_of(groups: pd.DataFrame, group: str) -> Ints | None:
    """Return the ranks of a group in their order there; None if no file lists them."""
    rows = groups[coded(groups["group"], (group,)) & coded(groups["told"], ("yes",))] if group else groups.iloc[:0]
    return np.array(ranks_of(str(rows["ranks"].iloc[0])), np.int64) if len(rows) else None


def only_group(links: pd.DataFrame) -> str:
    """Return the only group that has links; "" if several have."""
    groups = links["group"].cat
    used = distinct(groups.codes.to_numpy())
    return str(groups.categories[used[0]]) if len(used) == 1 and used[0] >= 0 else ""
