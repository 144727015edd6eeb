"""What the timeline says of one slice: its place, arguments, flows, and the slices of its name and around it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from app.routes.profiles.timeline_arrows import arrows_of, columns_of
from app.routes.refusals import Unusable
from parsers.profiler.trace import sources
from parsers.profiler.trace.columns import UNFINISHED, UNSTARTED, Trace
from parsers.profiler.trace.opened import OpenTrace
from parsers.profiler.trace.together import RankPart, Together

MOST_FLOWS = 200
MOST_TEXT = 100_000
"""Maximum number of characters of one argument that is sent."""


def described(opened: Together, number: int, *, brief: bool) -> dict[str, Any]:
    """Return the description of a slice by its row in the joined traces; brief: its outline alone."""
    part, row = opened.of_row(number)
    found = outline(part, row)
    if not brief:
        trace = part.opened.trace
        found |= {
            "arguments": _arguments(trace, row), "flows": _flows(part, row),
            "same": _same(part, row), "around": _around(part, row), "step": _step_of(part.opened, row),
            "category": trace.categories[int(trace.slices.category[row])], "arrows": columns_of(part, row),
            "ranks": [
                {"row": other, "start": start, "end": end, "part": opened.of_row(other)[0].number}
                for other, start, end in opened.same_collective(number)
            ],
        }  # fmt: skip
    return found


def outline(part: RankPart, row: int) -> dict[str, Any]:
    """Return where a slice is: row, name, start and duration in ns, track, depth and lane of the joined traces."""
    trace = part.opened.trace
    slices = trace.slices
    track = int(slices.track[row])
    phase = int(slices.phase[row])
    return {
        "row": row + part.row, "name": trace.names[int(slices.name[row])], "start": int(slices.start[row]) + part.shift(track),
        "duration": int(slices.duration[row]), "self": int(slices.self[row]), "track": track + part.track,
        "depth": int(slices.depth[row]), "lane": part.lane + int(part.opened.first_lanes[track]) + int(slices.depth[row]),
        "half": {UNFINISHED: "unfinished", UNSTARTED: "unstarted"}.get(phase, ""),
    }  # fmt: skip


def _arguments(trace: Trace, row: int) -> Any:
    try:
        return _shortened(sources.arguments(trace, row))
    except (OSError, LookupError) as error:  # the file has been replaced, and the trace will be read again
        raise Unusable(f"the arguments cannot be read: {error}", 409) from error


def _flows(part: RankPart, row: int) -> list[dict[str, Any]]:
    opened = part.opened
    flows = opened.trace.flows
    numbers, arriving = arrows_of(opened, row)
    found = []
    for place, number in enumerate(numbers[:MOST_FLOWS].tolist()):
        way, end = ("from", flows.source) if place < arriving else ("to", flows.target)
        kind = opened.trace.flow_kinds[int(flows.kind[number])]
        found.append(outline(part, int(end[number])) | {"way": way, "kind": kind})
    return found


def _same(part: RankPart, row: int) -> dict[str, Any]:
    """Return the previous and the next slice of the same name by start, and where among them this one is, within its trace."""
    slices = part.opened.trace.slices
    rows = np.flatnonzero(np.asarray(slices.name) == slices.name[row])
    rows = rows[np.lexsort((rows, slices.start[rows]))]
    place = int(np.flatnonzero(rows == row)[0])
    total = int(slices.duration[rows].sum())
    return {
        "previous": int(rows[place - 1]) + part.row if place else None,
        "next": int(rows[place + 1]) + part.row if place + 1 < len(rows) else None,
        "place": place + 1, "count": len(rows), "total": total, "median": float(np.median(slices.duration[rows])),
    }  # fmt: skip


def _around(part: RankPart, row: int) -> list[dict[str, Any]]:
    """Return the slices that this one lies in, the innermost first."""
    trace = part.opened.trace
    slices, track = trace.slices, trace.tracks[int(trace.slices.track[row])]
    start, end = int(slices.start[row]), int(slices.start[row]) + int(slices.duration[row])
    depth = int(slices.depth[row])
    before = slice(track.first, row)
    inside = (slices.depth[before] < depth) & (slices.start[before] <= start)
    inside &= slices.start[before] + slices.duration[before] >= end
    return [outline(part, track.first + int(place)) for place in np.flatnonzero(inside)[::-1][:20]]


def _step_of(opened: OpenTrace, row: int) -> str:
    start = int(opened.trace.slices.start[row])
    return next((one.label for one in opened.steps() if one.start <= start < one.start + one.duration), "")


def _shortened(value: Any) -> Any:
    """Return arguments of which no text is longer than MOST_TEXT; what is cut says so."""
    if isinstance(value, str):
        return value if len(value) <= MOST_TEXT else f"{value[:MOST_TEXT]}… ({len(value):,})"
    if isinstance(value, dict):
        return {str(key): _shortened(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_shortened(one) for one in value]
    if isinstance(value, int) and abs(value) >= 1 << 53:
        return str(value)  # a number in JavaScript would be another one
    return json_cell(value)


def json_cell(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


