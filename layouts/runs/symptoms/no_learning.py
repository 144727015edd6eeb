"""The network does not learn: the loss stays where it began."""

from __future__ import annotations

from layouts.runs.symptoms.model import ACCURACY, Symptom, SymptomQuestion

SYMPTOM = Symptom(
    "no_learning", ACCURACY, ("The network does not learn", "网络不学习"),
    ("constant loss flat frozen weights zero gradient dead relu accuracy of chance",
     "损失不下降 不变 权重冻结 梯度为零 梯度消失 死神经元"),
    (
        SymptomQuestion(
            "constant", ("Does the loss never move?", "损失是否从未变化？"),
            ("Check that the optimizer has the parameters of the network, and that the loss depends on its output.",
             "检查优化器是否包含网络参数，损失是否依赖网络输出。"),
            "insight", {"kinds": ("unmoved",), "about": ("loss", "result")}, "scalars", "scalar", sign=True,
        ),
        SymptomQuestion(
            "weights", ("Do all weights change?", "所有权重都在更新吗？"),
            ("Set requires_grad of these parameters, and pass them to the optimizer.",
             "将这些参数的 requires_grad 设为 True，并传入优化器。"),
            "frozen_weights", {}, "histograms", "histogram", sign=True,
        ),
        SymptomQuestion(
            "gradients", ("Are gradients zero?", "梯度是否为零？"),
            ("Look for stop_gradient, an argmax or a cast to integers between the loss and these layers.",
             "检查损失与这些层之间是否有 stop_gradient、argmax 或转为整数的操作。"),
            "zero_values", {"of": "gradients"}, "histograms", "histogram", sign=True,
        ),
        SymptomQuestion(
            "vanishing", ("Do gradients vanish in a dump?", "Dump 中梯度是否消失？"),
            ("Use normalization, residual connections or another activation between these layers.",
             "在这些层之间使用归一化、残差连接或更换激活函数。"),
            "watched", {"conditions": ("gradient_vanishing", "weight_not_changed")}, "debugger", "dump",
        ),
        SymptomQuestion(
            "rate", ("Is the learning rate far from that of the other runs?", "学习率是否与其他训练相差很大？"),
            ("Try a learning rate within the range of the other runs.", "尝试其他训练所用范围内的学习率。"),
            "rate_beside_others", {}, "scalars", "scalar",
        ),
        SymptomQuestion(
            "activations", ("Are activations dead?", "激活值是否全为零？"),
            ("Lower the learning rate, initialize the bias with 0, or use a leaky activation.",
             "降低学习率，将偏置初始化为 0，或使用 LeakyReLU 等激活函数。"),
            "zero_values", {"of": "activations"}, "histograms", "histogram",
        ),
        SymptomQuestion(
            "dead", ("Which layers are all zero or saturated in a dump?", "Dump 中哪些层全为零或饱和？"),
            ("Check the initial values of this layer and the scale of its input.", "检查该层的初始值及其输入的尺度。"),
            "watched", {"conditions": ("tensor_all_zero", "activation_range", "weight_initialization")}, "debugger", "dump",
        ),
        SymptomQuestion(
            "shuffle", ("Is the data shuffled?", "数据是否打乱？"),
            ("Shuffle before batch(), or set shuffle=True of the reader.",
             "在 batch() 之前打乱，或将数据读取接口的 shuffle 设为 True。"),
            "shuffled", {}, "dataset", "dataset_graph",
        ),
        SymptomQuestion(
            "order", ("Is the order of operations of the data pipeline as usual?", "数据处理操作的顺序是否合理？"),
            ("Map single samples, shuffle, then batch, and repeat last.", "先对单个样本做 map，再打乱，再组批，最后重复。"),
            "pipeline_order", {}, "dataset", "dataset_graph",
        ),
        SymptomQuestion(
            "repeated", ("Is one batch repeated again and again?", "是否一直重复同一批数据？"),
            ("Create the iterator once, outside of the loop over steps.", "在步骤循环之外只创建一次迭代器。"),
            "repeated_batch", {}, "tensors", "tensor",
        ),
        SymptomQuestion(
            "labels", ("Do labels belong to their samples?", "标签与样本是否对应？"),
            ("Look at a few samples with their labels; check that both are shuffled together.",
             "查看若干样本及其标签；检查两者是否一起打乱。"),
        ),
        SymptomQuestion(
            "overfit", ("Can the network learn ten samples by heart?", "网络能否记住 10 个样本？"),
            ("If it cannot, the fault is in the network, the loss or the optimizer rather than in the data.",
             "若不能，问题在网络、损失或优化器，而不在数据。"),
        ),
    ),
)  # fmt: skip
