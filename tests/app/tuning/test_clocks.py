"""A clock that is set forward or back while a search runs ends no search, loses no trial and keeps no dead worker alive."""

from __future__ import annotations

import time

import optuna
import pytest

from app.tuning import storages
from tests.app.tuning.conftest import Search

DAY = 86_400


@pytest.mark.parametrize("seconds", [DAY, -DAY, 365 * DAY])
def test_a_clock_that_jumps_ends_no_search(search: Search, seconds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    real, runs = time.time, search.directory / "runs"
    monkeypatch.setattr(time, "time", lambda: real() + (seconds if runs.is_dir() and any(runs.iterdir()) else 0))
    search.write("budget: {trials: 3, hours: 1}")
    assert search.tune() == 0
    assert [trial.state for trial in search.study().trials] == ["complete"] * 3


@pytest.mark.parametrize(("ahead", "exit_code"), [(0, 0), (DAY, 1), (365 * DAY, 1), (-365 * DAY, 1)])
def test_a_sign_from_the_future_is_none_of_a_living_worker(search: Search, ahead: int, exit_code: int) -> None:
    search.write("budget: {trials: 1}")
    assert search.tune() == 0
    opened = storages.open_storage(str(search.journal), print, shared=True)
    study = optuna.load_study(study_name="search", storage=opened.storage)
    study.set_user_attr("mindscope:worker:w1", {"host": "elsewhere", "seen": time.time() + ahead, "ended": None})
    search.write("budget: {trials: 2}")
    assert search.tune() == exit_code
    assert len(search.study().trials) == 2 - exit_code
