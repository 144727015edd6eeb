"""What the AG Grids of all pages share. Their looks are in assets/grid.css, the functions named here in assets/grid.js."""

from __future__ import annotations

from typing import Any

from layouts.components.grid_texts import TEXTS

GRID_TEXTS = tuple(TEXTS)
"""Texts that AG Grid asks for."""
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
"""dashGridOptions."""
