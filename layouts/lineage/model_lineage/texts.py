"""Texts of the model lineage page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "model_lineage.none": ("No run recorded its settings.", "没有训练记录配置信息。"),
})
