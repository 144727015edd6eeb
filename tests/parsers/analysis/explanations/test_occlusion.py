"""Pictures of hierarchical occlusion against the operations of Pillow, and their parts against scipy and plain Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageEnhance, ImageFilter
from scipy.ndimage import gaussian_filter

from parsers import FormatError, open_run
from parsers.analysis.explanations.occlusion import Box, Pixels, boxes_of, hidden, outcome_picture, radius_of, visible_share
from tests.amounts import examples

box = st.tuples(st.integers(-5, 25), st.integers(-5, 25), st.integers(0, 30), st.integers(0, 30))


def by_pillow(pixels: Pixels, boxes: list[Box], radius: int) -> Pixels:
    whole = Image.fromarray(pixels, "RGB")
    drawn = whole.filter(ImageFilter.GaussianBlur(radius))
    drawn = ImageEnhance.Color(ImageEnhance.Brightness(drawn).enhance(0.7)).enhance(0.0)
    visible = Image.new("L", whole.size, 0)
    for x, y, width, height in boxes:
        visible.paste(255, (x, y, x + width, y + height))
    drawn.paste(whole, mask=visible)
    return np.asarray(drawn)


@settings(max_examples=examples(60))
@given(st.integers(0, 2**32 - 1), st.integers(1, 24), st.integers(1, 20), st.integers(1, 9), st.lists(box, max_size=3))
def test_pictures_are_those_of_pillow(seed: int, width: int, height: int, radius: int, boxes: list[Box]) -> None:
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    np.testing.assert_array_equal(outcome_picture(pixels, boxes, radius), by_pillow(pixels, boxes, radius))


def test_every_level_is_darkened_and_made_grey_as_by_pillow() -> None:
    levels = np.arange(256, dtype=np.uint8)
    pixels = np.stack([np.roll(levels, shift) for shift in (0, 85, 170)], axis=1)[:, None, :].repeat(9, axis=1)
    np.testing.assert_array_equal(hidden(pixels, 1), by_pillow(pixels, [], 1))


def test_the_blur_is_a_gaussian_of_this_deviation() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (60, 60, 3), np.uint8)
    blurred = np.stack([gaussian_filter(pixels[:, :, one].astype(float), 4, mode="nearest") for one in range(3)], axis=2)
    grey = 0.7 * blurred @ [0.299, 0.587, 0.114]
    assert np.abs(hidden(pixels, 4)[:, :, 0] - grey)[8:-8, 8:-8].max() < 3


def test_the_counterfactuals_of_a_real_run(real_data: Path) -> None:
    run = open_run(str(real_data / "explain" / "summary_real"))
    layers = run.explanations.counterfactuals.query("sample == 0")
    assert [boxes_of(one) for one in layers["boxes"]] == [[(55, 0, 56, 56)], [(80, 28, 28, 28)]]
    assert {radius_of(mask) for mask in layers["mask"]} == {4}
    image = run.explanations.samples["image"].iloc[0]
    pixels = np.asarray(Image.open(real_data / "explain" / "summary_real" / image).convert("RGB"))
    drawn = outcome_picture(pixels, [(80, 28, 28, 28)], 4)
    np.testing.assert_array_equal(drawn, by_pillow(pixels, [(80, 28, 28, 28)], 4))
    np.testing.assert_array_equal(drawn[28:56, 80:108], pixels[28:56, 80:108])
    assert (drawn[:28].max(axis=2) == drawn[:28].min(axis=2)).all()
    assert visible_share((112, 112), [(80, 28, 28, 28)]) == pytest.approx(28 * 28 / 112 / 112)


def test_boxes_may_overlap_and_leave_the_picture() -> None:
    assert visible_share((10, 10), [(0, 0, 5, 5), (3, 3, 4, 4), (8, 8, 9, 9), (-9, -9, 3, 3)]) == (25 + 16 - 4 + 4) / 100
    assert np.isnan(visible_share((0, 10), []))
    assert boxes_of("") == []
    assert boxes_of("0,-1,2,3;4,5,6,7") == [(0, -1, 2, 3), (4, 5, 6, 7)]


@pytest.mark.parametrize("mask", ["", "gaussian:0", "gaussian:1001", "gaussian:-4", "grey:4", "gaussian:４"])
def test_other_masks_are_refused(mask: str) -> None:
    with pytest.raises(FormatError, match="expected gaussian:R"):
        radius_of(mask)
