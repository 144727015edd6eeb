"""Figures of the communication page: one operation over its ranks, packets by size. The browser sets colours of axes."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers.analysis.jobs.traffic import RankSpread
from parsers.deferred import pandas as pd

from layouts.jobs.communication.tables import OTHER
from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import described, listed, named
from layouts.kit.figures.typed_arrays import numbers, whole_numbers
from layouts.kit.i18n import Text, both
from layouts.kit.theme import PALETTE
from layouts.profiles.step_plots import unit_of

MOST_BARS = 600
"""Ranks drawn as bars of their own; of more, each bar is the rank of several neighbours that took longest."""
TRANSFER, WAITING, REST = PALETTE[0][0], PALETTE[4][0], "#8a93a0"
PARTS = {"transfer": TRANSFER, "own_wait": WAITING, "unexplained": REST, "transit": TRANSFER, "wait": WAITING, "rest": REST}
_MARGIN = {"l": 60, "r": 12, "t": 20, "b": 44, "pad": 0}
_CLEAR = "rgba(0,0,0,0)"


def parts_of(spread: RankSpread) -> dict[str, NDArray[np.float64]]:
    """Return what the elapse of each rank consists of, in ns: with own waits from these, else as the files have it."""
    if np.isfinite(spread.own_wait_ns).any():
        return {
            "transfer": spread.transfer_ns, "own_wait": np.nan_to_num(spread.own_wait_ns), "unexplained": spread.unexplained_ns,
        }  # fmt: skip
    transit, wait = np.nan_to_num(spread.transit_ns), np.nan_to_num(spread.wait_ns)
    return {"transit": transit, "wait": wait, "rest": np.maximum(spread.elapse_ns - transit - wait, 0.0)}


def shown_ranks(spread: RankSpread) -> tuple[NDArray[np.int64], int]:
    """Return the places of the ranks that have a bar, and of how many neighbours each is the one that took longest."""
    count = len(spread.ranks)
    block = -(-count // MOST_BARS)
    if block <= 1:
        return np.arange(count), 1
    padded = np.full(-(-count // block) * block, -np.inf)
    padded[:count] = np.nan_to_num(spread.elapse_ns, nan=-np.inf)
    return np.arange(0, len(padded), block) + padded.reshape(-1, block).argmax(axis=1), block


def operation(spread: RankSpread) -> dict[str, Any] | None:
    """Draw the elapse of each rank in ms, and mark the rank that came last; None without ranks."""
    if not len(spread.ranks):
        return None
    places, _ = shown_ranks(spread)
    ranks = spread.ranks[places]
    few = len(ranks) <= 64
    x = [str(rank) for rank in ranks.tolist()] if few else whole_numbers(ranks)
    scale, unit = unit_of(float(np.nanmax(spread.elapse_ns)))
    traces = [
        {
            "type": "bar", "x": x, "y": numbers(part[places] / scale), "marker": {"color": PARTS[name], "line": {"width": 0}},
            "meta": name, "hovertemplate": f"%{{x}}: %{{y:.4~g}} {unit}<extra></extra>",
        }
        for name, part in parts_of(spread).items() if (part[places] > 0.0).any()
    ]  # fmt: skip
    layout = _layout(unit) | {"meta": {"axis": "communication.col.rank"}}
    layout |= {"barmode": "stack", "bargap": 0.25 if few else 0.0}
    layout["xaxis"] |= {"type": "category"} if few else {}
    if spread.latest >= 0:
        at = int(np.flatnonzero(spread.ranks == spread.latest)[0])
        # On an axis of categories x is a place, not a name.
        layout["annotations"] = [{
            "x": at if few else spread.latest, "y": float(spread.elapse_ns[at]) / scale, "text": "▼",
            "showarrow": False, "yshift": 10, "font": {"size": 12},
        }]  # fmt: skip
    return described({"data": traces, "layout": layout}, both("communication.said_operation"), _said(spread))


def _said(spread: RankSpread) -> Text:
    """Return the ends of the elapses with their ranks, and the rank that came last."""
    known = np.nan_to_num(spread.elapse_ns, nan=-1.0)
    longest, shortest = int(known.argmax()), int(np.where(known < 0, np.inf, known).argmin())
    ends = [
        named(both(f"communication.said_{name}", rank=spread.ranks[at]), fmt.duration(float(known[at]) / 1e9))
        for name, at in (("longest", longest), ("shortest", shortest))
    ]
    last = [both("communication.said_last", rank=spread.latest)] if spread.latest >= 0 else []
    return listed([*ends, both("communication.said_ranks", n=fmt.count(len(spread.ranks))), *last])


def packets(frame: pd.DataFrame) -> dict[str, Any] | None:
    """Draw the time in ms of packets by size, one colour for each transport (`packets.folded`, OTHER); None without packets."""
    if not len(frame):
        return None
    scale, unit = unit_of(float(frame["time_ns"].max()))
    lows = sorted(set(frame["from_bytes"].tolist()))
    names = {low: fmt.prefixed(low, "B") for low in lows}
    traces = []
    for place, (transport, part) in enumerate(frame.groupby("transport", sort=False)):
        name = html.escape(str(transport), quote=False)  # plotly reads some tags
        custom = [
            [fmt.count(row["count"]), _span(row) if transport == OTHER else f"{name} {_span(row)}", _rate(row["bandwidth"])]
            for row in part.to_dict("records")
        ]
        traces.append({
            "type": "bar", "x": [names[low] for low in part["from_bytes"].tolist()], "name": name, "meta": name,
            "y": numbers(part["time_ns"].to_numpy() / scale), "customdata": custom,
            "marker": {"color": REST if transport == OTHER else PALETTE[place % len(PALETTE)][0], "line": {"width": 0}},
            "hovertemplate": f"%{{customdata[1]}}: %{{y:.4~g}} {unit}, %{{customdata[0]}} x, %{{customdata[2]}}<extra></extra>",
        })  # fmt: skip
    layout = _layout(unit)
    order = {"type": "category", "categoryorder": "array", "categoryarray": [names[low] for low in lows]}
    layout |= {"barmode": "group", "bargap": 0.2, "showlegend": len(traces) > 1}
    layout["xaxis"] |= order
    whole = frame.groupby("transport", sort=False)["time_ns"].sum()
    parts = [
        named(both(OTHER) if name == OTHER else str(name), fmt.duration(float(time) / 1e9)) for name, time in whole.items()
    ]
    ends = both(
        "communication.said_sizes", n=fmt.count(int(frame["count"].sum())), low=fmt.prefixed(lows[0], "B"),
        high=fmt.prefixed(frame["to_bytes"].max(), "B"),
    )
    return described({"data": traces, "layout": layout}, both("communication.said_packets"), ends, listed(parts))


def _span(row: Mapping[Any, Any]) -> str:
    return f"{fmt.prefixed(row['from_bytes'], 'B')} – {fmt.prefixed(row['to_bytes'], 'B')}"


def _rate(value: float) -> str:
    return fmt.rate(value, "B") if np.isfinite(value) else "?"


def _layout(unit: str) -> dict[str, Any]:
    return {
        "margin": _MARGIN, "paper_bgcolor": _CLEAR, "plot_bgcolor": _CLEAR, "font": {"size": 11}, "showlegend": False,
        "legend": {"orientation": "h", "y": 1.12}, "hovermode": "closest",
        "xaxis": {"zeroline": False, "automargin": True},
        "yaxis": {"rangemode": "tozero", "ticksuffix": f" {unit}", "nticks": 6},
    }  # fmt: skip


