"""The sections of the page as components, each built from its own data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

import numpy as np
from dash import dcc, html
from parsers import PayloadError, better
from parsers.analysis.curves.final_values import LastValue
from parsers.analysis.lineage.pipelines import MISSING

from layouts.curves import lines
from layouts.curves.last_values import attributes_of
from layouts.curves.smoothed_lines import ChartLine, LineStyle
from layouts.graphs.graph_views import Views
from layouts.kit import units as fmt
from layouts.kit.figures import GRAPH_CONFIG
from layouts.kit.i18n import t
from layouts.kit.tables import TableColumn, table
from layouts.lineage.model_columns import COLUMNS
from layouts.lineage.pipeline_parameters import value_text
from layouts.lineage.pipelines import MOST_COMPARED
from layouts.lineage.two_runs import differences as values
from layouts.lineage.two_runs.differences import PipelineLine, ScalarLine, SettingLine
from layouts.lineage.two_runs.graphs import graphs
from layouts.lineage.two_runs.run_pair import Pair
from layouts.runs.run_numbers import RunFact, facts
from layouts.sources import LineageSources, RunSources, Sources, ValueSources

MOST_ROWS = 500
"""Maximum number of rows of a table; the file has all."""
MOST_TYPES = 15
CURVES = 6
LONG = 200
"""Values with more characters are folded."""
_COLUMNS = 500
_CONFIG = GRAPH_CONFIG | {"staticPlot": True}
_MARGIN = {"l": 52, "r": 8, "t": 6, "b": 22, "pad": 0}
Section = Callable[[Sources, Pair], Any]


def heading(source: ValueSources, pair: Pair) -> Any:
    """Return the facts about each run: steps, points, duration, speed, size."""
    of_runs = zip(pair.runs, pair.rows, strict=True)
    by_name = [{fact["name"]: _fact(fact) for fact in facts(source, run, row)} for run, row in of_runs]
    names = list(dict.fromkeys(name for one in by_name for name in one))
    body = [(t(f"overview.{name}"), *(one.get(name, _none()) for one in by_name)) for name in names]
    return _table(pair, [""], body)


def settings(source: LineageSources, pair: Pair) -> Any:
    """Return the settings that differ, and the equal ones, folded."""
    lines_ = values.settings(source, pair.runs)
    if not lines_:
        return _note("two_runs.no_settings")
    differing = [line for line in lines_ if not line.equal]
    equal = lines_[len(differing) :]
    shown = _settings(pair, differing) if differing else [_note("two_runs.settings_equal")]
    return [*shown, _folded("two_runs.equal", _settings(pair, equal), len(equal))] if equal else shown


def results(source: LineageSources, pair: Pair) -> Any:
    """Return the metrics and the final values of scalars of both runs."""
    recorded, scalars = values.metrics(source, pair.runs), values.scalars(source, pair.runs)
    if not recorded and not scalars:
        return _note("two_runs.no_results")
    body = [_metric_row(line) for line in recorded] + [_scalar_row(pair, line) for line in scalars]
    head = [t("two_runs.result"), t("two_runs.better")]
    last, best = ([_lettered(pair, at, t(f"two_runs.{end}")) for at in (0, 1)] for end in ("last", "best"))
    titles = [*head, *last, t("two_runs.difference"), t("two_runs.relative"), *best, t("two_runs.difference")]
    return _rows(titles, body, numeric=True)


def curves(source: RunSources, pair: Pair) -> Any:
    """Return pictures of the first scalars that both runs recorded, with both curves in each."""
    shared = [line for line in values.scalars(source, pair.runs) if all(line.ends)]
    if not shared:
        return _note("two_runs.no_curves")
    drawn = [_curve(source, pair, line) for line in shared[:CURVES]]
    state = {"run": list(pair.runs)}
    words = t("two_runs.all_curves", n=fmt.count(len(shared))) if len(shared) > 1 else t("two_runs.one_curve")
    link = _link("scalars", state, words)
    return [html.Div(drawn, className="ms-two-runs-curves"), html.P(link, className="ms-two-runs-more")]


def pipeline(source: ValueSources, pair: Pair) -> Any:
    """Return the differences between the data pipelines."""
    try:
        found = values.pipelines(source, pair.runs)
    except KeyError as missing:
        return _note("two_runs.no_pipeline", run=_name(pair, missing.args[0]))
    except PayloadError as error:
        return html.P(str(error), className="ms-two-runs-note ms-two-runs-wrong", role="alert")
    link = html.P(_link("dataset", {"run": list(pair.runs)}, t("two_runs.open_pipelines")), className="ms-two-runs-more")
    if found is None:
        return [_note("dataset.uncompared", n=fmt.count(MOST_COMPARED)), link]
    if not found:
        return [_note("two_runs.pipelines_equal"), link]
    return [*_table(pair, [t("dataset.operation"), t("dataset.parameter")], [_pipeline_row(line) for line in found]), link]


def graph(source: ValueSources, pair: Pair, views: Views) -> Any:
    """Return the differences between the computation graphs, in numbers."""
    try:
        found = graphs(source, views, pair.runs)
    except KeyError as missing:
        return _note("two_runs.no_graph", run=_name(pair, missing.args[0]))
    except PayloadError as error:
        return html.P(str(error), className="ms-two-runs-note ms-two-runs-wrong", role="alert")
    of = {"of": [pair.runs[0]], "graph": [found.names[0]], "with": [pair.runs[1]], "other": [found.names[1]]}
    state = {"run": list(pair.runs), **of}
    link = html.P(_link("graph", state, t("two_runs.open_graphs")), className="ms-two-runs-more")
    if found.same:
        return [_note("two_runs.graphs_equal", n=fmt.count(found.nodes[0])), link]
    head = [t("two_runs.graph_part")]
    body: list[tuple[Any, ...]] = [(t("two_runs.nodes"), *(_number(count) for count in found.nodes))]
    body += [(name, _number(one), _number(other)) for name, one, other in found.types[:MOST_TYPES]]
    numbers = {name: fmt.count(count) for name, count in found.by_state.items()}
    said = t("two_runs.graph_said", **numbers, edges=fmt.count(sum(found.edges)))
    left = len(found.types) - MOST_TYPES
    more = [_note("two_runs.types_left", n=fmt.count(left))] if left > 0 else []
    return [html.P(said, className="ms-two-runs-said"), *_table(pair, head, body, numeric=True), *more, link]


# Rows -----------------------------------------------------------------------------------------------------------------


def _settings(pair: Pair, shown: Sequence[SettingLine]) -> list[Any]:
    return _table(pair, [t("two_runs.setting")], [(_column(line.column), *map(_value, line.values)) for line in shown])


def _metric_row(line: SettingLine) -> tuple[Any, ...]:
    one, other = line.values
    numbers = [float(each) if _is_number(each) else None for each in (one, other)]
    direction = better(line.column)
    cells = [
        _value(each) if number is None
        else html.Span(_number(number), className="ms-two-runs-wins" * _wins(direction, numbers, at))
        for at, (each, number) in enumerate(zip((one, other), numbers, strict=True))
    ]  # fmt: skip
    return (_column(line.column), _direction(direction), *cells, *_compared(*numbers), "", "", "")


def _scalar_row(pair: Pair, line: ScalarLine) -> tuple[Any, ...]:
    name = _link("scalars", {"run": list(pair.runs), "tag": [line.tag]}, line.tag)
    last = [None if end is None else end.ended for end in line.ends]
    best = [None if end is None or end.best_step < 0 else LastValue(*(end.best, end.best_step) * 2) for end in line.ends]
    ends, tops = _ends(line.better, last), _ends(line.better, best)
    return (name, _direction(line.better), *ends, *_compared(*_values(last)), *tops, _compared(*_values(best))[0])


def _values(two: Sequence[LastValue | None]) -> list[float | None]:
    return [None if end is None else end.value for end in two]


def _ends(direction: str, two: Sequence[LastValue | None]) -> list[Any]:
    values_ = _values(two)
    return [_none() if end is None else _end(end, _wins(direction, values_, at)) for at, end in enumerate(two)]


def _pipeline_row(line: PipelineLine) -> tuple[Any, ...]:
    return (line.operation, line.parameter or t("dataset.itself"), *map(_value, line.values))


def _direction(which: str) -> Any:
    return t(f"two_runs.{which}") if which else ""


def _wins(direction: str, two: Sequence[float | None], at: int) -> bool:
    """True if the value at `at` is the better of the two."""
    mine, its = two[at], two[1 - at]
    if not direction or mine is None or its is None or math.isnan(mine):
        return False
    return math.isnan(its) or (mine < its if direction == "min" else mine > its)


def _compared(one: float | None, other: float | None) -> tuple[Any, Any]:
    """Second minus first: absolute, and relative to the first."""
    if one is None or other is None or not (math.isfinite(one) and math.isfinite(other)):
        return "", ""
    change = other - one
    share = change / abs(one) if one else math.nan
    relative = fmt.percent(share, signed=True) if math.isfinite(share) and abs(share) < 100 else ""
    return _number(change, signed=True), html.Span(relative)


# Cells ----------------------------------------------------------------------------------------------------------------


def _table(
    pair: Pair, head: Sequence[Any], body: Sequence[tuple[Any, ...]], *, numeric: bool = False
) -> list[Any]:
    """A table with a column for each run after the columns of `head`."""
    return _rows([*head, *(_lettered(pair, at, pair.names[at]) for at in (0, 1))], body, numeric=numeric)


def _rows(titles: Sequence[Any], body: Sequence[tuple[Any, ...]], *, numeric: bool = False) -> list[Any]:
    left = len(body) - MOST_ROWS
    drawn = table(
        [TableColumn([title]) for title in titles], body[:MOST_ROWS], scroll="ms-two-runs-scroll",
        class_name="ms-two-runs-table" + " ms-two-runs-numeric" * numeric,
    )  # fmt: skip
    return [drawn, *([_note("two_runs.rows_left", n=fmt.count(left))] if left > 0 else [])]


def _lettered(pair: Pair, at: int, words: Any) -> html.Span:
    """A title with the letter of a run and its colour."""
    dot = html.Span(className="ms-dot", style={"background": pair.colours[at]})
    name = words if isinstance(words, str) else None
    shown = (words, "ms-cut") if name is None else (name, "ms-name")
    label = html.Span(shown[0], className=shown[1])
    return html.Span([dot, html.Span("AB"[at], className="ms-two-runs-letter"), label], className="ms-two-runs-of", title=name)


def _column(name: str) -> html.Span:
    english, chinese = COLUMNS.label(name)
    unit = COLUMNS.units.get(name, "")
    words = [html.Span(english, className="en"), html.Span(chinese, className="zh")] if english != chinese else [english]
    shown = [html.Span(words, className="t"), *([html.Span(f" {unit}", className="ms-muted")] if unit else [])]
    return html.Span(shown, title=name)


def _value(value: Any) -> Any:
    """A setting as recorded; a long one is folded."""
    if value is MISSING:
        return html.Span(t("two_runs.missing"), className="ms-muted")
    words = value_text(value)
    if len(words) <= LONG:
        return html.Span(words, className="ms-mono")
    return html.Details([html.Summary([html.Span(words[:LONG], className="ms-mono"), " …"]), html.Pre(words)])


def _end(end: LastValue, wins: bool) -> html.Span:
    wrong = "" if math.isfinite(end.value) else " ms-two-runs-wrong"
    return html.Span(fmt.number(end.value), className=("ms-two-runs-wins" if wins else "") + wrong, **attributes_of(end))


def _number(value: float, *, signed: bool = False) -> html.Span:
    words = fmt.count(value, signed=signed) if isinstance(value, int) else fmt.number(value, signed=signed)
    wrong = "" if math.isfinite(value) else "ms-two-runs-wrong"
    return html.Span(words, title=fmt.exact(float(value)), className=wrong)


def _fact(fact: RunFact) -> Any:
    return t(fact["key"], n=fact["text"], **fact.get("values", {})) if "key" in fact else fact["text"]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _none() -> html.Span:
    return html.Span("–", className="ms-muted")


def _note(key: str, **values: object) -> html.P:
    return html.P(t(key, **values), className="ms-two-runs-note ms-muted")


def _folded(key: str, children: Any, count: int) -> html.Details:
    return html.Details([html.Summary(t(key, n=fmt.count(count))), *children], className="ms-two-runs-folded")


def _name(pair: Pair, run: str) -> str:
    return pair.names[pair.runs.index(run)]


def _link(page: str, state: dict[str, list[str]], words: Any) -> html.A:
    query = urlencode(state, doseq=True)
    return html.A(words, href=f"{page}?{query}", **{"data-page": page, "data-query": query})


def _curve(source: RunSources, pair: Pair, scalar: values.ScalarLine) -> html.Div:
    tag = scalar.tag
    drawn = []
    for at, run in enumerate(pair.runs):
        if run in pair.hidden:
            continue
        series = source.curves.series(run, tag)
        if series is None:  # it has been deleted since
            continue
        drawn.append(ChartLine(
            run=run, tag=tag, label=pair.names[at], colour=pair.colours[at], series=series,
            x=series.step.astype(np.float64), started=pair.rows[at].started or 0.0,
        ))  # fmt: skip
    # A file may hold any number; values that overflow are not drawn and need no warning.
    with np.errstate(over="ignore", invalid="ignore"):
        figure = lines.figure(drawn, LineStyle(columns=_COLUMNS))
    figure["layout"] |= {"margin": _MARGIN, "hovermode": False, "font": {"size": 10}, "showlegend": False}
    for axis in ("xaxis", "yaxis"):
        figure["layout"][axis] |= {"nticks": 4}
    title = _link("scalars", {"run": list(pair.runs), "tag": [tag]}, tag)
    graph = dcc.Graph(figure=figure, config=_CONFIG, responsive=True, className="ms-plot")
    last = [
        html.Span(_lettered(pair, at, _end(end.ended, wins=False)), **{"data-run": run})
        for at, (run, end) in enumerate(zip(pair.runs, scalar.ends, strict=True)) if end is not None and run not in pair.hidden
    ]  # fmt: skip
    head = [html.Span(title, className="ms-cut ms-name", title=tag), html.Span(last, className="ms-two-runs-legend")]
    shown = [html.Div(head, className="ms-two-runs-curve-head"), html.Div(graph, className="ms-two-runs-plot")]
    return html.Div(shown, className="ms-two-runs-curve")
