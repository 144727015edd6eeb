"""Texts of cards with one plot."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "plots.png": "common.save_as_png",
    "plots.full": "common.full_screen",
    "plots.tools": ("Tools of the chart", "图表工具"),
})
