"""What limits kernels, and which are far from their own median: tables of the use of the hardware in, components out."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from dash import html
from parsers.analysis.profiles.efficiency import BOUND_FROM, KernelUse, bound_times
from parsers.analysis.profiles.efficiency.kernels import FAR, FAR_SHARE, LEAST_ALIKE
from parsers.deferred import pandas as pd

from layouts.kit import units as fmt
from layouts.kit.elements import icon
from layouts.kit.i18n import attributes, both, t
from layouts.kit.tables import COUNT, SHARE, TIME_NS, Cell, TableColumn, table
from layouts.profiles.composition import ink
from layouts.profiles.efficiency import Efficiency
from layouts.profiles.efficiency_cards import in_both, rate
from layouts.profiles.links import address, traced
from layouts.profiles.profile_choice import ProfileChoice

MOST_ROWS = 12
_QUANTITIES = {
    "time": TIME_NS, "took": TIME_NS, "median": TIME_NS, "of_time": SHARE, "of_peak": SHARE, "compute": SHARE,
    "memory": SHARE, "alike": COUNT,
}  # fmt: skip
COLOURS = {"compute": "#3880c9", "memory": "#d25908", "neither": "#7c8542", "": "#8a93a0"}
_WIDE = 0.08
_LEAST_SHARE = 0.0005


def bound_card(found: Efficiency, rows: str) -> list[Any]:
    """What limits the kernels: a sentence, a bar, and the rows that took longest; rows is "types" or "shapes"."""
    known, frame = found.measured, found.shapes if rows == "shapes" else found.types
    if known is None or frame is None or found.shapes is None or not known.total_ns:
        return [html.P(t("efficiency.no_shares"), className="ms-muted")]
    counters = known.counters
    if not counters.compute and not counters.memory and not counters.operations:
        return [html.P(t("efficiency.no_shares"), className="ms-muted")]
    notes: list[Any] = []
    if counters.compute or counters.memory:
        # Of shapes, because kernels of one type are limited by different things.
        times = bound_times(found.shapes)
        notes = [_sentence(times, known.total_ns), _bar(times, known.total_ns)]
        notes.append(html.P(t("efficiency.rule", share=fmt.percent(BOUND_FROM)), className="ms-muted"))
    else:
        notes.append(html.P(t("efficiency.no_shares")))
    if counters.compute and not counters.memory:
        notes.append(html.P(t("efficiency.no_memory")))
    if counters.memory and not counters.compute:
        notes.append(html.P(t("efficiency.no_compute")))
    more = html.Button(
        t("efficiency.all_counters", n=fmt.count(len(found.types if found.types is not None else ()))), type="button",
        className="ms-button ms-button-small", **{"data-set": json.dumps({"view": "counters"})},
    )  # fmt: skip
    return [*notes, _rows(frame, known, by_shape=rows == "shapes"), html.P(more)]


def _sentence(times: dict[str, int], total_ns: int) -> html.P:
    texts = both("efficiency.part")
    parts: list[list[str]] = [[], []]
    for name, time_ns in times.items():
        if time_ns >= _LEAST_SHARE * total_ns:
            for at, what in enumerate(both(f"efficiency.what.{name}")):
                parts[at].append(texts[at].format(share=fmt.percent(time_ns / total_ns), what=what))
    patterns = both("efficiency.said")
    english, chinese = (
        pattern.format(time=fmt.duration(total_ns / 1e9), parts=comma.join(some))
        for pattern, comma, some in zip(patterns, (", ", "，"), parts, strict=True)
    )
    return html.P(in_both(english, chinese), className="ms-breakdown-sentence")


def _bar(times: dict[str, int], total_ns: int) -> html.Div:
    there = [(name, time_ns / total_ns) for name, time_ns in times.items() if time_ns]
    segments = [
        html.Span(
            fmt.percent(share) if share >= _WIDE else "", className="ms-breakdown-segment",
            style={"width": f"{100 * share:.4f}%", "background": COLOURS[name], "color": ink(COLOURS[name])},
        )
        for name, share in there
    ]  # fmt: skip
    legend = [
        html.Li([
            html.Span(className="ms-breakdown-dot", style={"background": COLOURS[name]}), t(f"efficiency.class.{name}"),
            html.Span(f"{fmt.duration(share * total_ns / 1e9)} · {fmt.percent(share)}", className="ms-muted"),
        ])
        for name, share in there
    ]  # fmt: skip
    bar = html.Div(segments, className="ms-breakdown-bar", **{"aria-hidden": "true"})
    return html.Div([bar, html.Ul(legend, className="ms-breakdown-legend")])


def _rows(frame: pd.DataFrame, known: KernelUse, *, by_shape: bool) -> Any:
    counters = known.counters
    names = ["type", "time", "of_time"]
    names += ["rate", "of_peak"] if counters.operations else []
    names += [name for name in ("compute", "memory") if getattr(counters, name)]
    names += ["bound"] if counters.compute or counters.memory else []
    body = []
    for record in frame.head(MOST_ROWS).to_dict("records"):
        row: dict[str, Any] = {str(name): value for name, value in record.items()}
        cells = {
            "type": _type_of(row, by_shape=by_shape), "time": row["total_ns"], "of_time": row["total_ns"] / known.total_ns,
            "rate": rate(row["per_s"]), "of_peak": row["share"], "compute": row["compute"], "memory": row["memory"],
            "bound": _bound(row),
        }  # fmt: skip
        body.append([cells[name] for name in names])
    return _table(names, body)


def _type_of(row: dict[str, Any], *, by_shape: bool) -> list[Any]:
    shapes = str(row["input_shapes"]) if by_shape else ""
    more = [html.Span(shapes or t("efficiency.no_shape"), className="ms-muted ms-cut", title=shapes)] if by_shape else []
    name = html.Span(str(row["type"]), className="ms-cut ms-name", title=f"{row['type']} · {row['core']}")
    return [name, html.Span(str(row["core"]), className="ms-muted ms-cut"), *more]


def _bound(row: dict[str, Any]) -> Cell:
    name = str(row["bound"])
    if not name:
        return Cell(t("efficiency.class."), class_name="ms-muted")
    dot = html.Span(className="ms-breakdown-dot", style={"background": COLOURS[name]})
    return Cell([dot, t(f"efficiency.class.{name}"), html.Span(str(row["by"]), className="ms-muted ms-mono")])


def slow_card(found: Efficiency) -> list[Any]:
    """Kernels far from their own median, the ones with the most excess first, with links to the timeline."""
    known = found.measured
    if known is None:
        return []
    least = fmt.count(LEAST_ALIKE)
    if not len(known.slow):
        judged = bool(len(known.shapes)) and int(known.shapes["count"].max()) >= LEAST_ALIKE
        key = "efficiency.slow_none" if judged else "efficiency.slow_alike"
        return [html.P(t(key, kernels=fmt.count(known.kernels), least=least), className="ms-muted")]
    slow = known.slow
    excess = math.fsum(slow["duration_ns"] - slow["median_ns"])
    numbers = {"n": fmt.count(len(slow)), "kernels": fmt.count(known.kernels), "time": fmt.duration(excess / 1e9)}
    rule = t("efficiency.slow_rule", times=f"{FAR_SHARE:g}", far=f"{FAR:g}")
    on_timeline = traced(found.source, found.ask.choice)
    body = [_slow(one, found.ask.choice if on_timeline else None) for one in slow.head(MOST_ROWS).to_dict("records")]
    left = len(slow) - len(body)
    return [
        html.P(t("efficiency.slow_said", **numbers), className="ms-breakdown-sentence"),
        html.P(rule, className="ms-muted"),
        _table(["kernel", "took", "median", "times", "alike"], body),
        *([html.P(t("efficiency.more", n=fmt.count(left)), className="ms-muted")] if left else []),
        *([] if on_timeline else [html.P(t("efficiency.no_trace"), className="ms-muted")]),
    ]


def _slow(row: dict[Any, Any], choice: ProfileChoice | None) -> Sequence[Any]:
    name, shapes = str(row["name"]), str(row["input_shapes"])
    near = {"near": int(row["start_ns"])} if row["start_ns"] >= 0 else {}
    link = [] if choice is None else [html.A(
        icon("timeline"), className="ms-button ms-button-icon", **attributes(title="efficiency.timeline",
        aria_label="efficiency.timeline"), **address("timeline", choice, first=name, **near),
    )]  # fmt: skip
    said = [
        html.Span(name, className="ms-cut ms-name", title=name),
        html.Span(shapes, className="ms-muted ms-cut ms-name", title=shapes),
    ]
    times = f"{fmt.number(row['duration_ns'] / row['median_ns'], 3)} ×"
    return [*said, *link], row["duration_ns"], row["median_ns"], times, int(row["alike"])


def _table(names: Sequence[str], rows: Sequence[Any]) -> Any:
    columns = [
        TableColumn(f"efficiency.column.{name}", _QUANTITIES.get(name), number=name not in ("type", "kernel", "bound"))
        for name in names
    ]
    return table(columns, rows, class_name="ms-breakdown-table ms-efficiency-table", scroll="ms-efficiency-rows")
