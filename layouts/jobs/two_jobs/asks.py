"""Parse what the page about two jobs is asked for. Every value from the browser is untrusted."""

from __future__ import annotations

from dataclasses import dataclass

from parsers.analysis.jobs.two_jobs import METRICS
from parsers.cluster_frames import JOB_FRAMES

from layouts.kit import parameters as asked
from layouts.kit.parameters import Request
from layouts.profiles.profile_choice import ProfileChoice, other_profile, profile, read_step

FRAMES = tuple(name for name in JOB_FRAMES if name not in ("packets", "device_times"))
BY = ("group", "rank")
_COLUMNS = (100, 8_000)


@dataclass(frozen=True, slots=True)
class TwoJobsRequest(Request):
    """What to draw: a profile of the job, one of the job that it is compared with, and how.

    metric is a name in METRICS, "" for the usual one. columns is the width of the plot in pixels.
    """

    one: ProfileChoice = profile()
    other: ProfileChoice | None = other_profile()
    metric: str = asked.one_of("metric", ("", *METRICS))
    by: str = asked.one_of("by", BY)
    step: int | None = asked.part(read_step, "step")
    language: str = asked.language()
    columns: int = asked.columns()
    dark: bool = asked.dark()


