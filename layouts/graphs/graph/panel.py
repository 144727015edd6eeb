"""The panel beside the canvas about the chosen box: a node with its inputs and outputs, or a scope and its contents.

Texts from files are children of components, so the browser never interprets them as HTML. An element with data-go jumps to the
box of that name (assets/graphs/graph/side.js).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from dash import html
from parsers import PayloadError
from parsers.analysis.graphs import ROLES, GraphView
from parsers.analysis.graphs.network import CONSTANT, KINDS, OPERATOR, PARAMETER, Ints
from parsers.analysis.graphs.opened import OpenGraph, comparable
from parsers.analysis.graphs.sharing import spans
from parsers.analysis.graphs.sizes import type_bytes, values
from parsers.deferred import pandas as pd

from layouts.graphs.graph_views import Of, Views
from layouts.graphs.names import key_of, row_of
from layouts.kit import units as fmt
from layouts.kit.elements import icon
from layouts.kit.i18n import t
from layouts.kit.tables import named_values
from layouts.profiles.links import address
from layouts.profiles.profile_choice import ProfileChoice

MOST_LINES = 1_000
"""Maximum number of inputs, outputs or members listed."""
MOST_TYPES = 40
MOST_PARAMETERS = 50
LONG = 240
"""Attributes with more characters are folded."""
LONGEST = 100_000
"""Maximum characters of an attribute shown; the download has all."""


def panel(views: Views, of: Of, name: str, profile: ProfileChoice | None = None) -> Any:
    """Return the contents of the panel for the box with a name, or for the whole graph if there is no such box.

    profile: one of the same run that has a trace, to which operators link.
    """
    try:
        opened, view = views.of(of)
    except PayloadError:
        return []  # the canvas shows the error
    key = key_of(view, name)
    if key[:1] == "n":
        return _node(opened, view, row_of(view, name), profile)
    if key[:1] == "f":
        return _fold(view, row_of(view, name))
    return _scope(opened, view, of, int(key[1:]) if key else 0, stack=key[:1] == "k")


# A node ---------------------------------------------------------------------------------------------------------------


def _node(opened: OpenGraph, view: GraphView, row: int, profile: ProfileChoice | None) -> list[Any]:
    network = view.network
    nodes = network.nodes
    full = network.full_names[row]
    scope = int(view.scopes.home[row])
    instance = str(nodes["instance"].iloc[row])
    kind = KINDS[int(network.kind[row])]
    known: list[tuple[str, Any]] = [
        ("type", network.types[network.type[row]]),
        ("kind", t(f"graph.kind.{kind}")),
        ("full_name", full),
        ("scope", _jump(f"s:{view.scopes.paths[scope]}", view.scopes.paths[scope]) if scope else ""),
        ("output_type", network.output_types[network.output_type[row]]),
        ("shape", network.shapes[network.shape[row]]),
        ("bytes", _bytes(view, row) if kind != "operator" else ""),
        ("instance", instance),
        ("function", str(nodes["subgraph"].iloc[row])),
    ]
    parts: list[Any] = [_head(network.label(row), kind)]
    if not network.shown[row]:
        parts.append(html.P(t("graph.not_drawn"), className="ms-graph-note"))
    parts += _changes(opened, row)
    parts.append(_facts(known))
    if profile is not None and kind == "operator" and opened.state(row) != "added":
        text = [icon("timeline"), t("graph.timeline")]
        link = html.A(text, className="ms-button", **address("timeline", profile, first=full))
        parts.append(html.P(link, className="ms-graph-note"))
    if network.shown[row]:
        parts.append(_tracing(row))
    into, out = np.flatnonzero(network.target == row), np.flatnonzero(network.source == row)
    into = into[np.argsort(network.input[into], kind="stable")]
    ordering, call = network.control, network.call
    for name, places, ends in (
        ("inputs", into[~ordering[into] & ~call[into]], network.source),
        ("outputs", out[~ordering[out] & ~call[out]], network.target),
        ("control_inputs", into[ordering[into]], network.source),
        ("control_outputs", out[ordering[out]], network.target),
        ("calls", out[call[out]], network.target),
        ("called", into[call[into]], network.source),
    ):
        parts += _section(name, _ends(view, places, ends, f"n{row}"))
    attributes = opened.attributes(row)
    parts += _section("attributes", [_attribute(row, name, text) for name, text in attributes.items()])
    parts += _section("source", [_line(*line) for line in opened.source_lines(row)])
    return parts


def _tracing(row: int) -> html.Div:
    """Buttons that trace a node (assets/graphs/graph/side.js)."""
    buttons = [
        html.Button(t(f"graph.trace.{kind}"), type="button", className="ms-button", **{"data-trace": trace})
        for kind, trace in (("up", f"up:0:n{row}"), ("down", f"down:0:n{row}"), ("between", f"path:n{row}:"))
    ]
    return html.Div(buttons, className="ms-graph-trace")


def _changes(opened: OpenGraph, row: int) -> list[Any]:
    """The result of a comparison for a node: present in one graph only, or the fields that differ."""
    state = opened.state(row)
    if state == "same" or opened.compared is None:
        return []
    said = html.P(t(f"graph.state.{state}"), className=f"ms-graph-note ms-graph-state-{state}")
    if state != "changed":
        return [said]
    other, there = opened.compared.graph, int(opened.compared.both.second[row])
    lines = []
    for field in opened.compared.difference.changed[row]:
        if field != "attributes":
            column = "full_name" if field == "name" else field
            values_of = opened.graph.nodes[column].iloc[row], other.nodes[column].iloc[there]
            lines.append(_change(t(f"graph.fact.{column}"), *values_of))
            continue
        mine, theirs = comparable(opened.graph, row), comparable(other, there)
        differing = [name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name)]
        lines += [_change(name, mine.get(name, "–"), theirs.get(name, "–")) for name in differing]
    return [said, *_section("changes", lines)]


def _change(name: Any, before: Any, after: Any) -> html.Div:
    old, new = _around(str(before), str(after))
    values = [html.Span(old, className="ms-graph-before"), " → ", html.Span(new)]
    label = html.Span(name, className="ms-graph-attribute-name")
    return html.Div([label, html.Span(values, className="ms-mono ms-graph-value")], className="ms-graph-attribute")


def _around(before: str, after: str) -> tuple[str, str]:
    """Cut two differing texts to the surroundings of the first difference if one of them is long."""
    if max(len(before), len(after)) <= LONG:
        return before, after
    pairs = enumerate(zip(before, after, strict=False))
    shared = next((place for place, (one, other) in pairs if one != other), min(len(before), len(after)))
    begin = max(0, shared - LONG // 4)
    parts = (text[begin : begin + LONG] for text in (before, after))
    old, new = (f"{'… ' if begin else ''}{part}{' …' if begin + LONG < len(text) else ''}"
                for part, text in zip(parts, (before, after), strict=True))  # fmt: skip
    return old, new


def _bytes(view: GraphView, row: int) -> str:
    network = view.network
    held = int(values([network.shapes[network.shape[row]]])[0])
    each = int(type_bytes([network.output_types[network.output_type[row]]])[0])
    return f"{fmt.size(held * each)} ({fmt.count(held)})" if held and each else ""


def _ends(view: GraphView, places: Ints, ends: Ints, of: str) -> list[Any]:
    """A line per edge: a link to the other end, with the type and shape the edge carries."""
    network = view.network
    lines = []
    for place in places[:MOST_LINES].tolist():
        other, row = int(ends[place]), int(network.edge[place])
        carried = f"{network.edges['type'].iloc[row]} {network.edges['shape'].iloc[row]}".strip() if row >= 0 else ""
        output = int(network.output[place])
        notes = [carried, *([f"[{output}]"] if output else [])]
        name = network.label(other)
        lines.append(_jump_line(f"n{other}", name, " ".join(note for note in notes if note), network.full_names[other]))
    return [*lines, *_more(len(places), of=of)]


def links(view: GraphView, row: int) -> pd.DataFrame:
    """Return every edge of a node: direction, output and input it connects, kind, dtype, shape, node at the other end."""
    network = view.network
    known = network.edges[["kind", "type", "shape"]]
    lines = []
    for direction, own, end in (("input", network.target, network.source), ("output", network.source, network.target)):
        for place in np.flatnonzero(own == row).tolist():
            edge = int(network.edge[place])
            said = known.iloc[edge].tolist() if edge >= 0 else ["control" if network.control[place] else "data", "", ""]
            joined = int(network.output[place]), int(network.input[place])
            lines.append([direction, *joined, *said, *_listed(view, int(end[place]))])
    return pd.DataFrame(lines, columns=["direction", "output", "input", "edge", "carried_type", "carried_shape", *_LISTED])


def members(view: GraphView, row: int) -> pd.DataFrame:
    """Return every node of the aggregate whose first node is `row`."""
    return pd.DataFrame([_listed(view, one) for one in _folded(view, row)], columns=_LISTED)


_LISTED = ["full_name", "type", "kind", "output_type", "shape"]


def _listed(view: GraphView, row: int) -> list[str]:
    network = view.network
    texts = network.output_types[network.output_type[row]], network.shapes[network.shape[row]]
    return [network.full_names[row], network.types[network.type[row]], KINDS[int(network.kind[row])], *texts]


def _attribute(row: int, name: str, text: str) -> html.Div:
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
    label = html.Span(name, className="ms-graph-attribute-name")
    if len(text) <= LONG:
        return html.Div([label, html.Span(shown, className="ms-mono ms-graph-value")], className="ms-graph-attribute")
    summary = html.Summary([label, html.Span(f"{text[:60]} …", className="ms-mono ms-muted ms-cut")])
    parts: list[Any] = [html.Details([summary, html.Pre(shown, className="ms-mono")])]
    if len(text) > LONGEST:
        said = t("graph.attribute.cut", n=fmt.count(LONGEST), total=fmt.count(len(text)))
        save = html.Button(
            t("graph.attribute.save"), type="button", className="ms-graph-jump",
            **{"data-save": "attribute", "data-node": f"n{row}", "data-attribute": name},
        )  # fmt: skip
        parts.append(html.P([said, " ", save], className="ms-muted"))
    return html.Div(parts, className="ms-graph-attribute")


def _line(file: str, first: int, last: int, code: str) -> html.Div:
    at = f":{first}" if first else ""
    at += f"-{last}" if last and last != first else ""
    parts: list[Any] = [html.Div(f"{file}{at}", className="ms-mono ms-graph-value")]
    return html.Div([*parts, *([html.Pre(code, className="ms-mono ms-graph-code")] if code else [])])


# A scope, a stack of equal scopes, an aggregate ----------------------------------------------------------------------


def _scope(opened: OpenGraph, view: GraphView, of: Of, scope: int, *, stack: bool) -> list[Any]:
    tree = view.scopes
    members: Sequence[int] = (scope,)
    if stack:
        above = int(tree.parent[scope])
        unit = next((u for u in view.level(above).units if u.kind == "stack" and scope in u.members), None)
        members = unit.members if unit else members
    held = int(tree.parameter_bytes[scope])
    known = [
        ("scope", tree.paths[scope]),
        ("blocks", fmt.count(len(members)) if len(members) > 1 else ""),
        ("operators", fmt.count(int(tree.operators[scope]))),
        ("parameters", fmt.count(int(tree.parameters[scope]))),
        *_roles(opened, view, scope),
        ("values", fmt.count(int(tree.parameter_values[scope])) if held else ""),
        ("bytes", fmt.size(held) if held else ""),
        ("constants", fmt.count(int(tree.constants[scope]))),
        ("scopes", fmt.count(int(tree.end[scope]) - scope - 1)),
    ]
    title: Any = tree.label(scope) if scope else t("graph.whole")
    parts = [_head(title, "stack" if len(members) > 1 else "scope" if scope else "graph"), _facts(known)]
    layers = opened.shared(opened.simple(of.simple)).get(scope, ()) if len(members) == 1 else ()
    if layers:
        said = spans(layers)
        words = t("graph.also.note", n=said)
        parts.insert(1, html.P([words, " ", t("graph.also.why")], className="ms-graph-note"))
    if len(members) > 1:
        lines = [_jump_line(f"s:{tree.paths[one]}", tree.label(one), "", tree.paths[one], act="open") for one in members]
        parts += _section("members", [*lines[:MOST_LINES], *_more(len(lines))])
    types = list(tree.types(scope).items())
    most = max((many for _, many in types), default=1)
    lines = [_type(kind, many, most) for kind, many in types[:MOST_TYPES]]
    parts += _section("types", [*lines, *_more(len(types), MOST_TYPES)])
    return [*parts, *_section("held", _parameters(view, scope))]


def _roles(opened: OpenGraph, view: GraphView, scope: int) -> list[tuple[str, str]]:
    """How many parameters of each role are in a scope, and their bytes; nothing if all have one role."""
    network, inside = view.network, view.scopes.within(scope)
    rows = inside[network.kind[inside] == PARAMETER]
    codes = opened.roles[rows]
    if len(np.unique(codes)) < 2:
        return []
    size = values(network.shapes)[network.shape[rows]] * type_bytes(network.output_types)[network.output_type[rows]]
    found = []
    for code, name in enumerate(ROLES):
        many, held = int((codes == code).sum()), int(size[codes == code].sum())
        if many:
            found.append((name, f"{fmt.count(many)} ({fmt.size(held)})" if held else fmt.count(many)))
    return found


def _parameters(view: GraphView, scope: int) -> list[Any]:
    """Lines of the parameters in a scope, the largest first."""
    network, inside = view.network, view.scopes.within(scope)
    rows = inside[network.kind[inside] == PARAMETER]
    size = values(network.shapes)[network.shape[rows]] * type_bytes(network.output_types)[network.output_type[rows]]
    lines = []
    for row in rows[np.argsort(-size, kind="stable")][:MOST_PARAMETERS].tolist():
        carried = f"{network.output_types[network.output_type[row]]} {network.shapes[network.shape[row]]}".strip()
        lines.append(_jump_line(f"n{row}", network.names[row], carried, network.full_names[row]))
    return [*lines, *_more(len(rows), MOST_PARAMETERS)]


def _type(kind: str, many: int, most: int) -> html.Button:
    bar = html.Span(className="ms-graph-bar", style={"width": f"{100 * many / most:.1f}%"})
    parts = [html.Span(kind or "–", className="ms-cut ms-name"), html.Span(bar, className="ms-graph-bars")]
    return html.Button(
        [*parts, html.Span(fmt.count(many), className="ms-number")], type="button", className="ms-graph-type",
        title=kind, **{"data-find": f"type:{kind}"},
    )  # fmt: skip


def _fold(view: GraphView, row: int) -> list[Any]:
    network = view.network
    members = _folded(view, row)
    kind = network.types[network.type[row]]
    scope = int(view.scopes.home[row])
    path = view.scopes.paths[scope]
    known = [("type", kind), ("nodes", fmt.count(len(members))), ("scope", _jump(f"s:{path}", path) if scope else "")]
    lines = [
        _jump_line(f"n{one}", network.label(one), network.shapes[network.shape[one]], network.full_names[one])
        for one in members[:MOST_LINES]
    ]
    return [_head(kind, "fold"), _facts(known), *_section("members", [*lines, *_more(len(members), of=f"f{row}")])]


def _folded(view: GraphView, row: int) -> Sequence[int]:
    units = view.level(int(view.scopes.home[row])).units
    return next((unit.members for unit in units if unit.kind == "fold" and row in unit.members), (row,))


# Elements -------------------------------------------------------------------------------------------------------------


def _head(title: Any, kind: str) -> html.Header:
    badge = html.Span(t(f"graph.kind.{kind}"), className="ms-badge")
    return html.Header([html.H3(title, className="ms-graph-title"), badge], className="ms-graph-about")


def _facts(known: Iterable[tuple[str, Any]]) -> html.Table:
    lines = ((t(f"graph.fact.{name}"), value) for name, value in known if value != "")
    return named_values(lines, class_name="ms-graph-facts")


def _section(name: str, lines: Sequence[Any]) -> list[Any]:
    if not lines:
        return []
    return [html.Section([html.H4(t(f"graph.{name}")), *lines], className="ms-graph-section")]


def _more(total: int, most: int = MOST_LINES, of: str = "") -> list[Any]:
    """The number of items not listed. With `of`, the name of a box, also a button that saves all of them as CSV."""
    if total <= most:
        return []
    data = {"data-save": "listed.csv", "data-node": of}
    save = [" ", html.Button("CSV", type="button", className="ms-graph-jump", **data)] if of else []
    return [html.P([t("graph.more", n=fmt.count(total - most)), *save], className="ms-muted")]


def _jump(name: str, text: str) -> html.Button:
    return html.Button(text, type="button", className="ms-graph-jump", **{"data-go": name})


def _jump_line(name: str, text: str, note: str, title: str, act: str = "go") -> html.Button:
    parts = [html.Span(text, className="ms-cut ms-name"), html.Span(note, className="ms-muted ms-mono ms-graph-carried")]
    return html.Button(parts, type="button", className="ms-graph-line", title=title[-400:], **{f"data-{act}": name})


def kind_of(view: GraphView, row: int) -> str:
    """Return the kind of a node, which decides the coloured mark of its line."""
    return {OPERATOR: "operator", PARAMETER: "parameter", CONSTANT: "constant"}[int(view.network.kind[row])]
