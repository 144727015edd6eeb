"""Frames of jobs: ranks and jobs in the index, ranks that cannot be read, files that change, a full disk, cancelling."""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.engines import Here, Processes, RankTask, Told
from app.store.jobs import job_frames
from app.store.jobs.job_frames import LatestOfJobs, RankReader, key_of_job
from app.store.profiles import frames as profiles
from app.store.profiles.frames import ProfileFrames
from app.store.runs.index import Index, PlainDisk
from layouts.profiles.frames import ProfileFrame
from parsers import open_run
from parsers.model import Problem
from parsers.profiler.job_access import Job
from parsers.profiler.progress import Cancelled
from tests.amounts import examples
from tests.waiting import until
from tests.writers import clusters

FRAMES = ("groups", "collectives", "packets", "links", "cluster_steps")
RANKS = 10
WAIT = 60.0


class Recording(Here):
    """Reads here, last task first, and notes what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def run(
        self, tasks: Sequence[RankTask], told: Told, is_cancelled: Callable[[], bool]
    ) -> Iterator[tuple[RankTask, bytes | Problem]]:
        """See `Here`."""
        self.asked += [os.path.basename(os.path.dirname(os.path.dirname(task.files[0].path))) for task in tasks]
        return super().run(tasks[::-1], told, is_cancelled)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiles, "SMALL_BYTES", 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "run/profiler"
    clusters.write(made, ranks=RANKS, steps=4, operations=3)
    return made


def rank_folder(folder: Path, rank: int) -> Path:
    (found,) = folder.glob(f"host*_{rank}_*")
    return found


def job_of(folder: Path) -> Job:
    (job,) = open_run(folder.parent).profile.jobs
    return job


class Server:
    """What the store does with the frames of a job: looks at the files, reads in the background, keeps in the index."""

    def __init__(self, folder: Path, engine: Here | Processes | None = None, index: str | None = "index-profiles") -> None:
        self.engine = engine or Recording()
        self.folder = folder
        self.frames = ProfileFrames(str(folder.parents[1] / index) if index else None, engine=self.engine)

    def once(self, name: str) -> ProfileFrame:
        job = job_of(self.folder)
        return self.frames.frame_of_job(job, key_of_job(job, ""), name, again=True)

    def read(self, name: str) -> ProfileFrame:
        end = time.monotonic() + WAIT
        job = job_of(self.folder)
        again = True
        while (found := self.frames.frame_of_job(job, key_of_job(job, ""), name, again=again)).state in ("reading", "waiting"):
            assert time.monotonic() < end
            again = False
        return found

    def close(self) -> list[str]:
        """Stop, and return the ranks that were read."""
        self.frames.stop()
        return self.engine.asked if isinstance(self.engine, Recording) else []


def in_one_go(server: Server) -> tuple[dict[str, pd.DataFrame], list[str]]:
    found = {name: server.read(name) for name in FRAMES}
    asked = server.close()
    frames = {}
    for name, one in found.items():
        assert one.state == "ready", one.text
        assert one.frame is not None
        frames[name] = one.frame
    return frames, asked


def assert_fresh(frames: dict[str, pd.DataFrame], folder: Path) -> None:
    """Assert that frames are those that the library reads without index and engine."""
    job = job_of(folder)
    for name, frame in frames.items():
        wanted = job.frame(name)
        pd.testing.assert_frame_equal(frame.astype(object), wanted.astype(object))
        assert list(frame.dtypes.astype(str)) == list(wanted.dtypes.astype(str))


def test_a_known_job_is_not_read_again(folder: Path) -> None:
    frames, asked = in_one_go(Server(folder))
    assert len(asked) == 3 * RANKS  # operations with groups and packets, links, steps
    assert_fresh(frames, folder)
    known, asked = in_one_go(Server(folder))
    assert asked == []
    assert_fresh(known, folder)


def test_a_new_rank_costs_only_itself(folder: Path, tmp_path: Path) -> None:
    last = rank_folder(folder, RANKS - 1)
    shutil.move(last, tmp_path / "aside")
    _, asked = in_one_go(Server(folder))
    assert last.name not in asked
    shutil.move(tmp_path / "aside", last)
    frames, asked = in_one_go(Server(folder))
    assert asked == [last.name] * 3
    assert_fresh(frames, folder)


@settings(max_examples=examples(10), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_ranks_that_arrive_one_after_the_other_give_what_is_read_at_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, data: st.DataObject
) -> None:
    """In any order, in stretches of any length, with another server in between: values, types, texts and their order."""
    monkeypatch.setattr(job_frames, "TOGETHER", data.draw(st.integers(1, RANKS), label="together"))
    monkeypatch.setattr(job_frames, "LEAST_JOINED", data.draw(st.integers(1, 4), label="least"))
    aside = folder.with_name("aside")
    shutil.rmtree(aside, ignore_errors=True)
    shutil.rmtree(folder.parents[1] / "index-profiles", ignore_errors=True)
    aside.mkdir()
    order = data.draw(st.permutations(range(RANKS)), label="order")
    late = {rank: rank_folder(folder, rank) for rank in order[: data.draw(st.integers(1, 4), label="late")]}
    for path in late.values():
        path.rename(aside / path.name)
    server = Server(folder)
    for path in late.values():
        assert server.read("collectives").state == "ready"
        if data.draw(st.booleans(), label="another server"):
            server.close()
            server = Server(folder)
        (aside / path.name).rename(path)
    frames, asked = in_one_go(server)
    assert asked.count(path.name) == 3
    job = job_of(folder)
    for name, frame in frames.items():
        pd.testing.assert_frame_equal(frame, job.frame(name), check_exact=True)


def test_a_changed_file_is_read_again_alone(folder: Path) -> None:
    server = Server(folder)
    before = {name: server.read(name) for name in FRAMES}
    path = rank_folder(folder, 4) / "ASCEND_PROFILER_OUTPUT/communication.json"
    content = json.loads(path.read_text())
    for operation in content["step2"]["collective"].values():
        operation["Communication Time Info"]["Elapse Time(ms)"] = 99.0
    path.write_text(json.dumps(content))
    assert isinstance(server.engine, Recording)
    server.engine.asked.clear()
    frames, asked = in_one_go(server)
    assert asked == [rank_folder(folder, 4).name]  # neither links nor steps are from this file
    assert_fresh(frames, folder)
    changed = frames["collectives"]["elapse_ns"] == 99e6
    assert frames["collectives"].loc[changed, "rank"].tolist() == [4, 4, 4]
    assert before["collectives"].frame is not None
    assert not (before["collectives"].frame["elapse_ns"] == 99e6).any()


def test_older_frames_of_a_job_are_dropped_from_the_index(folder: Path, tmp_path: Path) -> None:
    server = Server(folder)
    for turn in range(3):
        path = rank_folder(folder, 4) / "ASCEND_PROFILER_OUTPUT/communication_matrix.json"
        path.write_text(path.read_text() + " " * (turn + 1))
        assert server.read("links").state == "ready"
    key = key_of_job(job_of(folder), "links")
    server.close()
    index = Index(str(tmp_path / "index-profiles"))
    assert key in index
    # groups with collectives and packets of ten ranks, their three frames; links of ten ranks and three versions, one frame
    # and the joined columns of all ranks, of both, in their last version
    assert len(index.keys()) == RANKS + 3 + RANKS + 2 + 1 + 2
    index.close()


def test_jobs_that_come_and_go_leave_little_in_memory(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_frames, "MOST_KNOWN", 5)
    job, latest, index = job_of(folder), LatestOfJobs(), Index(str(tmp_path / "index"))
    for number in range(20):
        latest.write(index, job, f"links {number}", f"{number:040x}", [b"x"])
    latest.write(index, job, "links 19", f"{20:040x}", [b"x"])
    assert len(latest._keys) == 5
    assert f"{19:040x}" not in index, "it is out of date"
    index.close()


def test_the_index_of_ranks_is_not_trusted_blindly(folder: Path, tmp_path: Path) -> None:
    in_one_go(Server(folder))
    index = Index(str(tmp_path / "index-profiles"))
    for name in FRAMES:
        index.delete(key_of_job(job_of(folder), name))
    index.close()
    damaged = 0
    for path in (tmp_path / "index-profiles").rglob("*.val"):
        data = bytearray(path.read_bytes())
        data[-3] ^= 1
        path.write_bytes(data)
        damaged += 1
    assert damaged == 3 * RANKS + 3  # of each rank, and of all joined
    frames, _ = in_one_go(Server(folder))
    assert_fresh(frames, folder)
    frames, asked = in_one_go(Server(folder))  # and what was read instead was kept
    assert asked == []


@pytest.mark.long
def test_a_full_disk_costs_the_index_and_nothing_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def write(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr(PlainDisk, "_write", write)
        frames, asked = in_one_go(Server(folder))
    assert len(asked) == 3 * RANKS
    assert_fresh(frames, folder)
    assert "cannot be used now" in caplog.text
    _, asked = in_one_go(Server(folder))
    assert len(asked) == 3 * RANKS
    _, asked = in_one_go(Server(folder))
    assert asked == []


def test_without_an_index(folder: Path) -> None:
    frames, _ = in_one_go(Server(folder, index=None))
    assert_fresh(frames, folder)


@pytest.mark.long
def test_a_rank_that_kills_processes_is_named_and_read_when_it_no_longer_does(folder: Path) -> None:
    hostile = rank_folder(folder, 3).rename(folder / "kills_3_20261120233012998_ascend_pt")
    path = hostile / "ASCEND_PROFILER_OUTPUT/communication.json"
    server = Server(folder, Processes(2, program="tests.app.hostile_process"))
    found = server.read("collectives")
    server.close()
    assert found.state == "ready"
    assert found.frame is not None
    assert sorted(found.frame["rank"].unique()) == [rank for rank in range(RANKS) if rank != 3]
    (problem,) = found.problems
    assert (problem.path, problem.kind) == (str(path), "unreadable")
    assert "signal 9" in problem.text
    frames, asked = in_one_go(Server(folder))
    assert asked[0] == hostile.name
    assert len(asked) == 1 + 2 * RANKS
    assert_fresh(frames, folder)


def test_a_rank_whose_directory_is_gone_is_named(folder: Path) -> None:
    """It was there when the directory was looked at."""
    job = job_of(folder)
    gone = rank_folder(folder, 7)
    kept = gone.with_name("aside")
    gone.rename(kept)
    server = Server(folder)
    end = time.monotonic() + WAIT
    while (found := server.frames.frame_of_job(job, "mark", "links")).state in ("reading", "waiting"):
        assert time.monotonic() < end
    server.close()
    assert found.state == "ready"
    assert found.frame is not None
    assert sorted(found.frame["rank"].unique()) == [rank for rank in range(RANKS) if rank != 7]
    (problem,) = found.problems
    assert (problem.kind, problem.path) == ("unreadable", str(gone / "ASCEND_PROFILER_OUTPUT/communication_matrix.json"))
    kept.rename(gone)
    frames, asked = in_one_go(Server(folder))
    assert asked.count(gone.name) == 3  # what could not be read was not kept
    assert_fresh(frames, folder)


def test_progress_is_of_bytes_and_reading_can_be_cancelled_and_resumed(folder: Path) -> None:
    server = Server(folder)
    begun: list[int] = []

    class Waiting(Here):
        def run(
            self, tasks: Sequence[RankTask], told: Told, is_cancelled: Callable[[], bool]
        ) -> Iterator[tuple[RankTask, bytes | Problem]]:
            yield from super().run(tasks[:2], told, is_cancelled)
            begun.append(sum(task.size for task in tasks[:2]))
            until(is_cancelled)
            raise Cancelled

    server.frames._engine = Waiting()
    job = job_of(folder)
    end = time.monotonic() + WAIT
    while not begun:
        found = server.frames.frame_of_job(job, "mark", "collectives")
        assert time.monotonic() < end
    found = server.frames.frame_of_job(job, "mark", "collectives")
    assert (found.state, found.done, found.total) == ("reading", begun[0], job.extent("collectives"))
    server.frames.cancel("mark", "collectives")
    while (found := server.frames.frame_of_job(job, "mark", "collectives")).state == "reading":
        assert time.monotonic() < end
    assert found.state == "cancelled"
    server.frames._engine = server.engine
    frames, asked = in_one_go(server)
    assert len(asked) == 3 * RANKS - 2  # what was read before is known
    assert_fresh(frames, folder)


def test_progress_counts_what_a_frame_is_made_with(folder: Path) -> None:
    server = Server(folder)
    totals = set()

    class Watched(Here):
        def run(
            self, tasks: Sequence[RankTask], told: Told, is_cancelled: Callable[[], bool]
        ) -> Iterator[tuple[RankTask, bytes | Problem]]:
            for found in super().run(tasks, told, is_cancelled):
                (reading,) = server.frames._background._queue
                totals.add((reading.total, reading.done <= reading.total))
                yield found

    server.frames._engine = Watched()
    assert server.read("links").state == "ready"
    server.close()
    job = job_of(folder)
    assert totals == {(job.extent("links") + job.extent("groups"), True)}


def test_ranks_come_in_their_order_however_they_are_read(folder: Path, tmp_path: Path) -> None:
    index = Index(str(tmp_path / "own"))
    told: list[int] = []
    job = job_of(folder)
    frame = job.frame("links", RankReader(index, Recording(), told.append, lambda: False))
    assert frame["rank"].is_monotonic_increasing
    assert sum(told) == job.extent("groups") + job.extent("links")
    told.clear()
    again = job_of(folder)
    pd.testing.assert_frame_equal(again.frame("links", RankReader(index, Here(), told.append, lambda: False)), frame)
    assert sum(told) == job.extent("groups") + job.extent("links")
    index.close()
