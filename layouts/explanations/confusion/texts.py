"""Texts of the confusion page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts(
    {
        "confusion.csv": "common.csv",
        "confusion.tools": "common.what_is_shown",
        "confusion.nothing": (
            "No sample has both a true label and predictions, so nothing can be right or wrong.",
            "没有同时具备真实标签和预测结果的样本，无法判断对错。",
        ),
        "confusion.right": (
            "{n} of {total} samples ({share}) have their true label predicted.",
            "{total} 个样本中有 {n} 个（{share}）预测正确。",
        ),
        "confusion.right_all": (
            "{n} of {total} samples ({share}) have exactly their true labels predicted.",
            "{total} 个样本中有 {n} 个（{share}）的预测标签与真实标签完全一致。",
        ),
        # Below 0.5 a label that was not recorded may be predicted, too.
        "confusion.right_at_most": (
            "At most {n} of {total} samples ({share}) have their true label predicted.",
            "{total} 个样本中至多有 {n} 个（{share}）预测正确。",
        ),
        "confusion.right_all_at_most": (
            "At most {n} of {total} samples ({share}) have exactly their true labels predicted.",
            "{total} 个样本中至多有 {n} 个（{share}）的预测标签与真实标签完全一致。",
        ),
        "confusion.macro_n": ("macro {value}", "宏平均 {value}"),
        "confusion.counted": (
            "Counted: {n} samples with a true label and predictions, {labels} labels, threshold {t}.",
            "统计范围：{n} 个有真实标签和预测结果的样本，{labels} 个标签，阈值 {t}。",
        ),
        "confusion.only": ("Only samples with “{text}” in id or path.", "仅统计 ID 或路径包含“{text}”的样本。"),
        "confusion.without_truth": (
            "Left out, without a true label: {n}",
            "未统计，没有真实标签：{n}",
        ),
        "confusion.without_predictions": (
            "Left out, without predictions: {n}",
            "未统计，没有预测结果：{n}",
        ),
        "confusion.unknown": (
            "Unknown probabilities: {n}; these labels of these samples are in no count.",
            "未知概率：{n}；对应样本的该标签不计入统计。",
        ),
        "confusion.at_most": (
            "At this threshold precision and F1 are at most the values shown; recall is exact.",
            "在此阈值下，精确率和 F1 为上限，召回率准确。",
        ),
        "confusion.undecided": (
            "Samples whose predicted label is not certain, because a stronger one may not have been recorded: {n}",
            "预测标签不确定的样本（可能有概率更高但未记录的标签）：{n}",
        ),
        # The matrix
        "confusion.matrix": ("Confusion matrix", "混淆矩阵"),
        "confusion.pairs": ("Co-occurrence of true and predicted labels", "真实标签与预测标签的共现表"),
        "confusion.matrix_about": (
            "Rows: true label. Columns: strongest label that reaches the threshold. Press a cell for its samples.",
            "行：真实标签；列：达到阈值且概率最高的标签。单击单元格查看样本。",
        ),
        "confusion.pairs_about": (
            (
                "Samples with several true labels have no confusion matrix. Each cell counts the samples of which the "
                "label of the row is true and that of the column is predicted, so a sample can be in several cells. Press "
                "a cell for its samples."
            ),
            (
                "样本有多个真实标签时没有混淆矩阵。每个单元格为行标签为真且列标签被预测的样本数，"
                "同一样本可计入多个单元格。单击单元格查看样本。"
            ),
        ),
        "confusion.true_by_predicted": ("True ↓ Predicted →", "真实 ↓ 预测 →"),
        "confusion.none": "common.none",
        "confusion.none.tip": ("No label reaches the threshold", "没有标签达到阈值"),
        "confusion.others": ("Other labels", "其他标签"),
        "confusion.label_n": ("label {n}", "标签 {n}"),
        "confusion.cell": (
            "True {truth}, predicted {other} (samples: {n})",
            "真实为 {truth}、预测为 {other}（样本数：{n}）",
        ),
        # The name of a cell begins with what it shows.
        "confusion.cell_named": ("{shown} true {truth}, predicted {other}", "{shown} 真实为 {truth}，预测为 {other}"),
        "confusion.cell_none_named": ("{shown} true {truth}, nothing predicted", "{shown} 真实为 {truth}，无预测标签"),
        "confusion.cell_none": (
            "True {truth}, nothing predicted (samples: {n})",
            "真实为 {truth}、无预测标签（样本数：{n}）",
        ),
        "confusion.cut": (
            "Shown are {n} of {total} labels, those with most errors (FN + FP). The CSV has all.",
            "共 {total} 个标签，显示错误（FN + FP）最多的 {n} 个。CSV 包含全部。",
        ),
        "confusion.cut_free": (
            "Shown are {n} of {total} labels: those with errors (FN + FP), then those with most samples. The CSV has all.",
            "共 {total} 个标签，显示 {n} 个：先显示有错误（FN + FP）的标签，再显示样本最多的标签。CSV 包含全部。",
        ),
        "confusion.cells": ("Numbers in cells", "单元格数值"),
        "confusion.cells.count": ("Samples", "样本数"),
        "confusion.cells.true": ("% of true", "占真实 %"),
        "confusion.cells.predicted": ("% of predicted", "占预测 %"),
        "confusion.cell_title": ("Samples of the cell", "单元格内的样本"),
        "confusion.close": "common.close",
        "confusion.saliency": ("Show on the saliency page", "在显著图页面查看"),
        "confusion.picture": ("Picture of sample {sample}: {labels}", "样本 {sample} 的图片：{labels}"),
        "confusion.more": (
            "The saliency page shows {n} samples: its filters look at each label by itself, not at the strongest one.",
            "显著图页面显示 {n} 个样本：其筛选逐个标签判断，不区分概率最高的标签。",
        ),
        "confusion.first": ("The first {n} of {total} samples are shown.", "共 {total} 个样本，显示前 {n} 个。"),
        # Labels
        "confusion.labels": ("Labels, one against the rest", "各标签（一对其余）"),
        "confusion.labels_about": (
            (
                "Each label by itself: predicted if its probability reaches the threshold. Press a number for its "
                "samples, a title to sort."
            ),
            "逐个标签统计：概率达到阈值即视为被预测。单击数值查看样本，单击列名排序。",
        ),
        "confusion.no_labels": ("No labels were recorded.", "没有记录标签。"),
        "confusion.name": "common.label",
        "confusion.name.tip": ("Name of the label; sorts by its number", "标签名称，按编号排序"),
        "confusion.support": ("True", "真实"),
        "confusion.support.tip": (
            "Support: samples of which the label is true, TP + FN",
            "支持数：真实标签包含该标签的样本数，TP + FN",
        ),
        "confusion.predicted": ("Predicted", "预测"),
        "confusion.predicted.tip": ("Samples of which the label is predicted, TP + FP", "预测为该标签的样本数，TP + FP"),
        "confusion.tp": "common.tp",
        "confusion.tp.tip": ("True and predicted", "为真且被预测"),
        "confusion.fp": "common.fp",
        "confusion.fp.tip": ("Predicted, but not true", "被预测但不为真"),
        "confusion.fn": "common.fn",
        "confusion.fn.tip": ("True, but not predicted", "为真但未被预测"),
        "confusion.tn": "common.tn",
        "confusion.tn.tip": ("Neither true nor predicted", "既不为真也未被预测"),
        "confusion.precision": ("Precision", "精确率"),
        "confusion.precision.tip": ("TP / (TP + FP): part of the predicted that is true", "TP / (TP + FP)：预测中为真的比例"),
        "confusion.recall": ("Recall", "召回率"),
        "confusion.recall.tip": ("TP / (TP + FN): part of the true that is predicted", "TP / (TP + FN)：真实中被预测的比例"),
        "confusion.f1": ("F1", "F1"),
        "confusion.f1.tip": ("2 TP / (2 TP + FP + FN)", "2 TP / (2 TP + FP + FN)"),
        "confusion.micro": ("All labels, micro", "全部标签，微平均"),
        "confusion.micro.tip": ("Of the sums of TP, FP and FN over all labels", "由全部标签的 TP、FP、FN 之和计算"),
        "confusion.macro": ("All labels, macro", "全部标签，宏平均"),
        "confusion.macro.tip": (
            "Mean over the labels that have a value: a label that is never predicted has no precision",
            "对有值的标签取平均：从未被预测的标签没有精确率",
        ),
        "confusion.first_labels": (
            "The first {n} of {total} labels are shown. The CSV has all.",
            "共 {total} 个标签，显示前 {n} 个。CSV 包含全部。",
        ),
        # Reliability
        "confusion.reliability": ("Reliability", "可靠性图"),
        "confusion.question": ("What is counted", "统计对象"),
        "confusion.question.top": ("Strongest label", "概率最高的标签"),
        "confusion.question.each": ("Each label", "每个标签"),
        "confusion.bins": ("Bins", "分箱数"),
        "confusion.error": (
            "Expected calibration error {error}, largest difference {greatest}, from {n} probabilities.",
            "期望校准误差 {error}，最大偏差 {greatest}，共统计 {n} 个概率。",
        ),
        "confusion.top_about": (
            "Counted is the strongest label of each sample: how often is it true?",
            "统计每个样本概率最高的标签：其为真的比例是多少？",
        ),
        "confusion.each_about": (
            "Counted is each recorded label of each sample: how often is it true?",
            "统计每个样本记录的每个标签：其为真的比例是多少？",
        ),
        "confusion.above_half": (
            "Only probabilities above 0.5 are counted, because labels that are not true were recorded above 0.5 only.",
            "不为真的标签仅在概率高于 0.5 时才有记录，因此只统计高于 0.5 的概率。",
        ),
        "confusion.left_out": ("Left out: {n}", "未统计：{n}"),
        "confusion.said_bin": (
            "{accuracy} true at a mean probability of {confidence}, {n} of them",
            "平均概率 {confidence} 时为真 {accuracy}，共 {n} 个",
        ),
        "confusion.x_confidence": ("mean probability", "平均概率"),
        "confusion.y_accuracy": ("part that is true", "为真的比例"),
        "confusion.y_count": "common.count_inline",
        "confusion.bin_count": ("{n} probabilities", "{n} 个概率"),
        "confusion.bin_confidence": ("mean {value}", "平均 {value}"),
        "confusion.bin_accuracy": ("true {value} (95 %: {low} to {high})", "为真 {value}（95 %：{low} 至 {high}）"),
        # Several runs
        "confusion.changes": ("Changed outcomes between runs", "训练之间的结果变化"),
        "confusion.with": "common.compare_with",
        "confusion.with_all": ("All {n} other runs", "其他全部 {n} 个训练"),
        "confusion.kind": ("Which changes", "变化类型"),
        "confusion.kind.all": "common.all",
        "confusion.kind.worse": ("Became wrong", "变错"),
        "confusion.kind.better": ("Became right", "变对"),
        "confusion.against": ("Labels of samples, against {run}", "样本标签，与 {run} 对比"),
        "confusion.run": "common.run",
        "confusion.better_n": "confusion.kind.better",
        "confusion.worse_n": "confusion.kind.worse",
        "confusion.compared": (
            "Compared: {n} samples with the same id and true labels in all runs, and {labels} labels with the same name.",
            "对比范围：各训练中 ID 和真实标签均相同的 {n} 个样本，名称相同的 {labels} 个标签。",
        ),
        "confusion.other_truth": (
            "Left out, with other true labels in another run: {n}",
            "未对比，各训练中的真实标签不同：{n}",
        ),
        "confusion.nothing_shared": (
            "The runs have no sample with the same id and the same true labels.",
            "各训练没有 ID 和真实标签均相同的样本。",
        ),
        "confusion.no_changes": ("No outcome changed.", "没有结果变化。"),
        "confusion.changed_samples": ("Samples with changed outcomes", "结果有变化的样本"),
        "confusion.sample": "common.sample",
        "confusion.label": "common.label",
        "confusion.first_rows": (
            "The first {n} of {total} changes are shown. The CSV has all.",
            "共 {total} 处变化，显示前 {n} 处。CSV 包含全部。",
        ),
    }
)
