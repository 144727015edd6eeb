"""The tables of the dynamic shapes page as plain elements: types, operators, shapes; and the sentences at its head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.profiles.shape_times import FEWEST_STEPS

from layouts.kit import units as fmt
from layouts.kit.i18n import attributes, t
from layouts.kit.names import middle
from layouts.kit.tables import COUNT, Cell, Quantity, TableColumn, first_of, table
from layouts.profiles.kernel_names import kernel_labels
from layouts.profiles.shape_request import MOST_TYPES, ProfileShapeTables
from layouts.profiles.shapes.figures import SYMBOLS, colour_of, look_of

MOST_ROWS = 100
"""Rows of a table on the page; its CSV file has all."""
_TIME = Quantity(lambda ns: fmt.number(ns / 1e6), lambda ns: f"{fmt.exact(ns)} ns")
_NAMED = ("type", "name", "input_shapes")
_TYPES = ("type", "operators", "changing", "shapes", "count", "total_ns", "mean_ns", "max_ns")
_OPERATORS = ("name", "type", "shapes", "count", "total_ns", "mean_ns", "max_ns")
_SHAPES = ("input_shapes", "count", "total_ns", "mean_ns", "max_ns", "min_ns", "steps")


def head(times: ProfileShapeTables) -> list[Any]:
    """Return the sentences: how many operators have several shapes and what they took, and what is not known."""
    rows, own = times.rows, times.operators
    if not len(rows):
        return [html.P(t("shapes.head_none"), className="ms-shapes-sentence")]
    kernels = times.unit == "kernel"
    whole, changing = float(own["total_ns"].sum()), own["changes"].to_numpy(bool)
    known = int((own["shapes"] > 0).sum())
    if not known:
        said = t("shapes.head_unknown")
    elif changing.any():
        spent = float(own.loc[changing, "total_ns"].sum())
        said = t(
            "shapes.head_kernels" if kernels else "shapes.head_changing", n=fmt.count(int(changing.sum())),
            total=fmt.count(len(own)), time=fmt.duration(spent / 1e9), whole=fmt.duration(whole / 1e9),
            share=fmt.percent(spent / whole if whole else 0.0),
        )  # fmt: skip
    elif times.steps < FEWEST_STEPS:
        several = int((own["shapes"] > 1).sum())
        key = "shapes.head_kernels_not_judged" if kernels else "shapes.head_not_judged"
        said = t(key, steps=fmt.count(times.steps), n=fmt.count(several), all=fmt.count(len(own)))
    else:
        numbers = {"total": fmt.count(known), "all": fmt.count(len(own))}
        said = t("shapes.head_kernels_static" if kernels else "shapes.head_static", **numbers)
    return [html.P(said, className="ms-shapes-sentence"), *_unknown(times, known)]


def _unknown(times: ProfileShapeTables, known: int) -> list[Any]:
    rows, total = times.rows, fmt.count(len(times.rows))
    shapes = rows["input_shapes"].array
    lost = int(np.append(shapes.categories.to_numpy(object) == "", True)[shapes.codes].sum())
    stepless = int((rows["step"].to_numpy() < 0).sum())
    said = []
    if known and lost:
        said.append(t("shapes.head_partly", n=fmt.count(lost), total=total))
    if stepless == len(rows):
        said.append(t("shapes.head_no_steps"))
    elif stepless:
        said.append(t("shapes.head_some_steps", n=fmt.count(stepless), total=total))
    return [html.P(one, className="ms-muted") for one in said]


def types(times: ProfileShapeTables) -> list[Any]:
    """Return the table of types; a button in each row draws it or leaves it out."""
    place_of = {name: place for place, name in enumerate(times.drawn)}
    full = len(times.drawn) >= MOST_TYPES
    rows = []
    listed = times.types.head(MOST_ROWS)
    short = kernel_labels(listed["type"].astype(str))
    for row in listed.to_dict("records"):
        name, place = str(row["type"]), place_of.get(str(row["type"]))
        look = {} if place is None else {"style": {"background": colour_of(place)}}
        label = html.Button(
            [html.Span(className="ms-shapes-box", **look), html.Span(short[name], className="ms-name", title=name)],
            type="button", className="ms-shapes-press", disabled=full and place is None, **{"data-type": name},
            **attributes({"type": name}, title="shapes.draw"), **{"aria-pressed": "true" if place is not None else "false"},
        )  # fmt: skip
        rows.append([label, *(_cell(row, column) for column in _TYPES[1:])])
    more = [html.P(t("shapes.most", n=MOST_TYPES), className="ms-muted")] if full else []
    return [_table(_TYPES, rows), *first_of("shapes.shown", len(rows), len(times.types)), *more]


def operators(times: ProfileShapeTables) -> list[Any]:
    """Return the table of operators, of which one is chosen."""
    listed = times.listed
    if not len(listed) and times.ask.query:
        return [html.P(t("shapes.not_found"), className="ms-muted")]
    rows = []
    short = kernel_labels(listed["name"].head(MOST_ROWS).astype(str))
    for row in listed.head(MOST_ROWS).to_dict("records"):
        name = str(row["name"])
        label = html.Button(
            html.Span(short[name], className="ms-name"), type="button", title=name, className="ms-shapes-press ms-mono",
            **{"data-op": name},
            **{"aria-pressed": "true" if name == times.operator else "false"},
        )  # fmt: skip
        rows.append([label, *(_cell(row, column) for column in _OPERATORS[1:])])
    return [_table(_OPERATORS, rows), *first_of("shapes.shown", len(rows), len(listed))]


def shapes(times: ProfileShapeTables) -> list[Any]:
    """Return the table of the shapes of the chosen operator; a press highlights one."""
    rows = []
    for place, row in enumerate(times.shapes.head(MOST_ROWS).to_dict("records")):
        shape = str(row["input_shapes"])
        colour, symbol = look_of(times, place)
        name = middle(shape, 90) if shape else t("shapes.unknown")
        box = html.Span(SYMBOLS[symbol], className="ms-shapes-mark", style={"color": colour}, **{"aria-hidden": "true"})
        label = html.Button(
            [box, html.Span(name)], type="button", className="ms-shapes-press ms-mono", **{"data-shape": shape or "-"},
            **attributes({"shape": middle(shape or "-", 300)}, title="shapes.highlight"),
            **{"aria-pressed": "true" if times.ask.shape == shape else "false"},
        )  # fmt: skip
        rows.append([label, *(_cell(row, column) for column in _SHAPES[1:])])
    columns = ("launch", *_SHAPES[1:]) if times.unit == "kernel" else _SHAPES
    return [_table(columns, rows), *first_of("shapes.shown", len(rows), len(times.shapes))]


def _cell(row: Mapping[Any, Any], column: str) -> Any:
    value = row[column]
    if column in _NAMED:
        return Cell(html.Span(str(value), className="ms-name"), class_name="ms-cut", props={"title": str(value)})
    return float(value) if column.endswith("_ns") else int(value)


def _table(columns: Sequence[str], rows: Sequence[Any]) -> Any:
    kinds = [
        TableColumn(
            f"shapes.col.{name}", None if name in (*_NAMED, "launch") else _TIME if name.endswith("_ns") else COUNT,
            tip=f"shapes.tip.{name}" if name in ("changing", "launch") else "",
        )
        for name in columns
    ]  # fmt: skip
    return table(kinds, rows, class_name="ms-shapes-table", scroll="ms-shapes-scroll")
