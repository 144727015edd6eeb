"""Pictures of arrays and of PIL, decoded by PIL."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image as Pillow

from parsers.recording import RecordingError
from parsers.recording.pictures import image_of


def pixels(value: object, order: str = "") -> np.ndarray:
    found = image_of(value, order)
    decoded = np.asarray(Pillow.open(io.BytesIO(found.encoded)))
    assert decoded.shape == (found.height, found.width, *((found.colorspace,) if found.colorspace > 1 else ()))
    return decoded


PIXELS = np.random.default_rng(1).integers(0, 256, (6, 9, 3), dtype=np.uint8)


def test_axes_are_recognised_by_their_sizes() -> None:
    assert np.array_equal(pixels(PIXELS), PIXELS)
    assert np.array_equal(pixels(PIXELS.transpose(2, 0, 1)), PIXELS)
    assert np.array_equal(pixels(PIXELS[..., 0]), PIXELS[..., 0])
    assert np.array_equal(pixels(PIXELS[..., :1]), PIXELS[..., 0])
    assert np.array_equal(pixels(PIXELS[None].transpose(0, 3, 1, 2)), PIXELS)
    assert np.array_equal(pixels(np.concatenate([PIXELS, PIXELS[..., :1]], -1))[..., :3], PIXELS)


def test_axes_may_be_named() -> None:
    square = PIXELS[:3, :3]
    assert np.array_equal(pixels(square, "HWC"), square)
    assert np.array_equal(pixels(square.transpose(2, 0, 1), "CHW"), square)
    assert np.array_equal(pixels(square.transpose(1, 0, 2), "WHC"), square)


@pytest.mark.parametrize("order", ["HWX", "HH", "CH", "NCHWW", "H"])
def test_wrong_axes_are_refused(order: str) -> None:
    with pytest.raises(RecordingError, match="expected axes like"):
        image_of(PIXELS, order)


def test_a_batch_is_one_picture_of_tiles_eight_in_a_row() -> None:
    batch = np.stack([np.full((2, 3, 3), value, np.uint8) for value in range(10)])
    found = pixels(batch)
    assert found.shape == (4, 24, 3)
    assert [int(found[0, 3 * at, 0]) for at in range(8)] == list(range(8))
    assert [int(found[2, 3 * at, 0]) for at in range(8)] == [8, 9, 0, 0, 0, 0, 0, 0]


def test_values_become_eight_bits() -> None:
    assert pixels(np.array([[0.0, 0.5, 1.0]])).tolist() == [[0, 128, 255]]
    assert pixels(np.array([[-1.0, 0.0, 3.0]])).tolist() == [[0, 64, 255]]
    assert pixels(np.array([[0, 7, 255]])).tolist() == [[0, 7, 255]]
    assert pixels(np.array([[True, False]])).tolist() == [[255, 0]]
    assert pixels(np.array([[np.nan, 0.0, np.inf]])).tolist() == [[0, 0, 255]]


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "P", "1", "CMYK", "LA"])
def test_pictures_of_pil_keep_their_pixels(mode: str) -> None:
    picture = Pillow.fromarray(PIXELS).convert(mode)
    found = Pillow.open(io.BytesIO(image_of(picture).encoded))
    assert np.array_equal(np.asarray(found.convert("RGBA")), np.asarray(picture.convert("RGBA")))
