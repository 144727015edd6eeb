"""Times by step and input shape of one profile, as the tables of the dynamic shapes page have them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.profiles import shape_times
from parsers.deferred import pandas as pd
from parsers.profile_frames import SHAPE_TIMES

FRAMES = ("shape_times", "kernels")
"""Frames with executions, the one that is preferred first."""
TABLES = ("types", "operators", "steps", "shapes", "executions")
USUAL_TYPES = 3

Unit = Literal["operator", "kernel"]
UNITS: tuple[Unit, ...] = ("operator", "kernel")


class ShapeTables:
    """The executions of a profile by operator, shape and step. Properties are computed on first use.

    Types and operators that the profile does not have, such as those of another profile, are ignored.
    """

    def __init__(
        self, frame: Callable[[str], pd.DataFrame | None], *, unit: Unit = "operator", types: tuple[str, ...] = (),
        operator: str = "", query: str = "",
    ) -> None:  # fmt: skip
        """Take a function that returns a frame of the profile by its name, and what is wanted.

        types are those by step, () for the longest of those whose operators have several shapes, and then the others. operator
        "" is the one with the most shapes. query: part of the names of operators listed.
        """
        self._frame = frame
        self._unit = unit
        self._types = types
        self._operator = operator
        self._query = query

    @cached_property
    def whole(self) -> pd.DataFrame:
        """All executions: of the first of FRAMES that has any."""
        for name in FRAMES:
            found = self._frame(name)
            if found is not None and len(found):
                return found
        return SHAPE_TIMES.empty()

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """What the profile has: operators, kernels that operators on GPU started, or both."""
        cores = self.whole["core"].array
        used = {str(cores.categories[code]) for code in np.unique(cores.codes) if code >= 0}
        kernels = shape_times.KERNEL in used
        others = {shape_times.KERNEL, *shape_times.WITHOUT_SHAPES} if kernels else set()
        there = {"operator": bool(used - others), "kernel": kernels}
        return tuple(unit for unit in UNITS if there[unit])

    @cached_property
    def unit(self) -> Unit:
        """The unit that is asked for, or the one there is."""
        return self._unit if self._unit in self.units or not self.units else self.units[0]

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The executions of the unit. The shape of a kernel is how it was launched, where that is known."""
        kernels = self.unit == "kernel"
        rows = shape_times.executions_of(self.whole, kernels=kernels)
        return shape_times.launched(rows) if kernels else rows

    @cached_property
    def cells(self) -> pd.DataFrame:
        """Sums by operator, type and shape."""
        return shape_times.cells(self.rows)

    @cached_property
    def _changing(self) -> NDArray[np.bool_]:
        return shape_times.changing(self.rows)

    @cached_property
    def steps(self) -> int:
        """The number of different steps that executions with a known shape belong to."""
        rows = self.rows
        known = rows["input_shapes"].array
        shaped = np.append(known.categories.to_numpy(object) != "", False)[known.codes]
        steps = rows["step"].to_numpy()
        return len(np.unique(steps[shaped & (steps >= 0)]))

    @cached_property
    def types(self) -> pd.DataFrame:
        """Sums by operator type."""
        return shape_times.types(self.cells, self._changing)

    @cached_property
    def drawn(self) -> tuple[str, ...]:
        """The types that are drawn."""
        known = set(self.types["type"].tolist())
        usual = self.types.sort_values("changing", key=lambda number: number == 0, kind="stable")["type"]
        return tuple(one for one in self._types if one in known) or tuple(usual.head(USUAL_TYPES).tolist())

    @cached_property
    def by_step(self) -> shape_times.ByStep:
        """The types that are drawn, by step."""
        return shape_times.by_step(self.rows, self.drawn)

    @cached_property
    def operators(self) -> pd.DataFrame:
        """Sums by operator, those with the most shapes first."""
        return shape_times.operators(self.cells, self._changing)

    @cached_property
    def listed(self) -> pd.DataFrame:
        """The operators whose names contain the query."""
        if not self._query:
            return self.operators
        names = self.operators["name"].astype(str).str
        return self.operators[names.contains(self._query, case=False, regex=False).to_numpy(bool)]

    @cached_property
    def operator(self) -> str:
        """The operator that is asked for, else the one with the most shapes; "" without any."""
        names = self.operators["name"]
        if self._operator and (names == self._operator).any():
            return self._operator
        return str(names.iloc[0]) if len(names) else ""

    @cached_property
    def own(self) -> pd.DataFrame:
        """The executions of that operator in the order they ran."""
        return shape_times.of_operator(self.rows, self.operator)

    @cached_property
    def shapes(self) -> pd.DataFrame:
        """Sums of that operator by shape."""
        return shape_times.shapes_of(self.own)

    def table(self, name: str) -> pd.DataFrame:
        """Return one of TABLES, as its CSV file has it."""
        if name == "types":
            return self.types
        if name == "operators":
            return self.listed
        if name == "shapes":
            return self.shapes.assign(operator=self.operator)
        return self._steps() if name == "steps" else self._executions()

    def _steps(self) -> pd.DataFrame:
        found = self.by_step
        return pd.DataFrame({
            "step": np.tile(found.steps, len(found.types)), "type": np.repeat(np.array(found.types, object), len(found.steps)),
            "count": found.count.ravel(), "total_ns": found.total_ns.ravel(), "mean_ns": found.mean_ns.ravel(),
        })  # fmt: skip

    def _executions(self) -> pd.DataFrame:
        _, turn, _ = shape_times.places_of(self.own)
        return pd.DataFrame({
            "operator": self.operator, "step": self.own["step"].to_numpy(), "number": turn,
            "input_shapes": self.own["input_shapes"].array, "duration_ns": self.own["duration_ns"].to_numpy(),
        })  # fmt: skip
