"""Writes parallel_strategy_<r>.json as MindSpore 2.0 to 2.2 do: protobuf's JSON, whole numbers of 64 bits as text.

Of a simulated job: the operators of one micro batch in a rank's stage, with the names that its kernels have.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from app.demo.simulated.kernels import BACKWARD, FORWARD, LAYERS, OPTIMIZER, TOKENS, WIDTH, Operator
from app.demo.simulated.programs import JobPlan

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
    more: Mapping[str, Any] | None = None, number: int | None = None,
) -> Node:  # fmt: skip
    """An operator. strategy is its gen_strategy, user its in_strategy; an input that begins with ^ only comes first.

    number is that in its full name, by default its name.
    """
    told = {**({"gen_strategy": tuple_of(strategy)} if strategy is not None else {}),
            **({"in_strategy": tuple_of(user)} if user is not None else {}), **(more or {})}  # fmt: skip
    return {
        "input": [
            {"name": one.removeprefix("^"), "type": "CONTROL_EDGE" if one.startswith("^") else "DATA_EDGE"} for one in inputs
        ],
        "name": name, "opType": kind, "scope": scope, "fullName": f"{scope}/{kind}-op{name if number is None else number}",
        "instanceName": instance, "attribute": [{"name": key, "value": value} for key, value in told.items()],
        "outputType": tensor(shape),
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


# A simulated job ------------------------------------------------------------------------------------------------------------


def of_rank(plan: JobPlan, rank: int) -> Node:
    """Return the file of a rank of a job without tensor parallelism, whose replicas share each batch."""
    stage = plan.place(rank)[1]
    graph = _Stage(plan, stage)
    stages = [[plan.rank(dp, one, tp) for dp in range(plan.dp) for tp in range(plan.tp)] for one in range(plan.pp)]
    return content(graph.nodes, rank=rank, stage=stage, stages=stages, parameters=graph.parameters)


class _Stage:
    """The operators of one micro batch in a stage: forward, backward, sums of gradients over the replicas, the optimizer."""

    def __init__(self, plan: JobPlan, stage: int) -> None:
        self.nodes: list[Node] = []
        self.parameters: list[Node] = []
        self._plan, self._first, self._last = plan, stage == 0, stage == plan.pp - 1
        self._weights: list[tuple[str, tuple[int, ...]]] = []
        forward = self._forward()
        backward = self._backward(forward)
        for layer, operator in enumerate(OPTIMIZER):
            own = [name for name, _ in self._weights if name.startswith(f"blocks.{layer}.")]
            sums = [self._sum(name, backward) for name in own]
            scope = f"Default/optimizer/{operator.module}"
            self._add(operator.type, scope, [*sums, *own], operator.output, number=layer)

    def _forward(self) -> list[str]:
        """Add the operators of the layers; return the names of the inputs of each, and of what leaves the stage."""
        begin = ("GetNext", "Default") if self._first else ("Receive", "Default/vit")
        last = self._add(*begin, [], (TOKENS, WIDTH))
        inputs = []
        for layer in range(LAYERS):
            for place, operator in enumerate(FORWARD):
                inputs.append(last)
                scope = f"Default/vit/blocks.{layer}/{operator.module}"
                last = self._operator(operator, scope, [last, *self._weight(layer, operator)], layer * len(FORWARD) + place)
        inputs.append(last if self._last else self._add("Send", "Default/vit", [last], (TOKENS, WIDTH)))
        return inputs

    def _backward(self, forward: list[str]) -> str:
        """Add the operators of the layers from the last to the first; return the name of the last one."""
        last = forward[-1]
        if not self._last:
            last = self._add("Receive", "Gradients/Default/vit", [f"^{last}"], (TOKENS, WIDTH))
        for layer in reversed(range(LAYERS)):
            for place, operator in enumerate(BACKWARD):
                scope = f"Gradients/Default/vit/blocks.{layer}/{operator.module}"
                of = forward[layer * len(FORWARD) + len(FORWARD) - 1 - place]
                last = self._operator(operator, scope, [last, of], layer * len(FORWARD) + place)
        return last if self._first else self._add("Send", "Gradients/Default/vit", [last], (TOKENS, WIDTH))

    def _weight(self, layer: int, operator: Operator) -> list[str]:
        """Add the weight of an operator that has one; return its name."""
        if not operator.type.startswith(("MatMul", "LayerNorm")):
            return []
        name = f"blocks.{layer}.{operator.module.replace('/', '.')}.weight"
        shape = operator.inputs[1] if len(operator.inputs) > 1 else (WIDTH,)
        self._weights.append((name, shape))
        self.parameters.append(parameter(name, shape))
        return [name]

    def _sum(self, weight: str, after: str) -> str:
        """Add the sum of the gradients of a weight over the replicas."""
        shape = dict(self._weights)[weight]
        return self._add("AllReduce", "Gradients/Default/vit", [after], shape, instance=f"grad_mirror_AllReduce_{weight}")

    def _operator(self, operator: Operator, scope: str, inputs: list[str], number: int) -> str:
        """Add an operator; its replicas divide the first side of each input, except of weights."""
        shared = 1  # the others are weights
        if operator.type.startswith("Flash"):  # of heads: its queries, keys and values, behind the gradient
            shared = len(operator.inputs)
            heads = [self._add("Reshape", scope, [one], operator.inputs[0]) for one in inputs]
            inputs = heads[:1] + heads[-1:] * (shared - 1)
        divided = [[self._plan.dp if at < shared else 1, *[1] * (len(one) - 1)] for at, one in enumerate(operator.inputs)]
        return self._add(operator.type, scope, inputs, operator.output, strategy=divided, number=number)

    def _add(
        self, kind: str, scope: str, inputs: Sequence[str], shape: Sequence[int], *, strategy: Sequence[Any] | None = None,
        instance: str = "", number: int | None = None,
    ) -> str:  # fmt: skip
        name = str(len(self.nodes) + 1)
        self.nodes.append(node(name, kind, scope, inputs, strategy=strategy, instance=instance, shape=shape, number=number))
        return name
