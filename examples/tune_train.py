"""A training for `mindscope tune`: a small network in numpy that learns two spirals and records with Mindscope's own writer.

    mindscope tune --config examples/tune.yaml --jobs 2

It reads its settings from the environment (HyperConfig) and records loss and accuracy of every epoch to summary_dir. With
TUNE_PAUSE it waits that many seconds after each epoch, like a training that takes longer.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import numpy as np

from parsers.recording import EventWriter
from parsers.tuning import HyperConfig

EPOCHS = 60


def spirals(count: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return points of shape (2 * count, 2) and their labels 0 and 1."""
    angle = np.sqrt(random.uniform(0.0, 1.0, count)) * 2.5 * np.pi
    arm = np.stack([angle * np.cos(angle), angle * np.sin(angle)], 1) / 8 + random.normal(0, 0.03, (count, 2))
    return np.concatenate([arm, -arm]), np.repeat([0.0, 1.0], count)


def features(points: np.ndarray) -> np.ndarray:
    """Return polynomials of the coordinates up to degree 2, and the radius."""
    x, y = points.T
    return np.stack([x, y, x * x, y * y, x * y, np.hypot(x, y)], 1)


def train(rate: float, width: int, momentum: float) -> Iterator[tuple[int, float, float]]:
    """Train a network with one hidden layer; yield epoch, loss and accuracy on held-out points."""
    random = np.random.default_rng(0)
    points, labels = spirals(300, random)
    held_points, held_labels = spirals(200, random)
    seen, held = features(points), features(held_points)
    one = random.normal(0, 1, (seen.shape[1], width)) / np.sqrt(seen.shape[1])
    two = random.normal(0, 1, width) / np.sqrt(width)
    shift = np.zeros(width)
    speed = [np.zeros_like(one), np.zeros_like(two), np.zeros_like(shift)]
    for epoch in range(1, EPOCHS + 1):
        for batch in np.array_split(random.permutation(len(labels)), 10):
            hidden = np.tanh(seen[batch] @ one + shift)
            error = 1 / (1 + np.exp(-hidden @ two)) - labels[batch]
            back = np.outer(error, two) * (1 - hidden**2)
            slopes = [seen[batch].T @ back / len(batch), hidden.T @ error / len(batch), back.mean(0)]
            for weight, past, slope in zip((one, two, shift), speed, slopes, strict=True):
                past *= momentum
                past -= rate * slope
                weight += past
        chance = 1 / (1 + np.exp(-np.tanh(held @ one + shift) @ two))
        loss = -np.mean(np.log(np.where(held_labels == 1, chance, 1 - chance) + 1e-12))
        yield epoch, float(loss), float(np.mean((chance > 0.5) == held_labels))


def main() -> None:
    """Train with the settings of this trial."""
    settings = HyperConfig()
    params = settings.params
    os.makedirs(settings.summary_dir, exist_ok=True)
    name = f"events.out.events.summary.{int(time.time())}.{os.getpid()}.tune_MS"
    with EventWriter(os.path.join(settings.summary_dir, name), "mindspore") as writer, np.errstate(all="ignore"):
        for epoch, loss, accuracy in train(params.learning_rate, params.width, params.get("momentum", 0.0)):
            writer.add(epoch, {"loss": loss, "accuracy": accuracy})
            writer.flush()
            time.sleep(float(os.environ.get("TUNE_PAUSE", "0")))
    print(f"loss {loss:.4f}, accuracy {accuracy:.3f} with {dict(params)}")


if __name__ == "__main__":
    main()
