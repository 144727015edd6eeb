"""What the rules say of a profile and its job: the one review that every page shows."""

from __future__ import annotations

from collections.abc import Mapping

from parsers.analysis.jobs.advice import FRAMES, OF_JOB, THRESHOLDS, Review, review

from layouts.profiles.frames import IdleTime
from layouts.profiles.idling import idle_frames
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
    return review(frames | idle_frames(idle), limits, capacity=capacity), {**THRESHOLDS, **limits}


def is_being_read(source: ProfileSources, choice: ProfileChoice) -> bool:
    """Return whether a frame that the rules look at is still being read; asking begins it."""
    states = [source.profiles.frame(choice.run, choice.session, choice.rank, name).state for name in READ]
    return any(state in ("reading", "waiting") for state in states)
