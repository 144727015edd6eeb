"""Rows of samples for CSV files and for the browser."""

from __future__ import annotations

from typing import Any

import numpy as np
from parsers.deferred import pandas as pd
from parsers.explanations.snapshot import OUTCOMES, Bools, Explanations, codes_of
from parsers.model import Floats, Ints

from layouts.explanations.explanation_choice import ExplanationChoice

MOST_LABELS = 60
"""Labels of a sample that are sent to the browser, its true and filtered ones first; the CSV has all."""


def sample_table(found: Explanations, rows: Ints, choice: ExplanationChoice) -> pd.DataFrame:
    """Return the recorded labels of these rows of `samples`, in their order: one row per sample and label.

    A sample without labels has one row with empty cells. outcome is empty if the sample has no true label.
    """
    predicted = found.predicted
    sizes = (predicted.start[1:] - predicted.start[:-1])[rows]
    wide = np.maximum(sizes, 1)
    sample = np.repeat(rows, wide)
    at = np.arange(int(wide.sum())) - np.repeat(np.cumsum(wide) - wide, wide)
    none = np.repeat(sizes == 0, wide)
    row = np.where(none, 0, predicted.start[sample] + at)
    table, names = found.predictions, found.labels.set_index("label")["name"]
    codes = found.codes(choice.threshold)
    outcome = np.where(found.has_truth[predicted.place], codes, len(OUTCOMES) - 1)
    columns: dict[str, Any] = {
        "sample": found.samples["sample"].to_numpy()[sample],
        "image": found.samples["image"].array[sample],
        "true_labels": found.samples["truth"].astype("str").array[sample],
    }
    of_rows = {
        "label": table["label"].astype("object"), "name": names.reindex(table["label"]).astype("object"),
        "probability": table["probability"], "sd": table["sd"], "low": table["low"], "high": table["high"],
        "truth": table["truth"].astype("object"), "outcome": pd.Series(np.array(OUTCOMES, object)[outcome], dtype="object"),
    }  # fmt: skip
    for name, column in of_rows.items():
        values = column.to_numpy()[row] if len(column) else np.full(len(row), None)
        columns[name] = np.where(none, np.nan if values.dtype.kind == "f" else "", values) if none.any() else values
    return pd.DataFrame(columns)


def sample_cards(found: Explanations, rows: Ints, choice: ExplanationChoice) -> list[dict[str, Any]]:
    """Return what the browser shows of these rows of `samples`.

    labels are [number, probability, sd, low, high, is true, outcome], the most probable first; null for what was not recorded.
    Of more than MOST_LABELS the true ones, those that are filtered and the most probable others are sent, and more is how many
    are left out. maps are [explainer as a position in `explainers`, label].
    """
    predicted = found.predicted
    table = found.predictions
    low, high = table["low"].to_numpy(), table["high"].to_numpy()
    ids, images = found.samples["sample"].to_numpy(), found.samples["image"].array
    inferred, truth = found.samples["inferred"].to_numpy(), found.has_truth
    explainer = {name: place for place, name in enumerate(found.explainers)}
    of_maps = np.array([explainer.get(name, -1) for name in found.saliency["explainer"].cat.categories], np.int64)
    map_codes, map_labels = found.saliency["explainer"].cat.codes.to_numpy(), found.saliency["label"].to_numpy()
    cards = []
    for row in rows.tolist():
        first, last = int(predicted.start[row]), int(predicted.start[row + 1])
        kept = predicted.truth[first:last] | np.isin(predicted.label[first:last], choice.filtered)
        order = _most_important(predicted.probability[first:last], kept) + first
        codes = codes_of(predicted.probability[order], predicted.truth[order], choice.threshold).tolist()
        shown = truth[row]
        labels = [
            [
                int(predicted.label[at]), _number(predicted.probability[at]), _number(predicted.sd[at]), _number(low[at]),
                _number(high[at]), bool(predicted.truth[at]), OUTCOMES[code] if shown else "",
            ]
            for at, code in zip(order.tolist(), codes, strict=True)
        ]  # fmt: skip
        a, b = found.map_starts[row : row + 2].tolist()
        maps = np.stack([of_maps[map_codes[a:b]], map_labels[a:b]], axis=1).tolist()
        cards.append({
            "id": int(ids[row]), "image": str(images[row]), "inferred": bool(inferred[row]), "labels": labels,
            "more": max(0, last - first - MOST_LABELS), "maps": maps,
        })  # fmt: skip
    return cards


def _most_important(probability: Floats, kept: Bools) -> Ints:
    """Return the places of up to MOST_LABELS labels, the most probable first. Kept ones are among them, whatever they have."""
    order: Ints = np.argsort(-probability, kind="stable")
    if len(order) <= MOST_LABELS:
        return order
    important = np.argsort(~kept[order], kind="stable")[:MOST_LABELS]
    return order[np.sort(important)]


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
