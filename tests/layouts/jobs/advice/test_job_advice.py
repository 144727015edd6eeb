"""Advice about jobs of many ranks, as cards: every sentence, reason and hint in both languages, links and fields."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from layouts.jobs.advice.drawing import drawn
from layouts.jobs.advice.page import advice_for
from layouts.jobs.advice.stage_kernels import ComparedStages, compared_stages
from layouts.kit.i18n import CATALOGUE
from layouts.profiles.profile_choice import ProfileChoice
from layouts.profiles.reviewing import READ
from parsers import open_run
from parsers.analysis.jobs.advice import FRAMES, OF_JOB, REASONS, THRESHOLDS, Advice, Review, review
from tests.pages import page_named
from tests.parsers.analysis.jobs.advice.test_cluster_rules import frames_of, with_bubble
from tests.parsers.analysis.jobs.advice.test_packet_rules import MIB, contending, growing, memory, packet, packets
from tests.sources import MemorySource
from tests.writers.clusters import make

PAGE = page_named("advice")

DATA = Path(os.environ.get("MINDSCOPE_TEST_DATA", "/nowhere"))
CHOICE = ProfileChoice("r", ".", 0)


def text_of(result: Review, **more: Any) -> str:
    return json.dumps(drawn(result, THRESHOLDS, CHOICE, **more), default=lambda one: one.to_plotly_json(), ensure_ascii=False)


def found(frames: dict[str, pd.DataFrame | None], **more: Any) -> Review:
    return review(frames, {"communication": 1.0, "idle": 1.0}, **more)


def test_the_card_of_unequal_stages_lists_the_operators_that_make_the_difference(real_data: Path) -> None:
    run = open_run(real_data / "profiler_new" / "torch_npu_st_4ranks_pp2").profile
    steps = {"cluster_steps": run.jobs[0].frame("cluster_steps")}
    profiles = {("s", rank): {**steps, "kernels": one.frame("kernels")} for (_, rank), one in run.items()}
    sources = [MemorySource({"a": {"profiles": one}}) for one in (profiles, dict.fromkeys(profiles, steps))]
    choice = ProfileChoice("a", "s", 0)
    known, lacking = (compared_stages(source, choice) for source in sources)
    assert (known.state, lacking.state) == ("ready", "missing")
    text = text_of(found(steps), stages=known)
    assert "A step of rank 2 (stage 1) computes 169 ms longer than one of rank 0 (stage 0), most in:" in text
    assert "157 ms of these 169 ms are operators with 151936 in a shape" in text
    assert "4096,151936;151936,1024" in text
    assert "Not judged which operators make the difference: that takes" in text_of(found(steps), stages=lacking)
    assert "Reading which operators" in text_of(found(steps), stages=ComparedStages("reading"))


def test_every_finding_is_said_in_words() -> None:
    results = [
        found(frames_of(make(3, slow_rank=17, slower=0.1))), found(frames_of(make(5, slow_rank=9, slower=0.0, late_ns=8e6))),
        found(frames_of(make(11, slow_link=20))),
        found(with_bubble(0.25, "exact")), found(with_bubble(0.25, "at most")), found(contending(10.0, 20.0)),
        found(packets(packet(4_000_000, 2, 2.0), packet(512 * 40_000 + 2, 1, 4.0))),
        found({"memory": memory([95 * MIB])}, capacity=100 * MIB), found(growing(20, MIB)),
    ]  # fmt: skip
    said = {one.rule for result in results for one in result.found}
    assert said == {"slow_rank", "slow_link", "bubble", "contention", "small_packets", "alignment", "memory", "leak"}
    for result in results:
        assert result.found
        text = text_of(result)
        assert "{" not in "".join(part for part in text.split('"') if "rank" in part and " " in part)
    computing, host, link, *_ = (text_of(result) for result in results)
    wanted = r"Rank 17 computes [0-9.]+ ms longer per step than the median of the other ranks of its stage, since step 1,"
    assert re.search(wanted, computing)
    assert "Rank 9 starts late: its device is idle" in host
    assert "The link from rank 20 to rank 21 (HCCS) reaches 14" in link
    assert "Compare its operators with those of another rank" in computing
    assert "同组（dp 16-23）其他卡每步等待它" in computing


def test_pages_of_jobs_are_linked() -> None:
    result = found(frames_of(make(3, slow_rank=17, slower=0.1)))
    text = text_of(result, ranks={17: ProfileChoice("r", "rank_17", 17)})
    assert '"data-page": "cluster"' in text
    assert "of=r&session=rank_17&rank=17" in text
    assert '"data-page": "communication"' in text_of(found(frames_of(make(11, slow_link=20))))


def test_why_a_rule_was_not_checked_is_said() -> None:
    for reason in REASONS:
        assert f"advice.reason.{reason}" in CATALOGUE
        text = text_of(Review((), (), {"leak": ()}, {"leak": reason}))
        assert CATALOGUE[f"advice.reason.{reason}"][0] in text
    text = text_of(found({"memory": memory([95 * MIB])}))
    assert '"data-rule": "capacity"' in text
    assert "no data in communication.json" in text
    typed = text_of(found({"memory": memory([95 * MIB])}, capacity=10**12), capacity=64.0)
    assert '"data-value": "64"' in typed


def test_variants_of_rules_about_all_ranks_have_their_words() -> None:
    rows = pd.DataFrame({"rank": [3], "exposed_ns": [1e6], "part_share": [0.4]})
    told = {"rank": "3", "ranks": "1", "of": "8", "part_share": 0.4, "part_ns": 1e6, "least_share": 0.1}
    hints = ((2e6, 5e5, "communication_wait"), (1e5, 2e5, "communication_transit"), (1e5, 2e6, "communication_unexplained"))
    for waited, unexplained, hint in hints:
        parts = {"all": 3e6, "waited": waited, "moved": 1e6, "unexplained": unexplained, "transit": 0.0, "recorded_wait": 0.0}
        one = Advice("communication", 0.4, 0.1, 1e6, rows, "cluster", parts_ns=parts, variant="ranks", told=told)
        text = text_of(Review((one,), (), {}))
        assert CATALOGUE[f"advice.do.{hint}"][0] in text
        assert "the most is rank 3: 1.00 ms of a step (40.0 %)" in text
    for rule in THRESHOLDS:
        assert {f"advice.{rule}.title", f"advice.{rule}.rule"} <= CATALOGUE.keys()


def test_the_page_reads_what_the_rules_look_at() -> None:
    assert set(OF_JOB) <= set(READ)
    assert {f"profile.{name}" for name in READ} == set(PAGE.needs)


@pytest.mark.skipif(not DATA.is_dir(), reason="MINDSCOPE_TEST_DATA names no directory of real runs")
def test_a_real_job_is_drawn() -> None:
    run = open_run(DATA / "profiler_new/torch_npu_st_4ranks_pp2")
    (job,) = run.profile.jobs
    profile = run.profile["rank_0_ascend_pt", 0]
    frames = {name: profile.frame(name) for name in FRAMES} | {name: job.frame(name) for name in OF_JOB}
    source = MemorySource({"r": {"profiles": {("rank_0_ascend_pt", 0): frames}}})
    answer = advice_for(source, {"run": ["r"], "session": ["rank_0_ascend_pt"], "rank": ["0"], "capacity": ["10.5"]})
    assert answer is not None
    rules = {one.rule: one for one in answer[0].found}
    assert {"bubble", "communication", "idle", "memory"} <= set(rules)
    # reserved 10,372.0 MiB at the peak, as the reference of the sample has it; APP holds more
    assert rules["memory"].value >= 10_372.0 / (10.5 * 1024) - 1e-9
    assert "of 10.5 GiB" in text_of(answer[0])
