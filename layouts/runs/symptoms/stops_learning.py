"""Training goes well, then stops or diverges."""

from __future__ import annotations

from layouts.runs.symptoms.model import ACCURACY, Symptom, SymptomQuestion

_TURNS = ("divergence", "shift", "spike", "plateau", "frozen")

SYMPTOM = Symptom(
    "stops_learning", ACCURACY, ("It learns, then stops or diverges", "先收敛，随后停滞或发散"),
    ("diverges plateau spike jump stuck stagnates frozen worse", "发散 平台期 尖峰 跳变 停滞 变差 冻结"),
    (
        SymptomQuestion(
            "turn", ("Where does the loss stop getting better?", "损失从哪一步起不再变好？"),
            ("Look at what else changes at this step.", "查看该步骤还有什么变化。"),
            "insight", {"kinds": _TURNS, "about": ("loss", "result")}, "scalars", "scalar", sign=True,
        ),
        SymptomQuestion(
            "rate", ("Did the learning rate change there?", "学习率是否在该处变化？"),
            ("Change the schedule: a longer warm-up, a smaller step, or a decay where the plateau begins.",
             "调整学习率策略：延长预热、减小步长，或在平台期开始时衰减。"),
            "changed_at", {"what": "learning_rate", "kinds": _TURNS}, "scalars", "scalar",
        ),
        SymptomQuestion(
            "restart", ("Was training restarted there?", "训练是否在该处重启？"),
            ("Save and load the state of the optimizer and of the learning rate, not only the weights.",
             "除权重外，还要保存并加载优化器与学习率的状态。"),
            "changed_at", {"what": "restart", "kinds": _TURNS}, "scalars", "scalar",
        ),
        SymptomQuestion(
            "epoch", ("Does an epoch begin there?", "该处是否是一个 epoch 的开始？"),
            ("Shuffle anew in each epoch; look at the last, smaller batch (drop_remainder).",
             "每个 epoch 重新打乱；检查最后一个不完整的批次（drop_remainder）。"),
            "changed_at", {"what": "epoch", "kinds": _TURNS}, "scalars", "scalar",
        ),
        SymptomQuestion(
            "norm", ("What does the norm of gradients do?", "梯度范数有何变化？"),
            ("Clip gradients where it has spikes; where it is 0, gradients do not reach the weights.",
             "有尖峰时使用梯度裁剪；为 0 时说明梯度没有传到权重。"),
            "insight", {"kinds": ("spike", "divergence", "shift", "unmoved"), "about": ("norm",)}, "scalars", "scalar",
        ),
        SymptomQuestion(
            "batch", ("Is the batch size that of the other runs?", "batch size 是否与其他训练相同？"),
            ("Scale the learning rate with the batch size.", "学习率随 batch size 同比调整。"),
            "setting", {"of": "batch"}, "model_lineage", "lineage",
        ),
        SymptomQuestion(
            "shuffle", ("Are single samples shuffled, so that sources mix?", "是否打乱单个样本，使各数据源混合？"),
            ("Shuffle over all files before batch(): a source that begins at this step changes the loss.",
             "在 batch() 之前对所有文件打乱：从该步骤开始的新数据源会改变损失。"),
            "shuffled", {}, "dataset", "dataset_graph",
        ),
        SymptomQuestion(
            "pipeline", ("Did the data pipeline change where training was started again?",
                         "重新启动训练时数据处理流程是否变化？"),
            ("Set the operation back, or expect the loss to settle anew from this step on.",
             "将该操作改回；否则损失会从该步骤起重新收敛。"),
            "pipeline_changed", {}, "dataset", "dataset_graph",
        ),
        SymptomQuestion(
            "length", ("Does an epoch have another number of steps than the one before?", "是否有 epoch 的步数与前一个不同？"),
            ("Find what was added or left out: files, a filter, the number of shards, or the batch size.",
             "查找增加或缺少的数据：文件、过滤条件、分片数或 batch size。"),
            "epoch_length", {}, "scalars", "scalar",
        ),
        SymptomQuestion(
            "anew", ("Does a restart begin with the first data again?", "重启后数据是否又从头开始？"),
            ("Skip the samples that were used before the restart, or shuffle with another seed.",
             "跳过重启前已使用的样本，或换用其他随机种子打乱。"),
            "data_after_restart", {}, "tensors", "tensor",
        ),
        SymptomQuestion(
            "order", ("Did the order or the source of the data change there?", "该处数据的顺序或来源是否变化？"),
            ("Mix the sources, and shuffle over all files.", "混合各数据源，并在所有文件之间打乱。"),
        ),
    ),
)  # fmt: skip
