"""Groups nodes into blocks that become classes: by the scopes in their names, else by what repeats in the graph.

A group is a run of nodes in the order of execution, so all it needs is computed before it begins.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.conversion.calls import Emission
from app.conversion.naming import RESERVED, variable
from app.conversion.onnx_model import OnnxNode

SMALLEST, LONGEST = 4, 80
"""Nodes of a block."""
MOST_WORK = 4_000_000
"""Steps of the search for repetitions."""
ENDS = frozenset(("Relu", "Concat", "LayerNormalization", "LeakyRelu", "Sigmoid", "HardSwish", "Clip"))
"""Operators that a block written by hand ends with, of several ways to divide a chain."""
SCOPED = 0.6
"""Share of nodes with scopes in their names from which names decide."""


@dataclass(slots=True)
class NodeGroup:
    """Nodes of one class, in order."""

    name: str
    children: list[Emission | NodeGroup] = field(default_factory=list)

    def nodes(self) -> list[Emission]:
        """Return all nodes in the order of execution."""
        found: list[Emission] = []
        stack: list[Emission | NodeGroup] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, NodeGroup):
                stack.extend(reversed(item.children))
            else:
                found.append(item)
        return found


def scope_of(node: OnnxNode) -> tuple[str, ...]:
    """Return the scopes of a node from its name: of `/layer1/layer1.0/conv1/Conv` layer1, 0, conv1."""
    if "/" not in node.name:
        return ()
    parts = [part for part in node.name.split("/") if part][:-1]
    found, before = [], ""
    for part in parts:
        found.append(part[len(before) + 1 :] if before and part.startswith(before + ".") else part)
        before = part
    return tuple(found)


def grouped(emissions: Sequence[Emission], outputs: Sequence[str]) -> NodeGroup:
    """Return the root group of a model."""
    scopes = [scope_of(emission.node) for emission in emissions]
    named = sum(bool(scope) for scope in scopes)
    if emissions and named >= SCOPED * len(emissions):
        common = _common(scopes)
        name = max(scopes, key=len)[common - 1] if common else ""
        return NodeGroup(name, _by_scope(emissions, [scope[common:] for scope in scopes]))
    return NodeGroup("", _repetitions(list(emissions), outputs))


def _common(scopes: Sequence[tuple[str, ...]]) -> int:
    """Return how many first scopes all nodes that have any share."""
    named = [scope for scope in scopes if scope]
    count = 0
    while all(len(scope) > count and scope[count] == named[0][count] for scope in named):
        count += 1
    return count


def _by_scope(emissions: Sequence[Emission], scopes: Sequence[tuple[str, ...]], parent: str = "",
              depth: int = 0) -> list[Emission | NodeGroup]:  # fmt: skip
    found: list[Emission | NodeGroup] = []
    start = 0
    while start < len(emissions):
        first = scopes[start][:1]
        stop = start + 1
        while first and stop < len(emissions) and scopes[stop][:1] == first:
            stop += 1
        if first and stop - start >= SMALLEST and depth < 12:
            inner = [scope[1:] for scope in scopes[start:stop]]
            children = _by_scope(emissions[start:stop], inner, first[0], depth + 1)
            if len(children) == 1 and isinstance(children[0], NodeGroup):
                children[0].name = f"{first[0]}.{children[0].name}"
                found.append(children[0])
            else:
                found.append(NodeGroup(_told_apart(first[0], parent), children))
        else:
            found += emissions[start:stop]
        start = stop
    return found


def _told_apart(name: str, parent: str) -> str:
    """Return the name of a scope, for a word of Python with the scope around it: `self` in `attention` is self_attention."""
    stem = re.sub(r"[\d._]+$", "", parent)
    return f"{name}_{stem}" if stem and variable(name) in RESERVED else name


# Without scopes ------------------------------------------------------------------------------------------------------


def token(emission: Emission) -> Any:
    """Return what two nodes that may stand in the same place of a block have in common."""
    node = emission.node
    members = tuple((member.function, tuple(member.arguments), tuple(member.parameters)) for member in emission.members)
    return node.op, len(emission.values), len(emission.lines), members, bool(emission.refusal)


def _repetitions(emissions: list[Emission], outputs: Sequence[str]) -> list[Emission | NodeGroup]:
    """Replace what repeats by groups, the repetition that covers most first."""
    tokens = [token(emission) for emission in emissions]
    numbers = {one: place for place, one in enumerate(dict.fromkeys(tokens))}
    codes = [numbers[one] for one in tokens]
    last_use = _last_uses(emissions, outputs)
    taken = [False] * len(codes)
    groups: dict[int, int] = {}
    work = 0
    while work < MOST_WORK:
        best, spent = _best(emissions, codes, taken, last_use)
        work += spent
        if best is None:
            break
        starts, length = best
        for start in starts:
            groups[start] = length
            taken[start : start + length] = [True] * length
    found: list[Emission | NodeGroup] = []
    place = 0
    while place < len(emissions):
        length = groups.get(place, 0)
        found.append(NodeGroup("", list(emissions[place : place + length])) if length else emissions[place])
        place += length or 1
    return found


def _last_uses(emissions: Sequence[Emission], outputs: Sequence[str]) -> Mapping[str, int]:
    """Return value -> the last node that uses it; beyond all nodes for outputs of the model."""
    found = {name: place for place, emission in enumerate(emissions) for name in emission.values}
    return found | dict.fromkeys(outputs, len(emissions))


def _best(emissions: Sequence[Emission], codes: list[int], taken: list[bool],
          last_use: Mapping[str, int]) -> tuple[tuple[list[int], int] | None, int]:  # fmt: skip
    best: tuple[list[int], int] | None = None
    score, spent, well = 0, 0, False
    free = len(codes) - sum(taken)
    for length in range(min(LONGEST, free // 2), SMALLEST - 1, -1):
        if score > (free - length) * 3:
            continue
        places: dict[int, list[int]] = defaultdict(list)
        for start, window in _windows(codes, taken, length):
            places[window].append(start)
        spent += len(codes)
        for starts in places.values():
            if len(starts) < 2 or (len(starts) - 1) * length * 3 < score:
                continue
            closed, last = [], -length
            for start in starts:
                spent += length
                if start >= last + length and _is_closed(emissions, start, length, last_use):
                    closed.append(start)
                    last = start
            gain = (len(closed) - 1) * length * (3 if closed and _merges(emissions[closed[0] : closed[0] + length]) else 2)
            ends_well = bool(closed) and emissions[closed[0] + length - 1].node.op in ENDS
            if gain > score or (gain == score and gain and ends_well > well):
                best, score, well = (closed, length), gain, ends_well
    return best, spent


def _merges(emissions: Sequence[Emission]) -> bool:
    """Return whether what enters a block is used again near its end, as in residual and dense blocks."""
    if not emissions[0].values:
        return False
    made = {name for emission in emissions[:-1] for name in emission.node.outputs}
    return any(len(emission.values) > 1 and any(name in made for name in emission.values) for emission in emissions[-3:])


def _windows(codes: list[int], taken: list[bool], length: int) -> Any:
    """Yield (start, hash) of every run of free nodes."""
    base, modulus = 1_000_003, (1 << 61) - 1
    top = pow(base, length, modulus)
    value, run = 0, 0
    for place, code in enumerate(codes):
        if taken[place]:
            value = run = 0
            continue
        value = (value * base + code + 1) % modulus
        run += 1
        if run > length:
            value = (value - (codes[place - length] + 1) * top) % modulus
        if run >= length:
            yield place - length + 1, value


def _is_closed(emissions: Sequence[Emission], start: int, length: int, last_use: Mapping[str, int]) -> bool:
    """Return whether a run of nodes has one input and one output that comes from its last node."""
    inside: set[str] = set()
    inputs: set[str] = set()
    for emission in emissions[start : start + length]:
        inputs.update(name for name in emission.values if name not in inside)
        if len(inputs) > 1:
            return False
        inside.update(name for name in emission.node.outputs if name)
    end = start + length
    outputs = [name for name in inside if last_use.get(name, -1) >= end]
    return len(outputs) == 1 and outputs[0] in emissions[end - 1].node.outputs
