"""Insights into the scalars of a store's runs: computed once per state of a series, in a cache of bounded size."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from layouts.sources import RunSources
from parsers import INSIGHTS, Insight, Series
from parsers.analysis.curves.insights import frame, insights_of, ranked, stalled
from parsers.caches import Cache
from parsers.export import csv_names, number_text
from parsers.recorded import mark_of
from parsers.runs import Run

MOST_SERIES = 50_000
"""Series whose insights are cached; the least recently used are evicted."""
MOST_INSIGHTS = 500
"""Insights returned for one run, the most severe first."""

_Entry = tuple[tuple[int, ...], tuple[Insight, ...]]
"""(what changes with the points of the series, its insights)."""


class Insights:
    """A thread-safe cache of insights by run and tag."""

    def __init__(self) -> None:
        self._entries: Cache[tuple[str, str], _Entry] = Cache(MOST_SERIES)

    def of(
        self, key: str, series_of: Callable[[str], Series], tags: Sequence[str], seconds: float,
        clock: Callable[[], float] = time.thread_time,
    ) -> tuple[list[Insight], int]:  # fmt: skip
        """Return (insights of these tags of a run, number of tags not analysed yet); start none after that CPU time."""
        end = clock() + seconds
        found: list[Insight] = []
        left = 0
        for tag in tags:
            series = series_of(tag)
            if not series.step.size:
                continue
            cached = self._cached(key, tag, series)
            if cached is None and clock() >= end:
                left += 1
                continue
            found += cached if cached is not None else self._analyse(key, tag, series)
        return ranked(found)[:MOST_INSIGHTS], left

    def standing(self, run: Run, now: float) -> Insight | None:
        """Return an insight if the run has stalled."""
        return stalled({tag: run.series(tag) for tag in run.tags("scalar")}, now)

    def _cached(self, key: str, tag: str, series: Series) -> tuple[Insight, ...] | None:
        entry = self._entries.get((key, tag))
        return entry[1] if entry is not None and entry[0] == mark_of(series) else None

    def _analyse(self, key: str, tag: str, series: Series) -> tuple[Insight, ...]:
        found = tuple(insights_of(tag, series))
        self._entries.put((key, tag), (mark_of(series), found))
        return found


def insight_rows(source: RunSources, runs: Sequence[str]) -> Iterator[bytes]:
    """Yield lines of CSV: the run and the columns of INSIGHTS, one line per insight."""
    yield (",".join(("run", *INSIGHTS.names)) + "\n").encode()
    for run in runs:
        found, _ = source.curves.insights(run, None, float("inf"))
        for row in frame(list(found)).itertuples(index=False, name=None):
            cells = (csv_names(cell) if isinstance(cell, str) else _number(cell) for cell in row)
            yield (csv_names(run) + "," + ",".join(cells) + "\n").encode("utf-8", "surrogatepass")


def _number(cell: float) -> str:
    return number_text(cell) if isinstance(cell, float) else str(int(cell))
