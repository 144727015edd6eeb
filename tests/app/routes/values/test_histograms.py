"""MemorySource as CSV: every bucket of the range, and a note where a record cannot be read."""

from __future__ import annotations

import csv
import io

from app.routes.values.histograms import histogram_rows
from parsers.export import ALL_STEPS
from tests.layouts.values.histograms.conftest import growing, histograms
from tests.sources import MemorySource


def rows(source: MemorySource, steps: tuple[int, int] = ALL_STEPS) -> list[dict[str, str]]:
    text = b"".join(histogram_rows(source, [("a", "w"), ("a", "gone")], steps)).decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_every_bucket_is_a_row_and_what_is_unreadable_says_so() -> None:
    source = histograms({"a": {"w": [*growing(3), (30, None)]}})
    found = rows(source)
    assert [int(row["step"]) for row in found] == [0] * 20 + [10] * 20 + [20] * 20 + [30]
    assert sum(float(row["count"]) for row in found[:20]) == 500 == int(found[0]["total"])
    assert (found[-1]["note"], found[-1]["bucket"]) == ("step 30: unreadable", "")


def test_a_range_of_steps_is_closed() -> None:
    assert {row["step"] for row in rows(histograms({"a": {"w": growing(5)}}), (10, 30))} == {"10", "20", "30"}
