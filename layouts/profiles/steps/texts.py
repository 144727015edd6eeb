"""Texts of the step page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "steps.controls": ("Step, unit and trace", "步骤、单位与迭代轨迹"),
    # Cards and controls
    "steps.bars": ("Every step", "各步骤"),
    "steps.trends": ("Over the steps", "随步骤的变化"),
    "steps.streams": ("Streams", "流"),
    "steps.average": ("Average", "平均"),
    "steps.average_step": ("Average step", "平均步骤"),
    "steps.step": "common.step",
    "steps.step_n": "common.step_n",
    "steps.previous": ("Previous step (left arrow)", "上一步（左方向键）"),
    "steps.next": ("Next step (right arrow)", "下一步（右方向键）"),
    "steps.measure": ("Unit", "单位"),
    "steps.measure.time": "common.time",
    "steps.measure.share": "common.share",
    "steps.trace": ("Step trace", "迭代轨迹"),
    "steps.trace.legacy": ("Interval, forward and backward, tail", "迭代间隙、前向与反向、拖尾"),
    "steps.trace.new": ("Computing, communication, free", "计算、通信、空闲"),
    "steps.device": "common.device_n",
    "steps.binned": ("{n} steps per bar", "每条 {n} 步"),
    "steps.binned_tip": (
        "{total} steps: a bar is the mean of {n} neighbours; those that stand out are marked. Zoom in for single steps.",
        "共 {total} 步：每条为相邻 {n} 步的平均；异常步骤逐个标出。放大可查看单步。",
    ),
    "steps.beyond": "common.n_beyond_the_axis",
    "steps.merged": ("{n} marks in {boxes} boxes", "{n} 个标记合并为 {boxes} 个"),
    "steps.all": "common.all_steps",
    "steps.csv": ("Steps as CSV", "步骤 CSV"),
    "steps.csv_reduces": ("Streams as CSV", "流 CSV"),
    "steps.timeline": "common.timeline",
    "steps.save": "common.save",
    "steps.fp_start": ("Forward begins at", "前向起点"),
    "steps.bp_end": ("Backward ends at", "反向终点"),
    "steps.no_streams": (
        "Nothing was marked on the streams of this step.", "该步骤的流上没有标记。",
    ),
    "steps.streams_of_step": ("Choose a step to see its streams.", "选择一个步骤以查看各流。"),
})
