"""Texts of the data lineage page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "data_lineage.group": "common.pipeline",
    "data_lineage.column.dataset_mark": ("Mark", "标记"),
    "data_lineage.column.runs": ("Runs", "训练数"),
    "data_lineage.column.operation": "common.dataset_operation",
    "data_lineage.column.sampler": "common.sampler",
    "data_lineage.detail": "common.dataset_operation",
    "data_lineage.left": (
        "{runs} runs with other pipelines and {columns} parameters are not shown.",
        "另有 {runs} 个训练的流水线和 {columns} 个参数未显示。",
    ),
    "data_lineage.together": ("Group equal pipelines", "合并相同流水线"),
    "data_lineage.together_tip": ("One row for all runs with the same pipeline", "流水线相同的训练合并为一行"),
    "data_lineage.of_runs": "common.n_runs",
    "data_lineage.compare": ("Compare pipelines", "对比流水线"),
    "data_lineage.compare_tip": ("Compare the selected runs on the dataset graph page", "在数据图页面对比选中的训练"),
    "data_lineage.close": "common.close",
    "data_lineage.open": "common.dataset_graph",
    "data_lineage.tip": (
        "Coloured cells differ from most runs. Click a cell to see all parameters of its operation.",
        "着色单元格与多数训练取值不同；单击单元格可查看该算子的全部参数。",
    ),
})
