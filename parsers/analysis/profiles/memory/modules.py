"""Components of CANN that reserve much device memory."""

from __future__ import annotations

import numpy as np

from parsers.deferred import pandas as pd

LARGE = 100 << 20
"""Bytes from which on a component is named."""


def large_components(module_memory: pd.DataFrame, *, least: int = LARGE) -> pd.DataFrame:
    """Return the components with a peak of at least that many bytes, the largest first.

    Columns: component, device, peak_bytes, time_ns (of the first peak), last_bytes.
    """
    rows = module_memory[(module_memory["reserved_bytes"] >= 0).to_numpy()]
    found = []
    for (component, device), part in rows.groupby([rows["component"].astype(str), rows["device"]], sort=False):
        values = part["reserved_bytes"].to_numpy()
        at = int(np.argmax(values))
        if values[at] >= least:
            found.append((str(component), int(str(device)), int(values[at]), int(part["time_ns"].iloc[at]), int(values[-1])))
    found.sort(key=lambda row: -row[2])
    columns = ["component", "device", "peak_bytes", "time_ns", "last_bytes"]
    return pd.DataFrame(found, columns=columns).astype(dict.fromkeys(columns[1:], "int64"))
