"""Where heat maps lie, on maps whose shares are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from parsers import open_run
from parsers.analysis.explanations.attention import FEWEST, MIDDLE, MOST_SAMPLES, TENTH, Attention, attention, map_shares
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
    assert (found.samples, found.right, found.wrong, found.looked, found.total) == (20, 14, 6, 20, 20)
    assert found.judged
    assert (found.of_right["A"].maps, found.of_right["A"].middle) == (14, pytest.approx(1.0))
    assert found.of_right["A"].top == pytest.approx(8.1 / 9.0)
    assert (found.of_wrong["A"].maps, found.of_wrong["A"].middle, found.of_wrong["A"].top) == (6, 0.0, pytest.approx(1.0))
    assert found.every["A"].maps == 20
    assert found.every["B"].maps == 0


def test_few_maps_none_and_damaged_ones_are_not_judged(tmp_path: Path) -> None:
    found = write(tmp_path / "few", FEWEST - 1, 0)
    assert not found.judged
    assert np.isnan(found.every["A"].top)
    assert not write(tmp_path / "none", 0, 0).judged
    write(tmp_path / "damaged", 8, 0)
    for number, path in enumerate(sorted((tmp_path / "damaged").glob("_explain_1/heatmap/A/0/*.png"))):
        if number < 2:
            path.unlink()
    found = attention(open_run(str(tmp_path / "damaged")).explanations.snapshot(), lambda *_: None)
    assert (found.unreadable, found.samples, found.every["A"].maps) == (2, 6, 6)


def test_of_many_samples_a_part_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsers.analysis.explanations.attention.MOST_SAMPLES", 10)
    assert MOST_SAMPLES > 10
    found = write(tmp_path / "run", 30, 0)
    assert (found.samples, found.looked, found.total) == (10, 10, 30)
