"""What pages know of profiles: their files, their frames or the progress of reading these, and idle time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from parsers.deferred import pandas as pd

if TYPE_CHECKING:
    from parsers import Idle, Problem


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """The files of one rank in one session of the profiler; the key of a profile is (run, session, rank).

    session is the directory below the run ("." for the run itself), device Ascend, GPU, CPU or "" if unknown. files are file
    names below the session, size is their total size in bytes, updated the newest mtime in seconds. frames are the names in
    `parsers.profiler.registry.FRAMES` that can be read from these files, and those in `parsers.cluster_frames.JOB_FRAMES`
    that its job gives. mark changes whenever a file does.
    """

    session: str
    rank: int
    device: str
    files: tuple[str, ...]
    size: int
    updated: float
    frames: tuple[str, ...]
    mark: str


@dataclass(frozen=True, slots=True)
class BeingRead:
    """What others wait for: the frame `name` of a run, of which done of total bytes have been read."""

    name: str
    run: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class ProfileFrame:
    """One frame of a profile, or the progress of reading it.

    state: "ready" (frame is set, but may have no rows), "reading" (done of total bytes; ask again), "waiting" (others are
    read first, of which `ahead` is one; ask again), "missing" (no file has it; any file of `wanted` would), "cancelled" (ask
    with again=True) or "failed" (text is the reason). problems is the damage found in its files.
    """

    state: str
    frame: pd.DataFrame | None = None
    done: int = 0
    total: int = 0
    wanted: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    text: str = ""
    ahead: BeingRead | None = None


@dataclass(frozen=True, slots=True)
class IdleTime:
    """Idle time by cause, which is found when a trace is read.

    state: "ready" (idle is set), "none" (the trace has no device stream), "unread" (the trace has not been read), "reading" (it
    is being read) or "missing" (the profile has no trace). size: bytes of the files of a trace that has not been read.
    """

    state: str
    idle: Idle | None = None
    size: int = 0


NO_TRACE = IdleTime("missing")
