"""Files to download of a graph."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter

import pytest

from app.store.store import Store
from layouts.graphs.asks import read_of
from layouts.graphs.graph.files import FORMS, file
from layouts.graphs.graph_views import Views
from layouts.kit.state import BadInput
from parsers import Graph
from parsers.analysis.graphs.counts import scope_parameters
from tests.layouts.graphs.graph.recorded_graph import RUN, words


@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("attribute", "listed.csv", "painted.csv")])
def test_files_hold_what_is_named_after_the_run(store: Store, views: Views, graph: Graph, form: str) -> None:
    found = file(views, words(store, form=[form], open=["s:Default"]))
    assert found["filename"].startswith(RUN)
    assert found["filename"].endswith(f".{form.rpartition('.')[2]}")
    content = found["content"]
    if form.endswith("json"):
        data = json.loads(content)
        assert form == "json" or len(data["nodes"]) == len(graph.nodes)
    elif form.endswith("csv"):
        rows = list(csv.DictReader(io.StringIO(content, newline="")))
        kinds = Counter(graph.nodes["kind"])
        assert len(rows) == {
            "types.csv": graph.nodes["type"][graph.nodes["kind"] == "operator"].nunique(),
            "parameters.csv": kinds["parameter"], "precision.csv": kinds["operator"],
            "differences.csv": 0,
            "scopes.csv": len(scope_parameters(views.of(read_of(words(store)))[1].scopes)),
        }[form]  # fmt: skip
        if form == "types.csv":
            assert sum(int(row["count"]) for row in rows) == kinds["operator"]
    elif form.endswith("dot"):
        assert content.startswith("digraph ")
        assert content.rstrip().endswith("}")
    else:
        assert content.startswith("<svg ")


def test_a_file_of_another_form_is_refused(store: Store, views: Views) -> None:
    with pytest.raises(BadInput):
        file(views, words(store, form=["exe"]))
