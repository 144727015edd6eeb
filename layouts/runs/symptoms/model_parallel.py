"""Pipeline, tensor or expert parallelism loses time."""

from __future__ import annotations

from layouts.runs.symptoms.model import PERFORMANCE, Symptom, SymptomQuestion

SYMPTOM = Symptom(
    "model_parallel", PERFORMANCE, ("Pipeline, tensor or expert parallelism loses time", "流水线、张量或专家并行损失时间"),
    ("bubble stage stages moe experts tensor parallel redistribution micro batch",
     "气泡 阶段 专家 混合专家 张量并行 重排布 微批次"),
    (
        SymptomQuestion(
            "bubble", ("How long do stages wait for each other (bubble)?", "各阶段互相等待多久（气泡）？"),
            ("Use more micro batches, or interleaved stages.", "增加 micro batch 数，或使用交错的阶段。"),
            "advice", {"rules": ("bubble",)}, "pipeline", "communication", sign=True,
        ),
        SymptomQuestion(
            "stages", ("Are stages uneven?", "各阶段是否不均衡？"),
            ("Move layers from the longest stage to the others.", "将最长阶段的层移到其他阶段。"),
            "advice", {"rules": ("stages",)}, "pipeline", "communication", sign=True,
        ),
        SymptomQuestion(
            "redistribution", ("Where does the graph move parts of tensors between ranks?", "计算图在何处进行张量重排布？"),
            ("Choose strategies of neighbouring operators that fit each other.", "为相邻算子选择匹配的切分策略。"),
            "redistribution", {}, "graph", "graph",
        ),
        SymptomQuestion(
            "experts", ("Is the load of experts balanced?", "专家负载是否均衡？"),
            ("Raise the weight of the balancing loss, or limit the capacity of experts.",
             "增大负载均衡损失的权重，或限制专家容量。"),
            "expert_balance", {}, "strategy", "communication",
        ),
    ),
)  # fmt: skip
