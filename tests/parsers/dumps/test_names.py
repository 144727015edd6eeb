"""Names of files, operators and entries, and tables of statistics."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.dumps.names import BINARY, NPY, OPDEBUG, dtype_named, entry_name, joined_names, tensor_name
from parsers.dumps.statistic_csv import BadLine, StatisticRow, parse_statistics
from parsers.dumps.statistics import NAMES

WORD = st.text(st.characters(categories=["L", "N"], include_characters="-_"), min_size=1, max_size=12)
COUNT = st.integers(0, 10**8)


@given(WORD, WORD, COUNT, COUNT, st.integers(10**9, 10**16), st.sampled_from(["input", "output"]), st.integers(0, 99), WORD)
def test_both_naming_schemes_are_read(
    kind: str, name: str, task: int, stream: int, time: int, io: str, slot: int, layout: str
) -> None:
    for dtype in ("", ".Float32"):
        match = NPY.fullmatch(f"{kind}.{name}.{task}.{stream}.{time}.{io}.{slot}.{layout}{dtype}.npy")
        assert match is not None
        assert match[2] == str(time)
        found = tensor_name(match[1], match[3])
        assert found is not None
        wanted = (kind, name, task, stream, io, slot, layout, dtype[1:].lower())
        assert tuple(found) == wanted


@given(st.text(max_size=60))
def test_any_name_is_read_or_refused(text: str) -> None:
    for name in (text, f"{text}.npy", f"A.{text}.1.2.1795217412144585.output.0.ND.npy"):
        match = NPY.fullmatch(name)
        if match is not None:
            tensor_name(match[1], match[3])
        BINARY.fullmatch(name), OPDEBUG.fullmatch(name)
        assert entry_name(name).type or not name
    dtype_named(text)


def test_names_of_devices_have_four_more_numbers() -> None:
    match = BINARY.fullmatch("Add.Default_Add-op0.2.7.1795320000123456.1.2.3.4")
    assert match is not None
    assert match.groups() == ("Add", "Default_Add-op0", "2", "7", "1795320000123456")
    found = NPY.fullmatch("Add.Default_Add-op0.2.7.1795320000123456.1.2.3.4.output.0.2_3.float32.ND.npy")
    assert found is not None
    parsed = tensor_name(found[1], found[3])
    assert parsed is not None
    assert (parsed.operator, parsed.task, parsed.format, parsed.dtype) == ("Default_Add-op0", 2, "ND", "float32")


def test_operators_are_joined_by_name_then_by_number() -> None:
    graph = ["Default/Cast-op1", "Default/Greater-op0", "Default/a-Dense/MatMul-op3", "Default/a-Dense/MatMul-op7"]
    files = ["Default_Greater-op1", "Default_Cast-op0", "Default_a-Dense_MatMul-op5", "Default_a-Dense_MatMul-op4"]
    assert joined_names(files, graph) == {
        "Default_Greater-op1": 1,
        "Default_Cast-op0": 0,
        "Default_a-Dense_MatMul-op4": 2,
        "Default_a-Dense_MatMul-op5": 3,
    }
    assert joined_names(["Conv2D-op13", "Conv2D-op14"], ["Default/c/Conv2D-op13"]) == {"Conv2D-op13": 0}
    assert joined_names([], graph) == joined_names(files, []) == {}


@given(st.lists(st.tuples(WORD, st.integers(0, 30)), max_size=12, unique=True))
def test_exact_names_are_always_joined(parts: list[tuple[str, int]]) -> None:
    graph = [f"Default/{name}/Op-op{number}" for name, number in parts]
    files = [name.replace("/", "_") for name in graph]
    found = joined_names(files, graph)
    assert all(graph[found[file]].replace("/", "_") == file for file in files)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Functional.conv2d.0.forward", ("Functional", "", "conv2d", "forward", 0)),
        ("Primitive.bn_train.BatchNorm.12.backward", ("Primitive", "bn_train", "BatchNorm", "backward", 12)),
        ("Cell.features.0.conv.Conv2d.forward.0", ("Cell", "features.0.conv", "Conv2d", "forward", 0)),
        ("Module.fc1.Linear.parameters_grad.0", ("Module", "fc1", "Linear", "parameters_grad", 0)),
        ("Tensor.__add__.3.backward", ("Tensor", "", "__add__", "backward", 3)),
        ("logits.2.debug", ("", "logits", "debug", "debug", 2)),
    ],
)
def test_entries_of_msprobe_are_parsed_from_the_right(name: str, wanted: tuple[object, ...]) -> None:
    assert tuple(entry_name(name)) == wanted


# statistic.csv --------------------------------------------------------------------------------------------------------------

HEAD = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape"
VALUE = st.floats(width=32) | st.sampled_from([math.nan, math.inf, -math.inf])


@given(WORD, st.lists(st.integers(0, 9), max_size=3), VALUE, VALUE, st.integers(0, 10**9), st.booleans(), st.booleans())
def test_rows_with_and_without_quotes_and_commas_are_read(
    name: str, shape: list[int], most: float, least: float, nans: int, quoted: bool, comma: bool
) -> None:
    text = "(" + ",".join(map(str, shape)) + ")"
    cell = f'"{text}"' if quoted else text
    line = f"Add,{name},2,7,1795320000123456,output,1,24,float32,{cell},{most},{least},{nans}"
    (row,) = parse_statistics(f"{HEAD},Max Value,Min Value,NaN Count\n{line}{',' if comma else ''}\n")
    assert isinstance(row, StatisticRow)
    assert (row.operator, row.io, row.slot, row.shape) == (name, "output", 1, "x".join(map(str, shape)) or "[]")
    assert (row.values.max, row.values.min) == (pytest.approx(most, nan_ok=True), pytest.approx(least, nan_ok=True))
    assert row.values.nan == nans
    assert row.values.zero == -1
    assert row.non_finite == int(nans > 0 or not math.isfinite(most) or not math.isfinite(least))


@given(st.text(max_size=200))
def test_any_text_is_read_or_skipped(text: str) -> None:
    for one in (text, f"{HEAD},Max Value\n{text}"):
        assert all(isinstance(row, (StatisticRow, BadLine)) for row in parse_statistics(one))


@pytest.mark.parametrize("number", [-2, -(10**30), 1 << 53, 10**30])
@pytest.mark.parametrize("column", [2, 3, 4, 6, 7])
def test_a_whole_number_that_fits_no_column_costs_its_line(column: int, number: int) -> None:
    cells = ["Add", "a", "2", "7", "1795320000123456", "output", "0", "24", "float32", "[]", "1.5"]
    cells[column] = str(number)
    (found,) = parse_statistics(f"{HEAD},Max Value\n{','.join(cells)}\n")
    assert isinstance(found, BadLine)
    assert "out of range" in found.text


def test_a_table_that_is_cut_keeps_its_whole_lines() -> None:
    line = 'Add,a,2,7,1795320000123456,output,0,24,float32,"(2,3)",1.5,,\n'
    found = list(parse_statistics(f"{HEAD},Max Value,NaN Count\n{line}{line[:30]}"))
    assert [type(one) for one in found] == [StatisticRow, BadLine]
    assert isinstance(found[1], BadLine)
    assert (found[1].line, "cut" in found[1].text) == (3, True)
    (only,) = parse_statistics("a,b,c\n1,2,3\n")
    assert isinstance(only, BadLine)
    assert only.line == 1


def test_all_variants_of_real_tables_have_the_same_rows(real_data: Path) -> None:
    tables = sorted((real_data / "dump/ascend_made/statistic").glob("*/rank_0/Net/0/0/statistic.csv"))
    assert len(tables) == 7
    every: dict[str, set[float]] = {name: set() for name in NAMES}
    for table in tables:
        rows = list(parse_statistics(table.read_text()))
        assert all(isinstance(row, StatisticRow) for row in rows)
        assert [row.shape for row in rows if isinstance(row, StatisticRow)] == ["2x3", "2x3", "2x2", "[]"]
        for name in NAMES:
            value = getattr(rows[0].values, name) if isinstance(rows[0], StatisticRow) else math.nan
            every[name] |= {value} if value == value and value != -1 else set()
    assert {name: one for name, one in every.items() if one} == {
        "max": {2.24089}, "min": {-0.977278}, "mean": {1.04569}, "l2": {3.70059}, "count": {6}, "zero": {0}, "negative": {1},
        "positive": {5}, "nan": {0}, "positive_inf": {0}, "negative_inf": {0},
    }  # fmt: skip
