"""A series of a run, with a place to keep what was computed from it."""

from __future__ import annotations

from typing import Any

from parsers.model import Series


class RecordedSeries(Series):
    """A series of a run. known is what `parsers.analysis.facts` has computed: name -> (number of points it is about, fact)."""

    known: dict[Any, tuple[int, Any]]
