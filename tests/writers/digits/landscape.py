"""Computes the loss around the path of a training, as SummaryLandscape does (Li et al. 2018), and writes it as MindSpore does.

The plane is that of the two principal components of the weights after each epoch; its origin is the end of the training.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from parsers.recording.layouts import MINDSPORE_DTYPES
from parsers.recording.wire import delimited, float64, number, record
from tests.writers.digits.data import Split
from tests.writers.digits.network import Array, Network
from tests.writers.digits.training import judged

SIDE = 25
"""Points of the grid in each direction."""
MARGIN = 0.3
"""What is seen around the path, as a share of its extent."""


def flat(network: Network) -> Array:
    """Return all weights of a network as one vector."""
    return np.concatenate([weight.ravel() for weight in network.weights.values()])


def write_landscape(directory: Path, network: Network, after_epochs: Sequence[Array], split: Split, *, begin: int) -> None:
    """Write the landscape of a finished training into its directory; after_epochs are its weights, the last being the end."""
    end = after_epochs[-1]
    moved = np.stack(after_epochs).astype(np.float64) - end
    _, _, axes = np.linalg.svd(moved - moved.mean(0), full_matrices=False)
    path = moved @ axes[:2].T
    x, y = (_axis(path[:, place]) for place in range(2))
    z = np.array([[_loss(network, end + a * axes[0] + b * axes[1], split) for a in x] for b in y])
    along = np.array([_loss(network, end + a * axes[0] + b * axes[1], split) for a, b in path])
    _set(network, end)
    epochs = b"".join(number(1, epoch) for epoch in range(1, len(path) + 1))
    message = (
        delimited(1, _point(x, y, z)) + delimited(2, epochs + delimited(2, _point(path[:, 0], path[:, 1], along)))
        + delimited(3, delimited(1, b"PCA") + delimited(2, b"epoch") + number(3, 1))
        + delimited(4, _point(*(np.array([one]) for one in (0.0, 0.0, along[-1]))))
    )  # fmt: skip
    value = delimited(1, f"landscape_[1, {len(path)}]".encode()) + delimited(10, message)
    events = (float64(1, begin) + delimited(3, b"MindSpore.Event:1"), float64(1, begin + 1) + delimited(5, delimited(1, value)))
    content = b"".join(record(event) for event in events)
    (directory / f"events.out.events.summary.{begin}.0.vm_MS").write_bytes(content)


def _axis(path: NDArray[np.float64]) -> NDArray[np.float64]:
    room = MARGIN * (path.max() - path.min())
    return np.linspace(path.min() - room, path.max() + room, SIDE)


def _set(network: Network, values: NDArray[np.floating]) -> None:
    at = 0
    for name, weight in network.weights.items():
        network.weights[name] = values[at : at + weight.size].reshape(weight.shape).astype(np.float32)
        at += weight.size


def _loss(network: Network, values: NDArray[np.floating], split: Split) -> float:
    _set(network, values)
    return judged(network, split)[0]


def _point(*axes: NDArray[np.float64]) -> bytes:
    return b"".join(delimited(place, _tensor(axis)) for place, axis in enumerate(axes, 1))


def _tensor(values: NDArray[np.float64]) -> bytes:
    dims = b"".join(number(1, size) for size in values.shape)
    return dims + number(2, MINDSPORE_DTYPES["float64"]) + delimited(3, values.astype("<f4").tobytes())
