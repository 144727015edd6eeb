"""What is confirmed is on the disk: in which order the system is asked to write, seen by its calls."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.store.runs.notes import Notes
from tests.app.store.runs.test_killed_notes import KINDS, change, kept

Calls = list[tuple[str, ...]]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """The calls that write, sync and rename, with the names of their files; they are made as well."""
    found: Calls = []

    def noted(name: str, names: Callable[..., tuple[str, ...]]) -> None:
        real = getattr(os, name)

        def call(*arguments: Any, **more: Any) -> Any:
            found.append((name, *names(*arguments)))
            return real(*arguments, **more)

        monkeypatch.setattr(os, name, call)

    def of_descriptor(descriptor: int) -> tuple[str, ...]:
        return (os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")),)

    noted("fsync", of_descriptor)
    noted("replace", lambda old, new: (os.path.basename(old), os.path.basename(new)))
    noted("mkdir", lambda path, *_: (os.path.basename(path),))
    return found


pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="names of open files are in /proc")


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_is_synced_replaced_and_its_directory_synced(tmp_path: Path, calls: Calls, kind: str) -> None:
    directory = tmp_path / "notes"
    directory.mkdir(mode=0o700)
    notes = Notes(str(directory))
    for number in range(2):
        calls.clear()
        change(notes, kind, 0, number)
        assert calls == [("fsync", "notes.new"), ("replace", "notes.new", "notes.jsonl"), ("fsync", "notes")]
    calls.clear()
    assert kept(notes.look(), kind, 0) == 1
    assert calls == []


def test_what_is_synced_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits in a buffer of ours when the system is asked to write."""
    notes, sizes = Notes(str(tmp_path)), list[int]()
    real = os.fsync

    def fsync(descriptor: int) -> None:
        sizes.append(os.fstat(descriptor).st_size)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    change(notes, "note", 0, 1)
    assert sizes[0] == os.stat(notes.path).st_size > 0


def test_the_copy_of_a_damaged_file_is_synced_before_that_is_replaced(tmp_path: Path, calls: Calls) -> None:
    notes = Notes(str(tmp_path))
    change(notes, "note", 0, 1)
    with open(notes.path, "ab") as file:
        file.write(b"damage\n")
    calls.clear()
    assert kept(notes.look(), "note", 0) == 1
    (copy,) = tmp_path.glob("notes-damaged-*")
    assert calls[:3] == [("fsync", copy.name), ("fsync", "notes.new"), ("replace", "notes.new", "notes.jsonl")]
    assert calls[3:] == [("fsync", tmp_path.name)], "which has the name of the copy, too"


def test_a_directory_that_is_made_again_is_synced_with_its_workspace(tmp_path: Path, calls: Calls) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir(mode=0o700)
    (workspace / "notes").mkdir(mode=0o700)
    notes = Notes(str(workspace / "notes"))
    (workspace / "notes").rmdir()
    calls.clear()
    change(notes, "note", 0, 1)
    assert calls[:2] == [("mkdir", "notes"), ("fsync", "workspace")]


def test_a_directory_that_another_program_makes_at_the_same_moment_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir(mode=0o700)
    (workspace / "notes").mkdir(mode=0o700)
    notes = Notes(str(workspace / "notes"))
    (workspace / "notes").rmdir()
    real = os.mkdir

    def mkdir(path: str, mode: int) -> None:
        real(path, mode)  # the other one
        real(path, mode)

    monkeypatch.setattr(os, "mkdir", mkdir)
    change(notes, "note", 0, 1)
    assert kept(Notes(str(workspace / "notes")).look(), "note", 0) == 1
