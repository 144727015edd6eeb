"""Landscapes with a known shape, and a source that has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from layouts.sources import RunRow
from parsers import LandscapePlan, LandscapeValue, PayloadError, PayloadSeries, Series, Setting, Value
from tests.layouts.sources import GivenSource

Sheets = Mapping[tuple[str, str], LandscapeValue | str]


class LandscapeSource(GivenSource):
    """Has landscapes by (run, tag); a text instead of one is why it cannot be shown."""

    def __init__(
        self,
        rows: Sequence[RunRow],
        series: Mapping[tuple[str, str], Series],
        sheets: Sheets,
        plans: Mapping[str, LandscapePlan | Exception] | None = None,
        recorded: Mapping[str, Mapping[str, Setting]] | None = None,
    ) -> None:
        super().__init__(rows, series)
        self.sheets = sheets
        self.plans = plans or {}
        self.recorded = recorded or {}

    def tags(self, run: str, kind: str = "scalar") -> Sequence[str]:
        return [tag for key, tag in self.sheets if key == run] if kind == "landscape" else super().tags(run, kind)

    def payload_series(self, run: str, kind: str, tag: str) -> PayloadSeries | None:
        none = np.zeros(1, np.int64)
        return PayloadSeries(none, np.zeros(1), np.zeros(1, np.int32), none, none, none) if (run, tag) in self.sheets else None

    def value(self, run: str, kind: str, tag: str, place: int) -> Value:
        found = self.sheets.get((run, tag), "no such landscape")
        if isinstance(found, str):
            raise PayloadError(found)
        return found

    def settings(self, run: str) -> Mapping[str, Setting]:
        return self.recorded.get(run, {})

    def landscape_plan(self, run: str) -> LandscapePlan | None:
        plan = self.plans.get(run)
        if isinstance(plan, Exception):
            raise plan
        return plan


def bowl(steps: Sequence[int] = (), *, unit: str = "step", scale: float = 1.0, size: int = 9) -> LandscapeValue:
    """A paraboloid over [-1, 1], lowest at 0, and a path of so many points from a corner to its middle."""
    x, y = np.linspace(-1, 1, size), np.linspace(-1, 1, size + 2)
    z = scale * (x[None, :] ** 2 + 2 * y[:, None] ** 2) + 0.5
    along = np.linspace(1, 0, len(steps)) if steps else np.empty(0)
    return LandscapeValue(
        x, y, z, np.array(steps, np.int64), along, along, scale * 3 * along**2 + 0.5,
        "PCA" if steps else "Random", unit, 15, (0.0, 0.0, 0.5),
    )  # fmt: skip
