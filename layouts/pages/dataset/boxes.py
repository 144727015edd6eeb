"""A pipeline as boxes with places: what feeds stands to the left of what it feeds, branches above each other.

A stretch without branches that is longer than the page is wide goes on in the next row, as text does. All numbers are px; the
origin is the upper left corner. Texts are whole: the browser, which knows its letters, cuts them to their box.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from parsers import DatasetNode
from parsers.analysis.pipelines import ComparedOperation, Difference, Numbered, parameters_of

from layouts.components.pipeline_parameters import PLUMBING, brief, summary, value_text

WIDTH = 200
BETWEEN = 26
"""Between columns."""
APART = 20
"""Between rows and branches."""
PORT = 16
"""Links end so far below the upper edge of a box, so that they are straight whatever its height."""
HEAD, LINE, PART, FOOT = 32, 18, 40, 8
PART_APART = 4
MOST_BOXES = 400
"""Boxes of one drawing; those nearest to the last operation are drawn."""
LINES, PARTS = 3, 8
"""Parameters, and operations of a map, that a box shows; those that differ come on top."""
SHOWN = 200
"""Characters of a text in a box."""
Point: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a box, y px below its upper edge. role: "line", "operation", "sampler" or "more" (text: how many)."""

    role: str
    name: str
    text: str
    changed: bool
    y: int


@dataclass(frozen=True, slots=True)
class Box:
    """A node in its place. hidden: how many nodes that feed it are not drawn. only: no other pipeline has it."""

    number: int
    kind: str
    title: str
    x: float
    y: float
    height: int
    lines: tuple[Line, ...]
    hidden: int = 0
    changed: bool = False
    only: bool = False


@dataclass(frozen=True, slots=True)
class Drawing:
    """Boxes, links as (number of the source, of the target, corners of the line between them), and the size."""

    boxes: tuple[Box, ...]
    links: tuple[tuple[int, int, tuple[Point, ...]], ...]
    width: float
    height: float


def drawing(graph: Numbered, columns: int, places: Sequence[ComparedOperation] = (), pipeline: int = 0) -> Drawing:
    """The drawing of a pipeline that is to be so many boxes wide. places: what it is compared with, as pipeline number."""
    shown = _nearest(graph)
    differing = {place.numbers[pipeline]: place.differences for place in places}
    rows = {number: lines(graph.nodes[number], differing.get(number, ()), pipeline) for number in shown}
    heights = {number: height(rows[number]) for number in shown}
    where = _places(graph, shown, heights, max(1, columns))
    boxes = []
    for number in sorted(shown):
        node, told_apart = graph.nodes[number], differing.get(number, ())
        x, y = where[number]
        only = any(one.part == "type" and sum(isinstance(value, str) for value in one.values) == 1 for one in told_apart)
        hidden = sum(child not in shown for child in graph.children[number])
        boxes.append(Box(number, node.kind, (node.type or "?")[:SHOWN], x, y, heights[number], rows[number], hidden,
                         bool(told_apart), only))  # fmt: skip
    links = tuple(
        (number, graph.parents[number], _corners(where[number], where[graph.parents[number]]))
        for number in sorted(shown) if number
    )  # fmt: skip
    width = max(box.x for box in boxes) + WIDTH
    return Drawing(tuple(boxes), links, width, max(box.y + box.height for box in boxes))


def _nearest(graph: Numbered) -> set[int]:
    """The nodes to draw: those nearest to the root."""
    found: set[int] = set()
    pending = deque([0])
    while pending and len(found) < MOST_BOXES:
        number = pending.popleft()
        found.add(number)
        pending.extend(graph.children[number])
    return found


# What stands in a box -------------------------------------------------------------------------------------------------


def lines(node: DatasetNode, told_apart: Sequence[Difference] = (), pipeline: int = 0) -> tuple[Line, ...]:
    """The rows of a box: parameters, the sampler, the operations of a map."""
    changed = {(one.part, one.places[pipeline], one.key) for one in told_apart}
    keys = [key for key in summary(node) if key not in PLUMBING or ("node", 0, key) in changed]
    keys.sort(key=lambda key: ("node", 0, key) not in changed)
    wanted: list[tuple[str, str, str, bool]] = [
        ("line", key, value_text(node.parameters[key]), ("node", 0, key) in changed) for key in keys[:LINES]
    ]
    if node.type == "Map" and "input_columns" in node.parameters:
        wanted = _columns_line(node, changed) + [one for one in wanted if one[1] not in ("input_columns", "output_columns")]
    if node.sampler is not None:
        touched = any(part == "sampler" for part, _, _ in changed)
        wanted.append(("sampler", node.sampler.name, brief(parameters_of(node.sampler)), touched))
    for place, one in enumerate(node.operations[:PARTS]):
        touched = any(part == "operation" and at == place for part, at, _ in changed)
        wanted.append(("operation", one.name, brief(parameters_of(one)), touched))
    if len(node.operations) > PARTS:
        touched = any(part == "operation" and at >= PARTS for part, at, _ in changed)
        wanted.append(("more", "", value_text(len(node.operations) - PARTS), touched))
    found: list[Line] = []
    y = HEAD
    for role, name, text, touched in wanted:
        if role in ("operation", "sampler") and found and found[-1].role == "line":
            y += PART_APART
        found.append(Line(role, name[:SHOWN] or "?" * (role != "more"), _shown(text), touched, y))
        y += PART + PART_APART if role in ("operation", "sampler") else LINE
    return tuple(found)


def _shown(text: str) -> str:
    """As much of a text as a box may need; of a path the end, which tells more than its beginning."""
    path = text.startswith(("/", "\\")) and ", " not in text
    return f"…{text[-SHOWN + 1 :]}" if path and len(text) > SHOWN else text[:SHOWN]


def _columns_line(node: DatasetNode, changed: Collection[Any]) -> list[tuple[str, str, str, bool]]:
    """Which columns a map reads and which it makes, in one row."""
    names = [value_text(node.parameters[key]) for key in ("input_columns", "output_columns") if key in node.parameters]
    touched = any(("node", 0, key) in changed for key in ("input_columns", "output_columns"))
    return [("line", "columns", " → ".join(dict.fromkeys(names)), touched)]


def height(rows: Sequence[Line]) -> int:
    """Of a box with these rows."""
    if not rows:
        return HEAD
    last = rows[-1]
    return last.y + (PART if last.role in ("operation", "sampler") else LINE) + FOOT


# Where boxes stand ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Block:
    """Boxes that stand together, with what comes out of them port px below its upper edge."""

    boxes: dict[int, Point]
    width: float
    height: float
    port: float


def _places(graph: Numbered, shown: Collection[int], heights: dict[int, int], columns: int) -> dict[int, Point]:
    # Stretches in an order that has every branch after what it feeds, so backwards each finds its branches done.
    stretches, pending = [], [0]
    while pending:
        stretch = [number for number in graph.stretch(pending.pop()) if number in shown]
        stretches.append(stretch)
        pending += [child for child in graph.children[stretch[-1]] if child in shown]
    blocks: dict[int, _Block] = {}
    for stretch in reversed(stretches):
        fed = [blocks.pop(child) for child in graph.children[stretch[-1]] if child in blocks]
        blocks[stretch[0]] = _block(stretch[::-1], fed, heights, columns)
    return blocks[0].boxes


def _block(stretch: Sequence[int], fed: Sequence[_Block], heights: dict[int, int], columns: int) -> _Block:
    """A stretch, in the order of the data, to the right of the branches that feed it."""
    boxes: dict[int, Point] = {}
    reach, top, ports = max((block.width for block in fed), default=0.0), 0.0, []
    for block in fed:
        boxes |= {n: (x + reach - block.width, y + top) for n, (x, y) in block.boxes.items()}
        ports.append(top + block.port)
        top += block.height + APART
    left = reach + BETWEEN if fed else 0.0
    across = max(1 if fed else 2, columns - round(left / (WIDTH + BETWEEN)))
    own: dict[int, Point] = {}
    y, rows = 0.0, [stretch[at : at + across] for at in range(0, len(stretch), across)]
    for row in rows:
        own |= {number: (left + at * (WIDTH + BETWEEN), y) for at, number in enumerate(row)}
        y += max(heights[number] for number in row) + APART
    down = (ports[0] + ports[-1]) / 2 - PORT if ports else 0.0
    up = max(0.0, -down)
    boxes = {number: (x, at + up) for number, (x, at) in boxes.items()}
    boxes |= {number: (x, at + down + up) for number, (x, at) in own.items()}
    width = left + min(len(stretch), across) * (WIDTH + BETWEEN) - BETWEEN
    tall = max(top - APART if fed else 0.0, down + y - APART) + up
    return _Block(boxes, width, tall, boxes[stretch[-1]][1] + PORT)


def _corners(source: Point, target: Point) -> tuple[Point, ...]:
    """The corners of a link: straight, or by a step before its target, or around to the beginning of the next row."""
    begin, end = (source[0] + WIDTH, source[1] + PORT), (target[0], target[1] + PORT)
    if begin[1] == end[1]:
        return (begin, end)
    if target[0] > source[0]:
        step = end[0] - BETWEEN / 2
        return (begin, (step, begin[1]), (step, end[1]), end)
    out, back, between = begin[0] + BETWEEN / 2 - 2, end[0] - BETWEEN / 2 + 2, target[1] - APART / 2
    return (begin, (out, begin[1]), (out, between), (back, between), (back, end[1]), end)
