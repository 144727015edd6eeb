"""Frames of profiles in the store: read in the background, kept within bounds and in the index, cancelled, as CSV."""

from __future__ import annotations

import csv
import io
import os
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from app import create_app
from app.routes.profiles.frames import _frame
from app.routes.refusals import Unusable
from app.store.profiles.frames import ProfileFrames, mark_of
from app.store.store import Store
from layouts.profiles.frames import ProfileFrame
from parsers import open_run
from parsers.profiler.access import Profile
from parsers.profiler.progress import Cancelled, watched
from tests.waiting import until, when

HEAD = "Step ID,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"


def kernel_rows(rows: int, duration: float = 2.0) -> str:
    return HEAD + "".join(
        f"1,Default/net/op{row % 7}/k,Mul,AI_CORE,{1000 + row}.000\t,{duration}\n" for row in range(rows)
    )  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "runs/one/host_1_2_ascend_ms/ASCEND_PROFILER_OUTPUT"
    folder.mkdir(parents=True)
    (folder / "kernel_details.csv").write_text(kernel_rows(20_000))
    (folder.parent / "profiler_info_3.json").write_text("{}")
    return folder


@pytest.fixture
def store(run: Path, tmp_path: Path) -> Iterator[Store]:
    made = Store([run.parents[2]], interval=0, index_directory=str(tmp_path / "index")).start()
    assert made.wait(30)
    yield made
    made.stop()


def ready(store: Store, name: str) -> ProfileFrame:
    (row,) = store.profiles.rows("one")
    asked = partial(store.profiles.frame, "one", row.session, row.rank, name)
    return when(asked, lambda found: found.state not in ("reading", "waiting"))


def test_what_a_run_has(store: Store, run: Path) -> None:
    (row,) = store.profiles.rows("one")
    assert (row.session, row.rank, row.device) == ("host_1_2_ascend_ms", 3, "Ascend")
    assert row.frames == ("operators", "operator_types", "kernels", "trace", "ranks", "device_times")
    assert not store.profiles.of_torch("one", row.session, row.rank)
    assert row.files == ("ASCEND_PROFILER_OUTPUT/kernel_details.csv", "profiler_info_3.json")
    (listed,) = store.runs.rows()
    assert listed.tags == {"profile": 1} | {f"profile.{name}": 1 for name in row.frames}
    assert listed.size == row.size == sum(path.stat().st_size for path in (run.parent).rglob("*.*"))
    assert listed.updated == pytest.approx(os.stat(run.parent / "profiler_info_3.json").st_mtime)
    assert store.profiles.rows("none") == ()


@pytest.mark.long
def test_frames_are_those_of_the_parser(store: Store, run: Path) -> None:
    (profile,) = open_run(run.parents[1]).profile.values()
    for name in ("operator_types", "operators", "kernels"):
        pd.testing.assert_frame_equal(ready(store, name).frame, profile.frame(name))
    missing = ready(store, "steps")
    assert missing.state == "missing"
    assert missing.wanted[:2] == ("step_trace_time.csv", "analysis.db")
    assert store.profiles.frame("one", "no", 0, "steps").state == "missing"
    with pytest.raises(KeyError):
        ready(store, "no such frame")


def test_a_second_start_takes_it_from_the_index_until_the_file_grows(store: Store, run: Path, tmp_path: Path) -> None:
    path = run / "kernel_details.csv"
    before = ready(store, "operators").frame
    store.stop()
    times, size = path.stat(), path.stat().st_size
    path.write_bytes(b"x" * size)  # as large and as old: whatever is read now comes from the index
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    second = Store([run.parents[2]], interval=0, index_directory=str(tmp_path / "index")).start()
    assert second.wait(30)
    pd.testing.assert_frame_equal(ready(second, "operators").frame, before)
    path.write_text(kernel_rows(20_001, 3.0))
    second.runs.refresh()
    until(lambda: second.profiles.rows("one")[0].size != size + 2)
    until(lambda: ready(second, "kernels").frame["duration_ns"].iloc[0] == 3000)
    second.stop()


def test_damage_is_in_the_data_health(store: Store, run: Path) -> None:
    (run / "kernel_details.csv").write_text(kernel_rows(3) + "1,2\n")
    store.runs.refresh()
    until(lambda: ready(store, "kernels") and store.runs.problems("one"))
    ((key, problem),) = store.runs.problems("one")
    assert key == "one"
    assert "Line 5" in problem.text
    assert ready(store, "operator_types").problems == (problem,)


def test_whoever_cancels_gets_nothing_and_may_ask_again(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader is held where it tells how far it is, until somebody cancels."""
    (profile,) = open_run(run.parents[1]).profile.values()
    frames = ProfileFrames()
    read = Profile.frame

    def slow(self: Profile, name: str) -> pd.DataFrame:
        from parsers.profiler.progress import report_read

        for _ in range(2_000):
            report_read(1)
            time.sleep(0.01)
        return read(self, name)

    monkeypatch.setattr(Profile, "frame", slow)
    assert frames.frame(profile, "x", "kernels").state == "reading"
    told = frames.frame(profile, "x", "kernels")
    assert 0 < told.done < told.total
    frames.cancel(mark_of(profile), "kernels")
    until(lambda: frames.frame(profile, "x", "kernels").state == "cancelled")
    monkeypatch.setattr(Profile, "frame", read)
    assert frames.frame(profile, "x", "kernels").state == "cancelled"
    until(lambda: frames.frame(profile, "x", "kernels", again=True).state == "ready")
    frames.stop()


def test_an_error_of_the_reader_is_told(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (profile,) = open_run(run.parents[1]).profile.values()
    frames = ProfileFrames()
    monkeypatch.setattr(Profile, "frame", lambda *_: 1 / 0)
    found = when(lambda: frames.frame(profile, "x", "kernels"), lambda found: found.state == "failed")
    assert "ZeroDivisionError" in found.text
    frames.stop()


def test_memory_is_bounded(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.store.profiles.frames.HELD", 0.0)
    (profile,) = open_run(run.parents[1]).profile.values()
    frames = ProfileFrames(memory=1)
    for name in ("kernels", "operators", "operator_types", "kernels"):
        end = time.monotonic() + 20
        while frames.frame(profile, "x", name).state != "ready":
            assert time.monotonic() < end
        assert len(frames._frames) == 1
        assert not profile.held()
    frames.stop()


def test_a_page_gets_all_frames_that_it_asks_for_together(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.background.PATIENCE", 0.0)
    (profile,) = open_run(run.parents[1]).profile.values()
    frames = ProfileFrames(memory=1)
    until(
        lambda: {frames.frame(profile, "x", name).state for name in ("kernels", "operators", "operator_types")} == {"ready"}
    )
    frames.stop()


def test_a_frame_that_another_was_made_of_meanwhile_is_not_read_again(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Operators are made of kernels; kernels are asked for while that goes on, and wait for their turn."""
    (profile,) = open_run(run.parents[1]).profile.values()
    frames, read, names = ProfileFrames(), Profile.frame, []
    asked = threading.Event()

    def counted(self: Profile, name: str) -> pd.DataFrame:
        names.append(name)
        assert asked.wait(20)
        return read(self, name)

    monkeypatch.setattr(Profile, "frame", counted)
    assert frames.frame(profile, "x", "operators").state == "reading"
    assert frames.frame(profile, "x", "kernels").state == "waiting"
    asked.set()
    until(lambda: {frames.frame(profile, "x", name).state for name in ("kernels", "operators")} == {"ready"})
    assert names == ["operators", "kernels"]  # the second within the first
    frames.stop()


def test_reading_ends_where_it_is_told_to() -> None:
    from parsers.profiler.progress import report_read

    def stop(_size: int) -> None:
        raise Cancelled

    with pytest.raises(Cancelled), watched(stop):
        report_read(1)
    report_read(1)


def test_a_frame_as_csv(store: Store, run: Path) -> None:
    client = create_app(store).server.test_client()
    session = "host_1_2_ascend_ms"
    answer = client.get("/api/profile.csv", query_string={"run": "one", "session": session, "rank": 3, "frame": "operators"})
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="one-host_1_2_ascend_ms-rank3-operators.csv"')
    rows = list(csv.DictReader(io.StringIO(answer.get_data(as_text=True))))
    frame = ready(store, "operators").frame
    assert frame is not None
    assert [row["full_name"] for row in rows] == frame["full_name"].tolist()
    assert [float(row["total_ns"]) for row in rows] == frame["total_ns"].tolist()
    assert rows[0]["flops"] == ""


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"run": "one", "frame": "kernels"}, 404),
        ({"run": "no", "session": "host_1_2_ascend_ms", "rank": "3", "frame": "kernels"}, 404),
        ({"run": "one", "session": "host_1_2_ascend_ms", "rank": "3", "frame": "steps"}, 404),
        ({"run": "one", "session": "../..", "rank": "3", "frame": "kernels"}, 404),
        ({"run": "one", "frame": "no"}, 400),
        ({"run": "one", "rank": "-1", "frame": "kernels"}, 404),
        ({"run": "one", "rank": "-2", "frame": "kernels"}, 400),
        ({"frame": "kernels"}, 400),
        ({"run": "one", "frame": "kernels", "path": "/etc/passwd"}, 400),
    ],
)
def test_a_request_that_cannot_be_answered_says_why(store: Store, query: dict[str, str], status: int) -> None:
    answer = create_app(store).server.test_client().get("/api/profile.csv", query_string=query)
    assert answer.status_code == status
    assert answer.get_json()["error"]


def test_a_cell_is_never_a_formula(store: Store, run: Path) -> None:
    (run / "kernel_details.csv").write_text(HEAD + '1,"=cmd()","a,b",AI_CORE,1.000,2\n')
    store.runs.refresh()
    until(lambda: not ((frame := ready(store, "kernels").frame) is None or len(frame) != 1))
    query = {"run": "one", "session": "host_1_2_ascend_ms", "rank": "3", "frame": "kernels"}
    answer = create_app(store).server.test_client().get("/api/profile.csv", query_string=query)
    (row,) = csv.DictReader(io.StringIO(answer.get_data(as_text=True)))
    assert (row["name"], row["type"]) == ("'=cmd()", "a,b")




@pytest.mark.parametrize(("state", "status"), [("failed", 500), ("cancelled", 503), ("missing", 404)])
def test_503_is_only_for_what_a_later_request_may_find(state: str, status: int) -> None:
    with pytest.raises(Unusable) as refused:
        _frame(ProfileFrame(state, text="ValueError", wanted=("a.csv",)), "kernels")
    assert refused.value.status == status
