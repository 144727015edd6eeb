"""Work in the background: who comes first, that nobody is held up, what is kept, and that all of it ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from app import background as background_limits
from app.background import HELD, MOST_THREADS, RECENT, SLICE, SLOTS, Background, Task
from parsers.errors import FormatError
from parsers.profiler.progress import Cancelled

WAIT = 30.0
LARGE = 1000


class Clock:
    """Seconds as a test sets them."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def steps(clock: Clock) -> Background:
    """Work that is done by `step` alone."""
    return Background("test-steps", memory=1000, most=3, large=LARGE, clock=clock, threads=False)


@pytest.fixture
def background() -> Iterator[Background]:
    made = Background("test-background")
    yield made
    made.stop()


def noting(done: list[str], name: str, seconds: float = 0.0) -> Callable[[Task], str]:
    def job(task: Task) -> str:
        clock = task.background.clock
        if isinstance(clock, Clock):
            clock.now += seconds
        done.append(name)
        return name

    return job


def all_of(background: Background) -> None:
    while background.step():
        pass


# Without threads ---------------------------------------------------------------------------------------------------------


def test_nothing_to_do(steps: Background) -> None:
    assert not steps.step()
    assert not steps.is_busy
    assert not steps.waits
    assert steps.at_work(60.0) == set()
    assert steps.find("a") is None
    steps.cancel("a")
    steps.forget("a")
    steps.cancel_all()
    steps.stop(finish=True)


def test_work_waits_is_done_once_and_its_result_kept(steps: Background) -> None:
    done: list[str] = []
    task = steps.result("run", "key", "mark", noting(done, "one"))
    assert (task.state, task.ended.is_set(), steps.is_busy, steps.waits) == ("waiting", False, True, True)
    assert steps.at_work(60.0) == {"run"}
    assert steps.step()
    assert steps.result("run", "key", "mark", noting(done, "two")) is task
    assert (task.state, task.result, done, steps.is_busy) == ("ready", "one", ["one"], False)
    other = steps.result("run", "key", "another mark", noting(done, "two"))
    assert (other.state, other is task) == ("waiting", False)
    all_of(steps)
    steps.forget("run")
    assert steps.find("key") is None


def test_progress_and_what_was_found_so_far(steps: Background) -> None:
    seen: list[tuple[str, int, int, object]] = []

    def job(task: Task) -> str:
        task(1, 2, "half")
        seen.append((task.state, task.done, task.total, task.result))
        return "whole"

    task = steps.result("run", "key", "", job)
    all_of(steps)
    assert seen == [("working", 1, 2, "half")]
    assert task.result == "whole"


def test_failures_say_why_and_are_tried_again_when_asked(steps: Background, caplog: pytest.LogCaptureFixture) -> None:
    def fail(error: Exception) -> Callable[[Task], None]:
        def job(_task: Task) -> None:
            raise error

        return job

    damaged = steps.result("run", "damaged", "", fail(FormatError("cut at byte 7")))
    bug = steps.result("run", "bug", "", fail(ZeroDivisionError("by 0")))
    all_of(steps)
    assert (damaged.state, damaged.text) == ("failed", "cut at byte 7")
    assert (bug.state, bug.text) == ("failed", "ZeroDivisionError: by 0")
    assert "by 0" in caplog.text
    assert "byte 7" not in caplog.text
    assert steps.result("run", "bug", "", noting([], "fixed")) is bug
    again = steps.result("run", "bug", "", noting([], "fixed"), again=True)
    all_of(steps)
    assert (again.state, again.result) == ("ready", "fixed")


def test_what_somebody_looks_at_comes_first_and_of_that_the_newest(steps: Background, clock: Clock) -> None:
    done: list[str] = []
    steps.result("a", "left", "", noting(done, "left"))
    clock.now += RECENT
    for name in ("first", "second", "third"):
        clock.now += 0.1
        steps.result(name, name, "", noting(done, name))
    clock.now += 0.1
    steps.result("first", "first", "", noting(done, "not again"))
    all_of(steps)
    assert done == ["first", "third", "second", "left"]


def test_small_work_first(steps: Background, clock: Clock) -> None:
    done: list[str] = []
    steps.begin("a", noting(done, "small"))
    clock.now += 1
    steps.begin("b", noting(done, "large"), size=LARGE)
    all_of(steps)
    assert done == ["small", "large"]


def test_of_work_that_waits_the_smallest_comes_first_but_not_for_ever(steps: Background, clock: Clock) -> None:
    done: list[str] = []
    for size in (LARGE // 2, LARGE // 8, LARGE // 64):
        steps.begin(f"owner {size}", noting(done, str(size)), size=size)
    all_of(steps)
    assert done == [str(LARGE // 64), str(LARGE // 8), str(LARGE // 2)]
    done.clear()
    for looked_at, first in ((False, "new"), (True, "old")):  # what somebody looks at comes first in any case
        done.clear()
        old = steps.begin("old", noting(done, "old"), size=LARGE // 2)
        clock.now += background_limits.AGED + 1
        new = steps.begin("new", noting(done, "new"), size=LARGE // 8)
        old.asked = new.asked if looked_at else old.asked
        all_of(steps)
        assert sorted(done) == ["new", "old"]
        assert done[0] == first


def test_tasks_that_never_give_way_hold_nobody_up(clock: Clock) -> None:
    background = Background("test-slow", large=LARGE, clock=clock)
    release = threading.Event()

    def slow(_task: Task) -> None:
        assert release.wait(4 * WAIT)  # far longer than the small one may take

    held = [background.result(number, number, "", slow, about=("kernels", f"run {number}")) for number in range(SLOTS)]
    small = background.result("small", "small", "", lambda _task: "read")
    assert small.state == "waiting"
    ahead = background.ahead(small)
    assert ahead is not None
    assert ahead.about == ("kernels", "run 0")
    clock.now += background_limits.OVERTIME + 0.1
    background.result("small", "small", "", lambda _task: "read")  # as a page asks again
    assert small.ended.wait(WAIT)
    release.set()
    assert all(task.ended.wait(WAIT) for task in held)
    background.stop()


def test_a_second_large_task_begins_if_the_first_takes_long(clock: Clock) -> None:
    background = Background("test-long", large=LARGE, clock=clock)
    release = threading.Event()
    first = background.result("a", "a", "", lambda _task: release.wait(WAIT), size=LARGE)
    second = background.result("b", "b", "", lambda _task: "read", size=LARGE)
    assert second.state == "waiting"
    clock.now += background_limits.LONG + 0.1
    background.result("b", "b", "", lambda _task: "read", size=LARGE)
    assert second.ended.wait(WAIT)
    release.set()
    assert first.ended.wait(WAIT)
    background.stop()


def test_owners_take_turns(steps: Background, clock: Clock) -> None:
    done: list[str] = []
    for number in range(3):
        steps.begin("many", noting(done, f"many {number}", 1.0), size=LARGE)
    assert steps.step()
    steps.begin("other", noting(done, "other", 1.0), size=LARGE)
    clock.now += 0.1
    steps.begin("many", noting(done, "newest", 1.0), size=LARGE)
    all_of(steps)
    assert done[1] == "other", "the one who was served comes after the one who was not"
    assert len(done) == 5


def test_work_is_cancelled_before_it_begins_and_within(steps: Background) -> None:
    done: list[str] = []
    waiting = steps.result("a", "waiting", "", noting(done, "waiting"))
    steps.cancel("waiting")
    assert (waiting.state, waiting.ended.is_set(), steps.step()) == ("cancelled", True, False)
    stopped: list[str] = []

    def job(task: Task) -> None:
        task.when_cancelled(lambda: stopped.append("process"))
        steps.cancel_task(task)
        task.give_way()
        done.append("never")

    within = steps.result("a", "within", "", job)
    all_of(steps)
    assert (within.state, done, stopped) == ("cancelled", [], ["process"])
    assert steps.result("a", "within", "", job) is within
    assert steps.result("a", "within", "", noting(done, "again"), again=True).state == "waiting"
    steps.stop()
    late = steps.begin("a", noting(done, "late"))
    assert (late.state, late.ended.is_set(), done) == ("cancelled", True, [])


def test_what_stops_a_process_is_called_at_once_if_it_was_cancelled(steps: Background) -> None:
    stopped: list[str] = []

    def job(task: Task) -> None:
        steps.cancel_task(task)
        task.when_cancelled(lambda: stopped.append("process"))
        task.check()

    task = steps.begin("a", job)
    all_of(steps)
    assert (task.state, stopped) == ("cancelled", ["process"])


def test_results_are_evicted_but_not_those_asked_for_lately(steps: Background, clock: Clock) -> None:
    for number in range(4):
        steps.result("run", number, "", noting([], "x"))
    all_of(steps)
    assert all(steps.find(number) for number in range(4)), "asked for just now"
    clock.now += HELD + 1
    steps.result("run", 4, "", lambda _task: b"." * 2000)
    all_of(steps)
    assert [number for number in range(5) if steps.find(number)] == [4], "the latest stays whatever its size"


def test_a_result_that_is_kept_elsewhere(steps: Background) -> None:
    done: list[str] = []
    task = steps.result("run", "key", "", noting(done, "one"), kept=False)
    all_of(steps)
    assert (task.state, task.result, steps.find("key")) == ("ready", None, None)
    steps.result("run", "key", "", noting(done, "two"), kept=False)
    all_of(steps)
    assert done == ["one", "two"]


def test_work_that_goes_on_may_be_finished_after_a_change(steps: Background) -> None:
    first = steps.result("run", "key", "1", noting([], "first"), overtaken=False)
    assert steps.result("run", "key", "2", noting([], "second"), overtaken=False) is first
    all_of(steps)
    assert steps.result("run", "key", "2", noting([], "second"), overtaken=False) is not first


def test_what_follows_is_done_when_nobody_waits(steps: Background, caplog: pytest.LogCaptureFixture) -> None:
    seen: list[tuple[bool, bool]] = []

    def job(task: Task) -> None:
        task.after = lambda: seen.append((task.ended.is_set(), steps.is_busy))

    def fails(task: Task) -> None:
        def after() -> None:
            raise OSError("disk full")

        task.after = after

    steps.begin("a", job)
    steps.begin("a", fails)
    all_of(steps)
    assert seen == [(True, True)]
    assert "disk full" in caplog.text
    assert not steps.is_busy


# With threads ------------------------------------------------------------------------------------------------------------


def until_set(event: threading.Event) -> Callable[[Task], None]:
    """Compute until an event, and give way."""

    def job(task: Task) -> None:
        while not event.wait(0.005):
            task.give_way()

    return job


def test_a_small_task_is_done_while_long_ones_go_on(background: Background) -> None:
    until = threading.Event()
    long = [background.begin(f"long {number}", until_set(until)) for number in range(SLOTS + 1)]
    small = background.begin("small", lambda _task: "small")
    assert small.ended.wait(WAIT)
    assert not any(one.ended.is_set() for one in long)
    until.set()
    assert all(one.ended.wait(WAIT) and one.state == "ready" and one.used > 0 for one in long)


def test_one_owner_with_many_tasks_does_not_hold_up_another(background: Background) -> None:
    until = threading.Event()
    many = [background.begin("many", until_set(until)) for _ in range(2 * SLOTS)]
    time.sleep(2 * SLICE)
    assert background.begin("other", lambda _task: None).ended.wait(WAIT)
    assert not any(one.ended.is_set() for one in many)
    until.set()
    assert all(one.ended.wait(WAIT) for one in many)


def test_large_tasks_that_do_not_give_way_leave_a_slot_to_small_ones() -> None:
    background = Background("test-large", large=LARGE)
    release = threading.Event()
    begun: list[int] = []

    def read(number: int) -> Callable[[Task], None]:
        def job(_task: Task) -> None:
            begun.append(number)
            assert release.wait(WAIT)

        return job

    large = [background.begin(number, read(number), size=LARGE) for number in range(2 * SLOTS)]
    assert background.begin("small", lambda _task: None).ended.wait(WAIT)
    assert len(begun) == SLOTS - 1
    release.set()
    assert all(one.ended.wait(WAIT) for one in large)
    background.stop()


def test_tasks_of_one_lane_follow_each_other(background: Background) -> None:
    at_work: list[int] = []
    now = 0

    def job(task: Task) -> None:
        nonlocal now
        now += 1
        at_work.append(now)
        with task.aside():  # even while one waits
            time.sleep(0.01)
        now -= 1

    made = [background.begin(number, job, lane="one") for number in range(5)]
    assert all(one.ended.wait(WAIT) for one in made)
    assert at_work == [1] * 5


def test_no_more_than_the_slots_compute_at_a_time(background: Background) -> None:
    at_work: list[int] = []
    lock = threading.Lock()
    now = 0

    def job(task: Task) -> None:
        nonlocal now
        for _ in range(100):
            with lock:
                now += 1
                at_work.append(now)
            time.sleep(0.001)
            with lock:
                now -= 1
            task.give_way()

    made = [background.begin(number, job) for number in range(6)]
    assert all(one.ended.wait(WAIT) for one in made)
    assert 1 <= max(at_work) <= SLOTS


def test_a_task_that_waits_lets_others_compute(background: Background) -> None:
    release = threading.Event()

    def wait(task: Task) -> None:
        with task.aside():
            release.wait(WAIT)

    waiting = [background.begin(number, wait) for number in range(SLOTS + 2)]
    assert background.begin("other", lambda _task: None).ended.wait(WAIT)
    assert not any(one.ended.is_set() for one in waiting)
    release.set()
    assert all(one.ended.wait(WAIT) for one in waiting)


def test_threads_are_limited_and_all_tasks_are_done(background: Background) -> None:
    release = threading.Event()
    lock = threading.Lock()
    most = now = 0

    def wait(task: Task) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        with task.aside():
            release.wait(WAIT)
        with lock:
            now -= 1

    made = [background.begin(number, wait) for number in range(MOST_THREADS + 10)]
    time.sleep(0.3)
    assert most <= MOST_THREADS
    release.set()
    assert all(one.ended.wait(WAIT) for one in made)


def test_stopping_cancels_everything_and_joins_the_threads(background: Background) -> None:
    until = threading.Event()
    made = [background.begin(number, until_set(until)) for number in range(SLOTS + 3)]
    background.stop()
    assert all(one.state == "cancelled" for one in made)
    assert not [thread for thread in threading.enumerate() if thread.name == "test-background"]


def test_stopping_may_finish_what_was_begun() -> None:
    background, done = Background("test-finish", slots=1), list[int]()
    for number in range(5):
        background.begin(number, lambda _task, number=number: done.append(number))
    background.stop(finish=True)
    assert sorted(done) == [0, 1, 2, 3, 4]


def test_cancelling_ends_running_tasks(background: Background) -> None:
    begun = threading.Event()
    ended: list[str] = []

    def job(task: Task) -> None:
        begun.set()
        try:
            until_set(threading.Event())(task)
        except Cancelled:
            ended.append("cancelled")
            raise

    task = background.begin("a", job)
    assert begun.wait(WAIT)
    background.cancel_task(task)
    assert task.ended.wait(WAIT)
    assert (task.state, ended) == ("cancelled", ["cancelled"])
