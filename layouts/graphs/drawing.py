"""From a request to the contents of the canvas: elements with positions, and the data of the controls around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from parsers import PayloadError
from parsers.analysis.graphs import ROLES, GraphView, OpenScopes, Visible, marks
from parsers.analysis.graphs.network import CONSTANT, OPERATOR, PARAMETER
from parsers.analysis.graphs.opened import OpenGraph, first_opened
from parsers.analysis.graphs.sharing import spans

from layouts.graphs.alternatives import of_graph
from layouts.graphs.asks import DrawingRequest
from layouts.graphs.figure import arrange, elements, minimap, stylesheet
from layouts.graphs.graph_views import Views
from layouts.graphs.names import key_of, name_of, where

MOST_PROBLEMS = 20
_OPENS = ("scope", "stack", "fold")


@dataclass(frozen=True, slots=True)
class Marked:
    """What is marked on a drawing: classes of boxes, and texts at their corners (`layouts.graphs.figure.elements`), by key."""

    classes: Mapping[str, str] = field(default_factory=dict)
    badges: Mapping[str, str] = field(default_factory=dict)


Marking = Callable[[GraphView, Visible], Marked]
"""What to mark of the visible part of a graph."""


def drawn(views: Views, ask: DrawingRequest, marking: Marking | None = None) -> dict[str, Any]:
    """Return {"elements", "stylesheet", "meta"}. If the graph cannot be shown, meta["problems"] says why.

    Without marking, the differences of two compared graphs are marked.
    """
    try:
        opened, view = views.of(ask.of)
    except PayloadError as error:
        told = {"problems": [str(error)], "alternative": [str(error), str(error)], "broken": True}
        return {"elements": [], "stylesheet": [], "meta": _meta(ask) | told}
    chosen, shown = shown_of(view, ask)
    simple = opened.simple(ask.of.simple)
    visible = noted(view.visible(shown), opened.shared(simple))
    arrangement = arrange(visible)
    compared = opened.compared
    marked = marks(visible, view.scopes, compared.both.state) if compared else {}
    more = Marked({key: mark for key, mark in marked.items() if mark != "same"}) if marking is None else marking(view, visible)
    found = elements(visible, arrangement, dark=ask.dark, marks=more.classes, badges=more.badges)
    names = _named(view, visible, shown, found)
    counts = _counts(view)
    meta = _meta(ask) | {
        "chosen": chosen,
        "opened": [name_of(view, item.key) for item in visible.items if item.opened],
        "pages": [f"{number}:{name_of(view, key)}" for key, number in shown.pages.items()],
        "tree": _tree(visible, names, marked),
        "counts": counts,
        "alternative": list(of_graph(opened.graph.title, visible, counts)),
        "roles": _roles(opened, view),
        "simple": simple,
        "hidden": {rule: many for rule, many in opened.hidden.items() if many} if simple else {},
        "kept": opened.kept if simple else 0,
        "closed": len(visible.closed),
        "bare": visible.bare,
        "page": visible.page,
        "boxes": len(visible.items),
        "problems": _problems(opened),
        "notes": list(opened.graph.notes),
        "minimap": minimap(visible, arrangement, dark=ask.dark),
        "width": round(arrangement.width),
        "height": round(arrangement.height),
        "scale": arrangement.scale,
        "title": opened.graph.title,
        "format": opened.graph.format,
        "stage": opened.graph.stage,
    }
    return {"elements": found, "stylesheet": stylesheet(dark=ask.dark), "meta": meta}


def unread(ask: DrawingRequest, progress: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer while a graph is read, or after reading was cancelled."""
    return {"elements": [], "stylesheet": [], "meta": _meta(ask) | {"reading": dict(progress)}}


def _meta(ask: DrawingRequest) -> dict[str, Any]:
    of = {"run": ask.of.run, "graph": ask.of.graph, "simple": ask.of.simple, "against": list(ask.of.against or ())}
    return {"of": of, "broken": False, "chosen": "", "tree": [], "alternative": ["", ""]}


def shown_of(view: GraphView, ask: DrawingRequest) -> tuple[str, OpenScopes]:
    """Return (key of the box to centre or "", what is open)."""
    chosen, needed = where(view, ask.reveal) if ask.reveal else ("", OpenScopes())
    if ask.opened is not None:
        wanted = [key for name in ask.opened if (key := key_of(view, name))]
    else:
        wanted = list(needed.opened) or first_opened(view)
    pages = {key_of(view, name): number for name, number in ask.pages.items() if not name or key_of(view, name)}
    # If too much is open, what was opened last is closed last.
    opened = [*(key for key in wanted if key not in needed.opened), *needed.opened]
    return chosen, OpenScopes(tuple(opened), {**pages, **needed.pages}, ask.parameters, ask.constants)


def _named(view: GraphView, visible: Visible, shown: OpenScopes, found: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Add names, tooltips and page numbers to the elements; return the name of each box by its key."""
    names = {item.key: name_of(view, item.key) for item in visible.items}
    items = {item.key: item for item in visible.items}
    for element in found:
        data = element["data"]
        item = items.get(data["id"])
        if item is None or "source" in data:
            continue
        data["name"] = names[item.key]
        if item.kind in ("earlier", "later"):
            begin = int(shown.pages.get(item.key[1:], 0))
            before = items.get(f"<{item.key[1:]}")
            begin = before.count if before is not None else begin
            begin = max(0, begin - visible.page) if item.kind == "earlier" else begin + visible.page
            data["to"] = f"{begin}:{name_of(view, item.key[1:])}"
        elif item.kind == "more":
            hub = items[item.key[1:]]
            data["hub"], data["tip"] = names[hub.key], f"{hub.label}  ·  + {item.count:,}"
        elif item.kind == "node":
            data["tip"] = f"{view.network.full_name(item.members[0])[-400:]}  ·  {item.type}"
        elif item.members:
            data["tip"] = names[item.key][2:] if item.kind != "fold" else item.label
    return names


def _tree(visible: Visible, names: dict[str, str], marked: dict[str, str]) -> list[list[Any]]:
    """The boxes that can be opened, parents first: [name, depth, kind, label, operators, members, is open, mark, also]."""
    inside: dict[int, list[int]] = {}
    for number, item in enumerate(visible.items):
        if item.kind in _OPENS:
            inside.setdefault(item.parent, []).append(number)
    lines: list[list[Any]] = []
    waiting = [(number, 0) for number in reversed(inside.get(-1, []))]
    while waiting:
        number, depth = waiting.pop()
        item = visible.items[number]
        many, mark = len(item.members), marked.get(item.key, "")
        lines.append([names[item.key], depth, item.kind, item.label, item.count, many, item.opened, mark, item.also])
        waiting += [(below, depth + 1) for below in reversed(inside.get(number, []))]
    return lines


def noted(visible: Visible, layers: dict[int, tuple[int, ...]]) -> Visible:
    """Mark the boxes of single scopes that later layers use too."""
    items = tuple(
        replace(item, also=spans(layers[scope]))
        if item.kind == "scope" and (scope := item.members[0]) in layers else item
        for item in visible.items
    )  # fmt: skip
    return replace(visible, items=items)


def _counts(view: GraphView) -> dict[str, int]:
    network = view.network
    kinds = np.bincount(network.kind[network.shown], minlength=3)
    return {
        "operators": int(kinds[OPERATOR]), "parameters": int(kinds[PARAMETER]), "constants": int(kinds[CONSTANT]),
        "edges": len(network.source),
    }  # fmt: skip


def _roles(opened: OpenGraph, view: GraphView) -> dict[str, int]:
    """Parameters by what they are for, without hidden ones."""
    chosen = opened.roles[view.network.shown & (view.network.kind == PARAMETER)]
    return {name: int((chosen == code).sum()) for code, name in enumerate(ROLES)}


def _problems(opened: OpenGraph) -> list[str]:
    graphs = [opened.graph, *([opened.compared.graph] if opened.compared else [])]
    texts = [problem.text for graph in graphs for problem in graph.problems]
    return [*texts[:MOST_PROBLEMS], *([f"+ {len(texts) - MOST_PROBLEMS:,}"] if len(texts) > MOST_PROBLEMS else [])]
