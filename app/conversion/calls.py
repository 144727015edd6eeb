"""What the mapping of an operator sees of a node, and the code it returns.

Code refers to values, members (sub-cells and parameters of the class) and temporary variables by marks: `@v0@`, `@m0@`, `@t0@`.
`script` replaces them by names, since one node's code may stand in a class that is used several times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.conversion.folding import Folding
from app.conversion.kernels import KERNELS, WIDER
from app.conversion.onnx_model import Dim, OnnxModel, OnnxNode, ValueType, attribute_value
from app.conversion.refusals import NotCovered

Array = NDArray[Any]
MS_TYPES = {
    "float32": "ms.float32", "float16": "ms.float16", "float64": "ms.float64", "bfloat16": "ms.bfloat16", "int8": "ms.int8",
    "int16": "ms.int16", "int32": "ms.int32", "int64": "ms.int64", "uint8": "ms.uint8", "uint16": "ms.uint16",
    "uint32": "ms.uint32", "uint64": "ms.uint64", "bool": "ms.bool_", "complex64": "ms.complex64",
    "complex128": "ms.complex128",
}  # fmt: skip
FLOATS = ("float32", "float16", "float64", "bfloat16")
MINUS_INFINITY = 'float("-inf")'
MOST_ITEMS = 16
"""Of a constant that is written into the code."""


class Code(str):
    """A literal in the arguments of a cell that is code, not a text."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class CheckpointTensor:
    """One tensor of the checkpoint: from which tensors of the model it is made, and how.

    make gets the arrays of sources and returns the array of `shape`; change says in words what it does, "" for nothing.
    """

    dtype: str
    shape: tuple[int, ...]
    sources: tuple[str, ...]
    make: Callable[..., Array] | None = None
    change: str = ""
    constant: Array | None = None


@dataclass(slots=True)
class ClassMember:
    """An attribute of a class: a cell `function(**arguments)` with parameters, or a parameter of its own (function "").

    The name of a parameter in the checkpoint is the member's followed by its key; "" is the member itself.
    """

    hint: str
    function: str
    arguments: dict[str, Any] = field(default_factory=dict)
    positional: int = 0
    parameters: dict[str, CheckpointTensor] = field(default_factory=dict)
    weight: str = ""


class Line(NamedTuple):
    """An assignment in construct; targets are marks, of temporaries or of outputs `@o0@`."""

    targets: tuple[str, ...]
    code: str


@dataclass(slots=True)
class Emission:
    """The code of one node. helpers are names of classes that the script has to define.

    joined is the index of the node whose code does the work of this one, too; there is no code then.
    """

    node: OnnxNode
    values: list[str] = field(default_factory=list)
    members: list[ClassMember] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    helpers: list[str] = field(default_factory=list)
    temporaries: list[str] = field(default_factory=list)
    refusal: str = ""
    joined: int | None = None


class Call:
    """A node as its mapping sees it. Input i of an operator is `x(i)`; what is missing or unknown raises NotCovered."""

    def __init__(self, model: OnnxModel, folding: Folding, node: OnnxNode) -> None:
        self._model, self._folding = model, folding
        self.node, self.opset = node, model.opset
        self.emission = Emission(node)
        self.asked: set[str] = set()

    # Attributes and inputs

    def attribute(self, name: str, default: Any = None) -> Any:
        """Return an attribute's value, or the default. Those that no mapping asks for are not covered."""
        self.asked.add(name)
        found = self.node.attributes.get(name)
        return default if found is None else attribute_value(found)

    def refuse_attributes(self, **covered: Any) -> None:
        """Raise NotCovered if an attribute has another value than the one covered."""
        for name, value in covered.items():
            found = self.attribute(name, value)
            if found != value:
                raise NotCovered(f"attribute {name} = {found!r} is not covered")

    def has(self, number: int) -> bool:
        """Return whether an optional input is given."""
        return number < len(self.node.inputs) and bool(self.node.inputs[number])

    @property
    def outputs(self) -> int:
        """Number of outputs up to the last one with a name."""
        return len(self.node.outputs)

    def wants(self, number: int) -> bool:
        """Return whether an output is used."""
        return number < len(self.node.outputs) and bool(self.node.outputs[number])

    def _name(self, number: int) -> str:
        if not self.has(number):
            raise NotCovered(f"input {number} is missing")
        return self.node.inputs[number]

    def type(self, number: int) -> ValueType:
        """Return what is known of an input."""
        return self._model.types.get(self._name(number), ValueType())

    def dtype(self, number: int = 0) -> str:
        """Return the data type of an input, float32 if nothing tells: its producer has no mapping."""
        return self.type(number).dtype or "float32"

    def output_type(self, number: int = 0) -> ValueType:
        """Return what is known of an output."""
        return self._model.types.get(self.node.outputs[number], ValueType())

    def dims(self, number: int = 0) -> tuple[Dim, ...]:
        """Return sizes, of which some may only have names."""
        shape = self.type(number).shape
        if shape is None:
            raise NotCovered(f"the rank of input {self._name(number)!r} is unknown")
        return shape

    def rank(self, number: int = 0) -> int:
        """Return the number of dimensions of an input."""
        return len(self.dims(number))

    def shape(self, number: int = 0) -> tuple[int, ...]:
        """Return the sizes of an input, all of which must be known."""
        shape = self.dims(number)
        if not all(isinstance(size, int) for size in shape):
            raise NotCovered(f"the shape {shape} of input {self._name(number)!r} is not fixed; fix it with --shape")
        return tuple(int(size) for size in shape)

    def size(self, number: int, axis: int) -> int:
        """Return the size of one axis, which must be known."""
        found = self.dims(number)[axis]
        if not isinstance(found, int):
            raise NotCovered(f"size {axis} of input {self._name(number)!r} is not fixed; fix it with --shape")
        return found

    def axis(self, value: int, number: int = 0) -> int:
        """Return an axis counted from the front."""
        rank = self.rank(number)
        if not -rank <= value < max(rank, 1):
            raise NotCovered(f"axis {value} of an input with {rank} dimensions")
        return value % rank if rank else 0

    def constant_or_none(self, number: int) -> Array | None:
        """Return the values of an input known at conversion, None if it is computed when the model runs."""
        name = self._name(number)
        if name in self._folding.constants:
            return self._folding.constants[name]
        weight = self._model.weights.get(name)
        return None if weight is None or weight.dtype in ("bfloat16", "string") else weight.array()

    def constant(self, number: int) -> Array:
        """Return the values of an input, which must be known at conversion."""
        found = self.constant_or_none(number)
        if found is None:
            raise NotCovered(f"input {self._name(number)!r} is computed when the model runs")
        return found

    def integers(self, number: int) -> tuple[int, ...]:
        """Return an input as numbers, which must be known at conversion."""
        return tuple(int(value) for value in np.ravel(self.constant(number)))

    def sizes(self, number: int) -> tuple[Dim, ...]:
        """Return a vector of sizes, of which some may only have names."""
        found = self._folding.known(self._name(number))
        if found is None:
            found = self.constant_or_none(number)
        if found is None:
            raise NotCovered(f"input {self._name(number)!r} is computed when the model runs")
        values = [found] if isinstance(found, str) else found
        return tuple(
            size if isinstance(size, str) else int(size)
            for size in (np.ravel(values) if isinstance(values, np.ndarray) else values)
        )

    def fixed(self, number: int) -> bool:
        """Return whether an input is a weight or a constant."""
        name = self._name(number)
        return name in self._model.weights or name in self._folding.constants

    def weight_shape(self, number: int) -> tuple[int, ...]:
        """Return the shape of a weight."""
        return self.shape(number)

    # Code

    def x(self, number: int = 0) -> str:
        """Return the code of an input: a variable, a number, or a parameter of the class."""
        name = self._name(number)
        if self.fixed(number):
            return self.parameter(number)
        return self.value(name)

    def value(self, name: str) -> str:
        """Return the mark of a value that a variable holds."""
        values = self.emission.values
        if name not in values:
            values.append(name)
        return f"@v{values.index(name)}@"

    def operand(self, number: int, other: int) -> str:
        """Return the code of an input of an operator that broadcasts: a plain number where that keeps type and rank."""
        name = self._name(number)
        if self.fixed(number):
            shape, dtype = self.shape(number), self.dtype(number)
            if (
                math.prod(shape) == 1
                and self.has(other)
                and not self.fixed(other)
                and dtype in ("float32", "int64", "int32", "float16")
            ):
                known = self.type(other).shape
                value = np.ravel(self.constant(number))[0]
                if known is not None and len(shape) <= len(known) and self.dtype(other) == dtype and np.isfinite(value):
                    return literal(value)
            return self.parameter(number)
        return self.value(name)

    def parameter(self, number: int, hint: str = "") -> str:
        """Return a parameter of the class that holds a weight as it is."""
        name = self._name(number)
        weight = self._model.weights.get(name)
        if weight is not None:
            if weight.dtype not in MS_TYPES:
                raise NotCovered(f"a weight of type {weight.dtype}")
            return self.member(
                ClassMember(hint, "", parameters={"": CheckpointTensor(weight.dtype, weight.shape, (name,))}, weight=name)
            )
        return self.tensor(self._folding.constants[name], hint or "constant")

    def tensor(self, array: Array, hint: str = "constant") -> str:
        """Return a parameter of the class that holds values computed at conversion."""
        array = np.ascontiguousarray(array) if np.ndim(array) else np.asarray(array)
        dtype = str(array.dtype)
        if not array.size:
            raise NotCovered("a tensor without elements")
        if dtype not in MS_TYPES:
            raise NotCovered(f"a constant of type {dtype}")
        return self.member(ClassMember(hint, "", parameters={"": CheckpointTensor(dtype, array.shape, (), constant=array)}))

    def source(self, number: int, shape: Sequence[int] | None = None, make: Callable[[Array], Array] | None = None,
               change: str = "") -> CheckpointTensor:  # fmt: skip
        """Return the parameter of a cell that is made of a weight."""
        name = self._name(number)
        weight = self._model.weights.get(name)
        new = tuple(self.shape(number) if shape is None else shape)
        if weight is not None:
            return CheckpointTensor(weight.dtype, new, (name,), make, change)
        array = self._folding.constants[name]
        return CheckpointTensor(str(array.dtype), new, (), constant=array if make is None else make(array))

    def member(self, member: ClassMember) -> str:
        """Add an attribute to the class and return its mark."""
        self.emission.members.append(member)
        return f"@m{len(self.emission.members) - 1}@"

    def cell(self, function: str, *positional: tuple[str, Any], parameters: dict[str, CheckpointTensor] | None = None,
             weight: int | None = None, hint: str = "", **named: Any) -> str:  # fmt: skip
        """Add a cell and return its mark. positional are (name, value): the name becomes that of an argument of a class."""
        arguments = dict(positional) | named
        source = self.node.inputs[weight] if weight is not None else ""
        return self.member(ClassMember(hint, function, arguments, len(positional), parameters or {}, source))

    def let(self, code: str, name: str = "y") -> str:
        """Assign to a temporary variable and return its mark."""
        self.emission.temporaries.append(name)
        mark = f"@t{len(self.emission.temporaries) - 1}@"
        self.emission.lines.append(Line((mark,), code))
        return mark

    def helper(self, name: str) -> str:
        """Require a class or function that the script defines, and return its name."""
        self.emission.helpers.append(name)
        return name

    def run(self, function: str, code: str, *more: str, dtype: str = "", to: str | None = None) -> str:
        """Return `function(code, more)`, in a wider type if it has no kernel for the type of input 0 (or dtype).

        to is the type of the result if it is another one than that of the operand, "" if it needs no cast back.
        """
        dtype = dtype or self.dtype(0)
        wide = self.computed(function, dtype)
        arguments = ", ".join((code if wide == dtype else cast(code, wide), *more))
        back = dtype if to is None else to
        result = f"{function}({arguments})"
        return result if wide == dtype or not back else cast(result, back)

    def computed(self, function: str, dtype: str) -> str:
        """Return the type in which a function computes values of a type: itself, or a wider one; NotCovered if none."""
        kinds = KERNELS.get(function)
        if kinds is None or dtype in kinds:
            return dtype
        for wide in WIDER.get(dtype, ()):
            if wide in kinds:
                return wide
        raise NotCovered(f"{function} has no CPU kernel for {dtype}")


def literal(value: Any) -> str:
    """Return a number as code."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    number = float(value)
    if math.isinf(number):
        return 'float("inf")' if number > 0 else MINUS_INFINITY
    if math.isnan(number):
        return 'float("nan")'
    short = np.format_float_positional(value, unique=True, trim="0") if 1e-4 <= abs(number) < 1e7 else repr(float(str(value)))
    return short if number else "0.0"


def cast(code: str, dtype: str) -> str:
    """Return code that converts a tensor."""
    if dtype not in MS_TYPES:
        raise NotCovered(f"type {dtype} has no CPU kernel")
    return f"{code}.astype({MS_TYPES[dtype]})" if _simple(code) else f"({code}).astype({MS_TYPES[dtype]})"


def _simple(code: str) -> bool:
    if code.replace("@", "").replace("_", "").replace(".", "").isalnum():
        return True
    if not code.startswith(("ops.", "@m")) or not code.endswith(")"):
        return False
    depth = 0
    for character in code[:-1]:  # the last bracket must close the first one: not ops.abs(a) * ops.sign(b)
        depth += (character == "(") - (character == ")")
        if not depth and character == ")":
            return False
    return depth == 1


def tuple_code(values: Sequence[Any]) -> str:
    """Return numbers as the code of a tuple."""
    return "(" + ", ".join(str(value) for value in values) + ("," if len(values) == 1 else "") + ")"
