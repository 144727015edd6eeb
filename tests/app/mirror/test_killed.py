"""A mirror as users run it: killed at any moment, and directories that it refuses."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.app.mirror.places import EVENTS, contents, write
from tests.waiting import until

ROOT = Path(__file__).parents[3]


def started(there: Path, here: Path, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "app", "mirror", f"file://{there}", str(here), "--every", "0.1", *options]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill_and_look(tmp_path: Path, kills: int, seed: int) -> None:
    """Kill mirrors while files grow and are replaced; after each, every copy is a beginning of a version that was there."""
    chance = random.Random(seed)
    there, here = tmp_path / "there", tmp_path / "here"
    versions: dict[str, list[bytes]] = {f"run{number}/{EVENTS}": [] for number in range(6)}
    for name in versions:
        versions[name].append(chance.randbytes(200_000))
        write(there / name, versions[name][-1], time.time() - 5)
    for number in range(kills):
        mirror = started(there, here)
        if number == 0:  # later ones are killed while they start, too
            until(lambda: here.exists() and contents(here))
        end = time.monotonic() + chance.uniform(0.3, 1.2)
        while time.monotonic() < end:
            name = chance.choice(list(versions))
            before = versions[name][-1]
            grown = chance.random() < 0.7
            fresh = chance.randbytes(chance.randrange(1, 60_000 if grown else 300_000))
            data = before + fresh if grown else fresh
            part = there / "part"
            write(part, data, time.time())
            versions[name].append(data)
            os.replace(part, there / name)
            time.sleep(0.02)
        mirror.send_signal(signal.SIGKILL)
        mirror.wait(30)
        for name, data in contents(here).items():
            assert any(version.startswith(data) for version in versions[name]), (name, len(data))
    assert started(there, here, "--once").wait(60) == 0
    assert contents(here) == {name: found[-1] for name, found in versions.items()}
    hidden = [name for _, _, names in os.walk(here) for name in names if "part" in name]
    assert hidden == []


def test_a_copy_is_whole_or_a_beginning_whenever_the_mirror_is_killed(tmp_path: Path) -> None:
    kill_and_look(tmp_path, 3, 7)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_fifty_kills_leave_no_mixture(tmp_path: Path, seed: int) -> None:
    kill_and_look(tmp_path, 10, seed)


def test_a_directory_with_other_files_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "mine" / "notes.txt", b"mine")
    (tmp_path / "there").mkdir()
    assert started(tmp_path / "there", tmp_path / "mine", "--once").wait(60) == 2
    assert os.listdir(tmp_path / "mine") == ["notes.txt"]


def test_a_directory_of_another_address_is_refused(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path / name / "a" / EVENTS, name.encode())
    assert started(tmp_path / "one", tmp_path / "here", "--once").wait(60) == 0
    assert started(tmp_path / "two", tmp_path / "here", "--once").wait(60) == 2
    assert contents(tmp_path / "here") == {f"a/{EVENTS}": b"one"}
