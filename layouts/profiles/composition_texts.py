"""Texts about the composition of a step, shared by the steps page and the profile overview."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    # Parts, as a legend and a table name them
    "composition.part.interval": "common.iteration_interval",
    "composition.part.forward_backward": "common.forward_and_backward",
    "composition.part.forward": "common.forward",
    "composition.part.tail": "common.tail",
    "composition.part.other": ("Unassigned", "未归类"),
    "composition.part.preparing": "common.preparing",
    "composition.part.computing": "common.computing",
    "composition.part.overlapped": ("Computing and communicating", "计算与通信重叠"),
    "composition.part.exposed": "common.communication_not_overlapped",
    "composition.part.free": "common.free",
    # Tooltips
    "composition.tip.interval": (
        "From the end of the step before to the first forward operator: waiting for data.",
        "从上一步结束到前向第一个算子：等待数据。",
    ),
    "composition.tip.forward_backward": (
        "From the first forward operator to the last backward one.", "从前向第一个算子到反向最后一个算子。",
    ),
    "composition.tip.forward": ("The forward pass; this trace has no backward.", "前向计算；该轨迹没有反向。"),
    "composition.tip.tail": (
        "From the last backward operator to the end: gathering gradients, updating parameters.",
        "从反向最后一个算子到步骤结束：梯度聚合与参数更新。",
    ),
    "composition.tip.other": ("Time of the step that belongs to none of its parts.", "计入整步、但不属于任何部分的时间。"),
    "composition.tip.preparing": (
        "From the start of the step on the host to its first task on the device.", "从主机侧步骤开始到设备上第一个任务。",
    ),
    "composition.tip.computing": ("The device computes and no communication runs.", "设备在计算，且没有通信。"),
    "composition.tip.overlapped": (
        "The device computes and communicates at the same time: the communication takes no extra time.",
        "计算与通信同时进行：不额外耗时的通信。",
    ),
    "composition.tip.exposed": ("Communication during which nothing computes.", "没有计算掩盖的通信。"),
    "composition.tip.free": ("The device neither computes nor communicates.", "设备既不计算也不通信。"),
    # The parts in a sentence
    "composition.said.interval": ("waiting for data", "等待数据"),
    "composition.said.forward_backward": "common.forward_and_backward_inline",
    "composition.said.forward": ("forward", "前向"),
    "composition.said.tail": ("gradients and update", "梯度聚合与参数更新"),
    "composition.said.other": ("unassigned", "未归类"),
    "composition.said.preparing": ("preparing on the host", "主机侧准备"),
    "composition.said.computing": ("computing alone", "纯计算"),
    "composition.said.overlapped": ("computing overlapped with communication", "掩盖通信的计算"),
    "composition.said.exposed": ("communication not overlapped", "未被掩盖的通信"),
    "composition.said.free": "common.free_inline",
    "composition.sentence": ("A step takes {time}: {parts}.", "每步耗时 {time}：{parts}。"),
    "composition.sentence_one": ("Step {step} takes {time}: {parts}.", "第 {step} 步耗时 {time}：{parts}。"),
    "composition.sentence_empty": ("The steps of this trace have no length.", "该轨迹中的步骤没有时长。"),
    "composition.said_share": ("{share} {part}", "{part} {share}"),
    "composition.said_joint": "common.comma",
    "composition.on_device": (
        "Without preparing, which lies before it, the step takes {time}; pages about jobs count it so.",
        "不含步骤之前的准备时间，单步为 {time}；作业相关页面均按此计算。",
    ),
    "composition.idle": (
        "The device neither computes nor communicates for {share} of that step.",
        "该单步中有 {share} 的时间设备既不计算也不通信。",
    ),
    "composition.idle_between": ("Idle between two steps: {share}.", "两步之间空闲：{share}。"),
    "composition.copies": ("Of the free time, {time} are copies of memory.", "空闲时间中有 {time} 用于内存拷贝。"),
    "composition.fetching": ("Fetching data takes {time} of the step on the host.", "该单步中主机侧取数据耗时 {time}。"),
    "composition.cut": (
        "Step {step} is not counted: the recording ended within it.", "第 {step} 步未计入：采集在该步中途结束。",
    ),
    "composition.of_written": (
        "The average written by the profiler, over all steps but the first.", "Profiler 写入的平均值，不含第一步。",
    ),
    "composition.of_mean": ("The mean of {n} steps.", "{n} 步的平均值。"),
    "composition.of_mean_without": (
        "The mean of {n} steps; the first of the trace is left out, as its interval is not known.",
        "{n} 步的平均值；轨迹的第一步没有迭代间隙，未计入。",
    ),
    "composition.of_one": ("There is one step.", "仅有一步。"),
    "composition.none_stands_out": ("None of {n} steps stands out.", "{n} 步均无异常。"),
    "composition.not_judged": (
        "Not judged whether a step stands out: that takes {least} steps, there are {n}.",
        "未判定是否有异常步骤：至少需要 {least} 步，现有 {n} 步。",
    ),
    "composition.stand_out": (
        "{n} of {total} steps stand out, most of all step {step} with {time}.",
        "{total} 步中有 {n} 步异常，最明显的是第 {step} 步（{time}）。",
    ),
    "composition.unsound": (
        "{n} steps cannot be broken down: a part is missing, negative or longer than the step.",
        "{n} 步无法分解：有的部分缺失、为负或超过整步。",
    ),
    "composition.no_parts": (
        "Steps have no parts: nothing was recorded on a device.", "步骤没有组成：没有采集到设备上的执行。",
    ),
    "composition.no_steps": ("The step trace has no steps.", "轨迹中没有步骤。"),
    # Words in figures
    "composition.word.step": "common.step",
    "composition.word.steps": ("Steps {first} to {last}", "步骤 {first} 至 {last}"),
    "composition.word.whole": ("Whole step", "整步"),
    "composition.word.mean": "common.mean_inline",
    "composition.word.usual": ("Usually", "通常"),
    "composition.word.unknown": ("cannot be broken down", "无法分解"),
    "composition.word.more": "common.and_n_more",
    "composition.word.stream": "common.stream",
    "composition.word.run": ("Wall time of the run", "训练实际耗时"),
    "composition.word.profiled": ("Profiled", "性能数据"),
    "composition.outliers": ("{n} outliers", "{n} 个异常步骤"),
    "composition.outliers_tip": (
        "Steps with an unusual time (modified z-score beyond 3.5, more than 2 % from the median)",
        "耗时明显偏离通常值的步骤（修正 Z 分数超过 3.5，且偏离中位数 2 % 以上）",
    ),
    "composition.outlier": ("Step {step}: {time}, {part} {change}", "步骤 {step}：{time}，{part} {change}"),
    "composition.outliers_more": ("{n} more are marked in the chart.", "另有 {n} 个在图中标出。"),
    "composition.full": "common.full_screen",
    "composition.png": "common.save_as_png",
    # Table of one step
    "composition.column.part": "common.part",
    "composition.column.time": "common.time",
    "composition.column.share": "common.share",
    "composition.column.usual": "common.median",
    "composition.column.change": ("Against median", "与中位数之差"),
    "composition.column.drift": ("Drift", "漂移"),
    "composition.drift_tip": (
        "Change of the median from the first to the last third of the steps",
        "后三分之一步骤的中位数相对前三分之一的变化",
    ),
    "composition.whole": "composition.word.whole",
})
