"""Records explanations of a small numpy network, so that any framework's explainer can do the same.

    python examples/explanations.py summary/explained

The network tells where a bright square is; the explainer is the gradient of a probability by the pixels, times the pixels. The
result has pictures, predictions of all labels, heat maps, and a score of the explainer.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from parsers.recording import ExplanationWriter

LABELS = ["top left", "top right", "bottom left", "bottom right"]
SIDE, SAMPLES, STEPS = 16, 200, 300
Floats = NDArray[np.float64]


def pictures(count: int, random: np.random.Generator) -> tuple[Floats, NDArray[np.int64]]:
    """Return noisy pictures of shape (count, SIDE, SIDE), and the number of the quarter with the bright square of each."""
    label = random.integers(0, len(LABELS), count)
    made = random.uniform(0.0, 0.4, (count, SIDE, SIDE))
    half = SIDE // 2
    for picture, quarter in zip(made, label.tolist(), strict=True):
        row, column = quarter // 2 * half + random.integers(0, 4), quarter % 2 * half + random.integers(0, 4)
        picture[row : row + 4, column : column + 4] += 0.6
    return made, label


def softmax(scores: Floats) -> Floats:
    """Return probabilities."""
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    found: Floats = raised / raised.sum(axis=-1, keepdims=True)
    return found


def main(directory: str) -> None:
    """Train a linear network by gradient descent, and record what it looks at."""
    random = np.random.default_rng(0)
    data, label = pictures(2_000, random)
    flat, wanted = data.reshape(len(data), -1), np.eye(len(LABELS))[label]
    weights = np.zeros((flat.shape[1], len(LABELS)))
    for _ in range(STEPS):
        weights -= 0.5 * flat.T @ (softmax(flat @ weights) - wanted) / len(flat)
    shown, truth = pictures(SAMPLES, random)
    probabilities = softmax(shown.reshape(SAMPLES, -1) @ weights)
    with ExplanationWriter(directory, labels=LABELS, explainers=["Gradient x input"], metrics=["Pointing game"]) as writer:
        hits = np.zeros(SAMPLES)
        for sample in range(SAMPLES):
            named = {place: float(part) for place, part in enumerate(probabilities[sample])}
            writer.sample(sample, shown[sample], truth=[int(truth[sample])], probabilities=named)
            best = int(probabilities[sample].argmax())
            slope = probabilities[sample, best] * (weights[:, best] - weights @ probabilities[sample])
            heat = slope.reshape(SIDE, SIDE) * shown[sample]
            writer.heat_map(sample, "Gradient x input", best, heat)
            row, column = np.unravel_index(int(heat.argmax()), heat.shape)
            hits[sample] = int(row) // (SIDE // 2) * 2 + int(column) // (SIDE // 2) == truth[sample]
        of_labels = [float(hits[truth == place].mean()) for place in range(len(LABELS))]
        writer.score("Gradient x input", "Pointing game", float(hits.mean()), of_labels)


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else "summary/explained"
    main(chosen)
    print(f"Recorded {SAMPLES} samples. To open them: mindscope --summary-base-dir {chosen}")
