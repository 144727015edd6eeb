"""A training that speaks MindInsight's debugger protocol, written from the protocol: messages are protobuf's, not ours.

It trains the small network of `tests.writers.dumps` with numpy, sends its graph, and obeys: it runs steps or operators, sends
what it is asked for in pieces of 3 MiB, and checks watchpoints with formulas of its own. As a program: python -m
tests.writers.debugger_client PORT [--steps 100] [--seed 0] [--nan STEP] [--large BYTES]
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from tests.writers.dumps import Array, Network, network

PIECE = 3 << 20
OK, FAILED, PENDING = range(3)
NUMBERS = {"bool": 1, "int32": 4, "int64": 5, "float16": 10, "float32": 11, "float64": 12, "bfloat16": 46}
_TYPES = {"bool": 8, "int32": 5, "int64": 3, "uint64": 4, "float": 2, "double": 1, "string": 9, "bytes": 12}

# Message -> its fields: name, number, type (of _TYPES, or a message), repeated, the oneof it is in.
_MESSAGES: dict[str, list[tuple[str, int, str, bool, str]]] = {
    "Metadata": [
        ("device_name", 1, "string", False, ""), ("cur_step", 2, "int32", False, ""), ("backend", 3, "string", False, ""),
        ("cur_node", 4, "string", False, ""), ("training_done", 5, "bool", False, ""), ("graph_num", 6, "int32", False, ""),
        ("ms_version", 7, "string", False, ""),
    ],
    "Chunk": [("buffer", 1, "bytes", False, ""), ("finished", 2, "bool", False, "")],
    "EventReply": [
        ("status", 1, "int32", False, ""), ("exit", 2, "bool", False, "cmd"), ("run_cmd", 3, "RunCMD", False, "cmd"),
        ("set_cmd", 4, "SetCMD", False, "cmd"), ("view_cmd", 5, "ViewCMD", False, "cmd"),
        ("version_matched", 6, "bool", False, "cmd"),
    ],
    "RunCMD": [
        ("run_level", 1, "string", False, ""), ("run_steps", 2, "int32", False, "cmd"),
        ("node_name", 3, "string", False, "cmd"),
    ],
    "SetCMD": [
        ("watch_nodes", 1, "WatchNode", True, ""), ("watch_condition", 2, "WatchCondition", False, ""),
        ("delete", 3, "bool", False, ""), ("id", 4, "int32", False, ""),
    ],
    "ViewCMD": [("tensors", 1, "TensorProto", True, ""), ("level", 2, "int32", False, "")],
    "WatchCondition": [
        ("condition", 1, "int32", False, ""), ("value", 2, "float", False, ""), ("params", 4, "Parameter", True, ""),
    ],
    "Parameter": [
        ("name", 1, "string", False, ""), ("disabled", 2, "bool", False, ""), ("value", 3, "double", False, ""),
        ("hit", 4, "bool", False, ""), ("actual_value", 5, "double", False, ""),
    ],
    "WatchNode": [
        ("node_name", 1, "string", False, ""), ("node_type", 2, "string", False, ""), ("graph_name", 3, "string", False, ""),
        ("rank_id", 4, "int32", False, ""), ("device_id", 5, "int32", False, ""),
    ],
    "WatchpointHit": [
        ("tensor", 1, "TensorProto", False, ""), ("watch_condition", 2, "WatchCondition", False, ""),
        ("id", 3, "int32", False, ""), ("error_code", 4, "int32", False, ""),
    ],
    "Heartbeat": [("message", 1, "string", False, ""), ("period", 2, "int32", False, "")],
    "TensorSummary": [("tensor_base", 1, "TensorBase", False, ""), ("statistics", 2, "Statistics", False, "")],
    "Statistics": [
        ("is_bool", 1, "bool", False, ""), ("max_value", 2, "float", False, ""), ("min_value", 3, "float", False, ""),
        ("avg_value", 4, "float", False, ""), ("count", 5, "int32", False, ""), ("neg_zero_count", 6, "int32", False, ""),
        ("pos_zero_count", 7, "int32", False, ""), ("nan_count", 8, "int32", False, ""),
        ("neg_inf_count", 9, "int32", False, ""), ("pos_inf_count", 10, "int32", False, ""),
        ("zero_count", 11, "int32", False, ""),
    ],
    "TensorBase": [("data_type", 1, "int32", False, ""), ("shape", 2, "int64", True, ""), ("data_size", 3, "int64", False, "")],
    "TensorProto": [
        ("node_name", 1, "string", False, ""), ("slot", 2, "string", False, ""), ("tensor_content", 3, "bytes", False, ""),
        ("dims", 4, "int64", True, ""), ("data_type", 5, "int32", False, ""), ("finished", 6, "bool", False, ""),
        ("iter", 7, "string", False, ""), ("truncate", 8, "bool", False, ""),
    ],
    "GraphProto": [
        ("node", 1, "NodeProto", True, ""), ("name", 2, "string", False, ""), ("parameters", 3, "ParameterProto", True, ""),
        ("root_name", 6, "string", False, ""),
    ],
    "NodeProto": [
        ("input", 1, "InputProto", True, ""), ("name", 2, "string", False, ""), ("op_type", 3, "string", False, ""),
        ("scope", 4, "string", False, ""), ("output_type", 6, "TypeProto", False, ""), ("full_name", 8, "string", False, ""),
        ("source_address", 9, "string", False, ""),
    ],
    "InputProto": [("name", 1, "string", False, ""), ("type", 2, "int32", False, "")],
    "ParameterProto": [("name", 1, "string", False, ""), ("type", 2, "TypeProto", False, "")],
    "TypeProto": [("data_type", 1, "int32", False, ""), ("tensor_type", 2, "TensorType", False, "")],
    "TensorType": [("elem_type", 1, "int32", False, ""), ("shape", 2, "ShapeProto", False, "")],
    "ShapeProto": [("dim", 1, "Dimension", True, "")],
    "Dimension": [("size", 1, "int64", False, "")],
}  # fmt: skip


def _build() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="tests/debugger.proto", package="debugger", syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        oneofs = list(dict.fromkeys(one for *_, one in fields if one))
        message.oneof_decl.extend(descriptor_pb2.OneofDescriptorProto(name=one) for one in oneofs)
        for label, number, kind, repeated, oneof in fields:
            field = message.field.add(name=label, number=number, label=3 if repeated else 1)
            if kind in _TYPES:
                field.type = _TYPES[kind]  # type: ignore[assignment]
            else:
                field.type, field.type_name = 11, f".debugger.{kind}"  # type: ignore[assignment]
            if oneof:
                field.oneof_index = oneofs.index(oneof)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"debugger.{name}")) for name in _MESSAGES}


class _Messages:
    def __init__(self) -> None:
        self._classes = _build()

    def __getattr__(self, name: str) -> Any:
        return self._classes[name]


M = _Messages()
UNARY = ("WaitCMD", "SendMetadata", "SendHeartbeat")
STREAMS = ("SendGraph", "SendMultiGraphs", "SendTensors", "SendTensorBase", "SendTensorStats", "SendWatchpointHits")


class Stub:
    """The service; each stub has a connection of its own."""

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_send_message_length", 64 << 20)]
        self.channel = grpc.insecure_channel(f"{host}:{port}", options)

        def raw(message: Any) -> bytes:
            return message if isinstance(message, bytes) else message.SerializeToString()

        reply = M.EventReply.FromString
        for name in UNARY:
            setattr(self, name, self.channel.unary_unary(f"/debugger.EventListener/{name}", raw, reply))
        for name in STREAMS:
            setattr(self, name, self.channel.stream_unary(f"/debugger.EventListener/{name}", raw, reply))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def close(self) -> None:
        self.channel.close()


# The training ----------------------------------------------------------------------------------------------------------------


class Training:
    """Trains until it is ended or has run all steps. `log` is what it was told, in order."""

    def __init__(
        self, port: int, *, steps: int = 100, seed: int = 0, version: str = "2.2.0", backend: str = "GPU", device: str = "0",
        several: bool = False, period: int = 0, nan_at: int = -1, large: int = 0, lines: bool = True,
    ) -> None:  # fmt: skip
        self.stub = Stub(port)
        self.steps, self.version, self.backend, self.device = steps, version, backend, device
        self.several, self.period, self.nan_at, self.lines = several, period, nan_at, lines
        self.rng = np.random.default_rng(seed)
        self.net: Network = network(self.rng)
        self.x = self.rng.normal(size=(8, 6)).astype(np.float32)
        self.y = np.tanh(self.rng.normal(size=(8, 6))).astype(np.float32)
        if large:
            count = large // 4
            self.net.parameters["large.weight"] = self.rng.normal(size=count).astype(np.float32)
        self.values: dict[str, Array] = {name: value.copy() for name, value in self.net.parameters.items()}
        self.before: dict[str, Array] = {}
        self.watched: dict[int, Any] = {}
        self.log: list[str] = []
        self.losses: list[float] = []
        self.step, self.node, self.done = 0, "", False
        self.level, self.sent_graph = "step", False
        self.stopped = threading.Event()
        self.thread: threading.Thread | None = None

    def start(self) -> Training:
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        return self

    def join(self, seconds: float = 20.0) -> None:
        assert self.thread is not None
        self.thread.join(seconds)
        assert not self.thread.is_alive(), self.log[-5:]

    def run(self) -> None:
        try:
            self._run()
        except grpc.RpcError as error:
            self.log.append(f"rpc {error.code().name}")
        finally:
            self.stopped.set()
            self.stub.close()

    def _run(self) -> None:
        reply = self.stub.SendMetadata(self._metadata())
        self.log.append(f"version_matched {reply.version_matched}")
        if self.period:
            threading.Thread(target=self._beat, daemon=True).start()
        if not reply.version_matched:
            self._obey()
            return
        graphs = [self.graph()]
        if self.several:
            cast = M.NodeProto(name="0", op_type="Cast", full_name="Default/Cast-op0")
            graphs.append(M.GraphProto(name="kernel_graph_1", node=[cast]))
        send = self.stub.SendMultiGraphs if self.several else self.stub.SendGraph
        send(chunk for graph in graphs for chunk in chunks(graph.SerializeToString()))
        if not self._obey():
            return
        for _ in range(self.steps):
            if not self._train():
                return
        self.done = True
        self.stub.SendMetadata(self._metadata())
        self.log.append("done")

    def _metadata(self) -> Any:
        return M.Metadata(
            device_name=f"{self.device}:0", cur_step=self.step, backend=self.backend, cur_node=self.node,
            training_done=self.done, graph_num=1, ms_version=self.version,
        )  # fmt: skip

    def _beat(self) -> None:
        while not self.stopped.wait(self.period / 2):
            self.stub.SendHeartbeat(M.Heartbeat(message="Debugger is alive", period=self.period))

    def graph(self) -> Any:
        """The graph of the network, with types, shapes and source lines."""
        shapes = {"x": self.x, "y": self.y, **self.net.parameters}
        made = {name: name for name in shapes}
        graph = M.GraphProto(name="kernel_graph_0", root_name="kernel_graph_0")
        values: dict[str, Array] = {"x": self.x, "y": self.y, **{n: v.copy() for n, v in self.net.parameters.items()}}
        for place, one in enumerate(self.net.operators):
            output = np.asarray(one.compute(*(values[name] for name in one.inputs)))
            node = graph.node.add(
                name=str(place), op_type=one.type, scope=one.name.rpartition("/")[0], full_name=one.name,
                output_type=_type(output),
            )  # fmt: skip
            for name in one.inputs:
                node.input.add(name=made[name])
            if self.lines:
                node.source_address = f"# In file /home/me/net.py:{one.line}/        value = self.{one.type.lower()}(value)/"
            if one.output not in self.net.parameters:
                made[one.output], values[one.output] = str(place), output
        for name, value in shapes.items():
            graph.parameters.add(name=name, type=_type(value))
        return graph

    # A step ------------------------------------------------------------------------------------------------------------------

    def _train(self) -> bool:
        """Run a step, stopping at each operator if told to, and obey at its end; False if ended."""
        self.before = {name: value.copy() for name, value in self.net.parameters.items()}
        values: dict[str, Array] = {"x": self.x, "y": self.y}
        with np.errstate(all="ignore"):
            for one in self.net.operators:
                taken = [self.net.parameters[name] if name in self.net.parameters else values[name] for name in one.inputs]
                made = one.compute(*taken)
                if one.output not in self.net.parameters:
                    made = np.array(made, np.float32)
                    if self.step == self.nan_at and one.type == "TanhGrad":
                        made.flat[0] = np.nan
                    values[one.output] = made
                self.values[one.name] = np.array(made)
                if self.level == "node":
                    self.node = one.name
                    if not self._obey():
                        return False
        self.values.update({"x": self.x, "y": self.y}, **{name: value.copy() for name, value in self.net.parameters.items()})
        self.losses.append(float(values["loss"]))
        self.step, self.node = self.step + 1, ""
        self._check()
        return self._obey()

    def _obey(self) -> bool:
        """Wait for commands until one runs the training; False if it ended it."""
        fails = 0
        while True:
            reply = self.stub.WaitCMD(self._metadata())
            if reply.status != OK:
                fails += 1
                self.log.append(f"failed {reply.status}")
                if fails > 2:
                    return False
                time.sleep(0.05)
                continue
            kind = reply.WhichOneof("cmd")
            if kind == "exit":
                self.log.append("exit")
                return False
            if kind == "run_cmd":
                run = reply.run_cmd
                self.log.append(f"run {run.run_level} {run.run_steps if run.run_level == 'step' else repr(run.node_name)}")
                if run.run_level == "recheck":
                    self._check()
                    continue
                self.level = run.run_level
                return True
            if kind == "set_cmd":
                self._set(reply.set_cmd)
            elif kind == "view_cmd":
                self._view(reply.view_cmd)
            else:
                raise AssertionError(f"unexpected command {kind}")

    def _set(self, command: Any) -> None:
        if command.delete:
            self.log.append(f"delete {command.id}")
            del self.watched[command.id]
        else:
            self.log.append(f"set {command.id} {command.watch_condition.condition} {len(command.watch_nodes)}")
            self.watched[command.id] = command

    # What is asked for ---------------------------------------------------------------------------------------------------

    def find(self, tensor: Any) -> Array | None:
        if tensor.slot != "0":
            return None
        return (self.before if tensor.iter == "prev" else self.values).get(tensor.node_name)

    def _view(self, command: Any) -> None:
        found = [(tensor, self.find(tensor)) for tensor in command.tensors]
        self.log.append(f"view {command.level} {len(found)}")
        if command.level == 0:
            self.stub.SendTensors(piece for tensor, value in found for piece in pieces(tensor, value))
        elif command.level == 1:
            self.stub.SendTensorStats(iter([summary(value) for _, value in found]))
        else:
            self.stub.SendTensorBase(iter([base(value) for _, value in found]))

    def _check(self) -> None:
        hits = [hit for number, command in self.watched.items() for hit in self._found(number, command)]
        if hits:
            self.log.append(f"hits {len(hits)}")
            self.stub.SendWatchpointHits(iter(hits))

    def _found(self, number: int, command: Any) -> Iterator[Any]:
        condition = command.watch_condition
        if condition.condition == 14 and self.step:
            return
        parameters = [one for one in condition.params if not one.disabled]
        for node in command.watch_nodes:
            value = self.values.get(node.node_name)
            if value is None:
                continue
            before = self.before.get(node.node_name)
            hit = M.WatchpointHit(id=number, tensor=M.TensorProto(node_name=node.node_name, slot="0", finished=True))
            hit.watch_condition.condition = condition.condition
            bad = int(np.isnan(value).any()) | 2 * int(np.isinf(value).any())
            if condition.condition == 13:
                if bad:
                    yield hit
                continue
            if condition.condition in (18, 19, 20) and before is None:
                hit.error_code = 4
                yield hit
                continue
            if bad:
                hit.error_code = bad
                yield hit
                continue
            names = {one.name: one.value for one in parameters}
            met = False
            for one in parameters:
                actual = measured(one.name, value, before, names)
                if actual is None:
                    continue
                exceeded = actual > one.value if one.name.endswith("_gt") else actual < one.value
                exceeded = actual >= one.value if one.name.endswith("_ge") else exceeded
                if one.name == "rtol":
                    exceeded = bool(np.allclose(value, before, rtol=one.value, atol=1e-8))
                met |= exceeded
                hit.watch_condition.params.add(name=one.name, value=one.value, hit=exceeded, actual_value=actual)
            if met:
                yield hit


def measured(name: str, value: Array, before: Array | None, names: dict[str, float]) -> float | None:
    """What a parameter of a condition is compared with."""
    wide = value.astype(np.float64)
    if name == "zero_percentage_ge":
        return 100.0 * float((wide == 0).mean())
    if name.startswith("abs_mean_update_ratio"):
        assert before is not None
        then = before.astype(np.float64)
        return float(np.abs(wide - then).mean() / (np.abs(then).mean() + 1e-9))
    if name == "rtol":
        return 0.0
    if name.startswith("range_percentage"):
        inside = (wide >= names["range_start_inclusive"]) & (wide <= names["range_end_inclusive"])
        return 100.0 * float(inside.mean())
    if name.startswith("max_min"):
        return float(wide.max() - wide.min())
    measures: dict[str, Callable[[Array], Any]] = {
        "abs_mean": lambda one: np.abs(one).mean(), "max": np.max, "min": np.min, "mean": np.mean,
    }  # fmt: skip
    kind = name.rpartition("_")[0]
    return float(measures[kind](wide)) if kind in measures else None


# Messages --------------------------------------------------------------------------------------------------------------------


def chunks(data: bytes, size: int = PIECE) -> Iterator[Any]:
    for at in range(0, max(len(data), 1), size):
        yield M.Chunk(buffer=data[at : at + size], finished=at + size >= len(data))


def pieces(tensor: Any, value: Array | None, size: int = PIECE) -> Iterator[Any]:
    names = {"node_name": tensor.node_name, "slot": tensor.slot, "iter": tensor.iter}
    if value is None:
        yield M.TensorProto(finished=True, **names)
        return
    raw = memoryview(np.ascontiguousarray(value)).cast("B") if value.ndim else memoryview(value.tobytes())
    for at in range(0, max(len(raw), 1), size):
        yield M.TensorProto(
            tensor_content=bytes(raw[at : at + size]), dims=value.shape, data_type=NUMBERS[value.dtype.name],
            finished=at + size >= len(raw), **names,
        )  # fmt: skip


def base(value: Array | None) -> Any:
    if value is None:
        return M.TensorBase(data_type=0, shape=[0], data_size=0)
    return M.TensorBase(data_type=NUMBERS[value.dtype.name], shape=value.shape, data_size=value.nbytes)


def summary(value: Array | None) -> Any:
    found = M.TensorSummary(tensor_base=base(value))
    if value is not None:
        with np.errstate(all="ignore"):
            found.statistics.max_value, found.statistics.min_value = float(value.max()), float(value.min())
            found.statistics.avg_value = float(value.astype(np.float64).mean())
        counts = {
            "count": value.size, "neg_zero_count": (value < 0).sum(), "pos_zero_count": (value > 0).sum(),
            "nan_count": np.isnan(value).sum(), "neg_inf_count": (value == -np.inf).sum(),
            "pos_inf_count": (value == np.inf).sum(), "zero_count": (value == 0).sum(),
        }  # fmt: skip
        for name, count in counts.items():
            setattr(found.statistics, name, int(count))
    return found


def _type(value: Array) -> Any:
    found = M.TypeProto(data_type=14)
    found.tensor_type.elem_type = NUMBERS[value.dtype.name]
    for size in value.shape:
        found.tensor_type.shape.dim.add(size=size)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    for name, default in (("steps", 100), ("seed", 0), ("nan", -1), ("large", 0), ("period", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    training = Training(
        given.port, steps=given.steps, seed=given.seed, nan_at=given.nan, large=given.large, period=given.period
    )
    training.run()
    print("\n".join(training.log))


if __name__ == "__main__":
    main()
