"""Answers of programs that do tasks: short ones are written together, in their order, and none waits for a task that hangs."""

from __future__ import annotations

import io
import os
import threading
from typing import Any

import pytest

from app import tasks
from app.tasks import ANSWER, DONE, HELD_BYTES, PROGRESS, SHORT
from tests.app.test_engines import WAIT


class Pipe(io.RawIOBase):
    """Takes at most 1,000 bytes at a time, as a pipe may; what was written, and how often."""

    def __init__(self) -> None:
        super().__init__()
        self.taken, self.writes = b"", 0
        self.written = threading.Event()

    def write(self, data: Any) -> int:
        self.taken += bytes(data[:1000])
        self.writes += 1
        self.written.set()
        return len(data[:1000])

    def answers(self) -> list[tuple[int, int, int, bytes]]:
        """(kind, number, size, data) of each answer."""
        found, at = [], 0
        while at < len(self.taken):
            kind, number, size = ANSWER.unpack_from(self.taken, at)
            at += ANSWER.size
            data = b"" if kind == PROGRESS else self.taken[at : at + size]
            found.append((kind, number, size, data))
            at += len(data)
        return found


def test_short_answers_are_written_together_and_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "HELD_SECONDS", WAIT)
    pipe = Pipe()
    answers = tasks._Answers(pipe)
    made = [os.urandom(30) for _ in range(20)]
    for number, data in enumerate(made):
        answers.hold(number, data)
    answers.write(PROGRESS, 20, size=70_000)
    long = os.urandom(SHORT + 1)
    answers.hold(20, long)
    answers.hold(21, b"")
    answers.flush()
    wanted = [*((DONE, number, 30, data) for number, data in enumerate(made)), (PROGRESS, 20, 70_000, b"")]
    assert pipe.answers() == [*wanted, (DONE, 20, SHORT + 1, long), (DONE, 21, 0, b"")]
    assert pipe.writes == 1 + (1 + 66) + 1


def test_a_held_answer_is_written_while_the_next_task_takes_long() -> None:
    pipe = Pipe()
    tasks._Answers(pipe).hold(7, b"made")
    assert pipe.written.wait(WAIT)
    assert pipe.answers() == [(DONE, 7, 4, b"made")]


def test_only_so_much_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "HELD_SECONDS", WAIT)
    pipe = Pipe()
    answers = tasks._Answers(pipe)
    data = os.urandom(SHORT)
    for number in range(HELD_BYTES // SHORT + 1):
        answers.hold(number, data)
    assert pipe.answers() == [(DONE, number, SHORT, data) for number in range(HELD_BYTES // SHORT + 1)]
