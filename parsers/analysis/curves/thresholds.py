"""Thresholds on a scalar: one or two conditions, with the rules of MindInsight's threshold dialog.

Written as text: ``>1``, ``<1.5``, ``>1&<3`` (an interval), ``<1|>3`` (two half-lines). All bounds are open.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsers.errors import FormatError
from parsers.model import Floats

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_TEXT_LIMIT = 200


class ThresholdError(FormatError):
    """An invalid threshold. reason is one of "empty", "space", "number", "comparator", "equal", "or", "and"."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Condition:
    """One side: comparator ">" or "<" and a finite bound."""

    comparator: str
    bound: float

    def satisfied(self, value: Floats) -> NDArray[np.bool_]:
        """Return which values satisfy it; NaN never does."""
        return value > self.bound if self.comparator == ">" else value < self.bound

    @property
    def interval(self) -> str:
        """The half-line, bounds to 5 decimals: ``(-Infinity,1.5)``."""
        bound = _rounded(self.bound)
        return f"({bound},Infinity)" if self.comparator == ">" else f"(-Infinity,{bound})"


@dataclass(frozen=True, slots=True)
class Threshold:
    """One condition, or two joined by "&" (both) or "|" (either)."""

    conditions: tuple[Condition, ...]
    logic: str = ""

    def satisfied(self, value: Floats) -> NDArray[np.bool_]:
        """Which values satisfy the threshold; NaN never does, an infinity does where the interval is open to it."""
        masks = [condition.satisfied(value) for condition in self.conditions]
        if len(masks) == 1:
            return masks[0]
        return masks[0] & masks[1] if self.logic == "&" else masks[0] | masks[1]

    @property
    def bounds(self) -> tuple[float, ...]:
        """The bounds, lowest first."""
        return tuple(sorted(condition.bound for condition in self.conditions))

    @property
    def interval(self) -> str:
        """The values that satisfy it as intervals, bounds to 5 decimals."""
        if self.logic == "&":
            return "({},{})".format(*map(_rounded, self.bounds))
        return ",".join(c.interval for c in sorted(self.conditions, key=lambda c: c.bound))

    @property
    def text(self) -> str:
        """The form `parse_threshold` reads."""
        return self.logic.join(f"{c.comparator}{c.bound!r}" for c in self.conditions)


def parse_threshold(text: str) -> Threshold:
    """Parse a threshold; ThresholdError with the reason if it is invalid.

    Invalid are: an empty bound, one with a space, one that is no finite number, two conditions with the same comparator or
    equal bounds, ``>a|<b`` with a < b (everything), ``>a&<b`` with a > b (nothing).
    """
    if len(text) > _TEXT_LIMIT:
        raise ThresholdError("number", f"threshold: expected at most {_TEXT_LIMIT} characters; found {len(text)}")
    logic = next((sign for sign in "&|" if sign in text), "")
    parts = text.split(logic) if logic else [text]
    if len(parts) > 2:
        raise ThresholdError("comparator", f"threshold: expected at most two conditions; found {len(parts)}")
    conditions = tuple(_condition(part) for part in parts)
    _check_pair(conditions, logic)
    return Threshold(conditions, logic)


def _condition(text: str) -> Condition:
    comparator, bound = text[:1], text[1:]
    if comparator not in ("<", ">"):
        raise ThresholdError("comparator", f"threshold: expected < or > before the value; found {text!r}")
    if not bound:
        raise ThresholdError("empty", "threshold: expected a number; found nothing")
    if any(character.isspace() for character in bound):
        raise ThresholdError("space", f"threshold: expected a number without spaces; found {bound!r}")
    if not _NUMBER.fullmatch(bound) or not math.isfinite(float(bound)):
        raise ThresholdError("number", f"threshold: expected a finite number; found {bound!r}")
    return Condition(comparator, float(bound))


def _check_pair(conditions: tuple[Condition, ...], logic: str) -> None:
    if len(conditions) < 2:
        return
    first, second = conditions
    if first.comparator == second.comparator:
        raise ThresholdError("comparator", "threshold: expected one < and one >; found the same comparator twice")
    if first.bound == second.bound:
        raise ThresholdError("equal", "threshold: expected two different values; found the same twice")
    above, below = (first, second) if first.comparator == ">" else (second, first)
    if logic == "|" and above.bound < below.bound:
        raise ThresholdError("or", "threshold: >a or <b with a < b holds for every value; expected a > b")
    if logic == "&" and above.bound > below.bound:
        raise ThresholdError("and", "threshold: >a and <b with a > b holds for no value; expected a < b")


def _rounded(bound: float) -> str:
    return f"{round(bound, 5) + 0.0:.15g}"
