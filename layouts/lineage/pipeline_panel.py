"""The parameters of one operation of a data pipeline, next to those of the same operation in other pipelines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from dash import html
from parsers import DatasetNode, DatasetOperation
from parsers.analysis.lineage.pipelines import (
    MISSING,
    ComparedOperation,
    NumberedPipeline,
    ParameterDifference,
    facts,
    parameters_of,
)

from layouts.kit import units as fmt
from layouts.kit.i18n import t
from layouts.kit.state import BadInput, text
from layouts.kit.tables import TableRow, named_values
from layouts.lineage.pipeline_parameters import value_text
from layouts.lineage.pipelines import FoundPipelines, letter

LONG = 160
"""Values of more characters are folded."""
ROWS, MOST_ROWS = 500, 50_000
"""Initial and maximum number of rows in the panel; the JSON file has every parameter."""
MOST_JUMPS = 20
Chosen = tuple[int, int]
"""(index of a pipeline in `FoundPipelines`, number of a node in it)."""


def chosen(state: Any, found: FoundPipelines) -> Chosen | None:
    """Return the operation that a state names as "mark:number"; None if it no longer exists, as in an old link."""
    named = text(state, "node")
    if not named:
        return None
    mark, _, written = named.partition(":")
    if not written.isascii() or not written.isdigit() or len(written) > 6:
        raise BadInput(f"node: expected the mark of a pipeline, a colon and a number; found {named[:80]!r}")
    at = next((at for at, pipeline in enumerate(found.pipelines) if pipeline.graph.mark == mark), None)
    return None if at is None or int(written) >= len(found.graphs[at].nodes) else (at, int(written))


def panel(found: FoundPipelines, places: Sequence[ComparedOperation], one: Chosen | None, most: int = ROWS) -> Any:
    """The panel below the drawings: up to `most` parameters of an operation, or a hint to choose one."""
    if one is None:
        return html.P(t("dataset.choose"), className="ms-muted ms-dataset-choose")
    at, number = one
    graph = found.graphs[at]
    node = graph.nodes[number]
    place = next((place for place in places if place.numbers[at] == number), None)
    rows = _PanelRows(at, place.differences if place else (), most)
    sections = [_section(t("dataset.parameters"), rows.of("node", 0, node.parameters))]
    if node.sampler is not None:
        sections.append(_operation(t("dataset.sampler"), node.sampler, rows, "sampler", 0))
    for order, operation in enumerate(node.operations):
        if rows.left:
            sections.append(_operation(f"{order + 1}", operation, rows, "operation", order))
    missing = rows.missing() if rows.left else []
    if missing:
        sections.append(_section(t("dataset.elsewhere_only"), missing))
    head = _head(graph, found, at, number, node, place)
    return [head, *_cut(rows, sum(1 for fact in facts(node) if fact.key)), html.Div(sections, className="ms-dataset-sections")]


def _cut(rows: _PanelRows, total: int) -> list[html.P]:
    """Say that not all parameters are listed, with a button that lists more."""
    if rows.count >= total:
        return []
    more = min(10 * rows.most, MOST_ROWS)
    parts: list[Any] = [t("dataset.rows_cut", n=fmt.count(rows.count), total=fmt.count(total))]
    if more > rows.most:
        text = t("dataset.rows_more", n=fmt.count(min(more, total)))
        parts += [" ", html.Button(text, type="button", className="ms-button ms-button-small", **{"data-rows": str(more)})]
    return [html.P(parts, className="ms-muted ms-dataset-choose")]


def _head(
    graph: NumberedPipeline, found: FoundPipelines, at: int, number: int, node: DatasetNode, place: ComparedOperation | None
) -> html.Header:
    mark = found.pipelines[at].graph.mark
    title: list[Any] = [html.Span(className=f"ms-dataset-key ms-dataset-{node.kind}"), node.type or "?"]
    notes: list[Any] = [t(f"dataset.{node.kind}")]
    if node.recorded != node.type:
        notes.append(t("dataset.recorded", name=node.recorded))
    if len(found.pipelines) > 1:
        notes.append(t("dataset.of", letter=letter(at)))
    jumps: list[Any] = []
    for label, numbers in (("dataset.from", graph.children[number]), ("dataset.to", (graph.parents[number],) * (number > 0))):
        if numbers:
            more = [t("dataset.runs_more", n=fmt.count(len(numbers) - MOST_JUMPS))] if len(numbers) > MOST_JUMPS else []
            jumps.append(html.Span([t(label), *(jump(mark, n, graph.nodes[n].type) for n in numbers[:MOST_JUMPS]), *more]))
    if place is not None:
        others = [(to, n) for to, n in enumerate(place.numbers) if to != at and n is not None]
        if others:
            jumps.append(html.Span([
                t("dataset.same_in"),
                *(jump(found.pipelines[to].graph.mark, n, letter(to)) for to, n in others),
            ]))  # fmt: skip
    shown = [html.Span(note, className="ms-badge") for note in notes]
    return html.Header(
        [html.H3(title, className="ms-dataset-title"), *shown, html.Span(jumps, className="ms-dataset-jumps")],
        className="ms-dataset-panel-head",
    )


def jump(mark: str, number: int, name: str) -> html.Button:
    """A button that selects an operation of a pipeline."""
    return html.Button(
        html.Span(name or "?", className="ms-name"), type="button", className="ms-button ms-button-small",
        **{"data-node": f"{mark}:{number}"},
    )


class _PanelRows:
    """Makes table rows of parameters; a row in which the pipelines differ has the values of all of them."""

    def __init__(self, at: int, differences: Sequence[ParameterDifference], most: int) -> None:
        self.at, self.count, self.most = at, 0, most
        self._of: Mapping[tuple[str, int, str], ParameterDifference] = {
            (one.part, one.places[at], one.key): one for one in differences
        }
        self._missing = [one for one in differences if one.part != "type" and one.values[at] is MISSING]

    def of(self, part: str, place: int, parameters: Mapping[str, Any]) -> list[TableRow]:
        """Return rows for the parameters of a part."""
        few = islice(parameters.items(), self.left)
        rows = [self._row(key, value, self._of.get((part, place, key))) for key, value in few]
        self.count += len(rows)
        return rows

    @property
    def left(self) -> int:
        """Number of rows that may still be added."""
        return max(0, self.most - self.count)

    def missing(self) -> list[TableRow]:
        """Return rows for the parameters that only other pipelines have."""
        named = ((" · ".join(filter(None, (one.owner, one.key))) or one.part, one) for one in self._missing[: self.left])
        return [self._row(name, MISSING, one) for name, one in named]

    def named(self, part: str, place: int) -> ParameterDifference | None:
        """Return the difference in the name of a sampler or operation."""
        return self._of.get((part, place, ""))

    def _row(self, key: str, value: Any, difference: ParameterDifference | None) -> TableRow:
        if difference is None:
            return TableRow((key, value_cell(value)))
        return TableRow((key, _values(difference, self.at)), "ms-dataset-differs")


def _operation(label: Any, one: DatasetOperation, rows: _PanelRows, part: str, place: int) -> html.Section:
    differing = rows.named(part, place)
    title: list[Any] = [html.Span(label, className="ms-muted"), " ", one.name or "?"]
    if differing is not None:
        title += [" ", html.Span(_values(differing, rows.at), className="ms-dataset-differs")]
    return _section(title, rows.of(part, place, parameters_of(one)))


def _section(title: Any, rows: list[TableRow]) -> html.Section:
    body = named_values(rows) if rows else html.P(t("dataset.no_parameters"), className="ms-muted")
    return html.Section([html.H4(title), body])


def _values(one: ParameterDifference, first: int = -1) -> list[html.Div]:
    """One entry per distinct value with the letters of the pipelines that have it; the value of pipeline `first` first."""
    sharing: dict[str, tuple[Any, list[str]]] = {}
    order = sorted(range(len(one.values)), key=lambda at: at != first)
    for at in order:
        value = one.values[at]
        sharing.setdefault(f"{type(value).__name__}{value!r}", (value, []))[1].append(letter(at))
    named = [(" ".join(sorted(letters)), value) for value, letters in sharing.values()]
    return [html.Div([html.Span(letters, className="ms-dataset-letter"), value_cell(value)], className="ms-dataset-each")
            for letters, value in named]  # fmt: skip


def value_cell(value: Any) -> Any:
    """A value as recorded; a long one is folded."""
    if value is MISSING:
        return html.Span(t("dataset.missing"), className="ms-muted")
    words = value_text(value)
    if len(words) <= LONG:
        return html.Span(words, className="ms-mono")
    return html.Details(
        [
            html.Summary([html.Span(words[:LONG], className="ms-mono"), " … ",
                          html.Span(t("dataset.characters", n=fmt.count(len(words))), className="ms-muted")]),
            html.Pre(words, className="ms-dataset-long"),
        ]
    )  # fmt: skip
