"""Texts of the model lineage page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "model_lineage.title": ("Model lineage", "模型溯源"),
    "model_lineage.none": ("No run recorded its settings.", "没有训练记录配置信息。"),
    "model_lineage.none_hint": (
        "SummaryCollector records hyper-parameters, data set, metrics and values of your own.",
        "SummaryCollector 可记录超参、数据集、评估指标和自定义数据。",
    ),
})
