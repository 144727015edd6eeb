"""Where the program called an operator: the lines that a Kineto trace recorded, else the functions of Python around it.

torch records lines as the argument `Call stack` only with `with_stack` and a verbose configuration; with `with_stack` alone
there are slices of Python functions, named "main.py(375): train" after the first line of the function. That line is not where
the operator was called, so such a stack has the file and the function without a line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.json_text import encodable
from parsers.model import Ints
from parsers.profiler.kineto.around import levels, outlasting
from parsers.profiler.trace import lanes
from parsers.profiler.trace.columns import Trace

PYTHON = "python_function"
"""The category of slices of Python functions."""
DEEPEST = 200
"""A stack has at most this many functions, counted from the innermost; then a line "..." for the others."""
MOST_CHARACTERS = 8 << 20
"""Maximum characters of all stacks of a file; further ones have their innermost function alone."""
_FUNCTION = re.compile(r"(.*\.py)\(\d+\): (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ProgramStacks:
    """The stack of each row of the host as a code into texts, in which lines are innermost first; code 0 is none."""

    code: Ints
    texts: Sequence[str]


def stacks_around(trace: Trace, rows: NDArray[np.int32]) -> ProgramStacks:
    """Return the functions of Python around slices of the host, which are rows of the trace in its order."""
    slices = trace.slices
    python = np.flatnonzero(slices.category == _code(trace)).astype(np.int32)
    if not len(python) or not len(rows):
        return ProgramStacks(np.zeros(len(rows), np.int64), ("",))
    outer = lanes.parents(slices.track[python], slices.start[python], slices.duration[python])[0].astype(np.int64)
    stack, name, rest = _stacks(slices.name[python].astype(np.int64), outer)
    own = _innermost(trace, rows, python, outer)
    code = np.where(own >= 0, stack[np.maximum(own, 0)] + 1, 0)
    used, code = np.unique(np.append(code, 0), return_inverse=True)
    texts, left = [""], MOST_CHARACTERS
    for one in used[1:].tolist():
        texts.append(_text(one - 1, name, rest, trace.names, DEEPEST if left > 0 else 1))
        left -= len(texts[-1])
    return ProgramStacks(code.reshape(-1)[:-1].astype(np.int64), texts)


def _code(trace: Trace) -> int:
    return list(trace.categories).index(PYTHON) if PYTHON in trace.categories else -1


def _innermost(trace: Trace, rows: NDArray[np.int32], python: NDArray[np.int32], outer: Ints) -> Ints:
    """Return the innermost function of Python around each slice, itself not counted, as a place in python; -1 for none.

    It is the last one that began before, or one around that: functions that have ended in between do not contain the slice.
    Operators that cross each other, as rounded times make them, do not matter.
    """
    slices = trace.slices
    end = slices.start + slices.duration
    at = np.searchsorted(python, rows).astype(np.int64) - 1
    at[(at >= 0) & (slices.track[python[np.maximum(at, 0)]] != slices.track[rows])] = -1
    return outlasting(outer, end[python], at, end[rows])


def _stacks(name: Ints, outer: Ints) -> tuple[Ints, Ints, Ints]:
    """Number the different stacks: that of each function of Python; the name each adds, and the stack it adds it to (-1: none).

    outer is the function around each, -1 for none.
    """
    stack = np.full(len(name), -1, np.int64)
    names, rests = [], []
    count = 0
    for rows in (np.flatnonzero(outer < 0).astype(np.int32), *levels(outer.astype(np.int32))):
        rest = np.where(outer[rows] >= 0, stack[np.maximum(outer[rows], 0)], -1)
        place, keys = pd.factorize((rest + 1) * (int(name.max()) + 1) + name[rows])
        stack[rows] = place + count
        names.append(keys % (int(name.max()) + 1))
        rests.append(keys // (int(name.max()) + 1) - 1)
        count += len(keys)
    return stack, np.concatenate(names), np.concatenate(rests)


def _text(stack: int, name: Ints, rest: Ints, names: Sequence[str], deepest: int) -> str:
    lines: list[str] = []
    while stack >= 0 and len(lines) < deepest:
        lines.append(_shown(names[int(name[stack])]))
        stack = int(rest[stack])
    return "\n".join(lines if stack < 0 else [*lines, "..."])


def _shown(name: str) -> str:
    found = _FUNCTION.fullmatch(name)
    return encodable(f"{found[1]}: {found[2]}" if found is not None else name)
