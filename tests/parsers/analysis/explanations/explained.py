"""Makes the frames of explanations from plain arrays, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from parsers.analysis.explanations.counted import Counted, counted
from parsers.explanation_frames import EXPLANATION_LABELS, EXPLANATION_PREDICTIONS, EXPLANATION_SAMPLES

Frames = tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]
Rows = Mapping[int, tuple[Sequence[int], Mapping[int, float]]]
"""Sample -> (true labels, probability of each recorded label)."""


def frames(rows: Rows, labels: int, names: Sequence[str] = (), without_predictions: Sequence[int] = ()) -> Frames:
    """Samples, predictions and labels as RunExplanations gives them."""
    ids = sorted(rows)
    samples = pd.DataFrame({
        "sample": np.array(ids, np.int64), "image": pd.array([""] * len(ids), dtype="str"),
        "truth": pd.Categorical([" ".join(map(str, sorted(rows[one][0]))) for one in ids]).astype("category"),
        "inferred": np.array([one not in without_predictions for one in ids], bool), "file": np.zeros(len(ids), np.int32),
    })  # fmt: skip
    entries = [
        (one, label, rows[one][1].get(label, np.nan), label in rows[one][0])
        for one in ids
        for label in sorted({*rows[one][0], *rows[one][1]})
    ]
    sample, label, probability, truth = zip(*entries, strict=True) if entries else ((), (), (), ())
    unknown = np.full(len(entries), np.nan)
    predictions = pd.DataFrame({
        "sample": np.array(sample, np.int64), "label": np.array(label, np.int64),
        "probability": np.array(probability, np.float64), "sd": unknown, "low": unknown, "high": unknown,
        "truth": np.array(truth, bool),
    })  # fmt: skip
    every = sorted({*range(labels), *map(int, label)})
    called = [*names, *(f"label {one}" for one in every[len(names) :])]
    table = pd.DataFrame({
        "label": np.array(every, np.int64), "name": pd.array(called, dtype="str"),
        "named": np.array([0 <= one < labels for one in every], bool), "predicted": np.zeros(len(every), np.int64),
        "true": np.zeros(len(every), np.int64),
    })  # fmt: skip
    return EXPLANATION_SAMPLES.check(samples), EXPLANATION_PREDICTIONS.check(predictions), EXPLANATION_LABELS.check(table)


def made(rows: Rows, labels: int, names: Sequence[str] = ()) -> Counted:
    """The counted samples of these rows."""
    return counted(*frames(rows, labels, names))


def as_producer(truth: NDArray[np.bool_], probability: NDArray[np.float64]) -> Rows:
    """What MindSpore's explainer records of arrays (samples, labels): true labels, and those above 0.5."""
    recorded = truth | (probability > 0.5)
    return {
        row: (
            np.flatnonzero(truth[row]).tolist(),
            {label: float(probability[row, label]) for label in np.flatnonzero(recorded[row]).tolist()},
        )
        for row in range(len(truth))
    }


def everything(truth: NDArray[np.bool_], probability: NDArray[np.float64]) -> Rows:
    """All labels of arrays (samples, labels), as a writer may record them."""
    return {row: (np.flatnonzero(truth[row]).tolist(), dict(enumerate(probability[row].tolist()))) for row in range(len(truth))}
