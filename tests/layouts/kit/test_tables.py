"""Tables: columns and rows in, components or CSV out."""

from __future__ import annotations

import csv as csv_reader
import io
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dash import html
from dash.development.base_component import Component

from layouts.kit.i18n import both, t
from layouts.kit.plain_html import Plain, markup
from layouts.kit.tables import (
    BYTES,
    COUNT,
    NUMBER,
    SECONDS,
    SHARE,
    SIGNED_NS,
    TIME_NS,
    TRAFFIC,
    Cell,
    Sort,
    TableColumn,
    TableRow,
    csv,
    drawn_row,
    first_of,
    named_values,
    ordered,
    table,
)  # fmt: skip

ASSETS = Path(__file__).resolve().parents[3] / "assets"

COLUMNS = (TableColumn("common.name", name="name"), TableColumn("common.size", BYTES, name="size_bytes"))


def elements(drawn: Any, tag: str) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    """Yield attributes and children of the elements with a tag, as the browser gets them."""

    def visit(nodes: list[Any]) -> Iterator[tuple[dict[str, Any], list[Any]]]:
        for node in nodes:
            if isinstance(node, list):
                if node[0] == tag:
                    yield node[1], node[2]
                yield from visit(node[2])

    return visit(markup(drawn))


def texts(drawn: Any, tag: str) -> list[list[Any]]:
    return [children for _, children in elements(drawn, tag)]


def test_no_rows() -> None:
    drawn = table(COLUMNS, [])
    assert len(list(elements(drawn, "th"))) == 2
    assert texts(drawn, "tbody") == [[]]
    assert csv(COLUMNS, []) == "name,size_bytes\r\n"


def test_headings_in_both_languages() -> None:
    heading, *_ = texts(table(COLUMNS, []), "th")
    assert heading == markup(t("common.name"))
    assert [span[2][0] for span in heading[0][2]] == list(both("common.name"))


def test_a_text_in_a_list_is_no_key() -> None:
    assert texts(table((TableColumn(["common.name"]),), []), "th") == [["common.name"]]


def test_headings_of_columns_and_rows() -> None:
    drawn = table(COLUMNS, [("a", 1), TableRow(("b", 2), heads=0)])
    assert [found.get("scope") for found, _ in elements(drawn, "th")] == ["col", "col", "row"]
    assert texts(drawn, "td") == [["1 B"], ["b"], ["2 B"]]
    assert len(list(elements(table(COLUMNS, [("a", 1)], heads=2), "td"))) == 0


def test_groups_of_columns_have_headings_above_them() -> None:
    columns = [
        TableColumn("common.name"), TableColumn("common.size", BYTES, group="common.files"),
        TableColumn("common.kind", group="common.files"), TableColumn("common.run", group="common.runs"),
        TableColumn("common.time"),
    ]  # fmt: skip
    head = table(columns, [], scroll="").children[0]
    cells, names = (row.children for row in head.children)
    assert [(type(cell), cell.colSpan) for cell in cells] == [(html.Td, 1), (html.Th, 2), (html.Th, 1), (html.Td, 1)]
    assert [getattr(cell, "scope", None) for cell in cells] == [None, "colgroup", "colgroup", None]
    assert len(names) == len(columns)


def test_numbers_are_aligned_right_with_their_heading() -> None:
    drawn = table((*COLUMNS, TableColumn("common.kind", number=True)), [("a", 1, "x")])
    right = [found.get("class") for tag in ("th", "td") for found, _ in elements(drawn, tag)]
    assert right == [None, "ms-number", "ms-number", None, "ms-number", "ms-number"]


@pytest.mark.parametrize(
    ("quantity", "value", "shown", "exact"),
    [
        (BYTES, 123_456_789, "118 MiB", "123456789 B"),
        (TRAFFIC, 123_456_789, "123 MB", "123456789 B"),
        (TIME_NS, 1_234_567, "1.23 ms", "1234567 ns"),
        (TIME_NS, np.float64(1_234_567.5), "1.23 ms", "1234567.5 ns"),
        (SIGNED_NS, 1_234_567, "+1.23 ms", "1234567 ns"),
        (SECONDS, 1.2345, "1.23 s", "1.2345 s"),
        (SHARE, 0.054321, "5.43 %", "5.4321 %"),
        (SHARE, 0.0543, "5.43 %", None),
        (NUMBER, 1.2345678, "1.235", "1.2345678"),
        (COUNT, 1_234_567, "1,234,567", None),
        (COUNT, np.int64(0), "0", None),
        (NUMBER, float("inf"), "+Inf", None),
    ],
)
def test_exact_value_on_hover(quantity: Any, value: float, shown: str, exact: str | None) -> None:
    ((found, children),) = elements(table((TableColumn("common.size", quantity),), [(value,)], heads=0), "td")
    assert (children, found.get("title")) == ([shown], exact)


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, Cell(value=None), Cell(value=float("nan"))])
def test_missing_values(missing: Any) -> None:
    assert texts(table(COLUMNS, [("a", missing)]), "td") == [["–"]]
    ((found, children),) = elements(table((TableColumn("common.size", BYTES, missing="?"),), [(missing,)], heads=0), "td")
    assert (children, found) == (["?"], {"class": "ms-number"})
    assert csv(COLUMNS, [("a", missing)]).splitlines()[1] == "a,"


def test_cells_with_attributes() -> None:
    cell = Cell("about 1", value=1, class_name="ms-muted", props={"title": "1 B, measured", "data-value": "1"})
    ((found, children),) = elements(table(COLUMNS, [("a", cell)]), "td")
    assert children == ["about 1"]
    assert found == {"class": "ms-number ms-muted", "title": "1 B, measured", "data-value": "1"}


def test_rows_with_attributes() -> None:
    drawn = table(COLUMNS, [TableRow(("a", 1), "ms-chosen", {"data-key": "a"})])
    assert [found for found, _ in elements(drawn, "tr")] == [{}, {"class": "ms-chosen", "data-key": "a"}]


def test_kept_rows() -> None:
    row = Plain(markup(drawn_row(("a", 1), COLUMNS))[0])
    assert markup(table(COLUMNS, [row])) == markup(table(COLUMNS, [("a", 1)]))


def test_links_stay_within_the_program() -> None:
    link = {"href": "operators?run=a&of=a%2Fb", "data-page": "operators"}
    assert list(elements(table(COLUMNS, [(Cell("a", link=link), 1)]), "a")) == [(link, ["a"])]


@pytest.mark.parametrize("address", ["https://example.org/", "//example.org/a", "javascript:alert(1)", "data:text/html,x"])
def test_addresses_elsewhere_are_refused(address: str) -> None:
    with pytest.raises(ValueError, match="expected a link within the program"):
        table(COLUMNS, [(Cell("a", link={"href": address}), 1)])


HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "=cmd|'/c calc'!A0", "a\r\nb", "{n}", "common.name")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(text: str) -> None:
    drawn = table((TableColumn([text], name="x"),), [(text,), (Cell(text),)], heads=0)
    assert texts(drawn, "th") == [[text]]
    assert texts(drawn, "td") == [[text], [text]]
    assert not {type(one).__name__ for one in components(drawn)} - {"Div", "Table", "Thead", "Tbody", "Tr", "Th", "Td"}


def components(drawn: Any) -> Iterator[Component]:
    if isinstance(drawn, (list, tuple)):
        for one in drawn:
            yield from components(one)
    elif isinstance(drawn, Component):
        yield drawn
        yield from components(getattr(drawn, "children", None))


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@a", "\ta", "'a"])
def test_csv_runs_no_formulas(text: str) -> None:
    (_, (cell, _)) = csv_reader.reader(io.StringIO(csv(COLUMNS, [(text, 1)]), newline=""))
    assert cell == f"'{text}"


SORTED = (
    TableColumn("common.name", sort="name"), TableColumn("common.size", BYTES, sort="size", tip="common.kind"),
    TableColumn("common.kind"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("sort", "orders", "wanted", "marks"),
    [
        (Sort("name"), ["ascending", None, None], ["-name", "-size"], [" ↑", ""]),
        (Sort("name", falling=True), ["descending", None, None], ["name", "-size"], [" ↓", ""]),
        (Sort("size", falling=True), [None, "descending", None], ["name", "size"], ["", " ↓"]),
        (Sort("size", falling=True, plain=True), [None, "descending", None], ["name", "size"], ["", ""]),
        (Sort("", falling=True), [None, None, None], ["name", "-size"], ["", ""]),
    ],
)
def test_sorting(sort: Sort, orders: list[str | None], wanted: list[str], marks: list[str]) -> None:
    drawn = table(SORTED, [], sort=sort)
    assert [found.get("aria-sort") for found, _ in elements(drawn, "th")] == orders
    buttons = list(elements(drawn, "button"))
    assert [found["data-by"] for found, _ in buttons] == wanted
    assert {found["type"] for found, _ in buttons} == {"button"}, "a real button, which a keyboard reaches"
    assert ["".join(one for one in children if isinstance(one, str)) for _, children in buttons] == marks
    assert [found.get("title") for found, _ in buttons] == [None, both("common.kind")[0]]


def test_a_press_on_a_heading_sets_a_key_of_the_state_unless_the_page_does_it() -> None:
    own = [found.get("data-key") for found, _ in elements(table(SORTED, [], sort=Sort("name", key="order")), "button")]
    other = [found.get("data-key") for found, _ in elements(table(SORTED, [], sort=Sort("name", class_name="x")), "button")]
    assert (own, other) == (["order"] * 2, [None] * 2)


@pytest.mark.parametrize("falling", [False, True])
def test_rows_are_ordered_by_the_values_of_a_column(falling: bool) -> None:
    rows = [("b", 3), TableRow(("A", None)), ("c", Cell("many", value=10)), ("a", math.nan), ("B", 3)]
    by_size = [row.cells[0] if isinstance(row, TableRow) else row[0] for row in ordered(SORTED, rows, Sort("size", falling))]
    assert by_size == (["c", "b", "B", "A", "a"] if falling else ["b", "B", "c", "A", "a"]), "missing values come last"
    by_name = [row.cells[0] if isinstance(row, TableRow) else row[0] for row in ordered(SORTED, rows, Sort("name", falling))]
    assert by_name == (["c", "b", "B", "A", "a"] if falling else ["A", "a", "b", "B", "c"])
    assert ordered(SORTED, rows, Sort("")) == rows == ordered(SORTED, rows, Sort("kind"))


def test_a_table_that_cannot_be_sorted_has_no_buttons() -> None:
    drawn = table(SORTED, [])
    assert not list(elements(drawn, "button"))
    assert [found.get("title") for found, _ in elements(drawn, "th")] == [None, both("common.kind")[0], None]


def test_scrolling_by_keys() -> None:
    ((found, _),) = elements(table(COLUMNS, [], scroll="ms-rows"), "div")
    assert found["tabindex"] == "0"
    assert found["class"] == "ms-rows"
    assert found["role"] == "group"
    assert found["aria-label"] == both("elements.scrolled")[0]
    assert not list(elements(table(COLUMNS, [], scroll=""), "div"))


def test_name_and_caption() -> None:
    drawn = table(COLUMNS, [], label="common.kind", caption=t("common.size"))
    ((found, children),) = elements(drawn, "table")
    english, chinese = both("common.kind")
    assert [found[f"{start}aria-label"] for start in ("", "data-en-", "data-zh-")] == [english, english, chinese]
    assert children[0] == ["caption", {}, markup(t("common.size"))]


def test_csv_equals_the_table() -> None:
    rows = [
        ("a", 123_456_789),
        TableRow((Cell(html.B("b"), value="b"), Cell("much", value=2**60)), "ms-chosen"),
        ('c, "d"', None),
        ("e", 0.1),
    ]
    assert csv(COLUMNS, rows) == f'name,size_bytes\r\na,123456789\r\nb,{2**60}\r\n"c, ""d""",\r\ne,0.1\r\n'
    read = list(csv_reader.reader(io.StringIO(csv(COLUMNS, rows), newline="")))
    assert len(read) == 1 + len(texts(table(COLUMNS, rows), "tr")) - 1
    named, drawn = [line[0] for line in read[1:]], texts(table(COLUMNS, rows), "th")[2:]
    assert drawn == [["a"], [["b", {}, ["b"]]], ['c, "d"'], ["e"]]
    assert named == ["a", "b", 'c, "d"', "e"]


def test_csv_leaves_out_columns_without_a_name() -> None:
    assert csv((*COLUMNS, TableColumn("common.kind")), [("a", 1, html.Span("bar"))]) == "name,size_bytes\r\na,1\r\n"


def test_csv_of_a_component_without_a_value_is_an_error() -> None:
    with pytest.raises(ValueError, match="in column name; found Span"):
        csv(COLUMNS, [(html.Span("a"), 1)])


def test_named_values() -> None:
    second = TableRow(("b", Cell("c", class_name="ms-mono")), "ms-x")
    drawn = named_values([(t("common.name"), "a"), second], class_name="ms-facts")
    assert [found for found, _ in elements(drawn, "th")] == [{"scope": "row"}] * 2
    assert list(elements(drawn, "td")) == [({}, ["a"]), ({"class": "ms-mono"}, ["c"])]
    assert not list(elements(drawn, "thead"))


def test_first_of() -> None:
    assert first_of("tuning.rows", 5, 5) == []
    (said,) = first_of("job.first_of", 200, 12_345)
    assert "200" in str(said)
    assert "12,345" in str(said)


def test_only_the_kit_marks_the_order_of_columns() -> None:
    marks = re.compile(r"aria-?sort", re.IGNORECASE)
    scripts = [path for path in ASSETS.rglob("*.js") if marks.search(path.read_text("utf-8"))]
    found = {path.relative_to(ASSETS).as_posix() for path in scripts}
    assert found == {"kit/sort_heads.js"}
    styles = {path.relative_to(ASSETS).parts[0] for path in ASSETS.rglob("*.css") if "aria-sort" in path.read_text("utf-8")}
    assert styles <= {"kit", "curves"}  # the matrix of runs by tags marks the column of the server's order
