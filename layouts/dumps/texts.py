"""Texts that the pages about dumps share."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "debugging.controls": ("Choice of dump", "选择 Dump 数据"),
    "debugging.run": "common.run",
    "debugging.rank": "common.rank",
    "debugging.rank_n": "common.rank_n_inline",
    "debugging.rank_previous": "common.previous_rank",
    "debugging.rank_next": "common.next_rank",
    "debugging.rank_absent": ("The dump has nothing of rank {n}.", "Dump 数据中没有 rank {n}。"),
    "debugging.step": "common.iteration",
    "debugging.step_n": ("iteration {n}", "迭代 {n}"),
    "debugging.step_previous": ("Previous iteration", "上一迭代"),
    "debugging.step_next": ("Next iteration", "下一迭代"),
    "debugging.step_absent": ("The dump has nothing of iteration {n}.", "Dump 数据中没有迭代 {n}。"),
    "debugging.of_total": "common.of_total",
    "debugging.compare": "common.compare",
    "debugging.compare.tip": ("Compare with another dump, rank or iteration", "与另一份 Dump 数据、rank 或迭代对比"),
    "debugging.with": ("Dump to compare with", "对比的 Dump 数据"),
    "debugging.left": (
        "Dumps of {n} more runs are not listed; choose fewer runs.", "另有 {n} 个训练的 Dump 数据未列出，请减少所选训练。",
    ),
    "debugging.opened": (
        "Opened first, as scalars of this run have NaN or Inf: {name}", "该训练的标量中有 NaN 或 Inf，因此首先打开：{name}",
    ),
    "debugging.reading": ("Listing the dump", "正在列出 Dump 数据"),
    "debugging.working": "common.done_of_total",
    "debugging.preparing": "common.being_prepared",
    "debugging.waiting": "common.other_work_comes_first",
    "debugging.cancelled": "common.work_stopped",
    "debugging.work_failed": "common.work_failed",
    "debugging.failed": ("The dump cannot be read.", "无法读取 Dump 数据。"),
    "debugging.progress": "common.progress",
    "debugging.again": "common.continue",
    "debugging.none": ("The chosen runs have no dump.", "所选训练没有 Dump 数据。"),
    "debugging.unknown": ("No run with a dump has this name:", "没有这个名称的训练 Dump 数据："),
    "debugging.nothing": ("The dump has no tensor.", "Dump 数据中没有张量。"),
    "debugging.nothing_hint": (
        "PyNative mode and msprobe's task “structure” write none; with saved_data: statistic on a CPU, MindSpore stops.",
        "PyNative 模式和 msprobe 的 structure 任务不写张量；CPU 上 saved_data 设为 statistic 时 MindSpore 会报错退出。",
    ),
    "debugging.elsewhere": ("Runs with a dump:", "有 Dump 数据的训练："),
    "debugging.damaged_n": ("Parts of the dump that cannot be read: {n}", "Dump 数据中有 {n} 处无法读取"),
})
