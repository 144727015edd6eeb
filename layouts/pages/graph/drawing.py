"""From an ask to what the canvas shows: elements with places, and what the page says around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from parsers import PayloadError
from parsers.analysis.graphs import Shown, View, Visible, marks
from parsers.analysis.graphs.network import CONSTANT, OPERATOR, PARAMETER

from layouts.figures.graph import arrange, elements, minimap, stylesheet
from layouts.pages.graph.asks import Ask
from layouts.pages.graph.names import key_of, name_of, where
from layouts.queries.graphs import Opened, Views, first_opened

MOST_PROBLEMS = 20
_OPENS = ("scope", "stack", "fold")


def drawn(views: Views, ask: Ask) -> dict[str, Any]:
    """{"elements", "stylesheet", "meta"}; what keeps a graph from being shown stands in the problems of meta."""
    try:
        opened, view = views.of(ask.of)
    except PayloadError as error:
        return {"elements": [], "stylesheet": [], "meta": _meta(ask) | {"problems": [str(error)], "broken": True}}
    chosen, shown = shown_of(view, ask)
    visible = view.visible(shown)
    arrangement = arrange(visible)
    compared = opened.compared
    marked = marks(visible, view.scopes, compared.both.state) if compared else {}
    found = elements(visible, arrangement, dark=ask.dark, marks={key: mark for key, mark in marked.items() if mark != "same"})
    names = _named(view, visible, shown, found)
    meta = _meta(ask) | {
        "chosen": chosen,
        "opened": [name_of(view, item.key) for item in visible.items if item.opened],
        "pages": [f"{number}:{name_of(view, key)}" for key, number in shown.pages.items()],
        "tree": _tree(visible, names, marked),
        "counts": _counts(view),
        "hidden": {rule: many for rule, many in opened.hidden.items() if many} if ask.of.simple else {},
        "kept": opened.kept if ask.of.simple else 0,
        "closed": len(visible.closed),
        "bare": visible.bare,
        "page": visible.page,
        "boxes": len(visible.items),
        "problems": _problems(opened),
        "minimap": minimap(visible, arrangement, dark=ask.dark),
        "width": round(arrangement.width),
        "height": round(arrangement.height),
        "scale": arrangement.scale,
        "title": opened.graph.title,
        "format": opened.graph.format,
        "stage": opened.graph.stage,
    }
    return {"elements": found, "stylesheet": stylesheet(dark=ask.dark), "meta": meta}


def _meta(ask: Ask) -> dict[str, Any]:
    of = {"run": ask.of.run, "graph": ask.of.graph, "simple": ask.of.simple, "against": list(ask.of.against or ())}
    return {"of": of, "broken": False, "chosen": "", "tree": []}


def shown_of(view: View, ask: Ask) -> tuple[str, Shown]:
    """Which box is to be in the middle, "" for none, and what is open."""
    chosen, needed = where(view, ask.reveal) if ask.reveal else ("", Shown())
    if ask.opened is not None:
        wanted = [key for name in ask.opened if (key := key_of(view, name))]
    else:
        wanted = list(needed.opened) or first_opened(view)
    pages = {key_of(view, name): number for name, number in ask.pages.items() if not name or key_of(view, name)}
    # What is opened last is closed last where there is too much.
    opened = [*(key for key in wanted if key not in needed.opened), *needed.opened]
    return chosen, Shown(tuple(opened), {**pages, **needed.pages}, ask.parameters, ask.constants)


def _named(view: View, visible: Visible, shown: Shown, found: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Name of each box by its key, which its element gets too. An element of hidden boxes says which page they are on."""
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
            data["tip"] = f"{view.network.full_names[item.members[0]][-400:]}  ·  {item.type}"
        elif item.members:
            data["tip"] = names[item.key][2:] if item.kind != "fold" else item.label
    return names


def _tree(visible: Visible, names: dict[str, str], marked: dict[str, str]) -> list[list[Any]]:
    """What can be opened, each after what it is in: name, depth, kind, label, operators, members, whether it is open, mark."""
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
        lines.append([names[item.key], depth, item.kind, item.label, item.count, many, item.opened, mark])
        waiting += [(below, depth + 1) for below in reversed(inside.get(number, []))]
    return lines


def _counts(view: View) -> dict[str, int]:
    network = view.network
    kinds = np.bincount(network.kind[network.shown], minlength=3)
    return {
        "operators": int(kinds[OPERATOR]), "parameters": int(kinds[PARAMETER]), "constants": int(kinds[CONSTANT]),
        "edges": len(network.source),
    }  # fmt: skip


def _problems(opened: Opened) -> list[str]:
    graphs = [opened.graph, *([opened.compared.graph] if opened.compared else [])]
    texts = [problem.text for graph in graphs for problem in graph.problems]
    return [*texts[:MOST_PROBLEMS], *([f"+ {len(texts) - MOST_PROBLEMS:,}"] if len(texts) > MOST_PROBLEMS else [])]
