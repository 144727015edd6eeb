"""Texts of the saliency page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "saliency.title": ("Saliency", "显著图"),
    "saliency.rows": ("Samples", "样本"),
    "saliency.sample": ("Sample {n}", "样本 {n}"),
    "saliency.picture": ("Picture", "图片"),
    "saliency.labels": ("Labels", "标签"),
    "saliency.no_inference": ("No predictions were recorded.", "未记录预测结果。"),
    "saliency.no_truth": ("no true label", "无真实标签"),
    "saliency.no_picture": ("No picture was recorded.", "未记录图片。"),
    "saliency.none": ("No sample passes the filters.", "没有符合筛选条件的样本。"),
    "saliency.no_sample": ("There is no sample {n}.", "不存在样本 {n}。"),
    "saliency.picture_of": ("Picture of sample {n}", "样本 {n} 的图片"),
    "saliency.map_of": (
        "{explainer}: heat map of sample {n} for label {label}", "{explainer}：样本 {n} 对标签 {label} 的热力图",
    ),
    "saliency.no_map": ("no heat map for {label}", "没有对应 {label} 的热力图"),
    "saliency.more": ("{n} more", "另有 {n} 个"),
    "saliency.probability": ("{label}: probability {p}", "{label}：概率 {p}"),
    "saliency.uncertainty": ("standard deviation {sd}, 95 % interval {low} to {high}", "标准差 {sd}，95% 区间 {low} 至 {high}"),
    "saliency.unknown": ("probability not recorded", "未记录概率"),
    "saliency.true": ("true label", "真实标签"),
    "saliency.disagreement": ("disagreement {n}", "分歧 {n}"),
    "saliency.disagreement.tip": (
        "Mean of 1 − Spearman's rank correlation over all pairs of explainers, of the label where it is largest",
        "各对解释方法热力图的 1 − Spearman 秩相关系数的均值，取最大的标签",
    ),
    "saliency.unreadable": ("{n} heat maps cannot be read and were left out.", "{n} 张热力图无法读取，未参与计算。"),
    # Look
    "saliency.look": ("Heat maps", "热力图"),
    "saliency.over": ("Over the picture", "叠加在图片上"),
    "saliency.opacity": ("Opacity", "不透明度"),
    "saliency.colours": ("Colour map", "配色"),
    "saliency.colours.purple": ("Purple to yellow", "紫色至黄色"),
    "saliency.colours.viridis": ("Viridis", "Viridis"),
    "saliency.colours.cividis": ("Cividis", "Cividis"),
    "saliency.colours.grey": ("Grey", "灰度"),
    "saliency.scale": ("Scale", "刻度"),
    "saliency.shared": ("As recorded", "原始刻度"),
    "saliency.own": ("Each its own", "各自缩放"),
    "saliency.csv": ("Samples shown, as CSV", "将所示样本保存为 CSV"),
    # Enlarged
    "saliency.enlarge": ("Enlarge (Enter)", "放大（Enter）"),
    "saliency.enlarged": ("Sample, enlarged", "放大的样本"),
    "saliency.previous": ("Previous sample (k)", "上一个样本（k）"),
    "saliency.next": ("Next sample (j)", "下一个样本（j）"),
    "saliency.place": ("{n} of {total}", "{n}/{total}"),
    "saliency.filtered_out": ("does not pass the filters", "不符合筛选条件"),
    "saliency.png": ("PNG", "PNG"),
    "saliency.save": ("Save as PNG", "保存为 PNG"),
    "saliency.hint": ("Point at a map to read its values.", "将指针移到热力图上可查看数值。"),
    "saliency.at": ("x {x}, y {y}:", "x {x}，y {y}："),
    "saliency.range": ("{low} to {high}", "{low} 至 {high}"),
    "saliency.pairs": ("Disagreement of two explainers (1 − Spearman)", "两种解释方法的分歧（1 − Spearman）"),
    "saliency.constant_pair": ("constant", "常量"),
})
