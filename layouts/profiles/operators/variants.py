"""Operators of a profile by execution unit, and their shares of its time."""

from __future__ import annotations

import numpy as np
from parsers.analysis.profiles.operator_times import measure as measure
from parsers.deferred import pandas as pd

from layouts.profiles.operator_variants import variant_of
from layouts.profiles.operators.asks import VARIANTS


def present(frame: pd.DataFrame) -> list[str]:
    """Return the variants that have rows, in the order of their tabs."""
    there = {variant_of(core) for core in frame["core"].unique()}
    return [name for name in VARIANTS if name in there]


def of_variant(frame: pd.DataFrame, variant: str) -> pd.DataFrame:
    """Return the rows of a variant in order; the frame itself if it has no others."""
    column = frame["core"].array
    chosen = np.array([variant_of(core) == variant for core in column.categories], np.bool_)
    if chosen.all():
        return frame
    rows = chosen[column.codes] if len(chosen) else np.zeros(len(frame), np.bool_)
    return frame[rows].reset_index(drop=True)


def with_shares(frame: pd.DataFrame) -> pd.DataFrame:
    """Add a column `share`: the fraction of the time of all rows in the column `measure`, from 0 to 1."""
    times = frame[measure(frame)].to_numpy()
    total = float(np.nansum(times))
    share = times / total if total > 0.0 else np.full(len(frame), np.nan)
    return frame.assign(share=share)
