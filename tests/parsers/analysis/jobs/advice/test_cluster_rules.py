"""Advice from all ranks of a job: made jobs in which something is wrong and in which nothing is, edges, and real jobs."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from parsers import discover, open_run
from parsers.analysis.jobs.advice import BELOW, FRAMES, OF_JOB, REASONS, THRESHOLDS, Advice, Review, review
from parsers.analysis.jobs.who_is_slow import who_is_slow
from tests.amounts import some_or_every
from tests.writers.clusters import Made, make

DATA = Path(os.environ.get("MINDSCOPE_TEST_DATA", "/nowhere"))
real = pytest.mark.skipif(not DATA.is_dir(), reason="MINDSCOPE_TEST_DATA names no directory of real runs")
RULES = ("slow_rank", "slow_link", "bubble")
QUIET = {"communication": 1.0, "idle": 1.0}


def frames_of(made: Made) -> dict[str, pd.DataFrame | None]:
    return {"groups": made.groups, "collectives": made.collectives, "links": made.links, "cluster_steps": made.steps}


def rules(result: Review) -> dict[str, Advice]:
    return {one.rule: one for one in result.found}


@some_or_every
def test_a_slow_rank_is_named_with_what_it_costs(every: bool) -> None:
    right, seeds = 0, 40 if every else 6
    for seed in range(seeds):
        found = rules(review(frames_of(make(seed, slow_rank=seed, slower=0.05)), QUIET))
        assert set(found) <= {"slow_rank"}
        right += "slow_rank" in found and found["slow_rank"].told["rank"] == str(seed)
    assert right >= 0.95 * seeds
    one = rules(review(frames_of(make(3, slow_rank=17, slower=0.1)), QUIET))["slow_rank"]
    assert (one.variant, one.subject, one.page) == ("computing", ("17",), "cluster")
    assert one.cost_ns == pytest.approx(0.1 * 100e6, rel=0.15)
    assert one.evidence["rank"].tolist() == [17]


def test_a_rank_that_comes_late_is_told_from_one_that_computes_longer() -> None:
    one = rules(review(frames_of(make(5, slow_rank=9, slower=0.0, late_ns=8e6)), QUIET))["slow_rank"]
    assert (one.variant, one.subject) == ("host", ("9",))
    assert one.cost_ns == pytest.approx(8e6, rel=0.2)


@pytest.mark.long
@some_or_every
def test_nothing_is_said_where_nothing_is_wrong(every: bool) -> None:
    seeds = 100 if every else 10
    said = [seed for seed in range(seeds) if review(frames_of(make(seed)), QUIET).found]
    assert len(said) <= 0.02 * seeds


@pytest.mark.parametrize("steps", [1, 7])
def test_few_steps_are_not_judged(steps: int) -> None:
    result = review(frames_of(make(5, slow_rank=9, slower=0.3, steps=steps)), QUIET)
    assert result.reasons["slow_rank"] == "slow_steps"
    assert "slow_rank" not in {*rules(result), *result.fine}


def test_the_threshold_of_a_slow_rank() -> None:
    frames = frames_of(make(3, slow_rank=17, slower=0.1))
    share = rules(review(frames, QUIET))["slow_rank"].value
    assert "slow_rank" in rules(review(frames, {**QUIET, "slow_rank": share * 0.8}))
    most = max(share * 1.5, 0.1)  # in no step is the rank that late
    assert "slow_rank" in review(frames, {**QUIET, "slow_rank": most}).fine


def test_a_slow_link_is_named_and_its_threshold() -> None:
    frames = frames_of(make(11, slow_link=20))
    one = rules(review(frames, QUIET))["slow_link"]
    links = frames["links"]
    assert links is not None
    usual = float(np.median(links["bandwidth"]))
    row = links[links["source"] == 20].iloc[0]
    assert (one.told["source"], one.told["target"], one.page) == ("20", "21", "communication")
    assert one.value == pytest.approx(row["bandwidth"] / usual)
    assert one.cost_ns == pytest.approx(row["time_ns"] - row["size_bytes"] / usual * 1e9)
    assert "slow_link" in review(frames, {**QUIET, "slow_link": one.value}).fine
    few = {**frames, "links": links.head(3)}
    assert review(few, QUIET).reasons["slow_link"] == "few_links"


def with_bubble(share: float, source: str) -> dict[str, pd.DataFrame | None]:
    """A job of two stages, whose first one waits for this share of every step."""
    made = make(1, ranks=8, group=4)
    steps = made.steps.copy()
    first = steps["rank"] < 4
    steps["pp"] = np.where(first, 0, 1)
    steps["own_bubble_ns"] = np.where(first, share * steps["total_ns"], 0.0)
    steps["bubble_source"] = pd.Categorical([source] * len(steps))
    return {"cluster_steps": steps}


def test_a_bubble_is_named_with_its_source() -> None:
    for source, variant in (("at most", "at_most"), ("exact", "said"), ("receive", "said")):
        one = rules(review(with_bubble(0.25, source), QUIET))["bubble"]
        assert (one.variant, one.told["stage"]) == (variant, "0")
        assert one.value == pytest.approx(0.25)
        steps = with_bubble(0.25, source)["cluster_steps"]
        assert steps is not None
        per_step = steps[steps["rank"] < 4].groupby("rank")["own_bubble_ns"].mean()
        assert one.cost_ns == pytest.approx(float(np.median(per_step)))
    assert "bubble" in review(with_bubble(0.25, "exact"), {**QUIET, "bubble": 0.2501}).fine
    assert "bubble" in review(with_bubble(0.0, "exact"), QUIET).fine


def test_a_bubble_is_not_counted_as_exposed_communication_again() -> None:
    frames = with_bubble(0.25, "exact")
    steps = frames["cluster_steps"]
    assert steps is not None
    steps["exposed_ns"] = steps["own_bubble_ns"] + 0.12 * steps["total_ns"]
    one = rules(review(frames))["communication"]
    assert one.value == pytest.approx(0.12)
    assert one.told["ranks"] == "8"
    assert one.evidence["part_share"].to_numpy() == pytest.approx(0.12)
    assert "communication" in review(frames, {"communication": 0.13}).fine


def test_what_all_ranks_communicate_and_wait_for() -> None:
    made = make(2, ranks=8, group=4)
    steps = made.steps.copy()
    steps["total_ns"] = steps["computing_ns"] + steps["exposed_ns"] + steps["free_ns"]
    frames: dict[str, pd.DataFrame | None] = {"cluster_steps": steps, "collectives": made.collectives}
    one = rules(review(frames))["communication"]
    mean = steps.groupby("rank")[["computing_ns", "exposed_ns", "free_ns", "total_ns"]].mean()
    shares = mean["exposed_ns"] / mean["total_ns"]
    assert (one.variant, one.told["of"], one.told["rank"]) == ("ranks", "8", str(shares.idxmax()))
    assert one.value == pytest.approx(shares.max())
    assert one.cost_ns == pytest.approx(mean["total_ns"].max() - (mean["computing_ns"] + mean["free_ns"]).max())
    number = 8 * 10
    assert one.parts_ns["waited"] == pytest.approx(made.collectives["own_wait_ns"].sum() / number)
    assert sum(one.parts_ns[part] for part in ("waited", "moved", "unexplained")) == pytest.approx(one.parts_ns["all"])
    assert "communication" in review(frames, {"communication": one.value}).fine
    assert "idle" in review(frames).fine
    free = steps.assign(free_ns=steps["free_ns"] * 4)
    free["total_ns"] = free["computing_ns"] + free["exposed_ns"] + free["free_ns"]
    found = rules(review({"cluster_steps": free}))["idle"]
    mean = free.groupby("rank")[["free_ns", "total_ns"]].mean()
    assert found.value == pytest.approx((mean["free_ns"] / mean["total_ns"]).max())


def test_one_rank_is_no_job() -> None:
    made = make(1, ranks=8)
    frames = frames_of(made)
    alone = {
        name: frame if frame is None or "rank" not in frame else frame[frame["rank"] == 0] for name, frame in frames.items()
    }
    result = review(alone)
    assert result.reasons["slow_rank"] == "one_rank"
    assert not set(RULES) & set(result.fine)
    nothing = review(dict.fromkeys((*FRAMES, *OF_JOB)))
    assert nothing.unchecked["slow_rank"][0] == "step_trace_time.csv"
    assert "step_trace_time.csv" in nothing.unchecked["bubble"]
    assert dict(nothing.reasons) == {}


@real
@some_or_every
def test_every_rule_is_in_one_state_for_every_real_job(every: bool) -> None:
    said: dict[str, set[str]] = {}
    for base in ("cluster_samples", "mindinsight_legacy", "profiler_new")[: 3 if every else 1]:
        for source in discover(DATA / base):
            run = open_run(source.path)
            for job in run.profile.jobs:
                frames: dict[str, pd.DataFrame | None] = {name: job.frame(name) for name in OF_JOB}
                for member in job.files.members[:1]:
                    profile = run.profile[member.session, member.rank]
                    frames |= {name: profile.frame(name) for name in FRAMES}
                result = review(frames)
                assert sorted([*(one.rule for one in result.found), *result.fine, *result.unchecked]) == sorted(THRESHOLDS)
                assert set(result.reasons.values()) <= set(REASONS)
                for one in result.found:
                    said.setdefault(one.rule, set()).add(job.name)
                    assert len(one.evidence) > 0
                    assert one.value < one.threshold if one.rule in BELOW else one.value > one.threshold
    assert ({"slow_link", "bubble", "small_packets"} if every else {"small_packets"}) <= said.keys()


@real
def test_the_four_ranks_by_their_published_figures() -> None:
    """Lateness and bubble as computed by hand from the elapse times (the reference of the samples)."""
    (job,) = open_run(DATA / "profiler_new/torch_npu_st_4ranks_pp2").profile.jobs
    found = rules(review({name: job.frame(name) for name in OF_JOB}))
    assert "slow_rank" not in found  # one step
    once = {one.rank: one for one in who_is_slow({name: job.frame(name) for name in OF_JOB}).once}
    assert once[0].lateness_ns / 1e6 == pytest.approx(11.368)
    assert (once[0].cause, once[0].persistent) == ("host", False)
    assert found["bubble"].told["stage"] == "0"


@real
def test_the_slow_link_of_a_legacy_job() -> None:
    job = next(one for one in open_run(DATA / "mindinsight_legacy/cluster_propose").profile.jobs)
    found = rules(review({name: job.frame(name) for name in OF_JOB}))
    assert found["slow_link"].told["bandwidth"] == pytest.approx(5_055_173e3, rel=1e-6)
