"""A drawing as elements and stylesheet of cytoscape: every place is given, nothing is laid out in the browser.

Frames are plain boxes beneath what is in them and not cytoscape's compound nodes, which are drawn at a sixth of the speed.
A bend becomes a control point given by its part of the way between the middles of both ends and its distance from that
line, which is how cytoscape has them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from parsers.analysis.graphs import Item, Link, Visible

from layouts.figures.graph.arrangement import Arrangement
from layouts.figures.graph.boxes import Rect, label, small_label, text_width
from layouts.figures.graph.layered import Point
from layouts.figures.graph.look import DARK, LIGHT, Look, ends, fill
from layouts.format import count

Element = dict[str, Any]
SMOOTH = 600
"""Links of a drawing with more are bent without round corners, which cost three control points each."""
FAR = 22
"""Pixels from the far end of a marked link to what it carries."""
ROUND = 14.0
"""Pixels before and after a bend that its corner takes."""


def elements(
    visible: Visible, arrangement: Arrangement, *, dark: bool = False, marks: Mapping[str, str] | None = None
) -> list[Element]:
    """All that is drawn, frames first. marks: a class for keys of boxes, such as "added" for n5.

    A node's data has its key as "id", and kind, label, type, count; that of a link has source, target, kind, count, edge (a
    row of EDGES or -1) and label. Texts go to a canvas, where nothing is read as markup.
    """
    look, depth = (DARK if dark else LIGHT), _depths(visible.items)
    found: list[Element] = []
    for number, (item, box) in enumerate(zip(visible.items, arrangement.boxes, strict=True)):
        found.append(_node(item, box, look, depth[number], (marks or {}).get(item.key, "")))
        for place, (small, rect) in enumerate(zip(item.beside, arrangement.beside[number], strict=True)):
            data: Element = {"id": f"{item.key}.{place}", "label": small_label(small), "kind": small.kind}
            data |= {"box": small.box or item.key, "rows": list(small.nodes), "fill": look.small[small.kind]}
            data |= {"w": round(rect.width), "h": round(rect.height)}
            found.append({"data": data, "position": _position(rect), "classes": "small"})
    smooth = len(visible.links) <= SMOOTH
    for link, bends in zip(visible.links, arrangement.bends, strict=True):
        found.append(_link(visible, arrangement, link, bends, look, smooth))
    return found


def stylesheet(*, dark: bool = False) -> list[dict[str, Any]]:
    """How elements look: a stylesheet of cytoscape."""
    look = DARK if dark else LIGHT
    text = {"color": look.text, "font-family": "system-ui, sans-serif", "min-zoomed-font-size": 7}
    return [
        {
            "selector": "node",
            "style": {
                **text,
                "shape": "round-rectangle",
                "width": "data(w)",
                "height": "data(h)",
                "label": "data(label)",
                "font-size": 12,
                "text-valign": "center",
                "background-color": "data(fill)",
                "border-width": 1,
                "border-color": look.border,
                "z-index-compare": "manual",
                "z-index": 20,
            },
        },
        {"selector": "node.scope, node.stack", "style": {"border-color": look.muted}},
        {"selector": "node.stack", "style": {"border-style": "double", "border-width": 5}},
        {
            "selector": "node.frame",
            "style": {
                "border-color": look.frame_line,
                "text-valign": "top",
                "text-margin-y": 22,
                "text-margin-x": "data(tx)",
                "border-style": "solid",
                "border-width": 1,
                "z-index": "data(z)",
            },
        },
        {"selector": "node.more, node.earlier, node.later", "style": {"border-style": "dashed", "color": look.muted}},
        {"selector": "node.small", "style": {"border-width": 0, "font-size": 9.5, "color": look.muted, "z-index": 21}},
        {
            "selector": "edge",
            "style": {
                "curve-style": "straight",
                "width": "data(width)",
                "line-color": look.edge,
                "target-arrow-color": look.edge,
                "target-arrow-shape": "triangle",
                "arrow-scale": 0.7,
                "source-endpoint": "data(begin)",
                "target-endpoint": "data(end)",
                "edge-distances": "node-position",
                "z-index-compare": "manual",
                "z-index": 15,
            },
        },
        {
            "selector": "edge.bent",
            "style": {
                "curve-style": "unbundled-bezier",
                "control-point-weights": "data(weights)",
                "control-point-distances": "data(distances)",
            },
        },
        {
            "selector": "edge.sharp",
            "style": {"curve-style": "segments", "segment-weights": "data(weights)", "segment-distances": "data(distances)"},
        },
        {"selector": "edge.control, edge.proxy", "style": {"line-style": "dashed"}},
        {"selector": "edge.call", "style": {"line-style": "dotted"}},
        *(
            {"selector": f"node.{name}", "style": {"border-color": colour, "border-width": 2.5}}
            for name, colour in _marks(look)
        ),
        {"selector": "node:selected, node.chosen", "style": {"border-color": look.accent, "border-width": 3}},
        {
            "selector": "edge:selected, edge.chosen",
            "style": {
                **text,
                "line-color": look.accent,
                "target-arrow-color": look.accent,
                "label": "data(label)",
                "font-size": 10,
                "text-background-color": look.back,
                "text-background-opacity": 0.9,
                "z-index": 30,
            },
        },
        {"selector": "edge.into", "style": {"label": "", "source-label": "data(label)", "source-text-offset": FAR}},
        {"selector": "edge.out", "style": {"label": "", "target-label": "data(label)", "target-text-offset": FAR}},
        {"selector": "node.near", "style": {"border-color": look.accent, "border-width": 1.5}},
    ]


def _marks(look: Look) -> list[tuple[str, str]]:
    return [("added", look.added), ("removed", look.removed), ("changed", look.changed)]


def _depths(items: Sequence[Item]) -> list[int]:
    depth: list[int] = []
    for item in items:
        depth.append(depth[item.parent] + 1 if item.parent >= 0 else 0)
    return depth


def _node(item: Item, box: Rect, look: Look, depth: int, mark: str) -> Element:
    text = label(item)
    data: Element = {"id": item.key, "label": text, "kind": item.kind, "type": item.type, "count": item.count}
    data |= {"w": round(box.width), "h": round(box.height), "fill": fill(look, item, depth)}
    names = [item.kind]
    if item.opened:
        names.append("frame")
        data |= {"tx": round(text_width(text) / 2 + 12 - box.width / 2), "z": min(depth, 14)}
    return {"data": data, "position": _position(box), "classes": " ".join([*names, mark]).strip()}


def _link(visible: Visible, arrangement: Arrangement, link: Link, bends: Sequence[Point], look: Look, smooth: bool) -> Element:
    source, target = arrangement.boxes[link.source], arrangement.boxes[link.target]
    begin, end = ends(source, bends, target)
    keys = visible.items[link.source].key, visible.items[link.target].key
    data: Element = {"id": f"{keys[0]}>{keys[1]}", "source": keys[0], "target": keys[1], "kind": link.kind, "edge": link.edge}
    data |= {"count": link.count, "label": _value(link), "width": round(look.width(link.count), 1)}
    data |= {"begin": _offset(begin, source), "end": _offset(end, target)}
    names = [link.kind]
    points = list(_rounded([begin, *bends, end])) if smooth else list(bends)
    relative = _relative(points, source, target)
    if relative:
        names.append("bent" if smooth else "sharp")
        data |= {"weights": [round(one, 5) for one, _ in relative], "distances": [round(one, 1) for _, one in relative]}
    return {"data": data, "classes": " ".join(names)}


def _value(link: Link) -> str:
    """What a link carries: dtype and shape of one value, or how many values."""
    if link.count > 1 or link.kind == "proxy":
        return f"×{count(link.count)}"
    return f"{link.type} {link.shape}".strip()


def _rounded(points: Sequence[Point]) -> Iterator[Point]:
    """Control points of a line with round corners: each bend, and the places where its corner begins and ends."""
    for (ax, ay), (bx, by), (cx, cy) in zip(points, points[1:], points[2:], strict=False):
        before, after = math.dist((ax, ay), (bx, by)), math.dist((bx, by), (cx, cy))
        if before and after:
            near, far = min(0.5, ROUND / before), min(0.5, ROUND / after)
            yield bx + (ax - bx) * near, by + (ay - by) * near
            yield bx, by
            yield bx + (cx - bx) * far, by + (cy - by) * far


def _relative(points: Sequence[Point], source: Rect, target: Rect) -> list[tuple[float, float]]:
    """Points as (part of the way between two middles, distance to its right), which y pointing down makes the left."""
    dx, dy = target.x - source.x, target.y - source.y
    length = math.hypot(dx, dy)
    if not length:
        return []
    return [
        (((x - source.x) * dx + (y - source.y) * dy) / length**2, ((y - source.y) * dx - (x - source.x) * dy) / length)
        for x, y in points
    ]


def _offset(point: Point, box: Rect) -> str:
    return f"{point[0] - box.x:.1f}px {point[1] - box.y:.1f}px"


def _position(box: Rect) -> dict[str, float]:
    return {"x": round(box.x, 1), "y": round(box.y, 1)}
