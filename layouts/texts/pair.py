"""Texts of the page about two runs."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "pair.title": ("Two runs", "两次训练对比"),
    "pair.runs": ("The two runs", "对比的两个训练"),
    "pair.one": ("First run", "第一个训练"),
    "pair.other": ("Second run", "第二个训练"),
    "pair.swap": ("Swap the runs (x)", "交换两个训练 (x)"),
    "pair.csv": ("CSV", "CSV"),
    "pair.none": ("Two runs are compared here.", "此处对比两个训练。"),
    "pair.none_hint": ("Choose at least two runs in the bar above (p).", "请在上方至少选择两个训练 (p)。"),
    # Sections
    "pair.heading": ("In numbers", "概况"),
    "pair.settings": ("Settings", "配置"),
    "pair.results": ("Results", "结果"),
    "pair.curves": ("Curves", "曲线"),
    "pair.pipeline": ("Data pipeline", "数据处理流程"),
    "pair.graph": ("Computation graph", "计算图"),
    # Tables
    "pair.setting": ("Setting", "配置项"),
    "pair.result": ("Result", "结果"),
    "pair.better": ("Better", "更优"),
    "pair.min": ("smaller", "越小"),
    "pair.max": ("larger", "越大"),
    "pair.difference": ("B − A", "B − A"),
    "pair.relative": ("of A", "相对 A"),
    "pair.last": ("last", "最新"),
    "pair.best": ("best", "最优"),
    "pair.at_step": ("{exact} at step {step}", "{exact}，步骤 {step}"),
    "pair.missing": ("not recorded", "未记录"),
    "pair.equal": ("{n} equal settings", "{n} 项相同的配置"),
    "pair.settings_equal": ("All recorded settings are equal.", "已记录的配置全部相同。"),
    "pair.no_settings": ("Neither run recorded its settings.", "两个训练均未记录配置。"),
    "pair.no_results": ("Neither run recorded a metric or a scalar.", "两个训练均未记录指标或标量。"),
    "pair.no_curves": ("The runs have no scalar in common.", "两个训练没有相同的标量。"),
    "pair.rows_left": ("{n} more rows are in the CSV file.", "另有 {n} 行见 CSV 文件。"),
    "pair.all_curves": ("All {n} common scalars", "全部 {n} 个共同标量"),
    # Pipelines and graphs
    "pair.no_pipeline": ("{run} recorded no data pipeline.", "{run} 没有记录数据处理流程。"),
    "pair.pipelines_equal": ("The data pipelines are equal.", "数据处理流程相同。"),
    "pair.open_pipelines": ("Both pipelines drawn", "查看两个流程图"),
    "pair.no_graph": ("{run} recorded no computation graph.", "{run} 没有记录计算图。"),
    "pair.graphs_equal": ("The graphs are equal: {n} nodes.", "计算图相同：{n} 个节点。"),
    "pair.open_graphs": ("Both graphs on one canvas", "在同一画布查看两个计算图"),
    "pair.graph_part": ("Operators", "算子"),
    "pair.nodes": ("Nodes of all kinds", "全部节点"),
    "pair.graph_said": (
        "{changed} nodes changed, {removed} only in A, {added} only in B; {edges} edges differ.",
        "{changed} 个节点有变化，{removed} 个仅在 A 中，{added} 个仅在 B 中；{edges} 条连线不同。",
    ),
    "pair.types_left": ("{n} more operator types differ in number.", "另有 {n} 种算子数量不同。"),
}
