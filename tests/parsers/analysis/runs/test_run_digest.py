"""Digests: facts against numpy, on written curves and on real runs, profiles and dumps."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers import discover, open_run
from parsers.analysis.curves.curve_digest import FOUND, NOT_JUDGED, NOT_RECORDED, NOTHING, CurveFact, curve_digest
from parsers.analysis.curves.insights import insights
from parsers.analysis.jobs.advice import FRAMES, review
from parsers.analysis.runs.measures import Measure, peak_memory, steps_per_second
from parsers.analysis.runs.run_digest import MOST_ADVICE, fact_json
from parsers.analysis.runs.run_news import NO_STEP, CurveNews, Standstill
from parsers.model import Series
from tests.amounts import examples
from tests.app.commands.written_runs import write_run
from tests.recorded import RECORDED
from tests.writers.dumps import Injection, write_dump

VALUES = st.lists(st.floats(width=32), min_size=1, max_size=60)


def series(values, steps=None, each_s: float = 0.25) -> Series:
    value = np.array(values, np.float64)
    step = np.arange(value.size) if steps is None else np.array(steps, np.int64)
    return Series(step, 1.7e9 + each_s * np.arange(value.size), value, np.zeros(value.size, np.int32), np.arange(value.size))


def of_kind(facts, kind: str) -> CurveFact:
    return next(fact for fact in facts if fact.kind == kind)


# Curves --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tag", ["loss", "accuracy", "thing"])
@given(values=VALUES)
@settings(max_examples=examples(200))
def test_first_last_and_best_are_those_of_numpy(tag: str, values: list[float]) -> None:
    facts = list(curve_digest(tag, series(values)).facts())
    every = np.array(values)
    finite = np.flatnonzero(np.isfinite(every))
    last = of_kind(facts, "last")
    assert (last.step, last.points) == (every.size - 1, every.size)
    assert last.value == every[-1] or (math.isnan(last.value) and math.isnan(every[-1]))
    assert any(fact.kind == "first" for fact in facts) == bool(finite.size)
    if not finite.size:
        return
    first = of_kind(facts, "first")
    assert (first.step, first.value) == (finite[0], every[finite[0]])
    known = every[finite]
    if tag == "thing":
        assert (of_kind(facts, "range").usual, of_kind(facts, "range").value) == (known.min(), known.max())
    else:
        best = of_kind(facts, "best")
        assert best.value == (known.min() if tag == "loss" else known.max())
        assert every[best.step] == best.value
    if not math.isfinite(every[-1]):
        assert of_kind(facts, "last_finite").step == finite[-1]


def test_restarts_are_resolved_counted_and_placed() -> None:
    """Steps 3 and 4 were written twice, then 1 to 5: the curve is 9, then 1 to 5."""
    steps = [0, 1, 2, 3, 4, 3, 4, 1, 2, 3, 4, 5]
    found = curve_digest("loss", series([9, 8, 7, math.nan, 5, 6, 5, 1, 2, 3, 4, 5], steps))
    facts = list(found.facts())
    assert (of_kind(facts, "restarts").value, of_kind(facts, "restarts").step) == (2.0, 3)
    assert (found.last_restarted, found.final.points, found.final.last, of_kind(facts, "best").step) == (1, 6, 5.0, 1)
    assert not any(fact.kind == "non_finite" for fact in facts)


def test_speed_is_steps_by_seconds() -> None:
    facts = list(curve_digest("loss", series(np.linspace(2, 1, 50), np.arange(50) * 10, each_s=2.0)).facts())
    assert of_kind(facts, "steps_per_second").value == pytest.approx(5.0)


def test_a_spike_and_a_nan_are_at_their_steps() -> None:
    values = np.linspace(2.0, 1.0, 400) + np.random.default_rng(37).normal(0, 0.01, 400)
    values[120], values[300] = 5.0, math.nan
    facts = list(curve_digest("loss", series(values)).facts())
    spike, bad = of_kind(facts, "spike"), of_kind(facts, "non_finite")
    assert (spike.step, spike.value, spike.measured > spike.limit, bool(spike.rule)) == (120, 5.0, True, True)
    assert (bad.step, bad.points, bad.measured, bad.limit) == (300, 1, 1.0, 1.0)
    assert fact_json(bad)["value"] == "NaN"


def test_nothing_found_needs_points() -> None:
    assert of_kind(curve_digest("loss", series([3, 2, 1])).facts(), "insights").state == NOT_JUDGED
    assert of_kind(curve_digest("loss", series([3, 2, 1])).facts(), "insights").missing == "8 points, there are 3"
    plain = curve_digest("loss", series(np.geomspace(2, 1, 30) + 0.01 * np.sin(np.arange(30) * 1.7)))
    assert of_kind(plain.facts(), "insights").state == NOTHING


@pytest.mark.parametrize("source", discover(RECORDED), ids=lambda source: source.name)
def test_insights_are_those_of_the_run(source) -> None:
    run = open_run(source)
    for part in (run, *run.ranks):
        wanted = sorted((row.tag, row.kind, row.step, row.last_step) for row in insights(part).itertuples())
        digest = part.digest()
        found = [fact for fact in digest.facts if fact.limit == fact.limit and fact.about == "curve"]
        assert sorted((fact.name, fact.kind, fact.step, fact.last_step) for fact in found) == wanted


@given(VALUES)
@settings(max_examples=examples(100))
def test_facts_are_json_without_nan(values: list[float]) -> None:
    for fact in curve_digest("loss", series(values)).facts():
        for value in fact_json(fact).values():
            assert not isinstance(value, float) or math.isfinite(value)


# Runs ----------------------------------------------------------------------------------------------------------------


def test_tags_are_chosen_by_a_regular_expression(tmp_path: Path) -> None:
    run = open_run(write_run(tmp_path / "run", {"train/loss": [2, 1], "val/loss": [2, 1], "accuracy": [0, 1]}))
    assert {fact.name for fact in run.digest("^val/").facts} == {"val/loss"}
    none = run.digest("nothing")
    assert (none.facts, none.unmatched) == ((), 3)


def test_a_run_without_anything_says_so(tmp_path: Path) -> None:
    (tmp_path / "events.out.events.summary.1700000000.host_MS").write_bytes(b"")
    assert [fact.state for fact in open_run(tmp_path).digest().facts] == [NOT_RECORDED]


def test_ranks_have_digests_of_their_own() -> None:
    digest = open_run(RECORDED / "ranks").digest()
    assert (digest.facts, [rank.run.rpartition("/")[2] for rank in digest.ranks]) == ((), ["rank_2", "rank_3"])
    assert digest.as_json()["ranks"][1]["facts"][0]["name"] == "loss"


def test_a_profile_has_step_time_parts_and_the_first_advice() -> None:
    """Rank 1 of a real run: times of its step trace, and what the rules find."""
    folder = Path(__file__).parents[3] / "data" / "mindspore_profiler" / "2.10_minddata"
    run = open_run(folder)
    digest = run.digest()
    assert len(digest.profiles) >= 1
    for one in digest.profiles:
        profile = run.profile[one.session, one.rank]
        frames = {name: profile.frame(name) if profile.gives(name) else None for name in FRAMES}
        wanted = [found.rule for found in review(frames).found][:MOST_ADVICE]
        facts = list(one.facts())
        assert wanted
        assert [fact.kind for fact in facts if fact.kind.startswith("advice/")] == [f"advice/{rule}" for rule in wanted]
        assert facts[0].state in (FOUND, NOT_RECORDED)


def test_the_first_cause_of_a_dump_is_the_operator_made_bad(tmp_path: Path) -> None:
    net = write_dump(tmp_path / "dump", injection=Injection(3, 4, "nan"))
    (fact,) = open_run(tmp_path / "dump").digest().facts
    assert (fact.kind, fact.name, fact.step) == ("first_cause/non_finite", net.operators[4].name, 3)
    write_dump(tmp_path / "healthy")
    (fine,) = open_run(tmp_path / "healthy").digest().facts
    assert (fine.state, fine.points > 0) == (NOTHING, True)


# News ----------------------------------------------------------------------------------------------------------------


def test_a_fact_is_new_once() -> None:
    values = np.linspace(2.0, 1.0, 400) + np.random.default_rng(37).normal(0, 0.01, 400)
    values[120] = 5.0
    news = CurveNews()
    seen = [news.take([curve_digest("loss", series(values[:size]))]) for size in (100, 200, 300, 400)]
    assert [[fact.kind for fact in facts] for facts in seen] == [[], ["spike"], [], []]
    values[350] = math.nan
    assert [fact.kind for fact in news.take([curve_digest("loss", series(values))])] == ["non_finite"]
    again = np.concatenate((np.arange(400), [200, 201]))
    restarted = news.take([curve_digest("loss", series([*values, 1.5, 1.5], again))])
    assert [(fact.kind, fact.step) for fact in restarted] == [("restarts", 200)]
    assert news.take([curve_digest("loss", series([*values, 1.5, 1.5], again))]) == []


def test_a_standstill_is_told_once_until_there_is_a_step() -> None:
    still = Standstill("run", 0.0, patience=600.0)
    told = [still.look(now, points, points - 1) for now, points in
            ((0, 10), (599, 10), (600, 10), (900, 10), (1000, 11), (1599, 11), (1601, 11))]  # fmt: skip
    assert [fact is not None for fact in told] == [False, False, True, False, False, False, True]
    assert told[2] is not None
    assert (told[2].kind, told[2].value, told[2].limit, told[2].step) == (NO_STEP, 600.0, 600.0, 9)


# Measures ------------------------------------------------------------------------------------------------------------


def test_speed_and_memory_of_a_run(tmp_path: Path) -> None:
    memory = {"system/npu_0/memory_used_bytes": [1e9, 5e9, math.nan, 2e9], "system/process_memory_bytes": [9e9]}
    run = open_run(write_run(tmp_path / "run", {"loss": [3, 2, 1, 1], **memory}, step_s=0.5))
    assert steps_per_second(run) == Measure(pytest.approx(2.0), "loss")
    assert peak_memory(run) == Measure(5e9, "device")
    bare = open_run(write_run(tmp_path / "bare", {"loss": [1]}))
    assert (steps_per_second(bare), peak_memory(bare)) == (None, None)
