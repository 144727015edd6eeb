"""Landscapes with a known shape, and a source that has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from layouts.runs.rows import RunRow
from parsers import LandscapePlan, LandscapeValue, PayloadError, PayloadSeries, Series
from tests.sources import MemorySource

Sheets = Mapping[tuple[str, str], LandscapeValue | str]


def landscape_source(
    rows: Sequence[RunRow],
    series: Mapping[tuple[str, str], Series],
    sheets: Sheets,
    plans: Mapping[str, LandscapePlan | Exception] | None = None,
) -> MemorySource:
    """A source with landscapes by (run, tag); a text instead of one is why it cannot be shown."""
    none = np.zeros(1, np.int64)
    place = PayloadSeries(none, np.zeros(1), np.zeros(1, np.int32), none, none, none)
    data: dict[str, dict[str, Any]] = {run: {"scalar": {}, "landscape": {}} for row in rows for run in row.members}
    for (run, tag), one in series.items():
        data[run]["scalar"][tag] = one
    for (run, tag), found in sheets.items():
        data[run]["landscape"][tag] = place, [PayloadError(found) if isinstance(found, str) else found]
    for run, plan in (plans or {}).items():
        data[run]["landscape_plan"] = plan
    return MemorySource(data, rows=rows)


def bowl(steps: Sequence[int] = (), *, unit: str = "step", scale: float = 1.0, size: int = 9) -> LandscapeValue:
    """Return a paraboloid over [-1, 1] with its minimum at 0, and a path from one corner to it with a point per step."""
    x, y = np.linspace(-1, 1, size), np.linspace(-1, 1, size + 2)
    z = scale * (x[None, :] ** 2 + 2 * y[:, None] ** 2) + 0.5
    along = np.linspace(1, 0, len(steps)) if steps else np.empty(0)
    return LandscapeValue(
        x, y, z, np.array(steps, np.int64), along, along, scale * 3 * along**2 + 0.5,
        "PCA" if steps else "Random", unit, 15, (0.0, 0.0, 0.5),
    )  # fmt: skip
