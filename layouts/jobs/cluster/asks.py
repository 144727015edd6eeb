"""Requests of the page to the server, parsed and validated: values from a browser are untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from parsers.analysis.jobs.step_parts import METRICS as OF_STEPS

from layouts.kit.i18n import LANGUAGES
from layouts.kit.state import number, text
from layouts.profiles.profile_choice import ProfileChoice, read_against, read_choice

FRAMES = ("cluster_steps", "groups", "collectives", "links")
OF_OPERATIONS = ("lateness", "waited")
"""Times by operations: what others wait for a rank, and what it waits for others."""
OF_RANKS = ("peak_allocated", "peak_reserved", "flops", "flops_per_s", "operators")
"""Values of whole ranks, from the frame `ranks`, which is read when one of them is asked for."""
METRICS = (*OF_STEPS, *OF_OPERATIONS, *OF_RANKS)
ORDERS = ("value", "rank")
ROWS = ("rank", "host", "stage", "group")
KEYS = ("metric", "order", "rows", "picked", "from", "to", "group", "step")
"""Keys of the state used for drawing: what is compared, order and kind of bars, the picked rank, first and last visible bar
counted from 0, and those that pages about jobs share."""
_COLUMNS = (100, 8_000)
_MOST = 2**31


@dataclass(frozen=True, slots=True)
class ClusterRequest:
    """A request: a profile of the job, one of a job to compare with, what is shown and how it is drawn.

    group is the hash of a group whose ranks alone are shown, "" for all; step a number of a step, None for the mean. language
    is "en" or "zh", columns the width of a plot in pixels.
    """

    choice: ProfileChoice
    against: ProfileChoice | None
    metric: str
    order: str
    rows: str
    group: str
    step: int | None
    picked: int | None
    window: tuple[int, int] | None
    language: str = "en"
    columns: int = 1000
    dark: bool = False


def read_ask(data: Any) -> ClusterRequest | None:
    """Parse a request from the browser; None if it names no profile. BadInput if it is malformed."""
    choice = read_choice(data)
    if choice is None:
        return None
    first, last = _whole(data, "from"), _whole(data, "to")
    return ClusterRequest(
        choice, read_against(data), text(data, "metric", "computing", choices=METRICS),
        text(data, "order", ORDERS[0], choices=ORDERS), text(data, "rows", ROWS[0], choices=ROWS),
        text(data, "group", limit=40), _whole(data, "step", -1), _whole(data, "picked"),
        (first, last) if first is not None and last is not None else None,
        text(data, "lang", "en", choices=LANGUAGES), int(number(data, "columns", 1_000, *_COLUMNS)),
        text(data, "theme", "light", choices=("light", "dark")) == "dark",
    )  # fmt: skip


def _whole(data: Any, key: str, least: int = 0) -> int | None:
    return int(number(data, key, 0, least, _MOST)) if text(data, key) else None
