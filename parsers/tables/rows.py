"""What the tables of all loggers share: which column is the step, which the time, and rows of named numbers as blocks.

The step is that of the first column of STEPS with a whole number, else the number of the row, from 0. A time is in seconds
since 1970; without one the wall time is NaN. Numbers in other columns are scalars; texts, true and false are none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from parsers.model import Problem, ScalarBlock

STEPS = ("step", "_step", "global_step", "time/total_timesteps", "iteration", "epoch")
TIMES = ("_timestamp", "timestamp")
LONGEST_LINE = 16 << 20
"""Bytes. A longer line is skipped."""
MOST_TAGS = 20_000
"""Columns of a file that become scalars."""
MOST_PROBLEMS = 1000
"""Problems of one read; the last one says that there are more."""
DEEPEST = 20
"""Levels of nested values whose names are joined."""
LARGEST = 2**63 - 1


def whole(value: Any) -> int | None:
    """Return a step, None for what is no whole number of 64 bits."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    if isinstance(value, float) and not (abs(value) < 2**63 and value.is_integer()):
        return None
    return int(value) if -LARGEST - 1 <= value <= LARGEST else None


def numbers(value: Any, name: str = "", depth: int = 0) -> dict[str, float]:
    """Return the numbers in nested mappings, with names joined by "/". Those beyond a double are infinite."""
    if isinstance(value, Mapping):
        found: dict[str, float] = {}
        if depth < DEEPEST:
            for key, part in value.items():
                found |= numbers(part, f"{name}/{key}" if name else str(key), depth + 1)
        return found
    if not name or isinstance(value, bool) or not isinstance(value, int | float):
        return {}
    try:
        return {name: float(value)}
    except OverflowError:
        return {name: float("inf") if value > 0 else float("-inf")}


class MetricRows:
    """MetricRows of named numbers, gathered by their names; and the damage among them. `number` is that of the next row."""

    def __init__(self, path: str, number: int = 0) -> None:
        self.path, self.number = path, number
        self.problems: list[Problem] = []
        self.records = 0
        self._tags: set[str] = set()
        self._rows: dict[tuple[str, ...], list[tuple[int, float, int, tuple[float, ...]]]] = {}

    def add(self, values: Mapping[str, Any], offset: int) -> None:
        """Add a row that begins at a byte."""
        step = next((found for name in STEPS if name in values and (found := whole(values[name])) is not None), None)
        time = next((values[name] for name in TIMES if isinstance(values.get(name), int | float)), None)
        kept = {name: value for name, value in values.items() if name not in STEPS and name not in TIMES}
        self._put(kept, self.number if step is None else step, _time(time), offset)

    def _put(self, values: Mapping[str, Any], step: int, time: float, offset: int) -> None:
        found = numbers(values)
        if len(self._tags) + len(found) > MOST_TAGS:
            fresh = [name for name in found if name not in self._tags]
            for name in fresh[max(MOST_TAGS - len(self._tags), 0) :]:
                del found[name]
        self._tags.update(found)
        if found:
            self._rows.setdefault(tuple(found), []).append((step, time, offset, tuple(found.values())))
        self.number += 1
        self.records += 1

    def complain(self, offset: int, length: int, text: str) -> None:
        """Note damage."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(self.path, offset, length, "bad_table", text))

    def blocks(self) -> list[ScalarBlock]:
        """Return the rows, those with the same names together."""
        return [_block(tags, rows) for tags, rows in self._rows.items()]


def _time(value: Any) -> float:
    try:
        return float("nan") if value is None else float(value)
    except OverflowError:
        return float("nan")


def _block(tags: tuple[str, ...], rows: list[tuple[int, float, int, tuple[float, ...]]]) -> ScalarBlock:
    steps, times, offsets, values = zip(*rows, strict=True)
    value = np.array(values, np.float64).T
    return ScalarBlock(tags, np.array(steps, np.int64), np.array(times, np.float64), np.array(offsets, np.int64), value)
