"""The selected operator, below the panes of the debugger: its tensors, their values and history, and comparison with others.

The server describes the operator, draws the figures and compares; values come over plain routes
(`app.routes.dumps.dump_tensors`) into the table that the tensors page has, too (assets/kit/tensor_grid/). The browser's part is
assets/dumps/debugger/selected.js.
"""

from __future__ import annotations

import json
from typing import Any

from dash import Input, State, html
from parsers import PayloadError

from layouts.dumps.body import DUMPS
from layouts.dumps.debugger import selected_compare as comparing
from layouts.dumps.debugger import selected_figures as figures
from layouts.dumps.debugger.selected_facts import node_facts
from layouts.dumps.debugger.selected_texts import TEXTS
from layouts.dumps.dump_choice import DumpChoice, read_choice, read_node
from layouts.dumps.dump_tensors import Dumped, opened, read_dumped
from layouts.kit.body import status_line
from layouts.kit.callbacks import in_browser
from layouts.kit.i18n import for_browser, t
from layouts.kit.late_graphs import late_graph
from layouts.kit.page import Ids
from layouts.kit.page_parts import register_parts_in, stores
from layouts.kit.state import BadInput, text
from layouts.kit.tensor_grid_texts import TEXTS as GRID_TEXTS
from layouts.sources import DumpSources

PARTS = ("tensors", "trend", "histogram", "comparison")


def part(ids: Ids) -> html.Section:
    """Return the part of the page about the selected operator."""
    values = [
        html.Div(className="ms-selected-bar"),
        html.Div(status_line("debugging"), className="ms-selected-comparison", hidden=True),
        html.Div(className="ms-selected-message", hidden=True, role="status"),
        html.Div(html.Div(className="ms-tensor-table"), className="ms-selected-table"),
        html.Div(className="ms-selected-foot"),
    ]
    left = [_card("values", values), _card("stack", html.Div(className="ms-selected-lines"))]
    right = [_card("trend", [late_graph(ids("trend-plot"), "ms-selected-plot"), status_line("debugging")]),
             _card("histogram", [late_graph(ids("histogram-plot"), "ms-selected-plot"), status_line("debugging")])]  # fmt: skip
    cards = [html.Div(side, className="ms-selected-side") for side in (left, right)]
    return html.Section(
        [
            *stores(ids, PARTS),
            html.Header(className="ms-selected-head"),
            html.P(t("debugger.select"), className="ms-selected-none ms-muted"),
            html.Div(
                [
                    html.Div(className="ms-selected-tensors"), status_line("debugging"),
                    html.Div(cards, className="ms-selected-cards"),
                ],
                className="ms-selected-body", hidden=True,
            ),
        ],
        id=ids("selected"), className="ms-debugger-selected", **{"data-texts": json.dumps(for_browser([*TEXTS, *GRID_TEXTS]))},
    )  # fmt: skip


def _card(name: str, content: Any) -> html.Section:
    head = html.Header(
        [
            html.H3(t(f"debugger.{name}"), className="ms-card-title"),
            html.Span(className="ms-card-badges"),
            html.Span(className="ms-selected-tools"),
        ],
        className="ms-card-head",
    )
    name = f"ms-card ms-selected-card ms-selected-{name}"
    return html.Section([head, html.Div(content, className="ms-card-body")], className=name, tabIndex=-1)


def register(app: Any, source: DumpSources, ids: Ids, routes: str) -> None:
    """Add the callbacks of the selected operator."""
    del routes
    answers = {"tensors": tensors, "trend": trend, "histogram": histogram, "comparison": comparison}
    register_parts_in(app, ids, {name: _bound(answer, source) for name, answer in answers.items()}, DUMPS.namespace)
    in_browser(app, "mindscope_debugger_selected")(
        "pressed",
        Input(ids("trend-plot"), "clickData", allow_optional=True),
        State(ids("root"), "id"),
        prevent_initial_call=True,
    )


def _bound(answer: Any, source: DumpSources) -> Any:
    return lambda ask: answer(source, ask)


def tensors(source: DumpSources, ask: Any) -> dict[str, Any]:
    """Answer which tensors the selected operator has, and its source lines."""
    node, io = read_node(ask)
    return node_facts(source, _choice(ask), node, io, ask)


def trend(source: DumpSources, ask: Any) -> dict[str, Any]:
    """Answer with the figure of a statistic of a tensor over iterations."""
    choice, tensor = _choice(ask), _tensor(source, ask)
    statistic = text(ask, "stat", "l2", choices=figures.STATISTICS)
    if tensor is None:
        return {"state": "stale"}
    other = read_dumped(ask, "with_")
    if other is not None and _known(source, other) is None:
        return {"state": "stale"}
    return figures.trend(source, choice, tensor.row, statistic, ask, other)


def histogram(source: DumpSources, ask: Any) -> dict[str, Any]:
    """Answer with the histogram of a tensor, or of its difference to another one."""
    choice, tensor = _choice(ask), _tensor(source, ask)
    if tensor is None:
        return {"state": "stale"}
    return figures.histogram(source, choice, tensor, read_dumped(ask, "with_"), ask)


def comparison(source: DumpSources, ask: Any) -> dict[str, Any]:
    """Answer how a tensor differs from the one that the ask names: reason says why there is none."""
    choice, tensor = _choice(ask), _tensor(source, ask)
    node, io = read_node(ask)
    tolerance = comparing.read_tolerance(ask)
    against = comparing.read_other(ask, node, io)
    if tensor is None or against is None:
        return {"state": "stale"}
    about = {
        "reason": "", "node": against.node, "io": against.io, "run": against.choice.run, "rank": against.choice.rank,
        "step": against.choice.step, **comparing.offers(source, against),
    }  # fmt: skip
    if comparing.is_same(against, choice, node, io):
        return about | {"state": "ready", "reason": "itself"}
    other, reason = comparing.located(source, against)
    if other is None:
        return about | {"state": "reading" if reason == "reading" else "ready", "reason": reason}
    about["with"] = {"run": other.run, "row": other.row, "mark": other.mark}
    return about | comparing.comparison(source, choice, tensor, other, tolerance, ask)


def _choice(ask: Any) -> DumpChoice:
    choice = read_choice(ask)
    if choice is None:
        raise BadInput("of: expected a run, found none")
    return choice


def _tensor(source: DumpSources, ask: Any) -> Dumped | None:
    """Return the tensor of an ask; None if its row is not one of the dump any more."""
    tensor = read_dumped({**ask, "run": ask.get("of", [])})
    if tensor is None:
        raise BadInput("row: expected a row of the dump, found none")
    return _known(source, tensor)


def _known(source: DumpSources, tensor: Dumped) -> Dumped | None:
    try:
        dump = opened(source, tensor)
    except PayloadError:
        return None
    return tensor if tensor.row < len(dump.tensors) else None
