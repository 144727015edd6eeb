"""Types for which a function of MindSpore has a correct CPU kernel; measured, and written by tests/conversion/measure_kernels.py.

A function that is not listed has one for every type that ONNX allows its operator.
"""

from __future__ import annotations

KERNELS: dict[str, tuple[str, ...]] = {}
WIDER: dict[str, tuple[str, ...]] = {
    "float16": ("float32",), "bfloat16": ("float32",), "bool": ("int32", "float32"),
    "int8": ("int32", "float32", "int64"), "uint8": ("int32", "float32", "int64"), "int16": ("int32", "float32", "int64"),
    "uint16": ("int32", "float32", "int64"), "uint32": ("int64", "float64"), "int32": ("int64", "float64"),
}  # fmt: skip
"""Types that hold every value of a type, and results of one operation on it."""
