"""The texts of the dynamic shapes page in English and Chinese."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "shapes.controls": ("Choices", "选项"),
    "shapes.steps": "common.time_by_step",
    "shapes.types": "common.operator_types",
    "shapes.operator": ("One operator", "单个算子"),
    "shapes.operators": "common.operators",
    "shapes.shapes": "common.input_shapes",
    "shapes.launches": ("Launches", "启动配置"),
    "shapes.unit": ("Operators or kernels", "算子或 kernel"),
    "shapes.unit.operator": "common.operators",
    "shapes.unit.kernel": ("Kernels", "kernel"),
    "shapes.by": ("Time of a type in a step", "每个 step 内该类型的耗时"),
    "shapes.by.total": "common.total",
    "shapes.by.mean": "common.mean",
    "shapes.scale": ("Scale of times", "耗时坐标"),
    "shapes.scale.linear": "common.linear",
    "shapes.scale.log": "common.log",
    "shapes.search": ("Search operators", "搜索算子"),
    "shapes.csv": "common.csv",
    "shapes.csv_executions": "common.each_execution",
    # Sentences
    "shapes.head_changing": (
        "The input shapes of {n} of {total} operators change from step to step. They took {time} of {whole} ({share}).",
        "{total} 个算子中有 {n} 个的输入 shape 随 step 变化，耗时 {time}，共 {whole}（{share}）。",
    ),
    "shapes.head_static": (
        "The input shapes of no operator change from step to step. They are known of {total} of {all}.",
        "没有算子的输入 shape 随 step 变化；{all} 个算子中有 {total} 个 shape 已知。",
    ),
    "shapes.head_not_judged": (
        ("Not judged whether input shapes change: that takes 3 steps with known shapes, found: {steps}. {n} of {all} operators "
        "ran with more than one."),
        "未判断输入 shape 是否变化：仅 {steps} 个 step 有 shape，至少需 3 个。{all} 个算子中有 {n} 个以多种 shape 执行。",
    ),
    "shapes.head_kernels": (
        "Block or grid of {n} of {total} kernels change from step to step. They took {time} of {whole} ({share}).",
        "{total} 个 kernel 中有 {n} 个的 block 或 grid 随 step 变化，耗时 {time}，共 {whole}（{share}）。",
    ),
    "shapes.head_kernels_static": (
        "Block and grid of no kernel change from step to step. They are known of {total} of {all}.",
        "没有 kernel 的 block 与 grid 随 step 变化；{all} 个 kernel 中有 {total} 个配置已知。",
    ),
    "shapes.head_kernels_not_judged": (
        "Not judged whether block or grid change: that takes 3 steps, found: {steps}. {n} of {all} kernels ran with several.",
        "未判断 block 与 grid 是否变化：至少需要 3 个 step，现有 {steps} 个。{all} 个 kernel 中有 {n} 个有多种配置。",
    ),
    "shapes.head_unknown": (
        "No input shapes were recorded. Ascend records them from profiler level 1 on; GPU in dynamic_shape_info_*.json.",
        "没有记录输入 shape。Ascend 需 profiler_level 为 1 及以上；GPU 记录在 dynamic_shape_info_*.json 中。",
    ),
    "shapes.head_partly": (
        "The shapes of {n} of {total} executions are unknown.", "{total} 次执行中有 {n} 次 shape 未知。",
    ),
    "shapes.head_no_steps": (
        "The files name no steps, so executions are numbered in the order they ran.",
        "文件中没有 step，因此按执行顺序编号。",
    ),
    "shapes.head_some_steps": (
        "{n} of {total} executions belong to no step; tables count them, charts by step do not.",
        "{total} 次执行中有 {n} 次不属于任何 step：表格计入，按 step 的图不计入。",
    ),
    "shapes.head_none": ("No executions were recorded.", "没有执行记录。"),
    "shapes.no_steps": ("The files name no steps.", "文件中没有 step。"),
    # Tables
    "shapes.col.type": "common.type",
    "shapes.col.name": "common.operator",
    "shapes.col.operators": "common.number_of_operators",
    "shapes.col.changing": ("Changing", "变化的算子数"),
    "shapes.col.shapes": "common.number_of_shapes",
    "shapes.col.count": "common.times",
    "shapes.col.total_ns": ("Total (ms)", "总耗时 (ms)"),
    "shapes.col.mean_ns": ("Mean (ms)", "平均 (ms)"),
    "shapes.col.min_ns": ("Min (ms)", "最小 (ms)"),
    "shapes.col.max_ns": ("Max (ms)", "最大 (ms)"),
    "shapes.col.input_shapes": "common.input_shapes",
    "shapes.col.launch": ("Block x grid", "block x grid"),
    "shapes.col.steps": "common.number_of_steps",
    "shapes.tip.changing": (
        "Operators whose input shapes differ between steps, not only between places of one step",
        "输入 shape 在不同 step 之间不同的算子（同一 step 内各处不同不计入）",
    ),
    "shapes.tip.launch": ("Threads of a block x blocks of the grid", "每个 block 的线程数 x grid 的 block 数"),
    "shapes.draw": ("Draw {type}", "绘制 {type}"),
    "shapes.highlight": ("Highlight {shape}", "突出显示 {shape}"),
    "shapes.shown": "common.n_of_total_shown",
    "shapes.most": ("At most {n} types are drawn.", "最多绘制 {n} 种类型。"),
    "shapes.not_found": ("No operator contains this text.", "没有算子包含该文本。"),
    # Figures
    "shapes.step": "common.step",
    "shapes.number": ("Execution", "第几次执行"),
    "shapes.time": ("Time ({unit})", "耗时 ({unit})"),
    "shapes.total_of": ("Total time ({unit})", "总耗时 ({unit})"),
    "shapes.mean_of": ("Mean time ({unit})", "平均耗时 ({unit})"),
    "shapes.unknown": "common.unknown",
    "shapes.other": ("{n} other shapes", "其他 {n} 种 shape"),
    "shapes.hover_step": ("step {step}, execution {n}", "step {step}，第 {n} 次"),
    "shapes.hover_number": ("execution {n}", "第 {n} 次执行"),
    "shapes.thinned": (
        "{n} of {total} executions drawn: of each shape the longest and the shortest in each part of the width.",
        "绘制 {total} 次执行中的 {n} 次：横轴每一段内每种 shape 的最长与最短。",
    ),
    "shapes.said_steps": ("Time of operator types by step", "各算子类型按 step 的耗时"),
    "shapes.said_operator": ("Executions of {name} by step, marked by input shape", "{name} 各 step 的执行，按输入 shape 标记"),
    "shapes.said_shape": ("{n} executions, mean {mean}, longest {longest}", "{n} 次，平均 {mean}，最长 {longest}"),
})  # fmt: skip
