"""The What-if card: its lines, its states, what may be asked, and its CSV."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.demo.simulated.job_records import recorded
from app.demo.simulated.jobs import simulate
from app.demo.simulated.programs import Fault, JobPlan
from layouts.jobs.job.what_if import drawn, what_if
from layouts.jobs.what_if_request import WhatIfRequest, replay_asked, table
from layouts.kit.state import BadInput
from layouts.kit.work import WorkResult
from layouts.profiles.frames import ProfileFrame
from parsers import open_run
from parsers.analysis.jobs.replay.what_ifs import replay_of
from parsers.cluster_frames import JOB_FRAMES
from parsers.profiler.progress import Cancelled
from tests.simulations.job_frames import frames
from tests.sources import MemorySource

ASK: dict[str, Any] = {"run": ["a"], "session": ["s"], "rank": ["0"]}
QUIET = JobPlan(dp=4, mode="meetings", noise=0.0, hiccups=0.0, gaps=0.0, data=0.0, steps=4)
PLAN = replace(QUIET, fault=Fault("slow_rank", 2, 0.2))


def source_of(given: dict[str, Any]) -> MemorySource:
    return MemorySource({"a": {"profiles": {("s", rank): given for rank in range(4)}}})


def shown(given: dict[str, Any], **more: list[str]) -> str:
    ask = WhatIfRequest.read(ASK | more)
    lines, _ = what_if(source_of(given), ask)
    return json.dumps([line.to_plotly_json() for line in lines], default=lambda one: one.to_plotly_json())


@pytest.fixture(scope="module")
def simulated() -> dict[str, Any]:
    return frames(recorded(simulate(PLAN)))


def test_without_files_it_says_what_is_missing() -> None:
    assert "no file has communication operations." in shown({})


def test_sums_are_not_judged(simulated: dict[str, Any]) -> None:
    sums = simulated | {"collectives": simulated["collectives"].assign(start_ns=-1)}
    assert "not when they began" in shown(sums)


def test_a_slow_rank_has_a_line_with_what_it_costs(simulated: dict[str, Any]) -> None:
    text = shown(simulated)
    assert "rank 2 were as fast as its peers" in text
    assert "rank 1 were" not in text
    found = replay_asked(WhatIfRequest.read(ASK), simulated.get)
    line = next(one for one in found.lines if one.cause == "rank")
    assert line.saved_ns == pytest.approx(0.2 * 1.02 * PLAN.computing_ns, rel=0.05)
    assert line.bound == "exact"


def test_what_is_chosen_is_asked(simulated: dict[str, Any]) -> None:
    text = shown(simulated, slow=["0-1"], cause=["rank", "ranks"])
    assert "ranks 0, 1 were as fast as their peers" in text
    assert "communication took" not in text
    assert "the link 0" in shown(simulated, link=["0-1"])


def test_while_frames_are_read_it_asks_again(simulated: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    source = source_of(simulated)
    frame = source.profiles.frame

    def reading(run: str, session: str, rank: int, name: str, *, again: bool = False) -> ProfileFrame:
        found = frame(run, session, rank, name, again=again)
        return ProfileFrame("reading", done=1, total=4) if name == "device_times" else found

    monkeypatch.setattr(source.profiles, "frame", reading)
    lines, progress = what_if(source, WhatIfRequest.read(ASK))
    assert lines == []
    assert (progress["state"], progress["done"], progress["total"]) == ("reading", 1, 4)


def test_the_replay_tells_how_far_it_is_and_can_be_stopped(simulated: dict[str, Any]) -> None:
    told: list[tuple[int, int]] = []
    replay_asked(WhatIfRequest.read(ASK), simulated.get, lambda done, total: told.append((done, total)))
    # 4 steps: of the graph, unless it is known from a test before, and of the replay.
    assert told[-4:] == [(4, 8), (5, 8), (6, 8), (7, 8)]

    def stopped(done: int, total: int) -> None:
        raise Cancelled

    fresh = {name: frame.copy() for name, frame in simulated.items()}
    with pytest.raises(Cancelled):
        replay_asked(WhatIfRequest.read(ASK), fresh.get, stopped)
    assert replay_asked(WhatIfRequest.read(ASK), fresh.get).lines


def test_work_that_goes_on_or_was_stopped_has_no_lines(simulated: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    source = source_of(simulated)
    for state in ("waiting", "working", "cancelled"):
        monkeypatch.setattr(source.profiles, "work", lambda *_of, state=state, **_more: WorkResult(state, done=2, total=8))
        lines, progress = what_if(source, WhatIfRequest.read(ASK))
        assert (lines, progress["state"], progress["done"], progress["total"]) == ([], state, 2, 8)


@pytest.mark.parametrize(("key", "value"), [
    ("slow", "a"), ("slow", "0-9999"), ("slow", "1,,2"), ("link", "3"), ("cause", "all"),
])  # fmt: skip
def test_what_is_malformed_is_refused(key: str, value: str) -> None:
    with pytest.raises(BadInput, match=key):
        WhatIfRequest.read(ASK | {key: [value]})


def test_the_table_has_the_job_and_each_rank(simulated: dict[str, Any]) -> None:
    found = replay_asked(WhatIfRequest.read(ASK), simulated.get)
    rows = table(found)
    assert len(rows) == 5 * len(found.lines)
    whole = rows[rows["rank"] == -1]
    assert (whole["recorded_ns"] - whole["replayed_ns"]).to_numpy() == pytest.approx(whole["saved_ns"].to_numpy())
    alone = table(replace(found, lines=()))
    assert alone.columns.tolist() == rows.columns.tolist()
    assert alone.empty


def test_a_real_job(real_data: Path) -> None:
    (job,) = open_run(real_data / "profiler_new/torch_npu_st_4ranks_pp2").profile.jobs
    text = shown({name: job.frame(name) for name in JOB_FRAMES})
    assert "Stage 1 computes 1.73 times as long as stage 0." in text
    assert "at most 203 ms" in text
    assert "98.2 ms, at most 102 ms" in text
    assert "upper bounds" in text


def test_the_slow_rank_has_a_line_and_small_changes_are_counted() -> None:
    plan = JobPlan(
        seed=8, dp=4, pp=2, micro=8, steps=10, collectives=2, computing_ns=64e6, communication=0.15, noise=0.015, hiccups=0.0,
        gaps=0.01, clock_ns=0.0, fault=Fault("late_host", 5, 0.4),
    )  # fmt: skip
    found = frames(recorded(simulate(plan)))
    replay = replay_of(found)
    line = next(line for line in replay.lines if line.cause == "rank" and line.subject == (5,))
    lost = simulate(plan).step_ns.mean() - simulate(replace(plan, fault=None)).step_ns.mean()
    assert line.saved_ns == pytest.approx(lost, rel=0.2)
    small = [line for line in replay.lines if line.saved_ns < 0.001 * replay.step_ns]
    said = json.dumps(drawn(replay, only_large=True), default=str)
    assert small
    assert f"of a step: {len(small)}." in said
