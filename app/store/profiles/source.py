"""Profiles and traces as pages see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.background import Background
from app.engines import Engine
from app.store.profiles.frames import TRACE, ProfileFrames, mark_of, profile_of
from app.store.profiles.traces import Traces
from app.store.runs.entries import RunEntry
from app.store.runs.following import RunFollower
from app.store.runs.run_jobs import FoundJob, RunJobs
from layouts.kit.work import WorkResult
from layouts.profiles.frames import IdleTime, ProfileFrame, ProfileRow
from layouts.profiles.source import JobWork, ProfileSource
from parsers import OpenTrace, Profile
from parsers.cluster_frames import JOB_FRAMES
from parsers.profiler.access import Profiles
from parsers.profiler.jobs import JobFiles
from parsers.profiler.trace import sources
from parsers.profiler.trace.files import CHROME_TRACE

MOST_RESULTS = 8
"""Results of work on jobs that are kept."""


class StoredProfiles(ProfileSource):
    """Profiles of the runs that a `RunFollower` reads, and of their jobs. See `layouts.profiles.source`."""

    def __init__(self, runs: RunFollower, index_directory: str | None, engine: Engine | None) -> None:
        """engine reads jobs of many ranks."""
        self._runs = runs
        self._frames = ProfileFrames(f"{index_directory}-profiles" if index_directory else None, engine=engine)
        self._jobs = RunJobs()
        self._traces = Traces(f"{index_directory}-traces" if index_directory else None)
        self._work = Background("mindscope-jobs", slots=1, most=MOST_RESULTS)

    def stop(self) -> None:
        """Stop reading and wait for its end."""
        self._work.stop()
        self._frames.stop()
        self._traces.stop()

    def rows(self, run: str) -> Sequence[ProfileRow]:
        entry = self._runs.entries.get(run)
        return self._jobs.profiles(self._profiles_beside(entry), run) if entry else ()

    def job(self, run: str, session: str, rank: int) -> JobFiles | None:
        found = self._job(run, session, rank)
        return found.job.files if found else None

    def members(self, run: str, session: str, rank: int) -> Sequence[tuple[str, str, int]]:
        found = self._job(run, session, rank)
        return found.members if found else ()

    def _job(self, run: str, session: str, rank: int) -> FoundJob | None:
        entry = self._runs.entries.get(run)
        return self._jobs.job(self._profiles_beside(entry), (run, session, rank)) if entry else None

    def _profiles_beside(self, entry: RunEntry) -> Mapping[str, Profiles]:
        """Return the profiles of all runs that may be ranks of the jobs of a run."""

        def those_of(row: str) -> Mapping[str, Profiles]:
            return {one.key: one.run.profile for one in self._runs.members(row) if one.run.profile.sessions}

        return self._jobs.members(entry.job, self._runs.found, self._runs.snapshot()[1], those_of)

    def frame(self, run: str, session: str, rank: int, name: str, *, again: bool = False) -> ProfileFrame:
        entry, found = self._profile(run, session, rank)
        if entry is not None and name in JOB_FRAMES:
            of = self._job(run, session, rank)
            if of is None:
                return ProfileFrame("missing")
            return self._frames.frame_of_job(
                of.job, of.mark, name, run=run, again=again, on_end=lambda: self._runs.recount(entry)
            )
        if entry is None or found is None:
            return ProfileFrame("missing")
        if name == TRACE:
            return self._traces.frame(found[0], again=again)
        return self._frames.frame(*found, name, run=run, again=again, on_end=lambda: self._runs.recount(entry))

    def cancel(self, run: str, session: str, rank: int, name: str) -> None:
        of = self._job(run, session, rank) if name in JOB_FRAMES else None
        if of is not None:
            self._frames.cancel(of.mark, name)
            return
        _, found = self._profile(run, session, rank)
        if found is None:
            return
        if name == TRACE:
            self._traces.cancel(found[0])
        else:
            self._frames.cancel(mark_of(found[0]), name)

    def work(self, run: str, session: str, rank: int, work: JobWork, *, again: bool = False) -> WorkResult:
        of = self._job(run, session, rank)
        if of is None:
            return WorkResult("missing")
        # One at a time for a job: what its first work prepares is kept for the others.
        task = self._work.result(run, (of.mark, work.name, work.key), of.mark, work.job, again=again, lane=of.mark)
        return WorkResult(task.state, task.result, task.done, task.total, task.text, of.mark)

    def cancel_work(self, run: str, session: str, rank: int, work: JobWork) -> None:
        of = self._job(run, session, rank)
        if of is not None:
            self._work.cancel((of.mark, work.name, work.key))

    def trace(self, run: str, session: str, rank: int, which: str = "") -> OpenTrace | None:
        _, found = self._profile(run, session, rank)
        return self._traces.open(found[0], which) if found is not None else None

    def trace_frame(self, run: str, session: str, rank: int, which: str = "", *, again: bool = False) -> ProfileFrame:
        _, found = self._profile(run, session, rank)
        return self._traces.frame(found[0], which, again=again) if found is not None else ProfileFrame("missing")

    def traces(self, run: str, session: str, rank: int) -> Sequence[str]:
        _, found = self._profile(run, session, rank)
        return [one.name for one in sources.grouped(found[0])] if found is not None else []

    def idle_time(self, run: str, session: str, rank: int) -> IdleTime:
        _, found = self._profile(run, session, rank)
        return self._traces.idle_time(found[0]) if found is not None else IdleTime("missing")

    def notes(self, run: str, session: str, rank: int) -> Mapping[str, Any]:
        _, found = self._profile(run, session, rank)
        return {**found[0].about, **found[0].step_points} if found is not None else {}

    def of_torch(self, run: str, session: str, rank: int) -> bool:
        _, found = self._profile(run, session, rank)
        return found is not None and found[0].kinds == {CHROME_TRACE.name}

    def _profile(self, run: str, session: str, rank: int) -> tuple[RunEntry | None, tuple[Profile, str] | None]:
        entry = self._runs.entries.get(run)
        return entry, profile_of(entry.run.profile, session, rank) if entry else None
