"""Texts of the histograms page."""

from __future__ import annotations

from layouts.i18n import define_texts

TEXTS = define_texts({
    "histograms.title": ("Histograms", "参数分布"),
    "histograms.controls": ("How histograms are drawn", "分布图显示设置"),
    # Controls
    "histograms.view": ("View", "视图"),
    "histograms.auto": ("Auto", "自动"),
    "histograms.auto.title": (
        "A heat map for more than 60 steps, otherwise the top view",
        "超过 60 步时为热力图，否则为俯视图",
    ),
    "histograms.heat": ("Heat map", "热力图"),
    "histograms.ridge": ("Top", "俯视"),
    "histograms.overlay": ("Front", "正视"),
    "histograms.step": ("One step", "单步"),
    "histograms.numbers": ("Numbers", "统计量"),
    "histograms.axis": ("Axis of steps", "步骤轴"),
    "histograms.axis.step": ("Step", "步骤"),
    "histograms.axis.relative": ("Relative time", "相对时间"),
    "histograms.axis.absolute": ("Absolute time", "绝对时间"),
    "histograms.runs": ("Runs at one step", "单步时的多个训练"),
    "histograms.over": ("Overlaid", "叠加"),
    "histograms.beside": ("Side by side", "并排"),
    "histograms.slider": ("Step (arrow keys)", "步骤 (方向键)"),
    "histograms.csv": ("CSV, every step and bucket", "CSV（全部步骤与桶）"),
    "histograms.once": ("{step}", "{step}"),
    "histograms.again": ("{step} (time {nth})", "{step}（第 {nth} 次）"),
    "histograms.back": ("One zoom step back", "缩放回退一步"),
    "histograms.restore": ("Undo the zoom (double click)", "还原缩放 (双击)"),
    # Cards
    "histograms.outside": ("{n} values outside", "范围外 {n} 个值"),
    "histograms.outside.title": (
        "Values of {steps} of the steps shown lie outside the range drawn. No count is lost: hover to see how many.",
        "所示步骤中有 {steps} 步的部分值超出绘制范围。计数未丢失：悬停可查看各步的数量。",
    ),
    "histograms.whole": ("Show all", "显示全部"),
    "histograms.scale.shares": ("Share of a step’s values in one bin", "每个区间占该步数值的比例"),
    "histograms.scale.steps": ("From the oldest step drawn to the newest", "从最早到最新的所示步骤"),
    "histograms.unread.first": ("{n} cannot be read. The first: {text}", "{n} 条无法读取。首条：{text}"),
    "histograms.damaged": ("{n} damaged", "{n} 条受损"),
    "histograms.damaged.first": ("{n} can be shown in part only. The first: {text}", "{n} 条只能部分显示。首条：{text}"),
    "histograms.shown": ("{drawn} of {steps} steps", "{steps} 步中的 {drawn} 步"),
    "histograms.shown.title": (
        "Evenly spread, the first and the last among them. “One step” reaches every step.",
        "均匀选取，包含首尾。“单步”可查看每一步。",
    ),
    "histograms.steps": ("all {n} steps", "全部 {n} 步"),
    "histograms.steps_one": ("1 step", "1 步"),
    "histograms.of_runs": ("{shown} of {total} runs", "{total} 个训练中的 {shown} 个"),
    "histograms.of_runs.title": (
        "The first runs that fit. Full screen has room for 9; or choose runs in the bar above.",
        "仅显示放得下的前几个训练。全屏可显示 9 个，也可在上方选择训练。",
    ),
    "histograms.bad.title": ("Values of the steps shown that are not finite", "所示步骤中的非有限值个数"),
    "histograms.empty": ("steps not finite: {n}", "无有限值的步骤：{n}"),
    "histograms.empty.title": (
        "No value of these steps is finite; they are marked red where they belong.",
        "这些步骤没有任何有限值，已在对应位置标红。",
    ),
    "histograms.unread": ("{n} unreadable", "{n} 条无法读取"),
    "histograms.newest": ("step {step}: {min} … {max}, mean {mean}, n {n}", "步骤 {step}：{min} … {max}，均值 {mean}，n {n}"),
    "histograms.newest.bad": ("step {step}: n {n}, none finite", "步骤 {step}：n {n}，均非有限值"),
    # Hover
    "histograms.hover.run": ("Run", "训练"),
    "histograms.hover.step": ("Step", "步骤"),
    "histograms.hover.centre": ("Centre", "中心值"),
    "histograms.hover.count": ("Count", "数量"),
    "histograms.hover.share": ("Share", "占比"),
    "histograms.hover.outside": ("Outside", "范围外"),
    "histograms.hover.min": ("Min", "最小"),
    "histograms.hover.mean": ("Mean", "均值"),
    "histograms.hover.max": ("Max", "最大"),
    "histograms.hover.total": ("Values", "总数"),
    "histograms.hover.bad": ("Not finite", "非有限值"),
    "histograms.hover.time": ("Time", "时间"),
    # Empty states
    "histograms.missing": ("The chosen runs recorded no histograms.", "所选训练没有记录参数分布。"),
    "histograms.missing_hint": (
        "In MindSpore these lines record the distribution of parameters:", "在 MindSpore 中，以下代码可记录参数分布：",
    ),
})
