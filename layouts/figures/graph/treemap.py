"""The parameters of a graph by scope as a treemap: an area is bytes."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import pandas as pd

from layouts.figures.graph.look import DARK, LIGHT
from layouts.format import count, size

MOST = 1_000
"""So many scopes are drawn, the largest."""


def treemap(scopes: pd.DataFrame, *, dark: bool = False) -> dict[str, Any]:
    """A figure of SCOPE_PARAMETERS. plotly takes some of html for markup, so names are escaped."""
    look = DARK if dark else LIGHT
    # A scope holds at least what is in it, and comes before it: the largest are a tree by themselves.
    order = np.argsort(-scopes["bytes"].to_numpy(), kind="stable")[:MOST]
    rows = scopes.iloc[np.sort(order)]
    rows = rows[rows["bytes"] > 0]
    paths = rows["scope"].tolist()
    tops = {path: number for number, path in enumerate(dict.fromkeys(_branch(path) for path in paths))}
    labels = [escape(path.rpartition("/")[2]) or "/" for path in paths]
    hover = [
        f"{escape(path) or '/'}<br>{size(held)}, {count(many)}"
        for path, held, many in zip(paths, rows["bytes"].tolist(), rows["parameters"].tolist(), strict=True)
    ]
    trace = {
        "type": "treemap", "branchvalues": "total", "sort": True, "ids": [f"/{path}" for path in paths], "labels": labels,
        "parents": ["" if not path else f"/{parent}" for path, parent in zip(paths, rows["parent"], strict=True)],
        "values": rows["bytes"].tolist(), "text": [size(held) for held in rows["bytes"].tolist()], "hovertext": hover,
        "textinfo": "label+text", "hoverinfo": "text", "textfont": {"color": look.text, "size": 12},
        "marker": {
            "colors": [look.scope if not path else look.nodes[tops[_branch(path)] % len(look.nodes)] for path in paths],
            "line": {"color": look.back, "width": 1}, "pad": {"t": 20, "l": 3, "r": 3, "b": 3},
        },
        "pathbar": {"visible": True, "textfont": {"color": look.text}},
    }  # fmt: skip
    clear = "rgba(0,0,0,0)"
    layout = {
        "paper_bgcolor": clear, "plot_bgcolor": clear, "margin": {"l": 0, "r": 0, "t": 24, "b": 0},
        "uniformtext": {"minsize": 9, "mode": "hide"},
        "font": {"color": look.text}, "hoverlabel": {"bgcolor": look.back, "font": {"color": look.text}},
    }  # fmt: skip
    return {"data": [trace] if paths else [], "layout": layout}


def _branch(path: str) -> str:
    """The first four parts of a path: what shares a colour."""
    return "/".join(path.split("/")[:4])
