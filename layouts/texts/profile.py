"""Texts of the profile overview."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "profile.title": ("Profile overview", "性能总览"),
    "profile.made_of": ("What is a step made of?", "一步由什么组成？"),
    "profile.joined": ("Step time: profiled and over the run", "单步耗时：性能数据与整个训练"),
    "profile.tiles": ("Where to look next", "下一步查看"),
    "profile.steps": ("Every step, steps that stand out, streams", "各步骤、异常步骤与流"),
    "profile.operators": ("Operators and their types by time", "算子及类型耗时"),
    "profile.preparation": ("Data preparation: queues, pipeline, CPU", "数据准备：队列、流水线、CPU"),
    "profile.advice": ("What to change, with evidence", "优化建议与依据"),
    "profile.not_there": ("This profile has no file for it.", "该性能数据中没有相应文件。"),
    "profile.same": (
        "The profiled steps {first} to {last} took {profiled} each, by the clock of the run {run}: {change}.",
        "所采集的步骤 {first} 至 {last} 平均 {profiled}，按训练时钟为 {run}：{change}。",
    ),
    "profile.slower": ("{share} % more than was profiled", "比采集值多 {share}%"),
    "profile.faster": ("{share} % less than was profiled", "比采集值少 {share}%"),
    "profile.equal": ("the same", "一致"),
    "profile.apart": (
        "The profile has steps {first} to {last}, the scalars of the run {from_step} to {to_step}: none is in both.",
        "性能数据为步骤 {first} 至 {last}，训练标量为步骤 {from_step} 至 {to_step}：没有重合。",
    ),
    "profile.no_scalars": (
        "The run has no scalars with steps, so its own step time is not known.", "该训练没有带步骤的标量，无法得知其单步耗时。",
    ),
    "profile.no_numbers": ("The step trace does not number its steps.", "轨迹没有步骤编号。"),
    "profile.by": ("By the wall times of scalar {tag}.", "依据标量 {tag} 的记录时间。"),
}
