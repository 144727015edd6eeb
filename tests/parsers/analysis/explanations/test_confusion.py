"""Confusion, precision, recall and F1 against scikit-learn, on random labels and on real files."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from parsers import open_run
from parsers.analysis.explanations.confusion import (
    CONFUSION_AVERAGES,
    CONFUSION_CELLS,
    CONFUSION_LABELS,
    averages,
    by_label,
    co_occurrence,
    confused,
    errors,
    exact_matches,
    grid,
    matrix,
    members,
    predicted,
    strongest,
    undecided,
)
from parsers.analysis.explanations.counted import counted
from tests.amounts import long_after
from tests.parsers.analysis.explanations.explained import as_producer, everything, frames, made


def drawn(seed: int, samples: int, labels: int, *, single: bool) -> tuple[np.ndarray, np.ndarray]:
    """Random truth and probabilities (samples, labels), each sample with at least one true label."""
    rng = np.random.default_rng(seed)
    truth = rng.random((samples, labels)) < 0.3
    first = rng.integers(0, labels, samples)
    if single:
        truth[:] = False
    truth[np.arange(samples), first] = True
    probability = rng.random((samples, labels)).round(2)
    return truth, np.clip(probability + truth * rng.random((samples, labels)) * 0.5, 0.0, 1.0)


SIZES = st.tuples(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 6))


@given(SIZES, st.booleans(), st.sampled_from([0.5, 0.51, 0.7, 0.93, 1.0]))
def test_labels_are_what_scikit_learn_counts(size: tuple[int, int, int], single: bool, threshold: float) -> None:
    truth, probability = drawn(*size, single=single)
    probability[probability == 0.5] = 0.49  # the producer does not record 0.5 itself
    found = made(as_producer(truth, probability), size[2])
    table = CONFUSION_LABELS.check(by_label(found, threshold))
    reached = probability >= threshold
    counts = metrics.multilabel_confusion_matrix(truth.astype(int), reached.astype(int), labels=range(size[2]))
    if size[2] == 1:  # scikit-learn takes one column for classes 0 and 1
        counts = metrics.confusion_matrix(truth[:, 0], reached[:, 0], labels=[False, True])[None]
    for place, name in (((0, 0), "tn"), ((0, 1), "fp"), ((1, 0), "fn"), ((1, 1), "tp")):
        assert table[name].tolist() == counts[(slice(None), *place)].tolist()
    assert found.exact(threshold)
    assert exact_matches(found, threshold) == metrics.accuracy_score(truth, reached, normalize=False)
    if size[2] == 1:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        each = metrics.precision_recall_fscore_support(truth, reached, average=None, zero_division=np.nan)
        wanted = {
            one: metrics.precision_recall_fscore_support(truth, reached, average=one, zero_division=np.nan)[:3]
            for one in ("micro", "macro")
        }
    for values, name in zip(each, ("precision", "recall", "f1", "support"), strict=True):
        expected = np.where(np.isnan(table[name]), np.nan, values) if name == "f1" else values
        np.testing.assert_allclose(table[name], expected)
    some = CONFUSION_AVERAGES.check(averages(table)).set_index("average")
    for one, (precision, recall, _) in wanted.items():
        np.testing.assert_allclose(some.loc[one, ["precision", "recall"]].to_numpy(float), [precision, recall])
    np.testing.assert_allclose(some.loc["micro", "f1"], wanted["micro"][2])
    defined = truth.any(axis=0) | reached.any(axis=0)
    np.testing.assert_allclose(some.loc["macro", "f1"], each[2][defined].mean())
    assert some["labels"].tolist() == [defined.sum()] * 2


@given(SIZES, st.sampled_from([0.0, 0.2, 0.5, 0.8]))
def test_the_matrix_is_that_of_scikit_learn(size: tuple[int, int, int], threshold: float) -> None:
    truth, probability = drawn(*size, single=True)
    found = made(everything(truth, probability), size[2])
    strong = probability.argmax(axis=1)
    given_up = probability.max(axis=1) < threshold
    cells = CONFUSION_CELLS.check(matrix(found, threshold))
    table = grid(cells, np.arange(size[2]))
    wanted = metrics.confusion_matrix(truth.argmax(axis=1)[~given_up], strong[~given_up], labels=range(size[2])) \
        if (~given_up).any() else np.zeros((size[2], size[2]), int)  # fmt: skip
    assert table[:, :-1].tolist() == wanted.tolist()
    assert table[:, -1].tolist() == np.bincount(truth.argmax(axis=1)[given_up], minlength=size[2]).tolist()
    assert table.sum() == size[1]
    np.testing.assert_allclose(cells.groupby("truth")["share"].sum(), 1.0)
    for _, cell in cells.iterrows():
        other = None if cell["none"] else int(cell["predicted"])
        same = given_up if other is None else ~given_up & (strong == other)
        ids = members(found, threshold, int(cell["truth"]), other)
        assert ids.tolist() == np.flatnonzero(truth[:, int(cell["truth"])] & same).tolist()
        assert len(ids) == cell["count"]


@given(SIZES, st.sampled_from([0.0, 0.3, 0.6, 0.9]))
def test_co_occurrence_counts_every_pair(size: tuple[int, int, int], threshold: float) -> None:
    truth, probability = drawn(*size, single=False)
    found = made(everything(truth, probability), size[2])
    reached = probability >= threshold
    cells = CONFUSION_CELLS.check(co_occurrence(found, threshold))
    table = grid(cells, np.arange(size[2]))
    assert table[:, :-1].tolist() == (truth.astype(int).T @ reached.astype(int)).tolist()
    assert table[:, -1].tolist() == truth[~reached.any(axis=1)].sum(axis=0).tolist()
    assert (cells["count"] > 0).all()
    if not found.single:
        for _, cell in cells.iterrows():
            other = None if cell["none"] else int(cell["predicted"])
            ids = members(found, threshold, int(cell["truth"]), other)
            same = ~reached.any(axis=1) if other is None else reached[:, other]
            assert ids.tolist() == np.flatnonzero(truth[:, int(cell["truth"])] & same).tolist()


def test_nothing_is_counted_of_nothing() -> None:
    for rows in ({}, {3: ((), {0: 0.9})}):
        found = made(rows, 2)
        assert by_label(found, 0.5)[["support", "tp", "fp", "fn", "tn"]].to_numpy().sum() == 0
        assert averages(by_label(found, 0.5))[["precision", "recall", "f1"]].isna().all(axis=None)
        assert not len(matrix(found, 0.5))
        assert not len(co_occurrence(found, 0.5))
        assert confused(found, matrix(found, 0.5), 0.5, most=5).tolist() == []
        assert not found.single
    assert made({3: ((), {0: 0.9})}, 2).without_truth == 1
    nothing = made({}, 0)
    assert not len(by_label(nothing, 0.5))
    assert not len(matrix(nothing, 0.5))


def test_samples_are_left_out_for_a_reason() -> None:
    rows = {1: ([0], {0: 0.9}), 2: ([], {1: 0.8}), 4: ([1], {}), 7: ([1], {0: 0.7, 1: 0.2})}
    found = counted(*frames(rows, 2, without_predictions=[4]))
    assert (found.sample.tolist(), found.without_truth, found.without_predictions) == ([1, 7], 1, 1)
    part = counted(*frames(rows, 2, without_predictions=[4]), np.array([2, 7, 99]))
    assert (part.sample.tolist(), part.without_truth, part.without_predictions) == ([7], 1, 0)
    assert by_label(part, 0.5)["fp"].tolist() == [1, 0]


def test_an_unknown_probability_is_in_no_count() -> None:
    found = made({0: ([0], {0: math.nan, 1: 0.9}), 1: ([1], {1: 0.6})}, 2)
    table = by_label(found, 0.5)
    assert table["unknown"].tolist() == [1, 0]
    assert table[["tp", "fp", "fn", "tn"]].to_numpy().tolist() == [[0, 0, 0, 1], [1, 1, 0, 0]]
    assert found.whole.tolist() == [False, False]


def test_below_one_half_counts_are_bounds_unless_all_labels_were_recorded() -> None:
    truth, probability = drawn(4, 60, 4, single=True)
    probability *= 0.7
    part, whole = made(as_producer(truth, probability), 4), made(everything(truth, probability), 4)
    assert not part.exact(0.3)
    assert part.exact(0.5)
    assert whole.exact(0.0)
    bound, exact = by_label(part, 0.3), by_label(whole, 0.3)
    assert (bound["fp"] <= exact["fp"]).all()
    assert (bound["fp"] < exact["fp"]).any()
    assert (bound["tn"] >= exact["tn"]).all()
    assert bound[["tp", "fn"]].equals(exact[["tp", "fn"]])
    assert undecided(whole, 0.3) == undecided(part, 0.5) == 0
    # Samples whose strongest recorded label is below 0.5: another one may be stronger.
    recorded = np.where(truth | (probability > 0.5), probability, -1.0)
    assert undecided(part, 0.3) == (recorded.max(axis=1) < 0.5).sum() > 0
    differing = predicted(part, 0.0) != predicted(whole, 0.0)
    assert differing.sum() <= undecided(part, 0.0)


def test_of_equal_probabilities_the_lowest_number_is_strongest() -> None:
    found = made({0: ([2], {2: 0.8, 1: 0.8, 0: 0.1})}, 3)
    assert (strongest(found)[0].tolist(), strongest(found)[1].tolist()) == ([1], [0.8])
    assert predicted(found, 0.81).tolist() == [-1]


def test_labels_beyond_the_named_ones_are_counted_by_their_numbers() -> None:
    found = made({0: ([-1], {-1: 0.9}), 1: ([900], {900: 0.2, -1: 0.7}), 2: ([900], {900: 0.1})}, 2)
    cells = matrix(found, 0.5)
    told = {(int(a), None if none else int(b)): int(n) for a, b, none, n in cells.iloc[:, :4].to_numpy()}
    assert told == {(-1, -1): 1, (900, -1): 1, (900, None): 1}
    assert members(found, 0.5, 900, -1).tolist() == [1]
    assert members(found, 0.5, 900, None).tolist() == [2]


def test_a_matrix_needs_one_true_label_each() -> None:
    with pytest.raises(ValueError, match="one true label"):
        matrix(made({0: ([0, 1], {0: 0.9, 1: 0.2})}, 2), 0.5)


def test_largest_confusions_come_first() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 10_000, 3000)
    other = np.where(rng.random(3000) < 0.5, truth, rng.integers(0, 10_000, 3000))
    truth[:50], other[:50], truth[50:80], other[50:80] = 7, 9000, 400, 3
    found = made({row: ([int(a)], {int(b): 0.9, int(a): 0.2} | {int(b): 0.9})
                  for row, (a, b) in enumerate(zip(truth, other, strict=True))}, 10_000)  # fmt: skip
    cells = matrix(found, 0.5)
    assert confused(found, cells, 0.5, most=4).tolist() == [3, 7, 400, 9000]
    labels = confused(found, cells, 0.5, most=30)
    assert len(labels) == 30
    assert {3, 7, 400, 9000} <= set(labels.tolist())
    table = grid(cells, labels)
    assert table.shape == (30, 31)
    assert table[labels.tolist().index(7), labels.tolist().index(9000)] >= 50
    assert confused(found, cells, 0.5, most=30, among=np.array([400, 3, 12])).tolist() == [3, 12, 400]


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("rate", [0.05, 0.3, 0.7])
@pytest.mark.parametrize("seed", long_after(1, range(4)))
def test_labels_with_most_errors_are_shown(seed: int, rate: float, single: bool) -> None:
    """Forty labels, of which ten go wrong at a rate: some are missed altogether, some taken for others."""
    rng = np.random.default_rng(seed)
    labels, samples, threshold = 40, 1200, 0.5
    bad = rng.choice(labels, 10, replace=False)
    truth, probability = np.zeros((samples, labels), bool), rng.random((samples, labels)) * 0.3
    for sample in range(samples):
        for label in rng.choice(labels, 1 if single else 1 + sample % 3, replace=False):
            truth[sample, label] = True
            wrong = label in bad and rng.random() < rate
            probability[sample, label] = 0.1 if wrong else 0.9
            if wrong and label % 2:  # half of the labels are confused, the others are missed
                probability[sample, bad[rng.integers(10)]] = 0.8
    found = made(everything(truth, probability), labels)
    assert found.single is single
    cells = matrix(found, threshold) if single else co_occurrence(found, threshold)
    reached = probability >= threshold
    if single:
        strong = np.where(reached.any(axis=1), probability.argmax(axis=1), labels)
        table = metrics.confusion_matrix(truth.argmax(axis=1), strong, labels=range(labels + 1))
        wanted = (table.sum(axis=1) + table.sum(axis=0) - 2 * table.diagonal())[:labels]
    else:
        counts = metrics.multilabel_confusion_matrix(truth, reached)
        wanted = counts[:, 0, 1] + counts[:, 1, 0]
    assert errors(found, cells, threshold).tolist() == wanted.tolist()
    order = sorted(range(labels), key=lambda label: (-wanted[label], -truth[:, label].sum(), label))
    for most in (1, 5, 10, 24):
        assert confused(found, cells, threshold, most=most).tolist() == sorted(order[:most])
    if rate > 0.1:
        assert set(confused(found, cells, threshold, most=10).tolist()) == set(bad.tolist())
    some = [one for one in order if one in bad][:2]
    assert confused(found, cells, threshold, most=2, among=np.sort(bad)).tolist() == sorted(some)


def test_without_errors_the_labels_with_most_samples_are_shown() -> None:
    truth = np.repeat(np.eye(6, dtype=bool), [3, 9, 1, 7, 2, 5], axis=0)
    found, several = (made(everything(one, 0.9 * one), 6) for one in (truth, truth | truth[:, ::-1]))
    assert not errors(found, matrix(found, 0.5), 0.5).any()
    assert not errors(several, co_occurrence(several, 0.5), 0.5).any(), "pairs of true labels are no confusion"
    assert confused(found, matrix(found, 0.5), 0.5, most=2).tolist() == [1, 3]


def test_real_files_have_the_counts_of_mindinsight(real_data: Path) -> None:
    for name, tp, fn, fp in (("summary_real", 6, 0, 0), ("summary_weak", 12, 2, 2)):
        run = open_run(str(real_data / "explain" / name)).explanations
        found = counted(run.samples, run.predictions, run.labels)
        table = by_label(found, 0.5)
        assert (table["tp"].sum(), table["fn"].sum(), table["fp"].sum()) == (tp, fn, fp)
        outcomes = run.outcomes(0.5)["outcome"].value_counts()
        assert (outcomes["TP"], outcomes["FN"], outcomes["FP"]) == (tp, fn, fp)
        assert table[["tp", "fp", "fn", "tn"]].to_numpy().sum(axis=1).tolist() == [len(run.samples)] * 4
    assert grid(matrix(found, 0.5), np.arange(4)).tolist() == [
        [4, 0, 1, 0, 0], [0, 4, 1, 0, 0], [0, 0, 4, 0, 0], [0, 0, 0, 0, 0]
    ]  # fmt: skip
    assert members(found, 0.5, 0, 2).tolist() == [3]
    assert members(found, 0.95, 1, None).tolist() == [7]
