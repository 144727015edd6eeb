"""The map of the memory pool at a moment, where addresses are known: blocks and holes by address, and fragmentation."""

from __future__ import annotations

from typing import Any

import numpy as np
from dash import html
from parsers.analysis.profiles.memory import Pool
from parsers.analysis.profiles.memory.pool import HOLE
from parsers.deferred import pandas as pd

from layouts.kit import units as fmt
from layouts.kit.i18n import t
from layouts.profiles.memory import memory_texts

ROWS, COLUMNS = 12, 240
"""The map is so many rows of so many cells, from the lowest address on."""


def said(pool: Pool, blocks: int, addressed: int) -> list[Any]:
    """Say how much of the pool is free, the largest hole, how fragmented the free memory is, and how many of the blocks in use
    have an address."""
    share = fmt.percent(pool.fragmentation)
    parts: list[Any] = [html.P(t(
        "memory.pool.said", used=fmt.size(pool.used), free=fmt.size(pool.free), largest=fmt.size(pool.largest), share=share,
    ))]  # fmt: skip
    if addressed < blocks:
        parts.append(html.P(t("memory.pool.some", n=fmt.count(addressed), total=fmt.count(blocks))))
    if pool.overlapping:
        parts.append(html.P(t("memory.pool.overlapping", n=fmt.count(pool.overlapping)), className="ms-wrong-text"))
    parts.append(html.P(t("memory.pool.scope"), className="ms-muted"))
    return parts


def cells(pool: Pool, operator_memory: pd.DataFrame) -> list[list[Any]]:
    """Lay out the map: [row, x, width in fractions of a row, "hole", "largest" or "used", title], by address.

    Memory of others between two parts of the pool is left out. Neighbouring blocks too small for a cell of their own share one.
    """
    parts = pool.map
    size = parts["size_bytes"].to_numpy()
    row = parts["row"].to_numpy()
    total = int(size.sum())
    if not total:
        return []
    free = row == HOLE
    largest = int(np.argmax(np.where(free, size, -1))) if free.any() else -1
    end = np.cumsum(size)
    start = end - size
    least = total / (ROWS * COLUMNS)
    code = np.where(free, 0, np.floor(start / least).astype(np.int64) + 1)
    code[size >= least] = -np.arange(1, len(size) + 1)[size >= least]
    if largest >= 0:
        code[largest] = -largest - 1
    first = np.flatnonzero(np.append(True, code[1:] != code[:-1]))
    found: list[list[Any]] = []
    names: Any = operator_memory["name"].array
    for begin, stop in zip(first.tolist(), [*first[1:].tolist(), len(size)], strict=True):
        kind = "largest" if begin == largest else "hole" if free[begin] else "used"
        title = _title(parts, begin, stop, names, free)
        found += [[*place, kind, title] for place in _pieces(int(start[begin]), int(end[stop - 1]), total)]
    return found


def _title(parts: pd.DataFrame, begin: int, stop: int, names: Any, free: Any) -> str:
    size = int(parts["size_bytes"].iloc[begin:stop].sum())
    address = int(parts["address"].iloc[begin])
    if stop - begin > 1:
        return f"0x{address:x} · {fmt.count(stop - begin)} × · {fmt.size(size)} ({memory_texts.exact(size)})"
    name = "" if free[begin] else str(names[int(parts["row"].iloc[begin])])
    return " · ".join(filter(None, (f"0x{address:x}", name, f"{fmt.size(size)} ({memory_texts.exact(size)})")))


def _pieces(start: int, end: int, total: int) -> list[tuple[int, float, float]]:
    """Cut a range of the pool into the rows of the map: (row, x, width)."""
    found = []
    across = total / ROWS
    row = min(int(start / across), ROWS - 1)
    at = float(start)
    while at < end and row < ROWS:
        stop = end if row == ROWS - 1 else min(float(end), (row + 1) * across)
        if stop > at:
            found.append((row, round(at / across - row, 5), round((stop - at) / across, 5)))
        at, row = max(stop, at), row + 1
    return found

