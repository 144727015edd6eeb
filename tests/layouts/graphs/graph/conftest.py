"""The recorded runs, read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.store.store import Store
from layouts.dumps.dumped_graphs import RunGraphs
from layouts.graphs.graph_views import Views
from parsers import Graph, open_run
from tests.layouts.graphs.graph.recorded_graph import RUN
from tests.recorded import RECORDED


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    found = Store([RECORDED], interval=0).start()
    assert found.wait(30)
    yield found
    found.stop()


@pytest.fixture
def views(store: Store) -> Views:
    return Views(RunGraphs(store))


@pytest.fixture(scope="module")
def graph() -> Graph:
    return next(iter(open_run(RECORDED / RUN).graphs.values()))
