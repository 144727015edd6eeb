"""Graphs of the size of a large language model, as MindSpore would write them: layers forward, backward and in the optimizer.

`transformer(layers)` gives the bytes of a GraphProto: per layer 90 operators and 24 parameters with 208 edges, and scopes,
types, attributes and names such as those of a BERT trained with MindSpore 2.10. The same call gives the same bytes.
"""

from __future__ import annotations

from parsers.recording.wire import delimited, number

FLOAT32, TENSOR = 11, 14
ROWS, WIDTH = 512, 1024
_CELL = "network-WithLossCell/_backbone-Bert/encoder-Encoder/layers-CellList/{}-EncoderCell"


def transformer(layers: int) -> bytes:
    """Return a GraphProto with this many layers."""
    graph = _Graph()
    graph.constants = [graph.constant(value) for value in range(4)]
    entering = graph.parameter("input_ids", ROWS, WIDTH)
    tape: list[tuple[str, str, list[str]]] = []
    weights: list[str] = []
    for layer in range(layers):
        entering = _forward(graph, f"Default/{_CELL.format(layer)}", layer, entering, tape, weights)
    gradient = graph.node("Default/loss", "ReduceSum", [entering, graph.constants[0]])
    for scope, op_type, inputs in reversed(tape):
        gradient = graph.node(f"Gradients/{scope}/Grad_{op_type}", f"{op_type}Grad", [gradient, *inputs[:1]])
    state = graph.constants[0]
    for weight in weights:
        moment = graph.parameter(f"moments.{weight}", WIDTH, WIDTH)
        done = graph.node("Default/optimizer-Adam", "Adam", [weight, moment, gradient, state])
        state = graph.node("Default/optimizer-Adam", "UpdateState", [state, done])
    return graph.message(state)


def _forward(
    graph: _Graph, cell: str, layer: int, entering: str, tape: list[tuple[str, str, list[str]]], weights: list[str]
) -> str:
    """One layer: attention and feed-forward network, each with its residual connection and norm."""

    def op(place: str, op_type: str, *inputs: str) -> str:
        scope = f"{cell}/{place}" if place else cell
        tape.append((scope, op_type, list(inputs)))
        return graph.node(scope, op_type, list(inputs))

    def dense(place: str, name: str, value: str) -> str:
        scope, parts = f"{cell}/{place}", []
        for part in ("weight", "bias"):
            weights.append(graph.parameter(f"encoder.layers.{layer}.{name}.{part}", WIDTH, WIDTH))
            parts.append(graph.node(scope, "Load", [weights[-1], graph.constants[0]]))
        return op(place, "BiasAdd", op(place, "MatMul", value, parts[0], *graph.constants[1:3]), parts[1])

    def attend(name: str) -> str:
        value = op("attention-SelfAttention", "Reshape", dense(f"attention-SelfAttention/{name}-Dense", name, entering))
        return op("attention-SelfAttention", "Transpose", value, graph.constants[3])

    query, key, value = (attend(name) for name in ("query", "key", "value"))
    scores = op("attention-SelfAttention/softmax-Softmax", "Softmax", op("attention-SelfAttention", "BatchMatMul", query, key))
    mixed = op("attention-SelfAttention", "Transpose", op("attention-SelfAttention", "BatchMatMul", scores, value))
    added = op("", "Add", dense("attention-SelfAttention/output-Dense", "output", mixed), entering)
    normed = op("norm1-LayerNorm", "LayerNorm", added)
    inner = op("mlp-FeedForward", "GeLU", dense("mlp-FeedForward/up-Dense", "up", normed))
    return op("norm2-LayerNorm", "LayerNorm", op("", "Add", dense("mlp-FeedForward/down-Dense", "down", inner), normed))


class _Graph:
    """Messages of one graph as they are made; names of nodes are numbers, as MindSpore gives them."""

    def __init__(self) -> None:
        self.nodes: list[bytes] = []
        self.parameters: list[bytes] = []
        self.values: list[bytes] = []
        self.constants: list[str] = []
        self.edges = 0

    def node(self, scope: str, op_type: str, inputs: list[str]) -> str:
        name = str(len(self.nodes) + 1)
        self.edges += len(inputs)
        message = [delimited(1, delimited(1, one.encode()) + number(2, 0)) for one in inputs]
        message += [delimited(2, name.encode()), delimited(3, op_type.encode()), delimited(4, scope.encode())]
        named = [delimited(18, number(1, 13) + delimited(7, b"x%d" % place)) for place in (1, 2)]
        message += [
            _attribute("transpose_a", number(1, 1) + number(2, 0)),
            _attribute("input_names", number(1, 32) + b"".join(named)),
            _attribute("output_names", number(1, 32) + delimited(18, number(1, 13) + delimited(7, b"output"))),
            _attribute("unique_id", number(1, 13) + delimited(7, name.encode())),
        ]
        message += [delimited(6, _type(ROWS, WIDTH)), delimited(8, f"{scope}/{op_type}-op{name}".encode())]
        self.nodes.append(b"".join(message))
        return name

    def parameter(self, name: str, *shape: int) -> str:
        self.parameters.append(delimited(1, name.encode()) + delimited(2, _type(*shape)))
        return name

    def constant(self, value: int) -> str:
        name = f"cst{len(self.values) + 1}"
        self.values.append(delimited(1, name.encode()) + delimited(2, number(1, 5) + number(3, value)))
        return name

    def message(self, output: str) -> bytes:
        parts = [delimited(1, node) for node in self.nodes] + [delimited(2, b"transformer")]
        parts += [delimited(3, one) for one in self.parameters] + [delimited(4, delimited(1, output.encode()))]
        return b"".join(parts + [delimited(5, one) for one in self.values])


def _type(*shape: int) -> bytes:
    dims = b"".join(delimited(1, number(1, size)) for size in shape)
    return number(1, TENSOR) + delimited(2, number(1, FLOAT32) + delimited(2, dims))


def _attribute(name: str, value: bytes) -> bytes:
    return delimited(5, delimited(1, name.encode()) + delimited(2, value))
