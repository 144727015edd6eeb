"""Jobs of Kineto traces: ranks of one directory, recordings of one rank, and what joins their frames."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from parsers import open_run
from parsers.profiler.kineto import recording
from tests.writers.kineto_traces import NCCL_STREAM, KinetoWriter, training, write


def job_of(folder: Path, ranks: int, *, late: int = 0, world_size: int = 0) -> Path:
    """Write a trace of each rank; the last one reaches its collective `late` ns after the others, who wait for it."""
    for rank in range(ranks):
        made = training(3, rank=rank, world_size=world_size or ranks, changing=False)
        for event in made.events:
            if event["tid"] == NCCL_STREAM and rank < ranks - 1:
                event["dur"] = f"\0{200 + late / 1000:.3f}\0"
        write(folder / f"{rank}.json", made)
    return folder


def test_traces_of_several_ranks_are_a_job(tmp_path: Path) -> None:
    run = open_run(job_of(tmp_path / "run", 4, late=50_000))
    (job,) = run.profile.jobs
    assert job.ranks == (0, 1, 2, 3)
    assert job.files.size == 4
    groups = job.frame("groups")
    assert groups[["group", "name", "kind", "ranks", "size", "told"]].to_numpy().tolist() == [
        ["0@0-3", "0", "dp", "0-3", 4, "yes"]
    ]
    collectives = job.frame("collectives")
    assert collectives["name"].unique().tolist() == ["allreduce_1"]
    assert collectives["size_bytes"].unique().tolist() == [4096 * 4]
    last = collectives[collectives["rank"] == 3]
    assert last["own_wait_ns"].tolist() == [0.0] * 3
    assert last["lateness_ns"].tolist() == pytest.approx([50_000.0] * 3)
    assert collectives[collectives["rank"] == 1]["own_wait_ns"].tolist() == pytest.approx([50_000.0] * 3)


def test_one_group_that_also_sends_between_two_ranks_is_no_group_of_equal_ranks(tmp_path: Path) -> None:
    for rank in range(2):
        made = training(3, rank=rank, world_size=2)
        made.host("record_param_comms", 3_100_000, 20_000, Collective_name="send", Process_Group_Name="0", dtype="Float")
        made.launch("ncclDevKernel_SendRecv(x)", 3_105_000, 3_110_000, 30_000, NCCL_STREAM)
        write(tmp_path / "run" / f"{rank}.json", made)
    (job,) = open_run(tmp_path / "run").profile.jobs
    assert job.frame("groups")["kind"].tolist() == ["default_group"]


def test_steps_of_ranks_are_those_of_their_profiles(tmp_path: Path) -> None:
    run = open_run(job_of(tmp_path / "run", 2))
    (job,) = run.profile.jobs
    steps = job.frame("cluster_steps")
    own = run.profile[(".", 1)].frame("steps")
    theirs = steps[steps["rank"] == 1]
    for name in ("step", "total_ns", "computing_ns", "exposed_ns", "overlapped_ns", "free_ns"):
        assert theirs[name].tolist() == own[name].tolist()


def test_ranks_have_their_device_and_its_memory(tmp_path: Path) -> None:
    (job,) = open_run(job_of(tmp_path / "run", 2)).profile.jobs
    ranks = job.frame("ranks")
    assert ranks["chip"].tolist() == ["NVIDIA A100-SXM4-40GB"] * 2
    assert ranks["capacity_bytes"].tolist() == [40 << 30] * 2
    assert ranks["peak_reserved_bytes"].tolist() == [2 << 20] * 2
    assert ranks["operators_ns"].tolist() == [3 * 350_000 + 1_500] * 2


def test_times_of_devices_are_their_kernels_without_gaps(tmp_path: Path) -> None:
    (job,) = open_run(job_of(tmp_path / "run", 2)).profile.jobs
    times = job.frame("device_times")
    own = times[(times["rank"] == 0) & (times["step"] == 3)]
    spans = own.assign(length=own["end_ns"] - own["start_ns"]).groupby("kind", observed=True)[["length", "operations"]].sum()
    assert spans.loc["computing"].tolist() == [350_000, 2]  # one ends when the other begins
    assert spans.loc["collective"].tolist() == [200_000, 1]


def test_ranks_without_files_are_missing(tmp_path: Path) -> None:
    (job,) = open_run(job_of(tmp_path / "run", 2, world_size=4)).profile.jobs
    assert job.files.missing == (2, 3)


def test_a_world_size_that_contradicts_the_files_is_reported(tmp_path: Path) -> None:
    (job,) = open_run(job_of(tmp_path / "run", 4, world_size=2)).profile.jobs
    assert any("2 ranks" in problem.text for problem in job.problems)


def test_recordings_of_one_rank_are_sessions_of_their_own(tmp_path: Path) -> None:
    for number, name in enumerate(("before.json", "after.pt.trace.json")):
        path = write(tmp_path / "run" / name, training(2 + number, rank=0, world_size=1))
        os.utime(path, ns=(number, number))
    profiles = open_run(tmp_path / "run").profile
    assert sorted(profiles) == [("after", 0), ("before", 0)]
    assert [len(profiles[name, 0].frame("steps")) for name in ("before", "after")] == [2, 3]


def test_recordings_of_several_ranks_are_sessions_with_all_of_them(tmp_path: Path) -> None:
    for cycle in range(2):
        for rank in range(2):
            made = training(1, rank=rank, world_size=2)
            path = write(tmp_path / "run" / f"{cycle}_{rank}.json", made)
            os.utime(path, ns=(cycle * 10 + rank, cycle * 10 + rank))
    profiles = open_run(tmp_path / "run").profile
    assert sorted(profiles) == [(". (1)", 0), (". (1)", 1), (". (2)", 0), (". (2)", 1)]
    assert [job.ranks for job in profiles.jobs] == [(0, 1), (0, 1)]


def test_two_traces_of_equal_names_keep_whole_names(tmp_path: Path) -> None:
    for name in ("a.json", "a.trace.json"):
        write(tmp_path / "run" / name, training(1, rank=None))
    assert sorted(open_run(tmp_path / "run").profile) == [("a.json", 0), ("a.trace.json", 0)]


def test_groups_without_ranks_keep_their_names(tmp_path: Path) -> None:
    for rank in range(2):
        made = KinetoWriter()
        made.host("record_param_comms", 0, 50_000, Collective_name="_allgather_base", Process_Group_Name="7", dtype="Half",
                  In_msg_nelems=8, Out_msg_nelems=16)  # fmt: skip
        made.launch("ncclDevKernel_AllGather_RING_LL(x)", 1_000, 10_000, 30_000 - 10_000 * rank, NCCL_STREAM)
        write(tmp_path / "run" / f"rank{rank}.json", made)
    (job,) = open_run(tmp_path / "run").profile.jobs
    found = job.frame("collectives")
    assert found["group"].tolist() == ["7", "7"]
    assert found["kind"].tolist() == ["allgather", "allgather"]
    assert found["size_bytes"].tolist() == [32, 32]
    assert np.nanmax(found["lateness_ns"]) == 10_000


def test_one_pass_over_each_trace_gives_all_frames_of_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (job,) = open_run(job_of(tmp_path / "run", 2)).profile.jobs
    passes: list[str] = []
    original = recording.read
    monkeypatch.setattr(recording, "read", lambda path: passes.append(path) or original(path))
    frames = [job.frame(name) for name in ("cluster_steps", "groups", "collectives", "ranks", "device_times")]
    assert all(len(frame) for frame in frames)
    assert len(passes) == 2
