"""Element by element: functions of one value, arithmetic with broadcasting, comparison, logic, bits, casts."""

from __future__ import annotations

from app.conversion.calls import FLOATS, MS_TYPES, Call, cast, literal
from app.conversion.operators.table import maps
from app.conversion.refusals import NotCovered

_UNARY = {
    "Abs": "abs", "Neg": "neg", "Ceil": "ceil", "Floor": "floor", "Sqrt": "sqrt", "Exp": "exp", "Log": "log", "Sin": "sin",
    "Cos": "cos", "Tan": "tan", "Asin": "asin", "Acos": "acos", "Atan": "atan", "Sinh": "sinh", "Cosh": "cosh",
    "Asinh": "asinh", "Acosh": "acosh", "Atanh": "atanh", "Erf": "erf", "Reciprocal": "reciprocal", "Round": "round",
    "Sign": "sign",
}  # fmt: skip


@maps(*_UNARY)
def unary(call: Call) -> str:
    """A function of one tensor; Round is to the nearest even in both."""
    return call.run(f"ops.{_UNARY[call.node.op]}", call.x())


@maps("Not")
def logical_not(call: Call) -> str:
    """Negation of bool."""
    return f"ops.logical_not({call.x()})"


@maps("Identity")
def identity(call: Call) -> str:
    """The same value."""
    if call.type(0).shape is None and not call.type(0).dtype:
        raise NotCovered("a value that may not be a tensor")
    return call.x()


@maps("IsNaN")
def is_nan(call: Call) -> str:
    """Whether values are NaN."""
    return call.run("ops.isnan", call.x(), to="")


@maps("IsInf")
def is_inf(call: Call) -> str:
    """Whether values are infinite, of one sign or both."""
    negative, positive = call.attribute("detect_negative", 1), call.attribute("detect_positive", 1)
    x = call.x()
    if negative and positive:
        return call.run("ops.isinf", x, to="")
    if not negative and not positive:
        return f"ops.zeros_like({x}, dtype=ms.bool_)"
    return f"{x} == {literal(float('inf') if positive else -float('inf'))}"


_SYMBOLS = {"Add": "+", "Sub": "-", "Mul": "*"}
_FUNCTIONS = {"Add": "ops.add", "Sub": "ops.sub", "Mul": "ops.mul"}


@maps(*_SYMBOLS)
def arithmetic(call: Call) -> str:
    """Sum, difference, product. Whole numbers wrap around in both."""
    a, b = call.operand(0, 1), call.operand(1, 0)
    dtype = call.dtype(0)
    wide = call.computed(_FUNCTIONS[call.node.op], dtype)
    if wide == dtype:
        return f"{a} {_SYMBOLS[call.node.op]} {b}"
    return cast(f"{cast(a, wide)} {_SYMBOLS[call.node.op]} {cast(b, wide)}", dtype)


@maps("Div")
def divided(call: Call) -> str:
    """Quotient; that of whole numbers is cut off towards zero, in float64, which has too few digits for int64."""
    a, b = call.operand(0, 1), call.operand(1, 0)
    dtype = call.dtype(0)
    if dtype in FLOATS:
        wide = call.computed("ops.div", dtype)
        return f"{a} / {b}" if wide == dtype else cast(f"{cast(a, wide)} / {cast(b, wide)}", dtype)
    a, b = call.x(0), call.x(1)
    if dtype.startswith("u"):
        wide = call.computed("ops.floor_div", dtype)
        return call.run("ops.floor_div", a, b if wide == dtype else cast(b, wide))
    wide = "int32" if dtype in ("int8", "int16") else call.computed("ops.floor_div", dtype)
    if dtype == "int64":
        wide = dtype
    if wide != dtype:
        a, b = call.let(cast(a, wide), "a"), call.let(cast(b, wide), "b")
    found = f"ops.floor_div(ops.abs({a}), ops.abs({b})) * ops.sign({a}) * ops.sign({b})"
    return found if wide == dtype else cast(found, dtype)


@maps("Pow")
def power(call: Call) -> str:
    """Power; the result has the type of the base."""
    dtype, exponent = call.dtype(0), call.dtype(1)
    fixed = call.constant_or_none(1) if call.fixed(1) else None
    if (
        fixed is not None
        and fixed.size == 1
        and dtype in ("float32", "float16")
        and call.type(0).shape is not None
        and fixed.ndim <= call.rank()
    ):
        value = float(fixed.reshape(-1)[0])
        if value == 2:
            return f"ops.square({call.x(0)})"
        return call.run("ops.pow", call.x(0), literal(value))
    a, b = call.x(0), call.x(1)
    if dtype == exponent and call.computed("ops.pow", dtype) == dtype:
        return f"ops.pow({a}, {b})"
    wide = "float64" if "64" in dtype + exponent or ("32" in dtype + exponent and dtype != "float32") else "float32"
    signed = ("int64", "int32")
    if (dtype in (*signed, "uint64", "uint32") or exponent == "uint64") and not (dtype in signed and exponent in signed):
        wide = "float64"
    return cast(f"ops.pow({cast(a, wide)}, {cast(b, wide)})", dtype)


@maps("Mod")
def modulo(call: Call) -> str:
    """Remainder: with the sign of the divisor, or with fmod that of the dividend."""
    dtype = call.dtype(0)
    a, b = call.x(0), call.x(1)
    if not call.attribute("fmod", 0):
        if dtype in FLOATS:
            raise NotCovered("floating-point numbers without fmod")
        wide = call.computed("ops.floor_mod", dtype)
        return call.run("ops.floor_mod", a, b if wide == dtype else cast(b, wide))
    if dtype in FLOATS:
        wide = call.computed("ops.fmod", dtype)
        return call.run("ops.fmod", a, b if wide == dtype else cast(b, wide))
    wide = call.computed("ops.floor_mod", dtype)
    a, b = (a, b) if wide == dtype else (call.let(cast(a, wide), "a"), call.let(cast(b, wide), "b"))
    found = f"ops.floor_mod(ops.abs({a}), ops.abs({b})) * ops.sign({a})"
    return found if wide == dtype else cast(found, dtype)


_COMPARISONS = {"Equal": "==", "Greater": ">", "Less": "<", "GreaterOrEqual": ">=", "LessOrEqual": "<="}
_COMPARING = {"Equal": "ops.equal", "Greater": "ops.gt", "Less": "ops.lt", "GreaterOrEqual": "ops.ge", "LessOrEqual": "ops.le"}


@maps(*_COMPARISONS)
def comparison(call: Call) -> str:
    """Comparison; the result is bool."""
    a, b = call.operand(0, 1), call.operand(1, 0)
    dtype = call.dtype(0)
    wide = call.computed(_COMPARING[call.node.op], dtype)
    a, b = (a, b) if wide == dtype else (cast(a, wide), cast(b, wide))
    return f"{a} {_COMPARISONS[call.node.op]} {b}"


@maps("And", "Or", "Xor")
def logic(call: Call) -> str:
    """Logic of bool."""
    return f"ops.logical_{call.node.op.lower()}({call.x(0)}, {call.x(1)})"


@maps("BitwiseAnd", "BitwiseOr", "BitwiseXor")
def bitwise(call: Call) -> str:
    """Bits of whole numbers."""
    function = f"ops.bitwise_{call.node.op[7:].lower()}"
    wide = call.computed(function, call.dtype(0))
    b = call.x(1)
    return call.run(function, call.x(0), b if wide == call.dtype(0) else cast(b, wide))


@maps("BitwiseNot")
def bitwise_not(call: Call) -> str:
    """All bits turned: -x - 1 of signed numbers, largest - x of others."""
    dtype = call.dtype(0)
    wide = call.computed("ops.sub", dtype)
    x = call.x() if wide == dtype else cast(call.x(), wide)
    if dtype == "uint64":
        raise NotCovered("uint64")
    top = (1 << int(dtype[4:])) - 1 if dtype.startswith("u") else -1
    if dtype.startswith("u") and wide == dtype:
        return cast(f"{top} - {cast(call.x(), 'int64')}", dtype)
    return f"{top} - {x}" if wide == dtype else cast(f"{top} - {x}", dtype)


@maps("BitShift")
def bit_shift(call: Call) -> str:
    """Multiplication or division by a power of two."""
    left = call.attribute("direction") == "LEFT"
    function = f"ops.bitwise_{'left' if left else 'right'}_shift"
    if not call.dtype().startswith("u"):
        shift = call.constant_or_none(1)
        if shift is None or shift.min() < 0 or shift.max() >= shift.dtype.itemsize * 8:
            raise NotCovered("a signed number shifted by its width, more, or less than 0")
    wide = call.computed(function, call.dtype(0))
    b = call.x(1)
    return call.run(function, call.x(0), b if wide == call.dtype(0) else cast(b, wide))


@maps("Where")
def where(call: Call) -> str:
    """Choice by a condition, with broadcasting."""
    dtype = call.dtype(1)
    wide = call.computed("ops.where", dtype)
    a, b = call.operand(1, 2), call.operand(2, 1)
    if wide == dtype:
        return f"ops.where({call.x(0)}, {a}, {b})"
    return cast(f"ops.where({call.x(0)}, {cast(a, wide)}, {cast(b, wide)})", dtype)


@maps("Sum", "Mean", "Max", "Min")
def of_several(call: Call) -> str:
    """Sum, mean, maximum or minimum of any number of tensors, with broadcasting."""
    count, op, dtype = len(call.node.inputs), call.node.op, call.dtype(0)
    if op in ("Sum", "Mean"):
        total = " + ".join(call.x(i) for i in range(count))
        return total if op == "Sum" else f"({total}) / {count}" if count > 1 else total
    function = "ops.maximum" if op == "Max" else "ops.minimum"
    wide = call.computed(function, dtype)
    parts = [call.x(i) if wide == dtype else cast(call.x(i), wide) for i in range(count)]
    found = parts[0]
    for part in parts[1:]:
        found = f"{function}({found}, {part})"
    return found if wide == dtype else cast(found, dtype)


@maps("Clip")
def clip(call: Call) -> str:
    """Limits, as attributes before opset 11; with low above high every value is high."""
    dtype = call.dtype(0)
    if call.opset < 11:
        low, high = call.attribute("min"), call.attribute("max")
        bounds = [None if value is None else literal(value) for value in (low, high)]
    else:
        bounds = [_bound(call, number) for number in (1, 2)]
    if bounds == [None, None]:
        return call.x()
    return _limited(call, call.x(), bounds, dtype)


def _bound(call: Call, number: int) -> str | None:
    if not call.has(number):
        return None
    return literal(call.constant(number).reshape(-1)[0]) if call.fixed(number) else call.x(number)


def _limited(call: Call, x: str, bounds: list[str | None], dtype: str) -> str:
    low, high = bounds
    if low == "0.0" and high == "6.0" and dtype == "float32":
        return f"ops.relu6({x})"
    wide = call.computed("ops.maximum", dtype)
    found = x if wide == dtype else cast(x, wide)
    for function, bound in (("ops.maximum", low), ("ops.minimum", high)):
        if bound is not None:
            found = f"{function}({found}, {bound if wide == dtype or not bound.startswith('@') else cast(bound, wide)})"
    return found if wide == dtype else cast(found, dtype)


@maps("Cast", "CastLike")
def casted(call: Call) -> str:
    """Another data type; numbers are cut off towards zero."""
    to = call.output_type().dtype
    source = call.dtype(0)
    if call.node.op == "Cast":
        from app.conversion.weights import dtype_name

        to = dtype_name(call.attribute("to"))
    if to not in MS_TYPES or source not in MS_TYPES:
        raise NotCovered(f"a cast from {source} to {to or 'an unknown type'}")
    if to == source:
        return call.x()
    if call.attribute("saturate", 1) != 1:
        raise NotCovered("attribute saturate = 0 is not covered")
    return f"{call.x()}.astype({MS_TYPES[to]})"
