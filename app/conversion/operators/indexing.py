"""Elements by index: gather, scatter, one-hot, top-k, non-zero, sequences reversed."""

from __future__ import annotations

import numpy as np

from app.conversion.calls import MS_TYPES, Call, cast
from app.conversion.operators.table import maps
from app.conversion.refusals import NotCovered


def _places(call: Call, number: int, size: int | str, axis: int, data: str) -> str:
    """Return an index without negative numbers, for which MindSpore has no rule of its own or returns zeros."""
    if call.fixed(number):
        found = call.constant(number)
        if isinstance(size, int):
            if found.size and (found.min() < -size or found.max() >= size):
                raise NotCovered("an index beyond the axis")
            return call.tensor(np.where(found < 0, found + size, found).astype(found.dtype), "places")
        if found.size and found.min() >= 0:
            return call.x(number)
    return f"{call.x(number)} % {size if isinstance(size, int) else f'{data}.shape[{axis}]'}"


@maps("Gather")
def gather(call: Call) -> str:
    """Slices of an axis by index."""
    axis = call.attribute("axis", 0)
    known = call.type(0).shape
    axis = call.axis(axis) if axis < 0 or known is not None else axis
    if call.fixed(1) and call.constant(1).ndim == 0 and known is not None:
        place = int(call.constant(1))
        return f"{call.x()}[{':, ' * axis}{place}]"
    x = call.x()
    size = known[axis] if known is not None else ""
    return call.run("ops.gather", x, _places(call, 1, size, axis, x), str(axis))


@maps("GatherElements")
def gather_elements(call: Call) -> str:
    """Elements by an index of the same rank."""
    axis = call.axis(call.attribute("axis", 0))
    x = call.x()
    return call.run("ops.gather_elements", x, str(axis), _places(call, 1, call.dims()[axis], axis, x))


@maps("GatherND")
def gather_nd(call: Call) -> str:
    """Slices by vectors of indices, in batches by an index of all axes."""
    batch = call.attribute("batch_dims", 0)
    x = call.x()
    depth = call.size(1, -1)
    dims = call.dims()[batch : batch + depth]
    sizes = [size if isinstance(size, int) else 0 for size in dims]
    if 0 in sizes:
        raise NotCovered("the shape is not fixed; fix it with --shape")
    if call.fixed(1):
        found = call.constant(1)
        index = call.tensor(np.where(found < 0, found + np.array(sizes), found), "places")
    else:
        index = f"{call.x(1)} % {call.tensor(np.array(sizes, np.int64), 'sizes') if len(set(sizes)) > 1 else sizes[0]}"
    if batch:
        shape = call.shape(1)
        grid = np.stack(np.meshgrid(*(np.arange(size) for size in shape[:batch]), indexing="ij"), -1)
        grid = np.broadcast_to(grid.reshape(*shape[:batch], *(1,) * (len(shape) - 1 - batch), batch), (*shape[:-1], batch))
        index = f"ops.cat(({call.tensor(grid.astype(np.int64), 'batches')}, {index}), -1)"
    return call.run("ops.gather_nd", x, index)


@maps("ScatterElements", "Scatter")
def scatter_elements(call: Call) -> str:
    """A copy with elements replaced, added, multiplied, or their extreme."""
    axis = call.axis(call.attribute("axis", 0))
    reduction = call.attribute("reduction", "none")
    x = call.x()
    index = _places(call, 1, call.dims()[axis], axis, x)
    function = "ops.tensor_scatter_elements"
    wide = call.computed(function, call.dtype())
    update = call.x(2) if wide == call.dtype() else cast(call.x(2), wide)
    if reduction not in ("none", "add"):
        raise NotCovered(f"attribute reduction = {reduction!r} is not covered")
    return call.run(function, x, index, update, str(axis), repr(reduction))


_SCATTERS = {"none": "update", "add": "add", "mul": "mul", "max": "max", "min": "min"}


@maps("ScatterND")
def scatter_nd(call: Call) -> str:
    """A copy with slices replaced, added, multiplied, or their extreme."""
    reduction = call.attribute("reduction", "none")
    depth = call.size(1, -1)
    sizes = [call.size(0, place) for place in range(depth)]
    if call.fixed(1):
        found = call.constant(1)
        index = call.tensor(np.where(found < 0, found + np.array(sizes), found), "places")
    else:
        index = f"{call.x(1)} % {call.tensor(np.array(sizes, np.int64), 'sizes') if len(set(sizes)) > 1 else sizes[0]}"
    function = f"ops.tensor_scatter_{_SCATTERS[reduction]}"
    function = "ops.tensor_scatter_update" if reduction == "none" else function
    wide = call.computed(function, call.dtype())
    update = call.x(2) if wide == call.dtype() else cast(call.x(2), wide)
    if function == "ops.tensor_scatter_update":
        return call.run(function, call.x(), index, update)
    return call.run(function, call.x(), index, update)


@maps("OneHot")
def one_hot(call: Call) -> str:
    """Two values by index; negative indices count from the end, others beyond are off everywhere."""
    depth = int(call.constant(1).reshape(-1)[0])
    dtype = call.dtype(2)
    axis = call.attribute("axis", -1)
    if call.fixed(2):
        off, on = (call.constant(2)[i].item() for i in (0, 1))
        off, on = (f"ms.Tensor({value}, {MS_TYPES[dtype]})" for value in (off, on))
    else:
        values = call.x(2)
        off, on = f"{values}[0]", f"{values}[1]"
    x = cast(call.x(), "int64") if call.dtype() != "int64" else call.x()
    places = call.let(x, "places") if x.startswith("(") or "astype" in x else x
    rank = call.rank() + 1
    levels = call.tensor(np.arange(depth).reshape([-1 if place == axis % rank else 1 for place in range(rank)]), "levels")
    spread = f"ops.expand_dims(ops.where({places} < 0, {places} + {depth}, {places}), {axis % rank})"
    return call_where(call, f"{spread} == {levels}", on, off, dtype)


def call_where(call: Call, condition: str, on: str, off: str, dtype: str) -> str:
    """Return a choice of two numbers, in a type that ops.where has."""
    wide = call.computed("ops.where", dtype)
    found = f"ops.where({condition}, {on if wide == dtype else cast(on, wide)}, {off if wide == dtype else cast(off, wide)})"
    return found if wide == dtype else cast(found, dtype)


@maps("TopK")
def top_k(call: Call) -> list[str]:
    """The largest or smallest along an axis, and where they are."""
    count = call.attribute("k") if call.opset < 10 else call.integers(1)[0]
    axis = call.axis(call.attribute("axis", -1))
    largest, dtype = call.attribute("largest", 1), call.dtype()
    wide = call.computed("ops.topk", dtype)
    last = axis == call.rank() - 1
    order = [place for place in range(call.rank()) if place != axis] + [axis]
    x = call.x() if wide == dtype else cast(call.x(), wide)
    if not last:
        x = f"{x}.transpose({', '.join(map(str, order))})"
    back = "" if last else f".transpose({', '.join(str(order.index(place)) for place in range(call.rank()))})"
    sign = "" if largest else "-"
    found = call.let(f"ops.topk({sign}{x}, {count})", "top")
    values = f"({sign}{found}[0]){back}" if sign else f"{found}[0]{back}"
    return [values if wide == dtype else cast(values, dtype), f"{found}[1]{back}.astype(ms.int64)"][: call.outputs]


@maps("NonZero")
def non_zero(call: Call) -> str:
    """Where values are not zero, a row per axis."""
    return f"{call.run('ops.nonzero', call.x(), to='')}.T"


@maps("Compress")
def compress(call: Call) -> str:
    """Slices that a condition chooses."""
    condition = call.constant(0 + 1)
    places = np.flatnonzero(condition)
    if not places.size:
        raise NotCovered("an empty result")
    if "axis" not in call.node.attributes:
        return call.run("ops.gather", f"{call.x()}.reshape(-1)", call.tensor(places.astype(np.int64), "places"), "0")
    axis = call.axis(call.attribute("axis"))
    return call.run("ops.gather", call.x(), call.tensor(places.astype(np.int64), "places"), str(axis))


@maps("ReverseSequence")
def reverse_sequence(call: Call) -> str:
    """The first values of each sequence of a batch, backwards."""
    time, batch = call.attribute("time_axis", 0), call.attribute("batch_axis", 1)
    return call.run("ops.reverse_sequence", call.x(), call.x(1), str(time), str(batch))
