"""What a kill, a fork, a full disk, a lack of rights and a second writer leave behind."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from parsers import open_run
from parsers.recording import Recorder, RecordingWarning
from parsers.recording.output import MOST_WAITING
from tests.amounts import long_after
from tests.parsers.recording.read_back import events, files, values

ROOT = Path(__file__).resolve().parents[3]
WRITER = """
import sys, time
from parsers.recording import Recorder
run = Recorder(sys.argv[1], largest=int(sys.argv[2]))
longest, pause = int(sys.argv[3]), float(sys.argv[4])
step = 0
while True:
    run.log(step, {"begun": float(step), "text": "x" * (step % longest)})
    if step % 50 == 0:
        print(step, time.time(), flush=True)
    step += 1
    time.sleep(pause)
"""


def steps(directory: Path) -> list[int]:
    return [step for step, tag, _ in values(directory) if tag in ("begun", "loss")]


@pytest.mark.parametrize("seed", long_after(1, range(200)))
def test_a_kill_costs_nothing_that_is_older_than_two_seconds(tmp_path: Path, seed: int) -> None:
    """A slow writer never has as much waiting as is written at once: only time writes what it records."""
    rng = random.Random(seed)
    pace = rng.choice(["400 0.0005", "1 0.002"]) if seed else "1 0.002"
    command = [sys.executable, "-c", WRITER, str(tmp_path), str(rng.choice([0, 20_000])), *pace.split()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(rng.uniform(0.2, 4.2) if seed else 2.6)
        child.kill()
        killed = time.time()
        rows = [line.split() for line in child.stdout.read().splitlines()]
    old = [int(row[0]) for row in rows if len(row) == 2 and float(row[1]) < killed - 2]
    found = steps(tmp_path) if list(tmp_path.iterdir()) else []
    assert found == list(range(len(found)))
    assert len(found) > max(old, default=-1)
    if seed == 0:
        assert old, "the writer ran for less than two seconds"


def test_records_are_written_at_once_when_many_wait(tmp_path: Path) -> None:
    with Recorder(str(tmp_path)) as run:
        for step in range(30):
            run.log(step, {"loss": 0.5, "text": "x" * (MOST_WAITING // 10)})
        assert len(files(tmp_path, "*tfevents*")[0].read_bytes()) >= 2 * MOST_WAITING


def test_a_forked_child_writes_nothing(tmp_path: Path) -> None:
    with Recorder(str(tmp_path)) as run:
        run.log(1, {"loss": 0.5})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # forking a process with threads is what is tested
            child = os.fork()
        if child == 0:  # pragma: no cover  in the child
            try:
                run.log(2, {"loss": 0.5})
                run.flush()
                run.close()
            finally:
                os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        run.log(3, {"loss": 0.5})
    assert steps(tmp_path) == [1, 3]


def test_a_child_may_have_a_recorder_of_its_own(tmp_path: Path) -> None:
    with Recorder(str(tmp_path)) as run:
        run.log(1, {"loss": 0.5})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:  # pragma: no cover  in the child
            try:
                with Recorder(str(tmp_path)) as own:
                    own.log(2, {"loss": 0.5})
            finally:
                os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    assert sorted(steps(tmp_path)) == [1, 2]
    assert len(files(tmp_path, "*tfevents*")) == 2


def full_after(count: int, code: int) -> Callable[[int, bytes], int]:
    """os.write on a disk that has room for so many bytes."""
    real, room = os.write, [count]

    def write(descriptor: int, data: bytes) -> int:
        if not room[0]:
            raise OSError(code, os.strerror(code))
        done = real(descriptor, bytes(data)[: room[0]])
        room[0] -= done
        return done

    return write


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("room", [0, 50, 100, 1000])
def test_a_full_disk_ends_recording_with_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, room: int
) -> None:
    run = Recorder(str(tmp_path))
    with monkeypatch.context() as patched, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        patched.setattr(os, "write", full_after(room, code))
        for step in range(60):
            run.log(step, {"loss": 0.5})
            if step % 10 == 0:
                run.flush()
        run.close()
    assert [one.category for one in told] == [RecordingWarning]
    assert "recording ended" in str(told[0].message)
    for path in files(tmp_path, "*tfevents*"):
        content = path.read_bytes()
        assert len(content) <= room
        if content:
            events(path, "tensorboard")  # ends with a whole record


def test_a_directory_that_cannot_be_written_ends_recording_with_one_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with Recorder(str(tmp_path / "file" / "run"), settings={"lr": 0.1}) as run:
            for step in range(3):
                run.log(step, {"loss": 0.5})
                run.flush()
    assert [one.category for one in told] == [RecordingWarning]


def test_files_rotate_by_size_and_read_as_one_run(tmp_path: Path) -> None:
    with Recorder(str(tmp_path), largest=2000) as run:
        for step in range(100):
            run.log(step, {"loss": float(step), "note": "x" * 50})
            run.flush()
    found = files(tmp_path, "*tfevents*")
    assert len(found) > 3
    assert all(path.stat().st_size < 2300 for path in found)
    read = open_run(tmp_path)
    assert list(read.scalars["step"]) == list(range(100))
    assert len(read.texts) == 100
    assert read.problems == ()


def test_two_recorders_of_one_directory_have_files_of_their_own(tmp_path: Path) -> None:
    with Recorder(str(tmp_path)) as one, Recorder(str(tmp_path)) as other:
        for step in range(10):
            one.log(step, {"one": 0.5})
            other.log(step, {"other": 0.5})
    assert len(files(tmp_path, "*tfevents*")) == 2
    assert len(open_run(tmp_path).scalars) == 20


def test_what_was_flushed_is_synchronised_where_that_is_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synchronised: list[int] = []
    monkeypatch.setattr(os, "fsync", synchronised.append)
    for durable, wanted in ((False, 0), (True, 1)):
        with Recorder(str(tmp_path), fsync=durable) as run:
            run.log(1, {"loss": 0.5})
        assert len(synchronised) == wanted


def test_steps_that_go_back_and_clocks_that_jump_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [2_000_000_000.0]
    monkeypatch.setattr(time, "time", lambda: clock[0])
    with Recorder(str(tmp_path), largest=1) as run:
        for step in (5, 6, 3, 4):
            run.log(step, {"loss": 0.5})
            run.flush()
            clock[0] -= 1000
    assert steps(tmp_path) == [5, 6, 3, 4]


def test_a_signal_that_ends_the_interpreter_loses_nothing(tmp_path: Path) -> None:
    script = (
        "import sys, signal; from parsers.recording import Recorder; run = Recorder(sys.argv[1]); run.log(7, {'loss': 1.0});"
        "signal.raise_signal(signal.SIGINT)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == -signal.SIGINT
    assert steps(tmp_path) == [7]
