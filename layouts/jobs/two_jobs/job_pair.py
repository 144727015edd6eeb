"""The two jobs that the page compares: asks for their frames, and keeps what is computed from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from parsers.analysis.jobs import two_jobs
from parsers.analysis.jobs.stragglers import Straggler
from parsers.caches import Cache
from parsers.deferred import pandas as pd
from parsers.profiler.jobs import JobFiles

from layouts.jobs.two_jobs.asks import FRAMES, TwoJobsRequest
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources

MOST_KEPT = 4


@dataclass(frozen=True, slots=True, eq=False)
class ComparedJob:
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
        return two_jobs.parallel_sizes(dict(self.files.parallel)) if self.files is not None else {}


class ComparedJobs:
    """The jobs looked at last, kept because another metric is asked for more often than another job."""

    def __init__(self) -> None:
        self._known: Cache[tuple[ProfileChoice, int | None], ComparedJob] = Cache(MOST_KEPT)

    def job(self, source: ProfileSources, choice: ProfileChoice, step: int | None) -> ComparedJob:
        """Return the job of a profile."""
        frames = {name: choice.frame(source, name) for name in FRAMES}
        return self._known.made((choice, step), lambda: compared_job(source, choice, step, frames), (*frames.values(),))


def compared_job(
    source: ProfileSources, choice: ProfileChoice, step: int | None, frames: Mapping[str, pd.DataFrame | None]
) -> ComparedJob:
    """Return the job of a profile, of its frames. Values are those of one step, means for None."""
    files = source.profiles.job(choice.run, choice.session, choice.rank)
    values = two_jobs.rank_values(frames, step)
    hosts = {member.rank: member.host for member in files.members if member.host} if files is not None else {}
    hosts |= {rank: host for rank, host in zip(values.index.tolist(), values["host"].tolist(), strict=True) if host}
    values["host"] = [hosts.get(rank, "") for rank in values.index.tolist()]
    members = source.profiles.members(choice.run, choice.session, choice.rank)
    profiles = {rank: ProfileChoice(run, session, rank) for run, session, rank in members}
    slow, steps = two_jobs.late_ranks(frames), two_jobs.steps_of(frames)
    return ComparedJob(choice, title_of(choice, files), files, frames, values, profiles, slow, steps, hosts)


def title_of(choice: ProfileChoice, files: JobFiles | None) -> str:
    """Return what to call a job: its run, and its name if that is another one."""
    name = files.name if files is not None else choice.session
    return choice.run if name in (".", "", choice.run) else f"{choice.run} · {name}"


def both(source: ProfileSources, kept: ComparedJobs, ask: TwoJobsRequest) -> tuple[ComparedJob, ComparedJob] | None:
    """Return both jobs; None without a second one."""
    if ask.other is None:
        return None
    return kept.job(source, ask.one, ask.step), kept.job(source, ask.other, ask.step)
