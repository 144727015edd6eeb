"""Elements and stylesheet for cytoscape. All places are fixed, so the browser computes no layout.

Frames are plain boxes below their content, not cytoscape's compound nodes, which are drawn at a sixth of the speed. cytoscape
describes a bend by its position along the line between the centres of both ends and its distance from that line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from parsers.analysis.graphs import BoxLink, Item, Visible

from layouts.graphs.figure.arrangement import Arrangement
from layouts.graphs.figure.boxes import HEADER, Rect, label, small_label, text_width
from layouts.graphs.figure.graph_style import DARK, LIGHT, GraphStyle, ends, fill
from layouts.graphs.figure.layered import Point
from layouts.kit.units import count

Element = dict[str, Any]
SMOOTH = 600
"""With more links, corners are not rounded, because a round corner costs three control points."""
FAR = 22
"""Distance in pixels from the far end of a selected link to its label."""
BADGE_LETTER = 6.4
"""Width of a letter on a badge, in pixels."""
DETAIL = 12.5
"""Font size of what a link carries, in pixels of the drawing: 10 on screen where these labels begin, at a zoom of 0.8."""
ROUND = 14.0
"""Length of a round corner before and after a bend, in pixels."""


def elements(
    visible: Visible, arrangement: Arrangement, *, dark: bool = False, marks: Mapping[str, str] | None = None,
    badges: Mapping[str, str] | None = None,
) -> list[Element]:
    """Return all elements, frames first. marks: classes by the key of a box, such as "added" for n5, or of what is beside it,
    such as n5.0. badges: texts at a corner of boxes, by their key.

    The data of a node has its key as "id", and kind, label, type, count; that of a link has source, target, kind, count, edge
    (a row of EDGES or -1) and label. shown and fs are the text and the font size that the browser changes with the zoom
    (assets/graphs/labels.js). Texts need no escaping, because they are drawn on a canvas.
    """
    look, depth = (DARK if dark else LIGHT), _depths(visible.items)
    found: list[Element] = []
    for number, (item, box) in enumerate(zip(visible.items, arrangement.boxes, strict=True)):
        found.append(_node(item, box, look, depth[number], (marks or {}).get(item.key, "")))
        for place, (small, rect) in enumerate(zip(item.beside, arrangement.beside[number], strict=True)):
            text = small_label(small)
            data: Element = {
                "id": f"{item.key}.{place}", "label": text, "kind": small.kind, "box": small.box or item.key,
                "rows": list(small.nodes), "fill": look.small[small.kind], "w": round(rect.width), "h": round(rect.height),
                "shown": text, "fs": 9.5,
            }  # fmt: skip
            classes = f"small {(marks or {}).get(data['id'], '')}".rstrip()
            found.append({"data": data, "position": _position(rect), "classes": classes})
        if badges and item.key in badges:
            found.append(_badge(item, box, badges[item.key], look, (marks or {}).get(item.key, "")))
    smooth = len(visible.links) <= SMOOTH
    for link, bends in zip(visible.links, arrangement.bends, strict=True):
        found.append(_link(visible, arrangement, link, bends, look, smooth))
    return found


def stylesheet(*, dark: bool = False) -> list[dict[str, Any]]:
    """Return the stylesheet for cytoscape."""
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
                "label": "data(shown)",
                "font-size": "data(fs)",
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
                "text-margin-y": "data(ty)",
                "text-margin-x": "data(tx)",
                "border-style": "solid",
                "border-width": 1,
                "z-index": "data(z)",
            },
        },
        {"selector": "node.more, node.earlier, node.later", "style": {"border-style": "dashed", "color": look.muted}},
        {"selector": "node.small", "style": {"border-width": 0, "color": look.muted, "z-index": 21}},
        {"selector": "node.painted", "style": {"color": "data(ink)", "text-wrap": "wrap", "text-max-width": "10000px"}},
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
        *(
            {
                "selector": f"edge.{name}",
                "style": {
                    f"{where}label": "data(short)",
                    "font-size": DETAIL,
                    "font-family": "system-ui, sans-serif",
                    "color": look.muted,
                    "text-background-color": look.back,
                    "text-background-opacity": 0.85,
                    "z-index": 16,
                    **({f"{where}text-offset": FAR} if where else {}),
                },
            }
            for name, where in (("detail", ""), ("detail-out", "source-"), ("detail-into", "target-"))
        ),
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
                "color": text["color"],
                "line-color": look.accent,
                "target-arrow-color": look.accent,
                "text-background-color": look.back,
                "text-background-opacity": 0.9,
                "z-index": 30,
            },
        },
        {"selector": "node.traced", "style": {"border-color": look.accent, "border-width": 2}},
        {"selector": "edge.traced", "style": {"line-color": look.accent, "target-arrow-color": look.accent, "z-index": 17}},
        {"selector": ".pale", "style": {"opacity": 0.35}},
        {"selector": "node.watched", "style": {"border-style": "dashed", "border-width": 2, "border-color": look.accent}},
        {
            "selector": "node.badge",
            "style": {"border-width": 0, "color": look.on_wrong, "z-index": 31, "events": "no"},
        },
        {"selector": "node.badge.redistribution", "style": {"color": "#10131a"}},
        {"selector": "node.near", "style": {"border-color": look.accent, "border-width": 1.5}},
        {"selector": "node.hit.near", "style": {"border-color": look.wrong, "border-width": 2.5}},
        {
            "selector": "node.hit.chosen",
            "style": {
                "border-color": look.wrong, "underlay-color": look.accent, "underlay-opacity": 0.45, "underlay-padding": 5,
            },
        },
    ]


def _marks(look: GraphStyle) -> list[tuple[str, str]]:
    return [
        ("added", look.added), ("removed", look.removed), ("changed", look.changed), ("strategy", look.added),
        ("gradient", look.removed), ("redistribution", look.changed), ("hit", look.wrong),
    ]  # fmt: skip


def _depths(items: Sequence[Item]) -> list[int]:
    depth: list[int] = []
    for item in items:
        depth.append(depth[item.parent] + 1 if item.parent >= 0 else 0)
    return depth


def _node(item: Item, box: Rect, look: GraphStyle, depth: int, mark: str) -> Element:
    text = label(item)
    data: Element = {
        "id": item.key, "label": text, "kind": item.kind, "type": item.type, "count": item.count, "w": round(box.width),
        "h": round(box.height), "fill": fill(look, item, depth), "shown": text, "fs": 12,
    }  # fmt: skip
    if item.also:
        data["also"] = item.also
    names = [item.kind]
    if item.opened:
        names.append("frame")
        data |= {"tx": round(text_width(text) / 2 + 12 - box.width / 2), "ty": 22, "z": min(depth, 14)}
    return {"data": data, "position": _position(box), "classes": " ".join([*names, mark]).strip()}


def _badge(item: Item, box: Rect, text: str, look: GraphStyle, mark: str) -> Element:
    """A text over the upper right corner of a box, or at the right end of an open one's title, in the colour of its mark."""
    width = 10 + text_width(text, BADGE_LETTER)
    x = box.x + box.width / 2 - (width / 2 + 8 if item.opened else 4)
    y = box.y - box.height / 2 + (HEADER / 2 if item.opened else 0)
    colour = dict(_marks(look)).get(mark, look.wrong)
    data = {"id": f"{item.key}!", "label": text, "kind": "badge", "fill": colour, "w": round(width), "h": 15}
    data |= {"shown": text, "fs": 9.5}
    return {"data": data, "position": {"x": round(x, 1), "y": round(y, 1)}, "classes": f"small badge {mark}".rstrip()}


def _link(
    visible: Visible, arrangement: Arrangement, link: BoxLink, bends: Sequence[Point], look: GraphStyle, smooth: bool
) -> Element:
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


def _value(link: BoxLink) -> str:
    """Return the label of a link: dtype and shape of its value, or the number of values."""
    if link.count > 1 or link.kind == "proxy":
        return f"×{count(link.count)}"
    return f"{link.type} {link.shape}".strip()


def _rounded(points: Sequence[Point]) -> Iterator[Point]:
    """Yield the control points of a line with round corners: each bend, and the start and end of its corner."""
    for (ax, ay), (bx, by), (cx, cy) in zip(points, points[1:], points[2:], strict=False):
        before, after = math.dist((ax, ay), (bx, by)), math.dist((bx, by), (cx, cy))
        if before and after:
            near, far = min(0.5, ROUND / before), min(0.5, ROUND / after)
            yield bx + (ax - bx) * near, by + (ay - by) * near
            yield bx, by
            yield bx + (cx - bx) * far, by + (cy - by) * far


def _relative(points: Sequence[Point], source: Rect, target: Rect) -> list[tuple[float, float]]:
    """Return points as (fraction of the way between two centres, distance to the right, which is left as y points down)."""
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
