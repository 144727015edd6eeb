"""A run with checkpoints of a small network in numpy, and scripts with its loss."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from app.landscapes import LandscapeOptions

HEAD = """
import os, sys, time
import numpy as np
"""
LOSS = """
def loss(parameters):
    return float((parameters["a.weight"] ** 2).sum() + (parameters["a.bias"] ** 2).sum())
"""


def checkpoints(folder: Path, steps: int = 5) -> Path:
    """Write net_1.npz to net_<steps>.npz, of a weight of shape (3, 2) and a bias."""
    folder.mkdir()
    random = np.random.default_rng(3)
    weight, bias = random.normal(size=(3, 2)), random.normal(size=2)
    for step in range(1, steps + 1):
        save(folder, step, weight, bias)
        weight, bias = weight + random.normal(size=(3, 2)) * 0.2, bias + random.normal(size=2) * 0.2
    return folder


def save(folder: Path, step: int, weight: np.ndarray, bias: np.ndarray) -> None:
    np.savez(folder / f"net_{step}.npz", **{"a.weight": weight, "a.bias": bias})


def script(folder: Path, text: str = LOSS) -> Path:
    path = folder / "loss.py"
    path.write_text(HEAD + text)
    return path


def options(run: Path, out: Path, **more: object) -> LandscapeOptions:
    """Options for a grid of 3 x 3 with the script beside the run."""
    given = {"size": 3, "checkpoints": "*.npz", **more}
    return LandscapeOptions(str(run), str(run.parent / "loss.py"), str(out), **given)  # type: ignore[arg-type]
