"""The file of notes: its versions, several programs, damage, rights."""

from __future__ import annotations

import json
import os
import stat
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.store.runs import notes
from app.store.runs.notes import Notes
from app.store.runs.notes_format import (
    VERSION,
    Content,
    RunNote,
    SavedChecks,
    SavedMark,
    SavedWatchList,
    decode,
    encode,
)
from layouts.dumps.watchpoints import SavedWatchpoint, WatchList
from layouts.kit.user_input import InvalidInput
from layouts.runs.checks import Checks, StepCheck
from layouts.runs.notes import ICONS, Mark, Note, NoteChange, NotKept, Stale
from tests.app.store.runs.some_notes import HARMLESS, POINTS, SMALL, remark, says


def test_a_file_is_lines_that_any_program_can_check() -> None:
    lines = encode(SMALL).decode("ascii").splitlines()
    records = [json.loads(line[9:]) for line in lines]
    assert [line[:8] for line in lines] == [f"{zlib.crc32(line[9:].encode()):08x}" for line in lines]
    assert records[0] == {"format": "mindscope notes", "version": 1}
    assert records[1] == {"run": "k1", "path": "/data/a", "remark": 'best, "so"\nfar 训练', "tags": [":star", "paper"]}
    assert records[3] == {"view": "v1", "base": "/data", "name": "Losses", "place": HARMLESS}
    assert records[-1] == {"records": 3}


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8"), max_size=5), st.tuples(st.text(), st.sets(st.sampled_from(ICONS))), max_size=4
    )
)
@settings(deadline=None)
def test_what_is_written_is_read(said) -> None:
    changes = {
        key: NoteChange(text, Note().version, tuple(f":{icon}" for icon in icons)) for key, (text, icons) in said.items()
    }
    content = Content({key: RunNote("/p", change.applied(Note())) for key, change in changes.items()}, {})
    assert decode(encode(content)) == (content, True)


def lost(content: Content) -> int:
    return sum(SMALL.notes[key] != content.notes.get(key) for key in SMALL.notes) + (SMALL.views != content.views)


MARKED = Content(SMALL.notes, SMALL.views, {"m1": SavedMark("k1", "/data/a", Mark("m1", "stall 停顿", "s", 3, (12, 2**60)))})


def test_marks_are_lines_of_version_2_and_files_without_any_stay_what_they_were() -> None:
    assert decode(encode(MARKED)) == (MARKED, True)
    lines = [json.loads(line[9:]) for line in encode(MARKED).decode("ascii").splitlines()]
    assert lines[0] == {"format": "mindscope notes", "version": 2}
    assert lines[4] == {"mark": "m1", "run": "k1", "path": "/data/a", "session": "s", "rank": 3, "name": "stall 停顿",
                        "times": [12, 2**60]}  # fmt: skip
    assert encode(SMALL).splitlines()[0] == encode(Content()).splitlines()[0]
    for place, byte in enumerate(encode(MARKED)):
        data = bytearray(encode(MARKED))
        data[place] ^= 1
        content, intact = decode(bytes(data))
        assert not intact
        assert (content.marks != MARKED.marks) + lost(content) <= (2 if byte == 0x0A else 1)


def test_marks_are_saved_replaced_and_deleted(tmp_path: Path) -> None:
    kept, other = Notes(str(tmp_path)), Notes(str(tmp_path))
    made = kept.save_mark("k1", "/data/a", Mark("m1", "  the   stall ", ".", 0, (90, 20)))
    assert (made.name, made.times) == ("the stall", (20, 90))
    assert other.look().marks["m1"].mark == made
    with pytest.raises(Stale):
        other.save_mark("k1", "/data/a", Mark("m2", "the stall", ".", 0, (5,)))
    moved = other.save_mark("k1", "/data/a", Mark("m2", "the stall", ".", 0, (5,)), instead=made.version)
    assert (moved.key, moved.times) == ("m1", (5,))
    other.save_mark("k1", "/data/a", Mark("m3", "the stall", ".", 1, (7,)))  # another rank
    with pytest.raises(Stale):
        kept.delete_mark("m1", made.version)
    kept.delete_mark("m1", moved.version)
    kept.delete_mark("m1", moved.version)
    assert list(kept.look().marks) == ["m3"]
    for times in ((), (1, 2, 3), (2**62,)):
        with pytest.raises(InvalidInput):
            kept.save_mark("k1", "/data/a", Mark("m4", "n", ".", 0, times))
    for session, rank in (("a\0b", 0), (".", 10**30), (".", -1)):
        with pytest.raises(InvalidInput):
            kept.save_mark("k1", "/data/a", Mark("m4", "n", session, rank, (1,)))


def test_colours_are_kept_by_run_and_by_group_and_reset(tmp_path: Path) -> None:
    kept, other = Notes(str(tmp_path)), Notes(str(tmp_path))
    assert kept.paint("k1", "/data/a", "#2E9AC8").colour == "#2e9ac8"
    kept.paint_group("column:lr", "0.1", "#895dd6")
    seen = other.look()
    assert {key: one.colour for key, one in seen.colours.items()} == {"k1": "#2e9ac8"}
    assert seen.groups == {("column:lr", "0.1"): "#895dd6"}
    assert b'"version":4' in (tmp_path / "notes.jsonl").read_bytes()
    other.paint("k1", "/data/a", "")
    other.paint_group("column:lr", "0.1", "")
    assert (kept.look().colours, kept.look().groups) == ({}, {})
    assert b'"version":1' in (tmp_path / "notes.jsonl").read_bytes()
    for wrong in ("red", "#12345", "#12345g", "#1234567"):
        with pytest.raises(InvalidInput):
            kept.paint("k1", "/data/a", wrong)


WATCHED = replace(MARKED, watched={"k1": SavedWatchList("/data/a", WatchList(POINTS))})


def test_watchpoints_are_lines_of_version_3_and_files_without_any_stay_what_they_were() -> None:
    assert decode(encode(WATCHED)) == (WATCHED, True)
    lines = [json.loads(line[9:]) for line in encode(WATCHED).decode("ascii").splitlines()]
    assert (lines[0], len(lines)) == ({"format": "mindscope notes", "version": 3}, 8)
    assert lines[5] == {
        "watch": "k1", "path": "/data/a", "condition": "tensor_too_large", "limits": {"max_gt": 1e9, "mean_gt": -1e-9},
        "names": ["Default/a", "Default/фi"], "pattern": "", "enabled": True, "by": "nodes", "said": "Def",
    }  # fmt: skip
    assert encode(replace(WATCHED, watched={})) == encode(MARKED)
    for place, byte in enumerate(encode(WATCHED)):
        data = bytearray(encode(WATCHED))
        data[place] ^= 1
        content, intact = decode(bytes(data))
        left = content.watched["k1"].listed.watchpoints if content.watched else ()
        assert not intact
        assert (content.marks != MARKED.marks) + lost(content) + sum(one not in left for one in POINTS) <= 1 + (byte == 0x0A)


def test_a_watchpoint_in_the_file_that_none_can_be_is_left_out() -> None:
    wrong = SavedWatchpoint("tensor_too_large", {"sideways": 1.0}), SavedWatchpoint("tensor_overflow", pattern="x" * 1001)
    content = Content(watched={"k1": SavedWatchList("/data/a", WatchList((*wrong, POINTS[1])))})
    found, intact = decode(encode(content))
    assert (found.watched["k1"].listed.watchpoints, intact) == (POINTS[1:], False)


def test_watchpoints_are_saved_replaced_and_deleted(tmp_path: Path) -> None:
    kept, other, none = Notes(str(tmp_path)), Notes(str(tmp_path)), WatchList().version
    made = kept.save_watchpoints("k1", "/data/a", WatchList(POINTS), none)
    assert other.look().watched == {"k1": SavedWatchList("/data/a", made)}
    with pytest.raises(Stale) as stale:
        other.save_watchpoints("k1", "/data/a", WatchList(POINTS[:1]), none)
    assert stale.value.now == made
    assert other.save_watchpoints("k1", "/data/a", WatchList(POINTS), none) == made  # the same twice is no quarrel
    turned = WatchList(POINTS[::-1])
    assert other.save_watchpoints("k1", "/data/a", turned, made.version).version != made.version
    assert kept.look().watched["k1"].listed == turned
    kept.save_watchpoints("k2", "/data/b", WatchList(POINTS), none)
    assert kept.save_watchpoints("k1", "/data/a", WatchList(), turned.version) == WatchList()
    assert list(Notes(str(tmp_path)).look().watched) == ["k2"]


def test_a_mark_of_an_impossible_rank_in_the_file_is_left_out() -> None:
    content = Content(marks={"m1": SavedMark("k1", "/data/a", Mark("m1", "n", ".", 10**30, (5,)))})
    assert decode(encode(content))[0].marks == {}


def test_every_flipped_byte_is_noticed_and_costs_one_record() -> None:
    whole = encode(SMALL)
    for place in range(len(whole)):
        for bit in (0, 3, 7):
            data = bytearray(whole)
            data[place] ^= 1 << bit
            content, intact = decode(bytes(data))
            assert not intact, place
            assert lost(content) <= (2 if whole[place] == 0x0A else 1), place
            assert content.notes.keys() <= SMALL.notes.keys()


def test_a_cut_at_every_byte_is_noticed_and_costs_what_is_cut_off() -> None:
    whole = encode(SMALL)
    ends = [place for place, byte in enumerate(whole) if byte == 0x0A]
    for length in range(len(whole)):
        content, intact = decode(whole[:length])
        assert not intact, length
        complete = sum(end < length for end in ends)
        assert len(content.notes) + len(content.views) == min(max(complete - 1, 0), 3)


@given(st.binary(max_size=300))
def test_any_bytes_are_read(data: bytes) -> None:
    assert decode(data) == (Content(), False)


def test_a_damaged_file_is_kept_aside_and_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    data = encode(SMALL).replace(b"paper", b"pepar")
    path.write_bytes(data)
    kept = Notes(str(tmp_path))
    content = kept.look()
    assert (content.notes.keys(), content.views) == ({"k2"}, SMALL.views)
    (problem,) = kept.problems
    assert Path(problem.path).read_bytes() == data
    assert decode(path.read_bytes()) == (content, True)
    assert kept.annotate("k1", "/data/a", says("again", Note().version).applied).remark == "again"
    again = Notes(str(tmp_path))
    assert again.look().notes["k1"].note.remark == "again"
    assert again.problems == kept.problems  # told for as long as the copy is there
    os.remove(problem.path)
    remark(tmp_path, "k2", "now")
    again.look()
    assert again.problems == ()


def test_a_change_that_would_make_the_file_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Notes(str(tmp_path))
    kept.annotate("k", "/k", says("x", Note().version).applied)
    written = (tmp_path / "notes.jsonl").read_bytes()
    monkeypatch.setattr(notes, "LARGEST", len(written))
    with pytest.raises(NotKept, match="MiB"):
        kept.annotate("l", "/l", says("y", Note().version).applied)
    assert (tmp_path / "notes.jsonl").read_bytes() == written


def test_what_cannot_be_read_is_neither_emptied_nor_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "notes.jsonl"
    newer = encode(SMALL).split(b"\n", 1)[1]
    first = json.dumps({"format": "mindscope notes", "version": VERSION + 1}).encode()
    path.write_bytes(b"%08x %s\n" % (zlib.crc32(first), first) + newer)
    written = path.read_bytes()
    kept = Notes(str(tmp_path))
    kept.look()
    assert "version" in kept.why_not
    assert kept.problems[0].kind == "unreadable"
    with pytest.raises(NotKept):
        kept.annotate("k", "/k", says("x").applied)
    assert path.read_bytes() == written
    monkeypatch.setattr(notes, "LARGEST", 10)
    path.write_bytes(encode(SMALL))
    with pytest.raises(NotKept, match="MiB"):
        kept.annotate("k", "/k", says("x").applied)
    path.unlink()
    path.mkdir()
    with pytest.raises(NotKept):
        kept.annotate("k", "/k", says("x").applied)
    assert path.is_dir()


def test_no_copy_no_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "notes.jsonl"
    data = encode(SMALL)[:-9]
    path.write_bytes(data)

    def full(_path: str, _to: str, _most: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(notes, "copy_synced", full)
    kept = Notes(str(tmp_path))
    assert kept.look().notes == SMALL.notes  # what can be read is shown
    assert "No space left" in kept.why_not
    with pytest.raises(NotKept, match="No space left"):
        kept.annotate("k1", "/data/a", says("x").applied)
    assert path.read_bytes() == data


def test_the_file_is_this_users_alone_and_leaves_nothing_beside(tmp_path: Path) -> None:
    remark(tmp_path, "a", "x")
    assert sorted(os.listdir(tmp_path)) == ["notes.jsonl", "notes.lock"]
    assert {stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in os.listdir(tmp_path)} == {0o600}


CHECKS = Checks({"a.b": StepCheck(True, "so"), "a.c": StepCheck(False, "not yet")})
TICKED = replace(WATCHED, checks={"k1": SavedChecks("/data/a", CHECKS)})


def test_checks_are_lines_of_version_7_and_files_without_any_stay_what_they_were() -> None:
    assert decode(encode(TICKED)) == (TICKED, True)
    lines = [json.loads(line[9:]) for line in encode(TICKED).decode("ascii").splitlines()]
    assert lines[0] == {"format": "mindscope notes", "version": 7}
    assert lines[-3] == {"check": "a.b", "run": "k1", "path": "/data/a", "done": True, "remark": "so"}
    assert encode(replace(TICKED, checks={})) == encode(WATCHED)
    damaged = encode(TICKED).replace(b'"remark":"so"', b'"remark":"xo"')
    content, intact = decode(damaged)
    assert (intact, content.checks["k1"].checks.by_step) == (False, {"a.c": StepCheck(False, "not yet")})


def test_ticks_of_several_programs_are_kept(tmp_path: Path) -> None:
    one, other = Notes(str(tmp_path)), Notes(str(tmp_path))
    made = one.tick("k1", "/data/a", "a.b", StepCheck(True), StepCheck().version)
    other.tick("k1", "/data/a", "a.c", StepCheck(remark="so"), StepCheck().version)
    assert one.look().checks["k1"].checks.by_step == {"a.b": StepCheck(True), "a.c": StepCheck(remark="so")}
    with pytest.raises(Stale):
        other.tick("k1", "/data/a", "a.b", StepCheck(remark="mine"), StepCheck().version)
    assert one.tick("k1", "/data/a", "a.b", StepCheck(), made.version) == StepCheck()
    assert list(Notes(str(tmp_path)).look().checks["k1"].checks.by_step) == ["a.c"]
