"""Amounts from histograms and tensors that a run recorded of its parameters."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from parsers.analysis.graphs.painting.amounts import Amounts
from parsers.payloads.values import HistogramValue, TensorValue

HISTOGRAM_METRICS = ("nan", "inf")
TENSOR_METRICS = ("nan", "inf", "norm")
Recorded = Iterable[tuple[str, int, HistogramValue | TensorValue]]
"""(tag, step, value)."""


def amounts_of(metric: str, values: Recorded) -> Amounts:
    """Return the amounts of recorded values by tag and step; a histogram has no norm, and one with a problem nothing.

    Of several values of a tag and step, which a restart writes, the one written last counts.
    """
    latest = {(tag, step): value for tag, step, value in values}
    numbers: dict[str, int] = {}
    name = np.array([numbers.setdefault(tag, len(numbers)) for tag, _ in latest], np.int64)
    found = [
        _of_histogram(metric, value) if isinstance(value, HistogramValue) else _of_tensor(metric, value)
        for value in latest.values()
    ]
    steps = np.array([step for _, step in latest], np.int64)
    return Amounts.of(list(numbers), name, steps, np.array(found, np.float64))


def _of_histogram(metric: str, value: HistogramValue) -> float:
    if value.problem or metric not in HISTOGRAM_METRICS:
        return math.nan
    return float(value.nan if metric == "nan" else value.pos_inf + value.neg_inf)


def _of_tensor(metric: str, value: TensorValue) -> float:
    data = value.data
    if value.problem or data.dtype.kind not in "fiub":
        return math.nan
    finite = np.isfinite(data)
    if metric == "norm":
        return float(np.linalg.norm(data[finite].astype(np.float64)))
    return float(np.isnan(data).sum() if metric == "nan" else np.isinf(data).sum())
