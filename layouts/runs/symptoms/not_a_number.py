"""The loss becomes NaN or infinite."""

from __future__ import annotations

from layouts.runs.symptoms.model import ACCURACY, Symptom, SymptomQuestion

SYMPTOM = Symptom(
    "not_a_number", ACCURACY, ("The loss is NaN or infinite", "损失为 NaN 或 Inf"),
    ("nan inf overflow fp16 float16 loss scale diverge explode", "溢出 混合精度 损失缩放 非有限值 发散 梯度爆炸"),
    (
        SymptomQuestion(
            "first", ("Which value is the first that is not finite?", "最先出现 NaN 或 Inf 的是哪个标量、哪一步？"),
            ("Look at what the curves did just before this step.", "查看该步骤之前各曲线的变化。"),
            "insight", {"kinds": ("non_finite",)}, "scalars", "scalar", sign=True,
        ),
        SymptomQuestion(
            "dumped", ("Does the dump hold NaN or Inf?", "Dump 数据中是否有 NaN 或 Inf？"),
            ("Open the page: it finds the first operator that made such values.", "打开该页面，可找到最先产生异常值的算子。"),
            "dumped_values", {}, "first_cause", "dump", sign=True,
        ),
        SymptomQuestion(
            "cause", ("Which operator makes the first bad tensor?", "哪个算子最先产生异常张量？"),
            ("Check the inputs of this operator; the cause is there or in its formula.",
             "检查该算子的输入：原因在输入或算子本身的计算中。"),
            "first_cause", {}, "first_cause", "dump", sign=True,
        ),
        SymptomQuestion(
            "tensor", ("Which tensor left its own history first?", "哪个张量的范数最先偏离其历史？"),
            ("Look at the weights and the learning rate of this layer; clip gradients if it explodes.",
             "检查该层的权重与学习率；若范数爆炸，使用梯度裁剪。"),
            "departed", {}, "first_cause", "dump",
        ),
        SymptomQuestion(
            "norm", ("Did the norm of gradients change before?", "梯度范数是否先发生变化？"),
            ("Clip gradients (ops.clip_by_global_norm), or lower the learning rate.",
             "使用梯度裁剪（ops.clip_by_global_norm），或降低学习率。"),
            "norm_before_bad", {}, "scalars", "scalar",
        ),
        SymptomQuestion(
            "rates", ("What were learning rate and loss scale at that step?", "该步骤的学习率与损失缩放是多少？"),
            ("A loss scale that keeps falling shows overflow; at the highest learning rate, warm up longer or lower it.",
             "损失缩放持续下降说明在溢出；若学习率正处于最高点，延长预热或降低学习率。"),
            "rates_at_bad", {}, "scalars", "scalar",
        ),
        SymptomQuestion(
            "overflow", ("Did the device report an overflow?", "设备是否上报溢出？"),
            ("Keep this operator in float32 (amp white and black lists), or use a dynamic loss scale.",
             "将该算子保持为 float32（混合精度黑白名单），或使用动态损失缩放。"),
            "overflows", {}, "debugger", "dump",
        ),
        SymptomQuestion(
            "half", ("Do dumped float16 tensors overflow, or come close to 65,504?",
                     "Dump 的 float16 张量是否溢出或接近 65,504？"),
            ("Compute this operator in float32, or scale its inputs down; lower the loss scale if it is a gradient.",
             "将该算子改用 float32 计算，或缩小其输入；若为梯度，则减小损失缩放。"),
            "half_overflow", {}, "debugger", "dump",
        ),
        SymptomQuestion(
            "half_recorded", ("Do recorded float16 tensors overflow, or come close to 65,504?",
                              "记录的 float16 张量是否溢出或接近 65,504？"),
            ("Compute what makes this tensor in float32, or scale it down; lower the loss scale if it is a gradient.",
             "将产生该张量的计算改用 float32，或缩小其取值；若为梯度，则减小损失缩放。"),
            "half_recorded", {}, "tensors", "tensor",
        ),
        SymptomQuestion(
            "half_operators", ("Which operators of the graph compute in float16 and may overflow?",
                               "计算图中哪些 float16 算子可能溢出？"),
            ("Keep these operators in float32 (the blacklist of amp), those near the loss first.",
             "将这些算子保持为 float32（混合精度黑名单），先处理损失附近的算子。"),
            "half_operators", {}, "graph", "graph",
        ),
        SymptomQuestion(
            "inputs", ("Are the inputs of that step finite and sensible?", "该步骤的输入是否有限且合理？"),
            ("Drop or repair this sample; divide by a deviation only after you added an epsilon.",
             "剔除或修复该样本；归一化时分母需加上 epsilon。"),
            "bad_inputs", {}, "tensors", "tensor",
        ),
        SymptomQuestion(
            "operators", ("Which logarithms, divisions and roots does the graph have?", "计算图中有哪些对数、除法与开方算子？"),
            ("Add an epsilon to what goes into them, or clip it; check those near the loss first.",
             "对其输入加 epsilon 或做截断；先检查损失附近的算子。"),
            "unbounded_operators", {}, "graph", "graph",
        ),
        SymptomQuestion(
            "near", ("Which logarithm, division or root is just before the first bad tensor?",
                     "最先异常的张量之前最近的对数、除法或开方算子是哪个？"),
            ("Look at its inputs: a zero, a negative or a huge value makes NaN or Inf there.",
             "检查其输入：零、负数或极大值会在该处产生 NaN 或 Inf。"),
            "near_cause", {}, "debugger", "dump",
        ),
        SymptomQuestion(
            "labels", ("Are all labels in their range, also those of rare classes?",
                       "所有标签（包括少数类）是否都在取值范围内？"),
            ("Correct or leave out such samples.", "修正或剔除这些样本。"),
        ),
    ),
)  # fmt: skip
