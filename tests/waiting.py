"""Waiting for a condition in tests without a browser: an event is better, but not everything has one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

LONGEST_S = 60.0
"""The time of a hang: far more than anything takes on a busy machine."""
_EVERY_S = 0.01
Found = TypeVar("Found")


def until(condition: Callable[[], Found], seconds: float = LONGEST_S) -> Found:
    """Return what the condition returns as soon as that is true; fail the test if it is not within these seconds."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"still {found!r} after {seconds:g} s"
        time.sleep(_EVERY_S)
    return found


def when(ask: Callable[[], Found], holds: Callable[[Found], object], seconds: float = LONGEST_S) -> Found:
    """Return the first answer that this holds of."""
    return until(lambda: [answer] if holds(answer := ask()) else [], seconds)[0]
