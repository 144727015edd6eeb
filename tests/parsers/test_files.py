"""Reading ranges of a file: exactly the bytes that are there, also where one call gives less and where the file was cut."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from parsers.discovery.scanner import Scanner
from parsers.files import RegularFile, beginning, stay_below
from parsers.recording import EventWriter
from parsers.runs import Run

DATA = bytes(range(256)) * 4


class _Slow:
    """A file that gives at most seven bytes at a time, as network file systems and signals do."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def seek(self, at: int) -> None:
        self.at = at

    def read(self, length: int) -> bytes:
        found = self.data[self.at : self.at + min(length, 7)]
        self.at += len(found)
        return found

    def readinto(self, into: memoryview) -> int:
        found = self.read(len(into))
        into[: len(found)] = found
        return len(found)

    def close(self) -> None:
        pass


def _pipe(path: Path) -> Iterator[None]:
    """A pipe in which bytes wait, as a reader that is fast finds it."""
    os.mkfifo(path)
    held = os.open(path, os.O_RDWR)
    os.write(held, DATA)
    yield
    os.close(held)


def _silent(path: Path) -> Iterator[None]:
    os.mkfifo(path)
    yield


def _socket(path: Path) -> Iterator[None]:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))
        yield


def _directory(path: Path) -> Iterator[None]:
    path.mkdir()
    yield


def _device(path: Path) -> Iterator[None]:
    path.symlink_to("/dev/zero")
    yield


@pytest.mark.parametrize("make", [_pipe, _silent, _socket, _directory, _device])
@pytest.mark.parametrize("opening", ["RegularFile(path)", "beginning(path, 10)"])
def test_only_regular_files_are_opened_and_none_is_waited_for(
    tmp_path: Path, make: Callable[[Path], Iterator[None]], opening: str
) -> None:
    """In a process of its own, since one that waits for a pipe can only be killed."""
    path = tmp_path / "x"
    script = f"import sys\nfrom parsers.files import RegularFile, beginning\npath = sys.argv[1]\n{opening}"
    with contextmanager(make)(path):
        command = [sys.executable, "-c", script, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "OSError" in done.stderr, done.stderr
    assert "not a regular file" in done.stderr or make is _socket  # which the system does not open


def written(path: Path, tag: str) -> None:
    with EventWriter(str(path), "tensorboard") as writer:
        writer.add(1, {tag: 0.5})


@pytest.fixture
def swapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Run]]:
    """Runs whose files were links out of the base when they were read, but not when they were listed."""
    monkeypatch.delenv("_MINDSCOPE_BELOW", raising=False)
    base = tmp_path / "base"
    outside = tmp_path / "outside" / "events.out.tfevents.1700000000.h"
    for path in (base / "a" / outside.name, outside):
        path.parent.mkdir(parents=True)
        written(path, path.parent.name)

    def swap(*, directory: bool, stay_inside: bool = True) -> Run:
        (source,) = Scanner(base, stay_inside=stay_inside).scan()
        if stay_inside:
            stay_below(str(base))
        place = base / "a" if directory else base / "a" / outside.name
        place.rename(tmp_path / "before")
        place.symlink_to(outside.parent if directory else outside)
        run = Run(source)
        run.refresh(source)
        return run

    yield swap
    os.environ.pop("_MINDSCOPE_BELOW", None)


@pytest.mark.parametrize("directory", [False, True], ids=["file", "directory"])
def test_a_file_that_becomes_a_link_out_of_the_base_is_not_read(swapped: Callable[..., Run], directory: bool) -> None:
    run = swapped(directory=directory)
    assert not run.tags()
    assert [problem.kind for problem in run.problems] == ["unreadable"]
    assert "a link leads out of the directory of runs" in run.problems[0].text


def test_a_server_of_this_machine_follows_links(swapped: Callable[..., Run]) -> None:
    assert swapped(directory=False, stay_inside=False).tags() == ("outside",)


def test_links_within_the_base_are_followed_and_other_directories_are_left_alone(
    swapped: Callable[..., Run], tmp_path: Path
) -> None:
    swapped(directory=True)
    (tmp_path / "before").rename(tmp_path / "base" / "b")
    link = tmp_path / "base" / "link"
    link.symlink_to(tmp_path / "base" / "b")
    (tmp_path / "elsewhere").symlink_to(tmp_path / "outside")
    for place in (tmp_path / "base" / "b", link, tmp_path / "outside", tmp_path / "elsewhere"):
        assert beginning(str(place / "events.out.tfevents.1700000000.h"), 1)


def test_programs_that_are_started_do_not_leave_the_base_either(swapped: Callable[..., Run], tmp_path: Path) -> None:
    swapped(directory=True)
    code = "import sys\nfrom parsers.files import RegularFile\nRegularFile(sys.argv[1])"
    path = tmp_path / "base" / "a" / "events.out.tfevents.1700000000.h"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert "a link leads out of the directory of runs" in done.stderr


@pytest.mark.parametrize("offset", [0, 1, 700, 1024, 5000])
@pytest.mark.parametrize("length", [0, 1, 6, 7, 8, 400, 1024, 9999])
@pytest.mark.parametrize("slow", [False, True], ids=["whole", "pieces"])
def test_a_range_has_its_bytes(tmp_path: Path, offset: int, length: int, slow: bool) -> None:
    path = tmp_path / "file"
    path.write_bytes(DATA)
    with RegularFile(str(path)) as file:
        if slow:
            file._file.close()
            file._file = _Slow(DATA)  # type: ignore[assignment]
        assert file.read(offset, length) == DATA[offset : offset + length]
        assert file.whole() == DATA
        assert file.size == len(DATA)


@pytest.mark.parametrize("left", [0, 10, 300])
def test_a_file_that_is_cut_while_it_is_open_has_what_is_left(tmp_path: Path, left: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(DATA)
    with RegularFile(str(path)) as file:
        path.write_bytes(DATA[:left])
        assert file.whole() == DATA[:left]
        assert file.size == left, "nothing is expected after the cut any more"
        assert file.read(5, 1000) == DATA[5:left]
