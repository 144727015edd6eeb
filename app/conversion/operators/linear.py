"""Products of matrices: MatMul, Gemm, Einsum."""

from __future__ import annotations

from typing import Any

from app.conversion.calls import Call, CheckpointTensor, cast, literal
from app.conversion.operators.table import maps
from app.conversion.refusals import NotCovered


def _transposed(call: Call, number: int) -> CheckpointTensor:
    rows, columns = call.weight_shape(number)
    return call.source(number, (columns, rows), lambda array: array.T, "transposed")


@maps("MatMul")
def matmul(call: Call) -> str:
    """Product as of numpy.matmul; with a matrix of weights a Dense layer."""
    dtype = call.dtype()
    matrix = call.has(1) and call.fixed(1) and len(call.weight_shape(1)) == 2
    ranked = call.type(0).shape is None or call.rank() >= 2
    if matrix and ranked and not call.fixed(0) and dtype in ("float32", "float16"):
        rows, columns = call.weight_shape(1)
        kind: dict[str, Any] = {} if dtype == "float32" else {"dtype": _code("ms.float16")}
        dense = call.cell("nn.Dense", ("in_channels", rows), ("out_channels", columns), weight=1,
                          parameters={"weight": _transposed(call, 1)}, has_bias=False, **kind)  # fmt: skip
        return f"{dense}({call.x()})"
    wide = call.computed("ops.matmul", dtype)
    a, b = call.x(0), call.x(1)
    return f"ops.matmul({a}, {b})" if wide == dtype else cast(f"ops.matmul({cast(a, wide)}, {cast(b, wide)})", dtype)


def _code(text: str) -> str:
    from app.conversion.calls import Code

    return Code(text)


@maps("Gemm")
def gemm(call: Call) -> str:
    """alpha * A * B + beta * C; with weights and plain factors a Dense layer."""
    alpha, beta = call.attribute("alpha", 1.0), call.attribute("beta", 1.0)
    swap_a, swap_b = call.attribute("transA", 0), call.attribute("transB", 0)
    dtype = call.dtype()
    if (
        alpha == beta == 1
        and not swap_a
        and call.fixed(1)
        and not call.fixed(0)
        and dtype == "float32"
        and _bias(call) is not None
    ):
        shape = call.weight_shape(1)
        inner, outer = shape[::-1] if swap_b else shape
        parameters = {"weight": call.source(1) if swap_b else _transposed(call, 1)}
        if call.has(2):
            parameters["bias"] = call.source(
                2, (outer,), lambda array: array.reshape(-1), "" if call.rank(2) == 1 else "flattened"
            )
        options: dict[str, Any] = {} if call.has(2) else {"has_bias": False}
        dense = call.cell(
            "nn.Dense", ("in_channels", inner), ("out_channels", outer), weight=1, parameters=parameters, **options
        )
        return f"{dense}({call.x()})"
    wide = call.computed("ops.matmul", dtype)
    a, b = (call.x(i) if wide == dtype else cast(call.x(i), wide) for i in (0, 1))
    a, b = f"{a}.T" if swap_a else a, f"{b}.T" if swap_b else b
    found = f"ops.matmul({a}, {b})"
    if alpha != 1:
        found = f"{literal(alpha)} * {found}"
    if call.has(2) and beta:
        c = call.x(2) if wide == dtype else cast(call.x(2), wide)
        found += f" + {c}" if beta == 1 else f" + {literal(beta)} * {c}"
    return found if wide == dtype else cast(found, dtype)


def _bias(call: Call) -> bool | None:
    """Return whether there is a bias that a Dense layer can have, None if there is another one."""
    if not call.has(2):
        return False
    columns = call.weight_shape(1)[0 if call.attribute("transB", 0) else 1]
    return True if call.fixed(2) and call.weight_shape(2) in ((columns,), (1, columns)) else None


@maps("Einsum")
def einsum(call: Call) -> str:
    """Transpose, multiply and sum: MindSpore's own has no CPU kernel. Terms are taken in from left to right."""
    equation = call.attribute("equation").replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(call.node.inputs):
        raise NotCovered(f"the equation {equation!r}")
    terms, right = _without_ellipsis(call, terms, right if arrow else None)
    dtype = call.dtype()
    wide = call.computed("ops.matmul", dtype)
    codes = [call.x(i) if wide == dtype else cast(call.x(i), wide) for i in range(len(terms))]
    code, term = _diagonal(codes[0], terms[0])
    for place in range(1, len(terms)):
        rest = set("".join(terms[place + 1 :])) | set(right)
        other, letters = _diagonal(codes[place], terms[place])
        code, term = _joined(call, code, term, other, letters, rest)
    summed = [place for place, letter in enumerate(term) if letter not in right]
    if summed:
        code = f"{code}.sum({tuple(summed) if len(summed) > 1 else summed[0]})"
        term = "".join(letter for letter in term if letter in right)
    if term != right:
        code = f"{code}.transpose({', '.join(str(term.index(letter)) for letter in right)})"
    return code if wide == dtype else cast(code, dtype)


def _without_ellipsis(call: Call, terms: list[str], right: str | None) -> tuple[list[str], str]:
    """Replace `...` by capital letters that are not in use, as many as there are axes."""
    free = [chr(c) for c in range(ord("A"), ord("Z") + 1) if chr(c) not in "".join(terms) + (right or "")]
    most = max((call.rank(i) - len(term.replace("...", "")) for i, term in enumerate(terms) if "..." in term), default=0)
    letters = "".join(free[:most])
    new = []
    for number, term in enumerate(terms):
        count = call.rank(number) - len(term.replace("...", ""))
        new.append(term.replace("...", letters[most - count :]) if "..." in term else term)
        if len(new[-1]) != call.rank(number):
            raise NotCovered(f"the term {term!r} for an input with {call.rank(number)} dimensions")
        if "..." in term and any(call.dims(number)[i] == 1 for i in range(count)) and len(terms) > 1:
            raise NotCovered("axes of size 1 in an ellipsis")
    if right is None:
        every = "".join(new)
        right = letters + "".join(sorted(c for c in set(every) if every.count(c) == 1 and c not in letters))
    return new, right.replace("...", letters)


def _diagonal(code: str, term: str) -> tuple[str, str]:
    """Take the diagonal of axes with one letter, which goes last."""
    for letter in dict.fromkeys(term):
        if term.count(letter) > 2:
            raise NotCovered(f"the term {term!r}")
        if term.count(letter) == 2:
            first, last = term.index(letter), term.rindex(letter)
            code = f"ops.diagonal({code}, 0, {first}, {last})"
            term = term.replace(letter, "") + letter
    return code, term


def _joined(call: Call, a: str, first: str, b: str, second: str, rest: set[str]) -> tuple[str, str]:
    """Multiply two terms as batches of matrices: batch axes, own axes, summed axes."""
    batch = [c for c in first if c in second and c in rest]
    summed = [c for c in first if c in second and c not in rest]
    own_a, own_b = [c for c in first if c not in second], [c for c in second if c not in first]
    if not summed:
        a = _aligned(a, first, [*batch, *own_a], len(own_b))
        b = _placed(b, second, [*batch, *own_b], len(batch), len(own_a))
        return call.let(f"{a} * {b}"), "".join([*batch, *own_a, *own_b])
    if len(own_a) == len(own_b) == len(summed) == 1:
        a, b = _permuted(a, first, [*batch, *own_a, *summed]), _permuted(b, second, [*batch, *summed, *own_b])
        return call.let(f"ops.matmul({a}, {b})"), "".join([*batch, *own_a, *own_b])
    a = _placed(_permuted(a, first, [*batch, *own_a, *summed]), "", None, len(batch) + len(own_a), len(own_b))
    b = _placed(_permuted(b, second, [*batch, *own_b, *summed]), "", None, len(batch), len(own_a))
    start = len(batch) + len(own_a) + len(own_b)
    axes = tuple(range(start, start + len(summed)))
    return call.let(f"({a} * {b}).sum({axes if len(axes) > 1 else axes[0]})"), "".join([*batch, *own_a, *own_b])


def _permuted(code: str, term: str, order: list[str]) -> str:
    return code if list(term) == order else f"{code}.transpose({', '.join(str(term.index(letter)) for letter in order)})"


def _aligned(code: str, term: str, order: list[str], more: int) -> str:
    code = _permuted(code, term, order)
    return f"{code}[(...,{' None,' * more})]" if more else code


def _placed(code: str, term: str, order: list[str] | None, before: int, count: int) -> str:
    """Insert axes of size 1 after the first `before` axes."""
    code = code if order is None else _permuted(code, term, order)
    return f"{code}[({':, ' * before}{'None, ' * count}...)]".replace("(:", "(:") if count else code
