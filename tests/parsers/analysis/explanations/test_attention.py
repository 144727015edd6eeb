"""Where heat maps lie, on maps whose shares are known."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from parsers import open_run
from parsers.analysis.explanations.attention import (
    ALPHA,
    FEWEST,
    MIDDLE,
    MOST_SAMPLES,
    TENTH,
    Attention,
    attention,
    chance,
    map_shares,
)
from parsers.recording import ExplanationWriter


@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 255))
def test_an_even_map_has_a_tenth_in_its_highest_tenth_and_a_ninth_in_the_middle(height: int, width: int, value: int) -> None:
    assert map_shares(np.full((height, width), value, np.uint8)) == pytest.approx((TENTH, MIDDLE))


def test_a_point_in_the_middle_and_one_in_a_corner() -> None:
    middle, corner = np.zeros((2, 9, 9), np.uint8)
    middle[4, 4] = corner[0, 0] = 200
    assert map_shares(middle) == pytest.approx((1.0, 1.0))
    assert map_shares(corner) == pytest.approx((1.0, 0.0))
    assert all(np.isnan(map_shares(np.zeros((4, 4), np.uint8))))


@given(arrays(np.uint8, (10, 12), elements=st.integers(0, 120)))
def test_shares_do_not_depend_on_the_scale(grey: np.ndarray) -> None:
    if not grey.any():
        return
    top, middle = map_shares(grey)
    assert TENTH - 1e-9 <= top <= 1.0 + 1e-9
    assert 0.0 <= middle <= 1.0 + 1e-9
    assert map_shares(grey * 2) == pytest.approx((top, middle))
    ordered = np.sort(grey.ravel())[::-1]
    assert top == pytest.approx(ordered[:12].sum() / grey.sum())


def write(folder: Path, samples: int, wrong: int) -> Attention:
    """Right samples look at the middle, wrong ones at a corner; the maps of the true label of wrong ones are even."""
    middle, corner, even = np.zeros((9, 9), np.uint8), np.zeros((9, 9), np.uint8), np.full((9, 9), 255, np.uint8)
    middle[3:6, 3:6] = corner[0, 0] = 255
    with ExplanationWriter(str(folder), labels=["a", "b"], explainers=["A", "B"], seconds=1) as writer:
        for sample in range(samples):
            is_wrong = sample < wrong
            probabilities = {0: 0.3, 1: 0.7} if is_wrong else {0: 0.9, 1: 0.1}
            writer.sample(sample, np.zeros((4, 4), np.uint8), truth=[0], probabilities=probabilities)
            writer.heat_map(sample, "A", 1 if is_wrong else 0, corner if is_wrong else middle)
            if is_wrong:
                writer.heat_map(sample, "A", 0, even)
    return attention(open_run(str(folder)).explanations.snapshot(), lambda *_: None)


def test_medians_are_those_of_the_most_probable_label(tmp_path: Path) -> None:
    found = write(tmp_path / "run", 20, 6)
    assert (found.looked, found.total, found.differing) == (20, 20, {"A"})
    assert (found.of_right["A"].maps, found.of_right["A"].middle) == (14, pytest.approx(1.0))
    assert found.of_right["A"].top == pytest.approx(8.1 / 9.0)
    assert (found.of_wrong["A"].maps, found.of_wrong["A"].middle, found.of_wrong["A"].top) == (6, 0.0, pytest.approx(1.0))
    assert found.every["A"].maps == 20
    assert found.every["B"].maps == 0


def test_few_maps_none_and_damaged_ones_are_not_judged(tmp_path: Path) -> None:
    found = write(tmp_path / "few", FEWEST - 1, 0)
    assert np.isnan(found.every["A"].top)
    assert write(tmp_path / "none", 0, 0).every["A"].maps == 0
    write(tmp_path / "damaged", 8, 0)
    for number, path in enumerate(sorted((tmp_path / "damaged").glob("_explain_1/heatmap/A/0/*.png"))):
        if number < 2:
            path.unlink()
    found = attention(open_run(str(tmp_path / "damaged")).explanations.snapshot(), lambda *_: None)
    assert (found.unreadable, found.every["A"].maps) == ({"A": 2, "B": 0}, 6)


def test_maps_that_are_cut_do_not_count(tmp_path: Path) -> None:
    """Else what the decoder fills in would."""
    rng = np.random.default_rng(1)
    looked(tmp_path / "run", [([0], {0: 0.9}, {("A", 0): rng.random((40, 40))}) for _ in range(12)])
    for number, path in enumerate(sorted((tmp_path / "run").glob("_explain_1/heatmap/A/0/*.png"))):
        made = io.BytesIO()
        Image.open(path).save(made, "JPEG")  # as MindSpore XAI writes maps
        path.write_bytes(made.getvalue()[: None if number % 2 else -200])
    found = attention(open_run(str(tmp_path / "run")).explanations.snapshot(), lambda *_: None)
    assert (found.every["A"].maps, found.unreadable) == (6, {"A": 6})


def test_of_many_samples_a_part_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsers.analysis.explanations.attention.MOST_SAMPLES", 10)
    assert MOST_SAMPLES > 10
    found = write(tmp_path / "run", 30, 0)
    assert (found.every["A"].maps, found.looked, found.total) == (10, 10, 30)


def looked(folder: Path, samples: list[tuple[list[int], dict[int, float], dict[tuple[str, int], np.ndarray]]]) -> Attention:
    """What is found in samples: true labels, probabilities, and maps by explainer and label."""
    names = sorted({name for *_, maps in samples for name, _ in maps})
    with ExplanationWriter(str(folder), labels=["a", "b"], explainers=names, seconds=1) as writer:
        for sample, (truth, probabilities, maps) in enumerate(samples):
            writer.sample(sample, np.zeros((4, 4), np.uint8), truth=truth, probabilities=probabilities)
            for (name, label), values in maps.items():
                writer.heat_map(sample, name, label, values)
    return attention(open_run(str(folder)).explanations.snapshot(), lambda *_: None)


def spot(rng: np.random.Generator, width: float) -> np.ndarray:
    """A map with one hot spot in the middle, whose width differs from sample to sample, over noise."""
    y, x = np.mgrid[:14, :14] - 6.5
    return np.exp(-(x**2 + y**2) / (2.0 * (width * np.exp(rng.normal() * 0.5)) ** 2)) + 0.05 * rng.random((14, 14))


def test_equally_probable_labels_count_as_the_one_listed_first(tmp_path: Path) -> None:
    corner, even = np.zeros((10, 10)), np.ones((10, 10))
    corner[0, 0], even[0, 0] = 1.0, 0.0
    found = looked(tmp_path / "run", [([1], {0: 0.5, 1: 0.5}, {("A", 0): corner, ("A", 1): even})] * 6)
    assert (found.every["A"].top, found.of_wrong["A"].maps) == (pytest.approx(1.0), 6)


def test_a_map_of_no_label_is_not_that_of_a_sample_without_predictions(tmp_path: Path) -> None:
    """A damaged record may name label -1."""
    with ExplanationWriter(str(tmp_path), labels=["a"], explainers=["A"], seconds=1) as writer:
        writer._check = lambda labels: None  # type: ignore[method-assign]
        for sample in range(8):
            writer.sample(sample, np.zeros((3, 3), np.uint8), truth=[], probabilities={})
            writer.heat_map(sample, "A", (1 << 64) - 1, np.eye(9))
    explanations = open_run(str(tmp_path)).explanations
    assert explanations.saliency["label"].tolist() == [-1] * 8
    found = attention(explanations.snapshot(), lambda *_: None)
    assert (found.every["A"].maps, found.total) == (0, 0)


def test_samples_without_a_map_take_no_place_of_those_that_have_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsers.analysis.explanations.attention.MOST_SAMPLES", 10)
    maps = {("A", 0): np.eye(10)}
    found = looked(tmp_path / "run", [([0], {0: 0.9}, maps if sample % 10 == 5 else {}) for sample in range(80)])
    assert (found.every["A"].maps, found.looked, found.total) == (8, 8, 8)


@given(arrays(np.float64, st.integers(5, 30), elements=st.integers(0, 12)), arrays(np.float64, 9, elements=st.integers(0, 12)))
def test_the_probability_of_chance_is_that_of_scipy(one: np.ndarray, other: np.ndarray) -> None:
    if len(set(one) | set(other)) == 1:
        assert chance(one, other) == 1.0
    else:
        wanted = scipy.stats.mannwhitneyu(one, other, method="asymptotic").pvalue
        assert chance(one, other) == pytest.approx(min(wanted, 1.0))


@pytest.mark.parametrize(("right", "wrong"), [(5, 5), (40, 5), (60, 60)])
def test_groups_without_a_difference_are_seldom_said_to_differ(right: int, wrong: int) -> None:
    rng = np.random.default_rng(31)
    said = [chance(rng.lognormal(size=right), rng.lognormal(size=wrong)) < ALPHA for _ in range(1_000)]
    assert sum(said) <= 65  # 50 are expected at most, with a standard deviation of 7


def test_a_large_difference_between_right_and_wrong_predictions_is_found_a_small_one_is_not(tmp_path: Path) -> None:
    def found(name: str, factor: float) -> Attention:
        rng = np.random.default_rng(3)
        right = [([0], {0: 0.9}, {("A", 0): spot(rng, 2.0), ("B", 0): spot(rng, 2.0)}) for _ in range(20)]
        wrong = [([0], {0: 0.2, 1: 0.7}, {("A", 1): spot(rng, 2.0 * factor), ("B", 1): spot(rng, 2.0)}) for _ in range(20)]
        return looked(tmp_path / name, right + wrong)

    assert found("none", 1.0).differing == frozenset()
    assert found("small", 1.05).differing == frozenset()
    large = found("large", 3.0)
    assert large.differing == {"A"}
    assert large.of_right["A"].top > large.of_wrong["A"].top
