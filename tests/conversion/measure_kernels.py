"""Measures for which types functions of MindSpore have a CPU kernel that computes what NumPy computes; prints the table
KERNELS.

    PYTHON_WITH_MINDSPORE tests/conversion/measure_kernels.py > table

The values are whole numbers small enough for every type, negative ones where the type has them, and for integers of 64 bits
also some beyond 2**53, which a kernel that computes in floating point gets wrong."""

# ruff: noqa: E501, B023, PLW0108  rows of tables, and functions that are called at once

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

DTYPES = ["float32", "float16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]


def tested() -> dict:
    from mindspore import Tensor, ops

    two = lambda f, g: lambda a, b: (f(Tensor(a), Tensor(b)), g(a, b))  # noqa: E731
    one = lambda f, g: lambda a, _b: (f(Tensor(a)), g(a))  # noqa: E731
    found = {f"ops.{name}": one(getattr(ops, name), getattr(np, name if name != "neg" else "negative"))
             for name in ("abs", "neg", "ceil", "floor", "sign", "square", "exp", "sqrt", "sin", "cos", "tanh", "sinh", "cosh", "tan")}  # fmt: skip
    for name, wanted in (("log", np.log), ("round", np.round), ("isnan", np.isnan), ("isinf", np.isinf), ("relu", lambda a: np.maximum(a, 0)),
                         ("asinh", np.arcsinh), ("atan", np.arctan), ("reciprocal", lambda a: (1 / a).astype(a.dtype)),
                         ("erf", lambda a: np.vectorize(__import__("math").erf)(a.astype(np.float64)).astype(a.dtype)),
                         ("sigmoid", lambda a: (1 / (1 + np.exp(-a.astype(np.float64)))).astype(a.dtype))):  # fmt: skip
        found[f"ops.{name}"] = one(getattr(ops, name), wanted)
    for name, wanted in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.divide), ("floor_div", np.floor_divide),
                         ("floor_mod", np.mod), ("fmod", np.fmod), ("pow", np.power), ("maximum", np.maximum), ("minimum", np.minimum),
                         ("equal", np.equal), ("gt", np.greater), ("lt", np.less), ("ge", np.greater_equal), ("le", np.less_equal),
                         ("bitwise_and", np.bitwise_and), ("bitwise_or", np.bitwise_or), ("bitwise_xor", np.bitwise_xor),
                         ("bitwise_left_shift", np.left_shift), ("bitwise_right_shift", np.right_shift)):  # fmt: skip
        found[f"ops.{name}"] = two(getattr(ops, name), wanted)
    found["ops.matmul"] = lambda a, b: (ops.matmul(Tensor(a[None]), Tensor(b[:, None])), a[None] @ b[:, None])
    found["ops.where"] = lambda a, b: (
        ops.where(Tensor(np.arange(len(a)) % 2 == 0), Tensor(a), Tensor(b)),
        np.where(np.arange(len(a)) % 2 == 0, a, b),
    )
    found["ops.cat"] = two(lambda a, b: ops.cat((a, b), 0), lambda a, b: np.concatenate((a, b)))
    found["ops.sum"] = one(lambda a: ops.sum(a, 0), lambda a: a.sum(0).astype(a.dtype))
    found["ops.mean"] = one(lambda a: ops.mean(a, 0), lambda a: a.mean(0).astype(a.dtype))
    found["ops.amax"] = one(lambda a: ops.amax(a, 0), lambda a: a.max(0))
    found["ops.amin"] = one(lambda a: ops.amin(a, 0), lambda a: a.min(0))
    found["ops.prod"] = one(lambda a: ops.prod(a[:3], 0), lambda a: a[:3].prod(0).astype(a.dtype))
    found["ops.cumsum"] = one(lambda a: ops.cumsum(a, 0), lambda a: a.cumsum(0).astype(a.dtype))
    found["ops.cumprod"] = one(lambda a: ops.cumprod(a[:3], 0), lambda a: a[:3].cumprod(0).astype(a.dtype))
    found["ops.argmax"] = one(lambda a: ops.argmax(a, 0), lambda a: a.argmax(0))
    found["ops.pad"] = one(
        lambda a: ops.pad(a.reshape(1, 2, -1), (1, 2)), lambda a: np.pad(a.reshape(1, 2, -1), ((0, 0), (0, 0), (1, 2)))
    )
    found["ops.tile"] = one(lambda a: ops.tile(a, (2,)), lambda a: np.tile(a, 2))
    found["ops.broadcast_to"] = one(lambda a: ops.broadcast_to(a, (2, len(a))), lambda a: np.broadcast_to(a, (2, len(a))))
    found["ops.transpose"] = one(lambda a: ops.transpose(a.reshape(2, -1), (1, 0)), lambda a: a.reshape(2, -1).T)
    found["ops.triu"] = one(lambda a: ops.triu(a.reshape(2, -1), 1), lambda a: np.triu(a.reshape(2, -1), 1))
    found["ops.tril"] = one(lambda a: ops.tril(a.reshape(2, -1), 1), lambda a: np.tril(a.reshape(2, -1), 1))
    index = np.array([2, 0, 1], np.int64)
    found["ops.gather"] = one(lambda a: ops.gather(a, Tensor(index), 0), lambda a: a[index])
    found["ops.gather_elements"] = one(lambda a: ops.gather_elements(a, 0, Tensor(index)), lambda a: a[index])
    found["ops.gather_nd"] = one(lambda a: ops.gather_nd(a, Tensor(index[:, None])), lambda a: a[index])

    def put(a, b, add=False):
        new = a.copy()
        new[index] = new[index] + b[:3] if add else b[:3]
        return new

    found["ops.tensor_scatter_elements"] = two(lambda a, b: ops.tensor_scatter_elements(a, Tensor(index), b[:3], 0), put)
    found["ops.tensor_scatter_update"] = two(lambda a, b: ops.tensor_scatter_update(a, Tensor(index[:, None]), b[:3]), put)
    found["ops.tensor_scatter_add"] = two(
        lambda a, b: ops.tensor_scatter_add(a, Tensor(index[:, None]), b[:3]), lambda a, b: put(a, b, True)
    )
    found["ops.topk"] = one(lambda a: ops.topk(a, 2)[0], lambda a: np.sort(a)[::-1][:2])
    found["ops.nonzero"] = one(lambda a: ops.nonzero(a), lambda a: np.stack(np.nonzero(a), 1))
    found["ops.flip"] = one(lambda a: ops.flip(a, (0,)), lambda a: a[::-1])
    found["ops.reverse_sequence"] = one(
        lambda a: ops.reverse_sequence(a.reshape(2, -1), Tensor(np.array([2, 1], np.int64)), 1, 0),
        lambda a: np.stack([np.concatenate([a.reshape(2, -1)[0, 1::-1], a.reshape(2, -1)[0, 2:]]), a.reshape(2, -1)[1]]))  # fmt: skip
    conv = lambda a, n: a[:4].reshape((1, 1) + (2, 2) + (1,) * (n - 2))  # noqa: E731
    for n, name in ((1, "Conv2D"), (2, "Conv2D"), (3, "Conv3D")):
        kernel = (1, 1) if n < 3 else (1, 1, 1)
        found[f"ops.conv{n}d"] = (lambda name, n, kernel: lambda a, b: (
            getattr(ops, name)(1, kernel)(Tensor(conv(a, max(n, 2))), Tensor(b[:1].reshape((1,) * (2 + max(n, 2))))), conv(a, max(n, 2)) * b[0]))(name, n, kernel)  # fmt: skip
    return found


def values(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.array([3, 1, 2, 0, 5, 7, 4, 6]), np.array([2, 3, 1, 4, 1, 2, 3, 1])
    if dtype.startswith(("i", "f")):
        a = a * np.array([1, -1, 1, 1, -1, 1, 1, -1])
    if dtype == "int64":
        a[4] = (1 << 53) + 1
    return a.astype(dtype), b.astype(dtype)


def settle() -> None:
    """Let errors of what was started before appear here: kernels run behind Python's back."""
    import mindspore as ms

    for _ in range(3):
        try:
            ms.ops.add(ms.Tensor([1.0]), 1.0).asnumpy()
            ms.runtime.synchronize()
        except Exception:
            continue


def works(test: Any, name: str, dtype: str) -> bool:
    """Whether a function computes the right values of a type. A late error of another one must not count: try twice."""
    try:
        with np.errstate(all="ignore"):
            found, wanted = test(*values(dtype))
        found = found.asnumpy()
    except Exception as error:
        settle()
        print(name, dtype, type(error).__name__, str(error).splitlines()[:1], file=sys.stderr)
        return False
    close = np.allclose(
        found.astype(np.float64),
        np.asarray(wanted).astype(np.float64),
        *(2 * [1e-2 if dtype == "float16" else 1e-4]),
        equal_nan=True,
    )
    exact = dtype.startswith("f") or found.dtype.kind == "b" or bool((found == wanted).all())
    kind = found.dtype == np.asarray(wanted).dtype or found.dtype == np.dtype(dtype) or name in ("ops.argmax", "ops.nonzero")
    return close and exact and kind


def main() -> None:
    warnings.simplefilter("ignore")
    print("KERNELS: dict[str, tuple[str, ...]] = {")
    for name, test in tested().items():
        good = []
        good += [dtype for dtype in DTYPES if works(test, name, dtype) or works(test, name, dtype)]
        print(f"    {name!r}: ({', '.join(repr(one) for one in good)}{',' if len(good) == 1 else ''}),".replace("'", '"'))
    print("}")


if __name__ == "__main__":
    main()
