"""What the rules say of a profile and its job: the one review that every page shows."""

from __future__ import annotations

from collections.abc import Mapping

from parsers.analysis.jobs.advice import FRAMES, OF_JOB, THRESHOLDS, Review, review
from parsers.analysis.profiles.memory import recording, step_spans
from parsers.analysis.profiles.memory.leaks import FEWEST
from parsers.deferred import pandas as pd
from parsers.profile_frames import OPERATOR_MEMORY

from layouts.profiles.frames import IdleTime
from layouts.profiles.idling import idle_frames
from layouts.profiles.memory_sessions import minima_of_sessions
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources

READ = (*FRAMES, *OF_JOB)
"""The frames that the rules look at, of the profile and of its job."""


def review_of(
    source: ProfileSources, choice: ProfileChoice, idle: IdleTime, limits: Mapping[str, float], capacity: int
) -> tuple[Review, Mapping[str, float]]:
    """Return what the rules say of a profile with this idle time, and the thresholds of all rules.

    limits replace some of the thresholds. capacity is the memory of the device in bytes that somebody typed, 0 for none.
    """
    frames = {name: choice.frame(source, name) for name in READ}
    if frames["memory"] is None:
        frames["operator_memory"] = choice.frame(source, "operator_memory")
    frames["memory_sessions"] = _sessions(source, choice, frames)
    return review(frames | idle_frames(idle), limits, capacity=capacity), {**THRESHOLDS, **limits}


def _sessions(source: ProfileSources, choice: ProfileChoice, frames: Mapping[str, pd.DataFrame | None]) -> pd.DataFrame | None:
    """Return the least memory of each session of the rank, where one of them has too few steps to tell whether it grows."""
    if frames["memory"] is None or len(step_spans(frames)) >= FEWEST:
        return None
    found = recording(frames["memory"], OPERATOR_MEMORY.empty())
    minima, _ = minima_of_sessions(source, choice, found.component) if found is not None else (None, "")
    return None if minima is None else pd.DataFrame({"least_bytes": minima})


def is_being_read(source: ProfileSources, choice: ProfileChoice) -> bool:
    """Return whether a frame that the rules look at is still being read; asking begins it."""
    states = {name: source.profiles.frame(choice.run, choice.session, choice.rank, name).state for name in READ}
    if states["memory"] == "missing":
        states["operator_memory"] = source.profiles.frame(choice.run, choice.session, choice.rank, "operator_memory").state
    return any(state in ("reading", "waiting") for state in states.values())
