"""What a graph is, whatever file it came from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import pandas as pd

from parsers.model import Problem


class SourceLine(NamedTuple):
    """Where in the user's program a node comes from: file as written, first and last line (0: not known), the code there."""

    file: str
    first: int
    last: int
    code: str


class Details(Protocol):
    """What a format can say of a node when it is asked; row is the node's id and always one of the graph."""

    def attributes(self, row: int) -> dict[str, str]:
        """Name -> text of everything the file says of a node that is in no column."""
        ...

    def raw(self, row: int) -> bytes:
        """What the file holds of the node: where it is equal in two graphs of one format, attributes are. b"" for not known."""
        ...

    def mentions(self, word: str) -> Iterable[int]:
        """Rows whose part of the file holds a word, among them all for which the file writes an attribute of that name."""
        ...

    def source_lines(self, row: int) -> tuple[SourceLine, ...]:
        """Where the node comes from, outermost call first."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        ...


class Origin(NamedTuple):
    """Where the bytes of a graph are from: file, offset in it, wall time in seconds, compile stage."""

    path: str
    offset: int = 0
    wall_time: float = 0.0
    stage: str = ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Graph:
    """One graph. A node's id is its row in `nodes` (schema NODES); `edges` matches EDGES and names nodes by id.

    name is its name among the graphs of its run, title the one written in the file (may be empty), path the file, offset the
    byte it begins at, wall_time when it was written in seconds (of the event; of the file where it is one of its own), stage
    the compile stage the file is named after ("" for none), format the name of one of `formats.FORMATS`. outputs are the ids
    of the nodes whose values leave the graph, in order; problems what could not be read.
    """

    name: str
    title: str
    path: str
    offset: int
    wall_time: float
    stage: str
    format: str
    nodes: pd.DataFrame
    edges: pd.DataFrame
    outputs: tuple[int, ...]
    problems: tuple[Problem, ...]
    details: Details
    nbytes: int = 0

    def __repr__(self) -> str:
        return f"Graph({self.name!r}, nodes={len(self.nodes)}, edges={len(self.edges)}, problems={len(self.problems)})"

    @classmethod
    def of(
        cls, origin: Origin, title: str, form: str, nodes: pd.DataFrame, edges: pd.DataFrame, outputs: Sequence[int],
        problems: Sequence[Problem], details: Details,
    ) -> Graph:  # fmt: skip
        """A graph of these parts, named as the file calls it."""
        size = int(nodes.memory_usage(deep=True).sum() + edges.memory_usage(deep=True).sum()) + details.nbytes
        return cls(
            title, title, origin.path, origin.offset, origin.wall_time, origin.stage, form, nodes, edges, tuple(outputs),
            tuple(problems), details, size,
        )  # fmt: skip

    def attributes(self, node: int) -> dict[str, str]:
        """Name -> text of all attributes of a node, none left out; of two of one name the later one gets a number.

        IndexError for a node that is none.
        """
        return self.details.attributes(self._row(node))

    def raw(self, node: int) -> bytes:
        """What the file holds of a node; nodes of two graphs of one format for which it is equal have equal attributes.

        b"" where the format does not keep it. IndexError for a node that is none.
        """
        return self.details.raw(self._row(node))

    def having(self, name: str) -> dict[int, str]:
        """The text of one attribute by node, for all nodes that have it; in a group of attributes, too, as .ir has them.

        name is one that the file writes. Only nodes whose part of the file mentions it are decoded.
        """
        found: dict[int, str] = {}
        for row in self.details.mentions(name):
            for key, text in self.details.attributes(row).items():
                if key == name or key.endswith(f".{name}"):
                    found.setdefault(row, text)
        return found

    def source_lines(self, node: int) -> tuple[SourceLine, ...]:
        """Lines of the user's program a node comes from, outermost call first; none where the file does not say.

        IndexError for a node that is none.
        """
        return self.details.source_lines(self._row(node))

    def named(self, name: str) -> Graph:
        """The same graph under another name."""
        return replace(self, name=name)

    def _row(self, node: int) -> int:
        if not 0 <= node < len(self.nodes):
            raise IndexError(f"{self.name}: expected node 0 to {len(self.nodes) - 1:,}, found {node:,}")
        return node


def unique(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Name -> text, where a name that comes again gets a number."""
    found: dict[str, str] = {}
    for name, text in pairs:
        key, number = name, 1
        while key in found:
            number += 1
            key = f"{name} #{number}"
        found[key] = text
    return found
