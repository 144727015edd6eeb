"""Trains a small network with MindSpore, and computes its landscape as MindSpore does: tests/data/mindspore_landscape/2.10.

    python tests/frameworks/mindspore_landscape.py FOLDER      in a Python with MindSpore, which no test needs

Leaves the plan and the checkpoints (run/ckpt_dir), the summary file with the landscape (by_mindspore), and what the loss is
computed from (samples.npz). There is one batch, and nothing that differs between training and evaluation, so that the loss is
that of any other program. Beside them are two files that save_checkpoint encrypted, with enc_mode AES-GCM and AES-CBC.
"""

from __future__ import annotations

import os
import sys

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import Loss, Model, SummaryCollector, SummaryLandscape

SAMPLES, INPUTS, CLASSES = 96, 8, 3
STEPS = list(range(1, 9))
SIZE = 9


def network() -> nn.SequentialCell:
    """Two dense layers."""
    return nn.SequentialCell(nn.Dense(INPUTS, 16), nn.ReLU(), nn.Dense(16, CLASSES))


def samples() -> tuple[np.ndarray, np.ndarray]:
    """Inputs around the middles of their classes."""
    random = np.random.default_rng(7)
    labels = random.integers(0, CLASSES, SAMPLES).astype(np.int32)
    inputs = random.normal(size=(CLASSES, INPUTS))[labels] + random.normal(0, 0.7, (SAMPLES, INPUTS))
    return inputs.astype(np.float32), labels


def dataset() -> NumpySlicesDataset:
    """All samples as one batch."""
    return NumpySlicesDataset(samples(), shuffle=False).batch(SAMPLES)


def evaluated() -> tuple[Model, nn.Cell, NumpySlicesDataset, dict[str, Loss]]:
    """What SummaryLandscape asks for."""
    net, metrics = network(), {"Loss": Loss()}
    return Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"), metrics=metrics), net, dataset(), metrics


def main(folder: str) -> None:
    """Train, compute and write."""
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_device("CPU")
    ms.set_seed(3)
    os.makedirs(folder)
    inputs, labels = samples()
    np.savez(os.path.join(folder, "samples.npz"), inputs=inputs, labels=labels)
    net = network()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(net, loss, nn.Momentum(net.trainable_params(), 0.3, 0.9))
    run = os.path.join(folder, "run")
    asked = {
        "landscape_size": SIZE, "unit": "step", "create_landscape": {"train": True, "result": False},
        "num_samples": SAMPLES, "intervals": [STEPS],
    }  # fmt: skip
    collector = SummaryCollector(run, collect_specified_data={"collect_landscape": asked}, keep_default_action=False)
    model.train(len(STEPS), dataset(), callbacks=[collector], dataset_sink_mode=False)
    output = os.path.join(folder, "by_mindspore")
    SummaryLandscape(run).gen_landscapes_with_multi_process(evaluated, device_ids=[0], output=output)


if __name__ == "__main__":
    main(sys.argv[1])
