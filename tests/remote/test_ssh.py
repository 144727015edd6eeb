"""Mirrors by ssh, against asyncssh's own SFTP server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.mirror.state import read_state
from tests.app.mirror.places import EVENTS, contents, write
from tests.remote.frames import DATA, PRODUCERS, same_runs
from tests.remote.servers import Machine

ROOT = Path(__file__).parents[2]


def mirrored(machine: Machine, path: str, directory: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "app", "mirror", f"ssh://cluster/{path}", str(directory), "--once", *options]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SSH_")} | {"HOME": str(machine.home)}
    return subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env=kept, timeout=120, check=False, stdin=subprocess.DEVNULL
    )


@pytest.mark.parametrize("name", PRODUCERS)
def test_runs_are_those_from_disk(machine: Machine, tmp_path: Path, name: str) -> None:
    (machine.base / "home").mkdir()
    subprocess.run(["cp", "-r", str(DATA / name), str(machine.base / "home")], check=True)
    done = mirrored(machine, "home/" + name, tmp_path / "copy")
    assert done.returncode == 0, done.stderr
    same_runs(name, tmp_path / "copy")


def test_growth_replacement_and_removal(machine: Machine, tmp_path: Path) -> None:
    data = os.urandom(300_000)
    write(machine.base / "runs/a" / EVENTS, data[:200_000], 1000.0)
    write(machine.base / "runs/训练 #1 100%" / EVENTS, b"1", 1000.0)
    assert mirrored(machine, "runs", tmp_path / "copy").returncode == 0
    assert (tmp_path / "copy/a" / EVENTS).stat().st_mtime == 1000.0
    write(machine.base / "runs/a" / EVENTS, data, 2000.0)
    mirrored(machine, "runs", tmp_path / "copy")
    state = read_state(str(tmp_path / "copy"))
    assert state is not None
    assert state.facts.bytes == 100_000 + 4096
    assert contents(tmp_path / "copy") == {f"a/{EVENTS}": data, f"训练 #1 100%/{EVENTS}": b"1"}
    write(machine.base / "runs/a" / EVENTS, b"other", 3000.0)
    (machine.base / "runs/训练 #1 100%" / EVENTS).unlink()
    mirrored(machine, "runs", tmp_path / "copy")
    assert contents(tmp_path / "copy") == {f"a/{EVENTS}": b"other"}


def test_links_are_not_followed_but_named(machine: Machine, tmp_path: Path) -> None:
    write(machine.base / "secret" / EVENTS, b"not yours")
    write(machine.base / "runs/a" / EVENTS, b"1")
    (machine.base / "runs/b").symlink_to("../secret")
    (machine.base / "runs/a/summary.1.x").symlink_to("../../secret/" + EVENTS)
    mirrored(machine, "runs", tmp_path / "copy")
    assert contents(tmp_path / "copy") == {f"a/{EVENTS}": b"1"}
    state = read_state(str(tmp_path / "copy"))
    assert state is not None
    assert {one.name: one.reason for one in state.entries if one.reason} == {"b": "link", "a/summary.1.x": "link"}


def test_an_unknown_host_is_refused_without_a_question(machine: Machine, tmp_path: Path) -> None:
    write(machine.base / "runs/a" / EVENTS, b"1")
    machine.forget()
    done = mirrored(machine, "runs", tmp_path / "copy")
    assert done.returncode == 1
    assert "the key of the host is not known" in done.stderr
    assert contents(tmp_path / "copy") == {}
    machine.trust()
    (machine.home / ".ssh/id_ed25519").unlink()
    done = mirrored(machine, "runs", tmp_path / "copy")
    assert done.returncode == 1
    assert "access was refused" in done.stderr
