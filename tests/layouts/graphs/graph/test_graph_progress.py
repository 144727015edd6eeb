"""What the page says of graphs that are not read yet."""

from __future__ import annotations

from layouts.graphs.asks import DrawingRequest
from layouts.graphs.drawing import unread
from layouts.graphs.graph.graph_progress import progress
from layouts.graphs.graph_views import Of
from layouts.kit.work import WorkResult
from tests.sources import MemorySource

ACTS = {"again": False, "cancel": False}


def test_the_first_graph_that_is_not_read_is_named_with_its_bytes() -> None:
    source = MemorySource({"one": {}, "two": {"graph_reading": WorkResult("working", done=38, total=100)}})
    assert progress(source, Of("one", "a.pb", None), **ACTS) is None
    expected = {"state": "working", "text": "b.pb", "done": 38, "total": 100}
    assert progress(source, Of("one", "a.pb", None, ("two", "b.pb")), **ACTS) == expected


def test_graphs_of_dumps_are_not_waited_for() -> None:
    source = MemorySource({"two": {"graph_reading": WorkResult("working", done=38, total=100)}})
    assert progress(source, Of("two", "dump:0.1", None), **ACTS) is None


def test_an_answer_without_a_drawing_says_of_which_graph_it_is() -> None:
    ask = DrawingRequest.read({"run": ["one"], "graph": ["a.pb"], "turn": ["3"]})
    meta = unread(ask, {"state": "working", "text": "a.pb", "done": 38, "total": 100})["meta"]
    assert (meta["of"]["run"], meta["of"]["graph"]) == ("one", "a.pb")
    assert meta["reading"]["done"] == 38
