"""What a painted graph says: choices, colours of boxes, the bar, lists, the text alternative, and a table of all values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.graphs import GraphView, Item
from parsers.analysis.graphs.painting import WAYS, WHOLE, GraphMetric, PaintedStep
from parsers.analysis.graphs.painting.metrics import SUM
from parsers.analysis.graphs.painting.painting import of_boxes, of_scopes
from parsers.deferred import pandas as pd

from layouts.graphs.figure.scale import Scale, ink
from layouts.graphs.graph.finding import node_line, scope_line
from layouts.graphs.graph.painting_asks import Painted
from layouts.graphs.graph.painting_sources import DUMP, NEAR, PROFILE, MetricSource, PaintSource
from layouts.graphs.names import key_of, row_of
from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import alternative, listed, named
from layouts.kit.i18n import Text, both, t

HIGHEST = 12
MOST_UNMATCHED = 200
MOST_STEPS = 20_000
_TICKS = 5
_FILES = {
    "time": "kernel_details.csv, op_statistic.csv, cpu_op_detail_info_*.csv, aicore_intermediate_*_detail.csv",
    "flops": "flops_*.txt, kernel_details.csv (aic_metrics=ArithmeticUtilization)",
    "use": "flops_*.txt, kernel_details.csv (aic_metrics=PipeUtilization)",
    "memory": "operator_memory.csv, memory_tracker",
}
"""Files that have a metric of a profile."""


def choices(found: Painted) -> dict[str, Any]:
    """Return what may be chosen, what is, and what to say if there are no values."""
    reading, metric = found.reading, found.asked.metric
    known = {offer.source for offer in found.offers}
    others = [] if found.source is None or found.source in known else [MetricSource(found.source, len(NEAR) - 1)]
    state = reading.state if found.ready or reading.state != "ready" else "empty"
    steps = reading.steps if len(reading.steps) <= MOST_STEPS else reading.steps[-MOST_STEPS:]
    return {
        "state": state, "metric": metric.name,
        "of": {"run": found.asked.ask.of.run, "graph": found.asked.ask.of.graph},
        "sources": [[one.source.key, list(_label(one))] for one in (*found.offers, *others)],
        "source": found.source.key if found.source else "",
        "parts": [[part, list(_part(found.source, part))] for part in reading.parts], "part": reading.part,
        "steps": list(steps), "step": found.step.step,
        "problem": list(_problem(found, state)) if state != "ready" else
        list(both("graph.paint.left", n=fmt.count(reading.left))) if reading.left else [],
        "boxes": {}, "list": [],
    }  # fmt: skip


def value_of(found: Painted, name: str) -> float:
    """Return the value of the box of a name, of the whole graph for ""; NaN for none."""
    view, metric, node = found.view, found.asked.metric, found.step.node
    key = key_of(view, name)
    if key[:1] == "n":
        return float(node[row_of(view, name)])
    items = [item for item in _levels(view, key) if item.key == key]
    if items:
        return of_boxes(items, view.scopes, node, metric.combine).get(key, math.nan)
    return float(of_scopes(view.scopes, node, metric.combine)[int(key[1:]) if key else 0])


def _levels(view: GraphView, key: str) -> list[Any]:
    """Return the stack or aggregate with a key as an item."""
    if key[:1] not in ("k", "f"):
        return []
    first = int(key[1:])
    above = int(view.scopes.parent[first]) if key[0] == "k" else int(view.scopes.home[first])
    units = [unit for unit in view.level(above).units if unit.key == key]
    return [Item(unit.key, unit.kind, -1, "", 0, tuple(unit.members)) for unit in units]


def written(metric: GraphMetric, value: float) -> str:
    """Write a value of a metric with its unit."""
    if not math.isfinite(value):
        return fmt.number(value)
    if metric.unit == "ns":
        return fmt.duration(value / 1e9)
    if metric.unit == "B":
        return fmt.size(value)
    if metric.unit == "share":
        return fmt.percent(value)
    if metric.unit == "FLOP":
        return fmt.prefixed(value, "FLOPs")
    return fmt.count(int(value)) if metric.combine == SUM else fmt.number(value)


def colours(scale: Scale, value: float) -> tuple[str, str]:
    """Return the colours of a box and of its text."""
    colour = scale.colour(value)
    return colour, ink(colour)


def bar(scale: Scale, metric: GraphMetric) -> dict[str, Any]:
    """Return the colours of the bar, and its ticks as (share of its length, text)."""
    shares = [place / (_TICKS - 1) for place in range(_TICKS)] if scale.high > scale.low else [0.0]
    return {
        "colours": list(scale.stops), "log": scale.log,
        "ticks": [[share, written(metric, _round(metric, scale.value(share)))] for share in shares],
    }  # fmt: skip


def _round(metric: GraphMetric, value: float) -> float:
    return float(round(value)) if metric.combine == SUM and metric.unit == "" else value


def matched_names(step: PaintedStep) -> dict[str, str]:
    """Return how many names of a step have a node, of how many."""
    return {"found": fmt.count(step.found), "names": fmt.count(step.names)}


def sums(found: Painted) -> Text:
    """Say what is drawn, hidden and not matched, and what that makes together; of a maximum where the greatest value is."""
    step, metric = found.step, found.asked.metric
    if metric.combine != SUM:
        if not step.found:
            return both("graph.paint.highest.none", total=written(metric, step.total))
        return both("graph.paint.highest", total=written(metric, step.total), matched=written(metric, step.matched))
    parts = {"drawn": step.matched - step.hidden, "hidden": step.hidden, "left": step.unmatched, "total": step.total}
    return both("graph.paint.sums", **{name: written(metric, value) for name, value in parts.items()})


def step_name(step: int) -> Any:
    """Return a span that names a step."""
    return t("graph.paint.whole") if step == WHOLE else t("graph.paint.at", step=step)


def said(found: Painted, scale: Scale) -> Text:
    """Return the text alternative: metric, step, range, and the operators with the highest values."""
    step, metric = found.step, found.asked.metric
    at = both("graph.paint.whole") if step.step == WHOLE else both("graph.paint.at", step=step.step)
    names = both(f"graph.paint.{metric.name}")
    ends = {"low": written(metric, scale.low), "high": written(metric, scale.high)} | matched_names(step)
    head = tuple(both("graph.paint.said", metric=names[one], step=at[one], **ends)[one] for one in (0, 1))
    rows = _highest(found.view.network.shown, step.node)[:5]
    some = [named(found.view.network.label(row), written(metric, float(step.node[row]))) for row in rows]
    return alternative((head[0], head[1]), listed(some) if some else None)


def _highest(shown: Any, values: Any) -> list[int]:
    """Return the places of the greatest values above 0, the greatest first."""
    known = np.where(shown & (np.nan_to_num(values, nan=0.0) > 0), values, -np.inf)
    many = min(HIGHEST, len(known))
    if not many:
        return []
    top = np.argpartition(-known, many - 1)[:many]
    top = top[np.argsort(-known[top], kind="stable")]
    return [int(one) for one in top if known[one] > -np.inf]


def highest_scopes(view: GraphView, node: Any, combine: str) -> list[tuple[int, float]]:
    """Return the scopes with the greatest values and these; of scopes within each other that have the same, the innermost."""
    scopes = view.scopes
    whole = of_scopes(scopes, node, combine)
    inner = np.zeros(len(scopes), np.bool_)
    same = np.flatnonzero(whole[1:] == whole[scopes.parent[1:]]) + 1 if len(scopes) > 1 else np.empty(0, np.int64)
    inner[scopes.parent[same]] = True
    inner[0] = True
    return [(scope, float(whole[scope])) for scope in _highest(~inner, whole)]


def lists(found: Painted) -> list[Any]:
    """Lists of the highest operators and scopes, and of the names without a node."""
    step, metric, view = found.step, found.asked.metric, found.view
    rows = _highest(view.network.shown, step.node)
    parts: list[Any] = []
    if rows:
        lines = [node_line(view, row, note=written(metric, float(step.node[row]))) for row in rows]
        parts += [html.H4(t("graph.paint.nodes")), *lines]
        scopes = [
            scope_line(view, scope, written(metric, value))
            for scope, value in highest_scopes(view, step.node, metric.combine)
        ]
        parts += [html.H4(t("graph.paint.scopes")), *scopes] if scopes else []
    else:
        said_of = "graph.paint.zero" if step.found else "graph.paint.unlike"
        parts.append(html.P(t(said_of), className="ms-graph-count ms-muted"))
    left = found.paint.unmatched(step.step)
    if left:
        lines = [_unmatched(metric, *one) for one in left[:MOST_UNMATCHED]]
        if len(left) > MOST_UNMATCHED:
            lines.append(html.P(t("graph.more", n=fmt.count(len(left) - MOST_UNMATCHED)), className="ms-muted"))
        summary = html.Summary(t("graph.paint.unmatched", n=fmt.count(len(left))))
        parts.append(html.Details([summary, *lines], className="ms-graph-unmatched"))
    return parts


def _unmatched(metric: GraphMetric, name: str, value: float, way: int) -> html.Div:
    head = [html.Span(name, className="ms-mono ms-graph-value"), html.Span(written(metric, value), className="ms-number")]
    return html.Div([*head, html.Span(t(f"graph.paint.way.{WAYS[way]}"), className="ms-muted")], className="ms-graph-left-out")


def _label(offer: MetricSource) -> Text:
    one = offer.source
    what = both(f"graph.paint.of.{one.kind}", **({"session": one.session, "rank": one.rank} if one.kind == PROFILE else {}))
    pair = [both(f"graph.paint.near.{NEAR[offer.near]}", what=what[place], run=one.run)[place] for place in (0, 1)]
    return pair[0], pair[1]


def _part(source: PaintSource | None, part: str) -> Text:
    if source is not None and source.kind == DUMP:
        return both("graph.paint.part.rank", rank=part)
    return both(f"graph.paint.part.{part}")


def _problem(found: Painted, state: str) -> Text:
    """What to say instead of values."""
    reading, metric = found.reading, found.asked.metric.name
    if found.asked.ask.of.against is not None:
        return both("graph.paint.compared")
    if state in ("reading", "waiting"):
        return both("graph.paint.reading", share=fmt.percent(reading.done / reading.total if reading.total else 0.0))
    if state == "failed":
        return both("graph.paint.failed", text=reading.text)
    if state == "cancelled":
        return both("graph.paint.cancelled")
    files = ", ".join(reading.wanted[:6]) or _FILES.get(metric, "")
    if state == "missing":
        said = both("graph.paint.missing.profile", files=files) if metric in _FILES else both("graph.paint.missing.dump")
        more = both("graph.paint.missing.others") if found.offers else ("", "")
        return f"{said[0]} {more[0]}".rstrip(), f"{said[1]}{more[1]}"
    label = _label(MetricSource(found.source, 0)) if found.source else ("", "")
    key, wanted = ("graph.paint.empty", {"files": _FILES[metric]}) if metric in _FILES else ("graph.paint.empty_values", {})
    pair = [both(key, source=label[place], **wanted)[place] for place in (0, 1)]
    return pair[0], pair[1]


def table(found: Painted) -> pd.DataFrame:
    """Return all painted values: nodes, scopes, and names without a node, with how they were matched."""
    step, metric, view = found.step, found.asked.metric, found.view
    head = ["kind", "name", "type", "value", "unit", "step", "matched"]
    at = "" if step.step == WHOLE else step.step
    network, lines = view.network, []
    way = np.zeros(network.size, np.int64)
    ways = found.paint.matches
    way[ways.row[ways.row >= 0]] = ways.way[ways.row >= 0]
    for row in np.flatnonzero(~np.isnan(step.node)).tolist():
        kind = "node" if network.shown[row] else "hidden node"
        value = fmt.exact(float(step.node[row]))
        lines.append([kind, network.full_names[row], network.types[network.type[row]], value, metric.unit, at, WAYS[way[row]]])
    whole = of_scopes(view.scopes, step.node, metric.combine)
    lines += [
        ["scope", view.scopes.paths[scope], metric.combine, fmt.exact(float(whole[scope])), metric.unit, at, ""]
        for scope in np.flatnonzero(~np.isnan(whole)).tolist()
    ]
    lines += [
        ["unmatched", name, "", fmt.exact(amount), metric.unit, at, WAYS[code]]
        for name, amount, code in found.paint.unmatched(step.step)
    ]
    return pd.DataFrame(lines, columns=head)
