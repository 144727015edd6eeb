"""Trains a network by the settings of a run; what happens is handed to a recorder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tests.writers.digits.data import Split
from tests.writers.digits.network import CLASSES, Array, Network, norm_of, slopes_of


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a run; warm_up: steps in which the learning rate rises to its value."""

    name: str
    optimizer: str = "Adam"
    learning_rate: float = 0.01
    batch_size: int = 64
    epochs: int = 16
    seed: int = 1
    weight_decay: float = 0.0
    filters: int = 8
    hidden: int = 32
    images: int = 0
    """Number of images trained on, 0 for all."""
    warm_up: int = 40
    stable: bool = True
    falls: bool = True
    """After warm-up the learning rate falls to 0 along a cosine."""
    wrong_labels: float = 0.0
    """Share of the images with a label drawn at random."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step that is over, counted from 1; the network has its new weights."""

    number: int
    epoch: int
    ends_epoch: bool
    loss: float
    accuracy: float
    gradient_norm: float
    learning_rate: float
    gradients: dict[str, Array]


class Training:
    """A training: iterate over `steps`."""

    def __init__(self, settings: Settings, train: Split) -> None:
        self.settings = settings
        self.network = Network(filters=settings.filters, hidden=settings.hidden, seed=settings.seed, stable=settings.stable)
        self.train = _mislabelled(train.take(np.arange(settings.images)) if settings.images else train, settings)
        self._first = {name: np.zeros_like(value) for name, value in self.network.weights.items()}
        self._second = {name: np.zeros_like(value) for name, value in self.network.weights.items()}

    def steps(self) -> Iterator[Step]:
        """Train; each step is yielded after its update."""
        settings = self.settings
        random = np.random.default_rng([settings.seed, 11])
        number, count = 0, -(-len(self.train.labels) // settings.batch_size)
        for epoch in range(1, settings.epochs + 1):
            order = random.permutation(len(self.train.labels))
            for place in range(count):
                number += 1
                batch = self.train.take(order[place * settings.batch_size : (place + 1) * settings.batch_size])
                rate = self._rate(number, count * settings.epochs)
                with np.errstate(all="ignore"):
                    probabilities = self.network.forward(batch.images)
                    loss = self.network.loss(probabilities, batch.labels)
                    gradients = self.network.backward(slopes_of(probabilities, batch.labels))
                    self._update(gradients, rate, number)
                accuracy = float((probabilities.argmax(1) == batch.labels).mean())
                norm = norm_of(gradients, self.network.weights)
                yield Step(number, epoch, place == count - 1, float(loss), accuracy, norm, rate, gradients)

    def _rate(self, number: int, steps: int) -> float:
        settings = self.settings
        if number < settings.warm_up:
            return settings.learning_rate * number / settings.warm_up
        if not settings.falls:
            return settings.learning_rate
        done = (number - settings.warm_up) / max(1, steps - settings.warm_up)
        return settings.learning_rate * 0.5 * (1 + float(np.cos(np.pi * done)))

    def _update(self, gradients: dict[str, Array], rate: float, number: int) -> None:
        """Adam (Kingma and Ba 2015), or SGD with momentum 0.9; weights decay apart from the gradient (Loshchilov 2019)."""
        for name, weight in self.network.weights.items():
            slope, first = gradients[name], self._first[name]
            if self.settings.optimizer == "Adam":
                second = self._second[name]
                first += np.float32(0.1) * (slope - first)
                second += np.float32(0.001) * (slope * slope - second)
                step = (first / (1 - 0.9**number)) / (np.sqrt(second / (1 - 0.999**number)) + 1e-8)
            else:
                first *= np.float32(0.9)
                first += slope
                step = first
            weight -= (rate * (step + self.settings.weight_decay * weight)).astype(np.float32)


def _mislabelled(split: Split, settings: Settings) -> Split:
    random = np.random.default_rng([settings.seed, 3])
    wrong = random.random(len(split.labels)) < settings.wrong_labels
    return Split(split.images, np.where(wrong, random.integers(0, CLASSES, len(wrong)), split.labels))


def judged(network: Network, split: Split) -> tuple[float, float, Array]:
    """Return loss, accuracy and probabilities of a split."""
    with np.errstate(all="ignore"):
        probabilities = network.forward(split.images)
        picked = probabilities[np.arange(len(split.labels)), split.labels]
        loss = -np.log(picked).mean()
    right = np.where(np.isnan(probabilities[:, 0]), False, probabilities.argmax(1) == split.labels)
    return float(loss), float(right.mean()), probabilities
