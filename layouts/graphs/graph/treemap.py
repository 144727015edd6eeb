"""Parameters by scope as a treemap: which parts of the network hold the weights? Areas show bytes; frames are scopes.

The largest rectangles are opened first, as long as their contents are legible. A graph of 100,000 scopes therefore needs no
more rectangles than one of 200; items too small to draw share one rectangle that says how many they are.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from parsers import PayloadError
from parsers.analysis.graphs import GraphView, Scopes
from parsers.analysis.graphs.network import Ints
from parsers.analysis.graphs.sizes import type_bytes, values

from layouts.graphs.asks import LONGEST, read_of
from layouts.graphs.figure.boxes import LETTER, elided, text_width
from layouts.graphs.figure.graph_style import DARK, LIGHT, GraphStyle
from layouts.graphs.figure.svg import written
from layouts.graphs.graph_views import Views
from layouts.graphs.names import key_of
from layouts.kit import units as fmt
from layouts.kit.figures.treemap import Area, squarified
from layouts.kit.i18n import both
from layouts.kit.state import text

WIDTH, HEIGHT = 1000.0, 380.0
"""Size of the layout in pixels; the browser stretches the width and keeps the height."""
MOST, EACH = 900, 600
"""Maximum number of rectangles in all, and in one frame."""
HEADER, PADDING = 17.0, 2.0
LEAST = Area(0, 0, 54, 38)
"""Smaller frames stay closed."""
MOST_TYPES = 8
SPECK = 72.0
"""Minimum area, in square pixels, of a rectangle of its own."""


@dataclass(frozen=True, slots=True)
class TreemapTile:
    """A rectangle. kind: "scope", "parameter", or "rest" for many small items. name: name of its box (names.py), "" for a rest.

    parameters, held, bytes: number of parameters, of values in them, of bytes. type, shape: of a parameter. opened: is a frame.
    """

    name: str
    kind: str
    label: str
    path: str
    depth: int
    area: Area
    parameters: int
    held: int
    bytes: int
    type: str = ""
    shape: str = ""
    opened: bool = False


@dataclass(frozen=True, slots=True)
class Treemap:
    """A treemap of a scope.

    tiles: frames come before their contents. weight: what areas show: "bytes", "values" or "count". unsized: number of
    parameters of unknown weight. types: (type, bytes) of the parameters within, the largest first.
    """

    scope: int
    tiles: tuple[TreemapTile, ...]
    weight: str
    unsized: int
    types: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class _MapEntry:
    amount: float
    scope: int = -1
    row: int = -1
    rest: tuple[int, int, int] = (0, 0, 0)
    entries: int = 0


def treemap(tree: Scopes, scope: int = 0) -> Treemap:
    """Lay out the parameters in a scope. O(nodes and scopes of the graph)."""
    return _Mapping(tree, scope).mapped()


class _Mapping:
    def __init__(self, tree: Scopes, scope: int) -> None:
        network = tree.network
        self.tree, self.scope = tree, scope
        self.held = values(network.shapes)[network.shape]
        self.size = self.held * type_bytes(network.output_types)[network.output_type]
        inside = tree.within(scope)
        self.rows = inside[tree.stored[inside]]
        self.weight, self.amounts, self.of_scopes = "count", np.ones(network.size, np.int64), tree.parameters
        if self.size[self.rows].any():
            self.weight, self.amounts, self.of_scopes = "bytes", self.size, tree.parameter_bytes
        elif self.held[self.rows].any():
            self.weight, self.amounts, self.of_scopes = "values", self.held, tree.parameter_values
        self.tiles: list[TreemapTile] = []
        self.waiting: list[tuple[float, int, int]] = []

    def mapped(self) -> Treemap:
        self._fill(self.scope, Area(0.0, 0.0, WIDTH, HEIGHT), 0)
        while self.waiting and len(self.tiles) < MOST:
            _, number, scope = heapq.heappop(self.waiting)
            tile = self.tiles[number]
            x, y, width, height = tile.area
            inner = Area(x + PADDING, y + HEADER, width - 2 * PADDING, height - HEADER - PADDING)
            before = len(self.tiles)
            self._fill(scope, inner, tile.depth + 1)
            if len(self.tiles) > before:
                self.tiles[number] = TreemapTile(
                    tile.name, tile.kind, tile.label, tile.path, tile.depth, tile.area, tile.parameters, tile.held, tile.bytes,
                    opened=True,
                )  # fmt: skip
        return Treemap(
            self.scope, tuple(self.tiles), self.weight, int((self.amounts[self.rows] == 0).sum()), tuple(self._types())
        )

    def _types(self) -> Iterator[tuple[str, int]]:
        network = self.tree.network
        codes = network.output_type[self.rows]
        size = np.bincount(codes, self.size[self.rows], minlength=len(network.output_types))
        held = np.flatnonzero(np.bincount(codes, minlength=len(network.output_types)))
        for code in held[np.argsort(-size[held], kind="stable")].tolist():
            yield network.output_types[code], int(size[code])

    def _fill(self, scope: int, area: Area, depth: int) -> None:
        entries = self._entries(scope)
        total = sum(entry.amount for entry in entries)
        if not total:
            return
        least = SPECK * total / max(1.0, area.width * area.height)
        shown = [entry for entry in entries[:EACH] if entry.amount >= least]
        left = entries[len(shown) :]
        if len(left) > 1 or (left and not shown):
            shown.append(self._rest(left))
        elif left:
            shown.append(left[0])
        shown.sort(key=lambda entry: -entry.amount)
        for entry, place in zip(shown, squarified([entry.amount for entry in shown], area), strict=True):
            self._add(entry, place, scope, depth)

    def _entries(self, scope: int) -> list[_MapEntry]:
        """The direct contents of a scope that have a size, the largest first."""
        children = np.array(self.tree.children(scope), np.int64)
        own = self.tree.own(scope)
        own = own[self.tree.stored[own]]
        found = [_MapEntry(amount, scope=child) for child, amount in self._sized(children, self.of_scopes)]
        found += [_MapEntry(amount, row=row) for row, amount in self._sized(own, self.amounts)]
        return sorted(found, key=lambda entry: -entry.amount)

    def _sized(self, numbers: Ints, amounts: Ints) -> list[tuple[int, int]]:
        numbers = numbers[amounts[numbers] > 0]
        return list(zip(numbers.tolist(), amounts[numbers].tolist(), strict=True))

    def _rest(self, entries: list[_MapEntry]) -> _MapEntry:
        tree = self.tree
        scopes = [entry.scope for entry in entries if entry.scope >= 0]
        rows = [entry.row for entry in entries if entry.row >= 0]
        many = int(tree.parameters[scopes].sum()) + len(rows)
        held = int(tree.parameter_values[scopes].sum() + self.held[rows].sum())
        size = int(tree.parameter_bytes[scopes].sum() + self.size[rows].sum())
        return _MapEntry(sum(entry.amount for entry in entries), rest=(many, held, size), entries=len(entries))

    def _add(self, entry: _MapEntry, area: Area, parent: int, depth: int) -> None:
        tree, network = self.tree, self.tree.network
        if entry.row >= 0:
            row, name = entry.row, network.names[entry.row]
            self.tiles.append(
                TreemapTile(
                    f"n{row}", "parameter", ".".join(name.rpartition("/")[2].split(".")[-2:]), name, depth, area, 1,
                    int(self.held[row]), int(self.size[row]), network.output_types[network.output_type[row]],
                    network.shapes[network.shape[row]],
                )
            )  # fmt: skip
            return
        if entry.scope < 0:
            path = tree.paths[parent]
            self.tiles.append(TreemapTile("", "rest", f"+ {fmt.count(entry.entries)}", path, depth, area, *entry.rest))
            return
        scope = self._inner(entry.scope)
        label = tree.paths[scope][len(tree.paths[parent]) + 1 if parent else 0 :]
        held = int(tree.parameters[scope]), int(tree.parameter_values[scope]), int(tree.parameter_bytes[scope])
        if area.width >= LEAST.width and area.height >= LEAST.height:
            heapq.heappush(self.waiting, (-area.width * area.height, len(self.tiles), scope))
        self.tiles.append(TreemapTile(f"s:{tree.paths[scope]}", "scope", label, tree.paths[scope], depth, area, *held))

    def _inner(self, scope: int) -> int:
        """The innermost scope that holds all parameters of `scope`; a scope with one parameter is its own."""
        tree = self.tree
        while int(tree.parameters[scope]) > 1:
            all_in = [child for child in tree.children(scope) if tree.parameters[child] == tree.parameters[scope]]
            if not all_in:
                break
            scope = all_in[0]
        return scope


# Output to the browser and to files -----------------------------------------------------------------------------------


def tiles(views: Views, data: Any) -> dict[str, Any]:
    """Return the treemap for the browser: rectangles with texts in both languages, the path to the scope, what is not drawn."""
    of, look = read_of(data), _look(data)
    try:
        _, view = views.of(of)
    except PayloadError:
        return {"tiles": [], "crumbs": [], "legend": []}  # the canvas shows the error
    found = treemap(view.scopes, into(view, data))
    tree = view.scopes
    whole = max(1, int(tree.parameter_bytes[0]))
    return {
        "tiles": [
            [
                tile.name, tile.kind, tile.label, tile.path, *(round(side, 2) for side in tile.area), fill, _facts(tile, whole),
                tile.opened,
            ]
            for tile, fill in zip(found.tiles, _fills(found, look), strict=True)
        ],
        "crumbs": [[f"s:{tree.paths[scope]}", tree.label(scope)] for scope in tree.above(found.scope)],
        "legend": [
            [name or "?", fmt.size(size) if size else "", look.nodes[number % len(look.nodes)]]
            for number, (name, size) in enumerate(found.types[:MOST_TYPES])
        ],
        "weight": found.weight,
        "unsized": both("graph.unsized", n=fmt.count(found.unsized)) if found.unsized else None,
        "width": WIDTH,
        "height": HEIGHT,
    }  # fmt: skip


def into(view: GraphView, data: Any) -> int:
    """Return the number of the requested scope; 0, the whole graph, if there is no scope of that name."""
    key = key_of(view, f"s:{text(data, 'into', limit=LONGEST)}")
    return int(key[1:]) if key else 0


def picture(found: Treemap, *, dark: bool = False) -> str:
    """Draw a treemap as an SVG document."""
    look = DARK if dark else LIGHT
    fills = _fills(found, look)
    parts = [f'<rect width="{WIDTH:.0f}" height="{HEIGHT:.0f}" fill="{look.back}"/>']
    for tile, fill in zip(found.tiles, fills, strict=True):
        x, y, width, height = tile.area
        whole = f"{tile.path} {fmt.size(tile.bytes) if tile.bytes else ''}".strip()
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}" '
            f'stroke="{look.border}"><title>{escape(written(whole))}</title></rect>'
        )
        room = int((width - 8) / LETTER)
        if room < 3 or height < 15:
            continue
        label = elided(written(tile.label), room)
        if text_width(label) <= width - 6:
            parts.append(f'<text x="{x + 4:.1f}" y="{y + 12.5:.1f}" fill="{look.text}">{escape(label)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" width="{WIDTH:.0f}" '
        f'height="{HEIGHT:.0f}" font-family="system-ui, sans-serif" font-size="11">{"".join(parts)}</svg>'
    )


def _look(data: Any) -> GraphStyle:
    return DARK if text(data, "theme", "light", choices=("light", "dark")) == "dark" else LIGHT


def _fills(found: Treemap, look: GraphStyle) -> list[str]:
    numbers = {name: number for number, (name, _) in enumerate(found.types)}
    fills = {"scope": look.scope, "rest": look.small["constant"]}
    return [
        look.frame[tile.depth % 2] if tile.opened else fills.get(tile.kind) or look.nodes[numbers[tile.type] % len(look.nodes)]
        for tile in found.tiles
    ]


def _facts(tile: TreemapTile, whole: int) -> list[str]:
    """The tooltip of a rectangle after its path: [English, Chinese], or one text for both languages."""
    held = [fmt.size(tile.bytes), fmt.percent(tile.bytes / whole)] if tile.bytes else []
    if tile.kind == "parameter":
        return [" · ".join([tile.type, tile.shape, *held])]
    said = both("graph.tile", n=fmt.count(tile.parameters), values=fmt.count(tile.held))
    rest = both("graph.tile.rest", n=tile.label[2:]) if tile.kind == "rest" else ("", "")
    return [" · ".join([*([more] if more else []), words, *held]) for more, words in zip(rest, said, strict=True)]
