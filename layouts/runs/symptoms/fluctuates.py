"""The loss goes up and down."""

from __future__ import annotations

from layouts.runs.symptoms.model import ACCURACY, Symptom, SymptomQuestion

SYMPTOM = Symptom(
    "fluctuates", ACCURACY, ("The loss goes up and down", "损失波动"),
    ("fluctuates oscillates noise noisy unstable zigzag", "振荡 噪声 不稳定 锯齿 抖动"),
    (
        SymptomQuestion(
            "spread", ("Does the loss swing, or its noise grow?", "损失是否振荡，或噪声是否增大？"),
            ("Lower the learning rate or raise the batch size; a swing at the rate of an epoch comes from the data's order.",
             "降低学习率或增大 batch size；若周期为一个 epoch，则与数据顺序有关。"),
            "insight", {"kinds": ("oscillation", "noisier"), "about": ("loss", "result")}, "scalars", "scalar", sign=True,
        ),
        SymptomQuestion(
            "batch", ("Is the batch size that of the other runs?", "batch size 是否与其他训练相同？"),
            ("Raise the batch size, or accumulate gradients.", "增大 batch size，或使用梯度累积。"),
            "setting", {"of": "batch"}, "model_lineage", "lineage",
        ),
        SymptomQuestion(
            "noise", ("Is the loss noisier than its batch size explains?", "损失的噪声是否超出 batch size 所能解释的程度？"),
            ("If it is, look at the learning rate and the order of the data; otherwise only a larger batch makes it smoother.",
             "若超出，检查学习率与数据顺序；否则只有增大 batch size 才能使曲线更平滑。"),
            "noise_of_batch", {}, "scalars", "lineage",
        ),
        SymptomQuestion(
            "restarts", ("Does training go back to earlier steps?", "训练是否回到之前的步骤？"),
            ("Write each training to a directory of its own, or continue from the last checkpoint.",
             "每次训练使用单独的目录，或从最后一个 checkpoint 继续。"),
            "restarted", {}, "scalars", "scalar",
        ),
        SymptomQuestion(
            "writers", ("Do several ranks or trainings write into this directory?", "是否有多张卡或多次训练写入同一目录？"),
            ("Give each rank a directory of its own.", "为每张卡设置单独的目录。"),
            "mixed_writers", {}, "scalars", "scalar", sign=True,
        ),
        SymptomQuestion(
            "gaps", ("Are steps missing?", "是否缺少步骤？"),
            ("Check that the writer is flushed and closed, and that the disk was not full.",
             "检查写入是否刷新并关闭，磁盘是否已满。"),
            "insight", {"kinds": ("gap",)}, "scalars", "scalar",
        ),
    ),
)  # fmt: skip
