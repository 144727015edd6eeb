"""Decoded values. Their arrays are shared with the cache and cannot be written to.

`problem` is a sentence if a value can be shown only in part, else "". `nbytes` is its approximate size in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from parsers.model import Floats


@dataclass(frozen=True, slots=True, eq=False)
class HistogramValue:
    """Buckets and statistics: left, width and count have shape (n,), zero-width buckets included.

    total counts all values, those that are not finite included; min, max and sum are of the finite ones (NaN: not
    recorded, or there are none).
    """

    left: Floats
    width: Floats
    count: Floats
    min: float
    max: float
    sum: float
    total: int
    nan: int = 0
    pos_inf: int = 0
    neg_inf: int = 0
    problem: str = ""

    @property
    def finite(self) -> int:
        """Number of finite values."""
        return self.total - self.nan - self.pos_inf - self.neg_inf

    @property
    def mean(self) -> float:
        """Mean of the finite values, NaN if unknown."""
        return self.sum / self.finite if self.finite > 0 else float("nan")

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return 24 * len(self.left) + 512


@dataclass(frozen=True, slots=True, eq=False)
class ImageValue:
    """An encoded image. media is set from its first bytes; width and height are those of its own header.

    claimed_width and claimed_height are those stated in the record (-1: none); colorspace as recorded (0: none).
    others are further images of the same record (TensorBoard keeps a batch in one).
    """

    data: bytes
    media: str
    width: int
    height: int
    claimed_width: int = -1
    claimed_height: int = -1
    colorspace: int = 0
    others: tuple[ImageValue, ...] = ()
    problem: str = ""

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return len(self.data) + 512 + sum(other.nbytes for other in self.others)


@dataclass(frozen=True, slots=True, eq=False)
class TensorValue:
    """An array of its true shape. dtype is the name as recorded ("int64", "bfloat16").

    stored_as is "" if the file stores the values without loss, else the dtype it stores: MindSpore writes int64 as float32.
    data then has that dtype; bfloat16 is widened to float32. twin is the path of the .npy file from which data were read
    instead, in full precision, or "".
    """

    data: NDArray[Any]
    dtype: str
    stored_as: str = ""
    twin: str = ""
    problem: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its dimensions; () for rank 0."""
        return self.data.shape

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        base = self.data.base
        return int(base.nbytes if isinstance(base, np.ndarray) else self.data.nbytes) + 512


@dataclass(frozen=True, slots=True, eq=False)
class LandscapeValue:
    """A loss landscape: z of shape (len(y), len(x)) over x and y, and the path training took.

    intervals are the epochs or steps of the path's points, path_x, path_y and path_z have one value each; all are empty for a
    final landscape. unit is "epoch" or "step". convergence is the (x, y, z) where training ended, None where not recorded.
    pending, of the shape of z, marks the places of a landscape that is still computed, None for one that is complete.
    """

    x: Floats
    y: Floats
    z: Floats
    intervals: NDArray[np.int64]
    path_x: Floats
    path_y: Floats
    path_z: Floats
    decomposition: str = ""
    unit: str = ""
    step_per_epoch: int = 0
    convergence: tuple[float, float, float] | None = None
    problem: str = ""
    pending: NDArray[np.bool_] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return 8 * (len(self.x) + len(self.y) + self.z.size + 4 * len(self.intervals)) + 1024


@dataclass(frozen=True, slots=True, eq=False)
class TextValue:
    """Strings in the shape they were recorded in, in row order: () for a single one, (2, 3) for a table."""

    texts: tuple[str, ...]
    shape: tuple[int, ...] = ()
    problem: str = ""

    @property
    def text(self) -> str:
        """All strings, one per line."""
        return "\n".join(self.texts)

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(64 + 4 * len(text) for text in self.texts) + 512


Value: TypeAlias = HistogramValue | ImageValue | TensorValue | LandscapeValue | TextValue
