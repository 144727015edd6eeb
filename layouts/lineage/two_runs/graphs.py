"""The differences between the newest computation graphs of two runs, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from parsers import GraphLocation
from parsers.analysis.graphs import STATES
from parsers.analysis.graphs.network import OPERATOR

from layouts.graphs.graph_views import Of, Views
from layouts.sources import ValueSources


@dataclass(frozen=True, slots=True)
class GraphSummary:
    """The comparison of two graphs.

    names: the graph of each run. nodes: number of nodes of each. by_state: numbers of nodes "changed", "removed" (only in the
    first) and "added" (only in the second). edges: numbers removed and added. types: (operator type, count in the first graph,
    count in the second) for types with different counts, the largest difference first.
    """

    names: tuple[str, str]
    nodes: tuple[int, int]
    by_state: dict[str, int]
    edges: tuple[int, int]
    types: list[tuple[str, int, int]]

    @property
    def same(self) -> bool:
        """True if nothing differs."""
        return not any(self.by_state.values()) and not any(self.edges)


def graphs(source: ValueSources, views: Views, runs: tuple[str, str]) -> GraphSummary:
    """Compare the newest graph of the first run with the newest of the second, preferably of the same compile stage.

    KeyError, with the run as its argument, if one of them recorded no graph; PayloadError if one cannot be read.
    """
    listed = [source.graphs.locations(run) for run in runs]
    for run, places in zip(runs, listed, strict=True):
        if not places:
            raise KeyError(run)
    one = listed[0][-1]
    other = _counterpart(one, listed[1])
    opened, _ = views.of(Of(runs[0], one.name, simple=None, against=(runs[1], other.name)))
    assert opened.compared is not None
    state, difference = opened.compared.both.state, opened.compared.difference
    counts = dict(zip(STATES, np.bincount(state, minlength=len(STATES)).tolist(), strict=True))
    whole = opened.whole
    sides = [(state != STATES.index(left)) & (whole.kind == OPERATOR) & whole.shown for left in ("added", "removed")]
    first, second = (np.bincount(whole.type[side], minlength=len(whole.types)) for side in sides)
    codes = np.flatnonzero(first != second).tolist()
    differing = sorted(codes, key=lambda code: (-abs(int(first[code] - second[code])), whole.types[code]))
    return GraphSummary(
        names=(one.name, other.name),
        nodes=(len(opened.graph.nodes), len(opened.compared.graph.nodes)),
        by_state={name: counts[name] for name in STATES[1:]},
        edges=(len(difference.counted.edges_removed), len(difference.counted.edges_added)),
        types=[(whole.types[code], int(first[code]), int(second[code])) for code in differing],
    )


def _counterpart(one: GraphLocation, places: Sequence[GraphLocation]) -> GraphLocation:
    return next((place for place in reversed(places) if place.stage == one.stage), places[-1])
