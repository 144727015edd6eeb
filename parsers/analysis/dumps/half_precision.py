"""Finds tensors of float16 that overflowed, or that are within a factor of 2 of overflowing."""

from __future__ import annotations

import numpy as np

from parsers.deferred import pandas as pd

LARGEST = float(np.finfo(np.float16).max)
"""The largest finite float16: 65,504 (IEEE 754, binary16)."""
NEAR = 2.0**15
"""From here on a value has the largest exponent of float16: doubled, it is Inf."""
_OPERATOR = ["rank", "iteration", "name"]


def half_tensors(statistics: pd.DataFrame) -> pd.DataFrame:
    """Return the float16 rows of DUMP_STATISTICS whose range or Infs are known, by iteration, with three more columns.

    largest is the greatest absolute value (Inf if there is one); is_near is True from NEAR on; overflowed is True for Inf,
    unless an input of the same operator is known to hold NaN or Inf already.
    """
    half = statistics[(statistics["dtype"].astype("str") == "float16").to_numpy(bool)]
    ends = np.abs(half[["min", "max"]].to_numpy(np.float64))
    largest = np.fmax(ends[:, 0], ends[:, 1])
    infinite = ((half["positive_inf"] > 0) | (half["negative_inf"] > 0)).to_numpy(bool) | np.isinf(largest)
    largest[infinite] = np.inf
    bad = statistics[((statistics["io"].astype("str") == "input") & (statistics["non_finite"] > 0)).to_numpy(bool)]
    inherited = pd.MultiIndex.from_frame(half[_OPERATOR].astype("str")).isin(
        pd.MultiIndex.from_frame(bad[_OPERATOR].astype("str"))
    )
    found = half.assign(largest=largest, is_near=(largest >= NEAR) & ~infinite, overflowed=infinite & ~inherited)
    known: pd.DataFrame = found[~np.isnan(largest)].sort_values("iteration", kind="stable")
    return known
