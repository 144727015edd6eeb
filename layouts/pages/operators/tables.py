"""The tables of the operators page: types with their operators, operators, shapes, executions; columns with units."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from parsers import KERNELS, OPERATOR_TYPES, OPERATORS

from layouts.pages.operators.asks import Ask
from layouts.pages.operators.compare import compared
from layouts.pages.operators.drawing import unit_of
from layouts.pages.operators.scopes import amounts, linked
from layouts.pages.operators.sheet import MOST_ROWS, NONE, Sheet
from layouts.pages.operators.variants import by_shapes, of_variant, present, variant_of, with_shares
from layouts.profiling.choice import Choice
from layouts.sources import ProfileSource

MOST_SHEETS = 6
_FIRST = 1_000
MOST_CHILDREN = 200
"""So many operators of an opened type are shown below it; the table of operators has all."""
LONGEST_FIRST: Mapping[str, str] = {"executions": "duration_ns"}
_ORDER: Mapping[str, Sequence[str]] = {
    "types": ("type", "core", "count", "total_ns", "share", "mean_ns", "min_ns", "max_ns", "per_step"),
    "operators": (
        "name", "type", "core", "count", "total_ns", "share", "mean_ns", "min_ns", "max_ns", "self_ns", "device_ns",
        "dispatch_ns", "start_ns", "flops", "flops_per_s", "flops_use", "vector_flops", "vector_flops_per_s",
        "vector_flops_use", "input_shapes", "input_types", "input_formats", "output_shapes", "output_types", "output_formats",
        "subgraph", "full_name", "stack",
    ),
    "shapes": (
        "type", "core", "input_shapes", "input_types", "operators", "count", "total_ns", "share", "mean_ns", "min_ns", "max_ns",
    ),
    "executions": (
        "step", "name", "type", "core", "start_ns", "duration_ns", "wait_ns", "stream", "task", "device", "model", "blocks",
        "state", "input_shapes", "input_types", "input_formats", "output_shapes", "output_types", "output_formats",
    ),
    "types_compared": (
        "type", "core", "difference_ns", "total_ns", "with_total_ns", "change", "count", "with_count", "mean_ns",
        "with_mean_ns",
    ),
    "operators_compared": (
        "name", "type", "core", "difference_ns", "total_ns", "with_total_ns", "change", "count", "with_count", "mean_ns",
        "with_mean_ns", "full_name",
    ),
}  # fmt: skip
_FIXED: Mapping[str, tuple[str, float]] = {
    "flops": ("MFLOPs", 1e6), "vector_flops": ("MFLOPs", 1e6), "flops_per_s": ("GFLOPS", 1e9),
    "vector_flops_per_s": ("GFLOPS", 1e9), "share": ("%", 0.01), "flops_use": ("%", 0.01), "vector_flops_use": ("%", 0.01),
    "change": ("%", 0.01), "start_ns": ("ns", 1.0),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the browser shows it: numbers are divided by scale and are then in the unit."""

    name: str
    text: bool
    unit: str = ""
    scale: float = 1.0


@dataclass(frozen=True)
class Table:
    """A table and its columns; `below` are the operators of types, for those that are opened."""

    sheet: Sheet
    columns: tuple[Column, ...]
    variant: str
    below: Sheet | None = None


class Tables:
    """Makes the tables of profiles and keeps those used last."""

    def __init__(self, source: ProfileSource) -> None:
        self._source = source
        self._made: OrderedDict[tuple[Any, ...], Table] = OrderedDict()
        self._sums: tuple[Any, dict[str, float]] = (None, {})
        self._lock = threading.Lock()

    def variants(self, ask: Ask) -> list[str]:
        """The variants of which the profile has operators."""
        types = ask.choice.frame(self._source, "operator_types")
        return [] if types is None else present(types)

    def views(self, ask: Ask, variant: str) -> list[str]:
        """What a row of the table may be; no frame of executions is read to tell."""
        profiles = self._source.profiles(ask.choice.run)
        mine = next((row for row in profiles if (row.session, row.rank) == (ask.choice.session, ask.choice.rank)), None)
        executions = ["executions"] if mine is not None and "kernels" in mine.frames else []
        return ["types", *(["operators", "shapes"] if len(self.operators(ask.choice, variant)) else []), *executions]

    def types(self, choice: Choice, variant: str) -> pd.DataFrame:
        """Types of one variant with their shares of its time, the longest first."""
        return self._frame(choice, "operator_types", variant)

    def operators(self, choice: Choice, variant: str) -> pd.DataFrame:
        """Operators of one variant with their shares of its time."""
        return self._frame(choice, "operators", variant)

    def _frame(self, choice: Choice, name: str, variant: str) -> pd.DataFrame:
        frame = choice.frame(self._source, name)
        if frame is None:
            frame = {"operators": OPERATORS, "operator_types": OPERATOR_TYPES}[name].empty()
        return with_shares(of_variant(frame, variant))

    def scopes(self, ask: Ask) -> tuple[str, dict[str, float]]:
        """The variant, and full name -> time or operations, kept for one ask; those of scopes where only these are known."""
        variants = self.variants(ask)
        variant = ask.variant if ask.variant in variants else next(iter(variants), "")
        key = (ask.choice, variant, ask.amount)
        if self._sums[0] != key:
            found = amounts(self.operators(ask.choice, variant), ask.amount)
            links = ask.choice.frame(self._source, "flops_scopes") if ask.amount == "flops" and not found else None
            self._sums = (key, linked(links) if links is not None else found)
        return variant, self._sums[1]

    def has_flops(self, ask: Ask, variant: str) -> bool:
        """Whether there are operations of operators or scopes."""
        operators = self.operators(ask.choice, variant)
        links = ask.choice.frame(self._source, "flops_scopes")
        known = operators["flops"].notna().any() or operators["vector_flops"].notna().any()
        return bool(known) or (links is not None and len(links) > 0)

    def flops(self, choice: Choice) -> list[dict[str, Any]]:
        """What the writer of the files summed up: unit, flops, flops_per_s, flops_use."""
        frame = choice.frame(self._source, "flops")
        if frame is None:
            return []
        return Sheet(frame).records(np.arange(len(frame)), ("unit", "flops", "flops_per_s", "flops_use"))

    def table(self, ask: Ask) -> Table | None:
        """The table of the view that is asked for; None where the profile has nothing of it."""
        variants = self.variants(ask)
        if not variants:
            return None
        variant = ask.variant if ask.variant in variants else variants[0]
        key = (ask.choice, ask.against, variant, ask.view)
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        made = self._make(replace(ask, variant=variant))
        if made is None:
            return None  # perhaps its frame is being read again
        with self._lock:
            self._made[key] = made
            while len(self._made) > MOST_SHEETS:
                self._made.popitem(last=False)
        return made

    def _make(self, ask: Ask) -> Table | None:
        if ask.view == "executions":
            return self._executions(ask)
        if ask.against is not None and ask.view in ("types", "operators"):
            return self._compared(ask, ask.against)
        frames: Mapping[str, Callable[[], pd.DataFrame]] = {
            "types": lambda: self.types(ask.choice, ask.variant),
            "operators": lambda: self.operators(ask.choice, ask.variant),
            "shapes": lambda: by_shapes(self.operators(ask.choice, ask.variant)),
        }
        frame = frames[ask.view]()
        if not len(frame):
            return None
        below = Sheet(self.operators(ask.choice, ask.variant)) if ask.view == "types" else None
        return Table(Sheet(frame), columns_of(frame, _ORDER[ask.view]), ask.variant, below)

    def _compared(self, ask: Ask, against: Choice) -> Table | None:
        which = self.types if ask.view == "types" else self.operators
        keys = ("type", "core") if ask.view == "types" else ("full_name", "type", "core")
        frame = compared(which(ask.choice, ask.variant), which(against, ask.variant), keys)
        return Table(Sheet(frame), columns_of(frame, _ORDER[f"{ask.view}_compared"]), ask.variant) if len(frame) else None

    def _executions(self, ask: Ask) -> Table | None:
        kernels = ask.choice.frame(self._source, "kernels")
        if kernels is None or not len(kernels):
            return None
        core = kernels["core"].array
        wanted = np.array([variant_of(name) == ask.variant for name in core.categories], np.bool_)
        if not wanted.any():
            return None
        within = None if wanted.all() else wanted[core.codes]
        counters = [name for name in kernels.columns if name not in KERNELS.names]
        return Table(Sheet(kernels, within), columns_of(kernels, [*_ORDER["executions"], *counters]), ask.variant)


def columns_of(frame: pd.DataFrame, order: Sequence[str]) -> tuple[Column, ...]:
    """The columns in which any row has something, in order; core only where there is more than one."""
    found = []
    for name in order:
        if name not in frame:
            continue
        values = frame[name].array
        if isinstance(values, pd.Categorical):
            used = np.zeros(len(values.categories) + 1, np.bool_)
            used[values.codes] = True
            if np.count_nonzero(used[:-1] & (np.asarray(values.categories, object) != "")) > (1 if name == "core" else 0):
                found.append(Column(name, True))
            continue
        numbers = np.asarray(values)
        if not (_something(numbers[:_FIRST]) or _something(numbers)):
            continue
        unit, scale = _FIXED.get(name, ("", 1.0))
        if name.endswith("_ns") and name not in _FIXED:
            unit, scale = unit_of([_largest(frame, alike) for alike in _alike(name, frame)])
        found.append(Column(name, False, unit, scale))
    return tuple(found)


def _something(numbers: NDArray[Any]) -> bool:
    """Whether any of the numbers is there."""
    return bool(np.any(numbers != NONE) if numbers.dtype.kind == "i" else np.isfinite(numbers).any())


def _alike(name: str, frame: pd.DataFrame) -> list[str]:
    """The columns that are read against each other and have one unit: those of two profiles and their difference."""
    plain = name.removeprefix("with_").replace("difference_ns", "total_ns")
    return [plain, f"with_{plain}"] if f"with_{plain}" in frame else [name]


def _largest(frame: pd.DataFrame, name: str) -> float:
    return float(np.nanmax(np.abs(frame[name].to_numpy(np.float64)), initial=0.0))


def default_sort(ask: Ask, table: Table) -> tuple[str, str]:
    """The longest first; of two profiles what changed most first."""
    names = {column.name for column in table.columns}
    if "difference_ns" in names:
        return "difference_ns", "desc"
    wanted = LONGEST_FIRST.get(ask.view, "total_ns")
    return wanted if wanted in names else "mean_ns", "desc"


def filters_of(table: Table, given: Any) -> dict[str, Any]:
    """AG Grid's filters with numbers in the units of the frame."""
    if not isinstance(given, dict):
        return {}
    scales = {column.name: column.scale for column in table.columns if not column.text}
    return {str(name): _scaled(one, scales.get(str(name), 1.0)) for name, one in given.items()}


def _scaled(one: Any, scale: float) -> Any:
    if not isinstance(one, dict):
        return one
    given = ((name, one.get(name)) for name in ("filter", "filterTo"))
    numbers = {name: value * scale for name, value in given if isinstance(value, (int, float))}
    conditions = one.get("conditions")
    inner = {"conditions": [_scaled(each, scale) for each in conditions]} if isinstance(conditions, list) else {}
    return one | numbers | inner


def searched(table: Table, ask: Ask) -> str:
    """The column that is searched."""
    return ask.searched if ask.searched in table.sheet.frame else "type"


def page_of(table: Table, ask: Ask, start: int, end: int, filters: Any = None) -> tuple[list[dict[str, Any]], int]:
    """Rows start to end of the table as it is asked for, and how many there are. Opened types are followed by operators."""
    sort = ask.sort or default_sort(ask, table)
    rows = table.sheet.rows(sort, (ask.query, searched(table, ask)), filters_of(table, filters))
    names = [column.name for column in table.columns]
    extra = [name for name in ("type", "core", "full_name") if name in table.sheet.frame and name not in names]
    if table.below is None or not ask.opened:
        chosen = rows[start : min(end, start + MOST_ROWS)]
        found = table.sheet.records(chosen, [*names, *extra])
        return [record | {"id": f"r{row}"} for record, row in zip(found, chosen.tolist(), strict=True)], len(rows)
    every = [one for row in rows.tolist() for one in _opened(table, ask, row, sort, names)]
    return every[start : min(end, start + MOST_ROWS)], len(every)


def _opened(table: Table, ask: Ask, row: int, sort: tuple[str, str], names: Sequence[str]) -> list[dict[str, Any]]:
    """A type, and its operators where it is open."""
    (record,) = table.sheet.records(np.array([row]), [*dict.fromkeys([*names, "core"])])
    found = [record | {"id": f"r{row}"}]
    below = table.below
    if below is None or record["type"] not in ask.opened:
        return found
    filters = {"type": {"type": "equals", "filter": record["type"]}, "core": {"type": "equals", "filter": record["core"]}}
    longest = "total_ns" if below.frame["total_ns"].notna().any() else "mean_ns"
    order = sort if sort[0] in below.frame and sort[0] not in ("type", "core", "total_ns") else (longest, sort[1])
    children = below.rows(order, filters=filters)
    shown = [name for name in names if name in below.frame and name != "type"]
    records = below.records(children[:MOST_CHILDREN], list(dict.fromkeys([*shown, "name", "full_name"])))
    for child, one in zip(children[:MOST_CHILDREN].tolist(), records, strict=True):
        found.append(one | {"id": f"c{row}-{child}", "below": True})
    if len(children) > MOST_CHILDREN:
        found.append({"id": f"m{row}", "below": True, "more": len(children) - MOST_CHILDREN, "of": record["type"]})
    return found


