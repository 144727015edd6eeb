"""Exports of scalars, histograms and insights of chosen runs (`app.routes.all_routes`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from flask import Response, request

from app.routes.curves import expressions, scalar_groups
from app.routes.refusals import Unusable, refusal
from app.routes.runs.listing import json_answer, refuse_unknown_parameters, single
from app.routes.unread_runs import say_last_steps, wait_for_runs, wait_for_scan
from app.routes.values import media
from app.routes.values.histograms import histogram_rows
from app.store.curves.insights import insight_rows
from app.store.runs.matching import PatternError, matching
from layouts.curves.expressions import checked
from layouts.runs.chosen_runs import selected_runs
from layouts.sources import RunSources, Sources, ValueSources
from parsers import Series
from parsers.export import ALL_STEPS, COLUMNS, Steps, csv_rows, json_rows, parts

T = TypeVar("T")
PATTERN_SECONDS = 1.0
"""Time limit for matching a pattern."""


@dataclass(frozen=True, slots=True)
class ExportSelection:
    """The data a request selects: (run, tag) pairs in the order of the runs, a closed range of steps, and a kind of data.

    superseded: scalars with the values that later ones supersede.
    """

    pairs: tuple[tuple[str, str], ...]
    steps: Steps
    kind: str = "scalar"
    superseded: bool = False


def add_routes(routes: Any, source: Sources) -> None:
    """Add the routes of exports over one source."""
    routes.add_url_rule("/scalars.csv", "csv", lambda: scalars(source, _csv_pieces, "csv", "text/csv"))
    routes.add_url_rule("/scalars.json", "json", lambda: scalars(source, _json_pieces, "json", "application/json"))
    routes.add_url_rule("/scalars-final.csv", "finals", lambda: compared(source, "final"))
    routes.add_url_rule("/scalars-matrix.csv", "matrix", lambda: compared(source, "matrix"))
    routes.add_url_rule("/scalars-groups.csv", "groups", lambda: compared(source, "groups"))
    routes.add_url_rule("/expression.json", "expression", lambda: expression(source))
    routes.add_url_rule("/histograms.csv", "histograms", lambda: histograms(source))
    routes.add_url_rule("/insights.csv", "insights-csv", lambda: insights(source))


def insights(source: RunSources) -> Response:
    """Respond with the insights into the scalars of runs, at every sensitivity, one row each; streamed as CSV."""
    try:
        refuse_unknown_parameters(("run",))
        runs = _selected_runs(source)
        unread = wait_for_runs(source, runs)
    except (Unusable, PatternError) as error:
        return refusal(error)
    answer = Response(insight_rows(source, runs), mimetype="text/csv")
    answer.headers["Content-Disposition"] = media.attachment(f"{media.runs_name(runs)}-insights.csv")
    answer.cache_control.no_store = True
    return say_last_steps(answer, source, unread)


def scalars(
    source: Sources, pieces: Callable[[Sources, ExportSelection], Iterator[bytes]], suffix: str, mimetype: str
) -> Response:
    """Respond with scalars, streamed."""
    return export(source, "scalar", pieces, suffix, mimetype)


def compared(source: Sources, what: str) -> Response:
    """Respond with the final values of runs or groups ("final"), the last values of runs by tags ("matrix") or the curves of
    groups ("groups") as CSV."""
    try:
        refuse_unknown_parameters(scalar_groups.PARAMETERS[what])
        wait_for_scan(source)
        query = {name: request.args.getlist(name) for name in request.args if name != expressions.PARAMETER}
        query.setdefault("run", ["*"])
        query["tag"] = expressions.named_tags()
        runs = selected_runs({"run": query["run"]}, source)
        unread = wait_for_runs(source, runs)
        expressions.check(query["tag"], (tag for run in runs for tag in source.runs.tags(run)))
        by_run = {"final": scalar_groups.final_rows, "matrix": scalar_groups.matrix_rows}.get(what)
        pieces = by_run(source, query, runs) if by_run else scalar_groups.curve_rows(source, query)
    except ValueError as error:  # Unusable, BadInput and PatternError are ValueErrors
        return refusal(error)
    answer = Response(pieces, mimetype="text/csv")
    answer.headers["Content-Disposition"] = media.attachment(f"{media.runs_name(runs)}-scalars-{what}.csv")
    answer.cache_control.no_store = True
    return say_last_steps(answer, source, unread)


def expression(source: RunSources) -> Response:
    """Respond with the tags of an expression and those of them that no selected run has, or with what is wrong with it."""
    try:
        text = expressions.single_expression()
        runs = _selected_runs(source, ("run", "runs", expressions.PARAMETER))
    except (Unusable, PatternError) as error:
        return refusal(error)
    return json_answer(checked(source, runs, text))


def histograms(source: Sources) -> Response:
    """Respond with histograms as CSV, streamed."""
    return export(source, "histogram", _histogram_pieces, "csv", "text/csv")


def export(
    source: Sources, kind: str, pieces: Callable[[Sources, ExportSelection], Iterator[bytes]], suffix: str, mimetype: str
) -> Response:
    """Respond with the selected data of one kind, streamed."""
    try:
        runs = _selected_runs(source, (*_PARAMETERS, expressions.PARAMETER, "superseded") if kind == "scalar" else _PARAMETERS)
        unread = wait_for_runs(source, runs)
        selection = ExportSelection(_selected_pairs(source, runs, kind), _steps(), kind, single("superseded") == "1")
    except (Unusable, PatternError) as error:
        return refusal(error)
    answer = Response(pieces(source, selection), mimetype=mimetype)
    answer.headers["Content-Disposition"] = disposition(selection, suffix)
    answer.cache_control.no_store = True
    return say_last_steps(answer, source, unread)


def disposition(selection: ExportSelection, suffix: str) -> str:
    """Return the Content-Disposition of an export, named after its run or their number, a single tag, and steps."""
    runs, tags = ({pair[part] for pair in selection.pairs} for part in (0, 1))
    parts = [media.runs_name(runs), media.safe_name(next(iter(tags))) if len(tags) == 1 else ""]
    steps = [] if selection.steps == ALL_STEPS else ["steps{}-{}".format(*selection.steps)]
    return media.attachment("-".join([*filter(None, parts), f"{selection.kind}s", *steps]) + f".{suffix}")


# Parameters ---------------------------------------------------------------------------------------------------------


_PARAMETERS = ("run", "runs", "tag", "tags", "from", "to")


def _selected_runs(source: RunSources, parameters: Sequence[str] = _PARAMETERS) -> list[str]:
    """Return the member keys of the runs a request names, in the order of the list of runs."""
    refuse_unknown_parameters(parameters)
    wait_for_scan(source)
    rows = source.runs.rows()
    members = [member for row in rows for member in row.members]
    named = request.args.getlist("run")
    pattern = single("runs")
    if not named and pattern is None:
        return members
    known = {row.key: row.members for row in rows} | {member: (member,) for member in members}
    chosen: set[str] = set()
    for name in named:
        if name not in known:
            raise Unusable(f"no such run: {name[:200]!r}", 404)
        chosen.update(known[name])
    if pattern is not None:
        chosen.update(matching(pattern, members, PATTERN_SECONDS))
    return [member for member in members if member in chosen]


def _selected_pairs(source: RunSources, runs: Sequence[str], kind: str) -> tuple[tuple[str, str], ...]:
    tags = {run: source.runs.tags(run, kind) for run in runs}
    everything = list(dict.fromkeys(tag for found in tags.values() for tag in found))
    named = expressions.named_tags() if kind == "scalar" else request.args.getlist("tag")
    pattern = single("tags")
    chosen = set(everything) if not named and pattern is None else set(named)
    missing = dict.fromkeys(name for name in named if name not in everything)
    derived = expressions.derived(source, runs, missing) if kind == "scalar" else {}
    unknown = next((name for name in missing if name not in derived), None)
    if unknown is not None:
        raise Unusable(f"no such tag in these runs: {unknown[:200]!r}", 404)
    if pattern is not None:
        chosen.update(matching(pattern, everything, PATTERN_SECONDS))
    return tuple(
        (run, tag) for run in runs
        for tag in (*(tag for tag in tags[run] if tag in chosen), *(tag for tag, having in derived.items() if run in having))
    )  # fmt: skip


def _steps() -> Steps:
    bounds = []
    for name, default in zip(("from", "to"), ALL_STEPS, strict=True):
        text = single(name)
        if text is not None and not re.fullmatch(r"-?[0-9]{1,19}", text):
            raise Unusable(f"{name}: expected a step, found {text[:80]!r}")
        bounds.append(default if text is None else min(max(int(text), ALL_STEPS[0]), ALL_STEPS[1]))
    return bounds[0], bounds[1]


# Responses ----------------------------------------------------------------------------------------------------------


def _parts(source: RunSources, selection: ExportSelection) -> Iterator[tuple[str, str, Series]]:
    """Yield (run, tag, rows of the range in parts); skip a series that has disappeared since the selection."""
    for run, tag in selection.pairs:
        series = source.curves.recorded(run, tag) if selection.superseded else source.curves.series(run, tag)
        if series is not None:
            for part in parts(series, selection.steps):
                yield run, tag, part


def _csv_pieces(source: RunSources, selection: ExportSelection) -> Iterator[bytes]:
    yield ",".join(COLUMNS).encode() + b"\n"
    for run, tag, part in _parts(source, selection):
        yield csv_rows(run, tag, part)


def _histogram_pieces(source: ValueSources, selection: ExportSelection) -> Iterator[bytes]:
    return histogram_rows(source, selection.pairs, selection.steps)


def _json_pieces(source: RunSources, selection: ExportSelection) -> Iterator[bytes]:
    separator = b"[\n"
    for run, tag, part in _parts(source, selection):
        yield separator + json_rows(run, tag, part)
        separator = b",\n"
    yield b"[]\n" if separator == b"[\n" else b"\n]\n"


