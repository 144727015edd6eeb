"""Memory below the rows of ranks: moved with the operators, as parts of the highest value of all ranks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from parsers.analysis.jobs.rank_operators.memory import LEVELS, NOTHING, MemoryCurve, first_curve, memory_rows
from parsers.analysis.jobs.rank_operators.operators import Operators, operators
from parsers.analysis.jobs.rank_operators.shifts import COLUMNS
from parsers.analysis.jobs.rank_operators.tables import Rank, ShownOperators
from parsers.analysis.jobs.rank_operators.views import Laid
from parsers.analysis.profiles.memory import BytesOverTime
from parsers.profile_frames import KERNELS, MEMORY
from parsers.profiler.frame_parts import frame_of

BEGIN = 1_764_246_877_147_674_500
FAR_NS = 60_000_000_000
"""Records farther than a minute from the operators of their rank are of something else."""


def rank_of(number: int, *starts: int) -> Operators:
    """A rank whose operators of 10 ns begin at these times."""
    columns = {"start_ns": starts, "duration_ns": [10] * len(starts), "name": ["op"] * len(starts)}
    return operators(number, frame_of(KERNELS, len(starts), columns, "made"), None)


def shown(recorded: list[Operators], laid: list[Operators]) -> ShownOperators:
    """Operators as recorded, and as they lie on the axis."""
    order, rows = tuple(one.rank for one in recorded), Laid(tuple(laid), (0,) * len(laid))
    return ShownOperators(rows, tuple(map(Rank, recorded)), order, (order,), (1,), pd.DataFrame(columns=COLUMNS), None)


def curve_of(points: dict[int, int], component: str = "PTA") -> MemoryCurve:
    return MemoryCurve(component, BytesOverTime(np.array(list(points), np.int64), np.array(list(points.values()), np.int64)))


def test_no_records_give_no_curve_and_no_rows() -> None:
    assert first_curve(frame_of(MEMORY, 0, {}, "made")) is NOTHING
    one = rank_of(0, BEGIN)
    assert memory_rows(shown([one], [one]), {}, 0, 100, 5) == {"most": 0, "levels": LEVELS, "rows": [], "without": [0]}
    assert memory_rows(shown([one], [one]), {0: NOTHING}, 0, 100, 5)["without"] == [0]
    assert memory_rows(shown([], []), {}, 0, 100, 5)["rows"] == []


def test_the_curve_is_that_of_a_sum_where_there_is_one() -> None:
    columns = {"component": ["PTA", "PTA+GE", "PTA"], "time_ns": [1, 2, 3], "allocated_bytes": [10, 30, 20]}
    found = first_curve(frame_of(MEMORY, 3, columns, "made"))
    assert (found.component, found.series.time.tolist(), found.series.value.tolist()) == ("PTA+GE", [2], [30])


def test_least_and_most_of_each_column_are_parts_of_the_highest_of_all_ranks() -> None:
    """The clock of rank 1 is 70 ns ahead; rank 2 has no records, rank 3 no operators."""
    recorded = [rank_of(0, BEGIN, BEGIN + 90), rank_of(1, BEGIN + 70), rank_of(2, BEGIN), rank_of(3)]
    curves = {
        0: curve_of({BEGIN: 100, BEGIN + 50: 400}), 1: curve_of({BEGIN + 90: 200, BEGIN + 130: 100}, "PTA+GE"),
        3: curve_of({BEGIN: 900}),
    }  # fmt: skip
    found = memory_rows(shown(recorded, [recorded[0], rank_of(1, BEGIN), *recorded[2:]]), curves, 0, 100, 5)
    assert (found["most"], found["without"]) == (400, [2, 3])
    assert found["rows"] == [
        {"rank": 0, "component": "PTA", "low": [250, 250, 250, 1000, 1000], "high": [250, 250, 1000, 1000, 1000]},
        {"rank": 1, "component": "PTA+GE", "low": [-1, 500, 500, 250, 250], "high": [-1, 500, 500, 250, 250]},
    ]


def test_memory_of_no_bytes_is_known() -> None:
    one = rank_of(0, BEGIN)
    (row,) = memory_rows(shown([one], [one]), {0: curve_of({BEGIN: 0})}, 0, 10, 2)["rows"]
    assert row["low"] == row["high"] == [0, 0]


@pytest.mark.parametrize(
    ("time", "near"), [(-FAR_NS, False), (1 - FAR_NS, True), (110 + FAR_NS, False), (109 + FAR_NS, True)],
)  # fmt: skip
def test_records_far_from_the_operators_are_left_out(time: int, near: bool) -> None:
    recorded, laid = rank_of(0, BEGIN + 70, BEGIN + 170), rank_of(0, BEGIN, BEGIN + 100)
    found = memory_rows(shown([recorded], [laid]), {0: curve_of({BEGIN + 70 + time: 5})}, 0, 100, 4)
    assert found["without"] == ([] if near else [0])
