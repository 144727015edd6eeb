"""The conditions of watchpoints as data: which tensors they are about, their parameters, and what values these may have.

They are those of MindInsight's debugger, with its names and the numbers of its protocol, and `tensor_deviation`, which the
protocol has and MindInsight never showed. A watchpoint may set several parameters of a condition: it is hit if any limit is
exceeded. Limits ending in _gt and _lt are exceeded by greater and smaller values, those in _ge by equal ones too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from parsers.errors import FormatError

WEIGHT, GRADIENT, ACTIVATION, TENSOR = "weight", "gradient", "activation", "tensor"
RANGE = ("range_start_inclusive", "range_end_inclusive")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?")


@dataclass(frozen=True, slots=True)
class Limit:
    """A parameter: its name, default (None: it is set only if wanted), least and greatest value.

    above_least: the least value itself is refused. needs are parameters that must be set with it.
    """

    name: str
    default: float | None = None
    least: float = -math.inf
    greatest: float = math.inf
    above_least: bool = False
    needs: tuple[str, ...] = ()

    def check(self, value: float) -> None:
        """Raise FormatError, which says what is allowed, for a value that is not."""
        low = value > self.least if self.above_least else value >= self.least
        if math.isfinite(value) and low and value <= self.greatest:
            return
        allowed = "a finite number"
        if math.isfinite(self.least):
            allowed += f" {'above' if self.above_least else 'from'} {self.least:g}"
        if math.isfinite(self.greatest):
            allowed += f" to {self.greatest:g}"
        raise FormatError(f"{self.name}: expected {allowed}, found {value:g}")


@dataclass(frozen=True, slots=True)
class WatchpointCondition:
    """A condition: name, abbreviation, the tensors it is about, parameters, number in the debugger's protocol.

    previous: it compares with the iteration before. initial: it is about the values before the first step. values: it may need
    the values of a tensor, not only its statistics.
    """

    name: str
    short: str
    target: str
    limits: tuple[Limit, ...]
    number: int
    previous: bool = False
    initial: bool = False
    values: bool = False

    def limit(self, name: str) -> Limit:
        """Return a parameter; FormatError for one that the condition does not have."""
        found = next((limit for limit in self.limits if limit.name == name), None)
        if found is None:
            names = ", ".join(limit.name for limit in self.limits) or "none"
            raise FormatError(f"{self.name}: expected the parameters {names}, found {name}")
        return found


def _percent(name: str, default: float | None = None, needs: tuple[str, ...] = ()) -> Limit:
    return Limit(name, default, 0.0, 100.0, needs=needs)


_LARGE = (Limit("abs_mean_gt", least=0.0), Limit("max_gt"), Limit("min_gt"), Limit("mean_gt"))
_SMALL = (Limit("abs_mean_lt", least=0.0), Limit("max_lt"), Limit("min_lt"), Limit("mean_lt"))
_RANGES = (
    _percent("range_percentage_lt", needs=RANGE),
    _percent("range_percentage_gt", needs=RANGE),
    Limit("max_min_lt", least=0.0, above_least=True),
    Limit("max_min_gt", least=0.0),
    *(Limit(name) for name in RANGE),
)

CONDITIONS: Mapping[str, WatchpointCondition] = {
    one.name: one
    for one in (
        WatchpointCondition(
            "weight_initialization",
            "WI",
            WEIGHT,
            (_percent("zero_percentage_ge", 100.0), Limit("max_gt"), Limit("min_lt")),
            14,
            initial=True,
        ),
        WatchpointCondition("weight_overflow", "WO", WEIGHT, (), 13),
        WatchpointCondition("gradient_exploding", "GE", GRADIENT, (), 13),
        WatchpointCondition("tensor_overflow", "TO", TENSOR, (), 13),
        WatchpointCondition("operator_overflow", "OO", TENSOR, (), 2),
        WatchpointCondition("weight_too_large", "WL", WEIGHT, _LARGE, 15),
        WatchpointCondition("gradient_too_large", "GL", GRADIENT, _LARGE, 15),
        WatchpointCondition("tensor_too_large", "TL", TENSOR, _LARGE, 15),
        WatchpointCondition("weight_too_small", "WS", WEIGHT, _SMALL, 16),
        WatchpointCondition("gradient_vanishing", "GV", GRADIENT, _SMALL, 16),
        WatchpointCondition("tensor_too_small", "TS", TENSOR, _SMALL, 16),
        WatchpointCondition("tensor_all_zero", "TZ", TENSOR, (_percent("zero_percentage_ge", 100.0),), 17),
        WatchpointCondition("weight_not_changed", "WNC", WEIGHT, (Limit("rtol", 1e-5, 0.0),), 20, previous=True),
        WatchpointCondition(
            "weight_change_too_large", "WCL", WEIGHT, (Limit("abs_mean_update_ratio_gt", 0.1, 0.0),), 18, previous=True
        ),
        WatchpointCondition(
            "weight_change_too_small", "WCS", WEIGHT, (Limit("abs_mean_update_ratio_lt", 1e-4, 0.0),), 19, previous=True
        ),
        WatchpointCondition("activation_range", "AR", ACTIVATION, _RANGES, 21, values=True),
        WatchpointCondition("tensor_range", "TR", TENSOR, _RANGES, 21, values=True),
        WatchpointCondition("tensor_deviation", "TD", TENSOR, (Limit("sd_gt", least=0.0), Limit("sd_lt", least=0.0)), 11),
    )
}
"""The conditions by name."""


@dataclass(frozen=True)
class Watchpoint:
    """A condition with limits, for some tensors: those of its target whose operator is in names, and matches pattern.

    limits are the parameters that are set, {} for the defaults. names is None for all operators. pattern is a regular
    expression that the type or the name of the operator must match in a part, "" for all. FormatError if a limit is unknown
    or has a value that is not allowed.
    """

    condition: str
    limits: Mapping[str, float] = field(default_factory=dict)
    names: frozenset[str] | None = None
    pattern: str = ""

    def __post_init__(self) -> None:
        kind = CONDITIONS.get(self.condition)
        if kind is None:
            raise FormatError(f"expected a condition such as tensor_overflow, found {self.condition}")
        wanted = self.checked
        for name, value in self.limits.items():
            kind.limit(name).check(value)
        if kind.limits and not wanted:
            names = ", ".join(limit.name for limit in kind.limits if limit.name not in RANGE)
            raise FormatError(f"{self.condition}: expected one of the parameters {names}, found none")
        for name in wanted:
            missing = [one for one in kind.limit(name).needs if one not in self.limits]
            if missing:
                raise FormatError(f"{self.condition}: expected {' and '.join(missing)} beside {name}, found none")
        start, end = (self.limits.get(name, 0.0) for name in RANGE)
        if set(RANGE) <= self.limits.keys() and start > end:
            raise FormatError(f"{self.condition}: expected a range that begins before its end, found {start:g} to {end:g}")
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise FormatError(f"expected a regular expression, found {self.pattern!r}: {error}") from error

    @property
    def checked(self) -> dict[str, float]:
        """The limits that are compared, each on its own: those set, else the defaults."""
        kind = CONDITIONS[self.condition]
        given = {name: value for name, value in self.limits.items() if name not in RANGE}
        return given or {limit.name: limit.default for limit in kind.limits if limit.default is not None}


def parse_number(text: str) -> float:
    """Parse a number as people write it: 5, -0.1, 1e-9; FormatError for anything else."""
    stripped = text.strip()
    if not _NUMBER.fullmatch(stripped):
        raise FormatError(f"expected a number such as 0.1 or 1e-9, found {text!r}")
    return float(stripped)
