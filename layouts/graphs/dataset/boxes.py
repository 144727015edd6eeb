"""The layout of a pipeline: boxes from left to right in the order of the data, branches above each other.

A stretch without branches that is wider than the page continues in the next row, as text does. All numbers are pixels from
the upper left corner. Texts are not cut to the box here: only the browser knows how wide its letters are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from parsers import DatasetNode
from parsers.analysis.lineage.pipelines import ComparedOperation, NumberedPipeline, ParameterDifference, parameters_of

from layouts.kit.names import middle
from layouts.lineage.pipeline_parameters import PLUMBING, brief, summary, value_text

WIDTH = 200
BETWEEN = 26
"""Gap between columns."""
APART = 20
"""Gap between rows and between branches."""
PORT = 16
"""Distance of link ends below the upper edge of a box: the same for all boxes, so links are straight whatever their height."""
HEAD, LINE, PART, FOOT = 32, 18, 40, 8
PART_APART = 4
MOST_BOXES = 400
"""Maximum number of boxes in a drawing; those nearest to the last operation are drawn."""
LINES, PARTS = 3, 8
"""Maximum number of parameters, and of operations of a map, in a box. Parameters that differ come first."""
SHOWN = 200
"""Maximum number of characters of a text in a box."""
Point: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class BoxLine:
    """A row of a box, y px below its upper edge. role: "line", "operation", "sampler" or "more" (text: how many)."""

    role: str
    name: str
    text: str
    changed: bool
    y: int


@dataclass(frozen=True, slots=True)
class Box:
    """A node and its position. hidden: number of its inputs that are not drawn. only: no other pipeline has it."""

    number: int
    kind: str
    title: str
    x: float
    y: float
    height: int
    lines: tuple[BoxLine, ...]
    hidden: int = 0
    changed: bool = False
    only: bool = False


@dataclass(frozen=True, slots=True)
class PipelineDrawing:
    """Boxes, links as (source number, target number, corners of the line between them), and the size of the drawing."""

    boxes: tuple[Box, ...]
    links: tuple[tuple[int, int, tuple[Point, ...]], ...]
    width: float
    height: float


def drawing(
    graph: NumberedPipeline, columns: int, places: Sequence[ComparedOperation] = (), pipeline: int = 0
) -> PipelineDrawing:
    """Lay out a pipeline on a page that is `columns` boxes wide.

    places: the comparison with other pipelines, in which this one has the number `pipeline`.
    """
    shown = _nearest(graph)
    differing = {place.numbers[pipeline]: place.differences for place in places}
    rows = {number: lines(graph.nodes[number], differing.get(number, ()), pipeline) for number in shown}
    heights = {number: height(rows[number]) for number in shown}
    where = _places(graph, shown, heights, max(1, columns))
    boxes = []
    for number in sorted(shown):
        node, changes = graph.nodes[number], differing.get(number, ())
        x, y = where[number]
        only = any(one.part == "type" and sum(isinstance(value, str) for value in one.values) == 1 for one in changes)
        hidden = sum(child not in shown for child in graph.children[number])
        boxes.append(Box(number, node.kind, middle(node.type or "?", SHOWN), x, y, heights[number], rows[number], hidden,
                         bool(changes), only))  # fmt: skip
    links = tuple(
        (number, graph.parents[number], _corners(where[number], where[graph.parents[number]]))
        for number in sorted(shown) if number
    )  # fmt: skip
    width = max(box.x for box in boxes) + WIDTH
    return PipelineDrawing(tuple(boxes), links, width, max(box.y + box.height for box in boxes))


def _nearest(graph: NumberedPipeline) -> set[int]:
    """The nodes to draw: those nearest to the root."""
    found: set[int] = set()
    pending = deque([0])
    while pending and len(found) < MOST_BOXES:
        number = pending.popleft()
        found.add(number)
        pending.extend(graph.children[number])
    return found


# Contents of a box ----------------------------------------------------------------------------------------------------


def lines(node: DatasetNode, differences: Sequence[ParameterDifference] = (), pipeline: int = 0) -> tuple[BoxLine, ...]:
    """Return the rows of a box: parameters, the sampler, the operations of a map."""
    changed = {(one.part, one.places[pipeline], one.key) for one in differences}
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
    found: list[BoxLine] = []
    y = HEAD
    for role, name, text, touched in wanted:
        if role in ("operation", "sampler") and found and found[-1].role == "line":
            y += PART_APART
        found.append(BoxLine(role, middle(name, SHOWN) or "?" * (role != "more"), _shown(text), touched, y))
        y += PART + PART_APART if role in ("operation", "sampler") else LINE
    return tuple(found)


def _shown(text: str) -> str:
    """Cut a text to SHOWN characters."""
    return middle(text, SHOWN)


def _columns_line(node: DatasetNode, changed: Collection[Any]) -> list[tuple[str, str, str, bool]]:
    """The row with the input and output columns of a map."""
    names = [value_text(node.parameters[key]) for key in ("input_columns", "output_columns") if key in node.parameters]
    touched = any(("node", 0, key) in changed for key in ("input_columns", "output_columns"))
    return [("line", "columns", " → ".join(dict.fromkeys(names)), touched)]


def height(rows: Sequence[BoxLine]) -> int:
    """Return the height of a box with these rows."""
    if not rows:
        return HEAD
    last = rows[-1]
    return last.y + (PART if last.role in ("operation", "sampler") else LINE) + FOOT


# Positions of boxes ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Block:
    """A stretch and the branches that feed it, laid out. Its outgoing link leaves it port px below its upper edge."""

    boxes: dict[int, Point]
    width: float
    height: float
    port: float


def _places(graph: NumberedPipeline, shown: Collection[int], heights: dict[int, int], columns: int) -> dict[int, Point]:
    # Every branch comes after the stretch it feeds, so in reverse order each stretch finds its branches laid out.
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
    """Lay out a stretch, in the order of the data, to the right of the branches that feed it."""
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
    """The corners of a link: straight, or with a step just before its target, or around to the start of the next row."""
    begin, end = (source[0] + WIDTH, source[1] + PORT), (target[0], target[1] + PORT)
    if begin[1] == end[1]:
        return (begin, end)
    if target[0] > source[0]:
        step = end[0] - BETWEEN / 2
        return (begin, (step, begin[1]), (step, end[1]), end)
    out, back, between = begin[0] + BETWEEN / 2 - 2, end[0] - BETWEEN / 2 + 2, target[1] - APART / 2
    return (begin, (out, begin[1]), (out, between), (back, between), (back, end[1]), end)
