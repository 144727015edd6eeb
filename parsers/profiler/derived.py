"""Derives operators from single executions, and types from operators, if a session has no file with them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.profile_frames import OPERATOR_TYPES, OPERATORS
from parsers.profiler.frame_parts import changed, frame_of
from parsers.profiler.tables import NONE
from parsers.schema import Schema

_TEXTS = ("type", "core", "input_shapes", "input_types", "input_formats", "output_shapes", "output_types", "output_formats")

_ONCE = ("self_ns", "device_ns", "device_self_ns")


def operators_of(kernels: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """Group executions into operators (schema OPERATORS) by name, type and core, for cores without operators in `known`.

    Shapes, types and formats that differ between the executions are empty. Shares are of the time of one core.
    """
    left = kernels if known.empty else kernels[~kernels["core"].isin(known["core"].unique())]
    if left.empty:
        return OPERATORS.empty()
    keys, groups = _groups(left, ("name", "type", "core", "file"))
    duration = left["duration_ns"].to_numpy()
    columns: dict[str, Any] = _times(groups, len(keys), duration)
    first = left.iloc[keys]
    columns |= {name: _common(left[name].array, keys, groups) for name in _TEXTS}
    columns["shapes"] = _distinct(left["input_shapes"].array, groups, len(keys))
    names = first["name"].array
    columns["full_name"] = names
    columns["name"] = changed(names, lambda text: text.rsplit("/", 1)[-1])
    columns["share"] = _shares(first, columns["total_ns"])
    return _by_file(OPERATORS, columns, first)


def types_of(operators: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """Group operators by type (schema OPERATOR_TYPES), for cores without types in `known`.

    An operator without a count in the file counts with the time of one execution.
    """
    left = operators if known.empty else operators[~operators["core"].isin(known["core"].unique())]
    if left.empty:
        return OPERATOR_TYPES.empty()
    keys, groups = _groups(left, ("type", "core", "file"))
    first = left.iloc[keys]
    total = np.bincount(groups, left["total_ns"].fillna(left["mean_ns"]).fillna(0.0), len(keys))
    count = np.bincount(groups, left["count"], len(keys))
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / count
    columns = {
        "type": first["type"].array, "core": first["core"].array, "count": count, "total_ns": total, "mean_ns": mean,
        "min_ns": left["min_ns"].groupby(groups).min().to_numpy(), "max_ns": left["max_ns"].groupby(groups).max().to_numpy(),
        "share": _shares(first, total), **{name: left[name].groupby(groups).sum(min_count=1).to_numpy() for name in _ONCE},
    }  # fmt: skip
    return _by_file(OPERATOR_TYPES, columns, first)


def _by_file(schema: Schema, columns: dict[str, Any], first: pd.DataFrame) -> pd.DataFrame:
    frame = frame_of(schema, len(first), columns, "")
    frame["file"] = first["file"].array
    return frame.sort_values("total_ns", ascending=False, kind="stable", ignore_index=True)


def _groups(frame: pd.DataFrame, names: tuple[str, ...]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Group rows that are equal in these columns; return the first row of each group, and the group of each row."""
    key = np.zeros(len(frame), np.int64)
    for name in names:
        codes = frame[name].cat.codes.to_numpy().astype(np.int64)
        key = pd.factorize(key * (len(frame[name].cat.categories) + 1) + codes)[0].astype(np.int64)
    _, first = np.unique(key, return_index=True)
    return first, key


def _common(texts: Any, first: NDArray[Any], groups: NDArray[Any]) -> Any:
    """Return the text that all rows of each group have; an empty one for groups whose rows differ."""
    codes = texts.codes.astype(np.int32)
    mixed = np.bincount(groups, codes != codes[first][groups], len(first)) > 0
    if not mixed.any():
        return texts.take(first)
    made = texts if "" in texts.categories else texts.add_categories([""])
    return pd.Categorical.from_codes(np.where(mixed, made.categories.get_loc(""), codes[first]), dtype=made.dtype)


def _distinct(texts: Any, groups: NDArray[Any], number: int) -> NDArray[np.int64]:
    """Return the number of different texts in each group, among them the empty one (scalars); NONE if all are empty."""
    known = np.append(texts.categories.to_numpy(object) != "", False)[texts.codes]
    pairs = pd.unique(groups * len(texts.categories) + texts.codes)
    counts = np.bincount(pairs // max(len(texts.categories), 1), minlength=number)
    return np.where(np.bincount(groups, known, number) > 0, counts, NONE)


def _times(groups: NDArray[Any], number: int, duration: NDArray[Any]) -> dict[str, NDArray[Any]]:
    count = np.bincount(groups, minlength=number).astype(np.float64)
    total = np.bincount(groups, duration, number)
    least = np.full(number, np.iinfo(np.int64).max)
    most = np.full(number, np.iinfo(np.int64).min)
    np.minimum.at(least, groups, duration)
    np.maximum.at(most, groups, duration)
    return {
        "count": count, "total_ns": total, "mean_ns": total / count,
        "min_ns": least.astype(np.float64), "max_ns": most.astype(np.float64),
    }  # fmt: skip


def _shares(first: pd.DataFrame, total: NDArray[Any]) -> NDArray[Any]:
    """Return each time as a fraction of the total time of its core."""
    codes = first["core"].cat.codes.to_numpy().astype(np.int64) + 1
    whole = np.bincount(codes, total)[codes]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0.0, total / whole, np.nan)
