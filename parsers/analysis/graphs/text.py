"""Exports a graph as text: DOT for Graphviz and JSON, of all of it or of the visible part.

Names are data: in DOT they are quoted and escaped, so that Graphviz interprets neither markup nor escapes in them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from parsers.analysis.graphs.network import CONSTANT, KINDS, OPERATOR, PARAMETER, Network
from parsers.analysis.graphs.scopes import Scopes
from parsers.analysis.graphs.visible import Visible

_SHAPES = {OPERATOR: "box", PARAMETER: "ellipse", CONSTANT: "plaintext"}
_SUBGRAPHS = 10_000
"""Maximum clusters; more are of no use to Graphviz."""


def dot(scopes: Scopes, title: str = "") -> Iterator[str]:
    """All shown nodes and edges as a digraph with a cluster for each scope, line by line."""
    network = scopes.network
    yield f"digraph {quoted(title or 'graph')} {{\n  rankdir=TB; node [fontname=sans, fontsize=11];\n"
    yield from _cluster(scopes, 0, 1) if len(scopes) <= _SUBGRAPHS else _flat(network)
    kinds = ("data", "control", "call")
    for place in range(len(network.source)):
        kind = kinds[int(network.control[place]) + 2 * int(network.call[place])]
        about = "" if kind == "data" else f" [style={'dashed' if kind == 'control' else 'dotted'}]"
        yield f"  n{network.source[place]} -> n{network.target[place]}{about};\n"
    yield "}\n"


def visible_dot(visible: Visible, title: str = "") -> Iterator[str]:
    """What is visible as a digraph, frames as clusters, line by line. A link that ends at a frame ends at its first box."""
    inside: dict[int, list[int]] = {}
    for number, item in enumerate(visible.items):
        inside.setdefault(item.parent, []).append(number)
    yield f"digraph {quoted(title or 'graph')} {{\n  compound=true; rankdir=TB; node [shape=box, fontname=sans, fontsize=11];\n"
    yield from _frame(visible, inside, -1, 1)
    for link in visible.links:
        ends = [_first(visible, inside, end) for end in (link.source, link.target)]
        about = [f"label={quoted(f'x{link.count}')}"] if link.count > 1 else []
        about += {"control": ["style=dashed"], "proxy": ["style=dashed"], "call": ["style=dotted"]}.get(link.kind, [])
        for name, end, shown in (("ltail", link.source, ends[0]), ("lhead", link.target, ends[1])):
            about += [f"{name}={quoted('cluster_' + visible.items[end].key)}"] if end != shown else []
        keys = [quoted(visible.items[end].key) for end in ends]
        style = f" [{', '.join(about)}]" if about else ""
        yield f"  {keys[0]} -> {keys[1]}{style};\n"
    yield "}\n"


def as_json(scopes: Scopes, title: str = "") -> str:
    """All shown nodes and edges as JSON: {"name", "nodes": [...], "edges": [...]} with the columns of the schemas."""
    network = scopes.network
    nodes = [
        {
            "id": int(row),
            "name": network.names[row],
            "full_name": network.full_names[row],
            "scope": scopes.paths[scopes.home[row]],
            "type": network.types[network.type[row]],
            "kind": KINDS[network.kind[row]],
            "output_type": network.output_types[network.output_type[row]],
            "shape": network.shapes[network.shape[row]],
        }
        for row in sorted(scopes.nodes.tolist())
    ]
    flows = zip(network.control.tolist(), network.call.tolist(), strict=True)
    kinds = ["control" if control else "call" if call else "data" for control, call in flows]
    columns = (network.source.tolist(), network.target.tolist(), network.output.tolist(), network.input.tolist(), kinds)
    names = ("source", "target", "output", "input", "kind")
    edges = [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
    return json.dumps({"name": title, "nodes": nodes, "edges": edges}, ensure_ascii=True)


def visible_json(visible: Visible, title: str = "") -> str:
    """What is visible as JSON: {"name", "boxes": [...], "links": [...]}; boxes are named by key, links give theirs."""
    items = visible.items
    boxes = [
        {
            "key": item.key,
            "kind": item.kind,
            "in": items[item.parent].key if item.parent >= 0 else None,
            "label": item.label,
            "type": item.type,
            "operators": item.count,
            "members": list(item.members),
            "open": item.opened,
            "beside": [_small(small) for small in item.beside],
        }
        for item in items
    ]
    links = [
        {
            "source": items[link.source].key,
            "target": items[link.target].key,
            "edges": link.count,
            "kind": link.kind,
            "type": link.type,
            "shape": link.shape,
        }
        for link in visible.links
    ]
    return json.dumps({"name": title, "boxes": boxes, "links": links}, ensure_ascii=True)


def quoted(text: str) -> str:
    """Quote a text for DOT so that Graphviz prints it unchanged, on one line."""
    escaped = "".join(one if one >= " " and not "\ud800" <= one <= "\udfff" else "\ufffd" for one in text)
    return '"' + escaped.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _small(small: Any) -> dict[str, Any]:
    return {"kind": small.kind, "label": small.label, "nodes": list(small.nodes), "of": small.box or None}


def _node(network: Network, row: int, depth: int) -> str:
    name = network.full_names[row].rpartition("/")[2] or network.full_names[row]
    about = f"{network.output_types[network.output_type[row]]} {network.shapes[network.shape[row]]}".strip()
    tip = f", tooltip={quoted(about)}" if about else ""
    return f"{'  ' * depth}n{row} [label={quoted(name)}, shape={_SHAPES[int(network.kind[row])]}{tip}];\n"


def _flat(network: Network) -> Iterator[str]:
    for row in range(network.size):
        if network.shown[row]:
            yield _node(network, row, 1)


def _cluster(scopes: Scopes, scope: int, depth: int) -> Iterator[str]:
    for row in scopes.own(scope).tolist():
        yield _node(scopes.network, row, depth)
    for child in scopes.children(scope):
        yield f"{'  ' * depth}subgraph cluster_s{child} {{ label={quoted(scopes.label(child))};\n"
        yield from _cluster(scopes, child, depth + 1)
        yield f"{'  ' * depth}}}\n"


def _frame(visible: Visible, inside: dict[int, list[int]], frame: int, depth: int) -> Iterator[str]:
    space = "  " * depth
    for number in inside.get(frame, []):
        item = visible.items[number]
        if item.opened and number in inside:
            yield f"{space}subgraph {quoted('cluster_' + item.key)} {{ label={quoted(item.label)};\n"
            yield from _frame(visible, inside, number, depth + 1)
            yield f"{space}}}\n"
            continue
        many = f" x{len(item.members)}" if len(item.members) > 1 else ""
        label = item.label + many or f"{item.count}"
        yield f"{space}{quoted(item.key)} [label={quoted(label)}];\n"


def _first(visible: Visible, inside: dict[int, list[int]], number: int) -> int:
    while visible.items[number].opened and number in inside:
        number = inside[number][0]
    return number
