"""Which samples of a run are counted, and the recorded labels of these.

A sample is counted if it has a true label and predictions were recorded. Its labels that were not recorded are neither true
nor, by the producer's rule, above 0.5: they count as not predicted, which is exact for thresholds from 0.5 on. Below, a label
that was not recorded may reach the threshold, unless all labels of the sample were recorded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.explanations.snapshot import RECORDED_FROM
from parsers.model import Floats, Ints

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Counted:
    """The counted samples of a run with their recorded labels; every array of entries is ordered by sample and label.

    sample: ids, ascending. label and name: all labels, by number. row and column: the sample and the label of each entry, as
    positions in these. probability: NaN if it is unknown. truth: whether the label is true. whole: of each sample, whether
    every label that the file names was recorded. without_truth and without_predictions: samples that are left out for that
    reason.
    """

    sample: Ints
    label: Ints
    name: tuple[str, ...]
    row: Ints
    column: Ints
    probability: Floats
    truth: Bools
    whole: Bools
    without_truth: int
    without_predictions: int

    @property
    def single(self) -> bool:
        """Whether each sample has exactly one true label; False without samples."""
        return bool(len(self.sample)) and int(self.truth.sum()) == len(self.sample)

    @property
    def complete(self) -> bool:
        """Whether all labels of all samples were recorded, so that counts are exact at every threshold."""
        return bool(self.whole.all())

    def exact(self, threshold: float) -> bool:
        """Return whether counts at a threshold are exact; otherwise FP is a lower and TN an upper bound."""
        return threshold >= RECORDED_FROM or self.complete

    def reached(self, threshold: float) -> Bools:
        """Return which entries reach a threshold: those are predicted. Unknown probabilities never do."""
        reached: Bools = self.probability >= threshold
        return reached


def counted(samples: pd.DataFrame, predictions: pd.DataFrame, labels: pd.DataFrame, chosen: Ints | None = None) -> Counted:
    """Return the counted samples of a run, of the ids `chosen` only if these are given.

    The frames have the schemas EXPLANATION_SAMPLES, EXPLANATION_PREDICTIONS and EXPLANATION_LABELS.
    """
    sample, label, truth = (predictions[name].to_numpy() for name in ("sample", "label", "truth"))
    probability = predictions["probability"].to_numpy()
    ids, inferred = samples["sample"].to_numpy(), samples["inferred"].to_numpy()
    if chosen is not None:
        among = np.isin(ids, chosen)
        ids, inferred = ids[among], inferred[among]
    true = np.isin(ids, sample[truth])
    kept = ids[true & inferred]
    row = np.searchsorted(kept, sample)
    stays = row < len(kept)
    stays[stays] = kept[row[stays]] == sample[stays]
    row, numbers = row[stays], labels["label"].to_numpy()
    column = np.searchsorted(numbers, label[stays])
    named = labels["named"].to_numpy()
    known = ~np.isnan(probability[stays]) & named[column] if len(numbers) else np.zeros(0, np.bool_)
    there = np.bincount(row[known], minlength=len(kept))
    return Counted(
        kept, numbers, tuple(labels["name"].tolist()), row, column, probability[stays], truth[stays],
        (there >= named.sum()) & bool(named.any()), int((~true).sum()), int((true & ~inferred).sum()),
    )  # fmt: skip
