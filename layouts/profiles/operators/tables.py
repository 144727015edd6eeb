"""The tables of the operators page (types with their operators, operators, shapes, executions, counters), and their columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers import OPERATOR_TYPES, OPERATORS
from parsers.analysis.profiles.efficiency.counters import PREFIX
from parsers.analysis.profiles.operator_shapes import by_shapes
from parsers.caches import Cache
from parsers.deferred import pandas as pd

from layouts.profiles.efficiency import MeasuredProfiles
from layouts.profiles.kernel_names import kernel_labels
from layouts.profiles.operator_variants import variant_of
from layouts.profiles.operators.asks import OperatorRequest
from layouts.profiles.operators.compare import compared
from layouts.profiles.operators.drawing import unit_of
from layouts.profiles.operators.scopes import amounts, linked
from layouts.profiles.operators.sheet import MOST_ROWS, NONE, OperatorSheet
from layouts.profiles.operators.variants import measure, of_variant, present, with_shares
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources

MOST_SHEETS = 6
_FIRST = 1_000
MOST_CHILDREN = 200
"""Maximum number of operators shown below an opened type; the table of operators has all."""
LONGEST_FIRST: Mapping[str, str] = {"executions": "duration_ns"}
_ORDER: Mapping[str, Sequence[str]] = {
    "types": (
        "type", "core", "count", "self_ns", "total_ns", "share", "device_self_ns", "device_ns", "mean_ns", "min_ns", "max_ns",
        "per_step",
    ),
    "operators": (
        "name", "type", "core", "count", "self_ns", "total_ns", "share", "device_self_ns", "device_ns", "stack",
        "input_shapes", "mean_ns", "min_ns", "max_ns", "dispatch_ns",
        "start_ns", "flops", "flops_per_s", "flops_use", "vector_flops", "vector_flops_per_s",
        "vector_flops_use", "input_types", "input_formats", "output_shapes", "output_types", "output_formats",
        "subgraph", "full_name",
    ),
    "shapes": (
        "type", "core", "input_shapes", "input_types", "operators", "count", "self_ns", "total_ns", "share", "mean_ns",
        "min_ns", "max_ns",
    ),
    "executions": (
        "step", "name", "type", "core", "start_ns", "duration_ns", "wait_ns", "stream", "task", "device", "model", "blocks",
        "state", "input_shapes", "input_types", "input_formats", "output_shapes", "output_types", "output_formats",
    ),
    "counters": (
        "type", "core", "count", "total_ns", "share", "bound", "by", "compute", "memory", "per_s", "operations",
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
    "change": ("%", 0.01), "start_ns": ("ns", 1.0), "per_s": ("GFLOPS", 1e9), "operations": ("MFLOPs", 1e6),
    "compute": ("%", 0.01), "memory": ("%", 0.01),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class OperatorColumn:
    """A column as the browser shows it: numbers divided by `scale` are in `unit`."""

    name: str
    text: bool
    unit: str = ""
    scale: float = 1.0


@dataclass(frozen=True)
class OperatorTable:
    """A table and its columns. below: in a table of types, the operators shown below opened types."""

    sheet: OperatorSheet
    columns: tuple[OperatorColumn, ...]
    variant: str
    below: OperatorSheet | None = None


class OperatorTables:
    """Builds tables of profiles and caches the ones used last."""

    def __init__(self, source: ProfileSources, kept: MeasuredProfiles | None = None) -> None:
        self._source = source
        self._kept = kept or MeasuredProfiles()
        self._tables: Cache[tuple[Any, ...], OperatorTable | None] = Cache(MOST_SHEETS)
        self._sums: tuple[Any, dict[str, float]] = (None, {})

    def variants(self, ask: OperatorRequest) -> list[str]:
        """Return the variants for which the profile has operators."""
        types = ask.choice.frame(self._source, "operator_types")
        return [] if types is None else present(types)

    def views(self, ask: OperatorRequest, variant: str) -> list[str]:
        """Return the views that have rows, without loading the frame of executions."""
        profiles = self._source.profiles.rows(ask.choice.run)
        mine = next((row for row in profiles if (row.session, row.rank) == (ask.choice.session, ask.choice.rank)), None)
        executions = ["executions", "counters"] if mine is not None and "kernels" in mine.frames else []
        return ["types", *(["operators", "shapes"] if len(self.operators(ask.choice, variant)) else []), *executions]

    def types(self, choice: ProfileChoice, variant: str) -> pd.DataFrame:
        """Return the types of a variant with their shares of its time."""
        return self._frame(choice, "operator_types", variant)

    def operators(self, choice: ProfileChoice, variant: str) -> pd.DataFrame:
        """Return the operators of a variant with their shares of its time."""
        return self._frame(choice, "operators", variant)

    def _frame(self, choice: ProfileChoice, name: str, variant: str) -> pd.DataFrame:
        frame = choice.frame(self._source, name)
        if frame is None:
            frame = {"operators": OPERATORS, "operator_types": OPERATOR_TYPES}[name].empty()
        return with_shares(of_variant(frame, variant))

    def scopes(self, ask: OperatorRequest) -> tuple[str, dict[str, float]]:
        """Return (variant, full name -> time or operations), cached for one request; per scope if only that is known."""
        variants = self.variants(ask)
        variant = ask.variant if ask.variant in variants else next(iter(variants), "")
        key = (ask.choice, variant, ask.amount)
        if self._sums[0] != key:
            found = amounts(self.operators(ask.choice, variant), ask.amount)
            links = ask.choice.frame(self._source, "flops_scopes") if ask.amount == "flops" and not found else None
            self._sums = (key, linked(links) if links is not None else found)
        return variant, self._sums[1]

    def has_flops(self, ask: OperatorRequest, variant: str) -> bool:
        """True if floating point operations of operators or scopes are known."""
        operators = self.operators(ask.choice, variant)
        links = ask.choice.frame(self._source, "flops_scopes")
        known = operators["flops"].notna().any() or operators["vector_flops"].notna().any()
        return bool(known) or (links is not None and len(links) > 0)

    def flops(self, choice: ProfileChoice) -> list[dict[str, Any]]:
        """Return the FLOPs summary that MindSpore wrote: unit, flops, flops_per_s, flops_use."""
        frame = choice.frame(self._source, "flops")
        if frame is None:
            return []
        return OperatorSheet(frame).records(np.arange(len(frame)), ("unit", "flops", "flops_per_s", "flops_use"))

    def table(self, ask: OperatorRequest) -> OperatorTable | None:
        """Return the table of the requested view; None if the profile has no rows for it."""
        variants = self.variants(ask)
        if not variants:
            return None
        variant = ask.variant if ask.variant in variants else variants[0]
        key = (ask.choice, ask.against, variant, ask.view)
        # None is not cached: the frame may be loading again.
        return self._tables.made(key, lambda: self._make(replace(ask, variant=variant)), keep=lambda table: table is not None)

    def _make(self, ask: OperatorRequest) -> OperatorTable | None:
        if ask.view == "executions":
            return self._executions(ask)
        if ask.view == "counters":
            return self._counters(ask)
        if ask.against is not None and ask.view in ("types", "operators"):
            return self._compared(ask, ask.against)
        frames: Mapping[str, Callable[[], pd.DataFrame | None]] = {
            "types": lambda: self.types(ask.choice, ask.variant),
            "operators": lambda: self.operators(ask.choice, ask.variant),
            "shapes": lambda: self._shapes(ask),
        }
        frame = frames[ask.view]()
        if frame is None or not len(frame):
            return None
        below = OperatorSheet(self.operators(ask.choice, ask.variant)) if ask.view == "types" else None
        return OperatorTable(OperatorSheet(frame), columns_of(frame, _ORDER[ask.view]), ask.variant, below)

    def _shapes(self, ask: OperatorRequest) -> pd.DataFrame | None:
        """Return the times by shapes; None while the executions are being read."""
        executions = ask.choice.frame(self._source, "kernels")
        if executions is None and "executions" in self.views(ask, ask.variant):
            return None
        known = None if executions is None else of_variant(executions, ask.variant)
        return with_shares(by_shapes(self.operators(ask.choice, ask.variant), known))

    def _compared(self, ask: OperatorRequest, against: ProfileChoice) -> OperatorTable | None:
        which = self.types if ask.view == "types" else self.operators
        keys = ("type", "core") if ask.view == "types" else ("full_name", "type", "core")
        frame = compared(which(ask.choice, ask.variant), which(against, ask.variant), keys)
        if not len(frame):
            return None
        return OperatorTable(OperatorSheet(frame), columns_of(frame, _ORDER[f"{ask.view}_compared"]), ask.variant)

    def _counters(self, ask: OperatorRequest) -> OperatorTable | None:
        """Types, each with its shapes below it; None if the kernels have no counters."""
        kernels = ask.choice.frame(self._source, "kernels")
        known = None if kernels is None else self._kept.measured(ask.choice, kernels)
        if known is None or not known.counters:
            return None
        frame, below = (with_shares(of_variant(table, ask.variant)) for table in (known.types, known.shapes))
        below = below.assign(name=below["input_shapes"], full_name=below["input_shapes"])
        names = [name for name in frame.columns if str(name).startswith(PREFIX)]
        columns = columns_of(frame, [*_ORDER["counters"], *names])
        return OperatorTable(OperatorSheet(frame), columns, ask.variant, OperatorSheet(below)) if len(frame) else None

    def _executions(self, ask: OperatorRequest) -> OperatorTable | None:
        kernels = ask.choice.frame(self._source, "kernels")
        if kernels is None or not len(kernels):
            return None
        core = kernels["core"].array
        chosen = np.array([variant_of(name) == ask.variant for name in core.categories], np.bool_)
        if not chosen.any():
            return None
        within = None if chosen.all() else chosen[core.codes]
        counters = [name for name in kernels.columns if name.startswith(PREFIX)]
        return OperatorTable(
            OperatorSheet(kernels, within), columns_of(kernels, [*_ORDER["executions"], *counters]), ask.variant
        )


def columns_of(frame: pd.DataFrame, order: Sequence[str]) -> tuple[OperatorColumn, ...]:
    """Return the columns in which any row has a value, in order; core only if there is more than one."""
    found = []
    for name in order:
        if name not in frame or (name == "full_name" and "name" in order and _alike_everywhere(frame)):
            continue
        values = frame[name].array
        if isinstance(values, pd.Categorical):
            used = np.zeros(len(values.categories) + 1, np.bool_)
            used[values.codes] = True
            if name == "input_shapes" and "shapes" in frame and (frame["shapes"] > 1).any():
                found.append(OperatorColumn(name, True))
                continue
            if np.count_nonzero(used[:-1] & (np.asarray(values.categories, object) != "")) > (1 if name == "core" else 0):
                found.append(OperatorColumn(name, True))
            continue
        numbers = np.asarray(values)
        if not (_any_value(numbers[:_FIRST]) or _any_value(numbers)):
            continue
        unit, scale = _FIXED.get(name, ("", 1.0))
        if name.endswith("_ns") and name not in _FIXED:
            unit, scale = unit_of([_largest(frame, alike) for alike in _alike(name, frame)])
        found.append(OperatorColumn(name, False, unit, scale))
    return tuple(found)


def _alike_everywhere(frame: pd.DataFrame) -> bool:
    """Return whether names are full names: those of kernels have no scope."""
    return len(frame) > 0 and bool((frame["name"].astype(object) == frame["full_name"].astype(object)).all())


def _any_value(numbers: NDArray[Any]) -> bool:
    """True if any of the numbers is not missing."""
    return bool(np.any(numbers != NONE) if numbers.dtype.kind == "i" else np.isfinite(numbers).any())


def _alike(name: str, frame: pd.DataFrame) -> list[str]:
    """The columns that share a unit because readers compare them: those of two profiles and their difference."""
    plain = name.removeprefix("with_").replace("difference_ns", "total_ns")
    return [plain, f"with_{plain}"] if f"with_{plain}" in frame else [name]


def _largest(frame: pd.DataFrame, name: str) -> float:
    return float(np.nanmax(np.abs(frame[name].to_numpy(np.float64)), initial=0.0))


def default_sort(ask: OperatorRequest, table: OperatorTable) -> tuple[str, str]:
    """Return the default order: the longest first; for two profiles, the largest difference first."""
    names = {column.name for column in table.columns}
    if "difference_ns" in names:
        return "difference_ns", "desc"
    name = LONGEST_FIRST.get(ask.view) or measure(table.sheet.frame)
    return name if name in names else "mean_ns", "desc"


def filters_of(table: OperatorTable, filters: Any) -> dict[str, Any]:
    """Convert the numbers in AG Grid's filters from the shown units to those of the frame."""
    if not isinstance(filters, dict):
        return {}
    scales = {column.name: column.scale for column in table.columns if not column.text}
    return {str(name): _scaled(one, scales.get(str(name), 1.0)) for name, one in filters.items()}


def _scaled(one: Any, scale: float) -> Any:
    if not isinstance(one, dict):
        return one
    limits = ((name, one.get(name)) for name in ("filter", "filterTo"))
    numbers = {name: value * scale for name, value in limits if isinstance(value, (int, float))}
    conditions = one.get("conditions")
    inner = {"conditions": [_scaled(each, scale) for each in conditions]} if isinstance(conditions, list) else {}
    return one | numbers | inner


def searched(table: OperatorTable, ask: OperatorRequest) -> str:
    """Return the column to search."""
    return ask.searched if ask.searched in table.sheet.frame else "type"


def page_of(
    table: OperatorTable, ask: OperatorRequest, start: int, end: int, filters: Any = None
) -> tuple[list[dict[str, Any]], int]:
    """Return (rows start to end of the requested table, number of all rows). Opened types are followed by their operators."""
    sort = ask.sort or default_sort(ask, table)
    rows = table.sheet.rows(sort, (ask.query, searched(table, ask)), filters_of(table, filters))
    names = [column.name for column in table.columns]
    extra = [name for name in ("type", "core", "full_name", "shapes") if name in table.sheet.frame and name not in names]
    if table.below is None or not ask.opened:
        chosen = rows[start : min(end, start + MOST_ROWS)]
        found = table.sheet.records(chosen, [*names, *extra])
        listed = [record | {"id": f"r{row}"} for record, row in zip(found, chosen.tolist(), strict=True)]
        return _labelled(listed, table.sheet), len(rows)
    every = [one for row in rows.tolist() for one in _opened(table, ask, row, sort, names)]
    return _labelled(every[start : min(end, start + MOST_ROWS)], table.below), len(every)


def _labelled(records: list[dict[str, Any]], sheet: OperatorSheet) -> list[dict[str, Any]]:
    """Add the label of each kernel whose name is a C++ signature."""
    names = sheet.frame["name"].array if "name" in sheet.frame else None
    if not isinstance(names, pd.Categorical):
        return records
    labels = kernel_labels(names.categories)
    for record in records:
        name = record.get("name", "")
        if labels.get(name, name) != name:
            record["label"] = labels[name]
    return records


def _opened(
    table: OperatorTable, ask: OperatorRequest, row: int, sort: tuple[str, str], names: Sequence[str]
) -> list[dict[str, Any]]:
    """A type, followed by its operators if it is opened."""
    (record,) = table.sheet.records(np.array([row]), [*dict.fromkeys([*names, "core"])])
    found = [record | {"id": f"r{row}"}]
    below = table.below
    if below is None or record["type"] not in ask.opened:
        return found
    filters = {"type": {"type": "equals", "filter": record["type"]}, "core": {"type": "equals", "filter": record["core"]}}
    times = measure(below.frame)
    longest = times if below.frame[times].notna().any() else "mean_ns"
    order = sort if sort[0] in below.frame and sort[0] not in ("type", "core", "total_ns", "self_ns") else (longest, sort[1])
    children = below.rows(order, filters=filters)
    shown = [name for name in names if name in below.frame and name != "type"]
    records = below.records(children[:MOST_CHILDREN], list(dict.fromkeys([*shown, "name", "full_name"])))
    for child, one in zip(children[:MOST_CHILDREN].tolist(), records, strict=True):
        found.append(one | {"id": f"c{row}-{child}", "below": True})
    if len(children) > MOST_CHILDREN:
        found.append({"id": f"m{row}", "below": True, "more": len(children) - MOST_CHILDREN, "of": record["type"]})
    return found


