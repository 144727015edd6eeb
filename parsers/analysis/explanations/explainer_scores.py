"""Which explainer deserves trust: scores by explainer and metric, and their weighted sum as MindInsight computes it.

Weights are whole hundredths that sum to 100: by default floor(100 / n) each, and the last metric takes the rest. The total of
an explainer is floor(100 * sum of weight * score) / 100, with scores rounded to six decimals first, as MindInsight shows them,
and 0 for a score that is not finite or was not recorded. The sum is exact here; with binary fractions a total is 0.01 less now
and then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parsers.deferred import pandas as pd
from parsers.model import Floats
from parsers.schema import Column, Schema

WHOLE = 100
"""Hundredths that the weights of all metrics sum to."""
_MILLION = 10**6
_TOTAL = -1

EXPLAINER_TOTALS = Schema(
    "explainer_totals",
    "Weighted sums of scores by explainer.",
    (
        Column("explainer", "str", "", "explainer"),
        Column("total", "float64", "", "weighted sum, floored to hundredths; NaN if the weights do not sum to 1"),
        Column("counted_as_0", "int64", "", "metrics with a weight whose score is NaN or missing"),
    ),
)


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Scores of explainers (rows) by metric (columns), of all labels together.

    values: NaN for a score that is NaN or was not recorded; recorded: whether there is a record of it.
    """

    explainers: tuple[str, ...]
    metrics: tuple[str, ...]
    values: Floats
    recorded: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


def default_weights(metrics: int) -> tuple[int, ...]:
    """Return the default weights of a number of metrics, in hundredths."""
    if metrics < 1:
        return ()
    each = WHOLE // metrics
    return (*[each] * (metrics - 1), WHOLE - each * (metrics - 1))


def score_table(scores: pd.DataFrame, explainers: Sequence[str], metrics: Sequence[str]) -> ScoreTable:
    """Return the scores of all labels together, from a frame with the schema EXPLANATION_SCORES."""
    whole = scores[scores["label"] == _TOTAL]
    values, recorded = np.full((len(explainers), len(metrics)), np.nan), np.zeros((len(explainers), len(metrics)), np.bool_)
    row, column = _places(whole["explainer"], explainers), _places(whole["metric"], metrics)
    there = (row >= 0) & (column >= 0)
    values[row[there], column[there]] = whole["score"].to_numpy()[there]
    recorded[row[there], column[there]] = True
    values[~np.isfinite(values)] = np.nan
    return ScoreTable(tuple(explainers), tuple(metrics), values, recorded)


def totals(table: ScoreTable, weights: Sequence[int]) -> pd.DataFrame:
    """Return the weighted sum of each explainer (schema EXPLAINER_TOTALS); weights are hundredths, one for each metric."""
    if len(weights) != len(table.metrics):
        raise ValueError(f"weights: expected {len(table.metrics)}, one for each metric; found {len(weights)}")
    fits = sum(weights) == WHOLE
    found = [_total(row, weights) if fits else math.nan for row in table.values.tolist()]
    used = np.array(weights, np.int64) > 0
    columns = {
        "explainer": pd.array(list(table.explainers), dtype="str"), "total": np.array(found, np.float64),
        "counted_as_0": (np.isnan(table.values) & used).sum(axis=1).astype(np.int64),
    }  # fmt: skip
    return EXPLAINER_TOTALS.check(pd.DataFrame(columns, copy=False))


def label_scores(scores: pd.DataFrame, explainers: Sequence[str], metrics: Sequence[str], labels: Sequence[int]) -> Floats:
    """Return scores with shape (explainers, metrics, labels); NaN for one that is NaN or was not recorded."""
    own = scores[scores["label"] != _TOTAL]
    values = np.full((len(explainers), len(metrics), len(labels)), np.nan)
    wanted, label = np.asarray(labels, np.int64), own["label"].to_numpy()
    order = np.argsort(wanted, kind="stable")
    place = np.searchsorted(wanted[order], label)
    place = np.where(place < len(order), place, 0)
    row, column = _places(own["explainer"], explainers), _places(own["metric"], metrics)
    there = (row >= 0) & (column >= 0)
    if len(order):
        place = order[place]
        there &= wanted[place] == label
        values[row[there], column[there], place[there]] = own["score"].to_numpy()[there]
    values[~np.isfinite(values)] = np.nan
    return values


def _total(scores: Sequence[float], weights: Sequence[int]) -> float:
    """Return the floored sum of one explainer; the sum is exact in hundredths of millionths."""
    exact = sum(weight * round(score * _MILLION) for score, weight in zip(scores, weights, strict=True) if score == score)
    return (exact // _MILLION) / WHOLE


def _places(names: pd.Series, known: Sequence[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Return where the name of each row, a category, is among the known names; -1 if it is not."""
    at = {name: place for place, name in enumerate(known)}
    table = np.array([*(at.get(name, -1) for name in names.cat.categories), -1], np.int64)
    found: np.ndarray[tuple[int, ...], np.dtype[np.int64]] = table[names.cat.codes.to_numpy()]
    return found
