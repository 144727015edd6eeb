"""GET routes for the traces of profiles. All take run, session (default ".") and rank (default 0), which name a profile, and
source, the name of its trace if it has several. Each `also` is a query with the same parameters that names one more trace; all
lie on one axis: axis=clock, start or step (at=LABEL: the step to align); devices=1 aligns the clocks of devices.

    <prefix>timeline/reading             what has been read of each of the traces; also=... as below

    <prefix>timeline/tracks              tracks with the numbers of their lanes, steps, extent, problems
    <prefix>timeline/view?lanes=0-9,12&k=10&b0=0&n=1500      slices and busy buckets of 2^k ns, binary (`View.packed`)
    <prefix>timeline/names?from=0&to=100    names of slices by number; with medians=1 the median duration (ns) of each instead
    <prefix>timeline/strip?columns=800   busy share of equal parts of the trace, a byte each
    <prefix>timeline/curve?track=5&from=0&to=1000&columns=800   series of a counter
    <prefix>timeline/slice?row=7         one slice: times, arguments, flows, neighbours; brief=1: times alone
    <prefix>timeline/range?from=0&to=1000&tracks=1,2&clip=1     statistics of a range by name and by track
    <prefix>timeline/range.csv?...       the same by name (by=track: by track) as CSV
    <prefix>timeline/difference?from=0&to=1000&a=0&b=1     what two of the traces differ in, by name; also difference.csv
    <prefix>timeline/gaps?track=3&from=0&to=1000&threshold=10000     gaps of a device stream and their causes; also gaps.csv;
                         with tracks=1,2 of one of these
    <prefix>timeline/critical?from=0&to=1000&part=0     the critical path of a range in one of the traces; also critical.csv
    <prefix>timeline/flame?from=0&to=1000&tracks=1,2      stacks of a range, merged by name
    <prefix>timeline/search?q=TEXT&regex=1&tracks=1,2&shortest=1000      rows of slices in order of time
    <prefix>timeline/trace.json?from=0&to=1000      the range as Chrome trace

Times are ns from the start of the axis, `from` included and `to` not. Tracks, lanes, slices and names of all traces are
numbered one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

import msgspec
import numpy as np
from flask import Blueprint, Response, request
from numpy.typing import NDArray

from app.routes.csv_files import csv_answer
from app.routes.profiles import timeline_together as together
from app.routes.profiles.timeline_parameters import (
    LONGEST_NS,
    allow_parameters,
    chosen_tracks,
    file_name,
    numbers_below,
    one_of,
    opened_traces,
    spans,
    time_range,
    whole_number,
)
from app.routes.profiles.timeline_slice import described, json_cell
from app.routes.refusals import Unusable, refusal
from app.routes.values.media import attachment
from app.store.runs.matching import PatternError, matching
from layouts.profiles.track_alternatives import of_tracks
from layouts.sources import ProfileSources
from parsers.deferred import pandas as pd
from parsers.profiler.trace import critical, export, sources
from parsers.profiler.trace import gaps as explaining
from parsers.profiler.trace.together import Together

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
PATTERN_SECONDS = 2.0


def add_routes(routes: Blueprint, source: ProfileSources) -> None:
    """Add the routes to a blueprint."""
    for name, answer in {**_ANSWERS, **together.ANSWERS}.items():
        routes.add_url_rule(f"/timeline/{name}", f"timeline-{name.replace('.', '-')}", _route(source, answer))
    routes.add_url_rule("/timeline/reading", "timeline-reading", together.reading(source))


def _route(source: ProfileSources, answer: Callable[[Together], Response]) -> Callable[[], Response]:
    def respond() -> Response:
        try:
            found = answer(opened_traces(source))
        except (Unusable, PatternError) as error:
            return refusal(error)
        found.cache_control.no_store = True
        return found

    return respond


# Answers ------------------------------------------------------------------------------------------------------------


def tracks(opened: Together) -> Response:
    """Respond with what the page needs once: tracks, steps, extent, categories, problems, and what the traces are."""
    allow_parameters()
    trace = opened.parts[0].opened.trace
    first, last = opened.extent
    listed = [
        {
            "process": track.process, "thread": track.thread, "process_id": track.process_id, "thread_id": track.thread_id,
            "kind": track.kind, "order": list(track.order), "first_lane": part.lane + int(part.opened.first_lanes[index]),
            "lanes": int(part.opened.first_lanes[index + 1] - part.opened.first_lanes[index]),
            "slices": track.last - track.first, "series": part.opened.counted(index), "part": part.number,
            "shift": part.shift(index),
        }
        for part, index, track in opened.listed()
    ]  # fmt: skip
    steps = opened.steps()
    said = of_tracks(listed, opened.rows, opened.extent[1] - opened.extent[0], len(steps))
    return _json({
        "alternative": said, "file": trace.path,
        "origin": str(trace.origin_ns - opened.parts[0].place.shift), "clock": trace.clock,
        "end": opened.end, "first": first, "last": last, "slices": opened.rows,
        "flows": sum(len(part.opened.trace.flows) for part in opened.parts), "names": opened.names,
        "categories": list(opened.categories), "tracks": listed, "steps": steps,
        "problems": [
            {"path": problem.path, "text": problem.text} for part in opened.parts for problem in part.opened.trace.problems
        ],
        "axis": opened.axis, "comparable": opened.comparable, "at": opened.at, "parts": together.parts_of(opened),
    })  # fmt: skip


def view(opened: Together) -> Response:
    """Respond with what is drawn of some lanes and a range of time; the header Mindscope-Pending has lanes left out as yet."""
    allow_parameters("lanes", "k", "b0", "n")
    lanes = numbers_below("lanes", opened.lanes, MOST_LANES)
    k, first, count = whole_number("k", 0, 60), whole_number("b0", 0, LONGEST_NS), whole_number("n", 1, MOST_BUCKETS)
    if (first + count) << k > LONGEST_NS:
        raise Unusable("expected a range that ends within 2^61 ns")
    pending = opened.pending(lanes, k, first, count)
    answer = _binary(opened.view(lanes, k, first, count, pending).packed())
    if pending:
        answer.headers["Mindscope-Pending"] = spans(pending)
    return answer


def names(opened: Together) -> Response:
    """Respond with a range of names, or with the medians of the durations of their slices."""
    allow_parameters("from", "to", "medians")
    total = opened.names
    first, last = whole_number("from", 0, total), whole_number("to", 0, total)
    if last - first > MOST_NAMES:
        raise Unusable(f"expected at most {MOST_NAMES} names")
    if one_of("medians", ("0", "1")) == "1":
        return _json({"medians": opened.medians(first, last)})
    return _json({"names": opened.name_range(first, last)})


def strip(opened: Together) -> Response:
    """Respond with the busy share of each column as a byte; the header Mindscope-Counted says of what."""
    allow_parameters("columns")
    counted, share = opened.busy(whole_number("columns", 1, MOST_COLUMNS))
    busy = np.where(share > 0, np.clip(np.round(share * 255), 1, 255), 0).astype(np.uint8)
    answer = _binary(busy.tobytes())
    answer.headers["Mindscope-Counted"] = counted
    return answer


def curve(opened: Together) -> Response:
    """Respond with the series of a counter, reduced to columns."""
    allow_parameters("track", "from", "to", "columns")
    track = whole_number("track", 0, opened.tracks - 1)
    start, stop = time_range(opened)
    found = opened.curves(track, start, stop, whole_number("columns", 1, MOST_COLUMNS))
    return _json([
        {
            "series": one.series, "time": one.time.tolist(), "low": _finite(one.low), "high": _finite(one.high),
            "last": _finite(one.last),
        }
        for one in found
    ])  # fmt: skip


def slice_(opened: Together) -> Response:
    """Respond with one slice."""
    allow_parameters("row", "brief")
    number = whole_number("row", 0, opened.rows - 1)
    return _json(described(opened, number, brief=request.args.get("brief") == "1"))


def range_(opened: Together) -> Response:
    """Respond with the statistics of a range, at most MOST_ROWS rows, and the row of the longest slice of each name."""
    start, stop, frame = _statistics(opened)
    head = frame.head(MOST_ROWS)
    longest = head.pop("longest").tolist() if "longest" in head else []
    return _json({
        "from": start, "to": stop, "total": len(frame), "longest": longest, "columns": list(head.columns),
        "rows": [[json_cell(value) for value in row] for row in head.itertuples(index=False)],
    })


def range_csv(opened: Together) -> Response:
    """Respond with the statistics of a range as CSV."""
    start, stop, frame = _statistics(opened)
    return csv_answer(frame, f"{file_name()}-{start}-{stop}ns")


def gaps(opened: Together) -> Response:
    """Respond with the longest parts of the gaps of a stream, the sum of each cause, and the streams there are."""
    streams = _streams(opened)
    if not streams:
        allow_parameters("track", "tracks", "from", "to", "threshold")
        none: dict[str, Any] = {"streams": [], "track": None, "last": {}, "causes": {}, "idle": 0, "range": 0, "total": 0}
        return _json({**none, "columns": [], "rows": []})
    track, start, stop, frame = _gaps(opened, streams)
    sums = frame.groupby("cause", observed=True)["duration_ns"].sum().sort_values(ascending=False)
    longest = frame.sort_values("duration_ns", ascending=False, kind="stable").head(MOST_ROWS)
    columns = ["start_ns", "duration_ns", "cause", "name", "call", "stack", "next"]
    collective = [int(row) for cause, row in zip(longest["cause"], longest["call"], strict=True) if cause == "communication"]
    last = {row: opened.last_to_come(row) for row in collective if row >= 0}
    return _json({
        "last": {str(row): [of[0].number, of[1]] for row, of in last.items() if of is not None},
        "streams": streams, "track": track, "causes": {str(cause): int(ns) for cause, ns in sums.items()},
        "idle": int(frame["duration_ns"].sum()), "range": stop - start, "total": len(frame), "columns": columns,
        "rows": [[json_cell(value) for value in row] for row in longest[columns].itertuples(index=False)],
    })


def gaps_csv(opened: Together) -> Response:
    """Respond with all parts of the gaps of a stream as CSV."""
    streams = _streams(opened)
    if not streams:
        raise Unusable("the trace, or what the request names of it, has no device streams", 404)
    track, start, stop, frame = _gaps(opened, streams)
    return csv_answer(frame, f"{file_name()}-gaps-{track}-{start}-{stop}ns")


def _streams(opened: Together) -> list[int]:
    """Return the numbers of the device streams; of each trace, those that run the most different things first.

    Those of `tracks` only, if the request has it.
    """
    every = [part.track + track for part in opened.parts for track in explaining.streams(part.opened.trace)]
    chosen = chosen_tracks(opened)
    return every if chosen is None else [track for track in every if track in chosen]


def _gaps(opened: Together, streams: list[int]) -> tuple[int, int, int, pd.DataFrame]:
    """Return (track, start, stop, frame of GAPS) for the stream and the range that a request names.

    Rows and times are those of the axis; causes are found within the trace, with times as they were recorded.
    """
    allow_parameters("track", "tracks", "from", "to", "threshold")
    track = whole_number("track", 0, opened.tracks - 1) if request.args.get("track") else streams[0]
    if track not in streams:
        raise Unusable(f"track: expected one of {', '.join(map(str, streams[:20]))}; found {track}")
    start, stop = time_range(opened)
    threshold = whole_number("threshold", 0, LONGEST_NS) if request.args.get("threshold") else LEAST_GAP_NS
    part, own = opened.of_track(track)
    shift = part.shift(own)
    frame = part.opened.gaps().explain(own, start - shift, stop - shift, threshold)
    moved = {"start_ns": frame["start_ns"] + shift}
    moved |= {name: frame[name].where(frame[name] < 0, frame[name] + part.row) for name in ("call", "next")}
    return track, start, stop, frame.assign(**moved)


def critical_path(opened: Together) -> Response:
    """Respond with the longest parts of the critical path of a range, and the sum of each kind."""
    start, stop, frame = _critical(opened)
    sums = frame.groupby("kind", observed=True)["duration_ns"].sum().sort_values(ascending=False)
    longest = frame.sort_values("duration_ns", ascending=False, kind="stable").head(MOST_ROWS)
    columns = ["start_ns", "duration_ns", "kind", "name", "row"]
    return _json({
        "kinds": {str(kind): int(ns) for kind, ns in sums.items()}, "range": stop - start, "total": len(frame),
        "columns": columns, "rows": [[json_cell(value) for value in row] for row in longest[columns].itertuples(index=False)],
    })


def critical_csv(opened: Together) -> Response:
    """Respond with the critical path of a range as CSV."""
    start, stop, frame = _critical(opened)
    return csv_answer(frame, f"{file_name()}-critical-{start}-{stop}ns")


def _critical(opened: Together) -> tuple[int, int, pd.DataFrame]:
    """Return (start, stop, frame of CRITICAL) for the trace and the range that a request names.

    Rows and times are those of the axis, each part moved as its track is. The path is found with times as they were recorded,
    from the slice of a device on that ends last: the range is one of the clock of the devices, as is time without a slice.
    With devices=1, what the host did may thus reach beyond the range by as much as the devices are moved.
    """
    allow_parameters("from", "to", "part")
    start, stop = time_range(opened)
    part = opened.parts[whole_number("part", 0, len(opened.parts) - 1) if request.args.get("part") else 0]
    shift = part.place.shift + part.place.device
    frame = critical.path(part.opened.trace, start - shift, stop - shift, pyramid=part.opened.pyramid)
    shifts = np.array([*(part.shift(track) for track in range(len(part.opened.trace.tracks))), shift], np.int64)
    return start, stop, frame.assign(
        start_ns=frame["start_ns"] + shifts[frame["track"].to_numpy()],  # -1, no track, is the last one
        row=frame["row"].where(frame["row"] < 0, frame["row"] + part.row),
    )


def flame(opened: Together) -> Response:
    """Respond with the stacks of a range, of which the longest ones are sent, each after the one it lies in."""
    allow_parameters("from", "to", "tracks")
    start, stop = time_range(opened)
    frame = opened.flame(start, stop, chosen_tracks(opened))
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


def found(opened: Together) -> Response:
    """Respond with the slices whose names a text or a pattern occurs in."""
    allow_parameters("q", "regex", "tracks", "shortest")
    text = request.args.get("q", "")
    shortest = whole_number("shortest", 0, LONGEST_NS) if request.args.get("shortest") else 0
    if not text and not shortest:
        raise Unusable("expected a text to look for, or a shortest duration")
    if one_of("regex", ("0", "1")) == "1":
        every = [part.opened.trace.names for part in opened.parts]
        fitting = set(matching(text, list(dict.fromkeys(chain.from_iterable(every))), PATTERN_SECONDS))
        wanted = [np.array([index for index, name in enumerate(names) if name in fitting], np.int64) for names in every]
    else:
        wanted = [part.opened.names().containing(text) for part in opened.parts]
    rows = opened.find(wanted, chosen_tracks(opened), shortest, MOST_HITS + 1)
    hits = rows[:MOST_HITS]
    return _json({
        "more": len(rows) > MOST_HITS, "row": hits.tolist(), "start": opened.starts(hits).tolist(),
        "duration": opened.durations(hits).tolist(), "name": opened.names_of(hits).tolist(),
        "track": opened.tracks_of(hits).tolist(),
    })


def chrome(opened: Together) -> Response:
    """Respond with the range as a Chrome trace, with arguments if it has at most MOST_ARGUMENTS slices."""
    allow_parameters("from", "to")
    start, stop = time_range(opened)
    exported = []
    few = MOST_ARGUMENTS
    for part in opened.parts:
        trace, place = part.opened.trace, part.place
        reach = abs(place.device)
        begins, ends = trace.slices.start + place.shift, trace.slices.start + trace.slices.duration + place.shift
        few -= int(np.count_nonzero((begins < stop + reach) & (ends > start - reach)))
        shifts = [part.shift(index) for index in range(len(trace.tracks))]
        exported.append(export.TracePart(trace, part.label, shifts, partial(sources.arguments, trace)))
    if few < 0:
        exported = [one._replace(arguments=None) for one in exported]
    answer = Response(export.together(exported, start, stop), mimetype="application/json")
    answer.headers["Content-Disposition"] = attachment(f"{file_name()}-{start}-{stop}ns.json")
    return answer


_ANSWERS: dict[str, Callable[[Together], Response]] = {
    "tracks": tracks, "view": view, "names": names, "strip": strip, "curve": curve, "slice": slice_, "range": range_,
    "range.csv": range_csv, "gaps": gaps, "gaps.csv": gaps_csv, "critical": critical_path,
    "critical.csv": critical_csv, "flame": flame, "search": found, "trace.json": chrome,
}  # fmt: skip


# One slice ----------------------------------------------------------------------------------------------------------


def _statistics(opened: Together) -> tuple[int, int, pd.DataFrame]:
    """Return start and stop (ns) of the range that a request names, and its statistics by name or by track."""
    allow_parameters("from", "to", "tracks", "clip", "by")
    chosen = chosen_tracks(opened)
    start, stop = time_range(opened)
    by = one_of("by", ("name", "track"))
    if by == "name":
        clip = one_of("clip", ("1", "0")) == "1"
        return start, stop, opened.statistics(start, stop, chosen, clip)
    frame = opened.by_track(start, stop, chosen)
    frame = frame[frame["count"] > 0].reset_index(drop=True)
    titles = [" / ".join(filter(None, (part.label, track.process, track.thread))) for part, _, track in opened.listed()]
    names = [titles[index] for index in frame["track"]]
    return start, stop, frame.drop(columns="track").assign(track=names)[["track", *frame.columns[1:]]]


# Responses ----------------------------------------------------------------------------------------------------------


def _finite(values: Any) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values.tolist()]


def _json(content: Any) -> Response:
    return Response(msgspec.json.encode(content), mimetype="application/json")


def _binary(content: bytes) -> Response:
    return Response(content, mimetype="application/octet-stream")
