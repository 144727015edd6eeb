"""Reductions along axes, extremes by place, cumulative sums."""

from __future__ import annotations

import numpy as np

from app.conversion.calls import FLOATS, Call, cast, tuple_code
from app.conversion.operators.table import maps
from app.conversion.refusals import NotCovered

_BY_INPUT = {"ReduceSum": 13}
"""Since which opset axes are an input; of the others since 18."""
_PLAIN = {"ReduceSum": "ops.sum", "ReduceMean": "ops.mean", "ReduceMax": "ops.amax", "ReduceMin": "ops.amin"}


def _reduced_axes(call: Call) -> tuple[int, ...] | None:
    """Return the axes to reduce; None if there is nothing to do."""
    if call.opset < _BY_INPUT.get(call.node.op, 18):
        axes = tuple(call.attribute("axes") or ())
    else:
        axes = call.integers(1) if call.has(1) else ()
        if not axes and call.attribute("noop_with_empty_axes", 0):
            return None
    return tuple(sorted(call.axis(axis) for axis in axes)) or tuple(range(call.rank()))


def reduced(call: Call, function: str, x: str, axes: tuple[int, ...], keep: bool, dtype: str) -> str:
    """Return the code of one reduction of a tensor of a type."""
    wide = call.computed(function, dtype)
    x = x if wide == dtype else cast(x, wide)
    axis = axes[0] if len(axes) == 1 else tuple_code(axes)
    option = (
        f", {'keepdim' if function == 'ops.sum' else 'keepdims' if function != 'ops.mean' else 'keep_dims'}=True"
        if keep
        else ""
    )
    if function in ("ops.mean", "ops.sum") or len(axes) >= 1:
        found = f"{function}({x}, {axis}{option})"
    return found if wide == dtype else cast(found, dtype)


@maps(*_PLAIN)
def reduction(call: Call) -> str:
    """Sum, mean, maximum, minimum."""
    axes, keep, dtype = _reduced_axes(call), bool(call.attribute("keepdims", 1)), call.dtype()
    if not axes:
        return call.x()
    if call.node.op == "ReduceMean" and dtype not in FLOATS:
        raise NotCovered(f"the mean of {dtype}")
    return reduced(call, _PLAIN[call.node.op], call.x(), axes, keep, dtype)


@maps("ReduceProd")
def product(call: Call) -> str:
    """Product, axis by axis from the last one."""
    axes, keep, found, dtype = _reduced_axes(call), bool(call.attribute("keepdims", 1)), call.x(), call.dtype()
    if not axes:
        return found
    wide = call.computed("ops.prod", dtype)
    found = found if wide == dtype else cast(found, wide)
    for axis in reversed(axes):
        found = f"ops.prod({found}, {axis}{', True' if keep else ''})"
    return found if wide == dtype else cast(found, dtype)


@maps("ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp")
def norm(call: Call) -> str:
    """Norms, and logarithms of sums; that of exponentials takes off the maximum first."""
    op, axes, keep, dtype, x = call.node.op, _reduced_axes(call), bool(call.attribute("keepdims", 1)), call.dtype(), call.x()
    if not axes:
        return _of_one(op, x)
    if dtype not in ("float32", "float64", "int32", "int64"):
        if dtype != "float16":
            raise NotCovered(f"{op} of {dtype}")
        x = call.let(cast(x, "float32"), "x")
    inner = "float32" if dtype == "float16" else dtype
    if op in ("ReduceL1", "ReduceSumSquare"):
        found = reduced(call, "ops.sum", f"ops.{'abs' if op == 'ReduceL1' else 'square'}({x})", axes, keep, inner)
    elif inner not in FLOATS:
        raise NotCovered(f"{op} of {dtype}")
    elif op == "ReduceL2":
        found = f"ops.sqrt({reduced(call, 'ops.sum', f'ops.square({x})', axes, keep, inner)})"
    elif op == "ReduceLogSum":
        found = f"ops.log({reduced(call, 'ops.sum', x, axes, keep, inner)})"
    else:
        largest = call.let(reduced(call, "ops.amax", x, axes, True, inner), "largest")
        found = f"ops.log({reduced(call, 'ops.sum', f'ops.exp({x} - {largest})', axes, True, inner)}) + {largest}"
        if not keep:
            found = f"({found}).squeeze({tuple_code(axes) if len(axes) > 1 else axes[0]})"
    return found if inner == dtype else cast(found, dtype)


def _of_one(op: str, x: str) -> str:
    """Return the reduction of single values, where no axis is reduced."""
    return {"ReduceL1": f"ops.abs({x})", "ReduceL2": f"ops.abs({x})", "ReduceSumSquare": f"ops.square({x})",
            "ReduceLogSum": f"ops.log({x})", "ReduceLogSumExp": x}[op]  # fmt: skip


@maps("ArgMax", "ArgMin")
def place_of_extreme(call: Call) -> str:
    """Where the largest or smallest value is: the first one, or the last one."""
    axis = call.axis(call.attribute("axis", 0))
    keep = bool(call.attribute("keepdims", 1))
    dtype, x = call.dtype(), call.x()
    wide = call.computed("ops.argmax", dtype)
    x = x if wide == dtype else cast(x, wide)
    if call.node.op == "ArgMin":
        if dtype.startswith("u") and wide == dtype:
            raise NotCovered(f"type {dtype}")
        x = f"-{x}"
    if not call.attribute("select_last_index", 0):
        return f"ops.argmax({x}, {axis}{', True' if keep else ''})"
    size = call.size(0, axis)
    return f"{size - 1} - ops.argmax(ops.flip({x}, ({axis},)), {axis}{', True' if keep else ''})"


@maps("CumSum", "CumProd")
def cumulative(call: Call) -> str:
    """Sums or products up to each place, without the value itself if exclusive, from the end if reverse."""
    axis = call.axis(call.integers(1)[0])
    exclusive, reverse = call.attribute("exclusive", 0), call.attribute("reverse", 0)
    dtype, x = call.dtype(), call.x()
    function = "ops.cumsum" if call.node.op == "CumSum" else "ops.cumprod"
    wide = call.computed(function, dtype)
    x = x if wide == dtype else cast(x, wide)
    x = f"ops.flip({x}, ({axis},))" if reverse else x
    found = f"{function}({x}, {axis})"
    if exclusive:
        lead = ":, " * axis
        first = f"ops.{'zeros' if function == 'ops.cumsum' else 'ones'}_like({x}[{lead}:1])"
        found = f"ops.cat(({first}, {found}[{lead}:-1]), {axis})" if call.size(0, axis) > 1 else first
    found = f"ops.flip({found}, ({axis},))" if reverse else found
    return found if wide == dtype else cast(found, dtype)


@maps("Det")
def determinant(call: Call) -> str:
    """Determinants of matrices."""
    return call.run("ops.det", call.x())


@maps("LpNormalization")
def lp_normalization(call: Call) -> str:
    """Values divided by their norm along an axis."""
    axis, p, x = call.axis(call.attribute("axis", -1)), call.attribute("p", 2), call.x()
    norms = (
        f"ops.sum(ops.abs({x}), {axis}, keepdim=True)"
        if p == 1
        else f"ops.sqrt(ops.sum(ops.square({x}), {axis}, keepdim=True))"
    )
    if p not in (1, 2):
        raise NotCovered(f"attribute p = {p} is not covered")
    length = call.let(norms, "length")
    return f"ops.where({length} == 0, ops.zeros_like({x}), {x} / ops.where({length} == 0, ops.ones_like({length}), {length}))"


def places(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return an index."""
    return np.array(values, np.int64)
