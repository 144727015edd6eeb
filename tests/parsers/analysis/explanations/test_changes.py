"""Changes of outcome against a comparison pair by pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.analysis.explanations.changes import KNOWN, OUTCOME_CHANGES, changes
from tests.parsers.analysis.explanations.explained import Rows, as_producer, made


def outcome(truth: bool, probability: float, threshold: float) -> str:
    return ("TP" if truth else "FP") if probability >= threshold else ("FN" if truth else "TN")


@given(st.integers(0, 10**6), st.integers(1, 25), st.integers(1, 5), st.integers(2, 4), st.sampled_from([0.5, 0.7, 0.95]))
def test_every_pair_of_sample_and_label_is_compared(seed: int, samples: int, labels: int, runs: int, threshold: float) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.random((samples, labels)) < 0.4
    truth[np.arange(samples), rng.integers(0, labels, samples)] = True
    probabilities = rng.random((runs, samples, labels))
    orders = [rng.permutation(labels) for _ in range(runs)]  # the labels of each run, numbered anew
    names = [f"name {place}" for place in range(labels)]
    made_runs = [
        made(as_producer(truth[:, order], one[:, order]), labels, [names[place] for place in order])
        for one, order in zip(probabilities, orders, strict=True)
    ]
    found = changes(made_runs, threshold)
    frame = OUTCOME_CHANGES.check(found.frame)
    wanted = {}
    tables = np.zeros((runs, 4, 4), int)
    for sample in range(samples):
        for label in range(labels):
            told = [outcome(truth[sample, label], one[sample, label], threshold) for one in probabilities]
            for run in range(1, runs):
                tables[run, KNOWN.index(told[0]), KNOWN.index(told[run])] += 1
            if len(set(told)) > 1:
                wanted[sample, names[label]] = told
    rows = frame[["sample", "name", *(f"outcome_{run}" for run in range(runs))]].to_numpy().tolist()
    assert {(sample, name): list(rest) for sample, name, *rest in rows} == wanted
    assert len(rows) == len(wanted)
    for run in range(1, runs):
        assert found.transitions[run - 1].tolist() == tables[run].tolist()
    numbers = dict(zip(frame["name"], frame["label"], strict=True))
    assert all(orders[0][number] == names.index(name) for name, number in numbers.items())
    assert (found.samples, found.labels, found.other_truth) == (samples, labels, 0)


def test_better_and_worse_are_counted() -> None:
    old: Rows = {0: ([0], {0: 0.2, 1: 0.9}), 1: ([1], {1: 0.8}), 2: ([0], {0: 0.9})}
    new: Rows = {0: ([0], {0: 0.7}), 1: ([1], {1: 0.1, 0: 0.6}), 2: ([0], {0: 0.9}), 5: ([1], {1: 0.9})}
    found = changes([made(old, 2), made(new, 2)], 0.5)
    assert (found.improved(1), found.worse(1), found.samples) == (2, 2, 3)
    assert found.frame[["sample", "label", "outcome_0", "outcome_1"]].to_numpy().tolist() == [
        [0, 0, "FN", "TP"], [0, 1, "FP", "TN"], [1, 0, "TN", "FP"], [1, 1, "TP", "FN"],
    ]  # fmt: skip
    np.testing.assert_equal(found.frame["probability_1"].tolist(), [0.7, np.nan, 0.6, 0.1])


def test_other_true_labels_mean_another_sample() -> None:
    old, new = made({0: ([0], {0: 0.9}), 1: ([1], {1: 0.9})}, 2), made({0: ([1], {1: 0.2}), 1: ([1], {1: 0.1})}, 2)
    found = changes([old, new], 0.5)
    assert (found.samples, found.other_truth, found.frame["sample"].tolist()) == (1, 1, [1])
    # So does a true label that the other run does not have at all.
    more = made({0: ([0, 2], {0: 0.1, 2: 0.9}), 1: ([1], {1: 0.9})}, 3, ["label 0", "label 1", "third"])
    assert changes([old, more], 0.5).other_truth == 1


def test_unknown_probabilities_are_no_change() -> None:
    found = changes([made({0: ([0], {0: 0.9})}, 1), made({0: ([0], {})}, 1)], 0.5)
    assert not len(found.frame)
    assert found.transitions[0].sum() == 0


def test_runs_with_nothing_in_common() -> None:
    some = made({0: ([0], {0: 0.9})}, 1, ["a"])
    for other in (made({}, 0), made({4: ([0], {0: 0.9})}, 1, ["a"]), made({0: ([0], {0: 0.9})}, 1, ["b"])):
        found = changes([some, other], 0.5)
        assert not len(found.frame)
        assert found.transitions[0].sum() == 0
    with pytest.raises(ValueError, match="two runs"):
        changes([some], 0.5)
