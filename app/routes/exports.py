"""Exports of scalars, histograms, settings, pipelines and insights of chosen runs (`app.routes.all_routes`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from flask import Response, request

from app.routes.curves import expressions, scalar_groups
from app.routes.refusals import Unusable, refusal
from app.routes.runs.listing import json_answer, json_value, refuse_unknown_parameters, single
from app.routes.unread_runs import say_last_steps, wait_for_runs, wait_for_scan
from app.routes.values import media
from app.routes.values.histograms import histogram_rows
from app.store.curves.insights import insight_rows
from app.store.runs.matching import PatternError, matching
from layouts.curves.expressions import checked
from layouts.lineage.pipeline_columns import table as pipeline_table
from layouts.runs.chosen_runs import selected_runs
from layouts.runs.notes import Note
from layouts.sources import RunSources, Sources, ValueSources
from parsers import DatasetNode, LineageRow, Series
from parsers.export import ALL_STEPS, COLUMNS, Steps, csv_rows, json_rows, lineage, parts

T = TypeVar("T")
NOTED = ("remark", "tags")
"""Columns of notes."""
PATTERN_SECONDS = 1.0
"""Time limit for matching a pattern."""


@dataclass(frozen=True, slots=True)
class Selection:
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
    routes.add_url_rule("/dataset.json", "dataset", lambda: dataset(source))
    routes.add_url_rule("/lineage.csv", "lineage-csv", lambda: settings(source, "csv"))
    routes.add_url_rule("/lineage.json", "lineage-json", lambda: settings(source, "json"))
    routes.add_url_rule("/pipelines.csv", "pipelines-csv", lambda: pipelines(source, "csv"))
    routes.add_url_rule("/pipelines.json", "pipelines-json", lambda: pipelines(source, "json"))
    routes.add_url_rule("/insights.csv", "insights-csv", lambda: insights(source))


def dataset(source: ValueSources) -> Response:
    """Respond with the data pipeline of one run as a list of operations, the last one first; 404 if none was recorded."""
    try:
        named = request.args.getlist("run")
        if set(request.args) != {"run"} or len(named) != 1:
            raise Unusable(f"expected the parameter run once and no other, found {', '.join(request.args)[:80] or 'none'}")
        (run,) = named
        wait_for_scan(source)
        if not any(run in row.members for row in source.runs.rows()):
            raise Unusable(f"no such run: {run[:200]!r}", 404)
        unread = wait_for_runs(source, [run])
        graph = source.graphs.dataset(run)
        if graph is None and unread:
            raise Unusable(f"still reading {run[:200]!r}; try again later", 503)
        if graph is None:
            raise Unusable(f"run {run[:200]!r} has no dataset graph", 404)
    except Unusable as error:
        return refusal(error)
    operations = (_operation(number, parent, node) for number, (parent, _, node) in enumerate(graph.walk()))
    answer = json_answer({"run": run, "mark": graph.mark, "problem": graph.problem, "operations": list(operations)})
    answer.headers["Content-Disposition"] = media.attachment(f"{media.safe_name(run) or 'run'}-dataset.json")
    return answer


def _operation(number: int, parent: int, node: DatasetNode) -> dict[str, Any]:
    """Return an operation of a pipeline as JSON; feeds is the id of the operation that consumes its data."""
    fields = {"id": number, "feeds": None if parent < 0 else parent, "type": node.type, "recorded": node.recorded,
            "kind": node.kind, "parameters": node.parameters, "operations": [asdict(one) for one in node.operations],
            "sampler": node.sampler and asdict(node.sampler)}  # fmt: skip
    encoded: dict[str, Any] = _json_ready(fields)
    return encoded


def _json_ready(value: Any) -> Any:
    """Return a nested value with text in place of NaN and infinities."""
    if isinstance(value, float):
        return json_value(value)
    if isinstance(value, dict):
        return {key: _json_ready(one) for key, one in value.items()}
    return [_json_ready(one) for one in value] if isinstance(value, (list, tuple)) else value


def settings(source: Sources, kind: str) -> Response:
    """Respond with settings and metrics as "csv" or "json", with columns and runs in the order of the request.

    The columns remark and tags come from notes; without `col` they are included if any run has a note.
    """
    try:
        refuse_unknown_parameters(("run", "col"))
        wait_for_scan(source)
        described = _with_notes(source.lineage.rows(), source.notes.notebook().notes)
        rows = _named(described, [row.run for row in described], "run")
        names = _named_columns(lineage.columns(rows))
    except Unusable as error:
        return refusal(error)
    return _rows_answer(rows, names, "lineage", kind)


def pipelines(source: Sources, kind: str) -> Response:
    """Respond with the operation parameters of data pipelines as "csv" or "json", like `settings`."""
    try:
        refuse_unknown_parameters(("run", "col"))
        wait_for_scan(source)
        found = pipeline_table(source, None)
        noted = _with_notes(found.rows, source.notes.notebook().notes)
        rows = _named(noted, [row.run for row in noted], "run")
        names = _named_columns([*found.columns, *(name for name in NOTED if any(name in row.settings for row in rows))])
    except Unusable as error:
        return refusal(error)
    return _rows_answer(rows, names, "pipelines", kind)


def _rows_answer(rows: Sequence[LineageRow], names: Sequence[str], name: str, kind: str) -> Response:
    pieces, mimetype = (lineage.csv_rows, "text/csv") if kind == "csv" else (lineage.json_rows, "application/json")
    answer = Response(pieces(rows, names), mimetype=mimetype)
    answer.headers["Content-Disposition"] = media.attachment(f"{_of_runs([row.run for row in rows])}-{name}.{kind}")
    answer.cache_control.no_store = True
    return answer


def _named_columns(known: Sequence[str]) -> list[str]:
    """Return the columns of an export: run, then the requested ones of those known and NOTED; default: all known."""
    if "col" in request.args:
        known = list(dict.fromkeys([*known, *NOTED]))
    return ["run", *(name for name in _named(known, known, "col") if name != "run")]


def _with_notes(rows: Sequence[LineageRow], notes: Mapping[str, Note]) -> list[LineageRow]:
    """Return the rows with remark and tags added as columns where a run has them."""
    return [row._replace(settings={**row.settings, **_noted(notes[row.run])}) if row.run in notes else row for row in rows]


def _noted(note: Note) -> dict[str, str]:
    columns = zip(NOTED, (note.remark, ", ".join(tag.removeprefix(":") for tag in note.tags)), strict=True)
    return {name: text for name, text in columns if text}


def insights(source: RunSources) -> Response:
    """Respond with the insights into the scalars of runs, at every sensitivity, one row each; streamed as CSV."""
    try:
        refuse_unknown_parameters(("run",))
        runs = _selected_runs(source)
        unread = wait_for_runs(source, runs)
    except (Unusable, PatternError) as error:
        return refusal(error)
    answer = Response(insight_rows(source, runs), mimetype="text/csv")
    answer.headers["Content-Disposition"] = media.attachment(f"{_of_runs(runs)}-insights.csv")
    answer.cache_control.no_store = True
    return say_last_steps(answer, source, unread)


def _named(found: Sequence[T], keys: Sequence[str], parameter: str) -> list[T]:
    """Return the items whose keys the request names in a parameter, in its order; all if it names none."""
    named = request.args.getlist(parameter)
    by_key = dict(zip(keys, found, strict=True))
    missing = next((name for name in named if name not in by_key), None)
    if missing is not None:
        raise Unusable(f"no such {parameter}: {missing[:200]!r}", 404)
    return [by_key[name] for name in dict.fromkeys(named)] if named else list(found)


def scalars(
    source: Sources, pieces: Callable[[Sources, Selection], Iterator[bytes]], suffix: str, mimetype: str
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
    answer.headers["Content-Disposition"] = media.attachment(f"{_of_runs(runs)}-scalars-{what}.csv")
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
    source: Sources, kind: str, pieces: Callable[[Sources, Selection], Iterator[bytes]], suffix: str, mimetype: str
) -> Response:
    """Respond with the selected data of one kind, streamed."""
    try:
        runs = _selected_runs(source, (*_PARAMETERS, expressions.PARAMETER, "superseded") if kind == "scalar" else _PARAMETERS)
        unread = wait_for_runs(source, runs)
        selection = Selection(_selected_pairs(source, runs, kind), _steps(), kind, single("superseded") == "1")
    except (Unusable, PatternError) as error:
        return refusal(error)
    answer = Response(pieces(source, selection), mimetype=mimetype)
    answer.headers["Content-Disposition"] = disposition(selection, suffix)
    answer.cache_control.no_store = True
    return say_last_steps(answer, source, unread)


def disposition(selection: Selection, suffix: str) -> str:
    """Return the Content-Disposition of an export, named after its run or their number, a single tag, and steps."""
    runs, tags = ({pair[part] for pair in selection.pairs} for part in (0, 1))
    parts = [_of_runs(runs), media.safe_name(next(iter(tags))) if len(tags) == 1 else ""]
    steps = [] if selection.steps == ALL_STEPS else ["steps{}-{}".format(*selection.steps)]
    return media.attachment("-".join([*filter(None, parts), f"{selection.kind}s", *steps]) + f".{suffix}")


def _of_runs(runs: Collection[str]) -> str:
    """Return the run as a part of a file name, or how many there are."""
    return media.safe_name(next(iter(runs))) if len(runs) == 1 else f"{len(runs)}-runs"


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


def _parts(source: RunSources, selection: Selection) -> Iterator[tuple[str, str, Series]]:
    """Yield (run, tag, rows of the range in parts); skip a series that has disappeared since the selection."""
    for run, tag in selection.pairs:
        series = source.curves.recorded(run, tag) if selection.superseded else source.curves.series(run, tag)
        if series is not None:
            for part in parts(series, selection.steps):
                yield run, tag, part


def _csv_pieces(source: RunSources, selection: Selection) -> Iterator[bytes]:
    yield ",".join(COLUMNS).encode() + b"\n"
    for run, tag, part in _parts(source, selection):
        yield csv_rows(run, tag, part)


def _histogram_pieces(source: ValueSources, selection: Selection) -> Iterator[bytes]:
    return histogram_rows(source, selection.pairs, selection.steps)


def _json_pieces(source: RunSources, selection: Selection) -> Iterator[bytes]:
    separator = b"[\n"
    for run, tag, part in _parts(source, selection):
        yield separator + json_rows(run, tag, part)
        separator = b",\n"
    yield b"[]\n" if separator == b"[\n" else b"\n]\n"


