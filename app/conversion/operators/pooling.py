"""Pooling: maximum, average and norms in windows, or over everything."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.conversion.calls import MINUS_INFINITY, Call, cast, literal, tuple_code
from app.conversion.operators.convolution import one, window
from app.conversion.operators.table import maps
from app.conversion.operators.tensors import padded
from app.conversion.refusals import NotCovered


def _rounded_up(
    call: Call, kernel: Sequence[int], strides: list[int], dilations: list[int], before: list[int], after: list[int]
) -> list[int]:
    """Return pads after the input that make room for the last window of ceil_mode, which begins within input or pads before."""
    more = []
    for place, size in enumerate(kernel):
        reach = (size - 1) * dilations[place] + 1
        length = call.size(0, 2 + place)
        total = length + before[place] + after[place]
        windows = -(-(total - reach) // strides[place]) + 1
        if (windows - 1) * strides[place] >= length + before[place]:
            windows -= 1
        more.append(max((windows - 1) * strides[place] + reach - total, 0))
    return more


def _window(call: Call) -> tuple[list[int], list[int], list[int], list[int], list[int], list[int]]:
    kernel = list(call.attribute("kernel_shape"))
    strides, dilations, before, after = window(call, kernel)
    more = _rounded_up(call, kernel, strides, dilations, before, after) if call.attribute("ceil_mode", 0) else [0] * len(kernel)
    return kernel, strides, dilations, before, after, more


@maps("MaxPool")
def max_pool(call: Call) -> str:
    """The largest value in a window. Pads are minus infinity, which MindSpore's own pooling does not do."""
    if call.wants(1):
        raise NotCovered("the output of indices")
    kernel, strides, dilations, before, after, more = _window(call)
    dtype, count = call.dtype(), len(kernel)
    if count not in (1, 2, 3):
        raise NotCovered(f"{count} dimensions")
    inner = dtype if dtype in ("float32", "float16", "float64") else "float32"
    inner = "float32" if inner == "float64" and call.computed("nn.MaxPool2d", "float64") != "float64" else inner
    x = call.x() if inner == dtype else cast(call.x(), inner)
    after = [a + m for a, m in zip(after, more, strict=True)]
    if any(before + after):
        x = padded(call, x, [0, 0, *before], [0, 0, *after], MINUS_INFINITY, inner)
    if set(dilations) == {1}:
        found = _pooled(call, "Max", x, kernel, strides)
    else:
        sizes = [call.size(0, 2 + place) + before[place] + after[place] for place in range(count)]
        found = _dilated(call, x, kernel, (strides, dilations, sizes))
    return found if inner == dtype else cast(found, dtype)


def _dilated(call: Call, x: str, kernel: list[int], how: tuple[list[int], list[int], list[int]]) -> str:
    """The largest along each axis in turn, of a view of the axis for each place in the window."""
    strides, dilations, sizes = how
    for place, size in enumerate(kernel):
        lead = ":, " * (2 + place)
        x = call.let(x, "x")
        windows = (sizes[place] - (size - 1) * dilations[place] - 1) // strides[place] + 1
        step = f":{strides[place]}" if strides[place] > 1 else ""
        views = []
        for number in range(size):
            start = number * dilations[place]
            views.append(f"{x}[{lead}{start}:{start + (windows - 1) * strides[place] + 1}{step}]")
        x = views[0]
        for view in views[1:]:
            x = f"ops.maximum({x}, {view})"
    return x


def _pooled(call: Call, kind: str, x: str, kernel: list[int], strides: list[int]) -> str:
    count = len(kernel)
    if count == 1:
        cell = call.cell(f"nn.{kind}Pool1d", ("kernel_size", kernel[0]), ("stride", strides[0]))
        return f"{cell}({x})"
    cell = call.cell(f"nn.{kind}Pool{count}d", ("kernel_size", one(kernel)), ("stride", one(strides)))
    return f"{cell}({x})"


@maps("AveragePool")
def average_pool(call: Call) -> str:
    """The mean in a window; where pads do not count it is divided by the same pool over ones."""
    kernel, strides, dilations, before, after, more = _window(call)
    dtype = call.dtype()
    if len(kernel) not in (1, 2, 3) or dtype not in ("float32", "float16"):
        raise NotCovered(f"{len(kernel)} dimensions of {dtype}")
    x = call.x() if dtype == "float32" else cast(call.x(), "float32")
    counted = bool(call.attribute("count_include_pad", 0))
    if set(dilations) != {1}:
        found = _dilated_mean(call, x, kernel, (strides, dilations, before, after, more), counted)
    elif not any(before + after + more):
        found = _pooled(call, "Avg", x, kernel, strides)
    else:
        end = [a + m for a, m in zip(after, more, strict=True)]
        pool = _pooled(call, "Avg", "", kernel, strides)[:-2]
        found = f"{pool}({padded(call, x, [0, 0, *before], [0, 0, *end], '0', 'float32')})"
        if not counted or any(more):
            found = (
                f"{found} / {call.tensor(_covered(call, kernel, (strides, dilations, before, after, more), counted), 'share')}"
            )
    return found if dtype == "float32" else cast(found, dtype)


How = tuple[list[int], list[int], list[int], list[int], list[int]]


def _covered(call: Call, kernel: list[int], how: How, counted: bool) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Return the share of each window that counts: the pool over ones, of which axes are independent."""
    strides, dilations, before, after, more = how
    found = np.ones((1,) * (2 + len(kernel)), np.float64)
    for place, size in enumerate(kernel):
        ones = np.pad(np.ones(call.size(0, 2 + place)), (before[place], after[place]), constant_values=float(counted))
        ones = np.pad(ones, (0, more[place]))
        reach = (size - 1) * dilations[place] + 1
        starts = np.arange((len(ones) - reach) // strides[place] + 1) * strides[place]
        share = ones[starts[:, None] + np.arange(size) * dilations[place]].mean(1)
        found = found * share.reshape([-1 if axis == 2 + place else 1 for axis in range(2 + len(kernel))])
    return found.astype(np.float32)


def _dilated_mean(call: Call, x: str, kernel: list[int], how: How, counted: bool) -> str:
    strides, dilations, before, after, more = how
    end = [a + m for a, m in zip(after, more, strict=True)]
    share = call.tensor(_covered(call, kernel, how, counted), "share")
    if any(before + end):
        x = padded(call, x, [0, 0, *before], [0, 0, *end], "0", "float32")
    sizes = [call.size(0, 2 + place) + before[place] + end[place] for place in range(len(kernel))]
    found = _dilated(call, x, kernel, (strides, dilations, sizes)).replace("ops.maximum(", "ops.add(")
    for line in range(len(call.emission.lines)):
        entry = call.emission.lines[line]
        call.emission.lines[line] = entry._replace(code=entry.code.replace("ops.maximum(", "ops.add("))
    return f"{found} / ({int(np.prod(kernel))} * {share})"


@maps("GlobalAveragePool", "GlobalMaxPool")
def global_pool(call: Call) -> str:
    """Mean or maximum over all positions."""
    function = "ops.mean" if call.node.op == "GlobalAveragePool" else "ops.amax"
    axes = tuple_code(range(2, call.rank())) if call.rank() != 3 else "2"
    return call.run(function, call.x(), axes, "True")


@maps("LpPool", "GlobalLpPool")
def lp_pool(call: Call) -> str:
    """The p-norm of a window."""
    p, dtype = call.attribute("p", 2), call.dtype()
    if dtype not in ("float32", "float16"):
        raise NotCovered(f"type {dtype}")
    x = call.x() if dtype == "float32" else cast(call.x(), "float32")
    powers = f"ops.abs({x})" if p == 1 else f"ops.square({x})" if p == 2 else f"ops.pow(ops.abs({x}), {p})"
    if call.node.op == "GlobalLpPool":
        total = f"ops.sum({powers}, {tuple_code(range(2, call.rank()))}, keepdim=True)"
    else:
        kernel, strides, dilations, before, after, more = _window(call)
        end = [a + m for a, m in zip(after, more, strict=True)]
        if any(before + end):
            powers = padded(call, powers, [0, 0, *before], [0, 0, *end], "0", "float32")
        if set(dilations) != {1}:
            sizes = [call.size(0, 2 + place) + before[place] + end[place] for place in range(len(kernel))]
            total = _dilated(call, powers, kernel, (strides, dilations, sizes)).replace("ops.maximum(", "ops.add(")
            for line in range(len(call.emission.lines)):
                entry = call.emission.lines[line]
                call.emission.lines[line] = entry._replace(code=entry.code.replace("ops.maximum(", "ops.add("))
        else:
            total = f"{_pooled(call, 'Avg', powers, kernel, strides)} * {int(np.prod(kernel))}"
    found = total if p == 1 else f"ops.sqrt({total})" if p == 2 else f"ops.pow({total}, {literal(1 / p)})"
    return found if dtype == "float32" else cast(found, dtype)
