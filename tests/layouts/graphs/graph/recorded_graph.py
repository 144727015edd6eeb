"""The one graph of a recorded run, and what its tests ask of it."""

from __future__ import annotations

from typing import Any

from app.store.store import Store
from layouts.dumps.dumped_graphs import RunGraphs
from layouts.graphs.asks import DrawingRequest, read_of
from layouts.graphs.drawing import drawn
from layouts.graphs.graph.panel import panel
from layouts.graphs.graph_views import Views
from parsers import Graph
from tests.sources import MemorySource

RUN = "lenet_landscape"


def words(store: Store, **more: list[str]) -> dict[str, list[str]]:
    """What the page asks about the one graph of RUN."""
    return {"run": [RUN], "graph": [store.graphs.locations(RUN)[0].name], **more}


def draw(store: Store, views: Views, **more: list[str]) -> dict[str, Any]:
    return drawn(views, DrawingRequest.read(words(store, **more)))


def tell(store: Store, views: Views, name: str, **more: list[str]) -> Any:
    return panel(views, read_of(words(store, **more)), name)


def texts(component: Any) -> str:
    """All texts of components, English and Chinese, in order."""
    if isinstance(component, (list, tuple)):
        return " ".join(texts(child) for child in component)
    if component is None or isinstance(component, (str, int)):
        return str(component or "")
    return texts(getattr(component, "children", None))


def jumps(component: Any, name: str = "data-go") -> list[str]:
    if isinstance(component, (list, tuple)):
        return [jump for child in component for jump in jumps(child, name)]
    own = getattr(component, name, None)
    return [*([own] if own else []), *jumps(getattr(component, "children", None) or (), name)]


def boxes(drawing: dict[str, Any]) -> dict[str, Any]:
    return {element["data"]["id"]: element for element in drawing["elements"] if "source" not in element["data"]}


def views_of(found: Graph) -> Views:
    """Views of a run `r` that has the one graph, without a name or as `g`."""
    return Views(RunGraphs(MemorySource({"r": {"graphs": {"": found, "g": found}}})))
