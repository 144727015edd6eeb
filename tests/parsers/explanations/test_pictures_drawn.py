"""Pictures that are drawn from files beside the records, and their sizes."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from parsers import FormatError, PayloadError, open_run
from parsers.analysis.explanations.occlusion import outcome_picture
from parsers.payloads.pictures import png_of, rgb_picture


@pytest.fixture
def copied(real_data: Path, tmp_path: Path) -> Path:
    shutil.copytree(real_data / "explain" / "summary_real", tmp_path / "run")
    return tmp_path / "run"


def test_the_outcome_picture_of_a_layer(copied: Path) -> None:
    run = open_run(str(copied)).explanations
    path = str(run.samples["image"].iloc[0])
    drawn = run.pictures.outcome(path, "55,0,56,56", "gaussian:4")
    pixels = np.asarray(Image.open(copied / path).convert("RGB"))
    assert (drawn.media, drawn.width, drawn.height) == ("image/png", 112, 112)
    found = np.asarray(Image.open(io.BytesIO(drawn.data)))
    np.testing.assert_array_equal(found, outcome_picture(pixels, [(55, 0, 56, 56)], 4))
    assert run.pictures.outcome(path, "55,0,56,56", "gaussian:4") is drawn
    assert run.pictures.outcome(path, "", "gaussian:4").data != drawn.data


@pytest.mark.parametrize(("mask", "path"), [("black", "{}"), ("gaussian:4", "../{}"), ("gaussian:4", "no such file.jpg")])
def test_what_cannot_be_drawn_has_a_reason(copied: Path, mask: str, path: str) -> None:
    run = open_run(str(copied)).explanations
    with pytest.raises(PayloadError):
        run.pictures.outcome(path.format(run.samples["image"].iloc[0]), "0,0,9,9", mask)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_any_kind_of_png_has_three_channels(mode: str) -> None:
    grey = Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8) * 4)
    out = io.BytesIO()
    (Image.fromarray(np.asarray(grey, np.uint16) * 257) if mode == "I;16" else grey.convert(mode)).save(out, "PNG")
    pixels, problem = rgb_picture(out.getvalue())
    assert (pixels.shape, problem) == ((8, 8, 3), "")
    if mode != "1":
        np.testing.assert_array_equal(pixels, np.repeat(np.asarray(grey)[:, :, None], 3, axis=2))


def test_png_keeps_every_value() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 3), np.uint8)
    np.testing.assert_array_equal(rgb_picture(png_of(pixels))[0], pixels)


def test_sizes_are_read_from_the_files_that_are_asked_for(copied: Path) -> None:
    run = open_run(str(copied)).explanations
    (copied / run.saliency["path"].iloc[3]).unlink()
    (copied / run.saliency["path"].iloc[5]).write_bytes(b"<svg/>")
    found = run.sizes([0, 3, 5])
    assert found[["row", "width", "height"]].to_numpy().tolist() == [[0, 112, 112], [3, 0, 0], [5, 0, 0]]
    assert found["problem"].iloc[0] == ""
    assert "No such file" in found["problem"].iloc[1]
    assert len(run.sizes()) == len(run.saliency) == 12
    assert len(run.sizes([])) == 0
    with pytest.raises(FormatError, match="expected 0 to 11, found 12"):
        run.sizes([12])
