"""The weights and directions of a landscape as files that workers map: one value per weight in each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.landscapes.chosen import CheckpointPath
from app.landscapes.options import LandscapeError
from parsers.analysis.values import landscapes as surfaces
from parsers.errors import FormatError
from parsers.model import Floats
from parsers.weights import Weights, WeightTensor, opened

VALUES_AT_ONCE = 1 << 18
"""Of all checkpoints together: few enough to stay in the cache, enough that reading them takes longer than asking for them."""
FILES = ("base.npy", "first.npy", "second.npy")


@dataclass(frozen=True, slots=True)
class VariedTensor:
    """A tensor whose weights vary: its name, its shape, and where its values begin in the files of the plane."""

    name: str
    shape: tuple[int, ...]
    begin: int


@dataclass(frozen=True, slots=True)
class PlaneFiles:
    """The plane of a landscape in a folder. x, y are the axes of its grid, path the places of checkpoints (None: no path)."""

    folder: str
    tensors: tuple[VariedTensor, ...]
    x: Floats
    y: Floats
    path: surfaces.PathOnPlane | None = None


def varied(tensors: Mapping[str, WeightTensor], names: Sequence[str] = ()) -> list[str]:
    """Return the names of the weights that vary: floating with weight or bias and without moment; all floating if none is.

    names are those that the script has chosen, () for none; [] is returned if not all of them are floating tensors.
    """
    floating = [name for name, one in tensors.items() if one.floating and one.size]
    if names:
        return list(names) if set(names) <= set(floating) else []
    named = [name for name in floating if ("weight" in name or "bias" in name) and "moment" not in name]
    return named or floating


def path_plane(path: CheckpointPath, size: int, scale: str, folder: str, names: Sequence[str] = ()) -> PlaneFiles:
    """Write the plane of a path. Raises LandscapeError for checkpoints without one, NotFiniteError for those to leave out."""
    try:
        with ExitStack() as stack:
            files = [stack.enter_context(opened(file)) for file in path.files]
            parts, tensors = _parts(files, names)
            plane = surfaces.path_plane(parts)
            into = _written(folder, files[-1], tensors)
            places = surfaces.turned(surfaces.write_directions(parts, plane, into, scale), into)
            x, y = surfaces.axis_around(places.x, size), surfaces.axis_around(places.y, size)
            return PlaneFiles(folder, tensors, x, y, places)
    except surfaces.NotFiniteError:
        raise
    except (ValueError, FormatError) as error:
        raise LandscapeError(f"{path.label}: {error}") from error


def random_plane(
    file: str, size: int, seed: int, scale: str, folder: str, names: Sequence[str] = ()
) -> PlaneFiles:
    """Write two random directions around a checkpoint."""
    try:
        with opened(file) as weights:
            parts, tensors = _parts([weights], names)
            into = _written(folder, weights, tensors)
            surfaces.write_random_directions(parts, seed, into, scale)
            axis = np.linspace(-1.0, 1.0, size)
            return PlaneFiles(folder, tensors, axis, axis)
    except FormatError as error:
        raise LandscapeError(str(error)) from error


def line_between(first: str, last: str, places: int, folder: str, names: Sequence[str] = ()) -> PlaneFiles:
    """Write the line from a checkpoint to another: x is the share of the way, y is 0."""
    try:
        with ExitStack() as stack:
            files = [stack.enter_context(opened(file)) for file in (last, first)]
            parts, tensors = _parts(files, names)
            into = _written(folder, files[-1], tensors)
            at = 0
            for part in parts():
                end = at + len(part.last)
                into[0][at:end] = part.columns[0]
                at = end
            return PlaneFiles(folder, tensors, np.linspace(0.0, 1.0, places), np.zeros(1))
    except FormatError as error:
        raise LandscapeError(str(error)) from error


def _parts(files: Sequence[Weights], chosen: Sequence[str]) -> tuple[surfaces.Parts, tuple[VariedTensor, ...]]:
    """Return the parts of all checkpoints, the last file last, and the tensors that vary. Raises LandscapeError."""
    last = files[-1]
    names = varied(last.tensors, chosen)
    if not names:
        raise LandscapeError(f"{last.path}: expected weights of real numbers, found none")
    for file in files:
        if differs := difference(file, last, names):
            raise LandscapeError(differs)
    tensors, begin = [], 0
    for name in names:
        tensors.append(VariedTensor(name, last.tensors[name].shape, begin))
        begin += last.tensors[name].size
    block = max(VALUES_AT_ONCE // len(files), 1)

    def parts() -> Iterator[surfaces.WeightPart]:
        memory, weights = np.empty(len(files) * block), np.empty(block)  # new ones for each part would cost as much as reading
        for number, name in enumerate(names):
            tensor = last.tensors[name]
            filters = tensor.shape[0] if len(tensor.shape) > 1 else 1
            first = 0
            for blocks in zip(*(file.blocks(name, block) for file in files), strict=True):
                count = len(blocks[0])
                columns, own = memory[: len(files) * count].reshape(len(files), count), weights[:count]
                own[:] = blocks[-1]
                for row, found in zip(columns, blocks, strict=True):
                    row[:] = found
                with np.errstate(invalid="ignore", over="ignore"):  # `path_plane` reports NaN and infinity
                    columns -= own
                yield surfaces.WeightPart(number, first, tensor.size, filters, columns, own)
                first += count

    return parts, tuple(tensors)


def difference(file: Weights, last: Weights, names: Sequence[str]) -> str:
    """Return what is not as in the last checkpoint among the tensors that vary, "" if all are."""
    for name in names:
        other, wanted = file.tensors.get(name), last.tensors[name].shape
        if other is None or other.shape != wanted or not other.floating:
            found = "none" if other is None else f"one of shape {other.shape} and type {other.dtype}"
            return f"{file.path}: expected {name[:200]} of shape {wanted}, found {found}"
    return ""


def _written(folder: str, weights: Weights, tensors: Sequence[VariedTensor]) -> list[np.memmap]:
    """Write the base weights; return the maps of both directions, to be written, zeros so far."""
    os.makedirs(folder, exist_ok=True)
    is_double = any(weights.tensors[one.name].dtype == "float64" for one in tensors)
    dtype, total = np.dtype(np.float64 if is_double else np.float32), sum(weights.tensors[one.name].size for one in tensors)
    base, first, second = (_mapped(os.path.join(folder, name), dtype, total) for name in FILES)
    for one in tensors:
        at = one.begin
        for values in weights.blocks(one.name, VALUES_AT_ONCE):
            base[at : at + values.size] = values
            at += values.size
    base.flush()
    return [first, second]


def _mapped(path: str, dtype: np.dtype[Any], total: int) -> np.memmap:
    """Return a new array of zeros in a file. OSError on a full disk: writing to a map for which there is no room kills."""
    try:
        found = np.lib.format.open_memmap(path, "w+", dtype, (total,))
        if hasattr(os, "posix_fallocate"):
            with open(path, "r+b") as file:
                os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error
    return found
