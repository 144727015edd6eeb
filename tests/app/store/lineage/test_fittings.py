"""Fittings are grown one at a time, while somebody looks, and can be stopped."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

from app.store.lineage import fittings as module
from app.store.lineage.fittings import MOST_KEPT, Fittings
from parsers import LineageRow
from parsers.analysis import REFITS, Shares
from tests.waiting import until

ROWS = tuple(LineageRow(f"run{n}", "/", {"user_defined/a": n, "metric/m": n * 0.5}, {}) for n in range(12))


class Slow:
    """Grows as fast as it is let."""

    def __init__(self, refits: int = 5) -> None:
        self.refits = refits
        self.steps = threading.Semaphore(0)
        self.begun: list[str] = []

    def __call__(self, table: pd.DataFrame, target: str) -> Iterator[Shares]:
        self.begun.append(target)
        for refit in range(self.refits):
            self.steps.acquire()
            if target == "bad":
                raise ValueError("no such column")
            yield Shares(table.iloc[:0], len(table), refit, 0.5)


def made(fit: Any) -> Fittings:
    return Fittings(fit)


def test_it_is_fitted_is_shown_as_it_comes_and_is_kept() -> None:
    fit = Slow()
    found = made(fit)
    assert found.fitting(ROWS, "m").refits == REFITS
    fit.steps.release(2)
    until(lambda: (now := found.fitting(ROWS, "m")).shares is not None and now.shares.refits == 1)
    assert found.fitting(ROWS, "m").state == "fitting"
    fit.steps.release(3)
    until(lambda: found.fitting(ROWS, "m").state == "done")
    assert found.fitting(list(ROWS), "m").shares.runs == 12  # type: ignore[union-attr]
    assert fit.begun == ["m"]
    assert found.fitting(ROWS, "m", "again").state in ("waiting", "fitting")
    until(lambda: fit.begun == ["m", "m"])
    threading.Timer(0.1, fit.steps.release).start()
    found.stop()
    assert found.fitting(ROWS, "m").state == "stopped"


def test_the_newest_question_first() -> None:
    fit = Slow(1)
    found = made(fit)
    found.fitting(ROWS, "first")
    until(lambda: fit.begun == ["first"])
    for name in ("second", "third"):
        assert found.fitting(ROWS, name).state == "waiting"
    assert found.fitting(ROWS, "second", "stop").state == "stopped"
    fit.steps.release(3)
    until(lambda: found.fitting(ROWS, "third").state == "done")
    assert fit.begun == ["first", "third"]
    assert found.fitting(ROWS[:11], "third").state in ("waiting", "fitting")


def test_who_leaves_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = Slow(100)
    found = made(fit)
    found.fitting(ROWS, "m")
    fit.steps.release()
    until(lambda: found.fitting(ROWS, "m").shares is not None)
    monkeypatch.setattr(module, "LEFT_SECONDS", -1.0)
    fit.steps.release()
    until(lambda: not found._background.is_busy)
    monkeypatch.undo()
    assert found.fitting(ROWS, "m").state in ("waiting", "fitting")  # who comes back begins anew
    threading.Timer(0.1, fit.steps.release).start()
    found.stop()


def test_who_looks_comes_before_who_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEFT_TO_OTHERS_SECONDS", -1.0)
    fit = Slow(3)
    found = made(fit)
    found.fitting(ROWS, "first")
    until(lambda: fit.begun == ["first"])
    assert found.fitting(ROWS, "second").state == "waiting"
    fit.steps.release(4)
    until(lambda: found.fitting(ROWS, "second").state == "done")
    assert fit.begun == ["first", "second"]


def test_rows_that_change_are_taken_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = Slow(1)
    found = made(fit)
    fit.steps.release(2)
    until(lambda: found.fitting(ROWS, "m").state == "done")
    changed = (*ROWS[:-1], ROWS[-1]._replace(settings={"a": 9}))
    assert found.fitting(changed, "m").state == "done"
    monkeypatch.setattr(module, "RENEW_SECONDS", 0.0)
    assert found.fitting(ROWS, "m").state == "done"
    assert found.fitting(changed, "m").state in ("waiting", "fitting")
    until(lambda: len(fit.begun) == 2)


def test_what_fails_says_so_and_few_are_kept() -> None:
    fit = Slow(1)
    fit.steps.release(100)
    found = made(fit)
    until(lambda: found.fitting(ROWS, "bad").state == "failed")
    assert found.fitting(ROWS, "bad").text == "ValueError: no such column"
    for number in range(2 * MOST_KEPT):
        until(lambda number=number: found.fitting(ROWS, f"m{number}").state == "done")
    assert len(found._fits) == MOST_KEPT


@pytest.mark.long
def test_a_real_one() -> None:
    found = Fittings()
    until(lambda: found.fitting(ROWS, "metric/m").state == "done")
    shares = found.fitting(ROWS, "metric/m").shares
    assert shares is not None
    assert shares.importance["setting"].tolist() == ["user_defined/a"]
    assert (shares.refits, shares.reason) == (REFITS, "")
