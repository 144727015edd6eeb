"""Idle time of a trace by cause: for each step, and for each call that caused it. Found once, when the trace is read.

The stream looked at is the one that runs the most different things. Explaining a gap takes about 1 ms, so only the longest ones
are explained; the others count as `short`, and `threshold_ns` says from what length on a gap was explained.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.errors import FormatError
from parsers.profiler.trace import sources
from parsers.profiler.trace.arrows import Arrows
from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.gaps import CAUSES, Gaps, by_step, site, steps, streams
from parsers.profiler.trace.pyramid import Pyramid
from parsers.profiler.trace.search import TraceNames
from parsers.schema import Column, Schema

LEAST_NS = 10_000
"""Shorter gaps are not looked into."""
MOST_GAPS = 3_000
MOST_STEPS = 20_000
MOST_CALLS = 200
FILE = "idle.json"
_LONGEST_STACK = 20_000

GAP_STEPS = Schema(
    "gap_steps",
    "Idle time of a device stream in each step by cause; without steps, one row for all of the trace.",
    (
        Column("step", "str", "", "number of the step, else its name; empty for all of the trace"),
        Column("start_ns", "int64", "ns", "start of the step since the origin of the trace"),
        Column("duration_ns", "int64", "ns", "length of the step"),
        Column("idle_ns", "int64", "ns", "time of the step in which the stream did nothing: the sum of all causes"),
        *(Column(f"{cause}_ns", "int64", "ns", f"part of the idle time with the cause {cause}") for cause in CAUSES),
    ),
)
GAP_CALLS = Schema(
    "gap_calls",
    "What caused the gaps of a device stream, the largest sum first; with steps, only what lies in one.",
    (
        Column("cause", "category", "", "host, synchronisation, data, stream or communication"),
        Column("name", "str", "", "name of the call or slice, without numbers of steps and collectives, and addresses"),
        Column("site", "str", "", "line that called it: main.py(373): train; main.py: train if unknown; or empty"),
        Column("count", "int64", "", "number of parts of gaps"),
        Column("idle_ns", "int64", "ns", "sum of these parts"),
        Column("start_ns", "int64", "ns", "start of the longest one since the origin of the trace"),
        Column("duration_ns", "int64", "ns", "length of the longest one"),
        Column("call", "int64", "", "row of the slice that caused the longest one"),
        Column("stack", "str", "", "names of the calls around that slice, outermost first, a line each"),
    ),
)
_NUMBERED = re.compile(r"^((?:Profiler)?Step)[# ]?[0-9]+$|^(.*?)__[0-9]+(?:_[0-9]+)*$")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_FUNCTION = re.compile(r"(.*\.py)\([0-9]+\): (.*)")
_SEPARATOR = re.compile(r"[;\n]")
"""Between the lines of a call stack: a semicolon in those of torch, the end of a line in others."""
_MOST_LINES, _LINES_OF, _AROUND = 40, 3, 8
"""Rows of calls with their line, calls looked at for one, and slices around each: reading arguments takes about 3 ms."""
_NUMBER = re.compile(r"([0-9]+)[^0-9]*$")


@dataclass(frozen=True, slots=True, eq=False)
class Idle:
    """Idle time of the stream `track` (index into Trace.tracks) called `stream`. steps: GAP_STEPS, calls: GAP_CALLS."""

    track: int
    stream: str
    threshold_ns: int
    steps: pd.DataFrame
    calls: pd.DataFrame


def find(trace: Trace, pyramid: Pyramid | None = None) -> Idle | None:
    """Explain the gaps of the stream that runs the most different things; None if the trace has no device stream."""
    listed = streams(trace)
    if not listed:
        return None
    track, of = listed[0], trace.tracks[listed[0]]
    known = steps(trace)[:MOST_STEPS]
    ends = trace.slices.start[of.first : of.last] + trace.slices.duration[of.first : of.last]
    begin = min([start for _, start, _ in known], default=int(trace.slices.start[of.first]))
    stop = max([end for _, _, end in known], default=int(ends.max()))
    explainer = Gaps(trace, pyramid, TraceNames(trace.names))
    threshold = explainer.threshold(track, begin, stop, MOST_GAPS, LEAST_NS)
    parts = explainer.explain(track, begin, stop, threshold)
    inside = _inside(parts, known) if known else parts["duration_ns"].to_numpy()
    by_steps = _by_step(parts, known or [("", begin, stop)])
    return Idle(track, of.thread or of.thread_id, threshold, by_steps, _by_call(parts, inside, explainer.arrows, trace))


def _inside(parts: pd.DataFrame, known: list[tuple[str, int, int]]) -> NDArray[np.int64]:
    """Time of each part that lies in a step."""
    start = parts["start_ns"].to_numpy()
    end = start + parts["duration_ns"].to_numpy()
    found = np.zeros(len(parts), np.int64)
    for _, begin, stop in known:
        some = slice(int(np.searchsorted(end, begin, "right")), int(np.searchsorted(start, stop)))
        found[some] += np.maximum(np.minimum(end[some], stop) - np.maximum(start[some], begin), 0)
    np.minimum(found, end - start, out=found)  # steps may overlap by what their clock rounds
    return found


def _by_step(parts: pd.DataFrame, known: list[tuple[str, int, int]]) -> pd.DataFrame:
    sums = by_step(parts, known)
    idle = {(step, cause): int(ns) for step, cause, ns in sums[["step", "cause", "idle_ns"]].itertuples(index=False)}
    rows = []
    for name, begin, stop in known:
        each = [idle.get((name, cause), 0) for cause in CAUSES]
        number = _NUMBER.search(name)
        rows.append((number[1] if number else name, begin, stop - begin, sum(each), *each))
    frame = pd.DataFrame(rows, columns=list(GAP_STEPS.names))
    return GAP_STEPS.check(frame.astype({column.name: column.dtype for column in GAP_STEPS.columns}))


def _by_call(parts: pd.DataFrame, inside: NDArray[np.int64], arrows: Arrows, trace: Trace) -> pd.DataFrame:
    counted = parts.assign(inside=inside)
    counted = counted[(counted["inside"] > 0) & (counted["call"] >= 0)]
    sites = {stack: site(stack) for stack in counted["stack"].unique()}
    counted = counted.assign(name=[plain(name) for name in counted["name"]], site=counted["stack"].map(sites))
    counted = counted.sort_values("inside", ascending=False, kind="stable")
    groups = [(key, group, int(group["inside"].sum())) for key, group in counted.groupby(
        ["cause", "name", "site"], observed=True, sort=False
    )]  # fmt: skip
    groups.sort(key=lambda one: -one[2])
    rows = []
    for number, ((cause, name, line), group, idle_ns) in enumerate(groups[:MOST_CALLS]):
        longest = group.iloc[0]
        calls = group["call"].tolist()[:_LINES_OF] if number < _MOST_LINES else []
        rows.append((
            cause, name, _line(str(line), calls, arrows, trace), len(group), idle_ns, longest["start_ns"],
            longest["duration_ns"], longest["call"], str(longest["stack"])[:_LONGEST_STACK],
        ))  # fmt: skip
    return _calls(pd.DataFrame(rows, columns=list(GAP_CALLS.names)))


def _line(function: str, calls: Sequence[int], arrows: Arrows, trace: Trace) -> str:
    """Return the line of a function, as the call stacks of the operators around some calls have it, or the function alone.

    Profilers name a Python function by its first line ("main.py(375): train"). Where the calls come from several lines, or no
    operator has a stack, the line is not known: "main.py: train".
    """
    found = _FUNCTION.fullmatch(function)
    if found is None:
        return function
    wanted = re.compile(rf"(?:^|[/\\])({re.escape(os.path.basename(found[1]))})\(([0-9]+)\): {re.escape(found[2])}\W*$")
    lines, names = set(), trace.names
    for call in calls:
        around = [row for row in arrows.context(call)[:_AROUND] if not names[trace.slices.name[row]].startswith("ProfilerStep")]
        stacks = (_call_stack(trace, row) for row in around)  # that of a step is where the step before it ended
        places = (wanted.search(line) for stack in stacks for line in _SEPARATOR.split(stack))
        lines.add(next((place[2] for place in places if place is not None), ""))
    line = lines.pop() if len(lines) == 1 else ""
    return f"{found[1]}({line}): {found[2]}" if line else f"{found[1]}: {found[2]}"


def _call_stack(trace: Trace, row: int) -> str:
    """Return the call stack among the arguments of a slice, innermost first; empty if there is none."""
    try:
        return str(sources.arguments(trace, row).get("Call stack", ""))
    except (OSError, LookupError):  # the file has changed since it was read: the line is not known then
        return ""


def _calls(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.astype({column.name: column.dtype for column in GAP_CALLS.columns if column.dtype != "category"})
    frame["cause"] = pd.Categorical(frame["cause"], categories=list(CAUSES))
    return GAP_CALLS.check(frame)


def plain(name: str) -> str:
    """Return a name without what differs in each step (its number, that of a collective, an address): all count together."""
    found = _NUMBERED.match(name)
    return (found[1] or found[2]) if found else _ADDRESS.sub("", name)


# On disk ------------------------------------------------------------------------------------------------------------


_Whole = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]


class _Stored(msgspec.Struct, forbid_unknown_fields=True):
    track: _Whole
    stream: str
    threshold_ns: _Whole
    steps: dict[str, list[int | str]]
    calls: dict[str, list[int | str]]


def write(idle: Idle | None, directory: str) -> None:
    """Write what `find` returned into a directory."""
    stored = None
    if idle is not None:
        steps_, calls = ({str(name): frame[name].tolist() for name in frame} for frame in (idle.steps, idle.calls))
        stored = _Stored(idle.track, idle.stream, idle.threshold_ns, steps_, calls)
    with open(os.path.join(directory, FILE), "wb") as stream:
        stream.write(msgspec.json.encode(stored))


def read(directory: str) -> Idle | None:
    """Read what `write` wrote; None for a trace without device streams. OSError without the file, FormatError if damaged."""
    with open(os.path.join(directory, FILE), "rb") as stream:
        data = stream.read()
    try:
        stored = msgspec.json.decode(data, type=_Stored | None)
        if stored is None:
            return None
        columns = {column.name: column.dtype for column in GAP_STEPS.columns}
        steps_ = GAP_STEPS.check(pd.DataFrame(stored.steps, columns=list(columns)).astype(columns))
        calls = _calls(pd.DataFrame(stored.calls, columns=list(GAP_CALLS.names)))
    except (msgspec.DecodeError, ValueError, TypeError, OverflowError) as error:
        raise FormatError(f"{os.path.join(directory, FILE)}: {error}") from error
    return Idle(stored.track, stored.stream, stored.threshold_ns, steps_, calls)
