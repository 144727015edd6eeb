"""Values of nodes, scopes and boxes from amounts by name: sums or maxima, as the metric says.

A value is NaN where nothing is known; sums and maxima leave such nodes out, and are NaN if all are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from parsers.analysis.graphs.network import Network
from parsers.analysis.graphs.painting.amounts import Amounts
from parsers.analysis.graphs.painting.matching import Matches, match
from parsers.analysis.graphs.painting.metrics import SUM, GraphMetric
from parsers.analysis.graphs.scopes import Scopes
from parsers.analysis.graphs.visible import Item
from parsers.model import Floats, Ints

_MOST_CELLS = 4_000_000
"""More values of boxes x steps are not held at once."""


@dataclass(frozen=True, eq=False)
class PaintedStep:
    """The values of one step.

    node: of each row of the network. total, matched and hidden: of all names of the step, of those that have a node, and of
    those whose node is not drawn; sums or maxima. names, found: how many names have a value, and how many of these a node.
    """

    metric: GraphMetric
    step: int
    node: Floats
    total: float
    matched: float
    hidden: float
    names: int
    found: int

    @property
    def unmatched(self) -> float:
        """What the names without a node make of the total: their sum, of a maximum NaN."""
        return self.total - self.matched if self.metric.combine == SUM else float("nan")


class Paint:
    """Amounts on a graph. What does not depend on the step is computed once."""

    def __init__(self, network: Network, amounts: Amounts, metric: GraphMetric) -> None:
        self.network, self.amounts, self.metric = network, amounts, metric
        self.matches: Matches = match(amounts.names, network)
        self._row: Ints = self.matches.row[amounts.name] if len(amounts) else amounts.name

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps that have values."""
        return self.amounts.steps

    def at(self, step: int) -> PaintedStep:
        """Return the values of a step; none for a step without values."""
        of = self.amounts.entries(step)
        row, value = self._row[of], self.amounts.value[of]
        found = row >= 0
        node = combined(row[found], value[found], self.network.size, self.metric.combine)
        names = self.amounts.name[of]
        with np.errstate(invalid="ignore"):
            known = np.zeros(len(self.amounts.names), np.bool_)
            known[names] = True
            hidden = found & ~self.network.shown[np.where(found, row, 0)] if self.network.size else found
            return PaintedStep(
                self.metric, step, node, self._whole(value), self._whole(value[found]), self._whole(value[hidden]),
                int(known.sum()), int((known & (self.matches.row >= 0)).sum()),
            )  # fmt: skip

    def unmatched(self, step: int) -> list[tuple[str, float, int]]:
        """Return (name, value, code into WAYS) of the names of a step without a node, the greatest value first."""
        of = self.amounts.entries(step)
        name, value = self.amounts.name[of], self.amounts.value[of]
        values = combined(name, value, len(self.amounts.names), self.metric.combine)
        chosen = np.flatnonzero((self.matches.row < 0) & ~np.isnan(values))
        chosen = chosen[np.argsort(-values[chosen], kind="stable")]
        return [(self.amounts.names[one], float(values[one]), int(self.matches.way[one])) for one in chosen.tolist()]

    def highest(self, box: Ints, count: int) -> float:
        """Return the greatest finite value of any box in any step; NaN if there is none. box: of each row its box, or -1."""
        steps = self.steps
        if not count or not len(self.amounts) or len(steps) * count > _MOST_CELLS:
            return float("nan")
        inside = np.where(self._row >= 0, box[np.where(self._row >= 0, self._row, 0)], -1) if len(box) else self._row
        kept = np.flatnonzero(inside >= 0)
        cell = np.searchsorted(steps, self.amounts.step[kept]) * count + inside[kept]
        values = combined(cell, self.amounts.value[kept], len(steps) * count, self.metric.combine)
        values = values[np.isfinite(values)]
        return float(values.max()) if len(values) else float("nan")

    @cached_property
    def nodes(self) -> int:
        """Number of nodes that have a value in any step."""
        return len(np.unique(self._row[self._row >= 0]))

    def _whole(self, values: Floats) -> float:
        if not len(values):
            return 0.0 if self.metric.combine == SUM else float("nan")
        return float(values.sum() if self.metric.combine == SUM else values.max())


def combined(place: Ints, value: Floats, size: int, combine: str) -> Floats:
    """Return the sum or maximum of the values at each of `size` places; NaN at places without any."""
    if combine == SUM:
        with np.errstate(invalid="ignore"):
            sums = np.bincount(place, value, size)[:size]
            return np.where(np.bincount(place, minlength=size)[:size] > 0, sums, np.nan)
    found = np.full(size, -np.inf)
    np.maximum.at(found, place, value)
    known = np.zeros(size, np.bool_)
    known[place] = True
    return np.where(known, found, np.nan)


def of_scopes(scopes: Scopes, node: Floats, combine: str) -> Floats:
    """Return the value of each scope: of all drawn nodes in it, however deep; that of scope 0 is of the whole graph."""
    value = node[scopes.nodes]
    kept = np.flatnonzero(~np.isnan(value))
    found = combined(scopes.home[scopes.nodes[kept]], value[kept], len(scopes), combine)
    # Scopes come before those within, so from the deepest level up each one has its value when it is added above.
    deepest = int(scopes.depth.max()) if len(scopes) else 0
    for depth in range(deepest, 0, -1):
        level = np.flatnonzero((scopes.depth == depth) & ~np.isnan(found))
        above = scopes.parent[level]
        if combine == SUM:
            more = np.bincount(above, found[level], len(scopes))
            touched = np.bincount(above, minlength=len(scopes)) > 0
            found = np.where(touched, np.nan_to_num(found) + more, found)
        else:
            np.fmax.at(found, above, found[level])
    return found


def of_boxes(items: Iterable[Item], scopes: Scopes, node: Floats, combine: str) -> dict[str, float]:
    """Return the value of each box by its key: nodes, aggregates, scopes, stacks, and parameters beside; only known ones."""
    whole = of_scopes(scopes, node, combine)
    found: dict[str, float] = {}
    for item in items:
        if item.kind in ("node", "fold"):
            found[item.key] = _together(node, item.members, combine)
        elif item.kind in ("scope", "stack"):
            found[item.key] = _together(whole, item.members, combine)
        for place, small in enumerate(item.beside):
            if small.kind != "proxy":
                found[f"{item.key}.{place}"] = _together(node, small.nodes, combine)
    return {key: value for key, value in found.items() if value == value}


def _together(values: Floats, places: tuple[int, ...], combine: str) -> float:
    if len(places) == 1:
        return float(values[places[0]])
    chosen = values[list(places)]
    chosen = chosen[~np.isnan(chosen)]
    if not len(chosen):
        return float("nan")
    return float(chosen.sum() if combine == SUM else chosen.max())


def box_of_rows(items: Iterable[Item], scopes: Scopes) -> tuple[Ints, int]:
    """Return of each row of the network the number of the closed box that holds it, or -1, and how many boxes there are."""
    found, count = np.full(scopes.network.size, -1, np.int64), 0
    for item in items:
        if item.opened or item.kind not in ("node", "fold", "scope", "stack"):
            continue
        if item.kind in ("node", "fold"):
            found[list(item.members)] = count
        else:
            for scope in item.members:
                found[scopes.within(scope)] = count
        count += 1
    return found, count
