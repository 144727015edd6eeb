"""The weights that the function `names` of a script chooses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.landscapes import compute
from app.landscapes.names import has_names
from app.landscapes.options import LandscapeError
from tests.app.landscapes.networks import LOSS, checkpoints, options, script

BIAS = "def names(parameters):\n    return [name for name in parameters if parameters[name].ndim == 1]\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return checkpoints(tmp_path / "run")


def loaded(run: Path, step: int) -> dict[str, np.ndarray]:
    with np.load(run / f"net_{step}.npz") as archive:
        return dict(archive)


def test_only_the_chosen_weights_vary(run: Path, tmp_path: Path) -> None:
    script(tmp_path, LOSS + BIAS)
    said: list[str] = []
    found = compute(options(run, tmp_path / "out", kinds=("path", "random", "line")), said.append)
    assert (found.varied, said[0]) == (("a.bias",), "weights that vary: a.bias")
    last, first = loaded(run, 5), loaded(run, 1)
    fixed = (last["a.weight"] ** 2).sum()  # stays what it is in the last checkpoint
    path, around, line = found.landscapes
    assert path.path is not None
    assert path.path[2] == pytest.approx([fixed + (loaded(run, step)["a.bias"] ** 2).sum() for step in range(1, 6)])
    assert around.z[1, 1] == pytest.approx(fixed + (last["a.bias"] ** 2).sum())
    assert line.z[0, 0] == pytest.approx(fixed + (first["a.bias"] ** 2).sum())
    # Two values vary, so that a plane has all of the path.
    assert path.shown == pytest.approx(1.0)


def test_names_run_in_a_worker_after_setup(run: Path, tmp_path: Path) -> None:
    body = "import __main__\ndef setup():\n    global ready\n    ready = True\n"
    check = "def names(parameters):\n    assert ready and 'pytest' not in sys.modules\n    return ('a.weight',)\n"
    script(tmp_path, LOSS + body + check)
    assert compute(options(run, tmp_path / "out")).varied == ("a.weight",)


def test_checkpoints_without_the_chosen_weights_are_left_out(run: Path, tmp_path: Path) -> None:
    script(tmp_path, LOSS + BIAS)
    np.savez(run / "net_2.npz", **{"a.weight": np.ones((3, 2))})
    found = compute(options(run, tmp_path / "out"))
    assert found.landscapes[0].steps == (1, 3, 4, 5)
    assert "expected a.bias of shape (2,), found none" in found.problems[0]


def test_names_are_asked_of_the_newest_checkpoint_that_can_be_read(run: Path, tmp_path: Path) -> None:
    script(tmp_path, LOSS + BIAS)
    (run / "net_5.npz").write_bytes(b"")
    found = compute(options(run, tmp_path / "out"))
    assert (found.varied, found.landscapes[0].steps) == (("a.bias",), (1, 2, 3, 4))


@pytest.mark.parametrize(("body", "expected"), [
    ("return []", r"names\(\): expected names of weights of real numbers in .*net_5\.npz, found 'no name'"),
    ("return ['a.weight', 'b.weight']", r"names\(\): expected .* found 'b.weight'"),
    ("return 'a.weight'", "the script failed: TypeError: expected a list of names"),
    ("return [1]", "the script failed: TypeError: expected a list of names"),
    ("raise ValueError('which?')", "the script failed: ValueError: which"),
    ("sys.exit(1)", "the script failed: SystemExit: 1"),
    ("os._exit(0)", r"the script ended its process before its names\(\) returned"),
    ("os.kill(os.getpid(), 9)", "the script ended its process"),
])  # fmt: skip
def test_names_that_are_none(run: Path, tmp_path: Path, body: str, expected: str) -> None:
    script(tmp_path, f"{LOSS}def names(parameters):\n    {body}\n")
    with pytest.raises(LandscapeError, match=expected):
        compute(options(run, tmp_path / "out"))
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(("text", "expected"), [
    ("", False), ("def loss(p): names = 1", False), ("print(names)", False), ("def names(p): pass", True),
    ("from mine import names", True), ("import mine as names", True), ("names = len", True), ("def names(", False),
    ("\x00", False), ("# -*- coding: nothing -*-\nnames = 1", False),
])  # fmt: skip
def test_a_script_has_names_if_it_binds_them(tmp_path: Path, text: str, expected: bool) -> None:
    (tmp_path / "loss.py").write_text(text)
    assert has_names(str(tmp_path / "loss.py")) is expected
