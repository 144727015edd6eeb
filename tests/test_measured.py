"""The page of measurements says what is kept, and what is kept is read back as it was measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import PARTS
from benchmarks.measure import NO_BOUND, Figure
from benchmarks.measured import PAGE, Measurement, Row, keep, kept, page


def _measurement(*figures: Figure) -> Measurement:
    return Measurement("2026-01-02", 2, (0.5, 1.5), 0.77, tuple(map(Row.of, figures)))


def test_the_page_of_the_manual_is_that_of_what_is_kept() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(kept(), PARTS), "run `python -m benchmarks.measured`"


def test_a_measurement_is_read_back_and_replaces_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "measured.json"
    path.write_text("{}")
    first = _measurement(
        Figure("reading", "CPU s", 0.15, (0.123456, 0.2)), Figure("  a peer", "CPU s", NO_BOUND, (NO_BOUND,), "stopped")
    )
    second = _measurement(Figure('写 "x"', "MB", 3, (2.0,)))
    keep("reading", first, path)
    keep("many", first, path)
    keep("many", second, path)
    assert kept(path) == {"many": second, "reading": first}
    assert list(kept(path)) == ["many", "reading"]
    assert first.rows[0].values == (0.1235, 0.2)
    assert first.rows[1] == Row("  a peer", "CPU s", None, (None,), "stopped")


@pytest.mark.parametrize(
    ("figure", "line"),
    [
        (Figure("read", "CPU s", 0.15, (0.1, 0.12, 0.3)), "| read | 0.12 CPU s | 0.15 CPU s | 0.1 to 0.3 | 3 |  |"),
        (Figure("a|b", "x", 1.2, (1.3,), "n"), "| a\\|b | **1.3 x** | 1.2 x | 1.3 to 1.3 | 1 | n |"),
        (Figure("  peer", "MB", NO_BOUND, (1421.4, 1501.0)), "| - peer | 1,461 MB |  | 1,421 to 1,501 | 2 |  |"),
        (Figure("  peer", "CPU s", NO_BOUND, (NO_BOUND,), "stopped"), "| - peer | did not end |  |  | 1 | stopped |"),
        (Figure("requests", "", 80, (50,)), "| requests | 50 | 80 | 50 to 50 | 1 |  |"),
        (Figure("memory", "MB", 999.9, (999.6, 999.6)), "| memory | 1,000 MB | 1,000 MB | 1,000 to 1,000 | 2 |  |"),
    ],
)
def test_a_line_shows_the_median_its_bound_and_the_spread(figure: Figure, line: str) -> None:
    assert Row.of(figure).line() == line


def test_parts_are_in_order_and_those_that_miss_are_named() -> None:
    text = page({"reading": _measurement(), "many": _measurement()}, ("many", "starting", "reading"))
    assert text.index("## many") < text.index("## reading")
    assert text.endswith("Not measured yet: starting.\n")
    assert "2026-01-02, 2 cores, load 0.5 to 1.5, bare imports 0.77 s." in text
