"""Tables: columns declared once, rows of values or components; drawn as components, and written as CSV.

A page declares a `TableColumn` for each heading and calls `table` with rows. A cell is a value, which its column writes in the
form of its `Quantity` with the exact value as the tip; a text or a component, shown as it is; a `Cell`, which has a
value, a link or attributes of its own; or None for a missing value. A row is a sequence of cells, or a `TableRow`, which has
attributes. Numbers are aligned right. Texts are never read as markup.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

from dash import html
from parsers.export.cells import csv_names, number_text

from layouts.kit import units
from layouts.kit.elements import scrolled
from layouts.kit.i18n import attributes, t
from layouts.kit.plain_html import Plain

Children = Any
SCROLL = "ms-simple-table-scroll"
SORT = "ms-sort"
"""Class of buttons in headings that assets/kit/sorting.js knows."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """How the numbers of a column are written: in short, and exactly with the unit of the values."""

    write: Callable[[Any], str]
    exact: Callable[[Any], str] = units.exact


COUNT = Quantity(units.count)
NUMBER = Quantity(units.number)
SHARE = Quantity(units.percent, units.exact_percent)
BYTES = Quantity(units.size, lambda size: f"{units.exact(size)} B")
TRAFFIC = Quantity(lambda size: units.prefixed(size, "B"), lambda size: f"{units.exact(size)} B")
"""Bytes in powers of 1,000."""
TIME_NS = Quantity(lambda ns: units.duration(ns / 1e9), lambda ns: f"{units.exact(ns)} ns")
SIGNED_NS = Quantity(lambda ns: units.duration(ns / 1e9, signed=True), lambda ns: f"{units.exact(ns)} ns")
SECONDS = Quantity(units.duration, lambda seconds: f"{units.exact(seconds)} s")


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table."""

    title: Children
    """The text key of the heading; what is no text, such as a list of one text, is shown as it is."""
    quantity: Quantity | None = None
    """How numbers are written; a column without one holds texts."""
    number: bool = False
    """Whether cells are aligned right although they are texts or components."""
    name: str = ""
    """Its name in CSV, with the unit of its values."""
    tip: str = ""
    """The text key of the heading's tip."""
    class_name: str = ""
    """Class of its cells."""
    missing: Children = units.UNKNOWN
    """What a missing value, None or NaN, is shown as."""
    sort: str = ""
    """What the page sorts by when the heading is pressed; such a heading is a button."""
    group: str = ""
    """The text key of a heading above this column and its neighbours of the same group."""
    beside: Children = None
    """What stands beside the button of a heading, such as another one."""

    @property
    def right(self) -> bool:
        """Whether cells are aligned right."""
        return self.number or self.quantity is not None


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell with more than its content: the value it stands for, a link, a class, attributes of the element."""

    shown: Children = None
    """Its content; None: the value as the column writes it."""
    value: Any = None
    """Its value in CSV, and on hover if nothing else is shown."""
    class_name: str = ""
    link: Mapping[str, Any] | None = None
    """Attributes of a link around the content; its address is one of this program."""
    props: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row with a class or attributes of its own; heads, if it is not None, is the number of cells that name it."""

    cells: Sequence[Any]
    class_name: str = ""
    props: Mapping[str, Any] = field(default_factory=dict)
    heads: int | None = None


@dataclass(frozen=True, slots=True)
class Sort:
    """The order of the rows, and what the buttons in headings are, which ask the page for another one.

    A button has in `attribute` what it sorts by, with a minus in front for falling; by the current column it is the other
    direction, by another one of numbers falling first. A press sets `key` of the page's state to that
    (assets/kit/sorting.js), unless the button has another class: then the script of the page does it. plain: the script and
    the style of the page know direction and mark.
    """

    by: str
    falling: bool = False
    class_name: str = SORT
    attribute: str = "data-by"
    plain: bool = False
    key: str = "by"


def table(
    columns: Sequence[TableColumn], rows: Iterable[Any], *, class_name: str = "ms-simple-table", scroll: str = SCROLL,
    label: str = "", caption: Children = None, sort: Sort | None = None, heads: int = 1,
) -> Any:  # fmt: skip
    """Return a table; the first `heads` cells of each row name it.

    scroll is the class of the box in which it scrolls, by keys too; "" for a table without a box. label is the text key of
    the table's accessible name, caption a heading that all see.
    """
    lines = [row if isinstance(row, Plain) else _row(row, columns, heads) for row in rows]
    headings = html.Tr([_heading(column, sort) for column in columns])
    parts = [html.Thead([*_groups(columns), headings]), html.Tbody(lines)]
    if caption is not None:
        parts.insert(0, html.Caption(caption))
    named = attributes(aria_label=label) if label else {}
    drawn = html.Table(parts, **_classes(class_name), **named)
    return scrolled(drawn, scroll) if scroll else drawn


def ordered(columns: Sequence[TableColumn], rows: Iterable[Any], sort: Sort) -> list[Any]:
    """Return the rows by the values of the column that they are sorted by; missing values come last, equal rows stay in order.

    Texts are compared without regard to case. By no column, or one that there is not, rows stay as they are.
    """
    place = next((at for at, column in enumerate(columns) if column.sort and column.sort == sort.by), None)
    found = list(rows)
    if place is None:
        return found
    keyed = [(_sort_value(row.cells[place] if isinstance(row, TableRow) else row[place]), row) for row in found]
    known = [pair for pair in keyed if not _is_missing(pair[0])]
    known.sort(key=lambda pair: pair[0], reverse=sort.falling)
    return [row for _, row in known] + [row for value, row in keyed if _is_missing(value)]


def _sort_value(cell: Any) -> Any:
    value = cell.value if isinstance(cell, Cell) and (cell.value is not None or cell.shown is None) else cell
    value = value.shown if isinstance(value, Cell) else value
    return value.casefold() if isinstance(value, str) else value


def drawn_row(row: Any, columns: Sequence[TableColumn], *, heads: int = 1) -> html.Tr:
    """Return one row of a table, for pages that keep rows: `table` takes it as a `Plain`."""
    return _row(row, columns, heads)


def named_values(rows: Iterable[Any], *, class_name: str = "") -> html.Table:
    """Return a table without headings: each row is a name and one or more values, which may be cells."""
    lines = [row if isinstance(row, TableRow) else TableRow(row) for row in rows]
    body = html.Tbody([_row(line, (TableColumn(""),) * len(line.cells), 1) for line in lines])
    return html.Table([body], **_classes(class_name))


def first_of(key: str, shown: int, total: int) -> list[html.P]:
    """Return the sentence that a table has the first rows only; key is its text with {n} and {total}. Empty if it has all."""
    if shown >= total:
        return []
    return [html.P(t(key, n=units.count(shown), total=units.count(total)), className="ms-muted")]


def csv(columns: Sequence[TableColumn], rows: Iterable[Any]) -> str:
    """Return the values of the same table as CSV, under the names of its columns; columns without a name are left out.

    Texts that a spreadsheet would run as a formula are escaped. ValueError for a component without a value.
    """
    named = [(place, column) for place, column in enumerate(columns) if column.name]
    lines = [csv_names(*(column.name for _, column in named))]
    for row in rows:
        cells = row.cells if isinstance(row, TableRow) else row
        lines.append(",".join(_csv_cell(cells[place], column) for place, column in named))
    return "\r\n".join([*lines, ""])


def _csv_cell(cell: Any, column: TableColumn) -> str:
    value = cell.value if isinstance(cell, Cell) and (cell.value is not None or cell.shown is None) else cell
    value = value.shown if isinstance(value, Cell) else value
    if _is_missing(value):
        return ""
    if isinstance(value, str):
        return csv_names(value)
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return number_text(float(value))
    raise ValueError(f"csv: expected a number or a text in column {column.name}; found {type(value).__name__}")


def _groups(columns: Sequence[TableColumn]) -> list[html.Tr]:
    """Return the row of the headings above groups of columns; none if no column is in a group."""
    if not any(column.group for column in columns):
        return []
    cells = []
    for group, some in groupby(columns, key=lambda column: column.group):
        named = {"colSpan": len(list(some)), "className": "ms-column-group"}
        cells.append(html.Th(t(group), scope="colgroup", **named) if group else html.Td(**named))
    return [html.Tr(cells)]


def _heading(column: TableColumn, sort: Sort | None) -> html.Th:
    title = t(column.title) if isinstance(column.title, str) and column.title else column.title
    tip = attributes(title=column.tip) if column.tip else {}
    style = _classes("ms-number" if column.right else "")
    if sort is None or not column.sort:
        return html.Th(title, scope="col", **style, **tip)
    current = sort.by == column.sort
    order = {"aria-sort": "descending" if sort.falling else "ascending"} if current else {}
    falling = not sort.falling if current else column.right
    mark = "" if sort.plain or not current else " ↓" if sort.falling else " ↑"
    wanted = f"-{column.sort}" if falling and not sort.plain else column.sort
    label = [title, mark] if mark else title
    told = {sort.attribute: wanted} | ({"data-key": sort.key} if sort.class_name == SORT else {})
    button = html.Button(label, type="button", className=sort.class_name, **told, **tip)
    return html.Th(button if column.beside is None else [button, column.beside], scope="col", **style, **order)


def _row(row: Any, columns: Sequence[TableColumn], heads: int) -> html.Tr:
    row = row if isinstance(row, TableRow) else TableRow(row)
    heads = heads if row.heads is None else row.heads
    cells = [_cell(cell, columns[place], heading=place < heads) for place, cell in enumerate(row.cells)]
    return html.Tr(cells, **_classes(row.class_name), **row.props)


def _cell(cell: Any, column: TableColumn, *, heading: bool) -> Any:
    cell = cell if isinstance(cell, Cell) else Cell(value=cell) if _is_value(cell, column) else Cell(cell)
    shown, props = cell.shown, dict(cell.props)
    if shown is None and _is_missing(cell.value):
        shown = column.missing
    elif shown is None:
        shown = column.quantity.write(cell.value) if _is_value(cell.value, column) and column.quantity else str(cell.value)
        if column.quantity is not None and "title" not in props:
            exact = column.quantity.exact(cell.value)
            if exact != shown.replace(",", ""):
                props["title"] = exact
    if cell.link is not None:
        shown = html.A(shown, **_within(cell.link))
    props |= _classes("ms-number" if column.right else "", column.class_name, cell.class_name)
    return html.Th(shown, scope="row", **props) if heading else html.Td(shown, **props)


def _is_value(cell: Any, column: TableColumn) -> bool:
    return cell is None or (column.quantity is not None and isinstance(cell, numbers.Real) and not isinstance(cell, bool))


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, numbers.Real) and math.isnan(value))


def _within(link: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the attributes of a link; ValueError if it leads out of this program, as an address from a file might."""
    address = urlsplit(str(link.get("href", "")))
    if address.scheme or address.netloc:
        raise ValueError(f"table: expected a link within the program; found {link['href']!r:.200}")
    return link


def _classes(*names: str) -> dict[str, str]:
    joined = " ".join(name for name in names if name)
    return {"className": joined} if joined else {}
