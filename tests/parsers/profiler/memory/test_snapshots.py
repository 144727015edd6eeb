"""Memory snapshots of torch as files of profiles: found by their content, one reading for all frames."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from parsers import discover, open_run
from parsers.files import RegularFile
from parsers.profiler.memory import snapshots
from tests.writers.memory_snapshots import steps_in_snapshot


def write(path: Path, steps: int = 3) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(steps_in_snapshot(steps)))
    return path


@pytest.mark.parametrize("name", ["memory_snapshot.pickle", "mine.pkl", "x.pickle"])
def test_a_snapshot_of_any_name_is_a_profile(tmp_path: Path, name: str) -> None:
    write(tmp_path / "run" / name)
    (source,) = discover(tmp_path)
    assert source.name == "run"
    (profile,) = open_run(tmp_path / "run").profile.values()
    assert profile.frame("step_times")["step"].tolist() == [0, 1, 2]
    assert profile.frame("memory")["allocated_bytes"].max() == 512
    blocks = profile.frame("operator_memory")
    assert blocks["name"].tolist() == ["forward"] * 3
    assert (blocks["released_ns"] - blocks["allocated_ns"]).tolist() == [10_000] * 3


def test_other_pickles_are_no_profiles_and_are_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "weights.pkl").write_bytes(b"\x80\x04}\x94(\x8c\x07weights\x94K\x01u.")
    (tmp_path / "run" / "text.pickle").write_text("segments")
    os.mkfifo(tmp_path / "run" / "pipe.pkl")
    opened: list[str] = []
    begin = RegularFile.__init__

    def counted(self: RegularFile, path: str) -> None:
        opened.append(path)
        begin(self, path)

    monkeypatch.setattr(RegularFile, "__init__", counted)
    for _ in range(2):
        assert discover(tmp_path) == []
    assert len([path for path in opened if not path.endswith("pipe.pkl")]) == 2


def test_the_rank_is_that_of_the_name(tmp_path: Path) -> None:
    for rank in (0, 3):
        write(tmp_path / "run" / f"memory_rank{rank}.pickle")
    assert list(open_run(tmp_path / "run").profile) == [(".", 0), (".", 3)]


def test_snapshots_of_one_rank_are_sessions_of_their_own(tmp_path: Path) -> None:
    for name, steps in (("before.pickle", 2), ("after.pickle", 4)):
        write(tmp_path / "run" / name, steps)
    profiles = open_run(tmp_path / "run").profile
    assert {name: len(profile.frame("step_times")) for (name, _), profile in profiles.items()} == {"after": 4, "before": 2}


def test_a_snapshot_is_read_once_for_all_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "run" / "memory_snapshot.pickle")
    original, read = snapshots.read_memory_snapshot, []
    monkeypatch.setattr(snapshots, "read_memory_snapshot", lambda path: read.append(path) or original(path))
    (profile,) = open_run(tmp_path / "run").profile.values()
    for name in ("operator_memory", "memory", "step_times"):
        assert len(profile.frame(name))
    assert len(read) == 1


def test_damage_is_reported_with_its_place(tmp_path: Path) -> None:
    path = write(tmp_path / "run" / "memory_snapshot.pickle")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])
    (profile,) = open_run(tmp_path / "run").profile.values()
    assert len(profile.frame("operator_memory"))
    assert profile.problems[0].offset > 0
