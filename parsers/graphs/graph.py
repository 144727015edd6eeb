"""The class of a decoded graph, the same for every format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple, Protocol

from parsers.deferred import pandas as pd
from parsers.model import Problem


class SourceLine(NamedTuple):
    """A location in the user's program: file as written, first and last line (0: unknown), the code there."""

    file: str
    first: int
    last: int
    code: str


class Details(Protocol):
    """What a format decodes of a node on demand; row is the node's id and always valid."""

    def attributes(self, row: int) -> dict[str, str]:
        """Return name -> text of everything in the file about a node that is in no column."""
        ...

    def raw(self, row: int) -> bytes:
        """Return the node's bytes in the file: if equal in two graphs of one format, so are its attributes. b"" if unknown."""
        ...

    def mentions(self, word: str) -> Iterable[int]:
        """Return the rows whose bytes contain a word: a superset of those with an attribute of that name."""
        ...

    def source_lines(self, row: int) -> tuple[SourceLine, ...]:
        """Return the source lines of a node, outermost call first."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        ...


class Origin(NamedTuple):
    """The origin of a graph's bytes: file, offset in it, wall time in seconds, compile stage."""

    path: str
    offset: int = 0
    wall_time: float = 0.0
    stage: str = ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Graph:
    """One graph. A node's id is its row in `nodes` (schema NODES); `edges` matches EDGES and names nodes by id.

    name is its name among the graphs of its run, title the name in the file (may be empty), path the file, offset its first
    byte, wall_time when it was written in seconds (of the event, or of the file if it holds only the graph), stage the compile
    stage in the file name ("" for none), format the name of one of `formats.FORMATS`. outputs are the ids of the nodes whose
    values leave the graph, in order; problems is the damage found, notes what its writer always leaves out.
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
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Graph({self.name!r}, nodes={len(self.nodes)}, edges={len(self.edges)}, problems={len(self.problems)})"

    @classmethod
    def of(
        cls, origin: Origin, title: str, form: str, nodes: pd.DataFrame, edges: pd.DataFrame, outputs: Sequence[int],
        problems: Sequence[Problem], details: Details, notes: Sequence[str] = (),
    ) -> Graph:  # fmt: skip
        """Build a graph from its parts, named by the title in the file."""
        size = int(nodes.memory_usage(deep=True).sum() + edges.memory_usage(deep=True).sum()) + details.nbytes
        return cls(
            title, title, origin.path, origin.offset, origin.wall_time, origin.stage, form, nodes, edges, tuple(outputs),
            tuple(problems), details, size, tuple(notes),
        )  # fmt: skip

    def attributes(self, node: int) -> dict[str, str]:
        """Return name -> text of all attributes of a node; a repeated name gets a number.

        IndexError for a node that is none.
        """
        return self.details.attributes(self._row(node))

    def raw(self, node: int) -> bytes:
        """Return the bytes of a node in the file; nodes of two graphs of one format with equal bytes have equal attributes.

        b"" where the format does not keep it. IndexError for a node that is none.
        """
        return self.details.raw(self._row(node))

    def having(self, name: str) -> dict[int, str]:
        """Return node -> text of one attribute, for all nodes that have it, also in a group of attributes as in .ir.

        Only nodes whose bytes contain the name are decoded.
        """
        found: dict[int, str] = {}
        for row in self.details.mentions(name):
            for key, text in self.details.attributes(row).items():
                if key == name or key.endswith(f".{name}"):
                    found.setdefault(row, text)
        return found

    def source_lines(self, node: int) -> tuple[SourceLine, ...]:
        """Return the lines of the user's program a node comes from, outermost call first; none if the file has none.

        IndexError for a node that is none.
        """
        return self.details.source_lines(self._row(node))

    def named(self, name: str) -> Graph:
        """Return the same graph under another name."""
        return replace(self, name=name)

    def _row(self, node: int) -> int:
        if not 0 <= node < len(self.nodes):
            raise IndexError(f"{self.name}: expected node 0 to {len(self.nodes) - 1:,}, found {node:,}")
        return node


MOST_ATTRIBUTES = 10_000
"""Maximum attributes of a node; a last one says that there are more."""


def unique(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Build name -> text; a repeated name gets a number."""
    found: dict[str, str] = {}
    last: dict[str, int] = {}
    for name, text in islice(pairs, MOST_ATTRIBUTES + 1):
        key = name
        if name in found:
            number = last.get(name, 1) + 1
            while (key := f"{name} #{number}") in found:
                number += 1
            last[name] = number
        found[key] = text
    if len(found) > MOST_ATTRIBUTES:
        found.popitem()
        found["…"] = f"only the first {MOST_ATTRIBUTES:,} attributes are shown"
    return found
