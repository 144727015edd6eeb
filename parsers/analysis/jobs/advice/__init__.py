"""Advice from a profile and its job: rules over frames, each with the rows that support it and the time that could be saved.

The rules about one rank and their thresholds are those of MindInsight's helper (`THRESHOLDS`), with a counterpart for step
traces that have idle time instead of an iteration interval, and rules for communication that no computing overlaps, for calls
of the host that wait for the device, for gaps of a stream that the host causes (by the trace), and for operators that fell back
to the AI CPU. Those about all ranks of a job, packets and memory follow `parsers.analysis.jobs` and `.memory`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from parsers.first_use import names_on_first_use

if TYPE_CHECKING:
    from parsers.analysis.jobs.advice.host import called
    from parsers.analysis.jobs.advice.model import REASONS, Advice, Review
    from parsers.analysis.jobs.advice.rules import BELOW, FRAMES, GAPS, OF_JOB, THRESHOLDS, advise, judged, review, with_costs

__all__ = [
    "BELOW", "FRAMES", "GAPS", "OF_JOB", "REASONS", "THRESHOLDS", "Advice", "Review", "advise", "called", "judged", "review",
    "with_costs",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = names_on_first_use(__name__, {
        "parsers.analysis.jobs.advice.host": ("called",),
        "parsers.analysis.jobs.advice.model": ("REASONS", "Advice", "Review"),
        "parsers.analysis.jobs.advice.rules": (
            "BELOW", "FRAMES", "GAPS", "OF_JOB", "THRESHOLDS", "advise", "judged", "review", "with_costs",
        ),
    })  # fmt: skip
