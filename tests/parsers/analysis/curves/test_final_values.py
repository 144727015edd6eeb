"""Last and best values of series."""

from __future__ import annotations

import math

from parsers.analysis.curves.final_values import final
from tests.layouts.curves.scalars.conftest import series


def test_what_a_restart_wrote_again_does_not_count() -> None:
    again = series([5, 1, 9, 4, 3], step=[0, 1, 2, 1, 2])
    assert final(again, "min").best == 3
    assert (final(again, "max").best, final(again, "max").best_step, final(again, "max").last) == (5, 0, 3)
    assert math.isnan(final(series([math.nan]), "min").best)
