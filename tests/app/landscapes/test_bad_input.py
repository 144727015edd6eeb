"""Checkpoints, directories, disks and scripts that are not as they should be: each is said, the rest is computed."""

from __future__ import annotations

import errno
import math
import os
import pickle
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from app.landscapes import compute
from app.landscapes.chosen import MOST_CHECKPOINTS, chosen
from app.landscapes.options import LandscapeError
from app.landscapes.points_file import PointsFile
from parsers import open_run
from parsers.landscapes.points import Loss, PlannedSurface, Point
from tests.amounts import long_after
from tests.app.commands.running import ROOT, called
from tests.app.landscapes.networks import LOSS, checkpoints, options, save, script
from tests.waiting import until

ENCRYPTED = Path(__file__).parents[2] / "data/mindspore_landscape/2.10"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    script(tmp_path)
    return checkpoints(tmp_path / "run")


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in sorted(folder.rglob("*")) if path.is_file()
    }  # fmt: skip


def second(run: Path) -> Path:
    return run / "net_2.npz"


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut": (lambda run: second(run).write_bytes(second(run).read_bytes()[:-40]), "the file was cut"),
    "empty": (lambda run: second(run).write_bytes(b""), "found other bytes"),
    "pickled": (lambda run: second(run).write_bytes(pickle.dumps({"a.weight": [1.0]})), "no pickle, found one"),
    "encrypted": (
        lambda run: second(run).write_bytes((ENCRYPTED / "encrypted_gcm.bin").read_bytes()), "one that MindSpore encrypted",
    ),
    "encrypted by another mode": (
        lambda run: second(run).write_bytes((ENCRYPTED / "encrypted_cbc.bin").read_bytes()), "one that MindSpore encrypted",
    ),
    "other shape": (lambda run: save(run, 2, np.zeros((2, 2)), np.zeros(2)), r"expected a.weight of shape \(3, 2\), found one"),
    "other network": (lambda run: np.savez(second(run), **{"b.weight": np.zeros(3)}), r"expected a.weight .* found none"),
    "whole numbers": (lambda run: save(run, 2, np.zeros((3, 2), int), np.zeros(2)), "type int64"),
    "infinity": (lambda run: save(run, 2, np.full((3, 2), np.inf), np.zeros(2)), "found NaN or infinity"),
    "NaN": (lambda run: save(run, 2, np.full((3, 2), np.nan), np.zeros(2)), "found NaN or infinity"),
    "objects": (lambda run: np.savez(second(run), **{"a.weight": np.array([{}], object)}), "never unpickled"),
}  # fmt: skip


@pytest.fixture(scope="module")
def without_second(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """The losses of a run without its second checkpoint."""
    base = tmp_path_factory.mktemp("without")
    script(base)
    run = checkpoints(base / "run")
    second(run).unlink()
    (found,) = compute(options(run, base / "out")).landscapes
    return found.z


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_checkpoint_that_cannot_be_used_is_named_and_the_others_are_computed(
    run: Path, tmp_path: Path, without_second: np.ndarray, damage: str
) -> None:
    change, expected = DAMAGE[damage]
    change(run)
    before, said = snapshot(run), list[str]()
    found = compute(options(run, tmp_path / "out"), said.append)
    (problem,) = found.problems
    assert problem.startswith(f"step 2: {second(run)}: ")
    assert re.search(expected, problem), problem
    assert f"left out: {problem}" in said
    (one,) = found.landscapes
    assert (one.tag, one.steps, np.isfinite(one.z).all()) == ("landscape_[1, 5]", (1, 3, 4, 5), True)
    assert snapshot(run) == before
    assert np.array_equal(one.z, without_second), "it is the landscape of the others, as if this one had not been there"


def test_the_last_checkpoint_that_is_finite_is_the_end(run: Path, tmp_path: Path) -> None:
    for step in (4, 5):
        save(run, step, np.full((3, 2), np.nan), np.zeros(2))
    found = compute(options(run, tmp_path / "out"))
    assert ([one.steps for one in found.landscapes], len(found.problems)) == ([(1, 2, 3)], 2)
    assert found.landscapes[0].tag == "landscape_[1, 3]"


def test_nothing_is_written_if_no_checkpoint_can_be_read(run: Path, tmp_path: Path) -> None:
    for path in run.iterdir():
        path.write_bytes((ENCRYPTED / "encrypted_gcm.bin").read_bytes())
    with pytest.raises(LandscapeError, match=r"expected checkpoints that can be read, found none: step 1: .*encrypted"):
        compute(options(run, tmp_path / "out"))
    assert list((tmp_path / "out").iterdir()) == []


def test_a_landscape_that_cannot_be_computed_leaves_the_others(run: Path, tmp_path: Path) -> None:
    for step in (1, 2):
        save(run, step, np.ones((3, 2)), np.ones(2))
    given = ["landscape", run, "--script", tmp_path / "loss.py", "--out", tmp_path / "out", "--checkpoints", "*.npz"]
    done = called(*given, "--size", "3", "--intervals", "1-2,3-5")
    assert (done.returncode, done.stdout.split(":")[0]) == (3, "landscape_[3, 5]")
    assert "left out: [1, 2]: expected checkpoints that differ, found equal ones" in done.stderr


@pytest.mark.parametrize("count", [2_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_of_very_many_checkpoints_some_are_taken(tmp_path: Path, count: int) -> None:
    """They are links to two files: what is tested is their number."""
    script(tmp_path)
    run = tmp_path / "run"
    run.mkdir()
    checkpoints(tmp_path / "files", 2)
    for step in range(count):
        os.link(tmp_path / f"files/net_{step % 2 + 1}.npz", run / f"net_{step}.npz")
    (path,) = chosen(options(run, tmp_path / "out")).paths
    assert (len(path.files), path.steps[0], path.steps[-1], path.thinned) == (MOST_CHECKPOINTS, 0, count - 1, count)
    (path,) = chosen(options(run, tmp_path / "out", intervals=((10, 20),))).paths
    assert (path.steps, path.thinned) == (tuple(range(10, 21)), 0)


def test_a_thinned_path_is_said_and_computed(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.landscapes.chosen.MOST_CHECKPOINTS", 3)
    said: list[str] = []
    found = compute(options(run, tmp_path / "out"), said.append)
    assert found.landscapes[0].steps == (1, 3, 5)
    assert "[1, 5]: 3 of 5 checkpoints are taken, evenly from first to last" in said


# Directories -----------------------------------------------------------------------------------------------------------


def test_a_directory_of_somebody_else_is_refused_and_left_as_it_is(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "thesis"
    out.mkdir()
    (out / "chapter.tex").write_text("text")
    before = snapshot(out), out.stat().st_mtime_ns
    done = called("landscape", run, "--script", tmp_path / "loss.py", "--out", out, "--checkpoints", "*.npz", "--size", "3")
    assert done.returncode == 1
    assert "found 'chapter.tex'" in done.stderr
    assert (snapshot(out), out.stat().st_mtime_ns) == before


@pytest.mark.parametrize("inside", ["", "landscapes", "a/b"])
def test_the_directory_of_another_run_is_refused(run: Path, tmp_path: Path, inside: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "events.out.events.summary.1700000000.1.x_MS").write_bytes(b"")
    before = snapshot(other)
    with pytest.raises(LandscapeError, match="nothing was written"):
        compute(options(run, other / inside))
    assert (snapshot(other), len(list(other.iterdir()))) == (before, 1)


def test_results_are_kept_beside_each_other_and_in_the_run(run: Path, tmp_path: Path) -> None:
    before = snapshot(run)
    for out in (tmp_path / "out", run, run / "landscapes"):
        for seed in (0, 1):
            compute(options(run, out, kinds=("random",), seed=seed, checkpoints="net_*.npz"))
        assert len(list(out.glob("landscape-*.json"))) == 2
    assert before.items() <= snapshot(run).items()


def test_a_file_in_place_of_the_directory_is_refused(run: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(LandscapeError, match="expected a directory"):
        compute(options(run, tmp_path / "out"))
    assert (tmp_path / "out").read_text() == "mine"


def test_links_in_place_of_our_files_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "a.points").symlink_to(tmp_path / "mine")
    with pytest.raises(OSError, match=r"a\.points") as caught:
        PointsFile(str(tmp_path / "a.points"), PLANNED)
    assert caught.value.errno == errno.ELOOP
    assert (tmp_path / "mine").read_text() == "mine"


# Points and disks ------------------------------------------------------------------------------------------------------

PLANNED = [PlannedSurface("landscape_[1]", [0.1, 0.2, 0.3, 0.4, 0.5], [0.0, 1.0])]


def test_a_damaged_line_costs_one_point(tmp_path: Path) -> None:
    path = tmp_path / "a.points"
    with PointsFile(str(path), PLANNED) as points:
        for column in range(5):
            points.add(Point(0, 1, column), Loss(column / 3))
    lines = path.read_bytes().splitlines(keepends=True)
    at = sum(map(len, lines[:3]))
    path.write_bytes(b"".join([*lines[:3], lines[3].replace(b"0.6", b"0.7"), *lines[4:]]))
    with PointsFile(str(path), PLANNED) as points:
        assert sorted(point.column for point in points.known) == [0, 1, 3, 4]
        assert points.damage == [f"{path}: byte {at:,}: expected a point, found a damaged line"]
        points.add(Point(0, 1, 2), Loss(2 / 3))
    with PointsFile(str(path), PLANNED) as points:
        assert ({point.column: loss.value for point, loss in points.known.items()}, points.damage) == (
            {column: column / 3 for column in range(5)}, [],
        )  # fmt: skip


def test_points_whose_surfaces_are_damaged_are_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "a.points"
    with PointsFile(str(path), PLANNED) as points:
        points.add(Point(0, 1, 1), Loss(1.0))
    path.write_bytes(path.read_bytes().replace(b"0.1", b"0.9"))
    with PointsFile(str(path), PLANNED) as points:
        assert (points.known, points.damage) == (
            {}, [f"{path}: byte 0: expected the surfaces, found a line with another checksum"]
        )  # fmt: skip


def no_room(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("call", ["fdatasync", "posix_fallocate", "replace"])
def test_a_full_disk_is_said_with_the_file_and_leaves_nothing_behind(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    out = tmp_path / "out"
    with monkeypatch.context() as full:
        full.setattr(os, call, no_room)
        with pytest.raises(OSError, match="No space left on device") as caught:
            compute(options(run, out))
    assert str(caught.value.filename).startswith(str(out))
    assert not list(out.glob("landscape-planes-*"))
    found = compute(options(run, out)).landscapes[0]
    assert np.isfinite(found.z).all()
    assert sorted(path.suffix for path in out.iterdir()) == [".json", ".landscape_MS"]


@pytest.mark.parametrize("most", [64, 400, 2000])
def test_the_command_ends_where_files_may_not_grow(run: Path, tmp_path: Path, most: int) -> None:
    """The directions take 192 bytes, the points of 3 x 3 places more than 400, the summary file more than 2,000 of 20 x 20."""
    given = ["--script", tmp_path / "loss.py", "--out", tmp_path / "out", "--checkpoints", "*.npz", "--size", "20"]
    command = [sys.executable, "-m", "app", "landscape", run, *given]
    done = subprocess.run(
        [*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
    )  # fmt: skip
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert f"{tmp_path / 'out'}" in done.stderr
    assert "expected to read and write it, found: File too large" in done.stderr
    assert not list((tmp_path / "out").glob("landscape-planes-*"))
    assert not list((tmp_path / "out").glob(".events*"))


def test_a_directory_that_cannot_be_made_is_said(run: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    given = ["--script", tmp_path / "loss.py", "--out", tmp_path / "file/out", "--checkpoints", "*.npz"]
    done = called("landscape", run, *given)
    assert (done.returncode, "Traceback" in done.stderr, "file/out" in done.stderr) == (1, False, True)


# Scripts ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", long_after(3, [
    "    if os.fork() == 0: time.sleep(600)\n",
    "    sys.stdout.buffer.write(b'\\x00\\xff[1, 2, 0.5]\\n'); sys.stdout.flush(); print('[0, 0, 9.0, \"\"]')\n",
    "    assert sys.stdin.read() == ''\n",
    "    os.fork()\n",
    "    if os.fork() == 0: raise ValueError('in the fork')\n",
    "    if os.fork() == 0: os._exit(5)\n",
    "    os.write(1, os.urandom(1000)); os.write(2, b'\\x1b]0;title\\x07')\n",
]))  # fmt: skip
def test_scripts_that_fork_print_and_read_compute_what_they_return(run: Path, tmp_path: Path, body: str) -> None:
    (wanted,) = compute(options(run, tmp_path / "wanted")).landscapes
    script(tmp_path, LOSS.replace("    return", f"{body}    return"))
    (found,) = compute(options(run, tmp_path / "out", jobs=2)).landscapes
    assert (found.failed, np.array_equal(found.z, wanted.z)) == ((), True)


def test_what_a_script_forked_does_not_outlive_the_computation(run: Path, tmp_path: Path) -> None:
    told = tmp_path / "pids"
    body = f"    if os.fork() == 0: time.sleep(600)\n    open({str(told)!r}, 'a').write(f'{{os.getpid()}}\\n')\n"
    script(tmp_path, LOSS.replace("    return", f"{body}    return"))
    compute(options(run, tmp_path / "out"))
    groups = {int(line) for line in told.read_text().split()}
    until(lambda: not any(map(members, groups)))


def members(group: int) -> list[str]:
    """Processes of a group that are no zombies."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(entry.parent.name)
    return found


def test_a_worker_that_ends_while_its_fork_lives_is_noticed(run: Path, tmp_path: Path) -> None:
    """The fork has the pipe of the worker, so that its end is not seen there."""
    body = "    if parameters['a.bias'][0] == END and os.fork(): os._exit(9)\n    if os.getppid() == 1: time.sleep(600)\n"
    with np.load(run / "net_5.npz") as archive:
        last = float(archive["a.bias"][0])
    script(tmp_path, f"END = {last!r}\n" + LOSS.replace("    return", f"{body}    return"))
    (found,) = compute(options(run, tmp_path / "out")).landscapes
    reasons = {reason for _, reason in found.failed}
    assert reasons == {"the process ended with exit code 9"}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_losses_that_are_not_finite_are_kept_as_they_are(run: Path, tmp_path: Path, value: float) -> None:
    body = f"    calls.append(0)\n    return float('{value}') if len(calls) > 5 else 1.0\n"
    script(tmp_path, f"calls = []\ndef loss(parameters):\n{body}")
    (found,) = compute(options(run, tmp_path / "out")).landscapes
    read = open_run(tmp_path / "out").landscape(found.tag, 0)
    assert np.array_equal(read.z, np.full((3, 3), value), equal_nan=True)
    assert read.path_z.tolist() == [1.0] * 5
    assert (len(found.failed), math.isnan(found.sharpness)) == (9 if math.isnan(value) else 0, True)


def test_what_a_script_writes_to_the_pipe_of_its_worker_is_no_answer(run: Path, tmp_path: Path) -> None:
    opened = "[fd for fd in range(3, 64) if os.path.exists(f'/proc/self/fd/{fd}')]"
    pipe = f"PIPE = max(fd for fd in {opened} if stat.S_ISFIFO(os.fstat(fd).st_mode))"
    script(tmp_path, f"import stat\n{pipe}\ndef loss(parameters): os.write(PIPE, b'garbage\\n')\n")
    with pytest.raises(LandscapeError, match=r"found b'garbage': the script wrote to its pipe"):
        compute(options(run, tmp_path / "out"))


# Sizes -----------------------------------------------------------------------------------------------------------------


def test_more_places_than_can_be_shown_are_refused_before_they_are_computed(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.landscapes.running.MOST_PLACES", 13)
    with pytest.raises(LandscapeError, match="expected up to 13 points in all"):
        compute(options(run, tmp_path / "out"))
