"""Components as plain lists, from which assets/base/plain_html.js makes elements: for tables of more than a few dozen rows.

Dash's renderer keeps every component of a page in its state and visits all of them on each change: a table of 300 rows blocked
a browser for seconds. Elements that are only shown and clicked need no place in that state.
"""

from __future__ import annotations

from typing import Any

from dash.development.base_component import Component


def markup(children: Any) -> list[Any]:
    """Return children as [text or [tag, attributes, children], ...]; TypeError if one is not of dash.html or has an id."""
    every = children if isinstance(children, (list, tuple)) else [children]
    return [_one(child) for child in every if child is not None]


def _one(child: Any) -> Any:
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

