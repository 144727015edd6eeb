"""Training is fine, validation is worse."""

from __future__ import annotations

from layouts.runs.symptoms.model import ACCURACY, Symptom, SymptomQuestion

SYMPTOM = Symptom(
    "worse_on_validation", ACCURACY, ("Validation is worse than training", "验证结果比训练差"),
    ("overfitting overfits generalization gap eval test accuracy", "过拟合 泛化 验证集 测试集 精度差距"),
    (
        SymptomQuestion(
            "gap", ("From where on does validation get worse?", "验证结果从哪一步起变差？"),
            ("Stop there, or regularize more.", "在该处停止训练，或加强正则化。"),
            "gap", {}, "scalars", "scalar", sign=True,
        ),
        SymptomQuestion(
            "pipelines", ("Do the pipelines of training and evaluation differ only in augmentation?",
                          "训练与评估的数据处理流程是否只在数据增强上不同？"),
            ("Normalize both in the same way; augment in training only. Choose the run of the evaluation as the second run.",
             "两者使用相同的归一化，仅训练使用数据增强。请将评估所在的训练选为第二个训练。"),
            "evaluation_pipeline", {}, "two_runs", "dataset_graph",
        ),
        SymptomQuestion(
            "regularization", ("Is there any regularization?", "是否使用了正则化？"),
            ("Set weight_decay, use dropout or label smoothing.", "设置 weight_decay，使用 dropout 或标签平滑。"),
            "setting", {"of": "regularization"}, "model_lineage", "lineage",
        ),
        SymptomQuestion(
            "landscape", ("How sharp is the minimum?", "极小点有多尖锐？"),
            ("A sharp minimum often generalizes badly: use a smaller batch size or a larger learning rate.",
             "尖锐的极小点往往泛化较差：减小 batch size 或增大学习率。"),
            "landscape", {}, "landscape", "landscape",
        ),
        SymptomQuestion(
            "mode", ("Is the network in evaluation mode while it is evaluated (set_train(False))?",
                     "评估时网络是否处于推理模式（set_train(False)）？"),
            ("Dropout and batch normalization act differently in training.", "Dropout 与 BatchNorm 在训练与推理时行为不同。"),
        ),
        SymptomQuestion(
            "split", ("Are training and validation data of the same kind, without common samples?",
                      "训练集与验证集是否同分布且没有重复样本？"),
            ("Split at random, and by source where samples belong together.", "随机划分；同源样本应划入同一子集。"),
        ),
    ),
)  # fmt: skip
