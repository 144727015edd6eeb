"""Explains what one of the trained networks looks at, with three methods, their scores, occlusion and uncertainty.

Gradient: the absolute gradient of the label's logit times the image, summed (Simonyan 2014; times the input, Shrikumar 2016).
GradCAM: the maps of the convolution weighted by their mean gradients (Selvaraju 2017). Occlusion: how much the probability
falls where a square of 3 x 3 is replaced by paper (Zeiler and Fergus 2014). Faithfulness is the correlation of saliency with
the fall of the probability when pixels are erased; robustness is 1 less the change of the map under noise.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.demo import story
from parsers.recording import ExplanationWriter, Layer, Uncertainty
from tests.writers.digits.data import Split
from tests.writers.digits.network import CLASSES, Array, Network
from tests.writers.digits.training import judged

SAMPLES = 60
SCALE = 8
"""Pixels of a picture per pixel of an image."""
EXPLAINERS = ("Gradient", "GradCAM", "Occlusion")
METRICS = ("Faithfulness", "Robustness")
TEAM = ("digits_lr0.003_", "digits_lr0.01_", "digits_lr0.1_")
"""Begins of the names of the networks whose spread is the uncertainty."""


def explain(directory: Path, networks: Mapping[str, Network], validation: Split, *, begin: int) -> None:
    """Write the explanations of some validation images: all that the network gets wrong, and others."""
    shutil.rmtree(directory, ignore_errors=True)
    network = networks[story.SWEEP]
    team = [one for name, one in networks.items() if name.startswith(TEAM)]
    probabilities = judged(network, validation)[2]
    spread = np.stack([judged(one, validation)[2] for one in team])
    wrong = np.flatnonzero(probabilities.argmax(1) != validation.labels)
    right = np.flatnonzero(probabilities.argmax(1) == validation.labels)
    places = np.concatenate([wrong, right])[:SAMPLES]
    labels = [str(digit) for digit in range(CLASSES)]
    measured: dict[tuple[str, str], list[tuple[int, float]]] = {}
    with ExplanationWriter(str(directory), labels=labels, explainers=EXPLAINERS, metrics=METRICS, seconds=begin) as writer:
        for sample, place in enumerate(np.random.default_rng(5).permutation(places)):
            image, truth = validation.images[place], int(validation.labels[place])
            known = {label: _uncertainty(spread[:, place, label]) for label in range(CLASSES)}
            chances = {label: float(probabilities[place, label]) for label in range(CLASSES)}
            writer.sample(sample, _picture(image), truth=[truth], probabilities=chances, uncertainty=known)
            for label in dict.fromkeys((truth, int(probabilities[place].argmax()))):
                writer.counterfactual(sample, label, _layers(network, image, label), radius=SCALE)
                for explainer in EXPLAINERS:
                    found = saliency(network, image, label, explainer)
                    writer.heat_map(sample, explainer, label, found.repeat(SCALE, 0).repeat(SCALE, 1))
                    for metric, value in _scores(network, image, label, explainer, found).items():
                        measured.setdefault((explainer, metric), []).append((label, value))
        for (explainer, metric), values in measured.items():
            own = [[value for label, value in values if label == digit] for digit in range(CLASSES)]
            total = float(np.mean([value for _, value in values]))
            writer.score(explainer, metric, total, [float(np.mean(one)) if one else total for one in own])


def _picture(image: Array) -> NDArray[np.uint8]:
    grey = np.round(255 * (1 - image)).astype(np.uint8)
    return grey.repeat(SCALE, axis=0).repeat(SCALE, axis=1)


def _uncertainty(values: Array) -> Uncertainty:
    """The spread over networks: standard deviation and the middle 95 % of a normal distribution, within 0 to 1."""
    mean, sd = float(values.mean()), float(values.std(ddof=1))
    return Uncertainty(sd, max(0.0, mean - 1.96 * sd), min(1.0, mean + 1.96 * sd))


def _chance(network: Network, images: Array, label: int) -> Array:
    return network.forward(images)[:, label]


def _slopes(network: Network, image: Array, label: int) -> dict[str, Array]:
    """The gradients of the label's logit."""
    network.forward(image[None])
    return network.backward(np.eye(CLASSES, dtype=np.float32)[None, label])


def saliency(network: Network, image: Array, label: int, explainer: str) -> Array:
    """Return how much each pixel of an image speaks for a label, with shape (8, 8)."""
    if explainer == "Occlusion":
        return _occlusion(network, image, label)
    slopes = _slopes(network, image, label)
    if explainer == "Gradient":
        return np.asarray(np.abs(slopes["images"][0] * image), np.float32)
    active = np.maximum(network.seen["maps"][0], 0)
    small = np.maximum((active * slopes["maps"][0].mean(axis=(0, 1))).sum(-1), 0)
    return np.pad(small, 1)


def _occlusion(network: Network, image: Array, label: int) -> Array:
    erased = np.repeat(image[None], 64, axis=0)
    for place, (row, column) in enumerate(np.ndindex(8, 8)):
        erased[place, max(0, row - 1) : row + 2, max(0, column - 1) : column + 2] = 0
    return np.maximum(_chance(network, image[None], label) - _chance(network, erased, label), 0).reshape(8, 8)


def _scores(network: Network, image: Array, label: int, explainer: str, found: Array) -> dict[str, float]:
    erased = np.repeat(image[None], 64, axis=0)
    erased[np.arange(64), np.repeat(np.arange(8), 8), np.tile(np.arange(8), 8)] = 0
    falls = _chance(network, image[None], label) - _chance(network, erased, label)
    faithful = _correlation(found.ravel(), falls)
    random = np.random.default_rng(label)
    noisy = np.clip(image + random.normal(0, 0.05, image.shape), 0, 1).astype(np.float32)
    other = saliency(network, noisy, label, explainer)
    change = float(np.linalg.norm(found - other) / (np.linalg.norm(found) or 1))
    return {"Faithfulness": max(0.0, faithful), "Robustness": max(0.0, 1 - change)}


def _correlation(one: Array, other: Array) -> float:
    return float(np.corrcoef(one, other)[0, 1]) if one.std() and other.std() else 0.0


def _layers(network: Network, image: Array, label: int) -> list[Layer]:
    """Squares of 4 and then of 2 pixels that are needed: while the fewest of them keep half of the probability."""
    whole = float(_chance(network, image[None], label)[0])
    found, kept = [], [(0, 0)]
    for size, parent in ((4, 8), (2, 4)):
        places = range(0, parent, size)
        squares = [(row + y, column + x) for row, column in kept for y in places for x in places]
        kept, chance = _needed(network, image, label, squares, size, 0.5 * whole)
        boxes = [(x * SCALE, y * SCALE, size * SCALE, size * SCALE) for y, x in kept]
        found.append(Layer(chance, boxes))
    return found


def _needed(
    network: Network, image: Array, label: int, squares: Sequence[tuple[int, int]], size: int, wanted: float
) -> tuple[list[tuple[int, int]], float]:
    """Take squares away, each time the one that costs least, until another would leave too little."""
    kept = list(squares)
    chance = float(_chance(network, _shown(image, kept, size)[None], label)[0])
    while len(kept) > 1:
        tried = np.stack([_shown(image, [one for one in kept if one != left], size) for left in kept])
        chances = _chance(network, tried, label)
        best = int(chances.argmax())
        if chances[best] < wanted:
            break
        chance = float(chances[best])
        del kept[best]
    return kept, chance


def _shown(image: Array, squares: Sequence[tuple[int, int]], size: int) -> Array:
    seen = np.zeros_like(image)
    for row, column in squares:
        seen[row : row + size, column : column + size] = image[row : row + size, column : column + size]
    return seen
