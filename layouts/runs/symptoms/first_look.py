"""Training is slow, and nothing else is known: where to begin."""

from __future__ import annotations

from layouts.runs.symptoms.model import PERFORMANCE, Symptom, SymptomQuestion

SYMPTOM = Symptom(
    "first_look", PERFORMANCE, ("Training is slow: a first look", "训练慢：从这里开始"),
    ("slow performance where is time step utilization mfu bottleneck", "性能 耗时 瓶颈 利用率 慢"),
    (
        SymptomQuestion(
            "parts", ("How long is a step, and which part of it is longest?", "单步耗时多少，哪一部分最长？"),
            ("Open the guide about this part: interval, computing, gaps or communication.",
             "打开与该部分对应的指引：步骤间隔、计算、空隙或通信。"),
            "longest_part", {}, "steps", "profile",
        ),
        SymptomQuestion(
            "advice", ("What do the rules of the advice find first?", "调优建议首先发现什么？"),
            ("Begin with the card that costs most.", "从耗时影响最大的一项开始。"),
            "advice", {"rules": ("interval", "idle", "communication", "ai_cpu", "empty")}, "advice", "profile",
        ),
        SymptomQuestion(
            "hardware", ("How much of the hardware is used?", "硬件利用率是多少？"),
            ("Below half of the peak, look at the operators with the lowest use first.",
             "若远低于峰值，先看利用率最低的算子。"),
            "hardware", {}, "operators", "counters",
        ),
        SymptomQuestion(
            "speed", ("Did the recorded speed fall?", "记录的训练速度是否下降？"),
            ("Go on with the guide “Slower than before”.", "参见“比以前慢”。"),
            "insight", {"kinds": ("speed", "slower"), "about": ("any",)}, "scalars", "scalar",
        ),
    ),
)  # fmt: skip
