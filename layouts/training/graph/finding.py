"""The search of the page: words and conditions such as `type:MatMul shape:8x* kind:parameter`, and what is found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dash import html
from parsers import PayloadError
from parsers.analysis.graphs import View, search
from parsers.analysis.graphs.network import KINDS

from layouts import format as fmt
from layouts.i18n import t
from layouts.page import FrameSource
from layouts.state import BadInput, flag, text
from layouts.training.graph.asks import read_of
from layouts.training.graph.panel import kind_of
from layouts.training.graph.views import Views

MOST = 200
"""So many results are listed."""
LONGEST = 500
_CONDITION = re.compile(r"(type|shape|dtype|kind):(\S+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for: a text in names, a pattern for them with regex, and conditions ("" for none)."""

    text: str
    regex: bool
    type: str = ""
    shape: str = ""
    dtype: str = ""
    kind: str = ""


def read_query(data: Any) -> Query:
    """The query a browser sent, or BadInput."""
    given = text(data, "q", limit=LONGEST)
    conditions = {name.lower(): value for name, value in _CONDITION.findall(given)}
    words = " ".join(_CONDITION.sub(" ", given).split())
    return Query(words, flag(data, "regex"), **conditions)


def results(source: FrameSource, views: Views, data: Any) -> list[Any]:
    """The list of what is found; nothing where nothing is searched for."""
    query = read_query(data)
    if query == Query("", query.regex):
        return []
    try:
        _, view = views.of(read_of(data))
    except PayloadError:
        return []  # the canvas says why
    if query.kind and query.kind.lower() not in KINDS:
        return [html.P(t("graph.kinds", kinds=", ".join(KINDS)), className="ms-graph-count ms-wrong-text", role="alert")]

    def matching(pattern: str, names: Sequence[str]) -> Sequence[str]:
        return source.matching(f"(?i){pattern}", names)

    try:
        found = search(
            view, query.text, matching=matching if query.regex and query.text else None, type=query.type, shape=query.shape,
            dtype=query.dtype, kind=query.kind.lower(),
        )  # fmt: skip
    except BadInput:
        raise
    except ValueError as error:  # what matching says of a pattern
        return [html.P(str(error), className="ms-graph-count ms-wrong-text", role="alert")]
    scopes = [_scope(view, scope) for scope in found.scopes[: MOST // 4]]
    nodes = [_node(view, row) for row in found.rows[: MOST - len(scopes)]]
    total = found.total + len(found.scopes)
    shown = len(scopes) + len(nodes)
    said = t("graph.found" if shown == total else "graph.found_of", n=fmt.count(shown), total=fmt.count(total))
    return [html.P(said, className="ms-graph-count ms-muted", role="status"), *scopes, *nodes]


def _scope(view: View, scope: int) -> html.Button:
    path = view.scopes.paths[scope]
    many = fmt.count(int(view.scopes.operators[scope]))
    return _line(f"s:{path}", "scope", view.scopes.label(scope), path.rpartition("/")[0], many)


def _node(view: View, row: int) -> html.Button:
    network = view.network
    scope, _, last = network.full_names[row].rpartition("/")
    return _line(f"n{row}", kind_of(view, row), last or network.full_names[row], scope, network.types[network.type[row]])


def _line(name: str, kind: str, last: str, scope: str, note: str) -> html.Button:
    head = html.Span([html.Span(last, className="ms-cut"), html.Span(note, className="ms-muted ms-graph-carried")])
    where = html.Span("/".join(scope.split("/")[-2:]), className="ms-muted ms-cut ms-graph-where")
    parts = [html.Span(className=f"ms-graph-mark ms-graph-mark-{kind}"), head, where]
    title = f"{scope}/{last}" if scope else last
    return html.Button(parts, type="button", className="ms-graph-result", title=title[-400:], **{"data-go": name})
