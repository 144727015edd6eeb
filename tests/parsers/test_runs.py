"""A run followed while its files change, and what its frames say."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers import SCALARS, SourceError, discover, open_run
from parsers.file_states import IDLE_SECONDS, MOST_PROBLEMS, FileState
from parsers.frames import SCALARS_VIEW
from parsers.model import Batch, Cursor, Problem, SourceFile
from parsers.recording import EventWriter
from parsers.runs import Run
from tests.amounts import examples
from tests.recorded import RECORDED


@pytest.fixture
def run_directory(tmp_path: Path) -> Path:
    """A copy of a real run with three files that overlap."""
    return Path(shutil.copytree(RECORDED / "several_files", tmp_path / "run"))


def events(directory: Path) -> list[Path]:
    return sorted(directory.glob("*_MS"))


def test_what_discover_finds_can_be_opened(run_directory: Path) -> None:
    (source,) = discover(run_directory)
    assert open_run(source).scalars.equals(open_run(run_directory).scalars)


def test_no_run_at_all(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        open_run(tmp_path)


def test_a_run_without_scalars_has_an_empty_frame_of_the_same_shape(tmp_path: Path) -> None:
    (tmp_path / "e.summary.1.h_MS").write_bytes(b"")
    run = open_run(tmp_path)
    pd.testing.assert_frame_equal(run.scalars, SCALARS.empty())
    SCALARS_VIEW.check(run.scalars_view("all").frame)
    assert [problem.kind for problem in run.problems] == ["empty_file"]


def test_frames_keep_their_schema() -> None:
    run = open_run(RECORDED / "long_history")
    SCALARS.check(run.scalars)
    SCALARS_VIEW.check(run.scalars_view().frame)


def test_nothing_is_merged_away() -> None:
    run = open_run(RECORDED / "several_files")
    frame = run.scalars
    loss = frame[frame["tag"] == "loss"]
    assert len(run.files) == 3
    assert sorted(loss["file"].unique()) == [0, 1, 2]
    assert loss["step"].duplicated().sum() > 0, "the files overlap, and both values of a step are kept"
    assert (np.diff(loss["file"]) >= 0).all()


@pytest.mark.long
def test_the_newest_view_keeps_the_last_word_on_every_step() -> None:
    frame = open_run(RECORDED / "long_history").scalars
    view = open_run(RECORDED / "long_history").scalars_view("newest")
    for tag, group in frame.groupby("tag", observed=True):
        kept: dict[int, float] = {}
        for step, value in zip(group["step"], group["value"], strict=True):
            kept = {old: v for old, v in kept.items() if old < step}
            kept[step] = value
        found = view.frame[view.frame["tag"] == tag]
        assert dict(zip(found["step"], found["value"], strict=True)) == kept
    assert view.left_out == len(frame) - len(view.frame) > 0
    assert f"{view.left_out:,}" in view.text


steps_of_tags = st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.integers(0, 12)), max_size=60)


@settings(max_examples=examples(60))
@given(steps_of_tags)
def test_views_of_several_tags_that_restart_each_on_its_own(
    tmp_path_factory: pytest.TempPathFactory, points: list[tuple[str, int]]
) -> None:
    directory = tmp_path_factory.mktemp("restarts")
    with EventWriter(str(directory / "events.out.tfevents.1700000000.host"), "tensorboard") as writer:
        for number, (tag, step) in enumerate(points):
            writer.add(step, {tag: float(number)})
    run = open_run(directory)
    kept: dict[str, dict[int, float]] = {}
    session: dict[tuple[str, float], int] = {}
    for number, (tag, step) in enumerate(points):
        before = [(n, s) for n, (t, s) in enumerate(points[:number]) if t == tag]
        back = bool(before) and step < before[-1][1]
        session[tag, float(number)] = (session[tag, float(before[-1][0])] if before else 0) + back
        of_tag = kept.setdefault(tag, {})
        kept[tag] = {old: value for old, value in of_tag.items() if old < step} | {step: float(number)}
    newest, every = run.scalars_view("newest"), run.scalars_view("all")
    rows = newest.frame
    assert {(str(t), int(s), float(v)) for t, s, v in zip(rows["tag"], rows["step"], rows["value"], strict=True)} == {
        (tag, step, value) for tag, of_tag in kept.items() for step, value in of_tag.items()
    }
    assert newest.left_out == len(points) - len(rows)
    for view in (newest, every):
        assert [session[str(t), float(v)] for t, v in zip(view.frame["tag"], view.frame["value"], strict=True)] == list(
            view.frame["session"]
        )
    restarts = sum(session[tag, float(number)] > 0 for number, (tag, _) in enumerate(points))
    assert (len(every.frame), every.left_out) == (len(points), 0)
    assert bool(restarts) == (every.frame["session"].max() > 0 if points else False)


def test_the_view_of_everything_numbers_the_sessions() -> None:
    view = open_run(RECORDED / "long_history").scalars_view("all")
    assert view.left_out == 0
    loss = view.frame[view.frame["tag"] == "loss"]
    backwards = np.flatnonzero(np.diff(loss["step"]) < 0)
    assert len(backwards) == loss["session"].max() == 1
    with pytest.raises(ValueError, match="expected 'newest' or 'all'"):
        open_run(RECORDED / "long_history").scalars_view("best")


def test_ranks_of_a_job() -> None:
    job = open_run(RECORDED / "ranks")
    assert [len(rank.scalars) > 0 for rank in job.ranks] == [True, True]
    assert job.scalars.empty


def test_a_growing_file_is_read_from_where_it_ended(run_directory: Path) -> None:
    whole = open_run(run_directory).scalars
    path = events(run_directory)[-1]
    data = path.read_bytes()
    path.write_bytes(data[:5000])
    run = open_run(run_directory)
    short = len(run.scalars)
    assert not run.refresh(), "nothing new, nothing changed"
    version = run.version
    with path.open("ab") as file:
        file.write(data[5000:5010])
    run.refresh()
    assert len(run.scalars) == short, "half a record waits"
    with path.open("ab") as file:
        file.write(data[5010:])
    assert run.refresh()
    assert run.version > version
    pd.testing.assert_frame_equal(run.scalars, whole)
    assert not run.problems


def test_an_older_file_that_grows_is_followed_too(run_directory: Path) -> None:
    whole = open_run(run_directory).scalars
    path = events(run_directory)[0]
    data = path.read_bytes()
    path.write_bytes(data[:3000])
    run = open_run(run_directory)
    path.write_bytes(data)
    run.refresh()
    pd.testing.assert_frame_equal(run.scalars, whole)


def test_a_new_file_appears(run_directory: Path) -> None:
    whole = open_run(run_directory).scalars
    last = events(run_directory)[-1]
    data = last.read_bytes()
    last.unlink()
    run = open_run(run_directory)
    last.write_bytes(data)
    assert run.refresh()
    pd.testing.assert_frame_equal(run.scalars, whole)


def test_a_file_that_vanished_is_gone(run_directory: Path) -> None:
    run = open_run(run_directory)
    events(run_directory)[0].unlink()
    assert run.refresh()
    pd.testing.assert_frame_equal(run.scalars, open_run(run_directory).scalars)


def test_a_replaced_file_is_read_again(run_directory: Path) -> None:
    run = open_run(run_directory)
    first, second, _ = events(run_directory)
    shutil.copy(second, first)
    run.refresh()
    assert "replaced" in [problem.kind for problem in run.problems]
    expected = open_run(run_directory).scalars
    pd.testing.assert_frame_equal(run.scalars, expected)


def test_reading_in_slices_is_reading(run_directory: Path) -> None:
    whole = open_run(run_directory).scalars
    run = Run(open_run(run_directory).source)
    slices = 0
    run.behind = True
    while run.behind:
        run.refresh(run.source, limit=2000)
        slices += 1
    assert slices >= 3
    pd.testing.assert_frame_equal(run.scalars, whole)


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="root may read every file")
def test_a_file_of_somebody_else_says_so_and_the_others_are_shown(run_directory: Path) -> None:
    events(run_directory)[0].chmod(0)
    run = open_run(run_directory)
    assert [problem.kind for problem in run.problems] == ["unreadable"]
    assert len(run.scalars) > 0


def test_every_scalar_of_the_real_runs(real_data: Path) -> None:
    runs = [Run(source) for source in discover(real_data / "summary")]
    for run in runs:
        run.refresh(run.source)
    leaves = [leaf for run in runs for leaf in (run, *run.ranks)]
    assert sum(len(leaf.scalars) for leaf in leaves) == 19_248
    assert sum(len(leaf.tags("scalar")) for leaf in leaves) == 469


def test_a_replaced_file_is_shown_anew_only_when_it_is_whole(run_directory: Path) -> None:
    run = open_run(run_directory)
    first, second, _ = events(run_directory)
    before = len(run.scalars)
    shutil.copy(second, first)
    first.write_bytes(second.read_bytes() * 20)
    after = len(open_run(run_directory).scalars)
    slices = 0
    run.behind = True
    while run.behind:
        assert len(run.scalars) in (before, after)
        run.refresh(limit=2000)
        slices += 1
    assert slices > 2
    pd.testing.assert_frame_equal(run.scalars, open_run(run_directory).scalars)


def test_a_vanished_file_takes_nothing_with_it_while_the_rest_is_read(run_directory: Path) -> None:
    run = open_run(run_directory)
    before = run.scalars
    events(run_directory)[0].unlink()
    run.refresh(limit=2000)
    assert run.behind
    pd.testing.assert_frame_equal(run.scalars, before)
    while run.behind:
        run.refresh(limit=2000)
    pd.testing.assert_frame_equal(run.scalars, open_run(run_directory).scalars)


def test_an_unreadable_file_that_becomes_readable_is_whole_again(
    run_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = open_run(run_directory)
    whole = run.scalars
    path = events(run_directory)[-1]
    data = path.read_bytes()
    path.write_bytes(data + data[:1])
    with monkeypatch.context() as broken:
        broken.setattr(os, "open", lambda *_args, **_more: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
        run.refresh()
    assert [problem.kind for problem in run.problems] == ["unreadable"]
    path.write_bytes(data)
    run.refresh()
    assert "unreadable" not in [problem.kind for problem in run.problems]
    pd.testing.assert_frame_equal(run.scalars, whole)


def test_content_decides_which_reader_follows_a_file(tmp_path: Path, real_data: Path) -> None:
    board = next((real_data / "tensorboard" / "tensorboardX_nan_restart").iterdir()).read_bytes()
    path = tmp_path / "x.summary.1795217810.h_MS"
    path.write_bytes(b"")
    run = open_run(tmp_path)
    path.write_bytes(board)
    run.refresh()
    assert len(run.scalars) == 620
    path.write_bytes(events(RECORDED / "several_files")[0].read_bytes())
    run.refresh()
    pd.testing.assert_frame_equal(run.scalars[["step", "value"]], open_run(tmp_path).scalars[["step", "value"]])
    path.unlink()
    path.write_bytes(board)
    run.refresh()
    assert len(run.scalars) == 620


def test_damage_without_end_is_listed_up_to_a_bound() -> None:
    state = FileState(SourceFile("/f", "events", 1, 1.0, None, 1, 1))
    for number in range(3 * MOST_PROBLEMS):
        state.add(Batch(Cursor(number, 1, 1, 1, 0), problems=[Problem("/f", number, 1, "bad_data", "one")]))
    assert len(state.problems) == MOST_PROBLEMS
    assert state.problems[0].offset == 0
    assert "not listed" in state.problems[-1].text


def test_an_incomplete_tail_is_a_problem_once_the_file_is_idle(run_directory: Path) -> None:
    path = events(run_directory)[0]
    whole = path.read_bytes()
    path.write_bytes(whole[:10_000])
    run = open_run(run_directory)
    assert run.waiting
    assert not run.problems, "the rest may still be written"
    old = time.time() - IDLE_SECONDS - 1
    os.utime(path, (old, old))
    run.refresh()
    (problem,) = run.problems
    assert (problem.kind, problem.path, problem.offset + problem.length) == ("truncated", str(path), 10_000)
    assert [p.kind for p in open_run(run_directory).problems] == ["truncated"]
    path.write_bytes(whole)
    run.refresh()
    assert not run.problems
    assert not run.waiting
    assert len(run.scalars) == len(open_run(run_directory).scalars)


def test_a_clock_that_is_ahead_does_not_keep_a_file_from_being_idle(
    run_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = events(run_directory)[0]
    path.write_bytes(path.read_bytes()[:-5])
    ahead = time.time() + 86_400
    os.utime(path, (ahead, ahead))
    run = open_run(run_directory)
    assert not run.problems
    begin = time.monotonic()
    monkeypatch.setattr("parsers.file_states.time.monotonic", lambda: begin + IDLE_SECONDS + 1)
    assert [problem.kind for problem in run.problems] == ["truncated"]
