"""Texts that the pages about explanations share."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "explanations.controls": ("Choice of samples", "选择样本"),
    "explanations.run": "common.run",
    "explanations.labels": "common.labels",
    "explanations.labels_n": ("Labels: {n}", "标签：{n}"),
    "explanations.labels.tip": (
        "Samples of which one of these labels is predicted or true", "其中任一标签被预测或为真实标签的样本",
    ),
    "explanations.truth": ("True labels", "真实标签"),
    "explanations.truth_n": ("True labels: {n}", "真实标签：{n}"),
    "explanations.truth.tip": ("Samples of which one of these labels is true", "真实标签包含其中任一标签的样本"),
    "explanations.predicted": ("Predicted as", "预测为"),
    "explanations.predicted_n": ("Predicted as: {n}", "预测为：{n}"),
    "explanations.predicted.tip": (
        "Samples of which one of these labels reaches the threshold", "其中任一标签的概率达到阈值的样本",
    ),
    "explanations.find_label": ("Find a label", "查找标签"),
    "explanations.clear": "common.clear",
    "explanations.more_labels": ("{n} more labels: type a part of a name", "另有 {n} 个标签，请输入名称的一部分"),
    "explanations.label_count": ("{n} samples at the threshold 0.5", "阈值为 0.5 时共 {n} 个样本"),
    "explanations.outcomes": ("Outcomes", "预测结果"),
    "explanations.tp": "common.tp",
    "explanations.tp.tip": (
        "True positive: true, and its probability reaches the threshold", "真正例：标签为真，且概率达到阈值",
    ),
    "explanations.fn": "common.fn",
    "explanations.fn.tip": (
        "False negative: true, but its probability is below the threshold", "假负例：标签为真，但概率低于阈值",
    ),
    "explanations.fp": "common.fp",
    "explanations.fp.tip": (
        "False positive: not true, but its probability reaches the threshold", "假正例：标签不为真，但概率达到阈值",
    ),
    "explanations.tn": "common.tn",
    "explanations.tn.tip": ("True negative: neither true nor predicted", "真负例：标签不为真，也未被预测"),
    "explanations.threshold": "common.threshold",
    "explanations.threshold.tip": (
        "A label is predicted if its probability reaches the threshold", "概率达到阈值的标签视为被预测",
    ),
    "explanations.bounds": (
        "Only true labels and those above 0.5 were recorded: at this threshold, FP are at least and TN at most as shown.",
        "仅记录了真实标签和概率高于 0.5 的标签：在当前阈值下，FP 为下限，TN 为上限。",
    ),
    "explanations.search": ("Id or path", "ID 或路径"),
    "explanations.sort": ("Sort by", "排序"),
    "explanations.sort.id": ("By id", "按 ID"),
    "explanations.sort.confidence": ("Most confident first", "概率从高到低"),
    "explanations.sort.confidence_up": ("Least confident first", "概率从低到高"),
    "explanations.sort.uncertainty": ("Most uncertain first", "不确定性从高到低"),
    "explanations.sort.uncertainty_up": ("Least uncertain first", "不确定性从低到高"),
    "explanations.sort.disagreement": ("Explainers disagree most first", "解释方法分歧从大到小"),
    "explanations.sort.disagreement_up": ("Explainers agree most first", "解释方法分歧从小到大"),
    "explanations.explainers": ("Explainers", "解释方法"),
    "explanations.reset": "common.clear_filters",
    "explanations.of_total": ("{n} of {total} samples", "{n} / {total} 个样本"),
    "explanations.left": (
        "Explanations of {n} more runs are not listed; choose fewer runs.", "另有 {n} 个训练的模型解释未列出，请减少所选训练。",
    ),
    "explanations.reading": "common.reading",
    "explanations.working": "common.done_of_total",
    "explanations.preparing": "common.being_prepared",
    "explanations.waiting": "common.other_work_comes_first",
    "explanations.cancelled": "common.work_stopped",
    "explanations.work_failed": "common.work_failed",
    "explanations.progress": "common.progress",
    "explanations.again": "common.continue",
    "explanations.failed": ("The explanations cannot be read.", "无法读取模型解释数据。"),
    "explanations.none": ("The chosen runs have no explanations.", "所选训练没有模型解释数据。"),
    "explanations.unknown": ("No run with explanations has this name:", "没有这个名称的训练模型解释数据："),
    "explanations.nothing": ("The explanations have no sample.", "模型解释数据中没有样本。"),
    "explanations.nothing_hint": (
        "The explainer stopped before the first one, or its file is damaged.", "解释过程在第一个样本之前停止，或文件已损坏。",
    ),
    "explanations.elsewhere": ("Runs with explanations:", "有模型解释数据的训练："),
    "explanations.damaged_n": ("Damaged records: {n}", "损坏的记录：{n}"),
    "explanations.undecodable": ("The browser cannot decode this picture.", "浏览器无法解码该图片。"),
    "explanations.constant": ("All values of this map are {n}.", "该热力图的所有数值均为 {n}。"),
    "explanations.sizes": (
        "The map has {w} x {h} px, the picture {width} x {height}: it is stretched.",
        "热力图为 {w} x {h} 像素，图片为 {width} x {height} 像素，已拉伸显示。",
    ),
    "explanations.unanswered": "common.the_server_did_not_answer",
})
