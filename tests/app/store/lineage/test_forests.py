"""Forests are grown one at a time, while somebody looks, and can be stopped."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

from app.store.lineage import forests as module
from app.store.lineage.forests import MOST_KEPT, Forests
from parsers import LineageRow
from parsers.analysis import REFITS, Forest
from tests.waiting import until

ROWS = tuple(LineageRow(f"run{n}", "/", {"user_defined/a": n, "metric/m": n * 0.5}, {}) for n in range(12))


class Slow:
    """Grows as fast as it is let."""

    def __init__(self, refits: int = 5) -> None:
        self.refits = refits
        self.steps = threading.Semaphore(0)
        self.begun: list[str] = []

    def __call__(self, table: pd.DataFrame, target: str) -> Iterator[Forest]:
        self.begun.append(target)
        for refit in range(self.refits):
            self.steps.acquire()
            if target == "bad":
                raise ValueError("no such column")
            yield Forest(table.iloc[:0], len(table), refit, 0.5)


def made(grow: Any) -> Forests:
    return Forests(grow)


def test_it_grows_is_shown_as_it_comes_and_is_kept() -> None:
    grow = Slow()
    found = made(grow)
    assert found.growth(ROWS, "m").refits == REFITS
    grow.steps.release(2)
    until(lambda: (now := found.growth(ROWS, "m")).forest is not None and now.forest.refits == 1)
    assert found.growth(ROWS, "m").state == "growing"
    grow.steps.release(3)
    until(lambda: found.growth(ROWS, "m").state == "done")
    assert found.growth(list(ROWS), "m").forest.runs == 12  # type: ignore[union-attr]
    assert grow.begun == ["m"]
    assert found.growth(ROWS, "m", "again").state in ("waiting", "growing")
    until(lambda: grow.begun == ["m", "m"])
    threading.Timer(0.1, grow.steps.release).start()
    found.stop()
    assert found.growth(ROWS, "m").state == "stopped"


def test_the_newest_question_first() -> None:
    grow = Slow(1)
    found = made(grow)
    found.growth(ROWS, "first")
    until(lambda: grow.begun == ["first"])
    for name in ("second", "third"):
        assert found.growth(ROWS, name).state == "waiting"
    assert found.growth(ROWS, "second", "stop").state == "stopped"
    grow.steps.release(3)
    until(lambda: found.growth(ROWS, "third").state == "done")
    assert grow.begun == ["first", "third"]
    assert found.growth(ROWS[:11], "third").state in ("waiting", "growing")


def test_who_leaves_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    grow = Slow(100)
    found = made(grow)
    found.growth(ROWS, "m")
    grow.steps.release()
    until(lambda: found.growth(ROWS, "m").forest is not None)
    monkeypatch.setattr(module, "LEFT_SECONDS", -1.0)
    grow.steps.release()
    until(lambda: not found._background.is_busy)
    monkeypatch.undo()
    assert found.growth(ROWS, "m").state in ("waiting", "growing")  # who comes back begins anew
    threading.Timer(0.1, grow.steps.release).start()
    found.stop()


def test_who_looks_comes_before_who_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEFT_TO_OTHERS_SECONDS", -1.0)
    grow = Slow(3)
    found = made(grow)
    found.growth(ROWS, "first")
    until(lambda: grow.begun == ["first"])
    assert found.growth(ROWS, "second").state == "waiting"
    grow.steps.release(4)
    until(lambda: found.growth(ROWS, "second").state == "done")
    assert grow.begun == ["first", "second"]


def test_rows_that_change_are_taken_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    grow = Slow(1)
    found = made(grow)
    grow.steps.release(2)
    until(lambda: found.growth(ROWS, "m").state == "done")
    changed = (*ROWS[:-1], ROWS[-1]._replace(settings={"a": 9}))
    assert found.growth(changed, "m").state == "done"
    monkeypatch.setattr(module, "RENEW_SECONDS", 0.0)
    assert found.growth(ROWS, "m").state == "done"
    assert found.growth(changed, "m").state in ("waiting", "growing")
    until(lambda: len(grow.begun) == 2)


def test_what_fails_says_so_and_few_are_kept() -> None:
    grow = Slow(1)
    grow.steps.release(100)
    found = made(grow)
    until(lambda: found.growth(ROWS, "bad").state == "failed")
    assert found.growth(ROWS, "bad").text == "ValueError: no such column"
    for number in range(2 * MOST_KEPT):
        until(lambda number=number: found.growth(ROWS, f"m{number}").state == "done")
    assert len(found._fits) == MOST_KEPT


@pytest.mark.long
def test_a_real_one() -> None:
    found = Forests()
    until(lambda: found.growth(ROWS, "metric/m").state == "done")
    forest = found.growth(ROWS, "metric/m").forest
    assert forest is not None
    assert forest.importance["setting"].tolist() == ["user_defined/a"]
    assert (forest.refits, forest.reason) == (REFITS, "")
