"""The jobs that the bar offers are those that the files make, whatever directories the ranks are in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from app.store.store import Store
from layouts.profiles.catalogue import catalogue
from layouts.profiles.profile_choice import ProfileChoice
from layouts.profiles.profile_overview.summary import ranks_card
from tests.layouts.profiles.steps.test_steps_page import texts_in

STEPS = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free\n1,1.0,2.0,0.0,2.0,3.0\n"
WHOLE = "Step,Type,Index,Computing,Communication(Not Overlapped),Overlapped,Communication,Free\n1,rank,0,1.0,2.0,0.0,2.0,3.0\n"
Listed = list[tuple[str, list[tuple[str, str, int]]]]


def rank(folder: Path, about: Mapping[str, Any] | None = None) -> None:
    output = folder / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "step_trace_time.csv").write_text(STEPS)
    if about is not None:
        (folder / "profiler_metadata.json").write_text(json.dumps(about))


def listed(base: Path, asked: ProfileChoice | None = None) -> tuple[Listed, str]:
    """Return (title, members) of each job of all runs, and the texts of the ranks that the overview lists for a profile."""
    store = Store([base], interval=0).start()
    try:
        assert store.wait(30)
        found = catalogue(store, {"run": ["*"]})
        assert found is not None
        runs = [run["key"] for run in found["runs"]]
        jobs = []
        for job in found["jobs"]:
            number = len(job["rank"])
            places, sessions = (one if isinstance(one, list) else [one] * number for one in (job["run"], job["session"]))
            jobs.append((job["title"], list(zip([runs[place] for place in places], sessions, job["rank"], strict=True))))
        return sorted(jobs), texts_in(ranks_card(store, asked)) if asked is not None else ""
    finally:
        store.stop()


def test_ranks_of_several_hosts_are_one_job(tmp_path: Path) -> None:
    names = [f"host{number}_{40 + number}_20261120233012998_ascend_ms" for number in (0, 1)]
    for number, name in enumerate(names):
        rank(tmp_path / "run" / name, {"distributed_args": {"rank": number, "world_size": 2}})
    jobs, shown = listed(tmp_path, ProfileChoice("run", names[1], 1))
    assert jobs == [("*_ascend_ms", [("run", name, number) for number, name in enumerate(names)])]
    assert "rank 0" in shown
    assert "rank 1" in shown


@pytest.mark.parametrize("names", [("job/rank_0", "job/rank_1"), ("test_rank_0", "test_rank_1")], ids=["one row", "two rows"])
def test_ranks_that_are_runs_are_one_job(tmp_path: Path, names: tuple[str, str]) -> None:
    for name in names:
        rank(tmp_path / name / "profiler")
    jobs, shown = listed(tmp_path, ProfileChoice(names[0], "profiler", 0))
    title = names[0].replace("rank_0", "rank_*")
    assert jobs == [(f"{title}/profiler", [(name, "profiler", number) for number, name in enumerate(names)])]
    assert "rank 1" in shown


def test_a_rank_that_occurs_twice_is_of_two_jobs(tmp_path: Path) -> None:
    times = {0: ("20261120120000000", "20261120130000000"), 1: ("20261120120001000",)}
    for number, stamps in times.items():
        for stamp in stamps:
            rank(tmp_path / "run" / f"vm_{number + 7}_{stamp}_ascend_ms", {"distributed_args": {"rank": number}})
    first, second = "vm_7_20261120120000000_ascend_ms", "vm_8_20261120120001000_ascend_ms"
    later = "vm_7_20261120130000000_ascend_ms"
    jobs, shown = listed(tmp_path, ProfileChoice("run", later, 0))
    assert jobs == [("*_ascend_ms", [("run", first, 0), ("run", second, 1)]), (later, [("run", later, 0)])]
    assert shown == ""


def test_two_jobs_in_one_directory_are_told_apart(tmp_path: Path) -> None:
    for number in (0, 1):
        for size in (2, 4):
            name = f"h_{number + size * 10}_2026112012000000{size}_ascend_ms"
            rank(tmp_path / "run" / name, {"distributed_args": {"rank": number, "world_size": size}})
    jobs, _ = listed(tmp_path)
    assert [[session for _, session, _ in members] for _, members in jobs] == [
        [f"h_{number + size * 10}_2026112012000000{size}_ascend_ms" for number in (0, 1)] for size in (2, 4)
    ]
    assert len({title for title, _ in jobs}) == 2


def test_files_about_all_ranks_alone_are_a_job_of_rank_minus_one(tmp_path: Path) -> None:
    folder = tmp_path / "run" / "cluster_analysis_output"
    folder.mkdir(parents=True)
    (folder / "cluster_step_trace_time.csv").write_text(WHOLE)
    name = ("run", "cluster_analysis_output", -1)
    jobs, shown = listed(tmp_path, ProfileChoice(*name))
    assert jobs == [("cluster_analysis_output", [name])]
    assert shown == ""


def test_a_legacy_directory_of_several_ranks_is_one_job(real_data: Path) -> None:
    jobs, _ = listed(real_data / "mindinsight_legacy")
    several = [members for _, members in jobs if len(members) > 1]
    assert several
    assert all(len({(run, session) for run, session, _ in members}) == 1 for members in several)
