"""Texts that the canvas of a graph draws, in the data of every page that has one."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "graphs.also": ("also used by layers {n}", "第 {n} 层也使用"),
    "graphs.also.short": ("+ layers {n}", "+ 第 {n} 层"),
})  # fmt: skip
