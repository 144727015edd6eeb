"""Writes what MindInsight's debugger answers to training: EventReply of package `debugger`, with a command or without.

A command runs training (a step, a node, or a check of the watchpoints), sets or deletes a watchpoint, asks for tensors, or ends
training.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from parsers.analysis.dumps.watchpoints.conditions import CONDITIONS, RANGE, Watchpoint
from parsers.debugger.messages import WireTensorName

OK, FAILED, PENDING = range(3)
"""States of a reply."""
VALUE, STATISTICS, BASE = range(3)
"""What is asked of tensors: values, statistics, or type and shape."""
_HIDDEN = {
    "weight_not_changed": ("atol", "equal_nan"), "weight_change_too_large": ("epsilon",),
    "weight_change_too_small": ("epsilon",),
}  # fmt: skip
"""Parameters that training expects behind the others and has defaults for: it takes some by their place, not by their name."""


@dataclass(frozen=True, slots=True)
class WatchNode:
    """An operator or parameter to watch: full name, type, and the graph it is in."""

    name: str
    type: str
    graph: str = ""
    rank: int = 0


def acknowledged(status: int = OK) -> bytes:
    """Return a reply without a command."""
    return _number(1, status)


def version_matched(matched: bool) -> bytes:
    """Return the reply to metadata: training stops if its version does not fit."""
    return _number(6, int(matched), always=True)


def exit_training() -> bytes:
    """Return the command that ends training."""
    return _number(2, 1)


def run_steps(steps: int = 1) -> bytes:
    """Return the command to run steps."""
    return _bytes(3, _text(1, "step") + _number(2, steps, always=True))


def run_node(name: str = "") -> bytes:
    """Return the command to run to a node, the next one by default."""
    return _bytes(3, _text(1, "node") + _bytes(3, name.encode()))


def recheck() -> bytes:
    """Return the command to check all watchpoints again."""
    return _bytes(3, _text(1, "recheck"))


def set_watchpoint(number: int, watchpoint: Watchpoint, nodes: Sequence[WatchNode]) -> bytes:
    """Return the command that sets a watchpoint of this number for these nodes.

    Parameters that are not set are disabled.
    """
    condition = CONDITIONS[watchpoint.condition]
    given = {**watchpoint.limits, **watchpoint.checked}
    parameters = b"".join(_bytes(4, _parameter(name, given.get(name))) for name in parameter_names(watchpoint.condition))
    values = list(watchpoint.checked.values())
    number_ = 12 if "sd_lt" in given and condition.number == 11 else condition.number
    told = _number(1, number_) + (b"\x15" + struct.pack("<f", _single(values[-1])) if values else b"") + parameters
    return _bytes(4, b"".join(_bytes(1, _node(node)) for node in nodes) + _bytes(2, told) + _number(4, number))


def parameter_names(condition: str) -> tuple[str, ...]:
    """Return the parameters of a condition in the order in which training expects them: the ends of a range come first."""
    names = [limit.name for limit in CONDITIONS[condition].limits]
    ends = [name for name in RANGE if name in names]
    return (*ends, *(name for name in names if name not in ends), *_HIDDEN.get(condition, ()))


def delete_watchpoint(number: int) -> bytes:
    """Return the command that deletes a watchpoint."""
    return _bytes(4, _number(3, 1) + _number(4, number))


def view(tensors: Sequence[WireTensorName], level: int) -> bytes:
    """Return the command that asks for tensors: VALUE, STATISTICS or BASE."""
    return _bytes(5, b"".join(_bytes(1, _tensor(one)) for one in tensors) + _number(2, level))


def _parameter(name: str, value: float | None) -> bytes:
    if value is None:
        return _text(1, name) + _number(2, 1)
    return _text(1, name) + b"\x19" + struct.pack("<d", value)


def _node(node: WatchNode) -> bytes:
    return _text(1, node.name) + _text(2, node.type) + _text(3, node.graph) + _number(4, node.rank)


def _tensor(name: WireTensorName) -> bytes:
    return _text(1, name.node) + _bytes(2, str(name.slot).encode()) + (_text(7, "prev") if name.previous else b"")


def _single(value: float) -> float:
    """Return a value that a float of 32 bits holds."""
    greatest = 3.4028234663852886e38
    return min(max(value, -greatest), greatest)


def _number(field: int, value: int, *, always: bool = False) -> bytes:
    return _varint(field << 3) + _varint(value) if value or always else b""


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode("utf-8", "surrogatepass")) if value else b""


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
