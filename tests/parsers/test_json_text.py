"""JSON whose texts can be encoded."""

from __future__ import annotations

import json
import math

import pytest

from parsers.json_text import FEWEST_BYTES, MOST_CONTAINERS, MOST_VALUES, ManyValuesError, parse_json, require_few_values


@pytest.mark.parametrize("text", ["", "{", "nul", "'x'", "1" * 5_000])
def test_what_is_no_json(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'"\ud800"', r"\ud800"),
        (r'"\uDFFFx"', r"\udfffx"),
        (r'{"\ud800": ["\ud801", {"a": "\ud802"}]}', {r"\ud800": [r"\ud801", {"a": r"\ud802"}]}),
        (r'[1, true, null, "\\ud800"]', [1, True, None, r"\ud800"]),
    ],
)
def test_unpaired_surrogates_are_escaped(text: str, found: object) -> None:
    assert parse_json(text) == found
    json.dumps(parse_json(text), ensure_ascii=False).encode()


def test_numbers_are_those_of_python() -> None:
    assert math.isnan(parse_json("NaN"))
    assert parse_json("[1e400, 9007199254740993]") == [math.inf, 9007199254740993]


def test_more_levels_than_python_takes() -> None:
    with pytest.raises(RecursionError):
        parse_json("[" * 100_000)


@pytest.mark.parametrize("value", ["[]", "{}"])
def test_a_text_of_arrays_closer_than_programs_write_them(value: str) -> None:
    few = "[" + ",".join([value] * (MOST_CONTAINERS - 1)) + "]"
    assert len(parse_json(few)) == MOST_CONTAINERS - 1
    with pytest.raises(ManyValuesError, match="250,001 arrays and objects where at most 250,000 are read"):
        parse_json(f"[{value}," + few[1:])
    spaced = ",".join([value + " " * FEWEST_BYTES] * (MOST_CONTAINERS + 9))
    assert len(parse_json(f"[{spaced}]")) == MOST_CONTAINERS + 9


@pytest.mark.parametrize(("value", "what"), [(b"[]", "arrays"), (b'{"a":1}', "objects"), (b"1", "values")])
def test_a_record_of_more_values_than_are_read(value: bytes, what: str) -> None:
    most = MOST_VALUES if what == "values" else MOST_CONTAINERS
    require_few_values(b"[" + b",".join([value] * (most - 1)) + b"]")
    with pytest.raises(ManyValuesError, match=what):
        require_few_values(b"[" + b",".join([value] * (most + 2)) + b"]")
