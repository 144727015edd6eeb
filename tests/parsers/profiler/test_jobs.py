"""Which sessions and ranks are one job."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from parsers import open_run
from parsers.profiler.jobs import JobFiles, find_jobs

STEPS = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free\n1,1.0,2.0,0.0,2.0,3.0\n"


def rank(base: Path, name: str, number: int, *, world: Any = 0, groups: dict[str, Sequence[int]] | None = None) -> None:
    """Write a session of one rank."""
    folder = base / name
    (folder / "ASCEND_PROFILER_OUTPUT").mkdir(parents=True)
    (folder / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv").write_text(STEPS)
    (folder / f"profiler_info_{number}.json").write_text("{}")
    told = {group: {"group_name": "dp", "global_ranks": list(ranks)} for group, ranks in (groups or {}).items()}
    about = {"distributed_args": {"world_size": world} if world else {}, "parallel_group_info": told}
    (folder / "profiler_metadata.json").write_text(json.dumps(about))


def jobs(path: Path) -> tuple[JobFiles, ...]:
    return tuple(job.files for job in open_run(path).profile.jobs)


def test_no_session_is_no_job() -> None:
    assert find_jobs(()) == ()


def test_ranks_in_directories_named_after_them_are_one_job(tmp_path: Path) -> None:
    for number in (0, 1, 3):
        rank(tmp_path, f"rank_{number}_ascend_pt", number, world=4)
    (job,) = jobs(tmp_path)
    assert (job.name, job.ranks, job.size, job.missing, job.problems) == ("rank_*_ascend_pt", (0, 1, 3), 4, (2,), ())


def test_hosts_processes_and_times_do_not_part_a_job(tmp_path: Path) -> None:
    rank(tmp_path, "node-a_11_20261120233012998_ascend_ms", 0)
    rank(tmp_path, "node-b_12_20261120233013001_ascend_ms", 1)
    (job,) = jobs(tmp_path)
    assert job.ranks == (0, 1)
    assert [member.host for member in job.members] == ["node-a", "node-b"]


def test_a_rank_that_occurs_twice_makes_two_jobs_in_the_order_of_time(tmp_path: Path) -> None:
    taken = ((20261120233012, 0), (20261120233011, 1), (20261120243012, 1), (20261120243013, 0))
    for place, (time_of, number) in enumerate(taken):
        rank(tmp_path, f"host_{place}_{time_of}_ascend_ms", number)
    first, second = sorted(jobs(tmp_path), key=lambda job: job.name)
    assert [member.session.split("_")[1] for member in first.members] == ["0", "1"]
    assert [member.session.split("_")[1] for member in second.members] == ["3", "2"]
    assert second.name == f"{first.name} (2)"
    assert "Ranks 0, 1 occur up to 2 times" in first.problems[0].text


def test_parts_of_a_dynamic_profile_are_jobs_of_their_own(tmp_path: Path) -> None:
    for number in (0, 1):
        for part in ("start1_stop2", "start8_stop9"):
            rank(tmp_path / "profiler", f"rank{number}_{part}/h_1_20261120233012_ascend_ms", number)
    assert [job.ranks for job in jobs(tmp_path)] == [(0, 1), (0, 1)]


def test_other_ids_of_groups_of_the_same_ranks_prove_two_jobs(tmp_path: Path) -> None:
    for number, group in enumerate(("a", "a", "b", "b")):
        rank(tmp_path, f"h_{number}_2026112023301{number}_ascend_ms", number % 2, groups={group: [0, 1]})
    first, second = jobs(tmp_path)
    assert [[member.session[2] for member in job.members] for job in (first, second)] == [["0", "1"], ["2", "3"]]
    assert "2 jobs" in first.problems[0].text


def test_without_the_proof_they_would_be_one(tmp_path: Path) -> None:
    rank(tmp_path, "rank_0_ascend_pt", 0, groups={"a": [0, 1]})
    rank(tmp_path, "rank_1_ascend_pt", 1, groups={"b": [0, 1]})
    assert [job.ranks for job in jobs(tmp_path)] == [(0,), (1,)]


def test_other_numbers_of_ranks_are_two_jobs(tmp_path: Path) -> None:
    rank(tmp_path, "rank_0_ascend_pt", 0, world=2)
    rank(tmp_path, "rank_1_ascend_pt", 1, world=4)
    first, second = jobs(tmp_path)
    assert (first.size, second.size) == (2, 4)
    assert "other numbers of ranks" in first.problems[0].text


def test_a_rank_beyond_the_number_of_ranks_is_reported(tmp_path: Path) -> None:
    rank(tmp_path, "rank_7_ascend_pt", 7, world=4)
    (job,) = jobs(tmp_path)
    assert "rank 7" in job.problems[0].text


@pytest.mark.parametrize(
    "world", [(1 << 20) + 1, 1 << 62, 1 << 64, 10**300, "9" * 4000], ids=["2^20+1", "2^62", "2^64", "10^300", "digits"]
)
def test_a_number_of_ranks_that_no_job_has_is_refused(tmp_path: Path, world: Any) -> None:
    for number in range(12):
        rank(tmp_path, f"rank_{number}_ascend_pt", number, world=world)
    (job,) = jobs(tmp_path)
    assert (job.ranks, job.size, job.missing) == (tuple(range(12)), 0, ())
    assert len(job.problems) == 8
    assert job.problems[0].path == str(tmp_path / "rank_0_ascend_pt" / "profiler_metadata.json")
    assert f"at most 1,048,576 ranks, found {str(world)[0]}" in job.problems[0].text


def test_numbers_of_ranks_in_other_files_are_refused(tmp_path: Path) -> None:
    rank(tmp_path / "a", "rank_0_ascend_pt", 0)
    (tmp_path / "a" / "rank_0_ascend_pt" / "profiler_info_0.json").write_text(json.dumps({"rank_size": 1 << 60}))
    legacy = tmp_path / "b" / "ascend_cluster_analyse_pipeline-parallel_2_99999999_0.csv"
    legacy.parent.mkdir()
    legacy.write_text("computation_time,communication_alone_time\n1.0,2.0\n")
    for name in ("a", "b"):
        (job,) = jobs(tmp_path / name)
        assert (job.size, job.missing) == (0, ())
        assert "at most 1,048,576 ranks" in job.problems[0].text


def test_the_largest_job_has_a_size(tmp_path: Path) -> None:
    rank(tmp_path, "rank_5_ascend_pt", 5, world=1 << 20)
    (job,) = jobs(tmp_path)
    assert (job.size, job.problems) == (1 << 20, ())
    assert job.missing == (*range(5), *range(6, 1 << 20))


def test_a_legacy_directory_with_several_ranks_is_one_job(tmp_path: Path) -> None:
    for number in (0, 1, 2):
        name = f"ascend_cluster_analyse_pipeline-parallel_2_4_{number}.csv"
        (tmp_path / name).write_text("computation_time,communication_alone_time\n1.0,2.0\n")
    (job,) = jobs(tmp_path)
    assert (job.ranks, job.size, job.missing) == ((0, 1, 2), 4, (3,))


def test_a_size_that_the_ranks_contradict_makes_none_of_them_missing(tmp_path: Path) -> None:
    (tmp_path / "ascend_cluster_analyse_data-parallel_1_1_1.csv").write_text("computation_time\n1.0\n")
    (job,) = jobs(tmp_path)
    assert (job.ranks, job.size, job.missing) == ((1,), 1, ())
    (problem,) = job.problems
    assert "The files tell of 1 rank, yet there are files of rank 1;" in problem.text


@pytest.mark.parametrize("name", ["cluster_analysis_output", "elsewhere"])
def test_files_about_all_ranks_alone_are_a_job(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "cluster_step_trace_time.csv").write_text("Step,Type,Index,Computing\n1,rank,0,5.0\n")
    for base in (folder, tmp_path):
        (job,) = jobs(base)
        assert (job.ranks, len(job.whole)) == ((), 1)
        assert not open_run(base).profile


def test_files_about_all_ranks_belong_to_the_job_beside_them(tmp_path: Path) -> None:
    rank(tmp_path, "rank_0_ascend_pt", 0)
    folder = tmp_path / "cluster_analysis_output"
    folder.mkdir()
    (folder / "cluster_step_trace_time.csv").write_text("Step,Type,Index,Computing\n1,rank,0,5.0\n")
    (job,) = jobs(tmp_path)
    assert (job.ranks, [session.name for session in job.whole]) == ((0,), ["cluster_analysis_output"])
    assert list(open_run(tmp_path).profile) == [("rank_0_ascend_pt", 0)]


def test_a_job_whose_files_are_the_same_keeps_its_frames(tmp_path: Path) -> None:
    rank(tmp_path, "rank_0_ascend_pt", 0)
    run = open_run(tmp_path)
    frame = run.profile.jobs[0].cluster_steps
    rank(tmp_path, "other_ascend_pt", 5)
    run.refresh()
    assert len(run.profile.jobs) == 2
    kept = next(job for job in run.profile.jobs if job.ranks == (0,))
    assert kept.cluster_steps is frame
