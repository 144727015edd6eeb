"""Texts of the dataset graph page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "dataset.controls": ("Legend and zoom", "图例与缩放"),
    "dataset.legend": ("Kinds of operations", "操作类型"),
    "dataset.create": ("Create", "创建"),
    "dataset.map": ("Map", "映射"),
    "dataset.operator": ("Operator", "操作"),
    "dataset.shuffle": ("Shuffle", "混洗"),
    "dataset.batch": ("Batch", "批处理"),
    "dataset.repeat": ("Repeat", "重复"),
    # The drawing
    "dataset.zoom": ("Zoom", "缩放"),
    "dataset.smaller": "common.zoom_out",
    "dataset.larger": "common.zoom_in",
    "dataset.fit": "common.fit",
    "dataset.fit_tip": ("Whole pipelines on screen, or at full size (0)", "完整显示或恢复原始大小（0）"),
    "dataset.full": "common.full_screen",
    "dataset.save": "common.download",
    "dataset.save.svg": "common.svg_image",
    "dataset.save.png": "common.png_image",
    "dataset.save.json": ("JSON, all parameters", "JSON（全部参数）"),
    "dataset.pipeline": "common.pipeline",
    "dataset.operations": ("{n} operations", "{n} 个操作"),
    "dataset.operation_one": ("1 operation", "1 个操作"),
    "dataset.drawn": ("{n} of {total} operations drawn", "绘制 {total} 个操作中的 {n} 个"),
    "dataset.drawn_tip": (
        "Those nearest to the last operation; the JSON file has all.", "绘制最接近末端的操作；JSON 文件包含全部。",
    ),
    "dataset.hidden": ("{n} more inputs", "另有 {n} 个输入未绘制"),
    "dataset.more": ("{n} more operations", "另有 {n} 个操作"),
    "dataset.said": ("Dataset graph of {n} operations, the last one first", "{n} 个操作的数据图，从最后一个操作开始"),
    "dataset.said_runs": "common.runs",
    "dataset.mark": ("mark {mark}", "标识 {mark}"),
    "dataset.mark_tip": (
        "Equal pipelines have equal marks: dataset_mark of the lineage",
        "相同流程的标识相同，即溯源中的 dataset_mark",
    ),
    "dataset.runs_more": "common.and_n_more",
    "dataset.damaged": "common.damaged",
    # What is beside the drawings
    "dataset.without": ("No dataset graph was recorded by: {names}", "以下训练没有记录数据图：{names}"),
    "dataset.without_more": (
        "No dataset graph was recorded by: {names} and {n} more", "以下训练没有记录数据图：{names} 等另外 {n} 个",
    ),
    "dataset.broken": (
        "The dataset graph of {names} cannot be read; data health says why.",
        "无法读取 {names} 的数据图，原因见数据状况。",
    ),
    "dataset.left": (
        "{n} more distinct pipelines are not drawn; choose fewer runs.", "另有 {n} 个不同的流程未绘制，请减少所选训练。",
    ),
    "dataset.unseen": (
        "The pipelines of {n} more runs were not read; choose fewer runs.",
        "另有 {n} 个训练的流程未读取，请减少所选训练。",
    ),
    # Parameters
    "dataset.parameters": "common.parameters",
    "dataset.sampler": "common.sampler",
    "dataset.choose": (
        "Click an operation to see all of its parameters, or use Tab, the arrow keys and Enter.",
        "选择一个操作以查看其全部参数：单击，或使用 Tab、方向键和回车键。",
    ),
    "dataset.no_parameters": ("No parameters", "无参数"),
    "dataset.recorded": ("recorded as {name}", "记录为 {name}"),
    "dataset.of": ("pipeline {letter}", "流程 {letter}"),
    "dataset.from": ("Data from", "数据来自"),
    "dataset.to": ("Feeds", "输出到"),
    "dataset.same_in": ("Counterpart in", "对应操作"),
    "dataset.characters": "common.n_characters",
    "dataset.rows_cut": (
        "{n} of {total} parameters are listed; the JSON file has all.", "列出 {total} 个参数中的 {n} 个；JSON 文件包含全部。",
    ),
    "dataset.rows_more": ("Show {n}", "显示 {n} 个"),
    "dataset.elsewhere_only": ("Only in other pipelines", "仅其他流程包含"),
    "dataset.missing": ("not present", "不存在"),
    # Differences
    "dataset.differences": ("Differences", "差异"),
    "dataset.operation": "common.dataset_operation",
    "dataset.parameter": "common.parameter",
    "dataset.itself": ("the operation itself", "操作本身"),
    "dataset.uncompared": (
        "Pipelines with more than {n} operations are drawn but not compared.", "超过 {n} 个操作的流程仅绘制，不比较。",
    ),
    "dataset.differences_left": (
        "{n} more differences are not listed; the CSV file has all.", "另有 {n} 处差异未列出；CSV 文件包含全部。",
    ),
    "dataset.no_differences": ("The pipelines do not differ.", "各流程没有差异。"),
    # Nothing to show
    "dataset.no_runs": "common.no_run_is_chosen",
    "dataset.no_runs_hint": "common.choose_runs_in_bar",
    "dataset.none": ("The chosen runs recorded no dataset graph.", "所选训练没有记录数据图。"),
    "dataset.elsewhere": ("Runs that have one:", "有数据图的训练："),
    "dataset.broken_all": (
        "The dataset graphs of the chosen runs cannot be read; data health says why.",
        "无法读取所选训练的数据图，原因见数据状况。",
    ),
    "dataset.reading": "common.reading_runs",
})  # fmt: skip
