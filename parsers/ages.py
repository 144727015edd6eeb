"""How long ago a file was changed, by clocks that may be wrong: those of file servers, and ours, which may have been set."""

from __future__ import annotations

import math
import time

AHEAD_SECONDS = 3600.0
"""By how much the clock that dates files may be ahead of ours."""


def age_of(mtime: float, now: float | None = None) -> float:
    """Return the seconds since a time, both in seconds since 1970; below 0 if it is ahead by less than AHEAD_SECONDS.

    What lies further ahead has been dated wrongly, or our clock was set back since. It would count as new for days or years, so
    its age is infinite.
    """
    age = (time.time() if now is None else now) - mtime
    return age if age > -AHEAD_SECONDS else math.inf
