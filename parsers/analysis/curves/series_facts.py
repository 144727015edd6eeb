"""What was computed from a series once, so that a view of it costs what it shows.

Facts are small: 0.07 bytes per point, and 0.2 for each of the last smoothings. They are kept with a series of a run; when the
run grows by appending, those of the new points are added.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from parsers.analysis.curves.blocks import CurveBlocks, blocks_of
from parsers.analysis.curves.heights import Averages, RecordedHeights, Smoothed, averages_of
from parsers.analysis.curves.places import Rises, rises_of
from parsers.analysis.curves.segments import restarts
from parsers.model import Floats, Ints, Series
from parsers.recorded import RunSeries

T = TypeVar("T")
LONG = 40_000
"""From this number of points on a series is drawn by its facts; below that, passes over all points are quicker."""
# Smoothings of a series that are kept: the slider sends a few weights while it is moved.
_MOST_WEIGHTS = 3


class SeriesFacts:
    """Facts of one series, each computed when it is first asked for. Threads that ask at once compute it twice."""

    def __init__(self, series: Series) -> None:
        self._series = series
        self._known: dict[Any, tuple[int, Any]] = series.known if isinstance(series, RunSeries) else {}

    def _fact(self, key: Any, compute: Callable[[T | None], T]) -> T:
        """Return a fact; compute gets that of the series when it had fewer points, or None."""
        size = self._series.value.size
        known, fact = self._known.get(key, (0, None))
        if known == size and known:
            found: T = fact
            return found
        # A request that began before the run grew may find the facts of more points than it has.
        found = compute(fact if known < size else None)
        if known < size:
            self._known[key] = size, found
        return found

    def prepare(self) -> None:
        """Compute what every view needs. It takes 1 to 2 % of the time that reading the points takes."""
        _ = self.steps, self.blocks, self.earliest

    @property
    def steps(self) -> Rises | None:
        """Where the step falls; None if it falls so often that nothing is gained by knowing."""
        return self._fact("step", lambda shorter: rises_of(self._series.step, shorter))

    @property
    def restarts(self) -> Ints:
        """The indices at which a session starts, see `parsers.analysis.curves.segments.restarts`."""
        steps = self.steps
        return restarts(self._series.step) if steps is None else steps.falls

    @property
    def times(self) -> Rises | None:
        """Where the wall time falls; None if it does so often, or if a time is not finite."""
        return self._fact("time", lambda shorter: rises_of(self._series.wall_time, shorter))

    @property
    def earliest(self) -> float:
        """The earliest finite wall time in seconds, inf if there is none."""
        return self._fact("earliest", lambda _: _least(self._series.wall_time))

    @property
    def blocks(self) -> CurveBlocks | None:
        """The ends of the blocks of values; None if single values that are not finite are many."""
        return self._fact("value", lambda shorter: blocks_of(self._series.value, shorter))

    def recorded(self) -> RecordedHeights | None:
        """Return the values by blocks; None if there are no blocks."""
        blocks = self.blocks
        return None if blocks is None else RecordedHeights(self._series.value, blocks)

    def smoothed(self, weight: float) -> Smoothed | None:
        """Return the smoothed values by blocks; None if `smooth` is quicker. weight is in (0, 1)."""
        recorded = self.recorded()
        if recorded is None:
            return None

        def compute(shorter: Averages | None) -> Averages | None:
            return averages_of(recorded, weight, self.restarts, shorter)

        averages = self._fact(("mean", weight), compute)
        if averages is None:
            return None
        found = Smoothed(recorded, averages, lambda ends: self._fact(("ends", weight), ends))
        self._forget(weight)
        return found

    def _forget(self, newest: float) -> None:
        """Keep the smoothings asked for last."""
        weights = self._known.setdefault("weights", (0, []))[1]
        if newest in weights[-1:]:
            return
        order = [*(weight for weight in list(weights) if weight != newest), newest]
        for weight in order[:-_MOST_WEIGHTS]:
            self._known.pop(("mean", weight), None)
            self._known.pop(("ends", weight), None)
        self._known["weights"] = 0, order[-_MOST_WEIGHTS:]


def _least(column: Floats) -> float:
    least = float(column.min(initial=math.inf))
    if not math.isnan(least) and least != -math.inf:
        return least
    return float(column[np.isfinite(column)].min(initial=math.inf))
