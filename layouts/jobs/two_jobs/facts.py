"""What is known of two jobs, computed from their frames once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from parsers.analysis.jobs import two_jobs
from parsers.analysis.jobs.links import slow_links
from parsers.analysis.jobs.stragglers import Straggler, alike, stragglers
from parsers.caches import Cache
from parsers.deferred import pandas as pd
from parsers.profiler.jobs import JobFiles

from layouts.jobs.two_jobs.asks import FRAMES, TwoJobsRequest
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources

MOST_KEPT = 4


@dataclass(frozen=True, slots=True, eq=False)
class JobFacts:
    """A job: the profile it was chosen by, its files, its frames, and the values of its ranks.

    title is what to call it. profiles are those of its ranks. slow are the ranks that others wait for, None if that cannot be
    judged. steps are the numbers of its steps. made are the tables made of it so far.
    """

    choice: ProfileChoice
    title: str
    files: JobFiles | None
    frames: Mapping[str, pd.DataFrame | None]
    values: pd.DataFrame
    profiles: Mapping[int, ProfileChoice]
    slow: tuple[Straggler, ...] | None
    steps: tuple[int, ...]
    hosts: Mapping[int, str] = field(default_factory=dict)
    made: dict[str, pd.DataFrame] = field(default_factory=dict)

    def table(self, name: str, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """Return a table of the job by its name, made on first use. Never write into it."""
        if name not in self.made:
            self.made[name] = make()
        return self.made[name]

    @property
    def parallel(self) -> Mapping[str, int]:
        """The size of each parallel dimension by its short name; empty for unknown."""
        told = dict(self.files.parallel) if self.files is not None else {}
        return {short: told[f"{long}_parallel_size"] for long, short in _SHORT.items() if f"{long}_parallel_size" in told}


_SHORT = {"tensor_model": "tp", "context": "cp", "expert_model": "ep", "pipeline_model": "pp", "data": "dp"}


class JobFactsCache:
    """Caches the facts about the jobs looked at last, as another metric is asked for more often than another job."""

    def __init__(self) -> None:
        self._known: Cache[tuple[ProfileChoice, int | None], JobFacts] = Cache(MOST_KEPT)

    def facts(self, source: ProfileSources, choice: ProfileChoice, step: int | None) -> JobFacts:
        """Return what is known of the job of a profile."""
        frames = {name: choice.frame(source, name) for name in FRAMES}
        return self._known.made((choice, step), lambda: facts_of(source, choice, step, frames), (*frames.values(),))


def facts_of(
    source: ProfileSources, choice: ProfileChoice, step: int | None, frames: Mapping[str, pd.DataFrame | None]
) -> JobFacts:
    """Compute what is known of the job of a profile from its frames. Values are those of one step, means for None."""
    files = source.profiles.job(choice.run, choice.session, choice.rank)
    values = two_jobs.rank_values(frames, step)
    hosts = {member.rank: member.host for member in files.members if member.host} if files is not None else {}
    hosts |= {rank: host for rank, host in zip(values.index.tolist(), values["host"].tolist(), strict=True) if host}
    values["host"] = [hosts.get(rank, "") for rank in values.index.tolist()]
    members = source.profiles.members(choice.run, choice.session, choice.rank)
    profiles = {rank: ProfileChoice(run, session, rank) for run, session, rank in members}
    steps = frames["cluster_steps"]
    numbers = sorted({int(one) for one in steps["step"][steps["kind"].astype("str") == "rank"]}) if steps is not None else []
    return JobFacts(
        choice, title_of(choice, files), files, frames, values, profiles, _slow(frames), tuple(numbers), hosts
    )  # fmt: skip


def title_of(choice: ProfileChoice, files: JobFiles | None) -> str:
    """Return what to call a job: its run, and its name if that is another one."""
    name = files.name if files is not None else choice.session
    return choice.run if name in (".", "", choice.run) else f"{choice.run} · {name}"


def _slow(frames: Mapping[str, pd.DataFrame | None]) -> tuple[Straggler, ...] | None:
    collectives, steps, groups = (frames[name] for name in ("collectives", "cluster_steps", "groups"))
    if collectives is None or steps is None or groups is None or not len(groups) or not len(collectives):
        return None
    ranks = steps["rank"][(steps["kind"].astype("str") == "rank") & (steps["total_ns"] > 0.0)].nunique()
    if ranks < 2 or not alike(groups) or not collectives["lateness_ns"].notna().any():
        return None
    links = frames["links"]
    slow = slow_links(links) if links is not None else []
    return tuple(stragglers(collectives, steps, groups, slow))


def both(source: ProfileSources, kept: JobFactsCache, ask: TwoJobsRequest) -> tuple[JobFacts, JobFacts] | None:
    """Return what is known of both jobs; None without a second one."""
    if ask.other is None:
        return None
    return kept.facts(source, ask.one, ask.step), kept.facts(source, ask.other, ask.step)
