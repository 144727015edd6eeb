"""Part of `tests.sources.MemorySource`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from layouts.kit.work import WorkResult
from layouts.profiles.frames import IdleTime, ProfileFrame, ProfileRow
from layouts.profiles.source import JobWork, ProfileSource
from parsers import OpenTrace
from parsers.profiler.jobs import JobFiles, JobMember

if TYPE_CHECKING:
    from tests.sources import MemorySource


class MemoryProfiles(ProfileSource):
    def __init__(self, memory: MemorySource) -> None:
        self._memory = memory

    def rows(self, run: str) -> Sequence[ProfileRow]:
        every = self._memory.of(run, "profiles") or {}
        return [
            ProfileRow(session, rank, "Ascend", ("a.csv",), 10, 5.0, tuple(frames), "m")
            for (session, rank), frames in every.items()
        ]  # fmt: skip

    def frame(self, run: str, session: str, rank: int, name: str, *, again: bool = False) -> ProfileFrame:
        found = (self._memory.of(run, "profiles") or {}).get((session, rank), {}).get(name)
        if found is None:
            return ProfileFrame("missing", wanted=(f"{name}.csv",))
        return found if isinstance(found, ProfileFrame) else ProfileFrame("ready", found)

    def job(self, run: str, session: str, rank: int) -> JobFiles | None:
        every = self._memory.of(run, "profiles") or {}
        if (session, rank) not in every:
            return None
        given: JobFiles | None = self._memory.of(run, "job")
        members = tuple(JobMember(of, of, one, "", ()) for of, one in sorted(every, key=lambda key: key[1]) if one >= 0)
        return given or JobFiles(session, members)

    def members(self, run: str, session: str, rank: int) -> Sequence[tuple[str, str, int]]:
        job = self.job(run, session, rank)
        return [(run, one.session, one.rank) for one in job.members] if job else []

    def cancel(self, run: str, session: str, rank: int, name: str) -> None:
        return

    def work(self, run: str, session: str, rank: int, work: JobWork, *, again: bool = False) -> WorkResult:
        return WorkResult("ready", work.job(lambda done, total, result=None: None))

    def cancel_work(self, run: str, session: str, rank: int, work: JobWork) -> None:
        return

    def trace(self, run: str, session: str, rank: int) -> OpenTrace | None:
        return (self._memory.of(run, "traces") or {}).get((session, rank))

    def idle_time(self, run: str, session: str, rank: int) -> IdleTime:
        found: IdleTime | None = (self._memory.of(run, "idle") or {}).get((session, rank))
        return found or IdleTime("missing")

    def of_torch(self, run: str, session: str, rank: int) -> bool:
        return bool(self._memory.of(run, "of_torch"))

    def notes(self, run: str, session: str, rank: int) -> Mapping[str, Any]:
        return self._memory.of(run, "profile_notes") or {}
