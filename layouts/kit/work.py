"""Work on what runs hold that the application does in the background, and its results."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

Job = TypeVar("Job")


class Report(Protocol):
    """What work calls; raises Cancelled (`parsers.profiler.progress`) soon after it was cancelled."""

    def __call__(self, done: int, total: int, result: Any = None) -> None:
        """Tell how far the work is, and what it has found so far: it is shown at once."""
        ...


@dataclass(frozen=True, slots=True)
class Work(Generic[Job]):
    """Work: two with the same name and key are the same work, which is done once for each mark of what it is done on."""

    name: str
    key: Hashable
    job: Job = field(compare=False)


@dataclass(frozen=True, slots=True)
class WorkResult:
    """The result of work, or its progress.

    state: "ready", "working" (done of total; result is what was found so far, or None: ask again), "waiting" (other work comes
    first: ask again), "missing" (the run has nothing to work on), "cancelled" (ask with again=True) or "failed" (text is the
    reason). mark is that of what the result is about. Unless the work tells how far it is, done and total are bytes or tensors
    that are being measured.
    """

    state: str
    result: Any = None
    done: int = 0
    total: int = 0
    text: str = ""
    mark: str = ""
