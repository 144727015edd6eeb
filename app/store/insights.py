"""What deserves a look in the scalars of a store's runs: looked for once for each state of a series, kept within bounds."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence

from layouts.sources import RunSource
from parsers import INSIGHTS, Insight, Series
from parsers.analysis.insights import frame, insights_of, ranked, stalled
from parsers.export import csv_names, number_text
from parsers.runs import Run

MOST_SERIES = 50_000
"""Series whose insights are kept; those asked for least recently are looked at again."""
MOST_TOLD = 500
"""Insights told of one run, the severest first."""

_Mark = tuple[int, int, int]
_Known = tuple[_Mark, tuple[Insight, ...]]


def _mark(series: Series) -> _Mark:
    """What differs whenever the points of a series do."""
    return series.step.size, int(series.order[-1]), int(series.file[-1])


class Insights:
    """Insights by run and tag. One thread looks at a time; others wait for a series at most."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], _Known] = OrderedDict()

    def of(
        self, key: str, run: Run, tags: Sequence[str], seconds: float, clock: Callable[[], float] = time.thread_time
    ) -> tuple[list[Insight], int]:
        """(insights of these tags, tags that have not been looked at); no other one is begun after so many seconds of CPU."""
        end = clock() + seconds
        found: list[Insight] = []
        left = 0
        for tag in tags:
            series = run.series(tag)
            if not series.step.size:
                continue
            known = self._known(key, tag, series)
            if known is None and clock() >= end:
                left += 1
                continue
            found += known if known is not None else self._look(key, tag, series)
        return ranked(found)[:MOST_TOLD], left

    def standing(self, run: Run, now: float) -> Insight | None:
        """Whether a run stands still."""
        return stalled({tag: run.series(tag) for tag in run.tags("scalar")}, now)

    def _known(self, key: str, tag: str, series: Series) -> tuple[Insight, ...] | None:
        with self._lock:
            kept = self._kept.get((key, tag))
            if kept is None or kept[0] != _mark(series):
                return None
            self._kept.move_to_end((key, tag))
            return kept[1]

    def _look(self, key: str, tag: str, series: Series) -> tuple[Insight, ...]:
        found = tuple(insights_of(tag, series))
        with self._lock:
            self._kept[key, tag] = _mark(series), found
            self._kept.move_to_end((key, tag))
            while len(self._kept) > MOST_SERIES:
                self._kept.popitem(last=False)
        return found


def insight_rows(source: RunSource, runs: Sequence[str]) -> Iterator[bytes]:
    """Lines of CSV: the columns of INSIGHTS after the run, one line per insight."""
    yield (",".join(("run", *INSIGHTS.names)) + "\n").encode()
    for run in runs:
        found, _ = source.insights(run, None, float("inf"))
        for row in frame(list(found)).itertuples(index=False, name=None):
            cells = (csv_names(cell) if isinstance(cell, str) else _number(cell) for cell in row)
            yield (csv_names(run) + "," + ",".join(cells) + "\n").encode("utf-8", "surrogatepass")


def _number(cell: float) -> str:
    return number_text(cell) if isinstance(cell, float) else str(int(cell))
