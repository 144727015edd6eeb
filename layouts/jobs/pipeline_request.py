"""What the pipeline of a job is asked for, by its page and by plain routes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from parsers.analysis.jobs.job_pipeline import JobPipeline
from parsers.deferred import pandas as pd

from layouts.kit import parameters as asked
from layouts.kit.parameters import Request
from layouts.kit.state import BadInput, number, texts
from layouts.profiles.profile_choice import ProfileChoice, profile, read_step
from layouts.sources import ProfileSources

FRAMES = ("collectives", "device_times", "cluster_steps", "groups", "stages")
CLOSED = "none"
"""The stage in an address in which no stage is unfolded."""
COLUMNS = (50, 4_096)
_LONGEST_NS = 2.0**53


def _stages(data: Any) -> tuple[int, ...] | None:
    named = texts(data, "stage")
    if any(not (one == CLOSED or one == "-1" or (one.isascii() and one.isdecimal() and len(one) < 10)) for one in named):
        raise BadInput(f"stage: expected numbers of stages, or {CLOSED}; found {named[0][:80]!r}")
    return tuple(int(one) for one in named if one != CLOSED) if named else None


def _window(data: Any) -> tuple[int, int] | None:
    begin, end = (int(number(data, key, -1.0, 0.0, _LONGEST_NS)) for key in ("from", "to"))
    return (begin, end) if 0 <= begin < end else None


@dataclass(frozen=True, slots=True)
class PipelineRequest(Request):
    """A request: a profile, whose job is meant; step None for all.

    stages are the unfolded ones, None for the default. aligned: clocks are compared by collective operations. typed is the
    number of micro batches that the user gives, 0 for none. window is (from, to) in ns, None for the whole step.
    """

    choice: ProfileChoice = profile()
    step: int | None = asked.part(read_step, "step")
    stages: tuple[int, ...] | None = asked.part(_stages, "stage")
    aligned: bool = asked.switch("align")
    typed: int = asked.count("m", 0, 0.0, 1e6)
    window: tuple[int, int] | None = asked.part(_window, "from", "to")


def pipeline_of(
    source: ProfileSources, ask: PipelineRequest, frame: Callable[[str], pd.DataFrame | None] | None = None
) -> JobPipeline:
    """Return the pipeline that a request names. frame returns a frame by its name; by default the source is asked."""
    choice = ask.choice
    return JobPipeline(
        frame or (lambda name: choice.frame(source, name)), source.profiles.job(choice.run, choice.session, choice.rank),
        step=ask.step, stages=ask.stages, aligned=ask.aligned, typed=ask.typed, window=ask.window,
    )  # fmt: skip
