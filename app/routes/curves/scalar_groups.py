"""Groups of runs as CSV: their final values and their curves, as the scalars page shows them but unthinned.

    <prefix>api/scalars-final.csv?run=KEY&tag=TAG&group=regex:lr(.*)&base=group:0.1    one row per tag and run or group
    <prefix>api/scalars-matrix.csv?run=KEY&tag=TAG    last values: one row per run, one column per tag
    <prefix>api/scalars-groups.csv?run=KEY&tag=TAG&group=column:lr&line=median&band=range&x=step&smooth=0.6
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from layouts.curves.chosen_lines import group_lines
from layouts.curves.final_values import FinalValueRow, labels, read_wanted, rows
from layouts.curves.grouping import CurveGrouping, grouping
from layouts.curves.last_values import last_of
from layouts.curves.scalar_asks import COLUMNS, ChartRequest
from layouts.sources import RunSources, Sources
from parsers.analysis import Estimate
from parsers.export.cells import csv_names, number_text

Query = Mapping[str, Sequence[str]]
FINALS = (
    "tag", "name", "runs", "n", "last", "last_low", "last_high", "last_step", "best", "best_low", "best_high", "best_step",
    "minus_baseline", "better_than_baseline", "better_low", "better_high",
)  # fmt: skip

PARAMETERS = {
    "final": ("run", "tag", "expr", "group", "base"),
    "matrix": ("run", "tag", "expr"),
    "groups": ("run", "tag", "expr", "group", "base", "line", "band", "x", "zone", "smooth"),
}


def final_rows(source: Sources, query: Query, runs: Sequence[str]) -> Iterator[bytes]:
    """Return the table of final values as CSV. Raises BadInput or PatternError at once, before the first line is sent."""
    ask = read_wanted({**query, "table": ["1"]})
    groups = grouping(source, ask.by, runs)
    lines = (_final_line(row) for row in rows(source, ask, groups, runs))
    return _with_head(FINALS, lines)


def matrix_rows(source: Sources, query: Query, runs: Sequence[str]) -> Iterator[bytes]:
    """Return the last values of runs by tags as CSV, in the order of the runs; NaN is nan, what was not recorded is empty."""
    return _matrix_lines(source, runs, labels(source), query["tag"])


def curve_rows(source: Sources, query: Query) -> Iterator[bytes]:
    """Return the curves of groups as CSV: x in steps, seconds or the unit of its tag; low and high bound the band."""
    ask = ChartRequest.read({**query, "columns": [str(COLUMNS[1])], "every": ["1"]})
    groups = grouping(source, ask.by, ())
    if groups is None:
        raise ValueError("group: expected a grouping such as regex:lr(.*) or column:learning_rate, found none")
    return _with_head(("tag", "group", "x", "runs", ask.line, "low", "high"), _curve_lines(source, ask, groups))


def _matrix_lines(
    source: RunSources, runs: Sequence[str], names: Mapping[str, str], tags: Sequence[str]
) -> Iterator[bytes]:
    yield (csv_names("run", *tags) + "\n").encode("utf-8", "surrogateescape")
    for run in runs:
        found = (last_of(source, run, tag) for tag in tags)
        cells = [csv_names(names.get(run, run)), *("" if one is None else number_text(one.value) for one in found)]
        yield (",".join(cells) + "\n").encode("utf-8", "surrogateescape")


def _with_head(names: Sequence[str], lines: Iterator[bytes]) -> Iterator[bytes]:
    yield ",".join(names).encode() + b"\n"
    yield from lines


def _final_line(row: FinalValueRow) -> bytes:
    single = row.finals[0] if len(row.finals) == 1 else None
    steps = [str(one.best_step) for one in row.finals if one.best_step >= 0]
    cells = [
        csv_names(row.tag, row.label), str(len(row.finals)), str(row.last.n),
        *((number_text(single.last), "", "") if single else _estimate_cells(row.last)),
        str(single.last_step) if single else "", *_estimate_cells(row.best), steps[0] if single and steps else "",
        _cell(row.minus), *(_estimate_cells(row.wins) if row.wins else ["", "", ""]),
    ]  # fmt: skip
    return (",".join(cells) + "\n").encode("utf-8", "surrogateescape")


def _estimate_cells(one: Estimate) -> list[str]:
    return [_cell(one.value), _cell(one.low), _cell(one.high)]


def _cell(value: float) -> str:
    return "" if math.isnan(value) else number_text(value)


def _curve_lines(source: RunSources, ask: ChartRequest, groups: CurveGrouping) -> Iterator[bytes]:
    for tag in dict.fromkeys((*ask.left, *ask.right)):
        for line in group_lines(source, ask, groups, tag):
            spread: Any = line.spread
            low, high = spread.ends(np.arange(line.x.size)) if spread.ends else (np.full(line.x.size, np.nan),) * 2
            x = np.asarray(line.x)
            x = x / 1000.0 - ask.zone if ask.axis == "absolute" else x
            names = csv_names(line.tag, line.label)
            columns = (x.tolist(), spread.n.tolist(), line.series.value.tolist(), low.tolist(), high.tolist())
            for place, n, value, below, above in zip(*columns, strict=True):
                cells = (names, number_text(place), str(n), _cell(value), _cell(below), _cell(above))
                yield (",".join(cells) + "\n").encode("utf-8", "surrogateescape")
