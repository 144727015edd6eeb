"""Computing takes long."""

from __future__ import annotations

from layouts.runs.symptoms.model import PERFORMANCE, Symptom, SymptomQuestion

SYMPTOM = Symptom(
    "long_computing", PERFORMANCE, ("Computing takes long", "计算耗时长"),
    ("operators kernels slow ai cpu float32 fp16 precision recompile dynamic shape roofline",
     "算子 慢 AI CPU 精度 动态 shape 重编译 屋顶线"),
    (
        SymptomQuestion(
            "longest", ("Is computing the longest part of a step?", "计算是否是单步中最长的部分？"),
            ("Go on with the operators below.", "继续查看下面的算子。"),
            "part_is_longest", {"parts": ("computing", "forward_backward", "forward")}, "steps", "profile",
        ),
        SymptomQuestion(
            "top", ("Which type of operators takes most time?", "哪类算子耗时最多？"),
            ("Begin there: fuse, replace or reshape these operators.", "从这里开始：融合、替换这些算子或调整其形状。"),
            "top_operators", {}, "operators", "profile",
        ),
        SymptomQuestion(
            "precision", ("Do kernels compute in float32 where float16 would do?",
                          "是否有算子使用 float32 而 float16 已足够？"),
            ("Use mixed precision (amp level O2 or auto_mixed_precision).", "使用混合精度（amp O2 或 auto_mixed_precision）。"),
            "wide_kernels", {}, "operators", "profile",
        ),
        SymptomQuestion(
            "ai_cpu", ("Do operators run on the AI CPU?", "是否有算子运行在 AI CPU 上？"),
            ("Use types and shapes that AI Core supports, or replace these operators.",
             "使用 AI Core 支持的数据类型与形状，或替换这些算子。"),
            "advice", {"rules": ("ai_cpu",)}, "operators", "profile", sign=True,
        ),
        SymptomQuestion(
            "shapes", ("Do shapes change from step to step?", "形状是否逐步变化？"),
            ("Pad to a few fixed lengths: each new shape is compiled anew.", "填充到少数固定长度：每个新形状都会重新编译。"),
            "changing_shapes", {}, "shapes", "profile", sign=True,
        ),
        SymptomQuestion(
            "torch_kernels", ("Are kernels of torch very short, in float32, or of changing shapes?",
                              "torch 的算子是否过短、使用 float32，或 shape 多变？"),
            ("Fuse short kernels, let tensor cores multiply, pad to a few lengths.",
             "融合短算子，使用 Tensor Core 计算矩阵乘，填充到少数长度。"),
            "advice", {"rules": ("short_kernels", "float32", "shapes")}, "advice", "profile", sign=True,
        ),
        SymptomQuestion(
            "far", ("Which kernels take much longer than others like them?", "哪些 kernel 比同类明显更慢？"),
            ("Look at what runs beside them on the timeline.", "在时间线上查看与其同时运行的任务。"),
            "far_kernels", {}, "operators", "profile",
        ),
        SymptomQuestion(
            "roofline", ("Are operators bound by memory or by computing?", "算子受限于访存还是计算？"),
            ("Bound by memory: fuse them; bound by computing: use a smaller type.",
             "受限于访存则融合；受限于计算则使用更小的数据类型。"),
            "on_roofline", {}, "operators", "counters",
        ),
        SymptomQuestion(
            "compile", ("Are operators or graphs compiled again while it trains?", "训练过程中算子或图是否重新编译？"),
            ("Keep types and shapes of inputs, and attributes of cells, the same; on Ascend set jit_compile to False.",
             "保持输入的类型、形状及 Cell 属性不变；在 Ascend 上将 jit_compile 设为 False。"),
            "recompiled", {}, "operators", "profile",
        ),
        SymptomQuestion(
            "log", ("Does the log of MindSpore tell of a graph that is compiled more than once?",
                    "MindSpore 日志是否显示同一计算图被编译多次？"),
            ("Compile outside of the loop; do not make cells or functions within a step.",
             "在循环之外编译，不要在单步之内创建 Cell 或函数。"),
        ),
    ),
)  # fmt: skip
