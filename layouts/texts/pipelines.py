"""Texts of the data lineage page."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "pipelines.title": ("Data lineage", "数据溯源"),
    "pipelines.group": ("Pipeline", "数据处理流水线"),
    "pipelines.column.dataset_mark": ("Mark", "标记"),
    "pipelines.column.runs": ("Runs with it", "相同训练数"),
    "pipelines.column.operation": ("Operation", "算子"),
    "pipelines.column.sampler": ("Sampler", "采样器"),
    "pipelines.detail": ("Operation", "算子详情"),
    "pipelines.left": (
        "{runs} runs with further pipelines and {columns} parameters are not shown.",
        "另有 {runs} 个训练的流水线和 {columns} 个参数未显示。",
    ),
    "pipelines.together": ("Equal pipelines together", "合并相同流水线"),
    "pipelines.together_tip": ("One row for all runs with the same pipeline", "流水线相同的训练合并为一行"),
    "pipelines.of_runs": ("{n} runs", "{n} 个训练"),
    "pipelines.compare": ("Compare pipelines", "对比流水线"),
    "pipelines.compare_tip": ("Selected runs on the dataset graph page", "在数据图页面对比选中的训练"),
    "pipelines.close": ("Close", "关闭"),
    "pipelines.open": ("Dataset graph", "数据图"),
    "pipelines.tip": (
        "Coloured cells are not what most runs have. Click a cell for all of its operation.",
        "着色单元格与多数训练取值不同；单击单元格可查看该算子的全部参数。",
    ),
}
