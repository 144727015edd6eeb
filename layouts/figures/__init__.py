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
