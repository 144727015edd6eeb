"""Segments of a device: how much of each is in use, how fragmented they are, and the largest request that fits."""

from __future__ import annotations

import math

import numpy as np

from parsers.analysis.profiles.memory.pool import Extent
from parsers.analysis.profiles.memory_snapshots.lifetimes import Frames, of_device
from parsers.deferred import pandas as pd
from parsers.model import Ints

INACTIVE = "inactive"


def segment_use(frames: Frames, device: int) -> pd.DataFrame:
    """Return the segments of a device by address, with columns besides those of snapshot_segments:

    blocks, free_bytes, largest_free_bytes of its inactive blocks, and fragmentation = 1 - largest / free, NaN for none free.
    """
    segments, blocks = frames["snapshot_segments"], frames["snapshot_blocks"]
    number = len(segments)
    owner, size = blocks["segment"].to_numpy(), np.maximum(blocks["size_bytes"].to_numpy(), 0)
    known = owner >= 0
    free = known & (blocks["state"] == INACTIVE).to_numpy()
    largest = np.zeros(number, np.int64)
    np.maximum.at(largest, owner[free], size[free])
    sums = np.bincount(owner[free], size[free], number).astype(np.int64)
    with np.errstate(invalid="ignore"):
        shares = np.where(sums > 0, 1.0 - largest / np.maximum(sums, 1), math.nan)
    made = segments.assign(
        blocks=np.bincount(owner[known], minlength=number), free_bytes=sums, largest_free_bytes=largest, fragmentation=shares
    )
    return made[(segments["device"] == device).to_numpy()].sort_values("address", ignore_index=True)


def fragmentation(use: pd.DataFrame) -> float:
    """Return 1 - largest / free over all segments of `segment_use`; NaN if nothing is free."""
    free = int(use["free_bytes"].sum())
    return 1.0 - int(use["largest_free_bytes"].max()) / free if free else math.nan


def largest_requests(use: pd.DataFrame) -> pd.DataFrame:
    """Return for each stream, kind and pool how much is free, and the largest request that fits without new memory.

    A request is served from segments of its own stream, kind and pool only: small ones (up to 1 MiB) from small segments.
    """
    groups = use.groupby(["stream", "kind", "pool"], observed=True, sort=False)
    found = groups.agg(
        segments=("address", "size"), total_bytes=("total_bytes", "sum"), free_bytes=("free_bytes", "sum"),
        largest_free_bytes=("largest_free_bytes", "max"),
    ).reset_index()  # fmt: skip
    return found.sort_values("largest_free_bytes", ascending=False, kind="stable", ignore_index=True)


def extent_at(frames: Frames, device: int, entry: int) -> Extent:
    """Return the memory that the allocator held after an entry of a device (-1: before the first one), as `pool_at` takes it.

    It is that of the end, with later entries undone. Ranges of different segments are not joined.
    """
    segments = frames["snapshot_segments"]
    mine = (segments["device"] == device).to_numpy()
    later = of_device(frames, device).iloc[entry + 1 :]
    parts = [(segments["address"].to_numpy()[mine], segments["total_bytes"].to_numpy()[mine], 1, True)]
    for name, weight in (("segment_alloc", -1), ("segment_map", -1), ("segment_free", 1), ("segment_unmap", 1)):
        rows = (later["action"] == name).to_numpy()
        parts.append((later["address"].to_numpy()[rows], later["size_bytes"].to_numpy()[rows], weight, name[8:] in _WHOLE))
    return _covered(parts)


_WHOLE = ("alloc", "free")


def _covered(parts: list[tuple[Ints, Ints, int, bool]]) -> Extent:
    """Return where the weights of ranges (addresses, sizes, weight, whether they are whole segments) are above 0 in sum."""
    parts = [(low[good], size[good], weight, whole) for low, size, weight, whole in parts for good in [(low >= 0) & (size > 0)]]
    points = np.unique(np.concatenate([one for low, size, _, _ in parts for one in (low, low + size)]))
    cover, begins = np.zeros(len(points) + 1, np.int64), np.zeros(len(points) + 1, np.int64)
    for low, size, weight, whole in parts:
        starts = np.searchsorted(points, low)
        np.add.at(cover, starts, weight)
        np.add.at(cover, np.searchsorted(points, low + size), -weight)
        if whole:
            np.add.at(begins, starts, weight)
    there = np.cumsum(cover)[:-1] > 0
    first = there & (~np.append(False, there)[: len(there)] | (begins[:-1] > 0))
    last = there & (np.append(~there[1:], True)[: len(there)] | np.append(first[1:], True)[: len(there)])
    return Extent(points[first], points[np.flatnonzero(last) + 1])
