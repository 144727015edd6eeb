"""Texts of the sizes page."""

from __future__ import annotations

from layouts.i18n import define_texts

TEXTS = define_texts({
    "sizes.title": ("Sizes", "占用空间"),
    "sizes.run": ("Run", "训练"),
    "sizes.size": ("Size", "大小"),
    "sizes.none": ("No run is chosen.", "未选择训练。"),
    "sizes.none_hint": ("Choose runs in the bar above (p).", "请在上方选择训练 (p)。"),
})
