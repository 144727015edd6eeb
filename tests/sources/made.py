"""Rows and series to fill a `tests.sources.MemorySource` with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from layouts.runs.rows import RunRow
from parsers import PayloadSeries, Series


def row(key: str, members: Sequence[str] = (), **changes: object) -> RunRow:
    """Return the row of a run with 3 scalar tags that ended long ago."""
    plain = RunRow(
        key=key, name=key, path=f"/data/runs/{key}", real_path=f"/data/runs/{key}", members=tuple(members) or (key,),
        started=1_699_990_000.0, updated=1_699_999_000.0, size=52_736, state="idle", steps=130, points=390,
        tags={"scalar": 3}, main_tag="loss", main_value=0.25, version=1,
    )  # fmt: skip
    return replace(plain, **changes)  # type: ignore[arg-type]


def series(steps: int, seed: int = 0) -> Series:
    """Return a falling curve with this many steps, one per second."""
    step = np.arange(steps, dtype=np.int64)
    value = np.exp(-step / max(steps, 1)) + np.random.default_rng(seed).normal(0, 0.02, steps)
    return Series(step, 1_699_990_000.0 + step, value, np.zeros(steps, np.int32), step * 40)


def recorded(steps: Sequence[int], walls: Sequence[float] | None = None) -> PayloadSeries:
    """Return large values at these steps, two seconds apart unless walls are given."""
    place = np.arange(len(steps), dtype=np.int64)
    wall = 1_700_000_005.0 + place * 2.0 if walls is None else np.array(walls, np.float64)
    return PayloadSeries(np.array(steps, np.int64), wall, np.zeros(len(steps), np.int32), place, place, place)
