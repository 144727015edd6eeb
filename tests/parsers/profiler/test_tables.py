"""Text tables: what is intact is read as the csv module reads it, and what is not is told with its line and column."""

from __future__ import annotations

import codecs
import csv
import io
import random
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.profiler import lines
from parsers.profiler.digits import exact_ns
from parsers.profiler.tables import MOST_COLUMNS, NONE, FileTable, TableField, read_table
from tests.positions import every_byte, positions

FIELDS = (
    TableField("name", ("Name",), "text", required=True),
    TableField("start", ("Start Time",), "time", "us", required=True),
    TableField("duration", ("Duration",), "exact", "us", required=True),
    TableField("ratio", ("Ratio",)),
    TableField("stream", ("Stream ID",), "whole"),
)
HEADER = "Name,Start Time(us),Duration(us),Ratio,Stream ID\n"
ROW = "MatMul,1736412474730135.222\t,55.161,0.25,2\n"


def read(path: Path, text: str | bytes, further: str = "") -> FileTable:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_table(str(path), FIELDS, further=further)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


def texts(table: FileTable) -> list[str]:
    return [problem.text for problem in table.problems]


def test_no_file_and_an_empty_one(path: Path) -> None:
    assert [problem.kind for problem in read_table(str(path), FIELDS).problems] == ["unreadable"]
    empty = read(path, "")
    assert ([problem.kind for problem in empty.problems], empty.rows) == (["empty_file"], 0)


def test_only_a_header_is_told(path: Path) -> None:
    wanted = ["Line 1: expected rows below the names of columns, found none."]
    table = read(path, HEADER)
    assert (table.rows, texts(table)) == (0, wanted)
    assert texts(read(path, HEADER.rstrip("\n"))) == wanted


def test_times_keep_their_nanoseconds(path: Path) -> None:
    times = ["1736412474730135.222\t", "1736412474730135.223", "1736412474730135", "0.001", "1.7364124747301352e15"]
    times += ["-5.5", "12."]
    table = read(path, HEADER + "".join(f"a,{time},1,0,0\n" for time in times))
    assert table.columns["start"].tolist() == [int(Decimal(time.strip()) * 1000) for time in times]
    assert not table.problems


@given(st.lists(st.decimals(0, 9 * 10**15, places=3), min_size=1, max_size=40))
def test_any_time_is_what_decimal_says(tmp_path_factory: pytest.TempPathFactory, times: list[Decimal]) -> None:
    table = read(tmp_path_factory.mktemp("t") / "t.csv", HEADER + "".join(f"a,{time:f},1,0,0\n" for time in times))
    assert table.columns["start"].tolist() == [int(time * 1000) for time in times]


@given(
    st.lists(st.tuples(st.integers(0, 19), st.integers(0, 5)), min_size=1, max_size=7), st.integers(1, 60), st.randoms(),
    st.sampled_from(["ns", "us", "ms", "s"]),
)  # fmt: skip
def test_times_of_several_layouts_are_what_decimal_says(
    tmp_path_factory: pytest.TempPathFactory, layouts: list[tuple[int, int]], rows: int, draw: random.Random, unit: str
) -> None:
    """Times are read by their layout, and those of a rare one place after the other."""
    cells = []
    for row in range(rows):
        whole, fraction = layouts[row % len(layouts)]
        cell = "".join(draw.choice("0123456789") for _ in range(whole))
        cell += "." * (fraction > 0) + "".join(draw.choice("0123456789") for _ in range(fraction))
        cells.append(cell + draw.choice(["", "", "\t", "  ", "x", " 1", "e1"]))
    path = tmp_path_factory.mktemp("times") / "table.csv"
    path.write_text(f"Start Time({unit}),Name\n" + "".join(f"{cell},a\n" for cell in cells))
    found = read_table(str(path), (TableField("start", ("Start Time",), "time", unit),)).columns["start"].tolist()
    decimals = {"ns": 0, "us": 3, "ms": 6, "s": 9}[unit]
    wanted = [exact_ns(cell.strip(), decimals) for cell in cells]
    assert found == [NONE if number is None else number for number in wanted]


def test_times_that_a_spreadsheet_rounded_are_told_once(path: Path) -> None:
    table = read(path, HEADER + "a,1.69512E+15\t,1,0,0\nb,1.69513E+15,1,0,0\nc,12.5e1,1,0,0\n")
    assert table.columns["start"].tolist() == [1695120000000000000, 1695130000000000000, 125000]
    wanted = "expected all digits of a time, found '1.69512E+15', rounded to 10000 s; such times cannot be compared"
    assert texts(table) == [f"Line 2, column Start Time(us): {wanted}."]


def test_cells_that_are_no_times_are_told_in_the_order_of_lines(path: Path) -> None:
    table = read(path, HEADER + "a,x,1,0,0\nb,N/A,1,0,0\nc,b,1,0,0\nd,x,1,0,0\ne,5,1,0,0\n")
    assert table.columns["name"].tolist() == ["e"]
    assert [text.partition(":")[0] for text in texts(table) if "column" in text] == [
        f"Line {line}, column Start Time(us)" for line in (2, 4, 5)
    ]


def test_a_cell_with_the_text_of_the_record_that_is_added(path: Path) -> None:
    assert list(read(path, HEADER + ROW.replace("MatMul", "\x01")).columns["name"]) == ["\x01"]
    table = read(path, HEADER + ROW + ROW.replace("MatMul", "\x01"))
    assert list(table.columns["name"]) == ["MatMul", "\x01"]


def test_the_lines_of_rows(path: Path) -> None:
    path.write_text(HEADER + ROW + "\n" + "a,x,1,0,0\n" + ROW + "a,5\n" + '"b\nc",5,1,0,0\n' + ROW)
    table = read_table(str(path), FIELDS, numbered=True)
    assert table.lines.tolist() == [2, 5, 7, 9]
    assert len(read_table(str(path), FIELDS).lines) == 0


def test_columns_in_another_order_padded_and_unknown(path: Path) -> None:
    content = "\ufeffRatio\t,New (Gb/s), stream_id ,DURATION(ms),Name ,start time(ns),Note\r\n"
    content += "0.5,1.5,7,2.5,a,19,x\r\n0.25,,N/A,1,b,20,y\r\n"
    table = read(path, content, further="more/")
    assert table.columns["duration"].tolist() == [2_500_000, 1_000_000]
    assert table.columns["start"].tolist() == [19, 20]
    assert table.columns["stream"].tolist() == [7, NONE]
    assert list(table.columns["name"]) == ["a", "b"]
    np.testing.assert_array_equal(table.columns["more/New (Gb/s)"], [1.5, np.nan])
    assert list(table.columns["more/Note"]) == ["x", "y"]
    assert not table.problems


def test_a_missing_column_is_named(path: Path) -> None:
    table = read(path, "Name,Start Time(us)\na,1\n")
    assert (table.rows, texts(table)) == (
        0, ["Line 1: expected a column Duration, found Name, Start Time(us); nothing is taken from the file."],
    )  # fmt: skip
    assert "ratio" not in read(path, "Name,Start Time,Duration\na,1,2\n").found


def test_cells_that_are_no_numbers_are_named_and_the_row_stays(path: Path) -> None:
    table = read(path, HEADER + ROW + "b,2,3,often,many\n" + ROW)
    assert texts(table) == [
        "Line 3, column Ratio: expected a number, found 'often'.", "Line 3, column Stream ID: expected a number, found 'many'.",
    ]  # fmt: skip
    assert table.columns["stream"].tolist() == [2, NONE, 2]
    assert np.isnan(table.columns["ratio"][1])


def test_rows_without_what_is_required_are_left_out(path: Path) -> None:
    table = read(path, HEADER + "a,soon,1,0,0\nb,2,,0,0\n" + ROW)
    assert list(table.columns["name"]) == ["MatMul"]
    assert texts(table) == [
        "Line 2, column Start Time(us): expected a time, found 'soon'.",
        "Line 2: expected numbers in Start Time(us), Duration(us); the line was skipped.",
        "Line 3: expected numbers in Start Time(us), Duration(us); the line was skipped.",
    ]


@pytest.mark.parametrize("cells", ["a,1,2,3", "a,1,2,3,4,5", "a", "a,1,2,3,4,5,6,7"])
def test_lines_of_another_number_of_cells(path: Path, cells: str) -> None:
    for content, line in ((ROW + cells + "\n" + ROW, 3), (cells + "\n" + ROW + ROW, 2), (ROW + ROW + cells, 4)):
        table = read(path, HEADER + content)
        assert (table.rows, table.columns["stream"].tolist()) == (2, [2, 2])
        assert texts(table) == [f"Line {line}: expected 5 cells, found {cells.count(',') + 1}; the line was skipped."]


def test_one_line_too_long_and_one_too_short(path: Path) -> None:
    table = read(path, HEADER + ROW + "a,1,2,3\n" + "b,1,2,3,4,5\n" + ROW)
    assert (table.rows, len(table.problems)) == (2, 2)


def test_a_repeated_header_is_passed_over(path: Path) -> None:
    table = read(path, HEADER + ROW + HEADER + ROW)
    assert (table.rows, texts(table)) == (2, ["Line 3: the header is repeated; the line was skipped."])


def test_blank_lines_and_lines_in_quotes(path: Path) -> None:
    table = read(path, "\n" + HEADER + "\n" + '"a\nb, ""c""",1,2,3,4\n\r\n' + "d,1,x,3,4\n")
    assert list(table.columns["name"]) == ['a\nb, "c"']
    assert texts(table)[0] == "Line 7, column Duration(us): expected a number, found 'x'."


def test_a_quote_that_is_not_closed_costs_its_line(path: Path) -> None:
    table = read(path, HEADER + ROW + '"b,1,2,3,4\n' + ROW * 3)
    assert (table.rows, texts(table)) == (
        4, ["Line 3: expected 5 cells, found a cell that does not end; the line was skipped."],
    )


CALLS = (
    TableField("name", ("Name",), "text", required=True),
    TableField("self", ("Self(us)",), "number", "us"),
    TableField("stack", ("Call Stack",), "text"),
)
CALL = 'a,1.5,"x.py(1)\ny.py(2)"\n'


@pytest.mark.parametrize("block", [lines.BLOCK, 24])
@pytest.mark.parametrize(
    "stack", ['x.py(1)\nf "g" h\ny.py(2)', 'x.py(1)\nf "g h\ny.py(2)', 'f" g\ny.py(2)', 'x.py\nf "g",h\ny', 'x.py\nf"g, h']
)
def test_an_unescaped_quote_in_the_last_cell_of_several_lines(
    path: Path, stack: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "BLOCK", block)
    for before, after in ((0, 0), (2, 0), (0, 2), (3, 3)):
        path.write_text("Name,Self(us),Call Stack\n" + CALL * before + f'bad,7.25,"{stack}"\n' + CALL * after)
        table = read_table(str(path), CALLS)
        assert list(table.columns["name"]) == ["a"] * before + ["bad"] + ["a"] * after
        assert table.columns["self"].tolist() == [1500.0] * before + [7250.0] + [1500.0] * after
        assert list(table.columns["stack"]) == ["x.py(1)\ny.py(2)"] * before + [stack] + ["x.py(1)\ny.py(2)"] * after
        (text,) = texts(table)
        assert text.startswith(f"Line {2 + 2 * before}, column Call Stack: expected doubled quotes within the cell, found ")


@given(st.integers(0, 11), st.integers(0, 30), st.integers(16, 400), st.booleans())
def test_a_stray_quote_costs_at_most_its_own_record(
    tmp_path_factory: pytest.TempPathFactory, bad: int, at: int, block: int, twice: bool
) -> None:
    records = [f'n{number},{number}.5,"file{number}.py(1)\n  f(x)\nmain.py(2)"\n' for number in range(12)]
    place = len(f"n{bad},{bad}.5,\"") + at % 10
    records[bad] = records[bad][:place] + ('"q"' if twice else 'q"r') + records[bad][place:]
    path = tmp_path_factory.mktemp("t") / "t.csv"
    path.write_text("Name,Self(us),Call Stack\n" + "".join(records))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK", block)
        table = read_table(str(path), CALLS)
    assert [name for name in table.columns["name"] if name != f"n{bad}"] == [f"n{one}" for one in range(12) if one != bad]
    assert len(table.problems) == 1
    assert f"Line {2 + 3 * bad}" in table.problems[0].text


def test_an_open_quote_in_each_line_gives_no_rows(path: Path) -> None:
    """Every line could begin a record that takes the rest of the file: at most 1,000 lines are tried, and only so often."""
    path.write_text("Name,Self(us),Call Stack\n" + 'x"\n"a\n' * 20_000)
    assert read_table(str(path), CALLS).rows == 0


def test_a_header_that_is_no_line_of_cells(path: Path) -> None:
    table = read(path, 'Name,"Start\r Time(us)\n' + ROW)
    assert (table.rows, len(table.problems)) == (0, 2)
    assert texts(table)[0].startswith("Line 1: expected names of columns, found ")
    path.write_text("x,y\n1,2\n")
    table = read_table(str(path), (TableField("ratio", ("Ratio",)),))
    assert texts(table) == ["Line 1: expected a column Ratio, found x, y; nothing is taken from the file."]


def test_numbers_beyond_any_decimal(path: Path) -> None:
    table = read(path, HEADER + f"a,1e999999,1,0,0\n{ROW}a,{'9' * 39},1,0,0\nb,1,1,1e308,1e300\n")
    assert list(table.columns["name"]) == ["MatMul", "b"]
    assert len(table.problems) == 5


def test_other_encodings_are_told(path: Path) -> None:
    table = read(path, (HEADER + ROW + "卷积,1,2,3,4\n").encode("gb18030"))
    assert (table.rows, texts(table)) == (2, ["From line 3 on: expected UTF-8, found other bytes; these are shown as \ufffd."])
    table = read(path, codecs.BOM_UTF16_LE + (HEADER + ROW + "卷积,1,2,3,4\n").encode("utf-16-le"))
    assert (list(table.columns["name"]), table.problems) == (["MatMul", "卷积"], ())


def test_a_cell_of_ten_megabytes(path: Path) -> None:
    table = read(path, HEADER + ROW + f'"{"x" * (10 << 20)}",1,2,3,4\n' + ROW)
    assert table.columns["stream"].tolist() == [2, 4, 2]
    assert len(table.columns["name"][1]) == lines.LONGEST_CELL
    assert texts(table) == [
        "Line 3, column Name: expected at most 1,048,576 characters, found 10,485,760; the first ones are shown.",
    ]  # fmt: skip


def test_a_header_of_ten_megabytes(path: Path) -> None:
    assert read(path, "x" * (10 << 20)).rows == 0


def test_only_so_much_is_told(path: Path) -> None:
    table = read(path, HEADER + "a,b\n" * 5000)
    assert len(table.problems) == lines.MOST_COMPLAINTS + 1
    assert texts(table)[-1] == f"{5000 - lines.MOST_COMPLAINTS:,} more problems of this file are not listed."


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=8)


@given(st.lists(st.tuples(cells, st.integers(0, 10**12), st.integers(0, 10**6)), max_size=30), st.integers(16, 200))
def test_blocks_of_any_size_read_what_the_csv_module_wrote(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, int, int]], block: int
) -> None:
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow(HEADER.strip().split(","))
    writer.writerows((name, start, duration, "0.5", "1") for name, start, duration in rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK", block)
        table = read(tmp_path_factory.mktemp("t") / "t.csv", made.getvalue())
    assert len(table.problems) == (not rows)  # a table without rows is told
    assert table.columns["start"].tolist() == [start * 1000 for _, start, _ in rows]
    assert table.columns["duration"].tolist() == [duration * 1000 for _, _, duration in rows]
    missing = ("", "N/A", "n/a", "NA", "nan", "NaN", "None", "null", "-")
    assert list(table.columns["name"]) == ["" if name.strip() in missing else name.strip() for name, _, _ in rows]


@every_byte
def test_no_flipped_byte_and_no_cut_raises(path: Path, every: bool) -> None:
    whole = (HEADER + ROW + '"a,b",1,2,3,4\n' + ROW).encode()
    for at in positions(len(whole), every):
        for flip in (0x01, 0x02, 0x10, 0x80, 0xFF):
            table = read(path, whole[:at] + bytes((whole[at] ^ flip,)) + whole[at + 1 :], "more/")
            assert table.rows <= 4
            if at > len(HEADER) and not table.problems:
                assert table.rows == 3, at
        table = read(path, whole[:at], "more/")
        assert table.rows <= 3


def test_wide_tables(path: Path) -> None:
    """Columns that are not read take little time, whatever is in them, and change nothing in those that are."""
    others = [f"c{number}" for number in range(3_000)]
    header = ",".join([*others, HEADER.strip(), "last"])
    row = ",".join([*("x" * 100,) * len(others), ROW.strip(), ""])
    narrow, wide = read(path, HEADER + ROW), read(path, f"{header}\n{row}\n")
    assert not wide.problems
    assert {name: list(values) for name, values in wide.columns.items()} == {
        name: list(values) for name, values in narrow.columns.items()
    }
    short = read(path, f"{header}\n{row[:-1]}\n{row}\n")
    assert (short.rows, texts(short)) == (1, ["Line 2: expected 3006 cells, found 3005; the line was skipped."])


def test_more_columns_than_any_table_has(path: Path) -> None:
    table = read(path, HEADER.strip() + ",x" * MOST_COLUMNS + "\n" + ROW.strip() + "," * MOST_COLUMNS + "\n")
    assert table.rows == 0
    assert texts(table) == ["Line 1: expected at most 10,000 columns, found 10,005; nothing is taken from the file."]


def test_further_columns_among_others(path: Path) -> None:
    path.write_text("Name,a1,b1,a2,a1\nx,1,2,3,4\n")
    table = read_table(str(path), FIELDS[:1], further="at/", among=lambda name: name.startswith("a"))
    assert {name: list(values) for name, values in table.columns.items()} == {"name": ["x"], "at/a1": [1.0], "at/a2": [3.0]}
    assert texts(table) == ["Line 1, column a1: expected once, found 2 times; the first one is used."]


@pytest.mark.parametrize(
    ("text", "ratio"), [("Ratio\n1", [1.0]), ("Ratio\n1\n2.5\n", [1.0, 2.5]), ("Ratio\nx\n3\n", [np.nan, 3.0])]
)
def test_a_table_of_one_column(path: Path, text: str, ratio: list[float]) -> None:
    path.write_text(text)
    table = read_table(str(path), FIELDS[3:4])
    np.testing.assert_array_equal(table.columns["ratio"], ratio)
    assert len(texts(table)) == text.count("x")


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), max_size=12)


@given(st.lists(CELLS, min_size=1, max_size=60), st.booleans())
def test_a_long_record_splits_as_the_csv_module_splits_it(wanted: list[str], quoted: bool) -> None:
    wanted = [*wanted, "x" * lines.LONG_RECORD]
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL, lineterminator="\n").writerow(wanted)
    assert lines.cells(text.getvalue().encode()) == wanted


@pytest.mark.parametrize("cell", ['"a', '"a"b', 'a"b"', '"a""'])
def test_a_long_record_with_a_quote_out_of_place_is_none(cell: str) -> None:
    assert lines.cells(f"{cell},{'x' * lines.LONG_RECORD}".encode()) is None
