"""The text alternatives of the figures of all ranks: the metric, which rank has most and least, and ranks others wait for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from parsers.model import Floats, Ints

from layouts.jobs.cluster.metric_texts import text_of
from layouts.jobs.cluster.rows import ClusterBars
from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import Figure, described, in_both, joined, listed, named
from layouts.kit.i18n import Text, both


def with_bars(figure: Figure, bars: ClusterBars, metric: str, late: Sequence[int]) -> Figure:
    """Return the bars with their alternative."""
    ranked = bars.kind == "rank"

    def name(at: int) -> Text:
        return both("cluster.said_rank", n=bars.names[at]) if ranked else in_both(bars.names[at])

    return described(figure, _title(both("cluster.bars"), metric), _ends(name, bars.value, metric), _late(late))


def with_ranks(figure: Figure, title: Text, ranks: Ints, values: Floats, metric: str, late: Sequence[int]) -> Figure:
    """Return a figure of one value for each rank with its alternative."""
    def name(at: int) -> Text:
        return both("cluster.said_rank", n=ranks[at])

    return described(figure, _title(title, metric), _ends(name, values, metric), _late(late))


def with_steps(figure: Figure, table: Floats, ranks: Ints, steps: Ints, metric: str, late: Sequence[int]) -> Figure:
    """Return ranks over steps with the alternative; table is ranks x steps."""
    def name(at: int) -> Text:
        row, column = divmod(at, len(steps))
        return joined([both("cluster.said_rank", n=ranks[row]), both("cluster.said_step", n=fmt.count(int(steps[column])))])

    return described(figure, _title(both("cluster.heat"), metric), _ends(name, table.ravel(), metric), _late(late))


def _title(title: Text, metric: str) -> Text:
    return joined([title, both(f"cluster.metric.{metric}")])


def _ends(name: Callable[[int], Text], values: Floats, metric: str) -> Text | None:
    if not np.isfinite(values).any():
        return both("cluster.said_unknown")
    most, least = int(np.nanargmax(values)), int(np.nanargmin(values))
    ends = [
        named(joined([both(f"cluster.said_{end}"), name(at)]), text_of(metric, float(values[at])))
        for end, at in (("most", most), ("least", least))
    ]
    return listed([*ends, both("cluster.said_values", n=fmt.count(len(values)))])


def _late(late: Sequence[int]) -> Text | None:
    if not late:
        return None
    return named(both("cluster.said_late"), listed((str(rank), str(rank)) for rank in late))
