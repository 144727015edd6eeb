"""The result is worse than that of another run, or of another framework."""

from __future__ import annotations

from parsers.analysis.dumps.two_dumps import TOLERANCE

from layouts.runs.symptoms.model import ACCURACY, Symptom, SymptomQuestion

SYMPTOM = Symptom(
    "worse_than_reference", ACCURACY, ("Worse than a reference run or another framework", "比参考训练或其他框架差"),
    ("accuracy lower than paper baseline reproduce pytorch tensorflow migration", "精度低 论文 基线 复现 迁移 对比 精度不达标"),
    (
        SymptomQuestion(
            "worse", ("Is the result worse than that of the other run?", "结果是否比另一个训练差？"),
            ("Go on with what differs between the two runs.", "继续查看两个训练的差异。"),
            "worse_result", {}, "two_runs", "scalar", sign=True,
        ),
        SymptomQuestion(
            "settings", ("Which settings differ?", "哪些配置不同？"),
            ("Make them equal one by one, the learning rate and its schedule first.", "逐项改为一致，先从学习率及其策略开始。"),
            "settings_differ", {}, "two_runs", "lineage",
        ),
        SymptomQuestion(
            "pipelines", ("Do the data pipelines differ?", "数据处理流程是否不同？"),
            ("Compare augmentation, normalization and the order of operations.", "对比数据增强、归一化与操作顺序。"),
            "pipelines_differ", {}, "two_runs", "dataset_graph",
        ),
        SymptomQuestion(
            "graphs", ("Do the graphs differ?", "计算图是否不同？"),
            ("Compare initial values, epsilon and momentum of normalization, bias, and precision.",
             "对比初始值、归一化层的 epsilon 与 momentum、偏置以及精度。"),
            "graphs_differ", {}, "graph", "graph",
        ),
        SymptomQuestion(
            "initial", ("Do weights begin with the same values?", "权重的初始值是否相同？"),
            ("Use the initializer of the reference: a seed alone leaves the range of values about the same.",
             "使用参考网络的初始化方法：仅随机种子不同时，取值范围基本一致。"),
            "initial_values", {}, "histograms", "histogram",
        ),
        SymptomQuestion(
            "tensor", ("Which tensor differs first between two dumps?", "两份 Dump 中最先不同的是哪个张量？"),
            ("Look at the operator that makes it: its attributes and its inputs.", "检查产生该张量的算子：其属性与输入。"),
            "first_tensor", {"tolerance": TOLERANCE}, "two_dumps", "dump",
        ),
        SymptomQuestion(
            "seeds", ("Is the difference larger than that between seeds?", "差异是否大于不同随机种子之间的差异？"),
            ("Train at least three seeds of each side before you look for a cause.",
             "查找原因之前，每一方至少训练 3 个随机种子。"),
            "seeds_differ", {}, "runs", "scalar",
        ),
        SymptomQuestion(
            "metric", ("Is the metric computed in the same way, on the same samples?", "指标的计算方式与样本是否相同？"),
            ("Evaluate both networks with one program.", "用同一程序评估两个网络。"),
        ),
    ),
)  # fmt: skip
