"""Turn data into plain figure dicts: no Dash, no theme colours, and text from files escaped, as plotly interprets markup."""

from __future__ import annotations

from typing import Any

GRAPH_CONFIG: dict[str, Any] = {
    "displayModeBar": False,
    "displaylogo": False,
    "showSendToCloud": False,
    "doubleClick": "autosize",
    "showTips": False,
    "showAxisDragHandles": False,
}
"""The config of every dcc.Graph. Cards have their own toolbar, and no button uploads a chart."""

_CLEAR = "rgba(0,0,0,0)"
BLANK: dict[str, Any] = {
    "data": [],
    "layout": {"paper_bgcolor": _CLEAR, "plot_bgcolor": _CLEAR, "xaxis": {"visible": False}, "yaxis": {"visible": False}},
}
"""The figure of a graph before its first answer: nothing, instead of plotly's empty axes."""
