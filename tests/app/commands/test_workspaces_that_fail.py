"""A server whose workspace is full, read-only or away: it serves, warns once, and uses the workspace again afterwards."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.commands.running import ROOT, free_port, get
from tests.parsers.events.event_reference import framed
from tests.waiting import until
from tests.writers.worst_binaries import _scalar

RUNS = 6
POINTS = 4000
SMALL = "size=220k"
"""Of a file system that has room for an empty index, not for all runs."""


def write(base: Path, name: str) -> None:
    directory = base / name
    directory.mkdir()
    records = b"".join(_scalar(b"loss", step) for step in range(POINTS))
    (directory / "events.out.tfevents.1700000000.h").write_bytes(framed(b"\x09" + bytes(8) + b"\x1a\rbrain.Event:2") + records)


@contextlib.contextmanager
def mounted(path: Path, options: str) -> Iterator[None]:
    """Mount a file system in memory, where this user may."""
    path.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(path)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("this user may not mount a file system")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def remount(path: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(path)], check=True)


@contextlib.contextmanager
def served(base: Path, workspace: Path, log: Path) -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", "app", "--summary-base-dir", str(base), "--workspace", str(workspace), "--port", str(port)]
    with log.open("w") as written:
        server = subprocess.Popen([*command, "--reload-interval", "1"], cwd=ROOT, stdout=written, stderr=subprocess.STDOUT)
    try:
        until(lambda: "Web address" in log.read_text() or server.poll() is not None)
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait(60)


def loaded(url: str, runs: int) -> bool:
    return json.loads(get(url + "api/health")[1])["loaded"] == runs


def points(url: str, run: str) -> int:
    return len(get(f"{url}api/scalars.csv?run={run}&tag=loss")[1].splitlines()) - 1


def note(url: str, run: str, remark: str) -> int:
    """Add a tag to a run; return the status."""
    body = json.dumps({"run": run, "add": [remark], "remove": []}).encode()
    headers = {"Content-Type": "application/json", "Origin": url.rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url + "api/note", body, headers), timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def stored(workspace: Path) -> int:
    return len(list((workspace / "index").glob("*/*/*.val")))


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    base = tmp_path / "runs"
    base.mkdir()
    for number in range(RUNS):
        write(base, f"run{number}")
    return base


@pytest.mark.long
def test_a_full_disk_costs_the_index_until_there_is_room(runs: Path, tmp_path: Path) -> None:
    disk, log = tmp_path / "disk", tmp_path / "log"
    with mounted(disk, SMALL), served(runs, disk / "workspace", log) as url:
        until(lambda: loaded(url, RUNS))
        assert points(url, "run3") == POINTS
        until(lambda: "No space left" in log.read_text() or "disk is full" in log.read_text())
        before = stored(disk / "workspace")
        remount(disk, "size=64m")
        write(runs, "more")
        until(lambda: stored(disk / "workspace") > before)
        assert points(url, "more") == POINTS
        assert log.read_text().count("WARNING") == 1, log.read_text()


def test_a_workspace_that_is_away_and_returns(runs: Path, tmp_path: Path) -> None:
    place, away, log = tmp_path / "workspace", tmp_path / "away", tmp_path / "log"
    with served(runs, place, log) as url:
        until(lambda: loaded(url, RUNS))
        assert note(url, "run1", "before") == 200
        place.rename(away)
        assert note(url, "run1", "meanwhile") == 507
        write(runs, "more")
        until(lambda: loaded(url, RUNS + 1))
        assert points(url, "more") == POINTS
        shutil.rmtree(place, ignore_errors=True)
        away.rename(place)
        assert note(url, "run1", "after") == 200
        kept = "".join(path.read_text() for path in (place / "notes").iterdir() if path.is_file())
        assert '"before"' in kept
        assert '"after"' in kept
        assert "meanwhile" not in kept
        assert log.read_text().count("WARNING") <= 1, log.read_text()


def test_a_workspace_that_is_deleted_is_made_again(runs: Path, tmp_path: Path) -> None:
    """With rm -rf while the server runs, and again as an empty directory: what is confirmed afterwards is there."""
    place, log = tmp_path / "workspace", tmp_path / "log"
    with served(runs, place, log) as url:
        until(lambda: loaded(url, RUNS))
        assert note(url, "run1", "before") == 200
        shutil.rmtree(place)
        write(runs, "more")
        until(lambda: loaded(url, RUNS + 1))
        assert points(url, "more") == POINTS
        assert points(url, "run3") == POINTS
        place.mkdir(mode=0o700, exist_ok=True)
        until(lambda: note(url, "run1", "after") == 200)
        kept = "".join(path.read_text() for path in (place / "notes").iterdir() if path.is_file())
        assert '"after"' in kept
        write(runs, "last")
        until(lambda: loaded(url, RUNS + 2))
        assert points(url, "last") == POINTS
        assert log.read_text().count("WARNING") <= 1, log.read_text()
        assert "Traceback" not in log.read_text()


def test_a_workspace_that_is_read_only_is_said_once_and_left_alone(runs: Path, tmp_path: Path) -> None:
    disk, log = tmp_path / "disk", tmp_path / "log"
    with mounted(disk, "size=64m"):
        (disk / "workspace").mkdir(mode=0o700)
        remount(disk, "ro")
        with served(runs, disk / "workspace", log) as url:
            until(lambda: loaded(url, RUNS))
            assert points(url, "run3") == POINTS
            assert log.read_text().count("no index, no remarks and no views are kept") == 1
        assert not list((disk / "workspace").iterdir())
