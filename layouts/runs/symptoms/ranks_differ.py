"""Ranks of a job differ, or a restart changed the curve."""

from __future__ import annotations

from layouts.runs.symptoms.model import ACCURACY, Symptom, SymptomQuestion

SYMPTOM = Symptom(
    "ranks_differ", ACCURACY, ("Ranks differ, or a restart changed the curve", "各卡结果不一致，或重启后曲线变化"),
    ("resume checkpoint restart distributed rank data parallel learning rate reset",
     "断点续训 恢复 重启 分布式 卡间 学习率 重置"),
    (
        SymptomQuestion(
            "curves", ("Does the curve of one rank look different?", "是否有某张卡的曲线与其他卡不同？"),
            ("Look at the data and the weights of this rank.", "检查该卡的数据与权重。"),
            "ranks_differ", {}, "scalars", "scalar", sign=True,
        ),
        SymptomQuestion(
            "weights", ("Do ranks have the same weights?", "各卡权重是否相同？"),
            ("Broadcast the initial weights, and use the same seed for them on all ranks.",
             "广播初始权重，并在各卡使用相同的随机种子。"),
            "ranks_weights", {}, "histograms", "histogram",
        ),
        SymptomQuestion(
            "shards", ("Does each rank get data of its own?", "每张卡的数据是否不同？"),
            ("Set num_shards and shard_id of the dataset.", "设置数据集的 num_shards 与 shard_id。"),
            "ranks_inputs", {}, "images", "image",
        ),
        SymptomQuestion(
            "restarts", ("At which step did training resume?", "训练从哪一步恢复？"),
            ("Save a checkpoint more often if much was trained twice.", "若重复训练的步骤较多，应更频繁地保存 checkpoint。"),
            "restarted", {}, "scalars", "scalar",
        ),
        SymptomQuestion(
            "rate", ("Did the learning rate go on where it was?", "恢复后学习率是否延续？"),
            ("Load the state of the optimizer and the number of the step into the schedule.",
             "恢复时加载优化器状态，并将步数传给学习率策略。"),
            "rate_after_restart", {}, "scalars", "scalar", sign=True,
        ),
        SymptomQuestion(
            "order", ("Does the data begin anew where training resumes?", "训练恢复时数据是否从头开始？"),
            ("Skip the batches that were trained, or seed the shuffle by the epoch.",
             "跳过已训练的批次，或按 epoch 设置打乱的随机种子。"),
            "data_after_restart", {}, "tensors", "tensor",
        ),
        SymptomQuestion(
            "pipeline", ("Is the data pipeline the same after the restart?", "重启后数据处理流程是否相同？"),
            ("Resume with the pipeline that training began with.", "恢复训练时使用与开始时相同的数据处理流程。"),
            "pipeline_changed", {}, "dataset", "dataset_graph",
        ),
        SymptomQuestion(
            "state", ("Are the states of optimizer, loss scale and random numbers in the checkpoint?",
                      "checkpoint 中是否包含优化器、损失缩放与随机数的状态？"),
            ("Save them with the weights, and load all of them.", "与权重一起保存，并全部加载。"),
        ),
    ),
)  # fmt: skip
