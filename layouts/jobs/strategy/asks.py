"""Requests of the page to the server, parsed and validated: values from a browser are untrusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parsers.analysis.jobs.strategy import DIMENSIONS, PHASES
from parsers.analysis.jobs.strategy.job_strategy import FILE, GROUP, STAGE
from parsers.analysis.jobs.two_jobs import METRICS

from layouts.graphs.asks import DrawingRequest, read_name
from layouts.kit.state import BadInput, number, text, texts
from layouts.profiles.profile_choice import ProfileChoice, read_choice, read_step

COLOURS = (*METRICS, FILE, STAGE, *(f"{GROUP}{name}" for name in DIMENSIONS))
"""What the grid can be coloured by; "" for FIRST, or for the first one that ranks have."""
FIRST = "computing"
"""Ranks differ by their computing; the whole step of ranks that wait for each other is equally long."""
_MOST = 2**31
_GRAPH_KEYS = ("open", "page", "hide", "node", "theme")


@dataclass(frozen=True, slots=True)
class GridAsk:
    """A request for stages and grid: a profile of the job, the colour ("" for the first one), a step, the picked rank."""

    choice: ProfileChoice
    metric: str
    step: int | None
    picked: int | None


@dataclass(frozen=True, slots=True)
class GraphAsk:
    """A request for the graph of a stage: stage and rank, None for the first with a file; hidden phases; what the canvas shows.

    node is the name of the chosen box, "" for none. after is the row of an operator, of which the next of a kind is searched.
    """

    choice: ProfileChoice
    stage: int | None
    rank: int | None
    without: frozenset[str]
    canvas: DrawingRequest
    node: str


def read_grid(data: Any) -> GridAsk:
    """Parse a request for stages and grid. BadInput if it is malformed."""
    return GridAsk(_choice(data), text(data, "metric", choices=("", *COLOURS)), read_step(data), _whole(data, "picked"))


def read_graph(data: Any) -> GraphAsk:
    """Parse a request for a graph or for what is in a box. BadInput if it is malformed."""
    choice = _choice(data)
    without = texts(data, "without")
    if not set(without) <= set(PHASES):
        raise BadInput(f"without: expected {', '.join(PHASES)}; found {', '.join(without)[:80]!r}")
    told: Mapping[str, Any] = {key: data[key] for key in _GRAPH_KEYS if key in data}
    canvas = DrawingRequest.read({**told, "run": [choice.run], "graph": ["strategy"], "simple": ["0"]})
    return GraphAsk(choice, _whole(data, "stage", -1), _whole(data, "file"), frozenset(without), canvas, read_name(data))


def _choice(data: Any) -> ProfileChoice:
    choice = read_choice(data)
    if choice is None:
        raise BadInput("run: expected the key of a run, found none")
    return choice


def _whole(data: Any, key: str, least: int = 0) -> int | None:
    return int(number(data, key, 0, least, _MOST)) if text(data, key) else None
