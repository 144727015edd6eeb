"""Texts of the tensors page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "tensors.controls": ("How tensors are shown", "张量显示设置"),
    "tensors.no_tensors": ("The chosen runs recorded no tensors.", "所选训练均未记录张量。"),
    # Controls of the page
    "tensors.view": "common.view",
    "tensors.view.table": "common.table",
    "tensors.view.histogram": ("Histogram", "直方图"),
    # Controls of a card
    "tensors.run": "common.run",
    "tensors.minus": ("Minus", "减去"),
    "tensors.minus.nothing": "common.nothing",
    "tensors.minus.previous": ("previous step", "上一步骤"),
    "tensors.minus.at": ("a step …", "指定步骤……"),
    "tensors.minus.run": ("{run}", "{run}"),
    "tensors.minus.step": ("Step that is subtracted", "被减去的步骤"),
    "tensors.how": "common.difference",
    "tensors.how.absolute": ("Absolute", "绝对"),
    "tensors.how.relative": "common.relative",
    # What a card says
    "tensors.shape": ("{shape} {dtype}", "{shape} {dtype}"),
    "tensors.stored": ("stored as {dtype}", "以 {dtype} 存储"),
    "tensors.stored.title": (
        "The event file keeps these values as {dtype}, which cannot hold all of their digits. An exported .npy file would.",
        "事件文件以 {dtype} 保存这些数值，无法保留全部有效数字；导出的 .npy 文件可保留完整精度。",
    ),
    "tensors.twin": ("full precision from {name}", "完整精度来自 {name}"),
    "tensors.twin.title": (
        "The event file keeps fewer digits; these values come from the exported file beside it.",
        "事件文件保留的有效数字较少；这些数值来自旁边导出的文件。",
    ),
    "tensors.of_magnitudes": ("of magnitudes:", "模的统计："),
    "tensors.min": "common.min_inline",
    "tensors.max": "common.max_inline",
    "tensors.mean": "common.mean_inline",
    "tensors.std": "common.std",
    "tensors.count": "common.count_inline",
    "tensors.zeros": "common.zeros",
    "tensors.nan": "common.nan",
    "tensors.pos_inf": "common.positive_inf",
    "tensors.neg_inf": "common.negative_inf",
    "tensors.all_finite": ("no NaN, no Inf", "无 NaN 与 Inf"),
    "tensors.waiting": ("{n} steps pending", "还有 {n} 步未就绪"),
    "tensors.waiting.title": (
        "Histograms of tensors are computed from all of their values, in the background.",
        "张量的直方图由全部数值计算得出，正在计算中。",
    ),
    "tensors.damaged": "common.damaged_inline",
    "tensors.none": ("None of these runs has this tensor.", "所选训练中没有该张量。"),
    "tensors.not_yet": (
        "{run}: nothing recorded yet; the first is at step {step}.", "{run}：该步骤尚无张量，首个在步骤 {step}。",
    ),
    "tensors.nothing_before": ("Nothing was recorded before step {step}.", "步骤 {step} 之前没有可减去的张量。"),
    # Files
    "tensors.save.npy_shown": (".npy of the part shown", "当前显示部分 .npy"),
    "tensors.save.csv_shown": ("CSV of the part shown", "当前显示部分 CSV"),
    "tensors.save.npy_all": (".npy of all values", "全部数值 .npy"),
    "tensors.save.csv_all": ("CSV of all values", "全部数值 CSV"),
})  # fmt: skip
