"""Writes dumps as MindSpore 2.10 does on the CPU: a small network is trained with numpy, and every operator is dumped.

Files have the names, headers and modes of real ones: full names with _ for /, parameters with their values after the update,
in-place inputs already updated. A value can be made NaN, Inf, exploding or vanishing at one operator of one iteration; what
follows from it is computed. Other functions write binary files of devices, .pt files of torch, and JSON of msprobe.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
DTYPES = {"float32": "Float32", "float16": "Float16", "float64": "Float64", "int32": "Int32", "int64": "Int64", "bool": "Bool"}
BEGIN_US = 1_795_217_412_000_000


# Protobuf -------------------------------------------------------------------------------------------------------------------


def number(field_number: int, value: int) -> bytes:
    return varint(field_number << 3) + varint(value)


def text(field_number: int, value: str | bytes) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return varint(field_number << 3 | 2) + varint(len(raw)) + raw


def varint(value: int) -> bytes:
    out = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


# Files ----------------------------------------------------------------------------------------------------------------------


def npy(values: Array) -> bytes:
    """An npy file with MindSpore's header: shapes end with a comma, 128 bytes."""
    shape = "".join(f"{size}," for size in values.shape)
    head = f"{{'descr': '{values.dtype.str}', 'fortran_order': False, 'shape': ({shape}), }}"
    return b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + head.ljust(117).encode() + b"\n" + values.tobytes()


def file_name(kind: str, name: str, time_us: int, io: str, slot: int, dtype: str) -> str:
    return f"{kind}.{name.replace('/', '_')}.0.0.{time_us}.{io}.{slot}.DefaultFormat.{DTYPES[dtype]}.npy"


def async_file(tensors: Sequence[tuple[str, Array, int, int, tuple[int, ...]]], buffers: int = 0) -> bytes:
    """A binary file of a device: io, values, number of the dtype, number of the format, shape on the host, for each tensor."""
    head = text(1, "2.0") + number(2, 1_700_000_000)
    for wanted, field_number, size, original in (("output", 3, 6, 7), ("input", 4, 5, 6)):
        for told_io, values, dtype, form, host in tensors:
            if told_io == wanted:
                shape = text(1, b"".join(map(varint, values.shape)))
                told = number(1, dtype) + number(2, form) + text(3, shape) + number(size, values.nbytes)
                head += text(field_number, told + text(original, text(1, b"".join(map(varint, host)))))
    if buffers:
        head += text(5, number(1, 0) + number(3, buffers))
    ordered = [one for wanted in ("input", "output") for one in tensors if one[0] == wanted]
    return len(head).to_bytes(8, "little") + head + b"".join(one[1].tobytes() for one in ordered) + bytes(buffers)


# Files of torch -------------------------------------------------------------------------------------------------------------


def _pickled(value: int) -> bytes:
    """Return the opcode of a number: of up to four bytes, 255, or any number of them."""
    if -(2**31) <= value < 2**31:
        return b"J" + value.to_bytes(4, "little", signed=True)
    raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return (b"\x8a" + bytes((len(raw),)) if len(raw) < 256 else b"\x8b" + len(raw).to_bytes(4, "little")) + raw


def torch_pickle(storage: str, shape: Sequence[int], stride: Sequence[int], first: int, count: int) -> bytes:
    """The record of a tensor as torch.save writes it (protocol 2)."""

    def tuple_of(values: Sequence[int]) -> bytes:
        return b"(" + b"".join(map(_pickled, values)) + b"t"

    def word(value: str) -> bytes:
        return b"X" + len(value.encode()).to_bytes(4, "little") + value.encode()

    place = b"(" + word("storage") + b"ctorch\n" + storage.encode() + b"\nq\x00" + word("0") + word("cpu")
    place += _pickled(count) + b"tQ"
    hooks = b"ccollections\nOrderedDict\n)R"
    given = place + _pickled(first) + tuple_of(shape) + tuple_of(stride) + b"\x89" + hooks
    return b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + given + b"tR."


def torch_file(record: bytes, raw: bytes, *, method: int = zipfile.ZIP_STORED, stem: str = "tensor") -> bytes:
    """A .pt file: a zip archive with a record and a storage."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, data in (("data.pkl", record), ("byteorder", b"little"), ("data/0", raw), ("version", b"3\n")):
            archive.writestr(f"{stem}/{name}", data)
    return made.getvalue()


# A network ------------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Operator:
    """One operator: type, full name, the values it takes and makes, what it computes, its line in the program."""

    type: str
    name: str
    inputs: tuple[str, ...]
    output: str
    compute: Callable[..., Array]
    line: int
    in_place: bool = False


@dataclass(slots=True)
class Network:
    """Operators in the order of execution, parameters, and inputs of each iteration."""

    operators: list[Operator] = field(default_factory=list)
    parameters: dict[str, Array] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, scope: str, inputs: Sequence[str], output: str, compute: Callable[..., Array], **more: Any) -> str:
        place = f"{scope}/{kind}"
        count = self.counts[place] = self.counts.get(place, -1) + 1
        line = len(self.operators) + 10
        self.operators.append(Operator(kind, f"{place}-op{count}", tuple(inputs), output, compute, line, **more))
        return output


def network(
    rng: np.random.Generator, layers: int = 3, width: int = 6, *, relu: bool = False, spread: float = 0.5, squashed: float = 1.0
) -> Network:
    """A multilayer perceptron with a tanh (or ReLU) after each layer, a squared loss, all gradients, and Momentum.

    spread is the standard deviation of weights at first; squashed is by what each activation multiplies gradients as well.
    """
    net = Network()
    top, back = "Default/network-WithLossCell/_backbone-Net", "Gradients/Default/network-WithLossCell/_backbone-Net"
    value = "x"
    for number_ in range(layers):
        weight, bias, scope = f"fc{number_}.weight", f"fc{number_}.bias", f"{top}/fc{number_}-Dense"
        net.parameters[weight] = rng.normal(0.0, spread, (width, width)).astype(np.float32)
        net.parameters[bias] = rng.normal(0.0, 0.1, width).astype(np.float32)
        made = net.add("MatMul", scope, (value, weight), f"m{number_}", lambda x, w: x @ w)
        made = net.add("BiasAdd", scope, (made, bias), f"b{number_}", lambda x, b: x + b)
        if relu:
            value = net.add("ReLU", f"{top}/relu{number_}-ReLU", (made,), f"h{number_}", lambda x: np.maximum(x, 0))
        else:
            value = net.add("Tanh", f"{top}/tanh{number_}-Tanh", (made,), f"h{number_}", np.tanh)
    loss = "Default/network-WithLossCell/_loss_fn-MSELoss"
    net.add("Sub", loss, (value, "y"), "error", lambda a, b: a - b)
    net.add("Square", loss, ("error",), "squares", np.square)
    net.add("ReduceMean", loss, ("squares",), "loss", lambda x: np.asarray(x.mean(dtype=np.float32)))
    gradient = net.add("Mul", f"Gradients/{loss}/Grad_Square", ("error",), "g", lambda e: e * np.float32(2.0 / e.size))
    for number_ in reversed(range(layers)):
        scope = f"{back}/fc{number_}-Dense/Grad_MatMul"
        if relu:
            scope_, kind, slope = f"{back}/relu{number_}-ReLU/Grad_ReLU", "ReluGrad", _relu_slope
        else:
            scope_, kind, slope = f"{back}/tanh{number_}-Tanh/Grad_Tanh", "TanhGrad", _tanh_slope
        before = net.add(
            kind, scope_, (f"h{number_}", gradient), f"gt{number_}",
            lambda h, g, slope=slope: g * slope(h) * np.float32(squashed),
        )  # fmt: skip
        taken = "x" if number_ == 0 else f"h{number_ - 1}"
        net.add("MatMul", scope, (taken, before), f"gw{number_}", lambda h, g: h.T @ g)
        net.add("BiasAddGrad", f"{back}/fc{number_}-Dense/Grad_BiasAdd", (before,), f"gb{number_}", lambda g: g.sum(axis=0))
        gradient = net.add("MatMul", scope, (before, f"fc{number_}.weight"), f"gh{number_}", lambda g, w: g @ w.T)
        for part in ("weight", "bias"):
            name = f"fc{number_}.{part}"
            net.parameters[f"moments.{name}"] = np.zeros_like(net.parameters[name])
            given = (name, f"moments.{name}", f"g{part[0]}{number_}")
            net.add("ApplyMomentum", "Default/optimizer-Momentum", given, name, _momentum, in_place=True)
    return net


def _tanh_slope(made: Array) -> Array:
    return np.asarray(np.float32(1.0) - made * made)


def _relu_slope(made: Array) -> Array:
    return np.asarray(made > 0)


def _momentum(weight: Array, moment: Array, gradient: Array) -> Array:
    moment *= np.float32(0.9)
    moment += gradient
    weight -= np.float32(0.01) * moment
    return weight


@dataclass(slots=True)
class Injection:
    """What is made bad: the iteration, the place of the operator, and how: nan, inf, exploding (by a factor) or vanishing."""

    iteration: int
    operator: int
    kind: str
    factor: float = 1e9

    def apply(self, values: Array, rng: np.random.Generator) -> None:
        flat = values.reshape(-1)
        if self.kind == "exploding":
            flat *= np.float32(self.factor)
        elif self.kind == "vanishing":
            flat *= np.float32(1e-12)
        else:
            place = rng.integers(len(flat))
            flat[place] = np.nan if self.kind == "nan" else np.inf if rng.random() < 0.5 else -np.inf


def write_dump(
    directory: Path,
    *,
    seed: int = 0,
    iterations: int = 6,
    injection: Injection | None = None,
    rank: int = 0,
    layers: int = 3,
    graph: bool = True,
    inputs: bool = True,
    **of_network: Any,
) -> Network:
    """Write the dump of a training below `directory`; return the network, to which of_network is passed."""
    rng = np.random.default_rng(seed)
    net = network(rng, layers, **of_network)
    x = rng.normal(size=(8, 6)).astype(np.float32)
    y = np.tanh(rng.normal(size=(8, 6))).astype(np.float32)

    def batch(iteration: int) -> dict[str, Array]:
        return {"x": x + rng.normal(0.0, 0.05, x.shape).astype(np.float32), "y": y}

    write_network(directory, net, rng, batch, iterations, injection=injection, rank=rank, graph=graph, inputs=inputs)
    return net


def write_network(
    directory: Path,
    net: Network,
    rng: np.random.Generator,
    batch: Callable[[int], dict[str, Array]],
    iterations: int,
    *,
    injection: Injection | None = None,
    rank: int = 0,
    graph: bool = True,
    inputs: bool = True,
) -> None:
    """Write the dump of a network that is trained with the values that batch returns for each iteration."""
    root = directory / f"rank_{rank}"
    (root / ".dump_metadata").mkdir(parents=True)
    (root / ".dump_metadata" / "config.json").write_text('{"device_target":"CPU","ms_version":"2.10.0"}')
    if graph:
        _write_graph(root, net, iterations)
    time = BEGIN_US
    with np.errstate(all="ignore"):
        for iteration in range(iterations):
            folder = root / "Net" / "0" / str(iteration)
            folder.mkdir(parents=True)
            values = batch(iteration)
            for place, one in enumerate(net.operators):
                bad = injection if _hits(injection, iteration, place) else None
                time = _run(folder, net, values, one, time, bad, rng, inputs)
            for name, value in net.parameters.items():
                time += 40
                _save(folder / file_name("Parameter", name.replace(".", "_"), time, "output", 0, value.dtype.name), value)


def _hits(injection: Injection | None, iteration: int, place: int) -> bool:
    return injection is not None and (injection.iteration, injection.operator) == (iteration, place)


def _run(
    folder: Path, net: Network, values: dict[str, Array], one: Operator, time: int, bad: Injection | None,
    rng: np.random.Generator, inputs: bool,
) -> int:  # fmt: skip
    taken = [net.parameters[name] if name in net.parameters else values[name] for name in one.inputs]
    made = one.compute(*taken)
    if not one.in_place:
        made = np.array(made, made.dtype if made.dtype.name in DTYPES else np.float32)
    if bad is not None:
        bad.apply(made, rng)
    if not one.in_place:
        values[one.output] = made
    recorded = one.name.replace("/", "_")
    for slot, value in enumerate(taken if inputs else ()):
        time += 40
        _save(folder / file_name(one.type, recorded, time, "input", slot, value.dtype.name), value)
    time += 40
    _save(folder / file_name(one.type, recorded, time, "output", 0, made.dtype.name), made)
    return time


def _save(path: Path, values: Array) -> None:
    path.write_bytes(npy(values))
    os.chmod(path, 0o400)


def graph_of(net: Network) -> bytes:
    """The graph of a network as MindSpore writes it."""
    outputs = {one.output for one in net.operators}
    fed = [name for one in net.operators for name in one.inputs if name not in outputs and name not in net.parameters]
    given = (*dict.fromkeys(fed), *net.parameters)
    made = {name: name for name in given}
    nodes = b""
    for place, one in enumerate(net.operators):
        node = b"".join(text(1, text(1, made[name])) for name in one.inputs)
        node += text(2, str(place)) + text(3, one.type) + text(4, one.name.rpartition("/")[0]) + text(8, one.name)
        line = f"# In file /home/me/net.py:{one.line}, 4~36/        value = self.{one.type.lower()}(value)/"
        nodes += text(1, node + text(9, line))
        if one.output not in net.parameters:
            made[one.output] = str(place)
    return nodes + text(2, "kernel_graph0") + b"".join(text(3, text(1, name)) for name in given)


def _write_graph(root: Path, net: Network, iterations: int) -> None:
    (root / "graphs").mkdir()
    (root / "execution_order").mkdir()
    (root / "graphs" / "ms_output_trace_code_graph_0.pb").write_bytes(number(1, 1) + text(4, graph_of(net)))
    lines = ["NodeExecutionOrder-FullNameWithScope", *(one.name for one in net.operators)]
    (root / "execution_order" / "ms_execution_order_graph_0.csv").write_text("\n".join(lines) + "\n")
    runs = "".join(f"{iteration}\n" for iteration in range(iterations))
    (root / "execution_order" / "ms_global_execution_order_graph_0.csv").write_text(runs)
