"""Where a network is wrong: predicted against true labels at a threshold.

A label is predicted if its probability reaches the threshold. If each sample has one true label, `matrix` is the confusion
matrix: the strongest predicted label of a sample, or none. With several true labels there is no such matrix: `co_occurrence`
counts, for each pair of labels, the samples of which the first is true and the second is predicted. `by_label` is one-vs-rest:
each label by itself, as a question with yes or no.

Definitions: precision = TP / (TP + FP), recall = TP / (TP + FN), F1 = 2 TP / (2 TP + FP + FN), as in scikit-learn; NaN where
the denominator is 0.
"""

from __future__ import annotations

import numpy as np

from parsers.analysis.explanations.counted import Counted
from parsers.deferred import pandas as pd
from parsers.explanations.snapshot import RECORDED_FROM
from parsers.model import Floats, Ints
from parsers.schema import Column, Schema

NONE = -1
"""Stands for no predicted label, as a position."""

CONFUSION_LABELS = Schema(
    "confusion_labels",
    "One-vs-rest: samples by label, at a threshold.",
    (
        Column("label", "int64", "", "number of the label"),
        Column("name", "str", "", "name of the label"),
        Column("support", "int64", "", "samples of which it is true: TP + FN"),
        Column("predicted", "int64", "", "samples of which it is predicted: TP + FP"),
        Column("tp", "int64", "", "true and predicted"),
        Column("fp", "int64", "", "predicted, but not true"),
        Column("fn", "int64", "", "true, but not predicted"),
        Column("tn", "int64", "", "neither"),
        Column("unknown", "int64", "", "samples whose probability of it is unknown; they are in no other column"),
        Column("precision", "float64", "", "TP / (TP + FP); NaN if it is never predicted"),
        Column("recall", "float64", "", "TP / (TP + FN); NaN if it is never true"),
        Column("f1", "float64", "", "2 TP / (2 TP + FP + FN); NaN if it is neither true nor predicted"),
    ),
)

CONFUSION_AVERAGES = Schema(
    "confusion_averages",
    "Averages of precision, recall and F1 over labels.",
    (
        Column("average", "str", "", "micro: of the sums of TP, FP and FN; macro: mean over labels that have a value"),
        Column("precision", "float64", "", "average of precision; NaN if it has none"),
        Column("recall", "float64", "", "average of recall; NaN if it has none"),
        Column("f1", "float64", "", "average of F1; NaN if it has none"),
        Column("labels", "int64", "", "labels that are true or predicted"),
    ),
)

CONFUSION_CELLS = Schema(
    "confusion_cells",
    "Cells of a table of true by predicted labels; those without samples are left out.",
    (
        Column("truth", "int64", "", "number of the true label"),
        Column("predicted", "int64", "", "number of the predicted label; -1 if none is"),
        Column("none", "bool", "", "whether no label is predicted"),
        Column("count", "int64", "", "samples"),
        Column("share", "float64", "", "part of the samples with this true label, 0 to 1"),
    ),
)


def by_label(found: Counted, threshold: float) -> pd.DataFrame:
    """Return counts, precision, recall and F1 of each label against the rest (schema CONFUSION_LABELS)."""
    size = len(found.label)
    reached, unknown = found.reached(threshold), np.isnan(found.probability)
    outcomes = (found.truth & reached, ~found.truth & reached, found.truth & ~reached & ~unknown, unknown)
    tp, fp, fn, lost = (np.bincount(found.column[one], minlength=size).astype(np.int64) for one in outcomes)
    columns = {
        "label": found.label.astype(np.int64), "name": pd.array(list(found.name), dtype="str"), "support": tp + fn,
        "predicted": tp + fp, "tp": tp, "fp": fp, "fn": fn, "tn": len(found.sample) - tp - fp - fn - lost, "unknown": lost,
        "precision": _ratio(tp, tp + fp), "recall": _ratio(tp, tp + fn), "f1": _ratio(2 * tp, 2 * tp + fp + fn),
    }  # fmt: skip
    return CONFUSION_LABELS.check(pd.DataFrame(columns, copy=False))


def averages(labels: pd.DataFrame) -> pd.DataFrame:
    """Return micro and macro averages of a frame of `by_label` (schema CONFUSION_AVERAGES).

    The macro average is the mean over the labels that have a value, as in scikit-learn with zero_division=nan.
    """
    tp, fp, fn = (labels[name].to_numpy().sum(keepdims=True) for name in ("tp", "fp", "fn"))
    used = int((labels[["tp", "fp", "fn"]].to_numpy().sum(axis=1) > 0).sum())
    micro = (_ratio(tp, tp + fp)[0], _ratio(tp, tp + fn)[0], _ratio(2 * tp, 2 * tp + fp + fn)[0])
    macro = tuple(_mean(labels[name].to_numpy()) for name in ("precision", "recall", "f1"))
    precision, recall, f1 = (np.array(pair, np.float64) for pair in zip(micro, macro, strict=True))
    columns = {
        "average": pd.array(["micro", "macro"], dtype="str"), "precision": precision, "recall": recall, "f1": f1,
        "labels": np.array([used, used], np.int64),
    }  # fmt: skip
    return CONFUSION_AVERAGES.check(pd.DataFrame(columns, copy=False))


def strongest(found: Counted) -> tuple[Ints, Floats]:
    """Return of each sample the position of its strongest recorded label and the probability of that.

    Of equal probabilities the lowest number counts; NONE and NaN if no probability is known.
    """
    position = np.full(len(found.sample), NONE, np.int64)
    probability = np.full(len(found.sample), np.nan)
    known = ~np.isnan(found.probability)
    row, column, values = found.row[known], found.column[known], found.probability[known]
    begin = np.flatnonzero(np.diff(row, prepend=-1))
    if len(begin):
        most = np.maximum.reduceat(values, begin)
        probability[row[begin]] = most
        # Entries are ordered by label: written from the last to the first, the lowest number stays.
        at = np.flatnonzero(values == np.repeat(most, np.diff(begin, append=len(row))))[::-1]
        position[row[at]] = column[at]
    return position, probability


def predicted(found: Counted, threshold: float) -> Ints:
    """Return of each sample the position of its strongest label that reaches the threshold, or NONE."""
    position, probability = strongest(found)
    return np.where(probability >= threshold, position, NONE)


def undecided(found: Counted, threshold: float) -> int:
    """Return of how many samples the predicted label is not certain, because a stronger one may not have been recorded."""
    probability = strongest(found)[1]
    below = ~(probability >= RECORDED_FROM)
    return int((below & ~found.whole).sum()) if threshold < RECORDED_FROM else 0


def exact_matches(found: Counted, threshold: float) -> int:
    """Return how many samples have exactly their true labels predicted; a label of unknown probability is not."""
    wrong = found.truth != found.reached(threshold)
    return int((np.bincount(found.row[wrong | np.isnan(found.probability)], minlength=len(found.sample)) == 0).sum())


def matrix(found: Counted, threshold: float) -> pd.DataFrame:
    """Return the confusion matrix (schema CONFUSION_CELLS). ValueError if a sample has not exactly one true label."""
    if len(found.sample) and not found.single:
        raise ValueError("matrix: expected one true label for each sample; found several")
    return _cells(found, found.column[found.truth], predicted(found, threshold))


def co_occurrence(found: Counted, threshold: float) -> pd.DataFrame:
    """Return for pairs of labels the samples of which one is true and one is predicted (schema CONFUSION_CELLS).

    A sample with two true and three predicted labels is in six cells; one without predicted labels is under `none`.
    """
    truth, reached = found.truth, found.reached(threshold)
    size = len(found.sample)
    count = np.bincount(found.row[reached], minlength=size)
    begin = np.cumsum(count) - count
    labels = found.column[reached]
    of, column = found.row[truth], found.column[truth]
    times = np.maximum(count[of], 1)
    place = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times) + np.repeat(begin[of], times)
    other = np.full(len(place), NONE, np.int64)
    some = np.repeat(count[of] > 0, times)
    other[some] = labels[place[some]]
    return _cells(found, np.repeat(column, times), other)


def members(found: Counted, threshold: float, truth: int, other: int | None) -> Ints:
    """Return the ids of the samples of one cell: true label and predicted label by number, None for no predicted label.

    The cell is one of the matrix if each sample has one true label, else of the co-occurrence table.
    """
    size = len(found.sample)
    true = np.zeros(size, np.bool_)
    true[found.row[found.truth & (found.label[found.column] == truth)]] = True
    if found.single:
        position = predicted(found, threshold)
        hit = position == NONE if other is None else (position != NONE) & (_numbers(found, position) == other)
    else:
        reached = found.reached(threshold)
        if other is not None:
            reached = reached & (found.label[found.column] == other)
        hit = np.bincount(found.row[reached], minlength=size) > 0
        hit = ~hit if other is None else hit
    ids: Ints = found.sample[true & hit]
    return ids


def errors(found: Counted, cells: pd.DataFrame, threshold: float) -> Ints:
    """Return FN + FP of each label of `found`: how often it is true and not predicted, or predicted and not true.

    In a confusion matrix, cells, these are the sums of its row and column without the diagonal; samples without a predicted
    label are misses of their true one. With several true labels the cells off the diagonal hold what is right as well, so
    there each label is counted against the rest.
    """
    if not found.single:
        table = by_label(found, threshold)
        against: Ints = (table["fn"] + table["fp"]).to_numpy(np.int64)
        return against
    truth, other, none, count = (cells[name].to_numpy() for name in ("truth", "predicted", "none", "count"))
    size = len(found.label)
    missed, false = none | (truth != other), ~none & (truth != other)
    sums = [
        np.bincount(np.searchsorted(found.label, labels), weights=count[of], minlength=size)
        for labels, of in ((truth[missed], missed), (other[false], false))
    ]
    wrong: Ints = (sums[0] + sums[1]).astype(np.int64)
    return wrong


def confused(found: Counted, cells: pd.DataFrame, threshold: float, *, most: int, among: Ints | None = None) -> Ints:
    """Return the numbers of the labels for a table of limited size, ascending: those with most `errors` first.

    Labels without errors follow, those with most samples first. Of equal ones the lowest number comes first. among are the
    only labels to choose from, if any are given.
    """
    wrong = errors(found, cells, threshold)
    support = np.bincount(found.column[found.truth], minlength=len(found.label))
    usual = np.unique(np.concatenate([cells["truth"], cells.loc[~cells["none"], "predicted"]])) if len(cells) else np.zeros(0)
    labels = np.unique(usual if among is None else among).astype(np.int64)
    of_label = {int(label): at for at, label in enumerate(found.label.tolist())}
    at = np.array([of_label.get(label, -1) for label in labels.tolist()], np.int64)
    known = at >= 0
    counts = [np.where(known, values[at], 0) if len(values) else np.zeros(len(at), np.int64) for values in (wrong, support)]
    first = np.lexsort((labels, -counts[1], -counts[0]))[:most]
    return np.sort(labels[first])


def grid(cells: pd.DataFrame, labels: Ints) -> Ints:
    """Return counts as an array: a row for each true label, a column for each predicted one, and a last one for none."""
    truth, other, none, count = (cells[name].to_numpy() for name in ("truth", "predicted", "none", "count"))
    shown = np.isin(truth, labels) & (none | np.isin(other, labels))
    made = np.zeros((len(labels), len(labels) + 1), np.int64)
    column = np.where(none[shown], len(labels), np.searchsorted(labels, other[shown]))
    made[np.searchsorted(labels, truth[shown]), column] = count[shown]
    return made


def _cells(found: Counted, truth: Ints, other: Ints) -> pd.DataFrame:
    """Count pairs of positions."""
    width = len(found.label) + 1
    pair, count = np.unique(truth * width + other + 1, return_counts=True)
    row, column = pair // width, pair % width - 1
    support = np.bincount(found.column[found.truth], minlength=len(found.label))
    columns = {
        "truth": found.label[row].astype(np.int64), "predicted": _numbers(found, column), "none": column == NONE,
        "count": count.astype(np.int64), "share": _ratio(count, support[row]),
    }  # fmt: skip
    return CONFUSION_CELLS.check(pd.DataFrame(columns, copy=False))


def _numbers(found: Counted, position: Ints) -> Ints:
    """Return the numbers of labels at positions; NONE stays as it is."""
    numbers: Ints = np.append(found.label, NONE).astype(np.int64)[position]
    return numbers


def _ratio(part: Ints, whole: Ints) -> Floats:
    ratio: Floats = np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
    return ratio


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")
