"""Writes the code of groups: names of members and variables, and rows, templates in which numbers are left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from app.conversion.blocks import NodeGroup, scope_of
from app.conversion.calls import MS_TYPES, CheckpointTensor, ClassMember, Code, Emission
from app.conversion.mapping import MARKED
from app.conversion.naming import CELL_ATTRIBUTES, RESERVED, class_name, unique, variable
from app.conversion.onnx_model import ValueType
from app.conversion.operators import MAPPINGS

SLOT = "\0"
_NUMBER = re.compile(r"(?<![\w.@'\"])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.@'\"])")
_MARK = re.compile(r"@([vmto])(\d+)@")
_RESHAPED = re.compile(r"\.reshape\([-\d, ]+\)$")
"""Code that says the shape of its result itself."""
_GENERIC = frozenset(("x", "out", "y", "z"))


@dataclass(slots=True)
class CodeRow:
    """A line of a class: a template, the numbers left out, a name for each, the node it is of, and a comment.

    values are the outputs of the node that it assigns; groups are those that it calls, in order.
    """

    template: str
    numbers: tuple[str, ...]
    names: tuple[str, ...]
    emission: Emission | None = None
    comment: str = ""
    values: tuple[str, ...] = ()
    groups: tuple[NodeGroup, ...] = ()


@dataclass(slots=True)
class GroupBody:
    """The code of one group before it is known which class it is of."""

    group: NodeGroup
    inputs: list[str]
    outputs: list[str]
    names: list[str]
    init: list[CodeRow] = field(default_factory=list)
    construct: list[CodeRow] = field(default_factory=list)
    result: str = ""
    parameters: list[tuple[str, CheckpointTensor]] = field(default_factory=list)
    parts: list[tuple[str, NodeGroup]] = field(default_factory=list)

    def key(self) -> object:
        """Return what groups of one class share."""
        return (
            tuple(row.template for row in self.init),
            tuple(row.template for row in self.construct),
            tuple(self.names),
            self.result,
        )


@dataclass(slots=True)
class Class:
    """A class of the script: its bodies differ in numbers only."""

    name: str
    bodies: list[GroupBody]
    arguments: list[str] = field(default_factory=list)
    columns: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Instance:
    """A group as an object of a class, with the arguments it is made with."""

    kind: Class
    arguments: tuple[str, ...]
    body: GroupBody

    def code(self) -> str:
        """Return the code that makes it."""
        return f"{self.kind.name}({', '.join(self.arguments)})"


@dataclass(slots=True)
class WrittenModel:
    """What has been written of a model, and what is known of its values.

    aliases: value -> the one that it only renames. instances: id of a group -> its object. names: those of classes. refused:
    nodes without code of their own, with the class that stands for each.
    """

    types: Mapping[str, ValueType]
    aliases: Mapping[str, str]
    instances: dict[int, Instance] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    refused: list[tuple[Emission, str]] = field(default_factory=list)

    def source(self, value: str) -> str:
        """Return the value that another one only renames, or the value."""
        return self.aliases.get(value, value)


def template_of(code: str) -> tuple[str, tuple[str, ...]]:
    """Return a code without its numbers, and the numbers."""
    return _NUMBER.sub(SLOT, code), tuple(_NUMBER.findall(code))


def _passed(first: GroupBody, second: GroupBody) -> int | None:
    """Return which input of a group is the output of the one before, all others being equal; None if there is no such."""
    different = [place for place, (a, b) in enumerate(zip(first.inputs, second.inputs, strict=False)) if a != b]
    return different[0] if len(different) == 1 and second.inputs[different[0]] == first.outputs[0] else None


class BodyWriter:
    """Writes the rows of one group; those of the groups inside it are written before."""

    def __init__(self, model: WrittenModel, group: NodeGroup, order: Mapping[int, int], last: Mapping[str, int]) -> None:
        self._model, self._group, self._order, self._last = model, group, order, last
        self._members: set[str] = set()
        self._variables: dict[str, str] = {}
        self._weights: dict[str, str] = {}
        self._fixed: set[str] = set()
        cells = [
            (child, member)
            for child in group.children
            if isinstance(child, Emission)
            for member in child.members
            if member.function
        ]
        self._hints = Counter(self._cell_hint(child, member) for child, member in cells)

    def body(
        self, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None,
        extra: Sequence[tuple[str, CheckpointTensor]] = (),
    ) -> GroupBody:  # fmt: skip
        """Return the body of the group. inputs and outputs are those of the model, None for what the group itself needs and
        leaves; extra are values without a node, which become parameters."""
        nodes = self._group.nodes()
        end = self._order[id(nodes[-1])] if nodes else 0
        made = {name for node in nodes for name in node.node.outputs if name}
        used = list(dict.fromkeys(self._model.source(value) for node in nodes for value in node.values))
        found_inputs = list(inputs) if inputs is not None else [value for value in used if value not in made]
        if outputs is None:
            found_outputs = [name for node in nodes for name in node.node.outputs
                             if name and name not in self._model.aliases and self._last.get(name, -1) > end]  # fmt: skip
        else:
            found_outputs = [self._model.source(name) for name in outputs]
        if inputs is None:
            self._last = self._own_uses(nodes, found_outputs)
        names = self._input_names(found_inputs, root=inputs is not None)
        body = GroupBody(self._group, found_inputs, found_outputs, names)
        self._variables = dict(zip(found_inputs, names, strict=True))
        self._fixed = set(names) - _GENERIC if inputs is not None else set()
        for items in self._items():
            self._write(body, items)
        for value, parameter in extra:
            self._variables[value] = "self." + self._parameter(body, "constant", parameter, None)
        body.result = ", ".join(self._variables.get(value, "None") for value in found_outputs)
        return body

    def _own_uses(self, nodes: Sequence[Emission], outputs: Sequence[str]) -> dict[str, int]:
        """Return value -> the last node here that uses it: the variables of a construct end with it."""
        found = {self._model.source(value): self._order[id(node)] for node in nodes for value in node.values}
        return found | dict.fromkeys(outputs, len(self._order))

    def _input_names(self, values: Sequence[str], *, root: bool) -> list[str]:
        found: list[str] = []
        plain = ["x", "y", "z", "a", "b", "c"]
        for place, value in enumerate(values):
            name = variable(value, "x") if root else plain[place] if place < len(plain) else f"x{place}"
            known = self._model.types.get(value, ValueType())
            if root and len(values) == 1 and known.dtype.startswith("float"):
                name = "x"
            found.append(unique(name, found))
        return found

    def _items(self) -> Iterable[Emission | list[NodeGroup]]:
        """Yield nodes, and groups with those that follow in a chain."""
        chain: list[NodeGroup] = []
        for child in self._group.children:
            if isinstance(child, NodeGroup):
                if chain and not self._follows(chain[-1], child):
                    yield chain
                    chain = []
                chain.append(child)
                continue
            if chain:
                yield chain
                chain = []
            yield child
        if chain:
            yield chain

    def _follows(self, before: NodeGroup, after: NodeGroup) -> bool:
        a, b = self._body_of(before), self._body_of(after)
        stems = [re.sub(r"\d+$", "", group.name) for group in (before, after)]
        numbered = before.name != stems[0] and after.name != stems[1]
        alike = (not before.name and not after.name) or (numbered and stems[0] == stems[1])
        single = len(a.outputs) == len(b.outputs) == 1 and len(a.inputs) == len(b.inputs)
        nodes = after.nodes()
        return alike and single and _passed(a, b) is not None and self._last.get(a.outputs[0], -1) <= self._order[id(nodes[-1])]

    def _body_of(self, group: NodeGroup) -> GroupBody:
        return self._model.instances[id(group)].body

    def _write(self, body: GroupBody, item: Emission | list[NodeGroup]) -> None:
        if isinstance(item, Emission):
            self._emission(body, item)
        elif len(item) == 1:
            self._call(body, item[0], [item[0]], "")
        else:
            base = re.sub(r"[\d._]+$", "", item[0].name) or (self._group.name and "blocks") or "blocks"
            self._call(body, item[0], item, base)

    def _call(self, body: GroupBody, first: NodeGroup, groups: list[NodeGroup], base: str) -> None:
        """Write the call of a group, or of a chain: nn.SequentialCell, or a loop where all get further values."""
        made = [self._body_of(group) for group in groups]
        attribute = self._member(variable(base or first.name or "block", "block"))
        instances = [self._model.instances[id(group)] for group in groups]
        if base:
            parts = "".join(f"    {one.code()},\n" for one in instances)
            arguments = [name for one in instances for name in one.kind.arguments]
            listed = f"nn.SequentialCell(\n{parts})" if len(made[0].inputs) == 1 else f"nn.CellList([\n{parts}])"
            self._row(body.init, f"self.{attribute} = {listed}", arguments)
            body.parts += [(f"{attribute}.{place}", group) for place, group in enumerate(groups)]
        else:
            self._row(body.init, f"self.{attribute} = {instances[0].code()}", list(instances[0].kind.arguments))
            body.parts.append((attribute, first))
        end = self._order[id(groups[-1].nodes()[-1])]
        operands = [self._variables[value] for value in made[0].inputs]
        dying = [value for value in made[0].inputs if self._last.get(value, -1) <= end]
        code = f"self.{attribute}({', '.join(operands)})"
        outputs = made[-1].outputs
        place = _passed(made[0], made[1]) if len(groups) > 1 and len(operands) > 1 else None
        if place is not None:  # the other operands are used in every turn; the cell has the name of the attribute
            dying = [value for value in dying if value == made[0].inputs[place]]
            targets = [self._target(outputs[0], "out", dying, end, operands, set(operands))]
        else:
            targets = [self._target(value, attribute, dying if len(outputs) == 1 else [], end, operands) for value in outputs]
        comment = self._shape(outputs[0]) if len(outputs) == 1 else ""
        code = f"{', '.join(targets)} = {code}" if targets else code
        if place is not None:
            code = self._loop(attribute, operands, place, targets[0])
        self._row(body.construct, code, [], comment=comment)
        body.construct[-1].groups = tuple(groups)

    def _loop(self, attribute: str, operands: list[str], place: int, target: str) -> str:
        """Return the code that calls the cells of a list in turn, each with the result of the one before."""
        cell = unique(attribute.removesuffix("s") or "cell", {*operands, target, *self._variables.values()})
        start = f"{target} = {operands[place]}\n" if target != operands[place] else ""
        operands = [*operands[:place], target, *operands[place + 1 :]]
        return f"{start}for {cell} in self.{attribute}:\n    {target} = {cell}({', '.join(operands)})"

    def _emission(self, body: GroupBody, emission: Emission) -> None:
        place = self._order[id(emission)]
        members = [self._add(body, emission, member) for member in emission.members]
        values = [self._model.source(value) for value in emission.values]
        operands = [self._variables[value] for value in values]
        dying = [value for value in values if self._last.get(value, -1) <= place]
        temporaries: dict[str, str] = {}

        def named(match: re.Match[str]) -> str:
            kind, number = match[1], int(match[2])
            if kind == "v":
                return self._variables[values[number]]
            return f"self.{members[number]}" if kind == "m" else temporaries[match[0]]

        for line_number, line in enumerate(emission.lines):
            code = _MARK.sub(named, line.code)
            targets = []
            for mark in line.targets:
                if mark.startswith("@t"):
                    live = set(self._live(place)) | set(temporaries.values())
                    temporaries[mark] = unique(emission.temporaries[int(mark[2:-1])], live)
                    targets.append(temporaries[mark])
                    continue
                value = emission.node.outputs[int(mark[2:-1])]
                if value in self._model.aliases:
                    continue
                final = line_number == len(emission.lines) - 1 and len(line.targets) == 1
                busy = set(temporaries.values()) if not final else set()
                hint = self._hint(emission, members)
                targets.append(self._target(value, hint, dying if final else [], place, operands, busy))
            if targets:
                shown = line.targets[0].startswith("@o") and not _RESHAPED.search(code)
                shape = self._shape(emission.node.outputs[int(line.targets[0][2:-1])]) if shown else ""
                self._row(body.construct, f"{', '.join(targets)} = {code}", [], emission, shape)
                body.construct[-1].values = tuple(
                    emission.node.outputs[int(mark[2:-1])] for mark in line.targets if mark.startswith("@o")
                )

    def _live(self, place: int) -> list[str]:
        return [name for value, name in self._variables.items() if self._last.get(value, -1) >= place]

    def _target(self, value: str, hint: str, dying: list[str], place: int, operands: Sequence[str],
                busy: Set[str] = frozenset()) -> str:  # fmt: skip
        """Choose the variable of a value: that of an operand used for the last time, else a new one.

        What is made of several variables, one of them with a name of its own, is not called by that name.
        """
        telling = self._is_telling(hint)
        free = _GENERIC if len(set(operands)) == 1 else ("x", "out")
        names = [name for one in dying if (name := self._variables[one]) in free or (free is _GENERIC and not telling)]
        if hint in (self._variables[one] for one in dying):
            names = [hint]
        elif telling and any(self._is_telling(self._variables[one]) for one in self._living(dying, place)):
            names = []  # as in query, key and value: with only two of the names the third value would be taken for another one
        for name in sorted(names, key=lambda name: name != "x"):
            others = [self._variables[one] for one in self._living(dying, place)]
            if name not in self._fixed and name not in others and "." not in name:
                self._variables[value] = name
                return name
        live = {name for one, name in self._variables.items() if self._last.get(one, -1) >= place} | busy | self._fixed
        wanted = hint if telling else next((name for name in ("x", "out") if name not in live), hint)
        self._variables[value] = unique(wanted, live)
        return self._variables[value]

    def _living(self, dying: list[str], place: int) -> list[str]:
        """Return the values that are used after a node."""
        return [one for one in self._variables if one not in dying and self._last.get(one, -1) > place]

    def _is_telling(self, name: str) -> bool:
        """Return whether a name says more than the line that assigns it."""
        return bool(name) and name not in (_GENERIC | self._fixed) and re.sub(r"_?\d+$", "", name) not in _PLAIN

    def _hint(self, emission: Emission, members: list[str]) -> str:
        scope = scope_of(emission.node)
        if scope and not scope[-1].isdigit() and len(self._group.nodes()) > 1 and len(emission.node.outputs) == 1:
            leaf = variable(scope[-1], "out")
            if leaf not in RESERVED and leaf != variable(self._group.name, ""):
                return leaf
        cells = [name for name, member in zip(members, emission.members, strict=True) if member.function]
        return cells[0] if cells else variable(emission.node.op, "out")

    def _shape(self, value: str) -> str:
        known = self._model.types.get(value)
        if known is None or known.shape is None:
            return ""
        sizes = ", ".join(str(size) if isinstance(size, int) else "?" for size in known.shape)
        return f"({sizes})"

    def _row(
        self, rows: list[CodeRow], code: str, names: list[str], emission: Emission | None = None, comment: str = ""
    ) -> None:
        template, numbers = template_of(code)
        names = (names + ["size"] * len(numbers))[: len(numbers)]
        rows.append(CodeRow(template, numbers, tuple(variable(name, "size") for name in names), emission, comment))

    # Members

    def _member(self, name: str) -> str:
        """Return a new name; several cells of one hint are numbered from 1."""
        if self._hints[name] > 1:
            self._hints[name] += 1 << 20
            number = self._hints[name] >> 20
            name = f"{name}_{number}" if name[-1:].isdigit() or "_" in name else f"{name}{number}"
        chosen = unique(name, self._members | CELL_ATTRIBUTES)
        self._members.add(chosen)
        return chosen

    def _add(self, body: GroupBody, emission: Emission, member: ClassMember) -> str:
        if not member.function:
            if member.weight and member.weight in self._weights:
                return self._weights[member.weight]
            hint = member.hint or _parameter_hint(member, variable(self._group.name, ""))
            name = self._parameter(body, hint, member.parameters[""], emission)
            if member.weight:
                self._weights[member.weight] = name
            return name
        attribute = self._member(self._cell_hint(emission, member))
        if member.function == MARKED:
            kind = unique(class_name(f"Missing{emission.node.op}"), self._model.names)
            self._model.names.add(kind)
            self._model.refused.append((emission, kind))
            self._row(body.init, f"self.{attribute} = {kind}()", [], emission)
        else:
            names = _argument_names(member)
            self._row(body.init, f"self.{attribute} = {member.function}({_argument_code(member)})", names, emission)
        body.parameters += [(f"{attribute}.{key}", parameter) for key, parameter in member.parameters.items()]
        return attribute

    def _parameter(self, body: GroupBody, hint: str, parameter: CheckpointTensor, emission: Emission | None) -> str:
        name = self._member(variable(hint, "weight"))
        sizes = "".join(f"{size}, " for size in parameter.shape)
        kind = "" if parameter.dtype == "float32" else f"dtype={MS_TYPES[parameter.dtype]}"
        self._row(body.init, f"self.{name} = tensor({(sizes + kind).removesuffix(', ')})", [], emission)
        body.parameters.append((name, parameter))
        return name

    def _cell_hint(self, emission: Emission, member: ClassMember) -> str:
        scope = scope_of(emission.node)
        leaf = variable(scope[-1], "layer") if scope else ""
        if leaf and leaf not in RESERVED and leaf != variable(self._group.name, "") and not scope[-1].isdigit():
            return leaf
        return _SHORT.get(member.function) or variable(member.hint or member.function.rpartition(".")[2], "layer")


_SHORT = {
    "nn.Conv1d": "conv", "nn.Conv2d": "conv", "nn.Conv3d": "conv", "nn.BatchNorm1d": "bn", "nn.BatchNorm2d": "bn",
    "nn.BatchNorm3d": "bn", "nn.Dense": "dense", "nn.LayerNorm": "norm", "nn.GroupNorm": "norm", "nn.MaxPool2d": "pool",
    "nn.AvgPool2d": "pool", "nn.MaxPool1d": "pool", "nn.AvgPool1d": "pool", "nn.MaxPool3d": "pool", "nn.AvgPool3d": "pool",
    "nn.LRN": "norm",
}  # fmt: skip
_PLAIN = frozenset(
    (*_SHORT.values(), *(variable(op) for op in MAPPINGS))
)
"""Names that say no more than the line itself; a value of theirs is `x` or `out`."""


def _parameter_hint(member: ClassMember, group: str) -> str:
    """Return the last word of a weight's name, with the one before it if it says no more than that it is a weight."""
    *before, word = re.split(r"[./:]", member.weight)
    owner = before[-1] if before and _is_word(before[-1]) and variable(before[-1]) not in (group, *RESERVED) else ""
    if owner and word in ("weight", "bias"):
        return owner if word == "weight" else f"{owner}_{word}"
    return word if _is_word(word) else "weight"


def _is_word(text: str) -> bool:
    return bool(variable(text, "")) and not re.search(r"\d", text) and len(text) < 24


def _argument_names(member: ClassMember) -> list[str]:
    """Return a name for each number in the arguments."""
    found: list[str] = []
    for name, value in member.arguments.items():
        found += [name] * len(_NUMBER.findall(_value_code(value)))
    return found


def _value_code(value: object) -> str:
    return str(value) if isinstance(value, Code) else repr(value).replace("'", '"') if isinstance(value, str) else repr(value)


def _argument_code(member: ClassMember) -> str:
    return ", ".join(_value_code(value) if place < member.positional else f"{name}={_value_code(value)}"
                     for place, (name, value) in enumerate(member.arguments.items()))  # fmt: skip

