"""Search in a graph: words and conditions such as `type:MatMul shape:8x* kind:parameter`, and the list of results.

`type:Softmax` is that type, `type:~Softmax` every type with that text in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dash import html
from numpy.typing import NDArray
from parsers import PayloadError
from parsers.analysis.graphs import FoundNodes, GraphView, search
from parsers.analysis.graphs.network import KINDS, OPERATOR
from parsers.analysis.graphs.opened import ComparedGraphs, OpenGraph
from parsers.analysis.graphs.together import ADDED, CHANGED, REMOVED, SAME
from parsers.deferred import pandas as pd

from layouts.graphs.asks import read_of
from layouts.graphs.graph.panel import kind_of
from layouts.graphs.graph_views import Views
from layouts.kit import units as fmt
from layouts.kit.i18n import t
from layouts.kit.patterns import PatternMatcher
from layouts.kit.state import BadInput, flag, text

MOST = 300
"""Maximum number of results listed."""
LONGEST = 500
_PATTERN = re.compile(r"[\\^$.|?*+()\[\]{}]")
"""Characters that mean something in a pattern."""
_CONDITION = re.compile(r"(type|shape|dtype|kind):(\S+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Query:
    """A search: a text that names contain (with `regex`: a pattern they match), and conditions ("" for none)."""

    text: str
    regex: bool
    type: str = ""
    shape: str = ""
    dtype: str = ""
    kind: str = ""


def read_query(data: Any) -> Query:
    """Parse a search from the browser. BadInput if it is malformed."""
    typed = text(data, "q", limit=LONGEST)
    conditions = {name.lower(): value for name, value in _CONDITION.findall(typed)}
    words = " ".join(_CONDITION.sub(" ", typed).split())
    return Query(words, flag(data, "regex"), **conditions)


def results(patterns: PatternMatcher, views: Views, data: Any) -> list[Any]:
    """Return the list of results. Without a search: the differences of a compared graph, else an empty list."""
    query, of = read_query(data), read_of(data)
    nothing = query == Query("", query.regex)
    if nothing and of.against is None:
        return []
    try:
        opened, view = views.of(of)
    except PayloadError:
        return []  # the canvas shows the error
    if nothing:
        return differences(opened, view)
    if query.kind and query.kind.lower() not in KINDS:
        return [html.P(t("graph.kinds", kinds=", ".join(KINDS)), className="ms-graph-count ms-wrong-text", role="alert")]

    def matching(pattern: str, names: Sequence[str]) -> Sequence[str]:
        return patterns.matching(f"(?i){pattern}", names)

    def look(type_of: str) -> FoundNodes:
        return search(
            view, query.text, matching=matching if query.regex and query.text else None, type=type_of, shape=query.shape,
            dtype=query.dtype, kind=query.kind.lower(),
        )  # fmt: skip

    try:
        found = look(query.type)
        if not found.total and not found.scopes:
            return _nothing(query, look)
    except BadInput:
        raise
    except ValueError as error:  # an invalid pattern
        return [html.P(str(error), className="ms-graph-count ms-wrong-text", role="alert")]
    rows = found.rows[: MOST - len(found.scopes[: MOST // 4])]
    common = _common([view.network.full_names[row] for row in rows])
    scopes = [scope_line(view, scope) for scope in found.scopes[: MOST // 4]]
    nodes = [node_line(view, row, common=common) for row in rows]
    total = found.total + len(found.scopes)
    shown = len(scopes) + len(nodes)
    said = t("graph.found" if shown == total else "graph.found_of", n=fmt.count(shown), total=fmt.count(total))
    return [html.P(said, className="ms-graph-count ms-muted", role="status"), *scopes, *nodes]


def _nothing(query: Query, look: Callable[[str], FoundNodes]) -> list[Any]:
    """Say that nothing was found, and offer what would find more: a part of the type, or the text as a pattern."""
    offers: list[Any] = []
    if query.type and not query.type.startswith("~"):
        wider = look(f"~{query.type}").total
        if wider:
            words = f"{query.text} type:~{query.type}".strip()
            offers.append(_offer(t("graph.wider", n=fmt.count(wider), type=query.type), **{"data-find": words}))
    if query.text and not query.regex and _PATTERN.search(query.text):
        offers.append(_offer(t("graph.as_regex"), **{"data-regex": "1"}))
    said = t("graph.found", n="0")
    return [html.P(said, className="ms-graph-count ms-muted", role="status"), *offers]


def _offer(text_of: Any, **attributes: str) -> html.Button:
    return html.Button(text_of, type="button", className="ms-graph-jump ms-graph-offer", **attributes)


def _common(names: Sequence[str]) -> frozenset[str]:
    """Return the parts that all names have: a row shows first what only some have."""
    found: set[str] | None = None
    for name in names:
        parts = set(name.split("/")[:-1])
        found = parts if found is None else found & parts
        if not found:
            break
    return frozenset(found or ()) if len(names) > 1 else frozenset()


def differing_part(scope: str, common: frozenset[str]) -> str:
    """Return the parts of a scope that other results do not have; a number after the part that it counts. "" if it has none."""
    parts = scope.split("/")
    shown = [
        f"{parts[place - 1]}/{part}" if part.isdigit() and place else part
        for place, part in enumerate(parts) if part and part not in common
    ]  # fmt: skip
    return " / ".join(shown) if len(shown) < len(parts) else ""


def differences(opened: OpenGraph, view: GraphView) -> list[Any]:
    """Return the differences of a compared graph: first operators that were added, removed, or give something else, then
    parameters, and last what has another attribute or name.
    """
    if opened.compared is None:
        return []
    found = opened.compared.difference
    formats = opened.graph.format, opened.compared.graph.format
    apart = [html.P(t("graph.formats"), className="ms-graph-count ms-muted")] if formats[0] != formats[1] else []
    if found.same:
        return [html.P(t("graph.same"), className="ms-graph-count", role="status"), *apart]
    state = np.where(view.network.shown, opened.compared.both.state, SAME)
    codes = {"added": ADDED, "removed": REMOVED, "changed": CHANGED}
    numbers = {name: int((state == code).sum()) for name, code in codes.items()}
    joined = _edges_shown(opened.compared, view)
    said = t("graph.differences", **{state: fmt.count(many) for state, many in numbers.items()})
    edges = t("graph.edges_differ", added=fmt.count(joined[0]), removed=fmt.count(joined[1]))
    save = html.Button("CSV", type="button", className="ms-graph-jump", **{"data-save": "differences.csv"})
    lines: list[Any] = [html.P([said, html.Br(), edges, " ", save], className="ms-graph-count ms-muted", role="status"), *apart]
    rows = _by_weight(opened, view, state)
    for row in rows[:MOST]:
        fields = [part for field in found.changed.get(row, ()) for part in (" ", _field(field))][1:]
        lines.append(node_line(view, row, opened.state(row), fields))
    more = sum(numbers.values()) - min(len(rows), MOST)
    return [*lines, *([html.P(t("graph.more", n=fmt.count(more)), className="ms-graph-count ms-muted")] if more else [])]


def _by_weight(opened: OpenGraph, view: GraphView, state: NDArray[np.int64]) -> list[int]:
    """Return the rows that differ, those first that say most about what the graph computes."""
    assert opened.compared is not None
    changed, network = opened.compared.difference.changed, view.network

    def weight(row: int) -> tuple[int, int]:
        fields = changed.get(row, ())
        slight = state[row] == CHANGED and not {"type", "output_type", "shape"} & set(fields)
        other = network.kind[row] != OPERATOR
        return (3 if fields == ("name",) else 2 if slight else int(other)), int(network.rank[row])

    return sorted(np.flatnonzero(state != SAME).tolist(), key=weight)


def _edges_shown(compared: ComparedGraphs, view: GraphView) -> tuple[int, int]:
    """Return how many of the added and removed edges join nodes that are not hidden."""
    found, shown = compared.difference, view.network.shown
    place = np.full(len(found.back), -1, np.int64)
    place[compared.both.second[compared.both.second >= 0]] = np.flatnonzero(compared.both.second >= 0)
    first, second = compared.first, compared.other
    come, gone = found.counted.edges_added, found.counted.edges_removed
    added = shown[place[second.source[come]]] & shown[place[second.target[come]]]
    removed = shown[first.source[gone]] & shown[first.target[gone]]
    return int(added.sum()), int(removed.sum())


def _field(name: str) -> html.Span:
    return t("graph.attributes" if name == "attributes" else f"graph.fact.{name}")


def differing(opened: OpenGraph, view: GraphView) -> pd.DataFrame:
    """Return every node that differs and is not hidden: state, differing fields, then what both graphs have of it."""
    names = ("full_name", "type", "output_type", "shape")
    head = ["state", "fields", *names, *(f"other_{name}" for name in names)]
    compared = opened.compared
    if compared is None:
        return pd.DataFrame(columns=head)
    mine, theirs = ([graph.nodes[name].tolist() for name in names] for graph in (opened.graph, compared.graph))
    lines = []
    for row in np.flatnonzero(np.where(view.network.shown, compared.both.state, SAME)).tolist():
        state, there = opened.state(row), int(compared.both.second[row])
        here = [""] * len(names) if state == "added" else [column[row] for column in mine]
        other = [""] * len(names) if state == "removed" else [column[there] for column in theirs]
        lines.append([state, " ".join(compared.difference.changed.get(row, ())), *here, *other])
    return pd.DataFrame(lines, columns=head)


def scope_line(view: GraphView, scope: int, note: Any = "") -> html.Button:
    """Return the line of a scope in a list; note stands at its right instead of the number of its operators."""
    path = view.scopes.paths[scope]
    many = note or fmt.count(int(view.scopes.operators[scope]))
    return _line(f"s:{path}", "scope", view.scopes.label(scope), path.rpartition("/")[0], many)


def node_line(view: GraphView, row: int, state: str = "", note: Any = "", common: frozenset[str] = frozenset()) -> html.Button:
    """Return the line of a node in a list; note stands at its right instead of the type."""
    network = view.network
    scope, _, last = network.full_names[row].rpartition("/")
    label = network.label(row)
    note = note or (last if last.isdecimal() else network.types[network.type[row]])
    return _line(f"n{row}", state or kind_of(view, row), label, scope, note, common)


def _line(name: str, kind: str, last: str, scope: str, note: Any, common: frozenset[str] = frozenset()) -> html.Button:
    head = html.Span([html.Span(last, className="ms-cut ms-name"), html.Span(note, className="ms-muted ms-graph-carried")])
    own = differing_part(scope, common) if common else ""
    places: list[Any] = [html.Strong(own), " · "] if own else []
    where = html.Span([*places, "/".join(scope.split("/")[-2:])], className="ms-muted ms-cut ms-graph-where")
    parts = [html.Span(className=f"ms-graph-mark ms-graph-mark-{kind}"), head, where]
    title = f"{scope}/{last}" if scope else last
    return html.Button(parts, type="button", className="ms-graph-result", title=title[-400:], **{"data-go": name})
