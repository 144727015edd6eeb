"""Curves that an expression over tags derives from the scalars of one run.

Restarts are resolved (`parsers.analysis.curves.segments.newest`), so that every curve has the points that are drawn of it. Two
curves are combined at the steps that both have; a step that only one of them has gives no value. Functions of several points
look at all points of their argument, before it is combined with anything:

    mean(x, n)         the mean of the last n points up to each point, of fewer at the beginning
    mean(x, n steps)   the mean of the points at the steps above s - n up to each step s
    diff(x)            the value minus the one before; the first point has none
    rate(x)            diff(x) divided by the number of steps since the point before

Numbers are float64 by IEEE 754: x / 0 is infinite, 0 / 0 is NaN, and NaN stays NaN. Logarithms of values that are not positive,
and roots of negative ones, are NaN. A derived value has the latest wall time of the values at its step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.curves.expressions import Expression, ProgramStep
from parsers.analysis.curves.segments import newest
from parsers.model import Floats, Ints, Series
from parsers.recorded import DerivedSeries


@dataclass(frozen=True, slots=True)
class Derived:
    """What an expression gave for one run.

    series has rising steps; its `file` and `order` are -1, since no file holds the values. missing are the tags that the run
    does not have; without one of them there are no values. unpaired is tag -> number of its values at steps that not all tags
    have, superseded tag -> number of its values that a later one for their step or an earlier one replaced, undefined
    operation -> number of its results that are not finite although its operands are; all three without zeros.
    """

    expression: Expression
    series: Series
    missing: tuple[str, ...] = ()
    unpaired: Mapping[str, int] = field(default_factory=dict)
    superseded: Mapping[str, int] = field(default_factory=dict)
    undefined: Mapping[str, int] = field(default_factory=dict)


class _CurvePoints(NamedTuple):
    """A curve with rising steps."""

    step: Ints
    wall_time: Floats
    value: Floats


_Value = _CurvePoints | np.float64
"""A curve, or a number that is the same at every step."""
_Join = tuple[Ints, NDArray[Any] | slice, NDArray[Any] | slice]
"""(common steps, their places in one curve, in the other)."""
_EVERY = slice(None)

_ELEMENTWISE: Mapping[str, Callable[..., Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "min": np.minimum, "max": np.maximum,
    "negative": np.negative, "abs": np.abs, "exp": np.exp, "sqrt": np.sqrt,
    "log": lambda value: _logarithm(np.log, value), "log10": lambda value: _logarithm(np.log10, value),
}  # fmt: skip
_OF_TWO = ("+", "-", "*", "/", "min", "max")


def evaluate(expression: Expression, series_of: Callable[[str], Series | None]) -> Derived:
    """Evaluate an expression over one run; series_of returns the series of a tag, None or an empty one if there is none."""
    found = {tag: series_of(tag) for tag in expression.tags}
    series = {tag: one for tag, one in found.items() if one is not None and one.step.size}
    missing = tuple(tag for tag in expression.tags if tag not in series)
    if missing:
        return Derived(expression, _series(_CurvePoints(np.empty(0, np.int64), np.empty(0), np.empty(0)), ()), missing)
    joins = _Joins()
    points = {tag: _by_step(one) for tag, one in series.items()}
    common = next(iter(points.values())).step
    for one in points.values():
        common = joins.of(common, one.step)[0]
    undefined: Counter[str] = Counter()
    with np.errstate(all="ignore"):  # a file may hold any number
        result = _run(expression, points, joins, undefined)
    sizes = {tag: (one.step.size, points[tag].step.size) for tag, one in series.items()}
    made_of = tuple(number for one in series.values() for number in (one.step.size, int(one.order[-1]), int(one.file[-1])))
    return Derived(
        expression,
        _series(result, made_of),
        unpaired={tag: kept - common.size for tag, (_, kept) in sizes.items() if kept > common.size},
        superseded={tag: size - kept for tag, (size, kept) in sizes.items() if size > kept},
        undefined=dict(undefined),
    )


def _series(points: _CurvePoints, made_of: tuple[int, ...]) -> Series:
    size = points.step.size
    series = DerivedSeries(
        points.step, points.wall_time, points.value, np.broadcast_to(np.int32(-1), size), np.broadcast_to(np.int64(-1), size)
    )
    series.known, series.made_of = {}, made_of
    return series


def _by_step(series: Series) -> _CurvePoints:
    step = series.step
    if bool((step[1:] > step[:-1]).all()):
        return _CurvePoints(step, series.wall_time, series.value)
    keep = newest(step)
    return _CurvePoints(step[keep], series.wall_time[keep], series.value[keep])


def _run(expression: Expression, points: Mapping[str, _CurvePoints], joins: _Joins, undefined: Counter[str]) -> _CurvePoints:
    """Run the program of an expression; undefined counts what its operations could not compute."""
    stack: list[_Value] = []
    for operation in expression.program:
        kind = operation.kind
        if kind == "number":
            stack.append(np.float64(operation.number))
        elif kind == "tag":
            stack.append(points[operation.tag])
        elif kind in _OF_TWO:
            other, one = stack.pop(), stack.pop()
            stack.append(_of_two(kind, one, other, joins, undefined))
        else:
            stack.append(_of_one(operation, stack.pop(), undefined))
    (result,) = stack
    assert isinstance(result, _CurvePoints), "the parser refuses expressions without a tag"
    return result


def _of_two(kind: str, one: _Value, other: _Value, joins: _Joins, undefined: Counter[str]) -> _Value:
    compute = _ELEMENTWISE[kind]
    if isinstance(one, _CurvePoints) and isinstance(other, _CurvePoints):
        step, left, right = joins.of(one.step, other.step)
        a, b = one.value[left], other.value[right]
        value = compute(a, b)
        _count(undefined, kind, value, a, b)
        if one.wall_time is other.wall_time and left is right:
            return _CurvePoints(step, one.wall_time[left], value)
        return _CurvePoints(step, np.fmax(one.wall_time[left], other.wall_time[right]), value)
    left_value, right_value = (each.value if isinstance(each, _CurvePoints) else each for each in (one, other))
    result = compute(left_value, right_value)
    _count(undefined, kind, result, left_value, right_value)
    placed = one if isinstance(one, _CurvePoints) else other
    return placed._replace(value=result) if isinstance(placed, _CurvePoints) else np.float64(result)


def _of_one(operation: ProgramStep, operand: _Value, undefined: Counter[str]) -> _Value:
    kind = operation.kind
    if kind in _ELEMENTWISE:
        given = operand.value if isinstance(operand, _CurvePoints) else operand
        result = _ELEMENTWISE[kind](given)
        _count(undefined, kind, result, given)
        return operand._replace(value=result) if isinstance(operand, _CurvePoints) else np.float64(result)
    assert isinstance(operand, _CurvePoints), "the parser refuses these functions for a number"
    step, wall_time, value = operand
    if kind == "mean":
        return operand._replace(value=_means(value, _first(step, operation)))
    change: Floats = value[1:] - value[:-1]
    if kind == "rate":
        # Steps rise, so differences beyond int64 fit into uint64.
        change = change / (step[1:].view(np.uint64) - step[:-1].view(np.uint64))
    _count(undefined, kind, change, value[1:], value[:-1])
    return _CurvePoints(step[1:], wall_time[1:], change)


def _count(undefined: Counter[str], kind: str, value: Any, *operands: Any) -> None:
    good = np.isfinite(value)
    if not good.all():
        bad = ~good
        for operand in operands:
            bad = bad & np.isfinite(operand)
        if number := int(np.count_nonzero(bad)):
            undefined[kind] += number


def _logarithm(compute: Callable[..., Any], value: Any) -> Any:
    return compute(np.where(np.asarray(value) > 0, value, np.nan))


# Windows ---------------------------------------------------------------------------------------------------------------


def _first(step: Ints, operation: ProgramStep) -> Ints:
    """Return the index of the first point in the window of each point."""
    if not operation.steps:
        return np.maximum(np.arange(step.size) - (operation.window - 1), 0)
    before, lowest = operation.window - 1, np.iinfo(np.int64).min
    return np.searchsorted(step, np.maximum(step, lowest + before) - before)


def _means(value: Floats, first: Ints) -> Floats:
    """Return the mean of value[first[i] : i + 1] for every i.

    A window is the sum of pieces of 1, 2, 4, ... points, so no value outside of it plays a part, and errors grow with the
    logarithm of its length only. (Differences of running sums would lose all digits after one huge value.)
    """
    length = np.arange(1, value.size + 1) - first
    total = np.zeros(value.size)
    end = np.arange(value.size)
    pieces, size, longest = value.copy(), 1, int(length.max(initial=0))
    while size <= longest:
        has = np.flatnonzero(length & size)
        total[has] += pieces[end[has]]
        end[has] -= size
        pieces[size:] = pieces[size:] + pieces[:-size]
        size *= 2
    return total / length


# Steps -----------------------------------------------------------------------------------------------------------------


class _Joins:
    """Joins of rising steps that were made before, by identity of the arrays."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[Ints, Ints, _Join]] = {}

    def of(self, one: Ints, other: Ints) -> _Join:
        if one is other:
            return one, _EVERY, _EVERY
        known = self._known.get((id(one), id(other)))
        if known is None:
            # The arrays are kept, so that no other one gets their place in memory.
            known = self._known[id(one), id(other)] = one, other, _joined(one, other)
        return known[2]


def _joined(one: Ints, other: Ints) -> _Join:
    if np.array_equal(one, other):
        return one, _EVERY, _EVERY
    if one.size > other.size:
        step, right, left = _joined(other, one)
        return step, left, right
    place = np.searchsorted(other, one)
    there = np.flatnonzero(other[np.minimum(place, other.size - 1)] == one) if other.size else np.empty(0, np.int64)
    return one[there], there, place[there]
