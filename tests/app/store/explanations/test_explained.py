"""Explanations of a store: read in the background, read again when they grow, and work on them."""

from __future__ import annotations

import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.store.explanations.open_explanations import ExplainedRuns
from layouts.explanations.open_explanations import ExplanationWork
from parsers import open_run
from parsers.errors import FormatError
from parsers.explanations.snapshot import Explanations
from parsers.model import Problem
from parsers.recording import ExplanationWriter
from tests.waiting import when

PICTURE = np.zeros((4, 4), np.uint8)


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
    first = when(lambda: runs.open("run", run.explanations), lambda found: found.state == "ready")
    assert first.explanations.samples["sample"].tolist() == [0]
    assert not first.behind
    assert runs.open("run", run.explanations).mark == first.mark
    writer.sample(1, PICTURE, truth=[0], probabilities={0: 0.2})
    writer.flush()
    run.refresh()

    def next_one() -> Any:
        found = runs.open("run", run.explanations)
        assert found.mark != first.mark or (found.explanations is first.explanations and found.behind)
        return found

    second = when(next_one, lambda found: found.mark != first.mark)
    assert second.explanations.samples["sample"].tolist() == [0, 1]
    assert first.explanations.samples["sample"].tolist() == [0]


def test_what_was_known_before_is_never_called_up_to_date(runs: ExplainedRuns, writer, tmp_path: Path) -> None:
    run = open_run(str(tmp_path / "run"))
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for number in range(1, 10):
            writer.sample(number, PICTURE, truth=[0], probabilities={0: 0.2})
            writer.flush()
            run.refresh()
            until = time.monotonic() + 20
            while (found := runs.open("run", run.explanations)).state != "ready" or found.behind:
                assert time.monotonic() < until
            assert len(found.explanations.samples) == number + 1
    finally:
        sys.setswitchinterval(usual)


def test_problems_are_told(writer, tmp_path: Path) -> None:
    told: list[tuple[str, tuple[Problem, ...]]] = []
    runs = ExplainedRuns(lambda run, problems: told.append((run, tuple(problems))))
    writer.sample(1, PICTURE, truth=[0], probabilities={0: float("nan")})
    writer.flush()
    run = open_run(str(tmp_path / "run"))
    found = when(lambda: runs.open("run", run.explanations), lambda found: found.state == "ready")
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
    when(lambda: runs.open("run", run.explanations), lambda found: found.state == "ready")
    working = when(lambda: runs.result("run", run.explanations, work), lambda found: found.state == "working")
    assert (working.done, working.total, working.result) == (1, 4, None)
    go.set()
    done = when(lambda: runs.result("run", run.explanations, work), lambda found: found.state == "ready")
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
    when(lambda: runs.result("run", run.explanations, work), lambda found: found.state == "working")
    runs.cancel("run", work)
    when(lambda: runs.result("run", run.explanations, work), lambda found: found.state == "cancelled")
    go.set()
    runs.result("run", run.explanations, work, again=True)
    assert when(lambda: runs.result("run", run.explanations, work), lambda found: found.state == "ready").result == 1


def test_work_that_fails_says_why(runs: ExplainedRuns, writer, tmp_path: Path) -> None:
    run = open_run(str(tmp_path / "run"))

    def job(_found: Explanations, _report: Any, /) -> int:
        raise FormatError("wanted this, found that")

    asked = partial(runs.result, "run", run.explanations, ExplanationWork("w", (), job))
    failed = when(asked, lambda found: found.state == "failed")
    assert failed.text == "wanted this, found that"
