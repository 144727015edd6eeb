"""Writes the script of a model, and lists what its checkpoint holds and where the code of each node is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from app.conversion.blocks import NodeGroup, grouped
from app.conversion.bodies import SLOT, Class, CodeRow, GroupBody
from app.conversion.calls import CheckpointTensor, Emission
from app.conversion.classes import ClassMaker
from app.conversion.folding import Folding
from app.conversion.mapping import attribute_texts, describe
from app.conversion.naming import class_name, comment, unique
from app.conversion.onnx_model import OnnxModel
from app.conversion.operators import recurrent

_VALUE = re.compile(r"@v\d+@")
MOST_SHAPE = 60
"""Characters of a comment with a shape."""


@dataclass(slots=True)
class Script:
    """text; parameters of the checkpoint by name; lines (first, last) by index of node, 1-based; messages of marked nodes.

    recorded are the values that `record` is called with, in the order of execution.
    """

    text: str
    parameters: dict[str, CheckpointTensor]
    lines: dict[int, list[int]]
    refusals: dict[int, str]
    recorded: list[tuple[int, str]]
    model_class: str
    classes: list[str] = field(default_factory=list)


_HEAD = '''\
"""{title}

For inference: dropout is the identity and batch normalization uses recorded statistics. Shapes are in comments, `?` is a size
that may vary. Weights are in {weights}.
"""

import mindspore as ms
from mindspore import {names}
'''
_TENSOR = '''\
from mindspore.common.initializer import initializer


def tensor(*shape, dtype=ms.float32):
    """Return a weight that the checkpoint fills."""
    return Parameter(initializer("zeros", shape, dtype), requires_grad=False)
'''
_TAIL = '''

def load(*checkpoints):
    """Return the network with the weights of checkpoint files."""
    network = {name}()
    for checkpoint in checkpoints:
        ms.load_param_into_net(network, ms.load_checkpoint(checkpoint{format}))
    return network.set_train(False)
'''


def write_script(model: OnnxModel, folding: Folding, emissions: Sequence[Emission], *, name: str, weights: str,
                 recording: bool = False, blocks: bool = True) -> Script:  # fmt: skip
    """Return the script. With recording every line of a node is followed by `record(value)`, a name that the caller defines."""
    aliases = renamed_values(emissions)
    root = grouped(emissions, model.outputs) if blocks else NodeGroup("", list(emissions))
    extra = _constant_outputs(model, folding)
    maker = ClassMaker(model.types, aliases)
    title = unique(class_name(name), ())
    maker.make(root, model.inputs, model.outputs, title, extra)
    writer = _ScriptWriter(maker, model, recording)
    helpers = dict.fromkeys(helper for emission in emissions for helper in emission.helpers)
    source = comment(model.path.replace("\\", "/").rpartition("/")[2])
    text = writer.text(title, f"{title}, converted from the ONNX model {source}.", weights, list(helpers))
    parameters: dict[str, CheckpointTensor] = {}
    writer.walk(root, "", parameters)
    recorded = list(writer.recorded(root))
    for emission in emissions:
        if emission.joined is not None:
            writer.lines[emission.node.index] = writer.lines.get(emission.joined, [])
    refusals = {emission.node.index: _message(emission) for emission in emissions if emission.refusal}
    return Script(text, parameters, writer.lines, refusals, recorded, title, [kind.name for kind in maker.classes])


def renamed_values(emissions: Sequence[Emission]) -> dict[str, str]:
    """Return value -> the value it only renames."""
    found: dict[str, str] = {}
    for emission in emissions:
        for line in emission.lines:
            if len(line.targets) == 1 and line.targets[0].startswith("@o") and _VALUE.fullmatch(line.code):
                source = emission.values[int(line.code[2:-1])]
                found[emission.node.outputs[int(line.targets[0][2:-1])]] = found.get(source, source)
    return found


def _constant_outputs(model: OnnxModel, folding: Folding) -> list[tuple[str, CheckpointTensor]]:
    """Return the outputs of the model that are weights or were folded."""
    found = []
    for name in dict.fromkeys(model.outputs):
        if name in folding.constants and name not in model.weights and folding.constants[name].size:
            array = folding.constants[name]
            found.append((name, CheckpointTensor(str(array.dtype), array.shape, (), constant=array)))
        elif name in model.weights:
            found.append((name, CheckpointTensor(model.weights[name].dtype, model.weights[name].shape, (name,))))
    return found


def _message(emission: Emission) -> str:
    return f"{comment(describe(emission.node))}: {comment(emission.refusal)}"


class _ScriptWriter:
    """Writes classes and notes the lines of nodes."""

    def __init__(self, maker: ClassMaker, model: OnnxModel, recording: bool) -> None:
        self._maker, self._model, self._recording = maker, model, recording
        self._out: list[str] = []
        self.lines: dict[int, list[int]] = {}

    def text(self, title: str, head: str, weights: str, helpers: Sequence[str]) -> str:
        if helpers:
            for source in (recurrent.LIMITED, *(recurrent.HELPERS[name] for name in helpers)):
                self._add("\n\n" + source.rstrip("\n"))
        for emission, kind in self._maker.model.refused:
            self._missing(emission, kind)
        for made in self._maker.classes:
            self._class(made)
        self._add(
            _TAIL.format(name=title, format=', format="safetensors"' if weights.endswith(".safetensors") else "").rstrip("\n")
        )
        self._begin(head, weights)
        return "\n".join(self._out) + "\n"

    def _begin(self, head: str, weights: str) -> None:
        """Put docstring and imports, of what is used, before the rest, whose lines move down."""
        code = "\n".join(self._out)
        stored = "tensor(" in code
        names = [name for name, used in (("Parameter", stored), ("nn", True), ("ops", "ops." in code)) if used]
        text = _HEAD.format(title=head, weights=comment(weights), names=", ".join(names)) + (_TENSOR if stored else "")
        first = text.rstrip("\n").split("\n")
        self._out[:0] = first
        self.lines = {node: [line + len(first) for line in lines] for node, lines in self.lines.items()}

    def _add(self, text: str, rows: Sequence[CodeRow] = ()) -> None:
        start = len(self._out) + 1
        self._out += text.split("\n")
        for row in rows:
            if row.emission is not None:
                self.lines.setdefault(row.emission.node.index, []).extend(range(start, len(self._out) + 1))

    def _missing(self, emission: Emission, kind: str) -> None:
        node, message = emission.node, _message(emission)
        self._add(f"\n\nclass {kind}(nn.Cell):\n    # {message}")
        for title, names in (("inputs", node.inputs), ("outputs", node.outputs)):
            self._add(f"    # {title}: " + "; ".join(self._described(name) for name in names if name))
        for text in attribute_texts(node):
            self._add(f"    # attribute {comment(text)}")
        for line in self._missing_parameters(emission):
            self._add(line)
        self._add(f"\n    def construct(self, *inputs):\n        raise NotImplementedError({message!r})")

    def _missing_parameters(self, emission: Emission) -> Iterator[str]:
        from app.conversion.calls import MS_TYPES

        parameters = emission.members[0].parameters
        if parameters:
            yield "\n    def __init__(self):\n        super().__init__()"
        for name, parameter in parameters.items():
            sizes = "".join(f"{size}, " for size in parameter.shape)
            yield f"        self.{name} = tensor({sizes}dtype={MS_TYPES[parameter.dtype]})"

    def _described(self, name: str) -> str:
        known = self._model.types.get(name)
        if known is None or known.shape is None:
            return comment(name)
        return comment(f"{name} {known.dtype} ({', '.join(str(size) or '?' for size in known.shape)})")

    def _class(self, kind: Class) -> None:
        first = kind.bodies[0]
        doc = _docstring(kind)
        self._add(f"\n\nclass {kind.name}(nn.Cell):" + (f'\n    """{doc}"""\n' if doc else ""))
        columns = iter(range(1 << 30))
        init = [self._filled(row, kind, columns, "") for row in first.init]
        stored = list(self._slots(kind, first))
        if init or kind.arguments:
            arguments = "".join(f", {name}" for name in kind.arguments)
            self._add(f"    def __init__(self{arguments}):\n        super().__init__()")
            for place, text in enumerate(init):
                self._add("        " + text.replace("\n", "\n        "), [body.init[place] for body in kind.bodies])
            for name in stored:
                self._add(f"        self.{name} = {name}")
            self._add("")
        self._add(f"    def construct(self{''.join(f', {name}' for name in first.names)}):")
        self._construct(kind, first, columns)
        self._add(f"        return {first.result}" if first.result else "        return ()")

    def _slots(self, kind: Class, first: GroupBody) -> list[str]:
        """Return the arguments that construct uses."""
        start = sum(len(row.numbers) for row in first.init)
        return list(dict.fromkeys(name for place, name in kind.columns.items() if place >= start))

    def _construct(self, kind: Class, first: GroupBody, columns: Iterator[int]) -> None:
        before = ""
        for place, row in enumerate(first.construct):
            text = self._filled(row, kind, columns, "self.")
            shapes = {body.construct[place].comment for body in kind.bodies}
            shape = row.comment if len(shapes) == 1 and len(row.comment) <= MOST_SHAPE else ""
            end = f"  # {shape}" if shape and shape != before else ""
            self._add("        " + text.replace("\n", "\n        ") + end, [body.construct[place] for body in kind.bodies])
            before = shape
            if self._recording and row.values:
                self._add(f"        record({text.partition(' = ')[0]})")

    def _filled(self, row: CodeRow, kind: Class, columns: Iterator[int], prefix: str) -> str:
        parts = row.template.split(SLOT)
        text = parts[0]
        for number, part in zip(row.numbers, parts[1:], strict=True):
            name = kind.columns.get(next(columns))
            text += (prefix + name if name else number) + part
        return text

    def walk(self, group: NodeGroup, prefix: str, parameters: dict[str, CheckpointTensor]) -> None:
        """List parameters by their names in the checkpoint."""
        body = self._body(group)
        for name, parameter in body.parameters:
            parameters[prefix + name] = parameter
        for name, part in body.parts:
            self.walk(part, f"{prefix}{name}.", parameters)

    def recorded(self, group: NodeGroup) -> Iterator[tuple[int, str]]:
        """Yield (node, value) of all that is recorded, in the order of execution."""
        for row in self._body(group).construct:
            if row.emission is not None:
                yield from ((row.emission.node.index, value) for value in row.values)
            for part in row.groups:
                yield from self.recorded(part)

    def _body(self, group: NodeGroup) -> GroupBody:
        return self._maker.model.instances[id(group)].body


def _docstring(kind: Class) -> str:
    operators = Counter(emission.node.op for emission in kind.bodies[0].group.nodes())
    most = ", ".join(f"{count} {comment(op)}" for op, count in operators.most_common(6))
    often = f"; used {len(kind.bodies)} times" if len(kind.bodies) > 1 else ""
    return f"{sum(operators.values())} nodes: {most}{' and others' if len(operators) > 6 else ''}{often}."
