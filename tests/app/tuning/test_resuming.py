"""Nothing is lost when a tuner is killed at any moment, and several tuners never share a trial."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from app.tuning import claims
from parsers.tuning.recording import PLACE, RETRY_OF, SKIPPED
from tests.amounts import long_after
from tests.app.tuning.conftest import Search, ended
from tests.waiting import until

TRIES = int(os.environ.get("MINDSCOPE_KILLS", "4"))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(TRIES))
def test_a_killed_tuner_loses_no_trial(search: Search, seed: int) -> None:
    search.write(f"seed: {seed}\nbudget: {{trials: 14}}")
    draw = random.Random(seed)
    before: dict[int, tuple[object, ...]] = {}
    for _ in range(2):
        pid = search.forked("--resume", "--jobs", 2)
        time.sleep(draw.uniform(0.05, 0.9))
        os.kill(pid, signal.SIGKILL)
        ended(pid)
        if search.journal.exists() and search.journal.stat().st_size:
            kept = {one.number: (one.state, tuple(one.values), one.parameters) for one in search.study().trials
                    if one.state == "complete"}  # fmt: skip
            assert {number: kept[number] for number in before} == before
            before = kept
    assert ended(search.forked("--resume", "--jobs", 2)) == 0, (search.directory / "tuner.log").read_text()
    trials = search.study().trials
    assert {one.number: (one.state, tuple(one.values), one.parameters) for one in trials if one.number in before} == before
    assert Counter(one.state for one in trials) == {"complete": 14}
    for one in trials:
        assert one.values == ((one.parameters["x"] - 6) ** 2,)
    runs = [one.attributes[PLACE]["run"] for one in trials]
    assert len(set(runs)) == len(runs)
    assert sorted(os.listdir(search.directory / "runs")) == sorted(os.path.basename(run) for run in runs)


def test_trials_that_outlive_the_tuner_are_taken_over_by_one(search: Search) -> None:
    trial = search.directory / "trial.sh"
    go = search.directory / "go"
    trial.write_text(f"while [ ! -e {go} ]; do sleep 0.05; done\n{trial.read_text()}")
    pid = search.forked("--iter", 3, "--jobs", 3)
    until(lambda: len(list((search.directory / "workspace/studies/search/trials").glob("*/status.json"))) >= 3)
    os.kill(pid, signal.SIGKILL)
    ended(pid)
    pids = [search.forked("--resume", "--iter", 3, "--jobs", 3) for _ in range(2)]
    time.sleep(1.0)
    go.touch()
    assert [ended(one) for one in pids] == [0, 0]
    log = (search.directory / "tuner.log").read_text()
    assert [log.count(f"trial {number}: taken over") for number in range(3)] == [1, 1, 1]
    study = search.study()
    assert {one.state for one in study.trials} == {"complete"}
    assert len({one.attributes[PLACE]["run"] for one in study.trials}) == len(study.trials)


def test_only_one_tuner_gets_a_claim(tmp_path: Path) -> None:
    held = claims.claim(str(tmp_path))
    assert held is not None
    assert claims.claim(str(tmp_path)) is None
    pid = os.fork()
    if not pid:
        os._exit(0 if claims.claim(str(tmp_path)) is None else 1)
    assert ended(pid) == 0
    held.release()
    assert claims.claim(str(tmp_path)) is not None


@pytest.mark.long
def test_four_workers_share_a_grid_without_repeating_a_point(search: Search) -> None:
    more = "tuner: {name: grid}\nimport_runs: false"
    search.write(more, parameters="  x: {bounds: [0, 10], type: int}\n  y: {choice: [a, b]}")
    trial = search.directory / "trial.sh"
    trial.write_text(f"sleep 0.2\n{trial.read_text()}")
    pids = [search.forked("--jobs", 2) for _ in range(4)]
    assert [ended(pid) for pid in pids] == [0, 0, 0, 0], (search.directory / "tuner.log").read_text()
    trials = search.study().trials
    done = [one for one in trials if one.state == "complete"]
    points = Counter((one.parameters["x"], one.parameters["y"]) for one in done)
    assert len(points) == 20
    assert set(points.values()) == {1}
    assert all(SKIPPED in one.attributes for one in trials if one.state != "complete")
    assert len({one.attributes[PLACE]["run"] for one in done}) == 20
    assert len({one.attributes[PLACE]["worker"] for one in done}) > 1


@pytest.mark.long
@pytest.mark.parametrize("sampler", long_after(1, ["tpe", "random", "qmc"]))
def test_four_workers_keep_to_the_budget_and_never_repeat_a_seed(search: Search, sampler: str) -> None:
    search.write(f"tuner: {{name: {sampler}}}\nbudget: {{trials: 16}}\nconstraints: ['y >= 0']",
                 parameters="  x: {bounds: [0, 10], type: int}\n  y: {bounds: [0, 1], type: float}")  # fmt: skip
    pids = [search.forked("--jobs", 2) for _ in range(4)]
    assert [ended(pid) for pid in pids] == [0, 0, 0, 0], (search.directory / "tuner.log").read_text()
    done = [one for one in search.study().trials if SKIPPED not in one.attributes]
    assert [one.state for one in done] == ["complete"] * 16
    assert len({one.parameters["y"] for one in done}) == 16


def test_ctrl_c_ends_the_trials_and_a_resume_repeats_them(search: Search) -> None:
    trial = search.directory / "trial.sh"
    slow = search.directory / "slow"
    slow.touch()
    trial.write_text(f"[ -e {slow} ] && sleep 100\n{trial.read_text()}")
    search.write("budget: {trials: 2}")
    pid = search.forked("--jobs", 2)
    place = "workspace/studies/*/trials/*/status.json"
    until(lambda: sum('"running"' in one.read_text() for one in search.directory.glob(place)) == 2)
    os.kill(pid, signal.SIGINT)
    assert ended(pid) == 130
    assert [one.state for one in search.study().trials] == ["failed", "failed"]
    statuses = [json.loads(one.read_text()) for one in search.directory.glob("workspace/studies/*/trials/*/status.json")]
    assert [one["why"] for one in statuses] == ["ended", "ended"]
    assert not any(os.path.exists(f"/proc/{one['child']}") for one in statuses)
    slow.unlink()
    assert ended(search.forked("--resume", "--jobs", 2)) == 0
    trials = search.study().trials
    assert [one.state for one in trials] == ["failed", "failed", "complete", "complete"]
    assert [one.attributes.get(RETRY_OF) for one in trials] == [None, None, 0, 1]
    assert [one.parameters for one in trials[2:]] == [one.parameters for one in trials[:2]]
