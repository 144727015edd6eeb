"""Series to plain figure dicts: no Dash, no colours of a theme, no text from files that plotly would take for markup."""

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
"""The config of every dcc.Graph: our own toolbar, and no button that uploads a chart."""
