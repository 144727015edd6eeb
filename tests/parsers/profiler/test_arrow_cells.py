"""Cells that Arrow parses are, to the bit and the problem, those that pandas parses; and what it leaves to pandas."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.profiler import tables
from parsers.profiler.arrow_cells import Texts, arrow_cells
from parsers.profiler.tables import FileTable, TableField, read_table

FIELDS = (
    TableField("name", ("Name",), "text"), TableField("start", ("Start",), "time", "us"),
    TableField("length", ("Length",), "exact", "us"),
    TableField("ratio", ("Ratio",)), TableField("stream", ("Stream",), "whole"),
)  # fmt: skip
MISSING = ("", "N/A", "nan")
DATA = Path(__file__).resolve().parents[2] / "data"


def both(path: Path, fields: Sequence[TableField] = FIELDS, further: str = "") -> tuple[FileTable, FileTable]:
    """The table as it is read, and as it is read without Arrow."""
    ours = read_table(str(path), fields, further=further, numbered=True)
    with patch.object(tables, "arrow_cells", lambda *_: None):
        return ours, read_table(str(path), fields, further=further, numbered=True)


def assert_equal(ours: FileTable, pandas: FileTable) -> None:
    assert (ours.rows, ours.found, ours.problems) == (pandas.rows, pandas.found, pandas.problems)
    assert np.array_equal(ours.lines, pandas.lines)
    assert ours.columns.keys() == pandas.columns.keys()
    for name, column in ours.columns.items():
        other = pandas.columns[name]
        if isinstance(column, pd.Categorical):
            assert column.tolist() == other.tolist()
            assert sorted(column.categories) == sorted(other.categories)
        else:
            assert column.dtype == other.dtype
            assert column.tobytes() == other.tobytes() or np.array_equal(column, other, equal_nan=True), name


CELL = st.one_of(
    st.text("0123456789.+-eE", max_size=22), st.floats().map(repr), st.integers().map(str),
    st.text(" \tab\"',\r\n\x00é\ufeff\x01", max_size=5),
    st.sampled_from(["", "N/A", "nan", "NaN", "-nan", "nan(1)", "inf", "-Infinity", "null", "-", " 1 ", "1 2", "0x1p3"]),
    st.sampled_from(["1_0", "1d5", "1e999", "٣"]),
)  # fmt: skip


NUMBER = st.one_of(st.floats(allow_nan=False).map(repr), st.integers(-(2**70), 2**70).map(str), st.sampled_from(MISSING))
TIME = st.one_of(st.decimals(-(10**15), 10**15, places=3).map("{:f}".format), st.sampled_from(MISSING))
INTACT = st.tuples(st.text("aé ,\"\n-N/A", max_size=5), TIME, NUMBER, NUMBER, NUMBER)
ROW = st.one_of(INTACT, INTACT, st.tuples(CELL, CELL, CELL, CELL, CELL))


@given(st.lists(ROW, min_size=1, max_size=4), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_cells_are_read_alike(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, ...]], end: str, quoted: bool
) -> None:
    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if quoted or set(text) & set('",\r\n') else text

    path = tmp_path_factory.mktemp("cells") / "t.csv"
    lines = ["Name,Start(us),Length(us),Ratio,Stream", *(",".join(map(cell, row)) for row in rows)]
    path.write_bytes("".join(line + end for line in lines).encode())
    assert_equal(*both(path))


@given(st.text("a1,\"'\r\n \x00", max_size=60))
def test_any_bytes_are_read_alike(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("cells") / "t.csv"
    path.write_bytes(b"Name,Ratio\n" + text.encode())
    assert_equal(*both(path, (FIELDS[0], FIELDS[3]), "x/"))


@pytest.mark.parametrize("path", sorted(DATA.rglob("*.csv")), ids=lambda path: str(path.relative_to(DATA)))
def test_recorded_tables_are_read_alike(path: Path) -> None:
    first = path.read_text("utf-8", "replace").partition("\n")[0].split(",")[0].strip('"\r')
    ours, pandas = both(path, (TableField("first", (first,), "text"),), "x/")
    assert_equal(ours, pandas)
    assert ours.rows or ours.problems


def test_intact_records_are_left_to_arrow() -> None:
    data = b'MatMul,1736412474730135.222\t,0.25\r\n"Add,\n2",12,N/A\r\nMatMul,,-inf\r\n'
    found = arrow_cells(data, 3, 3, {0: "text", 1: "time", 2: "number"}, MISSING)
    assert found is not None
    texts = found[0]
    assert isinstance(texts, Texts)
    assert (texts.texts, texts.codes.tolist()) == (["Add,\n2", "MatMul"], [1, 0, 1])
    times, numbers = found[1], found[2]
    assert isinstance(times, np.ndarray)
    assert isinstance(numbers, np.ndarray)
    assert times.tolist() == [b"1736412474730135.222\t", b"12", b""]
    assert numbers.tobytes() == np.array([0.25, np.nan, -np.inf]).tobytes()


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (b"a,1,x\n", 1), (b"a,1\nb,1,2\n", 2), (b"a\n", 1), (b"a,1\rb,2\n", 1), (b"a\x00,1\n", 1), (b"\xef\xbb\xbfa,1\n", 1),
        (b"a,-nan\n", 1), (b"\xff,1\n", 1), (b"a,1 2\n", 1),
    ],
)  # fmt: skip
def test_what_is_left_to_pandas(data: bytes, rows: int) -> None:
    assert arrow_cells(data, rows, 2, {0: "text", 1: "number"}, MISSING) is None


def test_a_time_of_many_digits_is_left_to_pandas() -> None:
    assert arrow_cells(b"1" * 41 + b"\n", 1, 1, {0: "time"}, MISSING) is None
    assert arrow_cells(b"1" * 40 + b"\n", 1, 1, {0: "time"}, MISSING) is not None
