"""Landscapes of a small network in numpy: computed by worker processes, resumed, and with scripts that do not behave."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from app.landscapes import LandscapeOptions, compute
from app.landscapes.options import LandscapeError
from app.landscapes.points_file import PointsFile
from parsers import open_run
from parsers.landscapes.facts import checksum_of, landscape_facts
from parsers.landscapes.points import Loss, PlannedSurface, Point
from tests.amounts import long_after
from tests.app.commands.running import ROOT, called
from tests.waiting import until

SCRIPT = """
import os, time
import numpy as np

rng = np.random.default_rng(7)
inputs, goal = rng.normal(size=(64, 3)), rng.normal(size=(64, 2))

def setup():
    print("this is not for the command")

def loss(parameters):
    if os.environ.get("COUNTED"):
        with open(os.environ["COUNTED"], "ab", buffering=0) as counted:
            counted.write(b"x")
        time.sleep(float(os.environ.get("PAUSE_S", "0")))
    assert parameters["step"] == 5  # of the last checkpoint
    return float(((np.tanh(inputs @ parameters["a.weight"] + parameters["a.bias"]) - goal) ** 2).mean())
"""


def own_loss(weight: np.ndarray, bias: np.ndarray) -> float:
    """The same without a script."""
    rng = np.random.default_rng(7)
    inputs, goal = rng.normal(size=(64, 3)), rng.normal(size=(64, 2))
    return float(((np.tanh(inputs @ weight + bias) - goal) ** 2).mean())


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with five checkpoints."""
    folder = tmp_path / "run"
    folder.mkdir()
    random = np.random.default_rng(3)
    weight, bias = random.normal(size=(3, 2)), random.normal(size=2)
    for step in (1, 2, 3, 4, 5):
        moments = {"moment1.a.weight": np.zeros((3, 2)), "step": np.int64(step)}
        np.savez(folder / f"net_{step}_of_5.npz", **{"a.weight": weight, "a.bias": bias, **moments})
        weight, bias = weight + random.normal(size=(3, 2)) * 0.2, bias + random.normal(size=2) * 0.2
    return folder


def loaded(run: Path, step: int) -> dict[str, np.ndarray]:
    with np.load(run / f"net_{step}_of_5.npz") as archive:
        return dict(archive)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "loss.py"
    path.write_text(SCRIPT)
    return path


def options(run: Path, script: Path, out: Path, **more: object) -> LandscapeOptions:
    given = {"size": 5, "checkpoints": "*.npz", **more}
    return LandscapeOptions(str(run), str(script), str(out), **given)  # type: ignore[arg-type]


def test_the_surface_is_the_loss_at_each_place_and_the_path_that_of_the_checkpoints(
    run: Path, script: Path, tmp_path: Path
) -> None:
    said: list[str] = []
    found = compute(options(run, script, tmp_path / "out", jobs=2), said.append)
    (one,) = found.landscapes
    assert (one.tag, one.steps, found.varied, one.failed) == ("landscape_[1, 5]", (1, 2, 3, 4, 5), ("a.weight", "a.bias"), ())
    assert said == ["weights that vary: a.weight, a.bias"]
    checkpoints = [loaded(run, step) for step in one.steps]
    assert one.path is not None
    assert one.path[2] == pytest.approx([own_loss(each["a.weight"], each["a.bias"]) for each in checkpoints], rel=1e-12)
    # Directions by numpy's own decomposition; of eight weights they are certain but for their signs, which the path tells.
    flat = np.stack([np.concatenate([each["a.weight"].ravel(), each["a.bias"]]) for each in checkpoints])
    columns = (flat - flat[-1]).T
    left, singular, _ = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    directions = left[:, :2] * singular[:2]
    for begin, end in ((0, 6), (6, 8)):
        directions[begin:end] *= np.linalg.norm(flat[-1, begin:end]) / np.linalg.norm(directions[begin:end], axis=0)
    places, _, _, _ = np.linalg.lstsq(directions, columns, rcond=None)
    signs = np.where(places.mean(axis=1) > 0, -1.0, 1.0)
    assert np.allclose(places * signs[:, None], one.path[:2], rtol=1e-9, atol=1e-12)
    wanted = [
        [own_loss(moved[:6].reshape(3, 2), moved[6:]) for x in one.x for moved in [flat[-1] + directions @ (signs * (x, y))]]
        for y in one.y
    ]
    assert one.z == pytest.approx(np.array(wanted), rel=1e-9)

    read = open_run(tmp_path / "out").landscape("landscape_[1, 5]", 0)
    assert read.z == pytest.approx(one.z, rel=1e-6)  # MindSpore's form has float32
    assert (read.intervals.tolist(), read.unit, read.convergence[2]) == ([1, 2, 3, 4, 5], "step", pytest.approx(one.end[2]))
    left = sorted(path.suffix for path in (tmp_path / "out").iterdir())
    assert (left, os.path.exists(found.file)) == ([".json", ".landscape_MS"], True)
    facts, failures = landscape_facts(str(tmp_path / "out"))
    assert (facts["tag"].tolist(), facts["shown"].tolist(), len(failures)) == (["landscape_[1, 5]"], [one.shown], 0)
    assert facts["checksum"].tolist() == [checksum_of(read.z)]


def test_random_directions_and_lines(run: Path, script: Path, tmp_path: Path) -> None:
    found = compute(options(run, script, tmp_path / "out", kinds=("random", "line")))
    around, line = found.landscapes
    assert (around.tag, around.x.tolist()) == ("landscape_[5]", [-1.0, -0.5, 0.0, 0.5, 1.0])
    first, last = (loaded(run, step) for step in (1, 5))
    ends = [own_loss(one["a.weight"], one["a.bias"]) for one in (first, last)]
    assert around.z[2, 2] == pytest.approx(ends[1])
    assert line.z.shape == (1, 101)
    assert (line.z[0, 0], line.z[0, -1]) == pytest.approx(tuple(ends))


def test_a_computation_goes_on_and_computes_no_point_again(
    run: Path, script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = compute(options(run, script, tmp_path / "whole")).landscapes[0]
    counted = tmp_path / "counted"
    monkeypatch.setenv("COUNTED", str(counted))
    monkeypatch.setenv("PAUSE_S", "0.02")  # so that it is interrupted before it is done
    out = tmp_path / "out"
    given = [run, "--script", script, "--out", out, "--checkpoints", "*.npz", "--size", "40"]
    command = [sys.executable, "-m", "app", "landscape", *given]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    until(lambda: counted.exists() and counted.stat().st_size > 100)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    monkeypatch.delenv("PAUSE_S")
    (points,) = out.glob("*.points")
    kept = len(points.read_bytes().splitlines()) - 1
    counted.unlink()
    said: list[str] = []
    found = compute(options(run, script, out, size=40), said.append).landscapes[0]
    assert said[0] == "going on with the points that are finished"
    assert counted.stat().st_size == 40 * 40 + 5 - kept
    assert not list(out.glob("*.points"))
    again = compute(options(run, script, tmp_path / "again", size=40)).landscapes[0]
    assert np.array_equal(found.z, again.z)
    assert whole.path is not None
    assert found.path is not None
    assert np.array_equal(found.path[2], whole.path[2])


def test_a_changed_script_starts_anew(run: Path, script: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/landscape-0123456789abcdef.points").write_bytes(b"")
    said: list[str] = []
    compute(options(run, script, tmp_path / "out"), said.append)
    assert said[0].startswith("starting anew")


@pytest.mark.parametrize(("body", "reason"), long_after(4, [
    ("raise ValueError('no <b>batch</b>')", "ValueError: no <b>batch</b>"),
    ("return float('nan')", "the function returned NaN"),
    ("os.kill(os.getpid(), 9)", "the process ended with signal 9"),
    ("import time; time.sleep(60)", "it took more than 1.00 s"),
    ("import sys; sys.exit('done')", "SystemExit: done"),
    ("return 'text'", "ValueError: could not convert string to float: 'text'"),
    ("os._exit(3)", "the process ended with exit code 3"),
]))  # fmt: skip
def test_places_without_a_loss_have_their_reason(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, reason: str
) -> None:
    """At one place of 25; the others are as they are."""
    path = tmp_path / "bad.py"
    bad = f"    if abs(parameters['a.bias'][0] - float(os.environ['PLACE'])) < 1e-12:\n        {body}\n"
    seen = f"    with open({str(tmp_path / 'seen')!r}, 'a') as seen: print(parameters['a.bias'][0], file=seen)\n"
    path.write_text(SCRIPT.replace("    assert parameters", f"{seen}{bad}    assert parameters"))
    monkeypatch.setenv("PLACE", "nan")
    compute(options(run, path, tmp_path / "first", size=3))
    monkeypatch.setenv("PLACE", (tmp_path / "seen").read_text().splitlines()[5])  # after those of the five checkpoints
    found = compute(options(run, path, tmp_path / "out", size=3, limit_s=1.0 if "sleep" in body else 0.0)).landscapes[0]
    assert [(place.row, place.column, why) for place, why in found.failed] == [(0, 0, reason)]
    assert (math.isnan(found.z[0, 0]), np.isnan(found.z).sum()) == (True, 1)


@pytest.mark.parametrize(("text", "expected"), [
    ("def other(parameters): return 0.0", "KeyError: 'loss'"),
    ("raise RuntimeError('no data')", "RuntimeError: no data"),
    ("import os; os._exit(1)", "ended its process"),
    ("def loss(p): return 0.0\ndef setup(): input()", "EOFError"),
])  # fmt: skip
def test_scripts_that_cannot_be_run_end_with_their_reason(run: Path, tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "bad.py").write_text(text)
    with pytest.raises(LandscapeError, match=expected):
        compute(options(run, tmp_path / "bad.py", tmp_path / "out"))


@pytest.mark.parametrize(("change", "expected"), [
    (lambda run: [path.unlink() for path in run.glob("*.npz")], "expected checkpoints, found none"),
    (lambda run: [path.unlink() for path in run.glob("*_[1234]_of*")], "found equal ones"),
])  # fmt: skip
def test_checkpoints_without_a_plane(run: Path, script: Path, tmp_path: Path, change, expected: str) -> None:
    change(run)
    with pytest.raises(LandscapeError, match=expected):
        compute(options(run, script, tmp_path / "out"))
    assert not list((tmp_path / "out").glob("*")) if (tmp_path / "out").exists() else True


def test_a_plan_names_the_steps_without_a_checkpoint(real_data: Path, tmp_path: Path) -> None:
    (run, *_) = sorted((real_data / "tuner/summaries").iterdir())
    path = tmp_path / "any.py"
    path.write_text("def loss(parameters): return float((parameters['0.weight'] ** 2).sum())")
    found = compute(LandscapeOptions(str(run), str(path), str(tmp_path / "out"), size=3))
    assert found.missing == (17, 18, 19)
    assert [one.tag for one in found.landscapes] == ["landscape_[1, 9]", "landscape_[10, 16]"]


PLANNED = [PlannedSurface("landscape_[1]", [0.1, 0.2, 0.3, 0.4, 0.5], [0.0, 1.0])]


def test_a_line_that_was_not_written_whole_ends_the_points(tmp_path: Path) -> None:
    path = tmp_path / "a.points"
    with PointsFile(str(path), PLANNED) as points:
        for column in range(5):
            points.add(Point(0, 1, column), Loss(math.nan, "why") if column == 3 else Loss(column / 3))
    content = path.read_bytes()
    first = content.index(b"\n") + 1
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        with PointsFile(str(path), PLANNED) as points:
            whole = max(content[:cut].count(b"\n") - 1, 0)
            assert len(points.known) == whole
            assert [loss.value for loss in points.known.values()][:3] == [0.0, 1 / 3, 2 / 3][:whole]
        assert path.read_bytes() == content[:first] + b"".join(content[first:].splitlines(keepends=True)[:whole])
    with PointsFile(str(path), PLANNED) as points:
        assert points.known[Point(0, 1, 3)].reason == "why"


def test_points_of_other_surfaces_are_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "a.points"
    with PointsFile(str(path), PLANNED) as points:
        points.add(Point(0, 1, 1), Loss(1.0))
    with PointsFile(str(path), [*PLANNED, *PLANNED]) as points:
        assert points.known == {}


def test_the_command(run: Path, script: Path, tmp_path: Path) -> None:
    given = ["landscape", run, "--script", script, "--out", tmp_path / "out", "--checkpoints", "*.npz", "--size", "3"]
    done = called(*given)
    assert (done.returncode, done.stdout.splitlines()[0].split(":")[0]) == (0, "landscape_[1, 5]")
    assert "in the plane" in done.stdout
    for more, expected in (
        (["--size", "2"], "--size: expected a whole number from 3 to 1,000, found '2'"),
        (["--intervals", "5-1"], "--intervals: expected FIRST-LAST"),
        (["--jobs", "x"], "--jobs: expected a whole number"),
    ):
        wrong = called(*given, *more)
        assert wrong.returncode == 2
        assert expected in wrong.stderr
    missing = called("landscape", run, "--script", tmp_path / "none.py", "--out", tmp_path / "out")
    assert (missing.returncode, "--script: expected a file" in missing.stderr) == (1, True)


@pytest.mark.parametrize(("loss", "text"), [(0.1, 0.1), (math.inf, "Infinity"), (-math.inf, "-Infinity"), (math.nan, None)])
def test_points_are_json_that_others_can_read(tmp_path: Path, loss: float, text: object) -> None:
    with PointsFile(str(tmp_path / "a.points"), PLANNED) as points:
        points.add(Point(1, -1, 2), Loss(loss))
    first, line = (tmp_path / "a.points").read_bytes().splitlines()
    assert json.loads(first[9:])[0]["x"] == PLANNED[0].x
    assert json.loads(line[9:]) == [1, -1, 2, text, ""]
    with PointsFile(str(tmp_path / "a.points"), PLANNED) as points:
        assert str(points.known[Point(1, -1, 2)].value) == str(loss)
