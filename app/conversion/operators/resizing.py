"""Resize, Upsample, GridSample. A mode that MindSpore lacks is a matrix product per axis, with weights computed here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.conversion.calls import Call, cast, literal, tuple_code
from app.conversion.operators.table import maps
from app.conversion.refusals import NotCovered

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Axis:
    """One axis to resize: from size to target by scale, and the part (start, end) of the input in tf_crop_and_resize."""

    place: int
    size: int
    target: int
    scale: float
    start: float = 0.0
    end: float = 1.0


@maps("Resize", "Upsample")
def resize(call: Call) -> str:
    """Sizes or scales must be known at conversion."""
    mode = call.attribute("mode", "nearest")
    dtype = call.dtype()
    old = call.node.op == "Upsample" or call.opset < 11
    coordinates = "asymmetric" if old else call.attribute("coordinate_transformation_mode", "half_pixel")
    axes = [
        axis
        for axis in _axes(call, coordinates)
        if axis.target != axis.size or axis.scale != 1 or coordinates == "tf_crop_and_resize"
    ]
    if not axes:
        return call.x()
    mode = {"bilinear": "linear", "trilinear": "linear"}.get(mode, mode)
    x = call.x()
    if mode == "nearest":
        return _nearest(call, x, axes, coordinates, "simple" if old else call.attribute("nearest_mode", "round_prefer_floor"))
    if dtype not in ("float32", "float16"):
        raise NotCovered(f"mode {mode} of {dtype}")
    x = x if dtype == "float32" else cast(x, "float32")
    found = _own(call, x, axes, coordinates, mode) or _products(call, x, axes, coordinates, mode)
    return found if dtype == "float32" else cast(found, dtype)


def _axes(call: Call, coordinates: str) -> list[_Axis]:
    shape = call.shape()
    if call.node.op == "Upsample":
        scales: Sequence[float] | None = call.attribute("scales") if call.opset < 9 else call.constant(1).tolist()
        sizes = None
    elif call.opset < 11:
        scales, sizes = call.constant(1).tolist(), None
    else:
        scales = call.constant(2).tolist() if call.has(2) and call.constant(2).size else None
        sizes = list(call.integers(3)) if call.has(3) else None
    places = [call.axis(axis) for axis in call.attribute("axes") or range(len(shape))]
    part: list[float] = call.constant(1).tolist() if coordinates == "tf_crop_and_resize" else []
    if sizes is not None:
        policy = call.attribute("keep_aspect_ratio_policy", "stretch")
        ratios = [size / shape[place] for place, size in zip(places, sizes, strict=True)]
        if policy != "stretch":
            ratio = min(ratios) if policy == "not_larger" else max(ratios)
            ratios, sizes = [ratio] * len(places), [math.floor(ratio * shape[place] + 0.5) for place in places]
        return [_Axis(place, shape[place], size, ratio, *_part(part, number, len(places)))
                for number, (place, size, ratio) in enumerate(zip(places, sizes, ratios, strict=True))]  # fmt: skip
    if scales is None or len(scales) != len(places):
        raise NotCovered("neither sizes nor scales")
    found = []
    for number, (place, scale) in enumerate(zip(places, scales, strict=True)):
        start, end = _part(part, number, len(places))
        reach = end - start if part else 1.0
        found.append(
            _Axis(
                place, shape[place], math.floor(np.float32(shape[place] * reach) * np.float32(scale)), float(scale), start, end
            )
        )
    return found


def _part(part: list[float], number: int, count: int) -> tuple[float, float]:
    return (part[number], part[number + count]) if part else (0.0, 1.0)


def positions(axis: _Axis, coordinates: str) -> NDArray[np.float64]:
    """Return where each place of the output lies in the input."""
    place, scale = np.arange(axis.target, dtype=np.float64), axis.scale
    if coordinates == "half_pixel" or (coordinates == "pytorch_half_pixel" and axis.target > 1):
        return (place + 0.5) / scale - 0.5
    if coordinates == "pytorch_half_pixel":
        return np.zeros(axis.target)
    if coordinates == "half_pixel_symmetric":
        offset = axis.size / 2 * (1 - axis.target / (scale * axis.size))
        return offset + (place + 0.5) / scale - 0.5
    if coordinates == "align_corners":
        return place * (axis.size - 1) / (axis.target - 1) if axis.target > 1 else place * 0
    if coordinates == "asymmetric":
        return place / scale
    if coordinates == "tf_half_pixel_for_nn":
        return (place + 0.5) / scale
    if coordinates == "tf_crop_and_resize":
        if axis.target > 1:
            return axis.start * (axis.size - 1) + place * (axis.end - axis.start) * (axis.size - 1) / (axis.target - 1)
        return np.full(axis.target, 0.5 * (axis.start + axis.end) * (axis.size - 1))
    raise NotCovered(f"coordinate_transformation_mode {coordinates!r}")


def _nearest(call: Call, x: str, axes: list[_Axis], coordinates: str, rounding: str) -> str:
    """Return the input by an index per axis, or MindSpore's own function where that is what it does."""
    chosen = {axis.place: _rounded(positions(axis, coordinates), axis, rounding) for axis in axes}
    simple = all(axis.target % axis.size == 0
                 and np.array_equal(chosen[axis.place], np.repeat(np.arange(axis.size), axis.target // axis.size))
                 for axis in axes)  # fmt: skip
    if (
        simple
        and call.rank() == 4
        and set(chosen) <= {2, 3}
        and call.dtype() == "float32"
        and coordinates != "tf_crop_and_resize"
    ):
        sizes = {axis.place: axis.target for axis in axes}
        size = tuple_code([sizes.get(place, call.size(0, place)) for place in (2, 3)])
        return f'ops.interpolate({x}, size={size}, mode="nearest")'
    for axis in axes:
        x = f"ops.gather({x}, {call.tensor(chosen[axis.place], 'places')}, {axis.place})"
    if coordinates == "tf_crop_and_resize":
        x = _extrapolated(call, x, axes, coordinates)
    return x


def _rounded(found: NDArray[np.float64], axis: _Axis, rounding: str) -> NDArray[np.int64]:
    if rounding == "simple":
        places = np.ceil(found) if axis.scale < 1 else np.floor(found)
    elif rounding == "round_prefer_floor":
        places = np.ceil(found - 0.5)
    elif rounding == "round_prefer_ceil":
        places = np.floor(found + 0.5)
    else:
        places = np.floor(found) if rounding == "floor" else np.ceil(found)
    return np.clip(places, 0, axis.size - 1).astype(np.int64)


def _own(call: Call, x: str, axes: list[_Axis], coordinates: str, mode: str) -> str | None:
    """Return MindSpore's own function, where it computes the same."""
    exact = all(axis.scale * axis.size == axis.target and axis.target > 1 for axis in axes)
    if (
        mode != "linear"
        or call.rank() != 4
        or not {axis.place for axis in axes} <= {2, 3}
        or not exact
        or call.attribute("antialias", 0)
    ):
        return None
    if coordinates not in ("half_pixel", "pytorch_half_pixel", "align_corners") or call.attribute("exclude_outside", 0):
        return None
    sizes = {axis.place: axis.target for axis in axes}
    size = tuple_code([sizes.get(place, call.size(0, place)) for place in (2, 3)])
    return f'ops.interpolate({x}, size={size}, mode="bilinear", align_corners={coordinates == "align_corners"})'


def _products(call: Call, x: str, axes: list[_Axis], coordinates: str, mode: str) -> str:
    rank = call.rank()
    outside = bool(call.attribute("exclude_outside", 0))
    antialias = bool(call.attribute("antialias", 0))
    for axis in axes:
        weights = weight_matrix(
            axis, positions(axis, coordinates), mode, call.attribute("cubic_coeff_a", -0.75), outside, antialias
        )
        matrix = call.tensor(weights.astype(np.float32), "weights")
        if axis.place == rank - 1:
            x = f"ops.matmul({x}, {matrix}.T)"
        elif axis.place == rank - 2:
            x = f"ops.matmul({matrix}, {x})"
        else:
            order = [place for place in range(rank) if place != axis.place] + [axis.place]
            back = [order.index(place) for place in range(rank)]
            x = f"ops.matmul({x}.transpose({', '.join(map(str, order))}), {matrix}.T).transpose({', '.join(map(str, back))})"
    return _extrapolated(call, x, axes, coordinates) if coordinates == "tf_crop_and_resize" else x


def _extrapolated(call: Call, x: str, axes: list[_Axis], coordinates: str) -> str:
    """Set what lies beyond the input to a number."""
    rank = call.rank()
    within = np.ones((1,) * rank, bool)
    for axis in axes:
        found = positions(axis, coordinates)
        inside = (found >= 0) & (found <= axis.size - 1)
        within = within & inside.reshape([-1 if place == axis.place else 1 for place in range(rank)])
    if within.all():
        return x
    value = literal(call.attribute("extrapolation_value", 0.0))
    return f"ops.where({call.tensor(within, 'within')}, {x}, {value})"


def weight_matrix(axis: _Axis, found: NDArray[np.float64], mode: str, a: float, outside: bool, antialias: bool) -> Matrix:
    """Return the matrix (target, size) of one axis: what each place of the input adds to each of the output."""
    stretch = min(axis.scale, 1.0) if antialias else 1.0
    reach = (1 if mode == "linear" else 2) / stretch
    matrix = np.zeros((axis.target, axis.size))
    for row, centre in enumerate(found):
        if mode == "linear" and not antialias:
            centre = min(max(centre, 0.0), axis.size - 1)
        places = np.arange(math.floor(centre - reach) - 1, math.ceil(centre + reach) + 2)
        weights = _filter(np.abs(places - centre) * stretch, mode, a)
        places, weights = places[weights != 0], weights[weights != 0]
        if outside:
            keep = (places >= 0) & (places < axis.size)
            places, weights = places[keep], weights[keep]
        if outside or antialias:
            weights = weights / weights.sum()
        np.add.at(matrix[row], np.clip(places, 0, axis.size - 1), weights)
    return matrix


def _filter(distance: NDArray[np.float64], mode: str, a: float) -> NDArray[np.float64]:
    if mode == "linear":
        return np.maximum(1 - distance, 0.0)
    if mode != "cubic":
        raise NotCovered(f"mode {mode!r}")
    near = (a + 2) * distance**3 - (a + 3) * distance**2 + 1
    far = a * distance**3 - 5 * a * distance**2 + 8 * a * distance - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))


@maps("GridSample")
def grid_sample(call: Call) -> str:
    """Values of an image at places between its pixels; MindSpore rounds to others than ONNX, so `nearest` is not covered."""
    mode = {"linear": "bilinear", "cubic": "bicubic"}.get(
        call.attribute("mode", "bilinear"), call.attribute("mode", "bilinear")
    )
    if call.rank() not in (4, 5) or call.dtype() != "float32" or mode != "bilinear":
        raise NotCovered(f"mode {mode} of {call.rank()} dimensions of {call.dtype()}")
    border = call.attribute("padding_mode", "zeros")
    corners = bool(call.attribute("align_corners", 0))
    return f"ops.grid_sample({call.x(0)}, {call.x(1)}, {mode!r}, {border!r}, {corners})"
