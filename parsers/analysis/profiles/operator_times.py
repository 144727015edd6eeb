"""Which times of operators add up to the time of a profile."""

from __future__ import annotations

from parsers.deferred import pandas as pd


def measure(frame: pd.DataFrame) -> str:
    """Return the column of times that add up: self_ns if it is known, since calls of the host contain each other.

    frame: rows of operators or of their types.
    """
    return "self_ns" if "self_ns" in frame and frame["self_ns"].notna().any() else "total_ns"
