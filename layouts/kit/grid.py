"""Options that all AG Grids share. Styles are in assets/kit/grid.css, the functions named here in assets/kit/grid.js."""

from __future__ import annotations

from typing import Any

from layouts.kit.grid_texts import TEXTS

GRID_TEXTS = tuple(TEXTS)
"""Text keys of the grid's own interface."""
OPTIONS: dict[str, Any] = {
    "theme": {"function": "mindscopeTheme(themeQuartz)"},
    "getLocaleText": {"function": "mindscopeLocale(params)"},
    "rowSelection": {
        "mode": "multiRow",
        "selectAll": "filtered",
        "enableClickSelection": False,
        "checkboxes": True,
        "headerCheckbox": True,
    },
    # Instead of dash-ag-grid's own handler: it fails before the grid is mounted, and sends all selected rows to Dash, which no
    # callback reads. Scripts listen to the grid itself.
    "onSelectionChanged": None,
    "selectionColumnDef": {"pinned": "left", "width": 40, "resizable": False, "suppressHeaderMenuButton": True},
    "rowHeight": 32,
    "headerHeight": 32,
    "animateRows": False,
    "suppressCellFocus": False,
    "suppressScrollOnNewData": True,
    "suppressColumnMoveAnimation": True,
    "enableCellTextSelection": True,
    "tooltipShowDelay": 400,
}
"""Shared dashGridOptions."""
