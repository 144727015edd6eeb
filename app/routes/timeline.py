"""GET routes for the traces of profiles. All take run, session (default ".") and rank (default 0), which name a profile.

    <prefix>timeline/tracks              tracks with the numbers of their lanes, steps, extent, problems
    <prefix>timeline/view?lanes=0-9,12&k=10&b0=0&n=1500      slices and busy buckets of 2^k ns, binary (`View.packed`)
    <prefix>timeline/names?from=0&to=100    names of slices by number; with medians=1 the median duration (ns) of each instead
    <prefix>timeline/strip?columns=800   busy share of equal parts of the trace, a byte each
    <prefix>timeline/curve?track=5&from=0&to=1000&columns=800   series of a counter
    <prefix>timeline/slice?row=7         one slice: times, arguments, flows, neighbours; brief=1: times alone
    <prefix>timeline/range?from=0&to=1000&tracks=1,2&clip=1     statistics of a range by name and by track
    <prefix>timeline/range.csv?...       the same by name (by=track: by track) as CSV
    <prefix>timeline/gaps?track=3&from=0&to=1000&threshold=10000     gaps of a device stream and their causes; also gaps.csv
    <prefix>timeline/critical?from=0&to=1000     the critical path of a range; also critical.csv
    <prefix>timeline/flame?from=0&to=1000&tracks=1,2      stacks of a range, merged by name
    <prefix>timeline/search?q=TEXT&regex=1&tracks=1,2&shortest=1000      rows of slices in order of time
    <prefix>timeline/trace.json?from=0&to=1000      the range as Chrome trace

Times are ns from the start of the trace, `from` included and `to` not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pandas as pd
from flask import Blueprint, Response, request
from numpy.typing import NDArray

from app.routes.media import attachment
from app.routes.refusals import Unusable, refusal
from app.routes.timeline_parameters import (
    LONGEST_NS,
    allow_parameters,
    file_name,
    numbers_below,
    one_of,
    opened_trace,
    time_range,
    whole_number,
)
from app.store.matching import PatternError, matching
from layouts.sources import TraceSource
from parsers.export.frames import csv_rows
from parsers.profiler.trace import critical, export, flames, ranges, search, sources, views
from parsers.profiler.trace import gaps as explaining
from parsers.profiler.trace.columns import UNFINISHED, UNSTARTED, Trace
from parsers.profiler.trace.opened import OpenTrace

MOST_BUCKETS = 16_384
MOST_LANES = 4_096
MOST_NAMES = 4_096
MOST_COLUMNS = 8_192
MOST_ROWS = 500
"""Maximum number of names in the statistics of a range that the page gets; the CSV has all."""
MOST_HITS = 10_000
MOST_STACKS = 4_000
"""Maximum number of stacks of a flame graph that are sent, the longest ones."""
LEAST_GAP_NS = 10_000
MOST_ARGUMENTS = 2_000
"""Slices whose arguments an exported range has; each of them is read from the file."""
MOST_FLOWS = 200
MOST_TEXT = 100_000
"""Maximum number of characters of one argument that is sent."""
PATTERN_SECONDS = 2.0


def add_routes(routes: Blueprint, source: TraceSource) -> None:
    """Add the routes to a blueprint."""
    for name, answer in _ANSWERS.items():
        routes.add_url_rule(f"/timeline/{name}", f"timeline-{name.replace('.', '-')}", _route(source, answer))


def _route(source: TraceSource, answer: Callable[[OpenTrace], Response]) -> Callable[[], Response]:
    def respond() -> Response:
        try:
            found = answer(opened_trace(source))
        except (Unusable, PatternError) as error:
            return refusal(error)
        found.cache_control.no_store = True
        return found

    return respond


# Answers ------------------------------------------------------------------------------------------------------------


def tracks(opened: OpenTrace) -> Response:
    """Respond with what the page needs once: tracks, steps, extent, categories, problems."""
    allow_parameters()
    trace, lanes = opened.trace, opened.first_lanes
    first, last = opened.extent
    listed = [
        {
            "process": track.process, "thread": track.thread, "process_id": track.process_id, "thread_id": track.thread_id,
            "kind": track.kind, "order": list(track.order), "first_lane": int(lanes[index]),
            "lanes": int(lanes[index + 1] - lanes[index]), "slices": track.last - track.first,
            "series": opened.counted(index),
        }
        for index, track in enumerate(trace.tracks)
    ]  # fmt: skip
    return _json({
        "file": trace.path, "origin": str(trace.origin_ns), "clock": trace.clock, "end": opened.end,
        "first": first, "last": last, "slices": len(trace.slices), "flows": len(trace.flows), "names": len(trace.names),
        "categories": list(trace.categories), "tracks": listed, "steps": opened.steps(),
        "problems": [{"path": problem.path, "text": problem.text} for problem in trace.problems],
    })


def view(opened: OpenTrace) -> Response:
    """Respond with what is drawn of some lanes and a range of time."""
    allow_parameters("lanes", "k", "b0", "n")
    lanes = numbers_below("lanes", int(opened.first_lanes[-1]), MOST_LANES)
    k, first, count = whole_number("k", 0, 60), whole_number("b0", 0, LONGEST_NS), whole_number("n", 1, MOST_BUCKETS)
    if (first + count) << k > LONGEST_NS:
        raise Unusable("expected a range that ends within 2^61 ns")
    return _binary(views.view(opened.trace, opened.pyramid, lanes, k, first, count).packed())


def names(opened: OpenTrace) -> Response:
    """Respond with a range of names, or with the medians of the durations of their slices."""
    allow_parameters("from", "to", "medians")
    total = len(opened.trace.names)
    first, last = whole_number("from", 0, total), whole_number("to", 0, total)
    if last - first > MOST_NAMES:
        raise Unusable(f"expected at most {MOST_NAMES} names")
    if one_of("medians", ("0", "1")) == "1":
        return _json({"medians": opened.medians()[first:last].tolist()})
    return _json({"names": [opened.trace.names[index] for index in range(first, last)]})


def strip(opened: OpenTrace) -> Response:
    """Respond with the busy share of each column as a byte; the header Mindscope-Counted says of what."""
    allow_parameters("columns")
    counted, share = opened.busy(whole_number("columns", 1, MOST_COLUMNS))
    busy = np.where(share > 0, np.clip(np.round(share * 255), 1, 255), 0).astype(np.uint8)
    answer = _binary(busy.tobytes())
    answer.headers["Mindscope-Counted"] = counted
    return answer


def curve(opened: OpenTrace) -> Response:
    """Respond with the series of a counter, reduced to columns."""
    allow_parameters("track", "from", "to", "columns")
    track = whole_number("track", 0, len(opened.trace.tracks) - 1)
    start, stop = time_range(opened)
    found = opened.curves(track, start, stop, whole_number("columns", 1, MOST_COLUMNS))
    return _json([
        {
            "series": one.series, "time": one.time.tolist(), "low": _finite(one.low), "high": _finite(one.high),
            "last": _finite(one.last),
        }
        for one in found
    ])  # fmt: skip


def slice_(opened: OpenTrace) -> Response:
    """Respond with one slice."""
    allow_parameters("row", "brief")
    trace = opened.trace
    row = whole_number("row", 0, len(trace.slices) - 1)
    found = _brief(opened, row)
    if request.args.get("brief") != "1":
        found |= {
            "arguments": _arguments(trace, row), "flows": _flows(opened, row),
            "same": _same(trace, row), "around": _around(opened, row), "step": _step_of(opened, row),
            "category": trace.categories[int(trace.slices.category[row])],
        }  # fmt: skip
    return _json(found)


def range_(opened: OpenTrace) -> Response:
    """Respond with the statistics of a range, at most MOST_ROWS rows, and the row of the longest slice of each name."""
    start, stop, frame = _statistics(opened)
    head = frame.head(MOST_ROWS)
    longest = head.pop("longest").tolist() if "longest" in head else []
    return _json({
        "from": start, "to": stop, "total": len(frame), "longest": longest, "columns": list(head.columns),
        "rows": [[_cell(value) for value in row] for row in head.itertuples(index=False)],
    })


def range_csv(opened: OpenTrace) -> Response:
    """Respond with the statistics of a range as CSV."""
    start, stop, frame = _statistics(opened)
    # Texts in categories are made safe for spreadsheets.
    texts = {frame.columns[0]: frame[frame.columns[0]].astype("category")}
    answer = Response(csv_rows(frame.assign(**texts)), mimetype="text/csv")
    answer.headers["Content-Disposition"] = attachment(f"{file_name()}-{start}-{stop}ns.csv")
    return answer


def gaps(opened: OpenTrace) -> Response:
    """Respond with the longest parts of the gaps of a stream, the sum of each cause, and the streams there are."""
    streams = explaining.streams(opened.trace)
    if not streams:
        allow_parameters("track", "from", "to", "threshold")
        return _json({"streams": [], "track": None, "causes": {}, "idle": 0, "range": 0, "total": 0, "columns": [], "rows": []})
    track, start, stop, frame = _gaps(opened, streams)
    sums = frame.groupby("cause", observed=True)["duration_ns"].sum().sort_values(ascending=False)
    longest = frame.sort_values("duration_ns", ascending=False, kind="stable").head(MOST_ROWS)
    columns = ["start_ns", "duration_ns", "cause", "name", "call", "stack", "next"]
    return _json({
        "streams": streams, "track": track, "causes": {str(cause): int(ns) for cause, ns in sums.items()},
        "idle": int(frame["duration_ns"].sum()), "range": stop - start, "total": len(frame), "columns": columns,
        "rows": [[_cell(value) for value in row] for row in longest[columns].itertuples(index=False)],
    })


def gaps_csv(opened: OpenTrace) -> Response:
    """Respond with all parts of the gaps of a stream as CSV."""
    streams = explaining.streams(opened.trace)
    if not streams:
        raise Unusable("the trace has no device streams", 404)
    track, start, stop, frame = _gaps(opened, streams)
    texts = {name: frame[name].astype("category") for name in ("name", "stack")}
    answer = Response(csv_rows(frame.assign(**texts)), mimetype="text/csv")
    answer.headers["Content-Disposition"] = attachment(f"{file_name()}-gaps-{track}-{start}-{stop}ns.csv")
    return answer


def _gaps(opened: OpenTrace, streams: list[int]) -> tuple[int, int, int, pd.DataFrame]:
    """Return (track, start, stop, frame of GAPS) for the stream and the range that a request names."""
    allow_parameters("track", "from", "to", "threshold")
    track = whole_number("track", 0, len(opened.trace.tracks) - 1) if request.args.get("track") else streams[0]
    if track not in streams:
        raise Unusable(f"track: expected one of {', '.join(map(str, streams[:20]))}; found {track}")
    start, stop = time_range(opened)
    threshold = whole_number("threshold", 0, LONGEST_NS) if request.args.get("threshold") else LEAST_GAP_NS
    return track, start, stop, opened.gaps().explain(track, start, stop, threshold)


def critical_path(opened: OpenTrace) -> Response:
    """Respond with the longest parts of the critical path of a range, and the sum of each kind."""
    start, stop, frame = _critical(opened)
    sums = frame.groupby("kind", observed=True)["duration_ns"].sum().sort_values(ascending=False)
    longest = frame.sort_values("duration_ns", ascending=False, kind="stable").head(MOST_ROWS)
    columns = ["start_ns", "duration_ns", "kind", "name", "row"]
    return _json({
        "kinds": {str(kind): int(ns) for kind, ns in sums.items()}, "range": stop - start, "total": len(frame),
        "columns": columns, "rows": [[_cell(value) for value in row] for row in longest[columns].itertuples(index=False)],
    })


def critical_csv(opened: OpenTrace) -> Response:
    """Respond with the critical path of a range as CSV."""
    start, stop, frame = _critical(opened)
    answer = Response(csv_rows(frame.assign(name=frame["name"].astype("category"))), mimetype="text/csv")
    answer.headers["Content-Disposition"] = attachment(f"{file_name()}-critical-{start}-{stop}ns.csv")
    return answer


def _critical(opened: OpenTrace) -> tuple[int, int, pd.DataFrame]:
    allow_parameters("from", "to")
    start, stop = time_range(opened)
    return start, stop, critical.path(opened.trace, start, stop, pyramid=opened.pyramid)


def flame(opened: OpenTrace) -> Response:
    """Respond with the stacks of a range, of which the longest ones are sent, each after the one it lies in."""
    allow_parameters("from", "to", "tracks")
    start, stop = time_range(opened)
    total = len(opened.trace.tracks)
    chosen = numbers_below("tracks", total, total) if request.args.get("tracks") else None
    frame = flames.flame(opened.trace, start, stop, chosen, pyramid=opened.pyramid)
    kept = np.sort(frame["total_ns"].to_numpy().argsort(kind="stable")[::-1][:MOST_STACKS])
    kept = _with_parents(frame["parent"].to_numpy(), kept)
    place = np.full(len(frame) + 1, -1)
    place[kept] = np.arange(len(kept))
    part = frame.iloc[kept]
    return _json({
        "total": len(frame), "parent": place[part["parent"].to_numpy()].tolist(),
        **{name: part[name].tolist() for name in ("level", "name", "count", "total_ns", "self_ns")},
    })


def _with_parents(parent: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return rows and all that they lie in, in order."""
    wanted = np.zeros(len(parent) + 1, np.bool_)
    while len(rows := rows[~wanted[rows]]):
        wanted[rows] = True
        rows = parent[rows]
        rows = np.unique(rows[rows >= 0])
    return np.flatnonzero(wanted[:-1])


def found(opened: OpenTrace) -> Response:
    """Respond with the slices whose names a text or a pattern occurs in."""
    allow_parameters("q", "regex", "tracks", "shortest")
    text = request.args.get("q", "")
    trace = opened.trace
    chosen = numbers_below("tracks", len(trace.tracks), len(trace.tracks)) if request.args.get("tracks") else None
    shortest = whole_number("shortest", 0, LONGEST_NS) if request.args.get("shortest") else 0
    if not text and not shortest:
        raise Unusable("expected a text to look for, or a shortest duration")
    if one_of("regex", ("0", "1")) == "1":
        fitting = set(matching(text, trace.names, PATTERN_SECONDS))
        wanted = np.array([index for index, name in enumerate(trace.names) if name in fitting], np.int64)
    else:
        wanted = opened.names().containing(text)
    rows = search.rows(trace, wanted, chosen, shortest, MOST_HITS + 1)
    hits = np.asarray(rows[:MOST_HITS])
    slices = trace.slices
    return _json({
        "more": len(rows) > MOST_HITS, "row": hits.tolist(), "start": slices.start[hits].tolist(),
        "duration": slices.duration[hits].tolist(), "name": slices.name[hits].tolist(),
        "track": slices.track[hits].tolist(),
    })


def chrome(opened: OpenTrace) -> Response:
    """Respond with the range as a Chrome trace, with arguments if it has at most MOST_ARGUMENTS slices."""
    allow_parameters("from", "to")
    start, stop = time_range(opened)
    slices = opened.trace.slices
    few = np.count_nonzero((slices.start < stop) & (slices.start + slices.duration > start)) <= MOST_ARGUMENTS
    given = (lambda row: sources.arguments(opened.trace, row)) if few else None
    answer = Response(export.chrome(opened.trace, start, stop, arguments=given), mimetype="application/json")
    answer.headers["Content-Disposition"] = attachment(f"{file_name()}-{start}-{stop}ns.json")
    return answer


_ANSWERS: dict[str, Callable[[OpenTrace], Response]] = {
    "tracks": tracks, "view": view, "names": names, "strip": strip, "curve": curve, "slice": slice_, "range": range_,
    "range.csv": range_csv, "gaps": gaps, "gaps.csv": gaps_csv, "critical": critical_path,
    "critical.csv": critical_csv, "flame": flame, "search": found, "trace.json": chrome,
}  # fmt: skip


# One slice ----------------------------------------------------------------------------------------------------------


def _brief(opened: OpenTrace, row: int) -> dict[str, Any]:
    trace = opened.trace
    slices = trace.slices
    track = int(slices.track[row])
    phase = int(slices.phase[row])
    return {
        "row": row, "name": trace.names[int(slices.name[row])], "start": int(slices.start[row]),
        "duration": int(slices.duration[row]), "self": int(slices.self[row]), "track": track, "depth": int(slices.depth[row]),
        "lane": int(opened.first_lanes[track]) + int(slices.depth[row]),
        "half": {UNFINISHED: "unfinished", UNSTARTED: "unstarted"}.get(phase, ""),
    }  # fmt: skip


def _arguments(trace: Trace, row: int) -> Any:
    try:
        return _shortened(sources.arguments(trace, row))
    except (OSError, LookupError) as error:  # the file has been replaced, and the trace will be read again
        raise Unusable(f"the arguments cannot be read: {error}", 409) from error


def _flows(opened: OpenTrace, row: int) -> list[dict[str, Any]]:
    flows = opened.trace.flows
    first, last = np.searchsorted(flows.source, [row, row + 1]).tolist()
    leaving = [(place, "to", int(flows.target[place])) for place in range(first, last)]
    order = opened.once("targets", lambda: np.argsort(flows.target, kind="stable"))
    targets = opened.once("sorted targets", lambda: np.asarray(flows.target)[order])
    first, last = np.searchsorted(targets, [row, row + 1]).tolist()
    arriving = [(int(place), "from", int(flows.source[place])) for place in order[first:last]]
    every = [*arriving, *leaving][:MOST_FLOWS]
    return [_brief(opened, other) | {"way": way, "kind": opened.trace.flow_kinds[int(flows.kind[place])]}
            for place, way, other in every]  # fmt: skip


def _same(trace: Trace, row: int) -> dict[str, Any]:
    """Return the previous and the next slice of the same name by start, and where among them this one is."""
    slices = trace.slices
    rows = np.flatnonzero(np.asarray(slices.name) == slices.name[row])
    rows = rows[np.lexsort((rows, slices.start[rows]))]
    place = int(np.flatnonzero(rows == row)[0])
    total = int(slices.duration[rows].sum())
    return {
        "previous": int(rows[place - 1]) if place else None, "next": int(rows[place + 1]) if place + 1 < len(rows) else None,
        "place": place + 1, "count": len(rows), "total": total, "median": float(np.median(slices.duration[rows])),
    }  # fmt: skip


def _around(opened: OpenTrace, row: int) -> list[dict[str, Any]]:
    """Return the slices that this one lies in, the innermost first."""
    trace = opened.trace
    slices, track = trace.slices, trace.tracks[int(trace.slices.track[row])]
    start, end = int(slices.start[row]), int(slices.start[row]) + int(slices.duration[row])
    depth = int(slices.depth[row])
    before = slice(track.first, row)
    inside = (slices.depth[before] < depth) & (slices.start[before] <= start)
    inside &= slices.start[before] + slices.duration[before] >= end
    return [_brief(opened, track.first + int(place)) for place in np.flatnonzero(inside)[::-1][:20]]


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
    return _cell(value)


def _statistics(opened: OpenTrace) -> tuple[int, int, pd.DataFrame]:
    """Return start and stop (ns) of the range that a request names, and its statistics by name or by track."""
    allow_parameters("from", "to", "tracks", "clip", "by")
    trace = opened.trace
    total = len(trace.tracks)
    chosen = numbers_below("tracks", total, total) if request.args.get("tracks") else None
    start, stop = time_range(opened)
    by = one_of("by", ("name", "track"))
    if by == "name":
        clip = one_of("clip", ("1", "0")) == "1"
        return start, stop, ranges.statistics(trace, start, stop, chosen, clip, pyramid=opened.pyramid)
    frame = ranges.by_track(trace, start, stop, chosen, pyramid=opened.pyramid)
    frame = frame[frame["count"] > 0].reset_index(drop=True)
    names = [f"{trace.tracks[index].process} / {trace.tracks[index].thread}" for index in frame["track"]]
    return start, stop, frame.drop(columns="track").assign(track=names)[["track", *frame.columns[1:]]]


# Responses ----------------------------------------------------------------------------------------------------------


def _finite(values: Any) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values.tolist()]


def _cell(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _json(content: Any) -> Response:
    return Response(msgspec.json.encode(content), mimetype="application/json")


def _binary(content: bytes) -> Response:
    return Response(content, mimetype="application/octet-stream")
