"""Parse what the page about two jobs is asked for. Every value from the browser is untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from parsers.analysis.jobs.two_jobs import METRICS
from parsers.cluster_frames import JOB_FRAMES

from layouts.kit.i18n import LANGUAGES
from layouts.kit.state import number, text
from layouts.profiles.profile_choice import ProfileChoice, read_against, read_choice, read_step

FRAMES = tuple(name for name in JOB_FRAMES if name not in ("packets", "device_times"))
KEYS = ("metric", "by")
"""Keys of the state: the value that is drawn by rank, and whether operations are listed by group or by rank."""
BY = ("group", "rank")
_COLUMNS = (100, 8_000)


@dataclass(frozen=True, slots=True)
class TwoJobsRequest:
    """What to draw: a profile of the job, one of the job that it is compared with, and how.

    metric is a name in METRICS, "" for the usual one. columns is the width of the plot in pixels.
    """

    one: ProfileChoice
    other: ProfileChoice | None
    metric: str
    by: str
    step: int | None
    language: str = "en"
    columns: int = 1_000
    dark: bool = False


def read_ask(data: Any) -> TwoJobsRequest | None:
    """Return what is asked for; None if no job is. BadInput for malformed values."""
    one = read_choice(data)
    if one is None:
        return None
    return TwoJobsRequest(
        one, read_against(data), text(data, "metric", "", choices=("", *METRICS)), text(data, "by", BY[0], choices=BY),
        read_step(data), text(data, "lang", "en", choices=LANGUAGES),
        int(number(data, "columns", 1_000, *_COLUMNS)), text(data, "theme", "light", choices=("light", "dark")) == "dark",
    )  # fmt: skip
