"""Programs that change the notes of one workspace are killed: what was confirmed is kept, nothing is half written."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from app.store.runs.notes import Notes
from app.store.runs.notes_format import Content
from layouts.dumps.watchpoints import SavedWatchpoint, WatchList
from layouts.runs.boards import BoardCard
from layouts.runs.checks import StepCheck
from layouts.runs.notes import Mark, NotKept
from tests.amounts import some_or_every

BASE = "/data"
PROGRAMS = 2
KINDS = ("note", "view", "mark", "watch", "check", "board")
STEP = "nan.first"
MOST_KILLED_S = 0.25


def change(notes: Notes, kind: str, who: int, number: int) -> None:
    """Let a program replace what it keeps of one kind by a number."""
    key, content = f"run{who}", notes.look()
    if kind == "note":
        notes.annotate(key, "/data/a", lambda note: replace(note, remark=str(number)))
    elif kind == "view":
        known = content.views.get(f"{who:016x}")
        version = known.view.version if known else None
        notes.save_view(BASE, f"{who:016x}", f"view{who}", f"scalars?run=a&q={number}", instead=version)
    elif kind == "mark":
        mark = next((one.mark for one in content.marks.values() if one.run == key), None)
        made = Mark(f"{who:016x}", "mark", "s", 0, (number,))
        notes.save_mark(key, "/data/a", made, instead=mark.version if mark else None)
    elif kind == "watch":
        watched = content.watched[key].listed if key in content.watched else WatchList()
        point = SavedWatchpoint("tensor_too_large", {"max_gt": float(number)})
        notes.save_watchpoints(key, "/data/a", WatchList((point,)), watched.version)
    elif kind == "check":
        checks = content.checks.get(key)
        known_check = checks.checks.of(STEP) if checks else StepCheck()
        notes.tick(key, "/data/a", STEP, StepCheck(True, str(number)), known_check.version)
    else:
        notes.create_board(BASE, f"{who:016x}", f"board{who}", (BoardCard(f"{who:016x}", text=str(number)),))


def kept(content: Content, kind: str, who: int) -> int:
    """The number that is kept of one kind, -1 for none."""
    key = f"run{who}"
    if kind == "note":
        return int(content.notes[key].note.remark) if key in content.notes else -1
    if kind == "view":
        view = content.views.get(f"{who:016x}")
        return int(view.view.place.rpartition("=")[2]) if view else -1
    if kind == "mark":
        return next((one.mark.times[0] for one in content.marks.values() if one.run == key), -1)
    if kind == "watch":
        return int(content.watched[key].listed.watchpoints[0].limits["max_gt"]) if key in content.watched else -1
    if kind == "check":
        return int(content.checks[key].checks.of(STEP).remark) if key in content.checks else -1
    board = content.boards.get(f"{who:016x}")
    return int(board.board.cards[0].text) if board else -1


def write_for_ever(place: str, who: int, begin: int) -> None:
    """Change one kind after the other, and say so once each is confirmed."""
    notes, number = Notes(place), begin
    while True:
        for kind in KINDS:
            try:
                change(notes, kind, who, number)
            except NotKept:  # the other program, which never rests, had the file for seconds
                continue
            sys.stdout.write(json.dumps([kind, number]) + "\n")
            sys.stdout.flush()
        number += 1


def begun(place: Path, who: int, begin: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.app.store.runs.test_killed_notes", str(place), str(who), str(begin)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@some_or_every
def test_what_was_confirmed_survives_a_kill_and_nothing_is_half_written(tmp_path: Path, every: bool) -> None:
    dice = random.Random(0)
    number = 1
    for _ in range(200 if every else 3):
        programs = [begun(tmp_path, who, number) for who in range(PROGRAMS)]
        lines: list[list[str]] = []
        for program in programs:
            assert program.stdout is not None
            lines.append([program.stdout.readline()])
        time.sleep(dice.uniform(0, MOST_KILLED_S))
        for program in programs:
            program.kill()
        for program, told in zip(programs, lines, strict=True):
            assert program.stdout is not None
            told += program.stdout.readlines()
            program.stdout.close()
            assert program.wait() == -9
        notes = Notes(str(tmp_path))
        content = notes.look()
        assert notes.problems == ()
        assert not notes.why_not
        latest = max([number, *(json.loads(line)[1] for told in lines for line in told if line.endswith("\n"))])
        for who, told in enumerate(lines):
            confirmed: dict[str, int] = {}
            for line in told:
                if line.endswith("\n"):
                    kind, at = json.loads(line)
                    confirmed[kind] = at
            for kind, at in confirmed.items():
                assert at <= kept(content, kind, who) <= latest + 1, f"{kind} of program {who}"
        change(notes, "note", 0, latest + 2)  # whoever was killed left no lock
        number = latest + 3
        assert kept(notes.look(), "note", 0) == latest + 2


if __name__ == "__main__":
    write_for_ever(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
