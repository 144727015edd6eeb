"""Texts of cards with one plot."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "plots.png": "common.save_as_png",
    "plots.save": "common.download_chart",
    "plots.save.png": "common.png_image",
    "plots.save.svg": "common.svg_image",
    "plots.full": "common.full_screen",
    "plots.tools": ("Tools of the chart", "图表工具"),
})
