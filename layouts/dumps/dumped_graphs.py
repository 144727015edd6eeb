"""The graphs of a dump beside those that a run recorded: what ran is known by both names of operators."""

from __future__ import annotations

from dataclasses import dataclass

from parsers import Graph

from layouts.runs.rows import RunRow
from layouts.sources import Sources

PREFIX = "dump:"
"""The graphs of a dump are named dump:<rank>.<number>."""


@dataclass(frozen=True, slots=True)
class DumpedGraphs:
    """The graphs of the dump of a row by name, and whether it is still being listed. mark changes with the dump."""

    names: tuple[str, ...] = ()
    mark: str = ""
    reading: bool = False


def dumped_graphs(source: Sources, row: RunRow) -> DumpedGraphs:
    """Return the graphs in the dump of a run or a job."""
    opened = source.dumps.open(row.key)
    if opened.dump is None:
        return DumpedGraphs(reading=opened.state == "reading")
    names = tuple(f"{PREFIX}{rank}.{number}" for rank, number in sorted(opened.dump.graphs))
    return DumpedGraphs(names, opened.mark)


def place_of(name: str) -> tuple[int, int] | None:
    """Return rank and number of a graph of a dump by its name; None for another name."""
    rank, dot, number = name.removeprefix(PREFIX).partition(".")
    known = name.startswith(PREFIX) and dot and all(one.isascii() and one.isdigit() and len(one) < 10 for one in (rank, number))
    return (int(rank), int(number)) if known else None


class RunGraphs:
    """The graphs of runs and of their dumps, as a `layouts.graphs.graph_views.VersionedGraphs`."""

    def __init__(self, source: Sources) -> None:
        self._source = source

    def graph(self, run: str, name: str) -> Graph | None:
        """Return a graph of a run by its name. Raises PayloadError if it cannot be read."""
        place = place_of(name)
        if place is None:
            return self._source.graphs.graph(run, name)
        row = next((row for row in self._source.runs.rows() if run in row.members or run == row.key), None)
        dump = self._source.dumps.open(row.key).dump if row is not None else None
        return dump.graphs.get(place) if dump is not None else None

    def version(self, run: str) -> int:
        """Return a number that changes whenever the data of a run changes."""
        return self._source.runs.version(run)
