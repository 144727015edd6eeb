"""The matrix of last values against the arrays it is made of."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from layouts.curves.scalars.matrix import MOST_COLUMNS, MOST_ROWS
from layouts.curves.scalars.sheet import sheet
from layouts.kit.state import BadInput
from tests.layouts.curves.scalars.conftest import arrays, series
from tests.sources import MemorySource

RUNS = {"b": [3, 1.25], "a": [3, 0.5], "nan": [2, math.nan], "inf": [2, math.inf], "c": [3, 1234.5678]}


@pytest.fixture
def runs() -> MemorySource:
    found = {name: {"loss": series(values, step=[0, 10])} for name, values in RUNS.items()}
    return arrays(found | {"other": {"<lr>": series([0.1])}})


def asked(source: MemorySource, tags: list[str], **more: str) -> dict[str, Any]:
    wanted = {"run": ["*"], "tag": tags, "table": ["1"], "matrix": ["1"]} | {key: [value] for key, value in more.items()}
    found = json.loads(json.dumps(sheet(source, wanted), allow_nan=False))
    assert found["table"] is None
    matrix: dict[str, Any] = found["matrix"]
    return matrix


def elements(content: list[Any], tag: str) -> list[Any]:
    """All elements of a kind, in order."""
    found = []
    for one in content:
        if not isinstance(one, str):
            found += [one] if one[0] == tag else []
            found += elements(one[2], tag)
    return found


def text(one: Any) -> str:
    return one if isinstance(one, str) else "".join(map(text, one[2]))


def names(matrix: dict[str, Any]) -> list[str]:
    return [text(row[2][0]) for row in elements(matrix["content"], "tr")[1:]]


def test_a_cell_is_a_last_value_with_the_exact_one_on_hover(runs: MemorySource) -> None:
    rows = {text(row[2][0]): row[2][1:] for row in elements(asked(runs, ["loss", "<lr>"])["content"], "tr")}
    assert [text(cell) for cell in rows["c"]] == ["1,235", ""]
    assert rows["c"][0][1]["title"] == "1234.5678 at step 10"
    assert "ms-bad-number" not in rows["c"][0][1]["class"]
    assert [text(cell) for cell in rows["other"]] == ["", "0.1000"]
    assert text(rows["nan"][0]) == "NaN"
    assert "ms-bad-number" in rows["nan"][0][1]["class"]
    assert rows["nan"][0][1]["title"] == "NaN at step 10. Last finite value: 2 at step 0"


@pytest.mark.parametrize(("by", "wanted"), [
    ("run", ["a", "b", "c", "inf", "nan", "other"]), ("-run", ["other", "nan", "inf", "c", "b", "a"]),
    # What is not finite or missing comes last in either direction.
    ("tag:loss", ["a", "b", "c"]), ("-tag:loss", ["c", "b", "a"]), ("tag:<lr>", ["other"]),
])  # fmt: skip
def test_rows_are_sorted_by_a_column(runs: MemorySource, by: str, wanted: list[str]) -> None:
    matrix = asked(runs, ["loss", "<lr>"], by=by)
    assert names(matrix)[: len(wanted)] == wanted
    assert sorted(names(matrix)) == sorted([*RUNS, "other"])
    (current,) = [th for th in elements(matrix["content"], "th") if "aria-sort" in th[1]]
    assert current[1]["aria-sort"] == ("descending" if by.startswith("-") else "ascending")
    assert current[2][0][1]["data-by"].lstrip("-") == by.lstrip("-")


def test_a_page_is_bounded_and_all_pages_have_all_runs() -> None:
    many = arrays({f"r{number:03d}": {f"t{tag}": series([number * tag]) for tag in range(70)} for number in range(100)})
    tags = [f"t{tag}" for tag in range(70)]
    seen: list[str] = []
    for first in range(0, 100, MOST_ROWS):
        matrix = asked(many, tags, by="-tag:t1", **{"from": str(first)})
        assert (matrix["first"], matrix["runs"], matrix["columns"], matrix["tags"]) == (first, 100, MOST_COLUMNS, 70)
        assert len(elements(matrix["content"], "td")) == matrix["shown"] * MOST_COLUMNS <= MOST_ROWS * MOST_COLUMNS
        seen += names(matrix)
    assert seen == [f"r{number:03d}" for number in reversed(range(100))]
    # A link to rows that are not there any more shows the last ones.
    assert names(asked(many, tags, by="run", **{"from": "5000"}))[-1] == "r099"


def test_no_runs_and_no_tags(runs: MemorySource) -> None:
    assert sorted(names(asked(runs, []))) == sorted([*RUNS, "other"])
    empty = asked(MemorySource(), ["loss"])
    assert (names(empty), empty["runs"], empty["first"]) == ([], 0, 0)


@pytest.mark.parametrize("more", [{"by": "loss"}, {"from": "-1"}, {"from": "x"}, {"matrix": "2"}])
def test_what_cannot_be_asked_for_is_refused(runs: MemorySource, more: dict[str, str]) -> None:
    with pytest.raises(BadInput):
        asked(runs, ["loss"], **more)
