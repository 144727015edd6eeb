"""Texts of cards with one plot."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "plots.png": ("Save as PNG", "保存为 PNG"),
    "plots.full": ("Full screen (f)", "全屏（f）"),
    "plots.tools": ("Tools of the chart", "图表工具"),
})
