"""Convolution and its transpose in one, two and three dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.conversion.calls import Call, Code, cast, tuple_code
from app.conversion.operators.table import maps
from app.conversion.operators.tensors import padded
from app.conversion.refusals import NotCovered


def window(call: Call, kernel: Sequence[int]) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return strides, dilations, and pads before and after of a window that moves, `auto_pad` resolved."""
    count = len(kernel)
    strides = list(call.attribute("strides") or [1] * count)
    dilations = list(call.attribute("dilations") or [1] * count)
    auto = call.attribute("auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        before, after = [], []
        for place in range(count):
            size = call.size(0, 2 + place)
            reach = (kernel[place] - 1) * dilations[place] + 1
            total = max((-(-size // strides[place]) - 1) * strides[place] + reach - size, 0)
            small, large = total // 2, total - total // 2
            before.append(large if auto == "SAME_LOWER" else small)
            after.append(small if auto == "SAME_LOWER" else large)
        return strides, dilations, before, after
    pads = list(call.attribute("pads") or [0] * 2 * count) if auto == "NOTSET" else [0] * 2 * count
    if min(pads) < 0:
        raise NotCovered("negative pads")
    return strides, dilations, pads[:count], pads[count:]


def one(values: Sequence[int]) -> int | tuple[int, ...]:
    """Return a single number for equal ones."""
    return values[0] if len(set(values)) == 1 else tuple(values)


@maps("Conv")
def convolution(call: Call) -> str:
    """A layer if the kernel is a weight, else a function."""
    shape = call.shape(1)
    count, dtype = len(shape) - 2, call.dtype()
    if not 1 <= count <= 3:
        raise NotCovered(f"{count} dimensions")
    strides, dilations, before, after = window(call, shape[2:])
    computed = call.computed(f"ops.conv{count}d", dtype)
    x = call.x() if computed == dtype else cast(call.x(), computed)
    even = before == after
    if not even and count != 2:
        x = padded(call, x, [0, 0, *before], [0, 0, *after], "0", computed)
        before = after = [0] * count
    pads = [side for pair in zip(before, after, strict=True) for side in pair]
    found = _layer(call, count, shape, (strides, dilations, pads)) if _fixed(call, computed) else None
    if found is None:
        return _functional(call, x, count, (strides, dilations, pads), dtype, computed)
    found = f"{found}({x})"
    return found if computed == dtype else cast(found, dtype)


def _fixed(call: Call, computed: str) -> bool:
    return call.fixed(1) and (not call.has(2) or call.fixed(2)) and not call.fixed(0) and call.dtype() == computed


def _layer(call: Call, count: int, shape: tuple[int, ...], how: tuple[list[int], list[int], list[int]]) -> str:
    strides, dilations, pads = how
    options: dict[str, Any] = {}
    if any(pads):
        options |= {"pad_mode": "pad", "padding": one(pads)}
    else:
        options["pad_mode"] = "valid"
    if set(dilations) != {1}:
        options["dilation"] = one(dilations)
    group = call.attribute("group", 1)
    options |= {"group": group} if group > 1 else {}
    options |= {"has_bias": True} if call.has(2) else {}
    if call.dtype() != "float32":
        options["dtype"] = Code(f"ms.{call.dtype()}")
    new = (shape[0], shape[1], 1, shape[2]) if count == 1 else shape
    weight = call.source(1, new, (lambda array: array.reshape(new)) if count == 1 else None, "reshaped" if count == 1 else "")
    parameters = {"weight": weight} | ({"bias": call.source(2)} if call.has(2) else {})
    return call.cell(f"nn.Conv{count}d", ("in_channels", shape[1] * group), ("out_channels", shape[0]),
                     ("kernel_size", one(shape[2:])), ("stride", one(strides)), weight=1,
                     parameters=parameters, **options)  # fmt: skip


def _functional(call: Call, x: str, count: int, how: tuple[list[int], list[int], list[int]], dtype: str, computed: str) -> str:
    strides, dilations, pads = how
    group = call.attribute("group", 1)
    kernel = call.x(1) if computed == dtype else cast(call.x(1), computed)
    if count == 1:
        x, kernel = f"ops.expand_dims({x}, 2)", f"ops.expand_dims({kernel}, 2)"
        strides, dilations, pads = [1, *strides], [1, *dilations], [0, 0, *pads]
    name = "ops.Conv3D" if count == 3 else "ops.Conv2D"
    shape = call.shape(1)
    size = tuple_code(shape[2:]) if count > 1 else f"(1, {shape[2]})"
    mode = f'"pad", pad={tuple_code(pads)}' if any(pads) else '"valid"'
    options = [f"{shape[0]}, {size}", f"pad_mode={mode}", f"stride={tuple_code(strides)}",
               f"dilation={tuple_code(dilations)}", f"group={group}"]  # fmt: skip
    found = f"{name}({', '.join(options)})({x}, {kernel})"
    if count == 1:
        found = f"{found}.squeeze(2)"
    if call.has(2):
        bias = call.x(2) if computed == dtype else cast(call.x(2), computed)
        found = f"{found} + {bias}.reshape(-1, {', '.join(['1'] * count)})"
    return found if computed == dtype else cast(found, dtype)


@maps("ConvTranspose")
def transposed_convolution(call: Call) -> str:
    """The whole of the transposed convolution, of which pads are then cut off, or a layer where MindSpore's own does that."""
    shape, dtype = call.shape(1), call.dtype()
    count, group = len(shape) - 2, call.attribute("group", 1)
    if count not in (1, 2, 3) or dtype not in ("float32", "float16"):
        raise NotCovered(f"{count} dimensions of {dtype}")
    strides, dilations = (list(call.attribute(name) or [1] * count) for name in ("strides", "dilations"))
    before, after = _transposed_pads(call, shape[2:], strides, dilations)
    x, kernel = call.x(), call.x(1)
    if dtype == "float16":
        x, kernel = cast(x, "float32"), cast(kernel, "float32")
    sizes = [call.size(0, 2 + place) for place in range(count)]
    whole = [
        (size - 1) * stride + (k - 1) * d + 1 for size, stride, k, d in zip(sizes, strides, shape[2:], dilations, strict=True)
    ]
    out = shape[1] * group
    if count == 1:
        x, kernel = f"ops.expand_dims({x}, 2)", f"ops.expand_dims({kernel}, 2)"
    found = _whole(call, x, kernel, count, (out, shape, strides, dilations, whole), group)
    found = f"{found}.squeeze(2)" if count == 1 else found
    found = _cut(call, found, before, after, whole)
    if call.has(2):
        bias = call.x(2) if dtype == "float32" else cast(call.x(2), "float32")
        found = f"{found} + {bias}.reshape(-1, {', '.join(['1'] * count)})"
    return found if dtype == "float32" else cast(found, dtype)


def _whole(call: Call, x: str, kernel: str, count: int, how: tuple[int, tuple[int, ...], list[int], list[int], list[int]],
           group: int) -> str:  # fmt: skip
    out, shape, strides, dilations, whole = how
    batch = call.size(0, 0)
    if count == 3:
        how_far = f"stride={tuple_code(strides)}, dilation={tuple_code(dilations)}, group={group}"
        return f'ops.Conv3DTranspose({shape[0]}, {out}, {tuple_code(shape[2:])}, pad_mode="valid", {how_far})({x}, {kernel})'
    size, strides, dilations, whole = ([1] * (2 - count) + list(values) for values in (shape[2:], strides, dilations, whole))
    how_far = f"stride={tuple_code(strides)}, dilation={tuple_code(dilations)}, group={group}"
    cell = f'ops.Conv2DTranspose({shape[0]}, {tuple_code(size)}, pad_mode="valid", {how_far})'
    return f"{cell}({x}, {kernel}, {tuple_code([batch, out, *whole])})"


def _transposed_pads(
    call: Call, kernel: Sequence[int], strides: list[int], dilations: list[int]
) -> tuple[list[int], list[int]]:
    """Return what is cut off before and after the whole result; negative numbers are zeros to add."""
    count = len(kernel)
    extra = list(call.attribute("output_padding") or [0] * count)
    auto = call.attribute("auto_pad", "NOTSET")
    pads = list(call.attribute("pads") or [0] * 2 * count)
    wanted = call.attribute("output_shape")
    if auto in ("SAME_UPPER", "SAME_LOWER") and not wanted:
        wanted = [call.size(0, 2 + place) * strides[place] for place in range(count)]
    if not wanted:
        pads = pads if auto == "NOTSET" else [0] * 2 * count
        return pads[:count], [pad - more for pad, more in zip(pads[count:], extra, strict=True)]
    before, after = [], []
    for place, target in enumerate(wanted[-count:]):
        reach = (kernel[place] - 1) * dilations[place] + 1
        total = strides[place] * (call.size(0, 2 + place) - 1) + extra[place] + reach - target
        half = total // 2
        before.append(half if auto == "SAME_UPPER" else total - half)
        after.append((total - half if auto == "SAME_UPPER" else half) - extra[place])
    return before, after


def _cut(call: Call, found: str, before: list[int], after: list[int], whole: list[int]) -> str:
    parts = [
        f"{max(low, 0) or ''}:{size - high if high > 0 else ''}" for low, high, size in zip(before, after, whole, strict=True)
    ]
    if any(part != ":" for part in parts):
        found = f"{found}[:, :, {', '.join(parts)}]"
    low, high = [max(-n, 0) for n in before], [max(-n, 0) for n in after]
    return padded(call, found, [0, 0, *low], [0, 0, *high], "0", "float32") if any(low + high) else found
