"""Constraints that few settings meet, or none, and when a trial that is taken over ended."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np
import pytest

from app.tuning.settings import drawn, feasibility
from app.tuning.worker import MOST_DRAWS
from parsers import tuning_frames
from parsers.tuning.config import read_tuning
from tests.amounts import long_after
from tests.app.tuning.conftest import Search, ended, script
from tests.waiting import until

Lines = Callable[[], Sequence[str]]
NAMES = "  x: {bounds: [0, 10], type: int}\n  y: {bounds: [0, 1], type: float}\n  kind: {choice: [a, b]}"


@pytest.mark.parametrize("share", [0.5, 0.05, 0.005])
@pytest.mark.parametrize("seed", range(5))
def test_draws_meet_a_constraint_as_often_as_its_share_says(search: Search, share: float, seed: int) -> None:
    tuning = read_tuning(str(search.write(f"constraints: ['y <= {share}']", parameters=NAMES)))
    found = feasibility(tuning, (drawn(tuning.parameters, random) for random in [np.random.default_rng(seed)] * MOST_DRAWS))
    assert found.settings is not None
    assert found.settings["y"] <= share
    assert found.draws <= 14 / share, "missed with a probability of one in a million"
    random = np.random.default_rng(seed)
    before = [drawn(tuning.parameters, random) for _ in range(found.draws - 1)]
    assert all(one["y"] > share for one in before), "the first draw that meets it"


@pytest.mark.parametrize(("constraints", "unmet"), long_after(2, [
    ("['x > 20']", ["x > 20"]), ("['x <= 5', 'y > 1.5']", ["y > 1.5"]), ("['x > 20', 'y > 1.5']", ["x > 20", "y > 1.5"]),
    ("['x <= 4', 'x >= 6']", []), ("['x > 20', 'loss > 0']", ["x > 20"]),
]))  # fmt: skip
def test_constraints_that_were_never_met_are_named(search: Search, constraints: str, unmet: list[str]) -> None:
    tuning = read_tuning(str(search.write(f"constraints: {constraints}", parameters=NAMES)))
    random = np.random.default_rng(1)
    found = feasibility(tuning, islice(iter(lambda: drawn(tuning.parameters, random), None), MOST_DRAWS))
    assert (found.draws, found.settings, list(found.unmet)) == (MOST_DRAWS, None, unmet)
    assert "10,000 draws" in found.said
    assert all(one in found.said for one in unmet)
    assert ("all of them together never" in found.said) is (not unmet)


@pytest.mark.parametrize("sampler", long_after(1, ["random", "tpe", "qmc"]))
def test_a_search_that_no_setting_fits_ends_with_the_constraint(search: Search, output: Lines, sampler: str) -> None:
    search.write(f"tuner: {{name: {sampler}}}\nconstraints: ['x > 20', 'y < 0.5']\nbudget: {{trials: 5}}", parameters=NAMES)
    search.tune()
    said = [line for line in output() if "No more trials" in line]
    assert said == ["No more trials: no setting of 10,000 draws meets the constraints; never met: x > 20"]
    assert len(search.study().trials) == 50


def test_a_rare_setting_is_found_and_tried(search: Search, output: Lines) -> None:
    """One in a thousand settings meets the constraint: five hundred suggestions in a row mostly do not."""
    search.write("tuner: {name: random}\nconstraints: ['y < 0.001']\nbudget: {trials: 2}", parameters=NAMES)
    assert search.tune() == 0
    frame = tuning_frames.trials_frame(search.study())
    done = frame[frame["state"] == "complete"]
    assert len(done) == 2
    assert (done["parameter/y"] < 0.001).all()
    assert not any("draws" in line for line in output())


def test_healthy_constraints_do_not_end_a_search(search: Search, output: Lines) -> None:
    search.write("tuner: {name: random}\nconstraints: ['x <= 4']\nbudget: {trials: 6}", parameters=NAMES)
    assert search.tune() == 0
    assert any("the study has its 6 trials" in line for line in output())


@pytest.mark.parametrize("lost", [False, True], ids=["its process ended", "its keeper was killed, too"])
def test_a_trial_that_is_taken_over_ended_with_its_process(search: Search, *, lost: bool) -> None:
    text = 'mkdir -p "$run"; cp "DIR/values/$x" "$run/events.out.events.summary.1700000000.0.host_MS"; '
    text += "if mkdir DIR/up 2>/dev/null; then sleep " + ("100" if lost else "0.3") + "; fi"  # the trial after it is short
    text = text.replace("DIR", str(search.directory))
    script(search, text, more="budget: {trials: 1}")
    pid = search.forked()
    until((search.directory / "up").exists)
    os.kill(pid, signal.SIGKILL)
    ended(pid)
    [path] = search.directory.glob("workspace/studies/*/trials/0-*/status.json")
    if lost:
        status = json.loads(path.read_text())
        for one in (status["keeper"], status["child"]):
            os.kill(one, signal.SIGKILL)
        os.killpg(status["child"], signal.SIGKILL)
    else:
        until(lambda: json.loads(path.read_text())["state"] == "ended")
    now = time.time()
    time.sleep(3.0)
    ended(search.forked("--resume"))
    frame = tuning_frames.trials_frame(search.study())
    assert frame["state"].iloc[0] == ("interrupted" if lost else "complete")
    assert frame["ended"].iloc[0] <= now + 0.1
    assert 0 <= frame["duration"].iloc[0] <= now - frame["started"].iloc[0] + 0.1
