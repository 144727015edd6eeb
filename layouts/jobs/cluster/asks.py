"""Requests of the page to the server, parsed and validated: values from a browser are untrusted."""

from __future__ import annotations

from dataclasses import dataclass

from parsers.analysis.jobs.ranks_by_step import OF_OPERATIONS
from parsers.analysis.jobs.step_parts import METRICS as OF_STEPS

from layouts.kit import parameters as asked
from layouts.kit.parameters import Request
from layouts.profiles.profile_choice import ProfileChoice, other_profile, profile

FRAMES = ("cluster_steps", "groups", "collectives", "links")
OF_RANKS = ("peak_allocated", "peak_reserved", "flops", "flops_per_s", "operators")
"""Values of whole ranks, from the frame `ranks`, which is read when one of them is asked for."""
METRICS = (*OF_STEPS, *OF_OPERATIONS, *OF_RANKS)
ORDERS = ("value", "rank")
ROWS = ("rank", "host", "stage", "group")
_COLUMNS = (100, 8_000)
_MOST = 2**31


@dataclass(frozen=True, slots=True)
class ClusterRequest(Request):
    """A request: a profile of the job, one of a job to compare with, what is shown and how it is drawn.

    metric is one of METRICS, "" for the one that shows best who is slow. group is the hash of a group whose ranks alone are
    shown, "" for all; step a number of a step, None for the mean. language is "en" or "zh", columns the width of a plot in
    pixels.
    """

    choice: ProfileChoice = profile()
    against: ProfileChoice | None = other_profile()
    metric: str = asked.one_of("metric", ("", *METRICS))
    order: str = asked.one_of("order", ORDERS)
    rows: str = asked.one_of("rows", ROWS)
    group: str = asked.word("group", limit=40)
    step: int | None = asked.whole("step", low=-1, high=_MOST)
    picked: int | None = asked.whole("picked", high=_MOST)
    window: tuple[int, int] | None = asked.window("from", "to", _MOST)
    language: str = asked.language()
    columns: int = asked.columns()
    dark: bool = asked.dark()


