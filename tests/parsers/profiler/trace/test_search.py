"""Search against looking at every name."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from parsers.profiler.trace import search
from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.search import TraceNames
from tests.writers.traces import trace, traces

LETTERS = st.text(st.sampled_from("aAbB._ (\n步İß\ud800"), max_size=6)
PATTERNS = [
    "a", "^a", "a$", "^a.b$", "a|b", r"\.", r"\s", r"\W", r"[^a]b", r"a\b", r"\Aa", r"a\Z", "", "a*", "(a)(b)", "(?i)a",
    "(?s)a.b", "(?!a)b",
    "步", ".", "..", r"\w\w", r"a\nb", r"\x61", "[ab]+$", "^$", r"b\B", "(?<=a)b", "[a-b]",
]  # fmt: skip


@given(st.lists(LETTERS, max_size=12), LETTERS, st.sampled_from([1, 2, 5, 12, 100]))
@example(["aİb", "b"], "b", 2)
@example([""], "a", 2)
def test_containing_against_brute_force(names: list[str], text: str, lines: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_LINES", lines)
        found = TraceNames(names).containing(text).tolist()
    assert found == [index for index, name in enumerate(names) if text.lower() in name.lower()]


@given(st.lists(LETTERS, max_size=12), st.sampled_from(PATTERNS), st.sampled_from([0, re.IGNORECASE, re.DOTALL, re.VERBOSE]))
def test_matching_against_brute_force(names: list[str], pattern: str, flags: int) -> None:
    compiled = re.compile(pattern, flags)
    assert TraceNames(names).matching(compiled).tolist() == [index for index, name in enumerate(names) if compiled.search(name)]


@given(
    traces(),
    st.sampled_from(["a", "MATMUL", "步", "", "none"]),
    st.sets(st.integers(0, 3)),
    st.integers(0, 20),
    st.integers(0, 9),
)
def test_rows_against_brute_force(made: Trace, text: str, kept: set[int], shortest: int, limit: int) -> None:
    tracks = sorted(track for track in kept if track < len(made.tracks))
    expected = sorted(
        (int(made.slices.start[row]), row)
        for row in range(len(made.slices))
        if made.slices.track[row] in tracks
        and text.lower() in made.names[made.slices.name[row]].lower()
        and made.slices.duration[row] >= shortest
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_ROWS", 5)
        found = search.find(made, text, tracks, shortest).tolist()
        assert search.find(made, re.compile(re.escape(text), re.IGNORECASE), tracks, shortest, limit).tolist() == found[:limit]
    assert found == [row for _, row in expected]


def test_all_tracks_and_the_first_hits() -> None:
    made = trace({"a": [(5, 1, "x"), (1, 1, "X")], "b": [(3, 1, "xy"), (3, 9, "z")]})
    assert search.find(made, "x").tolist() == [0, 3, 1]
    assert search.find(made, "x", limit=2).tolist() == [0, 3]
    assert search.find(made, "", shortest_ns=2).tolist() == [2]
    assert search.find(trace({}), "x").tolist() == []
