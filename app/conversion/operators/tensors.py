"""Layout of tensors: reshape, transpose, split, join, slice, pad, repeat, and tensors made of sizes."""

from __future__ import annotations

import itertools
import math

import numpy as np

from app.conversion.calls import MS_TYPES, Call, cast, literal, tuple_code
from app.conversion.onnx_model import Dim
from app.conversion.operators.table import maps
from app.conversion.refusals import NotCovered


@maps("Reshape")
def reshape(call: Call) -> str:
    """Another shape; a size of 0 is that of the input, one unknown size becomes -1."""
    sizes = call.sizes(1)
    if not call.attribute("allowzero", 0) and 0 in sizes:
        dims = call.dims()
        sizes = tuple(dims[place] if size == 0 else size for place, size in enumerate(sizes))
    return f"{call.x()}.reshape({_reshaped(call, sizes)})"


def _reshaped(call: Call, sizes: tuple[Dim, ...]) -> str:
    known = call.output_type().shape
    if -1 in sizes and any(isinstance(size, str) for size in sizes) and known is not None:
        sizes = tuple(found if size == -1 else size for size, found in zip(sizes, known, strict=True))
    unknown = [size for size in sizes if isinstance(size, str)]
    if len(unknown) + sum(size == -1 for size in sizes) > 1:
        raise NotCovered(
            f"the shape {tuple(size or '?' for size in sizes if isinstance(size, str))} is not fixed; fix it with --shape"
        )
    return ", ".join("-1" if isinstance(size, str) else str(size) for size in sizes) or "()"


@maps("Flatten")
def flatten(call: Call) -> str:
    """A matrix of the axes before and from an axis."""
    rank, axis = call.rank(), call.attribute("axis", 1)
    axis = axis + rank if axis < 0 else axis
    dims = call.dims()
    if axis == 1 and all(isinstance(size, int) for size in dims[1:]):
        return f"{call.x()}.reshape(-1, {math.prod(int(size) for size in dims[1:])})"
    first = [call.size(0, place) for place in range(axis)]
    return f"{call.x()}.reshape({math.prod(first)}, -1)"


@maps("Transpose")
def transpose(call: Call) -> str:
    """Axes in another order, reversed by default."""
    perm = call.attribute("perm") or range(call.rank())[::-1]
    if len(perm) < 2:
        return call.x()
    return call.run("ops.transpose", call.x(), tuple_code(perm)).replace("ops.transpose(", "ops.transpose(", 1)


def _axes(call: Call) -> tuple[int, ...] | None:
    """Return axes of an attribute, or since opset 13 of an input; None if there are none."""
    if "axes" in call.node.attributes:
        return tuple(call.attribute("axes"))
    return call.integers(1) if call.opset >= 13 and call.has(1) else None


@maps("Squeeze")
def squeeze(call: Call) -> str:
    """Without axes of size 1, all by default."""
    axes = _axes(call)
    if axes is None:
        axes = tuple(place for place, size in enumerate(call.shape()) if size == 1)
    if not axes:
        return call.x()
    return f"{call.x()}.squeeze({axes[0] if len(axes) == 1 else tuple_code(axes)})"


@maps("Unsqueeze")
def unsqueeze(call: Call) -> str:
    """With axes of size 1 more."""
    axes = _axes(call) or ()
    rank = call.rank() + len(axes) if any(axis < 0 for axis in axes) or len(axes) > 1 else 0
    places = sorted(axis + rank if axis < 0 else axis for axis in axes)
    found = call.x()
    for place in places:
        found = f"ops.expand_dims({found}, {place})"
    return found


@maps("Concat")
def concat(call: Call) -> str:
    """Tensors joined along an axis."""
    parts = [call.x(number) for number in range(len(call.node.inputs))]
    dtype = call.dtype()
    wide = call.computed("ops.cat", dtype)
    if len(parts) == 1:
        return parts[0]
    if wide != dtype:
        return cast(f"ops.cat(({', '.join(cast(part, wide) for part in parts)}), {call.attribute('axis', 1)})", dtype)
    return f"ops.cat(({', '.join(parts)}), {call.attribute('axis', 1)})"


@maps("Split")
def split(call: Call) -> list[str]:
    """Parts along an axis: of given sizes, or equal with the last one smaller."""
    axis = call.axis(call.attribute("axis", 0))
    sizes = call.attribute("split")
    if call.opset >= 13:
        sizes = call.integers(1) if call.has(1) else None
    if sizes is None:
        count, size = call.outputs, call.size(0, axis)
        part = -(-size // count)
        sizes = [part] * (count - 1) + [size - part * (count - 1)]
    if min(sizes) < 1:
        raise NotCovered("an empty part")
    starts = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    lead = ":, " * axis
    x = call.x()
    return [f"{x}[{lead}{start}:{stop}]" for start, stop in itertools.pairwise(starts)][: call.outputs]


@maps("Slice")
def sliced(call: Call) -> str:
    """A range of some axes; backwards by an index."""
    if call.opset < 10:
        starts, ends = call.attribute("starts"), call.attribute("ends")
        axes, steps = call.attribute("axes") or range(len(starts)), [1] * len(starts)
    else:
        starts, ends = call.integers(1), call.integers(2)
        axes = call.integers(3) if call.has(3) else range(len(starts))
        steps = list(call.integers(4)) if call.has(4) else [1] * len(starts)
    places = {
        call.axis(int(axis)): (start, end, step) for axis, start, end, step in zip(axes, starts, ends, steps, strict=True)
    }
    parts = [":"] * (max(places, default=-1) + 1)
    found = call.x()
    for axis, (start, end, step) in places.items():
        if step < 0:
            chosen = list(range(call.size(0, axis)))[slice(start, None if end < -(1 << 31) else end, step)]
            found = f"ops.gather({found}, {call.tensor(np.array(chosen, np.int64), 'places')}, {axis})"
        else:
            size = call.dims()[axis]
            low, high = _limits(start, end, size)
            parts[axis] = f"{low}:{high}" + (f":{step}" if step > 1 else "")
    while parts and parts[-1] == ":":
        parts.pop()
    return f"{found}[{', '.join(parts)}]" if parts else found


def _limits(start: int, end: int, size: Dim) -> tuple[str, str]:
    """Return the bounds of a slice, empty where they are the ends of the axis."""
    if isinstance(size, int):
        start, end = (min(max(value + size if value < 0 else value, 0), size) for value in (start, end))
        return "" if start == 0 else str(start), "" if end == size else str(end)
    return "" if start == 0 else str(start), "" if end >= (1 << 31) - 1 else str(end)


@maps("Pad")
def pad(call: Call) -> str:
    """More at the ends of axes, or less where the number is negative."""
    rank, mode = call.rank(), call.attribute("mode", "constant")
    if call.opset < 11:
        pads, value = call.attribute("pads") or call.attribute("paddings"), literal(call.attribute("value", 0.0))
    else:
        pads, value = call.integers(1), _pad_value(call)
    axes = [call.axis(axis) for axis in (call.integers(3) if call.has(3) else range(rank))]
    before, after = [0] * rank, [0] * rank
    for place, axis in enumerate(axes):
        before[axis], after[axis] = pads[place], pads[place + len(axes)]
    found = call.x()
    cut = [f"{max(-low, 0) or ''}:{high if high < 0 else ''}" for low, high in zip(before, after, strict=True)]
    if any(part != ":" for part in cut):
        found = call.let(f"{found}[{', '.join(cut)}]", "inner")
    before, after = [max(n, 0) for n in before], [max(n, 0) for n in after]
    if not any(before + after):
        return found
    if mode == "constant":
        return padded(call, found, before, after, value, call.dtype())
    for axis, (low, high) in enumerate(zip(before, after, strict=True)):
        if low or high:
            size = call.size(0, axis) + min(0, pads[axes.index(axis)]) + min(0, pads[axes.index(axis) + len(axes)])
            places = np.pad(np.arange(size), (low, high), mode)
            found = f"ops.gather({found}, {call.tensor(places, 'places')}, {axis})"
    return found


def _pad_value(call: Call) -> str:
    if not call.has(2):
        return "0"
    if call.fixed(2):
        return literal(call.constant(2).reshape(-1)[0])
    return call.x(2)


def padded(call: Call, x: str, before: list[int], after: list[int], value: str, dtype: str) -> str:
    """Return code that pads with a number; a tensor of the number's type where ops.pad has no kernel."""
    flat = [size for low, high in zip(before[::-1], after[::-1], strict=True) for size in (low, high)]
    while len(flat) > 2 and flat[-2:] == [0, 0]:
        flat = flat[:-2]
    if value.startswith("@"):
        # The number is known only when the model runs: pad with zeros and ones, and choose.
        inside = f"ops.pad(ops.ones_like({x}, dtype=ms.float32), {tuple_code(flat)}) == 1"
        return f"ops.where({inside}, {_filled(call, x, flat, '0', dtype)}, {value}.reshape(()))"
    return _filled(call, x, flat, value, dtype)


def _filled(call: Call, x: str, flat: list[int], value: str, dtype: str) -> str:
    wide = call.computed("ops.pad", dtype)
    found = x if wide == dtype else cast(x, wide)
    tail = "" if value in ("0", "0.0") else f', "constant", {value}'
    found = f"ops.pad({found}, {tuple_code(flat)}{tail})"
    return found if wide == dtype else cast(found, dtype)


@maps("Tile")
def tile(call: Call) -> str:
    """Repeated along axes."""
    return call.run("ops.tile", call.x(), tuple_code(call.integers(1)))


@maps("Expand")
def expand(call: Call) -> str:
    """Broadcast to a shape."""
    target = call.sizes(1)
    known = call.type(0).shape
    rank = len(known) if known is not None else len(target)
    if all(size == 1 for size in target) and rank >= len(target):
        return call.x()
    have = (1,) * (len(target) - rank) + call.dims()
    target = (1,) * (rank - len(target)) + target
    sizes = [a if b == 1 else b for a, b in zip(have, target, strict=True)]
    if have == tuple(sizes):
        return call.x()
    if any(isinstance(size, str) for size in sizes):
        raise NotCovered("the shape is not fixed; fix it with --shape")
    return call.run("ops.broadcast_to", call.x(), tuple_code(sizes))


@maps("DepthToSpace", "SpaceToDepth")
def depth_and_space(call: Call) -> str:
    """Blocks of channels to blocks of pixels, in either order of channels, and back."""
    size = call.attribute("blocksize")
    channels, height, width = (call.size(0, axis) for axis in (1, 2, 3))
    if call.node.op == "SpaceToDepth":
        if call.attribute("mode", "DCR") != "DCR":
            raise NotCovered(f"attribute mode = {call.attribute('mode')!r} is not covered")
        y = f"{call.x()}.reshape(-1, {channels}, {height // size}, {size}, {width // size}, {size})"
        return f"{y}.transpose(0, 3, 5, 1, 2, 4).reshape(-1, {channels * size * size}, {height // size}, {width // size})"
    part = channels // (size * size)
    if call.attribute("mode", "DCR") == "DCR":
        y = f"{call.x()}.reshape(-1, {size}, {size}, {part}, {height}, {width}).transpose(0, 3, 4, 1, 5, 2)"
    else:
        y = f"{call.x()}.reshape(-1, {part}, {size}, {size}, {height}, {width}).transpose(0, 1, 4, 2, 5, 3)"
    return f"{y}.reshape(-1, {part}, {height * size}, {width * size})"


@maps("Trilu")
def triangle(call: Call) -> str:
    """The upper or lower triangle of matrices."""
    diagonal = call.integers(1)[0] if call.has(1) else 0
    return call.run("ops.triu" if call.attribute("upper", 1) else "ops.tril", call.x(), str(diagonal))


@maps("Shape", "Size")
def shape_of(call: Call) -> str:
    """Sizes as a tensor, where they are not known at conversion."""
    if call.node.op == "Size" or 0 in (call.output_type().shape or ()):
        raise NotCovered("the shape is not fixed; fix it with --shape")
    start, end = call.attribute("start", 0), call.attribute("end")
    part = f"[{start or ''}:{'' if end is None else end}]" if start or end is not None else ""
    return f"ms.Tensor({call.x()}.shape{part}, ms.int64)"


@maps("Range")
def arange(call: Call) -> str:
    """Numbers from a start in steps, known at conversion or of a size that inference knows."""
    start, step, size = (call.constant(number).item() if number < 2 else 0 for number in (0, 1, 2))
    del step
    size = call.constant(1).item(), call.constant(2).item()
    stop, step = size
    return call.tensor(np.arange(start, stop, step, dtype=np.dtype(call.dtype())), "numbers")


@maps("ConstantOfShape", "Constant")
def constant(call: Call) -> str:
    """A constant that folding left."""
    if call.node.op == "Constant":
        raise NotCovered("a constant that is a text, sparse or of an unknown type")
    sizes = call.sizes(0)
    raise NotCovered(
        f"the shape {sizes} is not fixed; fix it with --shape"
        if any(isinstance(s, str) for s in sizes)
        else "a constant above 64 MB"
    )


@maps("EyeLike")
def eye_like(call: Call) -> str:
    """A matrix with ones on a diagonal."""
    from app.conversion.weights import dtype_name

    rows, columns = call.shape()
    dtype = dtype_name(call.attribute("dtype")) if "dtype" in call.node.attributes else call.dtype()
    if dtype not in MS_TYPES or dtype == "bfloat16":
        raise NotCovered(f"type {dtype}")
    return call.tensor(np.eye(rows, columns, call.attribute("k", 0), np.dtype(dtype)), "eye")
