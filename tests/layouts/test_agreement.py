"""A figure or verdict that several pages show is the same on each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from layouts.jobs.advice.page import advice_for
from layouts.jobs.cluster.asks import ClusterRequest
from layouts.jobs.cluster.job_cache import JobCache
from layouts.jobs.job.page import summarised
from layouts.jobs.pipeline.page import drawn as pipeline_drawn
from layouts.jobs.pipeline_request import PipelineRequest, pipeline_of
from layouts.kit import units
from layouts.kit.i18n import CATALOGUE
from layouts.profiles.memory import page as memory_page
from layouts.profiles.memory.asks import MemoryRequest
from layouts.profiles.memory.recordings import Recordings
from layouts.profiles.profile_overview.page import summarised as overview_summary
from parsers import open_run
from parsers.cluster_frames import JOB_FRAMES
from parsers.profiler.registry import FRAMES
from tests.layouts.jobs.job.test_job_page import texts_in as texts_of
from tests.layouts.profiles.memory.requests import opened, sessions_of, texts_in
from tests.sources import MemorySource
from tests.writers import memory_files

MIB = 1 << 20
SAID = {"It leaks": "leak", "No leak": "none", "cannot be told": "cannot tell"}


def leaks(source: MemorySource, asked: dict[str, list[str]]) -> tuple[str, str]:
    """What Device memory and Advice say of a leak: "leak", "none" or "cannot tell"."""
    request = MemoryRequest.read_any(asked)
    found = advice_for(source, asked)
    assert request is not None
    assert found is not None
    said = texts_in(memory_page.overall(source, Recordings(source), request)[0]["head"])
    shown = next(verdict for text, verdict in SAID.items() if text in said)
    review = found[0]
    if any(one.rule == "leak" for one in review.found):
        return shown, "leak"
    return shown, "none" if "leak" in review.fine else "cannot tell"


@pytest.mark.parametrize("without", [(), ("memory_record.csv",)], ids=["with a curve", "blocks alone"])
@pytest.mark.parametrize(("leak_bytes", "steps", "verdict"), [(MIB, 20, "leak"), (0, 20, "none"), (MIB, 9, "cannot tell")])
def test_memory_leaks_on_each_page_or_on_none(
    tmp_path: Path, leak_bytes: int, steps: int, verdict: str, without: tuple[str, ...]
) -> None:
    memory_files.recording(tmp_path / "a", steps=steps, leak_bytes=leak_bytes)
    for name in without:
        (path,) = tmp_path.rglob(name)
        path.unlink()
    source, _ = opened(a=tmp_path / "a")
    assert leaks(source, {"run": ["a"], "session": ["."], "rank": ["0"]}) == (verdict, verdict)


@pytest.mark.parametrize(("sessions", "leak_bytes", "verdict"), [(12, MIB, "leak"), (12, 0, "none"), (9, MIB, "cannot tell")])
def test_sessions_of_a_rank_leak_on_each_page_or_on_none(sessions: int, leak_bytes: int, verdict: str) -> None:
    source, asked = sessions_of(sessions, leak_bytes)
    assert leaks(source, asked) == (verdict, verdict)


# Jobs of many ranks ------------------------------------------------------------------------------------------------------

JOBS = (
    "profiler_new/torch_npu_st_4ranks_pp2", "profiler_new/torch_npu_db_level2", "profiler_new/torch_npu_text_level2",
    "mindinsight_legacy/cluster_propose", "cluster_samples/made_with_msprof_analyze_26.2.0/torch_npu_st_4ranks_pp2_db",
)  # fmt: skip
ASKED: dict[str, Any] = {"run": ["a"], "session": ["s"], "rank": ["0"]}


def sources(real_data: Path) -> Iterator[tuple[str, MemorySource]]:
    for base in JOBS:
        profile = open_run(real_data / base).profile
        for job in profile.jobs:
            frames = {name: job.frame(name) for name in JOB_FRAMES if job.gives(name)}
            ranks = {rank: one for (_, rank), one in profile.items()}
            own = {rank: {name: one.frame(name) for name in FRAMES if one.gives(name)} for rank, one in ranks.items()}
            profiles = {("s", rank): {**own.get(rank, {}), **frames} for rank in (own or {0: {}})}
            yield f"{base} {job.files.name}", MemorySource({"a": {"profiles": profiles, "job": job.files}})


def figure(text: str, pattern: str) -> str:
    found = re.search(pattern, text)
    return found[1].strip() if found else ""


def test_bubble_and_step_of_a_real_job_are_the_same_on_all_pages(real_data: Path) -> None:
    checked = 0
    for name, source in sources(real_data):
        (said, *_) = summarised(source, ASKED)
        job = " ".join(texts_of(said).split())
        request = PipelineRequest.read_any(ASKED)
        asked = ClusterRequest.read_any(ASKED)
        assert request is not None
        assert asked is not None
        pipeline = " ".join(texts_of(pipeline_drawn(pipeline_of(source, request))[0]).split())
        cluster = JobCache().job(source, asked.choice).steps
        of_step = figure(job, r"of a step of ([\d.,]+ \S+)")
        if of_step:
            assert units.duration(float(cluster.at("total").mean()) / 1e9) == of_step.rstrip("."), name
        bubble = figure(job, r"Pipeline bubble .*?([\d.]+ %)")
        if not bubble:
            continue
        checked += 1
        shown = figure(pipeline, r"Ranks wait ([\d.]+ %) of a step for other stages")
        assert shown in ("", bubble), name
        assert units.percent(float(cluster.at("bubble").mean() / cluster.at("total").mean())) == bubble, name
    assert checked >= 2


def test_the_first_advice_is_the_same_on_overview_and_advice(real_data: Path) -> None:
    for name, source in sources(real_data):
        found = advice_for(source, ASKED)
        assert found is not None
        summary = texts_of(overview_summary(source, ASKED))
        if found[0].found:
            assert CATALOGUE[f"advice.{found[0].found[0].rule}.title"][0] in summary, name
        else:
            assert "All advice: 0" in " ".join(summary.split()), name
