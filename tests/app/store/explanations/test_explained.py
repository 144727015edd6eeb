"""Explanations of a store: read in the background, read again when they grow, and work on them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.store.explanations.open_explanations import ExplainedRuns
from layouts.explanations.open_explanations import ExplanationWork
from parsers import open_run
from parsers.errors import FormatError
from parsers.explanations.recording import ExplanationWriter
from parsers.explanations.snapshot import Explanations
from parsers.model import Problem

PICTURE = np.zeros((4, 4), np.uint8)


def until(ask: Callable[[], Any], state: str) -> Any:
    for _ in range(200):
        found = ask()
        if found.state == state:
            return found
        time.sleep(0.02)
    raise AssertionError(found)


@pytest.fixture
def writer(tmp_path: Path):
    made = ExplanationWriter(str(tmp_path / "run"), labels=["a"], seconds=1)
    made.sample(0, PICTURE, truth=[0], probabilities={0: 0.7})
    made.flush()
    yield made
    made.close()


@pytest.fixture
def runs():
    made = ExplainedRuns()
    yield made
    made.stop()


def test_a_run_without_explanations(runs: ExplainedRuns, tmp_path: Path) -> None:
    assert runs.open("run", None).state == "missing"
    assert runs.result("run", None, ExplanationWork("w", (), lambda *_: 1)).state == "missing"


def test_what_has_grown_is_read_again_and_what_pages_have_stays(runs: ExplainedRuns, writer, tmp_path: Path) -> None:
    run = open_run(str(tmp_path / "run"))
    first = until(lambda: runs.open("run", run.explanations), "ready")
    assert first.explanations.samples["sample"].tolist() == [0]
    assert not first.behind
    assert runs.open("run", run.explanations).mark == first.mark
    writer.sample(1, PICTURE, truth=[0], probabilities={0: 0.2})
    writer.flush()
    run.refresh()
    for _ in range(200):
        second = runs.open("run", run.explanations)
        if second.mark != first.mark:
            break
        assert second.explanations is first.explanations
        assert second.behind
        time.sleep(0.02)
    assert second.explanations.samples["sample"].tolist() == [0, 1]
    assert first.explanations.samples["sample"].tolist() == [0]


def test_problems_are_told(writer, tmp_path: Path) -> None:
    told: list[tuple[str, tuple[Problem, ...]]] = []
    runs = ExplainedRuns(lambda run, problems: told.append((run, tuple(problems))))
    writer.sample(1, PICTURE, truth=[0], probabilities={0: float("nan")})
    writer.flush()
    run = open_run(str(tmp_path / "run"))
    found = until(lambda: runs.open("run", run.explanations), "ready")
    assert told == [("run", found.explanations.problems)]
    runs.stop()


def test_work_is_done_once_for_each_mark_and_tells_its_progress(runs: ExplainedRuns, writer, tmp_path: Path) -> None:
    run = open_run(str(tmp_path / "run"))
    go, calls = threading.Event(), []

    def job(found: Explanations, report: Any, /) -> int:
        calls.append(len(found.samples))
        report(1, 4)
        go.wait(10)
        report(4, 4)
        return 42

    work = ExplanationWork("w", (), job)
    until(lambda: runs.open("run", run.explanations), "ready")
    working = until(lambda: runs.result("run", run.explanations, work), "working")
    assert (working.done, working.total, working.result) == (1, 4, None)
    go.set()
    done = until(lambda: runs.result("run", run.explanations, work), "ready")
    assert done.result == 42
    assert runs.result("run", run.explanations, work).result == 42
    assert calls == [1]


def test_work_can_be_stopped_and_resumed(runs: ExplainedRuns, writer, tmp_path: Path) -> None:
    run = open_run(str(tmp_path / "run"))
    go = threading.Event()

    def job(_found: Explanations, report: Any, /) -> int:
        while not go.is_set():
            report(0, 1)
            time.sleep(0.01)
        return 1

    work = ExplanationWork("w", (), job)
    until(lambda: runs.result("run", run.explanations, work), "working")
    runs.cancel("run", work)
    until(lambda: runs.result("run", run.explanations, work), "cancelled")
    go.set()
    runs.result("run", run.explanations, work, again=True)
    assert until(lambda: runs.result("run", run.explanations, work), "ready").result == 1


def test_work_that_fails_says_why(runs: ExplainedRuns, writer, tmp_path: Path) -> None:
    run = open_run(str(tmp_path / "run"))

    def job(_found: Explanations, _report: Any, /) -> int:
        raise FormatError("wanted this, found that")

    failed = until(lambda: runs.result("run", run.explanations, ExplanationWork("w", (), job)), "failed")
    assert failed.text == "wanted this, found that"
