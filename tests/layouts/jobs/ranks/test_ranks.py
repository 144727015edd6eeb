"""The page of ranks: what it asks for, what it keeps, and what it says in place of a picture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from layouts.jobs.rank_alternatives import of_ranks
from layouts.jobs.rank_operators import RankCaches, RankOperatorRequest
from layouts.jobs.ranks.page import layout
from layouts.kit.page import Ids
from layouts.kit.state import BadInput
from parsers.analysis.jobs.rank_operators.operators import Operators
from parsers.analysis.jobs.rank_operators.shifts import ends_of, shifts
from parsers.analysis.jobs.rank_operators.tables import Rank, ShownOperators
from parsers.analysis.jobs.rank_operators.views import Laid
from tests.pages import page_named

PAGE = page_named("ranks")


def rank(number: int, *, size: int = 4, later: int = 0) -> Operators:
    """A rank with operators of 5 ns every 10 ns."""
    start = np.arange(size) * 10 + later
    keys = tuple(f"op{place}" for place in range(size))
    category = np.zeros(size, np.uint8)
    key = np.arange(size)
    return Operators(number, keys, ("T",), key, np.zeros(size, np.int64), category, start, start + 5, np.ones(size, np.int64))


def shown(*ranks: Operators) -> ShownOperators:
    laid = Laid(ranks, (-1,) * len(ranks))
    nothing = shifts(ends_of(None, ()), ())
    return ShownOperators(laid, tuple(map(Rank, ranks)), tuple(one.rank for one in ranks), (), (), nothing, None)


@pytest.mark.parametrize(
    ("text", "found"), [("", ()), ("3", (3,)), ("0-3,7", (0, 1, 2, 3, 7)), (" 7, 1-2,", (1, 2, 7)), ("2,2", (2,))]
)  # fmt: skip
def test_ranks_are_read_from_text(text: str, found: tuple[int, ...]) -> None:
    ask = RankOperatorRequest.read_any({"run": ["a"], "rows": [text]})
    assert ask is not None
    assert ask.rows == found


@pytest.mark.parametrize("text", ["a", "1-", "-3", "3-1", "1;2", "0-9999999", "1" * 9])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match="rows: expected ranks such as"):
        RankOperatorRequest.read_any({"run": ["a"], "rows": [text]})


def test_what_was_asked_for_least_recently_is_dropped_first() -> None:
    size = rank(0).nbytes
    kept = RankCaches(limit=2 * size)
    for number in range(2):
        kept.ranks.put(number, Rank(rank(number)))
    kept.ranks.get(0)
    kept.ranks.put(2, Rank(rank(2)))
    assert [kept.ranks.get(number) is None for number in range(3)] == [False, True, False]
    for number in range(9):
        kept.shown.put(number, shown(rank(number)))
    assert kept.shown.get(0) is None
    assert kept.shown.get(8) is not None


def test_the_alternative_tells_who_ends_first_and_what_is_not_joined() -> None:
    english, chinese = of_ranks(shown(rank(4), rank(5, size=6, later=1_999_945)))
    first = "10 operators on 2 ranks over 2.00 ms. Rank 4 ends first, rank 5 last, 2.00 ms later."
    assert english == f"{first} Not joined with a neighbour: rank 5: 2."
    assert "rank 5 最后结束" in chinese
    assert of_ranks(shown())[0].startswith("0 operators on 0 ranks")


def test_a_rank_is_idle_where_nothing_runs() -> None:
    (row,) = shown(replace(rank(0), kernels=True)).rows
    assert (row["computing_ns"], row["begin_ns"], row["end_ns"]) == (20, 0, 35)
    assert row["joined_below"] == -1
    (row,) = shown(rank(0)).rows
    assert row["computing_ns"] == -1


def test_the_page_has_a_place_for_each_part() -> None:
    text = str(layout(Ids("ranks"), "/api/"))
    for part in ("ms-ranks-head", "ms-ranks-bar", "ms-ranks-chart", "ms-ranks-table", "ms-ranks-legend"):
        assert part in text
    assert PAGE.needs == ("profile.kernels", "profile.collectives")
