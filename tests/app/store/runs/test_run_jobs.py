"""The jobs of the list of runs, and their frames as pages ask for them."""

from __future__ import annotations

import gc
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.store.store import Store
from layouts.profiles.frames import ProfileFrame
from parsers.profiler.job_access import Job
from tests.waiting import until

STEPS = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free\n1,{}.0,2.0,0.0,2.0,3.0\n"
WHOLE = "Step,Type,Index,Computing,Communication(Not Overlapped),Overlapped,Communication,Free\n1,rank,0,1.0,2.0,0.0,2.0,3.0\n"


def rank(folder: Path, computing: int = 1) -> None:
    (folder / "ASCEND_PROFILER_OUTPUT").mkdir(parents=True)
    (folder / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv").write_text(STEPS.format(computing))


@contextmanager
def opened(base: Path) -> Iterator[Store]:
    store = Store([base], interval=0).start()
    try:
        assert store.wait(30)
        yield store
    finally:
        store.stop()


def read(store: Store, run: str, session: str, number: int, name: str = "cluster_steps") -> ProfileFrame:
    end = time.monotonic() + 30
    while (found := store.profiles.frame(run, session, number, name)).state in ("reading", "waiting"):
        assert time.monotonic() < end
    return found


def test_every_rank_of_a_run_gives_the_frames_of_its_job(tmp_path: Path) -> None:
    for number in (0, 1):
        rank(tmp_path / "run" / f"rank{number}_ascend_pt", number + 1)
    with opened(tmp_path) as store:
        rows = store.profiles.rows("run")
        assert [(row.session, row.rank) for row in rows] == [("rank0_ascend_pt", 0), ("rank1_ascend_pt", 1)]
        assert all({"steps", "cluster_steps"} <= set(row.frames) for row in rows)
        assert "collectives" not in rows[0].frames
        one, other = (read(store, "run", row.session, row.rank).frame for row in rows)
        assert one is other
        assert one is not None
        assert one["computing_ns"].tolist() == [1000.0, 2000.0]
        both = ("run", "rank0_ascend_pt", 0), ("run", "rank1_ascend_pt", 1)
        assert store.profiles.members("run", "rank1_ascend_pt", 1) == both
        job = store.profiles.job("run", "rank0_ascend_pt", 0)
        assert job is not None
        assert job.ranks == (0, 1)
        assert read(store, "run", "rank0_ascend_pt", 0, "collectives").state == "missing"
        assert store.profiles.job("run", "no", 0) is None
        assert store.profiles.members("no", ".", 0) == ()


@pytest.mark.parametrize("names", [("job/rank_0", "job/rank_1"), ("test_rank_0", "test_rank_1")], ids=["one row", "two rows"])
def test_ranks_that_are_runs_of_their_own_are_one_job(tmp_path: Path, names: tuple[str, str]) -> None:
    for number, name in enumerate(names):
        rank(tmp_path / name / "profiler", number + 1)
    with opened(tmp_path) as store:
        every = tuple((name, "profiler", number) for number, name in enumerate(names))
        assert store.profiles.members(names[1], "profiler", 1) == every
        frame = read(store, names[0], "profiler", 0).frame
        assert frame is not None
        assert frame["rank"].tolist() == [0, 1]


def test_runs_whose_paths_differ_are_jobs_of_their_own(tmp_path: Path) -> None:
    for name in ("big", "small"):
        for number in (0, 1):
            rank(tmp_path / name / f"rank{number}_ascend_pt")
    with opened(tmp_path) as store:
        assert {run for run, _, _ in store.profiles.members("big", "rank0_ascend_pt", 0)} == {"big"}


def test_files_about_all_ranks_alone_are_a_profile_without_rank(tmp_path: Path) -> None:
    folder = tmp_path / "run" / "cluster_analysis_output"
    folder.mkdir(parents=True)
    (folder / "cluster_step_trace_time.csv").write_text(WHOLE)
    with opened(tmp_path) as store:
        assert store.runs.rows()[0].tags["profile.cluster_steps"] == 1
        (row,) = store.profiles.rows("run")
        assert (row.session, row.rank, row.frames) == ("cluster_analysis_output", -1, ("cluster_steps",))
        frame = read(store, "run", "cluster_analysis_output", -1).frame
        assert frame is not None
        assert frame["total_ns"].tolist() == [6000.0]
        assert read(store, "run", "cluster_analysis_output", -1, "steps").state == "missing"


def test_files_about_all_ranks_beside_ranks_that_are_runs_are_seen(tmp_path: Path) -> None:
    for number in (0, 1):
        rank(tmp_path / "job" / f"rank_{number}" / "profiler")
    folder = tmp_path / "job" / "cluster_analysis_output"
    folder.mkdir()
    (folder / "cluster_step_trace_time.csv").write_text(WHOLE)
    with opened(tmp_path) as store:
        runs = [run for row in store.runs.rows() for run in row.members]
        listed = {(run, row.session, row.rank) for run in runs for row in store.profiles.rows(run)}
        assert ("job/rank_0", "profiler", 0) in listed
        first = ("job/rank_0", "profiler", 0), ("job/rank_1", "profiler", 1)
        assert store.profiles.members("job/rank_0", "profiler", 0)[:2] == first


def test_reading_a_frame_of_a_job_can_be_cancelled_and_asked_for_again(tmp_path: Path) -> None:
    rank(tmp_path / "run" / "rank0_ascend_pt")
    with opened(tmp_path) as store:
        store.profiles.cancel("run", "rank0_ascend_pt", 0, "cluster_steps")  # nothing is being read yet
        assert read(store, "run", "rank0_ascend_pt", 0).state == "ready"
        store.profiles.cancel("run", "rank0_ascend_pt", 0, "cluster_steps")
        assert read(store, "run", "rank0_ascend_pt", 0).state == "ready"


def test_a_rank_that_comes_later_joins_the_job(tmp_path: Path) -> None:
    rank(tmp_path / "run" / "rank0_ascend_pt")
    with opened(tmp_path) as store:
        assert len(store.profiles.members("run", "rank0_ascend_pt", 0)) == 1
        rank(tmp_path / "run" / "rank1_ascend_pt", 2)
        store.runs.refresh()
        until(lambda: len(store.profiles.members("run", "rank0_ascend_pt", 0)) >= 2)
        frame = read(store, "run", "rank0_ascend_pt", 0).frame
        assert frame is not None
        assert frame["computing_ns"].tolist() == [1000.0, 2000.0]


def test_jobs_of_runs_that_were_deleted_are_forgotten(tmp_path: Path) -> None:
    """A server whose runs come and go holds the jobs of those that are there, not of the latest 256."""
    with opened(tmp_path) as store:
        for number in range(4):
            rank(tmp_path / f"run{number}" / "profiler")
            store.runs.refresh()
            assert until(lambda number=number: len(store.profiles.rows(f"run{number}")) == 1)  # type: ignore[misc]
            shutil.rmtree(tmp_path / f"run{number - 1}", ignore_errors=True)
        store.runs.refresh()
        assert until(lambda: [row.key for row in store.runs.rows()] == ["run3"])
        assert len(store.profiles.rows("run3")) == 1
        gc.collect()
        held = {job.files.members[0].path for job in gc.get_objects() if isinstance(job, Job)}
        assert [path for path in held if path.startswith(str(tmp_path))] == [str(tmp_path / "run3" / "profiler")]
