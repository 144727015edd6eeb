"""Training is slower than before."""

from __future__ import annotations

from layouts.runs.symptoms.model import PERFORMANCE, Symptom, SymptomQuestion

SYMPTOM = Symptom(
    "slower_than_before", PERFORMANCE, ("Slower than before", "比以前慢"),
    ("regression slows down stalled hangs stuck twice as long yesterday throughput falls",
     "变慢 性能劣化 卡住 停滞 吞吐下降 昨天"),
    (
        SymptomQuestion(
            "since", ("From which step on are steps slower?", "从哪一步起变慢？"),
            ("Look at what began there: evaluation, saving, another job on the machine.",
             "查看该处开始了什么：评估、保存或机器上的其他任务。"),
            "insight", {"kinds": ("slower", "speed", "stall")}, "scalars", "scalar", sign=True,
        ),
        SymptomQuestion(
            "parts", ("Which part of a step is longer than in the session before, or in the other run?",
                      "与上次采集或另一个训练相比，单步的哪一部分更长？"),
            ("Open the guide about this part. Choose the faster run as the second run.",
             "打开该部分对应的指引。请将较快的训练选为第二个训练。"),
            "steps_differ", {}, "two_jobs", "profile", sign=True,
        ),
        SymptomQuestion(
            "operators", ("Which type of operators takes longer than before?", "与此前相比，哪类算子更慢？"),
            ("Compare shapes and types of these operators.", "对比这些算子的形状与数据类型。"),
            "operators_differ", {}, "operators", "profile",
        ),
        SymptomQuestion(
            "traces", ("What takes longer in the trace of a step than before?", "与此前相比，单步轨迹中哪些任务耗时更长？"),
            ("Look at both steps on the timeline.", "在时间线上查看两个步骤。"),
            "traces_differ", {}, "timeline", "profile",
        ),
        SymptomQuestion(
            "settings", ("Which settings differ?", "哪些配置不同？"),
            ("Set them back one by one.", "逐项改回。"),
            "settings_differ", {}, "two_runs", "lineage",
        ),
        SymptomQuestion(
            "versions", ("Did driver, framework or machine change?", "驱动、框架或机器是否变化？"),
            ("Run the old program on the new machine, and the new one on the old.",
             "用旧程序在新机器、新程序在旧机器上各运行一次。"),
        ),
    ),
)  # fmt: skip
