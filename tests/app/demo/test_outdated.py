"""Copies of the demo that other versions made: removed if they are as they were made, kept with whatever is somebody's own."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from app.demo import outdated, prepared, story
from tests.app.demo.test_demo import Ended
from tests.waiting import until

OLD = "demo-0123abcd"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with a copy of an older version: a run, a job that was dated at another time, a file; and with notes."""
    for name in ("digits_lr0.1/events.out.tfevents.1", "digits_8_ranks/rank_0/trace.json"):
        path = tmp_path / OLD / name
        path.parent.mkdir(parents=True)
        path.write_text("recorded")
    (tmp_path / OLD / "digits_search.log").write_text("{}")
    story.date(tmp_path / OLD)
    for path in (tmp_path / OLD / "digits_8_ranks", *(tmp_path / OLD / "digits_8_ranks").rglob("*")):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "0123.json").write_text("a remark")
    return tmp_path


def test_an_untouched_copy_is_removed_and_nothing_else(workspace: Path) -> None:
    for name in ("demo-of-mine", "demo-0123abcde", ".demo-x"):
        (workspace / name).mkdir()
    assert outdated.remove(workspace, ()) == [OLD]
    assert sorted(path.name for path in workspace.iterdir()) == [".demo-x", "demo-0123abcde", "demo-of-mine", "notes"]
    assert (workspace / "notes" / "0123.json").read_text() == "a remark"


def added_run(copy: Path) -> None:
    (copy / "my_run").mkdir()


def added_file(copy: Path) -> None:
    (copy / "digits_lr0.1" / "remarks.txt").write_text("mine")


def added_with_its_time(copy: Path) -> None:
    shutil.copy2(copy / "digits_lr0.1" / "events.out.tfevents.1", copy / "digits_lr0.1" / "copied")


def changed_file(copy: Path) -> None:
    with (copy / "digits_8_ranks" / "rank_0" / "trace.json").open("a") as stream:
        stream.write("more")


def added_lone_file(copy: Path) -> None:
    (copy / "digits_mine.txt").write_text("mine")


def linked(copy: Path) -> None:
    (copy / "digits_mine").symlink_to(copy.parent / "notes")


@pytest.mark.parametrize("touch", [added_run, added_file, added_with_its_time, changed_file, added_lone_file, linked])
def test_a_copy_that_somebody_touched_is_kept_whole(workspace: Path, touch) -> None:
    touch(workspace / OLD)
    before = sorted(workspace.rglob("*"))
    assert outdated.remove(workspace, ()) == []
    assert sorted(workspace.rglob("*")) == before


def test_a_copy_that_a_server_serves_is_kept_and_a_link_is_not_followed(workspace: Path) -> None:
    elsewhere = workspace / "elsewhere"
    shutil.move(workspace / OLD, elsewhere)
    (workspace / OLD).symlink_to(elsewhere)
    assert outdated.remove(workspace, ()) == []
    (workspace / OLD).unlink()
    shutil.move(elsewhere, workspace / OLD)
    assert outdated.remove(workspace, [str(workspace / OLD)]) == []
    assert (workspace / OLD / "digits_lr0.1").is_dir()


def test_a_start_removes_what_other_versions_left(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.demo.prepared.subprocess.Popen", lambda *_arguments, **_options: Ended())
    folder = prepared.prepare(workspace, {})
    until(lambda: not (workspace / OLD).exists(), seconds=30)
    assert (folder / story.DIVERGES).is_dir()
