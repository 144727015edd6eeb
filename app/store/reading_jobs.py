"""Jobs that one thread does one after the other, the one asked for last first: the page on screen does not wait for one already
left."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar


class ReadingJob(Protocol):
    """A job: state is "waiting", "reading", or what it ended as; ended is set when it has ended."""

    state: str

    @property
    def ended(self) -> threading.Event:
        """Set when the job has ended."""


J = TypeVar("J", bound=ReadingJob)


def next_job(jobs: Mapping[Any, J], wake: threading.Condition, is_stopping: Callable[[], bool]) -> J | None:
    """Wait for a job and return the one asked for last, now in state "reading"; None when the thread is to end.

    jobs are in the order in which they were asked for last. wake is notified when one is added or the thread is to end; its
    lock guards jobs.
    """
    with wake:
        while not is_stopping():
            waiting = [job for job in jobs.values() if not job.ended.is_set()]
            if waiting:
                waiting[-1].state = "reading"
                return waiting[-1]
            wake.wait()
    return None
