"""Texts of the counterfactual page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "counterfactual.samples": "common.samples",
    "counterfactual.sample": "common.sample_n",
    "counterfactual.hide": ("Hide empty", "隐藏空样本"),
    "counterfactual.hide.tip": ("Hide samples without counterfactuals", "隐藏没有反事实解释的样本"),
    "counterfactual.csv": ("Save the layers of these samples as CSV", "将这些样本的各层保存为 CSV"),
    "counterfactual.previous": "common.previous_sample",
    "counterfactual.next": "common.next_sample",
    "counterfactual.open_saliency": ("Heat maps of this sample", "查看该样本的热力图"),
    "counterfactual.label": "common.label",
    "counterfactual.layers": ("Layers", "各层"),
    "counterfactual.original": ("Original", "原图"),
    "counterfactual.layer": ("Layer {n}", "第 {n} 层"),
    "counterfactual.visible": ("{share} visible", "可见 {share}"),
    "counterfactual.boxes": ("Boxes (x, y, width, height in px): {boxes}", "方框（x、y、宽、高，单位 px）：{boxes}"),
    "counterfactual.no_boxes": ("No box was recorded, so nothing is visible.", "未记录方框，因此没有可见区域。"),
    "counterfactual.recorded": ("Whole picture", "完整图片"),
    "counterfactual.kept": (
        "With {share} of the picture visible, the probability of {label} is {after} instead of {before}.",
        "仅 {share} 的图片可见时，{label} 的概率为 {after}，完整图片为 {before}。",
    ),
    "counterfactual.kept_alone": (
        "With {share} of the picture visible, the probability of {label} is {after}.",
        "仅 {share} 的图片可见时，{label} 的概率为 {after}。",
    ),
    "counterfactual.save": ("Save the outcome picture as PNG", "将结果图片保存为 PNG"),
    "counterfactual.curve": ("Probability per layer", "各层的概率"),
    "counterfactual.probability": "common.probability",
    "counterfactual.hover": ("{layer}<br>probability {value}", "{layer}<br>概率 {value}"),
    "counterfactual.picture_of": "common.picture_of_sample_n",
    "counterfactual.outcome_of": (
        "Sample {n}, layer {layer}: only the boxes that keep the label are visible",
        "样本 {n}，第 {layer} 层：仅保留标签所需的方框可见",
    ),
    "counterfactual.no_picture": ("The picture cannot be shown.", "无法显示图片。"),
    "counterfactual.unrecorded_picture": ("no picture was recorded", "未记录图片"),
    "counterfactual.unknown_mask": (
        "The hidden part cannot be drawn: the mask {mask} is none of gaussian:R.",
        "无法绘制遮挡部分：掩码 {mask} 不是 gaussian:R。",
    ),
    "counterfactual.none_of_sample": (
        "This sample has no counterfactual. mindspore-xai searches for labels above 0.5 in RGB pictures of at least 56 px.",
        "该样本没有反事实解释。mindspore-xai 仅对概率高于 0.5 的标签、RGB 且短边不小于 56 px 的图片进行搜索。",
    ),
    "counterfactual.none_left": ("No sample with counterfactuals passes the filters.", "没有带反事实解释的样本符合筛选条件。"),
    "counterfactual.none_match": "common.no_sample_passes_the_filters",
    "counterfactual.unknown_sample": ("This run has no sample {n}.", "该训练没有样本 {n}。"),
    "counterfactual.none": ("This run has no counterfactuals.", "该训练没有反事实解释。"),
    "counterfactual.count_none": ("no layers", "无层"),
    "counterfactual.true": "common.true_label",
})
