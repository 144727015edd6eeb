"""The kernels of a transformer that the pieces of computing of a simulated job consist of.

A rank has LAYERS layers. A piece is forward or backward of all of them, of one (the parts of the last backward, behind which
gradients are exchanged), or the optimizer. Shares of a piece are what such kernels usually take.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.demo.simulated.job_records import ComputingRow

LAYERS = 2
TOKENS, WIDTH = 16 * 197, 1024
"""16 images of 14 x 14 patches and a class token; numbers of each token."""
CUBE, VECTOR, MIXED = "AI_CORE", "AI_VECTOR_CORE", "MIX_AIC"


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of a layer: its module, type, core, share of the layer's time, and shapes of its inputs and output."""

    module: str
    type: str
    core: str
    share: float
    inputs: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]

    @property
    def output_bytes(self) -> int:
        """Size of the output in float16."""
        size = 2
        for side in self.output:
            size *= side
        return size


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel that ran; layer is -1 for the optimizer, micro the micro batch from 0, times in ns of the rank's clock."""

    step: int
    name: str
    operator: Operator
    layer: int
    micro: int
    backward: bool
    start_ns: int
    end_ns: int


def _matrix(module: str, share: float, inner: int, outer: int, *, transposed: bool = False) -> Operator:
    weight = (outer, inner) if transposed else (inner, outer)
    return Operator(module, "MatMulV2", CUBE, share, ((TOKENS, inner), weight), (TOKENS, outer))


def _vector(module: str, kind: str, share: float, width: int = WIDTH) -> Operator:
    return Operator(module, kind, VECTOR, share, ((TOKENS, width),), (TOKENS, width))


_HEADS = (16, 16, 197, 64)
FORWARD = (
    _vector("norm1", "LayerNormV3", 0.05), _matrix("attention/qkv", 0.19, WIDTH, 3 * WIDTH),
    Operator("attention", "FlashAttentionScore", MIXED, 0.2, (_HEADS, _HEADS, _HEADS), (TOKENS, WIDTH)),
    _matrix("attention/out", 0.07, WIDTH, WIDTH), _vector("norm2", "LayerNormV3", 0.05),
    _matrix("mlp/up", 0.19, WIDTH, 4 * WIDTH), _vector("mlp", "Gelu", 0.06, 4 * WIDTH),
    _matrix("mlp/down", 0.19, 4 * WIDTH, WIDTH),
)  # fmt: skip
BACKWARD = (
    _matrix("mlp/down", 0.19, WIDTH, 4 * WIDTH, transposed=True), _vector("mlp", "GeluGrad", 0.06, 4 * WIDTH),
    _matrix("mlp/up", 0.19, 4 * WIDTH, WIDTH, transposed=True), _vector("norm2", "LayerNormGradV3", 0.05),
    _matrix("attention/out", 0.07, WIDTH, WIDTH, transposed=True),
    Operator("attention", "FlashAttentionScoreGrad", MIXED, 0.2, (_HEADS, _HEADS, _HEADS, _HEADS), (TOKENS, 3 * WIDTH)),
    _matrix("attention/qkv", 0.19, 3 * WIDTH, WIDTH, transposed=True), _vector("norm1", "LayerNormGradV3", 0.05),
)  # fmt: skip
_WEIGHTS = (12 * WIDTH, WIDTH)
OPTIMIZER = tuple(
    Operator(f"blocks.{layer}", "ApplyAdamW", VECTOR, 1.0 / LAYERS, (_WEIGHTS, _WEIGHTS, _WEIGHTS, _WEIGHTS), _WEIGHTS)
    for layer in range(LAYERS)
)


def kernels_of(rows: Sequence[ComputingRow], micros: int) -> Iterator[Kernel]:
    """Yield the kernels of one rank, from its pieces in the order in which they ran."""
    done: Counter[tuple[int, str]] = Counter()
    for row in rows:
        number = done[row.step, row.kind]
        done[row.step, row.kind] += 1
        yield from _of_piece(row, number, micros)


def _of_piece(row: ComputingRow, number: int, micros: int) -> Iterator[Kernel]:
    micro = min(number, micros - 1)
    if row.kind == "optimizer":
        layers: Sequence[int] = (-1,)
        operators = OPTIMIZER
    elif row.kind == "forward":
        layers, operators = range(LAYERS), FORWARD
    else:
        layers = range(LAYERS - 1, -1, -1) if number < micros - 1 else (LAYERS - 1 - (number - micros + 1),)
        operators = BACKWARD
    at, whole = 0.0, row.end_ns - row.start_ns
    for layer in layers:
        for place, operator in enumerate(operators):
            start = row.start_ns + round(at)
            at += whole * operator.share / len(layers)
            yield Kernel(
                row.step, _name(row.kind, layer, operator, place), operator, layer, micro, row.kind == "backward", start,
                row.start_ns + round(at),
            )  # fmt: skip


def _name(kind: str, layer: int, operator: Operator, place: int) -> str:
    if kind == "optimizer":
        return f"Default/optimizer/{operator.module}/ApplyAdamW-op{place}"
    scope = f"Default/vit/blocks.{layer}/{operator.module}/{operator.type}-op{layer * 8 + place}"
    return f"Gradients/{scope}" if kind == "backward" else scope
