"""Mappings from ONNX operators to MindSpore code, a file per family.

A mapping is a function of a Call that returns the code of each output. Its operator is named by `@maps`; the meaning of every
version since opset 7 is in the same function, which asks `call.opset`.
"""

from __future__ import annotations

from app.conversion.operators import (
    activations,
    arithmetic,
    attention,
    convolution,
    indexing,
    linear,
    normalization,
    pooling,
    recurrent,
    reductions,
    resizing,
    tensors,
)  # fmt: skip
from app.conversion.operators.table import MAPPINGS

__all__ = [
    "MAPPINGS", "activations", "arithmetic", "attention", "convolution", "indexing", "linear", "normalization", "pooling",
    "recurrent", "reductions", "resizing", "tensors",
]  # fmt: skip
