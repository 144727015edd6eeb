"""Tasks in turns: who comes first, that nobody is held up, and that all end."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from app.store import turns as module
from app.store.turns import MOST_THREADS, RECENT, SLICE, SLOTS, Turn, Turns
from parsers.profiler.progress import Cancelled

WAIT = 30.0


@pytest.fixture
def turns() -> Iterator[Turns]:
    made = Turns("test-turns")
    yield made
    made.stop()


def busy(turns: Turns, owner: str, done: list[str], until: threading.Event) -> Turn:
    """A task that computes until it is told to end, and gives way."""
    turn = Turn(owner, lambda: None)

    def work() -> None:
        try:
            while not until.is_set():
                time.sleep(0.005)
                turns.give_way(turn)
        except Cancelled:
            done.append(f"{owner} cancelled")
        else:
            done.append(owner)

    turn.work = work
    turns.add(turn)
    return turn


def quick(turns: Turns, owner: str, done: list[str]) -> Turn:
    turn = Turn(owner, lambda: done.append(owner))
    turns.add(turn)
    return turn


def test_a_small_task_is_done_while_long_ones_go_on(turns: Turns) -> None:
    done: list[str] = []
    until = threading.Event()
    long = [busy(turns, f"long {number}", done, until) for number in range(SLOTS + 1)]
    small = quick(turns, "small", done)
    assert small.ended.wait(WAIT)
    assert done == ["small"]
    until.set()
    assert all(one.ended.wait(WAIT) for one in long)
    assert all(one.used > 0 for one in long)


def test_no_more_than_the_slots_compute_at_a_time(turns: Turns) -> None:
    until = threading.Event()
    at_work: list[int] = []
    lock = threading.Lock()
    now = 0
    made: list[Turn] = []

    def work(turn: Turn) -> None:
        nonlocal now
        for _ in range(100):
            with lock:
                now += 1
                at_work.append(now)
            time.sleep(0.001)
            with lock:
                now -= 1
            turns.give_way(turn)

    for number in range(6):
        turn = Turn(number, lambda: None)
        turn.work = lambda turn=turn: work(turn)
        made.append(turn)
        turns.add(turn)
    assert all(one.ended.wait(WAIT) for one in made)
    until.set()
    assert 1 <= max(at_work) <= SLOTS


def test_what_is_looked_at_comes_before_what_was_left(turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLOTS", 1)
    done: list[str] = []
    until = threading.Event()
    first = busy(turns, "first", done, until)
    left, seen = Turn("left", lambda: done.append("left")), Turn("seen", lambda: done.append("seen"))
    first.asked = left.asked = time.monotonic() - RECENT
    with turns._wake:
        turns.add(left)
        turns.add(seen)
        until.set()
    assert left.ended.wait(WAIT)
    assert seen.ended.wait(WAIT)
    assert done.index("seen") < done.index("left")


def test_one_owner_with_many_tasks_does_not_hold_up_another(turns: Turns) -> None:
    done: list[str] = []
    until = threading.Event()
    many = [busy(turns, "many", done, until) for _ in range(2 * SLOTS)]
    time.sleep(2 * SLICE)
    assert quick(turns, "other", done).ended.wait(WAIT)
    assert done == ["other"]  # none of the others ends before `until` is set
    until.set()
    assert all(one.ended.wait(WAIT) for one in many)


def test_a_task_that_waits_lets_others_compute(turns: Turns) -> None:
    done: list[str] = []
    release = threading.Event()
    waiting: list[Turn] = []

    def wait(turn: Turn) -> None:
        with turns.aside(turn):
            release.wait(WAIT)

    for number in range(SLOTS + 2):
        turn = Turn(number, lambda: None)
        turn.work = lambda turn=turn: wait(turn)
        waiting.append(turn)
        turns.add(turn)
    assert quick(turns, "other", done).ended.wait(WAIT)
    assert not any(one.ended.is_set() for one in waiting)
    release.set()
    assert all(one.ended.wait(WAIT) for one in waiting)


def test_tasks_are_cancelled_before_and_after_they_begin(turns: Turns) -> None:
    done: list[str] = []
    until = threading.Event()
    running = [busy(turns, f"running {number}", done, until) for number in range(SLOTS)]
    with turns._wake:
        waiting = Turn("waiting", lambda: done.append("waiting"))
        turns.add(waiting)
        assert turns.cancel(waiting)
    assert waiting.ended.is_set()
    for one in running:
        assert not turns.cancel(one)
        assert one.ended.wait(WAIT)
    assert sorted(done) == [f"running {number} cancelled" for number in range(SLOTS)]


def test_threads_are_limited_and_all_tasks_are_done(turns: Turns) -> None:
    release = threading.Event()
    most = 0
    lock = threading.Lock()
    now = 0

    def wait(turn: Turn) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        with turns.aside(turn):
            release.wait(WAIT)
        with lock:
            now -= 1

    made = []
    for number in range(MOST_THREADS + 10):
        turn = Turn(number, lambda: None)
        turn.work = lambda turn=turn: wait(turn)
        made.append(turn)
        turns.add(turn)
    time.sleep(0.3)
    assert most <= MOST_THREADS
    release.set()
    assert all(one.ended.wait(WAIT) for one in made)


def test_stopping_ends_everything(turns: Turns) -> None:
    done: list[str] = []
    until = threading.Event()
    made = [busy(turns, f"task {number}", done, until) for number in range(SLOTS + 3)]
    turns.stop()
    assert all(one.ended.is_set() for one in made)
    late = quick(turns, "late", done)
    assert late.ended.is_set()
    assert late.cancelled
    assert "late" not in done


def test_an_error_of_a_task_frees_its_slot(turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda _args: None)

    def fail() -> None:
        raise RuntimeError("no")

    done: list[str] = []
    for number in range(SLOTS + 1):
        turn = Turn(number, fail)
        turns.add(turn)
        assert turn.ended.wait(WAIT)
    assert quick(turns, "after", done).ended.wait(WAIT)
    assert done == ["after"]
