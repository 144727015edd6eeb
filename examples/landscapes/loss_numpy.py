"""The loss of a small network in numpy: 8 inputs, 16 hidden units, 3 classes, on 512 samples.

mindscope landscape RUN --script loss_numpy.py --out RUN
"""

import numpy as np

random = np.random.RandomState(0)
true = random.randn(8, 3)
inputs = random.randn(512, 8).astype(np.float32)
classes = (inputs @ true).argmax(1)


def loss(parameters: dict[str, np.ndarray]) -> float:
    """Return the mean cross entropy."""
    hidden = np.maximum(inputs @ parameters["0.weight"].T + parameters["0.bias"], 0)
    scores = (hidden @ parameters["2.weight"].T + parameters["2.bias"]).astype(np.float64)
    scores -= scores.max(axis=1, keepdims=True)
    return float((np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(512), classes]).mean())
