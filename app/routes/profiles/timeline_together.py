"""Answers about several traces on one axis: what has been read of them, how they lie, and what they differ in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from flask import Response, request

from app.routes.csv_files import csv_answer
from app.routes.profiles.timeline_parameters import (
    allow_parameters,
    chosen_tracks,
    file_name,
    labels_of,
    named_traces,
    one_of,
    time_range,
    whole_number,
)
from app.routes.refusals import Unusable, refusal
from layouts.sources import ProfileSources
from parsers.deferred import pandas as pd
from parsers.profiler.trace.together import Together

MOST_ROWS = 500
"""Maximum number of names that the page gets; the CSV has all."""


def reading(source: ProfileSources) -> Callable[[], Response]:
    """Return the route that says what has been read of the traces of a request; asking for it begins to read them.

    For each trace: state as in ProfileFrame, done and total (bytes; slices of the pyramid once it is "ready"), whether it is
    complete, and the names of all traces of its profile.
    """

    def respond() -> Response:
        try:
            allow_parameters("again")
            named = named_traces(source)
            again = one_of("again", ("0", "1")) == "1"
        except Unusable as error:
            return refusal(error)
        found: list[dict[str, Any]] = []
        for one, label in zip(named, labels_of(named), strict=True):
            frame = source.profiles.trace_frame(*one, again=again)
            opened = source.profiles.trace(*one) if frame.state == "ready" else None
            found.append({
                "run": one.run, "session": one.session, "rank": one.rank, "label": label, "state": frame.state,
                "done": frame.done, "total": frame.total, "text": frame.text,
                "complete": opened is not None and opened.pyramid is not None,
                "sources": list(source.profiles.traces(one.run, one.session, one.rank)), "source": one.which,
            })  # fmt: skip
        answer = _json(found)
        answer.cache_control.no_store = True
        return answer

    return respond


def parts_of(opened: Together) -> list[dict[str, Any]]:
    """What the page says of each of the traces. Times are ns; align is how the clock of its device was aligned, or None."""
    return [
        {
            "label": part.label, "file": part.opened.trace.path, "clock": part.opened.trace.clock,
            "slices": len(part.opened.trace.slices), "track": part.track, "row": part.row, "shift": part.place.shift,
            "device": part.place.device, "by_step": part.place.by_step,
            "steps": [step.label for step in part.opened.steps()[:1]],
            "align": None if part.place.found is None else {
                "ns": part.place.found.ns, "spread": part.place.found.spread_ns, "collectives": part.place.found.collectives,
            },
        }
        for part in opened.parts
    ]  # fmt: skip


def difference(opened: Together) -> Response:
    """Respond with the names in which two of the traces differ the most in a range."""
    start, stop, frame = _difference(opened)
    head = frame.head(MOST_ROWS)
    return _json({
        "from": start, "to": stop, "total": len(frame), "columns": list(head.columns),
        "rows": [list(row) for row in head.astype(object).itertuples(index=False)],
        "sums": {name: int(frame[name].sum()) for name in frame.columns[1:]},
    })  # fmt: skip


def difference_csv(opened: Together) -> Response:
    """Respond with the same for all names as CSV."""
    start, stop, frame = _difference(opened)
    return csv_answer(frame, f"{file_name()}-difference-{start}-{stop}ns")


ANSWERS: dict[str, Callable[[Together], Response]] = {"difference": difference, "difference.csv": difference_csv}


def _difference(opened: Together) -> tuple[int, int, pd.DataFrame]:
    allow_parameters("from", "to", "tracks", "clip", "a", "b")
    last = len(opened.parts) - 1
    if not last:
        raise Unusable("expected two traces")
    a = whole_number("a", 0, last) if request.args.get("a") else 0
    b = whole_number("b", 0, last) if request.args.get("b") else 1
    start, stop = time_range(opened)
    clip = one_of("clip", ("1", "0")) == "1"
    return start, stop, opened.difference(a, b, start, stop, chosen_tracks(opened), clip)


def _json(content: Any) -> Response:
    return Response(msgspec.json.encode(content), mimetype="application/json")
