"""Which profiles are ranks of one job."""

from __future__ import annotations

from layouts.profiling.jobs import jobs_of, name_of
from layouts.sources import ProfileRow


def profile(session: str, rank: int, updated: float = 0.0) -> ProfileRow:
    return ProfileRow(session, rank, "Ascend", (), 0, updated, ("steps",), session)


def found(*profiles: tuple[str, ProfileRow]) -> list[tuple[str, list[tuple[str, str, int]]]]:
    return [(job.title, [(run, one.session, one.rank) for run, one in job.profiles]) for job in jobs_of(profiles)]


def test_directories_named_by_rank() -> None:
    job = [("a", profile(f"rank_{rank}_ascend_pt", rank)) for rank in (10, 2, 0)]
    assert found(*job) == [("rank_*_ascend_pt", [("a", f"rank_{rank}_ascend_pt", rank) for rank in (0, 2, 10)])]


def test_runs_of_their_own_that_are_ranks() -> None:
    job = [("job/test_rank_1", profile(".", 1)), ("job/test_rank_0", profile(".", 0)), ("job", profile(".", 0))]
    ranks = [("job/test_rank_0", ".", 0), ("job/test_rank_1", ".", 1)]
    assert found(*job) == [("job/test_rank_*", ranks), (".", [("job", ".", 0)])]


def test_directories_named_by_process_and_time() -> None:
    """Two ranks profiled twice: the first times of both are one job, the second times another."""
    names = ["host_11_20260101120000123_ascend_ms", "host_12_20260101120000456_ascend_ms",
             "host_12_20260101130000001_ascend_ms", "host_11_20260101130000999_ascend_ms"]  # fmt: skip
    rows = [("a", profile(name, place in (1, 2), 9.0 - place)) for place, name in enumerate(names)]
    assert found(*rows) == [
        ("host_*_ascend_ms (1)", [("a", names[0], 0), ("a", names[1], 1)]),
        ("host_*_ascend_ms (2)", [("a", names[3], 0), ("a", names[2], 1)]),
    ]


def test_one_rank_profiled_twice_is_two_jobs() -> None:
    rows = [("a", profile(f"vm_7_2026010112000{second}000_ascend_ms", 0)) for second in (2, 1)]
    assert [title for title, _ in found(*rows)] == ["vm_7_20260101120001000_ascend_ms", "vm_7_20260101120002000_ascend_ms"]
    assert len({job.name for job in jobs_of(rows)}) == 2


def test_one_session_of_several_ranks() -> None:
    assert found(("a", profile("profiler", 1)), ("a", profile("profiler", 0))) == [
        ("profiler", [("a", "profiler", 0), ("a", "profiler", 1)])
    ]
    assert found() == []


def test_names_keep_what_is_no_rank() -> None:
    assert name_of("torch_4ranks_pp2", ".") == "torch_4ranks_pp2"
    assert name_of("franka1", "rank-3_20260101_ascend_ms") == "franka1/rank-*_20260101_ascend_ms"
    assert name_of("a", "Rank7/profiler") == "a/Rank*/profiler"
