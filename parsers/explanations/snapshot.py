"""The explanations of a run as they were at one moment: all frames, and predictions as arrays for fast filters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.explanation_frames import EXPLANATION_OUTCOMES
from parsers.explanations.pictures import PictureFiles
from parsers.model import Floats, Ints, Problem

RECORDED_FROM = 0.5
"""The producer records a predicted label if its probability is above this."""
TP, FN, FP, TN, UNKNOWN = range(5)
OUTCOMES = ("TP", "FN", "FP", "TN", "")
"""Outcomes by code; the last one is that of a probability that is not known."""
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Predicted:
    """The frame `predictions` as arrays.

    place is the row of the sample in `samples`; the sample of row i there has the rows start[i]:start[i + 1] here.
    """

    place: Ints
    start: Ints
    label: Ints
    probability: Floats
    sd: Floats
    truth: Bools


@dataclass(frozen=True, eq=False)
class Explanations:
    """All frames of `RunExplanations`; they are shared, so never write into them. Other threads may use it."""

    samples: pd.DataFrame
    predictions: pd.DataFrame
    saliency: pd.DataFrame
    counterfactuals: pd.DataFrame
    scores: pd.DataFrame
    labels: pd.DataFrame
    explainers: tuple[str, ...]
    metrics: tuple[str, ...]
    problems: tuple[Problem, ...]
    complete: bool
    pictures: PictureFiles

    def outcomes(self, threshold: float = RECORDED_FROM) -> pd.DataFrame:
        """See `parsers.explanations.access.RunExplanations.outcomes`."""
        return outcomes_of(self.predictions, threshold)

    @cached_property
    def predicted(self) -> Predicted:
        """Predictions as arrays."""
        table = self.predictions
        place = np.searchsorted(self.samples["sample"].to_numpy(), table["sample"].to_numpy())
        start = np.searchsorted(place, np.arange(len(self.samples) + 1))
        columns = (table[name].to_numpy() for name in ("label", "probability", "sd", "truth"))
        return Predicted(place, start, *columns)

    @cached_property
    def has_truth(self) -> Bools:
        """Which samples have a true label; only these have outcomes."""
        return self.counted(self.predicted.truth) > 0

    @cached_property
    def searched(self) -> pd.Series:
        """Id and path of every sample in lower case: what a search looks in."""
        ids = self.samples["sample"].astype("str")
        texts: pd.Series = ids.str.cat(self.samples["image"], sep="\n").str.lower()
        return texts

    @cached_property
    def map_starts(self) -> Ints:
        """Sample i has rows map_starts[i]:map_starts[i + 1] of `saliency`."""
        found: Ints = np.searchsorted(
            self.saliency["sample"].to_numpy(), np.append(self.samples["sample"].to_numpy(), np.iinfo(np.int64).max)
        )
        return found

    @cached_property
    def layer_starts(self) -> Ints:
        """Sample i has rows layer_starts[i]:layer_starts[i + 1] of `counterfactuals`."""
        found: Ints = np.searchsorted(
            self.counterfactuals["sample"].to_numpy(), np.append(self.samples["sample"].to_numpy(), np.iinfo(np.int64).max)
        )
        return found

    def prepare(self) -> None:
        """Compute what filters need now, where nobody waits, instead of with the first filter."""
        _ = self.predicted, self.has_truth, self.searched, self.map_starts

    def counted(self, rows: Bools) -> Ints:
        """Return for each sample how many of its predictions are marked in rows."""
        sums = np.concatenate([[0], np.cumsum(rows, dtype=np.int64)])
        start = self.predicted.start
        found: Ints = sums[start[1:]] - sums[start[:-1]]
        return found

    def codes(self, threshold: float) -> NDArray[np.int8]:
        """Return the outcome of every row of `predictions` as an index of OUTCOMES, whether or not its sample has a truth."""
        return codes_of(self.predicted.probability, self.predicted.truth, threshold)

    def place_of(self, sample: int) -> int | None:
        """Return the row of a sample in `samples`; None if there is none."""
        ids = self.samples["sample"].to_numpy()
        place = int(np.searchsorted(ids, sample))
        return place if place < len(ids) and ids[place] == sample else None


def codes_of(probability: Floats, truth: Bools, threshold: float) -> NDArray[np.int8]:
    """Return outcomes as indices of OUTCOMES. A label is predicted if its probability reaches the threshold."""
    reached = probability >= threshold
    codes = np.where(truth, np.where(reached, np.int8(TP), np.int8(FN)), np.where(reached, np.int8(FP), np.int8(TN)))
    codes[np.isnan(probability)] = UNKNOWN
    return codes


def outcomes_of(predictions: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """Return the outcomes of the recorded labels of samples with a true label (schema EXPLANATION_OUTCOMES)."""
    sample, truth = predictions["sample"].to_numpy(), predictions["truth"].to_numpy()
    known = np.isin(sample, sample[truth])
    probability = predictions["probability"].to_numpy()
    codes = codes_of(probability, truth, threshold)[known]
    columns = {
        "sample": sample[known], "label": predictions["label"].to_numpy()[known],
        "outcome": pd.Categorical.from_codes(codes, categories=pd.Index(OUTCOMES, dtype="str")),
        "probability": probability[known],
    }  # fmt: skip
    return EXPLANATION_OUTCOMES.check(pd.DataFrame(columns, copy=False))
