"""What pages know of the explanations of a run, and work on them that the application does in the background."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Protocol

from parsers.explanations.snapshot import Explanations


@dataclass(frozen=True, slots=True)
class OpenExplanations:
    """The explanations of a run, or the progress of reading them.

    state: "ready" (explanations is set), "reading" (ask again), "missing" (the run has none) or "failed" (text is the reason).
    mark changes whenever the explanations do. behind: newer records are being read, so ask again.
    """

    state: str
    explanations: Explanations | None = None
    mark: str = ""
    text: str = ""
    behind: bool = False


class ExplanationReport(Protocol):
    """What work on explanations calls; raises Cancelled (`parsers.profiler.progress`) soon after it was cancelled."""

    def __call__(self, done: int, total: int, result: Any = None) -> None:
        """Tell how far the work is, and what it has found so far: it is shown at once."""
        ...


class ExplanationJob(Protocol):
    """Work on explanations: a function without side effects."""

    def __call__(self, explanations: Explanations, report: ExplanationReport, /) -> Any:
        """Return the result. It is shared between callers, so never write into it."""
        ...


@dataclass(frozen=True, slots=True)
class ExplanationWork:
    """Work on explanations: two with the same name and key are the same work, which is done once for each mark."""

    name: str
    key: Hashable
    job: ExplanationJob = field(compare=False)


@dataclass(frozen=True, slots=True)
class ExplanationResult:
    """The result of work on explanations, or its progress.

    state: "ready", "working" (done of total; result is what was found so far, or None: ask again), "waiting" (other work comes
    first: ask again), "missing" (the run has no explanations), "cancelled" (ask with again=True) or "failed" (text is the
    reason). mark is that of the explanations the result is about.
    """

    state: str
    result: Any = None
    done: int = 0
    total: int = 0
    text: str = ""
    mark: str = ""
