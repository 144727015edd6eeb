"""Landscapes of one network by the example scripts of numpy, torch and MindSpore, each in the Python that has the framework."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np

from parsers import LandscapeValue, open_run

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "landscapes"
TAG = "landscape_[1, 9]"
PYTHONS = {"torch": "MINDSCOPE_FRAMEWORKS", "mindspore": "MINDSCOPE_MINDSPORE"}
AS_FAR_AS = 1e-5
"""Losses of two frameworks differ at most: they round differently."""
_SHARED = """
import site, sys
sys.path += [{packages!r}]  # behind the packages of the framework, which come first
"""


def network(folder: Path) -> Path:
    """Write nine checkpoints of the network of the examples, on a way of random steps."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(4)
    shapes = {"0.weight": (16, 8), "0.bias": (16,), "2.weight": (3, 16), "2.bias": (3,)}
    weights = {name: random.normal(0, 0.4, shape).astype(np.float32) for name, shape in shapes.items()}
    for step in range(1, 10):
        np.savez(folder / f"net_{step}.npz", **weights)  # type: ignore[arg-type]
        weights = {name: one + random.normal(0, 0.05, one.shape).astype(np.float32) for name, one in weights.items()}
    return folder


def landscape_by(framework: str, python: str, run: Path, out: Path) -> LandscapeValue:
    """Run the example of a framework in a Python that has it, with our own packages behind those of that Python."""
    path = out.parent / f"site_{framework}"
    path.mkdir()
    (path / "sitecustomize.py").write_text(_SHARED.format(packages=str(Path(np.__file__).parents[1])))
    command = [python, "-m", "app", "landscape", run, "--script", EXAMPLES / f"loss_{framework}.py", "--out", out]
    command += ["--checkpoints", "*.npz", "--size", "9"]
    environment = os.environ | {"PYTHONPATH": str(path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(list(map(str, command)), cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{framework}: expected exit code 0, found {done.returncode}: {done.stderr[-2000:]}")
    return open_run(out).landscape(TAG, 0)


def distance(one: LandscapeValue, other: LandscapeValue) -> float:
    """Return how far the losses of two landscapes, and their axes and paths, are from each other at most."""
    names = ("x", "y", "z", "path_x", "path_y", "path_z")
    return max(float(np.abs(getattr(one, name) - getattr(other, name)).max()) for name in names)
