"""Components as plain lists, from which assets/kit/plain_html.js makes elements: for what is only shown and clicked.

Dash's renderer keeps every component of a page in its state and visits all of them on each change: a table of 300 rows blocked
a browser for seconds, and the 300 elements of menu, empty states and toolbars that no callback uses took a sixth of the time to
the first chart. Elements that no callback uses need no place in that state.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import Any

from dash.development.base_component import Component


@dataclass(frozen=True, slots=True)
class Plain:
    """An element that is plain already, as `markup` makes it: for parts that are shown again and again. Never write into it."""

    content: list[Any]


def still(component: Any) -> Any:
    """Return a component in which every element without an id, and with no ids or components of Dash in it, holds its content
    as the plain list of `markup`, in its attribute data-plain."""
    if isinstance(component, (list, tuple)):
        return [still(child) for child in component]
    if not isinstance(component, Component) or getattr(component, "children", None) is None:
        return component
    made = copy.copy(component)
    if not _is_plain(component):
        made.children = still(component.children)
    elif not isinstance(component.children, (str, int, float)):
        del made.children
        setattr(made, "data-plain", json.dumps(markup(component.children), ensure_ascii=False))
    return made


def _is_plain(child: Any) -> bool:
    if not isinstance(child, Component):
        return True
    if child._namespace != "dash_html_components" or getattr(child, "id", None) is not None:
        return False
    inner = getattr(child, "children", None)
    return all(map(_is_plain, inner)) if isinstance(inner, (list, tuple)) else _is_plain(inner)


def markup(children: Any) -> list[Any]:
    """Return children as [text or [tag, attributes, children], ...]; TypeError if one is not of dash.html or has an id."""
    every = children if isinstance(children, (list, tuple)) else [children]
    return [_one(child) for child in every if child is not None]


def _one(child: Any) -> Any:
    if isinstance(child, Plain):
        return child.content
    if not isinstance(child, Component):
        return str(child)
    props = dict(child.to_plotly_json()["props"])
    if child._namespace != "dash_html_components" or "id" in props:
        raise TypeError(f"markup: expected an element of dash.html without an id; found {child!r:.200}")
    inner = markup(props.pop("children", None))
    return [child._type.lower(), {_NAMES.get(name, name): _value(value) for name, value in props.items()}, inner]


_NAMES = {"className": "class", "tabIndex": "tabindex", "rowSpan": "rowspan", "colSpan": "colspan", "htmlFor": "for"}


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return ";".join(f"{name}:{text}" for name, text in value.items())
    return value if isinstance(value, bool) else str(value)

