"""The tables and sentences of the page: states, check, operators, the chosen node with its code, values, weights."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.graphs.conversion import by_operator, excerpt, state_counts, value_table
from parsers.graphs.conversion import FOLDED, MARKED, OTHER, STATES, ConversionReport

from layouts.graphs.conversion.drawing import ConvertedGraph
from layouts.graphs.names import key_of, row_of
from layouts.kit import units as fmt
from layouts.kit.i18n import attributes, t
from layouts.kit.tables import COUNT, NUMBER, SHARE, Cell, TableColumn, TableRow, first_of, table

MOST_ROWS = 500
"""Maximum rows of a table on the page."""
MOST_NAMES = 20
"""Maximum names of inputs, outputs or unused weights in a sentence."""
LONGEST = 2_000
"""Maximum characters shown of a line of code, a name or a reason."""


def summary(report: ConversionReport) -> list[Any]:
    """Return the share of converted nodes, the file, and nodes by state."""
    counts = state_counts(report)
    file, opset, producer = (_short(report.source.get(name, "")) for name in ("file", "opset", "producer"))
    told = t("conversion.of_file", file=file, opset=opset, producer=producer) if producer else \
        t("conversion.of_file_only", file=file, opset=opset)
    columns = [
        TableColumn("conversion.state"), TableColumn("conversion.nodes", COUNT), TableColumn("conversion.states_share", SHARE)
    ]
    rows = [
        [Cell([html.Span(className=f"ms-conversion-key ms-conversion-{state}"), t(f"conversion.{state}")],
              props=attributes(title=f"conversion.{state}.tip")), counts.states[state],
         counts.states[state] / counts.total if counts.total else None]
        for state in STATES if counts.states[state] or state != OTHER
    ]  # fmt: skip
    said = t("conversion.share", share=fmt.percent(counts.share), n=fmt.count(counts.total))
    return [
        html.P(said, className="ms-conversion-said"), html.P(told, className="ms-muted"),
        table(columns, rows, label="conversion.summary"),
    ]


def check(report: ConversionReport) -> list[Any]:
    """Return the conclusion of the check: claim, numbers, limit, and what it was compared with; or why there is none."""
    told, values = report.check, report.values
    if told.state != "checked" or not len(values):
        return [html.P(_reasoned("not_judged", report))]
    largest = values["largest"].to_numpy()
    most = float(np.nanmax(largest)) if not np.isnan(largest).all() else float("nan")
    found: list[Any] = []
    beyond = np.flatnonzero(values["beyond"].to_numpy())
    total = fmt.count(len(values))
    if len(beyond):
        name = _short(str(values["value"].array[beyond[0]]))
        found.append(html.P(
            t("conversion.beyond_n", n=fmt.count(len(beyond)), total=total, name=name), className="ms-wrong-text",
        ))  # fmt: skip
    else:
        found.append(html.P(t("conversion.within")))
    target = _short(told.target) or "CPU"
    found.append(html.P(t("conversion.checked", n=total, target=target, largest=fmt.number(most)), className="ms-muted"))
    limits = told.tolerance or {}
    if {"other", "float16"} <= limits.keys():
        usual, half = f"{limits['other']:g}", f"{limits['float16']:g}"
        found.append(html.P(t("conversion.tolerance", usual=usual, half=half), className="ms-muted"))
    coded = (report.nodes["state"].astype("str") != FOLDED).to_numpy()
    reached = np.isin(report.nodes["node"].to_numpy(), values["node"].to_numpy())
    left = int((coded & ~reached).sum())
    if left:
        found.append(html.P(t("conversion.uncompared", n=fmt.count(left), total=fmt.count(int(coded.sum())))))
    if told.error:
        found.append(html.P(t("conversion.stopped", error=_short(told.error)), className="ms-conversion-reason"))
    found += [html.P(t("conversion.constant", name=_short(name))) for name in told.constant[:MOST_NAMES]]
    return found


def _reasoned(key: str, report: ConversionReport) -> html.Span:
    reason = _short(report.check.reason)
    return t(f"conversion.{key}", reason=reason) if reason else t(f"conversion.{key}_unknown")


def marked_nodes(report: ConversionReport) -> list[Any]:
    """Return the marked nodes with their reasons; nothing if there is none."""
    rows = np.flatnonzero((report.nodes["state"].astype("str") == MARKED).to_numpy())
    if not len(rows):
        return []
    columns = [TableColumn("conversion.name"), TableColumn("conversion.reason")]
    nodes = report.nodes
    lines = [
        [_go(row, str(nodes["name"].array[row]) or _operator(report, row)), _short(str(nodes["message"].array[row]))]
        for row in rows[:MOST_ROWS].tolist()
    ]
    return [
        html.H4(t("conversion.marked_nodes")), table(columns, lines, label="conversion.marked_nodes"),
        *first_of("conversion.first_nodes", len(lines), len(rows)),
    ]


def operators(report: ConversionReport) -> list[Any]:
    """Return the number of nodes by operator and state."""
    found = by_operator(report)
    states = [state for state in STATES if found[state].any()]
    columns = [TableColumn("conversion.operator"), *(TableColumn(f"conversion.{state}", COUNT) for state in states)]
    rows = [
        [_qualified(row["operator"], row["domain"]), *(Cell(value=row[state]) if row[state] else Cell("") for state in states)]
        for row in found.head(MOST_ROWS).to_dict("records")
    ]
    drawn = table(columns, rows, label="conversion.operators")
    return [drawn, *first_of("conversion.first_operators", len(rows), len(found))]


VALUE_COLUMNS = (
    TableColumn("conversion.order", COUNT), TableColumn("conversion.value", class_name="ms-mono"),
    TableColumn("conversion.operator"),
    TableColumn("conversion.largest", NUMBER), TableColumn("conversion.relative", NUMBER), TableColumn("conversion.verdict"),
)  # fmt: skip


def values(report: ConversionReport) -> list[Any]:
    """Return the compared values in the order of execution, those beyond tolerance marked."""
    found = value_table(report)
    if not len(found):
        return [html.P(_reasoned("no_values", report), className="ms-muted")]
    rows = []
    for row in found.head(MOST_ROWS).to_dict("records"):
        verdict = [t(f"conversion.{'beyond' if row['beyond'] else 'inside'}"), f" {_short(row['text'])}" if row["text"] else ""]
        numbers = row["largest"], row["relative"]
        cells = (row["order"] + 1, _go(row["row"], row["value"]), _short(row["operator"]), *numbers, verdict)
        rows.append(TableRow(cells, class_name="ms-conversion-beyond" if row["beyond"] else ""))
    drawn = table(VALUE_COLUMNS, rows, label="conversion.values", heads=2)
    return [drawn, *first_of("conversion.first_values", len(rows), len(found))]


def weights(report: ConversionReport) -> list[Any]:
    """Return the weight map, and which weights are in no checkpoint."""
    columns = [
        TableColumn("conversion.parameter", class_name="ms-mono"), TableColumn("conversion.shape", class_name="ms-mono"),
        TableColumn("conversion.dtype"), TableColumn("conversion.source", class_name="ms-mono"),
        TableColumn("conversion.shape", class_name="ms-mono"), TableColumn("conversion.dtype"),
        TableColumn("conversion.change"),
    ]  # fmt: skip
    rows = [
        [
            _short(row["parameter"]), row["shape"], row["dtype"],
            _short(row["source"]) or html.Span(t("conversion.computed"), className="ms-muted"), row["source_shape"],
            row["source_dtype"], _short(row["change"]),
        ]
        for row in report.weights.head(MOST_ROWS).to_dict("records")
    ]  # fmt: skip
    parts: list[Any] = [html.P(t("conversion.no_weights"), className="ms-muted")]
    if rows:
        parts = [table(columns, rows, label="conversion.weights")]
    parts += first_of("conversion.first_weights", len(rows), len(report.weights))
    if report.unused:
        number, names = fmt.count(len(report.unused)), _names(report.unused)
        parts.append(html.P(t("conversion.unused_n", n=number, names=names), className="ms-muted"))
    return parts


def code(graph: ConvertedGraph, name: str) -> list[Any]:
    """Return the chosen node and its lines of the script; without a node the first lines."""
    report = graph.report
    row = row_of(graph.view, name) if name else -1
    row = row if row < len(report.nodes) else -1
    parts: list[Any] = []
    if row >= 0:
        parts += _facts(graph, row)
    elif name and (key := key_of(graph.view, name))[:1] in ("s", "k"):
        within = graph.view.scopes.within(int(key[1:]))
        many = int((within < len(report.nodes)).sum())
        parts.append(html.H4(_short(graph.view.scopes.paths[int(key[1:])]), className="ms-conversion-name"))
        parts.append(html.P(t("conversion.within_scope", n=fmt.count(many)), className="ms-muted"))
    else:
        parts.append(html.P(t("conversion.choose"), className="ms-muted"))
    if not report.lines:
        return [*parts, html.P(t("conversion.no_script", reason=report.no_script))]
    shown = excerpt(report, row)
    if row >= 0 and not shown.begin:
        parts.append(html.P(t("conversion.no_code"), className="ms-muted"))
    last = shown.first + len(shown.lines) - 1
    told = t("conversion.lines", file=_short(report.script), first=fmt.count(shown.first), last=fmt.count(last),
             total=fmt.count(len(report.lines)))  # fmt: skip
    lines = [
        html.Span(
            [html.Span(str(number), className="ms-conversion-number"), _line(line)],
            className="ms-conversion-line ms-conversion-own" if shown.begin <= number <= shown.end else "ms-conversion-line",
        )
        for number, line in enumerate(shown.lines, shown.first)
    ]
    place = html.P(told, className="ms-muted ms-conversion-where")
    return [*parts, place, html.Pre(lines, className="ms-conversion-code ms-mono")]


def _facts(graph: ConvertedGraph, row: int) -> list[Any]:
    nodes = graph.report.nodes
    state = str(nodes["state"].array[row])
    message = str(nodes["message"].array[row])
    found = graph.differences
    difference: Any = t("conversion.no_difference")
    if found.compared[row]:
        difference = fmt.number(float(found.largest[row]))
        if found.beyond[row]:
            difference = html.Span([difference, " · ", t("conversion.beyond")], className="ms-wrong-text")
    output = f"{nodes['dtype'].array[row]} {nodes['shape'].array[row]}".strip()
    facts = [
        ("state", [html.Span(className=f"ms-conversion-key ms-conversion-{state}"), t(f"conversion.{state}")]),
        ("reason", _short(message)), ("operator", _operator(graph.report, row)),
        ("inputs", _names(graph.report.inputs[row])), ("outputs", _names(graph.report.outputs[row])), ("output", output),
        ("difference", difference),
    ]  # fmt: skip
    lines = [[html.Dt(t(f"conversion.{name}")), html.Dd(value)] for name, value in facts if value != ""]
    title = str(nodes["name"].array[row]) or _operator(graph.report, row)
    return [
        html.H4(_short(title), className="ms-conversion-name"),
        html.Dl([part for line in lines for part in line], className="ms-conversion-facts"),
    ]


def _line(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _names(names: Sequence[str]) -> Any:
    """Return names as text, the first ones of many; quotes show where one ends that contains commas or spaces."""
    shown = ", ".join(name if name.isprintable() and not set(name) & set(', "') else json.dumps(name, ensure_ascii=False)
                      for name in map(_short, names[:MOST_NAMES]))  # fmt: skip
    left = len(names) - MOST_NAMES
    return shown if left <= 0 else f"{shown}, … (+{fmt.count(left)})"


def _operator(report: ConversionReport, row: int) -> str:
    return _qualified(str(report.nodes["operator"].array[row]), str(report.nodes["domain"].array[row]))


def _qualified(operator: str, domain: str) -> str:
    return _short(f"{domain}.{operator}" if domain else operator)


def _go(row: int, text: str) -> Any:
    """Return a button that chooses a row of nodes on the canvas; plain text for none."""
    label = _short(text) or "–"
    return html.Button(label, type="button", className="ms-conversion-link", **{"data-go": f"n{row}"}) if row >= 0 else label
