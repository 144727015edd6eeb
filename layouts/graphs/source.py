"""The interface between pages and the graphs of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from parsers import DatasetGraph, Graph, GraphLocation


class GraphSource(Protocol):
    """Computation graphs and data pipelines. `locations` answers from memory, the others read."""

    def locations(self, run: str) -> Sequence[GraphLocation]:
        """Return the locations of the computation graphs of one member run in file order; empty for an unknown run."""
        ...

    def graph(self, run: str, name: str) -> Graph | None:
        """Return one graph of one member run by the name of its location, read from its file unless it is cached, or None.

        Raises PayloadError, whose text is meant for the user, if its bytes cannot be read.
        """
        ...

    def dataset(self, run: str) -> DatasetGraph | None:
        """Return the data pipeline of a member run, None if none was recorded."""
        ...
