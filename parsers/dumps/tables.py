"""Makes the frames of a dump from what was listed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.dump_frames import DUMP_EXECUTIONS, DUMP_OVERFLOWS, DUMP_TENSORS
from parsers.dumps.graphs import GraphFlow, flow_of
from parsers.dumps.listing import TensorListing
from parsers.dumps.msprobe import scope_of
from parsers.graphs.graph import Graph
from parsers.model import NOTE, Ints
from parsers.names import printable
from parsers.schema import Schema

Codes = NDArray[np.int32]
_PIECE = 1 << 13
Flows = dict[tuple[str, int], GraphFlow]
"""(directory of the rank, number of the graph) -> what its graph says."""


@dataclass(slots=True)
class TensorTables:
    """The frame of tensors, and for each of its rows the row of the listing. series: equal for rows of one tensor in all
    iterations of a rank. files and sizes are columns of it, of which a cell takes 0.1 ms; mtimes those of files, in ns. dumped
    says which rows have values."""

    tensors: pd.DataFrame
    listed: Ints
    series: Ints
    flows: Flows = field(default_factory=dict)
    mtimes: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    files: Any = field(init=False)
    sizes: Ints = field(init=False)
    dumped: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.files, self.sizes = self.tensors["file"].array, self.tensors["size_bytes"].to_numpy()
        self.dumped = np.asarray(self.tensors["file"] != "", np.bool_)


def tables_of(
    listing: TensorListing, load: Callable[[str], Graph], parents: Callable[[int], Mapping[str, str]]
) -> TensorTables:
    """Make the frame of tensors (schema DUMP_TENSORS). load decodes a graph, parents gives a context's modules."""
    if not listing.context:
        return TensorTables(DUMP_TENSORS.empty(), np.empty(0, np.int64), np.empty(0, np.int64))
    context, template = np.array(listing.context, np.int32), np.array(listing.template, np.int32)
    time = np.array(listing.time_ns, np.int64)
    of_context = {
        name: np.array([getattr(one, name) for one in listing.contexts], np.int64) for name in ("rank", "graph", "iteration")
    }
    rank, iteration = of_context["rank"][context], of_context["iteration"][context]
    rows = np.lexsort((time, iteration, rank))
    context, template, time = context[rows], template[rows], time[rows]
    templates = list(listing.templates)
    flows, names = _named(listing, context, template, load, parents)
    columns: dict[str, Any] = {"file": _files(listing, rows)}
    columns |= {name: values[context] for name, values in of_context.items()}
    columns |= {name: _texts([getattr(one, name) for one in listing.contexts], context) for name in ("part", "net")}
    for name in ("type", "recorded", "io", "key", "dtype", "shape", "format"):
        columns[name] = _texts([getattr(one, name) for one in templates], template)
    columns["slot"] = np.array([one.slot for one in templates], np.int64)[template]
    columns["name"], columns["scope"] = _texts(names.name, names.group), _texts(names.scope, names.group)
    columns["parameter"] = _texts(names.parameter, names.group)
    columns["order"] = _orders(listing, context, template, np.array(names.order, np.int64)[names.group], rows)
    columns["size_bytes"] = np.array(listing.size, np.int64)[rows]
    columns["time_ns"] = time
    series = _series(listing, context, template)
    columns["occurrence"] = _occurrences(series, columns["iteration"])
    frame = pd.DataFrame({name: columns[name] for name in DUMP_TENSORS.names}, copy=False)
    times = np.array(listing.mtime_ns, np.int64)[rows]
    return TensorTables(DUMP_TENSORS.check(frame), rows.astype(np.int64), series, flows, times)


def _files(listing: TensorListing, rows: Ints) -> Any:
    """Return the paths below the run of these rows as texts, and let go of the names: they are most of what a listing takes."""
    shown = [one.shown for one in listing.contexts]
    names, contexts = listing.name, listing.context
    pieces = []
    for at in range(0, len(rows), _PIECE):
        paths = []
        for row in rows[at : at + _PIECE].tolist():
            name = names[row]
            if not name.isascii() and printable(name) != name:
                listing.strange[row] = name
                name = printable(name)
            paths.append(shown[contexts[row]] + name if name else "")
        pieces.append(pd.Series(paths, dtype="str"))
    names.clear()
    return pd.concat(pieces, ignore_index=True).array


def _texts(texts: Sequence[str], places: Codes) -> Any:
    """Return a categorical of texts[place] for each place."""
    known: dict[str, int] = {}
    codes = np.fromiter((known.setdefault(text, len(known)) for text in texts), np.int32, len(texts))
    return pd.Categorical.from_codes(codes[places], categories=pd.Index(list(known), dtype="str"))


@dataclass(slots=True)
class _TensorNames:
    """Name, scope, parameter and order of each group of rows with one graph and template; group is that of each row."""

    group: Codes
    name: list[str] = field(default_factory=list)
    scope: list[str] = field(default_factory=list)
    parameter: list[str] = field(default_factory=list)
    order: list[int] = field(default_factory=list)


def _named(
    listing: TensorListing, context: Codes, template: Codes, load: Callable[[str], Graph],
    parents: Callable[[int], Mapping[str, str]]
) -> tuple[Flows, _TensorNames]:
    graphs: dict[tuple[str, int], int] = {}
    of_msprobe = [one.root not in listing.ranks for one in listing.contexts]
    keys = [
        graphs.setdefault((f"{one.root}\0{place}" if new else one.root, one.graph), len(graphs))
        for place, (one, new) in enumerate(zip(listing.contexts, of_msprobe, strict=True))
    ]
    pairs = np.array(keys, np.int64)[context] * len(listing.templates) + template
    unique, group = np.unique(pairs, return_inverse=True)
    templates = list(listing.templates)
    pieces = [divmod(int(pair), len(templates)) for pair in unique.tolist()]
    by_graph: dict[int, list[int]] = {}
    for graph, place in pieces:
        by_graph.setdefault(graph, []).append(place)
    numbered = {number: key for key, number in graphs.items()}
    flows: Flows = {}
    above: dict[int, Mapping[str, str]] = {}
    for graph, places in by_graph.items():
        root, number = numbered[graph]
        if root in listing.ranks:
            operators = [one.recorded for one in map(templates.__getitem__, places) if one.io not in ("parameter", "constant")]
            given = [one.recorded for one in map(templates.__getitem__, places) if one.io == "parameter"]
            distinct = list(dict.fromkeys(operators)), list(dict.fromkeys(given))
            flows[root, number] = flow_of(listing, root, number, *distinct, load)
        else:
            above[graph] = parents(int(root.rpartition("\0")[2]))
    _report_missing(listing, flows)
    found = _TensorNames(group.astype(np.int32).reshape(-1))
    for graph, place in pieces:
        one = templates[place]
        if graph in above:
            _add(
                found, one.recorded, scope_of(above[graph].get(one.recorded, "")), one.key if one.io == "parameter" else "", -1
            )
            continue
        flow = flows[numbered[graph]]
        if one.io in ("parameter", "constant"):
            name = flow.parameters.get(one.recorded, one.recorded)
            _add(found, name, name.rpartition("/")[0], name if one.io == "parameter" else "", -1)
        else:
            name = flow.names.get(one.recorded, one.recorded)
            held = flow.holds.get((name, one.slot), "") if one.io == "input" else ""
            _add(found, name, name.rpartition("/")[0], held, flow.orders.get(name, -1))
    return flows, found


def _add(names: _TensorNames, name: str, scope: str, parameter: str, order: int) -> None:
    names.name.append(name)
    names.scope.append(scope)
    names.parameter.append(parameter)
    names.order.append(order)


def _report_missing(listing: TensorListing, flows: Flows) -> None:
    """Note which graphs and execution orders are missing: what the dump has is read without them."""
    for root in listing.ranks:
        files = listing.ranks[root]
        numbers = sorted(number for above, number in flows if above == root and number >= 0)
        without = [number for number in numbers if number not in files.graphs and number not in files.texts]
        unordered = [number for number in numbers if number not in files.orders]
        if without:
            text = f"Expected the graph in graphs/, found none of {_listed(without)}: names are those in the files."
            listing.problem(root, text, NOTE)
        if unordered:
            text = f"Expected the order in execution_order/, found none of {_listed(unordered)}: operators are by time."
            listing.problem(root, text, NOTE)


def _listed(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:5]))
    return f"graph {shown}" if len(numbers) == 1 else f"graphs {shown}{' ...' if len(numbers) > 5 else ''}"


def _orders(listing: TensorListing, context: Codes, template: Codes, order: Ints, rows: Ints) -> Ints:
    """Return the order of each row's operator; msprobe's entries are in the order of their file."""
    new = np.array([one.root not in listing.ranks for one in listing.contexts], np.bool_)[context]
    if not new.any():
        return order
    recorded: dict[str, int] = {}
    codes = np.array([recorded.setdefault(one.recorded, len(recorded)) for one in listing.templates], np.int64)[template]
    keys = context.astype(np.int64) * len(recorded) + codes
    by_row = np.argsort(rows, kind="stable")
    unique, first, inverse = np.unique(keys[by_row], return_index=True, return_inverse=True)
    place = np.empty(len(unique), np.int64)
    place[np.argsort(first, kind="stable")] = np.arange(len(unique))
    begins = np.full(len(listing.contexts), np.iinfo(np.int64).max)
    np.minimum.at(begins, unique // len(recorded), place)
    found = np.empty(len(order), np.int64)
    found[by_row] = (place - begins[unique // len(recorded)])[inverse]
    return np.where(new, found, order)


def _series(listing: TensorListing, context: Codes, template: Codes) -> Ints:
    """Number the tensors: rows of the same tensor in several iterations have the same number."""
    known: dict[tuple[Any, ...], int] = {}
    keys = [known.setdefault((one.root, one.part, one.rank, one.graph, one.net), len(known)) for one in listing.contexts]
    tensors: dict[tuple[Any, ...], int] = {}
    codes = [tensors.setdefault((one.type, one.recorded, one.io, one.slot, one.key), len(tensors)) for one in listing.templates]
    pairs = np.array(keys, np.int64)[context] * len(tensors) + np.array(codes, np.int64)[template]
    inverse: Ints = np.unique(pairs, return_inverse=True)[1].astype(np.int64).reshape(-1)
    return inverse


def _occurrences(series: Ints, iteration: Ints) -> Ints:
    """Return how many earlier rows have the same tensor and iteration."""
    order = np.lexsort((np.arange(len(series)), iteration, series))
    new = np.ones(len(series), np.bool_)
    new[1:] = (np.diff(series[order]) != 0) | (np.diff(iteration[order]) != 0)
    begins = np.maximum.accumulate(np.where(new, np.arange(len(series)), 0))
    found = np.empty(len(series), np.int64)
    found[order] = np.arange(len(series)) - begins
    return found


def executions_of(listing: TensorListing, tensors: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of graphs (schema DUMP_EXECUTIONS); of those that the dump lists also runs without tensors.

    An iteration that is still written has tensors before the dump lists it.
    """
    with_data = tensors[(tensors["iteration"] >= 0).to_numpy()]
    columns = (with_data[name].tolist() for name in ("rank", "part", "graph", "iteration", "time_ns"))
    counted: dict[tuple[int, str, int, int], tuple[int, int]] = {}
    for *key, time in zip(*columns, strict=True):
        count, first = counted.get((key[0], key[1], key[2], key[3]), (0, time))
        counted[key[0], key[1], key[2], key[3]] = (count + 1, min(first, time))
    found: list[tuple[int, str, int, int, int, bool, int, int]] = []
    listed: set[tuple[int, str, int, int]] = set()
    numbers: dict[tuple[int, str, int], int] = {}
    for root, files in listing.ranks.items():
        part = printable(os.path.basename(root))
        rank = next((one.rank for one in listing.contexts if one.root == root), 0)
        for graph, runs in sorted(files.runs.items()):
            numbers[rank, part, graph] = len(runs) - 1
            listed.update((rank, part, graph, iteration) for iteration in runs)
            for place, iteration in enumerate(runs):
                count, time = counted.get((rank, part, graph, iteration), (0, -1))
                found.append((rank, part, graph, iteration, place, True, count, time))
    for rank, part, graph, iteration in sorted(counted, key=lambda key: (*key[:3], counted[key][1], key[3])):
        if (rank, part, graph, iteration) not in listed:
            place = numbers[rank, part, graph] = numbers.get((rank, part, graph), -1) + 1
            found.append((rank, part, graph, iteration, place, False, *counted[rank, part, graph, iteration]))
    return frame_of_rows(DUMP_EXECUTIONS, found)


def overflows_of(listing: TensorListing) -> pd.DataFrame:
    """Return the overflows that devices reported (schema DUMP_OVERFLOWS)."""
    names = ("name", "type", "unit", "task", "stream", "status", "time_ns", "file")
    places = [listing.contexts[one.context] for one in listing.overflows]
    rows = [
        (place.rank, place.iteration, *(getattr(one, name) for name in names))
        for place, one in zip(places, listing.overflows, strict=True)
    ]
    return frame_of_rows(DUMP_OVERFLOWS, rows)


def frame_of_rows(schema: Schema, rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    """Return a frame of the schema from its rows."""
    if not rows:
        return schema.empty()
    columns = {}
    for column, values in zip(schema.columns, zip(*rows, strict=True), strict=True):
        texts = column.dtype == "category"
        columns[column.name] = categorical(values) if texts else np.array(values, np.dtype(column.dtype))
    return schema.check(pd.DataFrame(columns, copy=False))


def categorical(texts: Sequence[str]) -> Any:
    """Return a categorical of texts, categories in order of appearance."""
    return _texts(texts, np.arange(len(texts), dtype=np.int32))
