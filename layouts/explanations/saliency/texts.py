"""Texts of the saliency page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "saliency.rows": "common.samples",
    "saliency.sample": "common.sample_n",
    "saliency.picture": ("Picture", "图片"),
    "saliency.labels": "common.labels",
    "saliency.no_inference": ("No predictions were recorded.", "未记录预测结果。"),
    "saliency.no_truth": "common.no_true_label",
    "saliency.no_picture": ("No picture was recorded.", "未记录图片。"),
    "saliency.none": "common.no_sample_passes_the_filters",
    "saliency.no_sample": ("There is no sample {n}.", "不存在样本 {n}。"),
    "saliency.picture_of": "common.picture_of_sample_n",
    "saliency.map_of": (
        "{explainer}: heat map of sample {n} for label {label}", "{explainer}：样本 {n} 对标签 {label} 的热力图",
    ),
    "saliency.no_map": ("no heat map for {label}", "没有对应 {label} 的热力图"),
    "saliency.without_map": ("no map", "无热力图"),
    "saliency.more": "common.n_more",
    "saliency.probability": ("{label}: probability {p}", "{label}：概率 {p}"),
    "saliency.uncertainty": (
        "standard deviation {sd}, 95 % interval {low} to {high}", "标准差 {sd}，95 % 区间 {low} 至 {high}",
    ),
    "saliency.unknown": ("probability not recorded", "未记录概率"),
    "saliency.true": "common.true_label",
    "saliency.disagreement": ("disagreement {n}", "分歧 {n}"),
    "saliency.disagreement.tip": (
        "Mean of 1 − Spearman's rank correlation over all pairs of explainers, of the label where it is largest",
        "各对解释方法热力图的 1 − Spearman 秩相关系数的均值，取最大的标签",
    ),
    "saliency.unreadable": ("{n} maps were left out: not readable.", "{n} 张热力图无法读取，未参与计算。"),
    # What the network looks at
    "saliency.looks": (
        ("Of what the heat maps mark, the tenth of a picture that is marked most has {tops}, where an even map has {even}; the "
         "middle ninth of a picture has {middles}, where an even map has {even_middle}."),
        ("热力图的标记总量中，标记最强的十分之一图像占 {tops}（均匀分布时为 {even}）；"
         "图像中央九分之一占 {middles}（均匀分布时为 {even_middle}）。"),
    ),
    "saliency.looks.basis": (
        "Medians over {n} samples, of the maps for the label that the network finds most probable.",
        "取 {n} 个样本的中位数，使用概率最高的标签的热力图。",
    ),
    "saliency.looks.basis_part": (
        "Medians over {n} samples, spread over all {total}, of the maps for the label that the network finds most probable.",
        "取 {n} 个样本（从全部 {total} 个中均匀选取）的中位数，使用概率最高的标签的热力图。",
    ),
    "saliency.looks.differ": (
        ("{name}: the most marked tenth has {right_top} for {n} right predictions and {wrong_top} for {wrong} wrong ones, more "
         "than chance explains."),
        ("{name}：标记最强的十分之一在 {n} 个预测正确的样本中占 {right_top}，"
         "在 {wrong} 个预测错误的样本中占 {wrong_top}，差异超出偶然波动。"),
    ),
    "saliency.looks.alike": (
        ("{name}: the most marked tenth has {right_top} for {n} right predictions and {wrong_top} for {wrong} wrong ones; the "
         "difference may be chance."),
        ("{name}：标记最强的十分之一在 {n} 个预测正确的样本中占 {right_top}，"
         "在 {wrong} 个预测错误的样本中占 {wrong_top}，差异可能出于偶然。"),
    ),
    "saliency.looks.few_wrong": (
        "Maps of right ({n}) and wrong ({wrong}) predictions are not compared: that takes {least} of each.",
        "未比较预测正确（{n} 张）与错误（{wrong} 张）的热力图：各需至少 {least} 张。",
    ),
    "saliency.looks.few_of": (
        "Not judged, as there are fewer than {least} maps: {names}.",
        "热力图少于 {least} 张，未作判断：{names}。",
    ),
    "saliency.looks.few": (
        "What the network looks at is not judged: {n} maps for the most probable label, at least {least} are needed.",
        "未判断网络关注图像的哪里：概率最高的标签的热力图有 {n} 张，至少需要 {least} 张。",
    ),
    "saliency.looks.empty": ("{n} maps were left out: zero everywhere.", "{n} 张热力图处处为零，未计入。"),
    # Look
    "saliency.look": ("Heat maps", "热力图"),
    "saliency.over": ("Over the picture", "叠加在图片上"),
    "saliency.opacity": "common.opacity",
    "saliency.colours": ("Colour map", "配色"),
    "saliency.colours.purple": ("Purple to yellow", "紫色至黄色"),
    "saliency.colours.viridis": "common.viridis",
    "saliency.colours.cividis": "common.cividis",
    "saliency.colours.grey": ("Grey", "灰度"),
    "saliency.scale": ("Scale", "刻度"),
    "saliency.shared": ("As recorded", "原始刻度"),
    "saliency.own": ("Each its own", "各自缩放"),
    "saliency.csv": ("Samples shown, as CSV", "将所示样本保存为 CSV"),
    # Enlarged
    "saliency.enlarge": ("Enlarge (Enter)", "放大（Enter）"),
    "saliency.enlarged": ("Sample, enlarged", "放大的样本"),
    "saliency.previous": "common.previous_sample",
    "saliency.next": "common.next_sample",
    "saliency.place": "common.n_of_total",
    "saliency.filtered_out": ("does not pass the filters", "不符合筛选条件"),
    "saliency.png": "common.png",
    "saliency.save": "common.save_as_png",
    "saliency.hint": ("Point at a map to read its values.", "将指针移到热力图上可查看数值。"),
    "saliency.at": ("x {x}, y {y}:", "x {x}，y {y}："),
    "saliency.range": ("{low} to {high}", "{low} 至 {high}"),
    "saliency.pairs": ("Disagreement of two explainers (1 − Spearman)", "两种解释方法的分歧（1 − Spearman）"),
    "saliency.constant_pair": "common.constant_inline",
})
