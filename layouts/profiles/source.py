"""The interface between pages and the profiles of runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from parsers import OpenTrace
from parsers.profiler.jobs import JobFiles

from layouts.kit.work import Report, Work, WorkResult
from layouts.profiles.frames import IdleTime, ProfileFrame, ProfileRow


class JobWork(Work[Callable[[Report], Any]]):
    """Work on a job, whose job is called with what it reports to; what it is done on it has itself."""

    __slots__ = ()


class ProfileSource(Protocol):
    """Profiles, their frames and their traces. Every method answers within 0.2 s, whether or not a frame has been read."""

    def rows(self, run: str) -> Sequence[ProfileRow]:
        """Return the profiles of one member run by session and rank; empty for an unknown run.

        Files about all ranks of a job whose ranks have none of their own are a profile of rank -1.
        """
        ...

    def job(self, run: str, session: str, rank: int) -> JobFiles | None:
        """Return the job to which a profile belongs: its ranks and their files; None for an unknown profile."""
        ...

    def members(self, run: str, session: str, rank: int) -> Sequence[tuple[str, str, int]]:
        """Return the profiles of the job to which a profile belongs, as (run, session, rank) in the order of its members."""
        ...

    def frame(self, run: str, session: str, rank: int, name: str, *, again: bool = False) -> ProfileFrame:
        """Return one frame of one profile by its name in FRAMES, or of its job by its name in JOB_FRAMES; KeyError for another.

        It is shared, so never write into it. Frames not cached are read in the background, small files while the caller
        waits. again: resume a cancelled one. "trace" is no frame, but has the same states; `trace` returns it
        once it is "ready".
        """
        ...

    def cancel(self, run: str, session: str, rank: int, name: str) -> None:
        """Stop reading a frame that `frame` has started to read."""
        ...

    def work(self, run: str, session: str, rank: int, work: JobWork, *, again: bool = False) -> WorkResult:
        """Return the result of work on the job of a profile, which is done in the background, little while the caller waits.

        again: resume what was cancelled.
        """
        ...

    def cancel_work(self, run: str, session: str, rank: int, work: JobWork) -> None:
        """Stop work that `work` has started."""
        ...

    def idle_time(self, run: str, session: str, rank: int) -> IdleTime:
        """Return the idle time of a profile by cause, if its trace has been read; asking does not start reading it."""
        ...

    def notes(self, run: str, session: str, rank: int) -> Mapping[str, Any]:
        """Return the metadata of a profile: fp_start, bp_end, and the contents of profiler_info and profiler_metadata."""
        ...

    def of_torch(self, run: str, session: str, rank: int) -> bool:
        """Return whether a profile is nothing but traces of torch.profiler, so that texts name no files of MindSpore."""
        ...

    def traces(self, run: str, session: str, rank: int) -> Sequence[str]:
        """Return the names of the traces of a profile, the best one first."""
        ...

    def trace(self, run: str, session: str, rank: int, which: str = "") -> OpenTrace | None:
        """Return a trace of a profile, by default the best one.

        None if it has none or has not been read, which then begins in the background. Its pyramid may come later.
        """
        ...

    def trace_frame(self, run: str, session: str, rank: int, which: str = "", *, again: bool = False) -> ProfileFrame:
        """Return the progress of reading a trace, as `frame` does for that of the best one.

        A trace that is "ready" without its pyramid has the progress of this: done of total slices.
        """
        ...
