"""Texts of the scores page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts(
    {
        "scores.csv": "common.csv",
        "scores.none": ("No scores were recorded.", "没有记录评分。"),
        "scores.table": ("Explainers by metric", "各解释方法的评分"),
        "scores.explainer": ("Explainer", "解释方法"),
        "scores.explainer.tip": ("Sort by name", "按名称排序"),
        "scores.total": ("Total", "综合得分"),
        "scores.total.tip": (
            "Sum of weight × score, rounded down to hundredths; a score that is NaN or missing counts as 0",
            "权重 × 评分之和，向下取到百分位；NaN 或缺失的评分计为 0",
        ),
        "scores.weight": ("Weight", "权重"),
        "scores.weight_of": ("Weight of {metric}, from 0 to 1", "{metric} 的权重，0 到 1"),
        "scores.weights_wrong": (
            "The weights sum to {sum}, not to 1, so there are no totals.",
            "权重之和为 {sum}，不等于 1，无法计算综合得分。",
        ),
        "scores.reset": ("Default weights", "默认权重"),
        "scores.best": ("{explainer} has the highest total: {total}.", "{explainer} 的综合得分最高：{total}。"),
        "scores.best_several": (
            "The highest total, {total}, have: {explainers}.",
            "综合得分最高（{total}）的有：{explainers}。",
        ),
        "scores.nan": ("NaN, counts as 0", "NaN，计为 0"),
        "scores.missing": ("Not recorded, counts as 0", "未记录，计为 0"),
        "scores.as_zero": (
            "Scores that are NaN or were not recorded, marked with 0: {n}. They count as 0 in the total.",
            "NaN 或未记录的评分（标记为 0）：{n} 个。在综合得分中计为 0。",
        ),
        "scores.about": ("What the metrics measure", "指标说明"),
        "scores.metric.faithfulness": (
            (
                "Do important pixels matter to the network? By default (NaiveFaithfulness) (1 + r) / 2, where r is the "
                "correlation of the mean importance of pixels that are replaced with the drop of the probability; as "
                "DeletionAUC 1 − the area below the curve of the probability while the most important pixels are "
                "removed, as InsertionAUC the area while they are added. The file does not say which. From 0 to 1, "
                "higher is better. mindspore_xai.benchmark.Faithfulness."
            ),
            (
                "重要像素是否真正影响网络？默认（NaiveFaithfulness）为 (1 + r) / 2，"
                "r 为被替换像素的平均重要性与概率下降的相关系数；"
                "DeletionAUC 为 1 减去逐步删除最重要像素时概率曲线下面积；InsertionAUC 为逐步加入像素时的曲线下面积。"
                "文件未记录采用哪一种。取值 0 到 1，越高越好。mindspore_xai.benchmark.Faithfulness。"
            ),
        ),
        "scores.metric.localization": (
            (
                "Does the map point at the object? As PointingGame the part of samples in which a disc of 15 px around "
                "the largest value touches the object's box; as IoSR the part of the salient region (values above half "
                "of the largest) that lies in the box. The file does not say which. From 0 to 1, higher is better. "
                "mindspore_xai.benchmark.Localization."
            ),
            (
                "热力图是否指向目标？PointingGame 为以最大值为圆心、半径 15 px 的圆与目标框相交的样本比例；"
                "IoSR 为显著区域（大于最大值一半）落在目标框内的比例。文件未记录采用哪一种。取值 0 到 1，越高越好。"
                "mindspore_xai.benchmark.Localization。"
            ),
        ),
        "scores.metric.classsensitivity": (
            (
                "Do different labels get different maps? (1 − r) / 2, where r is the correlation of the maps of the most "
                "and the least probable label. From 0 to 1, higher is better; it has no score by label. "
                "mindspore_xai.benchmark.ClassSensitivity."
            ),
            (
                "不同标签的热力图是否不同？(1 − r) / 2，r 为概率最高与最低标签的热力图的相关系数。取值 0 到 1，越高越好；"
                "没有按标签的评分。mindspore_xai.benchmark.ClassSensitivity。"
            ),
        ),
        "scores.metric.robustness": (
            (
                "Does a little noise change the map? exp(−max ‖change of the map‖ / ‖map‖) over 10 random disturbances "
                "of the picture. From 0 to 1, higher is better; NaN if the map is 0 everywhere. "
                "mindspore_xai.benchmark.Robustness."
            ),
            (
                "微小噪声是否改变热力图？对图片做 10 次随机扰动，取 exp(−max ‖热力图变化‖ / ‖热力图‖)。取值 0 到 1，"
                "越高越好；热力图全为 0 时为 NaN。mindspore_xai.benchmark.Robustness。"
            ),
        ),
        "scores.metric.unknown": (
            "The file does not define this metric; whoever wrote it knows its formula and its range.",
            "文件未定义该指标，公式和取值范围由写入方决定。",
        ),
        "scores.radar": ("Metrics of each explainer", "各解释方法的指标对比"),
        "scores.radar_about": (
            "One line for each explainer; rings from {low} to {high}. An open point is a score that counts as 0.",
            "每条线为一个解释方法，圆环为 {low} 到 {high}。空心点为计为 0 的评分。",
        ),
        "scores.labels": ("Scores by label", "各标签的评分"),
        "scores.side": ("What is compared", "对比内容"),
        "scores.side.metric": ("One metric", "单个指标"),
        "scores.side.explainer": ("One explainer", "单个解释方法"),
        "scores.one.metric": "common.metric",
        "scores.one.explainer": "scores.explainer",
        "scores.order": ("Order of labels", "标签顺序"),
        "scores.order.label": ("By number", "按编号"),
        "scores.order.worst": ("Lowest first", "从低到高"),
        "scores.order.spread": ("Largest difference first", "差异从大到小"),
        "scores.no_labels": ("This has no scores by label.", "没有按标签的评分。"),
        "scores.whole": ("no score by label", "无按标签的评分"),
        "scores.first_labels": (
            "{n} of {total} labels are shown. The CSV has all.",
            "共 {total} 个标签，显示 {n} 个。CSV 包含全部。",
        ),
        "scores.first_said": ("The first {n} of {total} labels", "共 {total} 个标签，前 {n} 个"),
        "scores.no_samples": (
            "No sample was recorded for: {labels}. A score of 0 there was not measured.",
            "以下标签没有样本记录：{labels}，其 0 分并非实测。",
        ),
        "scores.unscored": ("no score", "无评分"),
    }
)
