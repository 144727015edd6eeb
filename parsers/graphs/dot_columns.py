"""Statements of a DOT file in columns: one that names a million nodes or edges and nothing else takes some bytes for each."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import NamedTuple

from parsers.graphs.graph import MOST_ATTRIBUTES

Attributes = list[tuple[str, str]]
NO_ROW = -1


class Statement(NamedTuple):
    """One node: its id, attributes and the clusters around it."""

    name: str
    attributes: Attributes
    clusters: tuple[str, ...]


@dataclass(slots=True)
class DotStatements:
    """Nodes by row: names, clusters as places in `around`; attributes of those that have any."""

    names: list[str] = field(default_factory=list)
    clusters: array[int] = field(default_factory=lambda: array("i"))
    around: list[tuple[str, ...]] = field(default_factory=list)
    attributes: dict[int, Attributes] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)

    def add(self, name: str, attributes: Attributes, clusters: int) -> int:
        """Add a node and return its row."""
        row = len(self.names)
        self.names.append(name)
        self.clusters.append(clusters)
        if attributes:
            self.attributes[row] = attributes
        return row

    def more(self, row: int, attributes: Attributes) -> None:
        """Add attributes to a node that is written once more."""
        if attributes:
            known = self.attributes.setdefault(row, [])
            known += attributes[: MOST_ATTRIBUTES + 1 - len(known)]

    def of(self, row: int) -> Statement:
        """Return one node."""
        around = self.around[self.clusters[row]]
        return Statement(self.names[row], self.attributes.get(row, []), around)


@dataclass(slots=True)
class NodeNames:
    """Names of nodes by number, in the order in which they are mentioned: where each was first, and its row if it has one."""

    numbers: dict[str, int] = field(default_factory=dict)
    begin: array[int] = field(default_factory=lambda: array("q"))
    rows: array[int] = field(default_factory=lambda: array("i"))

    def number(self, name: str, begin: int) -> int:
        """Return the number of a name, mentioned in the statement that begins here."""
        number = self.numbers.setdefault(name, len(self.rows))
        if number == len(self.rows):
            self.begin.append(begin)
            self.rows.append(NO_ROW)
        return number


@dataclass(slots=True)
class DotEdges:
    """Edges as written: numbers of names, the number of the target's port (-1 for none), and the kind as the reader's code."""

    source: array[int] = field(default_factory=lambda: array("i"))
    target: array[int] = field(default_factory=lambda: array("i"))
    port: array[int] = field(default_factory=lambda: array("i"))
    kind: array[int] = field(default_factory=lambda: array("i"))

    def __len__(self) -> int:
        return len(self.source)

    def add(self, source: int, target: int, port: str) -> None:
        """Add an edge of kind 0."""
        self.source.append(source)
        self.target.append(target)
        self.port.append(int(port) if port and port.isascii() and port.isdigit() and len(port) < 9 else -1)
        self.kind.append(0)
