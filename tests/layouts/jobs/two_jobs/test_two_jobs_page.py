"""The page about two jobs: sentences, tables, bars and files, for made jobs in which the differences are known."""

from __future__ import annotations

import functools
import io
import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from layouts.jobs.two_jobs import figure, story, tables
from layouts.jobs.two_jobs.asks import FRAMES, TwoJobsRequest
from layouts.jobs.two_jobs.job_pair import ComparedJob, ComparedJobs, both
from layouts.jobs.two_jobs.page import _saver, shown
from layouts.jobs.two_jobs.quantities import percent, quantity, signed
from layouts.jobs.two_jobs.texts import TEXTS
from layouts.kit.i18n import CATALOGUE
from layouts.kit.state import BadInput
from layouts.profiles.frames import ProfileFrame
from layouts.profiles.profile_choice import ProfileChoice
from parsers.analysis.jobs import two_jobs
from parsers.cluster_frames import CLUSTER_STEPS, JOB_FRAMES, RANKS
from parsers.profiler.frame_parts import frame_of
from parsers.profiler.jobs import JobFiles, JobMember
from tests.amounts import long_after
from tests.pages import page_named
from tests.sources import MemorySource
from tests.writers import clusters
from tests.writers.clusters import Made

PAGE = page_named("two_jobs")

make = functools.cache(clusters.make)  # tests of pages only read what was made
ODD = '<b>odd</b> "host"'


def profile(made: Made, hosts: dict[int, str] | None = None, **changed: Any) -> dict[str, Any]:
    """The content of a run with one job, given to each of its ranks."""
    ranks = sorted(made.steps["rank"].unique().tolist())
    told = {"rank": ranks, "host": [(hosts or {}).get(rank, "") for rank in ranks]}
    frames = {
        "groups": made.groups, "collectives": made.collectives, "links": made.links, "cluster_steps": made.steps,
        "ranks": frame_of(RANKS, len(ranks), told, ""), **changed,
    }  # fmt: skip
    members = tuple(JobMember(f"rank_{rank}", "", rank, "", ()) for rank in ranks)
    files = JobFiles("rank_*", members, size=len(ranks), parallel=changed.pop("parallel", ()))
    return {"profiles": {(f"rank_{rank}", rank): frames for rank in ranks}, "job": files}


def source_of(one: dict[str, Any], other: dict[str, Any]) -> MemorySource:
    return MemorySource({"a": one, "b": other})


ASK = {"run": ["a"], "session": ["rank_0"], "rank": ["0"], "with_run": ["b"], "with_session": ["rank_0"], "with_rank": ["0"]}


def text_of(source: MemorySource, **more: list[str]) -> tuple[dict[str, str], Any]:
    """The text of each section, in English and Chinese, and the figure."""
    facts, drawn = shown(source, ComparedJobs(), {**ASK, **more})
    return {name: " ".join(_texts(content)) for name, content in facts["sections"].items()}, drawn


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [text for child in content for text in _texts(child[2] if isinstance(child, list) else child)]


def facts_pair(source: MemorySource, **more: list[str]) -> tuple[ComparedJob, ComparedJob]:
    ask = TwoJobsRequest.read_any({**ASK, **more})
    assert ask is not None
    two = both(source, ComparedJobs(), ask)
    assert two is not None
    return two


def test_the_page_is_there() -> None:
    assert (PAGE.name, PAGE.group) == ("two_jobs", "performance")
    assert set(FRAMES) | {"packets", "device_times", "stages"} == set(JOB_FRAMES)
    for metric in two_jobs.METRICS:
        assert f"two_jobs.metric.{metric}" in TEXTS
    for cause in ("computing", "host", "link"):
        assert f"two_jobs.cause.{cause}" in CATALOGUE


def test_a_slower_job_is_said_with_the_part_that_makes_it_so() -> None:
    made = make(1, ranks=8, group=4)
    steps = made.steps.assign(free_ns=made.steps["free_ns"] + 30e6, total_ns=made.steps["total_ns"] + 30e6)
    texts, drawn = text_of(source_of(profile(made, cluster_steps=steps), profile(make(1, ranks=8, group=4))))
    assert re.search(r"A step of A takes \S+ ms: 30.0 ms \([\d.]+ %\) longer than in B", texts["head"])
    assert "What differs most: free, 30.0 ms more in A." in texts["head"]
    assert "差异最大的是空闲，A 多 30.0 ms。" in texts["head"]
    assert drawn["layout"]["meta"]["ranks"] == 8
    back, _ = text_of(source_of(profile(make(1, ranks=8, group=4)), profile(made, cluster_steps=steps)))
    assert "less than in B" in back["head"]
    same, _ = text_of(source_of(profile(made), profile(made)))
    assert "about the same time" in same["head"]


def test_ranks_of_one_job_only_and_other_layouts_are_said() -> None:
    one = profile(make(1, ranks=8, group=4), parallel=(("tensor_model_parallel_size", 4), ("data_parallel_size", 2)))
    other = profile(make(2, ranks=16, group=8), parallel=(("tensor_model_parallel_size", 8), ("data_parallel_size", 2)))
    texts, _ = text_of(source_of(one, other))
    assert "Ranks in B only (8): 8-15." in texts["head"]
    assert "divided differently (A: tp 4, dp 2; B: tp 8, dp 2)" in texts["head"]
    assert texts["ranks"].count("not in A") == 8
    assert "not in B" in texts["groups"]
    few, _ = text_of(source_of(profile(make(1, ranks=8, group=4, steps=1)), other))
    assert "Steps recorded: 1 in A, 10 in B." in few["head"]


def test_bubbles_of_several_sources_are_said() -> None:
    made = make(1, ranks=8, group=4)
    sources = pd.Categorical(["exact"] * 40 + ["at most"] * 40)
    mixed = profile(made, cluster_steps=made.steps.assign(bubble_source=sources))
    note = "exact for some ranks and an upper bound for others"
    assert note in text_of(source_of(mixed, profile(made)))[0]["head"]
    assert note not in text_of(source_of(profile(made), profile(made)))[0]["head"]


def test_jobs_without_a_common_rank() -> None:
    made = make(1, ranks=8, group=4)
    moved = {name: getattr(made, name) for name in ("collectives", "steps", "links", "groups")}
    moved["collectives"] = made.collectives.assign(rank=made.collectives["rank"] + 8)
    moved["steps"] = made.steps.assign(rank=made.steps["rank"] + 8)
    other = profile(Made(**moved))
    source = source_of(profile(made), other)
    facts, drawn = shown(source, ComparedJobs(), {**ASK, "with_session": ["rank_8"], "with_rank": ["8"]})
    text = " ".join(_texts(facts["sections"]["head"]))
    assert "no rank in common" in text
    assert "No rank has the parts of its steps in both jobs" in text
    assert drawn is None


@pytest.mark.parametrize(
    ("second", "hosts", "said"),
    long_after(2, [
        (5, ("h", "i"), "it follows the number of the rank, not the host"),
        (9, ("h", "h"), "it follows the host, not the number of the rank"),
        (5, ("h", "h"), "the same rank on the same host"),
        (9, ("h", "i"), "it follows neither the rank nor the host"),
        (5, ("", ""), "The hosts are unknown"),
        (9, ("", ""), "It does not follow the rank; the hosts are unknown"),
    ]),
)
def test_what_a_slow_rank_follows(second: int, hosts: tuple[str, str], said: str) -> None:
    one = profile(make(1, slow_rank=5, slower=0.2), {5: hosts[0]})
    other = profile(make(2, slow_rank=second, slower=0.2), {second: hosts[1]})
    texts, _ = text_of(source_of(one, other))
    assert said in texts["head"]
    assert f"rank {second}" in texts["head"]


def test_of_few_steps_only_who_was_late_is_said() -> None:
    slow, fine = profile(make(1, steps=1, slow_rank=5, slower=0.2)), profile(make(2, steps=1, noise=0.002, hiccups=0.0))
    head = text_of(source_of(slow, fine))[0]["head"]
    assert "the others waited only in A for a rank: rank 5" in head
    assert "Whether it is slow takes 8 steps." in head
    assert "for a slow rank" not in head
    both = text_of(source_of(slow, profile(make(3, steps=1, slow_rank=9, slower=0.2))))[0]["head"]
    assert "the others waited in A for rank 5" in both
    assert "in B for rank 9" in both
    assert "it follows" not in both
    even = [profile(make(seed, steps=1, noise=0.0, hiccups=0.0)) for seed in (2, 4)]
    assert "No rank was late in the recorded steps" in text_of(source_of(*even))[0]["head"]


def test_slow_ranks_of_one_job_of_none_and_of_unchecked_ones() -> None:
    slow, fine = profile(make(1, slow_rank=5, slower=0.2)), profile(make(2))
    assert "Only in A the others wait for a slow rank: rank 5 (computes longer" in text_of(source_of(slow, fine))[0]["head"]
    assert "Only in B the others wait for a slow rank: rank 5" in text_of(source_of(fine, slow))[0]["head"]
    assert "In neither job the ranks wait" in text_of(source_of(fine, profile(make(3))))[0]["head"]
    bare = profile(make(2), collectives=None)
    text, _ = text_of(source_of(slow, bare))
    assert "was not checked in B" in text["head"]
    assert "B has no data in communication.json" in text["operations"]
    assert "In neither job" not in text["head"]


def test_tables_have_the_largest_differences_first_and_say_how_many_there_are() -> None:
    one, other = make(1, ranks=256, group=8, slow_rank=77, slower=0.3, slow_link=20), make(1, ranks=256, group=8)
    texts, drawn = text_of(source_of(profile(one), profile(other)), metric=["computing"])
    assert re.search(r"^Rank .*?of B.*? 77 ", texts["ranks"])
    assert "The first 100 of 256 rows; the CSV has all." in texts["ranks"]
    assert re.search(r"^From .* 20 21 HCCS", texts["links"])
    assert len(drawn["data"][0]["hovertext"]) == 256
    by_rank, _ = text_of(source_of(profile(one), profile(other)), by=["rank"])
    assert "The first 100 of 256 rows" in by_rank["operations"]


def test_files_have_all_rows_in_full_precision() -> None:
    one, other = make(1, ranks=16, group=8, slow_rank=3), make(2, ranks=12, group=4)
    two = facts_pair(source_of(profile(one), profile(other)))
    ask = TwoJobsRequest.read_any(ASK)
    assert ask is not None
    for section in tables.SECTIONS:
        written = pd.read_csv(io.StringIO(tables.file_of(two, ask, section).to_csv(index=False)))
        assert {"one", "other", "difference", "change"} <= set(written.columns)
    ranks = tables.file_of(two, ask, "ranks")
    row = ranks[(ranks["rank"] == 3) & (ranks["metric"] == "computing")].iloc[0]
    means = [made.steps[made.steps["rank"] == 3]["computing_ns"].mean() for made in (one, other)]
    assert row["difference"] == pytest.approx(means[0] - means[1])
    assert len(ranks[ranks["metric"] == "total"]) == 16


def test_files_hold_no_formula() -> None:
    host = dict.fromkeys(range(16), "=1+2")
    source = source_of(profile(make(1, ranks=16, group=8), host), profile(make(2, ranks=16, group=8), host))
    content = _saver(source, ComparedJobs(), "ranks")(1, ASK)["content"]
    assert "'=1+2" in content
    assert ",=1+2" not in content


def test_bars_of_ten_thousand_ranks_are_few_and_keep_both_ends() -> None:
    random = np.random.default_rng(1)
    values = pd.DataFrame({"one": random.normal(0, 1e6, 10_000), "other": np.zeros(10_000)})
    values.index.name = "rank"
    found = two_jobs.compared(
        values[["one"]].rename(columns={"one": "x"}), values[["other"]].rename(columns={"other": "x"}), "x"
    )
    drawn = figure.bars(found, ({}, {}), "total", language="en", look=figure.StepStyle({}))
    (trace,) = drawn["data"]
    assert drawn["layout"]["meta"] == {"ranks": 10_000, "drawn": len(trace["hovertext"]), "unit": "ms", "alike": False}
    assert len(trace["hovertext"]) <= figure.MOST
    assert str(int(values["one"].idxmax())) in trace["hovertext"][0]
    assert str(int(values["one"].idxmin())) in trace["hovertext"][-1]
    assert len(json.dumps(drawn)) < 400_000
    assert figure.bars(found.iloc[:0], ({}, {}), "total", language="en", look=figure.StepStyle({})) is None


def test_text_from_files_is_text() -> None:
    made = make(1, ranks=8, group=4)
    two = source_of(profile(made, {0: ODD}), profile(make(2, ranks=8, group=4), {0: ODD}))
    texts, drawn = text_of(two)
    assert ODD in texts["ranks"]  # a text node
    hover = next(text for text in drawn["data"][0]["hovertext"] if "odd" in text)
    assert "&lt;b&gt;odd" in hover


def test_numbers_as_text() -> None:
    assert quantity("total", -1.5e6) == "\u22121.50 ms"
    assert signed("peak_allocated", 2**30) == "+1.00 GiB"
    assert quantity("bandwidth", 19e9) == "19.0 GB/s"
    assert quantity("flops", 3.2e12) == "3.20 TFLOPs"
    assert (percent(0.028), percent(-0.5), percent(0.0), percent(float("nan"))) == ("+2.80 %", "\u221250.0 %", "0 %", "–")
    assert percent(0.0001) == "+0.0100 %"


def test_what_the_browser_sends_is_not_trusted() -> None:
    assert TwoJobsRequest.read_any(None) is None
    for bad in ({"metric": ["luck"]}, {"by": ["host"]}, {"columns": ["x"]}, {"step": ["1e99"]}, {"with_rank": ["-7"]}):
        with pytest.raises(BadInput):
            TwoJobsRequest.read_any({**ASK, **bad})
    source = source_of(profile(make(1, ranks=8, group=4)), profile(make(2, ranks=8, group=4)))
    facts, drawn = shown(source, ComparedJobs(), {key: value for key, value in ASK.items() if not key.startswith("with")})
    assert (facts["sections"], drawn) == ({}, None)
    empty = {"profiles": {("rank_0", 0): {"cluster_steps": CLUSTER_STEPS.empty()}}}
    texts, drawn = text_of(source_of(empty, empty))
    assert drawn is None
    assert "Neither job has anything to compare here." in texts["parts"]


def test_facts_are_computed_once_for_each_job() -> None:
    source = source_of(profile(make(1, ranks=8, group=4)), profile(make(2, ranks=8, group=4)))
    kept = ComparedJobs()
    choice = ProfileChoice("a", "rank_0", 0, "mark")
    first = kept.job(source, choice, None)
    assert kept.job(source, choice, None) is first
    assert kept.job(source, replace(choice, mark="other"), None) is not first
    assert kept.job(source, choice, 3) is not first
    assert story.two_jobs_overlap(first, kept.job(source, choice, 3))


def test_facts_follow_the_files_of_other_ranks_and_frames_that_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("layouts.profiles.profile_choice.PATIENCE", 0.0)
    made = make(1, ranks=8, group=4)
    content = profile(made)
    frames = content["profiles"]["rank_0", 0]
    source, kept, choice = source_of(content, content), ComparedJobs(), ProfileChoice("a", "rank_0", 0, "mark of rank 0")
    frames["collectives"] = ProfileFrame("reading")
    assert kept.job(source, choice, None).frames["collectives"] is None
    frames["collectives"] = made.collectives
    assert kept.job(source, choice, None).frames["collectives"] is made.collectives
    frames["cluster_steps"] = make(2, ranks=16, group=4).steps
    assert len(kept.job(source, choice, None).values) == 16
