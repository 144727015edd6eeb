"""The networks of set 3: nine that come with the package `onnx`, whose weights are filled here, and five that are built here.

Weights are scaled so that activations stay near 1. For code alone they need no values: they are then a file without content.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LIGHT = (
    "bvlc_alexnet",
    "densenet121",
    "inception_v1",
    "inception_v2",
    "resnet50",
    "shufflenet",
    "squeezenet",
    "vgg19",
    "zfnet512",
)


def write_networks(directory: Path, *, values: bool) -> Iterator[tuple[str, Path]]:
    """Write each network, its weights in a file beside it, and yield its name and path."""
    for name in LIGHT:
        source = Path(os.path.dirname(onnx.__file__)) / "backend" / "test" / "data" / "light" / f"light_{name}.onnx"
        yield name, _written(directory / f"{name}.onnx", *_filled(onnx.load(source), values))
    for build in (bert_tiny, vit_block, unet, yolo_head, gpt2_block):
        made = build()
        name = build.__name__
        shapes = {key: list(array.shape) for key, array in made.weights.items()}
        yield name, _written(directory / f"{name}.onnx", made.model(name), shapes, made.weights)


def _written(path: Path, model: onnx.ModelProto, shapes: dict[str, list[int]], values: dict[str, np.ndarray] | None) -> Path:
    """Write a model; weights go into one external file, without values into one that only has the size."""
    small = (
        {}
        if values is None
        else {key: array for key, array in values.items() if array.size < 1024 or array.dtype != np.float32}
    )
    place = 0
    with open(path.with_suffix(".data"), "wb") as file:
        for name, shape in shapes.items():
            if name in small:
                model.graph.initializer.append(numpy_helper.from_array(small[name], name))
                continue
            tensor = TensorProto(name=name, dims=shape, data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
            length = 4 * math.prod(shape)
            for key, value in (("location", path.with_suffix(".data").name), ("offset", place), ("length", length)):
                tensor.external_data.add(key=key, value=str(value))
            model.graph.initializer.append(tensor)
            if values is not None:
                file.write(values[name].astype("<f4").tobytes())
            place += length
        file.truncate(place)
    onnx.save(model, path)
    return path


# Networks of onnx: their weights are nodes ConstantOfShape.


def _filled(model: onnx.ModelProto, values: bool) -> tuple[onnx.ModelProto, dict[str, list[int]], dict[str, np.ndarray] | None]:
    """Return the model without its nodes ConstantOfShape, and shapes and values of the weights they stood for."""
    known = {tensor.name: tensor for tensor in model.graph.initializer}
    shapes: dict[str, list[int]] = {}
    kept = []
    for node in model.graph.node:
        if node.op_type == "ConstantOfShape" and node.input[0] in known:
            shapes[node.output[0]] = numpy_helper.to_array(known[node.input[0]]).tolist()
        else:
            kept.append(node)
    del model.graph.node[:]
    model.graph.node.extend(kept)
    return model, shapes, _scaled(model, shapes) if values else None


def _scaled(model: onnx.ModelProto, shapes: dict[str, list[int]]) -> dict[str, np.ndarray]:
    """Return random weights; those of each layer are divided by the deviation of what it computes, layer by layer."""
    rng = np.random.default_rng(0)
    found = {name: rng.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}
    held = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    for value in model.graph.input:
        if value.name not in held:
            held[value.name] = rng.normal(size=[dim.dim_value for dim in value.type.tensor_type.shape.dim]).astype(np.float32)
    opsets = list(model.opset_import)
    made: dict[str, str] = {}  # results of nodes that only reshape a weight
    for node in model.graph.node:
        arrays = [found[name] if name in found else held[name] for name in node.input]
        if node.op_type == "BatchNormalization":
            x, *_ = arrays
            axes = tuple(axis for axis in range(x.ndim) if axis != 1)
            spread = np.maximum(x.var(axes), x.var(axes).mean())  # the rounding of a channel that hardly varies is not enlarged
            for place, array in ((1, rng.uniform(0.1, 0.3, x.shape[1])), (3, x.mean(axes)), (4, spread)):
                if node.input[place] in found:
                    found[node.input[place]] = arrays[place] = array.astype(np.float32)
        (result, *_) = _run(node, arrays, opsets)
        weight = made.get(node.input[1], node.input[1]) if node.op_type in ("Conv", "Gemm", "MatMul") else ""
        if weight in found:
            factor = 2 * float(result.std()) or 1.0
            found[weight] /= factor
            held |= {name: held[name] / factor for name, source in made.items() if source == weight}
            arrays = [found[name] if name in found else held[name] for name in node.input]
            (result, *_) = _run(node, arrays, opsets)
        elif len(node.input) and node.input[0] in found:
            made[node.output[0]] = node.input[0]
        held[node.output[0]] = result
    return found


def _run(node: onnx.NodeProto, arrays: list[np.ndarray], opsets: list[Any]) -> list[np.ndarray]:
    import onnxruntime

    feeds = {name: array for name, array in zip(node.input, arrays, strict=True) if name}
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for name, a in feeds.items()
    ]
    outputs = [helper.make_empty_tensor_value_info(node.output[0])]
    model = helper.make_model(helper.make_graph([node], "one", inputs, outputs), opset_imports=opsets, ir_version=8)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return list(onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"]).run(None, feeds))


# Networks built here, with the names that exporters give.


class Network:
    """Nodes and weights of a network that is being built."""

    def __init__(self, opset: int) -> None:
        self.opset, self.rng = opset, np.random.default_rng(1)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, np.ndarray] = {}
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []

    def input(self, name: str, shape: list[Any], dtype: int = TensorProto.FLOAT) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, name: str, value: str, shape: list[Any]) -> None:
        self.nodes.append(helper.make_node("Identity", [value], [name], f"/{name}"))
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def weight(self, name: str, *shape: int, scale: float | None = None, mean: float = 0.0) -> str:
        scale = scale or 1 / math.sqrt(math.prod(shape[1:]) if len(shape) > 2 else shape[0])
        self.weights[name] = self.rng.normal(mean, scale, shape).astype(np.float32)
        return name

    def constant(self, value: Any, dtype: Any = np.int64) -> str:
        name = f"onnx::Constant_{len(self.weights)}"
        self.weights[name] = np.array(value, dtype)
        return name

    def op(self, kind: str, *inputs: str, scope: str = "", count: int = 1, **attributes: Any) -> Any:
        number = sum(node.op_type == kind and node.name.startswith(f"{scope}/{kind}") for node in self.nodes)
        name = f"{scope}/{kind}" + (f"_{number}" if number else "")
        outputs = [f"{name}_output_{place}" for place in range(count)]
        self.nodes.append(helper.make_node(kind, list(inputs), outputs, name, **attributes))
        return outputs[0] if count == 1 else outputs

    def dense(self, x: str, scope: str, inner: int, outer: int) -> str:
        base = scope.strip("/").replace("/", ".")
        y = self.op("MatMul", x, self.weight(f"{base}.weight", inner, outer), scope=scope)
        return str(self.op("Add", self.weight(f"{base}.bias", outer, scale=0.1), y, scope=scope))

    def norm(self, x: str, scope: str, width: int) -> str:
        base = scope.strip("/").replace("/", ".")
        gamma, beta = self.weight(f"{base}.weight", width, scale=0.1, mean=1.0), self.weight(f"{base}.bias", width, scale=0.1)
        if self.opset >= 17:
            return str(self.op("LayerNormalization", x, gamma, beta, scope=scope, epsilon=1e-5))
        middle = self.op("Sub", x, self.op("ReduceMean", x, scope=scope, axes=[-1]), scope=scope)
        square = self.op("Pow", middle, self.constant(2.0, np.float32), scope=scope)
        spread = self.op(
            "Add", self.op("ReduceMean", square, scope=scope, axes=[-1]), self.constant(1e-5, np.float32), scope=scope
        )
        found = self.op("Div", middle, self.op("Sqrt", spread, scope=scope), scope=scope)
        return str(self.op("Add", self.op("Mul", found, gamma, scope=scope), beta, scope=scope))

    def conv(self, x: str, scope: str, inner: int, outer: int, size: int, **attributes: Any) -> str:
        base = scope.strip("/").replace("/", ".")
        weight = self.weight(f"{base}.weight", outer, inner // attributes.get("group", 1), size, size)
        attributes.setdefault("pads", [size // 2] * 4)
        bias = self.weight(f"{base}.bias", outer, scale=0.1)
        return str(self.op("Conv", x, weight, bias, scope=scope, kernel_shape=[size, size], **attributes))

    def model(self, name: str) -> onnx.ModelProto:
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs)
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8, producer_name="networks"
        )


def _split_heads(net: Network, x: str, scope: str, heads: int, width: int, order: tuple[int, ...] = (0, 2, 1, 3)) -> str:
    """(batch, length, heads * width) to (batch, heads, length, width); batch and length are read from the shape."""
    shape = net.op("Shape", x, scope=scope)
    sizes = [net.op("Gather", shape, net.constant(place), scope=scope, axis=0) for place in (0, 1)]
    sizes = [net.op("Unsqueeze", size, net.constant([0]), scope=scope) for size in sizes]
    target = net.op("Concat", *sizes, net.constant([heads]), net.constant([width]), scope=scope, axis=0)
    return str(net.op("Transpose", net.op("Reshape", x, target, scope=scope), scope=scope, perm=list(order)))


def bert_tiny() -> Network:
    """Two layers of 128 with two heads, embeddings, a mask, and the pooler."""
    net, width, heads = Network(17), 128, 2
    ids, mask = (net.input(name, ["batch", 32], TensorProto.INT64) for name in ("input_ids", "attention_mask"))
    scope = "/bert/embeddings"
    words = net.op("Gather", net.weight("bert.embeddings.word_embeddings.weight", 1000, width, scale=1.0), ids,
                   scope=f"{scope}/word_embeddings")  # fmt: skip
    x = net.op("Add", words, net.weight("bert.embeddings.position_embeddings.weight", 32, width, scale=0.5), scope=scope)
    x = net.norm(x, f"{scope}/LayerNorm", width)
    open_mask = net.op("Unsqueeze", mask, net.constant([1, 2]), scope="/bert")
    bias = net.op("Sub", net.constant(1.0, np.float32), net.op("Cast", open_mask, scope="/bert", to=1), scope="/bert")
    bias = net.op("Mul", bias, net.constant(-10000.0, np.float32), scope="/bert")
    for layer in range(2):
        scope = f"/bert/encoder/layer.{layer}"
        own = f"{scope}/attention/self"
        query, key, value = (
            _split_heads(net, net.dense(x, f"{own}/{part}", width, width), own, heads, width // heads, order)
            for part, order in (("query", (0, 2, 1, 3)), ("key", (0, 2, 3, 1)), ("value", (0, 2, 1, 3)))
        )
        scores = net.op("Div", net.op("MatMul", query, key, scope=own), net.constant(8.0, np.float32), scope=own)
        weights = net.op("Softmax", net.op("Add", scores, bias, scope=own), scope=own, axis=-1)
        found = net.op("Transpose", net.op("MatMul", weights, value, scope=own), scope=own, perm=[0, 2, 1, 3])
        found = net.op("Reshape", found, net.constant([0, 0, width]), scope=own)
        found = net.dense(found, f"{scope}/attention/output/dense", width, width)
        x = net.norm(net.op("Add", found, x, scope=f"{scope}/attention/output"), f"{scope}/attention/output/LayerNorm", width)
        inner = net.dense(x, f"{scope}/intermediate/dense", width, 4 * width)
        act = f"{scope}/intermediate/intermediate_act_fn"
        erf = net.op("Erf", net.op("Div", inner, net.constant(math.sqrt(2), np.float32), scope=act), scope=act)
        inner = net.op("Mul", inner, net.op("Add", erf, net.constant(1.0, np.float32), scope=act), scope=act)
        inner = net.op("Mul", inner, net.constant(0.5, np.float32), scope=act)
        out = net.dense(inner, f"{scope}/output/dense", 4 * width, width)
        x = net.norm(net.op("Add", out, x, scope=f"{scope}/output"), f"{scope}/output/LayerNorm", width)
    first = net.op("Gather", x, net.constant(0), scope="/bert/pooler", axis=1)
    pooled = net.op("Tanh", net.dense(first, "/bert/pooler/dense", width, width), scope="/bert/pooler/activation")
    net.output("last_hidden_state", x, ["batch", 32, width])
    net.output("pooler_output", pooled, ["batch", width])
    return net


def vit_block() -> Network:
    """Patches by a convolution, a class token, one block with attention of one matrix, and a head."""
    net, width, heads = Network(14), 64, 4
    x = net.conv(net.input("pixel_values", [1, 3, 32, 32]), "/patch_embed/proj", 3, width, 8, strides=[8, 8], pads=[0] * 4)
    x = net.op("Reshape", x, net.constant([0, width, -1]), scope="/patch_embed")
    x = net.op("Transpose", x, scope="/patch_embed", perm=[0, 2, 1])
    batch = net.op("Gather", net.op("Shape", x), net.constant([0]), axis=0)
    token = net.op(
        "Expand", net.weight("cls_token", 1, 1, width, scale=0.5), net.op("Concat", batch, net.constant([1, width]), axis=0)
    )
    x = net.op("Add", net.op("Concat", token, x, axis=1), net.weight("pos_embed", 1, 17, width, scale=0.5))
    own = "/blocks.0/attn"
    qkv = net.dense(net.norm(x, "/blocks.0/norm1", width), f"{own}/qkv", width, 3 * width)
    qkv = net.op("Reshape", qkv, net.constant([0, 17, 3, heads, width // heads]), scope=own)
    qkv = net.op("Transpose", qkv, scope=own, perm=[2, 0, 3, 1, 4])
    query, key, value = (net.op("Gather", qkv, net.constant(place), scope=own, axis=0) for place in range(3))
    key = net.op("Transpose", key, scope=own, perm=[0, 1, 3, 2])
    scores = net.op("Mul", net.op("MatMul", query, key, scope=own), net.constant(0.25, np.float32), scope=own)
    found = net.op("MatMul", net.op("Softmax", scores, scope=own, axis=-1), value, scope=own)
    found = net.op("Reshape", net.op("Transpose", found, scope=own, perm=[0, 2, 1, 3]), net.constant([0, 17, width]), scope=own)
    x = net.op("Add", x, net.dense(found, f"{own}/proj", width, width), scope="/blocks.0")
    inner = net.dense(net.norm(x, "/blocks.0/norm2", width), "/blocks.0/mlp/fc1", width, 2 * width)
    inner = net.op("Mul", inner, net.op("Sigmoid", inner, scope="/blocks.0/mlp/act"), scope="/blocks.0/mlp/act")
    x = net.op("Add", x, net.dense(inner, "/blocks.0/mlp/fc2", 2 * width, width), scope="/blocks.0")
    x = net.op("Gather", net.norm(x, "/norm", width), net.constant(0), axis=1)
    net.output("logits", net.dense(x, "/head", width, 10), [1, 10])
    return net


def unet() -> Network:
    """Two steps down and up: pooling, Resize by each of three modes, concatenation."""
    net = Network(13)
    x = net.input("image", [1, 3, 32, 32])
    skips = []
    for depth, (inner, outer) in enumerate(((3, 16), (16, 32))):
        scope = f"/down.{depth}"
        for place, width in enumerate((inner, outer)):
            x = net.op("Relu", net.conv(x, f"{scope}/conv.{place}", width, outer, 3), scope=f"{scope}/relu.{place}")
        skips.append(x)
        x = net.op("MaxPool", x, scope=scope, kernel_shape=[2, 2], strides=[2, 2])
    x = net.op("LeakyRelu", net.conv(x, "/middle", 32, 32, 3), scope="/middle", alpha=0.1)
    modes: tuple[dict[str, Any], ...] = (
        {"mode": "linear", "coordinate_transformation_mode": "half_pixel"},
        {"mode": "nearest", "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"},
    )
    for depth, (inner, outer) in enumerate(((32, 32), (32, 16))):
        scope = f"/up.{depth}"
        x = net.op("Resize", x, "", net.constant([1, 1, 2, 2], np.float32), scope=scope, **modes[depth])
        x = net.op("Concat", x, skips[-1 - depth], scope=scope, axis=1)
        x = net.op("Relu", net.conv(x, f"{scope}/conv", inner + (32, 16)[depth], outer, 3), scope=f"{scope}/relu")
    x = net.op(
        "Resize",
        x,
        "",
        "",
        net.constant([1, 16, 48, 48]),
        scope="/out",
        mode="cubic",
        coordinate_transformation_mode="align_corners",
    )
    net.output("mask", net.op("Sigmoid", net.conv(x, "/out/conv", 16, 1, 1), scope="/out"), [1, 1, 48, 48])
    return net


def yolo_head() -> Network:
    """Boxes and scores of two scales: Split, grids, Exp, Concat, and the best ones by TopK and GatherElements."""
    net, parts = Network(14), []
    for scale, (size, inner) in enumerate(((8, 32), (4, 64))):
        scope, count = f"/model.{scale}", 3 * 15
        x = net.input(f"p{scale}", [1, inner, size, size])
        x = net.op("HardSwish", net.conv(x, f"{scope}/cv", inner, inner, 3), scope=scope)
        x = net.conv(x, f"{scope}/m", inner, count, 1)
        x = net.op("Reshape", x, net.constant([1, 3, 15, size, size]), scope=scope)
        x = net.op("Transpose", x, scope=scope, perm=[0, 1, 3, 4, 2])
        xy, wh, rest = net.op(
            "Split", net.op("Sigmoid", x, scope=scope), net.constant([2, 2, 11]), scope=scope, count=3, axis=4
        )
        grid = np.stack(np.meshgrid(np.arange(size), np.arange(size)), -1).reshape(1, 1, size, size, 2)
        xy = net.op(
            "Add",
            net.op("Mul", xy, net.constant(2.0, np.float32), scope=scope),
            net.constant(grid - 0.5, np.float32),
            scope=scope,
        )
        xy = net.op("Mul", xy, net.constant(32.0 / size, np.float32), scope=scope)
        wh = net.op(
            "Pow", net.op("Mul", wh, net.constant(2.0, np.float32), scope=scope), net.constant(2.0, np.float32), scope=scope
        )
        x = net.op("Concat", xy, wh, rest, scope=scope, axis=4)
        parts.append(net.op("Reshape", x, net.constant([1, -1, 15]), scope=scope))
    x = net.op("Concat", *parts, axis=1)
    scores = net.op(
        "ReduceMax", net.op("Slice", x, net.constant([5]), net.constant([15]), net.constant([2])), axes=[2], keepdims=0
    )
    best, places = net.op("TopK", scores, net.constant([20]), count=2, axis=1)
    places = net.op("Expand", net.op("Unsqueeze", places, net.constant([2])), net.constant([1, 20, 4]))
    boxes = net.op(
        "GatherElements", net.op("Slice", x, net.constant([0]), net.constant([4]), net.constant([2])), places, axis=1
    )
    net.output("boxes", boxes, [1, 20, 4])
    net.output("scores", best, [1, 20])
    return net


def gpt2_block() -> Network:
    """One block as old exporters write it: LayerNorm in parts, a causal mask by Where, Gelu by Tanh, Gemm of flat rows."""
    net, width, heads, length = Network(13), 64, 4, 16
    ids = net.input("input_ids", ["batch", length], TensorProto.INT64)
    wte = net.weight("transformer.wte.weight", 500, width, scale=1.0)
    x = net.op("Add", net.op("Gather", wte, ids, scope="/wte"), net.weight("transformer.wpe.weight", length, width, scale=0.5))

    def flat(value: str, scope: str, inner: int, outer: int) -> str:
        rows = net.op("Reshape", value, net.constant([-1, inner]), scope=scope)
        base = scope.strip("/").replace("/", ".")
        y = net.op(
            "Gemm", rows, net.weight(f"{base}.weight", inner, outer), net.weight(f"{base}.bias", outer, scale=0.1), scope=scope
        )
        return str(net.op("Reshape", y, net.constant([-1, length, outer]), scope=scope))

    own = "/h.0/attn"
    parts = net.op("Split", flat(net.norm(x, "/h.0/ln_1", width), f"{own}/c_attn", width, 3 * width), net.constant([width] * 3),
                   scope=own, count=3, axis=2)  # fmt: skip
    query, key, value = (_split_heads(net, part, own, heads, width // heads, order)
                         for part, order in zip(parts, ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)), strict=True))  # fmt: skip
    scores = net.op("Div", net.op("MatMul", query, key, scope=own), net.constant(4.0, np.float32), scope=own)
    causal = net.constant(np.tril(np.ones((1, 1, length, length), bool)), bool)
    scores = net.op("Where", causal, scores, net.constant(-10000.0, np.float32), scope=own)
    found = net.op("MatMul", net.op("Softmax", scores, scope=own, axis=3), value, scope=own)
    found = net.op("Reshape", net.op("Transpose", found, scope=own, perm=[0, 2, 1, 3]), net.constant([0, 0, width]), scope=own)
    x = net.op("Add", x, flat(found, f"{own}/c_proj", width, width), scope="/h.0")
    inner = flat(net.norm(x, "/h.0/ln_2", width), "/h.0/mlp/c_fc", width, 4 * width)
    act = "/h.0/mlp/act"
    cube = net.op(
        "Mul", net.op("Pow", inner, net.constant(3.0, np.float32), scope=act), net.constant(0.044715, np.float32), scope=act
    )
    curve = net.op("Mul", net.op("Add", inner, cube, scope=act), net.constant(math.sqrt(2 / math.pi), np.float32), scope=act)
    curve = net.op("Add", net.op("Tanh", curve, scope=act), net.constant(1.0, np.float32), scope=act)
    inner = net.op("Mul", net.op("Mul", inner, net.constant(0.5, np.float32), scope=act), curve, scope=act)
    x = net.norm(net.op("Add", x, flat(inner, "/h.0/mlp/c_proj", 4 * width, width), scope="/h.0"), "/ln_f", width)
    x = net.op("Mul", x, net.constant(0.125, np.float32), scope="/lm_head")
    logits = net.op("MatMul", x, net.op("Transpose", wte, scope="/lm_head", perm=[1, 0]), scope="/lm_head")
    net.output("logits", logits, ["batch", length, 500])
    return net
