"""Where several traces lie on one axis: how far the times of each are moved.

By the clock, each lies where its clock says; by their starts, each begins at 0; by a step, this step begins at one moment in
all of them. Nothing within a trace is moved against anything else of it, except that devices may be moved to the clock of the
first trace's device (`alignment`), if somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from parsers.profiler.trace import alignment
from parsers.profiler.trace.opened import OpenTrace, TraceStep

Axis = Literal["clock", "start", "step"]
AXES: tuple[Axis, ...] = ("clock", "start", "step")
FARTHEST_NS = 1 << 52
"""Traces that clocks place farther apart (52 days) are not shown by the clock: browsers count exactly up to 2**53 ns."""


@dataclass(frozen=True, slots=True)
class TracePlacement:
    """How far a trace is moved."""

    shift: int
    """ns to add to its times, so that all of them lie on one axis; not negative."""
    device: int = 0
    """ns to add to those of its device besides."""
    found: alignment.ClockShift | None = None
    """How this was found; None if the devices are not aligned, or have no collective in common."""
    by_step: bool = False
    """Whether it lies where the step begins that the axis is named after."""


def axis_of(opened: Sequence[OpenTrace]) -> Axis:
    """The axis by default: the clock if the traces overlap, else a step if all have some, else their starts."""
    if len(opened) < 2 or (overlapping(opened) and comparable(opened)):
        return "clock"
    return "step" if all(one.steps() for one in opened) else "start"


def comparable(opened: Sequence[OpenTrace]) -> bool:
    """Whether the clocks of traces can be compared: they count from the same zero, and are not years apart."""
    if len({one.trace.clock for one in opened}) > 1:
        return False
    origins = [one.trace.origin_ns for one in opened]
    return max(origins) + max(one.end for one in opened) - min(origins) <= FARTHEST_NS


def overlapping(opened: Sequence[OpenTrace]) -> bool:
    """Whether every trace runs while another one does, by their clocks."""
    spans = sorted((one.trace.origin_ns, one.trace.origin_ns + one.end) for one in opened)
    reach = spans[0][1]
    for start, end in spans[1:]:
        if start > reach:
            return False
        reach = max(reach, end)
    return True


def places(opened: Sequence[OpenTrace], axis: Axis, *, step: str = "", devices: bool = False) -> list[TracePlacement]:
    """Where each of one or more traces lies. ValueError if their clocks cannot be compared, but are asked for.

    step: the label of the step to align, of the axis "step"; by default the first that all have. A trace without it lies as
    its step of the same number counted from 0 does, or else with its start at that of the step.
    """
    if axis == "start":
        return [TracePlacement(0) for _ in opened]
    if axis == "step":
        return _by_step(opened, step)
    if not comparable(opened):
        raise ValueError("the clocks of these traces cannot be compared: align their starts or steps")
    found = [None] * len(opened) if not devices else [None, *(other.shift(opened[0]) for other in opened[1:])]
    moved = [shift.ns if shift is not None else 0 for shift in found]
    if max(map(abs, moved), default=0) > FARTHEST_NS:
        raise ValueError("the clocks of these devices are years apart")
    zero = min(one.trace.origin_ns + min(0, device) for one, device in zip(opened, moved, strict=True))
    return [
        TracePlacement(one.trace.origin_ns - zero, device, shift)
        for one, device, shift in zip(opened, moved, found, strict=True)
    ]  # fmt: skip


def common_step(opened: Sequence[OpenTrace]) -> str:
    """The label of the first step of the first trace that all others have too; else that of its first one, "" without steps."""
    steps = opened[0].steps()
    found = (step.label for step in steps if step.label and all(one.step_named(step.label) for one in opened[1:]))
    return next(found, steps[0].label if steps else "")


def _by_step(opened: Sequence[OpenTrace], label: str) -> list[TracePlacement]:
    label = label or common_step(opened)
    first = opened[0].steps()
    number = next((number for number, step in enumerate(first) if step.label == label), 0)
    found = [_step(one, label, number) for one in opened]
    latest = max((step.start for step in found if step is not None), default=0)
    return [TracePlacement(latest - (step.start if step is not None else 0), by_step=step is not None) for step in found]


def _step(opened: OpenTrace, label: str, number: int) -> TraceStep | None:
    named = opened.step_named(label) if label else None
    steps = opened.steps() if named is None else []
    return named or (steps[number] if number < len(steps) else None)
