"""Makes parallel_strategy_<r>.json as MindSpore writes it: protobuf's JSON, whole numbers of 64 bits as text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Node = dict[str, Any]


def whole(value: int) -> Node:
    """A number as a ValueProto."""
    return {"dtype": "DT_INT64", "intVal": str(value)}


def tuple_of(values: Sequence[Any]) -> Node:
    """Numbers, and tuples of them, as a ValueProto."""
    parts = [tuple_of(one) if isinstance(one, list | tuple) else whole(one) for one in values]
    return {"dtype": "DT_TUPLE", "values": parts} if parts else {"dtype": "DT_TUPLE"}


def tensor(shape: Sequence[int]) -> Node:
    """The type of a float32 tensor."""
    dims = {"shape": {"dim": [{"size": str(size)} for size in shape]}} if shape else {}
    return {"dataType": "DT_TENSOR", "tensorType": {"elemType": "DT_FLOAT32", **dims}}


def node(
    name: str, kind: str, scope: str, inputs: Sequence[str] = (), *, strategy: Sequence[Any] | None = None,
    user: Sequence[Any] | None = None, instance: str = "", shape: Sequence[int] = (8, 16),
    more: Mapping[str, Any] | None = None,
) -> Node:  # fmt: skip
    """An operator. strategy is its gen_strategy, user its in_strategy; an input that begins with ^ only comes first."""
    told = {**({"gen_strategy": tuple_of(strategy)} if strategy is not None else {}),
            **({"in_strategy": tuple_of(user)} if user is not None else {}), **(more or {})}  # fmt: skip
    return {
        "input": [
            {"name": one.removeprefix("^"), "type": "CONTROL_EDGE" if one.startswith("^") else "DATA_EDGE"} for one in inputs
        ],
        "name": name, "opType": kind, "scope": scope, "fullName": f"{scope}/{kind}-op{name}", "instanceName": instance,
        "attribute": [{"name": key, "value": value} for key, value in told.items()], "outputType": tensor(shape),
    }  # fmt: skip


def parameter(name: str, shape: Sequence[int]) -> Node:
    """A parameter."""
    return {"name": name, "type": tensor(shape)}


def content(
    nodes: Sequence[Node], *, rank: int = 0, stage: int | None = 0, stages: Sequence[Sequence[int]] = ((0, 1),),
    mode: str = "semi_auto_parallel", parameters: Sequence[Node] = (), constants: Sequence[Node] = (),
) -> Node:  # fmt: skip
    """A whole file."""
    config: Node = {"rankId": rank, "parallelType": mode}
    if stage is not None:
        config["stageId"] = stage
    config["stageDevices"] = [{"dim": [{"size": str(one)} for one in ranks]} for ranks in stages]
    return {"config": config, "graph": {"node": list(nodes), "parameters": list(parameters), "constVals": list(constants)}}


def write(folder: Path, rank: int, told: Node) -> Path:
    """Write the file of a rank."""
    path = folder / f"parallel_strategy_{rank}.json"
    path.write_text(json.dumps(told, indent=2))
    return path


def network() -> Node:
    """A file with 10 operators: 4 with a strategy, 3 that redistribute, 2 that aggregate gradients; two stages of two ranks."""
    return content(
        [
            node("1", "GetNext", "Default", shape=(8, 16)),
            node("2", "MatMul", "Default/net/fc1", ["1", "fc1.weight"], strategy=[[2, 1], [1, 1]], shape=(8, 32)),
            node("3", "AllGather", "Default/net/fc1", ["2"], instance="redistribution_op_0_AllGather"),
            node("4", "Split", "Default/net/fc1", ["3", "one"], instance="redistribution_op_1_Split"),
            node("5", "MatMul", "Default/net/fc2", ["4", "fc2.weight"], user=[[1, 2], [2, 3]], strategy=None, shape=(8, 8)),
            node("6", "MatMul", "recompute_Default/net/fc1", ["1", "fc1.weight"], strategy=[[2, 1], [1, 1]]),
            node("7", "MatMulGrad", "Gradients/Default/net/fc1", ["5", "^6"], strategy=[[1, 1], [1, 1]]),
            node("8", "AllReduce", "Gradients/Default/net/fc1", ["7"], instance="grad_mirror_AllReduce_fc1.weight"),
            node("9", "AllReduce", "Gradients/Default/net/fc2", ["7"], instance="cell/grad_mirror_1"),
            node("10", "AllToAll", "Default/optimizer-Adam", ["8", "9"], instance="x_redistribution"),
        ],
        stages=((0, 1), (2, 3)), parameters=[parameter("fc1.weight", (16, 32)), parameter("fc2.weight", (32, 8))],
        constants=[{"key": "one", "value": whole(1)}],
    )  # fmt: skip
