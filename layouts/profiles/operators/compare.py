"""Comparison of two profiles: the time of every type or operator in each of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from parsers.deferred import pandas as pd

from layouts.profiles.operators.drawing import MOST
from layouts.profiles.operators.variants import measure


def compared(one: pd.DataFrame, other: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Join the times of two frames by keys: those of the chosen profile and those of the other one.

    Times are self times if both frames have them (`measure`).
    Columns: the keys (and name, if rows are operators); total_ns, count and mean_ns of the chosen profile; the same with the
    prefix with_ of the other one; difference_ns = total_ns - with_total_ns; change = difference_ns / with_total_ns. Rows that
    one profile lacks count as no time in it.
    """
    times = measure(one) if measure(one) == measure(other) else "total_ns"
    here, there = (_totals(frame, keys, times) for frame in (one, other))
    joined = here.join(there.add_prefix("with_"), how="outer", sort=False)
    for name in ("total_ns", "with_total_ns", "count", "with_count"):
        joined[name] = joined[name].fillna(0.0)
    joined["difference_ns"] = joined["total_ns"] - joined["with_total_ns"]
    with np.errstate(divide="ignore", invalid="ignore"):
        joined["change"] = np.where(joined["with_total_ns"] > 0, joined["difference_ns"] / joined["with_total_ns"], np.nan)
    made = joined.reset_index()
    columns: dict[str, Any] = {name: pd.Categorical(made[name].astype("str")) for name in keys}
    if "full_name" in keys:
        columns["name"] = pd.Categorical(made["full_name"].astype("str").str.rsplit("/", n=1).str[-1])
    numbers = ("difference_ns", "total_ns", "with_total_ns", "change", "count", "with_count", "mean_ns", "with_mean_ns")
    return pd.DataFrame(columns | {name: made[name].to_numpy(np.float64) for name in numbers})


def _totals(frame: pd.DataFrame, keys: Sequence[str], times: str) -> pd.DataFrame:
    texts = {name: frame[name].astype("str") for name in keys}
    made = pd.DataFrame(texts | {"total_ns": frame[times], "count": frame["count"]}).groupby(list(keys), sort=False).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        made["mean_ns"] = made["total_ns"] / made["count"].where(made["count"] > 0)
    return made


def changes(types: pd.DataFrame) -> tuple[list[tuple[str, float]], float, float]:
    """Return (changes of the types that changed most and "" for all others, total ns of the other profile, of the chosen one).

    types: the result of `compared` for types. The changes add up to the difference of the totals.
    """
    by_type = types.groupby("type", observed=True, sort=False)["difference_ns"].sum()
    order = by_type.abs().sort_values(ascending=False, kind="stable").index
    before, after = math.fsum(types["with_total_ns"]), math.fsum(types["total_ns"])
    shown = [(str(name), float(by_type[name])) for name in order[:MOST] if by_type[name] != 0.0]
    shown.sort(key=lambda one: -one[1])
    rest = math.fsum([after, -before, *(-change for _, change in shown)])
    return ([*shown, ("", rest)] if len(order) > MOST else shown), before, after
