"""Where profiles are found, and which session and rank they are of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from parsers import discover, open_run
from parsers.profiler.trace import sources
from tests.parsers.profiler.written import FILES


def touch(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text or FILES.get(path.name, "{}"))


def keys(path: Path) -> list[tuple[str, int]]:
    return list(open_run(path).profile)


OUTPUT = "ASCEND_PROFILER_OUTPUT/step_trace_time.csv"


def test_legacy_ranks_by_the_names_of_files(tmp_path: Path) -> None:
    for rank in (0, 10, 2):
        touch(tmp_path / f"profiler/cpu_op_type_info_{rank}.csv", FILES["cpu_op_type_info_0.csv"])
    touch(tmp_path / "profiler/profiler_info_0.json")
    assert keys(tmp_path) == [("profiler", 0), ("profiler", 2), ("profiler", 10)]
    assert open_run(tmp_path).profile["profiler", 10].operator_types["type"].tolist() == ["MatMul"]


def test_a_directory_of_only_the_files(tmp_path: Path) -> None:
    touch(tmp_path / "step_trace_time.csv")
    assert keys(tmp_path) == [(".", 0)]
    (source,) = discover(tmp_path)
    assert source.profile_dirs == (str(tmp_path),)


def test_several_sessions_side_by_side(tmp_path: Path) -> None:
    for time in (1, 2):
        touch(tmp_path / f"host_5_2026112023301{time}_ascend_ms" / OUTPUT)
        touch(tmp_path / f"host_5_2026112023301{time}_ascend_ms/profiler_info_3.json")
    touch(tmp_path / "rank7_ascend_pt" / OUTPUT)
    assert keys(tmp_path) == [
        ("host_5_20261120233011_ascend_ms", 3), ("host_5_20261120233012_ascend_ms", 3), ("rank7_ascend_pt", 7),
    ]  # fmt: skip
    assert keys(tmp_path / "rank7_ascend_pt") == [(".", 7)]
    assert keys(tmp_path / "rank7_ascend_pt/ASCEND_PROFILER_OUTPUT") == [(".", 7)]


def test_the_rank_in_metadata(tmp_path: Path) -> None:
    touch(tmp_path / "a_ascend_ms" / OUTPUT)
    touch(tmp_path / "a_ascend_ms/profiler_metadata.json", json.dumps({"distributed_args": {"rank": 12}}))
    assert keys(tmp_path) == [("a_ascend_ms", 12)]


def test_sessions_in_a_profiler_directory(tmp_path: Path) -> None:
    touch(tmp_path / "profiler/dataset_1.csv", FILES["dataset.csv"])
    touch(tmp_path / "profiler/profiler_info_1.json")
    touch(tmp_path / "profiler/rank-1_20240101_ascend_ms" / OUTPUT)
    touch(tmp_path / "profiler/rank4_start1_stop2/h_ascend_ms" / OUTPUT)
    assert keys(tmp_path) == [
        ("profiler", 1), ("profiler/rank-1_20240101_ascend_ms", 1), ("profiler/rank4_start1_stop2/h_ascend_ms", 4),
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["rank_{}", "rank{}"])
def test_mindformers_with_the_base_at_either_level(form: str, tmp_path: Path) -> None:
    for rank in (0, 1):
        touch(tmp_path / f"output/profile/{form.format(rank)}/profiler/h_{rank}_ascend_ms" / OUTPUT)
    for base in ("output", "output/profile", "."):
        run = open_run(tmp_path / base)
        assert [rank for _, rank in run.profile] == [0, 1], base
        assert run.profile.steps["rank"].tolist() == [0, 1]


def test_the_run_beside_keeps_the_profiles(tmp_path: Path) -> None:
    summary = tmp_path / "output/summary/rank_0/events.out.events.summary.1700000000.0.host_MS"
    touch(summary, "x")
    touch(tmp_path / "output/profile/rank_0/profiler" / OUTPUT)
    run = open_run(tmp_path / "output")
    assert list(run.profile) == [("../profile/rank_0/profiler", 0)]
    assert run.kinds()["profile"] == 1


def test_a_directory_called_profiler_something_without_files_of_one(tmp_path: Path) -> None:
    touch(tmp_path / "profiler_notes/run/events.out.events.summary.1700000000.0.host_MS", "x")
    touch(tmp_path / "profiler_2/profiler_info_0.json")
    touch(tmp_path / "profiler_2/cpu_op_type_info_0.csv")
    found = {source.name: source for source in discover(tmp_path)}
    assert set(found) == {".", "profiler_notes/run"}
    assert found["."].profile_dirs == (str(tmp_path / "profiler_2"),)


def test_a_session_that_comes_later_is_found(tmp_path: Path) -> None:
    touch(tmp_path / "a_ascend_ms" / OUTPUT)
    run = open_run(tmp_path)
    steps = run.profile["a_ascend_ms", 0].steps
    version = run.version
    touch(tmp_path / "b_ascend_ms" / OUTPUT)
    assert run.refresh()
    assert run.version > version
    assert list(run.profile) == [("a_ascend_ms", 0), ("b_ascend_ms", 0)]
    assert run.profile["a_ascend_ms", 0].steps is steps  # what did not change is not read again
    touch(tmp_path / "a_ascend_ms" / OUTPUT, FILES["step_trace_time.csv"] + "7,1,1,1,1,1,1,1,1,1\n")
    assert run.refresh()
    assert run.profile["a_ascend_ms", 0].steps["step"].tolist() == [-1, 7]
    assert not run.refresh()


def test_problems_are_those_of_the_run(tmp_path: Path) -> None:
    touch(tmp_path / "a_ascend_ms" / OUTPUT, FILES["step_trace_time.csv"] + "7,1\n")
    run = open_run(tmp_path)
    assert not run.problems  # nothing has been read
    assert len(run.profile.steps) == 1
    (problem,) = run.problems
    assert (problem.kind, problem.path) == ("bad_table", str(tmp_path / "a_ascend_ms" / OUTPUT))


def test_every_profile_of_the_real_data_opens(real_data: Path) -> None:
    opened = 0
    for base in ("profiler", "profiler_new", "mindinsight_legacy"):
        for source in discover(real_data / base):
            run = open_run(source.path) if source.path != str(real_data / base) else None
            for profile in run.profile.values() if run is not None else ():
                frames = ("operators", "steps", "pipeline", "kernels", "strategies")
                assert any(len(profile.frame(name)) for name in frames), source.name
                opened += 1
    assert opened >= 25


def test_the_output_of_cann_belongs_to_the_session_around_it(tmp_path: Path) -> None:
    profiler = tmp_path / "run/profiler"
    for device in (0, 3, 9):
        folder = profiler / f"PROF_00000{device}_2023_X/device_{device}/timeline"
        folder.mkdir(parents=True)
        for number in (1, 2):
            (folder / f"msprof_{device}_2_{number}.json").write_text("[]")
    for rank in (0, 3):
        (profiler / f"ascend_timeline_display_{rank}.json").write_text("[]")
    profiles = open_run(tmp_path / "run").profile
    assert sorted(profiles) == [("profiler", 0), ("profiler", 3)]
    # no other file has rank 9
    assert [one.name for one in sources.grouped(profiles["profiler", 0])] == [
        "ascend_timeline_display_0.json", "PROF_000000_2023_X/device_0/timeline/msprof_0_2_*.json",
        "PROF_000009_2023_X/device_9/timeline/msprof_9_2_*.json",
    ]  # fmt: skip
    assert [one.name for one in sources.grouped(profiles["profiler", 3])] == [
        "ascend_timeline_display_3.json", "PROF_000003_2023_X/device_3/timeline/msprof_3_2_*.json",
    ]  # fmt: skip
