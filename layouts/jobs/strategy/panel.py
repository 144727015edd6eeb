"""The chosen box: of an operator its strategy as a matrix, inputs, outputs and attributes; of others what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.graphs import GraphView
from parsers.analysis.jobs.strategy import Cut, cuts_of

from layouts.graphs.names import key_of, row_of
from layouts.jobs.strategy.drawing import Strategy
from layouts.kit import units as fmt
from layouts.kit.i18n import t
from layouts.kit.tables import Cell, TableColumn, table

MOST_LINES = 200
LONG = 200
"""Attributes with more characters are folded."""


def panel(strategy: Strategy, view: GraphView, name: str) -> list[Any]:
    """Return the contents of the panel for the box with a name, or a hint if there is none."""
    key = key_of(view, name) if name else ""
    row = row_of(view, name)
    if key[:1] == "n" and row >= 0:
        return _node(strategy, row)
    if key[:1] == "f" and row >= 0:
        members = next((unit.members for unit in view.level(int(view.scopes.home[row])).units if row in unit.members), (row,))
        kind = view.network.types[view.network.type[row]]
        return [_head(f"{kind} ×{fmt.count(len(members))}"), *_list("members", strategy, members)]
    if key[:1] in ("s", "k"):
        within = view.scopes.within(int(key[1:]))
        return [_head(view.scopes.paths[int(key[1:])]), *_scope(strategy, within[view.network.shown[within]])]
    return [html.P(t("strategy.panel_none"), className="ms-muted")]


def _head(text: str) -> html.H4:
    return html.H4(text[-200:] if text else "–", className="ms-strategy-name", title=text)


def _node(strategy: Strategy, row: int) -> list[Any]:
    frame = strategy.frame
    told = {name: str(frame[name].array[row]) for name in frame.columns if name != "number"}
    label = strategy.whole.label(row)
    parts: list[Any] = [_head(label)]
    if told["inserted"]:
        what = told["inserted"]
        parts.append(html.P(t(f"strategy.inserted.{what}"), className=f"ms-strategy-inserted ms-strategy-{what}"))
    if told["kind"] == "operator":
        parts += _matrix(strategy, told)
    phase = t(f"strategy.phase.{told['phase']}") if told["phase"] else ""
    output = f"{told['output_type']} {told['shape']}".strip()
    facts = (("type", told["type"]), ("full_name", told["full_name"]), ("instance", told["instance"]), ("phase", phase),
             ("output", output))  # fmt: skip
    lines = [[html.Dt(t(f"strategy.fact.{name}")), html.Dd(value)] for name, value in facts if value]
    parts.append(html.Dl([part for line in lines for part in line], className="ms-strategy-facts"))
    network = strategy.whole
    into = np.flatnonzero(network.target == row)
    into = into[np.argsort(network.input[into], kind="stable")]
    parts += _list("inputs", strategy, network.source[into].tolist())
    parts += _list("outputs", strategy, network.target[network.source == row].tolist())
    attributes = strategy.graph.attributes(row)
    if attributes:
        parts.append(html.H5(t("strategy.attributes")))
        parts += [_attribute(name, text) for name, text in attributes.items()]
    return parts


def _matrix(strategy: Strategy, told: dict[str, str]) -> list[Any]:
    if not told["strategy_from"]:
        return [html.P(t("strategy.no_strategy"), className="ms-muted")]
    frame = strategy.frame
    names, shapes = frame["full_name"].array, frame["shape"].array
    cuts = cuts_of(told["strategy"], told["inputs"], names, shapes)
    columns = [TableColumn(f"strategy.{name}") for name in ("input", "shards", "shape", "shard_shape")]
    rows = [_cut(place, cut) for place, cut in enumerate(cuts)]
    drawn = table(columns, rows, class_name="ms-strategy-table ms-strategy-matrix", scroll="ms-strategy-scrolled")
    source = html.P(t(f"strategy.from.{told['strategy_from']}"), className="ms-muted")
    return [html.H5(t("strategy.matrix")), source, drawn]


def _cut(place: int, cut: Cut) -> Sequence[Any]:
    shards = [
        html.Span(str(many), className=f"ms-strategy-shard{' ms-strategy-many' if many > 1 else ''}") for many in cut.shards
    ]
    shape = "–" if cut.shape is None else " × ".join(map(str, cut.shape)) or "[]"
    result: Any = "–"
    if not cut.fits and cut.shape is not None:
        result = html.Span(t("strategy.not_fitting", n=len(cut.shards), of=len(cut.shape)), className="ms-strategy-wrong")
    elif cut.uneven:
        result = html.Span(
            t("strategy.not_divided", n=", ".join(str(one + 1) for one in cut.uneven)), className="ms-strategy-wrong"
        )
    elif cut.shard_shape is not None:
        result = " × ".join(map(str, cut.shard_shape)) or "[]"
    name = cut.name.rpartition("/")[2] or "–"
    return Cell(f"{place + 1} {name}", props={"title": cut.name}), shards or "–", shape, result


def _list(title: str, strategy: Strategy, rows: Sequence[int]) -> list[Any]:
    if not rows:
        return []
    network = strategy.whole
    lines = [
        html.Li([
            html.Button(
                network.label(row), type="button", className="ms-strategy-link", title=network.full_names[row],
                **{"data-go": f"n{row}"},
            ),
            html.Span(f" {network.shapes[network.shape[row]]}", className="ms-muted"),
        ])
        for row in list(dict.fromkeys(rows))[:MOST_LINES]
    ]  # fmt: skip
    left = len(set(rows)) - MOST_LINES
    more = [html.P(t("strategy.more", n=fmt.count(left)), className="ms-muted")] if left > 0 else []
    return [html.H5(t(f"strategy.{title}")), html.Ul(lines, className="ms-strategy-ends"), *more]


def _scope(strategy: Strategy, rows: Any) -> list[Any]:
    inside = strategy.frame.iloc[rows]
    inside = inside[(inside["kind"] == "operator").to_numpy()]
    numbers = {name: int(strategy.marks[name][rows].sum()) for name in ("strategy", "redistribution", "gradient")}
    lines = [
        html.Li(t(f"strategy.count.{name}", n=fmt.count(many))) for name, many in {"operators": len(inside), **numbers}.items()
    ]
    return [html.Ul(lines, className="ms-strategy-ends")]


def _attribute(name: str, text: str) -> Any:
    if len(text) <= LONG:
        value = [html.Span(name, className="ms-muted"), " ", html.Span(text, className="ms-mono")]
        return html.P(value, className="ms-strategy-attribute")
    return html.Details([html.Summary(name), html.Pre(text)], className="ms-strategy-attribute")
