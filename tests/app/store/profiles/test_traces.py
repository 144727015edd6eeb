"""Traces in the store: read by a process, kept in the index, cancelled, read again when file or index are not as they were."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app import programs
from app.store.profiles import traces
from app.store.profiles.traces import Traces
from app.store.store import Store
from layouts.profiles.frames import IdleTime, ProfileFrame
from parsers import open_run
from parsers.profiler.access import Profile
from parsers.profiler.trace import idle, views
from tests.waiting import until, when
from tests.writers import chrome_traces, kineto_traces

KEY = ("one", "host_1_2_ascend_ms", 0)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "runs/one/host_1_2_ascend_ms/ASCEND_PROFILER_OUTPUT"
    folder.mkdir(parents=True)
    path = folder / "trace_view.json"
    path.write_text(chrome_traces.text())
    return path


@pytest.fixture
def profile(file: Path) -> Profile:
    return open_run(file.parents[2]).profile[KEY[1:]]


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Traces]:
    made = Traces(str(tmp_path / "index-traces"))
    yield made
    made.stop()


def ready(found: Traces, profile: Profile) -> ProfileFrame:
    """Wait until a trace is complete, with its pyramid and idle time, or not read."""
    return when(
        lambda: found.frame(profile), lambda frame: frame.state not in ("reading", "waiting") and not half_done(found, profile)
    )


def half_done(found: Traces, profile: Profile) -> bool:
    opened = found.open(profile)
    return opened is not None and (opened.pyramid is None or found.idle_time(profile).state == "reading")


def test_a_store_lists_and_reads_a_trace(file: Path, tmp_path: Path) -> None:
    store = Store([tmp_path / "runs"], interval=0).start()
    try:
        assert store.wait(30)
        (row,) = store.profiles.rows("one")
        assert "trace" in row.frames
        assert not store.profiles.of_torch("one", row.session, row.rank)
        assert store.runs.rows()[0].tags["profile.trace"] == 1
        until(lambda: store.profiles.frame(*KEY, "trace").state not in ("reading", "waiting"))
        opened = store.profiles.trace(*KEY)
        assert opened is not None
        assert len(opened.trace.slices) == len(chrome_traces.slices())
        assert [step.label for step in opened.steps()] == ["1", "2", "3"]
        assert store.profiles.trace("one", "elsewhere", 0) is None
    finally:
        store.stop()


def test_a_trace_of_torch_is_known_by_the_kinds_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    kineto_traces.write(tmp_path / "one/host.1.pt.trace.json", kineto_traces.training())
    store = Store([tmp_path], interval=0).start()
    try:
        assert store.wait(30)
        (row,) = store.profiles.rows("one")
        assert store.profiles.of_torch("one", row.session, row.rank)
        assert not store.profiles.of_torch("one", "elsewhere", row.rank)
    finally:
        store.stop()


def test_it_is_read_once_and_again_when_the_file_changed(kept: Traces, profile: Profile, file: Path, tmp_path: Path) -> None:
    assert kept.frame(profile).state in ("reading", "waiting", "ready")
    assert ready(kept, profile).state == "ready"
    (place,) = (tmp_path / "index-traces").iterdir()
    written = {path.name: path.stat().st_mtime_ns for path in place.iterdir()}
    again = Traces(str(tmp_path / "index-traces"))
    assert ready(again, profile).state == "ready"
    assert {path.name: path.stat().st_mtime_ns for path in place.iterdir()} == written
    again.stop()

    file.write_text("[]")
    os.utime(file, ns=(1, 2))
    assert kept.open(profile) is None or len(kept.open(profile).trace.slices) == 0  # type: ignore[union-attr]
    assert ready(kept, profile).state == "ready"
    opened = kept.open(profile)
    assert opened is not None
    assert len(opened.trace.slices) == 0
    assert opened.extent == (0, 0)
    assert opened.steps() == []
    assert opened.busy(5)[1].tolist() == [0.0] * 5
    assert opened.medians().tolist() == []


@pytest.mark.long
def test_a_damaged_directory_is_made_again(kept: Traces, profile: Profile, tmp_path: Path) -> None:
    assert ready(kept, profile).state == "ready"
    kept.stop()
    (place,) = (tmp_path / "index-traces").iterdir()
    for path in place.iterdir():
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    again = Traces(str(tmp_path / "index-traces"))
    assert ready(again, profile).state == "ready"
    opened = again.open(profile)
    assert opened is not None
    assert len(opened.trace.slices) == len(chrome_traces.slices())
    again.stop()


def test_reading_is_cancelled_and_resumed(
    kept: Traces, profile: Profile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    slow = tmp_path / "slow"
    slow.mkdir()
    (slow / "sitecustomize.py").write_text("import time\ntime.sleep(200)\n")
    monkeypatch.setattr(programs, "paths", lambda: [str(slow), *sys.path])
    begun = time.monotonic()
    assert kept.frame(profile).state in ("reading", "waiting")
    kept.cancel(profile)
    assert ready(kept, profile).state == "cancelled"
    assert time.monotonic() - begun < 100
    assert kept.open(profile) is None
    assert list((tmp_path / "index-traces").iterdir()) == []
    monkeypatch.undo()
    assert kept.frame(profile, again=True).state in ("reading", "waiting", "ready")
    assert ready(kept, profile).state == "ready"


def slow_pyramid(folder: Path, done: Path) -> Callable[[], list[str]]:
    """What makes the process build no pyramid until a file is there, in place of `programs.paths`."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import os, time\n"
        "from parsers.profiler.trace import pyramid\n"
        "build = pyramid.build\n"
        "def slow(trace, directory, *, progress):\n"
        f"    while not os.path.exists({str(done)!r}):\n"
        "        progress(len(trace.slices) // 2, len(trace.slices))\n"
        "        time.sleep(0.05)\n"
        "    build(trace, directory, progress=progress)\n"
        "pyramid.build = slow\n"
    )
    return lambda: [str(folder), *filter(None, (str(Path(traces.__file__).parents[3]), *sys.path))]


def test_columns_are_seen_before_the_pyramid(
    kept: Traces, profile: Profile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done = tmp_path / "done"
    monkeypatch.setattr(programs, "paths", slow_pyramid(tmp_path / "slow", done))
    opened = until(lambda: kept.open(profile))
    frame = when(lambda: kept.frame(profile), lambda frame: frame.done > 0)
    total = len(chrome_traces.slices())
    assert (frame.state, frame.done, frame.total) == ("ready", total // 2, total)
    assert opened.pyramid is None
    assert len(opened.trace.slices) == total
    lanes = range(int(opened.first_lanes[-1]))
    early = views.view(opened.trace, None, lanes, 12, 0, 800, running=opened.running()).packed()
    done.touch()
    until(lambda: opened.pyramid is not None)
    assert kept.open(profile) is opened
    assert kept.frame(profile).total == 0
    assert views.view(opened.trace, opened.pyramid, lanes, 12, 0, 800).packed() == early


def test_columns_of_a_trace_that_is_cancelled_are_not_kept(
    kept: Traces, profile: Profile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(programs, "paths", slow_pyramid(tmp_path / "slow", tmp_path / "done"))
    until(lambda: kept.open(profile))
    kept.cancel(profile)
    until(lambda: kept.frame(profile).state != "ready")
    assert kept.frame(profile).state == "cancelled"
    assert kept.open(profile) is None
    assert list((tmp_path / "index-traces").iterdir()) == []


def test_a_process_that_fails_says_why(kept: Traces, profile: Profile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "broken/parsers"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise RuntimeError('no memory left')\n")
    monkeypatch.setattr(programs, "paths", lambda: [str(broken.parent), *sys.path])
    found = ready(kept, profile)
    assert (found.state, found.text) == ("failed", "RuntimeError: no memory left")


@pytest.mark.long
def test_the_directories_not_used_for_longest_are_deleted(profile: Profile, file: Path, tmp_path: Path) -> None:
    place = tmp_path / "index-traces"
    for number in range(3):
        old = place / f"old{number}"
        old.mkdir(parents=True)
        (old / "columns").write_bytes(bytes(100_000))
        os.utime(old, (number, number))
    found = Traces(str(place), limit=sum(one.stat().st_size for one in place.rglob("*")) - 50_000)
    assert ready(found, profile).state == "ready"
    found.stop()
    left = {path.name for path in place.iterdir()}
    assert "old0" not in left
    assert "old2" in left


def test_a_profile_without_a_trace(kept: Traces, tmp_path: Path) -> None:
    found = kept.frame(Profile(".", 0, ()))
    assert found.state == "missing"
    assert "trace_view.json" in found.wanted
    assert kept.open(Profile(".", 0, ())) is None
    kept.cancel(Profile(".", 0, ()))


def test_a_file_that_has_gone(kept: Traces, profile: Profile, file: Path) -> None:
    file.unlink()
    assert kept.frame(profile).state == "failed"


def done(found: Traces, profile: Profile) -> IdleTime:
    end = time.monotonic() + 60
    while (idle_time := found.idle_time(profile)).state == "reading":
        assert time.monotonic() < end
    return idle_time


def test_idle_time_is_known_once_the_trace_was_read(kept: Traces, profile: Profile, tmp_path: Path) -> None:
    assert kept.idle_time(profile).state == "unread"
    assert ready(kept, profile).state == "ready"
    found = done(kept, profile)
    assert found.state == "ready"
    assert found.idle is not None
    assert found.idle.steps["step"].tolist() == ["1", "2", "3"]
    busy = 2 * 50_000 + chrome_traces.SMALL * 20
    assert found.idle.steps["idle_ns"].tolist() == [chrome_traces.STEP_NS - busy] * 3
    again = Traces(str(tmp_path / "index-traces"))  # a second start, which has read nothing
    assert again.idle_time(profile).state == "ready"
    again.stop()


@pytest.mark.long
def test_a_kept_trace_without_its_idle_time_is_read_again(kept: Traces, profile: Profile, tmp_path: Path) -> None:
    assert ready(kept, profile).state == "ready"
    assert done(kept, profile).state == "ready"
    kept.stop()
    (place,) = (tmp_path / "index-traces").iterdir()
    (place / idle.FILE).unlink()
    again = Traces(str(tmp_path / "index-traces"))
    assert again.idle_time(profile).state == "unread"
    assert ready(again, profile).state == "ready"
    assert done(again, profile).state == "ready"
    again.stop()


def test_a_store_of_a_trace_file(file: Path) -> None:
    store = Store([file], interval=0).start()
    try:
        assert store.wait(30)
        (row,) = store.runs.rows()
        assert row.name == "trace_view.json"
        (profile,) = store.profiles.rows(row.key)
        assert profile.frames == ("step_times", "trace", "device_times")
        end = time.monotonic() + 60
        while (opened := store.profiles.trace(row.key, profile.session, profile.rank)) is None:
            assert time.monotonic() < end
        assert len(opened.trace.slices) == len(chrome_traces.slices())
        trace = open_run(file).profile[profile.session, profile.rank].trace
        assert trace is not None
        assert len(trace.slices) == len(chrome_traces.slices())
    finally:
        store.stop()
