"""What is kept of profiles whose files are gone or have grown is dropped when something else is read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.store.profiles.frames import ProfileFrames, mark_of
from app.store.profiles.origins import Origins
from app.store.profiles.traces import Traces
from layouts.profiles.frames import ProfileFrame
from parsers import open_run
from parsers.profiler.access import Profile
from tests.waiting import until, when
from tests.writers import chrome_traces

KERNELS = "Name,Start Time(us),Duration(us)\n"


def session(base: Path, name: str) -> Profile:
    """A profile with a trace and kernels in a run of that name."""
    output = base / name / f"{name}_1_20260101000000_ascend_ms" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "kernel_details.csv").write_text(KERNELS + "MatMul,1.5,2.0\n")
    (output / "trace_view.json").write_text(chrome_traces.text())
    return opened(base, name)


def opened(base: Path, name: str) -> Profile:
    return next(iter(open_run(base / name).profile.values()))


def read(frames: ProfileFrames, profile: Profile, path: Path) -> ProfileFrame:
    return when(lambda: frames.frame(profile, str(path), "kernels"), lambda one: one.state == "ready")


def test_marks_of_what_is_gone_or_has_another_mark_are_told_once(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    origins = Origins()
    assert origins.outdated("a", "first", str(first)) == set()
    assert origins.outdated("b", "second", str(second)) == set()
    assert origins.outdated("b", "second", str(second)) == set()
    assert origins.outdated("c", "second", str(second)) == {"b"}
    assert [origins.holds(mark) for mark in ("a", "b", "c", "d")] == [True, False, True, False]
    first.rmdir()
    assert origins.outdated("c", "second", str(second)) == {"a"}
    assert origins.outdated("c", "second", str(second)) == set()


def test_frames_of_profiles_that_are_gone_or_have_grown_are_dropped(tmp_path: Path) -> None:
    frames = ProfileFrames()
    try:
        one, two, three = (session(tmp_path, name) for name in ("one", "two", "three"))
        for name, profile in (("one", one), ("two", two)):
            assert len(read(frames, profile, tmp_path / name).frame) == 1
        assert {mark for mark, _ in frames._frames} == {mark_of(one), mark_of(two)}
        shutil.rmtree(tmp_path / "one")
        with next((tmp_path / "two").rglob("kernel_details.csv")).open("a") as file:
            file.write("MatMul,4.5,2.0\n")
        grown = opened(tmp_path, "two")
        assert len(read(frames, grown, tmp_path / "two").frame) == 2
        assert {mark for mark, _ in frames._frames} == {mark_of(grown)}
        read(frames, three, tmp_path / "three")
        assert {mark for mark, _ in frames._frames} == {mark_of(grown), mark_of(three)}
    finally:
        frames.stop()


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells which files are mapped")
def test_a_trace_that_is_gone_is_closed_when_another_is_read(tmp_path: Path) -> None:
    traces = Traces(str(tmp_path / "index-traces"))
    try:
        one, two = (session(tmp_path, name) for name in ("one", "two"))
        until(lambda: traces.open(one) is not None and traces.open(one).pyramid is not None)  # type: ignore[union-attr]
        before = mapped(tmp_path)
        assert before > 0
        shutil.rmtree(tmp_path / "one")
        until(lambda: traces.open(two) is not None and traces.open(two).pyramid is not None)  # type: ignore[union-attr]
        assert len(traces._open) == 1
        until(lambda: mapped(tmp_path) <= before)
    finally:
        traces.stop()


def mapped(base: Path) -> int:
    """Files of traces that this process has mapped."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return len({line.split()[-1] for line in lines if str(base / "index-traces") in line})
