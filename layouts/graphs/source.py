"""The interface between pages and the graphs of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from parsers import DatasetGraph, Graph, GraphLocation
from parsers.graphs.conversion import ConversionReport
from parsers.lineage.datasets import RecordedPipeline

from layouts.kit.work import WorkResult


class GraphSource(Protocol):
    """Computation graphs and data pipelines. `locations` answers from memory, the others read."""

    def locations(self, run: str) -> Sequence[GraphLocation]:
        """Return the locations of the computation graphs of one member run in file order; empty for an unknown run."""
        ...

    def graph(self, run: str, name: str) -> Graph | None:
        """Return one graph of one member run by the name of its location, read from its file unless it is cached, or None.

        Waits for a graph that is being read. Raises PayloadError, whose text is meant for the user, if its bytes cannot be read
        or reading it was cancelled.
        """
        ...

    def reading(self, run: str, name: str, *, again: bool = False, cancel: bool = False) -> WorkResult:
        """Return how far a graph is read, in bytes; begin to read a large one that is not in memory, in the background.

        "ready" also for a graph that does not exist, is small, or cannot be read: `graph` answers at once, or says why not.
        again reads one whose reading was cancelled.
        """
        ...

    def dataset(self, run: str) -> DatasetGraph | None:
        """Return the data pipeline of a member run, None if none was recorded."""
        ...

    def datasets(self, run: str) -> Sequence[RecordedPipeline]:
        """Return all data pipelines of a member run, one for each start of the training, the oldest first."""
        ...

    def conversions(self, run: str) -> Sequence[str]:
        """Return the names of the model conversions of one member run in file order, from memory."""
        ...

    def conversion(self, run: str, name: str) -> ConversionReport | None:
        """Return one model conversion of one member run, read from its file unless it is cached, or None.

        Raises PayloadError, whose text is meant for the user, if its bytes cannot be read.
        """
        ...
