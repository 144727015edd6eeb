"""The landscape of a training as MindSpore computed it (tests/frameworks/mindspore_landscape.py), and by `mindscope landscape`.

The figures are those that are promised: the path within 1e-5 of its span, the surface within the larger of 1e-3 of its range
and two float32 units of the loss. MindSpore chooses the signs of axes at random.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.landscapes import LandscapeOptions, compute
from parsers import LandscapeValue, open_run

STORED = Path(__file__).parents[2] / "data/mindspore_landscape/2.10"
TAG = "landscape_[1, 8]"
SCRIPT = """
import numpy as np

stored = np.load({samples!r})
inputs, labels = stored["inputs"], stored["labels"]

def loss(parameters):
    hidden = np.maximum(inputs @ parameters["0.weight"].T + parameters["0.bias"], 0)
    scores = (hidden @ parameters["2.weight"].T + parameters["2.bias"]).astype(np.float64)
    scores -= scores.max(axis=1, keepdims=True)
    return float((np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(labels)), labels]).mean())
"""


@pytest.fixture(scope="module")
def landscapes(tmp_path_factory: pytest.TempPathFactory) -> tuple[LandscapeValue, LandscapeValue]:
    """The landscape by MindSpore, with the signs of ours, and ours."""
    folder = tmp_path_factory.mktemp("landscape")
    script = folder / "loss.py"
    script.write_text(SCRIPT.format(samples=str(STORED / "samples.npz")))
    compute(LandscapeOptions(str(STORED / "run"), str(script), str(folder / "out"), size=9))
    (tag,) = open_run(STORED / "by_mindspore").tags("landscape")
    wanted, ours = open_run(STORED / "by_mindspore").landscape(tag, 0), open_run(folder / "out").landscape(TAG, 0)
    x, y, z, path_x, path_y = wanted.x, wanted.y, wanted.z, wanted.path_x, wanted.path_y
    if path_x @ ours.path_x < 0:
        x, z, path_x = -x[::-1], z[:, ::-1], -path_x
    if path_y @ ours.path_y < 0:
        y, z, path_y = -y[::-1], z[::-1], -path_y
    turned = LandscapeValue(x, y, z, wanted.intervals, path_x, path_y, wanted.path_z, wanted.decomposition)
    return turned, ours


def test_the_path_and_the_axes_are_those_of_mindspore(landscapes: tuple[LandscapeValue, LandscapeValue]) -> None:
    wanted, ours = landscapes
    assert (ours.intervals.tolist(), ours.decomposition) == (wanted.intervals.tolist(), wanted.decomposition)
    for name in ("path_x", "path_y"):
        span = np.ptp(getattr(wanted, name))
        assert span > 0.1
        assert np.abs(getattr(ours, name) - getattr(wanted, name)).max() <= 1e-5 * span
    for name, path in (("x", wanted.path_x), ("y", wanted.path_y)):
        assert np.abs(getattr(ours, name) - getattr(wanted, name)).max() <= 1e-5 * np.ptp(path)


def test_the_surface_is_that_of_mindspore(landscapes: tuple[LandscapeValue, LandscapeValue]) -> None:
    wanted, ours = landscapes
    assert wanted.z.shape == (9, 9)
    assert np.ptp(wanted.z) > 0.5
    apart = max(1e-3 * np.ptp(wanted.z), 2 * float(np.spacing(np.float32(wanted.z.max()))))
    assert np.abs(ours.z - wanted.z).max() <= apart


def test_losses_of_the_path_are_those_of_its_places(landscapes: tuple[LandscapeValue, LandscapeValue]) -> None:
    """MindSpore computes them in the plane; here they are of the checkpoints themselves, so they agree at the end alone."""
    wanted, ours = landscapes
    assert ours.path_z[-1] == pytest.approx(wanted.path_z[-1], abs=2e-7)
