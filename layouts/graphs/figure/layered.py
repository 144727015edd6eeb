"""Layered drawing of one graph from top to bottom, after Sugiyama, Tagawa and Toda (1981).

The steps: break cycles by reversing edges that go back in the order of nodes; assign layers by longest path, and pull sources
down to their targets; give edges over several layers a point in each layer, shared by all edges of one node; reduce crossings
by barycentres, alternately down and up; assign coordinates after Brandes and Köpf (2001), which keeps long edges straight. A
drawing that would be too high is cut into bands side by side. Nothing is random.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from layouts.graphs.figure.columns import coordinates
from layouts.graphs.figure.crossings import reduce_crossings

Point = tuple[float, float]
Edge = tuple[int, int]

GAP_X, GAP_Y, GAP_POINT = 26.0, 34.0, 12.0
"""Pixels between neighbours in a layer, between layers, and beside an edge that passes through a layer."""
WRAP = 3_600.0
"""Drawings higher than this, in pixels, are cut into bands."""
LEAST = 900.0
"""Approximate minimum height of a band in pixels."""
WIDEST = 2_600.0
"""Layers wider than this, in pixels, are split."""
BAND_GAP = 70.0


@dataclass(frozen=True, slots=True)
class NodeSpace:
    """The space a node needs from its centre to the left and right, and its height, in pixels."""

    left: float
    right: float
    height: float


@dataclass(frozen=True, slots=True)
class LayeredDrawing:
    """x, y: centres of the nodes, from the top left. routes: the bends of each edge from its upper to its lower end."""

    x: list[float]
    y: list[float]
    routes: dict[Edge, list[Point]]
    width: float
    height: float


def backward(size: int, edges: Sequence[Edge]) -> set[Edge]:
    """Return the edges to reverse so that no cycle is left: those within a cycle that lead from a later node to an earlier one.

    Nodes are in the order of the file, which is mostly topological, so these edges also lead back for a reader. Cycles are
    found after Tarjan (1972).
    """
    after: list[list[int]] = [[] for _ in range(size)]
    for source, target in edges:
        after[source].append(target)
    low, part = [-1] * size, [-1] * size
    number = parts = 0
    waiting: list[int] = []
    for root in range(size):
        if low[root] >= 0:
            continue
        path: list[tuple[int, int, Iterator[int]]] = [(root, number, iter(after[root]))]
        low[root] = number
        number += 1
        waiting.append(root)
        while path:
            node, first, rest = path[-1]
            deeper = False
            for other in rest:
                if low[other] < 0:
                    path.append((other, number, iter(after[other])))
                    low[other] = number
                    number += 1
                    waiting.append(other)
                    deeper = True
                    break
                if part[other] < 0:
                    low[node] = min(low[node], low[other])
            if deeper:
                continue
            path.pop()
            if path and part[node] < 0:
                above = path[-1][0]
                low[above] = min(low[above], low[node])
            if low[node] == first:
                while part[node] < 0:
                    part[waiting.pop()] = parts
                parts += 1
    return {(source, target) for source, target in edges if part[source] == part[target] and source >= target}


def layered(
    cells: Sequence[NodeSpace], edges: Sequence[Edge], *, top: Sequence[int] = (), bottom: Sequence[int] = ()
) -> LayeredDrawing:
    """Draw an acyclic graph with edges (upper, lower). Nodes in top are in the first layer, those in bottom in the last."""
    size = len(cells)
    edges = sorted(set(edges))
    parts = _components(size, edges) if not top and not bottom else [list(range(size))]
    drawings = []
    of = [0] * size
    for number, part in enumerate(parts):
        for node in part:
            of[node] = number
    mine: list[list[Edge]] = [[] for _ in parts]
    for edge in edges:
        mine[of[edge[0]]].append(edge)
    for part, own in zip(parts, mine, strict=True):
        local = {node: place for place, node in enumerate(part)}
        drawings.append(
            _connected(
                [cells[node] for node in part],
                [(local[upper], local[lower]) for upper, lower in own],
                [local[node] for node in top],
                [local[node] for node in bottom],
            )
        )
    return _packed(size, parts, drawings)


def _components(size: int, edges: Sequence[Edge]) -> list[list[int]]:
    """Return the nodes of each connected component, ordered by their first nodes."""
    root = list(range(size))

    def find(node: int) -> int:
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    for upper, lower in edges:
        one, other = find(upper), find(lower)
        if one != other:
            root[max(one, other)] = min(one, other)
    parts: dict[int, list[int]] = {}
    for node in range(size):
        parts.setdefault(find(node), []).append(node)
    return list(parts.values())


def _packed(size: int, parts: list[list[int]], drawings: list[LayeredDrawing]) -> LayeredDrawing:
    """Place components in rows in their order, so that the drawing is about 1.5 times as wide as high."""
    if len(parts) == 1:
        return drawings[0]
    gap = GAP_X * 1.5
    area = sum((one.width + gap) * (one.height + gap) for one in drawings)
    limit = max((1.5 * area) ** 0.5, max((one.width for one in drawings), default=0.0))
    x, y = [0.0] * size, [0.0] * size
    routes: dict[Edge, list[Point]] = {}
    left = above = row = width = 0.0
    for part, one in zip(parts, drawings, strict=True):
        if left and left + one.width > limit:
            left, above, row = 0.0, above + row + gap, 0.0
        for place, node in enumerate(part):
            x[node], y[node] = one.x[place] + left, one.y[place] + above
        for (upper, lower), bends in one.routes.items():
            routes[part[upper], part[lower]] = [(bx + left, by + above) for bx, by in bends]
        width, row = max(width, left + one.width), max(row, one.height)
        left += one.width + gap
    return LayeredDrawing(x, y, routes, width, above + row)


def _connected(cells: list[NodeSpace], edges: list[Edge], top: list[int], bottom: list[int]) -> LayeredDrawing:
    if len(cells) == 1:
        return LayeredDrawing([cells[0].left], [cells[0].height / 2], {}, cells[0].left + cells[0].right, cells[0].height)
    layer = _narrow(cells, _layers(len(cells), edges, top, bottom))
    layers, upper, chains = _with_points(len(cells), edges, layer)
    points = sum(map(len, layers)) - len(cells)
    left = [cell.left for cell in cells] + [0.0] * points
    right = [cell.right for cell in cells] + [0.0] * points
    reduce_crossings(layers, upper)
    x = coordinates(layers, upper, left, right, len(cells), GAP_X, GAP_POINT)
    return _in_bands(cells, edges, layers, chains, x, left, right)


def _layers(size: int, edges: list[Edge], top: list[int], bottom: list[int]) -> list[int]:
    below: list[list[int]] = [[] for _ in range(size)]
    waiting = [0] * size
    for upper, lower in edges:
        below[upper].append(lower)
        waiting[lower] += 1
    inputs = list(waiting)
    order = [node for node in range(size) if not waiting[node]]
    layer = [0] * size
    first = set(top)
    pinned = 1 if top else 0
    for node in order:
        if pinned and node not in first:
            layer[node] = max(layer[node], 1)
        for lower in below[node]:
            layer[lower] = max(layer[lower], layer[node] + 1)
            waiting[lower] -= 1
            if not waiting[lower]:
                order.append(lower)
    last = max(layer, default=0)
    ends = set(bottom)
    if ends:
        last = max((layer[node] for node in range(size) if node not in ends), default=0) + 1
        for node in ends:
            layer[node] = last
    for node in reversed(order):
        # A node with more outputs than inputs shortens edges by moving down.
        if below[node] and node not in first and len(below[node]) > inputs[node]:
            layer[node] = max(layer[node], min(layer[lower] for lower in below[node]) - 1)
    used = {number: place for place, number in enumerate(sorted(set(layer)))}
    return [used[number] for number in layer]


def _narrow(cells: list[NodeSpace], layer: list[int]) -> list[int]:
    """Split layers that are too wide into several, keeping the order of nodes."""
    rows: list[list[int]] = [[] for _ in range(max(layer) + 1)]
    for node, number in enumerate(layer):
        rows[number].append(node)
    spread = [0] * len(layer)
    at = 0
    for row in rows:
        width = 0.0
        for node in row:
            room = cells[node].left + cells[node].right
            need = room + (GAP_X if room else GAP_POINT)
            if width and width + need > WIDEST:
                at, width = at + 1, 0.0
            width += need
            spread[node] = at
        at += 1
    return spread


def _with_points(
    size: int, edges: list[Edge], layer: list[int]
) -> tuple[list[list[int]], list[list[int]], dict[int, list[int]]]:
    """Return (nodes and points by layer, the upper neighbours of each, the points below each node)."""
    layers: list[list[int]] = [[] for _ in range(max(layer) + 1)]
    for node, number in enumerate(layer):
        layers[number].append(node)
    farthest: dict[int, int] = {}
    for upper, lower in edges:
        farthest[upper] = max(farthest.get(upper, 0), layer[lower])
    above: list[list[int]] = [[] for _ in range(size)]
    chains: dict[int, list[int]] = {}
    for node, far in farthest.items():
        chain = chains[node] = []
        for number in range(layer[node] + 1, far):
            point = len(above)
            above.append([chain[-1] if chain else node])
            layers[number].append(point)
            chain.append(point)
    for upper, lower in edges:
        span = layer[lower] - layer[upper]
        above[lower].append(chains[upper][span - 2] if span > 1 else upper)
    return layers, above, chains


def _in_bands(
    cells: list[NodeSpace],
    edges: list[Edge],
    layers: list[list[int]],
    chains: dict[int, list[int]],
    x: list[float],
    left: list[float],
    right: list[float],
) -> LayeredDrawing:
    heights = [max((cells[node].height for node in row if node < len(cells)), default=0.0) for row in layers]
    total = sum(heights) + GAP_Y * (len(heights) - 1)
    bands = _bands(layers, heights, total, x, left, right)
    y, middle = list(x), list(x)
    band_of, row_of = [0] * len(x), [0] * len(x)
    at = width = height = 0.0
    for number, rows in enumerate(bands):
        members = [node for row in rows for node in layers[row]]
        low = min(x[node] - left[node] for node in members)
        high = max(x[node] + right[node] for node in members)
        down = 0.0
        for row in rows:
            for node in layers[row]:
                middle[node], y[node] = x[node] - low + at, down + heights[row] / 2
                band_of[node], row_of[node] = number, row
            down += heights[row] + GAP_Y
        height = max(height, down - GAP_Y)
        width = at + high - low
        at = width + BAND_GAP
    starts = [min(middle[n] - left[n] for row in rows for n in layers[row]) for rows in bands]
    routes: dict[Edge, list[Point]] = {}
    for upper, lower in edges:
        chain = chains[upper][: max(0, row_of[lower] - row_of[upper] - 1)]
        bends: list[Point] = []
        before = upper
        for node in [*chain, lower]:
            if band_of[node] != band_of[before]:
                gutter = starts[band_of[node]] - BAND_GAP / 2
                bends += [(middle[before], height + GAP_Y / 2), (gutter, height + GAP_Y / 2), (gutter, -GAP_Y / 2)]
                bends.append((middle[node], -GAP_Y / 2))
            if node != lower:
                half = heights[row_of[node]] / 2
                bends += (
                    [(middle[node], y[node] - half), (middle[node], y[node] + half)] if half > 8 else [(middle[node], y[node])]
                )
            before = node
        routes[upper, lower] = bends
    size = len(cells)
    if len(bands) > 1:
        shift = GAP_Y
        routes = {edge: [(bx, by + shift) for bx, by in bends] for edge, bends in routes.items()}
        return LayeredDrawing(middle[:size], [one + shift for one in y[:size]], routes, width, height + 2 * shift)
    return LayeredDrawing(middle[:size], y[:size], routes, width, height)


def _bands(
    layers: list[list[int]], heights: list[float], total: float, x: list[float], left: list[float], right: list[float]
) -> list[list[int]]:
    """Return the layers of each band. Their number makes the drawing as near as possible to 1.6 times as wide as high."""
    if total <= WRAP or len(layers) < 2:
        return [list(range(len(layers)))]
    low = [min([x[node] - left[node] for node in row]) for row in layers]
    high = [max([x[node] + right[node] for node in row]) for row in layers]
    best: tuple[float, list[list[int]]] = (math.inf, [])
    for many in range(2, min(60, math.ceil(total / LEAST)) + 1):
        bands = _cut(heights, total / many + GAP_Y)
        width = sum(max(high[row] for row in rows) - min(low[row] for row in rows) + BAND_GAP for rows in bands)
        height = max(sum(heights[row] + GAP_Y for row in rows) for rows in bands)
        best = min(best, (abs(math.log(width / height / 1.6)), bands))
    return best[1]


def _cut(heights: list[float], limit: float) -> list[list[int]]:
    bands: list[list[int]] = [[]]
    used = 0.0
    for row, height in enumerate(heights):
        if bands[-1] and used + height > limit:
            bands.append([])
            used = 0.0
        bands[-1].append(row)
        used += height + GAP_Y
    return bands
