"""Reads the frames of a Kineto trace, all in one pass over its events."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from parsers.deferred import pandas as pd
from parsers.model import Problem
from parsers.profile_frames import (
    API,
    COMMUNICATION,
    HARDWARE,
    KERNELS,
    MEMORY,
    OPERATOR_MEMORY,
    OPERATORS,
    SHAPE_TIMES,
    STEP_TIMES,
    STEPS,
)
from parsers.profiler.frame_parts import FramePart, FrameReader, ProfileInput
from parsers.profiler.kineto import calls, communication, devices, kernels, memory, operators, recording, steps
from parsers.profiler.trace.files import CHROME_TRACE
from parsers.schema import Schema

_FRAMES: Mapping[str, tuple[Schema, Callable[[recording.KinetoRecording, str], pd.DataFrame]]] = {
    schema.name: (schema, make)
    for schema, make in (
        (OPERATORS, operators.operators), (KERNELS, kernels.kernels), (STEPS, steps.steps), (STEP_TIMES, steps.step_times),
        (SHAPE_TIMES, operators.shape_times), (API, calls.api), (COMMUNICATION, communication.communication),
        (MEMORY, memory.memory), (OPERATOR_MEMORY, memory.blocks), (HARDWARE, devices.hardware),
    )
}  # fmt: skip


def read_all(source: ProfileInput) -> dict[str, FramePart]:
    """Return the frames of a trace by name; frames of a trace that is none of Kineto are empty.

    What is wrong with its events is said by the timeline too, which reads them in the same way.
    """
    try:
        found = recording.read(source.path)
    except OSError as error:
        text = f"The file cannot be read ({error.strerror or error}); what is in it is not shown."
        problem = Problem(source.path, 0, 0, "unreadable", text)
        return {name: FramePart(schema.empty(), (problem,)) for name, (schema, _) in _FRAMES.items()}
    problems = found.trace.problems
    if found.arguments.undecoded:
        text = f"The arguments of {found.arguments.undecoded:,} events cannot be read; what they tell is not shown."
        problems = (*problems, Problem(source.path, 0, 0, "bad_trace", text))
    if not found.is_kineto:
        return {name: FramePart(schema.empty(), problems) for name, (schema, _) in _FRAMES.items()}
    return {name: FramePart(make(found, source.name), problems) for name, (_, make) in _FRAMES.items()}


def _reader(schema: Schema) -> FrameReader:
    return FrameReader(schema, CHROME_TRACE, lambda source: read_all(source)[schema.name], together=read_all)


# What is registered in `parsers.profiler.registry` ------------------------------------------------------------------

READERS: tuple[FrameReader, ...] = tuple(_reader(schema) for schema, _ in _FRAMES.values())
