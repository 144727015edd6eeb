"""Scaled dot-product attention with masks, grouped heads and caches, and rotary embeddings."""

from __future__ import annotations

import math

import numpy as np

from app.conversion.calls import MINUS_INFINITY, Call, cast, literal
from app.conversion.operators.table import maps
from app.conversion.refusals import NotCovered


@maps("Attention")
def attention(call: Call) -> list[str]:
    """Return the result, keys and values with those of the cache, and the products of queries and keys."""
    dtype = call.dtype()
    if dtype not in ("float32", "float16") or call.has(6):
        raise NotCovered(f"type {dtype}" if not call.has(6) else "input nonpad_kv_seqlen is not covered")
    if call.wants(3) and call.attribute("qk_matmul_output_mode", 0):
        raise NotCovered(f"attribute qk_matmul_output_mode = {call.attribute('qk_matmul_output_mode')} is not covered")
    if call.attribute("softmax_precision", 1) not in (1, 10):
        raise NotCovered("attribute softmax_precision is not covered")
    if call.attribute("left_window_size", -1) != -1 or call.attribute("right_window_size", -1) != -1:
        raise NotCovered("attributes left_window_size and right_window_size are not covered")
    if call.has(3) and call.dtype(3) == "bool":
        _refuse_empty_rows(call)
    flat = call.rank() == 3
    query, heads, width = _heads(call, 0, "q_num_heads", "query")
    key, groups, _ = _heads(call, 1, "kv_num_heads", "key")
    value, _, _ = _heads(call, 2, "kv_num_heads", "value")
    if call.has(4):
        key, value = (
            call.let(f"ops.cat(({call.x(4)}, {key}), 2)", "key"),
            call.let(f"ops.cat(({call.x(5)}, {value}), 2)", "value"),
        )
    present = [key, value]
    if heads != groups:
        key, value = (call.let(f"ops.repeat_interleave({part}, {heads // groups}, 1)", "repeated") for part in (key, value))
    scale = call.attribute("scale") or 1 / math.sqrt(width)
    products = call.let(f"ops.matmul({query}, {key}.transpose(0, 1, 3, 2)) * {literal(np.float32(scale))}", "scores")
    scores = products
    cap = call.attribute("softcap", 0.0)
    if cap:
        scores = call.let(f"{literal(cap)} * ops.tanh({scores} / {literal(cap)})", "scores")
    scores, allowed = _masked(call, scores, dtype)
    weights = f"ops.softmax({scores}, -1)" if dtype == "float32" else cast(f"ops.softmax({cast(scores, 'float32')}, -1)", dtype)
    if allowed:  # a row that may attend to nothing is 0, not NaN
        weights = f"ops.where({allowed}, {weights}, {_zero(dtype)})"
    found = f"ops.matmul({weights}, {value})"
    if flat:
        found = f"{found}.transpose(0, 2, 1, 3).reshape({call.size(0, 0)}, {call.size(0, 1)}, -1)"
    return [found, *present, products][: call.outputs]


def _heads(call: Call, number: int, attribute: str, name: str) -> tuple[str, int, int]:
    """Return the code of (batch, heads, length, width), the number of heads, and the width."""
    if call.rank(number) == 4:
        return call.x(number), call.size(number, 1), call.size(number, 3)
    heads = call.attribute(attribute)
    if not heads:
        raise NotCovered(f"attribute {attribute} is missing")
    length, columns = call.size(number, 1), call.size(number, 2)
    code = f"{call.x(number)}.reshape(-1, {length}, {heads}, {columns // heads}).transpose(0, 2, 1, 3)"
    return call.let(code, name), heads, columns // heads


def _refuse_empty_rows(call: Call) -> None:
    """A query that may attend to no key is 0, the mean, or NaN, by the version of ONNX and of its runtime."""
    if not call.fixed(3):
        raise NotCovered("a mask of bool computed when the model runs: rows without any key differ between versions")
    allowed = call.constant(3)
    if call.attribute("is_causal", 0):
        past = call.size(4, 2) if call.has(4) else 0
        allowed = allowed & np.tril(np.ones((call.size(0, -2), allowed.shape[-1]), bool), past)
    if not allowed.any(-1).all():
        raise NotCovered("a mask that leaves a query without any key")


def _zero(dtype: str) -> str:
    return "0.0" if dtype == "float32" else "ms.Tensor(0, ms.float16)"


def _masked(call: Call, scores: str, dtype: str) -> tuple[str, str]:
    """Return the scores with masks, and which of them count, "" for all."""
    queries = call.size(0, -2)
    past = call.size(4, 2) if call.has(4) else 0
    keys = call.size(1, -2) + past
    allowed = ""
    if call.has(3):
        if call.size(3, -1) != keys:
            raise NotCovered("a mask shorter than the keys")
        if call.dtype(3) == "bool":
            allowed = call.x(3)
        else:
            scores = call.let(f"{scores} + {call.x(3)}", "scores")
    if call.attribute("is_causal", 0):
        causal = call.tensor(np.tril(np.ones((queries, keys), bool), past), "causal")
        allowed = call.let(f"ops.logical_and({allowed}, {causal})", "allowed") if allowed else causal
    if allowed:
        limit = MINUS_INFINITY if dtype == "float32" else f"ms.Tensor({MINUS_INFINITY}, ms.float16)"
        scores = call.let(f"ops.where({allowed}, {scores}, {limit})", "scores")
    return scores, allowed


@maps("RotaryEmbedding")
def rotary_embedding(call: Call) -> str:
    """Pairs of values turned by angles that grow with the position."""
    dtype = call.dtype()
    if dtype not in ("float32", "float16"):
        raise NotCovered(f"type {dtype}")
    flat = call.rank() == 3
    heads = call.attribute("num_heads") if flat else call.size(0, 1)
    if not heads:
        raise NotCovered("attribute num_heads is missing")
    length, width = (call.size(0, 1), call.size(0, 2) // heads) if flat else (call.size(0, 2), call.size(0, 3))
    x = f"{call.x()}.reshape(-1, {length}, {heads}, {width})" if flat else f"{call.x()}.transpose(0, 2, 1, 3)"
    x = call.let(x, "x")
    turned = call.attribute("rotary_embedding_dim", 0) or width
    half = turned // 2
    angles = [call.let(f"ops.gather({call.x(i)}, {call.x(3)}, 0)" if call.has(3) else call.x(i), "angles") for i in (1, 2)]
    cos, sin = (f"ops.expand_dims({angle}[..., :{half}], 2)" for angle in angles)
    paired = call.attribute("interleaved", 0)
    first, second = (f"{x}[..., {i}:{turned}:2]" if paired else f"{x}[..., {i * half}:{(i + 1) * half}]" for i in (0, 1))
    a = call.let(f"{first} * {cos} - {second} * {sin}", "first")
    b = call.let(f"{first} * {sin} + {second} * {cos}", "second")
    found = f"ops.stack(({a}, {b}), -1).reshape(-1, {length}, {heads}, {turned})" if paired else f"ops.cat(({a}, {b}), -1)"
    if turned < width:
        found = f"ops.cat(({found}, {x}[..., {turned}:]), -1)"
    return f"{found}.reshape(-1, {length}, {heads * width})" if flat else f"{found}.transpose(0, 2, 1, 3)"
