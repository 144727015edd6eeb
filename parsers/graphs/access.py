"""The graphs of a run by name: indexed while its files are read, decoded on demand."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from parsers.errors import FormatError, PayloadError
from parsers.file_states import FileState
from parsers.graphs import anf_ir, tensorflow
from parsers.graphs.formats import decoded, format_named, stage_of
from parsers.graphs.graph import Graph, Origin
from parsers.graphs.reader import read_file
from parsers.model import Cursor, Problem
from parsers.names import printable
from parsers.payloads.cache import PayloadCache
from parsers.payloads.payload_reading import ValueLocation, read

# reader of an event file -> format of the graphs in it
_IN_EVENTS = {"events": anf_ir.FORMAT, "tensorboard": tensorflow.FORMAT}


@dataclass(frozen=True, slots=True)
class GraphLocation:
    """Location of a graph that need not be decoded yet: name, file, byte offset, bytes, wall time in s, step, compile stage.

    format is "" if only the bytes reveal it.
    """

    name: str
    path: str
    offset: int
    length: int
    wall_time: float
    step: int
    stage: str
    format: str
    order: int
    cursor: Cursor | None
    verified: bool
    identity: object
    state: FileState


class Graphs(Mapping[str, Graph]):
    """Name -> graph, in file order.

    A name is the file's path below the run's directory; the second graph of a file is named `<path> #2`. Iterating and
    counting decode nothing. A lookup raises KeyError for an unknown name and PayloadError if the bytes cannot be read;
    damage within them is in the graph's `problems`, and from then on in the run's.
    """

    def __init__(
        self,
        locations: Mapping[str, GraphLocation],
        cache: PayloadCache,
        checked: Callable[[FileState, object, int], None],
        noted: Callable[[FileState, object, Sequence[Problem]], None],
    ) -> None:
        self.locations = locations
        self._cache = cache
        self._checked = checked
        self._noted = noted

    def __repr__(self) -> str:
        return f"Graphs({', '.join(map(repr, self.locations))})"

    def __len__(self) -> int:
        return len(self.locations)

    def __iter__(self) -> Iterator[str]:
        return iter(self.locations)

    def __contains__(self, name: object) -> bool:
        return name in self.locations

    def __getitem__(self, name: str) -> Graph:
        place = self.locations[name]
        key = (place.identity, "graph", place.order, place.offset)
        graph: Graph | None = self._cache.get(key)
        if graph is None:
            graph = self._read(place).named(name)
            self._cache.put(key, graph)
            self._noted(place.state, place.identity, graph.problems)
        return graph

    def is_cached(self, name: str) -> bool:
        """Return whether a graph is in memory, so that a lookup decodes nothing."""
        place = self.locations[name]
        return self._cache.get((place.identity, "graph", place.order, place.offset)) is not None

    def _read(self, place: GraphLocation) -> Graph:
        try:
            if not place.format:
                return read_file(place.path, place.cursor, self._cache.stored)
            form = format_named(place.format)
            form.check(place.length)
            data = read(ValueLocation(place.path, place.order, place.offset, place.length, place.cursor, place.verified))
            if not place.verified:
                self._checked(place.state, place.identity, place.order)
            origin = Origin(place.path, place.offset, place.wall_time, place.stage)
            return decoded(form, bytes(data), origin, self._cache.stored)
        except PayloadError:
            raise
        except FormatError as error:
            raise PayloadError(f"graph {place.name}: {error}", place.path, place.order) from error
        except OSError as error:
            text = f"graph {place.name}: the file cannot be read: {error.strerror or error}"
            raise PayloadError(text, place.path, place.order) from error
        except MemoryError as error:
            raise PayloadError(f"graph {place.name}: it does not fit in memory", place.path, place.order) from error


def locations_of(directory: str, states: Mapping[str, FileState]) -> dict[str, GraphLocation]:
    """Return the location of every graph of a run by name; directory is that of the run."""
    found: dict[str, GraphLocation] = {}
    for path, state in states.items():
        blocks = [block for kind, tag in state.payloads if kind == "graph" for block in state.index(kind, tag)]
        rows = [
            (order, offset, row, block)
            for block in blocks
            for row, (order, offset) in enumerate(zip(block.order.tolist(), block.offset.tolist(), strict=True))
        ]
        form = _IN_EVENTS.get(state.reader, "")
        shown = printable(os.path.relpath(path, directory)).replace(os.sep, "/")
        for order, offset, row, block in sorted(rows, key=lambda one: one[:2]):
            name, number = shown, 1
            while name in found:
                number += 1
                name = f"{shown} #{number}"
            found[name] = GraphLocation(
                name, path, offset, int(block.length[row]), float(block.wall_time[row]), int(block.step[row]),
                "" if form else stage_of(os.path.basename(shown)), form, order, state.cursor,
                state.verified("graph", block.tag, order), state.identity, state,
            )  # fmt: skip
    return found
