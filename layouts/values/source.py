"""The interface between pages and large values of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from parsers import GrowingLandscape, HistogramValue, LandscapeFacts, LandscapePlan, PayloadSeries, Value


class ValueSource(Protocol):
    """Large values, read from their files on demand. `series` answers from memory, the others read."""

    def series(self, run: str, kind: str, tag: str) -> PayloadSeries | None:
        """Return steps, times and file positions of the large values of one tag of one member run, or None."""
        ...

    def value(self, run: str, kind: str, tag: str, place: int) -> Value:
        """Return one large value by its index in `series`, read from its file unless it is cached.

        kind decides its type: "histogram", "image", "tensor", "landscape" or "text". Raises PayloadError, whose text is meant
        for the user, if it cannot be shown.
        """
        ...

    def distribution(self, run: str, tag: str, place: int, *, known: bool = False) -> HistogramValue | None:
        """Return the histogram of one tensor; with known, only a cached one, else None.

        Raises PayloadError as `value` does. The histogram of a damaged record has no buckets, and its problem is the reason.
        """
        ...

    def landscape_plan(self, run: str) -> LandscapePlan | None:
        """Return the plan for computing landscapes from a member run's checkpoints; None if it collected none.

        Raises FormatError, whose text is meant for the user, if the file is damaged.
        """
        ...

    def landscape_facts(self, run: str) -> LandscapeFacts | None:
        """Return what `mindscope landscape` wrote beside the summary files of a member run; None if it wrote nothing.

        Raises FormatError, whose text is meant for the user, if a file is damaged.
        """
        ...

    def growing_landscapes(self, run: str) -> Sequence[GrowingLandscape]:
        """Return the unfinished landscapes of a member run: the points computed so far, and the damage in their files."""
        ...
