"""GET routes for the dumps of runs.

    <prefix>dump.csv?run=KEY&frame=NAME       all rows of a frame
    <prefix>dump.npy?run=KEY&row=ROW          the values of a tensor: of a row of the frame tensors, or
    <prefix>dump.npy?run=KEY&rank=N&step=N&node=NAME&io=output.0    of a name in it; rank and step default to 0

Frames are those of `parsers.dump_frames`: tensors, executions, overflows; and what takes reading tensors: statistics, causes,
departures, spread (of one `rank` and `step`), hits (of the watchpoints saved for the run, with watch=recommended of those that
are recommended). mark, if it is given, must be that of the dump, so that rows are what they were for the caller.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from flask import Blueprint, Response, request

from app.routes.csv_files import csv_answer
from app.routes.refusals import Unusable, refusal
from app.routes.values.media import attachment, safe_name
from app.routes.values.tensors import npy_head, npy_pieces
from layouts.dumps.dump_results import LISTED, WORKED, work_for
from layouts.dumps.dump_tensors import values_of
from layouts.dumps.open_dump import DumpView, OpenDump
from layouts.dumps.watchpoints import watched
from layouts.kit.work import WorkResult
from layouts.sources import Sources
from parsers.analysis.dumps.watchpoints import Watchpoint, recommended
from parsers.deferred import pandas as pd
from parsers.errors import FormatError

PATIENCE = 30.0
"""Seconds a download waits for a dump that is being listed, or for tensors that are being read."""
_FRAME = ("run", "mark", "frame", "rank", "step", "watch")
_TENSOR = ("run", "mark", "row", "rank", "step", "node", "io", "occurrence")
_IO = re.compile(r"([a-z]{1,20})(?:\.([0-9]{1,9}))?")
_WHOLE = re.compile("[0-9]{1,15}")


def add_routes(routes: Blueprint, source: Sources) -> None:
    """Add the routes of this module to a blueprint."""
    routes.add_url_rule("/dump.csv", "dump-csv", lambda: _answer(lambda: frame(source)))
    routes.add_url_rule("/dump.npy", "dump-npy", lambda: _answer(lambda: tensor(source)))


def frame(source: Sources) -> Response:
    """Respond with a frame as CSV."""
    asked = _parameters(_FRAME)
    name = asked.get("frame", "")
    if name not in (*LISTED, *WORKED):
        raise Unusable(f"frame: expected one of {', '.join((*LISTED, *WORKED))}; found {name[:80]!r}")
    opened, dump = _opened(source, asked)
    if name in LISTED:
        found: pd.DataFrame = getattr(dump, name)
    else:
        found = _worked(source, asked, name, dump, opened.mark)
    parts = [safe_name(asked["run"]), name]
    parts += [f"rank{_whole(asked, 'rank')}-step{_whole(asked, 'step')}"] if name == "spread" else []
    return csv_answer(found, "-".join(filter(None, parts)))


def tensor(source: Sources) -> Response:
    """Respond with the values of a tensor as an .npy file, bfloat16 as float32, read while they are sent."""
    asked = _parameters(_TENSOR)
    _, dump = _opened(source, asked)
    row = _row(asked, dump)
    try:
        values = values_of(dump, row)
    except (FormatError, OSError) as error:
        raise Unusable(str(error), 422) from error
    head = npy_head(values)
    answer = Response(npy_pieces(values), mimetype="application/octet-stream")
    answer.content_length = len(head) + values.size * values.dtype.itemsize
    answer.headers["Content-Disposition"] = attachment(f"{_file_name(dump, row)}.npy")
    return answer


# Parameters ---------------------------------------------------------------------------------------------------------


def _parameters(known: tuple[str, ...]) -> dict[str, str]:
    for name in request.args:
        if name not in known:
            raise Unusable(f"expected the parameters {', '.join(known)}, found {name[:80]!r}")
        if len(request.args.getlist(name)) > 1:
            raise Unusable(f"{name}: expected this parameter once, found it {len(request.args.getlist(name))} times")
    if "run" not in request.args:
        raise Unusable("expected the parameter run, found none")
    return request.args.to_dict()


def _whole(asked: dict[str, str], name: str, default: int = 0) -> int:
    text = asked.get(name, "")
    if text and not _WHOLE.fullmatch(text):
        raise Unusable(f"{name}: expected a whole number, found {text[:80]!r}")
    return int(text) if text else default


def _row(asked: dict[str, str], dump: DumpView) -> int:
    """Return the row of a tensor, by its number or by rank, iteration, name and slot."""
    count = len(dump.tensors)
    if "row" in asked:
        row = _whole(asked, "row")
        if row >= count:
            raise Unusable(f"row: expected one of {count:,} rows, found {row:,}", 404)
        return row
    if "node" not in asked:
        raise Unusable("expected the parameter row or node, found neither")
    match = _IO.fullmatch(asked.get("io", "output.0"))
    if match is None:
        raise Unusable(f"io: expected a kind and a number such as output.0, found {asked['io'][:80]!r}")
    tensors = dump.tensors
    wanted = {"rank": _whole(asked, "rank"), "iteration": _whole(asked, "step"), "slot": int(match[2] or 0),
              "occurrence": _whole(asked, "occurrence"), "io": match[1], "name": asked["node"]}  # fmt: skip
    rows = np.flatnonzero(np.logical_and.reduce([(tensors[name] == value).to_numpy() for name, value in wanted.items()]))
    if not len(rows):
        shown = ", ".join(f"{name} {str(value)[:200]}" for name, value in wanted.items())
        raise Unusable(f"no such tensor: {shown}", 404)
    return int(rows[0])


def _opened(source: Sources, asked: dict[str, str]) -> tuple[OpenDump, DumpView]:
    """Return a dump once it is listed."""
    run = asked["run"]
    found = _patiently(lambda: source.dumps.open(run), lambda one: one.state == "reading", "still listing the dump")
    if found.dump is None:
        if found.state == "missing":
            raise Unusable(f"no dump of a run {run[:200]!r}", 404)
        raise Unusable(f"listing the dump failed: {found.text}", 500)
    if asked.get("mark", found.mark) != found.mark:
        raise Unusable("the dump has changed meanwhile: select the tensor again", 409)
    return found, found.dump


def _watchpoints(source: Sources, asked: dict[str, str], dump: DumpView) -> tuple[Watchpoint, ...]:
    which = asked.get("watch", "saved")
    if which == "recommended":
        return recommended()
    if which != "saved":
        raise Unusable(f"watch: expected saved or recommended, found {which[:80]!r}")
    saved = source.notes.notebook().watchpoints.get(asked["run"])
    if saved is None:
        raise Unusable("no watchpoints are saved for this run; watch=recommended checks for those that are recommended", 404)
    tensors = dump.tensors
    return tuple(watched(one, tensors, source.patterns) for one in saved.watchpoints if one.enabled)


# Answers ------------------------------------------------------------------------------------------------------------


def _worked(source: Sources, asked: dict[str, str], name: str, dump: DumpView, mark: str) -> pd.DataFrame:
    """Return a frame that takes work, once that is done."""
    rank, step = _whole(asked, "rank"), _whole(asked, "step")
    work = work_for(name, rank=rank, step=step, watchpoints=_watchpoints(source, asked, dump) if name == "hits" else ())
    run, again = asked["run"], iter([True])

    def ask() -> WorkResult:
        return source.dumps.work(run, work, again=next(again, False))

    found = _patiently(ask, lambda one: one.state in ("waiting", "working"), f"still working on {name}")
    if found.state != "ready":
        raise Unusable(f"{name} did not finish: {found.text or found.state}", 500 if found.state == "failed" else 503)
    if "mark" in asked and found.mark != mark:
        raise Unusable("the dump has changed meanwhile: ask again", 409)
    result: pd.DataFrame = found.result
    return result


def _patiently(ask: Callable[[], Any], is_waiting: Callable[[Any], bool], text: str) -> Any:
    """Ask until the answer is final; Unusable, with status 503, if that takes too long."""
    until = time.monotonic() + PATIENCE
    while is_waiting(found := ask()):
        if time.monotonic() > until:
            raise Unusable(f"{text}; try again later", 503)
        time.sleep(0.05)
    return found


def _file_name(dump: DumpView, row: int) -> str:
    """Return name, rank, iteration and slot of a tensor as a safe file name."""
    one = dump.tensors.iloc[row]
    name = safe_name(str(one["name"])[-80:]) or "tensor"  # the end of a scope tells more than its beginning
    return f"{name}-rank{one['rank']}-step{one['iteration']}-{safe_name(str(one['io']))}.{one['slot']}"


def _answer(make: Callable[[], Response]) -> Response:
    try:
        answer = make()
    except (Unusable, ValueError) as error:
        return refusal(error)
    answer.cache_control.no_store = True
    return answer
