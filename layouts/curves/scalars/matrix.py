"""The matrix of last values: a run per row, a tag per column, part of the rows at a time (assets/curves/scalars/matrix.js).

A page of rows is sorted and made here, so that a browser holds at most `MOST_ROWS` times `MOST_COLUMNS` cells.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from dash import html
from parsers.analysis.curves.final_values import LastValue

from layouts.curves.last_values import attributes_of, last_of
from layouts.kit import units as fmt
from layouts.kit.elements import icon_button
from layouts.kit.plain_html import markup
from layouts.kit.state import BadInput, text, whole
from layouts.kit.tables import Cell, Sort, TableColumn, TableRow, ordered, table
from layouts.kit.theme import PALETTE
from layouts.sources import RunSources

MOST_ROWS = 40
MOST_COLUMNS = 60
RUN = "run"
_TAG = "tag:"
_SORT = "ms-matrix-sort"


@dataclass(frozen=True, slots=True)
class MatrixOrder:
    """What the rows are sorted by, "run" or "tag:" and a tag ("": as the list of runs), in which direction, and the first one
    to show.
    """

    by: str
    falling: bool
    first: int

    @classmethod
    def read(cls, data: Any) -> MatrixOrder:
        """Return the order in a request, or raise BadInput."""
        wanted = text(data, "by", limit=100_000)
        by = wanted.removeprefix("-")
        if by not in ("", RUN) and not by.startswith(_TAG):
            raise BadInput(f"by: expected {RUN} or {_TAG}TAG, with - in front for falling; found {wanted[:80]!r}")
        return cls(by, wanted.startswith("-"), whole(data, "from", 0, 1e9) or 0)


class LastMatrix(TypedDict):
    """A page of the matrix."""

    content: Annotated[Any, "Markup"]
    """The table, see layouts/kit/plain_html.py."""
    first: int
    """Number of rows before those shown."""
    shown: int
    runs: int
    columns: int
    """Number of tags shown."""
    tags: int
    page: int
    """Number of rows on a page."""


def matrix(source: RunSources, runs: Sequence[str], names: Mapping[str, str], chosen: Mapping[str, Any], tags: Sequence[str],
           order: MatrixOrder) -> LastMatrix:  # fmt: skip
    """Return a page of the matrix of these runs and tags. names are those of runs, chosen is the state that names them."""
    shown = tags[:MOST_COLUMNS]
    every = _sorted(source, runs, names, order)
    first = min(order.first, max(0, len(every) - 1)) // MOST_ROWS * MOST_ROWS
    page = every[first : first + MOST_ROWS]
    colours = source.runs.colours(chosen.get("run", ()))
    heads = [_name(names.get(run, run), colours.get(run, PALETTE[0][0])) for run in page]
    cells = [[_cell(last_of(source, run, tag)) for tag in shown] for run in page]
    rows = [TableRow([head, *values]) for head, values in zip(heads, cells, strict=True)]
    drawn = table(_columns(shown), rows, class_name="ms-simple-table", scroll="", label="final.matrix",
                  sort=Sort(order.by, order.falling, class_name=_SORT))  # fmt: skip
    return {
        "content": markup(drawn), "first": first, "shown": len(page), "runs": len(every), "columns": len(shown),
        "tags": len(tags), "page": MOST_ROWS,
    }  # fmt: skip


def _sorted(source: RunSources, runs: Sequence[str], names: Mapping[str, str], order: MatrixOrder) -> list[str]:
    """Return the runs in an order; those without a finite value come last."""
    tag = order.by.removeprefix(_TAG) if order.by.startswith(_TAG) else ""
    lasts = {run: last_of(source, run, tag) for run in runs} if tag else {}
    rows = [TableRow([names.get(run, run), _finite(lasts.get(run)), run]) for run in runs]
    columns = [TableColumn("", sort=RUN), TableColumn("", sort=order.by if tag else "")]
    return [row.cells[2] for row in ordered(columns, rows, Sort(order.by, order.falling))]


def _finite(one: LastValue | None) -> float | None:
    return one.value if one is not None and math.isfinite(one.value) else None


def _columns(tags: Sequence[str]) -> list[TableColumn]:
    run = TableColumn("hover.run", sort=RUN)
    return [run, *(TableColumn(_heading(tag), number=True, sort=_TAG + tag, beside=_opener(tag)) for tag in tags)]


def _heading(tag: str) -> html.Span:
    return html.Span(tag, className="ms-cut ms-name", title=tag)


def _opener(tag: str) -> html.Button:
    return icon_button("scalars", "final.card", **{"data-card": tag})


def _name(name: str, colour: str) -> html.Span:
    dot = html.Span(className="ms-dot", style={"background": colour})
    return html.Span([dot, html.Span(name, className="ms-cut ms-name", title=name)], className="ms-final-run")


def _cell(one: LastValue | None) -> Cell:
    if one is None:
        return Cell("")
    wrong = "" if math.isfinite(one.value) else "ms-bad-number"
    return Cell(fmt.number(one.value), class_name=wrong, props=attributes_of(one))
