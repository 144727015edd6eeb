"""How far the graphs of a drawing are read: a large one is read in the background, and may be cancelled."""

from __future__ import annotations

from typing import TypedDict

from layouts.dumps.dumped_graphs import place_of
from layouts.graphs.graph_views import Of
from layouts.kit.work import WorkResult
from layouts.sources import Sources


class GraphProgress(TypedDict):
    """The graph that is read, its state, and how many bytes of all are read."""

    state: str
    text: str
    done: int
    total: int


def progress(source: Sources, of: Of, *, again: bool, cancel: bool) -> GraphProgress | None:
    """Return the progress of the graph, or of the two that are compared, that is not read yet; None if there is nothing to wait
    for. Graphs of dumps are in memory.
    """
    for run, name in ((of.run, of.graph), *([of.against] if of.against else [])):
        found = WorkResult("ready") if place_of(name) else source.graphs.reading(run, name, again=again, cancel=cancel)
        if found.state != "ready":
            return {"state": found.state, "text": name, "done": found.done, "total": found.total}
    return None
