"""What each rank of a job takes of the memory of its device, by which every page judges whether the device is full."""

from __future__ import annotations

import numpy as np

from parsers.deferred import pandas as pd
from parsers.model import Ints

HOLDERS = ("process", "reserved", "allocated")
"""What the highest memory of a rank may be that of, the widest first: a process holds its pools and what lies beside them."""
_PEAKS = ["peak_process_bytes", "peak_reserved_bytes", "peak_allocated_bytes"]
"""The columns of HOLDERS."""


def held_bytes(ranks: pd.DataFrame) -> Ints:
    """Return the highest memory in B that each row of the frame `ranks` held; -1 for unknown.

    That of the process counts where it is recorded, as it includes the pools and what lies beside them.
    """
    held: Ints = ranks[_PEAKS].to_numpy(np.int64).max(axis=1, initial=-1)
    return held


def held_by(ranks: pd.DataFrame, row: int) -> str:
    """Return which of HOLDERS the value of `held_bytes` in a row is that of; the widest of equal ones."""
    return HOLDERS[int(ranks[_PEAKS].iloc[row].to_numpy(np.int64).argmax())]
