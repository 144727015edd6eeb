"""The list of runs: newest first, and only rows that changed are built again."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.store.runs import run_list
from app.store.runs.following import RunFollower
from app.store.runs.run_list import GONE, ChangeLog, RunList
from app.store.runs.run_rows import LIVE_SECONDS, dated_row, unread_row
from layouts.runs.rows import RunRow
from layouts.runs.run_colours import Colours
from parsers import Source, open_run
from parsers.ages import AHEAD_SECONDS
from parsers.model import SourceFile
from tests.recorded import RECORDED


def source(name: str, mtime: float) -> Source:
    return Source(f"/runs/{name}", f"/runs/{name}", name, (SourceFile(f"/runs/{name}/f", "events", 1, mtime, None, 1, 1),))


@dataclass
class Entry:
    row: RunRow


def test_a_file_that_is_dated_in_the_future_is_not_live_for_ever() -> None:
    """The clock of another machine may be ahead by less than an hour; nobody is still writing what is dated in 2096."""
    far = [(AHEAD_SECONDS, "idle"), (2e9, "idle")]
    for ahead, state in [(-LIVE_SECONDS, "idle"), (0.0, "live"), (AHEAD_SECONDS - 1, "live"), *far]:
        found = source("a", 1e9 + ahead)
        assert dated_row(replace(unread_row("a", found), state="idle"), found, 1e9).state == state, ahead


def test_rows_follow_what_is_found_changed_and_gone() -> None:
    runs = RunList()
    assert runs.rebuilt({}, 0.0) is None
    sources = {name: source(name, mtime) for name, mtime in (("a", 10.0), ("b", 30.0), ("c", 20.0))}
    entries = {name: Entry(replace(unread_row(name, one), state="idle")) for name, one in sources.items()}

    def shown(now: float = 1e6) -> list[tuple[str, str]]:
        rows = runs.rebuilt(entries, now)
        if rows is not None:
            runs.show(rows)
        return [(row.key, row.state) for row in runs.rows]

    for name, one in sources.items():
        runs.take(name, one, (name,))
    assert shown() == [("b", "idle"), ("c", "idle"), ("a", "idle")]
    before = {row.key: row for row in runs.rows}

    entries["c"].row = replace(entries["c"].row, points=7)
    runs.change("c")
    assert runs.changed
    shown()
    assert not runs.changed
    assert [row.points for row in runs.rows] == [0, 7, 0]
    assert all(row is before[row.key] for row in runs.rows if row.key != "c"), "the others are the same objects"
    assert runs.rebuilt(entries, 1e6) is None

    runs.take("a", source("a", 100.0), ("a",))
    assert shown(now=100.0 + LIVE_SECONDS - 1) == [("a", "live"), ("b", "idle"), ("c", "idle")]
    assert shown(now=100.0 + LIVE_SECONDS) == [("a", "idle"), ("b", "idle"), ("c", "idle")], "no file changed, time passed"

    runs.keep({"a", "c"})
    assert shown() == [("a", "idle"), ("c", "idle")]
    assert runs.row("b") is None
    assert runs.row("c") == runs.rows[1]


ACTS = st.lists(st.tuples(st.sampled_from("adcr"), st.integers(0, 7), st.floats(0, 100)), max_size=40)


@given(ACTS, st.data())
def test_changes_lead_from_any_mark_to_the_list_as_it_is(acts: list[tuple[str, int, float]], data: st.DataObject) -> None:
    """Someone who has followed the changes from an earlier list has the same rows and colours as the list has now."""
    runs = RunList()
    found: dict[str, Source] = {}
    entries: dict[str, Entry] = {}
    followers: list[tuple[str, dict[str, RunRow], dict[str, str]]] = [("", {}, {})]
    for act, number, when in acts:
        key = f"run{number}"
        if act == "d":
            found.pop(key, None)
            runs.keep(list(found))
        elif act == "a" or key not in found:
            found[key] = source(key, when)
            entries[key] = Entry(replace(unread_row(key, found[key]), state="idle", started=when))
            runs.take(key, found[key], (key,))
        elif act == "c":
            entries[key].row = replace(entries[key].row, points=entries[key].row.points + 1)
            runs.change(key)
        rows = runs.rebuilt(entries, 1e6)
        if rows is not None:
            runs.show(rows)
        mark, known, colours = followers[data.draw(st.integers(0, len(followers) - 1))]
        changes = runs.changes(mark)
        known = {} if changes.whole else {row: one for row, one in known.items() if row not in changes.gone}
        known |= {row.key: row for row in changes.rows}
        colours = {**colours, **{key: changes.colours[key] for row in changes.rows for key in row.members}}
        assert known == {row.key: row for row in runs.rows}
        assert {key: colours[key] for key in known} == runs.colours.usual == Colours(runs.rows).usual
        followers.append((changes.mark, known, colours))


def test_a_change_is_told_alone() -> None:
    runs = RunList()
    entries = {}
    for number in range(1000):
        key = f"run{number}"
        entries[key] = Entry(replace(unread_row(key, source(key, number)), state="idle"))
        runs.take(key, source(key, number), (key,))
    runs.show(runs.rebuilt(entries, 1e6) or ())
    mark = runs.changes("").mark
    assert runs.changes(mark).rows == []
    entries["run7"].row = replace(entries["run7"].row, points=1)
    runs.change("run7")
    runs.show(runs.rebuilt(entries, 1e6) or ())
    assert [row.key for row in runs.changes(mark).rows] == ["run7"]


def test_what_has_gone_is_forgotten_in_the_end() -> None:
    log = ChangeLog()
    mark = log.mark
    log.add(["a"], ["a"])
    assert log.since(mark) == ["a"]
    for number in range(GONE + 1):
        log.add([f"gone{number}"], ["a"])
    assert log.since(mark) is None
    assert log.since(log.mark) == []
    assert ChangeLog().since(log.mark) is None, "the log of another process"


def test_a_slice_costs_what_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are published after every run, and yet each of the sixty rows is built three times at most."""
    for number in range(60):
        shutil.copytree(RECORDED / "long_history", tmp_path / f"run{number}")
    monkeypatch.setattr("app.store.runs.following.PUBLISH_SECONDS", 0.0)
    monkeypatch.setattr("app.store.runs.following.PUBLISH_SHARE", 1e9)
    built: list[str] = []
    dated_row = run_list.dated_row
    monkeypatch.setattr(run_list, "dated_row", lambda row, *rest: built.append(row.key) or dated_row(row, *rest))
    follower = RunFollower([tmp_path], (), 0, None)
    follower._scan()
    order, versions = [], set()
    while (entry := follower._next_due()) is not None:
        order.append(entry.key)
        follower._try(entry)
        versions.add(follower.snapshot()[1])
    follower._scan()
    assert len(versions) == 60
    assert len(built) <= 3 * 60
    assert order == [row.key for row in follower.rows], "the newest first"
    assert {row.points for row in follower.rows} == {open_run(RECORDED / "long_history").points}
