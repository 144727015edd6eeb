"""Texts of the overview page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "overview.symptoms": ("What is wrong", "发现的症状"),
    "overview.explained.picture": "common.picture_of_sample_n",
    "overview.explained.map": ("{explainer}: heat map of sample {n}", "{explainer}：样本 {n} 的热力图"),
    # Which run
    "overview.run": ("Run shown", "当前训练"),
    "overview.previous": ("Previous run (←)", "上一个训练（←）"),
    "overview.next": ("Next run (→)", "下一个训练（→）"),
    "overview.of": ("Run {n} of {total}", "第 {n} 个，共 {total} 个"),
    "overview.no_runs": "common.no_run_is_chosen",
    "overview.unknown": "common.no_run_has_this_name",
    "overview.no_runs_hint": ("Press p to choose runs.", "按 p 键选择训练。"),
    # State of the run
    "overview.state": "common.state",
    "overview.steps": "common.number_of_steps",
    "overview.steps_value": ("{n} (up to {highest})", "{n}（至步骤 {highest}）"),
    "overview.steps_tip": (
        "Different steps recorded: {n} from {first} to {highest}, the newest value at {newest}",
        "步骤 {first} 至 {highest} 共记录 {n} 个不同步骤，最新值在步骤 {newest}",
    ),
    "overview.points": "common.points",
    "overview.points_tip": ("Scalar values recorded", "已记录的标量值个数"),
    "overview.duration": "common.duration",
    "overview.duration_value": ("{n} ({paused} paused)", "{n}（暂停 {paused}）"),
    "overview.paused_tip": (
        "From the first to the last recorded wall time; in a pause nothing was recorded for five times as long as usual",
        "从首个到最后一个记录的时刻；暂停指间隔超过平常五倍且没有记录",
    ),
    "overview.duration_tip": ("From the first to the last recorded wall time", "从首个到最后一个记录的时刻"),
    "overview.speed": ("Speed", "速度"),
    "overview.speed_value": ("{n} steps/s, steps {first} to {last}", "{n} 步/秒（步骤 {first} 至 {last}）"),
    "overview.speed_tip": (
        "Over the last {n} intervals of {tag} without pauses; {each} per step",
        "{tag} 最近 {n} 个间隔（不含暂停）；每步 {each}",
    ),
    "overview.started": "common.started",
    "overview.size": "common.size",
    "overview.problems": ("Problems", "问题"),
    "overview.problems_tip": ("Open the list of problems of this run", "打开该训练的问题列表"),
    "overview.path": "common.path",
    "overview.files": "common.files",
    "overview.files_listed": (
        "{n} of {total} files, those with problems first.", "显示 {total} 个文件中的 {n} 个，有问题的在前。",
    ),
    "overview.file": "common.file",
    "overview.kind": "common.kind",
    "overview.changed": ("Last change (UTC)", "最后修改（UTC）"),
    # Tiles
    "overview.scalars": "common.scalars",
    "overview.histograms": ("Distributions", "参数分布"),
    "overview.images": "common.images",
    "overview.tensors": "common.tensors",
    "overview.landscape": "common.loss_landscape",
    "overview.text": "common.text",
    "overview.graph": "common.computation_graph",
    "overview.dataset": "common.dataset_graph",
    "overview.saliency": ("Explanations", "模型解释"),
    "overview.samples": ("{n} samples", "{n} 个样本"),
    "overview.tags": ("{n} tags", "{n} 个标签"),
    "overview.tag": ("1 tag", "1 个标签"),
    "overview.open": ("Open this run's {page}", "打开该训练的{page}"),
    "overview.step": "common.step_step",
    "overview.values": "common.n_values",
    "overview.not_finite": ("{n} not finite", "{n} 个非有限值"),
    "overview.part": ("{shown} of {whole}", "{whole} 中的 {shown}"),
    "overview.large": (
        "Statistics of more than {n} values are on the tensors page.", "超过 {n} 个值的统计信息请见张量页面。",
    ),
    "overview.zeros": "common.zeros",
    "overview.loss": ("loss {low} to {high}", "损失 {low} 至 {high}"),
    "overview.broken": ("{tag}, step {step}: {reason}", "{tag}，步骤 {step}：{reason}"),
    "overview.operators": "common.n_operators",
    "overview.damaged": (
        "Not found. Files of this run are damaged, so it may have been lost: see its problems.",
        "未找到。该训练的文件已损坏，数据可能已丢失：请查看其问题。",
    ),
    "overview.recorded": ("Recorded. Click to open it.", "已记录，点击打开。"),
    "overview.reading": "common.reading",
    "overview.first_of": ("first of {n}", "共 {n} 张中的第一张"),
    "overview.characters": "common.n_characters",
    "overview.undecodable": (
        "The browser cannot show this image: its data cannot be decoded, or it no longer exists.",
        "浏览器无法显示该图像：数据无法解码，或图像已不存在。",
    ),
    "overview.unreadable": (
        "No data of this run could be read; see the problems above.", "无法读取该训练的任何数据，原因见上方的问题列表。",
    ),
    "overview.outside": (
        "This is a link out of the directory of runs. The server was started to stay inside it, so nothing behind it was read.",
        "这是指向训练目录之外的链接。服务器以“不离开该目录”的方式启动，因此未读取链接指向的内容。",
    ),
    "overview.planned": (
        "{n} checkpoints were collected, but no landscape has been computed from them yet. This call computes it:",
        "已收集 {n} 个检查点，但尚未由其计算损失地形。运行以下调用即可计算：",
    ),
    # Empty tiles
    "overview.scalars_none": ("No scalar yet. To record the loss:", "尚无标量。记录损失值："),
    "overview.histograms_none": ("No distribution yet. To record the parameters:", "尚无参数分布。记录参数："),
    "overview.images_none": ("No image yet. To record the input:", "尚无图像。记录输入："),
    "overview.tensors_none": ("No tensor yet. To record one:", "尚无张量。记录张量："),
    "overview.landscape_none": (
        "No loss landscape yet. To compute one from checkpoints:", "尚无损失地形。由检查点计算损失地形：",
    ),
    "overview.graph_none": ("No computation graph. To record it:", "没有计算图。记录计算图："),
    "overview.dataset_broken": (
        "The dataset graph cannot be read; see the problems above.",
        "无法读取数据图，原因见上方的问题列表。",
    ),
    "overview.dataset_none": ("No dataset graph. To record it:", "没有数据图。记录数据图："),
})  # fmt: skip
