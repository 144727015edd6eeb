"""The device has no memory left."""

from __future__ import annotations

from layouts.runs.symptoms.model import PERFORMANCE, Symptom, SymptomQuestion

SYMPTOM = Symptom(
    "out_of_memory", PERFORMANCE, ("Out of memory", "内存不足"),
    ("oom memory leak grows fragmentation cuda hbm peak allocation", "OOM 显存 内存泄漏 增长 碎片 峰值"),
    (
        SymptomQuestion(
            "limit", ("Is memory close to its limit?", "内存是否接近上限？"),
            ("Lower the batch size, recompute activations, or split the optimizer's state.",
             "减小 batch size、使用重计算或切分优化器状态。"),
            "advice", {"rules": ("memory",)}, "memory", "memory", sign=True,
        ),
        SymptomQuestion(
            "growth", ("Does memory grow from step to step?", "内存是否逐步增长？"),
            ("Keep no tensors with their graph across steps: take loss.asnumpy() or detach().",
             "不要跨步骤保留带计算图的张量：使用 loss.asnumpy() 或 detach()。"),
            "advice", {"rules": ("leak",)}, "memory", "memory", sign=True,
        ),
        SymptomQuestion(
            "peak", ("What was in use at the peak?", "峰值时哪些内存在使用？"),
            ("Begin with the largest allocation and its operator.", "从最大的一块内存及其算子入手。"),
            "at_peak", {}, "memory", "memory",
        ),
        SymptomQuestion(
            "fragmentation", ("Is free memory in pieces?", "空闲内存是否碎片化？"),
            ("Use larger pool blocks (mempool_block_size), and shapes that do not change.",
             "增大内存池块（mempool_block_size），并保持形状不变。"),
            "fragmentation", {}, "memory", "memory",
        ),
        SymptomQuestion(
            "plan", ("How much does the static plan of the graph need?", "计算图的静态内存规划需要多少？"),
            ("Recompute the layers that hold most at this node.", "对该节点处占用最多的层使用重计算。"),
            "static_plan", {}, "memory", "memory",
        ),
        SymptomQuestion(
            "sizes", ("Are batch size and sequence length those of the other runs?",
                      "batch size 与序列长度是否与其他训练相同？"),
            ("Halve one of them to see how memory follows.", "将其中之一减半，观察内存变化。"),
            "setting", {"of": "memory"}, "model_lineage", "lineage",
        ),
    ),
)  # fmt: skip
