"""Files that become something else between listing and reading: no reader waits, raises, or follows them elsewhere."""

from __future__ import annotations

import faulthandler
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from parsers import discover
from parsers.runs import Run
from tests.amounts import long_after
from tests.contract.every_kind import ask_checkpoints, ask_jobs, ask_studies, every_kind, kinds_below, write_every_kind
from tests.contract.samples import DATA
from tests.contract.test_nothing_is_written import ask_everything

PATIENCE_S = 120
"""Seconds after which the whole test run is ended with the stacks: whoever waits for a pipe waits for ever."""


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _socket(path: Path) -> None:
    path.unlink()
    with socket.socket(socket.AF_UNIX) as made:
        at = os.open(path.parent, os.O_RDONLY)  # a path of a socket has at most 107 bytes
        try:
            made.bind(f"/proc/self/fd/{at}/{path.name[:40]}")
            if len(path.name) > 40:
                (path.parent / path.name[:40]).rename(path)
        finally:
            os.close(at)


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _circle(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def _gone(path: Path) -> None:
    path.unlink()


def _cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def _replaced(path: Path) -> None:
    other = path.with_name("replacement")
    other.write_bytes(b"something else " * 50)
    other.rename(path)


CHANGES: list[Callable[[Path], None]] = [_fifo, _socket, _directory, _circle, _device, _gone, _cut, _replaced]


@pytest.fixture(autouse=True)
def _watched() -> Iterator[None]:
    faulthandler.dump_traceback_later(PATIENCE_S, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def files_of(run: Run) -> list[Path]:
    source = run.source
    places = [*(file.path for leaf in source.leaves for file in leaf.files)]
    for leaf in source.leaves:
        for directory in (*leaf.profile_dirs, *leaf.dump_dirs):
            places += [str(path) for path in sorted(Path(directory).rglob("*"))]
    return [path for path in map(Path, dict.fromkeys(places)) if path.is_file() and not path.is_symlink()]


@pytest.mark.parametrize("listed", [False, True], ids=["found", "listed"])
@pytest.mark.parametrize("first", long_after(1, range(len(CHANGES))))
def test_files_that_change_before_they_are_read(tmp_path: Path, first: int, listed: bool) -> None:
    """All changes in turn, from `first` on, so that with each first one every file has every change.

    listed: the files of profiles are listed and events are read before; what is asked for then comes from the new files.
    """
    base = tmp_path / "samples"
    shutil.copytree(DATA, base)
    write_every_kind(base)
    assert kinds_below(base) == every_kind()
    runs = [Run(source) for source in discover(base)]
    assert len(runs) > 20
    if listed:
        for run in runs:
            run.refresh(run.source)
            for profile in run.profile.values():
                assert profile.files
    changed = 0
    for run in runs:
        for path in files_of(run):
            CHANGES[(first + changed) % len(CHANGES)](path)
            changed += 1
    assert changed > 200
    for run in runs:
        run.refresh(run.source)
        ask_everything(run)
        ask_jobs(run)
    ask_checkpoints(base)
    ask_studies(base)
    told = [problem for run in runs for problem in run.problems]
    assert told, "what became of the files is said"
