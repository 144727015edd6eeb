"""Judge the norms of a dump: which can be judged at all, and its gradients by absolute limits and from layer to layer.

Gradients vanish over depth if they get smaller layer by layer in the order of the backward pass, from the loss to the input:
by FALL_PER_LAYER in the mean over at least DEEP layers in a row, and by FALL_OVER_ALL from the first to the last of them; or if
one layer, and all that follow, are smaller than the one before it by FALL_AT_ONE.
Layers are compared by the root mean square of what operators of one type made, of which the median over the iterations counts.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.dumps.departures import HISTORY
from parsers.analysis.dumps.operators import Key, Ran, latest_rows
from parsers.analysis.dumps.watchpoints.conditions import GRADIENT
from parsers.analysis.dumps.watchpoints.targets import rows_of
from parsers.deferred import pandas as pd
from parsers.dumps.store import StatisticsTable
from parsers.model import Ints

LEAST_GRADIENT, GREATEST_GRADIENT = 1e-9, 1e9
"""Limits of the mean of the absolute values of a gradient. The lower one is what MindInsight recommends; the upper one is
beyond what loss scaling makes of gradients: its factor is seldom above 2^24."""
DEEP, FALL_PER_LAYER, FALL_OVER_ALL, FALL_AT_ONE = 4, 5.0, 1e3, 1e4
"""Layers in a row, and how many times smaller gradients get from one to the next and over all; and at one layer alone. Networks
that train well keep gradients within a factor of 3 from layer to layer."""
_FALLS, _LEAST = math.log10(2.0), -46.0
"""Decades by which each of these layers is smaller, at least, and the logarithm that stands for 0, below float32."""
_GRADIENTS = re.compile(r"gradients?/(?P<layer>.+?)(?:/Grad_[^/]+)?/[^/]+", re.IGNORECASE)
_WEIGHTED = re.compile("matmul|conv|dense|linear|bias", re.IGNORECASE)
"""Types of operators of layers that have weights, which are named rather than activations."""
_MSPROBE = re.compile(r"(?P<layer>.+?)\.(?:backward|parameters_grad)(?:\.\d+)?")
Reals = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class GradientDepth:
    """Gradients from layer to layer. layers: those in the row that falls most, of `known` ones that were compared.

    begins is the first layer, counted from the loss, that is smaller than the one before; fall is the mean factor from one to
    the next, first and last are root mean squares at both ends. iterations: of the layers with the most iterations.
    """

    known: int = 0
    iterations: int = 0
    layers: int = 0
    begins: str = ""
    fall: float = 1.0
    first: float = math.nan
    last: float = math.nan

    @property
    def judged(self) -> bool:
        """Return whether there are enough layers and iterations."""
        return self.known >= DEEP and self.iterations >= HISTORY

    @property
    def at_one(self) -> bool:
        """Return whether gradients vanish at one layer, which is `begins`."""
        return self.judged and self.layers == 2 and self.fall >= FALL_AT_ONE

    @property
    def vanishing(self) -> bool:
        """Return whether gradients vanish over depth."""
        if not self.judged or self.layers < DEEP:
            return self.at_one
        return self.fall >= FALL_PER_LAYER and (self.layers - 1) * math.log10(self.fall) >= math.log10(FALL_OVER_ALL)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What could be judged of the norms of a dump, and how its gradients are against absolute limits and over depth.

    judged: real tensors whose norm was compared with a history at least once, of tensors; longest: most iterations of one of
    them with a known norm. gradients: those with known sizes and only finite values; vanishing and exploding: those beyond
    LEAST_GRADIENT or GREATEST_GRADIENT in every iteration.
    """

    judged: int
    tensors: int
    longest: int
    gradients: int
    vanishing: int
    exploding: int
    depth: GradientDepth = GradientDepth()


@dataclass(frozen=True, slots=True, eq=False)
class JudgedNorms:
    """Rows of a dump: the number of each row's tensor, whether it is real, whether it has NaN or Inf, its norm (NaN for
    unknown) and the usual one (NaN without a history)."""

    series: Ints
    real: Mask
    bad: Mask
    norm: Reals
    usual: Reals


def judge(
    tensors: pd.DataFrame, statistics: StatisticsTable, norms: JudgedNorms, operators: Mapping[Key, Sequence[Ran]]
) -> Judgement:
    """Judge the tensors of a dump."""
    iteration = tensors["iteration"].to_numpy()
    real = np.unique(norms.series[norms.real & (iteration >= 0)])
    rows = latest_rows(norms.series, iteration)
    counts = np.bincount(norms.series[rows[np.isfinite(norms.norm[rows]) & (iteration[rows] >= 0)]])
    low, high = gradient_bounds(statistics, norms.bad)
    gradient = rows_of(tensors, GRADIENT) & norms.real & (iteration >= 0) & ~np.isnan(high)
    depth = _depth(tensors, statistics, gradient, operators)
    gradient &= ~np.isin(norms.series, norms.series[norms.bad])  # of one with NaN or Inf nothing is so in every iteration
    found, numbers = np.unique(norms.series[gradient], return_inverse=True)
    vanish, explode = np.ones(len(found), np.bool_), np.ones(len(found), np.bool_)
    np.logical_and.at(vanish, numbers, high[gradient] < LEAST_GRADIENT)
    np.logical_and.at(explode, numbers, low[gradient] > GREATEST_GRADIENT)
    return Judgement(
        len(np.unique(norms.series[~np.isnan(norms.usual)])), len(real), int(counts.max(initial=0)),
        len(found), int(vanish.sum()), int(explode.sum()), depth,
    )  # fmt: skip


def gradient_bounds(statistics: StatisticsTable, bad: Mask) -> tuple[Reals, Reals]:
    """Return the least and the greatest mean of absolute values that the statistics of each row allow; NaN for unknown.

    It is at most the root of the mean square and the largest absolute value, and at least the sum of squares by the largest
    absolute value and the count, and the absolute mean.
    """
    names = ("max", "min", "mean", "l2", "abs_mean", "count")
    most, least, mean, norm, absolute, count = (statistics.column(name).astype(np.float64) for name in names)
    with np.errstate(all="ignore"):
        count = np.where(count > 0, count, np.nan)
        largest = np.maximum(np.abs(most), np.abs(least))
        high = np.fmin(np.fmin(norm / np.sqrt(count), largest), absolute)
        low = np.fmax(np.fmax(norm / largest * (norm / count), np.abs(mean)), absolute)
    unknown = bad | np.isnan(high)
    return np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)


# Over depth -----------------------------------------------------------------------------------------------------------------


def layer_of(name: str) -> str:
    """Return the layer that an operator of the backward pass belongs to, by its name; "" if the name does not say."""
    match = _GRADIENTS.fullmatch(name) or _MSPROBE.fullmatch(name)
    return match["layer"] if match is not None else ""


def _depth(
    tensors: pd.DataFrame, statistics: StatisticsTable, gradient: Mask, operators: Mapping[Key, Sequence[Ran]]
) -> GradientDepth:
    """Return the row of layers over which gradients fall most; the longest one where they fall nowhere."""
    norm, count = statistics.column("l2"), statistics.column("count").astype(np.float64)
    with np.errstate(all="ignore"):
        size = np.maximum(np.log10(norm / np.sqrt(np.where(count > 0, count, np.nan))), _LEAST)
    found = [
        (_WEIGHTED.search(kind) is not None, _fall(sizes)) for kind, sizes in _sizes(tensors, size, gradient, operators)
    ]  # fmt: skip

    def order(one: tuple[bool, GradientDepth]) -> tuple[bool, bool, bool, float, int]:
        weighted, depth = one
        return depth.vanishing, depth.judged, weighted, depth.layers * math.log10(depth.fall), depth.known

    return max(found, key=order, default=(False, GradientDepth()))[1]


def _sizes(
    tensors: pd.DataFrame, size: Reals, gradient: Mask, operators: Mapping[Key, Sequence[Ran]]
) -> Iterable[tuple[str, dict[str, dict[int, float]]]]:
    """Return (type, layer -> iteration -> size as logarithm, from the loss to the input) of each kind of gradient of each rank.

    Gradients are of one kind if operators of one type made them as the same output. A layer with several has the largest.
    """
    keys = tensors["key"].array
    made: dict[tuple[str, int, str, int, str], dict[str, dict[int, float]]] = {}
    for (rank, part, iteration), ran_in in operators.items():
        for ran in ran_in:
            layer = layer_of(ran.name)
            for row in ran.outputs if layer else ():
                if gradient[row] and math.isfinite(size[row]):
                    kind = made.setdefault((ran.type, rank, part, ran.graph, str(keys[row])), {})
                    sizes = kind.setdefault(layer, {})
                    sizes[iteration] = max(sizes.get(iteration, -math.inf), float(size[row]))
    return [(kind[0], sizes) for kind, sizes in made.items()]


def _fall(sizes: Mapping[str, Mapping[int, float]]) -> GradientDepth:
    """Return the row of layers over which one kind of gradient falls most."""
    iterations = max(len(one) for one in sizes.values())
    # A layer that in half of the iterations has no gradient at all is not trained yet, which is no fall.
    given = {name: sum(size > _LEAST for size in one.values()) for name, one in sizes.items()}
    layers = [name for name, one in sizes.items() if len(one) == iterations and 2 * given[name] > iterations]
    if not layers:
        return GradientDepth(0, iterations)
    middle = [float(np.median(list(sizes[name].values()))) for name in layers]
    steps = -np.diff(middle)
    best, begin = (0, 0), 0
    for place, fall in enumerate([*steps.tolist(), -math.inf]):
        if fall < _FALLS:
            best = max(best, (begin, place), key=lambda one: middle[one[0]] - middle[one[1]])
            begin = place + 1
    first, last = best
    if last == first:
        return GradientDepth(len(layers), iterations)
    fall = 10.0 ** ((middle[first] - middle[last]) / (last - first))
    found = GradientDepth(
        len(layers), iterations, last - first + 1, layers[first + 1], fall, 10.0 ** middle[first], 10.0 ** middle[last]
    )
    return found if found.vanishing else _at_one_layer(found, layers, middle) or found


def _at_one_layer(found: GradientDepth, layers: Sequence[str], middle: Sequence[float]) -> GradientDepth | None:
    """Return the first layer that is smaller than the one before by FALL_AT_ONE, as all that follow are; None if there is none.

    Layers without any gradient are no such layers: they may not be trained yet.
    """
    for place, (before, after) in enumerate(itertools.pairwise(middle)):
        rest = max(middle[place + 1:])
        if before - rest >= math.log10(FALL_AT_ONE) and rest > _LEAST:
            first, last = 10.0**before, 10.0**after
            return replace(found, layers=2, begins=layers[place + 1], fall=first / last, first=first, last=last)
    return None
