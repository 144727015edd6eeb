"""The difference of each rank between two jobs as bars, from the largest to the least."""

from __future__ import annotations

from typing import Any

import numpy as np
from parsers.deferred import pandas as pd
from parsers.model import Ints

from layouts.curves.smoothed_lines import Trace
from layouts.jobs.two_jobs.quantities import percent, quantity, signed
from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import described, heights, joined, listed, named, writer
from layouts.kit.figures.typed_arrays import drawn, numbers
from layouts.kit.i18n import both
from layouts.profiles.step_plots import StepStyle, bare_layout, unit_of

MORE, LESS = "#c6871a", "#236db4"
"""Ranks that have more in the first job, and less."""
ENDS = 300
"""Ranks at either end that are always drawn."""
MOST = 1_500
LABELLED = 16
"""Bars up to which each has its value beside it."""
LEAST_ROOM = 8
"""Bars that have room at least, so that two ranks do not fill the plot."""


def bars(
    found: pd.DataFrame, hosts: tuple[dict[int, str], dict[int, str]], metric: str, *, language: str, look: StepStyle
) -> Any:
    """Return a figure of the differences in `parsers.analysis.jobs.two_jobs.compared`; None without any.

    Of more than MOST ranks those at both ends and evenly spaced ones between them are drawn. customdata are the ranks.
    """
    rows = found[found["difference"].notna()].sort_values("difference", ascending=False, kind="stable")
    if rows.empty:
        return None
    chosen = shown(len(rows))
    values = rows["difference"].to_numpy(np.float64)
    scale, unit = _scale(metric, float(np.abs(values).max()))
    picked = rows.iloc[chosen]
    ranks = picked.index.to_numpy(np.int64)
    few = len(rows) <= 40
    place = np.arange(len(rows))[chosen].astype(np.float64)
    word = both("two_jobs.rank_n")[0 if language == "en" else 1]
    texts = [
        _hover(word.format(n=rank), (hosts[0].get(rank, ""), hosts[1].get(rank, "")), metric, row)
        for rank, row in zip(ranks.tolist(), picked.to_dict("records"), strict=True)
    ]
    heights = values[chosen] / scale
    trace: Trace = {
        "type": "bar", "x": numbers(place), "y": drawn(heights), "hovertext": texts, "hoverinfo": "text",
        "marker": {"color": [MORE if one > 0 else LESS for one in heights.tolist()], "line": {"width": 0}},
        "customdata": ranks.tolist(), "meta": {"role": "difference"},
    }  # fmt: skip
    if len(rows) <= LABELLED:
        beside = [signed(metric, value) for value in values[chosen].tolist()]
        trace |= {"text": beside, "textposition": "outside", "cliponaxis": False}
    if len(chosen) < len(rows):
        trace["width"] = numbers(np.diff(np.append(place, len(rows))))
    layout = bare_layout(look) | {
        "bargap": 0.25 if few else 0.0, "hovermode": "closest",
        "uniformtext": {"mode": "hide", "minsize": 9},  # plotly would write what has no room in letters that nobody can read
        "xaxis": {
            "range": [-0.6, max(len(rows), LEAST_ROOM) - 0.4], "showgrid": False, "zeroline": False,
            "title": {"text": both("two_jobs.column.rank")[0 if language == "en" else 1], "standoff": 4},
            **({"tickvals": list(range(len(rows))), "ticktext": [str(rank) for rank in ranks.tolist()]} if few
               else {"showticklabels": False}),
        },
        "yaxis": {"ticksuffix": f" {unit}", "nticks": 6, "zeroline": True, "fixedrange": True},
        "meta": {"ranks": len(rows), "drawn": len(chosen), "unit": unit, "alike": not values.any()},
    }  # fmt: skip
    return {"data": [trace], "layout": layout}


def described_bars(figure: Any, metric: str) -> Any:
    """Return the figure with its text alternative: the metric, and the ranks at both ends; None for None."""
    if figure is None:
        return None
    [trace] = figure["data"]
    values, ranks = heights(trace), trace["customdata"]
    write = writer(figure, trace)
    ends = [named(both("two_jobs.rank_n", n=ranks[at]), write(float(values[at]))) for at in dict.fromkeys((0, len(ranks) - 1))]
    title = joined([both("two_jobs.bars"), both(f"two_jobs.metric.{metric}")])
    return described(figure, title, listed(ends, figure["layout"]["meta"]["ranks"]))


def shown(total: int) -> Ints:
    """Return the places of the ranks that are drawn."""
    if total <= MOST:
        return np.arange(total)
    between = np.linspace(ENDS, total - ENDS - 1, MOST - 2 * ENDS).astype(np.int64)
    found: Ints = np.unique(np.concatenate([np.arange(ENDS), between, np.arange(total - ENDS, total)]))
    return found


def _scale(metric: str, largest: float) -> tuple[float, str]:
    if metric.startswith("peak_"):
        return fmt.size_unit(largest)
    if metric in ("flops", "flops_per_s"):
        return 1e12, "TFLOPS" if metric == "flops_per_s" else "TFLOPs"
    return unit_of(largest)


def _hover(name: str, hosts: tuple[str, str], metric: str, row: dict[Any, Any]) -> str:
    lines = [
        f"{letter} {quantity(metric, row[which])}{f' · {host}' if host else ''}"
        for letter, which, host in zip("AB", ("one", "other"), hosts, strict=True)
    ]
    difference = f"{signed(metric, row['difference'])} ({percent(row['change'])})"
    return "<br>".join([f"<b>{name}</b>", *map(_plain, lines), difference])


def _plain(text: str) -> str:
    """Return text from files as text for plotly, which reads some tags."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
