"""Small pictures of the newest data of one run: the contents of the overview's tiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode

import numpy as np
from dash import dcc, html
from numpy.typing import NDArray
from parsers import DatasetNode, HistogramValue, ImageValue, LandscapeValue, PayloadError, PayloadSeries, TensorValue, TextValue
from parsers.analysis import statistics
from parsers.analysis.curves.final_values import last_value
from parsers.analysis.graphs import GraphView, OpenScopes, network
from parsers.analysis.graphs.opened import first_opened

from layouts.curves import lines
from layouts.curves.last_values import attributes_of
from layouts.curves.smoothed_lines import ChartLine
from layouts.curves.smoothed_lines import LineStyle as CurveLook
from layouts.graphs.alternatives import of_graph
from layouts.graphs.figure import arrange, picture
from layouts.kit import units as fmt
from layouts.kit.figures import GRAPH_CONFIG
from layouts.kit.figures.alternatives import described
from layouts.kit.i18n import LANGUAGES, t
from layouts.kit.tables import Cell, TableColumn, table
from layouts.runs.chosen_runs import label_of
from layouts.runs.rows import RunRow
from layouts.runs.run_numbers import main_tag
from layouts.sources import RunSources, ValueSources
from layouts.values import histogram_plots as distributions
from layouts.values import landscapes
from layouts.values.histogram_alternatives import of_histograms
from layouts.values.landscape_alternatives import with_landscapes

PICTURES = 2
"""Maximum number of tags in a tile of scalars or distributions."""
CELLS = 8
"""Maximum number of rows and of columns in a tensor's table."""
CHARACTERS = 2000
"""Maximum number of characters shown of a text."""
MOST_VALUES = 10_000_000
"""Tensors with more values are shown without statistics, which would take seconds."""
MOST_GRAPH = 16 << 20
"""Graphs with more bytes are not drawn in a tile: reading them takes seconds."""
OPERATIONS = 40
"""Maximum number of operations named of a data pipeline, and of each map in it."""
_COLUMNS = 400
_CONFIG = GRAPH_CONFIG | {"staticPlot": True}
_MARGIN = {"l": 46, "r": 8, "t": 4, "b": 20, "pad": 0}
_WORDS = dict.fromkeys(("loss", "step", "epoch", "start", "end", "convergence", "missing", "alpha"), "")
"""Hover texts of a landscape: empty, because a picture has no hover."""

Picture: TypeAlias = Any
"""A component: the name of a tag, notes about its newest value, and the value drawn."""


# Scalars --------------------------------------------------------------------------------------------------------------


def scalars(source: RunSources, run: str, row: RunRow, colour: str) -> list[Picture]:
    """Draw the curves of the main scalar and of one more."""
    main = main_tag(source, run, row)
    tags = list(dict.fromkeys([main, *source.runs.tags(run)[: PICTURES + 1]]))[:PICTURES] if main else []
    return [picture for tag in tags if (picture := _curve(source, run, row, tag, colour)) is not None]


def _curve(source: RunSources, run: str, row: RunRow, tag: str, colour: str) -> Picture | None:
    series = source.curves.series(run, tag)
    if series is None or not series.step.size:
        return None
    line = ChartLine(
        run=run, tag=tag, label=label_of(run, row), colour=colour, series=series,
        x=series.step.astype(np.float64), started=row.started or 0.0,
    )  # fmt: skip
    # A file may hold any number; values that overflow are not drawn and need no warning.
    with np.errstate(over="ignore", invalid="ignore"):
        figure = lines.figure([line], CurveLook(columns=_COLUMNS))
    if series.step.size == 1:
        figure["layout"]["xaxis"] |= {"tickmode": "array", "tickvals": [int(series.step[0])]}
    last = last_value(series)
    look = "ms-tile-value" if np.isfinite(last.value) else "ms-tile-value ms-tile-wrong"
    value = html.Span(fmt.number(last.value), className=look, **attributes_of(last))
    return _picture(tag, [value, _step(last.step)], _graph(figure))


# Large values ---------------------------------------------------------------------------------------------------------


def histograms(source: ValueSources, run: str, row: RunRow, colour: str) -> list[Picture]:
    """Draw the newest distribution of each of the first tags."""

    def draw(value: Any, tag: str, items: PayloadSeries) -> Picture:
        assert isinstance(value, HistogramValue)
        recorded = distributions.RunHistograms(
            run=run, label=label_of(run, row), colour=colour, started=row.started or 0.0,
            step=items.step[-1:], time=np.zeros(1), x=items.step[-1:].astype(np.float64), values=[value],
        )  # fmt: skip
        with np.errstate(over="ignore", invalid="ignore"):
            figure = distributions.single([recorded], distributions.HistogramStyle(), beside=False)
        counts = [value.nan, value.pos_inf, value.neg_inf]
        figure = described(figure, *of_histograms(tag, "step", [recorded], 1, counts))
        bad = value.nan + value.pos_inf + value.neg_inf
        notes = [_step(int(items.step[-1])), t("overview.values", n=fmt.count(value.total)), *_not_finite(bad)]
        return _picture(tag, notes, _graph(figure), value.problem)

    return _newest(source, run, "histogram", source.runs.tags(run, "histogram")[:PICTURES], draw)


def images(source: ValueSources, run: str, row: RunRow, routes: str) -> list[Picture]:
    """Show the newest image of the first tag, which the browser fetches from the image route."""
    del row

    def draw(value: Any, tag: str, items: PayloadSeries) -> Picture:
        assert isinstance(value, ImageValue)
        step, place = int(items.step[-1]), len(items) - 1
        query = urlencode({"run": run, "tag": tag, "place": place, "v": f"{int(items.file[-1])}-{int(items.order[-1])}"})
        small = max(value.width, value.height) < 160
        image = html.Img(
            src=f"{routes}image?{query}", alt=f"{tag}, step {step}", className="ms-tile-image" + " ms-tile-pixels" * small
        )
        # Shown by assets/runs/overview/page.js if the browser cannot load or decode the image.
        failed = html.P(t("overview.undecodable"), className="ms-tile-wrong ms-tile-undecodable", role="alert")
        notes = [_step(step), f"{fmt.count(value.width)} × {fmt.count(value.height)} px"]
        if value.others:
            notes.append(t("overview.first_of", n=fmt.count(1 + len(value.others))))
        return _picture(tag, notes, html.Div([image, failed], className="ms-tile-frame"), value.problem)

    return _newest(source, run, "image", source.runs.tags(run, "image")[:1], draw)


def tensors(source: ValueSources, run: str, row: RunRow) -> list[Picture]:
    """Show a corner of the newest tensor of the first tag, and its statistics."""
    del row

    def draw(value: Any, tag: str, items: PayloadSeries) -> Picture:
        assert isinstance(value, TensorValue)
        shape = " × ".join(fmt.count(size) for size in value.shape) or "()"
        notes = [_step(int(items.step[-1])), shape, value.dtype]
        return _picture(tag, notes, html.Div([_table(value.data), _statistics(value.data)], className="ms-tile-tensor"),
                        value.problem)  # fmt: skip

    return _newest(source, run, "tensor", source.runs.tags(run, "tensor")[:1], draw)


def texts(source: ValueSources, run: str, row: RunRow) -> list[Picture]:
    """Show the beginning of the newest text of the first tag."""
    del row

    def draw(value: Any, tag: str, items: PayloadSeries) -> Picture:
        assert isinstance(value, TextValue)
        text = value.text
        notes = [_step(int(items.step[-1])), t("overview.characters", n=fmt.count(len(text)))]
        return _picture(tag, notes, html.Pre(text[:CHARACTERS], className="ms-tile-text"), value.problem)

    return _newest(source, run, "text", source.runs.tags(run, "text")[:1], draw)


def landscape(source: ValueSources, run: str, row: RunRow, colour: str) -> list[Picture]:
    """Draw the landscape written last."""

    def draw(value: Any, tag: str, items: PayloadSeries) -> Picture:
        del items
        assert isinstance(value, LandscapeValue)
        with np.errstate(over="ignore", invalid="ignore"):
            sheet = landscapes.LandscapeSheet(label_of(run, row), colour, value)
            figure = with_landscapes(landscapes.figure([sheet], landscapes.LandscapeStyle(words=_WORDS, contours=12)), [sheet])
        for trace in figure["data"]:
            trace.pop("hovertemplate", None)
            trace |= {"hoverinfo": "skip"}
            if trace["meta"]["role"] == "ground":
                trace["showscale"] = False
        finite = value.z[np.isfinite(value.z)]
        ends = {"low": fmt.number(float(finite.min())), "high": fmt.number(float(finite.max()))} if finite.size else {}
        return _picture(tag, [t("overview.loss", **ends)] if ends else [], _graph(figure), value.problem)

    found = [(float(items.wall_time[-1]), tag) for tag in source.runs.tags(run, "landscape")
             if (items := source.values.series(run, "landscape", tag)) is not None and len(items)]  # fmt: skip
    return _newest(source, run, "landscape", [max(found)[1]] if found else [], draw)


def graph(source: ValueSources, run: str, row: RunRow) -> list[Picture]:
    """Draw the newest computation graph as its page first shows it."""
    del row
    place = max(source.graphs.locations(run), key=lambda place: place.wall_time, default=None)
    if place is None or place.length > MOST_GRAPH:
        return [html.P(t("overview.recorded"), className="ms-tile-note")]
    try:
        found = source.graphs.graph(run, place.name)
    except PayloadError as error:
        return [html.P(str(error), className="ms-tile-wrong", role="alert")]
    if found is None or found.nodes.empty:
        why = found.problems[0].text if found is not None and found.problems else t("overview.recorded")
        return [html.P(why, className="ms-tile-note")]
    view = GraphView(network(found.nodes, found.edges))
    visible = view.visible(OpenScopes(tuple(first_opened(view))))
    places = arrange(visible)
    drawings = [
        html.Img(src="data:image/svg+xml," + quote(picture(visible, places, dark=theme == "dark")), alt="",
                 className=f"ms-tile-image ms-tile-{theme}")
        for theme in ("light", "dark")
    ]  # fmt: skip
    operators = int((found.nodes["kind"] == "operator").sum())
    kinds = found.nodes["kind"].value_counts()
    counts = {f"{kind}s": int(kinds.get(kind, 0)) for kind in ("operator", "parameter", "constant")}
    counts["edges"] = len(found.edges)
    said = dict(zip(LANGUAGES, of_graph(found.title, visible, counts), strict=True))
    drawn = html.Div(
        drawings, className="ms-tile-frame", role="img",
        **{"aria-label": said["en"], **{f"data-{language}-aria-label": text for language, text in said.items()}},
    )  # fmt: skip
    return [_picture(found.title, [t("overview.operators", n=fmt.count(operators))], drawn)]


def dataset(source: ValueSources, run: str, row: RunRow) -> list[Picture]:
    """List the operations of the data pipeline in the order of the data, branches one after the other."""
    del row
    graph = source.graphs.dataset(run)
    if graph is None:
        return [html.P(t("overview.dataset_broken"), className="ms-tile-wrong", role="alert")]
    nodes = [node for _, _, node in islice(graph.walk(), OPERATIONS)]
    whole = sum(1 for _ in graph.walk())
    steps = [html.Li(html.Span(_operation(node), className=f"ms-tile-operation ms-tile-{node.kind}"))
             for node in reversed(nodes)]  # fmt: skip
    if whole > len(nodes):
        steps.insert(0, html.Li(t("overview.part", shown=fmt.count(len(nodes)), whole=fmt.count(whole))))
    wrong = [html.P(graph.problem, className="ms-tile-wrong", role="alert")] if graph.problem else []
    return [html.Div([*wrong, html.Ol(steps, className="ms-tile-pipeline")], className="ms-picture")]


def _operation(node: DatasetNode) -> list[Any]:
    """The name of an operation, with the operations of a map or the number of joined branches."""
    within = ", ".join(one.name for one in node.operations[:OPERATIONS])
    if len(node.children) > 1:
        within = f"× {fmt.count(len(node.children))}"
    return [node.type or "?", *([" ", html.Span(within, className="ms-muted")] if within else [])]


def _newest(
    source: ValueSources, run: str, kind: str, tags: Sequence[str], draw: Callable[[Any, str, PayloadSeries], Picture]
) -> list[Picture]:
    """A picture of the value written last under each tag, or the reason why it cannot be read, with tag and step."""
    pictures = []
    for tag in tags:
        items = source.values.series(run, kind, tag)
        if items is None or not len(items):
            continue
        try:
            pictures.append(draw(source.values.value(run, kind, tag, len(items) - 1), tag, items))
        except PayloadError as error:
            message = t("overview.broken", tag=tag, step=fmt.count(int(items.step[-1])), reason=str(error))
            pictures.append(html.Div(html.P(message, className="ms-tile-wrong", role="alert"), className="ms-picture"))
    return pictures


# Tensors --------------------------------------------------------------------------------------------------------------


def _table(data: NDArray[Any]) -> html.Div:
    """The first rows and columns of the last two dimensions, at index 0 of the others, coloured by distance from zero."""
    whole = np.atleast_2d(data[(0,) * max(0, data.ndim - 2)] if data.size else np.empty((0, 0)))
    part = whole[:CELLS, :CELLS]
    magnitude = np.abs(part.astype(np.complex128 if part.dtype.kind == "c" else np.float64))
    finite = magnitude[np.isfinite(magnitude)]
    largest = float(finite.max()) if finite.size else 0.0
    columns = [TableColumn(""), *(TableColumn([str(column)]) for column in range(part.shape[1]))]
    rows = [(str(number), *(_cell(value, largest) for value in values)) for number, values in enumerate(part)]
    shown, of = (f"{fmt.count(size[0])} × {fmt.count(size[1])}" for size in (part.shape, whole.shape))
    note = [html.P(t("overview.part", shown=shown, whole=of), className="ms-muted")] if part.shape != whole.shape else []
    return html.Div([table(columns, rows, class_name="ms-tile-table", scroll=""), *note])


def _cell(value: Any, largest: float) -> Cell:
    number = complex(value) if np.iscomplexobj(value) else float(value)
    words, exact = (f"{number:.2g}", str(number)) if isinstance(number, complex) else (fmt.number(number, 2), fmt.exact(number))
    if not np.isfinite(number):
        return Cell(words, class_name="ms-tile-wrong")
    heat = float(abs(number) / largest) if largest else 0.0
    below = not isinstance(number, complex) and number < 0
    style = {"--ms-heat": f"{heat:.2f}"}
    return Cell(words, class_name="ms-tile-below" if below else "ms-tile-above", props={"style": style, "title": exact})


def _statistics(data: NDArray[Any]) -> html.Dl | html.P:
    if data.size > MOST_VALUES:
        return html.P(t("overview.large", n=fmt.count(MOST_VALUES)), className="ms-muted")
    known = statistics(data)
    values = [(name, getattr(known, name)) for name in ("min", "max", "mean", "std")]
    listed: list[tuple[Any, str]] = [(name, fmt.number(value)) for name, value in values if not np.isnan(value)]
    listed += [(t("overview.zeros"), fmt.count(known.zeros))]
    bad = [("NaN", known.nan), ("+Inf", known.pos_inf), ("-Inf", known.neg_inf)]
    pairs = [html.Div([html.Dt(name), html.Dd(words)]) for name, words in listed]
    pairs += [html.Div([html.Dt(name), html.Dd(fmt.count(n))], className="ms-tile-wrong") for name, n in bad if n]
    return html.Dl(pairs, className="ms-tile-stats")


# Elements -------------------------------------------------------------------------------------------------------------


def _picture(tag: str, notes: Sequence[Any], content: Any, problem: str = "") -> Picture:
    caption = [html.Span(tag, className="ms-cut ms-name ms-tile-tag", title=tag), *(html.Span(note) for note in notes)]
    wrong = [html.P(problem, className="ms-tile-wrong", role="alert")] if problem else []
    return html.Div([html.Div(caption, className="ms-tile-caption"), *wrong, content], className="ms-picture")


def _step(step: int) -> Any:
    return t("overview.step", step=fmt.count(step))


def _not_finite(count: int) -> list[Any]:
    return [html.Span(t("overview.not_finite", n=fmt.count(count)), className="ms-tile-wrong")] if count else []


def _graph(figure: dict[str, Any]) -> html.Div:
    layout = figure["layout"]
    layout |= {"margin": _MARGIN, "hovermode": False, "font": {"size": 10}}
    for name in ("xaxis", "yaxis"):
        layout[name] |= {"nticks": 4}
    return html.Div(dcc.Graph(figure=figure, config=_CONFIG, responsive=True, className="ms-plot"), className="ms-tile-plot")
