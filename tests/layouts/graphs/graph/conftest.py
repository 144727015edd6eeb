"""The demo runs, read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.store.store import Store
from layouts.dumps.dumped_graphs import RunGraphs
from layouts.graphs.graph_views import Views
from parsers import Graph, open_run
from tests.layouts.graphs.graph.demo_graph import DEMO, RUN


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    found = Store([DEMO], interval=0).start()
    assert found.wait(30)
    yield found
    found.stop()


@pytest.fixture
def views(store: Store) -> Views:
    return Views(RunGraphs(store))


@pytest.fixture(scope="module")
def graph() -> Graph:
    return next(iter(open_run(DEMO / RUN).graphs.values()))
