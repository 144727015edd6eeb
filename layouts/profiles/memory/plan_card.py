"""The static plan of a graph: memory by node with forward start and backward end, and the blocks in use at a node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.profiles.memory import MemoryPlan, in_use_at, plan
from parsers.deferred import pandas as pd

from layouts.kit import tables
from layouts.kit import units as fmt
from layouts.kit.figures.typed_arrays import drawn, typed
from layouts.kit.i18n import t
from layouts.kit.tables import TableColumn
from layouts.profiles.memory import memory_texts

MOST_ROWS = 100
_COLOUR, _STATIC, _MARK = "#236db4", "#866850", "#7b8490"
_CLEAR = "rgba(0,0,0,0)"


def graphs(static_memory: pd.DataFrame | None) -> list[int]:
    """Return the numbers of the graphs that have a plan: blocks, or memory by node."""
    if static_memory is None:
        return []
    planned = static_memory["kind"].isin(["block", "node"]).to_numpy()
    return sorted({int(graph) for graph in static_memory["graph"].to_numpy()[planned]})


def value_of(static_memory: pd.DataFrame | None, kind: str) -> int:
    """Return the size of the only row of a kind, such as the capacity, in bytes; 0 without one."""
    if static_memory is None:
        return 0
    found = static_memory["size_bytes"].to_numpy()[(static_memory["kind"] == kind).to_numpy()]
    return max(int(found[0]), 0) if len(found) else 0


def chosen(static_memory: pd.DataFrame, graph: int, node: int) -> tuple[MemoryPlan, int]:
    """Return the plan of a graph (of the first one for an unknown number) and a node of it (that of its peak for -1)."""
    listed = graphs(static_memory)
    found = plan(static_memory, graph if graph in listed else listed[0])
    return found, node if node >= 0 else max(found.peak_node, 0)


def figure(found: MemoryPlan, node: int, words: Mapping[str, str], *, dark: bool) -> dict[str, Any]:
    """Draw memory by node, a step function, with marks at forward start, backward end and the chosen node."""
    scale, unit = fmt.size_unit(max(int(found.size.max(initial=1)), 1))
    end = max([int(found.node.max(initial=0)), found.forward_start, found.backward_end])
    nodes, sizes = np.append(found.node, end + 1), np.append(found.size, found.size[-1] if len(found.size) else 0)
    texts = [f"<b>{words['node']} {fmt.count(at)}</b><br>{fmt.size(size)}  ({memory_texts.exact(size)})"
             for at, size in zip(found.node.tolist(), found.size.tolist(), strict=True)]  # fmt: skip
    traces: list[dict[str, Any]] = [
        {"type": "scatter", "mode": "lines", "x": typed(nodes.astype(np.float64)), "y": drawn(sizes / scale),
         "hoverinfo": "skip", "line": {"color": _COLOUR, "width": 1.5, "shape": "hv"},
         "fill": "tozeroy", "fillcolor": "rgba(35,109,180,0.13)",
         "meta": {"role": "plan"}},
        {"type": "scatter", "mode": "markers", "x": typed(found.node.astype(np.float64)), "y": drawn(found.size / scale),
         "hovertext": texts, "hoverinfo": "text", "marker": {"size": 1, "opacity": 0},
         "customdata": found.node.tolist(), "meta": {"role": "hover"}},
    ]  # fmt: skip
    marks = [("forward_start", found.forward_start), ("backward_end", found.backward_end)]
    shapes = [_line(at) for _, at in marks if at >= 0]
    notes = [_note(words[name], at) for name, at in marks if at >= 0]
    if found.static > 0:
        y = found.static / scale
        shapes.append({"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y,
                       "line": {"color": _STATIC, "width": 1.2, "dash": "dot"}})  # fmt: skip
        notes.append({"x": 1, "xref": "paper", "xanchor": "right", "y": y, "yanchor": "bottom", "showarrow": False,
                      "text": f"{words['static']} {fmt.size(found.static)}", "font": {"size": 11}})  # fmt: skip
    shapes.append(_line(node) | {"line": {"color": "#2f5fd0", "width": 1.5}})
    layout = {
        "margin": {"l": 66, "r": 16, "t": 22, "b": 30, "pad": 0}, "paper_bgcolor": _CLEAR, "plot_bgcolor": _CLEAR,
        "showlegend": False, "hovermode": "x", "hoverdistance": -1, "font": {"size": 11}, "dragmode": "zoom",
        "hoverlabel": {
            "align": "left", "bgcolor": "#22262b" if dark else "#ffffff", "bordercolor": "#464e58" if dark else "#c3c9d1",
            "font": {"size": 12}, "namelength": 0,
        },
        "xaxis": {"range": [-0.5, end + 1.5], "showgrid": False, "zeroline": False, "nticks": 8, "separatethousands": True,
                  "title": {"text": words["node"], "standoff": 4}},
        "yaxis": {"range": [0, max(int(found.size.max(initial=1)), found.static, 1) / scale * 1.06], "ticksuffix": f" {unit}",
                  "nticks": 5, "fixedrange": True, "zeroline": True},
        "shapes": shapes, "annotations": notes,
    }  # fmt: skip
    return {"data": traces, "layout": layout}


def _line(at: int) -> dict[str, Any]:
    return {"type": "line", "x0": at, "x1": at, "yref": "paper", "y0": 0, "y1": 1,
            "line": {"color": _MARK, "width": 1, "dash": "dash"}}  # fmt: skip


def _note(text: str, at: int) -> dict[str, Any]:
    return {"x": at, "y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": False, "text": text, "font": {"size": 11}}


def sentence(found: MemoryPlan) -> html.P:
    """Say the total of the file, the sum of the blocks and the most in use at once, which are three different things."""
    values = {"graph": found.graph, "peak": fmt.size(max(found.peak, 0)), "node": fmt.count(max(found.peak_node, 0))}
    if found.total >= 0:
        text = t("memory.plan.said_total", total=fmt.size(found.total), sum=fmt.size(max(found.sum, 0)), **values)
    else:
        text = t("memory.plan.said", sum=fmt.size(max(found.sum, 0)), **values)
    return html.P(text)


def table(static_memory: pd.DataFrame, found: MemoryPlan, node: int) -> list[Any]:
    """The blocks in use at a node, the largest first, each with its life from first to last node."""
    rows = in_use_at(static_memory, found.graph, node)
    end = max([int(found.node.max(initial=0)), *rows["last"].tolist()], default=0)
    columns = [name for name in ("type", "data_type", "shape", "format") if any(str(text) for text in rows[name].unique())]
    body = [
        (
            html.Span(str(row["name"]) or "–", title=str(row["name"])), memory_texts.size(row["size_bytes"]),
            _life(int(row["first"]), int(row["last"]), end, node), *(str(row[name]) for name in columns),
        )
        for row in rows.head(MOST_ROWS).to_dict("records")
    ]  # fmt: skip
    keys = ["memory.plan.name", "memory.size", "memory.plan.life", *(f"memory.plan.{name}" for name in columns)]
    used = int(rows["size_bytes"].sum())
    title = html.P(t("memory.plan.at", node=fmt.count(node), n=fmt.count(len(rows)), size=fmt.size(used)))
    left = len(rows) - MOST_ROWS
    more = [html.P(t("memory.more_blocks", n=fmt.count(left)), className="ms-muted")] if left > 0 else []
    listed = tables.table(
        list(map(TableColumn, keys)), body, class_name="ms-memory-table ms-memory-narrow", scroll="ms-memory-rows"
    )
    return [title, listed, *more] if body else [title]


def _life(first: int, last: int, end: int, node: int) -> html.Span:
    """The nodes over which a block lives, as text and as a bar over all nodes with a mark at the chosen one."""
    stop = last if last >= 0 else end
    whole = max(end + 1, 1)
    bar = html.Span(
        [html.Span(className="ms-memory-life-bar", style={
            "left": f"{100 * first / whole:.2f}%", "width": f"{100 * (stop + 1 - first) / whole:.2f}%"}),
         html.Span(className="ms-memory-life-at", style={"left": f"{100 * node / whole:.2f}%"})],
        className="ms-memory-life-track",
    )  # fmt: skip
    text = f"{fmt.count(first)} – {fmt.count(last)}" if last >= 0 else f"{fmt.count(first)} –"
    return html.Span([bar, html.Span(text)], className="ms-memory-life")


def facts(static_memory: pd.DataFrame) -> list[Any]:
    """What files from before 2.3 say of the whole device: peak, static memory, allocations and releases."""
    rows = []
    capacity = value_of(static_memory, "capacity")
    if capacity:
        peak = value_of(static_memory, "peak")
        share = f" ({memory_texts.percent(peak, capacity)})" if peak else ""
        rows.append(("capacity", f"{fmt.size(capacity)}{share}", memory_texts.exact(capacity)))
    for kind in ("peak", "static"):
        found = static_memory[((static_memory["kind"] == kind) & (static_memory["graph"] < 0)).to_numpy()]["size_bytes"]
        if len(found) and int(found.iloc[0]) >= 0:
            rows.append((kind, fmt.size(int(found.iloc[0])), memory_texts.exact(int(found.iloc[0]))))
    for kind in ("allocations", "releases"):
        found = static_memory[(static_memory["kind"] == kind).to_numpy()]["count"]
        if len(found) and int(found.iloc[0]) >= 0:
            rows.append((kind, fmt.count(int(found.iloc[0])), ""))
    if not rows:
        return []
    return [html.Dl([html.Div([html.Dt(t(f"memory.plan.{kind}")), html.Dd(text, title=exact)]) for kind, text, exact in rows],
                    className="ms-memory-figures")]  # fmt: skip
