"""What the rules say of a profile and its job: the one review that every page shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from parsers.analysis.jobs.advice import FRAMES, OF_JOB, THRESHOLDS, Review, judged, with_costs
from parsers.analysis.jobs.advice.model import Frames
from parsers.analysis.jobs.advice.saved import question, replayed_savings, to_replay
from parsers.analysis.jobs.warm_up import steady
from parsers.analysis.profiles.memory import recording, step_spans
from parsers.analysis.profiles.memory.leaks import FEWEST
from parsers.deferred import pandas as pd
from parsers.profile_frames import OPERATOR_MEMORY

from layouts.kit.work import WorkResult
from layouts.profiles.frames import IdleTime
from layouts.profiles.idling import idle_frames
from layouts.profiles.memory_sessions import minima_of_sessions
from layouts.profiles.profile_choice import ProfileChoice
from layouts.profiles.source import JobWork
from layouts.sources import ProfileSources

READ = (*FRAMES, *OF_JOB)
"""The frames that the rules look at, of the profile and of its job."""


READY = WorkResult("ready")


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What the rules say of a profile, and the thresholds of all rules.

    pending are the rules whose saving is not known yet, or was not found out: replays tell it, which are work on the job, told
    is how far they are (None: nothing has to be replayed). Until then the largest cost by sums comes first.
    """

    review: Review
    limits: Mapping[str, float]
    pending: frozenset[str] = frozenset()
    work: JobWork | None = None
    told: WorkResult = READY

    @property
    def is_computing(self) -> bool:
        """Whether savings will be known a moment later."""
        return computes(self.told)


def review_of(
    source: ProfileSources, choice: ProfileChoice, idle: IdleTime, limits: Mapping[str, float], capacity: int
) -> Reviewed:
    """Return what the rules say of a profile with this idle time. What steps would save is replayed in the background.

    limits replace some of the thresholds. capacity is the memory of the device in bytes that somebody typed, 0 for none.
    """
    of = choice.run, choice.session, choice.rank
    frames, found = _judged(source, choice, idle, limits, capacity)
    known = {**THRESHOLDS, **limits}
    asked = to_replay(found.found, frames)
    if not asked:
        return Reviewed(found, known)
    work = JobWork("advice", question(asked), lambda report: replayed_savings(asked, frames, report))
    told = source.profiles.work(*of, work)
    if told.state == "ready":
        return Reviewed(with_costs(found, told.result), known)
    return Reviewed(found, known, frozenset(one.rule for one in asked), work, told)


def computes(told: WorkResult) -> bool:
    """Return whether work goes on."""
    return told.state in ("waiting", "working")


def _judged(
    source: ProfileSources, choice: ProfileChoice, idle: IdleTime, limits: Mapping[str, float], capacity: int
) -> tuple[Frames, Review]:
    """Return the frames that replays look at, and what the rules found before replays."""
    frames = {name: choice.frame(source, name) for name in READ}
    if frames["memory"] is None:
        frames["operator_memory"] = choice.frame(source, "operator_memory")
    frames["memory_sessions"] = _sessions(source, choice, frames)
    every = frames | idle_frames(idle)
    return steady(every), judged(every, limits, capacity=capacity)


def _sessions(source: ProfileSources, choice: ProfileChoice, frames: Mapping[str, pd.DataFrame | None]) -> pd.DataFrame | None:
    """Return the least memory of each session of the rank, where one of them has too few steps to tell whether it grows."""
    if frames["memory"] is None or len(step_spans(frames)) >= FEWEST:
        return None
    found = recording(frames["memory"], OPERATOR_MEMORY.empty())
    minima, _ = minima_of_sessions(source, choice, found.component) if found is not None else (None, "")
    return None if minima is None else pd.DataFrame({"least_bytes": minima})


def first_review(source: ProfileSources, choice: ProfileChoice, idle: IdleTime) -> Review | None:
    """Return what the rules say with their own limits; None until files are read and what comes first is known."""
    if is_being_read(source, choice):
        return None
    found = review_of(source, choice, idle, {}, 0)
    return None if found.is_computing else found.review


def is_being_read(source: ProfileSources, choice: ProfileChoice) -> bool:
    """Return whether a frame that the rules look at is still being read; asking begins it."""
    states = {name: source.profiles.frame(choice.run, choice.session, choice.rank, name).state for name in READ}
    if states["memory"] == "missing":
        states["operator_memory"] = source.profiles.frame(choice.run, choice.session, choice.rank, "operator_memory").state
    return any(state in ("reading", "waiting") for state in states.values())
