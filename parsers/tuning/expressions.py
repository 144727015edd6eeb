"""Constraints as text, such as "batch_size * layers <= 4096": arithmetic and comparisons of names and numbers, nothing else.

The text is parsed by Python but never evaluated by it: what is not listed here is refused.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from parsers.errors import FormatError

LONGEST = 500
"""Characters."""
DEEPEST = 40
_BINARY: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.LtE: operator.le, ast.Lt: operator.lt, ast.GtE: operator.ge, ast.Gt: operator.gt, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip
FAR = 1e12
"""Violation if it is not a number."""


@dataclass(frozen=True)
class Constraint:
    """A condition that settings or results have to meet. names are those in it, in order of appearance."""

    text: str
    names: tuple[str, ...] = field(compare=False)
    _tree: ast.expr = field(repr=False, compare=False)

    def violation(self, values: Mapping[str, Any]) -> float:
        """Return by how much the values miss the condition: 0 or less if they meet it. KeyError for a missing name."""
        try:
            return _violation(self._tree, values)
        except (TypeError, ZeroDivisionError, OverflowError):
            return FAR


def parse_constraint(text: str) -> Constraint:
    """Return the constraint that a text describes; FormatError says what is not allowed."""
    if len(text) > LONGEST:
        raise FormatError(f"expected a condition of at most {LONGEST} characters, found {len(text):,}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's advice on the text would go to the terminal
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FormatError(f'expected a condition such as "layers * width <= 4096", found {text!r}') from None
    if not isinstance(tree, ast.Compare | ast.BoolOp):
        raise FormatError(f"expected a comparison with <=, <, >=, >, == or !=, found {text!r}")
    names: dict[str, None] = {}
    _check(tree, names, 0)
    if not names:
        raise FormatError(f"expected a condition on settings or results, found {text!r}")
    return Constraint(text.strip(), tuple(names), tree)


def _check(node: ast.AST, names: dict[str, None], depth: int) -> None:
    if depth > DEEPEST:
        raise FormatError(f"expected at most {DEEPEST} levels, found more")
    match node:
        case ast.Name():
            names[node.id] = None
        case ast.Constant(value=value) if isinstance(value, int | float | str | bool):
            if isinstance(value, int) and value.bit_length() > 64:
                raise FormatError(f"expected numbers of at most 64 bits, found {value.bit_length()} bits")
        case ast.BinOp() if type(node.op) in _BINARY:
            pass
        case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
            pass
        case ast.BoolOp() if all(isinstance(one, ast.Compare | ast.BoolOp) for one in node.values):
            pass
        case ast.Compare() if all(type(one) in _COMPARISONS for one in node.ops):
            pass
        case _:
            raise FormatError(f"expected names, numbers, + - * / // % ** and comparisons, found {ast.unparse(node)!r}")
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr_context | ast.operator | ast.cmpop | ast.unaryop | ast.boolop):
            _check(child, names, depth + 1)


def _violation(node: ast.expr, values: Mapping[str, Any]) -> float:
    if isinstance(node, ast.BoolOp):
        parts = [_violation(one, values) for one in node.values]
        return max(parts) if isinstance(node.op, ast.And) else min(parts)
    assert isinstance(node, ast.Compare)
    sides = [_value(one, values) for one in (node.left, *node.comparators)]
    found = [_miss(op, *pair) for op, pair in zip(node.ops, itertools.pairwise(sides), strict=True)]
    return max(found)


def _miss(op: ast.cmpop, left: Any, right: Any) -> float:
    if isinstance(left, float) and isinstance(right, float) and not isinstance(op, ast.Eq | ast.NotEq):
        distance = left - right if isinstance(op, ast.LtE | ast.Lt) else right - left
        if math.isnan(distance) or (distance == 0 and isinstance(op, ast.Lt | ast.Gt)):
            return FAR if math.isnan(distance) else 1e-12
        return max(min(distance, FAR), -FAR)
    return 0.0 if _COMPARISONS[type(op)](left, right) else 1.0


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    match node:
        case ast.Name():
            return _number(values[node.id])
        case ast.Constant():
            return _number(node.value)
        case ast.UnaryOp():
            value = _value(node.operand, values)
            return -value if isinstance(node.op, ast.USub) else value
        case ast.BinOp():
            left, right = _value(node.left, values), _value(node.right, values)
            if not isinstance(left, float) or not isinstance(right, float):  # "%9999999999d" % 1 would take all memory
                raise TypeError(left, right)
            found = _BINARY[type(node.op)](left, right)
            if isinstance(found, complex):
                raise TypeError(found)
            return found
        case _:
            return 0.0 if _violation(node, values) > 0 else 1.0


def _number(value: Any) -> Any:
    """Return numbers as float: powers of integers could take all memory."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
