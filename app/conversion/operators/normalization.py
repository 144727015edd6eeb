"""Normalization by batch, layer, group, instance, root mean square, and across channels."""

from __future__ import annotations

import math
from typing import Any

from app.conversion.calls import Array, Call, CheckpointTensor, cast, tuple_code
from app.conversion.operators.table import maps
from app.conversion.refusals import NotCovered


@maps("BatchNormalization")
def batch_normalization(call: Call) -> str:
    """With recorded statistics: a layer if they are weights, else their formula."""
    if call.attribute("training_mode", 0) or any(call.wants(number) for number in range(1, 5)):
        raise NotCovered("training: statistics of the batch")
    call.refuse_attributes(spatial=1)
    rank, dtype, epsilon = call.rank(), call.dtype(), call.attribute("epsilon", 1e-5)
    layer = {2: "nn.BatchNorm1d", 4: "nn.BatchNorm2d", 5: "nn.BatchNorm3d"}.get(rank)
    fixed = all(call.fixed(number) and call.dtype(number) == "float32" for number in range(1, 5))
    if layer and fixed and dtype == "float32" and not call.fixed(0):
        prefix = "bn2d." if rank == 5 else ""
        names = ("gamma", "beta", "moving_mean", "moving_variance")
        parameters = {prefix + name: call.source(1 + place) for place, name in enumerate(names)}
        options: dict[str, Any] = {} if _close(epsilon, 1e-5) else {"eps": _short(epsilon)}
        cell = call.cell(layer, ("num_features", call.size(1, 0)), weight=1, parameters=parameters, **options)
        return f"{cell}({call.x()})"
    wide = "float32" if dtype == "float16" else dtype
    x, *rest = (cast(call.x(number), wide) if call.dtype(number) != wide else call.x(number) for number in range(5))
    shape = ", ".join(["-1", *["1"] * (rank - 2)])
    scale, bias, mean, variance = (f"{part}.reshape({shape})" if rank > 2 else part for part in rest)
    found = f"({x} - {mean}) / ops.sqrt({variance} + {_short(epsilon)!r}) * {scale} + {bias}"
    return found if wide == dtype else cast(found, dtype)


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-6)


def _short(value: float) -> float:
    """Return a number of float32 with as few digits as tell it from its neighbours."""
    return float(f"{value:.7g}")


@maps("LayerNormalization")
def layer_normalization(call: Call) -> list[str]:
    """The layer class, since the function has no CPU kernel; with mean or deviation as outputs their formula."""
    rank = call.rank()
    axis = call.attribute("axis", -1) % rank
    epsilon, dtype = _short(call.attribute("epsilon", 1e-5)), call.dtype()
    shape = tuple(call.size(0, place) for place in range(axis, rank))
    fixed = call.fixed(1) and (not call.has(2) or call.fixed(2)) and not call.fixed(0)
    if fixed and dtype == "float32" and not call.wants(1) and not call.wants(2) and call.weight_shape(1) == shape:
        beta = call.source(2) if call.has(2) else CheckpointTensor("float32", shape, (), None, "", _zeros(shape))
        options: dict[str, Any] = {} if axis == rank - 1 else {"begin_norm_axis": axis, "begin_params_axis": axis}
        cell = call.cell("nn.LayerNorm", ("normalized_shape", list(shape) if len(shape) > 1 else (shape[0],)), weight=1,
                         parameters={"gamma": call.source(1), "beta": beta}, **options, epsilon=epsilon)  # fmt: skip
        return [f"{cell}({call.x()})"]
    if dtype not in ("float32", "float16"):
        raise NotCovered(f"type {dtype}")
    x = call.x() if dtype == "float32" else call.let(cast(call.x(), "float32"), "x")
    axes = tuple_code(range(axis, rank)) if axis < rank - 1 else "-1"
    mean = call.let(f"ops.mean({x}, {axes}, True)", "mean")
    scale = call.let(f"1 / ops.sqrt(ops.mean(ops.square({x} - {mean}), {axes}, True) + {epsilon!r})", "scale")
    normal = f"({x} - {mean}) * {scale}"
    if dtype == "float16":
        normal = cast(f"({normal})", "float16")
    found = f"{normal} * {call.x(1)}" + (f" + {call.x(2)}" if call.has(2) else "")
    return [found, mean, scale][: call.outputs]


def _zeros(shape: tuple[int, ...]) -> Array:
    import numpy as np

    return np.zeros(shape, np.float32)


@maps("RMSNormalization")
def rms_normalization(call: Call) -> str:
    """Values divided by their root mean square."""
    rank, dtype = call.rank(), call.dtype()
    axis = call.attribute("axis", -1) % rank
    epsilon = _short(call.attribute("epsilon", 1e-5))
    if dtype not in ("float32", "float16"):
        raise NotCovered(f"type {dtype}")
    axes = tuple_code(range(axis, rank)) if axis < rank - 1 else "-1"
    x = call.x() if dtype == "float32" else call.let(cast(call.x(), "float32"), "x")
    normal = f"{x} * ops.rsqrt(ops.mean(ops.square({x}), {axes}, True) + {epsilon!r})"
    normal = normal if dtype == "float32" else cast(f"({normal})", dtype)
    return f"{normal} * {call.x(1)}"


@maps("InstanceNormalization", "GroupNormalization")
def group_normalization(call: Call) -> str:
    """Mean and variance of each group of channels, of each channel in InstanceNormalization."""
    rank, dtype = call.rank(), call.dtype()
    channels = call.size(0, 1)
    groups = channels if call.node.op == "InstanceNormalization" else call.attribute("num_groups")
    epsilon = _short(call.attribute("epsilon", 1e-5))
    if dtype not in ("float32", "float16") or rank < 3:
        raise NotCovered(f"rank {rank} of {dtype}")
    x = call.x() if dtype == "float32" else cast(call.x(), "float32")
    by_group = call.node.op == "GroupNormalization" and call.opset < 21
    if rank == 4 and dtype == "float32" and not by_group and call.fixed(1) and call.fixed(2) and not call.fixed(0):
        cell = call.cell("nn.GroupNorm", ("num_groups", groups), ("num_channels", channels), weight=1, eps=epsilon,
                         parameters={"gamma": call.source(1), "beta": call.source(2)})  # fmt: skip
        return f"{cell}({x})"
    rest = [call.size(0, place) for place in range(2, rank)]
    parts = call.let(f"{x}.reshape(-1, {groups}, {channels // groups * math.prod(rest)})", "parts")
    mean = call.let(f"ops.mean({parts}, 2, True)", "mean")
    parts = call.let(f"({parts} - {mean}) / ops.sqrt(ops.mean(ops.square({parts} - {mean}), 2, True) + {epsilon!r})", "parts")
    ones, sizes = ", 1" * (rank - 2), f"-1, {channels}, {', '.join(map(str, rest))}"
    scale, bias = (call.x(number) if dtype == "float32" else cast(call.x(number), "float32") for number in (1, 2))
    if by_group:
        found = f"({parts} * {scale}.reshape(-1, 1) + {bias}.reshape(-1, 1)).reshape({sizes})"
    else:
        found = f"{parts}.reshape({sizes}) * {scale}.reshape(-1{ones}) + {bias}.reshape(-1{ones})"
    return found if dtype == "float32" else cast(found, dtype)


@maps("MeanVarianceNormalization")
def mean_variance_normalization(call: Call) -> str:
    """Mean 0 and deviation 1 over some axes."""
    axes = tuple_code(call.attribute("axes") or (0, 2, 3))
    if call.dtype() != "float32":
        raise NotCovered(f"type {call.dtype()}")
    centred = call.let(f"{call.x()} - ops.mean({call.x()}, {axes}, True)", "centred")
    return f"{centred} / (ops.sqrt(ops.mean(ops.square({centred}), {axes}, True)) + 1e-9)"


@maps("LRN")
def local_response_normalization(call: Call) -> str:
    """Values divided by a power of the squares of neighbouring channels; nn.LRN fails on the CPU for some shapes."""
    size, dtype = call.attribute("size"), call.dtype()
    alpha, beta, bias = (
        _short(call.attribute(name, value)) for name, value in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0))
    )
    if call.rank() != 4 or dtype != "float32":
        raise NotCovered(f"rank {call.rank()} of {dtype}")
    channels = call.size(0, 1)
    before, after = (size - 1) // 2, size // 2
    squares = call.let(f"ops.pad(ops.square({call.x()}), (0, 0, 0, 0, {before}, {after}))", "squares")
    total = " + ".join(f"{squares}[:, {place}:{place + channels}]" for place in range(size))
    return f"{call.x()} / ops.pow({bias!r} + {_short(alpha / size)!r} * ({total}), {beta!r})"
