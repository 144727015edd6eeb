"""What the page shows of samples: a line of each in the list, and one sample with its layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers.analysis.explanations.occlusion import boxes_of, radius_of, visible_share
from parsers.errors import FormatError
from parsers.explanations.snapshot import OUTCOMES, Explanations
from parsers.model import Ints

from layouts.explanations.explanation_choice import ExplanationChoice
from layouts.explanations.layers import has_layers, layer_rows

MOST_LABELS = 60
"""Labels of a sample with counterfactuals that are shown; the CSV has all."""
MOST_LAYERS = 100
"""Layers of a label that are shown."""


@dataclass(frozen=True, slots=True)
class ListedSamples:
    """Samples of the list: rows of the frame `samples` in order. hidden are those without counterfactuals, left out."""

    rows: Ints
    hidden: int


def listed(found: Explanations, rows: Ints, *, empty: bool) -> ListedSamples:
    """Return the samples of a list: with those without counterfactuals if `empty`."""
    kept = rows if empty else rows[has_layers(found)[rows]]
    return ListedSamples(kept, len(rows) - len(kept))


@dataclass(frozen=True, slots=True)
class _Label:
    """A label with counterfactuals. layers are (number, probability, boxes as text)."""

    label: int
    recorded: float | None
    truth: bool
    outcome: str
    mask: str
    layers: list[tuple[int, float | None, str]]


def lines(found: Explanations, rows: Ints, choice: ExplanationChoice) -> list[list[Any]]:
    """Return [id, has a picture, label, outcome, recorded probability, probability of the last layer, layers] of these rows.

    The label is the most probable one with counterfactuals, of the chosen ones if one of these has some; -1 for none. null
    stands for unknown probabilities.
    """
    ids, images = found.samples["sample"].to_numpy(), found.samples["image"].array
    codes = found.codes(choice.threshold)
    made = []
    for row in rows.tolist():
        labels = _labels(found, row, choice, codes)
        head: list[Any] = [int(ids[row]), bool(images[row])]
        if not labels:
            made.append([*head, -1, "", None, None, 0])
            continue
        first = labels[0]
        made.append([*head, first.label, first.outcome, first.recorded, first.layers[-1][1], len(first.layers)])
    return made


def _labels(found: Explanations, row: int, choice: ExplanationChoice, codes: NDArray[np.int8]) -> list[_Label]:
    """Return the labels of a row of `samples` that have counterfactuals: chosen ones first, then the most probable.

    codes are the outcomes of all predictions.
    """
    rows, table = layer_rows(found, row), found.counterfactuals
    label, layer, probability = (table[name].to_numpy()[rows.start : rows.stop] for name in ("label", "layer", "probability"))
    boxes, mask = (table[name].array[rows.start : rows.stop] for name in ("boxes", "mask"))
    layers: dict[int, list[tuple[int, float | None, str]]] = {}
    masks: dict[int, str] = {}
    for at in range(len(rows)):
        layers.setdefault(int(label[at]), []).append((int(layer[at]), _number(probability[at]), str(boxes[at])))
        masks[int(label[at])] = str(mask[at])
    predicted = found.predicted
    first, last = int(predicted.start[row]), int(predicted.start[row + 1])
    place = {one: first + at for at, one in enumerate(predicted.label[first:last].tolist())}
    made = []
    for number, of_label in layers.items():
        known = place.get(number)
        if known is None:
            made.append(_Label(number, None, False, "", masks[number], of_label))
            continue
        outcome = OUTCOMES[codes[known]] if found.has_truth[row] else ""
        recorded, truth = _number(predicted.probability[known]), bool(predicted.truth[known])
        made.append(_Label(number, recorded, truth, outcome, masks[number], of_label))
    chosen = set(choice.labels)
    return sorted(made, key=lambda one: (one.label not in chosen, -(one.recorded or 0.0), one.label))


def one_sample(
    found: Explanations, row: int, choice: ExplanationChoice, look: Callable[[str], tuple[int, int, str]]
) -> dict[str, Any]:
    """Return what the page shows of a row of `samples`.

    labels are {label, recorded, truth, outcome, mask, layers: [[number, probability, boxes, visible share], ...]}; drawable
    says whether the mask is known. look returns width, height and problem of a picture by its path; without a size no share is
    known.
    """
    image = str(found.samples["image"].array[row])
    labels = _labels(found, row, choice, found.codes(choice.threshold))
    width, height, problem = look(image) if image else (0, 0, "")
    return {
        "id": int(found.samples["sample"].to_numpy()[row]), "image": image, "problem": problem,
        "labels": [
            {
                "label": one.label, "recorded": one.recorded, "truth": one.truth, "outcome": one.outcome, "mask": one.mask,
                "drawable": _is_known(one.mask),
                "layers": [
                    [number, probability, boxes, _number(visible_share((width, height), boxes_of(boxes)))]
                    for number, probability, boxes in one.layers[:MOST_LAYERS]
                ],
            }
            for one in labels[:MOST_LABELS]
        ],
    }  # fmt: skip


def _is_known(mask: str) -> bool:
    try:
        radius_of(mask)
    except FormatError:
        return False
    return True


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
