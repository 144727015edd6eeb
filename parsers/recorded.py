"""Series of a run, with a place to keep what was computed from them."""

from __future__ import annotations

from typing import Any

from parsers.model import Series


class RunSeries(Series):
    """A series of a run.

    known is what `parsers.analysis.curves.series_facts` has computed: name -> (number of points it is about, fact).
    """

    known: dict[Any, tuple[int, Any]]


class DerivedSeries(RunSeries):
    """A series computed from others of the run; made_of are the sizes, last orders and last files of these."""

    made_of: tuple[int, ...]


def mark_of(series: Series) -> tuple[int, ...]:
    """Return numbers that change whenever the points of a series of a run do. The series must not be empty."""
    made_of = series.made_of if isinstance(series, DerivedSeries) else ()
    return series.step.size, int(series.order[-1]), int(series.file[-1]), *made_of
