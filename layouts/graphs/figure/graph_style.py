"""The colours and lines of a graph. Operators are tinted by type; red are only those with values that are wrong."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from parsers.analysis.graphs import Item

from layouts.graphs.figure.boxes import Rect
from layouts.graphs.figure.layered import Point


@dataclass(frozen=True, slots=True)
class GraphStyle:
    """Colours of one theme. nodes are the tints of operator types, small the colours of small items by kind."""

    back: str
    text: str
    muted: str
    frame: tuple[str, str]
    frame_line: str
    scope: str
    fold: str
    quiet: str
    border: str
    edge: str
    accent: str
    added: str
    removed: str
    changed: str
    wrong: str
    on_wrong: str
    nodes: tuple[str, ...]
    small: dict[str, str] = field(default_factory=dict)

    def line(self, kind: str) -> str:
        """Return the border colour of a box."""
        return self.muted if kind in ("scope", "stack") else self.border

    def width(self, count: int) -> float:
        """Return the width in pixels of a link that stands for count edges."""
        return min(1.2 + 0.4 * math.log2(max(1, count)), 4.0)


LIGHT = GraphStyle(
    back="#ffffff",
    text="#1b2027",
    muted="#5b6572",
    frame=("#f6f7f9", "#eef1f5"),
    frame_line="#c3c9d1",
    scope="#dfe6f1",
    fold="#e8e4f2",
    quiet="#ffffff",
    border="#b6bec8",
    edge="#8b95a1",
    accent="#2f5fd0",
    added="#2b9c78",
    removed="#895dd6",
    changed="#c6871a",
    wrong="#c3262b",
    on_wrong="#ffffff",
    nodes=("#dcebf9", "#fbe7d9", "#d9f0e7", "#ece4fa", "#f8ecd2", "#d8eef6", "#f8e2f1", "#ebeed6", "#d8efed", "#efe6de"),
    small={"parameter": "#f3e6c4", "constant": "#e6e9ed", "proxy": "#e9effc"},
)
DARK = GraphStyle(
    back="#1a1d21",
    text="#e3e6ea",
    muted="#9da6b1",
    frame=("#202429", "#262b31"),
    frame_line="#464e58",
    scope="#2f3b4e",
    fold="#3a3450",
    quiet="#1a1d21",
    border="#4d5661",
    edge="#737d89",
    accent="#86a9ff",
    added="#2b9c78",
    removed="#a57af6",
    changed="#c6871a",
    wrong="#ff8080",
    on_wrong="#10131a",
    nodes=("#23384d", "#4a3426", "#20403a", "#38305a", "#473a1e", "#1f3e4a", "#472f43", "#393d22", "#1f403e", "#3f352c"),
    small={"parameter": "#4b4020", "constant": "#30353c", "proxy": "#232f4b"},
)


def fill(look: GraphStyle, item: Item, depth: int = 0) -> str:
    """Return the colour of a box: frames alternate by depth, operators have the tint of their type."""
    if item.opened:
        return look.frame[depth % 2]
    if item.kind == "node":
        return look.nodes[zlib.crc32(item.type.encode("utf-8", "surrogatepass")) % len(look.nodes)]
    return {"scope": look.scope, "stack": look.scope, "fold": look.fold}.get(item.kind, look.quiet)


def ends(source: Rect, bends: Sequence[Point], target: Rect) -> tuple[Point, Point]:
    """Return where a link leaves its source and meets its target: the middle of the side facing its first or last bend."""
    after, before = (bends[0], bends[-1]) if bends else ((target.x, target.y), (source.x, source.y))
    return _border(source, after), _border(target, before)


def _border(box: Rect, towards: Point) -> Point:
    if abs(towards[1] - box.y) < box.height / 2:
        return (box.x + math.copysign(box.width / 2, towards[0] - box.x), box.y)
    return (box.x, box.y + math.copysign(box.height / 2, towards[1] - box.y))


def smooth(source: Rect, bends: Sequence[Point], target: Rect) -> str:
    """Return a link as an SVG path with round corners."""
    begin, end = ends(source, bends, target)
    points = [begin, *bends, end]
    path = f"M{points[0][0]:.0f} {points[0][1]:.0f}"
    for (ax, ay), (bx, by), (cx, cy) in zip(points, points[1:], points[2:], strict=False):
        before, after = math.dist((ax, ay), (bx, by)), math.dist((bx, by), (cx, cy))
        if not before or not after:
            continue
        near, far = min(0.5, 14 / before), min(0.5, 14 / after)
        path += f"L{bx + (ax - bx) * near:.0f} {by + (ay - by) * near:.0f}Q{bx:.0f} {by:.0f} "
        path += f"{bx + (cx - bx) * far:.0f} {by + (cy - by) * far:.0f}"
    return path + f"L{points[-1][0]:.0f} {points[-1][1]:.0f}"
