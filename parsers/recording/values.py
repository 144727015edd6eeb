"""What a value of a step can be: a number, a distribution, an array, a picture or a text.

Values of any framework are recognised by what they offer: `numpy()` or `asnumpy()`, `detach()` and `cpu()`, `__array__`. No
framework is imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import RecordingError


@dataclass(frozen=True)
class Histogram:
    """The distribution of the values of an array."""

    values: ArrayLike


@dataclass(frozen=True)
class CountedHistogram:
    """A distribution that somebody else has counted: limits are the right edges of buckets, of shape (n,), as are counts.

    low and high are the least and greatest value, number how many there are; squares is the sum of their squares.
    """

    limits: ArrayLike
    counts: ArrayLike
    low: float
    high: float
    number: float
    total: float
    squares: float


@dataclass(frozen=True)
class Tensor:
    """An array. MindSpore stores all dtypes as float32.

    plugin and content are the plugin of TensorBoard that shows it, and what that plugin stores beside it.
    """

    values: ArrayLike
    plugin: str = "tensors"
    content: bytes = b""


@dataclass(frozen=True)
class Image:
    """An encoded image (PNG); colorspace 1 is grey, 3 RGB, 4 RGBA."""

    encoded: bytes
    height: int
    width: int
    colorspace: int = 3


@dataclass(frozen=True)
class Text:
    """A text."""

    text: str


@dataclass(frozen=True)
class Surface:
    """A loss over two directions of the weights: x of shape (n,), y of shape (m,), z of shape (m, n)."""

    x: ArrayLike
    y: ArrayLike
    z: ArrayLike


@dataclass(frozen=True)
class Landscape:
    """A loss landscape as MindSpore records it (`LossLandscape` of its summary.proto).

    path are the places of the weights during training: x, y and z of shape (k,) each, at the epochs or steps in intervals.
    """

    surface: Surface
    path: Surface | None = None
    intervals: tuple[int, ...] = ()
    minimum: tuple[float, float, float] = (0.0, 0.0, 0.0)
    decomposition: str = "PCA"
    unit: str = "epoch"
    steps_per_epoch: int = 1


Value = Union[float, Histogram, CountedHistogram, Tensor, Image, Text, Landscape]
VALUES = (Histogram, CountedHistogram, Tensor, Image, Text, Landscape)


def array_of(value: object) -> NDArray[Any]:
    """Return the numbers of a value as a numpy array: of torch, MindSpore, TensorFlow, JAX, numpy, of a list or a picture.

    RecordingError for complex numbers, texts and objects. bfloat16, which numpy lacks, becomes float32.
    """
    if isinstance(value, np.ndarray):
        found: NDArray[Any] = value
    else:
        try:
            found = np.asarray(_on_host(value))
        except Exception as error:
            raise RecordingError(f"expected numbers, found {_kind(value)} that gives none: {error}") from error
    if found.dtype.kind == "V" or found.dtype.name == "bfloat16":
        found = found.astype(np.float32)
    if found.dtype.kind not in "biuf":
        raise RecordingError(f"expected real numbers, found {_kind(value)} of {found.dtype}")
    return found


def _on_host(value: Any) -> Any:
    """Return a tensor of a framework in the memory of the host, anything else unchanged."""
    for name in ("detach", "cpu"):
        move = getattr(value, name, None)
        if callable(move):
            value = move()
    if "bfloat16" in str(getattr(value, "dtype", "")).lower() and callable(getattr(value, "float", None)):
        value = value.float()
    for name in ("asnumpy", "numpy"):
        convert = getattr(value, name, None)
        if callable(convert):
            return convert()
    return value


def number_of(value: object) -> float:
    """Return a single number: of Python, numpy, or a tensor with one element. RecordingError for anything else."""
    if isinstance(value, (bool, int, float)):
        return real_of(value)
    found = array_of(value)
    if found.size != 1:
        raise RecordingError(f"expected one number, found an array of shape {found.shape}")
    return real_of(found.reshape(()).item())


def real_of(value: float) -> float:
    """Return a number as a float; whole numbers beyond float64 become Inf."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def is_picture(value: object) -> bool:
    """Return whether a value is a picture of PIL, by what it offers."""
    return all(hasattr(value, name) for name in ("mode", "getbands", "convert", "tobytes"))


def _kind(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"
