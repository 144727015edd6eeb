"""A clock that is set back by a day or forward by a year while servers run: nothing that was confirmed is lost or half written.

The tests replace Python's clock and set the times of files to what a real jump would leave.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.store.runs import locked_file
from app.store.runs.notes import Notes
from app.store.runs.run_list import RunList
from app.store.runs.run_rows import LIVE_SECONDS, unread_row
from app.store.store import Store
from layouts.runs.boards import BoardCard, BoardChange, CardChange
from layouts.runs.notes import NotKept
from parsers import Source
from parsers.model import SourceFile
from tests.app.store.runs.test_killed_notes import BASE, KINDS, change, kept
from tests.parsers.events.event_reference import framed
from tests.writers.worst_binaries import _scalar

DAY = 86_400.0
JUMPS = [-DAY, 365 * DAY]
Jump = Callable[[float], None]


@pytest.fixture
def jump(monkeypatch: pytest.MonkeyPatch) -> Jump:
    """Set the time of day: forward by some seconds, or back."""
    real, real_ns = time.time, time.time_ns

    def jumped(seconds: float) -> None:
        monkeypatch.setattr(time, "time", lambda: real() + seconds)
        monkeypatch.setattr(time, "time_ns", lambda: real_ns() + int(seconds * 1e9))

    return jumped


@pytest.mark.parametrize("seconds", JUMPS)
def test_remarks_views_marks_watchpoints_checks_and_boards_are_kept(tmp_path: Path, seconds: float, jump: Jump) -> None:
    """Two servers on one workspace, between whose changes the clock is set; each knows at once what the other has written."""
    servers = [Notes(str(tmp_path)), Notes(str(tmp_path))]
    path = tmp_path / "notes.jsonl"
    for number in range(6):
        jump(seconds if number % 2 else 0.0)
        for kind in KINDS:
            change(servers[number % 2], kind, 0, number)
            dated = path.stat().st_mtime_ns + int(seconds * 1e9) * (number % 2)
            os.utime(path, ns=(dated, dated))
            assert [kept(one.look(), kind, 0) for one in (*servers, Notes(str(tmp_path)))] == [number] * 3, kind
    assert [one.problems for one in servers] == [(), ()]
    assert [one.why_not for one in servers] == ["", ""]


@pytest.mark.parametrize("seconds", JUMPS)
def test_a_file_that_is_dated_in_the_future_is_replaced_by_one_that_is_later_still(tmp_path: Path, seconds: float) -> None:
    one, other = Notes(str(tmp_path)), Notes(str(tmp_path))
    for number in range(3):
        change(one, "note", 0, number)
        before = int((time.time() + abs(seconds)) * 1e9) + number
        os.utime(one.path, ns=(before, before))
        assert kept(other.look(), "note", 0) == number
        change(one, "note", 0, number + 10)
        assert os.stat(one.path).st_mtime_ns > before
        assert kept(other.look(), "note", 0) == number + 10


@pytest.mark.parametrize("seconds", JUMPS)
def test_damage_is_set_aside_under_names_of_their_own(tmp_path: Path, seconds: float, jump: Jump) -> None:
    notes = Notes(str(tmp_path))
    for number, ahead in enumerate((0.0, seconds, 0.0)):
        jump(ahead)
        change(notes, "note", 0, number)
        with open(notes.path, "ab") as file:
            file.write(b"damage\n")
        assert kept(notes.look(), "note", 0) == number
        assert len(notes.problems) == number + 1


@pytest.mark.parametrize("seconds", JUMPS)
def test_losses_of_a_board_are_others_than_those_of_a_server_before(tmp_path: Path, seconds: float, jump: Jump) -> None:
    """A window compares them with the last one that it knows: numbers that begin again would hide what it has lost."""
    numbers: list[int] = []
    for server in range(4):
        jump(seconds * server)
        notes = Notes(str(tmp_path))
        notes.create_board(BASE, "0" * 16, "board", (BoardCard("1" * 16, text="x", w=4),))
        for width in (1, 2):  # the second one has not seen the first
            notes.change_board(BASE, "0" * 16, BoardChange((CardChange("1" * 16, w=width, seen={"w": 4}),)))
        numbers += [one["number"] for one in notes.lost_fields("0" * 16)]
    assert len(numbers) == len(set(numbers)) == 4
    assert 0 < min(numbers) <= max(numbers) < 1 << 53, "a number that scripts have too"


@pytest.mark.parametrize("seconds", JUMPS)
def test_a_lock_is_waited_for_as_long_as_ever(
    tmp_path: Path, seconds: float, jump: Jump, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locked_file, "PATIENCE", 0.5)
    notes = Notes(str(tmp_path))
    descriptor = os.open(tmp_path / "notes.lock", os.O_RDWR | os.O_CREAT)
    try:
        locked_file.wait_for_lock(descriptor, str(tmp_path))
        begun = time.monotonic()
        jump(seconds)
        with pytest.raises(NotKept, match="another program"):
            change(notes, "note", 0, 1)
        assert 0.5 <= time.monotonic() - begun < 30.0
    finally:
        os.close(descriptor)
    change(notes, "note", 0, 1)
    assert kept(Notes(str(tmp_path)).look(), "note", 0) == 1


class Entry:
    def __init__(self, source: Source) -> None:
        self.row = replace(unread_row("a", source), state="idle")


@pytest.mark.parametrize("seconds", [-DAY, -2 * 3600.0, 60.0, DAY, 365 * DAY])
def test_a_live_run_ends_to_be_live_whatever_the_clock_says(seconds: float) -> None:
    now = 1e9
    file = SourceFile("/a/events", "events", 1, now - 1.0, None, 1, 1)
    source = Source(path="/a", real_path="/a", name="a", files=(file,))
    runs, entries = RunList(), {"a": Entry(source)}
    runs.take("a", source, ("a",))
    rows = runs.rebuilt(entries, now)
    assert rows is not None
    runs.show(rows)
    assert [row.state for row in rows] == ["live"]
    assert runs.rebuilt(entries, now + LIVE_SECONDS / 2) is None
    rows = runs.rebuilt(entries, now + seconds)
    assert rows is not None
    assert [row.state for row in rows] == ["idle"]


@pytest.mark.parametrize("seconds", JUMPS)
def test_the_index_knows_a_file_by_what_it_is_not_by_when(tmp_path: Path, seconds: float, jump: Jump) -> None:
    """Servers before and after a jump, while training goes on: what grew is read, what is the same is taken from the index."""
    path = tmp_path / "runs" / "a" / "events.out.tfevents.1700000000.here"
    path.parent.mkdir(parents=True)
    path.write_bytes(framed(VERSION))
    for server, ahead in enumerate((0.0, seconds, 0.0), start=1):
        jump(ahead)
        with path.open("ab") as file:
            file.write(_scalar(b"loss", server))
        dated = time.time() - 120.0
        os.utime(path, (dated, dated))
        for _ in range(2):  # the second one finds everything in the index
            assert steps(tmp_path) == [*range(1, server + 1)]
    path.unlink()
    path.write_bytes(framed(VERSION) + _scalar(b"loss", 7))
    os.utime(path, (dated, dated))
    assert steps(tmp_path) == [7], "a new file of the same date is another one"


VERSION = b"\x09" + bytes(8) + b"\x1a\rbrain.Event:2"


def steps(place: Path) -> list[int]:
    """The steps that a server shows which is started now, whose list of runs has as many points."""
    store = Store([place / "runs"], interval=0, index_directory=str(place / "index")).start()
    try:
        assert store.wait(30)
        (row,) = store.runs.rows()
        found = store.curves.series("a", "loss")
        assert found is not None
        assert row.points == row.main_points == len(found.step)
        return [int(step) for step in found.step]
    finally:
        store.stop()
