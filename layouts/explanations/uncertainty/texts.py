"""Texts of the uncertainty page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "uncertainty.csv": ("Save the labels of these samples as CSV", "将这些样本的标签保存为 CSV"),
    "uncertainty.sentence": (
        "{known} of {rows} labels have a standard deviation: half are at most {median}, 90 % lie between {low} and {high}.",
        "{rows} 个标签中有 {known} 个记录了标准差：半数不超过 {median}，90 % 介于 {low} 与 {high} 之间。",
    ),
    "uncertainty.sentence_none": ("No label of these samples has a standard deviation.", "这些样本的标签均无标准差。"),
    "uncertainty.zeros": ("{n} are 0 and have no place on the logarithmic axis.", "其中 {n} 个为 0，无法在对数轴上显示。"),
    "uncertainty.unknown": ("Of {n} labels no deviation is known.", "{n} 个标签的标准差未知。"),
    "uncertainty.chosen": (
        "Chosen: {n} labels of {samples} samples.", "已选：{samples} 个样本的 {n} 个标签。",
    ),
    "uncertainty.said_bin": ("{n} labels from {low} to {high}", "从 {low} 到 {high} 有 {n} 个标签"),
    "uncertainty.said_ends": ("{n} labels, standard deviations from {low} to {high}", "{n} 个标签，标准差从 {low} 到 {high}"),
    "uncertainty.said_most": ("Most", "最多"),
    "uncertainty.said_points": "common.points",
    "uncertainty.spread": ("Distribution of the standard deviation", "标准差的分布"),
    "uncertainty.against": ("Probability against standard deviation", "概率与标准差"),
    "uncertainty.select_tip": (
        "Drag over the plot to choose samples; double-click to choose all again", "在图上拖动以选择样本，双击恢复全部",
    ),
    "uncertainty.choose": ("Choose samples by", "按以下条件选择样本"),
    "uncertainty.p": ("Probability", "概率"),
    "uncertainty.sd": ("Standard deviation", "标准差"),
    "uncertainty.from": ("{what}, from", "{what}下限"),
    "uncertainty.to": ("{what}, to", "{what}上限"),
    "uncertainty.until": "common.to",
    "uncertainty.all": ("Choose all", "恢复全部"),
    "uncertainty.x_sd": ("standard deviation of the probability", "概率的标准差"),
    "uncertainty.y_labels": ("labels", "标签数"),
    "uncertainty.x_probability": "common.probability",
    "uncertainty.y_sd": ("standard deviation", "标准差"),
    "uncertainty.bin": ("{low} to {high}<br>labels: {n}", "{low} 至 {high}<br>标签数：{n}"),
    "uncertainty.point": (
        "sample {sample}, {label}<br>probability {p}<br>standard deviation {sd}",
        "样本 {sample}，{label}<br>概率 {p}<br>标准差 {sd}",
    ),
    "uncertainty.more_here": ("and {n} more here", "此处另有 {n} 个"),
    "uncertainty.no_truth": "common.no_true_label",
    "uncertainty.most_possible": ("most that a probability can have: √(p (1 − p))", "概率标准差的上限：√(p (1 − p))"),
    "uncertainty.thinned": ("{n} points drawn of {total}", "绘制 {n} / {total} 个点"),
    "uncertainty.thinned.tip": (
        "Of points of one outcome that fall on one spot, one is drawn; its tip says how many there are.",
        "同一预测结果且位置重合的点只绘制一个，其提示说明数量。",
    ),
    "uncertainty.widest": ("Widest intervals", "区间最宽的样本"),
    "uncertainty.narrowest": ("Narrowest intervals", "区间最窄的样本"),
    "uncertainty.highest": ("Highest standard deviations", "标准差最大的样本"),
    "uncertainty.lowest": ("Lowest standard deviations", "标准差最小的样本"),
    "uncertainty.sample": "common.sample",
    "uncertainty.label": "common.label",
    "uncertainty.probability": "uncertainty.p",
    "uncertainty.deviation": ("SD", "标准差"),
    "uncertainty.interval": ("95 % interval", "95 % 区间"),
    "uncertainty.width": ("Width", "宽度"),
    "uncertainty.true": "common.true_label",
    "uncertainty.too_few": ("All samples are in the other table.", "所有样本都在另一个表中。"),
    "uncertainty.none_match": "common.no_sample_passes_the_filters",
    "uncertainty.picture_of": "common.picture_of_sample_n",
    "uncertainty.open_sample": ("Heat maps of sample {n}", "样本 {n} 的热力图"),
    "uncertainty.show_all": ("Show these samples with heat maps", "查看这些样本的热力图"),
    "uncertainty.none": ("This run has no uncertainty.", "该训练没有不确定性数据。"),
})
