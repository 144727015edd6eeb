"""Layouts of values on Ascend devices, and how to bring those with a documented form into that of the host.

NC1HWC0 is (N, C1, H, W, C0) with C = C1 * C0 padded; NDC1HWC0 the same with D; FRACTAL_NZ is (..., N1, M1, M0, N0) of a matrix
(..., M1 * M0, N1 * N0) padded. Layouts of the host are as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.errors import FormatError

NAMES = {
    0: "NCHW", 1: "NHWC", 2: "ND", 3: "NC1HWC0", 4: "FRACTAL_Z", 12: "NC1HWC0_C04", 16: "HWCN", 27: "NDHWC", 29: "FRACTAL_NZ",
    30: "NCDHW", 32: "NDC1HWC0", 33: "FRACTAL_Z_3D",
}  # fmt: skip
PLAIN = frozenset(("", "DefaultFormat", "NCHW", "NHWC", "ND", "HWCN", "NDHWC", "NCDHW"))


def format_name(number: int) -> str:
    """Return the name of the layout with this number in a binary file."""
    return NAMES.get(number, f"format {number}")


def reordered(
    values: NDArray[Any] | None, name: str, original: tuple[int, ...], shape: tuple[int, ...] | None = None
) -> NDArray[Any]:
    """Return the values of a device in the layout of the host; original is the shape there, () for unknown.

    Without values only check that this is possible: shape is then that of the device. FormatError for layouts whose form is not
    documented, and for shapes that do not fit.
    """
    on_device = tuple(values.shape) if values is not None else shape or ()
    if name in PLAIN:
        if not original or original == on_device:
            return values if values is not None else np.empty(0)
        raise FormatError(f"expected the shape {original} on the device too, found {on_device}")
    if name in ("NC1HWC0", "NDC1HWC0"):
        return _channels(values, on_device, original, 5 if name == "NC1HWC0" else 6)
    if name == "FRACTAL_NZ":
        return _fractal(values, on_device, original)
    raise FormatError(f"the values are in the private layout {name}, whose form is not documented")


def _channels(values: NDArray[Any] | None, on_device: tuple[int, ...], original: tuple[int, ...], rank: int) -> NDArray[Any]:
    c1 = rank - 4
    if len(on_device) != rank:
        raise FormatError(f"expected {rank} dimensions, found {on_device}")
    before, blocks, behind, block = on_device[:c1], on_device[c1], on_device[c1 + 1 : -1], on_device[-1]
    if rank == 6:  # (N, D, C1, H, W, C0) -> (N, C, D, H, W)
        merged = (before[0], blocks * block, before[1], *behind)
        order: tuple[int, ...] = (0, 2, 5, 1, 3, 4)
    else:
        merged = (before[0], blocks * block, *behind)
        order = (0, 1, 4, 2, 3)
    wanted = original or merged
    channels = wanted[1] if len(wanted) == len(merged) else -1
    if not 0 <= channels <= merged[1] or (*wanted[:1], *wanted[2:]) != (*merged[:1], *merged[2:]):
        raise FormatError(f"expected a shape like {merged} on the host, found {original}")
    return np.empty(0) if values is None else values.transpose(order).reshape(merged)[:, :channels]


def _fractal(values: NDArray[Any] | None, on_device: tuple[int, ...], original: tuple[int, ...]) -> NDArray[Any]:
    if len(on_device) < 4:
        raise FormatError(f"expected at least 4 dimensions, found {on_device}")
    n1, m1, m0, n0 = on_device[-4:]
    merged = (*on_device[:-4], m1 * m0, n1 * n0)
    wanted = original or merged
    if len(wanted) == 1 and len(merged) == 2 and m1 * m0 >= 1:
        wanted = (1, *wanted)
    fits = len(wanted) == len(merged) and wanted[:-2] == merged[:-2] and wanted[-2] <= merged[-2] and wanted[-1] <= merged[-1]
    if not fits:
        raise FormatError(f"expected a shape that fits into {merged} on the host, found {original}")
    if values is None:
        return np.empty(0)
    axes = tuple(range(len(on_device) - 4))
    last = len(axes)
    whole = values.transpose((*axes, last + 1, last + 2, last, last + 3)).reshape(merged)
    return whole[..., : wanted[-2], : wanted[-1]].reshape(original or merged)
