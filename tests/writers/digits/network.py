"""A convolutional network for images of 8 x 8 pixels in numpy, forward and backward, whose operations can be watched.

Images have the shape (batch, 8, 8), values from 0 to 1. The softmax may be the plain one, whose powers overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float32]
Watch: TypeAlias = Callable[[str, Sequence[Array], Array], None]
"""Is called after an operation with its name, inputs and output; the caller's line is the operation's."""
CLASSES = 10
KERNEL = 3


def _nothing(name: str, inputs: Sequence[Array], output: Array) -> None:
    del name, inputs, output


class Network:
    """Convolution of 3 x 3, ReLU, the maximum of 2 x 2, two dense layers, softmax."""

    def __init__(self, *, filters: int, hidden: int, seed: int, stable: bool = True) -> None:
        """stable: the softmax subtracts the largest logit before it takes powers."""
        random = np.random.default_rng([seed, 7])
        flat = filters * 9
        self.stable, self.watch = stable, _nothing
        self.weights: dict[str, Array] = {
            "conv.weight": random.normal(0, np.sqrt(2 / KERNEL**2), (filters, KERNEL**2)).astype(np.float32),
            "conv.bias": np.zeros(filters, np.float32),
            "hidden.weight": random.normal(0, np.sqrt(2 / flat), (flat, hidden)).astype(np.float32),
            "hidden.bias": np.zeros(hidden, np.float32),
            "output.weight": random.normal(0, np.sqrt(1 / hidden), (hidden, CLASSES)).astype(np.float32),
            "output.bias": np.zeros(CLASSES, np.float32),
        }
        self.seen: dict[str, Array] = {}

    def forward(self, images: Array) -> Array:
        """Return the probabilities of the classes; what gradients need is kept in `seen`."""
        w, watch = self.weights, self.watch
        patches = np.lib.stride_tricks.sliding_window_view(images, (KERNEL, KERNEL), axis=(1, 2)).reshape(-1, 6, 6, KERNEL**2)
        maps = patches @ w["conv.weight"].T + w["conv.bias"]
        watch("conv/conv2d", (images, w["conv.weight"], w["conv.bias"]), maps)
        active = np.maximum(maps, 0)
        watch("conv/relu", (maps,), active)
        blocks = active.reshape(-1, 3, 2, 3, 2, maps.shape[-1])
        pooled = blocks.max(axis=(2, 4))
        watch("conv/max_pool", (active,), pooled)
        flat = pooled.reshape(len(images), -1)
        before = flat @ w["hidden.weight"] + w["hidden.bias"]
        watch("hidden/linear", (flat, w["hidden.weight"], w["hidden.bias"]), before)
        hidden = np.maximum(before, 0)
        watch("hidden/relu", (before,), hidden)
        logits = hidden @ w["output.weight"] + w["output.bias"]
        watch("output/linear", (hidden, w["output.weight"], w["output.bias"]), logits)
        self.seen = {"patches": patches, "maps": maps, "blocks": blocks, "pooled": pooled, "flat": flat, "before": before,
                     "hidden": hidden, "logits": logits}  # fmt: skip
        return self.softmax(logits)

    def softmax(self, logits: Array) -> Array:
        """Return the probabilities of logits."""
        watch = self.watch
        if self.stable:
            logits = logits - logits.max(axis=1, keepdims=True)
        powers = np.exp(logits)
        watch("softmax/exp", (logits,), powers)
        total = powers.sum(axis=1, keepdims=True)
        watch("softmax/sum", (powers,), total)
        probabilities = powers / total
        watch("softmax/div", (powers, total), probabilities)
        return probabilities

    def loss(self, probabilities: Array, labels: NDArray[np.int64]) -> Array:
        """Return the cross-entropy as an array of shape ()."""
        watch = self.watch
        picked = probabilities[np.arange(len(labels)), labels]
        watch("loss/gather", (probabilities,), picked)
        logs = np.log(picked)
        watch("loss/log", (picked,), logs)
        loss = np.asarray(-logs.mean(), np.float32)
        watch("loss/mean", (logs,), loss)
        return loss

    def backward(self, slope: Array) -> dict[str, Array]:
        """Return the gradients of the weights and of the images ("images") for those of the logits."""
        w, seen = self.weights, self.seen
        found = {"output.weight": seen["hidden"].T @ slope, "output.bias": slope.sum(0)}
        slope = (slope @ w["output.weight"].T) * (seen["before"] > 0)
        found |= {"hidden.weight": seen["flat"].T @ slope, "hidden.bias": slope.sum(0)}
        pooled = (slope @ w["hidden.weight"].T).reshape(seen["pooled"].shape)
        largest = seen["blocks"] == seen["pooled"][:, :, None, :, None, :]
        maps = (pooled[:, :, None, :, None, :] * largest).reshape(seen["maps"].shape) * (seen["maps"] > 0)
        found["pooled"], found["maps"] = pooled, maps
        flat = maps.reshape(-1, maps.shape[-1])
        found |= {"conv.weight": flat.T @ seen["patches"].reshape(-1, KERNEL**2), "conv.bias": flat.sum(0)}
        found["images"] = self._images(maps)
        return found

    def _images(self, maps: Array) -> Array:
        spread = (maps @ self.weights["conv.weight"]).reshape(-1, 6, 6, KERNEL, KERNEL)
        images = np.zeros((len(maps), 8, 8), np.float32)
        for row in range(KERNEL):
            for column in range(KERNEL):
                images[:, row : row + 6, column : column + 6] += spread[:, :, :, row, column]
        return images


def slopes_of(probabilities: Array, labels: NDArray[np.int64]) -> Array:
    """Return the gradient of the cross-entropy with respect to the logits."""
    slope = probabilities.copy()
    slope[np.arange(len(labels)), labels] -= 1
    return slope / np.float32(len(labels))


def norm_of(gradients: Mapping[str, Array], weights: Mapping[str, Array]) -> float:
    """Return the L2 norm of the gradients of all weights together."""
    return float(np.sqrt(sum(float(np.square(gradients[name].astype(np.float64)).sum()) for name in weights)))
