"""What the readers of profiler files share: declarations of files and frames, and how frames are built and joined."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.model import Problem
from parsers.profiler.tables import NONE
from parsers.schema import Schema


@dataclass(frozen=True, slots=True)
class FramePart:
    """The rows of one file for one schema, and the damage found."""

    frame: pd.DataFrame
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class ProfileInput:
    """A file to read: its path, its name below the directory of the session, and files beside it by the name of their kind."""

    path: str
    name: str
    beside: Mapping[str, ProfileInput]


@dataclass(frozen=True, slots=True)
class ProfileFileKind:
    """One kind of profiler file: its name in the registry and the pattern that a whole file name must match.

    The pattern's group `rank`, if there is one, holds the rank. marks_profile: a directory that holds such a file is a profile
    without any other sign. device is what it proves that the profile was taken on: Ascend, GPU, CPU; "" for nothing. shown is
    the file name as users know it, where it cannot be derived from the pattern. of_job: it is about all ranks of a job.
    """

    name: str
    pattern: re.Pattern[str]
    marks_profile: bool = False
    device: str = ""
    shown: str = ""
    of_job: bool = False


def numbered(stem: str, end: str = "csv") -> re.Pattern[str]:
    """Pattern of <stem>_<rank>.<end>, with or without the rank."""
    return re.compile(rf"{stem}(?:_(?P<rank>\d{{1,9}}))?\.{end}")


def stamped(stem: str, end: str = "csv") -> re.Pattern[str]:
    """Pattern of <stem>.<end> with any number of numbers, none of which is a rank, between the two."""
    return re.compile(rf"{stem}(?:_\d+)*\.{end}")


Read = Callable[[ProfileInput], FramePart]
ReadTogether = Callable[[ProfileInput], Mapping[str, FramePart]]


@dataclass(frozen=True, slots=True)
class FrameReader:
    """Reads one frame from one kind of profiler file.

    It is not used in a rank that also has a file whose kind is named in `unless`. also_reads are the kinds of files beside
    it that read looks into. together reads this frame and others of the file in one pass, by their names.
    """

    schema: Schema
    file: ProfileFileKind
    read: Read
    unless: tuple[str, ...] = ()
    also_reads: tuple[ProfileFileKind, ...] = ()
    together: ReadTogether | None = None


def frame_of(schema: Schema, rows: int, columns: Mapping[str, Any], file: str) -> pd.DataFrame:
    """Build a frame of the schema from these columns; others are filled with missing values, `file` is set in every row."""
    made: dict[str, Any] = {}
    for column in schema.columns:
        if column.name == "file":
            made["file"] = constant(file, rows)
        elif column.name in columns:
            made[column.name] = _as(columns[column.name], column.dtype)
        else:
            made[column.name] = _missing(column.dtype, rows)
    return pd.DataFrame(made | {name: columns[name] for name in columns if name not in made}, copy=False)


def _as(values: Any, dtype: str) -> Any:
    if dtype != "category":
        return np.asarray(values, dtype)
    return values if isinstance(values, pd.Categorical) else categorical(values)


def _missing(dtype: str, rows: int) -> Any:
    if dtype == "category":
        return constant("", rows)
    return np.full(rows, NONE, np.int64) if dtype == "int64" else np.full(rows, np.nan)


def constant(text: str, rows: int) -> pd.Categorical:
    """Return a categorical with one text in every row."""
    return pd.Categorical.from_codes(np.zeros(rows, np.int8), categories=pd.Index([text], dtype="str"))


def categorical(values: Sequence[str]) -> pd.Categorical:
    """Return a categorical of texts, categories in order of appearance."""
    known = {value: number for number, value in enumerate(dict.fromkeys(values))}
    codes = np.fromiter(map(known.__getitem__, values), np.int32, len(values))
    return pd.Categorical.from_codes(codes, categories=pd.Index(list(known), dtype="str"), validate=False)


def changed(values: pd.Categorical, change: Callable[[str], str]) -> pd.Categorical:
    """Map the texts of a categorical, calling change once per distinct text."""
    made = categorical([change(text) for text in values.categories.tolist()])
    if not len(values.categories):
        return values
    return pd.Categorical.from_codes(made.codes[values.codes], categories=made.categories)


def with_columns(frame: pd.DataFrame, columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return the frame with these of its columns replaced; none is copied, as `frame[name] = values` does."""
    return pd.DataFrame({name: columns[name] if name in columns else frame[name].array for name in frame.columns}, copy=False)


def joined(schema: Schema, frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate frames; a further column that only some have is filled with missing values in the others."""
    full = [frame for frame in frames if len(frame)] or list(frames[:1])
    if not full:
        return schema.empty()
    if len(full) == 1:
        return full[0]
    names = dict.fromkeys(name for frame in full for name in frame.columns)
    columns: dict[str, Any] = {}
    for name in names:
        parts = [frame[name].array if name in frame else None for frame in full]
        texts = any(isinstance(part, pd.Categorical) for part in parts)
        dtype = schema.further_dtype(name)
        filled = [_filled(part, len(frame), texts, dtype) for part, frame in zip(parts, full, strict=True)]
        union = pd.api.types.union_categoricals
        columns[name] = union(filled) if texts else np.concatenate([np.asarray(part) for part in filled])
    return pd.DataFrame(columns, copy=False)


def _filled(part: Any, rows: int, texts: bool, dtype: str) -> Any:
    if part is None:
        return _missing("category" if texts else dtype, rows)
    if texts and not isinstance(part, pd.Categorical):
        return categorical(["" if np.isnan(value) else f"{value:g}" for value in np.asarray(part, np.float64).tolist()])
    return part


def fraction(share: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert shares to fractions of 1, whether they are fractions or percent, judged by the times they refer to."""
    whole = np.nansum(total)
    if not whole > 0.0:
        return share / 100.0 if np.nansum(share) > 1.5 else share
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = share / (total / whole)
    usable = factors[np.isfinite(factors) & (factors > 0.0)]
    return share / 100.0 if len(usable) and float(np.median(usable)) > 10.0 else share
