"""Texts of the page about two runs."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "two_runs.runs": ("The two runs", "对比的两个训练"),
    "two_runs.one": ("First run", "第一个训练"),
    "two_runs.other": ("Second run", "第二个训练"),
    "two_runs.swap": ("Swap the runs (x)", "交换两个训练（x）"),
    "two_runs.csv": "common.csv",
    "two_runs.none": ("A comparison needs two runs.", "对比需要两个训练。"),
    "two_runs.unknown": "common.no_run_has_this_name",
    "two_runs.none_hint": ("Choose at least two runs in the bar above (p).", "请在上方至少选择两个训练（p）。"),
    # Sections
    "two_runs.heading": ("Summary", "概况"),
    "two_runs.settings": ("Settings", "配置"),
    "two_runs.results": ("Results", "结果"),
    "two_runs.curves": "common.curves",
    "two_runs.pipeline": ("Data pipeline", "数据处理流程"),
    "two_runs.graph": "common.computation_graph",
    # Tables
    "two_runs.setting": "common.setting",
    "two_runs.result": ("Result", "结果"),
    "two_runs.better": ("Better", "优化方向"),
    "two_runs.min": ("smaller", "越小越好"),
    "two_runs.max": ("larger", "越大越好"),
    "two_runs.difference": "common.b_a",
    "two_runs.relative": ("relative to A", "相对 A"),
    "two_runs.last": "common.last_inline",
    "two_runs.best": "common.best_inline",
    "two_runs.missing": ("not recorded", "未记录"),
    "two_runs.equal": ("{n} equal settings", "{n} 项相同的配置"),
    "two_runs.settings_equal": ("All recorded settings are equal.", "已记录的配置全部相同。"),
    "two_runs.no_settings": ("Neither run recorded its settings.", "两个训练均未记录配置。"),
    "two_runs.no_results": ("Neither run recorded a metric or a scalar.", "两个训练均未记录指标或标量。"),
    "two_runs.no_curves": ("The runs have no scalar in common.", "两个训练没有相同的标量。"),
    "two_runs.rows_left": ("{n} more rows are in the CSV file.", "另有 {n} 行见 CSV 文件。"),
    "two_runs.all_curves": ("All {n} common scalars", "全部 {n} 个共同标量"),
    "two_runs.one_curve": ("Open on the scalars page", "在标量页面查看"),
    # Pipelines and graphs
    "two_runs.no_pipeline": ("{run} recorded no data pipeline.", "{run} 没有记录数据处理流程。"),
    "two_runs.pipelines_equal": ("The data pipelines are equal.", "数据处理流程相同。"),
    "two_runs.open_pipelines": ("Show both pipelines", "查看两个流程图"),
    "two_runs.no_graph": ("{run} recorded no computation graph.", "{run} 没有记录计算图。"),
    "two_runs.graphs_equal": ("The graphs are equal: {n} nodes.", "计算图相同：{n} 个节点。"),
    "two_runs.open_graphs": ("Show both graphs on one canvas", "在同一画布查看两个计算图"),
    "two_runs.graph_part": "common.operators",
    "two_runs.nodes": ("Nodes of all kinds", "全部节点"),
    "two_runs.graph_said": (
        "{changed} nodes changed, {removed} only in A, {added} only in B; {edges} edges differ.",
        "{changed} 个节点有变化，{removed} 个仅在 A 中，{added} 个仅在 B 中；{edges} 条连线不同。",
    ),
    "two_runs.types_left": ("{n} more operator types differ in number.", "另有 {n} 种算子数量不同。"),
})
