"""How far probabilities can be trusted: reliability by bins of probability, and the expected calibration error.

Two questions. `top_label`: of each sample the strongest label, is it true? (Guo et al., On Calibration of Modern Neural
Networks, 2017.) `each_label`: of each recorded label of each sample, is it true?

The producer records labels that are not true only above 0.5. Where labels are missing, what is recorded up to 0.5 is therefore
true for the most part, whatever the network does: only probabilities above 0.5 are counted then, and the others are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsers.analysis.explanations.confusion import NONE, strongest
from parsers.analysis.explanations.counted import Bools, Counted
from parsers.deferred import pandas as pd
from parsers.explanations.snapshot import RECORDED_FROM
from parsers.model import Floats, Ints
from parsers.schema import Column, Schema

_Z = 1.959963984540054
"""97.5 % quantile of the normal distribution."""

CALIBRATION_BINS = Schema(
    "calibration_bins",
    "Bins of equal width from 0 to 1; a bin has its upper end, the first one its lower end as well.",
    (
        Column("low", "float64", "", "lower end of the bin"),
        Column("high", "float64", "", "upper end of the bin"),
        Column("count", "int64", "", "probabilities in the bin"),
        Column("confidence", "float64", "", "their mean; NaN for an empty bin"),
        Column("accuracy", "float64", "", "part of them whose label is true, 0 to 1; NaN for an empty bin"),
        Column("accuracy_low", "float64", "", "lower end of the 95 % interval of accuracy, by Wilson's formula"),
        Column("accuracy_high", "float64", "", "upper end of the 95 % interval of accuracy, by Wilson's formula"),
    ),
)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Reliability by bins (schema CALIBRATION_BINS).

    error: expected calibration error, the mean of |accuracy - confidence| over bins, weighted by their counts. greatest: the
    largest of these differences. Both are NaN if nothing is counted. left_out: probabilities (`each_label`) or samples
    (`top_label`) that are not counted. everything: whether probabilities up to 0.5 are counted, too.
    """

    bins: pd.DataFrame
    error: float
    greatest: float
    counted: int
    left_out: int
    everything: bool


def top_label(found: Counted, bins: int = 10) -> Calibration:
    """Return the calibration of the strongest label of each sample."""
    position, probability = strongest(found)
    width = max(len(found.label), 1)
    true = np.isin(np.arange(len(found.sample)) * width + position, found.row[found.truth] * width + found.column[found.truth])
    return _calibration(probability, true & (position != NONE), bins, everything=found.complete)


def each_label(found: Counted, bins: int = 10) -> Calibration:
    """Return the calibration of all recorded labels of all samples."""
    return _calibration(found.probability, found.truth, bins, everything=found.complete)


def _calibration(probability: Floats, true: Bools, bins: int, *, everything: bool) -> Calibration:
    kept = ~np.isnan(probability) if everything else probability > RECORDED_FROM
    probability, true = probability[kept], true[kept]
    edges = np.linspace(0.0, 1.0, bins + 1)
    place = np.searchsorted(edges[1:-1], probability)
    count = np.bincount(place, minlength=bins).astype(np.int64)
    some = count > 0
    confidence, accuracy = (
        np.divide(np.bincount(place, weights=values, minlength=bins), count, out=np.full(bins, np.nan), where=some)
        for values in (probability, true.astype(np.float64))
    )
    low, high = wilson(accuracy, count)
    columns = {
        "low": edges[:-1], "high": edges[1:], "count": count, "confidence": confidence,
        "accuracy": accuracy, "accuracy_low": low, "accuracy_high": high,
    }  # fmt: skip
    difference = np.abs(accuracy - confidence)[some]
    total = int(count.sum())
    error = float((difference * count[some]).sum() / total) if total else float("nan")
    greatest = float(difference.max()) if total else float("nan")
    frame = CALIBRATION_BINS.check(pd.DataFrame(columns, copy=False))
    return Calibration(frame, error, greatest, total, int((~kept).sum()), everything)


def wilson(share: Floats, count: Ints) -> tuple[Floats, Floats]:
    """Return the ends of the 95 % intervals of shares by their counts (Wilson 1927); NaN where a count is 0."""
    size = np.where(count > 0, count, np.nan)
    middle = (share + _Z**2 / (2 * size)) / (1 + _Z**2 / size)
    half = _Z / (1 + _Z**2 / size) * np.sqrt(share * (1 - share) / size + _Z**2 / (4 * size**2))
    return np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)
