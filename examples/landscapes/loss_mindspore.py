"""The same loss as in loss_numpy.py, with MindSpore. The parameters have the names of its checkpoints."""

import mindspore as ms
import numpy as np
from mindspore import nn

network = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 3))
entropy = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
random = np.random.RandomState(0)
true = random.randn(8, 3)
inputs = random.randn(512, 8).astype(np.float32)
samples, classes = ms.Tensor(inputs), ms.Tensor((inputs @ true).argmax(1).astype(np.int32))


def setup() -> None:
    """Decide how the network behaves; MindSpore's own SummaryLandscape leaves it in training mode."""
    network.set_train(False)


def loss(parameters: dict[str, np.ndarray]) -> float:
    """Return the mean cross entropy."""
    for parameter in network.trainable_params():
        parameter.set_data(ms.Tensor(parameters[parameter.name]))
    return float(entropy(network(samples), classes).asnumpy())
