"""A figure or verdict that several pages show is the same on each of them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
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
from layouts.profiles.reviewing import READ
from parsers import discover, open_run
from parsers.analysis import average, breakdowns
from parsers.analysis.jobs.advice.model import Review
from parsers.analysis.jobs.held_memory import held_bytes
from parsers.analysis.jobs.limiting import limiting
from parsers.analysis.jobs.ranks_by_step import RanksByStep
from parsers.analysis.jobs.replay.recording import NotJudged
from parsers.analysis.jobs.replay.what_ifs import replay_of
from parsers.analysis.jobs.stage_operators import stage_means
from parsers.analysis.jobs.step_parts import METRICS
from parsers.analysis.jobs.strategy.job_strategy import job_strategy
from parsers.analysis.jobs.traffic import whole
from parsers.analysis.jobs.transfer import parts_per_step
from parsers.analysis.jobs.two_jobs import rank_values
from parsers.cluster_frames import JOB_FRAMES
from parsers.profile_frames import STEPS
from parsers.profiler.jobs import JobFiles
from parsers.profiler.registry import FRAMES
from tests.layouts.jobs.job.test_job_page import texts_in as texts_of
from tests.layouts.profiles.memory.requests import opened, sessions_of, texts_in
from tests.sources import MemorySource
from tests.writers import memory_files

MIB = 1 << 20
SAID = {"It leaks": "leak", "No leak": "none", "cannot be told": "cannot tell"}


def leaks(source: MemorySource, asked: dict[str, list[str]]) -> tuple[str, str]:
    """What Device memory and Advice say of a leak: "leak", "none" or "cannot tell"; "" for a page without a curve."""
    found = advice_for(source, asked)
    assert found is not None
    return leaks_beside(source, asked, found[0])


def leaks_beside(source: MemorySource, asked: dict[str, list[str]], review: Review) -> tuple[str, str]:
    """The same where the review of Advice is known."""
    request = MemoryRequest.read_any(asked)
    assert request is not None
    said = texts_in(memory_page.overall(source, Recordings(source), request)[0]["head"])
    shown = next((verdict for text, verdict in SAID.items() if text in said), "")
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


# Jobs ------------------------------------------------------------------------------------------------------------------

FEW = (
    "profiler_new/torch_npu_st_4ranks_pp2", "profiler_new/torch_npu_db_level2", "profiler_new/torch_npu_text_level2",
    "profiler_new/torch_npu_text_level0", "profiler_new/msinsight_server", "mindinsight_legacy/cluster_propose",
    "cluster_samples/made_with_msprof_analyze_26.2.0/torch_npu_st_4ranks_pp2_db",
    "cluster_samples/msinsight/multi_device_msprof_db",
    "accelerators/kineto/two_of_128_ranks", "accelerators/kineto/h100", "accelerators/kineto/ddp_nccl_a100",
)  # fmt: skip
"""Samples of every run; `make test-long` takes all."""
SMALL = {"idle": ["0"], "communication": ["0"], "memory": ["0"], "capacity": ["1000"]}
"""Asks for advice about idle time, communication and memory, however little there is."""
OWN = Path(__file__).resolve().parents[1] / "data"
TRACES = OWN / "written" / "traces"
"""Traces of rank 0 of different programs, which are no job together."""
NAMES = {name: FRAMES[name] for name in (*READ, "memory", "operator_memory") if name in FRAMES}


@dataclass(frozen=True)
class Sampled:
    """A job of a sample: its name, a source that has it as the run "a", what asks for each of its profiles, and its frames."""

    name: str
    source: MemorySource
    asks: dict[int, dict[str, Any]]
    frames: dict[str, pd.DataFrame]
    reviews: dict[str, Review] = field(default_factory=dict)
    """By what was asked for, since several tests ask for the same."""

    @property
    def ask(self) -> dict[str, Any]:
        return next(iter(self.asks.values()))

    def review(self, ask: dict[str, Any] | None = None, **more: list[str]) -> Review:
        """What Advice says of a profile, else of the first one."""
        asked = {**(self.ask if ask is None else ask), **more}
        if str(asked) not in self.reviews:
            found = advice_for(self.source, asked)
            assert found is not None
            self.reviews[str(asked)] = found[0]
        return self.reviews[str(asked)]


def samples(folders: Iterable[Path]) -> Iterator[Sampled]:
    for folder in folders:
        run = open_run(folder).profile
        for job in run.jobs:
            frames = {name: job.frame(name) for name in JOB_FRAMES if job.gives(name)}
            own = {
                (one.session, one.rank): {name: run[one.session, one.rank].frame(name) for name in NAMES
                                          if run[one.session, one.rank].gives(name)}
                for one in job.files.members
            }  # fmt: skip
            profiles = {key: {**given, **frames} for key, given in (own or {(job.files.name, 0): {}}).items()}
            source = MemorySource({"a": {"profiles": profiles, "job": job.files}})
            asks = {rank: {"run": ["a"], "session": [session], "rank": [str(rank)]} for session, rank in profiles}
            yield Sampled(f"{folder} {job.files.name}", source, asks, frames)


@dataclass(frozen=True)
class Jobs:
    """Jobs of samples. Those of tests/data alone do not have every figure: `have` is true of whatever is asked of them."""

    jobs: list[Sampled]
    own: bool

    def __iter__(self) -> Iterator[Sampled]:
        return iter(self.jobs)

    def have(self, found: bool) -> bool:
        return found or self.own


@pytest.fixture(scope="module", params=["own", "few", pytest.param("every", marks=pytest.mark.long)])
def jobs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Jobs:
    if request.param == "own":
        folders = [Path(one.path) for one in discover(OWN) if Path(one.path) != TRACES]
        for trace in TRACES.iterdir():
            folders.append(tmp_path_factory.mktemp(trace.stem))
            shutil.copy(trace, folders[-1])
        found = list(samples(folders))
        assert len(found) >= 9
        return Jobs(found, own=True)
    real_data = request.getfixturevalue("real_data")
    every = [Path(one.path) for one in discover(real_data)] if request.param == "every" else [real_data / name for name in FEW]
    return Jobs(list(samples(every)), own=False)


def cluster_of(job: Sampled) -> RanksByStep:
    request = ClusterRequest.read_any(job.ask)
    assert request is not None
    return JobCache().job(job.source, request.choice)


def figure(text: str, pattern: str) -> str:
    found = re.search(pattern, text)
    return found[1].strip() if found else ""


def test_bubble_and_step_of_a_real_job_are_the_same_on_all_pages(jobs: Jobs) -> None:
    checked = 0
    for job in jobs:
        (said, *_) = summarised(job.source, job.ask)
        told = " ".join(texts_of(said).split())
        request = PipelineRequest.read_any(job.ask)
        assert request is not None
        pipeline = " ".join(texts_of(pipeline_drawn(pipeline_of(job.source, request))[0]).split())
        cluster = cluster_of(job).steps
        of_step = figure(told, r"of a step of ([\d.,]+ \S+)")
        if of_step:
            assert units.duration(float(cluster.at("total").mean()) / 1e9) == of_step.rstrip("."), job.name
        bubble = figure(told, r"Pipeline bubble .*?([\d.]+ %)")
        if not bubble:
            continue
        checked += 1
        shown = figure(pipeline, r"Ranks wait ([\d.]+ %) of a step for other stages")
        assert shown in ("", bubble), job.name
        known = np.isfinite(cluster.at("bubble"))
        waited = float(cluster.at("bubble")[known].sum() / cluster.at("total")[known].sum())
        assert units.percent(waited) == bubble, job.name
    assert jobs.have(checked >= 2)


def files_of(job: Sampled) -> JobFiles | None:
    return job.source.profiles.job("a", job.ask["session"][0], int(job.ask["rank"][0]))


def mean_of(values: Any) -> float:
    return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")


def test_free_and_exposed_time_are_the_same_on_all_pages(jobs: Jobs) -> None:
    """Of the profile overview, the job overview, Cluster, Two jobs and Advice; for one rank and for the job."""
    seen = 0
    for job in jobs:
        cluster = cluster_of(job).steps
        values = rank_values(job.frames)
        for place, rank in enumerate(cluster.ranks.tolist()):
            for name in METRICS:
                of_cluster, of_two_jobs = float(cluster.at(name)[place]), float(values.loc[rank, name])
                assert of_two_jobs == pytest.approx(of_cluster, nan_ok=True), (job.name, rank, name)
            if rank not in job.asks:
                continue
            usual = average(found[0]) if (found := breakdowns(steps_of(job, rank))) and found[0].form == "new" else None
            if usual is not None and job_of_one_device(job):
                seen += 1
                assert usual.on_device_ns == pytest.approx(float(cluster.at("total")[place])), (job.name, rank)
                for part in ("free", "exposed"):
                    assert usual.time_of(part) == pytest.approx(float(cluster.at(part)[place])), (job.name, rank, part)
        found = {part.name: part for part in limiting(job.frames).parts}
        if "free" in found:
            assert found["free"].ns == pytest.approx(mean_of(cluster.at("free"))), job.name
            without = mean_of(cluster.at("exposed") - np.nan_to_num(cluster.at("bubble")))
            assert found["exposed"].ns == pytest.approx(without, abs=1.0), job.name
    assert jobs.have(seen >= 8)


def steps_of(job: Sampled, rank: int) -> pd.DataFrame:
    (found,) = [given for (_, one), given in job.source.data["a"]["profiles"].items() if one == rank]
    return found.get("steps", STEPS.empty())


def job_of_one_device(job: Sampled) -> bool:
    """Whether no rank has several devices, whose steps are traces of their own."""
    steps = job.frames["cluster_steps"]
    return not bool(steps.duplicated(["kind", "rank", "ranks", "step"]).any())


def test_advice_about_idle_and_exposed_time_has_the_figures_of_cluster(jobs: Jobs) -> None:
    seen = set()
    for job in jobs:
        cluster = cluster_of(job).steps
        for one in job.review(**SMALL).found:
            if one.rule not in ("idle", "communication") or not len(cluster.ranks) or not job_of_one_device(job):
                continue
            with np.errstate(invalid="ignore"):
                spent = cluster.at("free") if one.rule == "idle" else cluster.at("exposed")
                if one.rule == "communication" and one.variant == "ranks":
                    spent = np.maximum(spent - np.nan_to_num(cluster.at("bubble")), 0.0)
                highest = float(np.nanmax(spent / cluster.at("total")))
            seen.add(one.rule)
            assert one.value == pytest.approx(highest), (job.name, one.rule)
    assert jobs.have(seen == {"idle", "communication"})


def test_waiting_and_lateness_are_the_same_on_cluster_two_jobs_and_strategy(jobs: Jobs) -> None:
    seen = 0
    for job in jobs:
        cluster = cluster_of(job)
        values = rank_values(job.frames)
        strategy = job_strategy(job.frames, files_of(job))
        for name in ("lateness", "waited"):
            of_cluster = cluster.values(name, None)
            for place, rank in enumerate(cluster.steps.ranks.tolist()):
                assert float(values.loc[rank, name]) == pytest.approx(float(of_cluster[place]), nan_ok=True), (job.name, rank)
            if np.isfinite(of_cluster).any():
                seen += 1
                shown = dict(zip(strategy.ranks.tolist(), strategy.values(name, None).tolist(), strict=True))
                of = dict(zip(cluster.steps.ranks.tolist(), of_cluster.tolist(), strict=True))
                assert shown == pytest.approx({rank: of[rank] for rank in shown}, nan_ok=True), job.name
    assert jobs.have(seen >= 4)


def test_transfer_and_waiting_are_the_same_on_advice_and_communication(jobs: Jobs) -> None:
    seen = 0
    for job in jobs:
        collectives = job.frames.get("collectives")
        parts = next((one.parts_ns for one in job.review(**SMALL).found if one.rule == "communication"), {})
        if collectives is None or not parts:
            continue
        seen += 1
        assert parts == parts_per_step(collectives, job.frames.get("links")), job.name
        told = whole(collectives, np.arange(len(collectives)))
        assert parts["all"] == pytest.approx(told.elapse_ns), job.name
        if not (collectives["section"].astype("str") == "p2p").any():
            assert parts["waited"] == pytest.approx(told.own_wait_ns), job.name
    assert jobs.have(seen >= 4)


def test_peak_memory_is_the_same_on_all_pages(jobs: Jobs) -> None:
    seen = 0
    for job in jobs:
        ranks = job.frames.get("ranks")
        if ranks is None:
            continue
        values = rank_values(job.frames)
        for rank, ask in job.asks.items():
            request = MemoryRequest.read_any(ask)
            assert request is not None
            recordings = Recordings(job.source)
            shown = memory_page.overall(job.source, recordings, request)
            peak = figure(" ".join(texts_in(shown[0]["head"]).split()), r"([\d.]+ [KMGT]?i?B)")
            if rank not in values.index or not np.isfinite(values.loc[rank, "peak_allocated"]) or not peak:
                continue
            seen += 1
            assert units.size(int(values.loc[rank, "peak_allocated"])) == peak, (job.name, rank)
        advised = next((one for one in job.review(**SMALL).found if one.rule == "memory"), None)
        if advised is not None and (held := held_bytes(ranks).max(initial=-1)) > 0:
            assert advised.told["peak_bytes"] == float(held), job.name
    assert jobs.have(seen >= 5)


def test_leaks_of_samples_are_the_same_on_device_memory_and_advice(jobs: Jobs) -> None:
    seen = 0
    for job in jobs:
        for rank, ask in job.asks.items():
            if not {"memory", "memory_blocks"} & set(job.source.data["a"]["profiles"][ask["session"][0], rank]):
                continue
            shown, advised = leaks_beside(job.source, ask, job.review(ask))
            seen += shown != ""
            assert not shown or shown == advised, (job.name, rank)
    assert jobs.have(seen >= 5)


def test_the_number_of_stages_is_the_same_on_all_pages(jobs: Jobs) -> None:
    seen = set()
    for job in jobs:
        request = PipelineRequest.read_any(job.ask)
        assert request is not None
        number = pipeline_of(job.source, request).stage_count
        assert job_strategy(job.frames, files_of(job)).stage_count == number, job.name
        steps = job.frames.get("cluster_steps")
        if steps is not None and len(means := stage_means(steps)) > 1:
            assert len(means) == number, job.name
            seen.add(number)
        try:
            replay = replay_of(job.frames)
        except NotJudged:
            continue
        assert max(len(replay.stages), 1) == max(number, 1), job.name
    assert jobs.have(2 in seen)


def test_the_first_advice_is_the_same_on_overview_and_advice(jobs: Jobs) -> None:
    for job in jobs:
        found = job.review().found
        summary = texts_of(overview_summary(job.source, job.ask))
        if found:
            assert CATALOGUE[f"advice.{found[0].rule}.title"][0] in summary, job.name
        else:
            assert "All advice: 0" in " ".join(summary.split()), job.name
