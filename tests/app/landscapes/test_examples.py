"""The example scripts of the manual: the same landscape by every framework."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.frameworks.landscapes import AS_FAR_AS, EXAMPLES, PYTHONS, ROOT, distance, landscape_by, network


def test_every_example_has_the_loss_of_its_checkpoints(tmp_path: Path) -> None:
    """By hand: one sample after the other, in float64."""
    run = network(tmp_path / "run")
    found = landscape_by("numpy", sys.executable, run, tmp_path / "out")
    random = np.random.RandomState(0)
    true = random.randn(8, 3)
    inputs = random.randn(512, 8).astype(np.float32)
    for step, loss in zip(found.intervals.tolist(), found.path_z.tolist(), strict=True):
        with np.load(run / f"net_{step}.npz") as archive:
            weights = {name: archive[name].astype(np.float64) for name in archive}
        total = 0.0
        for sample in inputs:
            hidden = weights["0.weight"] @ sample + weights["0.bias"]
            scores = weights["2.weight"] @ np.where(hidden > 0, hidden, 0.0) + weights["2.bias"]
            total += np.log(np.exp(scores).sum()) - scores[int((sample @ true).argmax())]
        assert loss == pytest.approx(total / len(inputs), abs=1e-6)


@pytest.mark.parametrize("framework", sorted(PYTHONS))
def test_frameworks_agree(tmp_path: Path, framework: str) -> None:
    python = os.environ.get(PYTHONS[framework])
    if not python:
        pytest.skip(f"{PYTHONS[framework]} names no Python with {framework}; `make test-frameworks` does")
    run = network(tmp_path / "run")
    wanted = landscape_by("numpy", sys.executable, run, tmp_path / "numpy")
    assert distance(landscape_by(framework, str(ROOT / python), run, tmp_path / framework), wanted) <= AS_FAR_AS


def test_the_manual_shows_the_example() -> None:
    script = runpy.run_path(str(EXAMPLES / "loss_numpy.py"))
    weights = {"0.weight": np.zeros((16, 8)), "0.bias": np.zeros(16), "2.weight": np.zeros((3, 16)), "2.bias": np.zeros(3)}
    assert script["loss"](weights) == pytest.approx(np.log(3))
    manual = (ROOT / "docs" / "landscapes.md").read_text(encoding="utf-8")
    assert all(path.name in manual for path in EXAMPLES.glob("loss_*.py"))
