"""Arrange the visible part of a graph. Each frame is drawn on its own, innermost first, and is one box of the frame around it.

A link between boxes of different frames leaves each frame through a port on its border, which is a node of that frame's
drawing. So links go around unrelated boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parsers.analysis.graphs import Item, Visible

from layouts.graphs.figure.boxes import HEADER, PADDING, PILL_GAP, PILL_HEIGHT, PILL_STEP, Rect, size, small_width
from layouts.graphs.figure.layered import Edge, LayeredDrawing, NodeSpace, Point, backward, layered

LARGEST = 45_000.0
"""Maximum width and height of a drawing in pixels; the browser cannot draw much larger ones."""
_PORT = NodeSpace(0.0, 0.0, 2.0)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The places of everything visible, in pixels from the top left.

    boxes has the box of each item, beside the boxes of the small items next to it, bends the bends of each link from its source
    to its target. width and height are those of the whole drawing. scale is less than 1 if the drawing had to be shrunk.
    """

    boxes: tuple[Rect, ...]
    beside: tuple[tuple[Rect, ...], ...]
    bends: tuple[tuple[Point, ...], ...]
    width: float
    height: float
    scale: float = 1.0


def arrange(visible: Visible) -> Arrangement:
    """Return the places of everything visible. They are deterministic, and at most LARGEST pixels wide and high."""
    return _Arranging(visible).arranged()


@dataclass(slots=True)
class _ArrangedItems:
    """One drawing: its items, and its edges as (upper, lower) local numbers of items and ports."""

    items: list[int]
    local: dict[int, int]
    edges: dict[Edge, None]
    top: dict[int, int]
    bottom: dict[int, int]

    @property
    def nodes(self) -> int:
        return len(self.items) + len(self.top) + len(self.bottom)

    def port(self, item: int, above: bool) -> int:
        ports = self.top if above else self.bottom
        if item not in ports:
            ports[item] = self.nodes
        return ports[item]


class _Arranging:
    def __init__(self, visible: Visible) -> None:
        self.items, self.links = visible.items, visible.links
        self.frames = {-1: _ArrangedItems([], {}, {}, {}, {})}
        for number, item in enumerate(self.items):
            if item.opened:
                self.frames[number] = _ArrangedItems([], {}, {}, {}, {})
        for number, item in enumerate(self.items):
            frame = self.frames[item.parent]
            frame.local[number] = len(frame.items)
            frame.items.append(number)
        self.chains = [self._chain(number) for number in range(len(self.items))]
        self.steps: list[list[tuple[int, Edge, bool]]] = []
        self.drawings: dict[int, LayeredDrawing] = {}
        self.cells: list[NodeSpace] = [NodeSpace(0, 0, 0)] * len(self.items)
        self.sizes: list[tuple[float, float]] = [(0.0, 0.0)] * len(self.items)

    def arranged(self) -> Arrangement:
        self._route()
        for number in [*(n for n in range(len(self.items) - 1, -1, -1) if n in self.frames), -1]:
            self._draw(number)
        return self._placed()

    def _chain(self, item: int) -> list[int]:
        """Return the frames around an item from the outermost to the item itself."""
        chain = [item]
        while self.items[chain[-1]].parent >= 0:
            chain.append(self.items[chain[-1]].parent)
        return [-1, *chain[::-1]]

    def _route(self) -> None:
        """Split each link into edges of frames: (frame, edge, whether the link runs from upper to lower)."""
        crossing = []
        for link in self.links:
            ups, downs = self.chains[link.source], self.chains[link.target]
            level = 0
            while ups[level + 1] == downs[level + 1]:
                level += 1
            crossing.append((level, ups, downs))
        meeting: dict[int, dict[Edge, None]] = {number: {} for number in self.frames}
        for level, ups, downs in crossing:
            local = self.frames[ups[level]].local
            meeting[ups[level]][local[ups[level + 1]], local[downs[level + 1]]] = None
        turned = {number: backward(len(self.frames[number].items), list(edges)) for number, edges in meeting.items()}
        for level, ups, downs in crossing:
            common = ups[level]
            local = self.frames[common].local
            edge = local[ups[level + 1]], local[downs[level + 1]]
            back = edge in turned[common]
            inner, outer = range(len(ups) - 2, level, -1), range(level + 1, len(downs) - 1)
            steps = [
                *(self._to_port(ups[depth], ups[depth + 1], above=back, leaving=True) for depth in inner),
                (common, edge[::-1] if back else edge, not back),
                *(self._to_port(downs[depth], downs[depth + 1], above=not back, leaving=False) for depth in outer),
            ]
            for number, one, _ in steps:
                self.frames[number].edges[one] = None
            self.steps.append(steps)

    def _to_port(self, number: int, item: int, *, above: bool, leaving: bool) -> tuple[int, Edge, bool]:
        frame = self.frames[number]
        port, node = frame.port(item, above), frame.local[item]
        return number, ((port, node) if above else (node, port)), above != leaving

    def _draw(self, number: int) -> None:
        frame = self.frames[number]
        cells = [self._cell(item) for item in frame.items] + [_PORT] * (len(frame.top) + len(frame.bottom))
        top, bottom = list(frame.top.values()), list(frame.bottom.values())
        if not cells:
            self.drawings[number] = LayeredDrawing([], [], {}, 40.0, 10.0)
        else:
            self.drawings[number] = layered(cells, list(frame.edges), top=top, bottom=bottom)
        if number >= 0:
            drawing = self.drawings[number]
            least = size(self.items[number])[0] + 30
            self.sizes[number] = (
                max(least, drawing.width + 2 * PADDING),
                drawing.height + HEADER + PADDING,
            )

    def _cell(self, item: int) -> NodeSpace:
        if not self.items[item].opened:
            self.sizes[item] = size(self.items[item])
        width, height = self.sizes[item]
        beside = self.items[item].beside
        left = max((small_width(one) + PILL_GAP for one in beside), default=0.0)
        self.cells[item] = NodeSpace(width / 2 + left, width / 2, max(height, len(beside) * PILL_STEP))
        return self.cells[item]

    def _placed(self) -> Arrangement:
        root = self.drawings[-1]
        scale = min(1.0, LARGEST / max(root.width, root.height, 1.0))
        origin: dict[int, Point] = {-1: (0.0, 0.0)}
        boxes: list[Rect] = []
        for number, item in enumerate(self.items):
            left, above = origin[item.parent]
            drawing, local = self.drawings[item.parent], self.frames[item.parent].local[number]
            x, y = left + drawing.x[local], above + drawing.y[local]
            width, height = self.sizes[number]
            boxes.append(Rect(x, y, width, height))
            if item.opened:
                inner = self.drawings[number]
                origin[number] = (x - inner.width / 2, y - height / 2 + HEADER)
        pairs = zip(self.steps, self.links, strict=True)
        bends = [self._bends(steps, origin, boxes, link.source, link.target) for steps, link in pairs]
        return Arrangement(
            tuple(_scaled(box, scale) for box in boxes),
            tuple(
                tuple(_scaled(one, scale) for one in _beside(item, box)) for item, box in zip(self.items, boxes, strict=True)
            ),
            tuple(tuple((x * scale, y * scale) for x, y in points) for points in bends),
            root.width * scale,
            root.height * scale,
            scale,
        )

    def _bends(
        self, steps: list[tuple[int, Edge, bool]], origin: dict[int, Point], boxes: list[Rect], source: int, target: int
    ) -> list[Point]:
        points: list[Point] = []
        for place, (number, edge, along) in enumerate(steps):
            left, above = origin[number]
            drawing = self.drawings[number]
            found = [(left + x, above + y) for x, y in drawing.routes[edge]]
            points += found if along else found[::-1]
            if place < len(steps) - 1:
                points += self._through(steps[place], steps[place + 1], origin, boxes)
        return _straight([(boxes[source].x, boxes[source].y), *points, (boxes[target].x, boxes[target].y)])

    def _through(
        self,
        one: tuple[int, Edge, bool],
        other: tuple[int, Edge, bool],
        origin: dict[int, Point],
        boxes: list[Rect],
    ) -> list[Point]:
        """Return the point where a link crosses the border between two frames: the port of the inner one."""
        number, edge, _ = one if self._depth(one[0]) > self._depth(other[0]) else other
        frame, drawing = self.frames[number], self.drawings[number]
        port = max(edge)
        box = boxes[number]
        above = port in set(frame.top.values())
        return [(origin[number][0] + drawing.x[port], box.y - box.height / 2 if above else box.y + box.height / 2)]

    def _depth(self, number: int) -> int:
        return len(self.chains[number]) if number >= 0 else 0


def _beside(item: Item, box: Rect) -> list[Rect]:
    """Return the boxes of small items, in a column to the left of their item."""
    begin = box.y - (len(item.beside) - 1) * PILL_STEP / 2
    found = []
    for place, one in enumerate(item.beside):
        width = small_width(one)
        found.append(Rect(box.x - box.width / 2 - PILL_GAP - width / 2, begin + place * PILL_STEP, width, PILL_HEIGHT))
    return found


def _scaled(box: Rect, scale: float) -> Rect:
    return Rect(box.x * scale, box.y * scale, box.width * scale, box.height * scale) if scale < 1 else box


def _straight(points: Sequence[Point]) -> list[Point]:
    """Return the bends between two ends, without those within a pixel of the line through their neighbours."""
    kept = [points[0]]
    for place in range(1, len(points) - 1):
        (ax, ay), (bx, by), (cx, cy) = kept[-1], points[place], points[place + 1]
        length = ((cx - ax) ** 2 + (cy - ay) ** 2) ** 0.5
        if length == 0 or abs((cx - ax) * (ay - by) - (ax - bx) * (cy - ay)) / length > 1.0:
            kept.append(points[place])
    return kept[1:]
