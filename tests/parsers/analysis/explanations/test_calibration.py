"""Calibration against scikit-learn and scipy."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.calibration import calibration_curve

from parsers.analysis.explanations.calibration import CALIBRATION_BINS, each_label, top_label, wilson
from tests.parsers.analysis.explanations.explained import as_producer, everything, made

SIZES = st.tuples(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 5), st.sampled_from([1, 5, 10, 20]))


def drawn(seed: int, samples: int, labels: int, *, single: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    probability = rng.random((samples, labels)).round(2)  # rounded: some are ends of bins
    truth = rng.random((samples, labels)) < probability
    first = rng.integers(0, labels, samples)
    if single:
        truth[:] = False
    truth[np.arange(samples), first] = True
    return truth, probability


def error(true: np.ndarray, probability: np.ndarray, bins: int) -> tuple[float, float]:
    """The expected and the greatest calibration error by their definition, bin by bin."""
    edges = np.linspace(0.0, 1.0, bins + 1)
    total, differences = 0.0, []
    for place in range(bins):
        low = probability > edges[place] if place else probability >= 0.0
        inside = low & (probability <= edges[place + 1])
        if inside.any():
            differences.append(abs(true[inside].mean() - probability[inside].mean()))
            total += inside.sum() / len(true) * differences[-1]
    return total, max(differences)


@given(SIZES)
def test_bins_are_those_of_scikit_learn(size: tuple[int, int, int, int]) -> None:
    truth, probability = drawn(*size[:3], single=False)
    found = each_label(made(everything(truth, probability), size[2]), size[3])
    bins = CALIBRATION_BINS.check(found.bins)
    some = bins["count"] > 0
    true, mean = calibration_curve(truth.ravel(), probability.ravel(), n_bins=size[3], strategy="uniform")
    np.testing.assert_allclose(bins["accuracy"][some], true)
    np.testing.assert_allclose(bins["confidence"][some], mean)
    np.testing.assert_allclose((found.error, found.greatest), error(truth.ravel(), probability.ravel(), size[3]), atol=1e-12)
    assert (found.counted, found.left_out, found.everything) == (truth.size, 0, True)
    assert bins["low"].iloc[0] == 0.0
    assert bins["high"].iloc[-1] == 1.0


@given(SIZES)
def test_the_strongest_label_is_that_of_argmax(size: tuple[int, int, int, int]) -> None:
    truth, probability = drawn(*size[:3], single=True)
    strong = probability.argmax(axis=1)
    right = truth[np.arange(len(truth)), strong]
    found = top_label(made(everything(truth, probability), size[2]), size[3])
    np.testing.assert_allclose((found.error, found.greatest), error(right, probability.max(axis=1), size[3]), atol=1e-12)
    assert found.counted == len(truth)


@given(SIZES)
def test_what_was_not_recorded_does_not_change_what_is_counted(size: tuple[int, int, int, int]) -> None:
    truth, probability = drawn(*size[:3], single=True)
    found = made(as_producer(truth, probability), size[2])
    for answer, true, value in (
        (each_label(found, size[3]), truth.ravel(), probability.ravel()),
        (top_label(found, size[3]), truth[np.arange(len(truth)), probability.argmax(axis=1)], probability.max(axis=1)),
    ):
        above = value > 0.5
        if found.complete:  # so few labels that all of them happened to be recorded
            continue
        assert not answer.everything
        assert answer.counted == above.sum()
        if above.any():
            np.testing.assert_allclose((answer.error, answer.greatest), error(true[above], value[above], size[3]), atol=1e-12)
        else:
            assert math.isnan(answer.error)


def test_nothing_has_no_error() -> None:
    for found in (made({}, 0), made({}, 3), made({1: ([0], {})}, 2)):
        for answer in (top_label(found), each_label(found)):
            assert math.isnan(answer.error)
            assert math.isnan(answer.greatest)
            assert answer.counted == 0
            assert answer.bins["count"].sum() == 0
            assert len(answer.bins) == 10


def test_intervals_are_wilson_s() -> None:
    pairs = [(hits, count) for count in (1, 2, 7, 40, 1000) for hits in (0, 1, count // 2, count)]
    low, high = wilson(np.array([hits / count for hits, count in pairs]), np.array([count for _, count in pairs]))
    for place, (hits, count) in enumerate(pairs):
        wanted = stats.binomtest(hits, count).proportion_ci(0.95, method="wilson")
        np.testing.assert_allclose((low[place], high[place]), (wanted.low, wanted.high), atol=1e-12)
    assert np.isnan(wilson(np.array([np.nan]), np.array([0]))).all()
