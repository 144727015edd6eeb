"""Histograms of many tags as CSV, one row per bucket, streamed while they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from layouts.sources import ValueSources
from parsers import HistogramValue, PayloadError
from parsers.export import Steps
from parsers.export.cells import csv_names, number_text
from parsers.export.histograms import COLUMNS, csv_rows

_NAN = float("nan")
_NOTHING = np.zeros(0)


def histogram_rows(source: ValueSources, pairs: Sequence[tuple[str, str]], steps: Steps) -> Iterator[bytes]:
    """Yield CSV for each (run, tag) and each step of a closed range. The note of an unreadable record has the reason."""
    yield ",".join(COLUMNS).encode() + b"\n"
    for run, tag in pairs:
        items = source.values.series(run, "histogram", tag)
        if items is None:
            continue
        names = csv_names(run, tag)
        for place in np.flatnonzero((items.step >= steps[0]) & (items.step <= steps[1])).tolist():
            start = f"{names},{items.step[place]},{number_text(float(items.wall_time[place]))}"
            yield from csv_rows(start, _value(source, run, tag, place), f"{items.file[place]},{items.order[place]}")


def _value(source: ValueSources, run: str, tag: str, place: int) -> HistogramValue:
    try:
        value = source.values.value(run, "histogram", tag, place)
    except PayloadError as error:
        return HistogramValue(_NOTHING, _NOTHING, _NOTHING, _NAN, _NAN, _NAN, 0, problem=str(error))
    assert isinstance(value, HistogramValue)
    return value
