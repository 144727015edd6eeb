"""What the rules say of a profile and its job: the one review that every page shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from parsers.analysis.jobs.advice import FRAMES, GAPS, OF_JOB, THRESHOLDS, Review, judged, with_costs
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
_OF_MEMORY = ("operator_memory", "memory_sessions")
"""Frames that they look at where `memory` is missing, or tells too little."""


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
    frames = ReviewedFrames(source, choice, idle, partial(choice.frame, source))
    return with_replays(source, choice, frames, judged(frames, limits, capacity=capacity), limits)


def with_replays(
    source: ProfileSources, choice: ProfileChoice, frames: Frames, found: Review, limits: Mapping[str, float] = THRESHOLDS
) -> Reviewed:
    """Return a review of these frames with what replays tell of it, which are work on the job."""
    known = {**THRESHOLDS, **limits}
    asked = to_replay(found.found, frames)
    if not asked:
        return Reviewed(found, known)
    of = choice.run, choice.session, choice.rank
    replayed = steady({name: frames[name] for name in OF_JOB})
    work = JobWork("advice", question(asked), lambda report: replayed_savings(asked, replayed, report))
    told = source.profiles.work(*of, work)
    if told.state == "ready":
        return Reviewed(with_costs(found, told.result), known)
    return Reviewed(found, known, frozenset(one.rule for one in asked), work, told)


def computes(told: WorkResult) -> bool:
    """Return whether work goes on."""
    return told.state in ("waiting", "working")


class ReviewedFrames(Mapping[str, "pd.DataFrame | None"]):
    """The frames that the rules look at, of a profile and of its job, each read by `read` when it is looked at."""

    def __init__(
        self, source: ProfileSources, choice: ProfileChoice, idle: IdleTime, read: Callable[[str], pd.DataFrame | None],
        wait: Callable[[str], None] | None = None,
    ) -> None:  # fmt: skip
        """wait is called with the state of reading other sessions while that goes on; it may raise."""
        self._source, self._choice, self._read, self._wait = source, choice, read, wait
        self._held: dict[str, pd.DataFrame | None] = idle_frames(idle)

    def __getitem__(self, name: str) -> pd.DataFrame | None:
        if name not in self._held:
            self._held[name] = self._found(name)
        return self._held[name]

    def __iter__(self) -> Iterator[str]:
        return iter((*READ, *GAPS, *_OF_MEMORY))

    def __len__(self) -> int:
        return len(READ) + len(GAPS) + len(_OF_MEMORY)

    def _found(self, name: str) -> pd.DataFrame | None:
        if name == "operator_memory" and self["memory"] is not None:
            return None
        return self._sessions() if name == "memory_sessions" else self._read(name)

    def _sessions(self) -> pd.DataFrame | None:
        """Return the least memory of each session of the rank, where one of them has too few steps to tell whether it grows."""
        memory = self["memory"]
        if memory is None or len(step_spans(self)) >= FEWEST:
            return None
        found = recording(memory, OPERATOR_MEMORY.empty())
        if found is None:
            return None
        minima, state = minima_of_sessions(self._source, self._choice, found.component)
        if state != "ready" and self._wait is not None:
            self._wait(state)
        return pd.DataFrame({"least_bytes": minima})


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
