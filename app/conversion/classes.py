"""Makes classes of groups: one class for groups whose code differs in numbers only (`app.conversion.bodies`).

The numbers that differ are arguments of the class; equal columns of numbers are one argument.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from app.conversion.blocks import NodeGroup
from app.conversion.bodies import BodyWriter, Class, GroupBody, Instance, WrittenModel
from app.conversion.calls import CheckpointTensor
from app.conversion.naming import class_name, unique
from app.conversion.onnx_model import ValueType

MOST_ARGUMENTS = 12


class ClassMaker:
    """Makes the classes of a model, those of inner groups first."""

    def __init__(self, types: Mapping[str, ValueType], aliases: Mapping[str, str]) -> None:
        self.model = WrittenModel(types, aliases)
        self.classes: list[Class] = []

    def make(
        self,
        root: NodeGroup,
        inputs: Sequence[str],
        outputs: Sequence[str],
        name: str,
        extra: Sequence[tuple[str, CheckpointTensor]],
    ) -> Class:
        """Return the class of the whole model; `classes` has all of them in the order of the script."""
        self.model.names.add(name)
        levels: dict[int, list[tuple[NodeGroup, str]]] = {}
        _heights(root, "", levels)
        order = {id(emission): place for place, emission in enumerate(root.nodes())}
        last = self._last_uses(root, outputs)
        for height in sorted(levels):
            bodies = []
            for group, parent in levels[height]:
                writer = BodyWriter(self.model, group, order, last)
                bodies.append((writer.body(inputs, outputs, extra) if group is root else writer.body(), parent))
            self._cluster(bodies, root, name)
        return self.model.instances[id(root)].kind

    def _last_uses(self, root: NodeGroup, outputs: Sequence[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        nodes = root.nodes()
        for place, emission in enumerate(nodes):
            for value in emission.values:
                found[self.model.source(value)] = place
        return found | {self.model.source(name): len(nodes) for name in outputs}

    def _cluster(self, bodies: Sequence[tuple[GroupBody, str]], root: NodeGroup, name: str) -> None:
        clusters: dict[object, list[tuple[GroupBody, str]]] = {}
        for body, parent in bodies:
            clusters.setdefault(body.key(), []).append((body, parent))
        for cluster in clusters.values():
            members = [body for body, _ in cluster]
            for several in _by_columns(members):
                wanted = name if several[0].group is root else _class_name(several[0].group.name, cluster[0][1], len(several))
                chosen = wanted if several[0].group is root else unique(wanted, self.model.names)
                self.model.names.add(chosen)
                kind = Class(chosen, several)
                values = _arguments(kind)
                self.classes.append(kind)
                for body, arguments in zip(several, values, strict=True):
                    self.model.instances[id(body.group)] = Instance(kind, arguments, body)


def _heights(group: NodeGroup, parent: str, levels: dict[int, list[tuple[NodeGroup, str]]]) -> int:
    """Sort groups by how many levels of groups they contain; chains are part of their parent."""
    height = 0
    for child in group.children:
        if isinstance(child, NodeGroup):
            height = max(height, _heights(child, group.name, levels) + 1)
    levels.setdefault(height, []).append((group, parent))
    return height


def _class_name(name: str, parent: str, count: int) -> str:
    base = re.sub(r"[\d._]+$", "", name)
    if not base:
        base = re.sub(r"[\d._]+$", "", parent)
        return class_name(f"{base}_Block" if base else "Block")
    return class_name(base if count > 1 else name)


def _by_columns(bodies: list[GroupBody]) -> list[list[GroupBody]]:
    """Split bodies that differ in too many numbers to be arguments."""
    columns = {column for column in zip(*(_numbers(body) for body in bodies), strict=True) if len(set(column)) > 1}
    if len(columns) <= MOST_ARGUMENTS:
        return [bodies]
    same: dict[tuple[str, ...], list[GroupBody]] = {}
    for body in bodies:
        same.setdefault(_numbers(body), []).append(body)
    return list(same.values())


def _numbers(body: GroupBody) -> tuple[str, ...]:
    return tuple(number for row in (*body.init, *body.construct) for number in row.numbers)


def _arguments(kind: Class) -> list[tuple[str, ...]]:
    """Name the columns of numbers that differ; return the arguments of each body."""
    first = kind.bodies[0]
    names = [name for row in (*first.init, *first.construct) for name in row.names]
    columns = list(zip(*(_numbers(body) for body in kind.bodies), strict=True))
    known: dict[tuple[str, ...], str] = {}
    for place, column in enumerate(columns):
        if len(set(column)) > 1:
            if column not in known:
                known[column] = unique(names[place], {*known.values(), "x", *first.names})
            kind.columns[place] = known[column]
    kind.arguments = list(known.values())
    return [tuple(column[number] for column in known) for number in range(len(kind.bodies))]
