"""Turns images, tensors, loss landscapes and texts into one file each, or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

import numpy as np

from parsers.payloads.values import ImageValue, LandscapeValue, TensorValue, TextValue, Value

SUFFIXES = {"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}
LANDSCAPE_ARRAYS = ("x", "y", "z", "intervals", "path_x", "path_y", "path_z")


@dataclass(frozen=True, slots=True)
class ExportPart:
    """A file of a value. note is a sentence if the file alone does not tell everything, else ""."""

    suffix: str
    save: Callable[[BinaryIO], object]
    note: str = ""


def files_of(value: Value) -> Iterator[ExportPart]:
    """The files of a value."""
    return _OF_TYPE[type(value)](value)


def _image(value: Value) -> Iterator[ExportPart]:
    """Return the bytes as recorded; a TensorBoard record may hold several images."""
    assert isinstance(value, ImageValue)
    for one in (value, *value.others):
        yield ExportPart(SUFFIXES[one.media], partial(_save, one.data), one.problem)


def _save(data: bytes, file: BinaryIO) -> None:
    file.write(data)


def _tensor(value: Value) -> Iterator[ExportPart]:
    assert isinstance(value, TensorValue)
    notes = [value.problem] if value.problem else []
    if value.stored_as:
        notes.append(f"Recorded as {value.dtype}, stored as {value.stored_as}.")
    elif value.dtype == "bfloat16":
        notes.append("Recorded as bfloat16, widened to float32.")
    yield ExportPart(".npy", lambda file: np.save(file, value.data, allow_pickle=False), " ".join(notes))


def _landscape(value: Value) -> Iterator[ExportPart]:
    assert isinstance(value, LandscapeValue)
    arrays = {name: getattr(value, name) for name in LANDSCAPE_ARRAYS}
    arrays["convergence"] = np.array(value.convergence or (), np.float64)
    arrays["step_per_epoch"] = np.array(value.step_per_epoch, np.int64)
    arrays |= {name: np.array(getattr(value, name), np.str_) for name in ("decomposition", "unit")}
    yield ExportPart(".npz", lambda file: np.savez_compressed(file, allow_pickle=False, **arrays), value.problem)


def _text(value: Value) -> Iterator[ExportPart]:
    assert isinstance(value, TextValue)
    yield ExportPart(".txt", partial(_save, value.text.encode("utf-8", "backslashreplace")), value.problem)


_OF_TYPE: Mapping[type[Value], Callable[[Value], Iterator[ExportPart]]] = {
    ImageValue: _image, TensorValue: _tensor, LandscapeValue: _landscape, TextValue: _text,
}  # fmt: skip
