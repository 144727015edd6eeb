"""What pages know of the explanations of a run, and work on them that the application does in the background."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from parsers.explanations.snapshot import Explanations

from layouts.kit.work import Report, Work


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


class ExplanationJob(Protocol):
    """Work on explanations: a function without side effects."""

    def __call__(self, explanations: Explanations, report: Report, /) -> Any:
        """Return the result. It is shared between callers, so never write into it."""
        ...


class ExplanationWork(Work[ExplanationJob]):
    """Work on explanations."""

    __slots__ = ()
