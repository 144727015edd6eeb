"""Time or floating point operations by scope of the network, as nested rectangles or as an icicle."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from parsers.deferred import pandas as pd

from layouts.kit.figures.treemap import Area, squarified
from layouts.profiles.kernel_names import kernel_labels
from layouts.profiles.operators.variants import measure

LEVELS = 3
"""Number of scope levels drawn at once."""
MOST = 24
"""Maximum number of parts drawn per scope; the others share one more part."""
WIDTH, HEIGHT = 640.0, 300.0
"""Size of the layout in pixels; the browser stretches it."""
HEAD = 17.0
_LEAST = 3.0
_LOOKED_AT = 10


@dataclass
class OperatorScope:
    """A scope or an operator: its name, its path from the outermost scope, its amount, and its parts."""

    name: str
    path: str
    amount: float = 0.0
    parts: dict[str, OperatorScope] = field(default_factory=dict)


def amounts(operators: pd.DataFrame, amount: str) -> dict[str, float]:
    """Return full name -> time in ns, or floating point operations (cube and vector), of all executions; positive ones only.

    An operator without a recorded count counts as executed once.
    """
    if amount == "time":
        values = operators[measure(operators)].fillna(operators["mean_ns"]).to_numpy()
    else:
        each = operators["flops"].fillna(0.0).to_numpy() + operators["vector_flops"].fillna(0.0).to_numpy()
        values = each * operators["count"].fillna(1.0).to_numpy()
    names = operators["full_name"].array
    sums = np.bincount(names.codes, np.where(np.isfinite(values), values, 0.0), len(names.categories))
    return {name: float(value) for name, value in zip(names.categories, sums.tolist(), strict=True) if value > 0.0}


def linked(links: pd.DataFrame) -> dict[str, float]:
    """Return path -> floating point operations that belong to no inner scope, from links between scopes (schema FLOPS_SCOPES).

    The operations of a scope with several parents are divided among them in proportion to the links into it.
    """
    below: dict[str, list[tuple[str, float]]] = {}
    into: dict[str, float] = {}
    for parent, scope, flops in zip(links["parent"], links["scope"], links["flops"], strict=True):
        below.setdefault(parent, []).append((scope, flops))
        into[scope] = into.get(scope, 0.0) + flops
    found: dict[str, float] = {}
    pending = [(scope, scope, flops, frozenset((scope,))) for scope, flops in below.get("Total", [])]
    while pending and len(found) < 100_000:
        path, scope, flops, above = pending.pop()
        part = flops / into[scope] if into[scope] else 0.0
        inner = [(name, value * part) for name, value in below.get(scope, []) if name not in above]
        rest = flops - math.fsum(value for _, value in inner)
        if rest > 0.0:
            found[path] = found.get(path, 0.0) + rest
        pending += [(f"{path}/{name}", name, value, above | {name}) for name, value in inner]
    return found


def tree(sums: Mapping[str, float], scope: str) -> OperatorScope:
    """Build the tree of a scope, a few levels deep. A scope whose only content is one other scope is merged with it."""
    root = OperatorScope(scope.rsplit("/", 1)[-1], scope)
    prefix = f"{scope}/" if scope else ""
    for name, value in sums.items():
        if name == scope:
            root.amount += value
            continue
        if not name.startswith(prefix):
            continue
        root.amount += value
        at, path = root, scope
        for part in name[len(prefix) :].split("/", _LOOKED_AT)[:_LOOKED_AT]:
            path = f"{path}/{part}" if path else part
            at = at.parts.setdefault(part, OperatorScope(part, path))
            at.amount += value
    pending = [root]
    while pending:
        at = pending.pop()
        while len(at.parts) == 1:
            (only,) = at.parts.values()
            own = only.amount - math.fsum(part.amount for part in only.parts.values())
            if not only.parts or own > 1e-9 * only.amount:
                break  # an operator, or a scope that shares its name with an operator
            at.name, at.path, at.parts = (f"{at.name}/{only.name}" if at.name else only.name), only.path, only.parts
        pending += at.parts.values()
    return root


def ranked(scope: OperatorScope) -> list[OperatorScope]:
    """Return the parts of a scope, the largest first. Parts beyond the first MOST are merged into one without a path."""
    parts = sorted(scope.parts.values(), key=lambda one: -one.amount)
    if len(parts) <= MOST:
        return parts
    rest = OperatorScope(f"+{len(parts) - MOST}", "", math.fsum(part.amount for part in parts[MOST:]))
    return sorted([*parts[:MOST], rest], key=lambda one: -one.amount)


def treemap(root: OperatorScope) -> list[list[Any]]:
    """Lay out nested rectangles: [x, y, width, height, depth, name, path, amount, has parts], in fractions of both sides."""
    found: list[list[Any]] = []
    pending = [(root, Area(0.0, 0.0, WIDTH, HEIGHT), -1)]
    while pending:
        scope, area, depth = pending.pop()
        if depth >= 0:
            found.append(_tile(scope, area, depth))
        inner = _inside(area, depth)
        if not scope.parts or inner is None or depth + 1 >= LEVELS:
            continue
        parts = ranked(scope)
        places = squarified([part.amount for part in parts], inner)
        pending += [(part, place, depth + 1) for part, place in zip(parts, places, strict=True)]
    return sorted(found, key=lambda tile: tile[4])


def _inside(area: Area, depth: int) -> Area | None:
    """The area for the parts of a rectangle, below its name; None if there is no room."""
    if depth < 0:
        return area
    inner = Area(area.x + 2, area.y + HEAD, area.width - 4, area.height - HEAD - 2)
    return inner if inner.width > 12 and inner.height > 10 else None


def icicle(root: OperatorScope) -> list[list[Any]]:
    """Lay out levels of scopes from left to right, heights in proportion to amounts. Returns rectangles as `treemap` does."""
    found: list[list[Any]] = []
    across = WIDTH / LEVELS
    pending = [(root, 0.0, HEIGHT, -1)]
    while pending:
        scope, top, height, depth = pending.pop()
        if depth >= 0:
            found.append(_tile(scope, Area(across * depth, top, across, height), depth))
        if scope.amount <= 0.0 or depth + 1 >= LEVELS:
            continue
        for part in ranked(scope):
            high = height * part.amount / scope.amount
            if high >= _LEAST or depth < 0:
                pending.append((part, top, high, depth + 1))
            top += high
    return sorted(found, key=lambda tile: tile[4])


def labelled(tiles: list[list[Any]]) -> list[list[Any]]:
    """Return the rectangles with the labels of kernels as their names."""
    labels = kernel_labels(tile[5] for tile in tiles)
    return [[*tile[:5], labels[tile[5]], *tile[6:]] for tile in tiles]


def _tile(scope: OperatorScope, area: Area, depth: int) -> list[Any]:
    place = (area.x / WIDTH, area.y / HEIGHT, area.width / WIDTH, area.height / HEIGHT)
    return [*(round(one, 5) for one in place), depth, scope.name, scope.path, scope.amount, bool(scope.parts)]
